//! The configuration: driver, memory, settings.

use crate::driver::{Card, Nand, NandChip, Nor, NorChip, Sectors, Tags};
use crate::error::{Code, length, status};
use crate::medium::Medium;
use crate::pointers;
use core::ffi::{c_int, c_void};
use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{CommitOn, OPEN_FILE_BYTES};

/// As the value of a setting: none. The value 0 stands for the default.
pub const STEADYFS_NONE: u8 = 255;
/// As the value of bad_blocks_max: none.
pub const STEADYFS_NO_BAD_BLOCKS: u16 = 0xFFFF;

/// Settings of a volume, chosen when it is formatted, and stored on it. A mount uses
/// `group_sectors` alone, and reads the others from the volume. `open_files` counts for
/// steadyfs_memory_bytes only.
///
/// The value 0 stands for the default of each setting. A struct of zeros suits most volumes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Number of program pages in a logical page: a power of two, 1 to 32. More: smaller map and
    /// tables.
    /// Less: cheaper rewrites of single program pages. Default: as many as make 4 KiB, if a
    /// block holds at least 8 of these logical pages.
    pub pages_per_logical_page: u16,
    /// Map changes kept in RAM, at least 40 more than transaction_pages, at most 8,192. More:
    /// fewer programs per write and more usable space, for 4 bytes each (8 above 32,768 logical
    /// pages). Default: by the medium's size, from 64 on.
    pub overlay_entries: u16,
    /// Logical pages that one transaction may write, 2 to 1,024. More: larger transactions. With
    /// less than 16 a single call may be refused. steadyfs_transaction_room returns the bytes.
    /// Default: 16, or 32 on most media of 3,072 to 8,191 logical pages. On sectors: 16 to 256.
    pub transaction_pages: u16,
    /// Programs between two roots, 16 to 4,096. More: fewer programs per write. Less: a faster
    /// mount after a power cut. Default: by the medium's size, from 32 on.
    pub checkpoint_programs: u16,
    /// Blocks that may be bad, factory and grown together, before the volume shrinks with each
    /// further one. STEADYFS_NO_BAD_BLOCKS: none. Default: a fiftieth of the blocks of NAND, a
    /// two-hundredth of NOR, from 2 on; none on sectors.
    pub bad_blocks_max: u16,
    /// Most files and directories, up to 1,048,576. A name of more than 64 bytes, and the
    /// attributes of a file, count as one each. Default: one for each two logical pages, or more
    /// if these are few; 64 to 65,536.
    pub files_max: u32,
    /// Largest allowed difference between the erase counts of two blocks, 8 to 200. Less: more
    /// moves of data at rest. STEADYFS_NONE if the device levels wear itself. Default: 32; none
    /// on sectors.
    pub wear_spread: u8,
    /// Program failures that one call survives by writing elsewhere, up to 8; STEADYFS_NONE:
    /// none. Default: 2; 1 on sectors.
    pub failures: u8,
    /// Most bytes of a name, 1 to 255. It changes no table. Default: 255.
    pub name_bytes_max: u8,
    /// Streams, 1 to 4: see STEADYFS_O_STREAM. Each but the first takes the room of one block.
    /// Default: 1.
    pub streams: u8,
    /// Number of program pages that reclamation moves in one command, 1 to 64, for devices that
    /// level wear themselves. Default: 1; up to 16 on sectors.
    pub move_group: u8,
    /// On NOR: bytes of each page of the map that are kept free for later changes, 48 to 240.
    /// Default: 96, or 192 if these make more of the medium usable.
    pub leaf_log_bytes: u8,
    /// On NOR: program pages of the journal's buffer, 1 to 16 and at most 4,096 bytes. Default:
    /// as many pages as hold 512 bytes, or 2,048 bytes if blocks are large.
    pub journal_pages: u8,
    /// True if files and directories have room for mode, owner and group. Default: false.
    pub permissions: bool,
    /// True if pages that reclamation moves stay in blocks of their stream. Default: false.
    pub moved_apart: bool,
    /// True if the volume itself finds the pages that belong to one stream. It takes 772 bytes
    /// of RAM. Default: false.
    pub auto_streams: bool,
    /// On NOR: erase sectors of a block, a power of two. Default: the fewest sectors with which the
    /// default settings fit, whatever the other settings here are. Larger pages_per_logical_page or
    /// more overlay_entries than the defaults may need more sectors
    /// (STEADYFS_ERR_CONFIG_UNIT_PAGES, STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL). A mount needs the
    /// number of the format. With another number it finds no volume: STEADYFS_ERR_GEOMETRY.
    pub group_sectors: u16,
    /// Files that may be open at once, for steadyfs_memory_bytes. Default: 8. Each further file
    /// takes 12 bytes of memory.
    pub open_files: u16,
}

/// Configuration for steadyfs_format and steadyfs_mount. A struct of zeros with a driver and
/// memory is complete.
///
/// The driver's struct and the memory must stay until the unmount. This struct need not.
#[repr(C)]
pub struct Config {
    /// The driver of a NAND chip. One of the three drivers is given, and the others are null.
    pub nand: *const Nand,
    /// The driver of a NOR chip. One of the three drivers is given, and the others are null.
    pub nor: *const Nor,
    /// The driver of a card or a disk. One of the three drivers is given, and the others are
    /// null.
    pub sectors: *const Sectors,
    /// All the RAM that the volume uses beside steadyfs_t, with any alignment. It belongs to one
    /// volume until the unmount.
    pub memory: *mut c_void,
    /// Bytes of `memory`. steadyfs_memory_bytes returns a size with room for 8 open files, or
    /// for settings.open_files if these are more. Each further open file takes 12 bytes more.
    /// With less, format and mount take fewer open files, down to none. If the rest does not
    /// fit, they return STEADYFS_ERR_NOMEM.
    pub memory_bytes: usize,
    /// Memory for pages that are written in part, or null. The pages wait there for the commit,
    /// and cost one program however often they are written. Default: null, every such write is
    /// programmed.
    pub cache: *mut c_void,
    /// Bytes of `cache`: see steadyfs_cache_bytes.
    pub cache_bytes: usize,
    /// Memory for pages that are read again and again, such as pages of directories, or null.
    /// Default: null, they are read from the medium each time.
    pub read_cache: *mut c_void,
    /// Bytes of `read_cache`: see steadyfs_read_cache_bytes.
    pub read_cache_bytes: usize,
    /// True to mount for reading: nothing is ever programmed or erased. Default: false, for
    /// reading and writing.
    pub read_only: bool,
    /// True if steadyfs_file_read does not verify the checksums of the data. The volume's own
    /// tables are still verified. For flash behind an ECC: it saves nine tenths of a long read's
    /// instructions. Default: false, everything is verified.
    pub trust_data: bool,
    /// Events after which the volume commits: of enum steadyfs_commit_event. Default, 0:
    /// STEADYFS_COMMIT_ON_CLOSE. For no events: STEADYFS_COMMIT_MANUAL.
    pub commit_on: u16,
    /// With STEADYFS_COMMIT_MANY: number of changing calls after which the volume commits.
    /// Default, 0: no limit.
    pub commit_changes: u32,
    /// With STEADYFS_COMMIT_MANY: number of written bytes after which the volume commits.
    /// Default, 0: no limit.
    pub commit_bytes: u32,
    /// With STEADYFS_COMMIT_TIMED: the longest time that a change waits for a commit, in the
    /// unit of steadyfs_set_time. Default, 0: one second in nanoseconds.
    pub commit_interval_ns: u64,
    /// Settings of the volume, for the format.
    pub settings: Settings,
}

/// Events after which a volume commits by itself: any of them joined by |, or one of the presets.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// steadyfs_unmount was called. Without this event an unmount discards uncommitted changes.
    CommitUnmount = 1,
    /// A file was created.
    CommitCreate = 1 << 1,
    /// A file or directory was removed.
    CommitRemove = 1 << 2,
    /// A directory was made.
    CommitMkdir = 1 << 3,
    /// A file or directory was renamed.
    CommitRename = 1 << 4,
    /// A handle that may write was closed.
    CommitClose = 1 << 5,
    /// Bytes of a file (one logical page of a long write), or attributes, were written.
    CommitWrite = 1 << 6,
    /// steadyfs_file_sync was called.
    CommitFsync = 1 << 7,
    /// A file was cut or made larger.
    CommitTruncate = 1 << 8,
    /// The next call may not find room in the transaction, or on the volume, without a commit.
    CommitFull = 1 << 9,
    /// steadyfs_sync was called.
    CommitSync = 1 << 10,
    /// commit_interval_ns has passed since the first change of the transaction: see
    /// steadyfs_poll.
    CommitTimed = 1 << 11,
    /// commit_changes or commit_bytes is reached.
    CommitMany = 1 << 12,
    /// Preset, the default: commits changes of names, and when a file is closed or synced. As
    /// littlefs does.
    CommitOnClose = 0x7FF & !(1 << 6) & !(1 << 8),
    /// Preset: commits with steadyfs_file_sync, steadyfs_sync and unmount, and if room runs out.
    /// With many small files it is faster than commits at each close.
    CommitOnFlush = 1 | 1 << 7 | 1 << 9 | 1 << 10,
    /// Preset: every change is durable when its call returns.
    CommitEveryWrite = 0x7FF,
    /// Preset: commits with steadyfs_commit only. A call for which the transaction has no room
    /// is refused: see steadyfs_transaction_room.
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

/// Returns the events of a number from C.
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
    /// Returns the bytes of memory before the tables of the volume.
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

    /// Refuses a geometry for which arithmetic fails. The core checks the rules of the settings.
    pub fn check(&self) -> Result<(), Code> {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = self.geometry();
        // A page that contains its tag is a power of two together with the tag.
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

    /// Returns the driver with the division of the volume on the medium. Only cards store it.
    pub fn found(self) -> Result<Self, Code> {
        if !cfg!(feature = "sectors") {
            return Ok(self);
        }
        let Self::Sectors(mut card, layout) = self else { return Ok(self) };
        let layout = layout.found(&mut card)?.ok_or(Code::ErrNotformatted)?;
        Ok(Self::Sectors(card, layout))
    }

    /// Returns the driver for a new volume. On a card the new division excludes pages of an
    /// earlier volume.
    pub fn renewed(self) -> Result<Self, Code> {
        if !cfg!(feature = "sectors") {
            return Ok(self);
        }
        let Self::Sectors(mut card, layout) = self else { return Ok(self) };
        let layout = layout.renewed(&mut card)?;
        Ok(Self::Sectors(card, layout))
    }

    /// Makes the medium, and divides the lent memory.
    pub fn into_medium(
        self,
        memory: &'static mut [u8],
    ) -> Result<(Medium, &'static mut [u8]), Code> {
        match self {
            #[cfg(feature = "nand")]
            Self::Nand(chip) => Ok((Medium::Nand(chip), memory)),
            #[cfg(feature = "nor")]
            Self::Nor(pages) => Ok((Medium::Nor(pages), memory)),
            #[cfg(feature = "sectors")]
            Self::Sectors(card, layout) => {
                let pages = SectorPages::new(card, layout).ok_or(Code::ErrConfigBlocks)?;
                pointers::place(pages, memory)
                    .map(|(pages, rest)| (Medium::Sectors(pages), rest))
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
    /// Drivers are null or do not change until the unmount, and their callbacks keep the
    /// conditions of the header.
    pub(crate) unsafe fn driver(&self) -> Result<Driver, Code> {
        match (self.nand.is_null(), self.nor.is_null(), self.sectors.is_null()) {
            // The compiler evaluates these conditions, so a build without a medium has no code
            // for it.
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

    /// Returns a NOR chip with its sectors grouped to blocks.
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

    /// Returns the settings for a driver, with the defaults of this driver.
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

    /// Returns the settings of a volume for C, with the two fields that the core does not have.
    fn told(&self, driver: &Driver, config: &steadyfs::Config) -> Settings {
        let group_sectors =
            if let Driver::Nor(pages) = driver { pages.chip().sectors() as u16 } else { 0 };
        Settings::of(config, group_sectors, self.settings.open_files.max(8))
    }

    /// Returns the bytes of memory that a volume needs.
    fn memory_needed(&self, driver: &Driver) -> Result<usize, Code> {
        let more = usize::from(self.settings.open_files).saturating_sub(8) * OPEN_FILE_BYTES;
        Ok(driver.own_bytes() + self.settings(driver)?.memory_bytes(&driver.geometry()) + more)
    }

    /// Returns the lent memory, filled with zeros.
    ///
    /// # Safety
    /// Nothing else uses the memory until the unmount.
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
    /// Returns these settings for the core. Fields that are 0 come from `usual`.
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

    /// Returns the settings of a volume for C.
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
/// As [`Config::driver`]. `config` is null or meets the conditions in the C header.
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

/// Returns the bytes of memory that a volume needs, or an error: STEADYFS_ERR_DRIVER, or
/// STEADYFS_ERR_CONFIG... for an invalid setting. Ignores the fields for memory. Calls no
/// callback of the driver.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_memory_bytes(config: *const Config) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe { inspect(config, |config, driver, _| config.memory_needed(driver)) })
}

/// Returns the bytes that a cache of `pages` logical pages needs, or an error as
/// steadyfs_memory_bytes does.
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

/// Returns the bytes that a cache of `pages` program pages for reads needs, or an error as
/// steadyfs_memory_bytes does.
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

/// Returns the bytes of `pages` pages. Refuses more bytes than memory can have.
fn of_pages(pages: usize, bytes: impl Fn(usize) -> usize) -> Result<usize, Code> {
    // The difference between two pages and one.
    let each = bytes(2) - bytes(1);
    let all = each.checked_mul(pages).and_then(|all| all.checked_add(bytes(0)));
    all.filter(|bytes| *bytes <= isize::MAX as usize).ok_or(Code::ErrInval)
}

/// Returns the bytes of scratch memory that steadyfs_fs_check and steadyfs_fs_repair need, or an
/// error as steadyfs_memory_bytes does.
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

/// Stores all settings, with the defaults for fields that are 0. Returns 0, or an error as
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

/// Stores the best settings for which steadyfs_memory_bytes is at most `memory_bytes`. It
/// replaces only settings that are 0. With more memory than the defaults need, NOR gets longer
/// buffers of the journal and smaller logical pages. With less memory, it saves first on parts
/// that small changes need least. If no settings fit, it stores the smallest: compare
/// steadyfs_memory_bytes with them. Memory that is left is best lent as a cache. Returns 0, or
/// an error as steadyfs_memory_bytes does.
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
                // A card has its own settings.
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
