//! What is wrong with a driver: tried on spare blocks of the chip, and told by name.
//!
//! [`check_driver`] tries a [`Flash`], [`check_nor_driver`] a [`NorFlash`]; [`check_marks`] tries the marks of bad blocks. They know the mistakes that are made most often: a byte of dummy clocks too few, an address that
//! wraps, a page that is read from before, a program that runs over the end of a page of the chip, tags that are not kept.
//!
//! **The spare blocks are erased and programmed.** Take at least two, far from each other, that no volume uses: addresses that wrap show in the second one. It takes as long as two erases and three programs of each page.
//!
//! # Example
//! ```
//! use steadyfs_drivers::check::{check_driver, MistakeKind};
//! # use steadyfs_sim::{Nand, NandTiming};
//! # let geometry = steadyfs::media::Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
//! # let mut flash = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
//!
//! let mut page = [0; 512];
//! match check_driver(&mut flash, &[1, 63], &mut page) {
//!     Ok(()) => println!("the driver does what it should"),
//!     Err(mistake) if mistake.kind == MistakeKind::Shifted => println!("dummy clocks? {mistake}"),
//!     Err(mistake) => println!("{mistake}"),
//! }
//! ```

mod flash;
mod mistake;
mod nor;
mod pattern;

pub use flash::{check_driver, check_marks};
pub use mistake::{Call, Mistake, MistakeKind};
pub use nor::check_nor_driver;

#[cfg(doc)]
use steadyfs::media::{Flash, nor::NorFlash};
