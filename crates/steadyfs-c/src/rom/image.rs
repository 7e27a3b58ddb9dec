//! An image in memory of C: mount and unmount.

use super::config::RomConfig;
use super::source::Kept;
use crate::error::{Code, status};
use crate::object::{Object, clear, set, take};
use crate::pointers;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use steadyfs_rom::Squash;

/// Words of 64 bits of steadyfs_rom_t.
pub const STEADYFS_ROM_WORDS: usize = 82;
/// Words of the size of a pointer of steadyfs_rom_t.
pub const STEADYFS_ROM_POINTERS: usize = 14;

/// A read-only image: memory of the caller's, which steadyfs_rom_mount makes one of, whatever it held.
///
/// Zeros are no mounted image, so that a call before the mount is refused. It must not move while it is mounted. An image takes one call at
/// a time: several threads need a mutex. No call changes anything on the medium: power may fail in each, and one that failed may be
/// repeated.
///
/// Paths are names joined by '/', of any bytes; `.` and `..` are names as others are, and symbolic links are not followed.
#[repr(C)]
pub struct Rom {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_ROM_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_ROM_POINTERS],
}

/// A mounted image, wherever it lies.
pub(crate) type MountedRom = Squash<'static, Kept>;

impl Object for Rom {
    type Content = MountedRom;
    const STATE: u32 = 0x4D4F_5253;
}

/// Mounts an image. `rom` and the memory of the configuration are its own until steadyfs_rom_unmount.
///
/// Cost: a read of 96 bytes; on NAND the mark and a page of the first block, or of up to 32 where some are bad, and where the image does
/// not list bad blocks the mark of each of its blocks; with a key a few reads more and the check of a signature.
///
/// Errors: STEADYFS_ERR_NOTFORMATTED where there is no squashfs image, STEADYFS_ERR_VERSION, STEADYFS_ERR_UNSUPPORTED where it is
/// compressed by another method than LZ4 or LZO, or the build lacks the medium or rom-verify; STEADYFS_ERR_NOMEM
/// (steadyfs_rom_memory_bytes, steadyfs_rom_cache_bytes), STEADYFS_ERR_DRIVER where no place was given, or more than one,
/// STEADYFS_ERR_INVAL where the chip has no such place, STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS,
/// STEADYFS_ERR_BADBLOCKS where more are bad than bad_blocks_max, STEADYFS_ERR_NOTSIGNED, STEADYFS_ERR_NOTAUTHENTIC,
/// STEADYFS_ERR_CORRUPT, and those of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_mount(rom: *mut Rom, config: *const RomConfig) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { mount(rom, config) })
}

unsafe fn mount(rom: *mut Rom, config: *const RomConfig) -> Result<(), Code> {
    // SAFETY: As the header says; the place of the content is aligned, and the caller's to give.
    unsafe {
        let slot = clear(rom)?;
        let (source, memory) = pointers::reference(config)?.opened()?;
        mount_into(&raw mut (*slot).content, source, memory)?;
        set::<Rom>(slot);
    }
    Ok(())
}

/// Mounts an image into the place for it. Not inlined: its stack holds copies of it, which opening what lies under it does not need beside its own.
///
/// # Safety
/// `place` is aligned and may be written.
#[inline(never)]
unsafe fn mount_into(place: *mut MaybeUninit<MountedRom>, source: Kept, memory: &'static mut [u8]) -> Result<(), Code> {
    // SAFETY: As the caller says.
    unsafe { place.write(MaybeUninit::new(Squash::mount(source, memory)?)) };
    Ok(())
}

/// Ends the use of an image: its memory is free again. Files and directories need not be closed. Costs nothing. Errors:
/// STEADYFS_ERR_NOTMOUNTED.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_unmount(rom: *mut Rom) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { take(rom) }.map(drop))
}
