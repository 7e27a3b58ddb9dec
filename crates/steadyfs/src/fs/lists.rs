//! Removed files whose pages are still to be freed, and removed files that are open.
//!
//! A few pages that follow each other go with the file that is removed, or with the end that is cut off. Removing a larger file only puts its inode on the *trim list*;
//! cutting one gives the pages behind the new end to an inode without a name, which goes on the list. Every later call that opens a transaction first frees a few pages of the
//! first inode of the list, so that no call waits for a large file. The list starts in the root page and goes on through the
//! inodes, as does that of the *orphans*, files that were removed while they were open:
//!
//! ```text
//! 0      4              8             12
//! | trim | first orphan | last orphan |      each an inode plus one, or 0
//! ```
//!
//! Behind them the page has the volume's [`Depth`].

use super::inode::{Header, InodeKind, NEXT_AT, PARENT_AT};
use super::volume::{DEPTH_AT, DEPTH_BYTES, Depth, Tail, Volume};
use crate::error::Error;
use crate::media::Flash;

const LISTS_BYTES: usize = 12;
/// Pages that a write takes: one for the data, two for the index that names it, and one for data that leaves the inode. A step of freeing may free one.
pub(super) const TAKEN_PER_CALL: u32 = 4;

/// Where the lists start and end: inodes plus one, or 0.
#[derive(Clone, Copy, Default)]
struct Heads {
    trim: u32,
    orphan_first: u32,
    orphan_last: u32,
}

/// The lists of the root page.
#[derive(Default)]
pub(super) struct Lists {
    heads: Heads,
    /// What a call that fails goes back to.
    mark: Heads,
}

impl Lists {
    /// Reads what RAM keeps of the file system's own pages: what is taken, and the lists.
    pub fn load_with_space<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        volume.count_space()?;
        self.load(volume)
    }

    /// Reads the lists of the root page, and the volume's depth behind them.
    pub fn load<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        // A root page without content has empty lists, even while small changes are lost.
        let bytes: [u8; DEPTH_AT as usize + DEPTH_BYTES] =
            volume.store.logical.with_page(0, 0, |page| core::array::from_fn(|at| page.get(at).copied().unwrap_or(0)))?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        self.heads = Heads { trim: word(0), orphan_first: word(4), orphan_last: word(8) };
        let (data_count, count) = (volume.plan().data_count, volume.plan().inode_count);
        volume.set_depth(Depth { pages: word(12).min(data_count), equal: word(16).min(count) });
        let sound = self.heads.trim <= count && self.heads.orphan_first <= count && self.heads.orphan_last <= count;
        if sound { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Writes the lists of the root page.
    fn write<F: Flash>(&mut self, volume: &mut Volume<'_, F>, heads: Heads) -> Result<(), Error> {
        let mut bytes = [0; LISTS_BYTES];
        for (place, word) in bytes.chunks_exact_mut(4).zip([heads.trim, heads.orphan_first, heads.orphan_last]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        volume.store.logical.patch(0, 0, &bytes)?;
        self.heads = heads;
        Ok(())
    }

    /// Empties both lists: nobody knows what is on them.
    pub fn clear<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        self.write(volume, Heads::default())
    }

    /// Makes the present state the one that [`undo`](Self::undo) goes back to.
    pub fn accept(&mut self) {
        self.mark = self.heads;
    }

    /// Undoes what happened since the mark.
    pub fn undo(&mut self) {
        self.heads = self.mark;
    }

    /// The first inode of the trim list plus one, or 0.
    pub fn trim(&self) -> u32 {
        self.heads.trim
    }

    /// Steps of freeing that a call may begin with, where the list may get `others` as well: one, or as many as free the pages that a call may take, where those are not free.
    pub fn steps<F: Flash>(&self, volume: &Volume<'_, F>, others: bool) -> u32 {
        if self.trim() == 0 && !others { 0 } else { lacking(volume).max(1) }
    }

    /// Whether the next call begins with freeing pages of removed files.
    pub fn trims_first<F: Flash>(&self, volume: &Volume<'_, F>) -> bool {
        let is_due = lacking(volume) > 0 || !volume.store.logical.is_open();
        self.trim() != 0 && is_due && !volume.store.status().is_unchecked()
    }

    /// The first and the last orphan: inodes plus one, or 0.
    pub fn orphans(&self) -> (u32, u32) {
        (self.heads.orphan_first, self.heads.orphan_last)
    }

    /// Puts an inode on the trim list.
    pub fn add_removed<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32) -> Result<(), Error> {
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &[InodeKind::Removed as u8])?;
        volume.store.logical.patch(page, at + NEXT_AT, &self.heads.trim.to_le_bytes())?;
        self.write(volume, Heads { trim: inode + 1, ..self.heads })
    }

    /// Frees a file: at once when its data lies in the inode or is a run of few pages, step by step otherwise.
    pub fn free_file<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32, header: &Header) -> Result<(), Error> {
        if volume.free_at_once(inode, header, !header.inline)? { Ok(()) } else { self.add_removed(volume, inode) }
    }

    /// Frees a directory, likewise.
    pub fn free_directory<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32, header: &Header) -> Result<(), Error> {
        if volume.free_at_once(inode, header, header.extra > 0)? {
            return Ok(());
        }
        volume.free_extensions(header)?;
        let freed = Header { kind: InodeKind::Removed, extra: 0, name_more: 0, attributes: 0, ..*header };
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &freed.emit())?;
        self.add_removed(volume, inode)
    }

    /// Takes the pages from page `keep` on off a file. Few of them are freed at once, others are put on the trim list under an inode of their own.
    pub fn cut<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32, keep: u32) -> Result<(), Error> {
        match volume.tail_of(inode, keep)? {
            Tail::None => Ok(()),
            Tail::Run(run) => volume.cut_run(inode, &run),
            Tail::Large => match volume.cut_regions(inode, keep)? {
                Some(tail) => self.add_removed(volume, tail),
                None => Ok(()),
            },
        }
    }

    /// Frees the last few pages of the first inode of the list; when it has none, frees the inode. An index that cannot be read names none, once nobody
    /// expects to read it any more.
    pub fn trim_step<F: Flash>(&mut self, volume: &mut Volume<'_, F>, gives_up: bool) -> Result<(), Error> {
        let inode = self.heads.trim - 1;
        let header = volume.read_header(inode)?;
        if !matches!(header.kind, InodeKind::Removed | InodeKind::Orphan) || header.next > volume.plan().inode_count {
            return Err(Error::Corrupt);
        }
        if !header.inline && volume.free_some(inode, header.extra, gives_up)? {
            // The inode goes in the same step when nothing is left: a list whose newest inode is freed first would grow for ever.
            if volume.last_region(inode)?.is_some() {
                return Ok(());
            }
        }
        self.write(volume, Heads { trim: header.next, ..self.heads })?;
        match volume.free_extensions(&header) {
            // They are none.
            Err(Error::Corrupt) if gives_up => {}
            result => result?,
        }
        volume.free_inode(inode)
    }

    /// Leaves what is on the trim list as it is: taken, until a repair.
    pub fn give_up_trim<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        self.write(volume, Heads { trim: 0, ..self.heads })
    }

    /// Puts a file that is open, and has no name any more, on the list of orphans.
    pub fn add_orphan<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32) -> Result<(), Error> {
        let next = self.heads.orphan_first;
        let (page, at) = volume.inode_place(inode);
        volume.store.logical.patch(page, at, &[InodeKind::Orphan as u8])?;
        let mut links = [0; 8];
        links[4..].copy_from_slice(&next.to_le_bytes());
        volume.store.logical.patch(page, at + PARENT_AT, &links)?;
        link_orphan(volume, next, PARENT_AT, inode + 1)?;
        let last = if next == 0 { inode + 1 } else { self.heads.orphan_last };
        self.write(volume, Heads { orphan_first: inode + 1, orphan_last: last, ..self.heads })
    }

    /// Takes an orphan out of the list and frees it.
    pub fn free_orphan<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32) -> Result<(), Error> {
        let header = volume.read_header(inode)?;
        if header.kind != InodeKind::Orphan {
            return Err(Error::Corrupt);
        }
        link_orphan(volume, header.next, PARENT_AT, header.parent)?;
        link_orphan(volume, header.parent, NEXT_AT, header.next)?;
        let head = if header.parent == 0 { header.next } else { self.heads.orphan_first };
        let tail = if header.next == 0 { header.parent } else { self.heads.orphan_last };
        self.write(volume, Heads { orphan_first: head, orphan_last: tail, ..self.heads })?;
        self.free_file(volume, inode, &header)
    }

    /// Gives all orphans to the trim list.
    pub fn collect_orphans<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        let Heads { trim, orphan_first, orphan_last } = self.heads;
        link_orphan(volume, orphan_last, NEXT_AT, trim)?;
        self.write(volume, Heads { trim: orphan_first, ..Heads::default() })
    }
}

/// Pages that a call may take and that are not free.
fn lacking<F: Flash>(volume: &Volume<'_, F>) -> u32 {
    (volume.space().used + TAKEN_PER_CALL).saturating_sub(volume.capacity())
}

/// Writes one link of an orphan, if `number` names one.
fn link_orphan<F: Flash>(volume: &mut Volume<'_, F>, number: u32, at: u32, target: u32) -> Result<(), Error> {
    match number.checked_sub(1) {
        None => Ok(()),
        Some(inode) if inode >= volume.plan().inode_count => Err(Error::Corrupt),
        Some(inode) => {
            let (page, place) = volume.inode_place(inode);
            volume.store.logical.patch(page, place + at, &target.to_le_bytes())
        }
    }
}
