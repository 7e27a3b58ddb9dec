//! What a mount finds: the superblock, and the records that were programmed after the newest root.
//!
//! ```text
//! superblock → newest root → records since, in the order of their sequence → live frames from the map ─┬→ clean: nothing is programmed
//!                                                                                                      ├→ damaged: read-only, and told
//!                                                                                                      └→ settle: a root of its own
//! ```
//!
//! Nothing here programs. The [ring](crate::root) finds the root; the store settles what was found.

mod cursor;
mod forward;
mod superblock;
mod traces;

pub(crate) use forward::{Forward, Last, Record};
pub use superblock::Superblocks;
pub(crate) use superblock::find_superblock;
pub(crate) use traces::Traces;

#[cfg(doc)]
use crate::error::Error;

/// What a mount may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing is programmed or erased, ever. After a power cut or an [`Error::Unknown`] the last commit may be shown by one such mount and
    /// not by the next: only a mount for writing settles that, and [`is_settled`](crate::FileSystem::is_settled) says so.
    ReadOnly,
    /// The mount settles what a power cut left, and the volume can be changed. Where something is [lost](Damage), it is mounted for reading.
    ReadWrite,
}

/// What a mount found missing, or since then the write-back of a leaf. The volume can only be read until it is
/// [repaired](crate::FileSystem::repair).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The newest root can be read nowhere. What was committed since the one before may be missing.
    Root,
    /// A record since the newest root can be read no more: a page may have the content of before, or a transaction lack a page.
    Record,
    /// The newest journal page can be read no more: the small changes that it held are missing, on a volume with few files perhaps all since the format.
    Journal,
    /// A repair was begun that has not ended.
    Repair,
    /// A page of the file system's own tables can be read no more: nobody knows what is free.
    Tables,
    /// A leaf of the map can be read no more: pages that it maps are [`Error::Corrupt`], and stay so after a repair until they are written anew.
    Leaf,
}
