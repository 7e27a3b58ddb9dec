//! An image in memory of C: mount and unmount.

use super::config::RomConfig;
use super::source::Kept;
use crate::error::{Code, status};
use crate::object::{Object, clear, set, take};
use crate::pointers;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use steadyfs_rom::Squash;

/// Number of 64-bit words of steadyfs_rom_t.
pub const STEADYFS_ROM_WORDS: usize = 82;
/// Number of pointer-sized words of steadyfs_rom_t.
pub const STEADYFS_ROM_POINTERS: usize = 14;

/// A read-only image, in memory of the caller. The memory may hold any bytes before
/// steadyfs_rom_mount.
///
/// If the memory is filled with zeros, calls before the mount are refused. The struct must not move
/// while it is mounted. An image takes one call at a time: several threads need a mutex. Calls
/// never change the medium. So a power cut at any time does no harm, and a failed call may be
/// repeated.
///
/// A path consists of names that are separated by '/'. Names may contain any other bytes. `.` and
/// `..` are ordinary names. Calls do not follow symbolic links.
#[repr(C)]
pub struct Rom {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_ROM_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_ROM_POINTERS],
}

/// A mounted image on any medium.
pub(crate) type MountedRom = Squash<'static, Kept>;

impl Object for Rom {
    type Content = MountedRom;
    const STATE: u32 = 0x4D4F_5253;
}

/// Mounts an image. `rom` and the memory of the configuration belong to the image until
/// steadyfs_rom_unmount.
///
/// Cost: a read of 96 bytes. On NAND the call also reads the bad-block mark and a page of the first
/// block. If blocks are bad, it does this for up to 32 blocks. If the image does not list bad
/// blocks, it also reads the mark of each block of the image. If there is a key, it also makes a
/// few reads and checks a signature.
///
/// Errors:
/// - STEADYFS_ERR_NOTFORMATTED if there is no squashfs image.
/// - STEADYFS_ERR_VERSION.
/// - STEADYFS_ERR_UNSUPPORTED if the image is compressed by another method than LZ4 or LZO, or
///   if the build lacks the medium or rom-verify.
/// - STEADYFS_ERR_NOMEM (steadyfs_rom_memory_bytes, steadyfs_rom_cache_bytes).
/// - STEADYFS_ERR_DRIVER if none of `image`, `nor` and `nand` is set, or more than one.
/// - STEADYFS_ERR_INVAL if the range of the image lies outside the chip.
/// - STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
/// - STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max.
/// - STEADYFS_ERR_NOTSIGNED, STEADYFS_ERR_NOTAUTHENTIC, STEADYFS_ERR_CORRUPT, and the errors of
///   the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_mount(rom: *mut Rom, config: *const RomConfig) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { mount(rom, config) })
}

unsafe fn mount(rom: *mut Rom, config: *const RomConfig) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions in the C header. The pointer to the content is
    // aligned, and its target belongs to the caller.
    unsafe {
        let slot = clear(rom)?;
        let (source, memory) = pointers::reference(config)?.opened()?;
        mount_into(&raw mut (*slot).content, source, memory)?;
        set::<Rom>(slot);
    }
    Ok(())
}

/// Mounts an image, and writes it to `place`. Not inlined, so that the copies of the image on its
/// stack do not add to the stack that opens the layers below.
///
/// # Safety
/// `place` is aligned, and valid for writes.
#[inline(never)]
unsafe fn mount_into(
    place: *mut MaybeUninit<MountedRom>,
    source: Kept,
    memory: &'static mut [u8],
) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions of this function.
    unsafe { place.write(MaybeUninit::new(Squash::mount(source, memory)?)) };
    Ok(())
}

/// Ends the use of an image. The caller may then use the memory again. Files and directories need
/// not be closed. Costs nothing. Errors: STEADYFS_ERR_NOTMOUNTED.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_unmount(rom: *mut Rom) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { take(rom) }.map(drop))
}
