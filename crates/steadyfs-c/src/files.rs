//! Files: open, read, write, and a position in them.

use crate::error::{Code, length, status, wide};
use crate::handle::{Handle, close, open, with_handle};
use crate::pointers;
use crate::volume::{Fs, Mounted, enter};
use core::ffi::{c_char, c_int, c_void};
use steadyfs::{File, OpenOptions};

/// Open for reading.
pub const STEADYFS_O_RDONLY: c_int = 1;
/// Open for writing.
pub const STEADYFS_O_WRONLY: c_int = 2;
/// Open for reading and writing.
pub const STEADYFS_O_RDWR: c_int = 3;
/// Create the file if it does not exist. This flag needs STEADYFS_O_WRONLY.
pub const STEADYFS_O_CREAT: c_int = 0x0100;
/// In addition to STEADYFS_O_CREAT: fail with STEADYFS_ERR_EXIST if the file exists.
pub const STEADYFS_O_EXCL: c_int = 0x0200;
/// Truncate the file to zero bytes. This flag needs STEADYFS_O_WRONLY.
pub const STEADYFS_O_TRUNC: c_int = 0x0400;
/// Write all data at the end of the file.
pub const STEADYFS_O_APPEND: c_int = 0x0800;
/// Make every change through this handle durable before its call returns. This includes the file's
/// creation. The commit makes all other changes of the volume durable, too.
pub const STEADYFS_O_DURABLE: c_int = 0x1000;
/// STEADYFS_O_STREAM * 0 to STEADYFS_O_STREAM * 3 select the stream of a created file. Files that
/// are rewritten equally often should share a stream. Other files should use another stream.
/// Without this flag, data is in stream 0.
pub const STEADYFS_O_STREAM: c_int = 0x1_0000;

/// Seek from the start of the file.
pub const STEADYFS_SEEK_SET: c_int = 0;
/// Seek from the present position.
pub const STEADYFS_SEEK_CUR: c_int = 1;
/// Seek from the end of the file.
pub const STEADYFS_SEEK_END: c_int = 2;

/// Number of 64-bit words of steadyfs_file_t.
pub const STEADYFS_FILE_WORDS: usize = 11;
/// Number of pointer-sized words of steadyfs_file_t.
pub const STEADYFS_FILE_POINTERS: usize = 2;

/// An open file, in memory of the caller. The memory may hold any bytes before
/// steadyfs_file_open.
///
/// A change through one handle of a file is visible through its other handles. If a file is renamed
/// or removed, its handles still access the same file. A handle that is not closed occupies its
/// entry in the table of open files until the unmount or steadyfs_file_close_all. If its file is
/// removed, it also keeps the room of the file.
#[repr(C)]
pub struct FileHandle {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_FILE_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_FILE_POINTERS],
}

/// Returns the position after a seek.
pub(crate) fn moved(position: u64, offset: i64, whence: c_int, size: u64) -> Result<u64, Code> {
    let base = match whence {
        STEADYFS_SEEK_SET => 0,
        STEADYFS_SEEK_CUR => position,
        STEADYFS_SEEK_END => size,
        _ => return Err(Code::ErrInval),
    };
    base.checked_add_signed(offset).ok_or(Code::ErrInval)
}

impl Handle for FileHandle {
    type On = Fs;
    type Content = File;
    const STATE: u32 = 0x656C_6946;
}

/// Converts flags from C into options.
pub(crate) fn options(flags: c_int) -> Result<OpenOptions, Code> {
    let known = STEADYFS_O_RDWR
        | STEADYFS_O_CREAT
        | STEADYFS_O_EXCL
        | STEADYFS_O_TRUNC
        | STEADYFS_O_APPEND
        | STEADYFS_O_DURABLE
        | (3 * STEADYFS_O_STREAM);
    if flags & !known != 0 || flags & STEADYFS_O_RDWR == 0 {
        return Err(Code::ErrInval);
    }
    let has = |flag: c_int| flags & flag != 0;
    if has(STEADYFS_O_APPEND) && !has(STEADYFS_O_WRONLY) {
        return Err(Code::ErrNotwritable);
    }
    Ok(OpenOptions {
        read: has(STEADYFS_O_RDONLY),
        write: has(STEADYFS_O_WRONLY),
        append: has(STEADYFS_O_APPEND),
        truncate: has(STEADYFS_O_TRUNC),
        create: has(STEADYFS_O_CREAT),
        create_new: has(STEADYFS_O_CREAT) && has(STEADYFS_O_EXCL),
        durable: has(STEADYFS_O_DURABLE),
        stream: (flags / STEADYFS_O_STREAM) as u8,
    })
}

/// Opens a file. `flags` combines STEADYFS_O_... with |, and contains at least one of RDONLY,
/// WRONLY and RDWR.
///
/// Power loss: the creation or truncation of the file is durable after the next commit. Cost:
/// steadyfs_bound_file_open. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_EXIST, STEADYFS_ERR_ISDIR,
/// STEADYFS_ERR_ISALINK, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG,
/// STEADYFS_ERR_NOTUTF8, STEADYFS_ERR_NOTWRITABLE if flags contradict each other,
/// STEADYFS_ERR_TOOMANYOPEN, STEADYFS_ERR_TOOMANYFILES, STEADYFS_ERR_NOSPC.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_open(
    fs: *mut Fs,
    file: *mut FileHandle,
    path: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::text(path)
            .and_then(|path| open(fs, file, flags, |fs| Ok(fs.open(path, options(flags)?)?)))
    };
    status(result)
}

/// Opens a file by its inode number (steadyfs_info), even if it was renamed. In all other respects
/// it is like steadyfs_file_open.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_open_inode(
    fs: *mut Fs,
    file: *mut FileHandle,
    inode: u32,
    flags: c_int,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { open(fs, file, flags, |fs| Ok(fs.open(inode, options(flags)?)?)) })
}

/// Closes a file. Commits if the handle may write and STEADYFS_COMMIT_CLOSE is set, as it is by
/// default. The handle is closed even after an error.
///
/// Power loss: if the call commits, as in steadyfs_commit. Cost: steadyfs_bound_file_close. Errors:
/// STEADYFS_ERR_BADF, and the errors of a commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_close(fs: *mut Fs, file: *mut FileHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { close(fs, file, |fs, file| Ok(fs.close(file)?)) })
}

/// Closes all files of the volume, also those whose handles are lost. Later calls refuse the
/// handles with STEADYFS_ERR_BADF. They also free the room of files that were removed and still
/// open, a few pages in each call.
///
/// Power loss: if the call commits, as in steadyfs_commit. Cost: nothing, or steadyfs_bound_commit
/// if STEADYFS_COMMIT_CLOSE is set, as it is by default. Errors: the errors of a commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_close_all(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { enter(fs, Mounted::close_all) })
}

/// If STEADYFS_COMMIT_FSYNC is set, as it is by default, makes the changes of a file and all other
/// changes durable.
///
/// Power loss: the volume contains all changes since the last commit, or none of them. Cost:
/// steadyfs_bound_commit. Errors: STEADYFS_ERR_BADF, and the errors of a commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_sync(fs: *mut Fs, file: *mut FileHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { with_handle(fs, file, |fs, _, _, _| Ok(fs.sync(steadyfs::CommitOn::FSYNC)?)) })
}

/// Reads from the position on, and moves the position. Returns the number of bytes that were read.
/// Only at the end of the file it is less than `size`.
///
/// Cost: steadyfs_bound_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTREADABLE,
/// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_read(
    fs: *mut Fs,
    file: *mut FileHandle,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes_mut(buffer, size).and_then(|data| {
            with_handle(fs, file, |fs, file, position, _| {
                let read = fs.read(file, *position, data)?;
                *position += read as u64;
                Ok(read)
            })
        })
    };
    length(result)
}

/// Writes at the position, and moves the position behind the written bytes. If the handle has
/// STEADYFS_O_APPEND, writes at the end of the file. Returns `size`. The file grows if needed. A
/// gap reads as zeros.
///
/// A write of more than one logical page consists of several writes. If one of them fails, the
/// earlier writes have taken effect, and the position does not move.
///
/// Power loss: before the next commit, the file has none of the written data. If the handle has
/// STEADYFS_O_DURABLE, each logical page is committed separately. If STEADYFS_COMMIT_FULL is set, a
/// write that does not fit into the transaction is committed in pieces.
///
/// Cost: steadyfs_bound_file_write. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTWRITABLE,
/// STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG, STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_STALE,
/// STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING, STEADYFS_ERR_UNKNOWN.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_write(
    fs: *mut Fs,
    file: *mut FileHandle,
    buffer: *const c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes(buffer, size).and_then(|data| {
            with_handle(fs, file, |fs, file, position, flags| {
                fs.write(file, *position, data)?;
                *position = if flags & STEADYFS_O_APPEND != 0 {
                    fs.size(file)?
                } else {
                    *position + data.len() as u64
                };
                Ok(data.len())
            })
        })
    };
    length(result)
}

/// Moves the position, which may also be behind the end of the file. `whence` is STEADYFS_SEEK_SET,
/// CUR or END. Returns the new position.
///
/// Cost: nothing, but STEADYFS_SEEK_END may need a look-up of the inode. Errors: STEADYFS_ERR_BADF,
/// STEADYFS_ERR_INVAL for a position before the start or an unknown `whence`, STEADYFS_ERR_FBIG for
/// a position that no file reaches.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_seek(
    fs: *mut Fs,
    file: *mut FileHandle,
    offset: i64,
    whence: c_int,
) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(fs, file, |fs, file, position, _| {
            let size = if whence == STEADYFS_SEEK_END { fs.size(file)? } else { 0 };
            let target = moved(*position, offset, whence, size)?;
            if target > fs.size_max() {
                return Err(Code::ErrFbig);
            }
            *position = target;
            Ok(target)
        })
    };
    wide(result)
}

/// Truncates a file, or extends it with zeros. The position does not move.
///
/// Power loss: the file has the old size or the new size. Cost: steadyfs_bound_file_truncate, for
/// all sizes. Errors: as steadyfs_file_write. STEADYFS_ERR_UNSUPPORTED in a build without the
/// feature `truncate`.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_truncate(
    fs: *mut Fs,
    file: *mut FileHandle,
    size: u64,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe {
        with_handle(fs, file, |fs, file, _, _| fs.truncate(file, size).map_err(Into::into))
    })
}

/// Returns the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_tell(fs: *mut Fs, file: *mut FileHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(fs, file, |_, _, position, _| Ok(*position)) })
}

/// Moves the position to the start. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_rewind(fs: *mut Fs, file: *mut FileHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(fs, file, |_, _, position, _| {
            *position = 0;
            Ok(())
        })
    };
    status(result)
}

/// Returns the size of a file in bytes. Cost: nothing, or a look-up of the inode. Errors:
/// STEADYFS_ERR_BADF, STEADYFS_ERR_STALE.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_size(fs: *mut Fs, file: *mut FileHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(fs, file, |fs, file, _, _| fs.size(file).map_err(Into::into)) })
}

/// Reserves space for the bytes `from` to `to` of a file, so that writes to these bytes cannot fail
/// because the volume is full. The size of the file does not change.
///
/// One call reserves consecutive pages, and returns the position up to which space is reserved now.
/// Repeat the call from this position until it returns `to` or more.
///
/// Power loss: the reservation is durable after the next commit. Cost: steadyfs_bound_file_write of
/// 65 bytes. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG,
/// STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_STALE.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_reserve(
    fs: *mut Fs,
    file: *mut FileHandle,
    from: u64,
    to: u64,
) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe {
        with_handle(fs, file, |fs, file, _, _| fs.reserve(file, from, to).map_err(Into::into))
    })
}

/// Returns the inode number of a file. The number never changes. Costs nothing. Errors:
/// STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_file_inode(fs: *mut Fs, file: *mut FileHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(fs, file, |_, file, _, _| Ok(file.inode().into())) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_make_no_sense_are_refused() {
        assert_eq!(options(0), Err(Code::ErrInval));
        assert_eq!(options(STEADYFS_O_CREAT), Err(Code::ErrInval));
        assert_eq!(options(STEADYFS_O_RDWR | 0x10), Err(Code::ErrInval));
        assert_eq!(options(STEADYFS_O_RDONLY | STEADYFS_O_APPEND), Err(Code::ErrNotwritable));
        assert_eq!(options(STEADYFS_O_RDONLY), Ok(OpenOptions::READ));
        assert_eq!(
            options(STEADYFS_O_RDWR | STEADYFS_O_CREAT | STEADYFS_O_DURABLE),
            Ok(OpenOptions::DURABLE)
        );
        let third = options(STEADYFS_O_WRONLY | (3 * STEADYFS_O_STREAM));
        assert_eq!(third.map(|options| options.stream), Ok(3));
    }
}
