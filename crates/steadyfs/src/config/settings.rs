//! Settings of a volume, and their limits.

use crate::error::ConfigError;
use crate::features::{GROUPS, NOR, PERMISSIONS, STREAMS};
use crate::journal::Shape;
use crate::media::sectors::{SECTOR_BYTES, TAG_ROOM_BYTES};
use crate::media::{Geometry, PAGES_MAX};
use crate::space::LIFETIMES_BYTES;

/// Bytes of the largest logical page.
pub(crate) const LOGICAL_BYTES_MAX: u32 = 0x2_0000;
/// Most program pages of a group of moves.
const GROUP_MAX: u8 = 64;
/// Most streams of a volume: a tag has two bits for them.
pub(crate) const STREAMS_MAX: u8 = 4;
/// Fewest and most bytes at the end of each page of a leaf for changes.
const LEAF_LOG_MIN: u32 = 48;
const LEAF_LOG_MAX: u32 = 240;

/// Settings of a volume, chosen when it is formatted and kept in its superblock.
///
/// [`Config::for_geometry`] gives settings that meet the promises of the documentation; every field says what more and
/// less of it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Program pages of a logical page. A power of two, 1 to 32. More: smaller map and tables; less: cheaper rewrites of single
    /// program pages.
    pub unit_pages: u16,
    /// Map changes kept in RAM before they are folded into leaves, at least 40 more than `transaction_pages`. More: fewer programs
    /// per write and more usable space; 4 bytes each (8 above 32,767 frames).
    pub overlay_entries: u16,
    /// Logical pages that one transaction may write, 2 to 1,024. More: larger transactions. With less than 16 a single call may be too large for one, and
    /// is refused ([`Error::TransactionTooLarge`](crate::Error::TransactionTooLarge)).
    pub transaction_pages: u16,
    /// Programs between two roots, at least 16. More: fewer programs per write; less: faster mount after a power cut.
    pub checkpoint_programs: u16,
    /// Largest allowed difference between the erase counts of two blocks, 8 to 200. Less: more moves of data at rest. 0 where the device levels wear itself.
    pub wear_spread: u8,
    /// Blocks that may be bad, factory and grown together, before the volume shrinks with each further one. It can only be read when
    /// what it holds does not fit any more, or when fewer than five blocks of the ring of roots are good.
    pub bad_blocks_max: u16,
    /// Files and directories that the volume can hold, the root among them, at most 1,048,576; 0 for a [disk](crate::disk), which holds none. A name of more than 64 bytes (52 with
    /// [`permissions`](Self::permissions)), and attributes, count
    /// as one each. An entry of the file table takes room only once used.
    pub files_max: u32,
    /// Program failures that one call survives by writing elsewhere.
    pub failures: u8,
    /// Bytes of a name at most, 1 to 255. A limit for users; it changes no table.
    pub name_bytes_max: u8,
    /// Whether files and directories have room for [permissions](crate::Permissions): twelve bytes of the inode, which then has twelve less
    /// for the name.
    pub permissions: bool,
    /// Streams of the caller, 1 to 4: pages that are likely to be written again at about the same time go to blocks of their own, so that reclamation
    /// moves less. Each but the first takes a block of the room, and another one where moved pages are kept apart.
    pub streams: u8,
    /// Whether pages that reclamation moves keep to blocks of their stream. Less is moved where the pages of a stream live about as long, however they are written; where
    /// each stream is written in order it gains nothing.
    pub moved_apart: bool,
    /// Whether the volume finds out by itself which pages belong to one stream, from how often they are written; streams that the caller names
    /// count for nothing then. 772 bytes of RAM on any medium, and as many in each root.
    pub auto_streams: bool,
    /// Program pages that reclamation reads one behind the other and then programs in one command, behind the caller's pages; 1 to 64. 1: each page moves by itself, in
    /// blocks of its own. For devices that charge for the end of a stream of writes rather than for bytes, and level wear themselves. More: fewer ends of streams, and
    /// a longer longest call; each takes a page and a tag of RAM. Pages of volumes with more than one stream move one by one.
    pub move_group: u8,
    /// Bytes at the end of each page of a leaf that take changes of the map, where the medium programs bytes: 48 to 240, at most three quarters of a page. More: leaves are
    /// written anew less often, so victims may hold more and more of the medium is usable; but a leaf maps less, and each takes a frame number of RAM and a frame of the reserve.
    pub leaf_log_bytes: u8,
    /// Program pages of the journal's buffer where the medium programs bytes, 1 to 16 and 4,096 bytes at most; one where a block has no room for more. More: small
    /// writes wait there until many of them are one program, so appends, small files and pieces of files cost less; twice as much RAM, and longer calls now and
    /// then. On other media the buffer is a page, and this counts for nothing.
    pub journal_pages: u8,
}

impl Config {
    /// Whether they are those of a [disk](crate::disk), on which there are no files.
    pub(crate) const fn is_disk(&self) -> bool {
        self.files_max == 0
    }

    /// Heads that only a volume with several streams has, each with a place in the table: one for the caller's pages and one for moved ones.
    pub(super) const fn stream_heads(&self) -> u32 {
        2 * (self.streams as u32 - 1)
    }

    /// Bytes of what is known of the lives of pages.
    pub(super) const fn lifetimes_bytes(&self) -> u32 {
        if self.auto_streams && self.streams > 1 { LIFETIMES_BYTES } else { 0 }
    }

    /// Those of them that begin blocks.
    pub(super) const fn extra_heads(&self) -> u32 {
        (self.streams as u32 - 1) * if self.moved_apart { 2 } else { 1 }
    }

    /// Whether each setting is within its limits, on a medium whose shape is.
    pub(super) const fn is_within_limits(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        let unit = self.unit_pages as u32;
        let page = geometry.page_bytes;
        let pages = geometry.pages_per_block;
        let blocks = geometry.block_count;
        let is_whole =
            page.is_power_of_two() || (!geometry.programs_bytes && (page.saturating_add(TAG_ROOM_BYTES)).is_power_of_two());
        if !is_whole || page < 256 || page > 16_384 {
            return Err(ConfigError::PageBytes);
        }
        if geometry.programs_bytes && !NOR {
            return Err(ConfigError::ProgramsBytes);
        }
        if self.permissions && !PERMISSIONS {
            return Err(ConfigError::Permissions);
        }
        if pages < 4 || pages > PAGES_MAX || blocks < 16 || blocks > 0x10_0000 {
            return Err(ConfigError::Blocks);
        }
        if !unit.is_power_of_two() || unit > 32 || pages / unit < 4 {
            return Err(ConfigError::UnitPages);
        }
        if self.is_disk() && (!page.is_power_of_two() || unit * page < SECTOR_BYTES as u32) {
            return Err(ConfigError::SectorBytes);
        }
        if self.transaction_pages < 2 || self.transaction_pages > 1024 {
            return Err(ConfigError::TransactionPages);
        }
        if self.overlay_entries < self.transaction_pages + 40 || self.overlay_entries > 8192 {
            return Err(ConfigError::OverlayEntries);
        }
        if self.checkpoint_programs < 16 || self.checkpoint_programs > 4096 {
            return Err(ConfigError::CheckpointPrograms);
        }
        if self.wear_spread > 200 || (self.wear_spread < 8 && self.wear_spread > 0) {
            return Err(ConfigError::WearSpread);
        }
        if self.name_bytes_max == 0 {
            return Err(ConfigError::NameBytesMax);
        }
        if self.streams == 0 || self.streams > STREAMS_MAX {
            return Err(ConfigError::Streams);
        }
        if self.streams > 1 && !STREAMS {
            return Err(ConfigError::NoStreams);
        }
        if self.move_group == 0 || self.move_group > GROUP_MAX || (self.move_group > 1 && self.wear_spread > 0) {
            return Err(ConfigError::MoveGroup);
        }
        if self.move_group > 1 && !GROUPS {
            return Err(ConfigError::NoGroups);
        }
        if self.files_max > 0x10_0000 || self.failures > 8 {
            return Err(ConfigError::FilesOrFailures);
        }
        let logical_bytes = unit * page;
        if logical_bytes > LOGICAL_BYTES_MAX || !Shape::has_room(logical_bytes, page) {
            return Err(ConfigError::LogicalPageTooLarge);
        }
        let log_bytes = self.leaf_log_bytes as u32;
        if log_bytes < LEAF_LOG_MIN || log_bytes > LEAF_LOG_MAX || 4 * log_bytes > 3 * page {
            return Err(ConfigError::LeafLogBytes);
        }
        let record_pages = self.journal_pages as u32;
        if record_pages == 0 || record_pages > 16 || (geometry.programs_bytes && record_pages > 1 && record_pages * page > 4096) {
            return Err(ConfigError::JournalPages);
        }
        Ok(())
    }
}
