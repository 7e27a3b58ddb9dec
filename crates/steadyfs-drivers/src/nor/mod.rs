//! SPI NOR of any maker as a [`NorFlash`](steadyfs::media::nor::NorFlash). The chip describes
//! itself by SFDP (JESD216B), or the settings describe it.
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
//! # use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};
//! # let sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv()));
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
//! **Time.** Typical and longest times come from the parameters. The driver first waits for the
//! typical time of an operation. Then it reads the status about eight times in each typical time.
//! If the chip is still busy after twice the longest time, the call fails with [`NorError::Busy`].
//! The next call then first reads the status.
//!
//! **Results.** Macronix chips, Micron chips and Infineon's S25FL-S have status bits that report a
//! failed program or erase. Other chips have no such bits. On those chips the driver reads back
//! each program and erase ([`Settings::verify`]). If a chip ignores a program or an erase because
//! its blocks are protected, the error is [`NorError::Protected`]. [`Settings::unlock`] removes the
//! protection at the start.
//!
//! **Addresses.** Chips of more than 16 MiB need four address bytes. The driver uses commands for
//! four address bytes if the parameters list them. Otherwise the start sets a mode with four
//! address bytes.
//!
//! # Left out
//! The driver does not support two or four data lines (`SpiDevice` has one), suspended erases, and
//! deep power-down. On chips with sectors of several sizes, the driver uses only the uniform
//! sectors.

mod chip;
mod error;
mod link;
mod sfdp;

pub use chip::NorChip;
pub use error::NorError;
pub use sfdp::{EraseType, LongAddress, NorInfo};

/// Settings of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Clock of the bus, in hertz. The driver computes its times from it. Default: 10 MHz.
    pub bus_hz: u32,
    /// Time of the processor for each command to the chip, in microseconds: calls, chip select and
    /// polls. The driver adds it to its times, so every bound contains it. Default: 0, which leaves
    /// the time of the chip and the bus.
    pub call_us: u32,
    /// Address of the first byte of the chip that the driver uses. It is a multiple of the size of
    /// an erase block. Default: 0.
    pub first_byte: u32,
    /// Number of bytes that the driver uses. Default: all bytes from the first one on.
    pub bytes: Option<u32>,
    /// True if the driver reads back each program and erase. Default: true if the chip has no
    /// status bits for failed operations. If true, each program costs a read of the same bytes. If
    /// false, a worn chip without such bits loses data without an error.
    pub verify: Option<bool>,
    /// True if the start removes block protection, by writing zeros to the status register.
    /// Default: false.
    pub unlock: bool,
    /// Description of a chip without SFDP parameters. Default: `None`, for a chip that describes
    /// itself.
    pub info: Option<NorInfo>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        bus_hz: 10_000_000,
        call_us: 0,
        first_byte: 0,
        bytes: None,
        verify: None,
        unlock: false,
        info: None,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
