//! Kinds of tags, by the numbers of `docs/format.md`.

/// Superblock.
pub const SUPER: u8 = 1;
/// Page of a root or of a copy of it.
pub const ROOT: u8 = 2;
/// Journal page with and without discards.
pub const JOURNAL: [u8; 2] = [5, 6];
/// Logical pages.
pub const DATA: [u8; 4] = [3, 4, 7, 8];
/// Leaves of the map.
pub const LEAF: [u8; 3] = [9, 10, 12];
/// A record in a chain that changes the log of a leaf.
pub const LEAF_CHANGED: u8 = 11;
/// Number of the last kind of a page.
pub const LAST: u8 = 12;
