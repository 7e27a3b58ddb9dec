//! Recovery: a mount finds the superblock, and the records that were programmed after the newest
//! root.
//!
//! ```text
//! superblock → newest root → records since, in the order of their sequence
//!   → live frames from the map → clean: nothing is programmed
//!                              → damaged: read-only, and reported
//!                              → settle: a root of its own
//! ```
//!
//! No code here programs. The [ring](crate::root) finds the root. The store settles the state
//! that was found.

mod cursor;
mod evidence;
mod forward;
mod superblock;

pub(crate) use evidence::TornEvidence;
pub(crate) use forward::{Forward, FoundRecord, Last};
pub use superblock::Superblocks;
pub(crate) use superblock::find_superblock;

#[cfg(doc)]
use crate::error::Error;

/// Permissions of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A mount for reading: nothing is ever programmed or erased. After a power cut or an
    /// [`Error::Unknown`], one such mount may show the last commit, and the next may not. Only a
    /// mount for writing settles that. [`is_settled`](crate::FileSystem::is_settled) reports it.
    ReadOnly,
    /// A mount for writing: it settles the state that a power cut left, and the volume can be
    /// changed. If something is [lost](Damage), the volume is mounted for reading.
    ReadWrite,
}

/// A loss that a mount found, or later the write-back of a leaf. The volume can only be read
/// until it is [repaired](crate::FileSystem::repair).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The newest root cannot be read in any copy. Changes that were committed since the root
    /// before may be missing.
    Root,
    /// A record since the newest root cannot be read any more. A page may have its earlier
    /// content, or a transaction may lack a page.
    Record,
    /// The newest journal page cannot be read any more. The small changes that it held are
    /// missing. On a volume with few files these may be all small changes since the format.
    Journal,
    /// A repair was begun and has not ended.
    Repair,
    /// A page of the file system's own tables cannot be read any more. The free pages cannot be
    /// determined.
    Tables,
    /// A leaf of the map cannot be read any more. The pages that it maps are [`Error::Corrupt`].
    /// After a repair they stay so until they are written anew.
    Leaf,
}
