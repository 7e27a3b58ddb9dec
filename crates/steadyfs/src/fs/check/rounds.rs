//! The order in which a volume is looked through, and mended.
//!
//! ```text
//! round:  tables, lists → inodes, extensions, pages → entries → pages: marked, freed → names, leaked inodes
//!                              changed: next round ─┴─ changed: next round
//! ```
//!
//! Names come behind the marks of all pages and inodes that are in use: a directory that grows must not take one of them, nor one that is free and
//! holds something. What a step
//! finds rests on what the steps before it have mended, so a step that changed anything ends its round. A round that changes nothing is the last one.

use super::super::inode::{Header, InodeKind, ROOT};
use super::findings::{Checked, Count, Finding, Mended};
use super::marks::Marks;
use crate::error::Error;
use crate::fs::commits::CommitOn;
use crate::fs::filesystem::FileSystem;
use crate::media::Flash;

/// Looks at a page before it is taken for lost.
pub(super) const LOOKS: u32 = 3;
/// Rounds of a repair at most, beside one for each inode, whose pages may be free once another one is emptied. Each mends all of its kind: a chain of
/// consequences is as long as there are kinds.
const ROUNDS_MAX: u32 = 32;

/// What a walk does with what it finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It tells.
    Look,
    /// It mends what can be mended, and tells that; the rest is told by the look that follows.
    Mend,
}

/// A walk through a volume.
pub(super) struct Checker<'c, 'm, F> {
    pub fs: &'c mut FileSystem<'m, F>,
    pub marks: Marks<'c>,
    report: &'c mut dyn FnMut(Finding),
    pub mode: Mode,
    pub checked: Checked,
}

impl<'c, 'm, F: Flash> Checker<'c, 'm, F> {
    pub fn new(fs: &'c mut FileSystem<'m, F>, scratch: &'c mut [u8], report: &'c mut dyn FnMut(Finding)) -> Result<Self, Error> {
        let marks = Marks::new(scratch, fs.volume.plan())?;
        Ok(Self { fs, marks, report, mode: Mode::Look, checked: Checked::default() })
    }

    /// Tells of all that is not as it should be.
    pub fn look(&mut self) -> Result<Checked, Error> {
        self.mode = Mode::Look;
        let Checked { findings, mended, .. } = self.checked;
        self.checked = Checked { findings, mended, ..Checked::default() };
        self.begin_round();
        self.tables()?;
        self.lists()?;
        self.owners()?;
        self.directories()?;
        self.marks()?;
        self.leaked_pages()?;
        self.unnamed()?;
        Ok(self.checked)
    }

    /// Mends all that can be mended.
    pub fn mend(&mut self) -> Result<(), Error> {
        self.mode = Mode::Mend;
        if self.fs.volume.store.logical.is_open() {
            self.fs.commit()?;
        }
        for _ in 0..self.fs.volume.plan().inode_count + ROUNDS_MAX {
            let before = self.checked.mended;
            self.begin_round();
            self.round(before)?;
            if self.checked.mended == before {
                break;
            }
        }
        // What RAM keeps of free space was taken from what there was before.
        self.fs.seen(|fs| fs.lists.load_with_space(&mut fs.volume)).map(drop)
    }

    /// One round; ends with the first step that has changed something on which others rest.
    fn round(&mut self, before: Mended) -> Result<(), Error> {
        self.tables()?;
        self.fs.seen(|fs| fs.volume.count_space())?;
        self.lists()?;
        self.owners()?;
        if self.checked.mended != before {
            return Ok(());
        }
        self.directories()?;
        if self.checked.mended != before {
            return Ok(());
        }
        self.marks()?;
        self.leaked_pages()?;
        self.fs.seen(|fs| fs.volume.count_space())?;
        self.unnamed()
    }

    fn begin_round(&mut self) {
        self.marks.clear();
        self.fs.directories.forget();
    }

    /// Tells of something that cannot be mended.
    pub fn tell(&mut self, finding: Finding) {
        if self.mode == Mode::Look {
            self.note(finding);
        }
    }

    /// Tells of something, or makes the change that mends it, durably, and counts it. What damage elsewhere does not allow stays as it is.
    pub fn fault(
        &mut self,
        finding: Finding,
        counter: Count,
        change: impl FnOnce(&mut FileSystem<'m, F>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.mode == Mode::Mend {
            let result = self.fs.change(change);
            if !self.is_mended(result, counter)? {
                return Ok(());
            }
        }
        self.note(finding);
        Ok(())
    }

    /// Counts a change, if it was made. Not inlined: changes are many.
    #[inline(never)]
    fn is_mended(&mut self, result: Result<(), Error>, counter: Count) -> Result<bool, Error> {
        let is_made = soft(result)?.is_some();
        *self.checked.mended.counter(counter) += u32::from(is_made);
        Ok(is_made)
    }

    fn note(&mut self, finding: Finding) {
        self.checked.findings += 1;
        (self.report)(finding);
    }

    /// The inode behind the last one that is taken, or, where nobody can tell, behind all.
    pub fn inodes_end(&mut self) -> Result<u32, Error> {
        let end = self.fs.seen(|fs| fs.volume.count_taken())?.map_or(self.fs.volume.plan().inode_count, |(_, end)| end);
        Ok(end.min(self.fs.volume.plan().inode_count))
    }

    /// Whether an inode is marked as taken, as far as that can be read.
    pub fn is_taken(&mut self, inode: u32) -> Result<bool, Error> {
        Ok(self.fs.seen(|fs| fs.volume.inode_is_taken(inode))?.unwrap_or(false))
    }

    /// The header of an inode; `None` when it cannot be read, or makes no sense.
    pub fn header(&mut self, inode: u32) -> Result<Option<Header>, Error> {
        self.fs.seen(|fs| fs.volume.read_header(inode))
    }

    /// Whether the directories above one end at the root.
    pub fn reaches_root(&mut self, directory: u32) -> Result<bool, Error> {
        let mut at = directory;
        for _ in 0..=self.fs.volume.plan().inode_count {
            if at == ROOT {
                return Ok(true);
            }
            match self.header(at)? {
                Some(header) if header.kind == InodeKind::Directory && header.parent < self.fs.volume.plan().inode_count => {
                    at = header.parent
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether a page is what was written, by several looks.
    pub fn is_readable(&mut self, logical: u32) -> Result<bool, Error> {
        for _ in 0..LOOKS {
            if soft(self.fs.volume.store.logical.verify(logical))?.unwrap_or(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Makes one change, durably, and nothing that a call makes beside it: lists may be damaged.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.begin_change()?;
        let result = change(self);
        self.end_change(result)
    }

    #[inline(never)]
    fn begin_change(&mut self) -> Result<(), Error> {
        self.volume.store.begin()?;
        self.accept();
        Ok(())
    }

    #[inline(never)]
    fn end_change(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        self.finish(result, CommitOn::NONE, true)
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// What one of several looks finds. A read that fails once is no damage: whatever a repair cannot see it takes for lost. One look where every read is
    /// repeated anyway.
    pub(super) fn seen<T>(&mut self, mut look: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Option<T>, Error> {
        let looks = if self.volume.store.unsteady_reads() > 0 { 1 } else { LOOKS };
        let mut seen = None;
        for _ in 0..looks {
            seen = soft(look(self))?;
            if seen.is_some() {
                break;
            }
        }
        Ok(seen)
    }
}

/// Lets damage pass and keeps the errors of the device.
pub(super) fn soft<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error @ (Error::Device | Error::MediaFailing | Error::ReadOnly | Error::Unknown)) => Err(error),
        Err(_) => Ok(None),
    }
}
