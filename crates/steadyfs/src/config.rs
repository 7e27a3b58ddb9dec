//! Settings, and the numbers derived from them and the geometry.

use crate::error::ConfigError;
use crate::features::{GROUPS, NOR, PERMISSIONS, STREAMS};
use crate::journal::Shape;
use crate::media::sectors::{SECTOR_BYTES, SectorLayout};
use crate::media::{Geometry, Kind, Kinds, PAGES_MAX, TAG_BYTES, Tag};
use crate::space::LIFETIMES_BYTES;

/// Blocks in which a mount looks for a superblock.
pub(crate) const SUPERBLOCK_BLOCKS: u32 = 32;
/// Most blocks that the ring of roots may have.
pub(crate) const RING_MAX: u32 = 32;

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
    /// Logical pages that one transaction may write, 2 to 1,024. More: larger transactions.
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
    /// Settings for a medium: 4 KiB logical pages where a block holds at least 8 of them; 2 KiB, and as large a buffer of the journal, on NOR of large blocks.
    pub const fn for_geometry(geometry: &Geometry) -> Self {
        let small = Self::with_logical_bytes(geometry, 2048);
        let has_large_blocks = geometry.page_bytes.saturating_mul(geometry.pages_per_block) >= LARGE_NOR_BLOCK;
        let frames = geometry.pages_per_block / small.unit_pages as u32 * geometry.block_count;
        // With more frames the entries of the map are larger, and RAM with them.
        if !geometry.programs_bytes || !has_large_blocks || frames > 0x8000 {
            return Self::with_logical_bytes(geometry, 4096);
        }
        let small = Self { journal_pages: (LARGE_JOURNAL_BYTES / geometry.page_bytes) as u8, ..small };
        match small.check(geometry) {
            Ok(()) => small,
            Err(_) => Self::with_logical_bytes(geometry, 4096),
        }
    }

    /// The usual settings with logical pages of so many bytes, where a block holds at least 8 of them.
    const fn with_logical_bytes(geometry: &Geometry, logical_bytes: u32) -> Self {
        let mut unit_pages = 1;
        while unit_pages * geometry.page_bytes < logical_bytes
            && geometry.pages_per_block / (unit_pages * 2) >= 8
            && unit_pages < 16
        {
            unit_pages *= 2;
        }
        let frames = geometry.pages_per_block / unit_pages * geometry.block_count;
        let pages = geometry.pages_per_block * geometry.block_count;
        let overlay_entries = clamp(frames / 90, 64, 1024);
        // Roots are at most a twentieth of all programs where blocks are large enough to let them be so rare.
        let entry_bytes = if frames <= 0x8000 { 4 } else { 8 };
        let checkpoint_pages = ceil_div(overlay_entries * entry_bytes + geometry.block_count * 3 / 2, geometry.page_bytes);
        let rare = clamp(20 * checkpoint_pages, 0, 10 * geometry.pages_per_block);
        let checkpoint_programs = clamp(pages / 32, 32, 192);
        // Where tags are read in no time, roots may be as rare as the blocks that one lists allow.
        let rare = if geometry.programs_bytes { clamp(20 * geometry.pages_per_block, 64, 1024) } else { rare };
        let small_files = clamp(pages / 25 * (geometry.page_bytes / 64), 0, 16_384);
        let usual = Self {
            unit_pages: unit_pages as u16,
            overlay_entries: overlay_entries as u16,
            transaction_pages: 16,
            checkpoint_programs: if rare > checkpoint_programs { rare } else { checkpoint_programs } as u16,
            wear_spread: 32,
            // Raw NAND has some from the factory, NOR has none.
            bad_blocks_max: clamp(geometry.block_count / if geometry.programs_bytes { 200 } else { 50 }, 2, 200) as u16,
            // One for each two logical pages; more where these are large and few.
            files_max: clamp(if small_files > frames / 2 { small_files } else { frames / 2 }, 64, 65_536),
            failures: 2,
            name_bytes_max: 255,
            permissions: false,
            streams: 1,
            moved_apart: false,
            auto_streams: false,
            move_group: 1,
            leaf_log_bytes: LEAF_LOG_BYTES,
            journal_pages: usual_journal_pages(geometry.page_bytes),
        };
        // Where logical pages are small and many, pages of removed files fill a transaction too, and leaves have so few entries that a larger
        // overlay makes more of the medium usable.
        if frames < 0xC00 || frames >= 0x2000 {
            return usual.or_with_longer_logs(geometry);
        }
        // A little less where a small block has no room for the root.
        let small = Self { overlay_entries: clamp(frames / 26, 80, 144) as u16, transaction_pages: 32, ..usual };
        let less = Self { overlay_entries: clamp(frames / 26, 80, 136) as u16, ..small };
        match (small.check(geometry), less.check(geometry)) {
            (Ok(()), _) => small,
            (_, Ok(())) => less,
            _ => usual,
        }
        .or_with_longer_logs(geometry)
    }

    /// With long logs of leaves, where less than four fifths of the frames were usable, and a twentieth more are with them.
    const fn or_with_longer_logs(self, geometry: &Geometry) -> Self {
        let longer = Self { leaf_log_bytes: LONG_LEAF_LOG_BYTES, ..self };
        let (usable, frames) =
            (self.usable_pages(geometry), geometry.pages_per_block / self.unit_pages as u32 * geometry.block_count);
        let gains = geometry.programs_bytes && 5 * usable < 4 * frames && longer.usable_pages(geometry) > usable / 20 * 21;
        if gains { longer } else { self }
    }

    /// Logical pages that may hold data; 0 where the settings do not fit.
    const fn usable_pages(&self, geometry: &Geometry) -> u32 {
        match Layout::derive(geometry, self) {
            Ok(layout) => layout.usable,
            Err(_) => 0,
        }
    }

    /// Settings for a card, an eMMC or another device of [sectors](crate::media::sectors), which levels wear and replaces bad blocks itself. Logical pages are as large as
    /// leaves a million of them at most; with larger ones ([`unit_pages`](Self::unit_pages)) the volume takes less RAM, and mounts faster.
    pub const fn for_sectors(layout: &SectorLayout) -> Self {
        let geometry = layout.geometry();
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        let mut unit_pages = 1;
        while unit_pages < 32
            && pages_per_block / (unit_pages * 2) >= 8
            && (unit_pages * page_bytes < 4096 || pages_per_block / unit_pages * block_count > 1 << 20)
            && Shape::has_room(unit_pages * 2 * page_bytes, page_bytes)
        {
            unit_pages *= 2;
        }
        let per_block = pages_per_block / unit_pages;
        let frames = per_block * block_count;
        // What is written in order commits when a transaction is full, and each commit ends a stream.
        let transaction_pages = clamp(per_block / 4, 16, 256);
        // A leaf that is written frees some ten changes; those of a victim have room beside.
        // On small media that is cheap, and each of them makes more of the medium usable.
        let changes = max(max(frames / 90, 4 * per_block), per_block + clamp(frames / 40, 0, 1400)) + transaction_pages - 16;
        Self {
            unit_pages: unit_pages as u16,
            transaction_pages: transaction_pages as u16,
            overlay_entries: clamp(changes, 64, 8192) as u16,
            checkpoint_programs: clamp(pages_per_block * block_count / 32, 32, 1024) as u16,
            wear_spread: 0,
            bad_blocks_max: 0,
            failures: 1,
            // A small block is left to the caller's pages for the most part.
            move_group: if GROUPS { clamp(pages_per_block / 8, 1, 16) as u8 } else { 1 },
            ..Self::for_geometry(&geometry)
        }
    }

    /// Settings for a [disk](crate::disk) on a medium: those of [`for_geometry`](Self::for_geometry), and no files.
    pub const fn for_disk(geometry: &Geometry) -> Self {
        Self { files_max: 0, ..Self::for_geometry(geometry) }
    }

    /// Whether they are those of a [disk](crate::disk), on which there are no files.
    pub(crate) const fn is_disk(&self) -> bool {
        self.files_max == 0
    }

    /// Heads that only a volume with several streams has, each with a place in the table: one for the caller's pages and one for moved ones.
    const fn stream_heads(&self) -> u32 {
        2 * (self.streams as u32 - 1)
    }

    /// Bytes of what is known of the lives of pages.
    const fn lifetimes_bytes(&self) -> u32 {
        if self.auto_streams && self.streams > 1 { LIFETIMES_BYTES } else { 0 }
    }

    /// Those of them that begin blocks.
    const fn extra_heads(&self) -> u32 {
        (self.streams as u32 - 1) * if self.moved_apart { 2 } else { 1 }
    }

    /// Erase sectors of a NOR chip that make a block: the fewest, a power of two, with which [the usual settings](Self::for_geometry) fit. `None` where none do.
    ///
    /// [`Groups`](crate::media::groups::Groups) makes blocks of them.
    pub const fn group_sectors(sector_bytes: u32, sector_count: u32) -> Option<u32> {
        let mut sectors = 1;
        while sectors <= sector_count / 16 {
            let geometry = Geometry::of_nor(sector_bytes * sectors, sector_count / sectors);
            if Self::for_geometry(&geometry).check(&geometry).is_ok() {
                return Some(sectors);
            }
            sectors *= 2;
        }
        None
    }

    /// Says what is wrong with the settings for a medium, if anything.
    ///
    /// # Errors
    /// The rule that is broken.
    pub const fn check(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        match Layout::derive(geometry, self) {
            Ok(_) => Ok(()),
            Err(rule) => Err(rule),
        }
    }
}

/// Bytes of the allocation units that [`SectorLayout::for_size`] chooses among.
const UNITS: [u32; 6] = [4 << 20, 2 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10];

impl SectorLayout {
    /// The layout for a whole device of which nobody knows the allocation unit: the largest of 128 KiB to 4 MiB with which no more than a fortieth of the device is lost that
    /// a smaller one would leave for data. Small cards have small units, and a volume keeps some twenty for itself.
    pub fn for_size(sectors: u32) -> Self {
        let layouts = UNITS.map(|unit| Self::for_device(sectors, unit));
        let usable = |layout: &Self| Config::for_sectors(layout).usable_bytes(&layout.geometry()) / SECTOR_BYTES as u64;
        let best = layouts.iter().map(usable).max().unwrap_or(0);
        let enough = |layout: &&Self| usable(layout) > 0 && usable(layout) + u64::from(sectors / 40) >= best;
        *layouts.iter().find(enough).unwrap_or(&layouts[UNITS.len() - 1])
    }
}

const fn clamp(value: u32, low: u32, high: u32) -> u32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

const fn max(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

/// Not inlined: it is called often, and a call is shorter.
#[inline(never)]
const fn ceil_div(a: u32, b: u32) -> u32 {
    a.div_ceil(b)
}

/// Fewest blocks of a ring with which a volume can be changed: the root that a mount begins with, the newest certain one, one that is being
/// written, and the same again after a cut in the middle of an erase.
pub(crate) const RING_MIN: u32 = 6;
/// Frames that a mount's ring block may take beside the root: what earlier mounts copied and nobody has moved since, and the last record.
pub(crate) const COPIED_MAX: u32 = 3;
/// Most blocks that may be allocated between two roots.
pub(crate) const LISTED_MAX: usize = 32;
/// Bytes of an entry of the file table.
pub(crate) const INODE_BYTES: u32 = 256;
/// Inodes beyond `files_max`, for the ends that were cut off files.
pub(crate) const SPARE_INODES: u32 = 16;
/// Most program pages of a group of moves.
const GROUP_MAX: u8 = 64;
/// Most streams of a volume: a tag has two bits for them.
pub(crate) const STREAMS_MAX: u8 = 4;
/// Erased blocks that reclamation keeps in stock.
const STOCK: u32 = 4;

/// Bytes at the end of each page of a leaf for changes, where the medium programs bytes: 16 changes where frames are few.
pub(crate) const LEAF_LOG_BYTES: u8 = 96;
/// As many as let blocks of 15 frames be victims with 13 of them: 28 changes would do, 32 leave calls a little more to move.
const LONG_LEAF_LOG_BYTES: u8 = 192;
/// Fewest and most of them.
const LEAF_LOG_MIN: u32 = 48;
const LEAF_LOG_MAX: u32 = 240;

/// Bytes at whose multiples the records of a chain begin.
pub(crate) const SLOT_BYTES: u32 = 8;

/// Program pages of a record of the journal: 512 bytes, its tag included, or a page.
pub(crate) const fn usual_journal_pages(page_bytes: u32) -> u8 {
    if page_bytes > 0 && page_bytes < 512 { 512_u32.div_ceil(page_bytes) as u8 } else { 1 }
}

/// Bytes of a record of the journal where blocks are large.
const LARGE_JOURNAL_BYTES: u32 = 2048;
/// Bytes from which a block of NOR is large.
const LARGE_NOR_BLOCK: u32 = 24 << 10;

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
    pub(crate) const fn derive(geometry: &Geometry, config: &Config) -> Result<Self, ConfigError> {
        let unit = config.unit_pages as u32;
        let page = geometry.page_bytes;
        let pages = geometry.pages_per_block;
        let blocks = geometry.block_count;
        if !page.is_power_of_two() || page < 256 || page > 16_384 {
            return Err(ConfigError::PageBytes);
        }
        if geometry.programs_bytes && !NOR {
            return Err(ConfigError::ProgramsBytes);
        }
        if config.permissions && !PERMISSIONS {
            return Err(ConfigError::Permissions);
        }
        if pages < 4 || pages > PAGES_MAX || blocks < 16 || blocks > 0x10_0000 {
            return Err(ConfigError::Blocks);
        }
        if !unit.is_power_of_two() || unit > 32 || pages / unit < 4 {
            return Err(ConfigError::UnitPages);
        }
        if config.transaction_pages < 2 || config.transaction_pages > 1024 {
            return Err(ConfigError::TransactionPages);
        }
        if config.overlay_entries < config.transaction_pages + 40 || config.overlay_entries > 8192 {
            return Err(ConfigError::OverlayEntries);
        }
        if config.checkpoint_programs < 16 || config.checkpoint_programs > 4096 {
            return Err(ConfigError::CheckpointPrograms);
        }
        if config.wear_spread > 200 || (config.wear_spread < 8 && config.wear_spread > 0) {
            return Err(ConfigError::WearSpread);
        }
        if config.name_bytes_max == 0 {
            return Err(ConfigError::NameBytesMax);
        }
        if config.streams == 0 || config.streams > STREAMS_MAX {
            return Err(ConfigError::Streams);
        }
        if config.streams > 1 && !STREAMS {
            return Err(ConfigError::NoStreams);
        }
        if config.move_group == 0 || config.move_group > GROUP_MAX || (config.move_group > 1 && config.wear_spread > 0) {
            return Err(ConfigError::MoveGroup);
        }
        if config.move_group > 1 && !GROUPS {
            return Err(ConfigError::NoGroups);
        }
        if config.files_max > 0x10_0000 || config.failures > 8 {
            return Err(ConfigError::FilesOrFailures);
        }
        let logical_bytes = unit * page;
        if logical_bytes > 0x2_0000 || !Shape::has_room(logical_bytes, page) {
            return Err(ConfigError::LogicalPageTooLarge);
        }
        let fpb = pages / unit;
        let frames = fpb * blocks;
        let entry_bytes = if frames <= 0x8000 { 2 } else { 4 };
        let log_bytes = config.leaf_log_bytes as u32;
        if log_bytes < LEAF_LOG_MIN || log_bytes > LEAF_LOG_MAX || 4 * log_bytes > 3 * page {
            return Err(ConfigError::LeafLogBytes);
        }
        let record_pages = config.journal_pages as u32;
        if record_pages == 0 || record_pages > 16 || (geometry.programs_bytes && record_pages > 1 && record_pages * page > 4096) {
            return Err(ConfigError::JournalPages);
        }
        let leaf_log_bytes = if geometry.programs_bytes { log_bytes } else { 0 };
        let leaf_entries = (page - leaf_log_bytes) / entry_bytes * unit;
        // Room for the data itself, the allocation map and the file table.
        let table = ceil_div(config.files_max + SPARE_INODES, logical_bytes / INODE_BYTES);
        let room = Self::room(frames, config);
        let maps = ceil_div(room + config.files_max + SPARE_INODES + 7, logical_bytes * 8);
        let logical_count = if config.is_disk() { room } else { room + maps + table + 1 };
        if logical_count > 0xFF_FFFF || (entry_bytes == 2 && logical_count > 0xFFFF) {
            return Err(ConfigError::TooManyLogicalPages);
        }
        let leaf_count = ceil_div(logical_count, leaf_entries);
        let known_logs = if leaf_log_bytes > 0 { ceil_div(leaf_count, 8) } else { 0 };
        let root_pages = ceil_div(Self::root_bytes(blocks, leaf_count, entry_bytes, config) + known_logs, page);
        // The last page of the copies proves that the one before it is complete: there are at least two.
        let root_programs = if root_pages > 1 { 2 * root_pages } else { 3 };
        let taken = ceil_div(root_pages, unit) * unit + COPIED_MAX * unit + root_programs - root_pages;
        if taken + 1 > pages {
            return Err(ConfigError::BlockTooSmall);
        }
        // What is often changed should stay in the buffer: where a record need not be a page, it may be more than a small one.
        let journal_bytes = if geometry.programs_bytes && taken + record_pages <= pages { record_pages * page } else { page };
        // Enough for their wear to be the average, and for one of them to go bad.
        let least = RING_MIN + if config.bad_blocks_max > 0 { 1 } else { 0 };
        let levelled =
            if config.wear_spread > 0 { ceil_div(root_programs * blocks, config.checkpoint_programs as u32) } else { 0 };
        let ring_count = clamp(levelled, least, RING_MAX);
        let overlay = config.overlay_entries as u32 - config.transaction_pages as u32;
        let overlay_soft = overlay - if fpb + 8 < overlay / 2 { fpb + 8 } else { overlay / 2 };
        let fold_frees = ceil_div(overlay_soft, leaf_count);
        // All logs may be full at once.
        let leaf_changes = max(Self::log_changes(leaf_log_bytes, entry_bytes), fold_frees);
        let full_logs = if leaf_log_bytes > 0 { leaf_count } else { 0 };
        let extra = config.extra_heads();
        // What is left of the block of each other stream may be of no use to a call.
        let reserve_frames = (fpb - 1) + fpb * (4 + config.failures as u32 + extra) + full_logs;
        let listed_blocks = ceil_div(config.checkpoint_programs as u32, pages) + 4 + STOCK + config.failures as u32;
        if listed_blocks > LISTED_MAX as u32 {
            return Err(ConfigError::CheckpointTooRare);
        }
        let fixed = config.bad_blocks_max as u32 + 2 + ring_count + 3 + extra + ceil_div(reserve_frames, fpb) + 3;
        if fixed + 4 > blocks {
            return Err(ConfigError::TooFewBlocks);
        }
        let data_blocks = blocks - fixed;
        // The most live frames of a victim that still leave a whole user frame and half of one for static wear levelling,
        // folds included.
        let mut worst = fpb;
        while worst > 0 && (2 * worst + 3) * leaf_changes + 2 * (worst + 1) > 2 * fpb * leaf_changes {
            worst -= 1;
        }
        let usable = Self::usable(frames, data_blocks, worst, leaf_count, config);
        if worst == 0 || usable <= 8 {
            return Err(ConfigError::NoGain);
        }
        Ok(Self {
            geometry: *geometry,
            config: *config,
            logical_bytes,
            frames_per_block: fpb,
            entry_bytes,
            leaf_entries,
            leaf_log_bytes,
            leaf_count,
            logical_count,
            usable,
            ring_count,
            journal_bytes,
            root_pages,
            root_programs,
            reserve_frames,
            overlay_soft,
            fold_frees,
            leaf_changes,
            // Each head may begin a block, and the stock has one for each stream. With fewer the next root comes sooner.
            listed_blocks: clamp(listed_blocks + extra + config.streams as u32 - 1, 0, LISTED_MAX as u32 - extra),
            data_blocks,
            victim_max: worst,
        })
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
    const fn usable(frames: u32, data_blocks: u32, victim_max: u32, leaf_count: u32, config: &Config) -> u32 {
        let proved = ((victim_max + 1) * data_blocks).saturating_sub(leaf_count + config.transaction_pages as u32 + 1);
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
        Self::usable(self.frame_count(), self.data_blocks_with(bad), self.victim_max, self.leaf_count, &self.config)
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

    /// Whether a journal page that commits pages goes behind them, as a frame.
    pub(crate) const fn commits_join(&self) -> bool {
        self.moves_join() && self.config.unit_pages == 1 && !self.geometry.programs_bytes
    }

    /// Whether moved pages keep to blocks of their stream.
    pub(crate) const fn moves_apart(&self) -> bool {
        STREAMS && self.config.moved_apart
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

/// Bytes of a head in the table of them, in RAM and in a root.
pub(crate) const HEAD_BYTES: u32 = 6;
/// Bytes before the tables of a root.
pub(crate) const ROOT_HEADER_BYTES: u32 = 64;
