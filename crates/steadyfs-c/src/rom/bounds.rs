//! Worst cases of calls of an image, available before the call.

use super::directories::RomDirHandle;
use super::files::RomFileHandle;
use super::image::{MountedRom, Rom};
use super::names::parts;
use crate::error::{Code, status};
use crate::handle::with_handle;
use crate::object::with;
use crate::pointers;
use core::ffi::{c_char, c_int};
use steadyfs_rom::Bound;

/// The worst case of a call of an image: time of the medium, and work of the processor. The work is
/// measured in bytes. Each byte takes some processor cycles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RomCost {
    /// Time of the medium in nanoseconds, computed from the driver's timing. It is 0 if the image
    /// lies in memory.
    pub flash_ns: u64,
    /// Number of bytes that are decoded.
    pub decoded_bytes: u64,
    /// Number of bytes that are hashed. It is 0 if there is no key.
    pub hashed_bytes: u64,
}

impl From<Bound> for RomCost {
    fn from(bound: Bound) -> Self {
        let Bound { flash_ns, decoded_bytes, hashed_bytes } = bound;
        Self { flash_ns, decoded_bytes, hashed_bytes }
    }
}

/// Follows a path, and returns the worst case of following it.
fn walk(rom: &mut MountedRom, path: &[u8]) -> Result<Bound, Code> {
    let mut bound = rom.node_bound();
    let mut node = rom.root()?;
    for name in parts(path) {
        bound = bound.plus(rom.lookup_bound(&node)).plus(rom.node_bound());
        node = rom.lookup(&node, name)?;
    }
    Ok(bound)
}

/// Stores the bound of a call with a path.
unsafe fn tell(
    rom: *mut Rom,
    path: *const c_char,
    cost: *mut RomCost,
    more: impl FnOnce(&MountedRom) -> Bound,
) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        let path = pointers::name(path)?;
        let bound = with(rom, |rom, _| Ok(walk(rom, path)?.plus(more(rom))))?;
        pointers::put(cost, bound.into())
    }
}

/// Stores the worst case of steadyfs_rom_stat and steadyfs_rom_dir_open of this path. The worst
/// case depends on the directories of the path. So this call reads these directories, and has the
/// cost and the errors of a steadyfs_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_stat(
    rom: *mut Rom,
    path: *const c_char,
    cost: *mut RomCost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { tell(rom, path, cost, |_| Bound::default()) })
}

/// Stores the worst case of steadyfs_rom_file_open of this path. Cost and errors: as
/// steadyfs_bound_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_file_open(
    rom: *mut Rom,
    path: *const c_char,
    cost: *mut RomCost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { tell(rom, path, cost, |rom| rom.open_bound()) })
}

/// Stores the worst case of steadyfs_rom_file_read of `size` bytes at any position. A read that
/// continues the previous read costs less, because the position of its block is already known.
/// Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_file_read(
    rom: *mut Rom,
    file: *mut RomFileHandle,
    size: u32,
    cost: *mut RomCost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(rom, file, |rom, file, _, _| {
            pointers::put(cost, rom.read_bound(file, size.into()).into())
        })
    };
    status(result)
}

/// Stores the worst case of steadyfs_rom_dir_read of one entry. Costs nothing. Errors:
/// STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_dir_read(
    rom: *mut Rom,
    dir: *mut RomDirHandle,
    cost: *mut RomCost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(rom, dir, |rom, _, _, _| {
            pointers::put(cost, rom.entry_bound().plus(rom.node_bound()).into())
        })
    };
    status(result)
}
