//! Closing: writes the root that ends the use of a volume.
//!
//! If the [first leaf](crate::map) has no copy, it is copied. On a volume with few small files, the
//! newest journal page holds most of the data. So a copy of this page is written between the
//! closing root and the copies of the root:
//!
//! ```text
//! … | root, which names both places of the journal | copy of the journal | copies of the root |
//! ```
//!
//! If idle work has already programmed the journal page twice, the root names both places, and no
//! further copy is written. The root counts only if a page of its copies can be read, and these
//! copies are programmed last. So if the root counts, the copy of the journal is complete. Both are
//! erased together. A mount reads this copy if the newest journal page cannot be read. If journal
//! records form a chain, a mount always reads the copy, because the copy is shorter than the chain.

use super::Store;
use crate::error::Error;
use crate::media::{Flash, Tag, TagKind};
use crate::space::{HeadIndex, NONE};

impl<F: Flash> Store<'_, F> {
    /// Ends the use of the volume. The next mount begins with this root, needs no roll-forward, and
    /// programs nothing. Does nothing if nothing was changed, or if a transaction is open.
    ///
    /// # Power loss
    /// After a power cut the next mount begins with this root, or with an earlier root and the
    /// records programmed since.
    ///
    /// # Cost
    /// - `root_programs + journal_pages` programs;
    /// - one erase if the ring block is full and the next one is not prepared;
    /// - if a program has failed in a block, the mark of this block;
    /// - `pages_per_logical_page` reads and programs if the first leaf was written since its last
    ///   copy. If no head was used since the mount, this copy takes another journal page, and up to
    ///   two erases.
    pub fn end_use(&mut self) -> Result<(), Error> {
        let ftl = &mut self.logical.ftl;
        if ftl.status.is_read_only() || ftl.ring.is_closed() || self.logical.is_open() {
            return Ok(());
        }
        self.logical.ftl.begin_call();
        // The root names the copy of the leaf, so the leaf is copied first.
        if self.view().can_copy_leaf() {
            self.logical.mark_use()?;
            self.logical.copy_leaf()?;
        }
        // The root contains the flag that the use ends.
        self.logical.ftl.ring.set_closed(true);
        let result = self.write_closing_root();
        let ftl = &mut self.logical.ftl;
        // The closing has failed, so the use continues, and no root names the copy of the journal.
        if result.is_err() {
            ftl.ring.set_closed(false);
            ftl.space.set_journal_copy(NONE);
        }
        ftl.after_root(result.map(|()| true))
    }

    /// Writes the closing root. If a block of the ring fails, the root is written into another ring
    /// block.
    fn write_closing_root(&mut self) -> Result<(), Error> {
        let layout = &self.logical.ftl.layout;
        let (pages, tries) = (layout.root_programs + layout.journal_pages(), layout.ring_count);
        for _ in 0..tries {
            let number = self
                .logical
                .ftl
                // The root and the copy of the journal must lie in one block.
                .in_ring(|roots, _, _| roots.find_room(pages).map(|()| roots.begin()))?;
            let result = self.program_closing_root(number);
            if self.logical.ftl.in_ring(|roots, _, lost| roots.finish_write(result, lost))? {
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Programs a root, the copy of the newest journal page, and the copies of the root.
    fn program_closing_root(&mut self, number: u32) -> Result<(), Error> {
        let ftl = &mut self.logical.ftl;
        let is_only_change = ftl.space.journal_at() != NONE && !ftl.space.has_copy_beside();
        if is_only_change {
            // The root names the copy of the journal, so the place of the copy is set before the
            // root is programmed.
            let page = ftl.ring.next_page(&ftl.layout) + ftl.layout.root_pages;
            let places =
                ftl.space.capacity(HeadIndex::JOURNAL) / ftl.layout.geometry.pages_per_block;
            ftl.space.set_journal_copy(page * places);
        }
        ftl.in_ring(|roots, said, _| roots.program(number, said))?;
        if is_only_change {
            self.copy_journal_into_ring()?;
        }
        // The seals come last, so the copy of the journal is complete if the root counts.
        self.logical.ftl.in_ring(|roots, said, _| roots.program_copies(number, said))
    }

    /// Programs the journal buffer as a journal page into the next pages of the ring.
    pub(super) fn copy_journal_into_ring(&mut self) -> Result<(), Error> {
        let ftl = &mut self.logical.ftl;
        let tag =
            Tag { sequence: ftl.copy_sequence(0), logical: 0, kind: TagKind::Journal, aux: 0 };
        let page = ftl.ring.take_pages(ftl.layout.journal_pages(), &ftl.layout);
        self.logical.records().program_page(page, &tag)
    }
}
