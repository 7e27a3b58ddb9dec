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
mod error;
mod pages;
mod times;
mod window;

pub use bytes::FromMultiwrite;
pub use error::RangeError;
pub use pages::FromWriteOnce;
pub use times::FlashTimes;

#[cfg(doc)]
use embedded_storage::nor_flash::{MultiwriteNorFlash, NorFlash};
