//! The volume as a whole: its space, idle work, health, verification.

use crate::error::{Code, status, wide, yes_or_no};
use crate::pointers;
use crate::volume::{Fs, Mounted, ask, enter};
use core::ffi::{c_int, c_void};
use steadyfs::{Budget, Damage as CoreDamage, Finding as CoreFinding};

/// What a volume is and holds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FsInfo {
    /// Version of the format on the medium.
    pub disk_version: u32,
    /// Bytes in which room is taken: a logical page.
    pub block_size: u32,
    /// Logical pages that may hold data: usable_bytes / block_size.
    pub block_count: u32,
    /// Bytes of a name at most.
    pub name_max: u32,
    /// Bytes of a file at most.
    pub file_max: u64,
    /// Bytes that all attributes of a file may take together, two for each beside key and value.
    pub attr_max: u32,
    /// Files and directories that there may be.
    pub files_max: u32,
    /// Files, directories, long names and sets of attributes that there are.
    pub files: u32,
    /// Room for data, taken and free, in bytes.
    pub usable_bytes: u64,
    /// Taken, in bytes. The pages of removed files are part of it, though writes find them: steadyfs_fs_free.
    pub used_bytes: u64,
}

/// Tells what a volume is and holds. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_stat(fs: *mut Fs, info: *mut FsInfo) -> c_int {
    // SAFETY: As the header says.
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

/// Bytes of the attributes of a file, as the core says.
const ATTRIBUTES_MAX: u32 = 248;

/// Tells how many bytes are taken, as used_bytes of steadyfs_fsinfo does. littlefs counts blocks here. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_size(fs: *mut Fs) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { ask(fs, |fs| fs.usage().used_bytes) })
}

/// Returns the bytes of all free pages, and of those that removed files still hold. It is 0 if no write finds a page.
/// Pages that keep track of data are part of it, so one file may get less: steadyfs_fs_available. Cost: two
/// looks for each removed file that still holds something, and one at each page of its indexes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_free(fs: *mut Fs) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { enter(fs, Mounted::free_bytes) })
}

/// Tells how many bytes the next writes to one file get, whatever else is written: what is free and what removed files still hold,
/// without what keeps track of them. Cost: that of steadyfs_fs_free.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_available(fs: *mut Fs) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { enter(fs, Mounted::available) })
}

/// Prepares the volume in idle time, so that the next `burst_bytes` of writes meet neither reclamation nor erase. Returns 1 where there is
/// nothing left to prepare, else 0.
///
/// It frees the pages of removed files, moves what keeps blocks from being erased, erases blocks, and writes parts of the map, as far as
/// `budget_ns` goes: the time of the medium, by the driver's timing. A durable write of less than a program page counts as one.
///
/// Power loss: what was committed stays; an open transaction stays open. Cost: never more than the budget, when no operation fails.
/// Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_gc(fs: *mut Fs, budget_ns: u64, burst_bytes: u64) -> c_int {
    // SAFETY: As the header says.
    yes_or_no(unsafe { enter(fs, |fs| fs.maintain(Budget::TimeNs(budget_ns), burst_bytes)) })
}

/// Reads data at rest for `budget_ns`, so that pages whose bits have begun to flip are noticed while the ECC still corrects them. Goes on
/// where the last call stopped. Returns 1 where a round through everything is complete, else 0.
///
/// Cost: never more than the budget. Errors: STEADYFS_ERR_IO; STEADYFS_ERR_UNSUPPORTED in a build without the feature `scrub`.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_fs_scrub(fs: *mut Fs, budget_ns: u64) -> c_int {
    // SAFETY: As the header says.
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

/// How the medium is doing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Health {
    /// The volume can only be read, for whatever reason.
    pub read_only: bool,
    /// What it holds does not leave the room that reclamation needs, since so many blocks are bad.
    pub worn_out: bool,
    /// The worst correction since the mount: bits that were wrong.
    pub worst_bits: u8,
    /// Bits that can be corrected; 0 where the driver does not tell.
    pub worst_strength: u8,
    /// Blocks that are bad, those of the maker included.
    pub bad_blocks: u32,
    /// Blocks that may still go bad before the volume shrinks.
    pub spare_blocks: u32,
    /// Blocks whose data is to move because their pages needed many corrections.
    pub weak_blocks: u32,
    /// Erases of the least worn block since the first format.
    pub erases_min: u32,
    /// Erases of the most worn block.
    pub erases_max: u32,
    /// Blocks that erases_total is of.
    pub blocks: u32,
    /// Erases of all blocks that are in use.
    pub erases_total: u64,
    /// Reads since the mount.
    pub reads: u32,
    /// Reads since the mount that needed a correction.
    pub corrected_reads: u32,
    /// Reads since the mount that could not be corrected.
    pub lost_reads: u32,
}

/// Tells how the medium is doing. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_health(fs: *mut Fs, health: *mut Health) -> c_int {
    // SAFETY: As the header says.
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

/// What a mount found missing, or since then the write-back of a part of the map. The volume can only be read until steadyfs_fs_repair.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Everything is there.
    DamageNone = 0,
    /// The newest root can be read nowhere. What was committed since the one before may be missing.
    DamageRoot = 1,
    /// A record since the newest root can be read no more.
    DamageRecord = 2,
    /// The newest journal page can be read no more: the small changes that it held are missing, on a volume with few files perhaps all since the format.
    DamageJournal = 3,
    /// A repair was begun that has not ended.
    DamageRepair = 4,
    /// A page of the file system's own tables can be read no more.
    DamageTables = 5,
    /// A leaf of the map can be read no more: pages that it maps are STEADYFS_ERR_CORRUPT until they are written anew.
    DamageLeaf = 6,
    /// Another one, that this version of the header does not know.
    DamageOther = 7,
}

/// Tells what is missing: of enum steadyfs_damage, or an error. Costs nothing.
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
    // SAFETY: As the header says.
    let result = unsafe { ask(fs, |fs| number(fs.damage())) };
    result.map_or_else(Code::number, |damage| damage as c_int)
}

/// What a check found.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A page of the file system's own tables cannot be read. Mended by writing it anew without what cannot be read.
    FindingUnreadableTable = 1,
    /// A page of a file or directory cannot be read. One of a directory or an index is mended; one of data stays so until it is written anew.
    FindingUnreadablePage = 2,
    /// An inode that is in use makes no sense. Mended.
    FindingBadInode = 3,
    /// The rest of a long name, or the attributes of a file, are not there. Mended: the file is without, or has another name.
    FindingLostExtension = 4,
    /// A directory names something that is not there, is in another directory, or is named twice. Mended by removing the entry.
    FindingBadEntry = 5,
    /// A directory's counts are wrong. Mended.
    FindingWrongCount = 6,
    /// Nothing names a file or directory. Mended by naming it, or `lost-` and its number in the root.
    FindingLost = 7,
    /// An inode is in use and is marked as free. Mended.
    FindingUnmarkedInode = 8,
    /// An inode is taken and holds nothing. Mended.
    FindingLeakedInode = 9,
    /// A page is taken and belongs to nothing. Mended.
    FindingLeakedPage = 10,
    /// A page belongs to a file and is marked as free. Mended.
    FindingUnmarkedPage = 11,
    /// A page belongs to two files. Mended: the second one is empty then, and in the first one the page cannot be read.
    FindingSharedPage = 12,
    /// Behind the end of a file is what was there before. Mended by cutting it off.
    FindingDirtyEnd = 13,
    /// A list of removed files does not end. Mended by forgetting it.
    FindingBadList = 14,
    /// Another one, that this version of the header does not know.
    FindingOther = 15,
    /// Small changes are lost. This file or directory may be in an earlier state.
    FindingInDoubt = 16,
    /// Small changes are lost. Files may be missing with their names: at most as many as `inode` says.
    FindingLostChanges = 17,
}

/// One finding of a check.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Of enum steadyfs_finding_kind.
    pub kind: u8,
    /// The file or directory; 0 where there is none. LOST_CHANGES has a number of inodes here.
    pub inode: u32,
    /// The directory whose entry or count is wrong; 0 where there is none.
    pub directory: u32,
    /// The logical page; 0 where there is none.
    pub page: u32,
}

impl From<CoreFinding> for Finding {
    fn from(finding: CoreFinding) -> Self {
        use FindingKind::*;
        let (kind, inode, directory, page) = match finding {
            CoreFinding::UnreadableTable { logical } => (FindingUnreadableTable, 0, 0, logical),
            CoreFinding::UnreadablePage { inode, logical } => (FindingUnreadablePage, inode, 0, logical),
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

/// What a check looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Files.
    pub files: u32,
    /// Directories, the root included.
    pub directories: u32,
    /// Logical pages of files and directories.
    pub pages: u32,
    /// Pages of files' data that cannot be read.
    pub unreadable: u32,
    /// Findings, those that were mended included.
    pub findings: u32,
    /// Findings that were mended.
    pub mended: u32,
}

/// What `steadyfs_fs_check` and `steadyfs_fs_repair` share.
unsafe fn look(
    fs: *mut Fs,
    scratch: (*mut c_void, usize),
    report: Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding)>,
    context: *mut c_void,
    checked: *mut Checked,
    call: impl FnOnce(&mut Mounted, &mut [u8], &mut dyn FnMut(CoreFinding)) -> Result<steadyfs::Checked, steadyfs::Error>,
) -> c_int {
    let mut tell = |finding: CoreFinding| {
        if let Some(report) = report {
            // SAFETY: The caller of the library says that it may be called with this context.
            unsafe { report(context, &finding.into()) };
        }
    };
    // SAFETY: As the header says.
    let result = unsafe {
        pointers::bytes_mut(scratch.0, scratch.1).and_then(|scratch| {
            let found = enter(fs, |fs| call(fs, scratch, &mut tell))?;
            let steadyfs::Checked { files, directories, pages, unreadable, findings, mended } = found;
            if !checked.is_null() {
                pointers::put(checked, Checked { files, directories, pages, unreadable, findings, mended: mended.total() })?;
            }
            Ok(())
        })
    };
    status(result)
}

/// Verifies every page and every reference of the volume, and calls `report` (or not, where it is null) for each fault. With `repair`,
/// mends those that can be mended, each in a transaction of its own, and commits what was open before. Close all files first. `checked`
/// may be null.
///
/// Power loss: what was mended stays mended. Cost: reads the whole volume. Errors: STEADYFS_ERR_NOMEM where `scratch` has fewer bytes than
/// steadyfs_check_bytes, STEADYFS_ERR_IO; with `repair` those of a commit. Damage is a finding, not an error.
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
    checked: *mut Checked,
) -> c_int {
    // SAFETY: As the header says.
    unsafe {
        look(fs, (scratch, scratch_bytes), report, context, checked, |fs, scratch, report| fs.check(scratch, repair, report))
    }
}

/// Accepts what the mount found missing as lost, checks the volume and mends what the loss has left, so that it can be changed again. Does
/// nothing where nothing is missing: steadyfs_damage.
///
/// Power loss: the volume can only be read until a repair ends; one that was cut is begun again. Cost: that of a mount and of a check with
/// `repair`. Errors: STEADYFS_ERR_CORRUPT where what is lost cannot be mended, STEADYFS_ERR_READONLY where the volume was mounted for
/// reading, those of steadyfs_fs_check.
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
    checked: *mut Checked,
) -> c_int {
    // SAFETY: As the header says.
    unsafe { look(fs, (scratch, scratch_bytes), report, context, checked, |fs, scratch, report| fs.repair(scratch, report)) }
}
