//! Verifying a whole volume, and mending what can be mended.
//!
//! The walk goes by inodes: every directory names its entries once, every extension has an owner, everything else is on a list; every
//! page that is taken belongs to one file. Two rows of bits, in memory that the caller lends, note which inodes were named and
//! which pages were found. The volume needs none of this after a power cut: what it finds is damage.

use core::fmt;

use super::directory::Found;
use super::inode::{Header, InodeKind, NAME_BYTES_MAX, REGIONS, ROOT, Region};
use super::regions::Node;
use super::transaction::CommitOn;
use super::{Call, FileSystem, InodeNumber};
use crate::config::{Config, SPARE_INODES};
use crate::error::Error;
use crate::media::{Flash, Geometry};
use crate::store::edit::Edit;

/// Something that a [check](FileSystem::check) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A page of the file system's own tables cannot be read, or is not what was written. One of inodes is emptied by a repair: what was in it is
    /// lost, and its places can be taken again.
    UnreadableTable {
        /// The logical page.
        logical: u32,
    },
    /// A page of a file or directory cannot be read, or is not what was written.
    UnreadablePage {
        /// Whose page.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// An inode that is in use makes no sense.
    BadInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// A directory names something that is not there, is in another directory, or is named twice. Mended by removing the entry.
    BadEntry {
        /// The directory.
        directory: InodeNumber,
        /// What the entry names.
        inode: InodeNumber,
    },
    /// A directory's counts are wrong. Mended.
    WrongCount {
        /// The directory.
        directory: InodeNumber,
    },
    /// Nothing names a file or directory. Mended by naming it in its directory as its inode says, or, where that cannot be, `lost-` and its
    /// number in the root.
    Lost {
        /// The file or directory.
        inode: InodeNumber,
    },
    /// An inode is taken and holds nothing that anything refers to. Mended by giving it back.
    LeakedInode {
        /// The inode.
        inode: InodeNumber,
    },
    /// A page is taken and belongs to nothing. Mended by giving it back.
    LeakedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to a file and is marked as free. Mended.
    UnmarkedPage {
        /// The logical page.
        logical: u32,
    },
    /// A page belongs to two files.
    SharedPage {
        /// The second one.
        inode: InodeNumber,
        /// The logical page.
        logical: u32,
    },
    /// A list of removed files does not end, or names something else.
    BadList,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableTable { logical } => write!(f, "logical page {logical}, a table of the file system, cannot be read"),
            Self::UnreadablePage { inode, logical } => write!(f, "inode {inode}: logical page {logical} cannot be read"),
            Self::BadInode { inode } => write!(f, "inode {inode} is in use and makes no sense"),
            Self::BadEntry { directory, inode } => {
                write!(f, "directory {directory} names inode {inode}, which is not there, elsewhere, or named twice")
            }
            Self::WrongCount { directory } => write!(f, "directory {directory} has another number of entries than it says"),
            Self::Lost { inode } => write!(f, "no directory names inode {inode}"),
            Self::LeakedInode { inode } => write!(f, "inode {inode} is taken and holds nothing"),
            Self::LeakedPage { logical } => write!(f, "logical page {logical} is taken and belongs to no file"),
            Self::UnmarkedPage { logical } => write!(f, "logical page {logical} belongs to a file and is marked as free"),
            Self::SharedPage { inode, logical } => {
                write!(f, "logical page {logical} of inode {inode} belongs to another file as well")
            }
            Self::BadList => f.write_str("a list of removed files is damaged"),
        }
    }
}

/// What a [check](FileSystem::check) looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Files.
    pub files: u32,
    /// Directories, the root included.
    pub directories: u32,
    /// Logical pages of files and directories.
    pub pages: u32,
    /// Findings.
    pub findings: u32,
    /// Findings that were mended.
    pub mended: u32,
}

impl Config {
    /// Bytes that [`FileSystem::check`] needs to be lent.
    pub const fn check_bytes(&self, geometry: &Geometry) -> usize {
        let frames = geometry.pages_per_block / self.unit_pages as u32 * geometry.block_count;
        ((self.files_max + SPARE_INODES).div_ceil(8) + (frames / 10 * 9).div_ceil(8)) as usize
    }
}

/// Looks at a page before it is taken for lost.
const LOOKS: u32 = 3;

/// The state of a check.
struct Check<'c> {
    named: &'c mut [u8],
    found: &'c mut [u8],
    repair: bool,
    report: &'c mut dyn FnMut(Finding),
    checked: Checked,
}

impl Check<'_> {
    /// Notes a finding; tells whether it is to be mended.
    fn find(&mut self, finding: Finding, mendable: bool) -> bool {
        (self.report)(finding);
        self.checked.findings += 1;
        mendable && self.repair
    }
}

/// Sets a bit; tells whether it was set before.
fn mark(bits: &mut [u8], index: u32) -> bool {
    let (byte, bit) = (&mut bits[index as usize / 8], 1 << (index % 8));
    let before = *byte & bit != 0;
    *byte |= bit;
    before
}

fn is_marked(bits: &[u8], index: u32) -> bool {
    bits[index as usize / 8] >> (index % 8) & 1 != 0
}

impl<F: Flash> FileSystem<'_, F> {
    /// Verifies every page and every reference of the volume, and calls `report` for each fault; with `repair`, mends those that
    /// can be mended, each in a transaction of its own. Close all files first.
    ///
    /// # Power loss
    /// What was mended stays mended.
    ///
    /// # Cost
    /// Reads the whole volume; it has no bound of its own.
    ///
    /// # Errors
    /// [`Error::ScratchTooSmall`] when `scratch` has fewer than [`Config::check_bytes`]; [`Error::Device`]; with `repair` those of every
    /// call that changes something. Damage is a finding, not an error.
    pub fn check(&mut self, scratch: &mut [u8], repair: bool, report: &mut dyn FnMut(Finding)) -> Result<Checked, Error> {
        let mut marked = Checked::default();
        if repair {
            // First of all the pages are marked that are in use: what is mended may take others.
            let mut nobody = |_| {};
            let Check { named, found, .. } = self.look_through(scratch, false, &mut nobody)?;
            let mut check = Check { named, found, repair, report: &mut *report, checked: marked };
            self.mark_found(&mut check)?;
            marked = check.checked;
        }
        let mut check = self.look_through(scratch, repair, report)?;
        self.mark_found(&mut check)?;
        self.free_leaked(&mut check)?;
        let checked = check.checked;
        Ok(Checked { findings: marked.findings + checked.findings, mended: marked.mended + checked.mended, ..checked })
    }

    /// Refuses memory that is too small for a check.
    pub(super) fn check_scratch(&self, scratch: &[u8]) -> Result<(), Error> {
        if scratch.len() < self.scratch_bytes().iter().sum() { Err(Error::ScratchTooSmall) } else { Ok(()) }
    }

    /// Bytes of a bit for each inode, and for each data page.
    fn scratch_bytes(&self) -> [usize; 2] {
        [self.plan.inode_count, self.plan.data_count].map(|count| count.div_ceil(8) as usize)
    }

    /// Everything but the marks of data pages.
    fn look_through<'c>(
        &mut self,
        scratch: &'c mut [u8],
        repair: bool,
        report: &'c mut dyn FnMut(Finding),
    ) -> Result<Check<'c>, Error> {
        self.check_scratch(scratch)?;
        let [inodes, pages] = self.scratch_bytes();
        let scratch = &mut scratch[..inodes + pages];
        scratch.fill(0);
        let (named, found) = scratch.split_at_mut(inodes);
        let mut check = Check { named, found, repair, report, checked: Checked::default() };
        mark(check.named, ROOT);
        self.check_tables(&mut check)?;
        for list in [self.lists.trim, self.lists.orphan_first] {
            self.check_list(&mut check, list)?;
        }
        for inode in 0..self.inodes_end()? {
            if self.taken_or_unreadable(inode)? {
                self.check_inode(&mut check, inode)?;
            }
        }
        self.check_names(&mut check)?;
        Ok(check)
    }

    /// Lets damage pass and keeps the errors of the device.
    fn soft<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error @ (Error::Device | Error::MediaFailing | Error::ReadOnly)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The inode behind the last one that is taken, or, where nobody can tell, behind all.
    fn inodes_end(&mut self) -> Result<u32, Error> {
        Ok(Self::soft(self.count_taken())?.map_or(self.plan.inode_count, |(_, end)| end))
    }

    fn taken_or_unreadable(&mut self, inode: u32) -> Result<bool, Error> {
        Ok(Self::soft(self.inode_is_taken(inode))?.unwrap_or(false))
    }

    /// The root page, the allocation map and the file table.
    fn check_tables(&mut self, check: &mut Check<'_>) -> Result<(), Error> {
        for logical in 0..self.plan.data {
            if !Self::soft(self.store.verify(logical))?.unwrap_or(false) {
                check.find(Finding::UnreadableTable { logical }, false);
                if logical >= self.plan.table {
                    // Its inodes are lost; others take their places.
                    self.salvage_page(check, logical)?;
                }
            }
        }
        Ok(())
    }

    fn check_list(&mut self, check: &mut Check<'_>, first: u32) -> Result<(), Error> {
        let mut number = first;
        while let Some(inode) = number.checked_sub(1) {
            let header = Self::soft(self.read_header(inode))?;
            let header = header.filter(|header| matches!(header.kind, InodeKind::Removed | InodeKind::Orphan));
            let sound = inode < self.plan.inode_count && !mark(check.named, inode);
            let Some(header) = header.filter(|_| sound) else {
                check.find(Finding::BadList, false);
                return Ok(());
            };
            number = header.next;
        }
        Ok(())
    }

    fn check_inode(&mut self, check: &mut Check<'_>, inode: u32) -> Result<(), Error> {
        let Some(header) = Self::soft(self.read_header(inode))? else {
            check.find(Finding::BadInode { inode }, false);
            return Ok(());
        };
        // An extension has content there.
        let extensions = if header.kind == InodeKind::Extension { [0; 2] } else { [header.name_more, header.attributes] };
        for number in extensions {
            if let Some(extension) = number.checked_sub(1)
                && (extension >= self.plan.inode_count || mark(check.named, extension))
            {
                check.find(Finding::BadInode { inode }, false);
            }
        }
        if matches!(header.kind, InodeKind::File | InodeKind::Orphan) && header.size > self.size_max() {
            check.find(Finding::BadInode { inode }, false);
        }
        match header.kind {
            InodeKind::Extension => Ok(()),
            InodeKind::Directory => {
                check.checked.directories += 1;
                if header.extra > 0 {
                    self.check_pages(check, inode, &header)?;
                }
                self.check_directory(check, inode, &header)
            }
            InodeKind::File => {
                check.checked.files += 1;
                self.check_pages(check, inode, &header)
            }
            InodeKind::Removed | InodeKind::Orphan => self.check_pages(check, inode, &header),
        }
    }

    /// Every page of an inode's regions.
    fn check_pages(&mut self, check: &mut Check<'_>, inode: u32, header: &Header) -> Result<(), Error> {
        if header.inline {
            return Ok(());
        }
        let Some(area) = Self::soft(self.read_area(inode))? else {
            check.find(Finding::BadInode { inode }, false);
            return Ok(());
        };
        let mut shared = if header.kind == InodeKind::Removed { header.extra } else { 0 };
        for number in 0..REGIONS {
            let region = Region::of(&area, number);
            if region.count > 0 && self.check_data_pages(region.logical, region.count).is_err() {
                // One fault, however many pages the run says that it has.
                check.find(Finding::BadInode { inode }, false);
            } else {
                for page in region.logical..region.logical + region.count {
                    self.check_page(check, inode, page)?;
                }
            }
            if region.index != 0 {
                // Entries before `shared` belong to the file that this end was cut off.
                self.check_index(check, inode, region.index, core::mem::take(&mut shared), self.plan.index_is_deep)?;
            }
        }
        Ok(())
    }

    fn check_index(&mut self, check: &mut Check<'_>, inode: u32, index: u32, from: u32, deep: bool) -> Result<(), Error> {
        if !self.check_page(check, inode, index)? {
            return Ok(());
        }
        let entries = self.plan.index_entries;
        let first = if deep { from / entries } else { from };
        for entry in first..entries {
            match Self::soft(self.index_entry(index, entry))? {
                Some(None) => {}
                Some(Some(page)) if deep => {
                    let from = if entry == first { from % entries } else { 0 };
                    self.check_index_page(check, inode, page, from)?;
                }
                Some(Some(page)) => {
                    self.check_page(check, inode, page)?;
                }
                None => {
                    check.find(Finding::UnreadablePage { inode, logical: index }, false);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The lower level of an index of two.
    fn check_index_page(&mut self, check: &mut Check<'_>, inode: u32, page: u32, from: u32) -> Result<(), Error> {
        if !self.check_page(check, inode, page)? {
            return Ok(());
        }
        for entry in from..self.plan.index_entries {
            match Self::soft(self.index_entry(page, entry))? {
                Some(Some(target)) => {
                    self.check_page(check, inode, target)?;
                }
                Some(None) => {}
                None => {
                    check.find(Finding::UnreadablePage { inode, logical: page }, false);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One page of a file; whether it can be read.
    fn check_page(&mut self, check: &mut Check<'_>, inode: u32, logical: u32) -> Result<bool, Error> {
        if self.check_data_pages(logical, 1).is_err() {
            check.find(Finding::BadInode { inode }, false);
            return Ok(false);
        }
        check.checked.pages += 1;
        if mark(check.found, logical - self.plan.data) {
            // It was read for its first owner, and what it names with it.
            check.find(Finding::SharedPage { inode, logical }, false);
            return Ok(false);
        }
        if Self::soft(self.store.verify(logical))?.unwrap_or(false) {
            return Ok(true);
        }
        check.find(Finding::UnreadablePage { inode, logical }, false);
        Ok(false)
    }

    /// Every record of a directory, and their number.
    fn check_directory(&mut self, check: &mut Check<'_>, directory: u32, header: &Header) -> Result<(), Error> {
        self.dir = None;
        if header.extra > self.plan.data_count {
            // No directory has more buckets than there are pages.
            check.find(Finding::BadInode { inode: directory }, false);
            return Ok(());
        }
        let (mut entries, mut subdirectories) = (0, 0);
        let mut node = Node::new(directory);
        for bucket in 0..header.extra {
            let Some(Some(page)) = Self::soft(self.page_of(&mut node, bucket))? else {
                check.find(Finding::BadInode { inode: directory }, false);
                return Ok(());
            };
            for slot in 0..super::directory::slots(self.store.layout()) {
                let mut record = Self::soft(self.read_record(page, slot))?;
                if record.is_none() {
                    // The names that are lost are in the inodes.
                    self.salvage_page(check, page)?;
                    record = Self::soft(self.read_record(page, slot))?;
                }
                let Some((hash, number)) = record else { break };
                let Some(inode) = number.checked_sub(1).filter(|_| number != u32::MAX) else { continue };
                match self.check_entry(check, directory, hash, bucket, header.extra, inode)? {
                    Some(kind) => {
                        entries += 1;
                        subdirectories += u32::from(kind == InodeKind::Directory);
                    }
                    None if check.find(Finding::BadEntry { directory, inode }, true) => {
                        self.mend(check, |fs| fs.clear_record(page, slot))?;
                    }
                    None => {}
                }
            }
        }
        if (entries, subdirectories) != (header.entries(), header.subdirectories())
            && check.find(Finding::WrongCount { directory }, true)
        {
            self.mend(check, |fs| fs.write_count(directory, entries, subdirectories))?;
        }
        Ok(())
    }

    /// Puts zeros in the place of what no look can read of a page.
    fn salvage_page(&mut self, check: &mut Check<'_>, page: u32) -> Result<(), Error> {
        for _ in 0..LOOKS {
            if !check.repair || Self::soft(self.store.verify(page))?.unwrap_or(false) {
                return Ok(());
            }
        }
        self.mend(check, |fs| fs.store.write_edited(page, page, Edit::Salvage))
    }

    /// What an entry names, if it is right.
    fn check_entry(
        &mut self,
        check: &mut Check<'_>,
        directory: u32,
        hash: u32,
        bucket: u32,
        buckets: u32,
        inode: u32,
    ) -> Result<Option<InodeKind>, Error> {
        if inode >= self.plan.inode_count || !self.taken_or_unreadable(inode)? {
            return Ok(None);
        }
        let Some(header) = Self::soft(self.read_header(inode))? else { return Ok(None) };
        let kind_is_right = matches!(header.kind, InodeKind::File | InodeKind::Directory);
        let place_is_right = header.parent == directory && self.record_is_right(inode, &header, hash, bucket, buckets)?;
        let sound = kind_is_right && place_is_right && !mark(check.named, inode);
        Ok(sound.then_some(header.kind))
    }

    /// Everything that is taken must have been named by now.
    fn check_names(&mut self, check: &mut Check<'_>) -> Result<(), Error> {
        for inode in 0..self.inodes_end()? {
            if is_marked(check.named, inode) || !self.taken_or_unreadable(inode)? {
                continue;
            }
            let Some(header) = Self::soft(self.read_header(inode))? else {
                if self.is_empty_inode(inode)? && check.find(Finding::LeakedInode { inode }, true) {
                    self.mend(check, |fs| fs.free_inode(inode))?;
                }
                continue;
            };
            if matches!(header.kind, InodeKind::File | InodeKind::Directory) {
                if check.find(Finding::Lost { inode }, true) {
                    let has_parent = header.parent < self.plan.inode_count && is_marked(check.named, header.parent);
                    self.mend(check, |fs| fs.name_again(inode, header, has_parent))?;
                }
            } else if check.find(Finding::LeakedInode { inode }, true) {
                self.mend(check, |fs| fs.free_inode(inode))?;
            }
        }
        Ok(())
    }

    /// Whether there is nothing where an inode should be.
    fn is_empty_inode(&mut self, inode: u32) -> Result<bool, Error> {
        let (page, at) = self.inode_place(inode);
        let mut kind = [0];
        Ok(Self::soft(self.store.read(page, at, &mut kind))?.is_some() && kind == [0])
    }

    /// Gives a file without a name the one that its inode says, or another one in the root.
    fn name_again(&mut self, inode: u32, header: Header, has_parent: bool) -> Result<(), Error> {
        let mut bytes = [0; NAME_BYTES_MAX];
        let is_directory = header.kind == InodeKind::Directory;
        if has_parent
            && (!is_directory || Self::soft(self.holds(inode, header.parent))? == Some(false))
            && Self::soft(self.read_name(inode, &header, &mut bytes))?.is_some()
            && let Ok(name) = core::str::from_utf8(&bytes[..usize::from(header.name_bytes)])
            && let Some(Found::Free(slot)) = Self::soft(self.find(header.parent, name))?
        {
            self.enter(header.parent)?;
            return self.insert_record(name, inode, slot, is_directory);
        }
        self.adopt(inode, header)
    }

    /// Gives a file without a name one in the root.
    fn adopt(&mut self, inode: u32, mut header: Header) -> Result<(), Error> {
        let mut bytes = *b"lost-0000000000";
        let mut rest = inode;
        for digit in bytes[5..].iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        let name = core::str::from_utf8(&bytes).unwrap_or("lost");
        header.parent = ROOT;
        let slot = match self.find(ROOT, name)? {
            Found::Free(slot) => slot,
            Found::At { .. } => return Err(Error::Exists),
        };
        self.write_inode(inode, &mut header, name.as_bytes())?;
        self.enter(ROOT)?;
        self.insert_record(name, inode, slot, header.kind == InodeKind::Directory)
    }

    /// Data pages that the allocation map must say to be in use.
    fn mark_found(&mut self, check: &mut Check<'_>) -> Result<(), Error> {
        for index in 0..self.plan.data_count {
            let logical = self.plan.data + index;
            let is_unmarked = is_marked(check.found, index) && Self::soft(self.page_is_taken(logical))? == Some(false);
            if is_unmarked && check.find(Finding::UnmarkedPage { logical }, true) {
                self.mend(check, |fs| fs.mark_page(logical))?;
            }
        }
        Ok(())
    }

    /// Data pages that nothing uses, and that the allocation map says to be in use.
    fn free_leaked(&mut self, check: &mut Check<'_>) -> Result<(), Error> {
        for index in 0..self.plan.data_count {
            let logical = self.plan.data + index;
            let is_leaked = !is_marked(check.found, index) && Self::soft(self.page_is_taken(logical))? == Some(true);
            if is_leaked && check.find(Finding::LeakedPage { logical }, true) {
                self.mend(check, |fs| fs.free_pages(logical, 1))?;
            }
        }
        Ok(())
    }

    /// Makes one change, durably. What damage elsewhere does not allow stays as it is.
    fn mend(&mut self, check: &mut Check<'_>, change: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let result = self.begin(Call::Rename { depth: 0 }).and_then(|()| {
            let result = change(self);
            self.finish(result, CommitOn::NONE, true)
        });
        check.checked.mended += u32::from(Self::soft(result)?.is_some());
        Ok(())
    }
}
