//! Files of an image: open, read, and a position in them.

use super::image::Rom;
use super::names::find;
use crate::error::{Code, length, status, wide};
use crate::files::moved;
use crate::handle::{Handle, close, open, with_handle};
use crate::pointers;
use core::ffi::{c_char, c_int, c_void};
use steadyfs_rom::Kind;
use steadyfs_rom::squash::File;

/// Number of 64-bit words of steadyfs_rom_file_t.
pub const STEADYFS_ROM_FILE_WORDS: usize = 24;
/// Number of pointer-sized words of steadyfs_rom_file_t.
pub const STEADYFS_ROM_FILE_POINTERS: usize = 2;

/// An open file of an image, in memory of the caller. The memory may hold any bytes before
/// steadyfs_rom_file_open. The file occupies no entry of a table, and need not be closed.
#[repr(C)]
pub struct RomFileHandle {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_ROM_FILE_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_ROM_FILE_POINTERS],
}

impl Handle for RomFileHandle {
    type On = Rom;
    type Content = File;
    const STATE: u32 = 0x6946_6D52;
}

/// Opens a file of an image for reading.
///
/// Cost: steadyfs_bound_rom_file_open. Errors: STEADYFS_ERR_ISDIR, STEADYFS_ERR_ISALINK,
/// STEADYFS_ERR_UNSUPPORTED for a device, a pipe or a socket, and the errors of
/// steadyfs_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_open(
    rom: *mut Rom,
    file: *mut RomFileHandle,
    path: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::name(path).and_then(|path| {
            open(rom, file, 0, |rom| {
                let node = find(rom, path)?;
                match node.stat().kind {
                    Kind::File => Ok(rom.open_node(&node)?),
                    Kind::Directory => Err(Code::ErrIsdir),
                    Kind::Symlink => Err(Code::ErrIsalink),
                    _ => Err(Code::ErrUnsupported),
                }
            })
        })
    };
    status(result)
}

/// Closes a file of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_close(rom: *mut Rom, file: *mut RomFileHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { close(rom, file, |_, _| Ok(())) })
}

/// Reads from the position on, and moves the position. Returns the number of bytes that were read.
/// Only at the end of the file it is less than `size`.
///
/// Cost: steadyfs_bound_rom_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_CORRUPT for a block
/// that cannot be decoded, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium. After an error
/// the position is unchanged.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_read(
    rom: *mut Rom,
    file: *mut RomFileHandle,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes_mut(buffer, size).and_then(|data| {
            with_handle(rom, file, |rom, file, position, _| {
                let read = rom.read(file, *position, data)?;
                *position += read as u64;
                Ok(read)
            })
        })
    };
    length(result)
}

/// Moves the position, and returns the new position. It may be behind the end of the file. `whence`
/// is STEADYFS_SEEK_SET, CUR or END. Costs nothing. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_seek(
    rom: *mut Rom,
    file: *mut RomFileHandle,
    offset: i64,
    whence: c_int,
) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(rom, file, |_, file, position, _| {
            let target = moved(*position, offset, whence, file.size())?;
            if i64::try_from(target).is_err() {
                return Err(Code::ErrInval);
            }
            *position = target;
            Ok(target)
        })
    };
    wide(result)
}

/// Returns the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_tell(rom: *mut Rom, file: *mut RomFileHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(rom, file, |_, _, position, _| Ok(*position)) })
}

/// Returns the size of a file in bytes. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_file_size(rom: *mut Rom, file: *mut RomFileHandle) -> i64 {
    // SAFETY: The caller meets the conditions in the C header.
    wide(unsafe { with_handle(rom, file, |_, file, _, _| Ok(file.size())) })
}
