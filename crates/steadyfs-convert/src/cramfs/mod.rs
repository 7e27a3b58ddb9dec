//! Cramfs, the compressed file system of small Linux devices, read and written.
//!
//! An image is a superblock, directories, and files of pages. Each page is a zlib stream. The image
//! holds modes and owners, but no times, attributes and hard links. Equal files share their pages.

mod error;
mod format;
mod plan;
mod read;
mod write;

pub use error::Error;
pub use format::is_cramfs;
pub use read::read;
pub use write::{LeftOut, Settings, Written, write};
