//! Adapters from [`NorFlash`] and [`MultiwriteNorFlash`] of
//! [embedded-storage](https://docs.rs/embedded-storage/0.3): the internal flash of most
//! microcontrollers, and QSPI flash behind their HALs.
//!
//! | the chip | adapter | SteadyFS programs |
//! |---|---|---|
//! | `MultiwriteNorFlash`: several writes of a word | [`FromMultiwrite`] | bytes, each once |
//! | `NorFlash`: one write of a word between erases | [`FromWriteOnce`] | whole pages, and tags |
//!
//! With the first adapter a small commit costs its own bytes, with the second one a page. A chip
//! takes each word once because an ECC covers it, or because its maker requires it.
//!
//! Words of the second kind may have up to 64 bytes: 8 on an STM32G0 or L4, 16 on an STM32U5, 32
//! on an STM32H7. Some HALs implement `MultiwriteNorFlash` for a chip that allows only two or so
//! writes of a word (nRF52). Take [`FromWriteOnce`] for such a chip.
//!
//! The traits have no times, so the caller sets them ([`FlashTimes`]). Every write and erase is
//! read back. If the bytes differ, it is the [block's fault](steadyfs::media::Failure::BadBlock),
//! and another block takes its place. Other errors of the HAL are
//! [`Device`](steadyfs::media::Failure::Device), and the adapter keeps them. On chips whose words
//! take one write, an error of a read counts as a word that the ECC cannot correct. If such a word
//! causes a bus fault or an interrupt of the processor, the HAL must turn it into an error. A
//! power cut may leave such a word.
//!
//! # Example
//! A mounted volume on the last 512 KiB of a chip of 1 MiB:
//! ```
//! use steadyfs::{Access, Config, FileSystem, OpenOptions, media::Flash};
//! use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromMultiwrite};
//! # mod ram { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/hal.rs")); }
//! # let hal = ram::Hal::<1, 4, 4096>::new(1 << 20);
//!
//! let flash = FromMultiwrite::new(hal, 0x8_0000..0x10_0000, FlashTimes::SPI_NOR)?;
//! let config = Config::for_geometry(&flash.geometry());
//! // Or a static array: see FromMultiwrite::geometry.
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
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
