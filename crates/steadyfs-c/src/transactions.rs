//! When changes become durable: commits, rollback, time.

use crate::config::events;
use crate::error::{Code, status, wide, yes_or_no};
use crate::volume::{Fs, Mounted, ask, enter};
use core::ffi::{c_int, c_void};
use steadyfs::Change;

/// Makes all changes durable, whatever events were chosen.
///
/// Power loss: all changes since the last commit are there, across files and directories, or none. Cost: steadyfs_bound_commit; nothing
/// where nothing has changed. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING,
/// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_commit(fs: *mut Fs) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { enter(fs, Mounted::commit) })
}

/// As steadyfs_commit, where STEADYFS_COMMIT_SYNC is chosen, as it is by default.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_sync(fs: *mut Fs) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { enter(fs, Mounted::sync) })
}

/// Undoes all changes since the last commit. Handles of files that were created since are stale then: STEADYFS_ERR_STALE.
///
/// Power loss: a cut undoes the same changes. Cost: a read of the journal page (of all records of its block on NOR), those of the
/// allocation map, and two looks for each open file. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_UNKNOWN: nothing has
/// changed.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rollback(fs: *mut Fs) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { enter(fs, Mounted::rollback) })
}

/// Tells whether changes wait for a commit: 1 or 0. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_has_changes(fs: *mut Fs) -> c_int {
    // SAFETY: As the header says.
    yes_or_no(unsafe { ask(fs, |fs| fs.has_changes()) })
}

/// Returns how many bytes one write or append surely takes before the open transaction is full. After
/// steadyfs_commit this is the room of a whole transaction.
///
/// A call that does not fit is refused with STEADYFS_ERR_TRANSACTION, and nothing has changed. With
/// STEADYFS_COMMIT_FULL, which the presets but STEADYFS_COMMIT_MANUAL contain, the volume commits instead.
/// More transaction_pages give more room. Costs nothing. Errors: those of a wrong handle.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_transaction_room(fs: *mut Fs) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { ask(fs, |fs| u64::from(fs.transaction_room().bytes)) })
}

/// Chooses the events after which the volume commits: commit_on of steadyfs_config. Costs nothing. Errors: STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_set_commit_on(fs: *mut Fs, commit_on: u16) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { events(commit_on).and_then(|events| ask(fs, |fs| fs.set_commit_on(events))) })
}

/// Tells the volume the time: nanoseconds since 1970, or of any clock that does not go back. Changes are stamped with it. Without it they
/// are not, and an overwrite through a durable handle costs one program less. Costs nothing.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_set_time(fs: *mut Fs, now_ns: u64) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { ask(fs, |fs| fs.set_time(now_ns)) })
}

/// Tells the time, and makes the commit of STEADYFS_COMMIT_TIMED if it is due. Returns when to call next; 0 where nothing waits.
///
/// Power loss, cost, errors: as steadyfs_commit, when it makes one.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_poll(fs: *mut Fs, now_ns: u64) -> i64 {
    // SAFETY: As the header says.
    wide(unsafe { enter(fs, |fs| fs.poll(now_ns).map(Option::unwrap_or_default)) })
}

/// What an observer is told of.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A file or directory was created.
    EventCreated = 1,
    /// A file's bytes or size, or attributes, were changed.
    EventUpdated = 2,
    /// A file or directory has another name.
    EventRenamed = 3,
    /// A file or directory was removed.
    EventRemoved = 4,
    /// Everything since the last commit was undone; its inode is 0.
    EventRolledBack = 5,
}

/// Words of steadyfs_observer_t.
pub const STEADYFS_OBSERVER_WORDS: usize = 2;

/// Memory of the caller's for an observer. It stays until the unmount.
#[repr(C)]
pub struct Observer {
    /// Not for the caller.
    pub opaque: [usize; STEADYFS_OBSERVER_WORDS],
}

/// A pointer that the caller gives with a function, and says may be used where the volume is.
struct Context(*mut c_void);
// SAFETY: The volume takes one call at a time, and calls from nowhere else; which thread that is in is the caller's choice.
unsafe impl Send for Context {}

/// Lets `changed` be told of every change of the volume, in the call that makes it and after it was made. It must not call the volume. A
/// later observer takes the place of an earlier one. Its time is in no bound. Errors: STEADYFS_ERR_INVAL.
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
        // SAFETY: The caller of the library says that it may be called with this context.
        unsafe { changed(*context, event as c_int, inode) };
    };
    // SAFETY: As the header says.
    status(unsafe { enter(fs, |fs| keep(observer, observe).map(|observer| fs.set_observer(observer))) })
}

/// Puts an observer into the memory for it.
///
/// # Safety
/// `memory` is null, or nobody else uses it until the unmount.
unsafe fn keep<O: FnMut(Change) + Send>(memory: *mut Observer, observer: O) -> Result<&'static mut O, Code> {
    const { assert!(size_of::<O>() <= size_of::<Observer>() && align_of::<O>() <= align_of::<Observer>()) };
    let memory: *mut O = memory.cast();
    if memory.is_null() || !memory.is_aligned() {
        return Err(Code::ErrInval);
    }
    // SAFETY: It is aligned and large enough; the caller says the rest.
    unsafe {
        memory.write(observer);
        Ok(&mut *memory)
    }
}
