//! Adapters from [`NorFlash`] and [`MultiwriteNorFlash`] of
//! [embedded-storage](https://docs.rs/embedded-storage/0.3). HALs implement these traits for the
//! internal flash of most microcontrollers, and for QSPI flash.
//!
//! | the chip | adapter | SteadyFS programs |
//! |---|---|---|
//! | `MultiwriteNorFlash`: several writes of a word | [`FromMultiwrite`] | bytes, each once |
//! | `NorFlash`: one write of a word between erases | [`FromWriteOnce`] | whole pages, and tags |
//!
//! With [`FromMultiwrite`] a small commit programs only its own bytes. With [`FromWriteOnce`] it
//! programs a whole page. Some chips allow only one write of a word, because an ECC covers the word
//! or because the maker requires it.
//!
//! With [`FromWriteOnce`] words may have up to 64 bytes. A word has 8 bytes on an STM32G0 or L4, 16
//! bytes on an STM32U5, and 32 bytes on an STM32H7. Some HALs implement `MultiwriteNorFlash` for a
//! chip that allows only about two writes of a word (nRF52). Use [`FromWriteOnce`] for such a chip.
//!
//! The traits report no times, so the caller passes the times ([`FlashTimes`]). Every write and
//! erase is read back. If the bytes differ, the error is
//! [`BadBlock`](steadyfs::media::Failure::BadBlock), and the file system replaces the block by
//! another block. Other errors of the HAL become [`Device`](steadyfs::media::Failure::Device), and
//! the adapter stores the last one. [`FromWriteOnce`] treats an error of a read as a word that the
//! ECC cannot correct. A power cut may leave such a word. If it causes a bus fault or an interrupt
//! of the processor, the HAL must turn this into an error.
//!
//! **DMA.** If the words of the chip have 4 bytes or more, the driver of the HAL gets only memory
//! that starts at a multiple of 4 bytes. Data in other memory goes through a buffer of 256 bytes on
//! the stack. So align the memory of the volume (`#[repr(align(4))]`). If the DMA cannot read the
//! flash of the program (nRF), write data from RAM only: a write of whole pages reaches the driver
//! without a copy.
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
