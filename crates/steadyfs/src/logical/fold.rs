//! Leaf write-back: a whole leaf is programmed, or its changes are programmed into its log.

use super::Logical;
use super::compose::Source;
use crate::error::Error;
use crate::journal::empty_places;
use crate::map::LeafReader;
use crate::media::{Failure, Flash, Tag, TagKind};
use crate::space::{HeadIndex, NONE, State};

impl<F: Flash> Logical<'_, F> {
    /// Writes leaves back until the overlay has room for `entries` more entries, and for the
    /// entries that a mount may add. Reclamation paces leaf write-backs, so this function seldom
    /// has work.
    ///
    /// Called before the program that commits. A leaf that is written between a commit and the
    /// commit's overlay entries would be wrong after a power cut. The mount would assume that the
    /// leaf contains these entries, because the leaf is newer than the commit.
    pub(super) fn make_room(&mut self, entries: u32) -> Result<(), Error> {
        while self.ftl.map.len() + entries > self.ftl.map.changes_max() && self.ftl.map.len() > 0 {
            self.fold()?;
        }
        Ok(())
    }

    /// Writes the leaf with the most overlay entries back.
    ///
    /// # Cost
    /// `pages_per_logical_page` reads and programs.
    ///
    /// # Power loss
    /// The old leaf stays until the new leaf is complete.
    pub fn fold(&mut self) -> Result<(), Error> {
        match self.ftl.map.fullest_leaf(&self.ftl.layout) {
            Some(leaf) if self.log_leaf(leaf)? => Ok(()),
            Some(leaf) => self.fold_leaf(leaf),
            None => Ok(()),
        }
    }

    /// Writes one leaf with its overlay entries.
    pub fn fold_leaf(&mut self, leaf: u32) -> Result<(), Error> {
        let frame = self.program_frame(TagKind::Leaf, leaf, &Source::Leaf)?;
        self.ftl.adopt_leaf(leaf, frame);
        self.ftl.map.mark_log(leaf, &self.ftl.layout);
        Ok(())
    }

    /// Writes a copy of the first leaf, including its overlay entries. The entries stay in the
    /// overlay.
    ///
    /// # Cost
    /// `pages_per_logical_page` reads and programs.
    ///
    /// # Power loss
    /// The map does not depend on the copy.
    pub fn copy_leaf(&mut self) -> Result<(), Error> {
        let frame = self.program_frame(TagKind::LeafCopy, 0, &Source::Leaf)?;
        self.ftl.map.set_copy(frame);
        Ok(())
    }

    /// Programs the overlay entries of a leaf into its log. Returns `false` if the whole leaf must
    /// be written instead.
    ///
    /// # Cost
    /// One read and one program for each page of the leaf that changes, and one program by the
    /// journal's head.
    ///
    /// # Power loss
    /// Until the record of this change is on the medium, a mount keeps the entries in its overlay.
    fn log_leaf(&mut self, leaf: u32) -> Result<bool, Error> {
        let head = self.ftl.space.heads().get(HeadIndex::JOURNAL);
        // The first record of a chain must contain the whole buffer. So this record is possible
        // only in a chain that has begun.
        let has_place = head.block != NONE
            && head.next > 0
            && self.ftl.space.rest(HeadIndex::JOURNAL) >= empty_places();
        let block = self.ftl.space.block_of(self.ftl.map.leaf(leaf));
        // A block in which a program failed takes no more programs.
        let is_fixed =
            self.ftl.ring.has(block) || self.ftl.space.blocks().state(block) == State::Retiring;
        if !has_place || is_fixed {
            return Ok(false);
        }
        let tries = self.ftl.status.looks();
        let reader = LeafReader { pages: &mut self.ftl.pages, layout: &self.ftl.layout, tries };
        if !self.ftl.map.log_has_room(reader, leaf)? {
            return Ok(false);
        }
        let reader = LeafReader { pages: &mut self.ftl.pages, layout: &self.ftl.layout, tries };
        if let Err(failure) = self.ftl.map.program_log(reader, &mut self.ftl.space, leaf)? {
            // The frames of the block can still be read, so they move to another block.
            if failure == Failure::BadBlock {
                self.ftl.space.retire(block);
            }
            self.ftl.refused(failure.into());
            return Ok(false);
        }
        if !self.program_leaf_changed(leaf)? {
            return Ok(false);
        }
        // The record proves that the log has the entries.
        self.ftl.map.forget_entries(&mut self.ftl.space, &self.ftl.layout, leaf);
        Ok(true)
    }

    /// Programs the record that proves that the leaf's log has the overlay entries. Returns `false`
    /// if the program failed.
    fn program_leaf_changed(&mut self, leaf: u32) -> Result<bool, Error> {
        let place = self.ftl.space.take_places(HeadIndex::JOURNAL, empty_places());
        let tag = Tag {
            sequence: self.ftl.space.take_sequences(1),
            logical: leaf,
            kind: TagKind::LeafChanged,
            aux: 0,
        };
        self.ftl.space.count_programs(1);
        match self.records().program_empty(place, &tag) {
            Ok(()) => {
                self.ftl.space.move_journal(place);
                Ok(true)
            }
            Err(error) => self.lose_record(error).map(|()| false),
        }
    }
}
