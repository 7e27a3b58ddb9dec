//! Squashfs 4.0, the compressed read-only file system of Linux: the writer.
//!
//! ```text
//! superblock | compressor's options | blocks of data and of fragments | inodes | directories | fragments
//!            | inodes by number | owners and groups | attributes | padding
//! ```
//! [`write()`] makes the image of a [`Tree`](crate::Tree). All numbers are little-endian, nothing is aligned.
//!
//! Layers, from above: `write` → `plan` (what is written when), `data` → `fragments` (content of files), `inodes`,
//! `directories`, `attributes`, `ids` → `metadata` (streams of records in blocks) → `pack` (compressors).
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
mod settings;
mod superblock;
mod write;

pub use error::{ParseCompressorError, WriteError};
pub use settings::{Compressor, Settings};
pub use write::write;

/// Bytes of a block of metadata before it is compressed.
const METADATA_BYTES: usize = 8192;
