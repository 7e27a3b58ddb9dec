//! The numbers in the text of the paper: *Enhancing eMMC using Multi-Stream technique*, DOI
//! 10.4108/eai.15-3-2019.162141.

/// Capacity in GB: table 1.
pub(super) const CAPACITY_GB: f64 = 64.0;
/// Data that fio wrote, in GB: section 6.2.
pub(super) const WRITTEN_GB: f64 = 1400.0;
/// Size of a superblock in MB, and of a page in KB: section 2.
pub(super) const SUPERBLOCK_MB: u32 = 48;
pub(super) const PAGE_KB: u32 = 4;
/// Reduction of the write amplification by streams, in percent: abstract, section 9.
pub(super) const LESS_PERCENT: f64 = 50.0;
/// Maximum number of streams with a gain: section 5.
pub(super) const STREAMS: u8 = 4;
/// Number of streams that the command has numbers for: section 4.
pub(super) const NUMBERS: u8 = 15;
/// RAM of four streams, RAM of each active block, and code, in bytes: abstract, section 4.
pub(super) const RAM_BYTES: u32 = 108;
pub(super) const BLOCK_RAM_BYTES: u32 = 27;
pub(super) const CODE_BYTES: u32 = 104;
/// Fill above which streams are turned off, in percent: section 5.
pub(super) const OFF_ABOVE_PERCENT: f64 = 90.0;
/// Streams of the six logs of F2FS: hot, warm and cold nodes, and then data: table 2.
pub(super) const F2FS: [u8; 6] = [1, 2, 3, 1, 2, 3];
/// Streams of SQLite's temporary files, in their order: table 3.
pub(super) const SQLITE: [u8; 9] = [3, 3, 2, 2, 3, 2, 2, 3, 3];
