//! What follows from a geometry and settings.

use super::numbers::{ceil_div, clamp, max};
use super::settings::Config;
use crate::error::ConfigError;
use crate::features::{GROUPS, NOR, STREAMS};
use crate::journal::Shape;
use crate::media::{Geometry, Kind, Kinds, TAG_BYTES, Tag};

/// Blocks in which a mount looks for a superblock.
pub(crate) const SUPERBLOCK_BLOCKS: u32 = 32;
/// Most blocks that the ring of roots may have.
pub(crate) const RING_MAX: u32 = 32;

/// Fewest blocks of a ring with which a volume can be changed: the root that a mount begins with, the newest certain one, one that is being
/// written, and the same again after a cut in the middle of an erase.
pub(crate) const RING_MIN: u32 = 6;
/// Frames that a mount's ring block may take beside the root: what earlier mounts copied and nobody has moved since, and the last record.
pub(crate) const COPIED_MAX: u32 = 3;
/// Most blocks that may be allocated between two roots.
pub(crate) const LISTED_MAX: usize = 32;
/// Blocks that are used between two roots, where these are as rare as may be.
const RARE_BLOCKS: u32 = 24;
/// Erased blocks that reclamation keeps in stock.
const STOCK: u32 = 4;

/// Bytes at whose multiples the records of a chain begin.
pub(crate) const SLOT_BYTES: u32 = 8;
/// Bytes of an entry of the file table.
pub(crate) const INODE_BYTES: u32 = 256;
/// Most pages of a root: a search has a bit for each.
const ROOT_PAGES_MAX: u32 = 64;
/// Inodes beyond `files_max`, for the ends that were cut off files.
pub(crate) const SPARE_INODES: u32 = 16;
/// Bytes of a head in the table of them, in RAM and in a root.
pub(crate) const HEAD_BYTES: u32 = 6;
/// Bytes before the tables of a root.
pub(crate) const ROOT_HEADER_BYTES: u32 = 68;

/// Everything that follows from geometry and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub geometry: Geometry,
    pub config: Config,
    /// Bytes of a logical page.
    pub logical_bytes: u32,
    /// Places for a logical page in a block.
    pub frames_per_block: u32,
    /// Bytes of a frame number or logical page number in a table: 2 or 4.
    pub entry_bytes: u32,
    /// Entries of a leaf.
    pub leaf_entries: u32,
    /// Bytes of each page of a leaf that take changes.
    pub leaf_log_bytes: u32,
    /// Leaves of the map.
    pub leaf_count: u32,
    /// Size of the logical address space. Larger than `usable`: the file table is laid out in full and used in part.
    pub logical_count: u32,
    /// Logical pages that may hold data at once, leaves and open transaction not counted.
    pub usable: u32,
    /// Blocks of the ring of roots.
    pub ring_count: u32,
    /// Bytes of the journal buffer; where the medium programs bytes, those of a record's tag included.
    pub journal_bytes: u32,
    /// Program pages of a root.
    pub root_pages: u32,
    /// Program pages of a root and its copies.
    pub root_programs: u32,
    /// Frames that reclamation never lets go below.
    pub reserve_frames: u32,
    /// Overlay entries above which leaves are folded.
    pub overlay_soft: u32,
    /// Overlay entries that a fold frees at least, once above `overlay_soft`.
    pub fold_frees: u32,
    /// Changes of the map for which a frame is needed at most: a leaf that is written anew.
    pub leaf_changes: u32,
    /// Blocks that may be allocated until the next root.
    pub listed_blocks: u32,
    /// Blocks for data in the worst case: what bad blocks, the ring, heads and reserve leave.
    pub data_blocks: u32,
    /// Live frames of the worst victim that still leaves enough to be worth its erase.
    pub victim_max: u32,
}

impl Layout {
    /// Nothing is derived yet.
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

    /// Everything that follows from a geometry and settings.
    ///
    /// # Errors
    /// The rule that is broken.
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

    /// The same without how much room there is, which nobody asks who only reads.
    pub(crate) const fn derive_for_reading(geometry: &Geometry, config: &Config) -> Result<Self, ConfigError> {
        let mut layout = Self::of(geometry, config);
        match layout.derive_to_read() {
            Ok(()) => Ok(layout),
            Err(rule) => Err(rule),
        }
    }

    /// Checks the limits of the settings, and derives where everything lies.
    const fn derive_to_read(&mut self) -> Result<(), ConfigError> {
        if let Err(rule) = self.config.is_within_limits(&self.geometry) {
            return Err(rule);
        }
        if let Err(rule) = self.derive_map() {
            return Err(rule);
        }
        self.derive_ring()
    }

    /// Frames, and how the map numbers what is in them.
    const fn derive_map(&mut self) -> Result<(), ConfigError> {
        let (Geometry { page_bytes, pages_per_block, block_count, programs_bytes }, config) = (self.geometry, &self.config);
        let unit = config.unit_pages as u32;
        self.logical_bytes = unit * page_bytes;
        self.frames_per_block = pages_per_block / unit;
        let frames = self.frames_per_block.saturating_mul(block_count);
        self.entry_bytes = if frames <= 0x8000 { 2 } else { 4 };
        self.leaf_log_bytes = if programs_bytes { config.leaf_log_bytes as u32 } else { 0 };
        self.leaf_entries = (page_bytes - self.leaf_log_bytes) / self.entry_bytes * unit;
        // Room for the data itself, the allocation map and the file table.
        let table = ceil_div(config.files_max + SPARE_INODES, self.inodes_per_page());
        let room = Self::room(frames, config);
        let maps = ceil_div(room + config.files_max + SPARE_INODES + 7, self.logical_bytes * 8);
        self.logical_count = if config.is_disk() { room } else { room + maps + table + 1 };
        if self.logical_count > 0xFF_FFFF || (self.entry_bytes == 2 && self.logical_count > 0xFFFF) {
            return Err(ConfigError::TooManyLogicalPages);
        }
        self.leaf_count = ceil_div(self.logical_count, self.leaf_entries);
        Ok(())
    }

    /// Roots, the ring that holds them, and the journal's records.
    const fn derive_ring(&mut self) -> Result<(), ConfigError> {
        let (Geometry { page_bytes, pages_per_block, block_count, programs_bytes }, config) = (self.geometry, &self.config);
        let (unit, record_pages) = (config.unit_pages as u32, config.journal_pages as u32);
        let known_logs = if self.leaf_log_bytes > 0 { ceil_div(self.leaf_count, 8) } else { 0 };
        self.root_pages =
            ceil_div(Self::root_bytes(block_count, self.leaf_count, self.entry_bytes, config) + known_logs, page_bytes);
        // The last page of the copies proves that the one before it is complete: there are at least two.
        self.root_programs = if self.root_pages > 1 { 2 * self.root_pages } else { 3 };
        let taken = ceil_div(self.root_pages, unit) * unit + COPIED_MAX * unit + self.root_programs - self.root_pages;
        if taken + 1 > pages_per_block || self.root_pages > ROOT_PAGES_MAX {
            return Err(ConfigError::BlockTooSmall);
        }
        // What is often changed should stay in the buffer: where a record need not be a page, it may be more than a small one.
        let is_long = programs_bytes && taken + record_pages <= pages_per_block;
        self.journal_bytes = if is_long { record_pages * page_bytes } else { page_bytes };
        // Enough for their wear to be the average, and for one of them to go bad.
        let least = RING_MIN + if config.bad_blocks_max > 0 { 1 } else { 0 };
        let levelled = if config.wear_spread > 0 {
            // Where programs are of bytes, blocks are used up later than programs are counted.
            let most = if programs_bytes { RARE_BLOCKS * pages_per_block } else { u32::MAX };
            ceil_div(self.root_programs * block_count, clamp(config.checkpoint_programs as u32, 0, most))
        } else {
            0
        };
        self.ring_count = clamp(levelled, least, RING_MAX);
        Ok(())
    }

    /// What the overlay and the reserve leave for data.
    const fn derive_room(&mut self) -> Result<(), ConfigError> {
        let (Geometry { pages_per_block, block_count, .. }, config) = (self.geometry, &self.config);
        let (fpb, extra) = (self.frames_per_block, config.extra_heads());
        let overlay = config.overlay_entries as u32 - config.transaction_pages as u32;
        self.overlay_soft = overlay - if fpb + 8 < overlay / 2 { fpb + 8 } else { overlay / 2 };
        self.fold_frees = ceil_div(self.overlay_soft, self.leaf_count);
        // All logs may be full at once.
        self.leaf_changes = max(Self::log_changes(self.leaf_log_bytes, self.entry_bytes), self.fold_frees);
        let full_logs = if self.leaf_log_bytes > 0 { self.leaf_count } else { 0 };
        // What is left of the block of each other stream may be of no use to a call.
        self.reserve_frames = (fpb - 1) + fpb * (4 + config.failures as u32 + extra) + full_logs;
        let listed = ceil_div(config.checkpoint_programs as u32, pages_per_block) + 4 + STOCK + config.failures as u32;
        // Where programs are of bytes, most fill no page: a root comes when they have used up what is listed.
        if listed > LISTED_MAX as u32 && !self.geometry.programs_bytes {
            return Err(ConfigError::CheckpointTooRare);
        }
        // Each head may begin a block, and the stock has one for each stream. With fewer the next root comes sooner.
        self.listed_blocks = clamp(listed + extra + config.streams as u32 - 1, 0, LISTED_MAX as u32 - extra);
        let fixed = config.bad_blocks_max as u32 + 2 + self.ring_count + 3 + extra + ceil_div(self.reserve_frames, fpb) + 3;
        if fixed + 4 > block_count {
            return Err(ConfigError::TooFewBlocks);
        }
        self.data_blocks = block_count - fixed;
        // The most live frames of a victim that still leave a whole user frame and half of one for static wear levelling,
        // folds included.
        let (mut worst, changes) = (fpb, self.leaf_changes);
        while worst > 0 && (2 * worst + 3) * changes + 2 * (worst + 1) > 2 * fpb * changes {
            worst -= 1;
        }
        self.victim_max = worst;
        self.usable = self.usable(self.data_blocks, worst);
        if worst == 0 || self.usable <= self.least_used() { Err(ConfigError::NoGain) } else { Ok(()) }
    }

    /// Frames without which not even an empty file can be made: what a file system keeps for itself, the page of a directory, and where a page of the file table has
    /// one inode, one more of these.
    const fn least_used(&self) -> u32 {
        let config = &self.config;
        if config.is_disk() {
            return 8;
        }
        let table = ceil_div(config.files_max + SPARE_INODES, self.inodes_per_page());
        let maps = self.logical_count - Self::room(self.frames_per_block * self.geometry.block_count, config) - table - 1;
        7 + maps + (self.inodes_per_page() == 1) as u32
    }

    /// Changes that the log of a leaf takes before the leaf is written anew.
    const fn log_changes(leaf_log_bytes: u32, entry_bytes: u32) -> u32 {
        leaf_log_bytes / (4 + entry_bytes)
    }

    /// Changes of the map for which a frame is needed at most, where leaves are folded above `entries` entries of the overlay.
    pub(crate) const fn leaf_changes_above(&self, entries: u32) -> u32 {
        max(Self::log_changes(self.leaf_log_bytes, self.entry_bytes), ceil_div(entries + 1, self.leaf_count))
    }

    /// Data pages that a file system has numbers for: nine tenths of the frames; where moves go in groups, as many as there is room for.
    pub(crate) const fn data_pages(frames: u32, config: &Config) -> u32 {
        let (room, most) = (Self::room(frames, config), frames / 10 * 9);
        if config.move_group > 1 || room < most { room } else { most }
    }

    /// Logical pages of which the logical address space has one for each that may hold data. Large blocks gain enough where they are nearly full of live frames.
    pub(crate) const fn room(frames: u32, config: &Config) -> u32 {
        if config.wear_spread > 0 { frames / 10 * 9 } else { frames / 25 * 24 }
    }

    /// Logical pages that may hold data: as many as make the worst victim one that still pays.
    const fn usable(&self, data_blocks: u32, victim_max: u32) -> u32 {
        let (frames, config) = (self.frame_count(), &self.config);
        let proved = ((victim_max + 1) * data_blocks).saturating_sub(self.leaf_count + config.transaction_pages as u32 + 1);
        let room = Self::room(frames, config);
        if proved < room { proved } else { room }
    }

    /// Blocks for data where so many are bad: the volume shrinks by those beyond `bad_blocks_max`.
    pub(crate) fn data_blocks_with(&self, bad: u32) -> u32 {
        let lost = bad.saturating_sub(self.config.bad_blocks_max.into());
        self.data_blocks.saturating_sub(lost).max(1)
    }

    /// Logical pages that may hold data where so many blocks are bad.
    pub(crate) fn usable_with(&self, bad: u32) -> u32 {
        self.usable(self.data_blocks_with(bad), self.victim_max)
    }

    /// Checks whether a volume with so many bad blocks has room for a file.
    pub(crate) fn has_room(&self, bad: u32) -> bool {
        self.usable_with(bad) > self.least_used()
    }

    /// Live frames that the blocks for data may hold where so many blocks are bad.
    pub(crate) fn live_max(&self, bad: u32) -> u32 {
        (self.victim_max + 1) * self.data_blocks_with(bad)
    }

    /// Bytes of a root: header, frames of the leaves, overlay, pending pages, wear and state of every block. What is known of logs of leaves comes on top.
    const fn root_bytes(blocks: u32, leaves: u32, entry: u32, config: &Config) -> u32 {
        ROOT_HEADER_BYTES
            + leaves * entry
            + (config.overlay_entries as u32 + config.transaction_pages as u32) * 2 * entry
            + blocks
            + blocks.div_ceil(2)
            + config.stream_heads() * HEAD_BYTES
            + config.lifetimes_bytes()
    }

    /// Returns true if the first leaf maps the tables of a file system, and is copied.
    pub(crate) const fn copies_leaf(&self) -> bool {
        !self.config.is_disk()
    }

    /// Bytes of a block's bitmap of live frames.
    pub(crate) const fn bitmap_bytes(&self) -> u32 {
        ceil_div(self.frames_per_block, 8)
    }

    /// Bytes of RAM, in the order in which the store divides the buffer that it is lent.
    pub(crate) const fn memory_bytes(&self) -> usize {
        let blocks = self.geometry.block_count;
        let entries = self.leaf_count + 2 * (self.config.overlay_entries as u32 + self.config.transaction_pages as u32);
        (self.known_logs_bytes()
            + blocks * self.bitmap_bytes()
            + blocks
            + ceil_div(blocks, 2)
            + entries * self.entry_bytes
            + self.head_table_bytes()
            + self.group_bytes()
            + 2 * self.journal_bytes) as usize
    }

    /// Program pages that are programmed in one command; none where each is by itself.
    pub(crate) const fn group_pages(&self) -> u32 {
        let pages = self.config.move_group as u32;
        if !GROUPS || pages < 2 * self.config.unit_pages as u32 || self.config.streams > 1 { 0 } else { pages }
    }

    /// Bytes of these, and of their tags.
    pub(crate) const fn group_bytes(&self) -> u32 {
        self.group_pages() * (self.geometry.page_bytes + TAG_BYTES as u32)
    }

    /// Frames that move at once.
    pub(crate) const fn move_group(&self) -> u32 {
        if GROUPS { max(self.group_pages() / self.config.unit_pages as u32, 1) } else { 1 }
    }

    /// Whether moved pages go behind the caller's, in one block: a device that likes few streams charges more for the switch between two than is saved by what dies together.
    pub(crate) const fn moves_join(&self) -> bool {
        self.move_group() > 1
    }

    /// Heads that are programmed: three, and those of streams.
    pub(crate) const fn heads(&self) -> u32 {
        if STREAMS { 3 + self.config.stream_heads() } else { 3 }
    }

    /// Bytes of the table of heads, and of the lives of pages behind it.
    pub(crate) const fn head_table_bytes(&self) -> u32 {
        self.heads() * HEAD_BYTES + if STREAMS { self.config.lifetimes_bytes() } else { 0 }
    }

    /// A stream as the volume has it: one that it does not have is the last one that it has.
    pub(crate) fn stream(&self, stream: u8) -> u8 {
        if STREAMS { stream.min(self.config.streams - 1) } else { 0 }
    }

    /// Heads beyond three that may have begun a block.
    pub(crate) const fn extra_heads(&self) -> u32 {
        if STREAMS { self.config.extra_heads() } else { 0 }
    }

    /// Heads of moved frames beyond one.
    pub(crate) const fn extra_moved_heads(&self) -> u32 {
        if self.moves_apart() { self.config.streams as u32 - 1 } else { 0 }
    }

    /// Erased blocks that reclamation keeps in stock.
    pub(crate) const fn stock(&self) -> u32 {
        if STREAMS { STOCK + self.config.streams as u32 - 1 } else { STOCK }
    }

    /// Blocks that a format erases for the first calls, so that they find what those of a volume in use do: a block for the caller's pages, one for the
    /// journal, and the stock.
    pub(crate) const fn first_blocks(&self) -> u32 {
        2 + self.stock()
    }

    /// Whether a journal page that commits pages goes behind them, as a frame.
    pub(crate) const fn commits_join(&self) -> bool {
        self.moves_join() && self.config.unit_pages == 1 && !self.geometry.programs_bytes
    }

    /// Whether moved pages keep to blocks of their stream, of which there are several.
    pub(crate) const fn moves_apart(&self) -> bool {
        STREAMS && self.config.moved_apart && self.config.streams > 1
    }

    /// Whether the medium programs bytes, which a build without the feature `nor` knows not to be so.
    pub(crate) const fn programs_bytes(&self) -> bool {
        NOR && self.geometry.programs_bytes
    }

    /// Bytes of each page of a leaf that take changes.
    pub(crate) const fn leaf_log_bytes(&self) -> u32 {
        if self.programs_bytes() { self.leaf_log_bytes } else { 0 }
    }

    /// Places of the journal's head in a block: pages, or slots of 8 bytes where the medium programs bytes.
    pub(crate) const fn journal_places(&self) -> u32 {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry;
        if self.programs_bytes() { page_bytes / SLOT_BYTES * pages_per_block } else { pages_per_block }
    }

    /// Places that a journal record takes at most.
    pub(crate) const fn journal_record_places(&self) -> u32 {
        if self.programs_bytes() { self.journal_bytes / SLOT_BYTES } else { 1 }
    }

    /// Logical pages with patches in the journal buffer at most. With more, writing one of them would make little room, and a call might have to write
    /// many.
    pub(crate) fn patched_pages_max(&self) -> u32 {
        (self.journal_bytes / if self.programs_bytes() { 16 } else { 32 }).max(8)
    }

    /// Whether the leaf or logical page that a tag names exists. Only damaged tags can name another.
    pub(crate) fn names_something(&self, tag: &Tag) -> bool {
        let is_of_leaf = Kinds::LEAF.has(tag.kind) || tag.kind == Kind::LeafChanged;
        tag.logical < if is_of_leaf { self.leaf_count } else { self.logical_count }
    }

    /// Bits of the headers in the journal buffer.
    pub(crate) const fn journal_shape(&self) -> Shape {
        Shape::new(self.logical_count, self.logical_bytes, self.journal_bytes)
    }

    /// Program pages of a journal record, or of a copy of it in the ring.
    pub(crate) const fn journal_pages(&self) -> u32 {
        if self.programs_bytes() { ceil_div(self.journal_bytes, self.geometry.page_bytes) } else { 1 }
    }

    /// Entries of a page of a leaf.
    pub(crate) const fn leaf_page_entries(&self) -> u32 {
        (self.geometry.page_bytes - self.leaf_log_bytes()) / self.entry_bytes
    }

    /// Bytes of a bit for each leaf, where these have a log.
    pub(crate) const fn known_logs_bytes(&self) -> u32 {
        if self.leaf_log_bytes() > 0 { ceil_div(self.leaf_count, 8) } else { 0 }
    }

    /// Page of a ring block at which what a mount copies begins: the first whole frame behind the root.
    pub(crate) const fn copied_page(&self) -> u32 {
        let unit = self.config.unit_pages as u32;
        ceil_div(self.root_pages, unit) * unit
    }

    /// Pages at the begin of a ring block of which one tells the number of its first root, where any one may be lost: those of the root, or, where that
    /// is one page, up to its copies.
    pub(crate) const fn first_root_pages(&self) -> u32 {
        match self.root_pages {
            1 => self.copied_page() + COPIED_MAX * self.config.unit_pages as u32 + self.journal_pages() + self.root_programs - 1,
            pages => pages,
        }
    }

    /// Inodes of a program page of the file table: a power of two, so that the bits of a page's inodes are whole bytes, or within one.
    pub(crate) const fn inodes_per_program(&self) -> u32 {
        1 << (self.geometry.page_bytes / INODE_BYTES).ilog2()
    }

    /// Inodes of a logical page.
    pub(crate) const fn inodes_per_page(&self) -> u32 {
        self.inodes_per_program() * self.config.unit_pages as u32
    }

    /// Where an inode of a logical page begins.
    pub(crate) const fn inode_offset(&self, index: u32) -> u32 {
        let here = self.inodes_per_program();
        index / here * self.geometry.page_bytes + index % here * INODE_BYTES
    }

    /// Bytes of a record of a directory: fewer where logical pages are small, and so few inodes that equal keys are seldom.
    pub(crate) const fn record_bytes(&self) -> u32 {
        if self.logical_bytes < 2048 && self.config.files_max < 0x2000 { 4 } else { 8 }
    }

    /// First program page of a frame.
    pub(crate) const fn frame_page(&self, frame: u32) -> u32 {
        frame / self.frames_per_block * self.geometry.pages_per_block
            + frame % self.frames_per_block * self.config.unit_pages as u32
    }

    /// The page of a place of the journal's head, where records are pages.
    pub(crate) const fn journal_page(&self, place: u32) -> u32 {
        place / (self.journal_places() / self.geometry.pages_per_block)
    }

    /// Number of frames on the medium.
    pub(crate) const fn frame_count(&self) -> u32 {
        self.geometry.block_count * self.frames_per_block
    }
}
