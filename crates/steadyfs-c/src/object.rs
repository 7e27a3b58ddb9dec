//! Memory of C that holds something: a mounted volume, a mounted image. What it holds, and the way into it.

use crate::error::Code;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

/// Memory of C in which something lies from one call, such as a mount, to another one.
pub(crate) trait Object: Sized {
    /// What lies there.
    type Content;
    /// What says that it does.
    const STATE: u32;
}

/// What is in the memory.
#[repr(C)]
pub(crate) struct Slot<T> {
    state: u32,
    /// That of the mount, so that a handle of an earlier one is known.
    serial: u32,
    pub content: MaybeUninit<T>,
}

/// A call is in progress.
const BUSY: u32 = 0x7964_7442;

/// A number for a mount that no other has. Two at the same time may get the same one, for two volumes.
fn next_serial() -> u32 {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    // Not `fetch_add`, which the smallest processors lack.
    let serial = SERIAL.load(Ordering::Relaxed).wrapping_add(1);
    SERIAL.store(serial, Ordering::Relaxed);
    serial
}

/// Which mount of which object a handle is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    object: *const (),
    serial: u32,
}

/// Whether the memory is large enough for what lies there: always in the library. Where a build of other crates beside it turns features of theirs on, what a mounted image decodes
/// with may be larger.
pub(crate) const fn fits<O: Object>() -> bool {
    size_of::<Slot<O::Content>>() <= size_of::<O>() && align_of::<Slot<O::Content>>() <= align_of::<O>()
}

/// The place of what is in the memory.
fn place<O: Object>(object: *mut O) -> Result<*mut Slot<O::Content>, Code> {
    if !fits::<O>() {
        return Err(Code::ErrUnsupported);
    }
    let slot: *mut Slot<O::Content> = object.cast();
    if slot.is_null() || !slot.is_aligned() { Err(Code::ErrInval) } else { Ok(slot) }
}

/// Says that the memory holds nothing, whatever was there.
///
/// # Safety
/// `object` is null or may be written.
pub(crate) unsafe fn clear<O: Object>(object: *mut O) -> Result<*mut Slot<O::Content>, Code> {
    let slot = place(object)?;
    // SAFETY: The place is aligned, and the caller's to give.
    unsafe { (&raw mut (*slot).state).write(0) };
    Ok(slot)
}

/// Says that the memory holds what was written to its content.
///
/// # Safety
/// `slot` is the place of an `O`, and its content has been written.
pub(crate) unsafe fn set<O: Object>(slot: *mut Slot<O::Content>) {
    // SAFETY: The place is aligned, and the caller's to give.
    unsafe {
        (&raw mut (*slot).serial).write(next_serial());
        (&raw mut (*slot).state).write(O::STATE);
    }
}

/// Makes a call of what the memory holds.
///
/// # Safety
/// `object` is null or points to an object of which no other thread makes a call.
pub(crate) unsafe fn with<O: Object, T>(
    object: *mut O,
    call: impl FnOnce(&mut O::Content, Owner) -> Result<T, Code>,
) -> Result<T, Code> {
    // SAFETY: As the caller says.
    let (content, owner) = unsafe { enter(object) }?;
    let result = call(content, owner);
    // SAFETY: It was there a moment ago, and the state is no part of what was borrowed.
    unsafe { (*object.cast::<Slot<O::Content>>()).state = O::STATE };
    result
}

/// Takes what the memory holds out of it.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn take<O: Object>(object: *mut O) -> Result<O::Content, Code> {
    // SAFETY: As the caller says; the content is moved out, and the state says so before anybody could use it again.
    unsafe {
        let (content, _) = enter(object)?;
        let content = core::ptr::read(content);
        (*object.cast::<Slot<O::Content>>()).state = 0;
        Ok(content)
    }
}

/// Begins a call, so that no other one begins meanwhile. Not inlined: every function begins with it.
///
/// # Safety
/// As [`with`].
#[inline(never)]
unsafe fn enter<'a, O: Object>(object: *mut O) -> Result<(&'a mut O::Content, Owner), Code> {
    let slot = place(object)?;
    // SAFETY: It is not null and aligned; the state is no part of what a call in progress borrows.
    let (state, serial) = unsafe { ((*slot).state, (*slot).serial) };
    match state {
        _ if state == O::STATE => {}
        BUSY => return Err(Code::ErrBusy),
        _ => return Err(Code::ErrNotmounted),
    }
    // SAFETY: As above.
    unsafe { (*slot).state = BUSY };
    // SAFETY: Who set the state has written it, and nobody else borrows it, since it was not busy.
    Ok((unsafe { (*slot).content.assume_init_mut() }, Owner { object: object.cast_const().cast(), serial }))
}
