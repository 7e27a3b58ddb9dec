//! Verifying a whole volume, and mending what can be mended.
//!
//! The walk goes by inodes: every directory names its entries once, every extension has an owner, everything else is on a list; every
//! page that is taken belongs to one file. Two rows of bits, in memory that the caller lends, note which inodes were named and
//! which pages were found. The volume needs none of this after a power cut: what it finds is damage.
//!
//! A repair goes in rounds ([`rounds`]) until one of them changes nothing; a look at everything ends it.
//!
//! | file | idea |
//! |---|---|
//! | [`rounds`] | what is mended before what, and when that ends |
//! | [`tables`] | the root page, its lists, the allocation map |
//! | [`owners`] | inodes, their extensions and pages: everything has one owner |
//! | [`entries`] | names: directories, and what none of them names |
//! | [`marks`] | what was met |
//! | [`findings`] | what is told |

mod entries;
mod findings;
mod marks;
mod owners;
mod rounds;
mod tables;

pub use findings::{Checked, Finding, Mended};

use super::filesystem::FileSystem;
use super::inode::InodeKind;
use crate::config::{Config, Layout, SPARE_INODES};
use crate::error::Error;
use crate::media::{Flash, Geometry};
use marks::Marks;
use rounds::Checker;

impl Config {
    /// Bytes that [`FileSystem::check`] needs to be lent.
    pub const fn check_bytes(&self, geometry: &Geometry) -> usize {
        let frames = (geometry.pages_per_block / self.unit_pages as u32).saturating_mul(geometry.block_count);
        (self.files_max.saturating_add(SPARE_INODES).div_ceil(8) + Layout::data_pages(frames, self).div_ceil(8)) as usize
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Verifies every page and every reference of the volume, and calls `report` for each fault; with `repair`, mends those that
    /// can be mended, each in a transaction of its own, and commits what was open before. What is left then are pages of files that cannot be read:
    /// a second repair finds and changes nothing else. Close all files first.
    ///
    /// # Power loss
    /// What was mended stays mended.
    ///
    /// # Cost
    /// Reads the whole volume, with `repair` all but the files' data once more in each round; it has no bound of its own.
    ///
    /// # Errors
    /// [`Error::ScratchTooSmall`] when `scratch` has fewer than [`Config::check_bytes`]; [`Error::Device`]; with `repair` those of every
    /// call that changes something. Damage is a finding, not an error.
    pub fn check(&mut self, scratch: &mut [u8], repair: bool, report: &mut dyn FnMut(Finding)) -> Result<Checked, Error> {
        let mut checker = Checker::new(self, scratch, report)?;
        if repair {
            checker.mend()?;
        }
        checker.look()
    }

    /// Accepts what the mount found missing as lost, [checks](Self::check) the volume and mends what the loss has left, so that it can be
    /// changed again: an allocation map with the content of before must not give away pages that are in use. Does nothing where nothing is
    /// missing. Says what it [did](Mended). If [small changes](Finding::LostChanges) are lost, a
    /// file's page without content becomes an error. Its content may be among them.
    ///
    /// # Power loss
    /// The volume can only be read until a repair ends; one that was cut is begun again.
    ///
    /// # Cost
    /// [`mount_bound`](Self::mount_bound), a frame for each lost leaf of the map, and that of a check with `repair`.
    ///
    /// # Errors
    /// - [`Error::Corrupt`] if the first leaf of the map is lost and has no copy. Nothing has changed.
    /// - [`Error::Corrupt`] if the repair left damage. The volume can still only be read.
    /// - [`Error::ReadOnly`] if the volume was mounted for reading, or the damage was found since the
    ///   mount.
    /// - The errors of [`check`](Self::check).
    pub fn repair(&mut self, scratch: &mut [u8], report: &mut dyn FnMut(Finding)) -> Result<Checked, Error> {
        if self.damage().is_none() {
            return Ok(Checked::default());
        }
        Marks::check_size(scratch, self.volume.plan())?;
        // Handles and the directory that was used last look again.
        self.volume.outdate_handles();
        self.directories.forget();
        self.volume.store.begin_repair(self.volume.plan().data)?;
        let checked = self.check(scratch, true, report);
        let is_in_doubt = checked.is_ok() && self.volume.store.status().is_in_doubt();
        let doubts = if is_in_doubt { self.report_doubt(report) } else { Ok(0) };
        // Only content may still be missing: what else is wrong may let a call take what belongs to another file.
        let is_mended = checked.is_ok_and(|checked| checked.findings == checked.mended.total() + checked.unreadable);
        self.volume.store.end_repair(is_mended && doubts.is_ok())?;
        let (checked, doubts) = (checked?, doubts?);
        if is_mended { Ok(Checked { findings: checked.findings + doubts, ..checked }) } else { Err(Error::Corrupt) }
    }

    /// Reports every file and directory as one that may be in an earlier state, and the number of
    /// empty inodes. Returns the number of findings.
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
