//! Paths of an image, and their nodes.

use super::image::{MountedRom, Rom};
use crate::error::{Code, length, status};
use crate::names::{Info, Permissions, Type, terminated};
use crate::object::with;
use crate::pointers;
use core::ffi::{c_char, c_int, c_void};
use steadyfs_rom::squash::Node;
use steadyfs_rom::{Error, Kind, Stat};

/// Returns the names of a path.
pub(super) fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

/// Returns the node of a path.
pub(super) fn find(rom: &mut MountedRom, path: &[u8]) -> Result<Node, Error> {
    let mut node = rom.root()?;
    for name in parts(path) {
        node = rom.lookup(&node, name)?;
    }
    Ok(node)
}

/// Calls `call` with the node of a path.
unsafe fn with_node<T>(
    rom: *mut Rom,
    path: *const c_char,
    call: impl FnOnce(&mut MountedRom, &Node, &[u8]) -> Result<T, Code>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        let path = pointers::name(path)?;
        with(rom, |rom, _| {
            let node = find(rom, path)?;
            call(rom, &node, path)
        })
    }
}

/// Returns the properties of a node for C.
pub(super) fn info_of(stat: &Stat, name: &[u8]) -> Info {
    let kind = match stat.kind {
        Kind::Directory => Type::TypeDir,
        Kind::File => Type::TypeReg,
        Kind::Symlink => Type::TypeLink,
        _ => Type::TypeOther,
    };
    Info {
        r#type: kind as u8,
        inode: stat.inode,
        parent: 0,
        generation: 0,
        subdirectories: 0,
        size: if stat.kind == Kind::Directory { 0 } else { stat.size },
        modified_ns: u64::from(stat.modified) * 1_000_000_000,
        name: terminated(name),
    }
}

/// Stores the properties of the object at a path of an image. `parent`, `generation`,
/// `subdirectories` and the size of a directory are 0, because an image does not store them.
///
/// Cost: steadyfs_bound_rom_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
/// STEADYFS_ERR_CORRUPT, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_stat(
    rom: *mut Rom,
    path: *const c_char,
    info: *mut Info,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_node(rom, path, |_, node, path| {
            pointers::put(info, info_of(&node.stat(), parts(path).last().unwrap_or(b"/")))
        })
    };
    status(result)
}

/// Reads mode, owner and group of the object at a path of an image.
///
/// Cost: steadyfs_rom_stat, and reads of two blocks of names and inodes. Errors: the errors of
/// steadyfs_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_getpermissions(
    rom: *mut Rom,
    path: *const c_char,
    permissions: *mut Permissions,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_node(rom, path, |rom, node, _| {
            let (uid, gid) = rom.owner(node)?;
            pointers::put(permissions, Permissions { mode: node.stat().mode, uid, gid })
        })
    };
    status(result)
}

/// Reads the target of a symbolic link of an image, without a NUL. Returns the length of the
/// target. If it is more than `size`, nothing is stored.
///
/// Cost: steadyfs_rom_stat, and reads of the blocks that contain the target. Errors:
/// STEADYFS_ERR_NOTALINK, and the errors of steadyfs_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_readlink(
    rom: *mut Rom,
    path: *const c_char,
    buffer: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes_mut(buffer, size).and_then(|target| {
            with_node(rom, path, |rom, node, _| match rom.read_link(node, target) {
                Err(Error::BufferTooSmall { needed }) => Ok(needed),
                result => Ok(result?),
            })
        })
    };
    length(result)
}
