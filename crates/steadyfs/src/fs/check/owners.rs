//! Inodes, their extensions and their pages: each belongs to one owner.
//!
//! Pages are claimed in turns:
//!
//! 1. by directories,
//! 2. by files within their sizes,
//! 3. by files behind their sizes,
//! 4. by removed files.
//!
//! If two inodes claim a page, the inode that claims it later is emptied. But if a file claims the
//! page behind its size, only the entry or run that names the page is truncated.

use super::super::inode::{
    AREA_AT, AREA_BYTES, ATTRIBUTES_AT, EXTRA_AT, HEADER_BYTES, InodeHeader, InodeKind,
    NAME_MORE_AT, REGIONS, ROOT, Region,
};
use super::findings::{Count, Finding, Repairs};
use super::rounds::{CheckMode, Checker, soft};
use crate::error::Error;
use crate::fs::filesystem::FileSystem;
use crate::logical::edit::Edit;
use crate::media::Flash;

/// The reason why an inode cannot keep its pages.
enum Fault {
    /// The inode names a page that is not a data page.
    Nonsense,
    /// Another inode also owns the page.
    Shared(u32),
}

/// An inode that claims its pages.
pub(super) struct Owner {
    inode: u32,
    kind: InodeKind,
    /// Number of pages up to the end of a file, or number of buckets of a directory.
    pages: u32,
    /// Number of overflow pages of a directory.
    overflow: u32,
    /// Number of bytes of the last page that are in the file; 0 if all bytes are in the file.
    last_bytes: u32,
    /// Number of entries of the first index that belong to another file.
    kept: u32,
    /// True if this turn claims only pages behind the size of a file.
    is_behind: bool,
}

impl Owner {
    /// Returns the number of pages from `base` on that the inode needs. A file needs no page behind
    /// its size. A directory may need each of its pages.
    pub fn wanted(&self, base: u32) -> u32 {
        if self.kind == InodeKind::File { self.pages.saturating_sub(base) } else { u32::MAX }
    }

    /// Returns true if this turn claims a page of the file.
    fn claims(&self, file_page: u32) -> bool {
        self.kind != InodeKind::File || (file_page >= self.pages) == self.is_behind
    }
}

/// An index, or a page of entries of an index. An entry represents `span` pages of the file. The
/// first entry represents the pages of its region that begin at page `first`.
#[derive(Clone, Copy)]
struct Index {
    page: u32,
    /// The first file page of the region.
    base: u32,
    /// Number of pages of the region that its run maps. Look-ups never read the entries of these
    /// pages.
    run: u32,
    first: u32,
    span: u32,
}

impl Index {
    /// Returns the first page of the file whose look-up reads entry `entry`, or `u32::MAX` if no
    /// look-up reads it.
    fn file_page(&self, entry: u32) -> u32 {
        let from = self.first + entry * self.span;
        if from + self.span <= self.run { u32::MAX } else { self.base + from.max(self.run) }
    }

    /// Returns the first page of the file whose look-up reads any of the `entries`.
    fn first_page(&self, entries: u32) -> u32 {
        Self { span: self.span * entries, ..*self }.file_page(0)
    }

    /// Returns the page of entries that entry `entry` of an index names.
    fn below(&self, entry: u32, page: u32) -> Self {
        Self { page, first: self.first + entry * self.span, span: 1, ..*self }
    }
}

/// The fault of the claimed pages, or `None`.
type Claim = Result<Option<Fault>, Error>;

/// Number of turns in which pages are claimed.
const TURNS: u32 = 4;

/// A turn in which pages are claimed. A set of turns has a bit for each turn.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ClaimTurn(u32);

impl ClaimTurn {
    const DIRECTORIES: Self = Self(0);
    const FILES: Self = Self(1);
    /// Pages behind the sizes of files.
    const BEHIND: Self = Self(2);
    const REMOVED: Self = Self(3);

    /// Returns the turn in which an inode of a kind claims its pages.
    fn of(kind: InodeKind) -> Option<Self> {
        match kind {
            InodeKind::Directory => Some(Self::DIRECTORIES),
            InodeKind::File => Some(Self::FILES),
            InodeKind::Removed | InodeKind::Orphan => Some(Self::REMOVED),
            InodeKind::Extension => None,
        }
    }

    /// Returns the set of turns that must visit an inode.
    fn all_of(header: &InodeHeader) -> u32 {
        let behind =
            if header.kind == InodeKind::File && !header.inline { 1 << Self::BEHIND.0 } else { 0 };
        Self::of(header.kind).map_or(0, |turn| 1 << turn.0) | behind
    }

    fn is_in(self, turns: u32) -> bool {
        turns & 1 << self.0 != 0
    }
}

impl<'m, F: Flash> Checker<'_, 'm, F> {
    /// Checks all inodes in use. Skips a turn in which no inode claims pages.
    pub fn owners(&mut self) -> Result<(), Error> {
        let before = self.checked.mended;
        // The first turn visits all inodes, and adds the turns that their kinds need.
        let mut turns = 1;
        for now in (0..TURNS).map(ClaimTurn) {
            if !now.is_in(turns) {
                continue;
            }
            for inode in 0..self.inodes_end()? {
                if self.is_taken(inode)? {
                    turns |= self.owner(inode, now, before)?;
                }
            }
        }
        Ok(())
    }

    /// Checks an inode in a turn. Returns the turns in which it claims pages.
    fn owner(&mut self, inode: u32, now: ClaimTurn, before: Repairs) -> Result<u32, Error> {
        let Some(header) = self.header(inode)? else {
            // The first turn visits every inode, so an invalid inode is reported once.
            if now == ClaimTurn::DIRECTORIES && !self.is_empty(inode)? {
                self.bad_inode(inode)?;
            }
            return Ok(0);
        };
        let turns = ClaimTurn::all_of(&header);
        if ClaimTurn::of(header.kind) == Some(now) {
            self.extensions(inode, &header)?;
            self.pages_of(inode, &header, before)?;
        } else if now == ClaimTurn::BEHIND && now.is_in(turns) {
            // If a file was emptied in this walk, the pages that it claimed are free now. So this
            // walk does not check the pages behind the ends of files; the next walk does.
            let owner = self
                .owner_of_pages(inode, &header, 0)
                .filter(|_| !self.checked.mended.has_emptied_since(before));
            if let Some(owner) = owner {
                self.claim_all(&Owner { is_behind: true, ..owner })?;
            }
        }
        Ok(turns)
    }

    /// Clears an invalid inode, if its page can be read.
    fn bad_inode(&mut self, inode: u32) -> Result<(), Error> {
        let finding = Finding::BadInode { inode };
        let (page, at) = self.fs.volume.inode_place(inode);
        // If the page of the table cannot be read, the page itself is a finding.
        if !self.is_readable(page)? {
            self.tell(finding);
            return Ok(());
        }
        self.fault(finding, Count::Emptied, |fs| {
            fs.volume.store.logical.patch(page, at, &[0; HEADER_BYTES])
        })
    }

    /// Returns true if an inode is free: its first byte, the kind, can be read and is 0. Returns
    /// false for the root inode, which is never free.
    pub fn is_empty(&mut self, inode: u32) -> Result<bool, Error> {
        let (page, at) = self.fs.volume.inode_place(inode);
        let mut kind = [0];
        Ok(self.fs.seen(|fs| fs.volume.store.logical.read(page, at, &mut kind))?.is_some()
            && kind == [0]
            && inode != ROOT)
    }

    /// Checks the extensions of an inode, which hold the rest of its name and its attributes. Each
    /// extension is a separate inode that names its owner.
    fn extensions(&mut self, inode: u32, header: &InodeHeader) -> Result<(), Error> {
        for (number, at) in [(header.name_more, NAME_MORE_AT), (header.attributes, ATTRIBUTES_AT)] {
            let Some(extension) = number.checked_sub(1) else { continue };
            // If a name fits in the inode, it has no extension.
            let is_none = at == NAME_MORE_AT
                && usize::from(header.name_bytes) <= self.fs.volume.plan().name_inline();
            if is_none || !self.is_extension_of(extension, inode)? || self.marks.name(extension) {
                let finding = Finding::LostExtension { inode };
                let (page, place) = self.fs.volume.inode_place(inode);
                self.fault(finding, Count::Extensions, |fs| {
                    fs.volume.store.logical.patch(page, place + at, &[0; 4])
                })?;
            } else if !self.is_taken(extension)? {
                self.take_inode(extension)?;
            }
        }
        Ok(())
    }

    fn is_extension_of(&mut self, extension: u32, owner: u32) -> Result<bool, Error> {
        let header = if extension < self.fs.volume.plan().inode_count {
            self.header(extension)?
        } else {
            None
        };
        // An extension stores its owner in the field that holds the generation in other inodes.
        Ok(header.is_some_and(|header| {
            header.kind == InodeKind::Extension && header.generation == owner
        }))
    }

    /// Marks an inode as in use.
    pub fn take_inode(&mut self, inode: u32) -> Result<(), Error> {
        self.fault(Finding::UnmarkedInode { inode }, Count::InodesMarked, |fs| {
            fs.volume.mark_inode(inode)
        })
    }

    fn pages_of(&mut self, inode: u32, header: &InodeHeader, before: Repairs) -> Result<(), Error> {
        match header.kind {
            InodeKind::Directory => self.checked.directories += 1,
            InodeKind::File => self.checked.files += 1,
            _ => {}
        }
        if matches!(header.kind, InodeKind::File | InodeKind::Orphan) && header.extra > 0 {
            // The value is left over from an earlier use of the inode. If the file were removed, so
            // many of its index entries would not be freed.
            let (page, at) = self.fs.volume.inode_place(inode);
            self.fault(Finding::BadInode { inode }, Count::Counts, |fs| {
                fs.volume.store.logical.patch(page, at + EXTRA_AT, &[0; 4])
            })?;
        }
        let overflow = match header.kind {
            InodeKind::Directory if header.extra > 0 => self.overflow_pages(inode, header)?,
            _ => 0,
        };
        let fault = match self.owner_of_pages(inode, header, overflow) {
            None => Some(Fault::Nonsense),
            Some(_) if header.inline => None,
            // The area holds content of an earlier file with this inode.
            Some(owner) if owner.kind == InodeKind::Directory && owner.pages == 0 => None,
            Some(owner) => self.claim_all(&owner)?,
        };
        match fault {
            None => Ok(()),
            Some(Fault::Nonsense) => self.empty_out(Finding::BadInode { inode }, inode, header),
            // If an inode was emptied in this walk, the pages that it claimed are free now. The
            // next walk reports the faults that remain.
            Some(Fault::Shared(_)) if self.checked.mended.has_emptied_since(before) => Ok(()),
            Some(Fault::Shared(logical)) => {
                if header.kind == InodeKind::File
                    && self.mode == CheckMode::Mend
                    && self.is_content_of_another(inode, logical)?
                {
                    // It cannot be determined to which file the content really belongs.
                    soft(self.fs.change(|fs| {
                        fs.volume.store.logical.write_edited(logical, logical, Edit::Lost)
                    }))?;
                }
                self.empty_out(Finding::SharedPage { inode, logical }, inode, header)
            }
        }
    }

    /// Returns the pages that an inode claims, or `None` if it cannot have so many pages.
    pub(super) fn owner_of_pages(
        &self,
        inode: u32,
        header: &InodeHeader,
        overflow: u32,
    ) -> Option<Owner> {
        let (pages, last_bytes) = match header.kind {
            InodeKind::File if header.size <= self.fs.volume.size_max() => {
                let (page, within) = self.fs.volume.split(header.size);
                (page + u32::from(within > 0), within)
            }
            InodeKind::Directory if header.extra <= self.fs.volume.plan().data_count => {
                (header.extra, 0)
            }
            InodeKind::Removed | InodeKind::Orphan => (0, 0),
            // No valid inode has such a size.
            _ => return None,
        };
        let kept = if header.kind == InodeKind::Removed { header.extra } else { 0 };
        Some(Owner {
            inode,
            kind: header.kind,
            pages,
            overflow,
            last_bytes,
            kept,
            is_behind: false,
        })
    }

    /// Takes all pages from an inode. A file is then empty, and a directory has no entries.
    pub fn empty_out(
        &mut self,
        finding: Finding,
        inode: u32,
        header: &InodeHeader,
    ) -> Result<(), Error> {
        let is_directory = header.kind == InodeKind::Directory;
        // The name stays, and a directory gets its entries again from the inodes.
        let emptied = InodeHeader { inline: !is_directory, size: 0, extra: 0, ..*header };
        let counter = if is_directory { Count::Directories } else { Count::Emptied };
        self.fault(finding, counter, |fs| {
            let (page, at) = fs.volume.inode_place(inode);
            fs.volume.store.logical.patch(page, at, &emptied.emit())?;
            fs.volume.store.logical.patch(page, at + AREA_AT, &[0; AREA_BYTES])
        })
    }

    /// Claims the pages of an inode's regions in this turn. If pages behind the size of a file have
    /// another owner, truncates them.
    fn claim_all(&mut self, owner: &Owner) -> Claim {
        // A table that cannot be read is already a finding.
        let mut area = [0; AREA_BYTES];
        if self.fs.seen(|fs| fs.volume.read_area(owner.inode, &mut area))?.is_none() {
            return Ok(None);
        }
        let mut kept = owner.kept;
        for number in 0..REGIONS {
            let (mut region, base) =
                (Region::of(&area, number), number * self.fs.volume.plan().region_pages);
            match self.claim_run(owner, &region, base)? {
                Ok(()) => {}
                // A file needs no page behind its size, so the shared pages are truncated.
                Err((within, _)) if owner.is_behind => {
                    region = region.without_end(within);
                    self.cut_region(owner, number, region)?;
                }
                Err((_, fault)) => return Ok(Some(fault)),
            }
            if region.index == 0 {
                continue;
            }
            let span = if self.fs.volume.plan().index_is_deep {
                self.fs.volume.plan().index_entries
            } else {
                1
            };
            let index = Index { page: region.index, base, run: region.count, first: 0, span };
            // Entries before `kept` belong to the file from which this end was truncated.
            match self.claim_index(owner, &index, core::mem::take(&mut kept))? {
                None => {}
                Some(_) if owner.is_behind => {
                    self.cut_region(owner, number, Region { index: 0, ..region })?
                }
                fault => return Ok(fault),
            }
        }
        Ok(None)
    }

    /// Claims the pages of a run, up to the first page with a fault.
    fn claim_run(
        &mut self,
        owner: &Owner,
        region: &Region,
        base: u32,
    ) -> Result<Result<(), (u32, Fault)>, Error> {
        for within in (0..region.count).filter(|within| owner.claims(base + within)) {
            if let Some(fault) =
                self.claim_content(owner, base + within, region.logical + within)?
            {
                return Ok(Err((within, fault)));
            }
        }
        Ok(Ok(()))
    }

    /// Writes a region of a file without its index or the last pages of its run, which are behind
    /// the size.
    fn cut_region(&mut self, owner: &Owner, number: u32, region: Region) -> Result<(), Error> {
        let inode = owner.inode;
        self.fault(Finding::DirtyEnd { inode }, Count::Ends, |fs| {
            fs.volume.write_region(inode, number, region)
        })
    }

    /// Marks a page as owned. Returns a fault if the page is not a data page, or was claimed
    /// before.
    fn claim(&mut self, logical: u32) -> Option<Fault> {
        if self.fs.volume.check_data_pages(logical, 1).is_err() {
            return Some(Fault::Nonsense);
        }
        self.checked.pages += 1;
        self.marks.own(logical).then_some(Fault::Shared(logical))
    }

    /// Claims a page that is not an index. Its content is checked after all other faults are
    /// mended.
    fn claim_content(&mut self, owner: &Owner, file_page: u32, logical: u32) -> Claim {
        if let Some(fault) = self.claim(logical) {
            return Ok(Some(fault));
        }
        match owner.kind {
            // If the directory grew, a page behind its buckets or its overflow pages would become
            // one of them.
            InodeKind::Directory => {
                let is_behind = file_page >= owner.pages
                    && self.fs.volume.buckets().overflow_number(file_page) >= owner.overflow;
                Ok(is_behind.then_some(Fault::Nonsense))
            }
            InodeKind::File => self.look_at_content(owner, file_page, logical).map(|()| None),
            _ => Ok(None),
        }
    }

    /// Checks that content can be read, and that no content lies behind the end of a file.
    fn look_at_content(
        &mut self,
        owner: &Owner,
        file_page: u32,
        logical: u32,
    ) -> Result<(), Error> {
        let (finding, counter) = (Finding::DirtyEnd { inode: owner.inode }, Count::Ends);
        if file_page >= owner.pages {
            // This page is reserved for the file.
            return if self.holds_something(logical)? {
                self.fault(finding, counter, |fs| fs.volume.store.logical.discard(logical))
            } else {
                Ok(())
            };
        }
        // The page would read as zeros, but its content may be among the lost changes.
        if self.has_lost_content(logical)? {
            return self.lose_content(owner.inode, logical);
        }
        // A repair reads only the last page, because the bytes behind the end must be zeros.
        let is_last = file_page + 1 == owner.pages && owner.last_bytes > 0;
        if (self.mode == CheckMode::Look || is_last) && !self.is_readable(logical)? {
            self.checked.unreadable += u32::from(self.mode == CheckMode::Look);
            self.tell(Finding::UnreadablePage { inode: owner.inode, logical });
            return Ok(());
        }
        if is_last && !self.is_blank_behind(logical, owner.last_bytes)? {
            return self.fault(finding, counter, |fs| {
                fs.volume.copy_cut(logical, logical, owner.last_bytes)
            });
        }
        Ok(())
    }

    /// Marks a file's page as lost, so that a read returns an error. If a repair cannot write this
    /// mark, the repair fails, because the final look must report the page.
    fn lose_content(&mut self, inode: u32, logical: u32) -> Result<(), Error> {
        if self.mode == CheckMode::Mend {
            return soft(
                self.fs.change(|fs| {
                    fs.volume.store.logical.write_edited(logical, logical, Edit::Lost)
                }),
            )
            .map(drop);
        }
        self.tell(Finding::UnreadablePage { inode, logical });
        Ok(())
    }

    /// Returns true if all bytes of a page from byte `from` on are zero.
    fn is_blank_behind(&mut self, logical: u32, from: u32) -> Result<bool, Error> {
        let page_bytes = self.fs.volume.store.layout().geometry.page_bytes;
        for index in from / page_bytes
            ..u32::from(self.fs.volume.store.layout().config.pages_per_logical_page)
        {
            let start = from.saturating_sub(index * page_bytes) as usize;
            let is_blank = self.fs.seen(|fs| {
                fs.volume
                    .store
                    .logical
                    .with_page(logical, index, |bytes| bytes[start..].iter().all(|&byte| byte == 0))
            })?;
            if is_blank == Some(false) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Claims an index, and all pages that it names from entry `kept` on.
    fn claim_index(&mut self, owner: &Owner, index: &Index, kept: u32) -> Claim {
        if !self.fs.volume.plan().index_is_deep {
            return self.claim_last_index(owner, index, kept);
        }
        let (entries, span) = (self.fs.volume.plan().index_entries, index.span);
        if let Some(fault) = self.claim_index_page(owner, index)? {
            return Ok(Some(fault));
        }
        for entry in kept / span..entries {
            let below = if entry == kept / span { kept % span } else { 0 };
            let fault = match self.named(index.page, entry)? {
                None => continue,
                Some(Ok(page)) => self.claim_last_index(owner, &index.below(entry, page), below)?,
                Some(Err(_)) => owner.claims(index.file_page(entry)).then_some(Fault::Nonsense),
            };
            if let Some(fault) = fault
                && self.keeps_entry(owner, index.page, entry)?
            {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    /// Claims an index page that names pages of a file, and the pages that it names from entry
    /// `kept` on.
    fn claim_last_index(&mut self, owner: &Owner, index: &Index, kept: u32) -> Claim {
        if let Some(fault) = self.claim_index_page(owner, index)? {
            return Ok(Some(fault));
        }
        for entry in (kept..self.fs.volume.plan().index_entries)
            .filter(|&entry| owner.claims(index.file_page(entry)))
        {
            let fault = match self.named(index.page, entry)? {
                None => continue,
                Some(Ok(page)) => self.claim_content(owner, index.file_page(entry), page)?,
                Some(Err(_)) => Some(Fault::Nonsense),
            };
            if let Some(fault) = fault
                && self.keeps_entry(owner, index.page, entry)?
            {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    /// If an entry with a fault is behind the size of its file, clears the entry. Returns true if
    /// the entry stays.
    fn keeps_entry(&mut self, owner: &Owner, page: u32, entry: u32) -> Result<bool, Error> {
        // A file needs no entry behind its size.
        if owner.is_behind {
            let finding = Finding::DirtyEnd { inode: owner.inode };
            self.fault(finding, Count::Ends, |fs| fs.volume.set_index_entry(page, entry, None))?;
        }
        Ok(!owner.is_behind)
    }

    /// Claims the page of an index, if this is the turn for it.
    fn claim_index_page(&mut self, owner: &Owner, index: &Index) -> Claim {
        let (page, entries) = (index.page, self.fs.volume.plan().index_entries);
        if !owner.claims(index.first_page(entries)) {
            return Ok(None);
        }
        if let Some(fault) = self.claim(page) {
            return Ok(Some(fault));
        }
        // After a salvage, reads of pages that the lost entries named return errors. Entries behind
        // the end name no pages.
        let used =
            owner.pages.saturating_sub(index.base + index.first).div_ceil(index.span).min(entries);
        if !self.is_readable(page)? || (used > 0 && self.has_lost_content(page)?) {
            let until = used * self.fs.volume.plan().index_bytes();
            self.salvage(
                Finding::UnreadablePage { inode: owner.inode, logical: page },
                page,
                Edit::Salvage { fill: 0xFF, until },
            )?;
        }
        Ok(None)
    }

    fn named(&mut self, page: u32, entry: u32) -> Result<Option<Result<u32, Error>>, Error> {
        Ok(self
            .fs
            .seen(|fs| fs.volume.raw_entry(page, entry))?
            .and_then(|number| self.fs.volume.plan().named_by(number)))
    }

    /// Returns true if a page is content of another file that is in use.
    fn is_content_of_another(&mut self, inode: u32, logical: u32) -> Result<bool, Error> {
        for other in (0..self.inodes_end()?).filter(|&other| other != inode) {
            let header = if self.is_taken(other)? { self.header(other)? } else { None };
            let owner = header.filter(|header| header.kind == InodeKind::File && !header.inline);
            if let Some(owner) = owner.and_then(|header| self.owner_of_pages(other, &header, 0))
                && self.fs.has_content(&owner, logical)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Returns true if a data page is content within the size of a file. Index pages are not
    /// content.
    fn has_content(&mut self, owner: &Owner, logical: u32) -> Result<bool, Error> {
        let mut area = [0; AREA_BYTES];
        if self.seen(|fs| fs.volume.read_area(owner.inode, &mut area))?.is_none() {
            return Ok(false);
        }
        let (entries, is_deep) =
            (self.volume.plan().index_entries, self.volume.plan().index_is_deep);
        for number in 0..REGIONS {
            let (region, base) =
                (Region::of(&area, number), number * self.volume.plan().region_pages);
            let pages = owner.pages.saturating_sub(base);
            if (region.logical..region.logical + region.count.min(pages)).contains(&logical) {
                return Ok(true);
            }
            if region.index == 0 || self.volume.check_data_pages(region.index, 1).is_err() {
                continue;
            }
            for entry in 0..if is_deep { pages.div_ceil(entries) } else { pages }.min(entries) {
                let Some(Some(page)) =
                    self.seen(|fs| fs.volume.index_entry(region.index, entry))?
                else {
                    continue;
                };
                let is_there = if is_deep {
                    let below = (pages - entry * entries).min(entries);
                    self.volume.check_data_pages(page, 1).is_ok()
                        && self.is_indexed(page, below, logical)?
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

    fn is_indexed(&mut self, index: u32, entries: u32, logical: u32) -> Result<bool, Error> {
        for entry in 0..entries {
            if self.seen(|fs| fs.volume.index_entry(index, entry))? == Some(Some(logical)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
