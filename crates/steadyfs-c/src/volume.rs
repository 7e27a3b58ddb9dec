//! A volume in memory of C: format, mount, unmount, and the way into a mounted one.

use crate::config::{Config, events};
use crate::error::{Code, status};
use crate::medium::Medium;
use crate::object::{Object, Slot, clear, fits, set, take, with};
use crate::pointers;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use steadyfs::{Access, FileSystem, Verify};

/// Words of 64 bits of steadyfs_t.
pub const STEADYFS_WORDS: usize = 112;
/// Words of the size of a pointer of steadyfs_t.
pub const STEADYFS_POINTERS: usize = 52;

/// A volume: memory of the caller's, for C to know size and alignment of.
///
/// steadyfs_mount makes a volume of it, whatever it held. Zeros are no mounted volume, so that a call before the mount is refused. It must
/// not move while it is mounted. Volumes are independent of each other, but one takes one call at a time: several threads need a mutex.
#[repr(C)]
pub struct Fs {
    /// Not for the caller.
    pub opaque: [u64; STEADYFS_WORDS],
    /// Not for the caller.
    pub pointers: [usize; STEADYFS_POINTERS],
}

/// A mounted file system on any medium.
pub(crate) type Mounted = FileSystem<'static, Medium>;

impl Object for Fs {
    type Content = Mounted;
    const STATE: u32 = 0x7964_7453;
}

const _: () = assert!(fits::<Fs>());

/// Makes a call of a mounted volume that needs no handle.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn enter<T, E: Into<Code>>(fs: *mut Fs, call: impl FnOnce(&mut Mounted) -> Result<T, E>) -> Result<T, Code> {
    // SAFETY: As the caller says.
    unsafe { with(fs, |fs, _| call(fs).map_err(Into::into)) }
}

/// The same where the call cannot fail.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn ask<T>(fs: *mut Fs, call: impl FnOnce(&mut Mounted) -> T) -> Result<T, Code> {
    // SAFETY: As the caller says.
    unsafe { with(fs, |fs, _| Ok(call(fs))) }
}

/// Makes an empty volume on a medium. Everything on it is lost. `fs` holds no volume afterwards.
///
/// Power loss: after a cut neither the new volume nor an earlier one can be relied on; format again. Cost: a look at the mark of each
/// block and one read, some sixteen erases, a few programs. Errors: those of steadyfs_memory_bytes, STEADYFS_ERR_NOMEM,
/// STEADYFS_ERR_BADBLOCKS, STEADYFS_ERR_IO and others of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_format(fs: *mut Fs, config: *const Config) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { format(fs, config) })
}

unsafe fn format(fs: *mut Fs, config: *const Config) -> Result<(), Code> {
    // SAFETY: As the header says.
    let (_, config) = unsafe { begin(fs, config) }?;
    // SAFETY: As the header says.
    let (medium, memory, settings) = unsafe { new_medium(config) }?;
    Mounted::format(medium, &settings, memory)?;
    Ok(())
}

/// What a format and a mount begin with: an object without a volume, and the configuration.
unsafe fn begin<'a>(fs: *mut Fs, config: *const Config) -> Result<(*mut Slot<Mounted>, &'a Config), Code> {
    // SAFETY: As the header says.
    unsafe { Ok((clear(fs)?, pointers::reference(config)?)) }
}

/// The medium for a format, the memory of the volume, and the settings. Not inlined: its stack is free again when the format begins.
#[inline(never)]
unsafe fn new_medium(config: &Config) -> Result<(Medium, &'static mut [u8], steadyfs::Config), Code> {
    // SAFETY: As the header says.
    let driver = unsafe { config.driver() }?;
    let settings = config.settings(&driver)?;
    // SAFETY: As the header says.
    let (medium, memory) = driver.renewed()?.into_medium(unsafe { config.lent() }?)?;
    Ok((medium, memory, settings))
}

/// The medium for a mount, and the memory of the volume. Not inlined, for the same reason.
#[inline(never)]
unsafe fn present_medium(config: &Config) -> Result<(Medium, &'static mut [u8]), Code> {
    // SAFETY: As the header says.
    let driver = unsafe { config.driver() }?.found()?;
    driver.check()?;
    // SAFETY: As the header says.
    driver.into_medium(unsafe { config.lent() }?)
}

/// Mounts a volume. `fs` and the memory of the configuration are its own until steadyfs_unmount.
///
/// A volume that is not unmounted is as after a power cut: the memory may be used for something else, and the volume be mounted again.
///
/// Power loss: a mount may be cut as often as it likes. Cost: bounded whatever the number of files, steadyfs_bound_mount tells. Errors:
/// STEADYFS_ERR_NOTFORMATTED, the only one that is a reason to format; STEADYFS_ERR_GEOMETRY, STEADYFS_ERR_VERSION, STEADYFS_ERR_NOROOT,
/// STEADYFS_ERR_ISDISK, STEADYFS_ERR_NOMEM, STEADYFS_ERR_DRIVER, and those of the medium. Where something committed is lost the volume
/// is mounted for reading: steadyfs_damage.
///
/// How the medium is divided must be as at the format: erase_bytes and settings.group_sectors of NOR, also where the format chose the latter, page_bytes
/// of NAND, `first` of sectors. With others a volume is not found where it lies. On NOR that is STEADYFS_ERR_GEOMETRY, while the first block can be read; on NAND and on
/// sectors it is STEADYFS_ERR_NOTFORMATTED. Keep these numbers from one firmware to the next, or look for the old division before you format.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_mount(fs: *mut Fs, config: *const Config) -> c_int {
    // SAFETY: As the header says.
    status(unsafe { mount(fs, config) })
}

unsafe fn mount(fs: *mut Fs, config: *const Config) -> Result<(), Code> {
    // SAFETY: As the header says.
    let (volume, config) = unsafe { begin(fs, config) }?;
    let events = events(config.commit_on)?;
    // SAFETY: As the header says.
    let (medium, memory) = unsafe { present_medium(config) }?;
    let access = if config.read_only { Access::ReadOnly } else { Access::ReadWrite };
    // SAFETY: The place is aligned, and the caller's to give. What is written in place is copied once.
    let mounted = unsafe {
        let slot = &raw mut (*volume).content;
        mount_into(slot, medium, access, memory).map_err(|code| config.explain(code))?;
        (*slot).assume_init_mut()
    };
    mounted.set_commit_on(events);
    if config.commit_interval_ns != 0 {
        mounted.set_commit_interval(config.commit_interval_ns);
    }
    set_limits(mounted, config.commit_changes, config.commit_bytes)?;
    if config.trust_data {
        mounted.set_verify(Verify::Metadata);
    }
    // SAFETY: As the header says.
    lend_cache(mounted, unsafe { pointers::bytes_mut(config.cache, config.cache_bytes) }?)?;
    // SAFETY: As the header says.
    lend_read_cache(mounted, unsafe { pointers::bytes_mut(config.read_cache, config.read_cache_bytes) }?)?;
    // SAFETY: It has been written.
    unsafe { set::<Fs>(volume) };
    Ok(())
}

/// Mounts a volume into the place for it. Not inlined: one copy of it is on the stack.
///
/// # Safety
/// `slot` is aligned and may be written.
#[inline(never)]
unsafe fn mount_into(
    slot: *mut MaybeUninit<Mounted>,
    medium: Medium,
    access: Access,
    memory: &'static mut [u8],
) -> Result<(), Code> {
    match Mounted::mount(medium, access, memory) {
        // SAFETY: As the caller says.
        Ok(mounted) => unsafe { slot.cast::<Mounted>().write(mounted) },
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[cfg(feature = "groups")]
fn set_limits(fs: &mut Mounted, changes: u32, bytes: u32) -> Result<(), Code> {
    fs.set_commit_limits(steadyfs::CommitLimits { changes, bytes });
    Ok(())
}

#[cfg(not(feature = "groups"))]
fn set_limits(_: &mut Mounted, changes: u32, bytes: u32) -> Result<(), Code> {
    if changes == 0 && bytes == 0 { Ok(()) } else { Err(Code::ErrUnsupported) }
}

#[cfg(feature = "read-cache")]
fn lend_read_cache(fs: &mut Mounted, memory: &'static mut [u8]) -> Result<(), Code> {
    fs.lend_read_cache(memory);
    Ok(())
}

#[cfg(not(feature = "read-cache"))]
fn lend_read_cache(_: &mut Mounted, memory: &'static mut [u8]) -> Result<(), Code> {
    if memory.is_empty() { Ok(()) } else { Err(Code::ErrUnsupported) }
}

#[cfg(feature = "cache")]
fn lend_cache(fs: &mut Mounted, memory: &'static mut [u8]) -> Result<(), Code> {
    memory.fill(0);
    if memory.is_empty() { Ok(()) } else { Ok(fs.lend_cache(memory)?) }
}

#[cfg(not(feature = "cache"))]
fn lend_cache(_: &mut Mounted, memory: &'static mut [u8]) -> Result<(), Code> {
    if memory.is_empty() { Ok(()) } else { Err(Code::ErrUnsupported) }
}

/// Ends the use of a volume; commits where STEADYFS_COMMIT_UNMOUNT is chosen, as it is by default. The next mount then searches nothing
/// and programs nothing. Files need not be closed. After an error as well `fs` holds no volume, and what was committed stays.
///
/// Power loss: what was committed stays. Cost: that of a commit, and a root: steadyfs_bound_unmount. Errors: those of a commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_unmount(fs: *mut Fs) -> c_int {
    // SAFETY: As the header says.
    let result = unsafe { take(fs) }.and_then(|mounted| mounted.unmount().map(drop).map_err(Code::from));
    status(result)
}
