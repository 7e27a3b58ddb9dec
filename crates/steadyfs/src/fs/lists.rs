//! Removed files with pages to free, and removed files that are still open.
//!
//! If a removed file has only a few neighbouring pages, they are freed together with the file. The
//! same holds for the end of a truncated file. If a larger file is removed, its inode is only put
//! on the *trim list*. If a larger end is truncated, its pages move to an inode without a name, and
//! this inode is put on the list. Every later call that opens a transaction, or lacks free pages,
//! first frees a few pages of the first inode of the list. So no call waits for a large file.
//!
//! The list starts in the root page, and each of its inodes names the next inode. So does the list
//! of *orphans*: files that were removed while they were open.
//!
//! ```text
//! 0      4              8             12
//! | trim | first orphan | last orphan |      each an inode plus one, or 0
//! ```
//!
//! Behind the lists, the page stores the volume's [`Depth`].

use super::inode::{InodeHeader, InodeKind, NEXT_AT, PARENT_AT};
use super::needs::OPEN_FILES;
use super::volume::{DEPTH_AT, DEPTH_BYTES, Depth, SPARE_PAGES, Tail, Volume};
use crate::error::Error;
use crate::media::Flash;

const LISTS_BYTES: usize = 12;
/// Number of pages that a write takes: one for the data, two for its index, and one for inline data
/// that moves out of the inode. A step of freeing may free only one page.
pub(super) const TAKEN_PER_CALL: u32 = 4;
/// Maximum number of files without pages that a call frees before it finds pages. With a buffer of
/// [`Config::memory_bytes`](crate::Config::memory_bytes), no more files can be open at a power cut.
pub(super) const WITHOUT_PAGES: u32 = OPEN_FILES as u32;

/// First and last inodes of the lists: inodes plus one, or 0.
#[derive(Clone, Copy, Default)]
struct ListHeads {
    trim: u32,
    orphan_first: u32,
    orphan_last: u32,
}

/// The lists of the root page.
#[derive(Default)]
pub(super) struct Lists {
    heads: ListHeads,
    /// The state to which a failed call returns.
    mark: ListHeads,
    /// True if the trim list may have inodes without pages: orphans from before a mount.
    has_orphans: bool,
    /// True after a rollback, until the volume's own pages are read into RAM again.
    is_outdated: bool,
}

impl Lists {
    /// Reads the tables that RAM keeps of the file system's own pages: the counts of used pages
    /// and inodes, and the lists.
    pub fn load_with_space<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        volume.count_space()?;
        self.load(volume)
    }

    /// Reads the lists of the root page, and the volume's depth behind them.
    pub fn load<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        // A root page without content has empty lists. This also holds if small changes are lost.
        let bytes: [u8; DEPTH_AT as usize + DEPTH_BYTES] =
            volume.store.logical.with_page(0, 0, |page| {
                core::array::from_fn(|at| page.get(at).copied().unwrap_or(0))
            })?;
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        self.heads = ListHeads { trim: word(0), orphan_first: word(4), orphan_last: word(8) };
        self.has_orphans = self.heads.trim != 0;
        let (data_count, count) = (volume.plan().data_count, volume.plan().inode_count);
        // No directory has more overflow pages than the volume has pages.
        volume.set_depth(Depth { pages: word(12).min(data_count), equal: word(16).min(count) });
        let sound = self.heads.trim <= count
            && self.heads.orphan_first <= count
            && self.heads.orphan_last <= count;
        if sound { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Writes the lists of the root page.
    fn write<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        heads: ListHeads,
    ) -> Result<(), Error> {
        let mut bytes = [0; LISTS_BYTES];
        for (place, word) in
            bytes.chunks_exact_mut(4).zip([heads.trim, heads.orphan_first, heads.orphan_last])
        {
            place.copy_from_slice(&word.to_le_bytes());
        }
        volume.store.logical.patch(0, 0, &bytes)?;
        self.heads = heads;
        Ok(())
    }

    /// Empties both lists, because their content is unknown.
    pub fn clear<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        self.write(volume, ListHeads::default())
    }

    /// Makes the present state the target of [`undo`](Self::undo).
    pub fn accept(&mut self) {
        self.mark = self.heads;
        self.has_orphans &= self.heads.trim != 0;
    }

    /// Undoes the changes since the mark.
    pub fn undo(&mut self) {
        self.heads = self.mark;
    }

    /// Sets whether the volume's own pages must be read into RAM again.
    pub fn set_outdated(&mut self, is_outdated: bool) {
        self.is_outdated = is_outdated;
    }

    /// Returns true after a rollback, until the volume's own pages are read into RAM again.
    pub fn are_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Returns the first inode of the trim list plus one, or 0.
    pub fn trim(&self) -> u32 {
        self.heads.trim
    }

    /// Returns the maximum number of steps of freeing that a call may begin with. If `orphans` is
    /// true, the list gets orphans first. The result is one step, or enough steps to free the pages
    /// that the call may lack.
    pub fn steps<F: Flash>(&self, volume: &Volume<'_, F>, orphans: bool) -> u32 {
        match lacking(volume) {
            _ if self.trim() == 0 && !orphans => 0,
            0 => 1,
            // A step may free an orphan without pages, so there are more steps.
            pages if orphans || self.has_orphans => pages + WITHOUT_PAGES,
            pages => pages,
        }
    }

    /// Returns true if a step may free no page, because the list may have orphans without pages.
    pub fn may_have_orphans(&self) -> bool {
        self.has_orphans
    }

    /// Returns true if the next call begins with freeing pages of removed files.
    pub fn trims_first<F: Flash>(&self, volume: &Volume<'_, F>) -> bool {
        // Within a transaction a step is due only if the call may lack pages.
        let is_due = lacking(volume) > 0 || !volume.store.logical.is_open();
        self.trim() != 0 && is_due && !volume.store.status().is_unchecked()
    }

    /// Returns the first and the last orphan: inodes plus one, or 0.
    pub fn orphans(&self) -> (u32, u32) {
        (self.heads.orphan_first, self.heads.orphan_last)
    }

    /// Puts an inode on the trim list.
    pub fn add_removed<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
    ) -> Result<(), Error> {
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &[InodeKind::Removed as u8])?;
        volume.store.logical.patch(page, at + NEXT_AT, &self.heads.trim.to_le_bytes())?;
        self.write(volume, ListHeads { trim: inode + 1, ..self.heads })
    }

    /// Frees a file. If its data lies in the inode or is a run of few pages, the file is freed at
    /// once. Any other file is freed step by step.
    pub fn free_file<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
        header: &InodeHeader,
    ) -> Result<(), Error> {
        if volume.free_at_once(inode, header, !header.inline)? {
            Ok(())
        } else {
            self.add_removed(volume, inode)
        }
    }

    /// Frees a directory. If it has no pages or a run of few pages, the directory is freed at once.
    /// Any other directory is freed step by step.
    pub fn free_directory<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
        header: &InodeHeader,
    ) -> Result<(), Error> {
        if volume.free_at_once(inode, header, header.extra > 0)? {
            return Ok(());
        }
        // `extra` is the number of buckets of a directory, but the number of foreign entries of a
        // removed file.
        let freed = InodeHeader {
            kind: InodeKind::Removed,
            extra: 0,
            name_more: 0,
            attributes: 0,
            ..*header
        };
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &freed.emit())?;
        self.add_removed(volume, inode)?;
        // A discarded page frees no room in the journal buffer before the end of the call. So
        // discards come last.
        volume.free_extensions(header)
    }

    /// Truncates the pages of a file from page `keep` on. A few pages are freed at once. More pages
    /// move to a separate inode, which is put on the trim list.
    pub fn cut<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
        keep: u32,
    ) -> Result<(), Error> {
        match volume.tail_of(inode, keep)? {
            Tail::None => Ok(()),
            Tail::Run(run) => volume.cut_run(inode, &run),
            Tail::Large => match volume.cut_regions(inode, keep)? {
                Some(tail) => self.add_removed(volume, tail),
                None => Ok(()),
            },
        }
    }

    /// Frees the last few pages of the first inode of the list. If the inode has no pages, frees
    /// the inode. If `gives_up` is true, an index that cannot be read is treated as empty.
    pub fn trim_step<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        gives_up: bool,
    ) -> Result<(), Error> {
        let inode = self.heads.trim - 1;
        let (header, last) = volume.removed_inode(inode)?;
        // A damaged list may name any inode.
        if !matches!(header.kind, InodeKind::Removed | InodeKind::Orphan)
            || header.next > volume.plan().inode_count
        {
            return Err(Error::Corrupt);
        }
        // If no page is left, the inode is freed in the same step. If inodes without pages waited
        // for a later step, the list would grow for ever, because its newest inode is freed first.
        if let Some(last) = last.filter(|_| !header.inline)
            && volume.free_some(inode, &last, header.extra, gives_up)?
        {
            return Ok(());
        }
        self.write(volume, ListHeads { trim: header.next, ..self.heads })?;
        match volume.free_extensions(&header) {
            // The inodes that the header names are not extensions.
            Err(Error::Corrupt) if gives_up => {}
            result => result?,
        }
        volume.free_inode(inode)
    }

    /// Empties the trim list. Its inodes and pages stay in use until a repair.
    pub fn give_up_trim<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        self.write(volume, ListHeads { trim: 0, ..self.heads })
    }

    /// Puts an open file that has lost its name on the list of orphans.
    pub fn add_orphan<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
    ) -> Result<(), Error> {
        let next = self.heads.orphan_first;
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &[InodeKind::Orphan as u8])?;
        let mut links = [0; 8];
        links[4..].copy_from_slice(&next.to_le_bytes());
        volume.store.logical.patch(page, at + PARENT_AT, &links)?;
        // Each orphan links to both neighbours, so any orphan can be removed from the list.
        link_orphan(volume, next, PARENT_AT, inode + 1)?;
        let last = if next == 0 { inode + 1 } else { self.heads.orphan_last };
        self.write(volume, ListHeads { orphan_first: inode + 1, orphan_last: last, ..self.heads })
    }

    /// Takes an orphan out of the list and frees it.
    pub fn free_orphan<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
    ) -> Result<(), Error> {
        let header = volume.read_header(inode)?;
        if header.kind != InodeKind::Orphan {
            return Err(Error::Corrupt);
        }
        link_orphan(volume, header.next, PARENT_AT, header.parent)?;
        link_orphan(volume, header.parent, NEXT_AT, header.next)?;
        let head = if header.parent == 0 { header.next } else { self.heads.orphan_first };
        let tail = if header.next == 0 { header.parent } else { self.heads.orphan_last };
        self.write(volume, ListHeads { orphan_first: head, orphan_last: tail, ..self.heads })?;
        self.free_file(volume, inode, &header)
    }

    /// Moves all orphans to the trim list.
    pub fn collect_orphans<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        let ListHeads { trim, orphan_first, orphan_last } = self.heads;
        // The link of the last orphan then leads to the trim list.
        link_orphan(volume, orphan_last, NEXT_AT, trim)?;
        self.has_orphans = true;
        self.write(volume, ListHeads { trim: orphan_first, ..ListHeads::default() })
    }
}

/// Returns the number of pages that a call may take beyond the free pages. If blocks went bad, the
/// volume may lack more pages. Then one call frees only as many pages as a call without bad blocks.
fn lacking<F: Flash>(volume: &Volume<'_, F>) -> u32 {
    let lacking = (volume.space().used + TAKEN_PER_CALL).saturating_sub(volume.capacity());
    lacking.min(TAKEN_PER_CALL + SPARE_PAGES)
}

/// Writes one link of the orphan `number`. Does nothing if `number` is 0.
fn link_orphan<F: Flash>(
    volume: &mut Volume<'_, F>,
    number: u32,
    at: u32,
    target: u32,
) -> Result<(), Error> {
    match number.checked_sub(1) {
        None => Ok(()),
        Some(inode) if inode >= volume.plan().inode_count => Err(Error::Corrupt),
        Some(inode) => {
            let (page, place) = volume.inode_place(inode);
            volume.store.logical.patch(page, place + at, &target.to_le_bytes())
        }
    }
}
