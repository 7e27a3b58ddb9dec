//! Pointers from C, each checked once.

use crate::error::Code;
use core::ffi::{CStr, c_char, c_void};

/// Returns a path or a key.
///
/// # Safety
/// `text` is null, or ends with a NUL and does not change during the call.
#[inline(never)]
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Code> {
    // SAFETY: The caller meets the conditions of this function.
    core::str::from_utf8(unsafe { name(text) }?).map_err(|_| Code::ErrNotutf8)
}

/// Returns a path, which may be any bytes.
///
/// # Safety
/// The conditions of [`text`].
pub(crate) unsafe fn name<'a>(text: *const c_char) -> Result<&'a [u8], Code> {
    if text.is_null() {
        return Err(Code::ErrInval);
    }
    // SAFETY: The pointer is not null. The caller guarantees that the text ends with a NUL.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Returns the target of a pointer, for reading.
///
/// # Safety
/// `pointer` is null, or points to a value that does not change during `'a`.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T, Code> {
    if !pointer.is_aligned() {
        return Err(Code::ErrInval);
    }
    // SAFETY: The pointer is aligned. The caller meets the other conditions.
    unsafe { pointer.as_ref() }.ok_or(Code::ErrInval)
}

/// Writes a result through a pointer. Before this call the target may hold any bytes.
///
/// # Safety
/// `pointer` is null, or valid for writes.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), Code> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Code::ErrInval);
    }
    // SAFETY: The pointer is not null and is aligned. The caller guarantees that it is
    // valid for writes.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Returns bytes for reading. Returns no bytes if `bytes` is 0, for any `data`.
///
/// # Safety
/// `data` is null, or its first `bytes` bytes do not change during the call.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, bytes: usize) -> Result<&'a [u8], Code> {
    match bytes {
        0 => Ok(&[]),
        _ if data.is_null() || bytes > isize::MAX as usize => Err(Code::ErrInval),
        // SAFETY: The pointer is not null, and the length is possible for memory. The caller
        // meets the other conditions.
        _ => Ok(unsafe { core::slice::from_raw_parts(data.cast(), bytes) }),
    }
}

/// Returns bytes for writing. Their old content may be any bytes. Returns no bytes if `bytes` is 0,
/// for any `data`.
///
/// # Safety
/// `data` is null, or no other code uses its first `bytes` bytes during `'a`.
pub(crate) unsafe fn bytes_mut<'a>(data: *mut c_void, bytes: usize) -> Result<&'a mut [u8], Code> {
    match bytes {
        0 => Ok(&mut []),
        _ if data.is_null() || bytes > isize::MAX as usize => Err(Code::ErrInval),
        // SAFETY: The pointer is not null, and the length is possible for memory. The caller
        // meets the other conditions.
        _ => Ok(unsafe { core::slice::from_raw_parts_mut(data.cast(), bytes) }),
    }
}

/// Writes a value to the first aligned address in a memory. Returns the value and the rest of the
/// memory.
#[cfg(any(feature = "sectors", feature = "rom"))]
pub(crate) fn place<T>(
    value: T,
    memory: &'static mut [u8],
) -> Option<(&'static mut T, &'static mut [u8])> {
    let skipped = memory.as_ptr().align_offset(align_of::<T>());
    let (head, rest) = memory.split_at_mut_checked(skipped.checked_add(size_of::<T>())?)?;
    let at: *mut T = head[skipped..].as_mut_ptr().cast();
    // SAFETY: The address is aligned, and the memory there has as many bytes as the value. These
    // bytes are split off, so no other code can access them. They are never read as bytes again.
    let placed = unsafe {
        at.write(value);
        &mut *at
    };
    Some((placed, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pointer_is_refused() {
        let null = core::ptr::null_mut::<c_void>();
        // SAFETY: The functions do not follow an invalid pointer.
        unsafe {
            assert_eq!(text(null.cast()), Err(Code::ErrInval));
            assert_eq!(text(c"\xFF".as_ptr()), Err(Code::ErrNotutf8));
            assert_eq!(text(c"a/b".as_ptr()), Ok("a/b"));
            assert_eq!(reference::<u32>(null.cast()), Err(Code::ErrInval));
            assert_eq!(reference::<u32>(4097 as *const u32), Err(Code::ErrInval));
            assert_eq!(put::<u32>(null.cast(), 1), Err(Code::ErrInval));
            assert_eq!(bytes(null, 1), Err(Code::ErrInval));
            assert_eq!(bytes(null, 0), Ok(&[][..]));
            assert_eq!(bytes_mut(null, 1), Err(Code::ErrInval));
            assert_eq!(bytes_mut(8 as *mut c_void, usize::MAX), Err(Code::ErrInval));
        }
    }
}
