//! Roll-forward: applies the records that were programmed after the root, in the order of their
//! sequence numbers.
//!
//! A head programs the pages of a block one after the other. So a record is complete if another
//! record lies behind it in its block. The last record of each block may be torn by a power cut, or
//! its program may have failed. It counts only if the checksums of all its pages are right. Its tag
//! is not used before this check.
//!
//! A missing sequence number means a lost record. If the numbers jump by [`FAILURE_JUMP`] or more,
//! no record is lost: they jump after a failed program. A lost move does no harm, because its
//! source still exists.

mod look;

use super::Damage;
use super::cursor::{RecordCursor, RecordCursors, lowest};
use super::evidence::TornEvidence;
use crate::commit::Transaction;
use crate::config::LISTED_MAX;
use crate::error::Error;
use crate::journal::Records;
use crate::map::Map;
use crate::media::{BlockIndex, Flash, PageIndex, Tag, TagKind, TagKinds};
use crate::pages::{Group, TRIES, UNSTEADY_TRIES};
use crate::space::{FAILURE_JUMP, Frame, Head, NONE, State};

/// Largest number of failures in a row that can explain a jump of the sequence numbers.
const FAILURES_MAX: u64 = 4;
/// A page is steady if good reads outnumber bad reads by this number.
const STEADY: i32 = 3;

/// A record found by roll-forward.
#[derive(Clone, Copy)]
pub(crate) struct FoundRecord {
    pub tag: Tag,
    /// Frame of the record. For a journal record: its place.
    pub place: u32,
}

/// The result of roll-forward.
pub(crate) struct Last {
    /// The last record that counts.
    pub record: Option<FoundRecord>,
    /// True if another record lies behind this record in its block, so this record is complete.
    pub is_complete: bool,
    /// True if the journal buffer holds the newest journal page.
    pub journal_is_read: bool,
    /// The evidence that was found beside the records.
    pub evidence: TornEvidence,
    /// The loss, if something is missing.
    pub damage: Option<Damage>,
}

/// The state of roll-forward. A root has filled these rooms, and the records change them.
pub(crate) struct Forward<'s, 'm, F> {
    records: Records<'s, 'm, F>,
    map: &'s mut Map<'m>,
    transaction: &'s mut Transaction<'m>,
    /// Memory for a group of pages. It holds the tags of the last moves.
    group: &'s mut Group<'m>,
    /// Number of moves behind the last record of another kind. They are counted only if a power cut
    /// may have hit several moves.
    moves: u32,
    /// The sequence number in the root. All records have this number or larger numbers.
    base: u64,
    /// The loss, if something is missing.
    damage: Option<Damage>,
    /// True if the overlay had no room for a change, because a lost leaf could not be written back.
    /// All later records are then skipped.
    is_full: bool,
}

impl<'s, 'm, F: Flash> Forward<'s, 'm, F> {
    /// Starts roll-forward with the rooms that a root has filled.
    pub fn new(
        records: Records<'s, 'm, F>,
        map: &'s mut Map<'m>,
        transaction: &'s mut Transaction<'m>,
        group: &'s mut Group<'m>,
    ) -> Self {
        let base = records.space.sequence();
        Self { records, map, transaction, group, moves: 0, base, damage: None, is_full: false }
    }

    /// Applies the records that were programmed after the root.
    ///
    /// Not inlined, so that the cursors are off the stack when the volume is settled.
    #[inline(never)]
    pub fn roll_forward(&mut self) -> Result<Last, Error> {
        let mut cursors: RecordCursors = [None; LISTED_MAX + 3];
        let mut evidence = TornEvidence::default();
        // Nothing is newer than a closed root, so there is nothing to search.
        if !self.records.ring.is_closed() {
            self.begin_cursors(&mut cursors, &mut evidence)?;
        }
        let (mut last, mut is_complete, mut held) = (None, false, None::<FoundRecord>);
        let (mut buffered, mut lost_chain) = (NONE, NONE);
        // On such media a later record does not prove that earlier records are complete.
        let reorders = self.loses_any();
        while let Some((slot, tag)) = lowest(&cursors, self.base) {
            // The check comes before the step, because records behind the gap do not count.
            if reorders && self.ends_before(&tag, &cursors, evidence)? {
                break;
            }
            // Records come in the order of their sequence numbers, from all blocks.
            let Some((record, ends)) = self.next_record(&mut cursors[slot], &mut evidence, tag)?
            else {
                break;
            };
            // If the number was used before, this page is a remnant of an earlier use of the block,
            // and not a record.
            let Some(gap) = record.tag.sequence.checked_sub(self.records.space.sequence()) else {
                continue;
            };
            // On a device that reorders, any part of the data may be missing. There the numbers may
            // jump like this without a failure, although the record was acknowledged.
            let may_have_failed = !self.records.pages.flash().reorders() && is_behind_failure(gap);
            // The last record of a block is held until the next record shows that its program did
            // not fail.
            if let Some(before) = held.take().filter(|_| !may_have_failed) {
                self.apply(&before, &mut buffered, &mut lost_chain)?;
                (last, is_complete) = (Some(before), false);
            }
            // If no later record proves this record, it counts only if all its checksums are right.
            if (ends || reorders) && !self.is_whole(&record, &mut buffered)? {
                // If the source of a move was lost before, the copy cannot have a right checksum.
                let is_move = TagKinds::MOVED.has(record.tag.kind);
                evidence.lose_moves(is_move.into());
                if reorders && is_move && self.source_is_lost(&record.tag)? {
                    evidence.lose_copy();
                }
                continue;
            }
            // The very last commit lacks pages, so it was never acknowledged.
            if self.records.pages.flash().reorders()
                && self.lacks_pages(&record.tag)
                && lowest(&cursors, self.base).is_none()
            {
                break;
            }
            // Neither failures nor lost moves explain the gap, so a record is lost.
            if gap < FAILURE_JUMP
                && !evidence.are_lost_moves(
                    gap as u32,
                    self.records.layout.config.pages_per_logical_page.into(),
                )
            {
                self.damage = Some(Damage::Record);
            }
            evidence.end_gap();
            // The next gap is measured from the end of this record.
            self.records.space.set_sequence(record.tag.sequence + self.record_programs(&record));
            self.records.space.note_weak(self.records.pages.watch_mut());
            // A jump of the numbers may still show that this record's program failed.
            if ends {
                held = Some(record);
            } else {
                self.apply(&record, &mut buffered, &mut lost_chain)?;
                (last, is_complete) = (Some(record), true);
            }
        }
        // The very last record may be unsteady.
        match held {
            // A copy may be torn, so it does not count. Its source is still live.
            Some(record) if is_copy(record.tag.kind) => self.keep_source(&record.tag)?,
            // Any other record counts only if it can be read again when it is copied.
            Some(record) if self.reads_well(&record)? => {
                self.apply(&record, &mut buffered, &mut lost_chain)?;
                (last, is_complete) = (Some(record), false);
            }
            _ => {}
        }
        // No record lies behind the last group of moves, so nothing proves that it is complete.
        self.take_last_moves_back()?;
        // An unsteady journal page must not be read a second time.
        let journal_is_read = buffered != NONE && buffered == self.records.space.journal_at();
        Ok(Last { record: last, is_complete, journal_is_read, evidence, damage: self.damage })
    }

    /// If the last record is a move, puts the source of the move into the overlay. The move itself
    /// does not count. Power may have failed while the log of its leaf was programmed. Then one
    /// read of the log may show the move, and the next read may not. The overlay entry overrides
    /// the log.
    fn keep_source(&mut self, tag: &Tag) -> Result<(), Error> {
        let source = tag.source();
        let is_named = self.map.overlay_frame(tag.logical).is_some();
        // Nothing is needed if leaves have no logs, or if the overlay has an entry of the page
        // already.
        if tag.kind != TagKind::Moved
            || self.records.layout.leaf_log_bytes() == 0
            || is_named
            || source >= self.records.layout.frame_count()
            || self.is_full
        {
            return Ok(());
        }
        let result = self.map.replay(tag.logical, source);
        self.pass_when_full(result)
    }

    /// Records the tag of an applied move, if a power cut may have hit several moves. On raw flash
    /// each of these moves may read differently the next time.
    fn note_moves(&mut self, tag: &Tag) {
        // On other media a power cut cannot make a whole group of pages unsteady.
        if !self.records.layout.moves_join() || !self.records.pages.takes_pages_once() {
            return;
        }
        // A record of another kind proves that the moves before it are complete.
        if !TagKinds::MOVED.has(tag.kind) {
            self.moves = 0;
            return;
        }
        // Only the last group can be torn, so older tags are overwritten.
        *self.group.tag_mut(self.moves % self.records.layout.move_group()) = tag.emit(0);
        self.moves += 1;
    }

    /// If no other record lies behind the last group of moves, lets the map name the sources of
    /// these moves again. In that case nothing proves that the program of the group was complete.
    /// The sources exist until the next root.
    fn take_last_moves_back(&mut self) -> Result<(), Error> {
        for index in 0..self.moves.min(self.records.layout.move_group()) {
            let Some(tag) = Tag::parse(self.group.tag_mut(index)) else { continue };
            let source = tag.source();
            // A tag with an impossible source is damaged.
            if source >= self.records.layout.frame_count() {
                continue;
            }
            let result = self.apply_frame(&tag, source);
            self.pass_when_full(result)?;
        }
        Ok(())
    }

    /// Returns true if every page of a record has the right checksum and matches the record's tag.
    /// If the record is a journal page, the journal buffer then holds its content.
    fn is_whole(&mut self, record: &FoundRecord, buffered: &mut PageIndex) -> Result<bool, Error> {
        let FoundRecord { tag, place } = *record;
        if TagKinds::JOURNAL.has(tag.kind) {
            let block = self.records.space.journal_block(place);
            if self.records.is_chain(block) {
                // A whole record counts, even if records before it in the chain are damaged. The
                // record may be unsteady, so it is read nine times in each round of this loop.
                for _ in 0..UNSTEADY_TRIES / 2 {
                    if self.buffer_journal(place, buffered)?.is_some() {
                        return Ok(true);
                    }
                    if self.records.read_chain_record(TRIES, place)?.is_none() {
                        return Ok(false);
                    }
                    if !self.records.chain_reaches(place)? {
                        break;
                    }
                }
                return Ok(true);
            }
            return Ok(self.buffer_journal(place, buffered)? == Some(tag));
        }
        // Any page of the frame may be torn, so all pages are compared with the tag.
        let first = self.records.layout.frame_page(place);
        for index in 0..u32::from(self.records.layout.config.pages_per_logical_page) {
            let wanted = Tag { sequence: tag.sequence + u64::from(index), ..tag };
            if self.records.pages.record_tag(first + index, TagKinds::of(&[tag.kind]))?
                != Some(wanted)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if the source of a move is unreadable. The copy of an unreadable source is
    /// unreadable too, even if no power cut has hit the copy. An unreadable copy of a readable
    /// source is different: a leaf that was written after the copy may name the copy.
    fn source_is_lost(&mut self, tag: &Tag) -> Result<bool, Error> {
        let source = tag.source();
        if source >= self.records.layout.frame_count() {
            return Ok(false);
        }
        let first = self.records.layout.frame_page(source);
        for page in first..first + u32::from(self.records.layout.config.pages_per_logical_page) {
            let found = self.records.pages.record_tag(page, TagKinds::ALL)?;
            // One lost page is enough.
            if found.is_none_or(|found| found.logical != tag.logical) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if the good reads of each page of a frame outnumber the bad reads by
    /// [`STEADY`]. A power cut may have hit the frame. If it reads well only now and then, it must
    /// not count: this mount could not copy it, and a mount for reading could not read it. The
    /// content of a journal record is in the journal buffer already, so it is not read again.
    fn reads_well(&mut self, record: &FoundRecord) -> Result<bool, Error> {
        let FoundRecord { tag, place } = *record;
        if TagKinds::JOURNAL.has(tag.kind) {
            return Ok(true);
        }
        let first = self.records.layout.frame_page(place);
        for page in first..first + u32::from(self.records.layout.config.pages_per_logical_page) {
            let mut lead = 0;
            for _ in 0..UNSTEADY_TRIES {
                lead += if self
                    .records
                    .pages
                    .read_tagged_in(1, page, TagKinds::of(&[tag.kind]))?
                    .is_some()
                {
                    1
                } else {
                    -1
                };
                // The page reads well often enough to be copied.
                if lead == STEADY {
                    break;
                }
                // The next mount might not see this page.
                if lead == -STEADY {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Reads the content of a journal record into the journal buffer, in several tries if it is
    /// damaged.
    fn buffer_journal(&mut self, place: u32, buffered: &mut u32) -> Result<Option<Tag>, Error> {
        // A failed read clears the buffer, so later tries read the chain from its start.
        let mut after = core::mem::replace(buffered, NONE);
        for _ in 0..TRIES {
            match self.records.read(core::mem::replace(&mut after, NONE), place) {
                Err(Error::Corrupt) => {}
                result => {
                    *buffered = place;
                    return result.map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Returns the number of sequence numbers that a record takes.
    fn record_programs(&self, record: &FoundRecord) -> u64 {
        if TagKinds::JOURNAL.has(record.tag.kind) {
            1
        } else {
            self.records.layout.config.pages_per_logical_page.into()
        }
    }

    /// Returns true if a power cut may leave any part of the unflushed data on the medium. This is
    /// so if the device's cache reorders writes, or if moves are made in groups.
    fn loses_any(&self) -> bool {
        self.records.pages.flash().reorders() || self.records.layout.moves_join()
    }

    /// Returns true if the records that count end before this record. Used on media where any part
    /// of the unflushed data may survive a power cut.
    ///
    /// The records end at the first missing number, unless the numbers behind it contain a flushed
    /// commit. A commit was flushed if any record lies behind it. A device that keeps the order of
    /// programs can lose only a part of one command, which is a group of moves. On such a device
    /// any record other than a move, at the gap or behind it, proves that everything before it is
    /// on the medium.
    fn ends_before(
        &mut self,
        tag: &Tag,
        cursors: &RecordCursors,
        mut evidence: TornEvidence,
    ) -> Result<bool, Error> {
        let gap = tag.sequence.saturating_sub(self.records.space.sequence());
        let unit = u32::from(self.records.layout.config.pages_per_logical_page);
        // No number is missing, or lost copies or failed programs explain all missing numbers.
        if gap == 0 || evidence.are_lost_copies(gap, unit) || is_of_failures(gap, unit.into()) {
            return Ok(false);
        }
        // The search ahead moves copies of the cursors, because these records may still be applied.
        let (mut ahead, mut committed) = (*cursors, false);
        let in_order = !self.records.pages.flash().reorders();
        while let Some((slot, tag)) = lowest(&ahead, self.base) {
            // This record proves that everything before it is on the medium.
            if committed || (in_order && !TagKinds::MOVED.has(tag.kind)) {
                break;
            }
            // A commit is flushed before the next record is programmed.
            committed = TagKinds::JOURNAL.and(TagKinds::of(&[TagKind::DataCommit])).has(tag.kind);
            self.step(&mut ahead[slot], &mut evidence, &tag)?;
        }
        // On a device that reorders, the proof is a record behind the commit.
        Ok(lowest(&ahead, self.base).is_none() || !(committed || in_order))
    }

    /// Takes the record of a cursor, and sets the next place of its head behind the record. Returns
    /// the record, and true if it is the last record of its block.
    fn next_record(
        &mut self,
        cursor: &mut Option<RecordCursor>,
        evidence: &mut TornEvidence,
        tag: Tag,
    ) -> Result<Option<(FoundRecord, bool)>, Error> {
        let place = cursor.map_or(0, |cursor| cursor.place());
        let Some((head, block, next, is_other)) = self.step(cursor, evidence, &tag)? else {
            return Ok(None);
        };
        // The record may not count, but its program shows that heads were in use.
        evidence.note_use();
        let ends = cursor.is_none();
        // If the sequence number was used before, the record is a remnant of an earlier use of the
        // block. If a block begins with a remnant, no head has used the block since the root.
        if self.records.space.heads().get(head).block == block
            || tag.sequence >= self.records.space.sequence()
        {
            let old = self.records.space.heads_mut().replace(head, Head { block, next }).block;
            // The head has another block now, so its old block is full or was given up.
            if old != block {
                if old != NONE {
                    self.records.space.blocks_mut().set_state(old, State::Used);
                }
                self.records.space.blocks_mut().set_state(block, State::Active);
                // The block was erased after the root. The root does not contain this erase, so it
                // is counted here.
                self.records.space.count_erase(block);
            }
            evidence.note(head, is_other);
        }
        Ok(Some((FoundRecord { tag, place }, ends)))
    }

    /// Applies a record if the overlay has room. A lost leaf cannot be written back, so its changes
    /// stay in the overlay and may fill it. Then all later records are skipped, and the mount
    /// reports the loss. `lost_chain` is the block of a chain with a lost record.
    fn apply(
        &mut self,
        record: &FoundRecord,
        buffered: &mut PageIndex,
        lost_chain: &mut BlockIndex,
    ) -> Result<(), Error> {
        // If a later change were applied without an earlier one, the volume would show a mix of two
        // states.
        if self.is_full {
            return Ok(());
        }
        // If the overlay has no room for a change, that is a loss, and not an error of the mount.
        let result = self.apply_record(record, buffered, lost_chain);
        self.note_moves(&record.tag);
        self.pass_when_full(result)
    }

    /// If there was no room for a change, records the loss, so that all later records are skipped.
    fn pass_when_full(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if result == Err(Error::Corrupt) {
            (self.damage, self.is_full) = (Some(Damage::Record), true);
            return Ok(());
        }
        result
    }

    fn apply_record(
        &mut self,
        record: &FoundRecord,
        buffered: &mut PageIndex,
        lost_chain: &mut BlockIndex,
    ) -> Result<(), Error> {
        let FoundRecord { tag, place } = *record;
        if !TagKinds::JOURNAL.has(tag.kind) {
            return self.apply_frame(&tag, place);
        }
        // The log of the leaf has the entries, so the overlay drops them.
        if tag.kind == TagKind::LeafChanged {
            self.records.space.adopt_journal(place);
            self.map.forget_entries(self.records.space, self.records.layout, tag.logical);
            return Ok(());
        }
        // The discarded pages are listed in the content of the record.
        if tag.kind == TagKind::JournalDiscard && *buffered != place {
            let block = self.records.space.journal_block(place);
            // If a chain cannot be read up to one record, it cannot be read up to a later record
            // either.
            let is_lost = self.records.is_chain(block) && *lost_chain == block;
            if is_lost || self.buffer_journal(place, buffered)?.is_none() {
                // The pages that the record discards keep their content.
                self.damage = Some(Damage::Record);
                *lost_chain = block;
                self.records.journal.clear();
            }
        }
        self.apply_journal(&tag, place)
    }

    /// Applies a record whose content lies in `frame`.
    fn apply_frame(&mut self, tag: &Tag, frame: Frame) -> Result<(), Error> {
        let logical = tag.logical;
        match tag.kind {
            TagKind::Data => {
                // The page counts only when its transaction commits.
                return self.transaction.replay(logical, frame, tag.transaction_start());
            }
            TagKind::DataCommit => {
                // A page that commits itself is a whole transaction. Pending pages before it belong
                // to a transaction that was given up.
                self.transaction.clear();
                self.map.replay(logical, frame)?;
            }
            // A copy is programmed only while the map names its source. Records are applied in the
            // order of their sequence numbers, so the newest copy counts. If the program of a copy
            // failed, the copy may read as complete, but another copy follows it.
            TagKind::Moved => return self.map.replay(logical, frame),
            TagKind::MovedPending => self.transaction.replay_place(logical, frame),
            TagKind::Leaf => {
                self.map.adopt_leaf(self.records.space, self.records.layout, logical, frame);
            }
            TagKind::MovedLeaf => self.map.move_leaf(logical, frame),
            TagKind::LeafCopy => self.map.set_copy(frame),
            _ => {}
        }
        Ok(())
    }

    /// Applies a commit. If the commit discards pages, the journal buffer holds its content.
    fn apply_journal(&mut self, tag: &Tag, page: PageIndex) -> Result<(), Error> {
        let start = tag.transaction_start();
        // Pages of a transaction that was given up are no part of this commit.
        self.transaction.replay_commit(start);
        self.records.space.adopt_journal(page);
        // A discard in the record is the last change of its page, because a later write would have
        // removed the discard.
        if tag.kind == TagKind::JournalDiscard {
            let mut from = 0;
            while let Some(logical) = self.records.journal.next_discard(from) {
                self.map.replay(logical, 0)?;
                self.transaction.replay_place(logical, 0);
                from = logical + 1;
            }
        }
        // The tag of a commit contains the number of the transaction's pages. If the mount found
        // another number of pages, a record was lost.
        if self.lacks_pages(tag) {
            self.damage = Some(Damage::Record);
        }
        self.transaction.finish_replay(start);
        // Only a commit makes pending pages part of the map.
        for index in 0..self.transaction.len() {
            let (logical, frame) = self.transaction.entry(index);
            self.map.replay(logical, frame)?;
        }
        self.transaction.clear();
        Ok(())
    }

    /// Returns true if the number of pages in a commit's tag differs from the number of pending
    /// pages.
    fn lacks_pages(&self, tag: &Tag) -> bool {
        let start = tag.transaction_start();
        let there = if self.transaction.is_other(start) { 0 } else { self.transaction.len() };
        matches!(tag.kind, TagKind::Journal | TagKind::JournalDiscard)
            && there != tag.logical
            && !self.transaction.is_replayed(start)
    }
}

/// Returns true if the gap in the numbers between a record and the next record shows that the first
/// record's program was reported as failed. The numbers jump behind each failure. If a failed
/// program left nothing on the medium, its own number is missing as well.
///
/// The first record may still be complete, or read as complete this time. It is not applied: either
/// a later record has the same content, or the call never reported success.
fn is_behind_failure(gap: u64) -> bool {
    let failures = gap / FAILURE_JUMP;
    (1..=FAILURES_MAX).contains(&failures) && gap % FAILURE_JUMP < failures
}

/// Returns true if failed programs of at most `unit` pages each explain a gap in the numbers. Then
/// the program of every missing record was reported as failed.
fn is_of_failures(gap: u64, unit: u64) -> bool {
    let failures = gap / FAILURE_JUMP;
    failures > 0 && gap % FAILURE_JUMP <= failures * unit
}

/// Returns true if a record of this kind is a copy. Until the next root, the content of a copy also
/// exists at another place. The very last record may be unsteady, so it is not applied if it is a
/// copy.
fn is_copy(kind: TagKind) -> bool {
    matches!(
        kind,
        TagKind::Moved
            | TagKind::MovedPending
            | TagKind::MovedLeaf
            | TagKind::Leaf
            | TagKind::LeafCopy
    )
}
