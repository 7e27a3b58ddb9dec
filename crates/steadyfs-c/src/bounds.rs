//! Worst cases of calls, available before the call.

use crate::error::status;
use crate::files::{FileHandle, STEADYFS_O_APPEND, STEADYFS_O_CREAT, STEADYFS_O_TRUNC, options};
use crate::handle::with_handle;
use crate::pointers;
use crate::volume::{Fs, Mounted, enter};
use core::ffi::{c_char, c_int};
use steadyfs::media::Flash;
use steadyfs::{Bound, Call, CallSequence};

/// The worst case of a call that is made now.
///
/// - It holds for the next call alone. After a change, later calls may have larger bounds. So do
///   not add up bounds that were asked in advance.
/// - It belongs to the present state. It grows with the fill of the volume, and with the small
///   changes that wait in its buffers.
/// - It includes a commit that the handle or commit_on causes. A steadyfs_commit by the caller is
///   a separate call.
/// - It holds if no program fails. Each failure adds the programs of a logical page and of a root,
///   and an erase. Only Rust computes bounds with failures (CallBounds::with_failures).
/// - It costs nothing: the call that stores it only computes.
///
/// steadyfs_format has no bound. A run of `steady evaluate` with `--fill` and `--timing maximum`
/// prints the largest bound at a fill.
///
/// `time_ns` is the time of the slowest case. Each other field is the maximum number of one
/// operation. The maxima may belong to different cases.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of reads of whole pages.
    pub reads: u32,
    /// Number of reads of tags without their pages.
    pub tag_reads: u32,
    /// Number of programs of pages.
    pub programs: u32,
    /// Number of programs that copy a page inside the chip: calls of the driver's `copy`.
    pub copies: u32,
    /// Number of erases of blocks.
    pub erases: u32,
    /// Number of instructions of the processor, beside those of the operations.
    pub instructions: u32,
    /// Time in nanoseconds, computed from the timing of the driver and steadyfs_config.instruction_ps.
    pub time_ns: u64,
}

// These functions are not inlined. Otherwise each function below would contain its own copy of
// their code.
impl Cost {
    #[inline(never)]
    pub(crate) fn of(fs: &Mounted, cost: &steadyfs::Cost) -> Self {
        let steadyfs::Cost { reads, tag_reads, programs, copies, erases, instructions } = *cost;
        Self {
            reads,
            tag_reads,
            programs,
            copies,
            erases,
            instructions,
            time_ns: cost.time_ns(&fs.flash().timing()),
        }
    }

    #[inline(never)]
    pub(crate) fn of_bound(fs: &Mounted, bound: &Bound) -> Self {
        Self { time_ns: bound.time_ns(&fs.flash().timing()), ..Self::of(fs, &bound.most()) }
    }

    #[inline(never)]
    pub(crate) fn of_call(fs: &Mounted, call: Call) -> Self {
        Self::of_bound(fs, &fs.bounds().of(call))
    }

    /// Returns the cost of two calls in a row.
    #[inline(never)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            reads: self.reads.saturating_add(other.reads),
            tag_reads: self.tag_reads.saturating_add(other.tag_reads),
            programs: self.programs.saturating_add(other.programs),
            copies: self.copies.saturating_add(other.copies),
            erases: self.erases.saturating_add(other.erases),
            instructions: self.instructions.saturating_add(other.instructions),
            time_ns: self.time_ns.saturating_add(other.time_ns),
        }
    }

    /// Returns the larger value of each field of two costs.
    #[inline(never)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            reads: self.reads.max(other.reads),
            tag_reads: self.tag_reads.max(other.tag_reads),
            programs: self.programs.max(other.programs),
            copies: self.copies.max(other.copies),
            erases: self.erases.max(other.erases),
            instructions: self.instructions.max(other.instructions),
            time_ns: self.time_ns.max(other.time_ns),
        }
    }

    /// Returns the cost of `count` such calls in a row.
    #[inline(never)]
    pub(crate) fn times(self, count: u64) -> Self {
        let many = |number: u32| {
            u32::try_from(u64::from(number).saturating_mul(count)).unwrap_or(u32::MAX)
        };
        Self {
            reads: many(self.reads),
            tag_reads: many(self.tag_reads),
            programs: many(self.programs),
            copies: many(self.copies),
            erases: many(self.erases),
            instructions: many(self.instructions),
            time_ns: self.time_ns.saturating_mul(count),
        }
    }
}

/// Returns the largest number of names that a path of this length can have.
#[inline(never)]
fn depth(path: &str) -> u32 {
    let bytes = path.as_bytes();
    let ends =
        |at: &usize| bytes[*at] != b'/' && bytes.get(at + 1).is_none_or(|next| *next == b'/');
    (0..bytes.len()).filter(ends).count() as u32
}

/// Stores a bound.
unsafe fn tell(fs: *mut Fs, cost: *mut Cost, bound: impl FnOnce(&Mounted) -> Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    status(unsafe { enter(fs, |fs| pointers::put(cost, bound(fs))) })
}

/// Stores the bound of a call with a path.
unsafe fn tell_of_path(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
    bound: impl FnOnce(&Mounted, u32) -> Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        match pointers::text(path) {
            Ok(path) => tell(fs, cost, |fs| bound(fs, depth(path))),
            Err(code) => code.number(),
        }
    }
}

/// Stores the bound of a call with two paths. `call` receives the number of names in both paths.
unsafe fn tell_of_paths(
    fs: *mut Fs,
    one: *const c_char,
    other: *const c_char,
    cost: *mut Cost,
    call: impl FnOnce(u32) -> Call,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        match pointers::text(other) {
            Ok(other) => {
                tell_of_path(fs, one, cost, |fs, one| Cost::of_call(fs, call(one + depth(other))))
            }
            Err(code) => code.number(),
        }
    }
}

/// Stores the worst case of steadyfs_file_open. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_file_open(
    fs: *mut Fs,
    path: *const c_char,
    flags: c_int,
    cost: *mut Cost,
) -> c_int {
    if let Err(code) = options(flags) {
        return code.number();
    }
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell_of_path(fs, path, cost, |fs, depth| {
            let mut cost = Cost::of_call(fs, Call::Open { depth });
            if flags & STEADYFS_O_CREAT != 0 {
                cost = cost.or(Cost::of_call(fs, Call::Create { depth }));
            }
            if flags & STEADYFS_O_TRUNC != 0 {
                cost.plus(Cost::of_call(fs, Call::Truncate))
            } else {
                cost
            }
        })
    }
}

/// Stores the worst case of steadyfs_file_close. It also holds for a file that was removed.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_file_close(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell(fs, cost, |fs| {
            Cost::of_call(fs, Call::Remove { depth: 0 }).or(Cost::of_call(fs, Call::Sync))
        })
    }
}

/// Stores the worst case of steadyfs_commit, steadyfs_sync and steadyfs_file_sync.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_commit(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of_call(fs, Call::Sync)) }
}

/// Stores the worst case of steadyfs_file_read of `size` bytes.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_file_read(
    fs: *mut Fs,
    size: usize,
    cost: *mut Cost,
) -> c_int {
    // The core counts bytes in 32 bits.
    let (whole, rest) = (size as u64 / READ_MAX, (size as u64 % READ_MAX) as u32);
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell(fs, cost, |fs| {
            let cost = Cost::of_call(fs, Call::Read(rest));
            if whole == 0 {
                cost
            } else {
                cost.plus(Cost::of_call(fs, Call::Read(READ_MAX as u32)).times(whole))
            }
        })
    }
}

/// Largest number of bytes of one read in a bound.
const READ_MAX: u64 = 1 << 24;

/// Stores the worst case of steadyfs_file_write of `size` bytes at the position of a file, for any
/// existing data at this position. `time_ns` is the worst case of the whole write. The other fields
/// are sums over the logical pages that the write touches. The sum for the first page is computed
/// from the present state of the volume. The sums for the other pages are computed from its present
/// fill.
///
/// If the handle has STEADYFS_O_APPEND, and the file was changed through another handle, the call
/// looks up the inode. Errors: STEADYFS_ERR_BADF.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_file_write(
    fs: *mut Fs,
    file: *mut FileHandle,
    size: usize,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        with_handle(fs, file, |fs, file, position, flags| {
            let page = u64::from(fs.usage().logical_bytes);
            let offset = if flags & STEADYFS_O_APPEND != 0 { fs.size(file)? } else { *position };
            let room = page - offset % page;
            let first = (size as u64).min(room);
            let further = (size as u64 - first).div_ceil(page);
            let mut sum = Cost::of_call(fs, fs.bounds().write_call(file, offset, first as u32));
            if further > 0 {
                let row = CallSequence::Write {
                    file,
                    offset,
                    bytes: u32::try_from(size).unwrap_or(u32::MAX),
                };
                let time_ns = fs.bounds().sequence_ns(row, &fs.flash().timing());
                sum = sum.plus(
                    Cost::of_bound(fs, &fs.bounds().at_fill(Call::Write(page as u32), 0))
                        .times(further),
                );
                sum.time_ns = sum.time_ns.min(time_ns);
            }
            pointers::put(cost, sum)
        })
    };
    status(result)
}

/// Stores the worst case of an overwrite of one whole existing logical page of a file, through a
/// handle with STEADYFS_O_DURABLE. It holds if no time was set with steadyfs_set_time.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_overwrite(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of_call(fs, Call::Overwrite)) }
}

/// Stores the worst case, in nanoseconds, of `count` overwrites in a row, such as one write of
/// several whole pages. This time is less than `count` times the worst case of one overwrite.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_overwrites(
    fs: *mut Fs,
    count: u32,
    time_ns: *mut u64,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    let result = unsafe {
        enter(fs, |fs| {
            let bound_ns =
                fs.bounds().sequence_ns(CallSequence::Overwrites(count), &fs.flash().timing());
            pointers::put(time_ns, bound_ns)
        })
    };
    status(result)
}

/// Stores the worst case of steadyfs_file_truncate.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_file_truncate(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of_call(fs, Call::Truncate)) }
}

/// Stores the worst case of steadyfs_remove. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_remove(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        // A directory is looked up twice, because the first look-up expects a file.
        tell_of_path(fs, path, cost, |fs, depth| {
            Cost::of_call(fs, Call::Remove { depth }).plus(Cost::of_call(fs, Call::Open { depth }))
        })
    }
}

/// Stores the worst case of steadyfs_rename. The bound holds if the depth of a moved directory is
/// at most the number of names in both paths. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rename(
    fs: *mut Fs,
    from: *const c_char,
    to: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell_of_paths(fs, from, to, cost, |depth| Call::Rename { depth }) }
}

/// Stores the worst case of steadyfs_exchange. The bound holds if the depth of each exchanged
/// directory is at most the number of names in both paths. Errors: STEADYFS_ERR_INVAL,
/// STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_exchange(
    fs: *mut Fs,
    one: *const c_char,
    other: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell_of_paths(fs, one, other, cost, |depth| Call::Exchange { depth }) }
}

/// Stores the worst case of steadyfs_stat and steadyfs_dir_open. Errors: STEADYFS_ERR_INVAL,
/// STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_stat(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell_of_path(fs, path, cost, |fs, depth| Cost::of_call(fs, Call::Open { depth })) }
}

/// Stores the worst case of steadyfs_getattr. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_getattr(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell_of_path(fs, path, cost, |fs, depth| {
            Cost::of_call(fs, Call::Open { depth }).plus(Cost::of_call(fs, Call::Open { depth: 0 }))
        })
    }
}

/// Stores the worst case of steadyfs_setattr and steadyfs_removeattr. Errors:
/// STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_setattr(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell_of_path(fs, path, cost, |fs, depth| {
            Cost::of_call(fs, Call::Open { depth }).plus(Cost::of_call(fs, Call::SetAttribute))
        })
    }
}

/// Stores the worst case of steadyfs_mkdir. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_mkdir(
    fs: *mut Fs,
    path: *const c_char,
    cost: *mut Cost,
) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell_of_path(fs, path, cost, |fs, depth| Cost::of_call(fs, Call::Create { depth })) }
}

/// Stores the worst case of steadyfs_dir_read of one entry. Each empty bucket of the directory adds
/// a look-up.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_dir_read(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of_call(fs, Call::List)) }
}

/// Stores the worst case of the next steadyfs_mount of this volume after a power cut, at any fill.
/// If the mount detects that the medium accepts no programs, it costs twice as much.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_mount(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of(fs, &fs.bounds().mount())) }
}

/// Stores the worst case of the next steadyfs_mount of this volume, if steadyfs_unmount ends its
/// use now. This mount programs nothing. If nothing was changed since a power cut in an unmount or
/// behind it, the worst case is that of steadyfs_bound_mount.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_clean_mount(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of(fs, &fs.bounds().clean_mount())) }
}

/// Stores the worst case of steadyfs_rollback.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_rollback(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe { tell(fs, cost, |fs| Cost::of(fs, &fs.bounds().rollback())) }
}

/// Stores the worst case of steadyfs_unmount: a commit and a root.
///
/// # Safety
/// See the [crate](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn steadyfs_bound_unmount(fs: *mut Fs, cost: *mut Cost) -> c_int {
    // SAFETY: The caller meets the conditions in the C header.
    unsafe {
        tell(fs, cost, |fs| {
            Cost::of_call(fs, Call::Sync).plus(Cost::of(fs, &fs.bounds().unmount()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_path_are_counted() {
        assert_eq!(["", "/", "a", "/a/b", "a//b/./c/"].map(depth), [0, 0, 1, 2, 4]);
    }

    #[test]
    fn costs_saturate() {
        let cost = Cost { reads: 3, time_ns: u64::MAX / 2, ..Cost::default() };
        assert_eq!(
            cost.times(1 << 40),
            Cost { reads: u32::MAX, time_ns: u64::MAX, ..Cost::default() }
        );
        assert_eq!(cost.plus(cost).reads, 6);
    }
}
