//! Reads and writes cramfs, the compressed file system of small Linux devices.
//!
//! An image consists of a superblock, directories and files. A file is divided into pages, and each
//! page is a zlib stream. The image stores modes and owners. It does not store times, attributes or
//! hard links. Equal files share their pages.

mod error;
mod format;
mod plan;
mod read;
mod write;

pub use error::Error;
pub use format::is_cramfs;
pub use read::read;
pub use write::{LeftOut, Settings, Written, write};
