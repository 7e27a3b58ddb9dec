//! Tests of a driver on spare blocks of the chip, with a name for each mistake.
//!
//! [`check_driver`] tests a [`Flash`], and [`check_nor_driver`] tests a [`NorFlash`].
//! [`check_marks`] tests the marks of bad blocks. The tests find the most frequent mistakes:
//!
//! - a command with one byte of dummy clocks too few
//! - an address that wraps
//! - a read that returns an earlier page
//! - a program that runs over the end of a page of the chip
//! - tags that are not kept
//!
//! **The spare blocks are erased and programmed.** Use at least two blocks, far from each other,
//! that no volume uses. The second block reveals addresses that wrap. The check erases the first
//! block four or five times and fills it once. It erases each other block twice. It programs one
//! page of each other block ([`check_driver`]), or the beginning and end ([`check_nor_driver`]).
//!
//! # Example
//! ```
//! use steadyfs_drivers::check::{check_driver, MistakeKind};
//! # use steadyfs_sim::{Nand, NandTiming};
//! # let geometry = steadyfs::media::Geometry {
//! #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
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
