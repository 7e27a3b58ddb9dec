//! The configuration: driver, memory, settings.

use crate::driver::{Card, Nand, NandChip, Nor, NorChip, Sectors, Tags};
use crate::error::{Code, length, status};
use crate::medium::{Chip, Medium};
use crate::pointers;
use core::ffi::{c_int, c_void};
use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{CommitOn, OPEN_FILE_BYTES};

/// Value of a setting that means "none". The value 0 stands for the default.
pub const STEADYFS_NONE: u8 = 255;
/// Value of bad_blocks_max that means "none".
pub const STEADYFS_NO_BAD_BLOCKS: u16 = 0xFFFF;

/// Settings of a volume. They are chosen at the format and stored on the volume. A mount uses only
/// `group_sectors`, and reads the other settings from the volume. Only steadyfs_memory_bytes uses
/// `open_files`.
///
/// The value 0 stands for the default of each setting. A struct of zeros suits most volumes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Number of program pages in a logical page: a power of two, 1 to 32. More make the map and
    /// tables smaller. Fewer make rewrites of single program pages cheaper. Default: the number
    /// that makes 4 KiB, if a block holds at least 8 such logical pages.
    pub pages_per_logical_page: u16,
    /// Number of map changes that RAM holds. At least transaction_pages + 40, and at most 8,192.
    /// More give fewer programs per write and more usable space. Each takes 4 bytes of RAM, or 8
    /// bytes if all blocks together hold more than 32,768 logical pages. Default: 64 or more,
    /// depending on the medium's size.
    pub overlay_entries: u16,
    /// Number of logical pages that one transaction may write, 2 to 1,024. More allow larger
    /// transactions. If the number is less than 16, even a single call may be refused.
    /// steadyfs_transaction_room returns the bytes that still fit. Default: 16, or 32 on most media
    /// of 3,072 to 8,191 logical pages. On sectors: 16 to 256.
    pub transaction_pages: u16,
    /// Number of programs between two roots, 16 to 4,096. More give fewer programs per write. Fewer
    /// give a faster mount after a power cut. Default: 32 or more, depending on the medium's size.
    pub checkpoint_programs: u16,
    /// Number of bad blocks, factory and grown together, that do not shrink the volume. Each
    /// further bad block makes it smaller. STEADYFS_NO_BAD_BLOCKS means none. Default: 1/50 of the
    /// blocks of NAND or 1/200 of the blocks of NOR, but at least 2. On sectors none.
    pub bad_blocks_max: u16,
    /// Maximum number of files and directories, up to 1,048,576. A name of more than 64 bytes
    /// counts as one more file. So do the attributes of a file. Default: one for each two logical
    /// pages, or more if the volume has few logical pages. The default is 64 to 65,536.
    pub files_max: u32,
    /// Largest allowed difference between the erase counts of two blocks, 8 to 200. A smaller value
    /// causes more moves of data at rest. Use STEADYFS_NONE if the device itself levels wear.
    /// Default: 32. On sectors none.
    pub wear_spread: u8,
    /// Number of failed programs that one call tolerates by writing to other pages, up to 8.
    /// STEADYFS_NONE means none. Default: 2. On sectors 1.
    pub failures: u8,
    /// Maximum number of bytes of a name, 1 to 255. This number does not change the size of any
    /// table. Default: 255.
    pub name_bytes_max: u8,
    /// Number of streams, 1 to 4: see STEADYFS_O_STREAM. Each stream except the first takes the
    /// space of one block. Default: 1.
    pub streams: u8,
    /// Number of program pages that garbage collection moves in one command, 1 to 64. A number
    /// above 1 is only for devices that level wear themselves. Default: 1. On sectors up to 16.
    pub move_group: u8,
    /// On NOR: number of bytes of each map page that stay free for later changes, 48 to 240.
    /// Default: 96, or 192 if 192 makes more of the medium usable.
    pub leaf_log_bytes: u8,
    /// On NOR: number of program pages of the journal's buffer, 1 to 16. Together they have at most
    /// 4,096 bytes. Default: the pages that hold 512 bytes, or 2,048 bytes if blocks are large.
    pub journal_pages: u8,
    /// True if the volume stores mode, owner and group of files and directories. Default: false.
    pub permissions: bool,
    /// True if garbage collection moves pages only to blocks of the same stream. Default: false.
    pub moved_apart: bool,
    /// True if the volume itself assigns pages to streams. This needs 772 bytes of RAM. Default:
    /// false.
    pub auto_streams: bool,
    /// On NOR: number of erase sectors of a block, a power of two. Default: the smallest number
    /// with which the default settings fit. The other settings of this struct do not change this
    /// default. If pages_per_logical_page or overlay_entries exceeds its default, more sectors may
    /// be necessary (STEADYFS_ERR_CONFIG_UNIT_PAGES, STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL). A mount
    /// needs the same number as the format. With another number it does not find the volume, and
    /// returns STEADYFS_ERR_GEOMETRY.
    pub group_sectors: u16,
    /// Number of files that may be open at once. steadyfs_memory_bytes adds memory for them.
    /// Default: 8. Each further file takes 12 bytes of memory.
    pub open_files: u16,
}

/// Configuration for steadyfs_format and steadyfs_mount. A struct of zeros needs only a driver and
/// memory to be complete.
///
/// The driver's struct and the memory must remain valid until the unmount. This struct need not.
#[repr(C)]
pub struct Config {
    /// The driver of a NAND chip. Set exactly one of the three drivers. The others are null.
    pub nand: *const Nand,
    /// The driver of a NOR chip. Set exactly one of the three drivers. The others are null.
    pub nor: *const Nor,
    /// The driver of a card or a disk. Set exactly one of the three drivers. The others are null.
    pub sectors: *const Sectors,
    /// All the RAM that the volume uses in addition to steadyfs_t. It may have any alignment. It
    /// belongs to one volume until the unmount.
    pub memory: *mut c_void,
    /// Number of bytes of `memory`. steadyfs_memory_bytes returns a size that is enough for 8 open
    /// files, or for settings.open_files if that is more. Each further open file needs 12 bytes
    /// more. If the memory is smaller, format and mount reduce the number of open files, down to
    /// none. If that is not enough, they return STEADYFS_ERR_NOMEM.
    pub memory_bytes: usize,
    /// Memory for pages that are written in part, or null. The pages stay in this memory until the
    /// commit. So several writes of a page cost one program. Default: null. Each such write is then
    /// programmed.
    pub cache: *mut c_void,
    /// Number of bytes of `cache`: see steadyfs_cache_bytes.
    pub cache_bytes: usize,
    /// Memory that caches pages that are read often, such as pages of directories, or null.
    /// Default: null. Each read then accesses the medium.
    pub read_cache: *mut c_void,
    /// Number of bytes of `read_cache`: see steadyfs_read_cache_bytes.
    pub read_cache_bytes: usize,
    /// True to mount for reading only. The volume then never programs or erases the medium.
    /// Default: false.
    pub read_only: bool,
    /// True if steadyfs_file_read does not verify the checksums of the data. The volume's own
    /// tables are still verified. Use it for flash with an ECC: it saves nine tenths of the
    /// instructions of a long read. Default: false. All data is then verified.
    pub trust_data: bool,
    /// Time of an instruction of the processor, in picoseconds. All bounds then contain the time of
    /// the processor, and the budget of steadyfs_maintain limits it. A Cortex-M3 of 72 MHz takes 1.3
    /// cycles for an instruction: 18,056 picoseconds. Default: 0. The bounds then contain flash and
    /// driver alone.
    pub instruction_ps: u32,
    /// Events after which the volume commits: values of enum steadyfs_commit_event. The default, 0,
    /// stands for STEADYFS_COMMIT_ON_CLOSE. STEADYFS_COMMIT_MANUAL stands for no events.
    pub commit_on: u16,
    /// If STEADYFS_COMMIT_MANY is set: number of calls with changes after which the volume commits.
    /// The default, 0, means no limit.
    pub commit_changes: u32,
    /// If STEADYFS_COMMIT_MANY is set: number of written bytes after which the volume commits. The
    /// default, 0, means no limit.
    pub commit_bytes: u32,
    /// If STEADYFS_COMMIT_TIMED is set: the longest time that a change waits for a commit, in the
    /// unit of steadyfs_set_time. The default, 0, means one second in nanoseconds.
    pub commit_interval_ns: u64,
    /// Settings of the volume. Only a format uses all of them.
    pub settings: Settings,
}

/// Events after which a volume commits by itself: single events combined with |, or one of the
/// presets.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// steadyfs_unmount was called. If this event is not set, an unmount discards uncommitted
    /// changes.
    CommitUnmount = 1,
    /// A file was created.
    CommitCreate = 1 << 1,
    /// A file or directory was removed.
    CommitRemove = 1 << 2,
    /// A directory was created.
    CommitMkdir = 1 << 3,
    /// A file or directory was renamed.
    CommitRename = 1 << 4,
    /// A handle that may write was closed.
    CommitClose = 1 << 5,
    /// Bytes of a file or its attributes were written. In a long write this event occurs after each
    /// logical page.
    CommitWrite = 1 << 6,
    /// steadyfs_file_sync was called.
    CommitFsync = 1 << 7,
    /// A file was truncated or enlarged.
    CommitTruncate = 1 << 8,
    /// Without a commit, the next call might not fit into the transaction or on the volume.
    CommitFull = 1 << 9,
    /// steadyfs_sync was called.
    CommitSync = 1 << 10,
    /// commit_interval_ns has passed since the first change of the transaction: see
    /// steadyfs_poll.
    CommitTimed = 1 << 11,
    /// commit_changes or commit_bytes is reached.
    CommitMany = 1 << 12,
    /// Preset, the default: commits after changes of names, and when a file is closed or synced, as
    /// littlefs does. It contains STEADYFS_COMMIT_FULL. So a file that is larger than
    /// steadyfs_transaction_room is committed in pieces, and a power cut can leave a part of it. To
    /// replace such a file in one step, write and close a file with another name, and rename it.
    CommitOnClose = 0x7FF & !(1 << 6) & !(1 << 8),
    /// Preset: commits with steadyfs_file_sync, steadyfs_sync and unmount, and if the transaction
    /// or the volume becomes full. For many small files this is faster than a commit after each
    /// close.
    CommitOnFlush = 1 | 1 << 7 | 1 << 9 | 1 << 10,
    /// Preset: every change is durable when its call returns.
    CommitEveryWrite = 0x7FF,
    /// Preset: no event commits. Only steadyfs_commit commits, and each change through a handle
    /// with STEADYFS_O_DURABLE: such a change commits all changes of the volume. A call that does
    /// not fit into the transaction is refused: see steadyfs_transaction_room.
    CommitManual = 0x8000,
}

/// The events, each at the index of its bit.
const EVENTS: [CommitOn; 13] = [
    CommitOn::UNMOUNT,
    CommitOn::CREATE,
    CommitOn::REMOVE,
    CommitOn::MKDIR,
    CommitOn::RENAME,
    CommitOn::CLOSE,
    CommitOn::WRITE,
    CommitOn::FSYNC,
    CommitOn::TRUNCATE,
    CommitOn::FULL,
    CommitOn::SYNC,
    CommitOn::TIMED,
    CommitOn::MANY,
];

/// Converts a number from C into events.
pub(crate) fn events(bits: u16) -> Result<CommitOn, Code> {
    const MANUAL: u16 = Commit::CommitManual as u16;
    match bits {
        0 => return Ok(CommitOn::ON_CLOSE),
        MANUAL => return Ok(CommitOn::MANUAL),
        _ if bits >> EVENTS.len() != 0 => return Err(Code::ErrInval),
        _ => {}
    }
    let mut events = CommitOn::NONE;
    for (bit, event) in EVENTS.into_iter().enumerate() {
        if bits >> bit & 1 != 0 {
            events = events.with(event);
        }
    }
    Ok(events)
}

/// A checked driver.
pub(crate) enum Driver {
    Nand(NandChip),
    Nor(NorPages<Groups<NorChip>>),
    Sectors(Card, SectorLayout),
}

impl Driver {
    /// Returns the number of bytes of memory that the driver uses before the tables of the volume.
    fn own_bytes(&self) -> usize {
        match self {
            Self::Sectors(..) => {
                size_of::<SectorPages<Card>>() + align_of::<SectorPages<Card>>() - 1
            }
            _ => 0,
        }
    }

    fn geometry(&self) -> Geometry {
        match self {
            Self::Nand(chip) => chip.geometry(),
            Self::Nor(pages) => pages.geometry(),
            Self::Sectors(_, layout) => layout.geometry(),
        }
    }

    /// Refuses a geometry for which arithmetic would fail. The core checks the rules of the
    /// settings.
    pub fn check(&self) -> Result<(), Code> {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = self.geometry();
        // If a page contains its tag, the size of the page including the tag is a power of two.
        let whole_bytes =
            if let Self::Sectors(_, layout) = self { layout.page_bytes } else { page_bytes };
        if !whole_bytes.is_power_of_two() || !(256..=16_384).contains(&page_bytes) {
            return Err(Code::ErrConfigPageBytes);
        }
        let is_possible =
            (4..=4096).contains(&pages_per_block) && (16..=1 << 20).contains(&block_count);
        let pages = u64::from(pages_per_block) * u64::from(block_count);
        if is_possible && pages <= 1 << 31 { Ok(()) } else { Err(Code::ErrConfigBlocks) }
    }

    /// Returns the driver with the division of the volume on the medium. Only cards store their
    /// division.
    pub fn found(self) -> Result<Self, Code> {
        if !cfg!(feature = "sectors") {
            return Ok(self);
        }
        let Self::Sectors(mut card, layout) = self else { return Ok(self) };
        let layout = layout.found(&mut card)?.ok_or(Code::ErrNotformatted)?;
        Ok(Self::Sectors(card, layout))
    }

    /// Returns the driver for a new volume. On a card the new division ensures that pages of an
    /// earlier volume are not recognised.
    pub fn renewed(self) -> Result<Self, Code> {
        if !cfg!(feature = "sectors") {
            return Ok(self);
        }
        let Self::Sectors(mut card, layout) = self else { return Ok(self) };
        let layout = layout.renewed(&mut card)?;
        Ok(Self::Sectors(card, layout))
    }

    /// Creates the medium, and divides the lent memory.
    pub fn into_medium(
        self,
        memory: &'static mut [u8],
    ) -> Result<(Medium, &'static mut [u8]), Code> {
        match self {
            #[cfg(feature = "nand")]
            Self::Nand(chip) => Ok((Medium::new(Chip::Nand(chip)), memory)),
            #[cfg(feature = "nor")]
            Self::Nor(pages) => Ok((Medium::new(Chip::Nor(pages)), memory)),
            #[cfg(feature = "sectors")]
            Self::Sectors(card, layout) => {
                let pages = SectorPages::new(card, layout).ok_or(Code::ErrConfigBlocks)?;
                pointers::place(pages, memory)
                    .map(|(pages, rest)| (Medium::new(Chip::Sectors(pages)), rest))
                    .ok_or(Code::ErrNomem)
            }
            #[allow(unreachable_patterns)]
            _ => Err(Code::ErrUnsupported),
        }
    }
}

impl Config {
    /// Returns the checked driver.
    ///
    /// # Safety
    /// Drivers are null or do not change until the unmount, and their callbacks fulfil the
    /// conditions of the header.
    pub(crate) unsafe fn driver(&self) -> Result<Driver, Code> {
        match (self.nand.is_null(), self.nor.is_null(), self.sectors.is_null()) {
            // The compiler evaluates these conditions, so a build that lacks the feature of a
            // medium contains no code for this medium.
            (false, true, true) if !cfg!(feature = "nand") => Err(Code::ErrUnsupported),
            (true, false, true) if !cfg!(feature = "nor") => Err(Code::ErrUnsupported),
            (true, true, false) if !cfg!(feature = "sectors") => Err(Code::ErrUnsupported),
            (false, true, true) => {
                // SAFETY: The caller meets the conditions of this function.
                let chip = NandChip::new(unsafe { pointers::reference(self.nand) }?)?;
                Ok(Driver::Nand(chip))
            }
            (true, false, true) => {
                // SAFETY: The caller meets the conditions of this function.
                let chip = NorChip::new(unsafe { pointers::reference(self.nor) }?)?;
                self.grouped(chip).map(Driver::Nor)
            }
            (true, true, false) => {
                // SAFETY: The caller meets the conditions of this function.
                let card = Card::new(unsafe { pointers::reference(self.sectors) }?)?;
                self.divided(card)
            }
            _ => Err(Code::ErrDriver),
        }
    }

    /// Returns a NOR chip whose sectors are grouped into blocks.
    fn grouped(&self, chip: NorChip) -> Result<NorPages<Groups<NorChip>>, Code> {
        use steadyfs::media::nor::NorFlash;
        let sectors = match self.settings.group_sectors {
            0 => steadyfs::Config::group_sectors(chip.block_bytes(), chip.block_count())
                .ok_or(Code::ErrConfigTooFewBlocks)?,
            sectors if sectors.is_power_of_two() && u32::from(sectors) <= chip.block_count() => {
                u32::from(sectors)
            }
            _ => return Err(Code::ErrConfigBlocks),
        };
        let block_bytes = u64::from(chip.block_bytes()) * u64::from(sectors);
        let block_bytes = u32::try_from(block_bytes)
            .ok()
            .filter(|bytes| *bytes <= 1 << 24)
            .ok_or(Code::ErrConfigBlocks)?;
        Ok(NorPages::new(Groups::new(chip, sectors), page_bytes_for(block_bytes)))
    }

    /// Returns a card with the division of the configuration.
    fn divided(&self, card: Card) -> Result<Driver, Code> {
        let Sectors { sector_count, first, block_sectors, page_bytes, tags, .. } = *card.driver;
        let sectors = sector_count - first;
        let mut layout = if block_sectors == 0 {
            SectorLayout::for_size(sectors)
        } else {
            SectorLayout { block_sectors, ..SectorLayout::for_device(sectors, 512) }
        };
        layout.first = first;
        if page_bytes != 0 {
            layout.page_bytes = page_bytes;
        }
        layout.tags = match tags {
            tags if tags == Tags::TagsTable as u8 => TagPlace::Table,
            tags if tags == Tags::TagsWithin as u8 => TagPlace::Within,
            _ => TagPlace::Beside,
        };
        Ok(Driver::Sectors(card, layout))
    }

    /// Returns the settings for a driver. Settings that are 0 have the defaults for this driver.
    pub(crate) fn settings(&self, driver: &Driver) -> Result<steadyfs::Config, Code> {
        driver.check()?;
        let geometry = driver.geometry();
        let usual = match driver {
            Driver::Sectors(_, layout) if cfg!(feature = "sectors") => {
                steadyfs::Config::for_sectors(layout)
            }
            _ => steadyfs::Config::for_geometry(&geometry),
        };
        let settings = self.settings.over(usual);
        settings.check(&geometry)?;
        Ok(settings)
    }

    /// Returns the settings of a volume in the form for C. They include the two fields that the
    /// core does not have.
    fn told(&self, driver: &Driver, config: &steadyfs::Config) -> Settings {
        let group_sectors =
            if let Driver::Nor(pages) = driver { pages.chip().sectors() as u16 } else { 0 };
        Settings::of(config, group_sectors, self.settings.open_files.max(8))
    }

    /// Returns the number of bytes of memory that a volume needs.
    fn memory_needed(&self, driver: &Driver) -> Result<usize, Code> {
        let more = usize::from(self.settings.open_files).saturating_sub(8) * OPEN_FILE_BYTES;
        Ok(driver.own_bytes() + self.settings(driver)?.memory_bytes(&driver.geometry()) + more)
    }

    /// Returns the lent memory, filled with zeros.
    ///
    /// # Safety
    /// No other code uses the memory until the unmount.
    pub(crate) unsafe fn lent(&self) -> Result<&'static mut [u8], Code> {
        if self.memory.is_null() {
            return Err(Code::ErrNomem);
        }
        // SAFETY: The caller meets the conditions of this function.
        let memory = unsafe { pointers::bytes_mut(self.memory, self.memory_bytes) }?;
        memory.fill(0);
        Ok(memory)
    }
}

impl Settings {
    /// Converts these settings into settings of the core. Fields that are 0 are replaced by the
    /// values of `usual`.
    fn over(&self, usual: steadyfs::Config) -> steadyfs::Config {
        let word = |setting: u16, usual: u16| if setting == 0 { usual } else { setting };
        let byte = |setting: u8, usual: u8| if setting == 0 { usual } else { setting };
        let or_none = |setting: u8, usual: u8| {
            if setting == STEADYFS_NONE { 0 } else { byte(setting, usual) }
        };
        let bad_blocks_max = word(self.bad_blocks_max, usual.bad_blocks_max);
        steadyfs::Config {
            pages_per_logical_page: word(self.pages_per_logical_page, usual.pages_per_logical_page),
            overlay_entries: word(self.overlay_entries, usual.overlay_entries),
            transaction_pages: word(self.transaction_pages, usual.transaction_pages),
            checkpoint_programs: word(self.checkpoint_programs, usual.checkpoint_programs),
            wear_spread: or_none(self.wear_spread, usual.wear_spread),
            bad_blocks_max: if bad_blocks_max == STEADYFS_NO_BAD_BLOCKS {
                0
            } else {
                bad_blocks_max
            },
            files_max: if self.files_max == 0 { usual.files_max } else { self.files_max },
            failures: or_none(self.failures, usual.failures),
            name_bytes_max: byte(self.name_bytes_max, usual.name_bytes_max),
            permissions: self.permissions,
            streams: byte(self.streams, usual.streams),
            moved_apart: self.moved_apart,
            auto_streams: self.auto_streams,
            move_group: byte(self.move_group, usual.move_group),
            leaf_log_bytes: byte(self.leaf_log_bytes, usual.leaf_log_bytes),
            journal_pages: byte(self.journal_pages, usual.journal_pages),
        }
    }

    /// Returns the settings of a volume in the form for C.
    fn of(config: &steadyfs::Config, group_sectors: u16, open_files: u16) -> Self {
        let or_none = |value: u8| if value == 0 { STEADYFS_NONE } else { value };
        Self {
            pages_per_logical_page: config.pages_per_logical_page,
            overlay_entries: config.overlay_entries,
            transaction_pages: config.transaction_pages,
            checkpoint_programs: config.checkpoint_programs,
            bad_blocks_max: if config.bad_blocks_max == 0 {
                STEADYFS_NO_BAD_BLOCKS
            } else {
                config.bad_blocks_max
            },
            files_max: config.files_max,
            wear_spread: or_none(config.wear_spread),
            failures: or_none(config.failures),
            name_bytes_max: config.name_bytes_max,
            streams: config.streams,
            move_group: config.move_group,
            leaf_log_bytes: config.leaf_log_bytes,
            journal_pages: config.journal_pages,
            permissions: config.permissions,
            moved_apart: config.moved_apart,
            auto_streams: config.auto_streams,
            group_sectors,
            open_files,
        }
    }
}

/// Calls `look` with a configuration, its driver and the resulting settings.
///
/// # Safety
/// The conditions of [`Config::driver`]. `config` is null or meets the conditions in the C header.
unsafe fn inspect<T>(
    config: *const Config,
    look: impl FnOnce(&Config, &Driver, steadyfs::Config) -> Result<T, Code>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions of this function.
    let config = unsafe { pointers::reference(config) }?;
    // SAFETY: The caller meets the conditions of this function.
    let driver = unsafe { config.driver() }?;
    let settings = config.settings(&driver)?;
    look(config, &driver, settings)
}

/// Returns the number of bytes of memory that a volume needs, or an error: STEADYFS_ERR_DRIVER,
/// STEADYFS_ERR_CONFIG... for an invalid setting, or STEADYFS_ERR_UNSUPPORTED if the build lacks
/// the feature of the medium or of a setting. The call ignores the fields for memory. It calls no
/// callback of the driver.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_memory_bytes(config: *const Config) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe { inspect(config, |config, driver, _| config.memory_needed(driver)) })
}

/// Returns the number of bytes that a cache of `pages` logical pages needs. Errors: as
/// steadyfs_memory_bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_cache_bytes(config: *const Config, pages: usize) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe {
        inspect(config, |_, driver, settings| {
            of_pages(pages, |pages| settings.cache_bytes(&driver.geometry(), pages))
        })
    })
}

/// Returns the number of bytes that a read cache of `pages` program pages needs. Errors: as
/// steadyfs_memory_bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_read_cache_bytes(config: *const Config, pages: usize) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe {
        inspect(config, |_, driver, settings| {
            of_pages(pages, |pages| settings.read_cache_bytes(&driver.geometry(), pages))
        })
    })
}

/// Returns the number of bytes of `pages` pages. Refuses more bytes than memory can have.
fn of_pages(pages: usize, bytes: impl Fn(usize) -> usize) -> Result<usize, Code> {
    // The bytes of one page are the difference between two pages and one page.
    let each = bytes(2) - bytes(1);
    let all = each.checked_mul(pages).and_then(|all| all.checked_add(bytes(0)));
    all.filter(|bytes| *bytes <= isize::MAX as usize).ok_or(Code::ErrInval)
}

/// Returns the number of bytes of scratch memory that steadyfs_fs_check and steadyfs_fs_repair
/// need. Errors: as steadyfs_memory_bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_check_bytes(config: *const Config) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe {
        inspect(config, |_, driver, settings| Ok(settings.check_bytes(&driver.geometry())))
    })
}

/// Stores all settings. Fields that are 0 are replaced by their defaults. Returns 0, or an error as
/// steadyfs_memory_bytes does.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_settings_of(
    config: *const Config,
    settings: *mut Settings,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        inspect(config, |config, driver, found| {
            pointers::put(settings, config.told(driver, &found))
        })
    };
    status(result)
}

/// Stores the best settings for which steadyfs_memory_bytes is at most `memory_bytes`. The call
/// replaces only settings that are 0. If the memory is larger than the defaults need, NOR gets
/// larger journal buffers and smaller logical pages. If the memory is smaller, the call first
/// reduces the tables that matter least for small changes. If no settings fit, it stores the
/// smallest settings. So compare steadyfs_memory_bytes of the result with `memory_bytes`. Lend the
/// remaining memory as a cache. On sectors `memory_bytes` does not change the settings. Returns 0,
/// or an error as steadyfs_memory_bytes does.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_settings_for(
    config: *const Config,
    memory_bytes: usize,
    settings: *mut Settings,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        inspect(config, |config, driver, found| {
            let geometry = driver.geometry();
            let beside = config.memory_needed(driver)? - found.memory_bytes(&geometry);
            let best = match driver {
                // On a card `memory_bytes` does not change the settings.
                Driver::Sectors(..) => found,
                _ => config.settings.over(steadyfs::Config::for_geometry_with(
                    &geometry,
                    memory_bytes.saturating_sub(beside),
                )),
            };
            best.check(&geometry)?;
            pointers::put(settings, config.told(driver, &best))
        })
    };
    status(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_c_are_those_of_the_core() {
        assert_eq!(events(Commit::CommitOnClose as u16), Ok(CommitOn::ON_CLOSE));
        assert_eq!(events(0), Ok(CommitOn::ON_CLOSE));
        assert_eq!(events(Commit::CommitOnFlush as u16), Ok(CommitOn::ON_SYNC));
        assert_eq!(events(Commit::CommitEveryWrite as u16), Ok(CommitOn::EVERY_WRITE));
        assert_eq!(events(Commit::CommitManual as u16), Ok(CommitOn::MANUAL));
        assert_eq!(events(Commit::CommitTimed as u16), Ok(CommitOn::TIMED));
        assert_eq!(events(Commit::CommitMany as u16), Ok(CommitOn::MANY));
        assert_eq!(events(1 << 13), Err(Code::ErrInval));
    }

    #[test]
    fn settings_of_zeros_are_the_defaults_and_none_is_zero() {
        let geometry = Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 1024,
            programs_bytes: false,
        };
        let usual = steadyfs::Config::for_geometry(&geometry);
        assert_eq!(Settings::default().over(usual), usual);
        assert_eq!(Settings::of(&usual, 0, 8).over(usual), usual);
        let none = Settings {
            wear_spread: STEADYFS_NONE,
            bad_blocks_max: STEADYFS_NO_BAD_BLOCKS,
            failures: STEADYFS_NONE,
            ..Settings::default()
        };
        let expected = steadyfs::Config { wear_spread: 0, bad_blocks_max: 0, failures: 0, ..usual };
        assert_eq!(none.over(usual), expected);
        assert_eq!(Settings::of(&expected, 0, 8).over(usual), expected);
    }
}
