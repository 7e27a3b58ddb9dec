//! Read-only images for microcontrollers: squashfs and cramfs. They are read without a copy of the
//! image, and verified block by block.
//!
//! A read-only image needs no journal, no spare blocks and no tables in RAM. So this crate has no
//! format of its own. `steady pack --read-only` makes squashfs 4.0, which Linux mounts and
//! `unsquashfs` unpacks. This crate reads such images without a heap, with a [bound](Bound) for
//! every call. `docs/guide/read-only.md` describes the parts and their costs.
//!
//! ```text
//! Squash, Cramfs        names, files, directories
//! Cached                what is read again and again       (left out if RAM is short)
//! Verified              each block matches the signature   (left out without a signature)
//! OnNand, OnNor, …      bytes of the image from the chip, bad blocks left out
//! ```
//!
//! # Example
//! ```
//! use steadyfs_rom::{InRam, Squash};
//! # let image = include_bytes!("../tests/images/notes.squashfs");
//!
//! let source = InRam::new(image); // on a device: `OnNor::new(driver, 0, length)`
//! let mut memory = [0; 12_480];
//! let mut rom = Squash::mount(source, &mut memory)?;
//! let mut file = rom.open("etc/motd")?;
//! let mut text = [0; 64];
//! let count = rom.read(&mut file, 0, &mut text)?;
//! assert_eq!(&text[..count], b"steady as she goes\n");
//! # Ok::<(), steadyfs_rom::Error>(())
//! ```
//!
//! # Where to go on
//! - [`Squash`]: the calls that read an image. [`squash::Needs`]: the memory that an image needs.
//! - [`Source`]: the medium of an image. [`OnNand`], [`OnNor`] and [`InRam`] are sources.
//!   [`Install`] writes an image to NAND.
//! - [`Cached`]: fast look-ups of names with a few KiB of RAM. [`Verified`]: images
//!   with a signature, or with a root hash from elsewhere.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "host"))]
extern crate std;

// The tests run the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod bound;
mod cached;
mod codec;
mod compressor;
pub mod cramfs;
mod error;
mod fields;
pub mod lzo;
pub mod nand;
mod nor;
mod recent;
mod source;
pub mod squash;
mod stat;
pub mod verity;

pub use bound::Bound;
pub use cached::Cached;
pub use compressor::Compressor;
pub use cramfs::Cramfs;
pub use error::Error;
pub use nand::{Install, OnNand};
pub use nor::OnNor;
pub use source::{InRam, Source};
pub use squash::Squash;
pub use stat::{Kind, Stat};
pub use verity::{Trusted, Verified};
