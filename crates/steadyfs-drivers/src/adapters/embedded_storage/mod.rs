//! From [`NorFlash`] and [`MultiwriteNorFlash`] of [embedded-storage](https://docs.rs/embedded-storage/0.3): the internal flash of most microcontrollers,
//! and QSPI flash behind their HALs.
//!
//! | the chip | adapter | what SteadyFS programs |
//! |---|---|---|
//! | takes bits of a word in several writes (`MultiwriteNorFlash`) | [`FromMultiwrite`] | bytes, each once: a small commit costs what it holds |
//! | takes each word once between erases, because an ECC covers it, or because its maker says so (`NorFlash`) | [`FromWriteOnce`] | whole pages, and the tag of each: a small commit costs a page |
//!
//! Words of the second kind may have up to 64 bytes: 8 on an STM32G0 or L4, 16 on an STM32U5, 32 on an STM32H7. Some HALs call a chip multiwrite that allows two or so writes of a word (nRF52): take
//! [`FromWriteOnce`] for it.
//!
//! The traits know no times, so these are given ([`FlashTimes`]). Every write and erase is read back: what is not there is the [block's fault](steadyfs::media::Failure::BadBlock), and another one takes its place.
//! Other errors of the HAL are [`Device`](steadyfs::media::Failure::Device), and are kept; those of reads from chips with words are taken for words that the ECC cannot correct.
//! Where such a word is a fault of the bus or an interrupt for the processor, the HAL must make an error of it: a power cut may leave one.
//!
//! # Example
//! To a mounted volume on the last 512 KiB of a chip of 1 MiB:
//! ```
//! use steadyfs::{Access, Config, FileSystem, OpenOptions, media::Flash};
//! use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromMultiwrite};
//! # mod ram { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/hal.rs")); }
//! # let hal = ram::Hal::<1, 4, 4096>::new(1 << 20);
//!
//! let flash = FromMultiwrite::new(hal, 0x8_0000..0x10_0000, FlashTimes::SPI_NOR)?;
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())]; // or a static array: see FromMultiwrite::geometry
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//!
//! let mut log = fs.open("log", OpenOptions::DURABLE)?;
//! fs.append(&mut log, b"21.5 degrees\n")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod pages;
mod window;

pub use bytes::FromMultiwrite;
pub use pages::FromWriteOnce;

use core::fmt;
#[cfg(doc)]
use embedded_storage::nor_flash::{MultiwriteNorFlash, NorFlash};

/// How long a chip takes at most; every [`bound`](steadyfs::FileSystem::bound) is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashTimes {
    /// A read without its bytes: command and address, in nanoseconds.
    pub read_ns: u32,
    /// Each byte that is read, in nanoseconds.
    pub read_byte_ns: u32,
    /// Bytes that the chip programs at once: a program page of a serial chip, a word inside a microcontroller.
    pub write_bytes: u32,
    /// Transfer and program of so many bytes, or fewer, in nanoseconds.
    pub write_ns: u32,
    /// Erase of `ERASE_SIZE` bytes, in nanoseconds.
    pub erase_ns: u64,
}

impl FlashTimes {
    /// A serial chip with four data lines at 50 MHz: the longest times of Winbond's W25Q128JV for 256 bytes and for 4 KiB (datasheet, 9.6).
    pub const SPI_NOR: Self =
        Self { read_ns: 1_000, read_byte_ns: 40, write_bytes: 256, write_ns: 3_020_000, erase_ns: 400_000_000 };
    /// Flash inside a microcontroller: the longest times of an STM32G0 for eight bytes and for 2 KiB (datasheet of the STM32G071, "Flash memory characteristics").
    pub const INTERNAL: Self = Self { read_ns: 100, read_byte_ns: 30, write_bytes: 8, write_ns: 125_000, erase_ns: 40_000_000 };

    const fn read(&self, bytes: u32) -> u64 {
        self.read_ns as u64 + bytes as u64 * self.read_byte_ns as u64
    }

    /// A program that is read back.
    const fn program(&self, bytes: u32) -> u64 {
        let parts = if self.write_bytes == 0 { bytes } else { bytes.div_ceil(self.write_bytes) };
        parts as u64 * self.write_ns as u64 + self.look(bytes)
    }

    /// An erase of sectors that is read back.
    const fn erase(&self, bytes: u32, sector_bytes: u32) -> u64 {
        (bytes / sector_bytes) as u64 * self.erase_ns + self.look(bytes)
    }

    const fn look(&self, bytes: u32) -> u64 {
        bytes.div_ceil(window::WORD_BYTES_MAX as u32) as u64 * self.read_ns as u64 + bytes as u64 * self.read_byte_ns as u64
    }
}

/// Why a range of a chip cannot hold a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeError {
    /// The chip has words of more than 64 bytes, or that are no power of two, or sectors that are no multiple of 256 bytes.
    Words,
    /// The range ends behind the chip, or before it begins.
    OutOfBounds,
    /// The range begins or ends within a sector.
    NotSectors,
    /// The usual settings do not fit so few sectors, or such small ones.
    TooSmall,
    /// SteadyFS was built without its feature `nor`, and the chip programs bytes.
    WithoutNor,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "the chip has words or sectors of a size that does not work",
            Self::OutOfBounds => "the range is not within the chip",
            Self::NotSectors => "the range begins or ends within an erase sector",
            Self::TooSmall => "the range is too small for a volume",
            Self::WithoutNor => "SteadyFS was built without its feature nor",
        })
    }
}

impl core::error::Error for RangeError {}
