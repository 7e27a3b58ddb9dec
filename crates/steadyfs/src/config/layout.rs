//! Values that are derived from a geometry and settings.

use super::numbers::{ceil_div, clamp, max};
use super::settings::Config;
use crate::error::ConfigError;
use crate::features::{GROUPS, NOR, STREAMS};
use crate::journal::RecordShape;
use crate::media::{Geometry, TAG_BYTES, Tag, TagKind, TagKinds};

/// Number of blocks in which a mount looks for a superblock.
pub(crate) const SUPERBLOCK_BLOCKS: u32 = 32;
/// Maximum number of blocks of the ring of roots.
pub(crate) const RING_MAX: u32 = 32;

/// Minimum number of blocks of a ring with which a volume can be changed. Three blocks hold the
/// root that a mount begins with, the newest certain root, and a root that is being written. After
/// a power cut in the middle of an erase, three more blocks are needed.
pub(crate) const RING_MIN: u32 = 6;
/// Maximum number of frames beside the root in the ring block of a mount. These are frames that
/// earlier mounts copied and no call has moved since, and the last record.
pub(crate) const COPIED_MAX: u32 = 3;
/// Maximum number of blocks that may be allocated between two roots.
pub(crate) const LISTED_MAX: usize = 32;
/// Number of blocks that are used between two roots, if roots are as rare as possible.
const RARE_BLOCKS: u32 = 24;
/// Number of erased blocks that reclamation keeps in stock.
const STOCK: u32 = 4;

/// Alignment of the records of a chain, in bytes.
pub(crate) const SLOT_BYTES: u32 = 8;
/// Number of bytes of an entry of the file table.
pub(crate) const INODE_BYTES: u32 = 256;
/// Maximum number of pages of a root: a search has a bit for each page.
const ROOT_PAGES_MAX: u32 = 64;
/// Number of inodes beyond `files_max`, for the ends that were truncated from files.
pub(crate) const SPARE_INODES: u32 = 16;
/// Number of bytes of a head in the table of heads, in RAM and in a root.
pub(crate) const HEAD_BYTES: u32 = 6;
/// Number of bytes before the tables of a root.
pub(crate) const ROOT_HEADER_BYTES: u32 = 68;

/// All values that are derived from geometry and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub geometry: Geometry,
    pub config: Config,
    /// Number of bytes of a logical page.
    pub logical_bytes: u32,
    /// Number of frames in a block. A frame holds one logical page.
    pub frames_per_block: u32,
    /// Number of bytes of a frame number or logical page number in a table: 2 or 4.
    pub entry_bytes: u32,
    /// Number of entries of a leaf.
    pub leaf_entries: u32,
    /// Number of bytes for map changes in each page of a leaf.
    pub leaf_log_bytes: u32,
    /// Number of leaves of the map.
    pub leaf_count: u32,
    /// Number of logical page numbers. It is larger than `usable`: the file table has a number for
    /// each of its pages, but few of these pages may be in use.
    pub logical_count: u32,
    /// Maximum number of logical pages that hold data at the same time. Leaves and the open
    /// transaction are not counted.
    pub usable: u32,
    /// Number of blocks of the ring of roots.
    pub ring_count: u32,
    /// Number of bytes of the journal buffer. If the medium programs bytes, the tag of a record is
    /// included.
    pub journal_bytes: u32,
    /// Number of program pages that a root takes.
    pub root_pages: u32,
    /// Number of program pages that a root and its copies take.
    pub root_programs: u32,
    /// Number of frames that reclamation always keeps free.
    pub reserve_frames: u32,
    /// Number of overlay entries above which leaves are written back.
    pub overlay_soft: u32,
    /// Minimum number of overlay entries that a leaf write-back frees, if there are more than
    /// `overlay_soft`.
    pub fold_frees: u32,
    /// Number of map changes that take at most one frame together: a leaf that is written anew.
    pub leaf_changes: u32,
    /// Number of blocks that may be allocated until the next root.
    pub listed_blocks: u32,
    /// Number of blocks for data in the worst case: all blocks except bad blocks, the ring, blocks
    /// of heads and the reserve.
    pub data_blocks: u32,
    /// Maximum number of live frames of a victim that is still worth its erase.
    pub victim_max: u32,
}

impl Layout {
    /// Returns a layout without derived values.
    const fn of(geometry: &Geometry, config: &Config) -> Self {
        Self {
            geometry: *geometry,
            config: *config,
            logical_bytes: 0,
            frames_per_block: 0,
            entry_bytes: 0,
            leaf_entries: 0,
            leaf_log_bytes: 0,
            leaf_count: 0,
            logical_count: 0,
            usable: 0,
            ring_count: 0,
            journal_bytes: 0,
            root_pages: 0,
            root_programs: 0,
            reserve_frames: 0,
            overlay_soft: 0,
            fold_frees: 0,
            leaf_changes: 0,
            listed_blocks: 0,
            data_blocks: 0,
            victim_max: 0,
        }
    }

    /// Derives all values from a geometry and settings.
    ///
    /// Returns the rule that the settings break.
    pub(crate) const fn derive(geometry: &Geometry, config: &Config) -> Result<Self, ConfigError> {
        let mut layout = Self::of(geometry, config);
        if let Err(rule) = layout.derive_to_read() {
            return Err(rule);
        }
        if let Err(rule) = layout.derive_room() {
            return Err(rule);
        }
        Ok(layout)
    }

    /// Derives all values except the room for data, which a reader does not need.
    pub(crate) const fn derive_for_reading(
        geometry: &Geometry,
        config: &Config,
    ) -> Result<Self, ConfigError> {
        let mut layout = Self::of(geometry, config);
        match layout.derive_to_read() {
            Ok(()) => Ok(layout),
            Err(rule) => Err(rule),
        }
    }

    /// Checks the limits of the settings, and derives the position of everything.
    const fn derive_to_read(&mut self) -> Result<(), ConfigError> {
        if let Err(rule) = self.config.is_within_limits(&self.geometry) {
            return Err(rule);
        }
        if let Err(rule) = self.derive_map() {
            return Err(rule);
        }
        self.derive_ring()
    }

    /// Derives the number of frames, and the numbering of logical pages in the map.
    const fn derive_map(&mut self) -> Result<(), ConfigError> {
        let (Geometry { page_bytes, pages_per_block, block_count, programs_bytes }, config) =
            (self.geometry, &self.config);
        let unit = config.pages_per_logical_page as u32;
        self.logical_bytes = unit * page_bytes;
        self.frames_per_block = pages_per_block / unit;
        let frames = self.frames_per_block.saturating_mul(block_count);
        // The highest bit of an entry is the released bit.
        self.entry_bytes = if frames <= 0x8000 { 2 } else { 4 };
        self.leaf_log_bytes = if programs_bytes { config.leaf_log_bytes as u32 } else { 0 };
        self.leaf_entries = (page_bytes - self.leaf_log_bytes) / self.entry_bytes * unit;
        // Room for the data itself, the allocation map and the file table.
        let table = ceil_div(config.files_max + SPARE_INODES, self.inodes_per_page());
        let room = Self::room(frames, config);
        let maps = ceil_div(room + config.files_max + SPARE_INODES + 7, self.logical_bytes * 8);
        self.logical_count = if config.is_disk() { room } else { room + maps + table + 1 };
        if self.logical_count > 0xFF_FFFF || (self.entry_bytes == 2 && self.logical_count > 0xFFFF)
        {
            return Err(ConfigError::TooManyLogicalPages);
        }
        self.leaf_count = ceil_div(self.logical_count, self.leaf_entries);
        Ok(())
    }

    /// Derives the roots, the ring that holds them, and the journal's records.
    const fn derive_ring(&mut self) -> Result<(), ConfigError> {
        let (Geometry { page_bytes, pages_per_block, block_count, programs_bytes }, config) =
            (self.geometry, &self.config);
        let (unit, record_pages) =
            (config.pages_per_logical_page as u32, config.journal_pages as u32);
        let known_logs = if self.leaf_log_bytes > 0 { ceil_div(self.leaf_count, 8) } else { 0 };
        self.root_pages = ceil_div(
            Self::root_bytes(block_count, self.leaf_count, self.entry_bytes, config) + known_logs,
            page_bytes,
        );
        // The last page of the copies proves that the page before it is complete. So there are at
        // least two copies.
        self.root_programs = if self.root_pages > 1 { 2 * self.root_pages } else { 3 };
        let taken = ceil_div(self.root_pages, unit) * unit + COPIED_MAX * unit + self.root_programs
            - self.root_pages;
        if taken + 1 > pages_per_block || self.root_pages > ROOT_PAGES_MAX {
            return Err(ConfigError::BlockTooSmall);
        }
        // Pages that change often should stay in the buffer. If a record need not be exactly a
        // page, it may be longer than a small page.
        let is_long = programs_bytes && taken + record_pages <= pages_per_block;
        self.journal_bytes = if is_long { record_pages * page_bytes } else { page_bytes };
        // The ring has so many blocks that they wear like the average block, and that one may go
        // bad.
        let least = RING_MIN + if config.bad_blocks_max > 0 { 1 } else { 0 };
        let levelled = if config.wear_spread > 0 {
            // If the medium programs bytes, blocks are used up later than the count of programs
            // suggests.
            let most = if programs_bytes { RARE_BLOCKS * pages_per_block } else { u32::MAX };
            ceil_div(
                self.root_programs * block_count,
                clamp(config.checkpoint_programs as u32, 0, most),
            )
        } else {
            0
        };
        self.ring_count = clamp(levelled, least, RING_MAX);
        Ok(())
    }

    /// Derives the room that the overlay and the reserve leave for data.
    const fn derive_room(&mut self) -> Result<(), ConfigError> {
        let (Geometry { pages_per_block, block_count, .. }, config) = (self.geometry, &self.config);
        let (fpb, extra) = (self.frames_per_block, config.extra_heads());
        let overlay = config.overlay_entries as u32 - config.transaction_pages as u32;
        self.overlay_soft = overlay - if fpb + 8 < overlay / 2 { fpb + 8 } else { overlay / 2 };
        self.fold_frees = ceil_div(self.overlay_soft, self.leaf_count);
        // The logs of all leaves may be full at once.
        self.leaf_changes =
            max(Self::log_changes(self.leaf_log_bytes, self.entry_bytes), self.fold_frees);
        let full_logs = if self.leaf_log_bytes > 0 { self.leaf_count } else { 0 };
        // A call may be unable to use the places that are left in the blocks of other streams.
        self.reserve_frames = (fpb - 1) + fpb * (4 + config.failures as u32 + extra) + full_logs;
        let listed = ceil_div(config.checkpoint_programs as u32, pages_per_block)
            + 4
            + STOCK
            + config.failures as u32;
        // If the medium programs bytes, most programs do not fill a page. The next root is then
        // written when the programs have used up the listed blocks.
        if listed > LISTED_MAX as u32 && !self.geometry.programs_bytes {
            return Err(ConfigError::CheckpointTooRare);
        }
        // Each head may begin a block, and the stock has one block for each further stream. If
        // fewer blocks are listed, the next root comes sooner.
        self.listed_blocks =
            clamp(listed + extra + config.streams as u32 - 1, 0, LISTED_MAX as u32 - extra);
        let fixed = config.bad_blocks_max as u32
            + 2
            + self.ring_count
            + 3
            + extra
            + ceil_div(self.reserve_frames, fpb)
            + 3;
        if fixed + 4 > block_count {
            return Err(ConfigError::TooFewBlocks);
        }
        self.data_blocks = block_count - fixed;
        // The largest number of live frames of a victim that is worth its erase. Its reclamation
        // must free a whole frame for the caller, and half a frame for static wear levelling. Leaf
        // write-backs are included.
        let (mut worst, changes) = (fpb, self.leaf_changes);
        while worst > 0 && (2 * worst + 3) * changes + 2 * (worst + 1) > 2 * fpb * changes {
            worst -= 1;
        }
        self.victim_max = worst;
        self.usable = self.usable(self.data_blocks, worst);
        if worst == 0 || self.usable <= self.least_used() {
            Err(ConfigError::NoGain)
        } else {
            Ok(())
        }
    }

    /// Returns the number of frames without which not even an empty file can exist. They hold the
    /// file system's own pages and the page of a directory. If a page of the file table has only
    /// one inode, one more page of the file table counts.
    const fn least_used(&self) -> u32 {
        let config = &self.config;
        if config.is_disk() {
            return 8;
        }
        let table = ceil_div(config.files_max + SPARE_INODES, self.inodes_per_page());
        let maps = self.logical_count
            - Self::room(self.frames_per_block * self.geometry.block_count, config)
            - table
            - 1;
        7 + maps + (self.inodes_per_page() == 1) as u32
    }

    /// Returns the number of changes that fit into the log of a leaf before the leaf is written
    /// anew.
    const fn log_changes(leaf_log_bytes: u32, entry_bytes: u32) -> u32 {
        leaf_log_bytes / (4 + entry_bytes)
    }

    /// Returns the number of map changes that together take at most one frame, if leaves are
    /// written back above `entries` overlay entries.
    pub(crate) const fn leaf_changes_above(&self, entries: u32) -> u32 {
        max(
            Self::log_changes(self.leaf_log_bytes, self.entry_bytes),
            ceil_div(entries + 1, self.leaf_count),
        )
    }

    /// Returns the number of data pages that a file system can address: nine tenths of the frames.
    /// If pages move in groups, it is all the room.
    pub(crate) const fn data_pages(frames: u32, config: &Config) -> u32 {
        let (room, most) = (Self::room(frames, config), frames / 10 * 9);
        if config.move_group > 1 || room < most { room } else { most }
    }

    /// Returns the number of data pages of the logical address space: nine tenths of the frames. If
    /// the device levels wear by itself, it is 24 of 25 frames. The blocks of such a device are so
    /// large that reclamation gains enough even if nearly all of their frames are live.
    pub(crate) const fn room(frames: u32, config: &Config) -> u32 {
        if config.wear_spread > 0 { frames / 10 * 9 } else { frames / 25 * 24 }
    }

    /// Returns the number of logical pages that may hold data. With this number, even the worst
    /// victim is worth its erase.
    const fn usable(&self, data_blocks: u32, victim_max: u32) -> u32 {
        let (frames, config) = (self.frame_count(), &self.config);
        let proved = ((victim_max + 1) * data_blocks)
            .saturating_sub(self.leaf_count + config.transaction_pages as u32 + 1);
        let room = Self::room(frames, config);
        if proved < room { proved } else { room }
    }

    /// Returns the number of blocks for data if `bad` blocks are bad. The volume shrinks by each
    /// block beyond `bad_blocks_max`.
    pub(crate) fn data_blocks_with(&self, bad: u32) -> u32 {
        let lost = bad.saturating_sub(self.config.bad_blocks_max.into());
        self.data_blocks.saturating_sub(lost).max(1)
    }

    /// Returns the number of logical pages that may hold data if `bad` blocks are bad.
    pub(crate) fn usable_with(&self, bad: u32) -> u32 {
        self.usable(self.data_blocks_with(bad), self.victim_max)
    }

    /// Returns true if a volume with `bad` bad blocks has room for a file.
    pub(crate) fn has_room(&self, bad: u32) -> bool {
        self.usable_with(bad) > self.least_used()
    }

    /// Returns the number of live frames that the blocks for data may hold if `bad` blocks are bad.
    pub(crate) fn live_max(&self, bad: u32) -> u32 {
        (self.victim_max + 1) * self.data_blocks_with(bad)
    }

    /// Returns the number of bytes of a root: header, frames of the leaves, overlay, pending pages,
    /// wear and state of every block, heads of streams, page lifetimes. The state of the leaves'
    /// logs is not included.
    const fn root_bytes(blocks: u32, leaves: u32, entry: u32, config: &Config) -> u32 {
        ROOT_HEADER_BYTES
            + leaves * entry
            + (config.overlay_entries as u32 + config.transaction_pages as u32) * 2 * entry
            + blocks
            + blocks.div_ceil(2)
            + config.stream_heads() * HEAD_BYTES
            + config.lifetimes_bytes()
    }

    /// Returns true if the first leaf maps the tables of a file system. Such a leaf has a copy.
    pub(crate) const fn copies_leaf(&self) -> bool {
        !self.config.is_disk()
    }

    /// Returns the number of bytes of a block's bitmap of live frames.
    pub(crate) const fn bitmap_bytes(&self) -> u32 {
        ceil_div(self.frames_per_block, 8)
    }

    /// Returns the number of bytes of RAM, in the order in which the store divides the lent buffer.
    pub(crate) const fn memory_bytes(&self) -> usize {
        let blocks = self.geometry.block_count;
        let entries = self.leaf_count
            + 2 * (self.config.overlay_entries as u32 + self.config.transaction_pages as u32);
        (self.known_logs_bytes()
            + blocks * self.bitmap_bytes()
            + blocks
            + ceil_div(blocks, 2)
            + entries * self.entry_bytes
            + self.head_table_bytes()
            + self.group_bytes()
            + 2 * self.journal_bytes) as usize
    }

    /// Returns the number of program pages that one command programs, or 0 if each page is
    /// programmed alone.
    pub(crate) const fn group_pages(&self) -> u32 {
        let pages = self.config.move_group as u32;
        if !GROUPS
            || pages < 2 * self.config.pages_per_logical_page as u32
            || self.config.streams > 1
        {
            0
        } else {
            pages
        }
    }

    /// Returns the number of bytes of the program pages of one command and of their tags.
    pub(crate) const fn group_bytes(&self) -> u32 {
        self.group_pages() * (self.geometry.page_bytes + TAG_BYTES as u32)
    }

    /// Returns the number of frames that move together.
    pub(crate) const fn move_group(&self) -> u32 {
        if GROUPS {
            max(self.group_pages() / self.config.pages_per_logical_page as u32, 1)
        } else {
            1
        }
    }

    /// Returns true if moved pages are written behind the caller's pages in the same block.
    /// Separate blocks save some moves. But on a device that prefers few streams, a switch between
    /// two streams costs more time than this.
    pub(crate) const fn moves_join(&self) -> bool {
        self.move_group() > 1
    }

    /// Returns the number of heads: three, and the heads of the streams behind the first one.
    pub(crate) const fn heads(&self) -> u32 {
        if STREAMS { 3 + self.config.stream_heads() } else { 3 }
    }

    /// Returns the number of bytes of the table of heads and of the page lifetimes behind it.
    pub(crate) const fn head_table_bytes(&self) -> u32 {
        self.heads() * HEAD_BYTES + if STREAMS { self.config.lifetimes_bytes() } else { 0 }
    }

    /// Returns the stream, or the last stream of the volume if the volume has fewer streams.
    pub(crate) fn stream(&self, stream: u8) -> u8 {
        if STREAMS { stream.min(self.config.streams - 1) } else { 0 }
    }

    /// Returns the number of heads beyond three that may have begun a block.
    pub(crate) const fn extra_heads(&self) -> u32 {
        if STREAMS { self.config.extra_heads() } else { 0 }
    }

    /// Returns the number of heads for moved frames beyond the first one.
    pub(crate) const fn extra_moved_heads(&self) -> u32 {
        if self.moves_apart() { self.config.streams as u32 - 1 } else { 0 }
    }

    /// Returns the number of erased blocks that reclamation keeps in stock.
    pub(crate) const fn stock(&self) -> u32 {
        if STREAMS { STOCK + self.config.streams as u32 - 1 } else { STOCK }
    }

    /// Returns the number of blocks that a format erases for the first calls: a block for the
    /// caller's pages, one for the journal, and the stock. Calls of a volume in use find as many
    /// erased blocks.
    pub(crate) const fn first_blocks(&self) -> u32 {
        2 + self.stock()
    }

    /// Returns true if a journal page that commits pages is written behind them, as a frame.
    pub(crate) const fn commits_join(&self) -> bool {
        self.moves_join()
            && self.config.pages_per_logical_page == 1
            && !self.geometry.programs_bytes
    }

    /// Returns true if there are several streams, and the moved pages of each stream have separate
    /// blocks.
    pub(crate) const fn moves_apart(&self) -> bool {
        STREAMS && self.config.moved_apart && self.config.streams > 1
    }

    /// Returns true if the medium programs bytes. It is constantly false in a build without the
    /// feature `nor`.
    pub(crate) const fn programs_bytes(&self) -> bool {
        NOR && self.geometry.programs_bytes
    }

    /// Returns the number of bytes for map changes in each page of a leaf.
    pub(crate) const fn leaf_log_bytes(&self) -> u32 {
        if self.programs_bytes() { self.leaf_log_bytes } else { 0 }
    }

    /// Returns the number of positions of the journal's head in a block. A position is a page, or a
    /// slot of 8 bytes if the medium programs bytes.
    pub(crate) const fn journal_places(&self) -> u32 {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry;
        if self.programs_bytes() {
            page_bytes / SLOT_BYTES * pages_per_block
        } else {
            pages_per_block
        }
    }

    /// Returns the maximum number of positions that a journal record takes.
    pub(crate) const fn journal_record_places(&self) -> u32 {
        if self.programs_bytes() { self.journal_bytes / SLOT_BYTES } else { 1 }
    }

    /// Returns the maximum number of logical pages with patches in the journal buffer. With more
    /// pages, writing one of them would free little room, and a call might have to write many.
    pub(crate) fn patched_pages_max(&self) -> u32 {
        (self.journal_bytes / if self.programs_bytes() { 16 } else { 32 }).max(8)
    }

    /// Returns true if the leaf or logical page that a tag names exists. Only a damaged tag names a
    /// leaf or page that does not exist.
    pub(crate) fn names_something(&self, tag: &Tag) -> bool {
        let is_of_leaf = TagKinds::LEAF.has(tag.kind) || tag.kind == TagKind::LeafChanged;
        tag.logical < if is_of_leaf { self.leaf_count } else { self.logical_count }
    }

    /// Returns how many bits the headers in the journal buffer have.
    pub(crate) const fn journal_shape(&self) -> RecordShape {
        RecordShape::new(self.logical_count, self.logical_bytes, self.journal_bytes)
    }

    /// Returns the number of program pages of a journal record, or of a copy of it in the ring.
    pub(crate) const fn journal_pages(&self) -> u32 {
        if self.programs_bytes() {
            ceil_div(self.journal_bytes, self.geometry.page_bytes)
        } else {
            1
        }
    }

    /// Returns the number of entries of a page of a leaf.
    pub(crate) const fn leaf_page_entries(&self) -> u32 {
        (self.geometry.page_bytes - self.leaf_log_bytes()) / self.entry_bytes
    }

    /// Returns the number of bytes of a bitmap with a bit for each leaf, or 0 if leaves have no
    /// logs.
    pub(crate) const fn known_logs_bytes(&self) -> u32 {
        if self.leaf_log_bytes() > 0 { ceil_div(self.leaf_count, 8) } else { 0 }
    }

    /// Returns the page of a ring block at which the copies that a mount writes begin. It is the
    /// first whole frame behind the root.
    pub(crate) const fn copied_page(&self) -> u32 {
        let unit = self.config.pages_per_logical_page as u32;
        ceil_div(self.root_pages, unit) * unit
    }

    /// Returns the number of pages at the beginning of a ring block that may hold the number of its
    /// first root. Even if any one of these pages is lost, another page holds the number. If the
    /// root has several pages, these are the pages of the root. If it has one page, these are all
    /// pages up to the end of its copies.
    pub(crate) const fn first_root_pages(&self) -> u32 {
        match self.root_pages {
            1 => {
                self.copied_page()
                    + COPIED_MAX * self.config.pages_per_logical_page as u32
                    + self.journal_pages()
                    + self.root_programs
                    - 1
            }
            pages => pages,
        }
    }

    /// Returns the number of inodes of a program page of the file table. It is a power of two. So
    /// the bits of the inodes of a page are whole bytes, or lie within one byte.
    pub(crate) const fn inodes_per_program(&self) -> u32 {
        1 << (self.geometry.page_bytes / INODE_BYTES).ilog2()
    }

    /// Returns the number of inodes of a logical page.
    pub(crate) const fn inodes_per_page(&self) -> u32 {
        self.inodes_per_program() * self.config.pages_per_logical_page as u32
    }

    /// Returns the offset of an inode in its logical page.
    pub(crate) const fn inode_offset(&self, index: u32) -> u32 {
        let here = self.inodes_per_program();
        index / here * self.geometry.page_bytes + index % here * INODE_BYTES
    }

    /// Returns the number of bytes of a directory record. Records are shorter if logical pages are
    /// small, and if there are so few inodes that equal hashes are rare.
    pub(crate) const fn record_bytes(&self) -> u32 {
        if self.logical_bytes < 2048 && self.config.files_max < 0x2000 { 4 } else { 8 }
    }

    /// Returns the first program page of a frame.
    pub(crate) const fn frame_page(&self, frame: u32) -> u32 {
        frame / self.frames_per_block * self.geometry.pages_per_block
            + frame % self.frames_per_block * self.config.pages_per_logical_page as u32
    }

    /// Returns the page of a position of the journal's head.
    pub(crate) const fn journal_page(&self, place: u32) -> u32 {
        place / (self.journal_places() / self.geometry.pages_per_block)
    }

    /// Returns the number of frames on the medium.
    pub(crate) const fn frame_count(&self) -> u32 {
        self.geometry.block_count * self.frames_per_block
    }
}
