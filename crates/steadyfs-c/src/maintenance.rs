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
    /// Number of bytes of the unit of allocation: a logical page.
    pub block_size: u32,
    /// Number of logical pages that may hold data: usable_bytes / block_size.
    pub block_count: u32,
    /// Maximum number of bytes of a name.
    pub name_max: u32,
    /// Maximum number of bytes of a file.
    pub file_max: u64,
    /// Maximum number of bytes of all attributes of a file together. An attribute takes the bytes
    /// of its key and its value, and two more bytes.
    pub attr_max: u32,
    /// Maximum number of files and directories.
    pub files_max: u32,
    /// Number of files, directories, long names and sets of attributes.
    pub files: u32,
    /// Number of bytes for data, used and free together.
    pub usable_bytes: u64,
    /// Number of used bytes. It includes the pages of removed files, although writes can reuse
    /// these pages: see steadyfs_fs_free.
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

/// Maximum number of bytes of the attributes of a file, as in the core.
const ATTRIBUTES_MAX: u32 = 248;

/// Returns the number of used bytes, which is used_bytes of steadyfs_fsinfo. The call of littlefs
/// returns a number of blocks. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_size(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { ask(fs, |fs| fs.usage().used_bytes) })
}

/// Returns the number of bytes of all free pages, and of the pages that removed files still hold.
/// The result is 0 only if a write finds no page. A part of these pages will hold indexes, so one
/// file can grow by fewer bytes: see steadyfs_fs_available. Cost: two look-ups for each removed
/// file that still holds pages, and one look-up for each page of its indexes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_free(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { enter(fs, Mounted::free_bytes) })
}

/// Returns the number of bytes that the next writes to one file can certainly store. These are the
/// free pages and the pages that removed files still hold, minus the pages for indexes. Cost: as
/// steadyfs_fs_free.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_available(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { enter(fs, Mounted::available) })
}

/// Prepares the volume in idle time, so that the next `burst_bytes` of writes need neither garbage
/// collection nor an erase. Returns 1 if the preparation is complete, else 0.
///
/// The call frees the pages of removed files, moves data out of blocks that shall be erased, erases
/// blocks, and writes parts of the map. It stops before the medium has worked for `budget_ns`,
/// computed from the driver's timing. In `burst_bytes` a durable write that is shorter than a
/// program page counts as a whole page.
///
/// Power loss: committed data is not lost. The call does not end an open transaction. Cost: at most
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

/// Reads data at rest for `budget_ns`, so that flipped bits are found while the ECC still corrects
/// them. The call continues where the last call stopped. Returns 1 if a round through all data is
/// complete, else 0.
///
/// This call moves no data. Later calls that change the volume move the data of weak pages, and so
/// does steadyfs_fs_gc.
///
/// Cost: at most the budget. Errors: STEADYFS_ERR_IO. STEADYFS_ERR_UNSUPPORTED in a build without
/// the feature `scrub`.
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
    /// True if so many blocks are bad that the content leaves too little space for garbage
    /// collection.
    pub worn_out: bool,
    /// Number of wrong bits in the worst correction since the mount.
    pub worst_bits: u8,
    /// Number of bits that the ECC can correct in a codeword. It is 0 if the driver does not report
    /// corrections.
    pub worst_strength: u8,
    /// Number of bad blocks, including factory bad blocks.
    pub bad_blocks: u32,
    /// Number of blocks that may still go bad before the volume shrinks.
    pub spare_blocks: u32,
    /// Number of blocks whose data must be moved because their pages needed many corrections.
    pub weak_blocks: u32,
    /// Number of erases of the least worn block since the first format.
    pub erases_min: u32,
    /// Number of erases of the most worn block since the first format.
    pub erases_max: u32,
    /// Number of blocks whose erases are in erases_total.
    pub blocks: u32,
    /// Total number of erases of all blocks in use.
    pub erases_total: u64,
    /// Number of reads since the mount.
    pub reads: u32,
    /// Number of reads since the mount that needed a correction.
    pub corrected_reads: u32,
    /// Number of reads since the mount that could not be corrected.
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

/// Damage that a mount found, or that a later write-back of a part of the map found. The volume can
/// only be read until steadyfs_fs_repair.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The volume has no damage.
    DamageNone = 0,
    /// No copy of the newest root can be read. Changes that were committed since the root before
    /// it may be missing.
    DamageRoot = 1,
    /// A journal record that was written after the newest root can no longer be read.
    DamageRecord = 2,
    /// The newest journal page can no longer be read, so the small changes in it are missing. On a
    /// volume with few files these may be all small changes since the format.
    DamageJournal = 3,
    /// A repair began and did not end.
    DamageRepair = 4,
    /// A page of the file system's own tables can no longer be read.
    DamageTables = 5,
    /// A leaf of the map can no longer be read. Reads of its pages return STEADYFS_ERR_CORRUPT
    /// until these pages are written again.
    DamageLeaf = 6,
    /// Damage that this version of the header does not list.
    DamageOther = 7,
}

/// Returns the damage, a value of enum steadyfs_damage_kind, or an error. Costs nothing.
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
    /// A page of the file system's own tables cannot be read. Repair: the page is written again
    /// without the unreadable part.
    FindingUnreadableTable = 1,
    /// A page of a file or directory cannot be read. Repair: a page of a directory or an index is
    /// mended. A page of data stays unreadable until it is written again.
    FindingUnreadablePage = 2,
    /// An inode in use is invalid. A repair mends it.
    FindingBadInode = 3,
    /// The rest of a long name, or the attributes of a file, are missing. Repair: the file then has
    /// no attributes, or another name.
    FindingLostExtension = 4,
    /// An entry of a directory leads to an object that is missing, or that belongs to another
    /// directory. Or two entries lead to the same object. Repair: the entry is removed.
    FindingBadEntry = 5,
    /// The counts in a directory are wrong. A repair mends them.
    FindingWrongCount = 6,
    /// No directory has an entry for this file or directory. Repair: it receives its old name, or
    /// an entry in the root. The name of this entry is `lost-` and the object's number.
    FindingLost = 7,
    /// An inode is in use but marked as free. A repair mends this.
    FindingUnmarkedInode = 8,
    /// An inode is marked as used but empty. A repair mends this.
    FindingLeakedInode = 9,
    /// A page is marked as used but belongs to no file. A repair mends this.
    FindingLeakedPage = 10,
    /// A page belongs to a file but is marked as free. A repair mends this.
    FindingUnmarkedPage = 11,
    /// A page belongs to two files. Repair: the second file is then empty, and the page of the
    /// first file cannot be read.
    FindingSharedPage = 12,
    /// Old data lies behind the end of a file. Repair: this data is removed.
    FindingDirtyEnd = 13,
    /// A list of removed files has no end. Repair: the list is discarded.
    FindingBadList = 14,
    /// A finding that this version of the header does not list.
    FindingOther = 15,
    /// Small changes were lost. This file or directory may have an earlier state.
    FindingInDoubt = 16,
    /// Small changes were lost. Up to `inode` files may be missing, together with their names.
    FindingLostChanges = 17,
}

/// One finding of a check.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A value of enum steadyfs_finding_kind.
    pub kind: u8,
    /// Inode number of the file or directory: 0 is the root. These kinds have no inode, and store
    /// 0: UNREADABLE_TABLE, WRONG_COUNT, LEAKED_PAGE, UNMARKED_PAGE, BAD_LIST, OTHER. For
    /// LOST_CHANGES it is a number of inodes.
    pub inode: u32,
    /// Inode number of the directory whose entry or count is wrong: 0 is the root. Only BAD_ENTRY
    /// and WRONG_COUNT have a directory. Other kinds store 0.
    pub directory: u32,
    /// Number of the logical page. Only UNREADABLE_TABLE, UNREADABLE_PAGE, LEAKED_PAGE,
    /// UNMARKED_PAGE and SHARED_PAGE have a page. Other kinds store 0.
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
    /// Number of files.
    pub files: u32,
    /// Number of directories, including the root.
    pub directories: u32,
    /// Number of logical pages of files and directories.
    pub pages: u32,
    /// Number of data pages of files that cannot be read.
    pub unreadable: u32,
    /// Number of findings, including mended findings.
    pub findings: u32,
    /// Number of findings that were mended.
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
/// `report` is not null. If `repair` is true, first commits earlier changes, and mends each fault
/// that can be mended in its own transaction. Close all files before the call. `checked` may be
/// null.
///
/// Power loss: mended faults stay mended. Cost: the call reads the whole volume. Errors:
/// STEADYFS_ERR_NOMEM if `scratch` has fewer bytes than steadyfs_check_bytes, and STEADYFS_ERR_IO.
/// If `repair` is true, also the errors of a commit. Damage is a finding, not an error.
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
/// volume can be changed again. Does nothing if the volume has no damage: see steadyfs_damage.
///
/// Power loss: the volume can only be read until a repair ends. After a power cut during the
/// repair, the repair begins again. Cost: a mount, and a steadyfs_fs_check with `repair`. Errors:
/// STEADYFS_ERR_CORRUPT if the loss cannot be mended. STEADYFS_ERR_READONLY if the volume was
/// mounted for reading, or if the damage was found after the mount. The errors of
/// steadyfs_fs_check.
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
