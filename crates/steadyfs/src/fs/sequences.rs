//! The worst case of calls in a row. It is less than the sum of their bounds, because one call does
//! work that the next calls then need not do.

#[cfg(doc)]
use super::CallBounds;
use super::call::{Call, first_steps, looks, work_of_pieces};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::inode::AREA_BYTES;
use super::lists::TAKEN_PER_CALL;
use super::transaction::PAGES_PER_CALL;
use crate::cost::Cost;
use crate::media::{Flash, Timing};
use crate::reclaim::{Buffer, Work};

/// Calls in a row with a worst case in [`CallBounds::sequence_ns`]. Each call begins as soon as the
/// call before it has returned.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CallSequence<'f> {
    /// This many durable overwrites of whole logical pages that the file already has, without a
    /// clock: [`Call::Overwrite`].
    Overwrites(u32),
    /// One write through a handle, of any length and over any content of the file.
    Write {
        /// The file.
        file: &'f File,
        /// Offset of the write. A handle that appends writes at the end of the file.
        offset: u64,
        /// Number of bytes of the write.
        bytes: u32,
    },
}

impl CallSequence<'_> {
    /// Computes [`CallBounds::sequence_ns`].
    pub(super) fn bound_ns<F: Flash>(self, fs: &FileSystem<'_, F>, timing: &Timing) -> u64 {
        match self {
            CallSequence::Overwrites(count) => overwrites_ns(fs, count, timing),
            CallSequence::Write { file, offset, bytes } => {
                write_ns(fs, file, offset, bytes, timing)
            }
        }
    }
}

fn overwrites_ns<F: Flash>(fs: &FileSystem<'_, F>, count: u32, timing: &Timing) -> u64 {
    let time_ns = |buffer| fs.bound_of(Call::Overwrite, buffer, 0).time_ns(timing);
    let further = u64::from(count.saturating_sub(1));
    let each =
        time_ns(Buffer::AsItIs).saturating_add(further.saturating_mul(time_ns(Buffer::Committed)));
    let orphans = fs.has_abandoned_orphans();
    let trims = fs.lists.steps(&fs.volume, orphans);
    if trims == 0 && !orphans {
        return each.min(fs.volume.store.bounds().in_a_row_ns(&Work::PAGE, count, timing));
    }
    // The numbers of so many patches would overflow.
    if count > Work::MANY {
        return each;
    }
    let work = Work { frames: count, ..Work::NONE };
    each.min(with_steps_ns(fs, Call::Overwrite, &work, [count, trims, 1], timing))
}

/// Returns the worst case, in nanoseconds, of `calls` calls in a row that do `work` together. Each
/// call begins with `trims` steps of the trim list, and has the look-ups of `call`. The calls write
/// at least `per_commit` pages between two commits. If commits may come between the steps, the
/// result is `u64::MAX`.
fn with_steps_ns<F: Flash>(
    fs: &FileSystem<'_, F>,
    call: Call,
    work: &Work,
    [calls, trims, per_commit]: [u32; 3],
    timing: &Timing,
) -> u64 {
    // The numbers of so many patches would overflow.
    let is_many = calls * trims > Work::MANY;
    if is_many || fs.trims_commit(call.begun(&fs.volume), true, trims) {
        return u64::MAX;
    }
    let steps = first_steps(&fs.volume, trims, false).times(calls);
    let work = work.plus(&steps).plus(&first_steps(&fs.volume, 0, fs.has_abandoned_orphans()));
    let looks = call
        .lookups(&fs.volume)
        .plus(&Cost { reads: looks(26) * trims, ..Cost::default() })
        .times(calls);
    fs.volume
        .store
        .bounds()
        .row_ns(&work, calls, per_commit, timing)
        .saturating_add(looks.time_ns(timing))
}

fn write_ns<F: Flash>(
    fs: &FileSystem<'_, F>,
    file: &File,
    offset: u64,
    bytes: u32,
    timing: &Timing,
) -> u64 {
    let logical_bytes = fs.volume.store.layout().logical_bytes;
    let is_known = file.stamp == fs.volume.stamp();
    let offset = if file.options.append { file.size } else { offset };
    let first = (logical_bytes - fs.volume.split(offset).1).min(bytes);
    // If the end of the file is unknown, the bytes may begin at another offset in a page.
    let pieces = 1
        + (bytes - first).div_ceil(logical_bytes)
        + u32::from(file.options.append && !is_known && bytes > 1);
    let first_ns = fs.bounds().of(fs.bounds().write_call(file, offset, first)).time_ns(timing);
    if pieces == 1 {
        return first_ns;
    }
    let leaves = (file.inline || !is_known).then_some(if is_known {
        file.size as u32
    } else {
        AREA_BYTES as u32
    });
    let piece = |bytes| if leaves.is_some() { Call::Write(bytes) } else { Call::WriteLarge(bytes) };
    let further = piece(logical_bytes);
    let last = (bytes - first) % logical_bytes;
    let last = if last > 0 { last } else { logical_bytes };
    let each = if is_known {
        let [further_ns, last_ns] =
            [logical_bytes, last].map(|bytes| fs.bounds().at_fill(piece(bytes), 0).time_ns(timing));
        let others = u64::from(pieces - 2).saturating_mul(further_ns).saturating_add(last_ns);
        first_ns.saturating_add(others)
    } else {
        fs.bounds().of(piece(bytes.max(logical_bytes + 1))).time_ns(timing)
    };
    // The numbers of so many patches would overflow.
    if pieces > Work::MANY {
        return each;
    }
    let ends = if is_known {
        [first, last]
    } else {
        [1; 2].map(|least| bytes.min(logical_bytes).max(least))
    };
    // The earlier pieces may have left less room.
    let used = fs.volume.space().used + TAKEN_PER_CALL * pieces;
    let trims = fs.lists.steps(&fs.volume, fs.has_abandoned_orphans());
    let trims =
        if trims > 0 && used > fs.volume.capacity() { trims.max(TAKEN_PER_CALL) } else { trims };
    let work = work_of_pieces(&fs.volume, pieces, ends, leaves);
    let per_commit = pages_between_commits(fs, further, pieces, file.options.durable);
    each.min(with_steps_ns(fs, further, &work, [pieces, trims, per_commit], timing))
}

/// Returns the minimum number of pages that `calls` calls in a row write between two commits. It is
/// more than 1 only if a commit waits until the transaction has no room for one more call.
fn pages_between_commits<F: Flash>(
    fs: &FileSystem<'_, F>,
    call: Call,
    calls: u32,
    durable: bool,
) -> u32 {
    let room = fs.volume.capacity().saturating_sub(fs.volume.space().used);
    if durable
        || fs.commits.events() != CommitOn::ON_SYNC
        || room <= PAGES_PER_CALL + TAKEN_PER_CALL * calls
    {
        return 1;
    }
    let first = first_steps(&fs.volume, fs.lists.steps(&fs.volume, false), false);
    let waiting = Work { discards: 0, ..first };
    let works = call
        .begun(&fs.volume)
        .works(&fs.volume, true)
        .into_iter()
        .flatten()
        .map(|work| work.plus(&waiting));
    works
        .map(|work| fs.volume.store.bounds().pages_until_full(&work, first.discards))
        .min()
        .unwrap_or(1)
}
