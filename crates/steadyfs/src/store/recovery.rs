//! Format and mount.
//!
//! A mount reads the superblock, finds the newest complete checkpoint, applies the records that were programmed after it in the
//! order of their sequence ("roll forward"), derives the live frames from the map, and *settles*: it writes a checkpoint of
//! its own into a freshly erased anchor before anything else is programmed. Between two checkpoints there is therefore at most
//! one power cut, and only the last record can be metastable; its content is copied into the fresh anchor.

use super::anchors::Superblocks;
use super::blocks::State;
use super::checkpoint::SEQUENCE_MAX;
use super::program::{FAILURE_JUMP, was_read};
use super::{Frame, Head, HeadIndex, IDLE, NONE, Store};
use crate::config::{ANCHORS_MAX, Config, LISTED_MAX, Layout};
use crate::error::{Error, MountError};
use crate::format::superblock::Superblock;
use crate::media::{Flash, Kind, Kinds, PageIndex, TAG_BYTES, Tag, is_blank};

/// What a mount may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing is programmed or erased, ever.
    ReadOnly,
    /// The mount settles what a power cut left, and the volume can be changed.
    ReadWrite,
    /// As `ReadOnly`, and goes past changes since the last checkpoint that cannot be read, which are otherwise
    /// [`Error::Corrupt`]. Pages that they were of have the content of before: a last resort, to copy what there is.
    Salvage,
}

/// Frames that a restart after a write costs: one skipped in each head, one rescued and its move, one of pacing. They are taken from
/// the reserve and given back a few per victim.
const RESTART_FRAMES: u32 = 5;
/// Distance by which the sequence jumps at a mount, so that no number is ever used twice: more than an anchor takes, and than programs
/// that failed one after the other have used up.
const JUMP: u64 = 64 * FAILURE_JUMP;
/// Frames or journal pages left in a head's block that one call may use up.
const SCARCE: u32 = 4;
/// Frames that may lie in an anchor: one that a mount before rescued, the one of the last record, and a leaf that was folded when
/// the two were on their way out.
const RESCUED_MAX: u32 = 3;
/// Frames in an anchor from which on a mount moves them out.
const RESCUED_MANY: u32 = 2;
/// Furthest that a record's sequence may be from its checkpoint's.
const HORIZON: u64 = 1 << 22;

/// A superblock, and where it was found.
struct Found {
    superblock: Superblock,
    sequence: u64,
    block: u32,
    /// The page after the last one in the block.
    next: u32,
}

/// Pages at the end of a superblock's block that are looked at: a cut may have left one, and one may have been lost.
const SUPERBLOCKS_TRIED: u32 = 4;

/// The next record of a block in which roll-forward looks for them. One for each block is kept, so the sequence is
/// relative to the checkpoint's, which halves its size.
#[derive(Clone, Copy)]
struct Cursor {
    /// As in [`Record`].
    place: u32,
    distance: u32,
    logical: u32,
    kind: Kind,
    aux: u32,
}

/// A record found by roll-forward.
#[derive(Clone, Copy)]
struct Record {
    tag: Tag,
    /// Frame, or page for a journal record.
    place: u32,
}

impl<'m, F: Flash> Store<'m, F> {
    /// Makes an empty volume. Everything on the medium is lost.
    ///
    /// # Cost
    /// One look at each block's mark and one read; `anchors + 2` erases; `checkpoint_pages + 2` programs.
    ///
    /// # Power loss
    /// The medium is not formatted until the last program.
    pub fn format(flash: F, config: &Config, memory: &'m mut [u8]) -> Result<F, MountError> {
        // Changed in place: a copy of a store costs code and stack.
        let mut result = Self::empty(flash, config, memory);
        if let Ok(store) = &mut result {
            store.write_empty()?;
        }
        result.map(|store| store.flash)
    }

    /// Writes the superblock and the checkpoint of an empty volume.
    fn write_empty(&mut self) -> Result<(), MountError> {
        let Layout { geometry, config, anchor_count, .. } = self.layout;
        let blocks = geometry.block_count;
        let mut newest = 0;
        for block in 0..blocks {
            let state = if self.flash.is_bad(block)? { State::Bad } else { State::Free };
            self.blocks.set_state(block, state);
            if state == State::Free {
                // No volume lives to see half of them.
                let tag = self.checked_tag(block * geometry.pages_per_block)?.filter(|tag| tag.sequence < SEQUENCE_MAX / 2);
                newest = newest.max(tag.map_or(0, |tag| tag.sequence));
            }
        }
        // Pages of an earlier volume stay until their blocks are erased. Roll-forward takes them for old ones if all sequences of
        // this volume are higher: that of the newest first page of a block, and of what was programmed after it.
        if newest >= 1 << 39 {
            // No chip lives so long: whatever wrote that, it must go.
            for block in 0..blocks {
                if self.blocks.state(block) == State::Free {
                    self.erase(block)?;
                }
            }
        } else if newest > 0 {
            self.sequence = newest + u64::from(blocks * geometry.pages_per_block) * 4 + 0x1_0000;
        }
        let mut copy = NONE;
        let mut anchors = 0;
        for block in 0..blocks {
            if anchors == anchor_count {
                break;
            }
            if self.blocks.state(block) != State::Free || !self.erase(block)? {
                continue;
            }
            self.blocks.set_state(block, State::Reserved);
            if block > 0 && copy == NONE {
                copy = block;
            } else if block > 0 {
                self.anchors.blocks[anchors as usize] = block;
                anchors += 1;
            }
        }
        let (found, allowed) = (self.blocks.count(State::Bad), u32::from(config.bad_blocks_max));
        if found > allowed || anchors < anchor_count || self.blocks.state(0) != State::Reserved {
            return Err(MountError::TooManyBadBlocks { found, allowed });
        }
        self.checkpoint()?;
        self.anchors.generation = self.sequence;
        self.anchors.superblocks[1].block = copy;
        self.program_superblock(copy * geometry.pages_per_block)?;
        self.program_superblock(0)?;
        Ok(self.flash.sync()?)
    }

    /// Finds both superblocks; `memory` is used as a page buffer. The second copy lies in the first good block after block 0.
    fn find_superblocks(flash: &mut F, memory: &mut [u8]) -> Result<[Option<Found>; 2], MountError> {
        let device = flash.geometry();
        let page_bytes = device.page_bytes as usize;
        if memory.len() < page_bytes {
            return Err(MountError::MemoryTooSmall { needed: page_bytes, given: memory.len() });
        }
        let page = &mut memory[..page_bytes];
        let first = find_superblock(flash, 0, page)?;
        let copies = match &first {
            Some(first) => first.superblock.copy..first.superblock.copy + 1,
            None => 1..device.block_count.min(32),
        };
        for block in copies {
            if first.is_none() && flash.is_bad(block)? {
                continue;
            }
            let second = find_superblock(flash, block, page)?;
            if second.is_some() {
                return Ok([first, second]);
            }
        }
        Ok([first, None])
    }

    /// Reads what a volume is. The store has its content after [`recover`](Self::recover).
    ///
    /// Neither is inlined: what one needs is off the stack when the other runs, and a store behind a pointer takes less code
    /// than one in the frame of the function that makes it.
    #[inline(never)]
    pub fn open(mut flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let found = Self::find_superblocks(&mut flash, memory)?;
        let newer = usize::from(found[0].as_ref().map(|it| it.sequence) < found[1].as_ref().map(|it| it.sequence));
        let Some(newest) = &found[newer] else { return Err(MountError::NotFormatted) };
        // Changed in place: a copy of a store costs code and stack.
        let mut result = Self::empty(flash, &newest.superblock.config, memory);
        if let Ok(store) = &mut result {
            if u32::from(newest.superblock.anchor_count) != store.layout.anchor_count {
                return Err(MountError::NotFormatted);
            }
            store.adopt_superblocks(newest, found[1 - newer].as_ref());
            store.read_only = access != Access::ReadWrite;
            store.salvages = access == Access::Salvage;
        }
        result
    }

    /// Takes over what the newest superblock says, and what the other one does not agree on.
    fn adopt_superblocks(&mut self, newest: &Found, other: Option<&Found>) {
        let count = self.layout.anchor_count as usize;
        self.anchors.blocks[..count].copy_from_slice(&newest.superblock.anchors[..count]);
        self.anchors.generation = newest.sequence;
        self.anchors.list_of = usize::from(newest.block != 0);
        for (index, block) in [0, newest.superblock.copy].into_iter().enumerate() {
            let here = [Some(newest), other].into_iter().flatten().find(|found| found.block == block);
            let next = here.map_or(0, |found| found.next);
            // One that is not there is erased before it is written again.
            let found = here.map_or(0, |found| found.sequence as u32);
            self.anchors.superblocks[index] = Superblocks { block, next, touched: here.is_none(), found };
            if here.is_some_and(|found| found.sequence != newest.sequence) {
                self.anchors.older = Some(index);
            }
        }
        // One change apart: power may have failed between the two, or the newer page may be metastable.
        if let Some(other) = other.filter(|other| other.sequence + 1 == newest.sequence) {
            let theirs = &other.superblock.anchors;
            let differs = (0..count).find(|&index| theirs[index] != newest.superblock.anchors[index]);
            self.anchors.doubt = differs.map_or((NONE, NONE), |index| (index as u32, theirs[index]));
        }
    }

    /// Brings the store to the state that was committed last, and the medium as well with `SETTLE`; `false` when there is no
    /// readable checkpoint.
    ///
    /// A firmware that only reads links nothing that programs: so `SETTLE` is known to the compiler.
    ///
    /// # Cost
    /// See [`bounds`](super::bounds).
    #[inline(never)]
    pub fn recover<const SETTLE: bool>(&mut self) -> Result<bool, Error> {
        if !self.find_checkpoint()? {
            return Ok(false);
        }
        let mut last = self.roll_forward()?;
        if SETTLE && !self.worn_out {
            match self.settle(last) {
                // The medium takes no more, or a leaf is lost. What there is can still be read: from the same checkpoint, for this one is
                // not complete.
                Err(Error::MediaFailing | Error::ReadOnly | Error::Corrupt) => {}
                result => return result.map(|()| true),
            }
            if !self.find_checkpoint()? {
                return Ok(false);
            }
            last = self.roll_forward()?;
        }
        self.read_only = true;
        self.leave_as_it_is(last).map(|()| true)
    }

    /// Finds the newest complete checkpoint and reads it.
    ///
    /// Not inlined, so that what it needs is off the stack when records are applied.
    #[inline(never)]
    fn find_checkpoint(&mut self) -> Result<bool, Error> {
        let pages = self.layout.geometry.pages_per_block;
        // The sequence of each anchor's first page; 0 where there is nothing to look at. One whose first page cannot be read counts as
        // empty: its erase may have been cut, and then the journal page that its checkpoint names may be gone.
        let mut first_sequences = [0; ANCHORS_MAX];
        self.anchors.unreadable = 0;
        for (index, sequence) in first_sequences.iter_mut().enumerate().take(self.layout.anchor_count as usize) {
            let mut tag = [0; TAG_BYTES];
            let is_read = self.read_page(self.anchors.blocks[index] * pages, &mut tag)?;
            match Tag::checked(&tag, self.page).filter(|tag| is_read && tag.sequence < SEQUENCE_MAX) {
                Some(tag) => *sequence = tag.sequence,
                None => self.anchors.unreadable |= u16::from(!is_read || !is_blank(&tag)) << index,
            }
        }
        (self.anchors.newest_seen, self.anchors.passed_over) = (0, NONE);
        loop {
            let (mut newest, mut newest_sequence) = (0, 0);
            for (index, &sequence) in first_sequences.iter().enumerate() {
                if sequence > newest_sequence {
                    (newest, newest_sequence) = (index, sequence);
                }
            }
            if newest_sequence == 0 {
                return Ok(false);
            }
            self.anchors.newest_seen = self.anchors.newest_seen.max(newest_sequence);
            self.anchors.current = newest as u32;
            if self.find_in_anchor(self.current_anchor() * pages)? {
                self.anchors.complete = newest as u32;
                self.trust_superblocks();
                self.reserve_anchors();
                for block in 0..self.blocks.block_count() {
                    if self.blocks.state(block) == State::Erased {
                        // No checkpoint proves that the erase was complete.
                        self.blocks.set_state(block, State::Listed);
                    }
                }
                return Ok(true);
            }
            // A newer anchor may hold a checkpoint that was cut; the one before it is then complete. The cut one may read as complete
            // later: it is the first to be erased, and what follows has larger numbers.
            first_sequences[newest] = 0;
            if self.anchors.passed_over == NONE {
                self.anchors.passed_over = newest as u32;
            }
        }
    }

    /// A tag, or `None` when its page cannot be read or its checksum is not right.
    fn checked_tag(&mut self, page: PageIndex) -> Result<Option<Tag>, Error> {
        let mut bytes = [0; TAG_BYTES];
        Ok(if self.read_page(page, &mut bytes)? { Tag::checked(&bytes, self.page) } else { None })
    }

    /// Reads the newest complete checkpoint of one anchor, if it holds one.
    fn find_in_anchor(&mut self, first: PageIndex) -> Result<bool, Error> {
        let pages = self.layout.geometry.pages_per_block;
        let mut tag = [0; TAG_BYTES];
        let low = find_end(|index| Ok(self.read_tag(first + index, &mut tag)? && is_blank(&tag)), pages)?;
        let size = self.layout.checkpoint_pages;
        let mut end = low;
        while end >= size {
            let start = end - size;
            let tag = self.tag_at(first + start)?;
            let begins = tag.is_some_and(|tag| tag.kind == Kind::Checkpoint && tag.logical == 0 && tag.aux == size);
            if begins && self.read_checkpoint(first + start)? {
                let is_last = end == low;
                let is_only = start == 0 || self.tag_at(first + start - 1)?.is_none_or(|tag| tag.kind != Kind::Checkpoint);
                if is_last && is_only && !self.salvages && !self.anchor_is_whole()? {
                    return Ok(false);
                }
                self.anchors.next = low;
                return Ok(true);
            }
            end -= 1;
        }
        Ok(false)
    }

    /// Whether all can be read that the checkpoint names in its own anchor. If not, a mount passed over the anchor, and its erase was cut.
    fn anchor_is_whole(&mut self) -> Result<bool, Error> {
        let (anchor, per_block) = (self.current_anchor(), self.layout.frames_per_block);
        for leaf in 0..self.root.len() {
            let frame = self.root.get(leaf);
            if frame / per_block == anchor && !self.frame_is_complete(frame, Kinds::LEAF, leaf)? {
                return Ok(false);
            }
        }
        for index in 0..self.overlay.len() {
            let frame = self.overlay.value(index) & !self.settled_bit();
            if frame / per_block == anchor && !self.frame_is_complete(frame, Kinds::DATA, self.overlay.key(index))? {
                return Ok(false);
            }
        }
        let is_journal = |tag: Tag| Kinds::JOURNAL.has(tag.kind);
        Ok(!self.holds_journal(anchor) || self.checked_tag(self.journal_at)?.is_some_and(is_journal))
    }

    /// A tag, or `None` when it cannot be read or is none.
    fn tag_at(&mut self, page: PageIndex) -> Result<Option<Tag>, Error> {
        let mut tag = [0; TAG_BYTES];
        Ok(if self.read_tag(page, &mut tag)? { Tag::parse(&tag) } else { None })
    }

    /// Applies the records that were programmed after the checkpoint, but for the last one, which it returns.
    ///
    /// Not inlined, so that its cursors are off the stack when the volume is settled.
    #[inline(never)]
    fn roll_forward(&mut self) -> Result<Option<Record>, Error> {
        let base = self.sequence;
        let mut cursors: [Option<Cursor>; LISTED_MAX + 3] = [None; LISTED_MAX + 3];
        let mut count = 0;
        for &head in &[HeadIndex::User, HeadIndex::Moved, HeadIndex::Journal] {
            let Head { block, next } = self.heads[head as usize];
            if block != NONE {
                self.look(&mut cursors[count], Some(head), block, next, base)?;
                count += 1;
            }
        }
        for block in 0..self.blocks.block_count() {
            if self.blocks.state(block) == State::Listed && count < cursors.len() {
                self.look(&mut cursors[count], None, block, 0, base)?;
                count += usize::from(cursors[count].is_some());
            }
        }
        let unit = u32::from(self.layout.config.unit_pages);
        let mut last: Option<Record> = None;
        while let Some(record) = self.next_record(&mut cursors, base)? {
            if let Some(before) = last {
                let gap = record.tag.sequence.saturating_sub(before.tag.sequence + self.record_programs(&before));
                // A failed program may have left a tag with any sequence: what follows a gap counts only as a whole, or the record before
                // it would be taken for one that a later program proves to be steady.
                if gap > 0 && !self.is_whole(&record)? {
                    continue;
                }
                let small = gap < FAILURE_JUMP && gap > u64::from(self.lost_moves * unit);
                if small && !self.salvages && self.is_whole(&before)? {
                    // Something was programmed between the two that cannot be read: perhaps a commit, or the newest checkpoint.
                    return Err(Error::Corrupt);
                }
                self.apply(before, gap > 0)?;
            }
            last = Some(record);
        }
        Ok(last)
    }

    /// Whether every page of a record has the right checksum and is what its tag says. The tag is read once more: that of a torn page may
    /// have read differently before.
    fn is_whole(&mut self, record: &Record) -> Result<bool, Error> {
        let Record { tag, place } = *record;
        let is_journal = Kinds::JOURNAL.has(tag.kind);
        let page = if is_journal { place } else { self.frame_page(place) };
        Ok(self.checked_tag(page)? == Some(tag)
            && (is_journal || self.frame_is_complete(place, Kinds::of(&[tag.kind]), tag.logical)?))
    }

    /// Programs of a record.
    fn record_programs(&self, record: &Record) -> u64 {
        if Kinds::JOURNAL.has(record.tag.kind) { 1 } else { self.layout.config.unit_pages.into() }
    }

    /// Makes a cursor at a place of a head's block, or at the start of a listed one that any head may have taken since the
    /// checkpoint, if a new record is there.
    fn look(
        &mut self,
        cursor: &mut Option<Cursor>,
        head: Option<HeadIndex>,
        block: u32,
        next: u32,
        base: u64,
    ) -> Result<(), Error> {
        *cursor = None;
        let capacity = self.head_capacity(head.unwrap_or(HeadIndex::User));
        if next >= capacity {
            return Ok(());
        }
        let place = block * capacity + next;
        let page = if head == Some(HeadIndex::Journal) { place } else { self.frame_page(place) };
        let Some(tag) = self.tag_at(page)? else { return self.look_behind(cursor, head, block, next, base) };
        let of_head = head_of(tag.kind).is_some_and(|found| head.is_none_or(|head| head == found));
        if !of_head || !(base..base + HORIZON).contains(&tag.sequence) || !self.names_something(&tag) {
            return Ok(());
        }
        // A block that was listed and is not erased yet may begin with a page that a power cut tore long ago: its tag may say anything.
        let tag = if head.is_none() { self.checked_tag(page)?.filter(|checked| *checked == tag) } else { Some(tag) };
        let Some(tag) = tag else { return Ok(()) };
        let place = if Kinds::JOURNAL.has(tag.kind) { page } else { place };
        let distance = (tag.sequence - base) as u32;
        *cursor = Some(Cursor { place, distance, logical: tag.logical, kind: tag.kind, aux: tag.aux });
        Ok(())
    }

    /// After a tag that cannot be read: behind one that a power cut tore lies nothing. One with another record behind it was lost. A lost move
    /// does not matter, for its source is still there; another record may have been a commit.
    fn look_behind(
        &mut self,
        cursor: &mut Option<Cursor>,
        head: Option<HeadIndex>,
        block: u32,
        next: u32,
        base: u64,
    ) -> Result<(), Error> {
        let Some(known) = head.filter(|&head| next + 1 < self.head_capacity(head)) else { return Ok(()) };
        let place = block * self.head_capacity(known) + next + 1;
        let page = if known == HeadIndex::Journal { place } else { self.frame_page(place) };
        let behind = self.tag_at(page)?.filter(|tag| head_of(tag.kind) == head && (base..base + HORIZON).contains(&tag.sequence));
        match behind {
            None => Ok(()),
            Some(_) if known == HeadIndex::Moved => {
                self.lost_moves += 1;
                self.look(cursor, head, block, next + 1, base)
            }
            Some(_) if self.salvages => self.look(cursor, head, block, next + 1, base),
            Some(_) => Err(Error::Corrupt),
        }
    }

    /// Takes the record with the lowest sequence.
    fn next_record(&mut self, cursors: &mut [Option<Cursor>], base: u64) -> Result<Option<Record>, Error> {
        let (mut slot, mut lowest) = (0, u32::MAX);
        for (index, cursor) in cursors.iter().enumerate() {
            if let Some(cursor) = cursor
                && cursor.distance < lowest
            {
                (slot, lowest) = (index, cursor.distance);
            }
        }
        let Some(Cursor { place, distance, logical, kind, aux }) = cursors[slot] else { return Ok(None) };
        let Some(head) = head_of(kind) else { return Ok(None) };
        let (block, next) = (place / self.head_capacity(head), place % self.head_capacity(head) + 1);
        let cursor = &mut cursors[slot];
        self.look(cursor, Some(head), block, next, base)?;
        // Sequences grow within a block.
        if cursor.is_some_and(|after| after.distance <= distance) {
            *cursor = None;
        }
        let old = core::mem::replace(&mut self.heads[head as usize], Head { block, next }).block;
        if old != block {
            if old != NONE {
                self.blocks.set_state(old, State::Used);
            }
            self.blocks.set_state(block, State::Active);
        }
        self.sequence = base + u64::from(distance);
        Ok(Some(Record { tag: Tag { sequence: self.sequence, logical, kind, aux }, place }))
    }

    /// Applies a record. One before a gap may be half of a failed program and is looked at as a whole first.
    fn apply(&mut self, record: Record, verify: bool) -> Result<(), Error> {
        let Record { mut tag, place } = record;
        if Kinds::JOURNAL.has(tag.kind) {
            if verify || tag.kind == Kind::JournalDiscard {
                match self.read_journal(place) {
                    Err(Error::Corrupt) if verify => return Ok(()),
                    // A metastable tag may have read differently before; this one has the right checksum.
                    result => tag = result?,
                }
            }
            self.apply_journal(&tag, place)
        } else if verify && !self.frame_is_complete(place, Kinds::of(&[tag.kind]), tag.logical)? {
            Ok(())
        } else {
            self.apply_frame(&tag, place)
        }
    }

    /// Applies a record whose content lies in `frame`.
    fn apply_frame(&mut self, tag: &Tag, frame: Frame) -> Result<(), Error> {
        let logical = tag.logical;
        match tag.kind {
            Kind::Data => {
                let start = tag.sequence - u64::from(tag.aux).min(tag.sequence);
                if start != self.transaction_start {
                    self.pending.clear();
                    self.transaction_start = start;
                }
                match self.pending.find(logical) {
                    Some(index) => self.pending.set_value(index, frame),
                    None if !self.pending.insert(logical, frame) => return Err(Error::Corrupt),
                    None => {}
                }
            }
            Kind::DataCommit => {
                self.pending.clear();
                self.transaction_start = IDLE;
                self.replay_set(logical, frame)?;
            }
            // A copy was programmed only while the map named its source, and records come in the order of one sequence: the newest
            // counts. One whose program failed may read as complete, and is followed by another one.
            Kind::Moved => return self.replay_set(logical, frame),
            Kind::MovedPending => {
                if let Some(index) = self.pending.find(logical) {
                    self.pending.set_value(index, frame);
                }
            }
            Kind::Leaf => self.adopt_leaf(logical, frame),
            Kind::MovedLeaf => self.root.set(logical, frame),
            _ => {}
        }
        Ok(())
    }

    /// Applies a commit. The journal buffer holds the page when it discards anything.
    fn apply_journal(&mut self, tag: &Tag, page: PageIndex) -> Result<(), Error> {
        let start = tag.sequence - u64::from(tag.aux).min(tag.sequence);
        if self.transaction_start != IDLE && start != self.transaction_start {
            self.pending.clear();
        }
        self.transaction_start = IDLE;
        self.journal_at = page;
        if tag.kind == Kind::JournalDiscard {
            let mut from = 0;
            while let Some(logical) = self.journal.next_discard(from) {
                self.replay_set(logical, 0)?;
                if let Some(index) = self.pending.find(logical) {
                    self.pending.set_value(index, 0);
                }
                from = logical + 1;
            }
        }
        // A journal page whose program failed may read as complete, and is followed by the same one elsewhere: its transaction is
        // committed already.
        if self.pending.len() == 0 && start == self.committed_start {
            return Ok(());
        }
        self.committed_start = start;
        // The commit names how many pages it is of.
        if self.pending.len() != tag.logical && !self.salvages {
            return Err(Error::Corrupt);
        }
        for index in 0..self.pending.len() {
            self.replay_set(self.pending.key(index), self.pending.value(index))?;
        }
        self.pending.clear();
        Ok(())
    }

    fn replay_set(&mut self, logical: u32, frame: Frame) -> Result<(), Error> {
        match self.overlay.find(logical) {
            Some(index) => self.overlay.set_value(index, frame),
            None if !self.overlay.insert(logical, frame) => return Err(Error::Corrupt),
            None => {}
        }
        Ok(())
    }

    /// Applies the last record, and changes nothing on the medium.
    fn leave_as_it_is(&mut self, last: Option<Record>) -> Result<(), Error> {
        if let Some(record) = last {
            self.apply(record, true)?;
        }
        self.pending.clear();
        match self.keep_journal(last) {
            Err(Error::Corrupt) if self.salvages => {}
            result => result?,
        }
        match self.derive_live() {
            // Nothing is programmed, so that nothing relies on it. Pages of a lost leaf are told of when they are read.
            Err(Error::Corrupt) => Ok(()),
            result => result,
        }
    }

    /// Applies the last record, which may be metastable, and settles.
    fn settle(&mut self, last: Option<Record>) -> Result<(), Error> {
        self.sequence = self.sequence.max(self.anchors.newest_seen) + JUMP;
        self.anchors.prepared = NONE;
        self.note_rescued()?;
        self.advance_anchor()?;
        match last {
            Some(Record { tag, place }) if matches!(tag.kind, Kind::DataCommit | Kind::Moved | Kind::Leaf | Kind::MovedLeaf) => {
                if let Some(frame) = self.rescue(&tag, place)? {
                    self.apply_frame(&tag, frame)?;
                }
            }
            Some(record) if head_of(record.tag.kind) == Some(HeadIndex::Journal) => self.apply(record, true)?,
            _ => {}
        }
        self.pending.clear();
        self.transaction_start = IDLE;
        self.keep_journal(last)?;
        self.skip_places(last.is_some());
        if last.is_some() {
            self.pace.credit = self.pace.credit.saturating_sub(RESTART_FRAMES);
        }
        self.unmarked = true;
        loop {
            self.collect()?;
            self.rescue_journal()?;
            self.derive_live()?;
            if self.checkpoint_here()? {
                break;
            }
            // What the checkpoint names lies in its own anchor: the one that has gone bad may be erased by a mount that does not know it.
            self.advance_anchor()?;
        }
        self.erase_unreadable()?;
        self.stock_heads()?;
        self.empty_anchor()
    }

    /// Copies the journal page into the fresh anchor. There is one even before the first commit: an anchor that begins with a checkpoint of
    /// one page could not be told when that is not complete.
    fn rescue_journal(&mut self) -> Result<(), Error> {
        loop {
            let page = self.current_anchor() * self.layout.geometry.pages_per_block + self.anchors.next;
            let tag = Tag { sequence: self.sequence, logical: 0, kind: Kind::Journal, aux: 0 };
            self.sequence += 1;
            self.anchors.next += 1;
            match self.program_journal_page(page, &tag) {
                Ok(()) => {
                    self.journal_at = page;
                    return Ok(());
                }
                Err(Error::MediaFailing) => self.lose_anchor()?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the journal buffer hold the newest journal page. The one of the last record was read when it was applied, and is not
    /// read again: it may be metastable.
    fn keep_journal(&mut self, last: Option<Record>) -> Result<(), Error> {
        let is_last = |record: Record| head_of(record.tag.kind) == Some(HeadIndex::Journal) && record.place == self.journal_at;
        if last.is_some_and(is_last) {
            self.journal.remove_discards();
            return Ok(());
        }
        self.load_journal()
    }

    /// Marks the frames that earlier mounts rescued into anchors, so that none of these is erased.
    fn note_rescued(&mut self) -> Result<(), Error> {
        self.blocks.clear_live();
        for place in 0..self.layout.anchor_count {
            let first = self.anchors.blocks[place as usize] * self.layout.frames_per_block;
            for frame in first..first + RESCUED_MAX {
                let Some(tag) = self.tag_at(self.frame_page(frame))? else { continue };
                if matches!(tag.kind, Kind::Journal | Kind::Checkpoint) {
                    // What was rescued comes first.
                    break;
                }
                if self.is_rescued(frame, &tag)? {
                    self.blocks.set_live(frame, true);
                }
            }
        }
        Ok(())
    }

    /// Whether the map names a frame in an anchor.
    fn is_rescued(&mut self, frame: Frame, tag: &Tag) -> Result<bool, Error> {
        if !self.names_something(tag) {
            return Ok(false);
        }
        Ok(match tag.kind {
            kind if Kinds::LEAF.has(kind) => self.root.get(tag.logical) == frame,
            kind if Kinds::DATA.has(kind) => {
                let current = self.overlay_frame(tag.logical);
                current.map_or_else(|| self.leaf_entry(tag.logical), Ok)? == frame
            }
            _ => false,
        })
    }

    /// Copies the frames that earlier mounts rescued, and that no call has moved since, into the fresh anchor: so at most one anchor is
    /// in use, and the ring does not close.
    fn collect(&mut self) -> Result<(), Error> {
        for place in 0..self.layout.anchor_count {
            let first = self.anchors.blocks[place as usize] * self.layout.frames_per_block;
            for frame in first..first + RESCUED_MAX {
                if !self.blocks.is_live(frame) {
                    continue;
                }
                let Some(tag) = self.tag_at(self.frame_page(frame))? else { continue };
                if !self.is_rescued(frame, &tag)? {
                    continue;
                }
                // It was whole when it was rescued. Were it damaged since, the block would be kept for what can still be read.
                let to = self.rescue(&tag, frame)?.ok_or(Error::Corrupt)?;
                if Kinds::LEAF.has(tag.kind) {
                    self.root.set(tag.logical, to);
                } else {
                    self.replay_set(tag.logical, to)?;
                }
            }
        }
        Ok(())
    }

    /// Moves rescued frames to where they belong, once there is more than one: an anchor must not fill up with them when one
    /// power cut follows the other.
    fn empty_anchor(&mut self) -> Result<(), Error> {
        let anchor = self.current_anchor();
        if self.blocks.live(anchor) < RESCUED_MANY {
            return Ok(());
        }
        self.begin()?;
        self.pace.victim = anchor;
        while let Some(frame) = self.blocks.first_live(anchor) {
            self.move_frame(frame)?;
        }
        self.pace.victim = NONE;
        Ok(())
    }

    /// Erases blocks for the heads that will soon need one, so that no call after the mount erases twice: a call may erase one
    /// itself and then moves nothing. Where blocks are small, one call may need two.
    fn stock_heads(&mut self) -> Result<(), Error> {
        let heads = [HeadIndex::User, HeadIndex::Journal];
        let scarce = heads.iter().filter(|&&head| self.head_rest(head) <= SCARCE).count() as u32;
        let needed = scarce.saturating_sub(1).max(16 / self.layout.frames_per_block);
        while self.blocks.count(State::Erased) < needed && self.blocks.count(State::Listed) > 0 {
            self.erase_listed()?;
        }
        Ok(())
    }

    /// Gives up an anchor in which a program failed, and goes on to the next one.
    fn lose_anchor(&mut self) -> Result<(), Error> {
        self.go_bad(self.current_anchor());
        self.advance_anchor()
    }

    /// Copies a frame into the fresh anchor, checking what is read. `None` when it is not complete.
    fn rescue(&mut self, tag: &Tag, frame: Frame) -> Result<Option<Frame>, Error> {
        loop {
            match self.try_rescue(tag, frame) {
                Err(Error::MediaFailing) => self.lose_anchor()?,
                result => return result,
            }
        }
    }

    fn try_rescue(&mut self, tag: &Tag, frame: Frame) -> Result<Option<Frame>, Error> {
        let unit = u32::from(self.layout.config.unit_pages);
        let place = self.anchors.next.div_ceil(unit);
        let to = self.current_anchor() * self.layout.geometry.pages_per_block + place * unit;
        for index in 0..unit {
            if !self.read_sound(self.frame_page(frame) + index, Kinds::of(&[tag.kind]), tag.logical)? {
                return Ok(None);
            }
            // Only from here on is anything in the block: its first page must not stay blank, or the block would not be found.
            self.anchors.next = (place + 1) * unit;
            let tag = Tag { sequence: self.sequence, ..*tag };
            self.sequence += 1;
            self.program_buffer(to + index, &tag)?;
        }
        Ok(Some(self.current_anchor() * self.layout.frames_per_block + place))
    }

    /// Skips one place of each head that a cut program may have touched without a trace. The journal's comes first after a
    /// mount; the others can have been in use only if there is a record.
    fn skip_places(&mut self, used: bool) {
        let used = used || !self.unmarked;
        for (index, head) in self.heads.iter_mut().enumerate() {
            if used || index == HeadIndex::Journal as usize {
                head.next += 1;
            }
        }
    }

    /// Derives the live frames from the map.
    ///
    /// # Cost
    /// Reads every leaf.
    fn derive_live(&mut self) -> Result<(), Error> {
        self.blocks.clear_live();
        let settled = self.settled_bit();
        let width = self.layout.entry_bytes;
        let per_page = self.layout.geometry.page_bytes / width;
        for leaf in 0..self.layout.leaf_count {
            for index in 0..u32::from(self.layout.config.unit_pages) {
                if !self.load_leaf_page(leaf, index)? {
                    break;
                }
                for entry in 0..per_page {
                    let logical = leaf * self.layout.leaf_entries + index * per_page + entry;
                    let frame = super::table::read_word(self.page, (entry * width) as usize, width as usize);
                    if frame != 0 && self.overlay.find(logical).is_none() {
                        self.claim(frame)?;
                    }
                }
            }
            self.claim(self.root.get(leaf))?;
        }
        for index in 0..self.overlay.len() {
            let frame = self.overlay.value(index) & !settled;
            self.overlay.set_value(index, frame | settled);
            self.claim(frame)?;
        }
        for block in 0..self.blocks.block_count() {
            self.settle_empty(block);
        }
        Ok(())
    }

    /// Marks a frame as live; no frame can be live twice.
    fn claim(&mut self, frame: Frame) -> Result<(), Error> {
        if frame == 0 {
            return Ok(());
        }
        if frame >= self.layout.frame_count() || !self.blocks.set_live(frame, true) {
            return Err(Error::Corrupt);
        }
        Ok(())
    }
}

/// First page of a block from which on all are blank, if the first page is not; at least 1.
fn find_end(mut is_blank: impl FnMut(u32) -> Result<bool, Error>, pages: u32) -> Result<u32, Error> {
    let (mut low, mut high) = (1, pages);
    while low < high {
        let middle = (low + high) / 2;
        if is_blank(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(low)
}

/// Finds the newest superblock in a block.
fn find_superblock<F: Flash>(flash: &mut F, block: u32, page: &mut [u8]) -> Result<Option<Found>, MountError> {
    let device = flash.geometry();
    let first = block * device.pages_per_block;
    let mut tag = [0; TAG_BYTES];
    if was_read(flash.read_tag(first, &mut tag))? && Tag::parse(&tag).is_none_or(|tag| tag.kind != Kind::Super) {
        return Ok(None);
    }
    let is_blank = |index| Ok(was_read(flash.read_tag(first + index, &mut tag))? && is_blank(&tag));
    let next = find_end(is_blank, device.pages_per_block)?;
    for index in (next.saturating_sub(SUPERBLOCKS_TRIED)..next).rev() {
        let is_read = was_read(flash.read(first + index, page, &mut tag))?;
        let Some(tag) = Tag::checked(&tag, page).filter(|tag| is_read && tag.kind == Kind::Super && tag.sequence < SEQUENCE_MAX)
        else {
            continue;
        };
        let superblock = Superblock::parse(page)?;
        if superblock.geometry != device {
            return Err(MountError::GeometryMismatch { on_flash: superblock.geometry, device });
        }
        return Ok(Some(Found { superblock, sequence: tag.sequence, block, next }));
    }
    Ok(None)
}

/// The head that programs a kind of record.
fn head_of(kind: Kind) -> Option<HeadIndex> {
    match kind {
        Kind::Super | Kind::Checkpoint => None,
        Kind::Journal | Kind::JournalDiscard => Some(HeadIndex::Journal),
        Kind::Moved | Kind::MovedPending | Kind::MovedLeaf => Some(HeadIndex::Moved),
        Kind::Data | Kind::DataCommit | Kind::Leaf => Some(HeadIndex::User),
    }
}
