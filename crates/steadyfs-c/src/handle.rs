//! Open files in memory of C: what their handles hold, and the way into them.

use crate::error::Code;
use crate::object::{Object, Owner, with};
use core::ffi::c_int;
use core::mem::MaybeUninit;

/// Memory of C in which an open file lies, or an open directory.
pub(crate) trait Handle: Sized {
    /// What it is open on.
    type On: Object;
    /// The file.
    type Content;
    /// What says that one is open there.
    const STATE: u32;
}

/// What is in the memory.
#[repr(C)]
struct Open<T> {
    state: u32,
    owner: Owner,
    position: u64,
    flags: c_int,
    content: MaybeUninit<T>,
}

/// The place of what is in the memory.
fn place<H: Handle>(file: *mut H) -> Result<*mut Open<H::Content>, Code> {
    const {
        assert!(size_of::<Open<H::Content>>() <= size_of::<H>() && align_of::<Open<H::Content>>() <= align_of::<H>());
    }
    let open: *mut Open<H::Content> = file.cast();
    if open.is_null() || !open.is_aligned() { Err(Code::ErrInval) } else { Ok(open) }
}

/// Opens a file and writes its handle.
///
/// # Safety
/// As [`with`]; `file` is null or may be written.
pub(crate) unsafe fn open<H: Handle>(
    on: *mut H::On,
    file: *mut H,
    flags: c_int,
    open: impl FnOnce(&mut <H::On as Object>::Content) -> Result<H::Content, Code>,
) -> Result<(), Code> {
    let handle = place(file)?;
    // SAFETY: It is not null and aligned, and the caller's to give.
    unsafe { (&raw mut (*handle).state).write(0) };
    // SAFETY: As the caller says.
    unsafe {
        with(on, |on, owner| {
            let content = MaybeUninit::new(open(on)?);
            handle.write(Open { state: H::STATE, owner, position: 0, flags, content });
            Ok(())
        })
    }
}

/// Makes a call of an open file, with its position and the flags with which it was opened. A handle of another volume, or of another mount, is none.
///
/// # Safety
/// As [`with`]; `file` is null or points to a handle that no other thread uses.
pub(crate) unsafe fn with_handle<H: Handle, T>(
    on: *mut H::On,
    file: *mut H,
    call: impl FnOnce(&mut <H::On as Object>::Content, &mut H::Content, &mut u64, c_int) -> Result<T, Code>,
) -> Result<T, Code> {
    let handle = place(file)?;
    // SAFETY: As the caller says.
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

/// Closes an open file. The handle holds none afterwards, whatever `close` says.
///
/// # Safety
/// As [`with_handle`].
pub(crate) unsafe fn close<H: Handle>(
    on: *mut H::On,
    file: *mut H,
    close: impl FnOnce(&mut <H::On as Object>::Content, H::Content) -> Result<(), Code>,
) -> Result<(), Code> {
    let handle = place(file)?;
    // SAFETY: As the caller says; the content is moved out, and the state says so.
    unsafe {
        with_handle(on, file, |on, content, _, _| {
            let content = core::ptr::read(content);
            (&raw mut (*handle).state).write(0);
            close(on, content)
        })
    }
}
