//! Settings, and the numbers derived from them and the geometry.

mod choice;
mod layout;
mod numbers;
mod settings;

pub(crate) use choice::{LEAF_LOG_BYTES, usual_journal_pages};
pub(crate) use layout::{
    COPIED_MAX, HEAD_BYTES, INODE_BYTES, LISTED_MAX, Layout, RING_MAX, RING_MIN, ROOT_HEADER_BYTES,
    SLOT_BYTES, SPARE_INODES, SUPERBLOCK_BLOCKS,
};
pub use settings::Config;
pub(crate) use settings::{LOGICAL_BYTES_MAX, STREAMS_MAX};
