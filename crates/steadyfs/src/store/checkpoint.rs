//! Checkpoints: the state from which a mount starts, written to a ring of anchor blocks.
//!
//! A checkpoint ends the quarantine of every block that is empty when it is written, and lists the blocks that may be
//! allocated until the next one. Recovery looks for new records in those blocks only.

use super::blocks::{Choice, State, UNUSED};
use super::program::FAILURE_JUMP;
use super::{Head, IDLE, NONE, Store};
use crate::error::Error;
use crate::format::checkpoint::{BYTES, Header};
use crate::media::{Flash, Kind, Kinds, PageIndex, Tag};

/// Sequences of checkpoints and anchors are below this: a tag has 40 bits, and what a mount and its session add must fit as well.
pub(super) const SEQUENCE_MAX: u64 = (1 << 40) - (1 << 24);

impl<F: Flash> Store<'_, F> {
    /// Writes a checkpoint.
    ///
    /// # Cost
    /// `checkpoint_pages` programs; one erase when the next anchor was not prepared.
    ///
    /// # Power loss
    /// The checkpoint before stays the newest until the last page is complete.
    pub(super) fn checkpoint(&mut self) -> Result<(), Error> {
        for _ in 0..self.layout.anchor_count {
            if self.checkpoints_left() == 0 {
                self.advance_anchor()?;
            }
            if self.checkpoint_here()? {
                return Ok(());
            }
        }
        self.read_only = true;
        Err(Error::MediaFailing)
    }

    /// Writes a checkpoint in the current anchor. `false` when that has gone bad.
    pub(super) fn checkpoint_here(&mut self) -> Result<bool, Error> {
        for block in 0..self.blocks.block_count() {
            if self.blocks.state(block) == State::Dead {
                self.blocks.set_state(block, State::Free);
            }
        }
        self.list_blocks();
        match self.program_checkpoint() {
            Ok(()) => {
                self.programs_since_checkpoint = 0;
                self.anchors.complete = self.anchors.current;
                self.anchors.passed_over = NONE;
                self.anchors.announced = true;
                // The blocks that it frees are erased only when it is there.
                self.flash.sync().or_else(|_| self.flash.sync()).inspect_err(|_| self.read_only = true)?;
                Ok(true)
            }
            Err(Error::MediaFailing) => {
                self.go_bad(self.current_anchor());
                self.anchors.next = self.layout.geometry.pages_per_block;
                Ok(false)
            }
            // It may be there or not: another one must follow before a block is used that this one lists. In the next anchor, since a
            // place in this one may be blank.
            Err(Error::Device) if !self.call.lost_checkpoint => {
                self.call.lost_checkpoint = true;
                self.sequence += FAILURE_JUMP;
                self.anchors.next = self.layout.geometry.pages_per_block;
                Ok(false)
            }
            Err(error) => {
                self.read_only = true;
                Err(error)
            }
        }
    }

    /// Chooses the blocks that may be allocated until the next checkpoint: the least worn, and every fourth time the most worn
    /// for data that rests.
    fn list_blocks(&mut self) {
        loop {
            let allocatable = self.blocks.count(State::Erased) + self.blocks.count(State::Listed);
            let choice = if allocatable % 4 == 3 { Choice::MostWorn } else { Choice::LeastWorn };
            let Some(block) = self.blocks.choose_among(&UNUSED, choice).filter(|_| allocatable < self.layout.listed_blocks)
            else {
                break;
            };
            let clean = self.blocks.state(block) == State::Clean;
            self.blocks.set_state(block, if clean { State::Erased } else { State::Listed });
        }
    }

    fn program_checkpoint(&mut self) -> Result<(), Error> {
        let pages = self.layout.checkpoint_pages;
        let first = self.current_anchor() * self.layout.geometry.pages_per_block + self.anchors.next;
        let sequence = self.sequence;
        self.sequence += u64::from(pages);
        self.anchors.next += pages;
        let mut header = self.header().emit();
        for index in 0..pages {
            self.cached = NONE;
            self.page.fill(0xFF);
            self.exchange(&mut header, index, false);
            let tag = Tag { sequence: sequence + u64::from(index), logical: index, kind: Kind::Checkpoint, aux: pages };
            self.program_buffer(first + index, &tag)?;
        }
        Ok(())
    }

    fn header(&self) -> Header {
        Header {
            overlay_len: self.overlay.len(),
            pending_len: self.pending.len(),
            sequence: self.sequence,
            transaction_start: self.transaction_start,
            journal_at: self.journal_at,
            heads: self.heads.map(|head| (head.block, head.next)),
            credit: self.pace.credit as u16,
            unmarked: self.unmarked,
            wear_base: self.blocks.wear_base,
            worn_out: self.worn_out,
            changing: self.anchors.changing,
            place: self.anchors.doubt.0,
            counts: self.anchors.counts,
        }
    }

    /// Reads the checkpoint whose first page is `first` into the tables. `false` when it is not complete or not sound.
    pub(super) fn read_checkpoint(&mut self, first: PageIndex) -> Result<bool, Error> {
        let mut header = [0; BYTES];
        for index in 0..self.layout.checkpoint_pages {
            if !self.read_sound(first + index, Kinds::of(&[Kind::Checkpoint]), index)? {
                return Ok(false);
            }
            self.exchange(&mut header, index, true);
        }
        Ok(Header::parse(&header).is_some_and(|header| self.adopt_header(&header)))
    }

    /// Copies what page `index` of a checkpoint holds to the header and the tables, which follow each other, or from them.
    fn exchange(&mut self, header: &mut [u8; BYTES], index: u32, read: bool) {
        let at = (index * self.layout.geometry.page_bytes) as usize;
        let [wear, state] = self.blocks.tables_mut();
        let mut start = 0;
        for part in [header, self.root.bytes_mut(), self.overlay.bytes_mut(), self.pending.bytes_mut(), wear, state] {
            let (from, to) = (start.max(at), (start + part.len()).min(at + self.page.len()));
            if from < to {
                let (part, page) = (&mut part[from - start..to - start], &mut self.page[from - at..to - at]);
                if read { part.copy_from_slice(page) } else { page.copy_from_slice(part) }
            }
            start += part.len();
        }
    }

    /// Takes over what the header says and checks every number that a table may not be trusted with.
    fn adopt_header(&mut self, header: &Header) -> bool {
        let geometry = self.layout.geometry;
        let (frames, pages) = (self.layout.frame_count(), geometry.block_count * geometry.pages_per_block);
        let settled = self.settled_bit();
        self.blocks.recount();
        let sound = self.overlay.adopt(header.overlay_len)
            && self.pending.adopt(header.pending_len)
            && (0..self.overlay.len())
                .all(|i| self.overlay.key(i) < self.layout.logical_count && self.overlay.value(i) & !settled < frames)
            && (0..self.pending.len()).all(|i| self.pending.key(i) < self.layout.logical_count && self.pending_frame(i) < frames)
            && (0..self.root.len()).all(|leaf| self.root.get(leaf) < frames)
            && (header.journal_at == NONE || header.journal_at < pages)
            && header.heads.iter().all(|&(block, _)| block == NONE || block < geometry.block_count)
            && header.sequence < SEQUENCE_MAX
            && header.wear_base < 1 << 31
            && (header.transaction_start == IDLE || header.transaction_start < header.sequence);
        if sound {
            self.sequence = header.sequence;
            self.transaction_start = header.transaction_start;
            self.journal_at = header.journal_at;
            self.heads = header.heads.map(|(block, next)| Head { block, next });
            self.unmarked = header.unmarked;
            self.blocks.wear_base = header.wear_base;
            self.worn_out = header.worn_out;
            self.anchors.said = (header.changing, header.place, header.counts);
            self.layout.set_bad_blocks(self.blocks.count(State::Bad));
            self.pace.credit = u32::from(header.credit).min(2 * self.layout.frames_per_block);
        }
        sound
    }
}
