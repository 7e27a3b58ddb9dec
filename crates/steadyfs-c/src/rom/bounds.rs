//! How long calls of an image can take, told before them.

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

/// The worst case of a call of an image: time of the medium, and work of the processor in bytes, each of which takes some cycles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RomCost {
    /// Time of the medium by the driver's timing, in nanoseconds; 0 where the image lies in memory.
    pub flash_ns: u64,
    /// Bytes that are decoded.
    pub decoded_bytes: u64,
    /// Bytes that are hashed: 0 without a key.
    pub hashed_bytes: u64,
}

impl From<Bound> for RomCost {
    fn from(bound: Bound) -> Self {
        let Bound { flash_ns, decoded_bytes, hashed_bytes } = bound;
        Self { flash_ns, decoded_bytes, hashed_bytes }
    }
}

/// Follows a path, and tells what that costs at most.
fn walk(rom: &mut MountedRom, path: &[u8]) -> Result<Bound, Code> {
    let mut bound = rom.node_bound();
    let mut node = rom.root()?;
    for name in parts(path) {
        bound = bound.plus(rom.lookup_bound(&node)).plus(rom.node_bound());
        node = rom.lookup(&node, name)?;
    }
    Ok(bound)
}

/// Tells a bound of a call with a path.
unsafe fn tell(
    rom: *mut Rom,
    path: *const c_char,
    cost: *mut RomCost,
    more: impl FnOnce(&MountedRom) -> Bound,
) -> Result<(), Code> {
    // SAFETY: As the header says.
    unsafe {
        let path = pointers::name(path)?;
        let bound = with(rom, |rom, _| Ok(walk(rom, path)?.plus(more(rom))))?;
        pointers::put(cost, bound.into())
    }
}

/// Tells the worst case of steadyfs_rom_stat and steadyfs_rom_dir_open of this path. It depends on the directories of the path, so that
/// this call looks at them, and costs and fails as those do.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_stat(rom: *mut Rom, path: *const c_char, cost: *mut RomCost) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { tell(rom, path, cost, |_| Bound::default()) })
}

/// Tells the worst case of steadyfs_rom_file_open of this path. Costs and fails as steadyfs_bound_rom_stat.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_file_open(rom: *mut Rom, path: *const c_char, cost: *mut RomCost) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { tell(rom, path, cost, |rom| rom.open_bound()) })
}

/// Tells the worst case of steadyfs_rom_file_read of so many bytes, wherever the position is. A read behind the one before it costs less:
/// it knows where its block is. Costs nothing. Errors: STEADYFS_ERR_BADF.
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
    // SAFETY: As the header says.
    let result =
        unsafe { with_handle(rom, file, |rom, file, _, _| pointers::put(cost, rom.read_bound(file, size.into()).into())) };
    status(result)
}

/// Tells the worst case of steadyfs_rom_dir_read of one entry. Costs nothing. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rom_dir_read(rom: *mut Rom, dir: *mut RomDirHandle, cost: *mut RomCost) -> c_int {
    // SAFETY: As the header says.
    let result =
        unsafe { with_handle(rom, dir, |rom, _, _, _| pointers::put(cost, rom.entry_bound().plus(rom.node_bound()).into())) };
    status(result)
}
