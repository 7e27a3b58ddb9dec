//! Settling: what a mount programs before it lets anybody see what it found.
//!
//! The last record may be metastable: it is copied into a fresh block of the ring, with the journal page if that is the last record, and
//! with what earlier mounts copied there and no call has moved since. The root of this mount names the copies; its own copies, which are
//! programmed last, prove that they are complete. Ring blocks that might hold a larger number are erased. Only then is anything programmed elsewhere.

use super::Store;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, Kind, Kinds, Tag};
use crate::mount::{Last, Record, Traces};
use crate::pages::UNSTEADY_TRIES;
use crate::space::{Frame, Head, HeadIndex, NONE, State};

/// Frames that a restart after a write costs: one skipped in each head (one more for each that only streams have, and for each at whose next place
/// there is something that is no record), one copied and its move, one of pacing. They are taken from the reserve and given back a few per victim.
const RESTART_FRAMES: u32 = 5;
/// Distance by which the sequence jumps at a mount: the first page of a listed block, which a cut made unsteady, may read as a record later.
const JUMP: u64 = 4096;
/// Frames or journal pages left in a head's block that one call may use up.
const SCARCE: u32 = 4;

/// A frame that is copied into the ring.
#[derive(Clone, Copy)]
struct Copied {
    kind: Kind,
    logical: u32,
    from: Frame,
    /// Where the map names it: another place in each block of the ring that is tried.
    named: Frame,
}

/// What is copied.
#[derive(Clone, Copy)]
struct Carried {
    frames: [Option<Copied>; COPIED_MAX as usize],
    journal: bool,
}

impl<F: Flash> Store<'_, F> {
    /// Writes a root of this mount's own.
    ///
    /// # Power loss
    /// A mount may be cut as often as it likes.
    pub(super) fn settle(&mut self, last: Last) -> Result<(), Error> {
        let mut carried = self.carried(&last)?;
        self.search().know_blank_places()?;
        self.in_ring(|roots, _, _| roots.complete_mark())?;
        self.space.take_sequences(JUMP);
        self.skip_places(&last.traces);
        if last.traces.are_there() {
            let frames = RESTART_FRAMES + self.layout.extra_heads() + last.traces.more_frames(self.space.heads());
            self.pace.use_credit(frames);
        }
        self.space.set_unmarked(true);
        self.transaction.end();
        loop {
            let number = self.in_ring(|roots, _, _| roots.advance().map(|()| roots.begin()))?;
            let result = self.program_settled(number, &mut carried);
            if self.in_ring(|roots, _, lost| roots.was_written(result, lost))? {
                break;
            }
            // What the root names lies in its own block: all of it goes into another one.
        }
        self.in_ring(|roots, _, _| roots.erase_unknown())?;
        self.status.settle(true);
        self.stock_heads()?;
        self.empty_ring()
    }

    /// What must be copied: the last record, if it may be unsteady, and all that is live in the ring.
    fn carried(&mut self, last: &Last) -> Result<Carried, Error> {
        let is_journal = |record: Record| Kinds::JOURNAL.has(record.tag.kind);
        let unsteady = last.record.filter(|_| !last.is_complete);
        let in_ring = self.space.journal_at() != NONE && self.ring.has(self.space.journal_block(self.space.journal_at()));
        let mut carried = Carried { frames: [None; COPIED_MAX as usize], journal: in_ring || unsteady.is_some_and(is_journal) };
        if let Some(Record { tag, place }) = unsteady.filter(|record| !is_journal(*record)) {
            // Pages of a transaction that was not committed are nobody's.
            if self.space.blocks().is_live(place) {
                carried.add(Copied { kind: tag.kind, logical: tag.logical, from: place, named: place })?;
            }
        }
        for block in self.ring.all() {
            let end = (block + 1) * self.layout.frames_per_block;
            let mut next = self.space.blocks().first_live(block);
            while let Some(frame) = next {
                let (kind, logical) = self.owner(frame)?;
                carried.add(Copied { kind, logical, from: frame, named: frame })?;
                next = self.space.blocks().live_from(frame + 1).filter(|&frame| frame < end);
            }
        }
        Ok(carried)
    }

    /// What a frame in the ring is of: what a page of it says, or, where all of them are lost, the map.
    fn owner(&mut self, frame: Frame) -> Result<(Kind, u32), Error> {
        let first = self.layout.frame_page(frame);
        for page in first..first + u32::from(self.layout.config.unit_pages) {
            if let Some(tag) = self.pages.read_tagged_in(UNSTEADY_TRIES, page, Kinds::DATA.and(Kinds::LEAF))? {
                return Ok((tag.kind, tag.logical));
            }
        }
        if let Some((leaf, _)) = self.map.leaves().find(|&(_, at)| at == frame) {
            return Ok((Kind::Leaf, leaf));
        }
        for logical in 0..self.layout.logical_count {
            match self.frame_of(logical) {
                Ok(found) if found == frame => return Ok((Kind::Data, logical)),
                Ok(_) | Err(Error::Corrupt) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Corrupt)
    }

    /// Programs a root of which some frames lie behind it in its own block, these, and its copies.
    fn program_settled(&mut self, number: u32, carried: &mut Carried) -> Result<(), Error> {
        let (unit, fpb) = (u32::from(self.layout.config.unit_pages), self.layout.frames_per_block);
        let block = self.ring.current();
        let first = block * fpb + self.layout.copied_page() / unit;
        for (copied, to) in carried.frames.iter_mut().flatten().zip(first..) {
            self.name(copied, to)?;
        }
        let behind = self.layout.frame_page(first) + carried.frames.iter().flatten().count() as u32 * unit;
        if carried.journal {
            self.space.move_journal(behind * (self.space.capacity(HeadIndex::JOURNAL) / self.layout.geometry.pages_per_block));
        }
        self.in_ring(|roots, said, _| roots.program(number, said))?;
        for (copied, to) in carried.frames.iter().flatten().zip(first..) {
            self.ring.go_to(self.layout.frame_page(to), &self.layout);
            self.copy_into_ring(copied)?;
        }
        if carried.journal {
            let tag = Tag { sequence: self.copy_sequence(0), logical: 0, kind: Kind::Journal, aux: 0 };
            self.ring.go_to(behind, &self.layout);
            let page = self.ring.take_pages(self.layout.journal_pages(), &self.layout);
            self.records().program_page(page, &tag)?;
        }
        self.in_ring(|roots, said, _| roots.program_copies(number, said))
    }

    /// Lets the map name another frame.
    fn name(&mut self, copied: &mut Copied, to: Frame) -> Result<(), Error> {
        // The map is not asked where it was: a leaf that is copied as well is not at its new place yet.
        if Kinds::LEAF.has(copied.kind) {
            self.map.move_leaf(copied.logical, to);
        } else {
            self.map.replay(copied.logical, to | self.map.settled_bit())?;
        }
        self.space.blocks_mut().set_live(core::mem::replace(&mut copied.named, to), false);
        self.space.blocks_mut().set_live(to, true);
        Ok(())
    }

    /// Copies the pages of a frame to the next ones of the ring, checking what is read: several times, for it may be metastable. A page that was
    /// lost since an earlier mount copied it, or before it moved, costs what is in it, and no more.
    fn copy_into_ring(&mut self, copied: &Copied) -> Result<(), Error> {
        let kinds = Kinds::of(&[copied.kind]);
        let was_copied = self.ring.has(self.space.block_of(copied.from));
        for index in 0..u32::from(self.layout.config.unit_pages) {
            let from = self.layout.frame_page(copied.from) + index;
            let found = self.pages.read_tagged_in(UNSTEADY_TRIES, from, kinds)?.filter(|tag| tag.logical == copied.logical);
            let tag = Tag { sequence: self.copy_sequence(index), logical: copied.logical, kind: copied.kind, aux: 0 };
            let page = self.ring.take_pages(1, &self.layout);
            match found {
                Some(Tag { aux, .. }) => self.pages.program_buffer(page, &Tag { aux, ..tag })?,
                None if was_copied || self.pages.record_tag(from, kinds)?.is_some_and(|tag| tag.logical == copied.logical) => {
                    self.pages.program_lost(page, &tag)?
                }
                None => return Err(Error::Corrupt),
            }
        }
        Ok(())
    }

    /// Sequence of page `index` of a copy in the ring. No record since the root has it: the tag of a page whose erase was cut may be anything, also that
    /// of the copy, and what the page holds the same.
    fn copy_sequence(&self, index: u32) -> u64 {
        self.space.sequence() - u64::from(self.layout.config.unit_pages) + u64::from(index)
    }

    /// Skips the places of each head that a cut program may have touched without a trace: one, or two where the first one is not blank. The journal's
    /// comes first after a mount; the others can have been in use only if there is a trace of anything.
    fn skip_places(&mut self, traces: &Traces) {
        if self.layout.programs_bytes() {
            // A chain never goes on behind a place that may have been touched.
            self.space.close(HeadIndex::JOURNAL);
        }
        let used = traces.are_there() || !self.space.is_unmarked();
        for head in self.space.heads().all() {
            let at = self.space.heads().get(head);
            if at.block != NONE && (used || head == HeadIndex::JOURNAL) {
                let next = (at.next + traces.touched_places(head)).min(self.space.capacity(head));
                self.space.heads_mut().replace(head, Head { next, ..at });
            }
        }
    }

    /// Erases blocks for the heads that will soon need one, so that no call after the mount erases twice: a call may erase one
    /// itself and then moves nothing. Where blocks are small, one call may need two.
    fn stock_heads(&mut self) -> Result<(), Error> {
        if self.layout.programs_bytes() {
            // A mount is short where erases last so long that it waits for nothing else: the first call may erase once more, and its bound says so.
            return Ok(());
        }
        let is_scarce = |&head: &HeadIndex| self.space.rest(head) <= SCARCE;
        // A call writes to one stream beside what is of none.
        let scarce = [HeadIndex::USER, HeadIndex::JOURNAL].iter().filter(|head| is_scarce(head)).count() as u32
            + u32::from(self.space.heads().of_streams().any(|head| is_scarce(&head)));
        let needed = scarce.saturating_sub(1).max(16 / self.layout.frames_per_block);
        while self.space.blocks().count(State::Erased) < needed && self.space.blocks().count(State::Listed) > 0 {
            self.erase_listed()?;
        }
        Ok(())
    }

    /// Moves copied frames to where they belong, once the ring block holds as many as the next mount can copy beside the last record: it
    /// must not fill up with them when one power cut follows the other.
    fn empty_ring(&mut self) -> Result<(), Error> {
        let block: BlockIndex = self.ring.current();
        if self.space.blocks().live(block) < COPIED_MAX {
            return Ok(());
        }
        self.begin()?;
        self.pace.take(block);
        while let Some(frame) = self.space.blocks().first_live(block) {
            // The overlay knows each of them already, so there is no leaf to be written: it would be one frame too many for the next mount.
            self.move_known_frame(frame)?;
        }
        self.pace.take(NONE);
        Ok(())
    }
}

impl Carried {
    fn add(&mut self, copied: Copied) -> Result<(), Error> {
        if self.frames.iter().flatten().any(|other| other.from == copied.from) {
            return Ok(());
        }
        let free = self.frames.iter_mut().find(|place| place.is_none()).ok_or(Error::Corrupt)?;
        *free = Some(copied);
        Ok(())
    }
}
