//! The worst case of calls in a row. It is less than the sum of their bounds, because one call does
//! work that the next calls then need not do.

#[cfg(doc)]
use super::CallBounds;
use super::call::{Call, first_steps, looks_of_steps, steps_of_row, work_of_pieces};
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
    let each = match fs.lists.steps(&fs.volume, orphans) {
        0 => {
            let base_ns = Call::Overwrite.base(&fs.volume).times(count).time_ns(timing);
            let row_ns = fs.volume.store.bounds().in_a_row_ns(&Work::PAGE, count, timing);
            each.min(row_ns.saturating_add(base_ns))
        }
        _ => each,
    };
    // The numbers of so many patches would overflow.
    if count > Work::MANY {
        return each;
    }
    let work = Work { frames: count, ..Work::NONE };
    let row = Row { call: Call::Overwrite, work: &work, calls: count, taken: 0, per_commit: 1 };
    each.min(row.time_ns(fs, timing))
}

/// Calls in a row.
struct Row<'w> {
    /// The kind of each call.
    call: Call,
    /// The work of all calls together.
    work: &'w Work,
    /// Number of calls.
    calls: u32,
    /// Largest number of pages that the calls take together.
    taken: u32,
    /// Minimum number of pages that the calls write between two commits.
    per_commit: u32,
}

/// A row of calls with the steps of the trim list.
struct Stepped {
    /// The work of the calls and of the steps.
    work: Work,
    /// The look-ups of the calls and of the steps.
    looks: Cost,
    /// Largest number of commits between the steps.
    between: u32,
}

impl Row<'_> {
    /// Adds the steps of the trim list. Returns `None` if there may be too many steps.
    ///
    /// Each call may begin with a largest step. The calls also make a step for each page that the
    /// volume lacks at present, and for each page that they take.
    #[inline(never)]
    fn with_steps<F: Flash>(&self, fs: &FileSystem<'_, F>) -> Option<Stepped> {
        let (volume, orphans) = (&fs.volume, fs.has_abandoned_orphans());
        let trims = fs.lists.steps(volume, orphans);
        let lacks = volume.space().used + self.taken + TAKEN_PER_CALL > volume.capacity();
        let steps = match trims {
            0 => [0, 0],
            _ => [self.calls, trims - 1 + if lacks { self.taken } else { 0 }],
        };
        let count = steps[0] + steps[1];
        // The numbers of so many patches would overflow.
        if count > Work::MANY {
            return None;
        }
        let most = if trims > 0 && lacks { trims.max(TAKEN_PER_CALL) } else { trims };
        let commits = fs.trims_commit(self.call.begun(volume), true, most);
        let looks = self.call.lookups(volume).times(self.calls);
        Some(Stepped {
            work: self.work.plus(&steps_of_row(volume, steps, orphans)),
            looks: looks.plus(&Cost { reads: looks_of_steps(volume, count), ..Cost::default() }),
            between: u32::from(orphans) + if commits { count } else { 0 },
        })
    }

    /// Returns the worst case of the calls, computed from the present state, or `None` if this is
    /// not possible.
    fn cost<F: Flash>(&self, fs: &FileSystem<'_, F>, stepped: &Stepped) -> Option<Cost> {
        let Stepped { work, looks, between } = stepped;
        let row = fs.volume.store.bounds().row(work, self.calls, [self.per_commit, *between])?;
        Some(row.plus(looks))
    }

    /// Returns the worst case of the calls in nanoseconds.
    fn time_ns<F: Flash>(&self, fs: &FileSystem<'_, F>, timing: &Timing) -> u64 {
        let Some(stepped) = self.with_steps(fs) else { return u64::MAX };
        let near_ns = self.cost(fs, &stepped).map_or(u64::MAX, |cost| cost.time_ns(timing));
        if stepped.between > 0 {
            return near_ns;
        }
        let far_ns =
            fs.volume.store.bounds().row_ns(&stepped.work, self.calls, self.per_commit, timing);
        far_ns.saturating_add(stepped.looks.time_ns(timing)).min(near_ns)
    }
}

/// Returns the largest number of pages that a write of several pieces takes. These are the pages of
/// the pieces and of their indexes, and a page for data that leaves the inode.
fn taken_by<F: Flash>(fs: &FileSystem<'_, F>, pieces: u32) -> u32 {
    pieces + 2 * (2 + pieces / fs.volume.plan().index_entries) + 1
}

/// Returns the worst case of a write of `pieces` pieces that begins now, if it can be computed from
/// the present state. The call is a [`Call::Write`] or a [`Call::WriteLarge`].
///
/// Not inlined: its variables are off the stack while other bounds are computed.
#[inline(never)]
pub(super) fn pieces_cost<F: Flash>(
    fs: &FileSystem<'_, F>,
    call: Call,
    pieces: u32,
) -> Option<Cost> {
    let (Call::Write(bytes) | Call::WriteLarge(bytes)) = call else { return None };
    let end = bytes.min(fs.volume.store.layout().logical_bytes);
    let leaves = matches!(call, Call::Write(_)).then_some(AREA_BYTES as u32);
    // The numbers of so many patches would overflow.
    if pieces > Work::MANY {
        return None;
    }
    // The first and the last piece may complete a page, which is then written.
    let work = work_of_pieces(&fs.volume, pieces, [end; 2], leaves)
        .plus(&Work { frames: 2, ..Work::NONE });
    let row = Row { call, work: &work, calls: pieces, taken: taken_by(fs, pieces), per_commit: 1 };
    row.cost(fs, &row.with_steps(fs)?)
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
    let work = work_of_pieces(&fs.volume, pieces, ends, leaves);
    let row = Row {
        call: further,
        work: &work,
        calls: pieces,
        taken: taken_by(fs, pieces),
        per_commit: pages_between_commits(fs, further, pieces, file.options.durable),
    };
    each.min(row.time_ns(fs, timing))
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
