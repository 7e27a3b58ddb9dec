//! Places on the medium.

/// No block, page or frame.
pub(crate) const NONE: u32 = u32::MAX;

/// Index of a frame: `block * frames_per_block + place in block`. Frame 0 holds a superblock and
/// stands for "not mapped".
pub(crate) type Frame = u32;

/// Distance by which the sequence number jumps after a failed program has used up a place. A
/// smaller gap between two sequence numbers means that a record was lost.
pub(crate) const FAILURE_JUMP: u64 = 64;
