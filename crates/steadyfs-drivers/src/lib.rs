//! Drivers for [SteadyFS](steadyfs), on the traits of
//! [embedded-hal](https://docs.rs/embedded-hal/1).
//!
//! | medium | driver | tested on |
//! |---|---|---|
//! | SPI NOR of any maker, by SFDP | [`nor`] | `steadyfs_sim::nor_spi`, byte by byte |
//! | SPI NAND: MT29F, W25N, GD5F | [`nand`] | `steadyfs_sim::nand_spi`, byte by byte |
//! | SD cards on SPI | [`sd`] | `steadyfs_sim::sd_spi`, byte by byte |
//! | flash behind `embedded-storage` | `adapters::embedded_storage` | words of one write or many |
//! | any of these, asynchronous | `waiting` (feature `async`) | a task that samples during erases |
//! | block devices of other crates | `adapters`, each behind a feature of the crate's name | |
//!
//! With the feature `embedded-io`, `adapters::embedded_io::FileStream` gives an open file the
//! traits `Read`, `Write` and `Seek`. With the feature `defmt`, errors and plain types have
//! `defmt::Format`.
//!
//! The makers of the NAND chips are Micron, Winbond and GigaDevice. Flash behind `embedded-storage`
//! is flash inside microcontrollers and QSPI flash. `waiting` has adapters from asynchronous buses,
//! delays and flash (`embedded-hal-async`).
//!
//! [`check`] tests your own driver on spare blocks and reports its mistakes. The
//! [guide](steadyfs::guide::drivers) explains how to write a driver.
//!
//! # A volume on SPI NOR
//! The chips here are simulated. On a board, its HAL provides bus and delay.
//! ```
//! use steadyfs::{Access, Config, FileSystem, media::Flash};
//! use steadyfs_drivers::nor::{NorChip, Settings};
//! # use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};
//! # let sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv()));
//! # let (spi, delay) = (sim.clone(), sim);
//!
//! let flash = NorChip::start(spi, delay, Settings::DEFAULT)?.into_pages()?;
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A volume on SPI NAND
//! ```
//! use steadyfs::{Access, Config, FileSystem, media::Flash};
//! use steadyfs_drivers::nand::{NandChip, Settings};
//! # use steadyfs_sim::nand_spi::{NandSim, NandSpi, NandSpiProfile};
//! # let sim = NandSim::new(NandSpi::new(NandSpiProfile::gd5f1gq5()));
//! # let (spi, delay) = (sim.clone(), sim);
//!
//! let flash = NandChip::start(spi, delay, Settings::DEFAULT)?;
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A logger on a card
//! The card here is simulated (`steadyfs_sim::sd_spi`). On a board, its HAL provides bus, pin and
//! delay.
//! ```
//! use steadyfs::media::Flash;
//! use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages};
//! use steadyfs::{Access, Config, FileSystem, OpenOptions};
//! use steadyfs_drivers::sd::{SdSlot, Settings};
//! # let card = steadyfs_sim::sd_spi::SdSim::new(steadyfs_sim::sd_spi::SdProfile::small());
//! # let (bus, select, delay) = (card.bus(), card.select(), card.delay());
//!
//! // 1. Start the card: first at 400 kHz, then as fast as bus and wires can.
//! let slot = SdSlot::new(bus, select, delay);
//! let card = slot
//!     .start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max.min(20_000_000)))
//!     .map_err(|failed| failed.error)?;
//! let (size_mib, unit_kib) = (card.sector_count() / 2048, card.unit_bytes() / 1024);
//! println!("{}: {size_mib} MiB in units of {unit_kib} KiB", card.info().name());
//!
//! // 2. Divide it: a block is an allocation unit.
//! let layout = SectorLayout::for_device(card.sector_count(), card.unit_bytes());
//! let pages = SectorPages::new(card, layout).ok_or("the card is too small")?;
//!
//! // 3. The rest is as on any flash.
//! let config = Config::for_geometry(&pages.geometry());
//! let mut memory = vec![0; config.memory_bytes(&pages.geometry())]; // on a board: a static array
//! let pages = FileSystem::format(pages, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! if let Err(error) = fs.append(&mut log, b"21.5 degrees\n") {
//!     println!("{error}: {:?}", fs.flash().device().last_error()); // what the card said
//! }
//!
//! // 4. Before the card is pulled.
//! let slot = fs.unmount()?.into_device().into_slot();
//! # let card = slot
//! #     .start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max))
//! #     .map_err(|failed| failed.error)?;
//! # let pages = SectorPages::new(card, layout).unwrap();
//! # let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory)?;
//! # let mut text = [0; 32];
//! # let mut log = fs.open("log", OpenOptions::READ)?;
//! # let length = fs.read(&mut log, 0, &mut text)?;
//! # assert_eq!(&text[..length], b"21.5 degrees\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

// The tests run the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(any(
    feature = "embedded-sdmmc",
    feature = "block-device-driver",
    feature = "embedded-io",
    feature = "embedded-storage"
))]
pub mod adapters;
mod bus;
pub mod check;
pub mod nand;
pub mod nor;
mod parts;
pub mod sd;
#[cfg(any(feature = "async", feature = "block-device-driver"))]
pub mod waiting;
