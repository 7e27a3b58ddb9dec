//! Settings of a volume, and their limits.

use crate::error::ConfigError;
use crate::features::{GROUPS, NOR, PERMISSIONS, STREAMS};
use crate::journal::RecordShape;
use crate::media::sectors::{SECTOR_BYTES, TAG_ROOM_BYTES};
use crate::media::{Geometry, PAGES_MAX};
use crate::space::LIFETIMES_BYTES;

/// Number of bytes of the largest logical page.
pub(crate) const LOGICAL_BYTES_MAX: u32 = 0x2_0000;
/// Maximum number of program pages in a group of moves.
const GROUP_MAX: u8 = 64;
/// Maximum number of streams of a volume: a tag has two bits for them.
pub(crate) const STREAMS_MAX: u8 = 4;
/// Minimum and maximum number of bytes for changes at the end of each page of a leaf.
const LEAF_LOG_MIN: u32 = 48;
const LEAF_LOG_MAX: u32 = 240;

/// Settings of a volume, chosen when the volume is formatted and stored in its superblock.
///
/// [`Config::for_geometry`] returns settings that meet the promises of the documentation. "More"
/// and "less" in the description of a field list the effects of a larger and of a smaller value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// Number of program pages in a logical page: a power of two, 1 to 32. More: smaller map and
    /// tables. Less: cheaper rewrites of single program pages.
    pub pages_per_logical_page: u16,
    /// Number of map changes kept in RAM before they are written back into leaves, at least 40 more
    /// than `transaction_pages`. More: fewer programs per write and more usable space. Each entry
    /// takes 4 bytes of RAM (8 bytes if the medium has more than 32,768 frames).
    pub overlay_entries: u16,
    /// Maximum number of logical pages that one transaction writes, 2 to 1,024. More: larger
    /// transactions. With fewer than 16, a single call may be too large for a transaction, even
    /// behind a commit. The volume then refuses this call
    /// ([`Error::TransactionTooLarge`](crate::Error::TransactionTooLarge)).
    pub transaction_pages: u16,
    /// Number of programs between two roots, at least 16. More: fewer programs per write. Less:
    /// faster mount after a power cut.
    pub checkpoint_programs: u16,
    /// Largest allowed difference between the erase counts of two blocks, 8 to 200. Less: more
    /// moves of data that is never rewritten. Choose 0 if the device levels wear by itself.
    pub wear_spread: u8,
    /// Number of blocks that may be bad, factory and grown together, before the volume shrinks with
    /// each further bad block. The volume becomes read-only if its contents do not fit any more. It
    /// also becomes read-only if fewer than five blocks of the ring of roots are good.
    pub bad_blocks_max: u16,
    /// Maximum number of files and directories, the root directory among them, at most 1,048,576.
    /// For a [disk](crate::disk), which has no files, it is 0. A name of more than 64 bytes (52
    /// with [`permissions`](Self::permissions)) counts as one more file, and so does the set of
    /// attributes of a file. An entry of the file table takes room only once it is used. But a much
    /// larger number takes a few per cent of the volume, because the map gets more pages.
    pub files_max: u32,
    /// Number of failed programs that one call survives: it writes again in another block.
    pub failures: u8,
    /// Maximum number of bytes of a name, 1 to 255. This is a limit for users. It changes no table.
    pub name_bytes_max: u8,
    /// True if files and directories have room for [permissions](crate::Permissions). Permissions
    /// take twelve bytes of the inode. The inode then has twelve bytes less for the name.
    pub permissions: bool,
    /// Number of streams that the caller can choose from, 1 to 4. Pages that are likely to be
    /// rewritten at about the same time should be in the same stream, because each stream has
    /// separate blocks. Then reclamation moves less. Each stream but the first takes one block from
    /// the usable room, or two blocks with [`moved_apart`](Self::moved_apart).
    pub streams: u8,
    /// True if moved pages have separate blocks for each stream. If the pages of a stream live
    /// about equally long, but are written in no order, reclamation then moves less. If each stream
    /// is written in order, the setting gains nothing.
    pub moved_apart: bool,
    /// True if the volume itself assigns pages to streams, by how often they are written. The
    /// volume then ignores the streams that the caller names. The setting takes 772 bytes of RAM
    /// on any medium, and 772 bytes in each root.
    pub auto_streams: bool,
    /// Number of program pages in a group of moves, 1 to 64. Reclamation reads the pages of a group
    /// one after the other. It then programs all of them with one command, behind the caller's
    /// pages in the same block. With 1, each page moves alone, to blocks for moved pages.
    ///
    /// Groups suit devices that level wear themselves, if the end of a stream of writes takes them
    /// more time than the bytes do. More: streams of writes end less often. But the longest call is
    /// longer, and each page of a group takes RAM for a page and a tag. If the volume has more than
    /// one of the [`streams`](Self::streams), pages always move one by one.
    pub move_group: u8,
    /// Number of bytes at the end of each page of a leaf for changes of the map: 48 to 240, at most
    /// three quarters of a page. It has an effect only if the medium programs bytes. More: leaves
    /// are written anew less often. So victims may hold more live frames, and more of the medium is
    /// usable. But a leaf then maps fewer pages, so there are more leaves. Each leaf takes a frame
    /// number in RAM and a frame of the reserve.
    pub leaf_log_bytes: u8,
    /// Number of program pages in the journal buffer, if the medium programs bytes: 1 to 16, and at
    /// most 4,096 bytes. If a block has no room for more, the buffer is one page. More: small
    /// writes wait in the buffer until one program writes many of them. So appends, small files and
    /// partial writes cost less. But each byte of the buffer takes two bytes of RAM, and calls are
    /// longer now and then. On other media the buffer is one page, and this setting has no effect.
    pub journal_pages: u8,
}

impl Config {
    /// Returns true if these are the settings of a [disk](crate::disk), on which there are no
    /// files.
    pub(crate) const fn is_disk(&self) -> bool {
        self.files_max == 0
    }

    /// Returns the number of heads that only a volume with several streams has. Each stream but the
    /// first has one head for the caller's pages and one for moved pages. The table of heads has an
    /// entry for each of them.
    pub(super) const fn stream_heads(&self) -> u32 {
        2 * (self.streams as u32 - 1)
    }

    /// Returns the number of bytes of the table of page lifetimes.
    pub(super) const fn lifetimes_bytes(&self) -> u32 {
        if self.auto_streams && self.streams > 1 { LIFETIMES_BYTES } else { 0 }
    }

    /// Returns the number of stream heads that may have begun a block.
    pub(super) const fn extra_heads(&self) -> u32 {
        (self.streams as u32 - 1) * if self.moved_apart { 2 } else { 1 }
    }

    /// Checks that each setting and the geometry of the medium are within their limits.
    pub(super) const fn is_within_limits(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        let unit = self.pages_per_logical_page as u32;
        let page = geometry.page_bytes;
        let pages = geometry.pages_per_block;
        let blocks = geometry.block_count;
        let is_whole = page.is_power_of_two()
            || (!geometry.programs_bytes
                && (page.saturating_add(TAG_ROOM_BYTES)).is_power_of_two());
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
        if self.move_group == 0
            || self.move_group > GROUP_MAX
            || (self.move_group > 1 && self.wear_spread > 0)
        {
            return Err(ConfigError::MoveGroup);
        }
        if self.move_group > 1 && !GROUPS {
            return Err(ConfigError::NoGroups);
        }
        if self.files_max > 0x10_0000 || self.failures > 8 {
            return Err(ConfigError::FilesOrFailures);
        }
        let logical_bytes = unit * page;
        if logical_bytes > LOGICAL_BYTES_MAX || !RecordShape::has_room(logical_bytes, page) {
            return Err(ConfigError::LogicalPageTooLarge);
        }
        let log_bytes = self.leaf_log_bytes as u32;
        if log_bytes < LEAF_LOG_MIN || log_bytes > LEAF_LOG_MAX || 4 * log_bytes > 3 * page {
            return Err(ConfigError::LeafLogBytes);
        }
        let record_pages = self.journal_pages as u32;
        if record_pages == 0
            || record_pages > 16
            || (geometry.programs_bytes && record_pages > 1 && record_pages * page > 4096)
        {
            return Err(ConfigError::JournalPages);
        }
        Ok(())
    }
}
