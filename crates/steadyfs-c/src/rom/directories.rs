//! Directories of an image, read entry by entry.

use super::image::Rom;
use super::names::{find, info_of};
use crate::error::{Code, status, yes_or_no};
use crate::handle::{Handle, close, open, with_handle};
use crate::names::{Info, STEADYFS_NAME_MAX};
use crate::pointers;
use core::ffi::{c_char, c_int};
use steadyfs_rom::squash::{Cursor, Node};

/// Number of 64-bit words of steadyfs_rom_dir_t.
pub const STEADYFS_ROM_DIR_WORDS: usize = 19;
/// Number of pointer-sized words of steadyfs_rom_dir_t.
pub const STEADYFS_ROM_DIR_POINTERS: usize = 2;

/// An open directory of an image, in memory of the caller. It occupies no entry of a table, and
/// need not be closed.
#[repr(C)]
pub struct RomDirHandle {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_ROM_DIR_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_ROM_DIR_POINTERS],
}

/// A directory, and the position in its list.
pub(crate) struct Dir {
    pub(super) node: Node,
    cursor: Cursor,
}

impl Handle for RomDirHandle {
    type On = Rom;
    type Content = Dir;
    const STATE: u32 = 0x6944_6D52;
}

/// Opens a directory of an image.
///
/// Cost: steadyfs_bound_rom_stat. Errors: the errors of steadyfs_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_dir_open(
    rom: *mut Rom,
    dir: *mut RomDirHandle,
    path: *const c_char,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::name(path).and_then(|path| {
            open(rom, dir, 0, |rom| {
                let node = find(rom, path)?;
                if node.is_directory() {
                    Ok(Dir { node, cursor: Cursor::default() })
                } else {
                    Err(Code::ErrNotdir)
                }
            })
        })
    };
    status(result)
}

/// Closes a directory of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_dir_close(rom: *mut Rom, dir: *mut RomDirHandle) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { close(rom, dir, |_, _| Ok(())) })
}

/// Reads the next entry of a directory of an image. Returns 1, or 0 at the end. Entries come in the
/// order of the bytes of their names. There are no entries `.` and `..`. `info` is filled as by
/// steadyfs_rom_stat.
///
/// Cost: steadyfs_bound_rom_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NAMETOOLONG for a
/// name of 256 bytes, and the errors of steadyfs_rom_stat. After STEADYFS_ERR_NAMETOOLONG the next
/// call continues behind this name.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_dir_read(
    rom: *mut Rom,
    dir: *mut RomDirHandle,
    info: *mut Info,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(rom, dir, |rom, dir, _, _| {
            let mut cursor = dir.cursor;
            let entry = rom.list(&dir.node, &mut cursor)?;
            if let Some(entry) = &entry {
                let name = entry.name();
                if name.len() > STEADYFS_NAME_MAX {
                    dir.cursor = cursor;
                    return Err(Code::ErrNametoolong);
                }
                let node = rom.entry_node(entry)?;
                pointers::put(info, info_of(&node.stat(), name))?;
            }
            dir.cursor = cursor;
            Ok(entry.is_some())
        })
    };
    yes_or_no(result)
}
