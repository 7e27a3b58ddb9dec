//! Programming journal records.

use super::Logical;
use crate::commit::Transaction;
use crate::error::Error;
use crate::ftl::Failed;
use crate::journal::Records;
use crate::map::Map;
use crate::media::{Flash, Tag, TagKind};
use crate::pages::Group;
use crate::space::HeadIndex;

impl<'m, F: Flash> Logical<'m, F> {
    /// Returns the journal buffer and its records on the medium. Not inlined, because calls take
    /// less code.
    #[inline(never)]
    pub fn records(&mut self) -> Records<'_, 'm, F> {
        self.forward_parts().0
    }

    /// Returns the records, and the other rooms that roll-forward changes.
    pub fn forward_parts(
        &mut self,
    ) -> (Records<'_, 'm, F>, &mut Map<'m>, &mut Transaction<'m>, &mut Group<'m>) {
        let records = Records {
            layout: &self.ftl.layout,
            pages: &mut self.ftl.pages,
            space: &mut self.ftl.space,
            ring: &self.ftl.ring,
            journal: &mut self.journal,
        };
        (records, &mut self.ftl.map, &mut self.ftl.transaction, &mut self.ftl.group)
    }

    /// Ensures that the journal's head has room for the next record. Returns the number of places
    /// that the record takes.
    fn ready_journal(&mut self) -> Result<u32, Error> {
        if !self.ftl.layout.programs_bytes() {
            return self.ftl.ready_head(HeadIndex::JOURNAL).map(|()| 1);
        }
        // If a chain has begun and its block has room, the next record is a delta.
        if self.ftl.space.rest(HeadIndex::JOURNAL) < self.ftl.space.capacity(HeadIndex::JOURNAL) {
            let delta = self.records().next_places(true);
            if self.ftl.space.rest(HeadIndex::JOURNAL) >= delta {
                return Ok(delta);
            }
            // A chain never continues in another block.
            self.ftl.space.close(HeadIndex::JOURNAL);
        }
        self.ftl.ready_head(HeadIndex::JOURNAL)?;
        Ok(self.records().next_places(false))
    }

    /// Programs the journal buffer if no head was used since the mount. Without this record, the
    /// next mount would assume that no head was used.
    pub fn mark_use(&mut self) -> Result<(), Error> {
        if self.ftl.space.is_unmarked() {
            debug_assert!(self.ftl.transaction.len() == 0 && !self.journal.is_dirty());
            self.program_journal()?;
            // The record must be durable before another head programs.
            self.ftl.keep_order()?;
            self.ftl.space.set_unmarked(false);
        }
        Ok(())
    }

    /// Programs the journal buffer, which commits the open transaction.
    ///
    /// # Power loss
    /// The transaction is committed only when the record is complete. The previous journal record
    /// stays on the medium.
    pub fn program_journal(&mut self) -> Result<(), Error> {
        loop {
            let joins = self.ftl.layout.commits_join() && self.ftl.transaction.len() > 0;
            let head = if joins { HeadIndex::USER } else { HeadIndex::JOURNAL };
            let places =
                if joins { self.ftl.ready_head(head).map(|()| 1) } else { self.ready_journal() }?;
            let place = self.ftl.space.take_places(head, places);
            self.ftl.call.frames += u32::from(joins);
            let sequence = self.ftl.space.take_sequences(1);
            // A long record counts as more than one program.
            self.ftl.space.count_programs(
                (places * self.ftl.layout.journal_pages())
                    .div_ceil(self.ftl.layout.journal_record_places()),
            );
            // If a transaction has no programmed pages, its commit is its start.
            let start = self.ftl.transaction.start().min(sequence);
            debug_assert_eq!(self.ftl.transaction.stale_pages(), 0);
            let kind = if self.journal.discard_count() > 0 {
                TagKind::JournalDiscard
            } else {
                TagKind::Journal
            };
            let tag = Tag {
                sequence,
                logical: self.ftl.transaction.len(),
                kind,
                aux: Tag::aux_of(joins.into(), (sequence - start) as u32),
            };
            match self.records().program(place, &tag) {
                Ok(()) => {
                    self.ftl.space.move_journal(place);
                    return Ok(());
                }
                Err(error) => {
                    self.ftl.handle_program_failure(head, Failed::Program(error, true), true)?
                }
            }
        }
    }

    /// Programs the journal buffer once more, which commits nothing. If the new record and the
    /// previous record lie in one block, the previous record becomes the copy of the new one. If
    /// the new record begins a block, there is no copy yet.
    pub fn copy_journal(&mut self) -> Result<(), Error> {
        let before = self.ftl.space.journal_at();
        self.program_journal()?;
        self.ftl.keep_order()?;
        let space = &mut self.ftl.space;
        if space.holds_journal(space.journal_block(before)) {
            space.set_journal_copy(before);
        }
        Ok(())
    }

    /// Gives up the block of the journal's head, because a record that commits nothing could not be
    /// programmed.
    pub(super) fn lose_record(&mut self, error: Error) -> Result<(), Error> {
        // No call depends on this record, so the error is ignored.
        let _ = self.ftl.handle_program_failure(
            HeadIndex::JOURNAL,
            Failed::Program(error, true),
            false,
        );
        if self.ftl.status.is_read_only() { Err(Error::ReadOnly) } else { Ok(()) }
    }
}
