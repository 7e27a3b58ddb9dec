//! The volume as a whole: space, idle work, health, verification.

use crate::error::{Code, status, wide, yes_or_no};
use crate::pointers;
use crate::volume::{Fs, Mounted, ask, enter};
use core::ffi::{c_int, c_void};
use steadyfs::{Budget, Damage as CoreDamage, Finding as CoreFinding};

/// Properties and use of a volume.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FsInfo {
    /// Version of the format on the medium.
    pub disk_version: u32,
    /// Unit of allocation in bytes: a logical page.
    pub block_size: u32,
    /// Logical pages that may hold data: usable_bytes / block_size.
    pub block_count: u32,
    /// Most bytes of a name.
    pub name_max: u32,
    /// Most bytes of a file.
    pub file_max: u64,
    /// Most bytes of all attributes of a file together, two for each beside key and value.
    pub attr_max: u32,
    /// Most files and directories.
    pub files_max: u32,
    /// Number of files, directories, long names and sets of attributes.
    pub files: u32,
    /// Room for data in bytes, taken and free together.
    pub usable_bytes: u64,
    /// Taken room in bytes. It includes the pages of removed files, though writes find them: see
    /// steadyfs_fs_free.
    pub used_bytes: u64,
}

/// Stores the properties and the use of a volume. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_stat(fs: *mut Fs, info: *mut FsInfo) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        enter(fs, |fs| {
            let usage = fs.usage();
            pointers::put(
                info,
                FsInfo {
                    disk_version: steadyfs::FORMAT_VERSION.into(),
                    block_size: usage.logical_bytes,
                    block_count: (usage.usable_bytes / u64::from(usage.logical_bytes)) as u32,
                    name_max: fs.config().name_bytes_max.into(),
                    file_max: fs.size_max(),
                    attr_max: ATTRIBUTES_MAX,
                    files_max: usage.files_max,
                    files: usage.files,
                    usable_bytes: usage.usable_bytes,
                    used_bytes: usage.used_bytes,
                },
            )
        })
    };
    status(result)
}

/// Most bytes of the attributes of a file, as in the core.
const ATTRIBUTES_MAX: u32 = 248;

/// Returns the taken bytes, as used_bytes of steadyfs_fsinfo. littlefs counts blocks here. Costs
/// nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_size(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { ask(fs, |fs| fs.usage().used_bytes) })
}

/// Returns the bytes of all free pages, and of the pages that removed files still hold. It is 0
/// if no write finds a page. It includes pages that keep track of data, so one file may get
/// less: see steadyfs_fs_available. Cost: two lookups for each removed file that still holds
/// pages, and one at each page of its indexes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_free(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { enter(fs, Mounted::free_bytes) })
}

/// Returns the bytes that the next writes to one file get for certain. These are the free pages
/// and the pages that removed files still hold, less the pages that keep track of them. Cost: as
/// steadyfs_fs_free.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_available(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { enter(fs, Mounted::available) })
}

/// Prepares the volume in idle time, so that the next `burst_bytes` of writes need neither
/// reclamation nor an erase. Returns 1 if nothing is left to prepare, else 0.
///
/// It frees the pages of removed files, moves data that keeps blocks from being erased, erases
/// blocks, and writes parts of the map. It stops at `budget_ns`: the time of the medium, by the
/// driver's timing. In `burst_bytes` a durable write of less than a program page counts as one
/// page.
///
/// Power loss: committed data stays, and an open transaction stays open. Cost: never more than
/// the budget, if no operation fails. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT,
/// STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_gc(fs: *mut Fs, budget_ns: u64, burst_bytes: u64) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    yes_or_no(unsafe { enter(fs, |fs| fs.maintain(Budget::TimeNs(budget_ns), burst_bytes)) })
}

/// Reads data at rest for `budget_ns`, so that flipped bits are found while the ECC still
/// corrects them. Goes on where the last call stopped. Returns 1 if a round through everything
/// is complete, else 0.
///
/// Cost: never more than the budget. Errors: STEADYFS_ERR_IO; STEADYFS_ERR_UNSUPPORTED in a
/// build without the feature `scrub`.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_scrub(fs: *mut Fs, budget_ns: u64) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    yes_or_no(unsafe { enter(fs, |fs| scrub(fs, Budget::TimeNs(budget_ns))) })
}

#[cfg(feature = "scrub")]
fn scrub(fs: &mut Mounted, budget: Budget) -> Result<bool, steadyfs::Error> {
    fs.scrub(budget)
}

#[cfg(not(feature = "scrub"))]
fn scrub(_: &mut Mounted, _: Budget) -> Result<bool, steadyfs::Error> {
    Err(steadyfs::Error::Unsupported)
}

/// Health of the medium.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Health {
    /// True if the volume can only be read, for any reason.
    pub read_only: bool,
    /// True if so many blocks are bad that the content does not leave the room that reclamation
    /// needs.
    pub worn_out: bool,
    /// Wrong bits in the worst correction since the mount.
    pub worst_bits: u8,
    /// Bits that can be corrected; 0 if the driver does not report them.
    pub worst_strength: u8,
    /// Bad blocks, including factory bad blocks.
    pub bad_blocks: u32,
    /// Blocks that may still go bad before the volume shrinks.
    pub spare_blocks: u32,
    /// Blocks whose data must move because their pages needed many corrections.
    pub weak_blocks: u32,
    /// Erases of the least worn block since the first format.
    pub erases_min: u32,
    /// Erases of the most worn block.
    pub erases_max: u32,
    /// Number of blocks that erases_total counts.
    pub blocks: u32,
    /// Erases of all blocks in use.
    pub erases_total: u64,
    /// Reads since the mount.
    pub reads: u32,
    /// Reads since the mount that needed a correction.
    pub corrected_reads: u32,
    /// Reads since the mount that could not be corrected.
    pub lost_reads: u32,
}

/// Stores the health of the medium. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_health(fs: *mut Fs, health: *mut Health) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        enter(fs, |fs| {
            let found = fs.health();
            pointers::put(
                health,
                Health {
                    read_only: found.read_only,
                    worn_out: found.worn_out,
                    worst_bits: found.worst.bits,
                    worst_strength: found.worst.strength,
                    bad_blocks: found.bad_blocks,
                    spare_blocks: found.spare_blocks,
                    weak_blocks: found.weak_blocks,
                    erases_min: found.erases_min,
                    erases_max: found.erases_max,
                    blocks: found.blocks,
                    erases_total: found.erases_total,
                    reads: found.reads,
                    corrected_reads: found.corrected_reads,
                    lost_reads: found.lost_reads,
                },
            )
        })
    };
    status(result)
}

/// Damage that a mount found, or later the write-back of a part of the map. The volume can only
/// be read until steadyfs_fs_repair.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing is missing.
    DamageNone = 0,
    /// No copy of the newest root can be read. Changes that were committed since the root before
    /// it may be missing.
    DamageRoot = 1,
    /// A record since the newest root cannot be read any more.
    DamageRecord = 2,
    /// The newest journal page cannot be read any more, and the small changes in it are missing.
    /// On a volume with few files these may be all since the format.
    DamageJournal = 3,
    /// A repair was begun and has not ended.
    DamageRepair = 4,
    /// A page of the file system's own tables cannot be read any more.
    DamageTables = 5,
    /// A leaf of the map cannot be read any more. Its pages give STEADYFS_ERR_CORRUPT until they
    /// are written again.
    DamageLeaf = 6,
    /// Damage that this version of the header does not list.
    DamageOther = 7,
}

/// Returns the damage, of enum steadyfs_damage_kind, or an error. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_damage(fs: *mut Fs) -> c_int {
    let number = |damage: Option<CoreDamage>| match damage {
        None => Damage::DamageNone,
        Some(CoreDamage::Root) => Damage::DamageRoot,
        Some(CoreDamage::Record) => Damage::DamageRecord,
        Some(CoreDamage::Journal) => Damage::DamageJournal,
        Some(CoreDamage::Repair) => Damage::DamageRepair,
        Some(CoreDamage::Tables) => Damage::DamageTables,
        Some(CoreDamage::Leaf) => Damage::DamageLeaf,
        Some(_) => Damage::DamageOther,
    };
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe { ask(fs, |fs| number(fs.damage())) };
    result.map_or_else(Code::number, |damage| damage as c_int)
}

/// Kind of a finding of a check.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A page of the file system's own tables cannot be read. Mended: it is written again
    /// without the unreadable part.
    FindingUnreadableTable = 1,
    /// A page of a file or directory cannot be read. A page of a directory or an index is
    /// mended. A page of data stays unreadable until it is written again.
    FindingUnreadablePage = 2,
    /// An inode in use is invalid. Mended.
    FindingBadInode = 3,
    /// The rest of a long name, or the attributes of a file, are missing. Mended: the file has
    /// no attributes then, or another name.
    FindingLostExtension = 4,
    /// A directory names something that is missing or is in another directory, or it names
    /// something twice. Mended: the entry is removed.
    FindingBadEntry = 5,
    /// A directory's counts are wrong. Mended.
    FindingWrongCount = 6,
    /// No directory names a file or directory. Mended: it gets its name again, or `lost-` and
    /// its number in the root.
    FindingLost = 7,
    /// An inode is in use but marked as free. Mended.
    FindingUnmarkedInode = 8,
    /// An inode is taken but holds nothing. Mended.
    FindingLeakedInode = 9,
    /// A page is taken but belongs to nothing. Mended.
    FindingLeakedPage = 10,
    /// A page belongs to a file but is marked as free. Mended.
    FindingUnmarkedPage = 11,
    /// A page belongs to two files. Mended: the second file is empty then, and in the first file
    /// the page cannot be read.
    FindingSharedPage = 12,
    /// Old data lies behind the end of a file. Mended: it is cut off.
    FindingDirtyEnd = 13,
    /// A list of removed files does not end. Mended: it is discarded.
    FindingBadList = 14,
    /// A finding that this version of the header does not list.
    FindingOther = 15,
    /// Small changes are lost. This file or directory may be in an earlier state.
    FindingInDoubt = 16,
    /// Small changes are lost. Files may be missing with their names: at most `inode` of them.
    FindingLostChanges = 17,
}

/// One finding of a check.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A value of enum steadyfs_finding_kind.
    pub kind: u8,
    /// The file or directory; 0 if there is none. For LOST_CHANGES a number of inodes.
    pub inode: u32,
    /// The directory whose entry or count is wrong; 0 if there is none.
    pub directory: u32,
    /// The logical page; 0 if there is none.
    pub page: u32,
}

impl From<CoreFinding> for Finding {
    fn from(finding: CoreFinding) -> Self {
        use FindingKind::*;
        let (kind, inode, directory, page) = match finding {
            CoreFinding::UnreadableTable { logical } => (FindingUnreadableTable, 0, 0, logical),
            CoreFinding::UnreadablePage { inode, logical } => {
                (FindingUnreadablePage, inode, 0, logical)
            }
            CoreFinding::BadInode { inode } => (FindingBadInode, inode, 0, 0),
            CoreFinding::LostExtension { inode } => (FindingLostExtension, inode, 0, 0),
            CoreFinding::BadEntry { directory, inode } => (FindingBadEntry, inode, directory, 0),
            CoreFinding::WrongCount { directory } => (FindingWrongCount, 0, directory, 0),
            CoreFinding::Lost { inode } => (FindingLost, inode, 0, 0),
            CoreFinding::UnmarkedInode { inode } => (FindingUnmarkedInode, inode, 0, 0),
            CoreFinding::LeakedInode { inode } => (FindingLeakedInode, inode, 0, 0),
            CoreFinding::LeakedPage { logical } => (FindingLeakedPage, 0, 0, logical),
            CoreFinding::UnmarkedPage { logical } => (FindingUnmarkedPage, 0, 0, logical),
            CoreFinding::SharedPage { inode, logical } => (FindingSharedPage, inode, 0, logical),
            CoreFinding::DirtyEnd { inode } => (FindingDirtyEnd, inode, 0, 0),
            CoreFinding::BadList => (FindingBadList, 0, 0, 0),
            CoreFinding::InDoubt { inode } => (FindingInDoubt, inode, 0, 0),
            CoreFinding::LostChanges { inodes } => (FindingLostChanges, inodes, 0, 0),
            _ => (FindingOther, 0, 0, 0),
        };
        Self { kind: kind as u8, inode, directory, page }
    }
}

/// Extent and result of a check.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// Files.
    pub files: u32,
    /// Directories, the root included.
    pub directories: u32,
    /// Logical pages of files and directories.
    pub pages: u32,
    /// Pages of files' data that cannot be read.
    pub unreadable: u32,
    /// Findings, including mended ones.
    pub findings: u32,
    /// Findings that were mended.
    pub mended: u32,
}

/// Runs a check or a repair: the common part of `steadyfs_fs_check` and `steadyfs_fs_repair`.
unsafe fn look(
    fs: *mut Fs,
    scratch: (*mut c_void, usize),
    report: Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding)>,
    context: *mut c_void,
    checked: *mut CheckReport,
    call: impl FnOnce(
        &mut Mounted,
        &mut [u8],
        &mut dyn FnMut(CoreFinding),
    ) -> Result<steadyfs::CheckReport, steadyfs::Error>,
) -> c_int {
    let mut tell = |finding: CoreFinding| {
        if let Some(report) = report {
            // SAFETY: The caller of the library guarantees that `report` may be called with this
            // context.
            unsafe { report(context, &finding.into()) };
        }
    };
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes_mut(scratch.0, scratch.1).and_then(|scratch| {
            let found = enter(fs, |fs| call(fs, scratch, &mut tell))?;
            let steadyfs::CheckReport { files, directories, pages, unreadable, findings, mended } =
                found;
            if !checked.is_null() {
                pointers::put(
                    checked,
                    CheckReport {
                        files,
                        directories,
                        pages,
                        unreadable,
                        findings,
                        mended: mended.total(),
                    },
                )?;
            }
            Ok(())
        })
    };
    status(result)
}

/// Verifies every page and every reference of the volume, and calls `report` for each fault, if
/// it is not null. With `repair`, mends the faults that can be mended, each in its own
/// transaction, and commits earlier changes first. Close all files before the call. `checked`
/// may be null.
///
/// Power loss: mended faults stay mended. Cost: reads the whole volume. Errors:
/// STEADYFS_ERR_NOMEM if `scratch` has fewer bytes than steadyfs_check_bytes, STEADYFS_ERR_IO;
/// with `repair` the errors of a commit. Damage is a finding, not an error.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_check(
    fs: *mut Fs,
    scratch: *mut c_void,
    scratch_bytes: usize,
    repair: bool,
    report: Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding)>,
    context: *mut c_void,
    checked: *mut CheckReport,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        look(fs, (scratch, scratch_bytes), report, context, checked, |fs, scratch, report| {
            fs.check(scratch, repair, report)
        })
    }
}

/// Accepts the damage as lost data, checks the volume, and mends the consequences, so that the
/// volume can be changed again. Does nothing if nothing is missing: see steadyfs_damage.
///
/// Power loss: the volume can only be read until a repair ends. A repair that was cut is begun
/// again. Cost: a mount, and a check with `repair`. Errors: STEADYFS_ERR_CORRUPT if the loss
/// cannot be mended. STEADYFS_ERR_READONLY if the volume was mounted for reading, or if the
/// damage was found after the mount. The errors of steadyfs_fs_check.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_repair(
    fs: *mut Fs,
    scratch: *mut c_void,
    scratch_bytes: usize,
    report: Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding)>,
    context: *mut c_void,
    checked: *mut CheckReport,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        look(fs, (scratch, scratch_bytes), report, context, checked, |fs, scratch, report| {
            fs.repair(scratch, report)
        })
    }
}
