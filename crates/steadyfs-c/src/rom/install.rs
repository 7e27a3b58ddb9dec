//! Writing of an image to NAND, as its bytes arrive.

use super::config::RomConfig;
use crate::driver::NandChip;
use crate::error::{Code, length, status};
use crate::object::{Object, clear, fits, set, take, with};
use crate::pointers;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use steadyfs_rom::{Error, Install};

/// Number of 64-bit words of steadyfs_rom_install_t.
pub const STEADYFS_ROM_INSTALL_WORDS: usize = 6;
/// Number of pointer-sized words of steadyfs_rom_install_t.
pub const STEADYFS_ROM_INSTALL_POINTERS: usize = 13;

/// An image that is being written to NAND, in memory of the caller. The memory may hold any
/// bytes before steadyfs_rom_install_begin.
///
/// Power loss: the header, which locates the image, is erased first and written last. A power cut
/// during steadyfs_rom_install_begin leaves the earlier image or no image. From then on there is no
/// image until steadyfs_rom_install_finish. When this call returns, the new image is complete.
/// After a power cut the installation must begin again. If an image must exist at any time, use two
/// ranges of blocks for two images. Each range has its own driver, whose block 0 is the first block
/// of the range.
#[repr(C)]
pub struct RomInstall {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_ROM_INSTALL_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_ROM_INSTALL_POINTERS],
}

impl Object for RomInstall {
    type Content = Install<'static, NandChip>;
    const STATE: u32 = 0x6E49_6D52;
}

const _: () = assert!(fits::<RomInstall>());

/// Converts an error. `End` means that the chip is full.
fn code(error: Error) -> Code {
    match error {
        Error::End(_) => Code::ErrNospc,
        error => error.into(),
    }
}

/// Returns the number of bytes of memory that an installation needs: two pages, and 4 bytes for
/// each of bad_blocks_max. The call uses only `nand` and bad_blocks_max of the configuration, and
/// does not use the driver's callbacks. Errors: STEADYFS_ERR_INVAL if there is no driver,
/// STEADYFS_ERR_DRIVER if the driver lacks a callback, STEADYFS_ERR_CONFIG_PAGE_BYTES,
/// STEADYFS_ERR_CONFIG_BLOCKS.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_bytes(config: *const RomConfig) -> isize {
    // SAFETY: The caller meets the conditions in the C header.
    length(unsafe {
        pointers::reference(config).and_then(|config| {
            let (chip, bad_blocks_max) = config.chip()?;
            Ok(Install::memory_bytes(&chip, bad_blocks_max))
        })
    })
}

/// Begins to write an image to the NAND chip of a configuration. An earlier image on the chip is
/// lost. The call uses only `nand`, bad_blocks_max and the memory of the configuration. The memory
/// belongs to the installation until it is finished.
///
/// Power loss: the chip has no image, or the earlier image. Cost: an erase of each of the first
/// three good blocks, and reads of the bad-block marks up to the third good block. Errors:
/// STEADYFS_ERR_NOMEM, STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max,
/// STEADYFS_ERR_NOSPC, and the errors of steadyfs_rom_install_bytes and of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_begin(
    install: *mut RomInstall,
    config: *const RomConfig,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { begin(install, config) })
}

unsafe fn begin(install: *mut RomInstall, config: *const RomConfig) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions in the C header. The place of the content is
    // aligned, and belongs to the caller.
    unsafe {
        let slot = clear(install)?;
        let config = pointers::reference(config)?;
        let (chip, bad_blocks_max) = config.chip()?;
        let needed = Install::memory_bytes(&chip, bad_blocks_max);
        let memory = config.lent()?.get_mut(..needed).ok_or(Code::ErrNomem)?;
        let begun = Install::begin(chip, memory).map_err(code)?;
        (&raw mut (*slot).content).write(MaybeUninit::new(begun));
        set::<RomInstall>(slot);
    }
    Ok(())
}

/// Writes the next bytes of an image. The pieces may have any size. An error ends the installation,
/// which must then begin again.
///
/// Power loss: the chip has no image. Cost: a program for each page that the bytes fill, and an
/// erase for each block. If a block goes bad, also a read and a program for each of its programmed
/// pages. Errors: STEADYFS_ERR_NOTMOUNTED if no installation has begun, STEADYFS_ERR_NOSPC if the
/// chip is full, STEADYFS_ERR_BADBLOCKS, and the errors of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_push(
    install: *mut RomInstall,
    data: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        pointers::bytes(data, size).and_then(|data| {
            match with(install, |install, _| Ok(install.push(data).map_err(code)))? {
                Ok(()) => Ok(()),
                Err(code) => take(install).and(Err(code)),
            }
        })
    };
    status(result)
}

/// Ends an installation, and completes the image. The installation ends even after an error, and
/// the caller may then use the memory again.
///
/// Power loss: the chip has no image, or the complete image. Cost: three programs. Errors:
/// STEADYFS_ERR_NOTMOUNTED if no installation has begun, STEADYFS_ERR_MEDIAFAILING if the header
/// could not be programmed (begin again), and the errors of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_finish(install: *mut RomInstall) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { take(install) }.and_then(|install| install.finish().map(drop).map_err(code)))
}
