//! Format and mount.
//!
//! A mount reads the superblock, finds the newest complete checkpoint, applies the records that were programmed after it in the
//! order of their sequence ("roll forward"), derives the live frames from the map, and *settles*: it writes a checkpoint of
//! its own into a freshly erased anchor before anything else is programmed. Between two checkpoints there is therefore at most
//! one power cut, and only the last record can be metastable; its content is copied into the fresh anchor.

use super::blocks::State;
use super::program::{is_data, is_leaf};
use super::{Frame, Head, HeadIndex, IDLE, NONE, Store};
use crate::config::{ANCHORS_MAX, Config, LISTED_MAX, Layout};
use crate::error::{Error, MountError};
use crate::format::superblock::Superblock;
use crate::media::{Failure, Flash, Kind, PageIndex, TAG_BYTES, Tag, data_check, is_blank};

/// What a mount may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing is programmed or erased, ever.
    ReadOnly,
    /// The mount settles what a power cut left, and the volume can be changed.
    ReadWrite,
}

/// Frames that a restart after a write costs: one skipped in each head, one rescued and its move, one of pacing. They are taken from
/// the reserve and given back a few per victim.
const RESTART_FRAMES: u32 = 5;
/// Distance by which the sequence jumps at a mount, so that no number is ever used twice.
const JUMP: u64 = 64;
/// Frames or journal pages left in a head's block that one call may use up.
const SCARCE: u32 = 4;
/// Frames that may lie in an anchor: one that a mount before rescued, and the one of the last record.
const RESCUED_MAX: u32 = 2;
/// Furthest that a record's sequence may be from its checkpoint's.
const HORIZON: u64 = 1 << 22;

/// A block in which roll-forward looks for records.
#[derive(Clone, Copy)]
struct Cursor {
    head: HeadIndex,
    block: u32,
    next: u32,
    tag: Tag,
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
    /// One look at each block's mark; `anchors + 2` erases; `checkpoint_pages + 2` programs.
    ///
    /// # Power loss
    /// The medium is not formatted until the last program.
    pub fn format(flash: F, config: &Config, memory: &'m mut [u8]) -> Result<F, MountError> {
        let layout = Layout::derive(&flash.geometry(), config).map_err(MountError::Config)?;
        let (mut store, _) = Self::empty(flash, layout, memory)?;
        let blocks = layout.geometry.block_count;
        for block in 0..blocks {
            let state = if store.flash.is_bad(block)? { State::Bad } else { State::Free };
            store.blocks.set_state(block, state);
        }
        let mut copy = NONE;
        let mut anchors = 0;
        for block in 0..blocks {
            if anchors == layout.anchor_count {
                break;
            }
            if store.blocks.state(block) != State::Free || !store.erase(block)? {
                continue;
            }
            store.blocks.set_state(block, State::Reserved);
            if block > 0 && copy == NONE {
                copy = block;
            } else if block > 0 {
                store.anchors.blocks[anchors as usize] = block;
                anchors += 1;
            }
        }
        let (found, allowed) = (store.blocks.count(State::Bad), u32::from(config.bad_blocks_max));
        if found > allowed || anchors < layout.anchor_count || store.blocks.state(0) != State::Reserved {
            return Err(MountError::TooManyBadBlocks { found, allowed });
        }
        store.checkpoint()?;
        let superblock = Superblock {
            geometry: layout.geometry,
            config: *config,
            anchor_count: anchors as u8,
            copy,
            anchors: store.anchors.blocks.map(|block| if block == NONE { 0 } else { block }),
        };
        for block in [copy, 0] {
            superblock.emit(store.page);
            let tag = Tag { sequence: store.sequence, logical: 0, kind: Kind::Super, aux: 0 };
            store.program_buffer(block * layout.geometry.pages_per_block, tag)?;
        }
        Ok(store.flash)
    }

    /// Reads the superblock; `memory` is used as a page buffer.
    fn read_superblock(flash: &mut F, memory: &mut [u8]) -> Result<Superblock, MountError> {
        let device = flash.geometry();
        let page_bytes = device.page_bytes as usize;
        if memory.len() < page_bytes {
            return Err(MountError::MemoryTooSmall { needed: page_bytes, given: memory.len() });
        }
        let page = &mut memory[..page_bytes];
        let mut result = Err(MountError::NotFormatted);
        // The second copy lies in the first good block after block 0.
        for block in 0..device.block_count.min(32) {
            let mut tag = [0; TAG_BYTES];
            match flash.read(block * device.pages_per_block, page, &mut tag) {
                Ok(()) => {}
                Err(Failure::Device) => return Err(Error::Device.into()),
                Err(_) => continue,
            }
            let is_super = Tag::parse(&tag).is_some_and(|tag| tag.kind == Kind::Super);
            if is_super && Tag::carried_check(&tag) == data_check(page, 0) {
                result = Superblock::parse(page);
                break;
            }
        }
        let superblock = result?;
        if superblock.geometry != device {
            return Err(MountError::GeometryMismatch { on_flash: superblock.geometry, device });
        }
        Ok(superblock)
    }

    /// Mounts a volume.
    ///
    /// # Cost
    /// See [`bounds`](super::bounds).
    pub fn mount(mut flash: F, access: Access, memory: &'m mut [u8]) -> Result<(Self, &'m mut [u8]), MountError> {
        let superblock = Self::read_superblock(&mut flash, memory)?;
        let layout = Layout::derive(&superblock.geometry, &superblock.config).map_err(MountError::Config)?;
        if u32::from(superblock.anchor_count) != layout.anchor_count {
            return Err(MountError::NotFormatted);
        }
        let (mut store, rest) = Self::empty(flash, layout, memory)?;
        store.anchors.blocks = superblock.anchors;
        for index in layout.anchor_count as usize..ANCHORS_MAX {
            store.anchors.blocks[index] = NONE;
        }
        store.read_only = access == Access::ReadOnly;
        store.find_checkpoint()?;
        for block in 0..layout.geometry.block_count {
            if store.blocks.state(block) == State::Erased {
                // No checkpoint proves that the erase was complete.
                store.blocks.set_state(block, State::Listed);
            }
        }
        store.roll_forward()?;
        Ok((store, rest))
    }

    /// Finds the newest complete checkpoint and reads it.
    fn find_checkpoint(&mut self) -> Result<(), MountError> {
        let pages = self.layout.geometry.pages_per_block;
        let mut first_sequences = [None; ANCHORS_MAX];
        let blocks = self.anchors.blocks;
        for (sequence, block) in first_sequences.iter_mut().zip(blocks).take(self.layout.anchor_count as usize) {
            *sequence = self.checked_sequence(block * pages)?;
        }
        // A newer anchor may hold a checkpoint that was cut; the one before it is then complete.
        while let Some(index) = (0..ANCHORS_MAX).filter(|&i| first_sequences[i].is_some()).max_by_key(|&i| first_sequences[i]) {
            first_sequences[index] = None;
            self.anchors.current = index as u32;
            if self.find_in_anchor(self.current_anchor() * pages)? {
                return Ok(());
            }
        }
        Err(MountError::NoCheckpoint)
    }

    /// The sequence of a page whose checksum is right.
    fn checked_sequence(&mut self, page: PageIndex) -> Result<Option<u64>, Error> {
        let mut bytes = [0; TAG_BYTES];
        self.cached = NONE;
        match self.flash.read(page, self.page, &mut bytes) {
            Ok(()) => {}
            Err(Failure::Device) => return Err(Error::Device),
            Err(_) => return Ok(None),
        }
        let sound = Tag::carried_check(&bytes) == data_check(self.page, 0);
        Ok(Tag::parse(&bytes).filter(|_| sound).map(|tag| tag.sequence))
    }

    /// Reads the newest complete checkpoint of one anchor, if it holds one.
    fn find_in_anchor(&mut self, first: PageIndex) -> Result<bool, Error> {
        let pages = self.layout.geometry.pages_per_block;
        let (mut low, mut high) = (1, pages);
        while low < high {
            let middle = (low + high) / 2;
            if self.tag_at(first + middle)?.is_some_and(|tag| is_blank(&tag)) { high = middle } else { low = middle + 1 }
        }
        let size = self.layout.checkpoint_pages;
        let mut end = low;
        while end >= size {
            let start = end - size;
            let parsed = self.tag_at(first + start)?.and_then(|tag| Tag::parse(&tag));
            let begins = parsed.is_some_and(|tag| tag.kind == Kind::Checkpoint && tag.logical == 0 && tag.aux == size);
            if begins && self.read_checkpoint(first + start)? {
                self.anchors.next = low;
                return Ok(true);
            }
            end -= 1;
        }
        Ok(false)
    }

    /// A tag, or `None` when it cannot be read.
    fn tag_at(&mut self, page: PageIndex) -> Result<Option<[u8; TAG_BYTES]>, Error> {
        let mut tag = [0; TAG_BYTES];
        match self.flash.read_tag(page, &mut tag) {
            Ok(()) => Ok(Some(tag)),
            Err(Failure::Device) => Err(Error::Device),
            Err(_) => Ok(None),
        }
    }

    fn roll_forward(&mut self) -> Result<(), MountError> {
        let base = self.sequence;
        let mut cursors: [Option<Cursor>; LISTED_MAX + 3] = [None; LISTED_MAX + 3];
        let mut count = 0;
        for (head, index) in [(HeadIndex::User, 0), (HeadIndex::Moved, 1), (HeadIndex::Journal, 2)] {
            let Head { block, next } = self.heads[index];
            if block != NONE {
                cursors[count] = self.look(head, block, next, base)?;
                count += 1;
            }
        }
        for block in 0..self.blocks.block_count() {
            if self.blocks.state(block) == State::Listed && count < cursors.len() {
                cursors[count] = self.look_at_new_block(block, base)?;
                count += usize::from(cursors[count].is_some());
            }
        }
        let mut last: Option<Record> = None;
        while let Some(record) = self.next_record(&mut cursors, base)? {
            if let Some(before) = last {
                let gap = record.tag.sequence != before.tag.sequence + self.record_programs(&before);
                self.apply(before, gap)?;
            }
            last = Some(record);
        }
        self.finish_roll_forward(last)
    }

    /// Programs of a record.
    fn record_programs(&self, record: &Record) -> u64 {
        match record.tag.kind {
            Kind::Journal | Kind::JournalDiscard => 1,
            _ => self.layout.config.unit_pages.into(),
        }
    }

    /// A cursor at a place of a head's block, if a new record is there.
    fn look(&mut self, head: HeadIndex, block: u32, next: u32, base: u64) -> Result<Option<Cursor>, Error> {
        if next >= self.head_capacity(head) {
            return Ok(None);
        }
        let place = block * self.head_capacity(head) + next;
        let page = if head == HeadIndex::Journal { place } else { self.frame_page(place) };
        let tag = self.tag_at(page)?.and_then(|tag| Tag::parse(&tag));
        let tag = tag.filter(|tag| self.is_record(tag, base) && head_of(tag.kind) == Some(head));
        Ok(tag.map(|tag| Cursor { head, block, next, tag }))
    }

    /// A cursor at the start of a listed block, if it was allocated after the checkpoint.
    fn look_at_new_block(&mut self, block: u32, base: u64) -> Result<Option<Cursor>, Error> {
        let first = block * self.layout.geometry.pages_per_block;
        let tag = self.tag_at(first)?.and_then(|tag| Tag::parse(&tag)).filter(|tag| self.is_record(tag, base));
        Ok(tag.and_then(|tag| head_of(tag.kind).map(|head| Cursor { head, block, next: 0, tag })))
    }

    /// Whether a tag can be that of a record programmed after the checkpoint.
    fn is_record(&self, tag: &Tag, base: u64) -> bool {
        let limit = match tag.kind {
            kind if is_leaf(kind) => self.layout.leaf_count,
            _ => self.layout.logical_count,
        };
        (base..base + HORIZON).contains(&tag.sequence) && tag.logical < limit
    }

    /// Takes the record with the lowest sequence.
    fn next_record(&mut self, cursors: &mut [Option<Cursor>], base: u64) -> Result<Option<Record>, Error> {
        let next = cursors.iter_mut().filter(|cursor| cursor.is_some()).min_by_key(|cursor| cursor.map(|c| c.tag.sequence));
        let Some(slot) = next else { return Ok(None) };
        let Some(cursor) = *slot else { return Ok(None) };
        let after = self.look(cursor.head, cursor.block, cursor.next + 1, base)?;
        // Sequences grow within a block.
        *slot = after.filter(|after| after.tag.sequence > cursor.tag.sequence);
        let head = &mut self.heads[cursor.head as usize];
        if head.block != cursor.block {
            let old = core::mem::replace(&mut head.block, cursor.block);
            if old != NONE {
                self.blocks.set_state(old, State::Used);
            }
            self.blocks.set_state(cursor.block, State::Active);
        }
        self.heads[cursor.head as usize].next = cursor.next + 1;
        self.sequence = cursor.tag.sequence;
        let place = cursor.block * self.head_capacity(cursor.head) + cursor.next;
        Ok(Some(Record { tag: cursor.tag, place }))
    }

    /// Applies a record. One before a gap may be half of a failed program and is looked at as a whole first.
    fn apply(&mut self, record: Record, verify: bool) -> Result<(), Error> {
        let Record { mut tag, place } = record;
        match tag.kind {
            Kind::Journal | Kind::JournalDiscard => {
                if verify || tag.kind == Kind::JournalDiscard {
                    match self.read_journal(place) {
                        Err(Error::Corrupt) if verify => return Ok(()),
                        // A metastable tag may have read differently before; this one has the right checksum.
                        result => tag = result?,
                    }
                }
                self.apply_journal(tag, place)
            }
            kind => {
                if verify && !self.frame_is_complete(place, |k| k == kind, tag.logical)? {
                    return Ok(());
                }
                self.apply_frame(tag, place)
            }
        }
    }

    /// Applies a record whose content lies in `frame`.
    fn apply_frame(&mut self, tag: Tag, frame: Frame) -> Result<(), Error> {
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
            Kind::Moved => {
                // Compare and swap: the copy counts only if the mapping still names its source.
                let current = self.overlay_frame(logical);
                return if current.is_none_or(|current| current == tag.aux) { self.replay_set(logical, frame) } else { Ok(()) };
            }
            Kind::MovedPending => {
                if let Some(index) = self.pending.find(logical).filter(|&index| self.pending.value(index) == tag.aux) {
                    self.pending.set_value(index, frame);
                }
            }
            Kind::Leaf => self.adopt_leaf(logical, frame),
            Kind::MovedLeaf if self.root.get(logical) == tag.aux => self.root.set(logical, frame),
            _ => {}
        }
        Ok(())
    }

    /// Applies a commit. The journal buffer holds the page when it discards anything.
    fn apply_journal(&mut self, tag: Tag, page: PageIndex) -> Result<(), Error> {
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
        // The commit names how many pages it is of.
        if self.pending.len() != tag.logical {
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

    /// Applies the last record, which may be metastable, and settles.
    fn finish_roll_forward(&mut self, last: Option<Record>) -> Result<(), MountError> {
        if self.read_only {
            if let Some(record) = last {
                self.apply(record, true)?;
            }
            self.pending.clear();
            self.keep_journal(last)?;
            return Ok(self.derive_live()?);
        }
        self.sequence += JUMP;
        let before = self.current_anchor();
        self.anchors.ready = false;
        self.advance_anchor()?;
        match last {
            Some(Record { tag, place }) if matches!(tag.kind, Kind::DataCommit | Kind::Moved | Kind::Leaf | Kind::MovedLeaf) => {
                if let Some(frame) = self.rescue(tag, place)? {
                    self.apply_frame(tag, frame)?;
                }
            }
            Some(record) if head_of(record.tag.kind) == Some(HeadIndex::Journal) => self.apply(record, true)?,
            _ => {}
        }
        self.pending.clear();
        self.transaction_start = IDLE;
        self.collect(before)?;
        self.keep_journal(last)?;
        while self.journal_at != NONE {
            let page = self.current_anchor() * self.layout.geometry.pages_per_block + self.anchors.next;
            let tag = Tag { sequence: self.sequence, logical: 0, kind: Kind::Journal, aux: 0 };
            self.sequence += 1;
            self.anchors.next += 1;
            match self.program_journal_page(page, tag) {
                Ok(()) => {
                    self.journal_at = page;
                    break;
                }
                Err(Error::MediaFailing) => self.lose_anchor()?,
                Err(error) => return Err(error.into()),
            }
        }
        self.skip_places(last.is_some());
        if last.is_some() {
            self.pace.credit = self.pace.credit.saturating_sub(RESTART_FRAMES);
        }
        self.derive_live()?;
        self.unmarked = true;
        self.checkpoint()?;
        self.stock_heads()?;
        Ok(self.empty_anchor()?)
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

    /// Copies the frames that an earlier mount rescued into anchor `before`, and that no call has moved since, into the fresh one.
    fn collect(&mut self, before: u32) -> Result<(), Error> {
        for place in 0..RESCUED_MAX {
            let frame = before * self.layout.frames_per_block + place;
            let Some(tag) = self.tag_at(self.frame_page(frame))?.and_then(|tag| Tag::parse(&tag)) else { continue };
            let live = match tag.kind {
                kind if is_leaf(kind) => tag.logical < self.layout.leaf_count && self.root.get(tag.logical) == frame,
                kind if is_data(kind) && tag.logical < self.layout.logical_count => {
                    let current = self.overlay_frame(tag.logical);
                    current.map_or_else(|| self.leaf_entry(tag.logical), Ok)? == frame
                }
                _ => false,
            };
            if !live {
                continue;
            }
            // It was whole when it was rescued. Were it damaged since, the block would be kept for what can still be read.
            let to = self.rescue(tag, frame)?.ok_or(Error::Corrupt)?;
            if is_leaf(tag.kind) {
                self.root.set(tag.logical, to);
            } else {
                self.replay_set(tag.logical, to)?;
            }
        }
        Ok(())
    }

    /// Moves rescued frames to where they belong, once there is more than one: an anchor must not fill up with them when one
    /// power cut follows the other.
    fn empty_anchor(&mut self) -> Result<(), Error> {
        let anchor = self.current_anchor();
        if self.blocks.live(anchor) < RESCUED_MAX {
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
    fn rescue(&mut self, tag: Tag, frame: Frame) -> Result<Option<Frame>, Error> {
        loop {
            match self.try_rescue(tag, frame) {
                Err(Error::MediaFailing) => self.lose_anchor()?,
                result => return result,
            }
        }
    }

    fn try_rescue(&mut self, tag: Tag, frame: Frame) -> Result<Option<Frame>, Error> {
        let unit = u32::from(self.layout.config.unit_pages);
        let place = self.anchors.next.div_ceil(unit);
        let to = self.current_anchor() * self.layout.geometry.pages_per_block + place * unit;
        for index in 0..unit {
            self.cached = NONE;
            match self.load(self.frame_page(frame) + index, |kind| kind == tag.kind, tag.logical) {
                Ok(()) => {}
                Err(Error::Device) => return Err(Error::Device),
                Err(_) => return Ok(None),
            }
            // Only from here on is anything in the block: its first page must not stay blank, or the block would not be found.
            self.anchors.next = (place + 1) * unit;
            let tag = Tag { sequence: self.sequence, ..tag };
            self.sequence += 1;
            self.program_buffer(to + index, tag)?;
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

/// The head that programs a kind of record.
fn head_of(kind: Kind) -> Option<HeadIndex> {
    match kind {
        Kind::Moved | Kind::MovedPending | Kind::MovedLeaf => Some(HeadIndex::Moved),
        Kind::Journal | Kind::JournalDiscard => Some(HeadIndex::Journal),
        kind if is_data(kind) || kind == Kind::Leaf => Some(HeadIndex::User),
        _ => None,
    }
}
