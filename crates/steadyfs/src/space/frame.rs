//! Places on the medium.

/// No block, page or frame.
pub(crate) const NONE: u32 = u32::MAX;

/// Index of a frame: `block * frames_per_block + place in block`. Frame 0 holds a superblock and
/// stands for "not mapped".
pub(crate) type Frame = u32;

/// Distance by which the sequence number jumps after a place that was used up. A smaller gap is
/// a lost record.
pub(crate) const FAILURE_JUMP: u64 = 64;
