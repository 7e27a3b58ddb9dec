//! Memory of C that contains an object, such as a mounted volume or a mounted image. This module
//! defines the content of this memory, and access to it.

use crate::error::Code;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

/// Memory of C that contains an object. One call, such as a mount, creates the object, and another
/// call ends it.
pub(crate) trait Object: Sized {
    /// The content of the memory.
    type Content;
    /// Value of `state` while the memory contains an object.
    const STATE: u32;
}

/// Content of the memory.
#[repr(C)]
pub(crate) struct Slot<T> {
    state: u32,
    /// Number of the mount. A handle of an earlier mount has another number.
    serial: u32,
    pub content: MaybeUninit<T>,
}

/// Value of `state` while a call is in progress.
const BUSY: u32 = 0x7964_7442;

/// Returns a number for a mount, which differs from earlier mounts. Only two mounts of two volumes
/// at the same time may get the same number.
fn next_serial() -> u32 {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    // Not `fetch_add`, which the smallest processors lack.
    let serial = SERIAL.load(Ordering::Relaxed).wrapping_add(1);
    SERIAL.store(serial, Ordering::Relaxed);
    serial
}

/// The object and the mount to which a handle belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    object: *const (),
    serial: u32,
}

/// Returns true if the memory is large enough for the content. In the library it is always large
/// enough. If this crate is built together with other crates, their features may make the decoder
/// of a mounted image larger.
pub(crate) const fn fits<O: Object>() -> bool {
    size_of::<Slot<O::Content>>() <= size_of::<O>()
        && align_of::<Slot<O::Content>>() <= align_of::<O>()
}

/// Returns a pointer to the content of the memory.
fn place<O: Object>(object: *mut O) -> Result<*mut Slot<O::Content>, Code> {
    if !fits::<O>() {
        return Err(Code::ErrUnsupported);
    }
    let slot: *mut Slot<O::Content> = object.cast();
    if slot.is_null() || !slot.is_aligned() { Err(Code::ErrInval) } else { Ok(slot) }
}

/// Marks the memory as empty. Before this call it may hold any bytes.
///
/// # Safety
/// `object` is null, or valid for writes.
pub(crate) unsafe fn clear<O: Object>(object: *mut O) -> Result<*mut Slot<O::Content>, Code> {
    let slot = place(object)?;
    // SAFETY: The pointer is aligned, and its target belongs to the caller.
    unsafe { (&raw mut (*slot).state).write(0) };
    Ok(slot)
}

/// Marks the memory as filled with the content that was written to it.
///
/// # Safety
/// `slot` points to the memory of an `O`, and its content has been written.
pub(crate) unsafe fn set<O: Object>(slot: *mut Slot<O::Content>) {
    // SAFETY: The pointer is aligned, and its target belongs to the caller.
    unsafe {
        (&raw mut (*slot).serial).write(next_serial());
        (&raw mut (*slot).state).write(O::STATE);
    }
}

/// Calls `call` with the content of the memory.
///
/// # Safety
/// `object` is null, or points to an object on which no other thread makes a call.
pub(crate) unsafe fn with<O: Object, T>(
    object: *mut O,
    call: impl FnOnce(&mut O::Content, Owner) -> Result<T, Code>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions of this function.
    let (content, owner) = unsafe { enter(object) }?;
    let result = call(content, owner);
    // SAFETY: `enter` has checked the object, and the call borrowed its content without the
    // state.
    unsafe { (*object.cast::<Slot<O::Content>>()).state = O::STATE };
    result
}

/// Takes the content out of the memory.
///
/// # Safety
/// The conditions of [`with`].
pub(crate) unsafe fn take<O: Object>(object: *mut O) -> Result<O::Content, Code> {
    // SAFETY: The caller meets the conditions of this function. The content is moved out, and
    // the cleared state prevents a second use.
    unsafe {
        let (content, _) = enter(object)?;
        let content = core::ptr::read(content);
        (*object.cast::<Slot<O::Content>>()).state = 0;
        Ok(content)
    }
}

/// Begins a call, and refuses other calls until it ends. Not inlined, because every function
/// begins with it.
///
/// # Safety
/// The conditions of [`with`].
#[inline(never)]
unsafe fn enter<'a, O: Object>(object: *mut O) -> Result<(&'a mut O::Content, Owner), Code> {
    let slot = place(object)?;
    // SAFETY: The pointer is not null and is aligned. A call in progress does not borrow the state.
    let (state, serial) = unsafe { ((*slot).state, (*slot).serial) };
    match state {
        _ if state == O::STATE => {}
        BUSY => return Err(Code::ErrBusy),
        _ => return Err(Code::ErrNotmounted),
    }
    // SAFETY: The reasons are the same as above.
    unsafe { (*slot).state = BUSY };
    // SAFETY: The content was written before the state was set. Nothing else borrows it, since
    // the state was not busy.
    Ok((
        unsafe { (*slot).content.assume_init_mut() },
        Owner { object: object.cast_const().cast(), serial },
    ))
}
