//! Names: the records of each directory, and inodes without a name.

use super::super::directories::{Found, NameGap};
use super::super::inode::{
    AREA_BYTES, InodeHeader, InodeKind, NAME_BYTES_MAX, PARENT_AT, REGIONS, ROOT, Region,
};
use super::super::volume::{Depth, Node, RecordPlace, Room, bucket_of};
use super::findings::{Count, Finding};
use super::rounds::Checker;
use crate::error::Error;
use crate::fs::filesystem::FileSystem;
use crate::logical::edit::Edit;
use crate::media::Flash;

/// Number of names that a repair tries for an inode without a name.
const NAMES_MAX: u32 = 10;

/// A record of a directory.
#[derive(Clone, Copy)]
struct NameRecord {
    directory: u32,
    seed: u32,
    hash: u32,
    place: RecordPlace,
    inode: u32,
}

/// The depth of the searches in the directories that a walk has visited so far.
struct Walk {
    /// The maximum of the depth of the volume and the depth of these searches.
    depth: Depth,
    /// The last directory that needed a greater depth than the volume and the directories before
    /// it.
    deepest: Option<u32>,
}

impl Walk {
    fn note(&mut self, directory: u32, searched: Depth) {
        let depth = self.depth.max(searched);
        if depth != self.depth {
            (self.depth, self.deepest) = (depth, Some(directory));
        }
    }
}

impl<F: Flash> Checker<'_, '_, F> {
    /// Checks every record of every directory, and their counts.
    pub fn directories(&mut self) -> Result<(), Error> {
        let told = self.fs.volume.space().depth;
        let mut walk = Walk { depth: self.fs.volume.depth(), deepest: None };
        // Also look up names beyond the depth of the volume.
        self.fs.volume.set_depth(Depth::ANY);
        let walked = self.walk(&mut walk);
        self.fs.volume.set_depth(told);
        walked?;
        let Some(directory) = walk.deepest else { return Ok(()) };
        if !self.is_readable(0)? {
            // The root page is already a finding, and its depth cannot be read.
            return Ok(());
        }
        self.fault(Finding::WrongCount { directory }, Count::Counts, |fs| {
            fs.volume.write_depth(walk.depth)
        })
    }

    fn walk(&mut self, walk: &mut Walk) -> Result<(), Error> {
        for inode in 0..self.inodes_end()? {
            // A directory with more buckets than the volume has pages is already a finding.
            let can_be = |header: &InodeHeader, pages: u32| {
                header.kind == InodeKind::Directory && header.extra <= pages
            };
            if self.is_taken(inode)?
                && let Some(header) = self
                    .header(inode)?
                    .filter(|header| can_be(header, self.fs.volume.plan().data_count))
            {
                self.directory(inode, &header, walk)?;
            }
        }
        Ok(())
    }

    fn directory(
        &mut self,
        directory: u32,
        header: &InodeHeader,
        walk: &mut Walk,
    ) -> Result<(), Error> {
        let overflow = self.overflow_pages(directory, header)?;
        let (mut entries, mut subdirectories) = (0, 0);
        walk.note(directory, Depth { pages: overflow, equal: 0 });
        let (mut node, buckets) = (Node::new(directory), self.fs.volume.buckets());
        for index in 0..header.extra + overflow {
            let is_bucket = index < header.extra;
            let file_page = if is_bucket {
                index
            } else {
                buckets.overflow_page(index - header.extra).unwrap_or(index)
            };
            let Some(Some(page)) = self.fs.seen(|fs| fs.volume.page_of(&mut node, file_page))?
            else {
                // The inodes also hold the names. So a directory that lacks a page is emptied, and
                // filled from them.
                return self.empty_out(Finding::BadInode { inode: directory }, directory, header);
            };
            if !self.is_readable(page)? {
                // The inodes also hold the lost names. Fill the page, so that no search ends in it.
                self.salvage(
                    Finding::UnreadablePage { inode: directory, logical: page },
                    page,
                    Edit::Salvage { fill: 0xFF, until: u32::MAX },
                )?;
            }
            for slot in 0..buckets.slots() {
                let place = buckets.place(page, slot);
                // A page that cannot be read is already a finding.
                let Some((hash, number)) = self.fs.seen(|fs| fs.volume.read_record(place))? else {
                    break;
                };
                let Some(inode) = number.checked_sub(1).filter(|_| number != u32::MAX) else {
                    continue;
                };
                let record = NameRecord { directory, seed: header.seed, hash, place, inode };
                // A search for the name looks only in the bucket of its hash.
                let is_there = !is_bucket || bucket_of(hash, header.extra).0 == file_page;
                match if is_there { self.entry(&record, walk)? } else { None } {
                    Some(kind) => {
                        entries += 1;
                        subdirectories += u32::from(kind == InodeKind::Directory);
                    }
                    // The inode also holds the name, so nothing is lost with a wrong entry.
                    None => {
                        let finding = Finding::BadEntry { directory, inode };
                        self.fault(finding, Count::Entries, |fs| fs.volume.clear_record(place))?;
                    }
                }
            }
        }
        if (entries, subdirectories) == (header.entries(), header.subdirectories()) {
            return Ok(());
        }
        let finding = Finding::WrongCount { directory };
        self.fault(finding, Count::Counts, |fs| {
            fs.directories.write_count(&mut fs.volume, directory, entries, subdirectories)
        })
    }

    /// Counts the overflow pages of a directory.
    pub fn overflow_pages(&mut self, directory: u32, header: &InodeHeader) -> Result<u32, Error> {
        let count =
            self.fs.seen(|fs| fs.directories.overflow_pages(&mut fs.volume, directory, header))?;
        self.fs.directories.forget();
        Ok(count.unwrap_or(0))
    }

    /// Returns the kind of the inode that a record names, if the record is right. For a right
    /// record, the inode has the same name and directory, a look-up finds the record, and no other
    /// record names the inode.
    fn entry(&mut self, record: &NameRecord, walk: &mut Walk) -> Result<Option<InodeKind>, Error> {
        let NameRecord { directory, seed, hash, inode, .. } = *record;
        if inode >= self.fs.volume.plan().inode_count || inode == ROOT {
            return Ok(None);
        }
        let Some(header) = self.header(inode)? else { return Ok(None) };
        let is_right = matches!(header.kind, InodeKind::File | InodeKind::Directory)
            && header.parent == directory
            && self.fs.volume.record_is_right(inode, &header, hash, seed)?
            && (header.kind == InodeKind::File || self.reaches_root(directory)?)
            && self.is_found(record, &header, walk)?;
        // An inode has only one name, so a second entry is wrong.
        if !is_right || self.marks.is_named(inode) {
            return Ok(None);
        }
        // An old allocation map may mark inodes in use as free.
        if !self.is_taken(inode)? {
            // If the inode is old, it may name pages that belong to another file now.
            if !self.is_complete(inode, &header)? {
                return Ok(None);
            }
            self.take_inode(inode)?;
        }
        self.marks.name(inode);
        Ok(Some(header.kind))
    }

    /// Returns true if a look-up of the name finds the record. Stores the depth of this search.
    fn is_found(
        &mut self,
        record: &NameRecord,
        header: &InodeHeader,
        walk: &mut Walk,
    ) -> Result<bool, Error> {
        let mut name = [0; NAME_BYTES_MAX];
        let Some(name) = self.name(record.inode, header, &mut name)? else { return Ok(false) };
        Ok(
            match self.fs.seen(|fs| fs.directories.find(&mut fs.volume, record.directory, name))? {
                Some(Found::At { place, inode, searched, .. }) => {
                    walk.note(record.directory, searched);
                    (place, inode) == (record.place, record.inode)
                }
                Some(Found::Free(_)) => false,
                // A page on the way cannot be read. This is no fault of the record.
                None => true,
            },
        )
    }

    /// Returns the name of an inode, if it can be read.
    fn name<'b>(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        bytes: &'b mut [u8; NAME_BYTES_MAX],
    ) -> Result<Option<&'b str>, Error> {
        let is_read = self.fs.seen(|fs| fs.volume.read_name(inode, header, bytes))?.is_some();
        let name = core::str::from_utf8(&bytes[..usize::from(header.name_bytes)]);
        Ok(name.ok().filter(|_| is_read))
    }

    /// Returns true if an inode that is marked as free still has all its pages. If the file was
    /// removed, its pages were freed. Pages behind the size of a file do not count: a later step
    /// truncates them.
    fn is_complete(&mut self, inode: u32, header: &InodeHeader) -> Result<bool, Error> {
        if header.inline {
            return Ok(true);
        }
        let mut area = [0; AREA_BYTES];
        if self.fs.seen(|fs| fs.volume.read_area(inode, &mut area))?.is_none() {
            return Ok(false);
        }
        let owner = self.owner_of_pages(inode, header, 0);
        for number in 0..REGIONS {
            let region = Region::of(&area, number);
            let base = number * self.fs.volume.plan().region_pages;
            // An invalid size is a finding of a later step.
            let wanted = owner.as_ref().map_or(u32::MAX, |owner| owner.wanted(base));
            // The index maps the pages behind the run.
            let index = (region.index != 0 && wanted > region.count).then_some(region.index);
            let run = region.logical..region.logical + region.count.min(wanted);
            for page in run.chain(index) {
                let is_page = self.fs.volume.check_data_pages(page, 1).is_ok();
                let is_there = is_page
                    && !self.marks.is_owned(page)
                    && (self.fs.seen(|fs| fs.volume.page_is_taken(page))? == Some(true)
                        || self.fs.seen(|fs| fs.volume.store.logical.is_written(page))?
                            != Some(false));
                if !is_there {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Gives a name to each inode in use without a name, or frees the inode. Directories come
    /// first, because files may belong into them.
    pub fn unnamed(&mut self) -> Result<(), Error> {
        let before = self.checked.mended;
        for kind in [InodeKind::Directory, InodeKind::File] {
            for inode in 0..self.inodes_end()? {
                if self.marks.is_named(inode) || !self.is_taken(inode)? {
                    continue;
                }
                match self.header(inode)? {
                    Some(header) if header.kind == kind => self.lost(inode, &header)?,
                    Some(header)
                        if matches!(header.kind, InodeKind::Directory | InodeKind::File) => {}
                    // An invalid inode is already a finding.
                    None if !self.is_empty(inode)? => {}
                    _ if kind == InodeKind::File => {
                        self.fault(Finding::LeakedInode { inode }, Count::InodesFreed, |fs| {
                            fs.volume.free_inode(inode)
                        })?;
                    }
                    _ => {}
                }
            }
            // Files may be named in directories that have just got their names.
            if self.checked.mended != before {
                break;
            }
        }
        Ok(())
    }

    /// Adds an entry for a file or directory that has no entry. The entry gets the directory and
    /// the name that the inode stores. If this is not possible, the entry gets a new name in the
    /// root directory.
    fn lost(&mut self, inode: u32, header: &InodeHeader) -> Result<(), Error> {
        let mut bytes = [0; NAME_BYTES_MAX];
        // If the root does not reach a directory, a name in this directory would be lost again.
        let may_stay = self.is_directory(header.parent)?
            && self.reaches_root(header.parent)?
            && (header.kind == InodeKind::File || self.reaches_root(inode)?);
        let found = match self.name(inode, header, &mut bytes)?.filter(|_| may_stay) {
            Some(name) => {
                self.fs.seen(|fs| fs.directories.find(&mut fs.volume, header.parent, name))?
            }
            None => None,
        };
        let finding = Finding::Lost { inode };
        if let (Some(Found::Free(gap)), Ok(name)) =
            (found, core::str::from_utf8(&bytes[..usize::from(header.name_bytes)]))
        {
            return self.fault(finding, Count::Names, |fs| {
                fs.add_name(header.parent, name, gap, inode, header)
            });
        }
        self.fault(finding, Count::Names, |fs| fs.adopt(inode, *header))
    }

    fn is_directory(&mut self, inode: u32) -> Result<bool, Error> {
        let is_there = inode < self.fs.volume.plan().inode_count && self.is_taken(inode)?;
        Ok(is_there
            && self.header(inode)?.is_some_and(|header| header.kind == InodeKind::Directory))
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Adds an entry with a new name in the root directory, for a file or directory that has no
    /// entry.
    fn adopt(&mut self, inode: u32, mut header: InodeHeader) -> Result<(), Error> {
        let mut bytes = *b"lost-0000000000-0";
        let mut rest = inode;
        for digit in bytes[5..15].iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        // The root may have such a name already.
        for number in 0..NAMES_MAX {
            bytes[16] = b'0' + number as u8;
            let name = core::str::from_utf8(if number == 0 { &bytes[..15] } else { &bytes })
                .unwrap_or("lost");
            if let Found::Free(gap) = self.directories.find(&mut self.volume, ROOT, name)? {
                // An entry is valid only if its inode names the directory.
                let (page, at) = self.volume.inode_place(inode);
                self.volume.store.logical.patch(page, at + PARENT_AT, &ROOT.to_le_bytes())?;
                let unused = self.volume.write_name(inode, &mut header, name.as_bytes())?;
                self.volume.remove_extension(unused)?;
                return self.add_name(ROOT, name, gap, inode, &header);
            }
        }
        Err(Error::Exists)
    }

    /// Adds a name to a directory, even on a full volume.
    fn add_name(
        &mut self,
        directory: u32,
        name: &str,
        gap: NameGap,
        inode: u32,
        header: &InodeHeader,
    ) -> Result<(), Error> {
        self.directories.enter(&mut self.volume, directory)?;
        let is_directory = header.kind == InodeKind::Directory;
        self.directories.insert_record(
            &mut self.volume,
            name,
            inode,
            gap,
            is_directory,
            Room::Spare,
        )
    }
}
