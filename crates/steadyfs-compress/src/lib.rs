//! Compressed files on SteadyFS. They can be read, written, appended to and truncated at any
//! offset. The code needs no heap, and each call has a bound.
//!
//! The content of a file is divided into chunks of 4 to 64 KiB, which are compressed one by one. An
//! attribute marks a compressed file. A file without the attribute is a plain file.
//! `docs/guide/read-only.md` explains the use and the limits. `docs/design/compression.md` gives
//! the reasons for the format.
//!
//! # Promises
//! - **One look-up.** One entry contains the position of a chunk. The position of the entry is
//!   computed from the offset, for files of any size.
//! - **Bounded.** A write within one chunk takes at most the writes of a chunk and two small
//!   writes: [`PackedFile::write_bound`].
//! - **Power-loss proof.** As in the file system, committed content is intact after a power cut.
//!   Data is written to bytes that no entry points to. Then one entry of eight bytes makes this
//!   data the content. If a call fails, the file has its old content or its new content. The same
//!   holds if a commit comes between two steps of a call.
//! - **RAM** is lent by the caller. To read LZ4 in chunks of 4 KiB takes [4,144
//!   bytes](Shape::read_bytes).
//!
//! # Example
//! ```
//! use steadyfs_compress::{Method, PackedFile, Shape};
//! # use steadyfs::{Access, Config, FileSystem, media::Geometry};
//! # let geometry = Geometry {
//! #     page_bytes: 2048, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
//! # let config = Config::for_geometry(&geometry);
//! # let mut ram = vec![0; config.memory_bytes(&geometry)];
//! # let flash = FileSystem::format(flash, &config, &mut ram)?;
//! # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram)?;
//! const SHAPE: Shape = Shape::new(4096, Method::Lz4);
//! let mut memory = [0; SHAPE.write_bytes()]; // on a microcontroller: a static array
//!
//! let mut log = PackedFile::create(&mut fs, "log", SHAPE, &mut memory)?;
//! log.append(&mut fs, b"21.5 degrees\n")?;
//! fs.commit()?; // on the medium when it returns
//!
//! let mut line = [0; 12];
//! log.read(&mut fs, 0, &mut line)?;
//! assert_eq!(&line, b"21.5 degrees");
//! log.close(&mut fs)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go on
//! - [`PackedFile`]: the calls. [`Shape`]: chunk size and method, and the RAM that they need.
//! - [`Rule`]: the compression that a directory prescribes for the files that are created in it.
//! - [`format`]: the attribute and the entries. [`lz4`]: the codec by itself.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "deflate", feature = "zstd"))]
extern crate std;

// The tests run the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod bounds;
mod codec;
mod convert;
mod error;
mod file;
pub mod format;
pub mod lz4;
mod method;
mod packing;
mod stored;
mod volume;
mod write;

pub use codec::{LEVEL_DEFAULT, encode};
pub use error::Error;
pub use file::PackedFile;
pub use format::{ATTRIBUTE, Form, Shape};
pub use method::Method;
pub use packing::{NoPacking, Packing, RULE, Rule};
pub use volume::Volume;
