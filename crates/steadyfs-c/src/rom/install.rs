//! An image is written to NAND as its bytes arrive.

use super::config::RomConfig;
use crate::driver::NandChip;
use crate::error::{Code, length, status};
use crate::object::{Object, clear, fits, set, take, with};
use crate::pointers;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use steadyfs_rom::{Error, Install};

/// Words of 64 bits of steadyfs_rom_install_t.
pub const STEADYFS_ROM_INSTALL_WORDS: usize = 6;
/// Words of the size of a pointer of steadyfs_rom_install_t.
pub const STEADYFS_ROM_INSTALL_POINTERS: usize = 13;

/// An image that is being written to NAND: memory of the caller's, which steadyfs_rom_install_begin makes one of, whatever it held.
///
/// Power loss: what says where the image is goes first and comes last. A cut leaves the image of before where nothing was erased yet, else
/// none until steadyfs_rom_install_finish, and behind that the whole of the new one. What was cut is begun anew. Two images, of which one
/// is there at any time, are two ranges of blocks, each with a driver that counts from there.
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

/// What went wrong, where the end is that of the chip.
fn code(error: Error) -> Code {
    match error {
        Error::End(_) => Code::ErrNospc,
        error => error.into(),
    }
}

/// Tells how many bytes of memory an installation needs: two pages, and 4 bytes for each of bad_blocks_max. Looks at `nand` and
/// bad_blocks_max of the configuration alone; calls nothing of the driver. Errors: STEADYFS_ERR_INVAL without a driver,
/// STEADYFS_ERR_DRIVER where that lacks a callback, STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_bytes(config: *const RomConfig) -> isize {
    // SAFETY: As the header says.
    length(unsafe {
        pointers::reference(config).and_then(|config| {
            let (chip, bad_blocks_max) = config.chip()?;
            Ok(Install::memory_bytes(&chip, bad_blocks_max))
        })
    })
}

/// Begins to write an image to the NAND chip of a configuration; one that is there is gone. The memory of the configuration, of which
/// `nand`, bad_blocks_max and this are looked at, is the installation's until it is finished.
///
/// Power loss: there is no image, or that of before. Cost: an erase for each of the first three good blocks, and a look at the marks up to
/// there. Errors: STEADYFS_ERR_NOMEM, STEADYFS_ERR_BADBLOCKS where more are bad than bad_blocks_max, STEADYFS_ERR_NOSPC, those of
/// steadyfs_rom_install_bytes and of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_begin(install: *mut RomInstall, config: *const RomConfig) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { begin(install, config) })
}

unsafe fn begin(install: *mut RomInstall, config: *const RomConfig) -> Result<(), Code> {
    // SAFETY: As the header says; the place of the content is aligned, and the caller's to give.
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

/// Writes the next bytes of an image, in pieces of any size. After an error the installation is at its end: begin anew.
///
/// Power loss: there is no image. Cost: a program for each page that they fill and an erase for each block; where a block goes bad, a read
/// and a program for each of its pages. Errors: STEADYFS_ERR_NOTMOUNTED where none was begun, STEADYFS_ERR_NOSPC where the chip is full,
/// STEADYFS_ERR_BADBLOCKS, those of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_push(install: *mut RomInstall, data: *const c_void, size: usize) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe {
        pointers::bytes(data, size).and_then(|data| match with(install, |install, _| Ok(install.push(data).map_err(code)))? {
            Ok(()) => Ok(()),
            Err(code) => take(install).and(Err(code)),
        })
    };
    status(result)
}

/// Ends an installation: the image is there. After an error as well nothing is begun, and the memory is free again.
///
/// Power loss: there is no image, or the whole of it. Cost: three programs. Errors: STEADYFS_ERR_NOTMOUNTED where none was begun,
/// STEADYFS_ERR_MEDIAFAILING where the chip does not take what says where the image is: begin anew; those of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_rom_install_finish(install: *mut RomInstall) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { take(install) }.and_then(|install| install.finish().map(drop).map_err(code)))
}
