//! Cramfs, the compressed file system of small Linux devices, read and written.
//!
//! An image is a superblock, directories, and files of pages that are each a zlib stream. It holds modes and owners, but no times, attributes and hard links. Equal
//! files share their pages.

mod error;
mod format;
mod pages;
mod plan;
mod read;
mod write;

pub use error::{Error, PageError};
pub use format::is_cramfs;
pub use read::{read, read_blocks};
pub use write::{LeftOut, Settings, Written, write};

/// Bytes of a page, unless a kernel has larger ones.
pub const BLOCK_BYTES: u32 = 4096;
