//! Open files in memory of C: the content of their handles, and access to it.

use crate::error::Code;
use crate::object::{Object, Owner, with};
use core::ffi::c_int;
use core::mem::MaybeUninit;

/// Memory of C for an open file or an open directory.
pub(crate) trait Handle: Sized {
    /// The object on which the file is open.
    type On: Object;
    /// The open file.
    type Content;
    /// Value of `state` in the memory while a file is open.
    const STATE: u32;
}

/// Content of the memory.
#[repr(C)]
struct Open<T> {
    state: u32,
    owner: Owner,
    position: u64,
    flags: c_int,
    content: MaybeUninit<T>,
}

/// Returns a pointer to the content of the memory.
fn place<H: Handle>(file: *mut H) -> Result<*mut Open<H::Content>, Code> {
    const {
        assert!(
            size_of::<Open<H::Content>>() <= size_of::<H>()
                && align_of::<Open<H::Content>>() <= align_of::<H>()
        );
    }
    let open: *mut Open<H::Content> = file.cast();
    if open.is_null() || !open.is_aligned() { Err(Code::ErrInval) } else { Ok(open) }
}

/// Opens a file and writes its handle.
///
/// # Safety
/// The conditions of [`with`]. `file` is null, or valid for writes.
pub(crate) unsafe fn open<H: Handle>(
    on: *mut H::On,
    file: *mut H,
    flags: c_int,
    open: impl FnOnce(&mut <H::On as Object>::Content) -> Result<H::Content, Code>,
) -> Result<(), Code> {
    let handle = place(file)?;
    // SAFETY: The pointer is not null, is aligned, and its target belongs to the caller.
    unsafe { (&raw mut (*handle).state).write(0) };
    // SAFETY: The caller meets the conditions of this function.
    unsafe {
        with(on, |on, owner| {
            let content = MaybeUninit::new(open(on)?);
            handle.write(Open { state: H::STATE, owner, position: 0, flags, content });
            Ok(())
        })
    }
}

/// Calls `call` with an open file, its position, and the flags with which it was opened. Refuses a
/// handle that belongs to another volume or another mount.
///
/// # Safety
/// The conditions of [`with`]. `file` is null or points to a handle that no other thread uses.
pub(crate) unsafe fn with_handle<H: Handle, T>(
    on: *mut H::On,
    file: *mut H,
    call: impl FnOnce(
        &mut <H::On as Object>::Content,
        &mut H::Content,
        &mut u64,
        c_int,
    ) -> Result<T, Code>,
) -> Result<T, Code> {
    let handle = place(file)?;
    // SAFETY: The caller meets the conditions of this function.
    unsafe {
        with(on, |on, owner| {
            if (*handle).state != H::STATE || (*handle).owner != owner {
                return Err(Code::ErrBadf);
            }
            let open = &mut *handle;
            call(on, open.content.assume_init_mut(), &mut open.position, open.flags)
        })
    }
}

/// Closes an open file. The handle contains no file afterwards, even if `close` fails.
///
/// # Safety
/// The conditions of [`with_handle`].
pub(crate) unsafe fn close<H: Handle>(
    on: *mut H::On,
    file: *mut H,
    close: impl FnOnce(&mut <H::On as Object>::Content, H::Content) -> Result<(), Code>,
) -> Result<(), Code> {
    let handle = place(file)?;
    // SAFETY: The caller meets the conditions of this function. The content is moved out, and
    // the cleared state prevents a second use.
    unsafe {
        with_handle(on, file, |on, content, _, _| {
            let content = core::ptr::read(content);
            (&raw mut (*handle).state).write(0);
            close(on, content)
        })
    }
}
