//! Inodes, their extensions and their pages: each belongs to one owner.
//!
//! Directories claim their pages first, then files, then what was removed: of two that claim a page the later one loses what it has.

use super::super::inode::{
    AREA_AT, AREA_BYTES, ATTRIBUTES_AT, HEADER_BYTES, Header, InodeKind, NAME_MORE_AT, REGIONS, ROOT, Region,
};
use super::rounds::{Checker, Mode, soft};
use super::{Finding, Mended};
use crate::error::Error;
use crate::fs::FileSystem;
use crate::media::Flash;
use crate::store::edit::Edit;

/// Why an inode cannot keep what it says of its pages.
enum Fault {
    /// It names what is no data page.
    Nonsense,
    /// A page belongs to something else as well.
    Shared(u32),
}

/// Pages of an inode that are claimed.
type Claim = Result<Option<Fault>, Error>;

/// The order in which kinds claim their pages.
fn turn(kind: InodeKind) -> Option<u32> {
    match kind {
        InodeKind::Directory => Some(0),
        InodeKind::File => Some(1),
        InodeKind::Removed | InodeKind::Orphan => Some(2),
        InodeKind::Extension => None,
    }
}

impl<'m, F: Flash> Checker<'_, 'm, F> {
    /// All inodes that are taken.
    pub fn owners(&mut self) -> Result<(), Error> {
        for now in 0..3 {
            for inode in 0..self.inodes_end()? {
                if self.is_taken(inode)? {
                    self.owner(inode, now)?;
                }
            }
        }
        Ok(())
    }

    fn owner(&mut self, inode: u32, now: u32) -> Result<(), Error> {
        match self.header(inode)? {
            None if now == 0 && !self.is_empty(inode)? => self.bad_inode(inode),
            Some(header) if turn(header.kind) == Some(now) => {
                self.extensions(inode, &header)?;
                self.pages_of(inode, &header)
            }
            _ => Ok(()),
        }
    }

    /// An inode that nobody can make sense of, though its page can be read, is none from now on.
    fn bad_inode(&mut self, inode: u32) -> Result<(), Error> {
        let finding = Finding::BadInode { inode };
        let (page, at) = self.fs.inode_place(inode);
        if !self.is_readable(page)? {
            self.tell(finding);
            return Ok(());
        }
        self.fault(finding, |mended| &mut mended.emptied, |fs| fs.store.patch(page, at, &[0; HEADER_BYTES]))
    }

    /// Whether there is nothing where an inode should be.
    pub fn is_empty(&mut self, inode: u32) -> Result<bool, Error> {
        let (page, at) = self.fs.inode_place(inode);
        let mut kind = [0];
        Ok(soft(self.fs.store.read(page, at, &mut kind))?.is_some() && kind == [0] && inode != ROOT)
    }

    /// The rest of a name, and attributes: an inode of their own that names its owner.
    fn extensions(&mut self, inode: u32, header: &Header) -> Result<(), Error> {
        for (number, at) in [(header.name_more, NAME_MORE_AT), (header.attributes, ATTRIBUTES_AT)] {
            let Some(extension) = number.checked_sub(1) else { continue };
            if !self.is_extension_of(extension, inode)? || self.mark_inode(extension) {
                let finding = Finding::LostExtension { inode };
                let (page, place) = self.fs.inode_place(inode);
                self.fault(finding, |mended| &mut mended.extensions, |fs| fs.store.patch(page, place + at, &[0; 4]))?;
            } else if !self.is_taken(extension)? {
                self.take_inode(extension)?;
            }
        }
        Ok(())
    }

    fn is_extension_of(&mut self, extension: u32, owner: u32) -> Result<bool, Error> {
        let header = if extension < self.fs.plan.inode_count { self.header(extension)? } else { None };
        // Where others have their generation an extension has its owner.
        Ok(header.is_some_and(|header| header.kind == InodeKind::Extension && header.generation == owner))
    }

    /// Marks an inode as taken that is in use.
    pub fn take_inode(&mut self, inode: u32) -> Result<(), Error> {
        self.fault(Finding::UnmarkedInode { inode }, |mended| &mut mended.inodes_marked, |fs| fs.mark_inode(inode))
    }

    fn pages_of(&mut self, inode: u32, header: &Header) -> Result<(), Error> {
        match header.kind {
            InodeKind::Directory => self.checked.directories += 1,
            InodeKind::File => self.checked.files += 1,
            _ => {}
        }
        let is_directory = header.kind == InodeKind::Directory;
        let is_too_large =
            !is_directory && header.size > self.fs.size_max() || is_directory && header.extra > self.fs.plan.data_count;
        let fault = if is_too_large { Some(Fault::Nonsense) } else { self.claim_all(inode, header)? };
        match fault {
            None => Ok(()),
            Some(Fault::Nonsense) => self.empty_out(Finding::BadInode { inode }, inode, header),
            Some(Fault::Shared(logical)) => {
                if header.kind == InodeKind::File && self.mode == Mode::Mend && self.is_content_of_another(inode, logical)? {
                    // Nobody can tell whose content it is.
                    soft(self.fs.change(|fs| fs.store.write_edited(logical, logical, Edit::Lost)))?;
                }
                self.empty_out(Finding::SharedPage { inode, logical }, inode, header)
            }
        }
    }

    /// Takes its pages from an inode: a file is empty then, a directory has no entries.
    pub fn empty_out(&mut self, finding: Finding, inode: u32, header: &Header) -> Result<(), Error> {
        let is_directory = header.kind == InodeKind::Directory;
        let emptied = Header { inline: !is_directory, size: 0, extra: 0, ..*header };
        let counter: fn(&mut Mended) -> &mut u32 = if is_directory { |m| &mut m.directories } else { |m| &mut m.emptied };
        self.fault(finding, counter, |fs| {
            let (page, at) = fs.inode_place(inode);
            fs.store.patch(page, at, &emptied.emit())?;
            fs.store.patch(page, at + AREA_AT, &[0; AREA_BYTES])
        })
    }

    /// Claims every page of an inode's regions.
    fn claim_all(&mut self, inode: u32, header: &Header) -> Claim {
        if header.inline || header.kind == InodeKind::Directory && header.extra == 0 {
            return Ok(None);
        }
        // A table that cannot be read was told of.
        let Some(area) = soft(self.fs.read_area(inode))? else { return Ok(None) };
        let mut kept = if header.kind == InodeKind::Removed { header.extra } else { 0 };
        let is_data = header.kind != InodeKind::Directory;
        for number in 0..REGIONS {
            let region = Region::of(&area, number);
            if region.count > 0 && self.fs.check_data_pages(region.logical, region.count).is_err() {
                return Ok(Some(Fault::Nonsense));
            }
            for page in region.logical..region.logical + region.count {
                if self.claim(inode, page, is_data)? {
                    return Ok(Some(Fault::Shared(page)));
                }
            }
            if region.index != 0 {
                // Entries before `kept` belong to the file that this end was cut off.
                let levels = 1 + u32::from(self.fs.plan.index_is_deep);
                let fault = self.claim_index(inode, region.index, core::mem::take(&mut kept), levels, is_data)?;
                if fault.is_some() {
                    return Ok(fault);
                }
            }
        }
        Ok(None)
    }

    /// Claims a page; whether something else has it. Data is looked at when all is mended.
    fn claim(&mut self, inode: u32, logical: u32, is_data: bool) -> Result<bool, Error> {
        if self.mark_page(logical) {
            return Ok(true);
        }
        self.checked.pages += 1;
        if self.mode == Mode::Look && is_data && !self.is_readable(logical)? {
            self.checked.unreadable += 1;
            self.tell(Finding::UnreadablePage { inode, logical });
        }
        Ok(false)
    }

    /// Claims an index of so many levels, and all that it names from entry `kept` on.
    fn claim_index(&mut self, inode: u32, index: u32, kept: u32, levels: u32, is_data: bool) -> Claim {
        if self.fs.check_data_pages(index, 1).is_err() {
            return Ok(Some(Fault::Nonsense));
        }
        if self.claim(inode, index, false)? {
            return Ok(Some(Fault::Shared(index)));
        }
        if !self.is_readable(index)? {
            // What it named reads as an error then.
            self.salvage(Finding::UnreadablePage { inode, logical: index }, index, 0xFF)?;
        }
        let entries = self.fs.plan.index_entries;
        let (first, below) = if levels > 1 { (kept / entries, kept % entries) } else { (kept, 0) };
        for entry in first..entries {
            let fault = match soft(self.fs.index_entry(index, entry))? {
                // A hole, or a page that was lost with a part of the index.
                None | Some(None) => None,
                Some(Some(page)) if levels > 1 => {
                    self.claim_index(inode, page, if entry == first { below } else { 0 }, levels - 1, is_data)?
                }
                Some(Some(page)) if self.fs.check_data_pages(page, 1).is_err() => Some(Fault::Nonsense),
                Some(Some(page)) => self.claim(inode, page, is_data)?.then_some(Fault::Shared(page)),
            };
            if fault.is_some() {
                return Ok(fault);
            }
        }
        Ok(None)
    }

    /// Whether a page is content of a file that claimed it before this one.
    fn is_content_of_another(&mut self, inode: u32, logical: u32) -> Result<bool, Error> {
        for other in (0..self.inodes_end()?).filter(|&other| other != inode) {
            let is_file = self.is_taken(other)? && self.header(other)?.is_some_and(|h| h.kind == InodeKind::File && !h.inline);
            if is_file && self.fs.has_content(other, logical)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Whether a data page is content of a file; its indexes are not.
    fn has_content(&mut self, inode: u32, logical: u32) -> Result<bool, Error> {
        let Some(area) = soft(self.read_area(inode))? else { return Ok(false) };
        let entries = self.plan.index_entries;
        for number in 0..REGIONS {
            let region = Region::of(&area, number);
            if (region.logical..region.logical + region.count).contains(&logical) {
                return Ok(true);
            }
            if region.index == 0 || self.check_data_pages(region.index, 1).is_err() {
                continue;
            }
            for entry in 0..entries {
                let Some(Some(page)) = soft(self.index_entry(region.index, entry))? else { continue };
                let is_there = if self.plan.index_is_deep {
                    self.check_data_pages(page, 1).is_ok() && self.is_indexed(page, logical)?
                } else {
                    page == logical
                };
                if is_there {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn is_indexed(&mut self, index: u32, logical: u32) -> Result<bool, Error> {
        for entry in 0..self.plan.index_entries {
            if soft(self.index_entry(index, entry))? == Some(Some(logical)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
