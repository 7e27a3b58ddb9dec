//! Recovery: a mount finds the superblock, the newest root, and the records that were programmed
//! after this root.
//!
//! ```text
//! superblock → newest root → records since, in the order of their sequence
//!   → live frames from the map → clean: nothing is programmed
//!                              → damaged: read-only, and reported
//!                              → settle: a root of its own
//! ```
//!
//! No code in this folder programs anything. The [ring](crate::root) finds the root. The
//! [store](crate::store) settles the state that the mount found.

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
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Access {
    /// A mount for reading: nothing is ever programmed or erased. After a power cut or an
    /// [`Error::Unknown`], one such mount may show the last commit, and the next one may not. Only
    /// a mount for writing decides if this commit counts.
    /// [`is_settled`](crate::FileSystem::is_settled) returns true if nothing is left to decide.
    ReadOnly,
    /// A mount for writing: it settles the state that a power cut left, and the volume can be
    /// changed. If something is [lost](Damage), the volume is mounted for reading.
    ReadWrite,
}

/// A loss that a mount has found, or that a leaf write-back has found later. The volume can only be
/// read until it is [repaired](crate::FileSystem::repair).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Damage {
    /// The newest root cannot be read any more, not even from its copies. Changes that were
    /// committed since the previous root may be missing.
    Root,
    /// A record that was programmed after the newest root cannot be read any more. A logical page
    /// may have an earlier content, or a page of a transaction may be missing.
    Record,
    /// The newest journal page cannot be read any more. The small changes that it held are
    /// missing. On a volume with few files these may be all small changes since the format.
    Journal,
    /// A repair was begun and has not ended.
    Repair,
    /// A page of the file system's own tables cannot be read any more. The free pages cannot be
    /// determined.
    Tables,
    /// A leaf of the map cannot be read any more. Reads of the pages that it maps return
    /// [`Error::Corrupt`]. After a repair, these reads still fail until the pages are written
    /// again.
    Leaf,
}
