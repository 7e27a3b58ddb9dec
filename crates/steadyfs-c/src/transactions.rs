//! Durability of changes: commits, rollback, time.

use crate::config::events;
use crate::error::{Code, status, wide, yes_or_no};
use crate::volume::{Fs, Mounted, ask, enter};
use core::ffi::{c_int, c_void};
use steadyfs::{Change, CommitOn};

/// Makes all changes durable, for any value of commit_on.
///
/// Power loss: the volume contains all changes since the last commit, across files and directories,
/// or none of them. Cost: steadyfs_bound_commit, or nothing if there are no changes. Errors:
/// STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING,
/// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_commit(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { enter(fs, Mounted::commit) })
}

/// If STEADYFS_COMMIT_SYNC is set, as it is by default, commits as steadyfs_commit does.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_sync(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { enter(fs, |fs| fs.sync(CommitOn::SYNC)) })
}

/// Undoes all changes since the last commit. Handles of files that were created after the last
/// commit become stale: STEADYFS_ERR_STALE.
///
/// Power loss: a power cut undoes the same changes. Cost: steadyfs_bound_rollback. Errors:
/// STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_UNKNOWN. After an error nothing has changed.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rollback(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { enter(fs, Mounted::rollback) })
}

/// Returns 1 if changes wait for a commit, else 0. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_has_changes(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    yes_or_no(unsafe { ask(fs, |fs| fs.has_changes()) })
}

/// Returns the number of bytes that one write or append can certainly add to the open transaction.
/// On a new volume this is the size of a whole transaction. On a volume in use it can be much less,
/// even 0 right after steadyfs_commit, because it assumes the worst case. A write may fit all the
/// same: only STEADYFS_ERR_TRANSACTION means that there is no room.
///
/// A call that does not fit is refused with STEADYFS_ERR_TRANSACTION, and changes nothing. But a
/// write of more than one logical page may have written its first pages: call steadyfs_rollback. If
/// STEADYFS_COMMIT_FULL is set, the volume commits instead. All presets except
/// STEADYFS_COMMIT_MANUAL contain this event. More transaction_pages make transactions larger.
/// Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_transaction_room(fs: *mut Fs) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { ask(fs, |fs| u64::from(fs.transaction_room().bytes)) })
}

/// Sets the events after which the volume commits: see commit_on of steadyfs_config. Costs nothing.
/// Errors: STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_set_commit_on(fs: *mut Fs, commit_on: u16) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { events(commit_on).and_then(|events| ask(fs, |fs| fs.set_commit_on(events))) })
}

/// Sets the volume's time: nanoseconds since 1970, or the time of any clock that never goes back.
/// The volume stores this time with each change. If no time was set, changes have no time, and an
/// overwrite through a durable handle costs one program less. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_set_time(fs: *mut Fs, now_ns: u64) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { ask(fs, |fs| fs.set_time(now_ns)) })
}

/// Sets the time, and makes the commit of STEADYFS_COMMIT_TIMED if it is due. Returns the time at
/// which the next call is due, or 0 if no change waits for a commit.
///
/// Power loss, cost, errors: if the call commits, as steadyfs_commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_poll(fs: *mut Fs, now_ns: u64) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { enter(fs, |fs| fs.poll(now_ns).map(Option::unwrap_or_default)) })
}

/// Events that an observer receives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A file or directory was created.
    EventCreated = 1,
    /// The bytes, the size or the attributes of a file were changed.
    EventUpdated = 2,
    /// A file or directory was renamed.
    EventRenamed = 3,
    /// A file or directory was removed.
    EventRemoved = 4,
    /// All changes since the last commit were undone. The inode is 0.
    EventRolledBack = 5,
}

/// Number of pointer-sized words of steadyfs_observer_t.
pub const STEADYFS_OBSERVER_WORDS: usize = 2;

/// Memory of the caller for an observer. It must remain valid until the unmount.
#[repr(C)]
pub struct Observer {
    /// Not for the caller.
    pub opaque: [usize; STEADYFS_OBSERVER_WORDS],
}

/// A pointer that the caller passes with a callback. The caller guarantees that any thread of
/// the volume may use it.
struct Context(*mut c_void);
// SAFETY: The volume takes one call at a time, and uses the pointer only in such a call. The caller
// chooses the thread of the call.
unsafe impl Send for Context {}

/// Calls `changed` after every change of the volume, within the call that makes the change.
/// `changed` must not call the volume. A later observer replaces the earlier observer. Bounds do
/// not include the time of `changed`. Errors: STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_observe(
    fs: *mut Fs,
    observer: *mut Observer,
    changed: Option<unsafe extern "C" fn(context: *mut c_void, event: c_int, inode: u32)>,
    context: *mut c_void,
) -> c_int {
    let Some(changed) = changed else { return Code::ErrInval.number() };
    let context = Context(context);
    let observe = move |change: Change| {
        let Context(context) = { &context };
        let (event, inode) = match change {
            Change::Created(inode) => (Event::EventCreated, inode),
            Change::Updated(inode) => (Event::EventUpdated, inode),
            Change::Renamed(inode) => (Event::EventRenamed, inode),
            Change::Removed(inode) => (Event::EventRemoved, inode),
            Change::RolledBack => (Event::EventRolledBack, 0),
            _ => return,
        };
        // SAFETY: The caller of the library guarantees that `changed` may be called with this
        // context.
        unsafe { changed(*context, event as c_int, inode) };
    };
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe {
        enter(fs, |fs| keep(observer, observe).map(|observer| fs.set_observer(observer)))
    })
}

/// Writes an observer to its memory.
///
/// # Safety
/// `memory` is null, or no other code uses it until the unmount.
unsafe fn keep<O: FnMut(Change) + Send>(
    memory: *mut Observer,
    observer: O,
) -> Result<&'static mut O, Code> {
    const {
        assert!(
            size_of::<O>() <= size_of::<Observer>() && align_of::<O>() <= align_of::<Observer>()
        )
    };
    let memory: *mut O = memory.cast();
    if memory.is_null() || !memory.is_aligned() {
        return Err(Code::ErrInval);
    }
    // SAFETY: The memory is aligned and large enough. The caller meets the other conditions.
    unsafe {
        memory.write(observer);
        Ok(&mut *memory)
    }
}
