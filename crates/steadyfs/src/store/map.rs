//! The map as the open transaction sees it, and what its changes bring with them: frames that are released, and leaves that are written back.

use super::Store;
use super::program::Source;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::journal::empty_places;
use crate::map::{Look, Map};
use crate::media::{Failure, Flash, Kind, Kinds, Tag};
use crate::space::{Frame, HeadIndex, NONE};

impl<'m, F: Flash> Store<'m, F> {
    /// What a look at the map needs, and the map.
    fn map_and_look(&mut self) -> (&mut Map<'m>, Look<'_, 'm, F>) {
        let tries = self.status.looks();
        (&mut self.map, Look { pages: &mut self.pages, layout: &self.layout, tries })
    }

    /// The frame of a logical page as the open transaction sees it; 0 when it has none.
    ///
    /// # Cost
    /// At most one read.
    pub(super) fn frame_of(&mut self, logical: u32) -> Result<Frame, Error> {
        self.check_logical(logical)?;
        if let Some(frame) = self.transaction.frame_of(logical) {
            return Ok(frame);
        }
        if self.journal.is_discarded(logical) {
            return Ok(0);
        }
        let (map, look) = self.map_and_look();
        map.find(look, logical)
    }

    /// Whether a logical page holds anything as the open transaction sees it.
    ///
    /// # Cost
    /// At most one read.
    pub fn is_written(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.frame_of(logical)? != 0 || self.journal.patches(logical) || self.cache.find(logical).is_some())
    }

    /// Notes that a page that the caller takes into use has no frame in the committed map, which saves the look. One that the open
    /// transaction has discarded may have one, which a rollback brings back.
    pub fn know_unwritten(&mut self, logical: u32) {
        if !self.transaction.knows(logical) && !self.journal.is_discarded(logical) {
            self.map.know_unwritten(logical);
        }
    }

    /// Refuses a logical page that there is not: only damaged data can name one.
    pub(super) fn check_logical(&self, logical: u32) -> Result<(), Error> {
        if logical < self.layout.logical_count { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Whether a repair has found that nobody knows the frame of a logical page any more, because the leaf that named it was lost.
    pub(super) fn is_missing(&mut self, logical: u32) -> Result<bool, Error> {
        self.check_logical(logical)?;
        let (map, look) = self.map_and_look();
        map.is_missing(look, logical)
    }

    /// Reads a page of a leaf into the page buffer, several times if it is damaged; `false` when the leaf was never written.
    pub(super) fn load_leaf_page_anyhow(&mut self, leaf: u32, index: u32) -> Result<bool, Error> {
        let (map, mut look) = self.map_and_look();
        map.load_leaf_page_anyhow(&mut look, leaf, index)
    }

    /// Changes the committed map.
    pub(super) fn map_set(&mut self, logical: u32, frame: Frame) {
        self.call.changes += 1;
        let old = self.map.set(logical, frame);
        self.space.release(old);
    }

    /// Where few frames are left: releases the frame that the leaf still names for a page that was changed, for the price of a read.
    pub(super) fn release_old(&mut self, logical: u32) {
        if self.space.near_full(&self.layout, 0) {
            let (map, look) = self.map_and_look();
            let old = map.take_old(look, logical);
            self.space.release(old);
        }
    }

    /// Changes the committed map because reclamation moved a frame.
    pub(super) fn map_move(&mut self, logical: u32, to: Frame) {
        self.call.changes += 1;
        self.map.move_page(logical, to);
    }

    /// Folds until the overlay takes `entries` more, and those that a mount may add. Folds are paced so that this seldom has anything to do.
    ///
    /// Called before the program that commits: a leaf written between a commit and its entry in the overlay would be taken,
    /// after a power cut, for one that holds the entry.
    pub(super) fn make_room(&mut self, entries: u32) -> Result<(), Error> {
        while self.map.len() + entries + COPIED_MAX > self.map.capacity() && self.map.len() > 0 {
            self.fold()?;
        }
        Ok(())
    }

    /// Writes the leaf with most overlay entries anew.
    ///
    /// # Cost
    /// `unit_pages` reads and programs.
    ///
    /// # Power loss
    /// The old leaf stays until the new one is complete.
    pub(super) fn fold(&mut self) -> Result<(), Error> {
        match self.map.fullest_leaf(&self.layout) {
            Some(leaf) if self.log_leaf(leaf)? => Ok(()),
            Some(leaf) => self.fold_leaf(leaf),
            None => Ok(()),
        }
    }

    /// Writes one leaf with its overlay entries.
    pub(super) fn fold_leaf(&mut self, leaf: u32) -> Result<(), Error> {
        let frame = self.program_frame(Kind::Leaf, leaf, &Source::Leaf)?;
        self.adopt_leaf(leaf, frame);
        self.map.know_log(leaf, &self.layout);
        Ok(())
    }

    /// Makes a written leaf the current one.
    pub(super) fn adopt_leaf(&mut self, leaf: u32, frame: Frame) {
        let old = self.map.adopt_leaf(&self.layout, leaf, frame);
        self.space.release(old);
    }

    /// Makes one page of a leaf in the page buffer. A leaf that no look can read any more makes the volume read-only, unless a repair replaces it: the overlay
    /// cannot be emptied without it.
    pub(super) fn compose_leaf_page(&mut self, leaf: u32, index: u32) -> Result<(), Error> {
        let (tries, replaces) = (self.status.looks(), self.status.replaces_leaves());
        let look = Look { pages: &mut self.pages, layout: &self.layout, tries };
        let result = self.map.compose_leaf_page(look, &mut self.space, leaf, index, replaces);
        if result == Err(Error::Corrupt) {
            self.status.lose_leaf();
        }
        result
    }

    /// Programs the overlay entries of a leaf into its log; `false` when they are to be written with it.
    ///
    /// # Cost
    /// A read and a program for each page of the leaf that changes, and a program of the journal's head.
    ///
    /// # Power loss
    /// The overlay has the entries until a mount finds the record that says that the leaf has them.
    fn log_leaf(&mut self, leaf: u32) -> Result<bool, Error> {
        let head = self.space.heads().get(HeadIndex::JOURNAL);
        let has_place = head.block != NONE && head.next > 0 && self.space.rest(HeadIndex::JOURNAL) >= empty_places();
        if !has_place || self.ring.has(self.space.block_of(self.map.leaf(leaf))) {
            return Ok(false);
        }
        let tries = self.status.looks();
        let look = Look { pages: &mut self.pages, layout: &self.layout, tries };
        if !self.map.log_has_room(look, leaf)? {
            return Ok(false);
        }
        let look = Look { pages: &mut self.pages, layout: &self.layout, tries };
        if let Err(failure) = self.map.program_log(look, &mut self.space, leaf)? {
            if failure == Failure::BadBlock {
                self.space.retire(self.space.block_of(self.map.leaf(leaf)));
            }
            self.refused(failure.into());
            return Ok(false);
        }
        if !self.program_leaf_changed(leaf)? {
            return Ok(false);
        }
        self.map.forget_entries(&self.layout, leaf);
        Ok(true)
    }

    /// Programs the record that says that a leaf has its overlay entries; `false` when that failed.
    fn program_leaf_changed(&mut self, leaf: u32) -> Result<bool, Error> {
        let place = self.space.take_places(HeadIndex::JOURNAL, empty_places());
        let tag = Tag { sequence: self.space.take_sequences(1), logical: leaf, kind: Kind::LeafChanged, aux: 0 };
        self.space.count_programs(1);
        match self.records().program_empty(place, &tag) {
            Ok(()) => {
                self.space.move_journal(place);
                Ok(true)
            }
            Err(error) => self.lose_record(error).map(|()| false),
        }
    }

    /// Checks every page of a frame and tells whether it is complete.
    pub(super) fn frame_is_complete(&mut self, frame: Frame, kinds: Kinds, logical: u32) -> Result<bool, Error> {
        let first = self.layout.frame_page(frame);
        for page in first..first + u32::from(self.layout.config.unit_pages) {
            if !self.pages.read_sound(page, self.wanted(kinds, logical))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
