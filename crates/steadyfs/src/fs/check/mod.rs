//! Verifies a whole volume, and mends the damage that can be mended.
//!
//! The walk visits all inodes. A directory names each of its entries once, an extension has an
//! owner, and all other inodes are on a list. Every page in use belongs to one file. Two bitmaps
//! record the inodes with a name and the pages that were found. The caller lends the memory for
//! these bitmaps. A power cut alone never makes a check or repair necessary: every finding is
//! damage.
//!
//! A repair works in rounds ([`rounds`]) until a round changes nothing. It ends with a complete
//! look.
//!
//! | file | idea |
//! |---|---|
//! | [`rounds`] | the order of the repair steps, and its end |
//! | [`tables`] | the root page, its lists, the allocation map |
//! | [`owners`] | inodes, their extensions and pages: each has one owner |
//! | [`entries`] | names: directories, and inodes without a name |
//! | [`marks`] | bits for the inodes and pages that a walk has found |
//! | [`findings`] | the findings, and the counts of a check and a repair |

mod entries;
mod findings;
mod marks;
mod owners;
mod rounds;
mod tables;

pub use findings::{CheckReport, Finding, Repairs};

use super::filesystem::FileSystem;
use super::inode::InodeKind;
use crate::config::{Config, Layout, SPARE_INODES};
use crate::error::Error;
use crate::media::{Flash, Geometry};
use marks::Marks;
use rounds::Checker;

impl Config {
    /// Returns the number of bytes of the scratch memory of [`FileSystem::check`].
    pub const fn check_bytes(&self, geometry: &Geometry) -> usize {
        let frames = (geometry.pages_per_block / self.pages_per_logical_page as u32)
            .saturating_mul(geometry.block_count);
        (self.files_max.saturating_add(SPARE_INODES).div_ceil(8)
            + Layout::data_pages(frames, self).div_ceil(8)) as usize
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Verifies every page and every reference of the volume, and calls `report` for each fault.
    ///
    /// If `repair` is true, it first commits an open transaction. Then it mends each fault that can
    /// be mended, in a separate transaction. The remaining faults are pages of files that cannot be
    /// read: a second repair finds nothing else, and changes nothing. Close all files first.
    ///
    /// # Power loss
    /// Faults that were mended before a power cut stay mended.
    ///
    /// # Cost
    /// Reads the whole volume. If `repair` is true, each round also reads everything except the
    /// data of files. This call has no bound.
    ///
    /// # Errors
    /// - [`Error::ScratchTooSmall`] if `scratch` has fewer bytes than [`Config::check_bytes`].
    /// - [`Error::Device`].
    /// - If `repair` is true, the errors of every call that changes something.
    ///
    /// Damage is a finding, not an error.
    pub fn check(
        &mut self,
        scratch: &mut [u8],
        repair: bool,
        report: &mut dyn FnMut(Finding),
    ) -> Result<CheckReport, Error> {
        let mut checker = Checker::new(self, scratch, report)?;
        if repair {
            checker.mend()?;
        }
        checker.look()
    }

    /// Accepts the losses that the mount found, [checks](Self::check) the volume, and mends the
    /// consequences. After that, the volume can be changed again. If nothing is lost, does nothing.
    /// Returns the [repairs](Repairs) and the result of the check.
    ///
    /// The repair is necessary because an old allocation map could mark pages in use as free. If
    /// [small changes](Finding::LostChanges) are lost, a page of a file without content becomes an
    /// error, because its content may be among the lost changes.
    ///
    /// # Power loss
    /// The volume is read-only until a repair ends. If power is cut in a repair, the next repair
    /// starts again from the beginning.
    ///
    /// # Cost
    /// The cost of [`CallBounds::mount`](super::CallBounds::mount), a frame for each lost leaf of
    /// the map, and the cost of a check with `repair`.
    ///
    /// # Errors
    /// - [`Error::Corrupt`] if the first leaf of the map is lost and has no copy. Nothing has
    ///   changed.
    /// - [`Error::Corrupt`] if the repair left damage. The volume is still read-only.
    /// - [`Error::ReadOnly`] if the volume was mounted for reading, or if the damage was found
    ///   after the mount.
    /// - The errors of [`check`](Self::check).
    pub fn repair(
        &mut self,
        scratch: &mut [u8],
        report: &mut dyn FnMut(Finding),
    ) -> Result<CheckReport, Error> {
        if self.damage().is_none() {
            return Ok(CheckReport::default());
        }
        // This error must come before the loss is accepted.
        Marks::check_size(scratch, self.volume.plan())?;
        // Outdate all handles and the directory that was used last.
        self.volume.outdate_handles();
        self.directories.forget();
        self.volume.store.begin_repair(self.volume.plan().data)?;
        let checked = self.check(scratch, true, report);
        let is_in_doubt = checked.is_ok() && self.volume.store.status().is_in_doubt();
        let doubts = if is_in_doubt { self.report_doubt(report) } else { Ok(0) };
        // The repair is complete if nothing but content is missing. After any other fault, a call
        // might take a page of another file.
        let is_mended = checked
            .is_ok_and(|checked| checked.findings == checked.mended.total() + checked.unreadable);
        self.volume.store.end_repair(is_mended && doubts.is_ok())?;
        let (checked, doubts) = (checked?, doubts?);
        if is_mended {
            Ok(CheckReport { findings: checked.findings + doubts, ..checked })
        } else {
            Err(Error::Corrupt)
        }
    }

    /// Reports that every file and directory may be in an earlier state, and reports the number of
    /// empty inodes. Returns the number of these findings.
    fn report_doubt(&mut self, report: &mut dyn FnMut(Finding)) -> Result<u32, Error> {
        let (mut count, inode_count) = (1, self.volume.plan().inode_count);
        let mut unknown = 0;
        for inode in 0..inode_count {
            let header = match self.seen(|fs| fs.volume.inode_is_taken(inode))? {
                Some(true) => self.seen(|fs| fs.volume.read_header(inode))?,
                _ => None,
            };
            match header.map(|header| header.kind) {
                Some(InodeKind::File | InodeKind::Directory) => {
                    report(Finding::InDoubt { inode });
                    count += 1;
                }
                Some(_) => {}
                None => unknown += 1,
            }
        }
        report(Finding::LostChanges { inodes: unknown });
        Ok(count)
    }
}
