//! Trees of files in the formats of embedded Linux. squashfs and cramfs can be read and written.
//! JFFS2 and UBIFS can only be read.
//!
//! A [`Tree`] contains the common parts of all formats: directories, files, links and devices with
//! modes, owners and times. The tree lies in memory. Its size has a [`Limit`], because an image may
//! be malicious. [`read`] reads an image of any [`Format`].

pub mod cramfs;
pub mod device;
#[cfg(test)]
mod fixture;
pub mod format;
pub mod jffs2;
mod lzo;
mod path;
pub mod squashfs;
pub mod tree;
pub mod ubi;
pub mod ubifs;
pub mod verity;

pub use format::{Format, read};
pub use tree::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};
