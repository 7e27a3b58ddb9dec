//! SPI NAND with an ECC on the chip, as a [`Flash`](steadyfs::media::Flash): Micron MT29F, Winbond
//! W25N, GigaDevice GD5F.
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
//! # use steadyfs_sim::nand_spi::{NandSim, NandSpi, NandSpiProfile};
//! # let sim = NandSim::new(NandSpi::new(NandSpiProfile::mt29f1g01()));
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
//! **Chips.** [`NandInfo::CHIPS`] lists the supported chips and the longest times from their
//! datasheets. If a chip has a parameter page (ONFI), the driver uses the number of blocks from
//! this page. It also uses a time from this page if it is longer than the listed time.
//! [`Settings::info`] can describe another chip.
//!
//! **Tags** lie in spare bytes that the ECC covers. On Micron's chips a tag consists of sixteen
//! consecutive bytes, in the second half of the user bytes. On the other chips a tag consists of
//! four bytes in each section of sixteen bytes. They lie behind the bytes that the ECC does not
//! cover.
//!
//! **Start.** The start resets the chip, because the chip may be in the middle of an operation.
//! Then the start unlocks all blocks, and switches on the ECC and reads of the page buffer. A dip
//! in the supply voltage resets these settings in the chip. Programs then fail with
//! [`NandError::Locked`], and the program must create the driver anew.
//!
//! **Copies.** The driver copies pages inside the chip only on Micron's chips with one plane. On
//! chips with two planes, copies work only within one plane. It is not confirmed that copies
//! work on chips of the other makers.
//!
//! # Left out
//! The driver does not support four data lines, cache reads and cache programs, chips with several
//! dies, and chips without ECC.

mod chip;
mod error;
mod families;
mod link;
mod parameters;

pub use chip::NandChip;
pub use error::NandError;
pub use families::{Ecc, NandInfo, TagPlace, Times};

/// Settings of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Clock of the bus, in hertz. The driver computes its times from it. Default: 10 MHz.
    pub bus_hz: u32,
    /// Time of the processor for each command to the chip, in microseconds: calls, chip select and
    /// polls. The driver adds it to its times, so every bound contains it. Default: 0, which leaves
    /// the time of the chip and the bus.
    pub call_us: u32,
    /// Number of the first block that the driver uses. Default: 0.
    pub first_block: u32,
    /// Number of blocks that the driver uses. Default: all blocks from the first one on.
    pub blocks: Option<u32>,
    /// Description of a chip that is not in [`NandInfo::CHIPS`]. Default: `None`, for a chip in
    /// that list.
    pub info: Option<NandInfo>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self =
        Self { bus_hz: 10_000_000, call_us: 0, first_block: 0, blocks: None, info: None };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
