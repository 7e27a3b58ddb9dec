//! A volume in memory of C: format, mount, unmount, and access to a mounted volume.

use crate::config::{Config, events};
use crate::error::{Code, status};
use crate::medium::Medium;
use crate::object::{Object, Slot, clear, fits, set, take, with};
use crate::pointers;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use steadyfs::{Access, FileSystem, Processor, Verify};

/// Number of 64-bit words of steadyfs_t.
pub const STEADYFS_WORDS: usize = 112;
/// Number of pointer-sized words of steadyfs_t.
pub const STEADYFS_POINTERS: usize = 52;

/// A volume, in memory of the caller. This struct gives C its size and alignment.
///
/// The memory may hold any bytes before steadyfs_mount. If the memory is filled with zeros, calls
/// before the mount are refused. The struct must not move while it is mounted. Volumes are
/// independent of each other. A volume takes one call at a time: several threads need a mutex.
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

/// Calls `call` with a mounted volume. The call needs no handle.
///
/// # Safety
/// The conditions of [`with`].
pub(crate) unsafe fn enter<T, E: Into<Code>>(
    fs: *mut Fs,
    call: impl FnOnce(&mut Mounted) -> Result<T, E>,
) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions of this function.
    unsafe { with(fs, |fs, _| call(fs).map_err(Into::into)) }
}

/// Calls `call` with a mounted volume. The call cannot fail.
///
/// # Safety
/// The conditions of [`with`].
pub(crate) unsafe fn ask<T>(fs: *mut Fs, call: impl FnOnce(&mut Mounted) -> T) -> Result<T, Code> {
    // SAFETY: The caller meets the conditions of this function.
    unsafe { with(fs, |fs, _| Ok(call(fs))) }
}

/// Creates an empty volume on a medium. All data on the medium is lost. `fs` contains no volume
/// afterwards.
///
/// Power loss: after a power cut neither the new volume nor an earlier volume is reliable. Format
/// again. Cost: a check of the bad-block mark and one read for each block. Also about sixteen
/// erases and a few programs. Errors: the errors of steadyfs_memory_bytes, STEADYFS_ERR_NOMEM,
/// STEADYFS_ERR_BADBLOCKS, STEADYFS_ERR_IO and other errors of the medium.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_format(fs: *mut Fs, config: *const Config) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { format(fs, config) })
}

unsafe fn format(fs: *mut Fs, config: *const Config) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    let (_, config) = unsafe { begin(fs, config) }?;
    // SAFETY: The caller meets the conditions in the C header.
    let (medium, memory, settings) = unsafe { new_medium(config) }?;
    Mounted::format(medium, &settings, memory)?;
    Ok(())
}

/// Begins a format or a mount. Returns an object without a volume, and the configuration.
unsafe fn begin<'a>(
    fs: *mut Fs,
    config: *const Config,
) -> Result<(*mut Slot<Mounted>, &'a Config), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { Ok((clear(fs)?, pointers::reference(config)?)) }
}

/// Returns the medium for a format, the memory of the volume, and the settings. Not inlined, so
/// that its stack is free again when the format begins.
#[inline(never)]
unsafe fn new_medium(
    config: &Config,
) -> Result<(Medium, &'static mut [u8], steadyfs::Config), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    let driver = unsafe { config.driver() }?;
    let settings = config.settings(&driver)?;
    // SAFETY: The caller meets the conditions in the C header.
    let (medium, memory) = driver.renewed()?.into_medium(unsafe { config.lent() }?)?;
    Ok((medium, memory, settings))
}

/// Returns the medium for a mount, and the memory of the volume. Not inlined, so that its stack is
/// free again when the mount begins.
#[inline(never)]
unsafe fn present_medium(config: &Config) -> Result<(Medium, &'static mut [u8]), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    let driver = unsafe { config.driver() }?.found()?;
    driver.check()?;
    // SAFETY: The caller meets the conditions in the C header.
    driver.into_medium(unsafe { config.lent() }?)
}

/// Mounts a volume. `fs` and the memory of the configuration belong to the volume until
/// steadyfs_unmount.
///
/// If a volume is not unmounted, its state is the same as after a power cut. The caller may then
/// use its memory for other purposes, and may mount the volume again.
///
/// Power loss: power cuts during mounts do no harm, even many in a row. Cost: bounded, and
/// independent of the number of files: see steadyfs_bound_mount. Errors: STEADYFS_ERR_NOTFORMATTED
/// is the only error after which you may format. Others are STEADYFS_ERR_GEOMETRY,
/// STEADYFS_ERR_VERSION, STEADYFS_ERR_NOROOT, STEADYFS_ERR_ISDISK, STEADYFS_ERR_NOMEM,
/// STEADYFS_ERR_DRIVER, and the errors of the medium. If committed data is lost, the volume is
/// mounted for reading: see steadyfs_damage.
///
/// The division of the medium must be the same as at the format. On NOR the division is erase_bytes
/// and settings.group_sectors, even if the format itself chose group_sectors. On NAND it is
/// page_bytes, and on sectors it is `first`. If the division differs, the mount does not find the
/// volume. On NOR it then returns STEADYFS_ERR_GEOMETRY, if the first block can be read. On NAND
/// and on sectors it returns STEADYFS_ERR_NOTFORMATTED. Do not change these numbers in a new
/// firmware, or look for the old division before you format.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_mount(fs: *mut Fs, config: *const Config) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { mount(fs, config) })
}

unsafe fn mount(fs: *mut Fs, config: *const Config) -> Result<(), Code> {
    // SAFETY: The caller meets the conditions in the C header.
    let (volume, config) = unsafe { begin(fs, config) }?;
    let events = events(config.commit_on)?;
    // SAFETY: The caller meets the conditions in the C header.
    let (mut medium, memory) = unsafe { present_medium(config) }?;
    medium.set_processor(Processor::of_instruction_ps(config.instruction_ps));
    let access = if config.read_only { Access::ReadOnly } else { Access::ReadWrite };
    // SAFETY: The pointer is aligned, and its target belongs to the caller. The volume is written
    // directly to this memory, so that it is copied only once.
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
    // SAFETY: The caller meets the conditions in the C header.
    lend_cache(mounted, unsafe { pointers::bytes_mut(config.cache, config.cache_bytes) }?)?;
    // SAFETY: The caller meets the conditions in the C header.
    lend_read_cache(mounted, unsafe {
        pointers::bytes_mut(config.read_cache, config.read_cache_bytes)
    }?)?;
    // SAFETY: The content has been written.
    unsafe { set::<Fs>(volume) };
    Ok(())
}

/// Mounts a volume, and writes it to `slot`. Not inlined, so that the stack holds only one copy of
/// the volume.
///
/// # Safety
/// `slot` is aligned, and valid for writes.
#[inline(never)]
unsafe fn mount_into(
    slot: *mut MaybeUninit<Mounted>,
    medium: Medium,
    access: Access,
    memory: &'static mut [u8],
) -> Result<(), Code> {
    match Mounted::mount(medium, access, memory) {
        // SAFETY: The caller meets the conditions of this function.
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

/// Ends the use of a volume. Commits if STEADYFS_COMMIT_UNMOUNT is set, as it is by default. The
/// next mount is then fast: it need not search for changes, and programs nothing. Files need not be
/// closed. `fs` contains no volume afterwards, even after an error. Committed data is not lost.
///
/// Power loss: committed data is not lost. Cost: a commit and a root, see steadyfs_bound_unmount.
/// Errors: the errors of a commit.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_unmount(fs: *mut Fs) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result =
        unsafe { take(fs) }.and_then(|mounted| mounted.unmount().map(drop).map_err(Code::from));
    status(result)
}
