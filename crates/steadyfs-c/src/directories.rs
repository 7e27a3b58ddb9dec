//! Directories: creation, and reading entry by entry.

use crate::error::{Code, status, wide, yes_or_no};
use crate::names::Info;
use crate::object::{Owner, with};
use crate::pointers;
use crate::volume::{Fs, Mounted, enter};
use core::ffi::{c_char, c_int};
use steadyfs::{Cursor, InodeNumber, Kind};

/// Creates a directory.
///
/// Power loss: the directory is durable after the next commit. Cost: steadyfs_bound_mkdir. Errors:
/// STEADYFS_ERR_EXIST, STEADYFS_ERR_NOENT if a directory of the path is missing,
/// STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_TOOMANYFILES,
/// STEADYFS_ERR_NOSPC.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_mkdir(fs: *mut Fs, path: *const c_char) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe {
        pointers::text(path).and_then(|path| enter(fs, |fs| fs.create_dir(path).map(|_| ())))
    })
}

/// Number of 64-bit words of steadyfs_dir_t.
pub const STEADYFS_DIR_WORDS: usize = 4;

/// An open directory, in memory of the caller. It occupies no entry of a table, and need not be
/// closed.
#[repr(C)]
pub struct DirHandle {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_DIR_WORDS],
}

/// Content of a [`DirHandle`].
#[repr(C)]
struct Dir {
    state: u32,
    inode: InodeNumber,
    owner: Owner,
    cursor: Cursor,
}

const _: () = assert!(
    size_of::<Dir>() <= size_of::<DirHandle>() && align_of::<Dir>() <= align_of::<DirHandle>()
);

const OPEN: u32 = 0x4472_6944;

/// Returns a pointer to a handle's content.
fn place(dir: *mut DirHandle) -> Result<*mut Dir, Code> {
    let open: *mut Dir = dir.cast();
    if open.is_null() || !open.is_aligned() { Err(Code::ErrInval) } else { Ok(open) }
}

/// Calls `call` with an open directory.
unsafe fn with_dir<T>(
    fs: *mut Fs,
    dir: *mut DirHandle,
    call: impl FnOnce(&mut Mounted, &mut Dir) -> Result<T, Code>,
) -> Result<T, Code> {
    let handle = place(dir)?;
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        with(fs, |fs, owner| {
            if (*handle).state != OPEN || (*handle).owner != owner {
                return Err(Code::ErrBadf);
            }
            call(fs, &mut *handle)
        })
    }
}

/// Number of bits of a position for the lower half of a cursor. Inode numbers have at most this
/// many bits.
const NUMBER_BITS: u32 = 31;
const NUMBER_MAX: u64 = (1 << NUMBER_BITS) - 1;

/// Converts a position in a directory into a number that is not negative.
fn place_of(cursor: Cursor) -> u64 {
    let bits = cursor.to_bits();
    bits >> 32 << NUMBER_BITS | (bits & u64::from(u32::MAX)).min(NUMBER_MAX)
}

/// Converts a number from [`place_of`] into a cursor.
fn cursor_at(place: u64) -> Cursor {
    let number = match place & NUMBER_MAX {
        NUMBER_MAX => u64::from(u32::MAX),
        number => number,
    };
    Cursor::from_bits(place >> NUMBER_BITS << 32 | number)
}

/// Opens a directory.
///
/// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_open(
    fs: *mut Fs,
    dir: *mut DirHandle,
    path: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        place(dir).and_then(|handle| {
            (&raw mut (*handle).state).write(0);
            let path = pointers::text(path)?;
            with(fs, |fs, owner| {
                let stat = fs.stat(path)?;
                if stat.kind != Kind::Directory {
                    return Err(Code::ErrNotdir);
                }
                handle.write(Dir {
                    state: OPEN,
                    inode: stat.inode,
                    owner,
                    cursor: Cursor::default(),
                });
                Ok(())
            })
        })
    };
    status(result)
}

/// Closes a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_close(fs: *mut Fs, dir: *mut DirHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_dir(fs, dir, |_, dir| {
            dir.state = 0;
            Ok(())
        })
    };
    status(result)
}

/// Reads the next entry of a directory. Returns 1, or 0 at the end. There are no entries `.` and
/// `..`. An entry that exists from the first call to the last call is returned exactly once, even
/// if other entries are created or removed between the calls. Entries come in the order of a hash.
///
/// Cost: steadyfs_bound_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOENT if the directory
/// was removed, STEADYFS_ERR_CORRUPT.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_read(
    fs: *mut Fs,
    dir: *mut DirHandle,
    info: *mut Info,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_dir(fs, dir, |fs, dir| {
            let mut cursor = dir.cursor;
            let entry = fs.list(dir.inode, &mut cursor)?;
            if let Some(entry) = &entry {
                pointers::put(info, Info::new(&entry.stat, entry.name()))?;
            }
            dir.cursor = cursor;
            Ok(entry.is_some())
        })
    };
    yes_or_no(result)
}

/// Moves to a position that steadyfs_dir_tell returned, in this or an earlier mount. Costs nothing.
/// Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_seek(fs: *mut Fs, dir: *mut DirHandle, place: i64) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_dir(fs, dir, |_, dir| {
            dir.cursor = cursor_at(u64::try_from(place).map_err(|_| Code::ErrInval)?);
            Ok(())
        })
    };
    status(result)
}

/// Returns the position in a directory. The position stays valid after any change of the directory.
/// Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_tell(fs: *mut Fs, dir: *mut DirHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_dir(fs, dir, |_, dir| Ok(place_of(dir.cursor))) })
}

/// Moves to the start of a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_dir_rewind(fs: *mut Fs, dir: *mut DirHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_dir(fs, dir, |_, dir| {
            dir.cursor = Cursor::default();
            Ok(())
        })
    };
    status(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_directory_survives_as_a_number_that_is_not_negative() {
        for bits in [0, 1, 0x8000_0000_0000_0001, 0x1234_5678_0012_3456, u64::MAX] {
            let cursor = Cursor::from_bits(bits);
            let place = place_of(cursor);
            assert!(i64::try_from(place).is_ok());
            assert_eq!(cursor_at(place), cursor);
        }
    }
}
