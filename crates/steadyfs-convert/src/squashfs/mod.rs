//! Reads and writes squashfs 4.0, the compressed read-only file system of Linux.
//!
//! ```text
//! superblock | compressor's options | blocks of data and of fragments | inodes | directories
//!            | fragments | inodes by number | owners and groups | attributes | padding
//! ```
//! [`write()`] makes the image of a [`Tree`](crate::Tree), and [`read()`] reads an image, as
//! `steadyfs-rom` does on a device. All numbers are little-endian. Fields are not aligned.
//!
//! The layers from the highest to the lowest are: `write` → `plan` (order of writing), `data` →
//! `fragments` (content of files), `inodes`, `directories`, `attributes`, `ids` → `metadata`
//! (streams of records in blocks) → `pack` (compressors).
//!
//! Source: Documentation/filesystems/squashfs.rst of Linux; doc/format.adoc of squashfs-tools-ng.

mod attributes;
mod data;
mod directories;
mod error;
mod fragments;
mod ids;
mod inodes;
mod metadata;
mod pack;
mod plan;
mod read;
mod read_error;
mod settings;
mod superblock;
mod write;

pub use error::{ParseCompressorError, WriteError};
pub use read::read;
pub use read_error::ReadError;
pub use settings::{Compressor, Settings};
pub use write::write;
