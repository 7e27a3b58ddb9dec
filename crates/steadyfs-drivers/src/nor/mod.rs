//! SPI NOR of any maker as a [`NorFlash`](steadyfs::media::nor::NorFlash): what it is, it tells by SFDP (JESD216B), or you do.
//!
//! ```text
//!  NorChip      NorFlash: blocks, program pages, what came of it       chip
//!     │         commands, addresses, busy, write enable                 link
//!     │         parameters                                              sfdp
//!  SpiDevice, DelayNs                                                   embedded-hal 1.0
//! ```
//!
//! # Example
//! ```
//! use steadyfs::{Access, Config, FileSystem, OpenOptions, media::Flash};
//! use steadyfs_drivers::nor::{NorChip, Settings};
//! # let sim = steadyfs_sim::nor_spi::NorSim::new(steadyfs_sim::nor_spi::NorSpi::new(steadyfs_sim::nor_spi::NorSpiProfile::w25q128jv()));
//! # let (spi, delay) = (sim.clone(), sim);
//!
//! let chip = NorChip::start(spi, delay, Settings { bus_hz: 50_000_000, ..Settings::DEFAULT })?;
//! println!("{:02x?}: {} MiB", chip.info().id, chip.info().bytes >> 20);
//! let flash = chip.into_pages()?;
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! fs.append(&mut log, b"21.5 degrees\n")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Time.** Typical and longest times come from the parameters. An operation is waited for as long as it typically takes, and then looked at eight times as often, up to twice the longest: then the call ends with
//! [`NorError::Busy`], and the next one looks first.
//!
//! **What came of it.** Chips of Macronix, of Micron and the S25FL-S of Infineon have bits for a program or an erase that failed. Others have none, and are read back ([`Settings::verify`]). A program or an erase that a chip
//! ignores because its blocks are protected is [`NorError::Protected`]; [`Settings::unlock`] takes protection away at the start.
//!
//! **Addresses.** Chips of more than 16 MiB take four bytes of address: by commands of their own where the parameters say that there are some, else in a mode that the start sets.
//!
//! # Left out
//! Two and four data lines (`SpiDevice` has one), suspended erases, chips with sectors of several sizes (the uniform ones are used), and deep power-down.

mod chip;
mod error;
mod link;
mod sfdp;

pub use chip::NorChip;
pub use error::NorError;
pub use sfdp::{EraseType, LongAddress, NorInfo};

/// How a chip is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Clock of the bus, in hertz: the times that the driver tells are made of it. Default: 10 MHz.
    pub bus_hz: u32,
    /// The first byte of the chip that is used; a multiple of an erase block. Default: 0.
    pub first_byte: u32,
    /// How many bytes are used. Default: all that follow.
    pub bytes: Option<u32>,
    /// Whether programs and erases are read back. Default: where the chip has no bits for those that failed. More: each program takes a read of the same bytes. Less: a worn chip without such bits loses data.
    pub verify: Option<bool>,
    /// Whether block protection is taken away at the start, by zeros in the status register. Default: no.
    pub unlock: bool,
    /// What the chip is, where it does not tell by SFDP. Default: it tells.
    pub info: Option<NorInfo>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self { bus_hz: 10_000_000, first_byte: 0, bytes: None, verify: None, unlock: false, info: None };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
