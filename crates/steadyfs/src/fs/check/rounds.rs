//! The order of the steps of a check and of a repair.
//!
//! ```text
//! round:  tables, lists → inodes, extensions, pages → entries → pages: marked, freed → names, leaked inodes
//!                              changed: next round ─┴─ changed: next round
//! ```
//!
//! Names are added after all pages and inodes in use were marked. Without the marks, a directory
//! that grows could take a page in use, or a free page that still has content.
//!
//! The findings of a step depend on the repairs of the steps before it. So a step that changed
//! anything ends its round. The repair ends after a round without changes.

use super::super::inode::{InodeHeader, InodeKind, ROOT};
use super::findings::{CheckReport, Count, Finding, Repairs};
use super::marks::Marks;
use crate::error::Error;
use crate::fs::commits::CommitOn;
use crate::fs::filesystem::FileSystem;
use crate::media::Flash;

/// Number of reads before a page counts as lost.
pub(super) const LOOKS: u32 = 3;
/// Maximum number of rounds of a repair, in addition to one round for each inode. If a round
/// empties an inode, pages of another inode may become free. So each inode may need a round. One
/// round mends all faults of one kind. So a chain of consequences has at most as many rounds as
/// there are kinds.
const ROUNDS_MAX: u32 = 32;

/// What a walk does with a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckMode {
    /// Reports the finding.
    Look,
    /// Mends the finding if possible, and then reports it. The final look reports the other
    /// findings.
    Mend,
}

/// A walk through a volume.
pub(super) struct Checker<'c, 'm, F> {
    pub fs: &'c mut FileSystem<'m, F>,
    pub marks: Marks<'c>,
    report: &'c mut dyn FnMut(Finding),
    pub mode: CheckMode,
    pub checked: CheckReport,
}

impl<'c, 'm, F: Flash> Checker<'c, 'm, F> {
    pub fn new(
        fs: &'c mut FileSystem<'m, F>,
        scratch: &'c mut [u8],
        report: &'c mut dyn FnMut(Finding),
    ) -> Result<Self, Error> {
        let marks = Marks::new(scratch, fs.volume.plan())?;
        Ok(Self { fs, marks, report, mode: CheckMode::Look, checked: CheckReport::default() })
    }

    /// Reports all faults.
    pub fn look(&mut self) -> Result<CheckReport, Error> {
        self.mode = CheckMode::Look;
        // Findings and repairs add up over all walks. Each walk counts files and pages from zero.
        let CheckReport { findings, mended, .. } = self.checked;
        self.checked = CheckReport { findings, mended, ..CheckReport::default() };
        self.begin_round();
        self.tables()?;
        self.lists()?;
        self.owners()?;
        self.directories()?;
        self.marks()?;
        self.leaked_pages()?;
        // Names come last, because only now are all inodes with a name marked.
        self.unnamed()?;
        Ok(self.checked)
    }

    /// Mends all faults that can be mended.
    pub fn mend(&mut self) -> Result<(), Error> {
        self.mode = CheckMode::Mend;
        // Each repair is a separate transaction.
        if self.fs.volume.store.logical.is_open() {
            self.fs.commit()?;
        }
        for _ in 0..self.fs.volume.plan().inode_count + ROUNDS_MAX {
            let before = self.checked.mended;
            self.begin_round();
            self.round(before)?;
            // After a round without a change, another round would find nothing to change.
            if self.checked.mended == before {
                break;
            }
        }
        // The counts of free space in RAM are older than the repair.
        self.fs.seen(|fs| fs.lists.load_with_space(&mut fs.volume)).map(drop)
    }

    /// Runs one round. If a step changes something on which later steps depend, the round ends.
    fn round(&mut self, before: Repairs) -> Result<(), Error> {
        self.tables()?;
        // The rewritten tables have other marks than the counts in RAM assume.
        self.fs.seen(|fs| fs.volume.count_space())?;
        self.lists()?;
        self.owners()?;
        // The next steps depend on these repairs, so they need a new walk.
        if self.checked.mended != before {
            return Ok(());
        }
        self.directories()?;
        if self.checked.mended != before {
            return Ok(());
        }
        self.marks()?;
        self.leaked_pages()?;
        // A directory that gets a name may grow. Then it must find the free pages.
        self.fs.seen(|fs| fs.volume.count_space())?;
        self.unnamed()
    }

    fn begin_round(&mut self) {
        self.marks.clear();
        self.fs.directories.forget();
    }

    /// Reports a finding that cannot be mended.
    pub fn tell(&mut self, finding: Finding) {
        if self.mode == CheckMode::Look {
            self.note(finding);
        }
    }

    /// In a look, reports a finding. In a repair, makes the change that mends the finding, commits
    /// it, counts it and reports it. If the change fails because of other damage, it is left out.
    pub fn fault(
        &mut self,
        finding: Finding,
        counter: Count,
        change: impl FnOnce(&mut FileSystem<'m, F>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.mode == CheckMode::Mend {
            let result = self.fs.change(change);
            if !self.is_mended(result, counter)? {
                return Ok(());
            }
        }
        self.note(finding);
        Ok(())
    }

    /// If a change was made, counts it. Not inlined, so that this code exists once: the code of
    /// `fault` exists once for each kind of change.
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

    /// Returns the inode behind the last inode in use. If the allocation map cannot be read,
    /// returns the number of all inodes.
    pub fn inodes_end(&mut self) -> Result<u32, Error> {
        let end = self
            .fs
            .seen(|fs| fs.volume.count_taken())?
            .map_or(self.fs.volume.plan().inode_count, |(_, end)| end);
        Ok(end.min(self.fs.volume.plan().inode_count))
    }

    /// Returns true if an inode is marked as in use, and the mark can be read.
    pub fn is_taken(&mut self, inode: u32) -> Result<bool, Error> {
        Ok(self.fs.seen(|fs| fs.volume.inode_is_taken(inode))?.unwrap_or(false))
    }

    /// Returns the header of an inode, or `None` if it cannot be read or is invalid.
    pub fn header(&mut self, inode: u32) -> Result<Option<InodeHeader>, Error> {
        self.fs.seen(|fs| fs.volume.read_header(inode))
    }

    /// Returns true if the path from a directory to its parents ends at the root.
    pub fn reaches_root(&mut self, directory: u32) -> Result<bool, Error> {
        let mut at = directory;
        // On a damaged volume the parents may form a circle.
        for _ in 0..=self.fs.volume.plan().inode_count {
            if at == ROOT {
                return Ok(true);
            }
            match self.header(at)? {
                Some(header)
                    if header.kind == InodeKind::Directory
                        && header.parent < self.fs.volume.plan().inode_count =>
                {
                    at = header.parent
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Returns true if the page is verified in one of several reads.
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
    /// Makes and commits one change, without the first steps of a call, because the lists may be
    /// damaged.
    pub(super) fn change(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
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
    /// Returns the result of the first successful look of up to `LOOKS` looks, or `None`.
    ///
    /// A single failed read does not prove damage, but a repair treats unreadable data as lost. If
    /// the store repeats every read by itself, one look is enough.
    pub(super) fn seen<T>(
        &mut self,
        mut look: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
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

/// Turns damage into `None`, and returns the errors of the device.
pub(super) fn soft<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error @ (Error::Device | Error::MediaFailing | Error::ReadOnly | Error::Unknown)) => {
            Err(error)
        }
        Err(_) => Ok(None),
    }
}
