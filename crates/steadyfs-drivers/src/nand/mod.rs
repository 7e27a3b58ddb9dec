//! SPI NAND with an ECC on the chip, as a [`Flash`](steadyfs::media::Flash): Micron MT29F, Winbond W25N, GigaDevice GD5F.
//!
//! ```text
//!  NandChip     Flash: pages and tags, ECC, marks, copies              chip
//!     │         commands, registers, busy, write enable                link
//!     │         what chips there are, and where their tags lie         families
//!     │         what a chip tells of itself                            parameters
//!  SpiDevice, DelayNs                                                  embedded-hal 1.0
//! ```
//!
//! # Example
//! ```
//! use steadyfs::{Access, Config, FileSystem, OpenOptions, media::Flash};
//! use steadyfs_drivers::nand::{NandChip, Settings};
//! # let sim = steadyfs_sim::nand_spi::NandSim::new(steadyfs_sim::nand_spi::NandSpi::new(steadyfs_sim::nand_spi::NandSpiProfile::mt29f1g01()));
//! # let (spi, delay) = (sim.clone(), sim);
//!
//! let flash = NandChip::start(spi, delay, Settings { bus_hz: 50_000_000, ..Settings::DEFAULT })?;
//! println!("{:02x?}: {} blocks", flash.info().id, flash.info().block_count);
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! fs.append(&mut log, b"21.5 degrees\n")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Chips.** [`NandInfo::CHIPS`] has those that are known, with the longest times of their datasheets; where a chip has a parameter page (ONFI), its number of blocks and its times count, if longer. Another one can be
//! described by [`Settings::info`].
//!
//! **Tags** lie in spare bytes that the ECC covers: on Micron's chips sixteen in a row in the second half of the user bytes, on the others four in each section of sixteen, behind those without ECC.
//!
//! **Start.** The chip is reset, since it may be in the middle of something; all blocks are unlocked, ECC and reads of the page buffer are set. A dip in the supply makes a chip forget that: then programs fail as
//! [`NandError::Locked`], and the driver is to be made anew.
//!
//! **Copies** inside the chip are used on Micron's chips with one plane; with two they work only within one, and for the others they are not confirmed.
//!
//! # Left out
//! Four data lines, cache reads and programs, chips with several dies, and chips without ECC.

mod chip;
mod error;
mod families;
mod link;
mod parameters;

pub use chip::NandChip;
pub use error::NandError;
pub use families::{Ecc, NandInfo, TagPlace, Times};

/// How a chip is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Clock of the bus, in hertz: the times that the driver tells are made of it. Default: 10 MHz.
    pub bus_hz: u32,
    /// The first block that is used. Default: 0.
    pub first_block: u32,
    /// How many blocks are used. Default: all that follow.
    pub blocks: Option<u32>,
    /// What the chip is, where it is none of [`NandInfo::CHIPS`]. Default: one of them.
    pub info: Option<NandInfo>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self { bus_hz: 10_000_000, first_block: 0, blocks: None, info: None };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
