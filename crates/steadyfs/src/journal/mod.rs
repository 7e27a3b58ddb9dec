//! The journal buffer: small changes to logical pages. It lies in RAM and, as one page, on the
//! medium.
//!
//! The buffer *is* the newest journal page. It holds every patch that was committed and not yet
//! written into its logical page, and the patches of the open transaction. A commit programs the
//! whole buffer. Therefore
//!
//! - one page program commits any number of small changes,
//! - a reader applies patches from RAM and never searches the medium for them,
//! - a mount needs only the newest journal page, and a rollback reads it back.
//!
//! ```text
//! 0      2                                             used
//! | used | logical, offset, length, bits | bytes … | …
//! ```
//!
//! The header of a record has as many bits for each field as the volume needs ([`RecordShape`]). It
//! takes 4 bytes on 1 MiB of NOR, and 6 bytes on 128 MiB of NAND. Records are sorted by logical
//! page and offset. They neither overlap nor touch. A record without bytes discards its logical
//! page when it is committed. Afterwards the record has no meaning.
//!
//! The call in progress can be undone. Its records follow behind a *mark*, in the order in which
//! the call added them. If records overlap, the later record is valid. The records before the mark
//! are kept for an undo. If the call writes or discards a page as a whole, the page's earlier
//! records are *superseded*, and a bit in their header marks them. When the call has succeeded, its
//! records are sorted in among the other records.
//!
//! ```text
//! 2                      mark               used
//! | sorted, as before … | of the call, in turn |
//! ```
//!
//! On media that program bytes, journal records follow each other in a block as a *chain*. Its
//! first record is the whole buffer. Each later record is a *delta*: the changes since the previous
//! record. Therefore
//!
//! - a record of the buffer is *fresh* until it is on the medium;
//! - if patches on the medium are removed from the buffer, their page has a record with the offset
//!   [`DROP`] until the next commit;
//! - if a new patch lies within a patch on the medium, its bytes are copied into that patch. The
//!   new patch stays behind it, as a fresh record, until the next commit or until its room is
//!   needed. So a delta contains only the changed bytes.
//!
//! Applying a delta removes the patches of the pages that it drops or discards, and then adds
//! its own patches.

mod chain;
mod found;
mod record;
mod records;
mod room;

pub(crate) use record::RecordShape;
pub(crate) use records::{Records, empty_places};

use crate::features::NOR;
use found::Found;
use record::{DISCARD, DROP, Header, Record, START, well_formed};

/// The buffer has no room for the patch.
pub(crate) struct Full;

/// A choice of records that are removed together.
#[derive(Clone, Copy)]
enum Removed {
    Superseded,
    /// Discards, and notes of dropped pages.
    WithoutBytes,
    /// Notes of dropped pages.
    Notes,
    /// Patches that are not fresh.
    OnMedium,
    /// The patches and the discard of a logical page.
    Page(u32),
    /// The same records, if they are from before the call in progress.
    EarlierOf(u32),
    /// The records of a logical page that the call in progress has added.
    OwnOf(u32),
    /// The patches of a logical page.
    PatchesOf(u32),
    /// The patches of a logical page from `offset` on that end at `stop` or before it.
    Within {
        logical: u32,
        offset: u32,
        stop: u32,
    },
}

impl Removed {
    /// Returns the logical page, if all records are of one page.
    fn page(self) -> Option<u32> {
        match self {
            Self::Superseded | Self::WithoutBytes | Self::Notes | Self::OnMedium => None,
            Self::Page(logical)
            | Self::EarlierOf(logical)
            | Self::OwnOf(logical)
            | Self::PatchesOf(logical)
            | Self::Within { logical, .. } => Some(logical),
        }
    }

    /// Returns true if a record is among these. `mark` is the end of the records from before the
    /// call in progress.
    fn has(self, record: &Record, mark: usize) -> bool {
        match self {
            Self::Superseded => record.superseded,
            Self::WithoutBytes => !record.is_patch(),
            Self::Notes => record.offset == DROP,
            Self::OnMedium => record.is_on_medium(),
            Self::Page(_) => record.offset != DROP,
            Self::EarlierOf(_) => record.offset != DROP && record.at < mark,
            Self::OwnOf(_) => record.at >= mark,
            Self::PatchesOf(_) => record.is_patch(),
            Self::Within { offset, stop, .. } => {
                record.is_patch() && record.offset >= offset && record.stop() <= stop
            }
        }
    }
}

pub(crate) struct Journal<'m> {
    bytes: &'m mut [u8],
    /// The end of the records, as the first two bytes store it.
    used: u16,
    /// The offset at which the records of the call in progress begin.
    mark: u16,
    /// The place at which the last search for a logical page ended.
    found: Found,
    /// True if the buffer differs from the newest journal page.
    dirty: bool,
    /// True if the buffer differed from the newest journal page before the call in progress.
    was_dirty: bool,
    /// False if no record is superseded.
    has_superseded: bool,
    /// False if no record is without bytes: there is neither a discard nor a note of a dropped
    /// page.
    has_notes: bool,
    /// True if journal records form chains: each record behind the first record of a block is a
    /// delta to the previous record.
    is_chain: bool,
    shape: RecordShape,
    /// The page with few patches that was last written because its [turn](Self::take_turn) had
    /// come.
    turn: u32,
    /// Number of pages written so far to make room.
    flushes: u8,
}

impl<'m> Journal<'m> {
    pub fn new(bytes: &'m mut [u8], is_chain: bool, shape: RecordShape) -> Self {
        let mut journal = Self {
            bytes,
            used: 0,
            mark: 0,
            found: Found::START,
            dirty: false,
            was_dirty: false,
            has_superseded: false,
            has_notes: false,
            is_chain,
            shape,
            turn: 0,
            flushes: 0,
        };
        journal.clear();
        journal
    }

    /// Returns true if the medium has journal records as chains. In a build without the feature
    /// `nor` this is a constant `false`.
    fn is_chain(&self) -> bool {
        NOR && self.is_chain
    }

    pub fn clear(&mut self) {
        self.set_used(START);
        (self.dirty, self.has_superseded, self.has_notes) = (false, false, false);
    }

    /// Sets the end of the records to `used`. No call is in progress afterwards.
    fn set_used(&mut self, used: usize) {
        self.set_ends(used, used);
        self.seal();
    }

    /// Returns the end of the records.
    fn used(&self) -> usize {
        self.used.into()
    }

    /// Returns the end of the records from before the call in progress.
    fn mark(&self) -> usize {
        self.mark.into()
    }

    /// Sets the ends of the records, after records before the mark have moved.
    fn set_ends(&mut self, used: usize, mark: usize) {
        (self.used, self.mark) = (used as u16, mark as u16);
        self.found = Found::START;
    }

    fn seal(&mut self) {
        self.bytes[..2].copy_from_slice(&self.used.to_le_bytes());
    }

    /// Returns the used bytes of the buffer. They include the records of a call in progress. If no
    /// call is in progress, a commit makes its record from exactly these bytes.
    pub fn page(&self) -> &[u8] {
        &self.bytes[..self.used()]
    }

    /// Makes a copy of the buffer in `page`. The copy is in the state as if the call in progress
    /// had succeeded.
    pub fn accepted_in<'p>(&self, page: &'p mut [u8]) -> Journal<'p> {
        let page = &mut page[..self.bytes.len()];
        page[..self.used()].copy_from_slice(self.page());
        let Self { used, mark, found, dirty, was_dirty, has_superseded, has_notes, .. } = *self;
        let Self { is_chain, shape, turn, flushes, .. } = *self;
        let mut copy = Journal {
            bytes: page,
            used,
            mark,
            found,
            dirty,
            was_dirty,
            has_superseded,
            has_notes,
            is_chain,
            shape,
            turn,
            flushes,
        };
        copy.accept();
        copy
    }

    /// Takes over a page that was read. If it is not well formed, returns `false` and changes
    /// nothing.
    pub fn replace(&mut self, page: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        let Some(used) = well_formed(self.shape, page, logical_count, logical_bytes)
            .filter(|&used| used <= self.bytes.len())
        else {
            return false;
        };
        self.bytes[..used].copy_from_slice(&page[..used]);
        self.set_used(used);
        (self.dirty, self.has_superseded, self.has_notes) = (false, false, true);
        true
    }

    /// Starts a call.
    pub fn begin(&mut self) {
        self.accept();
        self.was_dirty = self.dirty;
    }

    /// Undoes the changes of the call in progress.
    pub fn undo(&mut self) {
        // The records of the call lie behind the mark.
        self.used = self.mark;
        self.seal();
        let mut at = START;
        while self.has_superseded && at < self.used() {
            let record = self.record(at);
            self.write_header(&Record { superseded: false, ..record });
            at = record.end();
        }
        (self.dirty, self.has_superseded) = (self.was_dirty, false);
    }

    /// Ends a call that has succeeded: its records are sorted in among the records before the mark.
    /// Does nothing if the buffer has no changes.
    pub fn accept(&mut self) {
        if !self.dirty {
            return;
        }
        // Superseded records are removed first, so that no record of the call is merged with them.
        if core::mem::take(&mut self.has_superseded) {
            self.remove_records(Removed::Superseded, true);
        }
        while self.mark() < self.used() {
            self.sort_in();
        }
    }

    fn record(&self, at: usize) -> Record {
        Record::parse(self.shape, self.bytes, at)
    }

    /// Returns the record at `at`, if it lies before the mark.
    fn record_before_mark(&self, at: usize) -> Option<Record> {
        (at < self.mark()).then(|| self.record(at))
    }

    /// Returns all records from `at` on.
    fn records_from(&self, at: usize) -> impl Iterator<Item = Record> + '_ {
        let mut at = at;
        core::iter::from_fn(move || {
            if at >= self.used() {
                return None;
            }
            let record = self.record(at);
            at = record.end();
            Some(record)
        })
    }

    /// Returns the records that are not superseded, in the order in which they apply.
    fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.records_from(START).filter(|record| !record.superseded)
    }

    /// Returns the records of one logical page that are not superseded.
    fn records_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        self.all_of(logical).filter(|record| !record.superseded)
    }

    /// Returns the records of one logical page, with those that are superseded.
    fn all_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        let mut at = START;
        core::iter::from_fn(move || {
            let record = self.record(self.next_of(at, logical)?);
            at = record.end();
            Some(record)
        })
    }

    /// Returns the place of the next record of a logical page at or behind `at`. `at` is the place
    /// of the first record, or a place behind a record of this page.
    ///
    /// The records of the page follow each other before the mark. Behind the mark, other records
    /// may lie between them.
    fn next_of(&self, at: usize, logical: u32) -> Option<usize> {
        let first = self.first_at(at, logical);
        let is_here = |record: &Record| record.logical == logical;
        match self.record_before_mark(first) {
            Some(record) if is_here(&record) => Some(first),
            _ => Record::next_of(self.shape, self.page(), first.max(self.mark()), Some(logical)),
        }
    }

    /// Returns the first place at or behind `at`, and before the mark, of a record of `logical` or
    /// of a later logical page. Returns the mark if there is no such record.
    fn first_at(&self, at: usize, logical: u32) -> usize {
        let at = at.max(self.found.start_for(logical));
        Record::first_from(self.shape, &self.bytes[..self.mark()], at, logical)
    }

    /// Returns the patches of one logical page from before the call in progress.
    fn earlier_patches_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        self.records_of(logical)
            .take_while(|record| record.at < self.mark())
            .filter(Record::is_patch)
    }

    fn write_header(&mut self, record: &Record) {
        record.emit(self.shape, self.bytes);
    }

    fn append(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        // A merged patch is fresh as a whole, so the next delta is longer. So patches are merged
        // only if there is too little room.
        if self.patch_room(data.len()) > self.room() as usize {
            self.merge_overlapping();
        }
        let (header, length, fresh) =
            (self.shape.header_bytes(), data.len() as u32, self.is_chain());
        let record = Record {
            at: self.used(),
            header,
            logical,
            offset,
            length,
            superseded: false,
            fresh,
            mixed: false,
        };
        if record.end() > self.bytes.len() {
            return Err(Full);
        }
        self.has_notes |= data.is_empty();
        self.write_header(&record);
        self.bytes[record.data()].copy_from_slice(data);
        self.used = record.end() as u16;
        self.seal();
        self.dirty = true;
        Ok(())
    }

    /// Adds a patch. In a chain, a patch that changes few bytes of an earlier patch is reduced
    /// to these bytes.
    pub fn insert(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        let (from, to) = self.differing(logical, offset, data);
        if from < to { self.append(logical, offset + from as u32, &data[from..to]) } else { Ok(()) }
    }

    /// Returns the part of a patch that differs from the buffer. This is the whole patch if no
    /// earlier patch contains all of its bytes, or if the call in progress has changed the page.
    fn differing(&self, logical: u32, offset: u32, data: &[u8]) -> (usize, usize) {
        let (new_end, all) = (offset + data.len() as u32, (0, data.len()));
        // If the call has patched the page, earlier patches have old bytes, so a comparison with
        // them would be wrong.
        if !self.is_chain() || self.next_own(logical).is_some() {
            return all;
        }
        let covers = |old: &Record| old.offset <= offset && new_end <= old.stop();
        // If several patches contain these bytes, the last patch is valid.
        let Some(old) = self.earlier_patches_of(logical).filter(covers).last() else { return all };
        let start = old.data().start + (offset - old.offset) as usize;
        let before = &self.bytes[start..start + data.len()];
        let differs = |index: &usize| before[*index] != data[*index];
        match (0..data.len()).find(differs) {
            Some(first) => (first, (0..data.len()).rfind(differs).unwrap_or(first) + 1),
            // The buffer has these bytes already.
            None => (0, 0),
        }
    }

    /// Adds a discard of a logical page whose patches are superseded.
    pub fn insert_discard(&mut self, logical: u32) -> Result<(), Full> {
        if self.is_discarded(logical) { Ok(()) } else { self.append(logical, DISCARD, &[]) }
    }

    /// Moves the first record behind the mark to its place before the mark, and merges it with the
    /// records that it overlaps or touches.
    fn sort_in(&mut self) {
        let new = self.record(self.mark());
        let first = self.first_at(START, new.logical);
        let is_beside = |old: &Record| old.at < new.at && old.logical == new.logical;
        let holds = |old: &Record| old.is_on_medium() && old.covers(&new);
        // The bytes are copied into the patch on the medium. The fresh patch stays for the delta.
        let holder = if self.is_chain() {
            self.records_from(first).take_while(is_beside).find(holds)
        } else {
            None
        };
        if let Some(old) = holder {
            let to = old.data().start + (new.offset - old.offset) as usize;
            self.bytes.copy_within(new.data(), to);
        }
        let comes_before = |old: &Record| {
            let is_apart = old.stop() < new.offset
                || (self.is_chain() && !old.fresh && old.stop() == new.offset)
                || holder.is_some_and(|holder| holder.at == old.at);
            old.logical == new.logical && !old.is_discard() && (new.is_discard() || is_apart)
        };
        let place = self
            .records_from(first)
            .take_while(|old| old.at < new.at)
            .find(|old| !comes_before(old));
        match place {
            Some(old) if self.joins(&new, &old) => self.take_in(old, new),
            place => {
                let at = place.map_or(new.at, |old| old.at);
                self.bytes[at..new.end()].rotate_right(new.bytes());
                self.set_ends(self.used(), new.end());
            }
        }
    }

    /// Returns true if a patch must be merged with an older patch, because it overlaps or touches
    /// the older patch. In a chain, an older patch that is on the medium and begins at the end of
    /// the new patch stays separate. So the delta contains only new bytes.
    fn joins(&self, new: &Record, old: &Record) -> bool {
        let touches = old.offset == new.stop() && self.is_chain() && !old.fresh;
        old.is_beside(new) && old.offset <= new.stop() && !touches
    }

    /// Returns a patch with the flags that it has after it is merged with an older patch.
    fn joined(&self, new: &Record, old: &Record) -> Record {
        Record {
            fresh: self.is_chain(),
            mixed: self.is_chain() && (new.mixed || old.is_known()),
            ..*new
        }
    }

    /// Merges the first record behind the mark with `old`, an earlier patch that it overlaps or
    /// touches. Then merges the following patches that the merged patch overlaps or touches. The
    /// bytes behind the patch move only once, and only by the number of bytes by which the patch
    /// grows.
    fn take_in(&mut self, old: Record, new: Record) {
        // `before` and `behind` are the numbers of bytes of the old patch before and behind the new
        // patch. `replaces` is the number of bytes of the old patch that the new patch replaces.
        let before = new.offset.saturating_sub(old.offset) as usize;
        let behind = old.stop().saturating_sub(new.stop()) as usize;
        let replaces = old.length as usize - before - behind;
        let (data, grows) = (new.data(), new.length as usize - replaces);
        self.bytes.copy_within(data.start..data.start + replaces, old.data().start + before);
        self.bytes[old.end() - behind..new.end()].rotate_right(grows);
        let offset = new.offset.min(old.offset);
        let mut record = Record {
            at: old.at,
            offset,
            length: old.length + grows as u32,
            ..self.joined(&new, &old)
        };
        self.write_header(&record);
        self.bytes.copy_within(new.end()..self.used(), new.at + grows);
        self.set_ends(self.used() + grows - new.bytes(), new.at + grows);
        // The patch has grown, so it may reach the next ones.
        while let Some(next) =
            self.record_before_mark(record.end()).filter(|next| self.joins(&record, next))
        {
            self.merge(self.joined(&record, &next), next);
            record = self.record(old.at);
        }
        self.seal();
    }

    /// Returns true if the open transaction discards this logical page. Every search for a page
    /// begins with this function.
    pub fn is_discarded(&mut self, logical: u32) -> bool {
        self.look_for(logical);
        self.records_of(logical).any(|record| record.is_discard())
    }

    /// Stores the place of the first record of a logical page for the searches that follow.
    fn look_for(&mut self, logical: u32) {
        self.found = Found::new(logical, self.first_at(START, logical));
    }

    /// Returns true if there are discards or notes of dropped pages. Usually there are none. The
    /// search does not parse the records.
    fn has_notes(&self) -> bool {
        self.has_notes && Record::next_of(self.shape, self.page(), START, None).is_some()
    }

    /// Returns the first logical page, from `from` on, that was discarded (if `discard` is true) or
    /// patched (otherwise) before the call in progress.
    fn first_from(&self, from: u32, discard: bool) -> Option<u32> {
        let wanted = |r: &Record| if discard { r.is_discard() } else { r.is_patch() };
        self.records_from(self.first_at(START, from))
            .take_while(|record| record.at < self.mark())
            .find(|record| !record.superseded && wanted(record))
            .map(|record| record.logical)
    }

    /// Returns the discards and the notes of dropped pages that are not superseded. The search does
    /// not parse the other records.
    fn notes(&self) -> impl Iterator<Item = Record> + '_ {
        let mut at = if self.has_notes { START } else { self.used() };
        let all = core::iter::from_fn(move || {
            let record = self.record(Record::next_of(self.shape, self.page(), at, None)?);
            at = record.end();
            Some(record)
        });
        all.filter(|record| !record.superseded)
    }

    /// Returns the number of logical pages that the open transaction discards.
    pub fn discard_count(&self) -> u32 {
        self.notes().filter(Record::is_discard).count() as u32
    }

    /// Returns the first discarded logical page from `from` on. No call may be in progress.
    pub fn next_discard(&self, from: u32) -> Option<u32> {
        if self.has_notes() { self.first_from(from, true) } else { None }
    }

    /// Removes records. Returns true if any record was removed. In a chain, if `drops` is true, a
    /// note stays for each page that loses patches on the medium.
    fn remove_records(&mut self, removed: Removed, drops: bool) -> bool {
        let page = removed.page();
        let start = match page {
            Some(logical) => self.next_of(START, logical).unwrap_or(self.used()),
            None => START,
        };
        // The records from `kept` to `at` stay. They move to `to` together.
        let (mut at, mut kept, mut to) = (start, start, start);
        let (mut mark, mut dropped) = (self.mark(), u32::MAX);
        while at < self.used() {
            let header = Header::read(self.shape, self.bytes, at);
            let next = at + header.bytes(self.shape);
            // Records of other pages are not parsed.
            if page.is_none_or(|logical| header.logical(self.shape) == logical) {
                let record = self.record(at);
                if removed.has(&record, self.mark()) {
                    to = self.close_up(kept..at, to);
                    kept = next;
                    if drops && self.is_chain() && record.is_known() && record.logical != dropped {
                        dropped = record.logical;
                        to = self.note_drop(&record, to);
                    }
                }
            }
            // The mark moves to the end of the remaining records before it.
            if next == self.mark() {
                mark = to + (next - kept);
            }
            at = next;
        }
        let end = self.close_up(kept..at, to);
        let is_removed = end != self.used();
        self.set_ends(end, mark);
        self.seal();
        is_removed
    }

    /// Moves records to an earlier place. Returns the place behind them.
    fn close_up(&mut self, records: core::ops::Range<usize>, to: usize) -> usize {
        let bytes = records.len();
        if records.start != to {
            self.bytes.copy_within(records, to);
        }
        to + bytes
    }

    /// Writes the note that the page of a removed record was dropped. Returns the place behind it.
    fn note_drop(&mut self, record: &Record, at: usize) -> usize {
        let note = Record {
            at,
            offset: DROP,
            length: 0,
            superseded: false,
            fresh: true,
            mixed: false,
            ..*record
        };
        self.write_header(&note);
        self.has_notes = true;
        note.end()
    }

    /// Removes the records of a logical page that is written or discarded as a whole. An undo of
    /// the call would not restore the records, so no error may follow in the call.
    pub fn remove(&mut self, logical: u32) {
        self.dirty |= self.remove_records(Removed::Page(logical), true);
    }

    /// Removes the records of a logical page from before the call in progress, because they were
    /// written with the page. An undo of the call does not restore these records.
    pub fn remove_earlier(&mut self, logical: u32) {
        if self.remove_records(Removed::EarlierOf(logical), true) {
            (self.dirty, self.was_dirty) = (true, true);
        }
    }

    /// Makes the records of a logical page ineffective, because the call in progress writes or
    /// discards the page as a whole.
    pub fn supersede(&mut self, logical: u32) {
        // The call's own records are not needed for an undo, so they are removed.
        if self.next_own(logical).is_some() {
            self.dirty |= self.remove_records(Removed::OwnOf(logical), true);
        }
        let mut at = self.first_at(START, logical);
        while let Some(record) = self.record_before_mark(at).filter(|old| old.logical == logical) {
            if record.offset != DROP {
                self.write_header(&Record { superseded: true, ..record });
                (self.dirty, self.has_superseded) = (true, true);
            }
            at = record.end();
        }
    }

    /// Returns the place of the first record of a logical page behind the mark: the call in
    /// progress has added it.
    fn next_own(&self, logical: u32) -> Option<usize> {
        Record::next_of(self.shape, self.page(), self.mark(), Some(logical))
    }

    /// Removes the discards and the notes of dropped pages that a commit has carried out.
    pub fn remove_discards(&mut self) {
        if self.has_notes() {
            self.remove_records(Removed::WithoutBytes, false);
        }
        self.has_notes = false;
    }

    /// Lays the patches of a logical page over `data`, which starts at `offset`.
    pub fn apply(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.records_of(logical)
            .filter(Record::is_patch)
            .for_each(|patch| self.lay(&patch, offset, data));
    }

    /// Lays only the patches from before the call in progress over `data`.
    pub fn apply_earlier(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.earlier_patches_of(logical).for_each(|patch| self.lay(&patch, offset, data));
    }

    fn lay(&self, patch: &Record, offset: u32, data: &mut [u8]) {
        let end = offset + data.len() as u32;
        let (from, to) = (patch.offset.max(offset), patch.stop().min(end));
        if from < to {
            let source = patch.data().start + (from - patch.offset) as usize;
            let length = (to - from) as usize;
            let target = (from - offset) as usize;
            data[target..target + length].copy_from_slice(&self.bytes[source..source + length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const SHAPE: RecordShape = RecordShape::new(1000, 512, 1024);

    fn view(journal: &Journal<'_>, logical: u32, size: usize) -> Vec<u8> {
        let mut data = vec![0; size];
        journal.apply(logical, 0, &mut data);
        data
    }

    /// Adds a patch in a call of its own.
    fn insert(journal: &mut Journal<'_>, logical: u32, offset: u32, data: &[u8]) -> bool {
        journal.begin();
        let done = journal.insert(logical, offset, data).is_ok();
        journal.accept();
        done
    }

    #[test]
    fn appended_patches_become_one_record() {
        let mut bytes = [0; 256];
        let mut journal = Journal::new(&mut bytes, false, SHAPE);
        for i in 0..10 {
            assert!(insert(&mut journal, 5, i * 8, &[i as u8; 8]));
        }
        assert_eq!(journal.page().len(), START + SHAPE.header_bytes() + 80);
    }

    #[test]
    fn full_buffer_refuses_and_stays_as_it_was() {
        let mut bytes = [0; 64];
        let mut journal = Journal::new(&mut bytes, false, SHAPE);
        assert!(insert(&mut journal, 1, 0, &[1; 40]));
        let before = journal.page().to_vec();
        assert!(!insert(&mut journal, 2, 0, &[2; 20]));
        assert_eq!(journal.page(), before);
    }

    #[test]
    fn a_search_begins_at_a_place_that_is_still_right() {
        let (mut bytes, mut other) = ([0; 256], [0; 256]);
        let mut journal = Journal::new(&mut bytes, false, SHAPE);
        assert!(!journal.is_discarded(5));
        assert!(insert(&mut journal, 5, 8, &[7; 4]) && journal.patches(5));
        let page = journal.page().to_vec();
        let mut follower = Journal::new(&mut other, false, SHAPE);
        assert!(!follower.is_discarded(5));
        assert!(follower.replace(&page, 6, 300) && follower.patches(5));
        journal.begin();
        journal.supersede(5);
        assert!(!journal.is_discarded(5), "what is superseded may come back");
        journal.undo();
        assert!(journal.patches(5));
        // Records of earlier pages come and go.
        assert!(!journal.is_discarded(5) && insert(&mut journal, 3, 0, &[1; 9]));
        assert!(journal.patches(5) && journal.patches(3) && !journal.patches(4));
        assert!(!journal.is_discarded(4));
        journal.begin();
        journal.remove_earlier(3);
        assert!(journal.patches(5) && !journal.patches(3));
        assert!(!journal.is_discarded(9) && journal.patches(5));
    }

    /// A patch of a page from an offset on, of some bytes.
    type Patch = (u32, u32, usize);

    /// Commits patches in a chain of two records, the second of them a delta, and follows the chain.
    /// Each patch is made by a call of its own. The buffer has `size` bytes.
    fn follow(size: usize, committed: &[Patch], changes: &[Patch]) {
        let (mut bytes, mut other) = ([0; 256], [0; 256]);
        let mut journal = Journal::new(&mut bytes[..size], true, SHAPE);
        let mut follower = Journal::new(&mut other[..size], true, SHAPE);
        for (is_delta, patches) in [(false, committed), (true, changes)] {
            for (index, &(logical, offset, length)) in patches.iter().enumerate() {
                assert!(insert(&mut journal, logical, offset, &vec![index as u8 + 1; length]));
            }
            let mut page = [0; 256];
            let mut record = journal.accepted_in(&mut page);
            record.make_record(is_delta);
            let bytes = record.page().to_vec();
            let is_followed = match is_delta {
                false => follower.replace(&bytes, 1000, 512),
                true => follower.apply_delta(&bytes, 1000, 512),
            };
            assert!(is_followed, "a record that was programmed is not applied");
            journal.finish_commit();
            assert_eq!(follower.page(), journal.page());
        }
    }

    /// The patches of an early page were applied first, before the late page had freed its room.
    #[test]
    fn a_delta_fits_where_a_late_page_has_freed_the_room_of_an_early_one() {
        assert_eq!(SHAPE.header_bytes(), 4);
        let small = [(3, 0, 1), (3, 2, 1), (3, 4, 1), (3, 6, 1)];
        follow(64, &small, &[(3, 0, 7), (1, 0, 47)]);
    }

    #[test]
    fn a_delta_fits_where_patches_touch_one_that_they_do_not_join() {
        let small = [(1, 0, 10), (3, 0, 1), (3, 2, 1), (3, 4, 1), (3, 6, 1), (3, 8, 1), (3, 10, 1)];
        let merging = [(3, 0, 3), (3, 4, 3), (3, 8, 3), (3, 2, 3), (3, 6, 3)];
        let changes = [&merging[..], &[(1, 1, 1), (1, 4, 1), (1, 10, 2), (2, 0, 3)]].concat();
        follow(55, &small, &changes);
    }

    /// Possible changes of the buffer within a call.
    #[derive(Clone, Debug)]
    enum Act {
        Patch(u32, u32, usize, u8),
        Discard(u32),
        /// The page is written or discarded as a whole.
        Supersede(u32),
        /// The page is written as it was before the call.
        RemoveEarlier(u32),
    }

    fn act() -> impl Strategy<Value = Act> {
        let patch = |(l, o, n, b)| Act::Patch(l, o, n, b);
        prop_oneof![
            3 => (0u32..4, 0u32..200, 1usize..60, any::<u8>()).prop_map(patch),
            3 => (0u32..2, 0u32..20, 1usize..5, any::<u8>()).prop_map(patch),
            1 => (0u32..4).prop_map(Act::Discard),
            1 => (0u32..4).prop_map(Act::Supersede),
            1 => (0u32..4).prop_map(Act::RemoveEarlier),
        ]
    }

    /// Returns the buffer's state of each page: the page's patches over a page of zeros, and true
    /// if the page is discarded.
    fn says(journal: &mut Journal<'_>) -> Vec<(Vec<u8>, bool)> {
        (0..4).map(|logical| (view(journal, logical, 300), journal.is_discarded(logical))).collect()
    }

    proptest! {
        /// A failed call had merged its patches into the earlier ones. Only a second read of the
        /// journal page could undo that, and it undid the whole transaction.
        #[test]
        fn a_call_is_undone_or_takes_its_place(
            is_chain in any::<bool>(),
            calls in prop::collection::vec(
                (any::<bool>(), prop::collection::vec(act(), 1..8)),
                1..12,
            ),
        ) {
            let mut bytes = [0; 1024];
            let mut journal = Journal::new(&mut bytes, is_chain, SHAPE);
            for (succeeds, acts) in calls {
                journal.begin();
                let before = (says(&mut journal), journal.used());
                let mut written = Vec::new();
                for act in acts {
                    match act {
                        Act::Patch(l, o, n, b) => drop(journal.insert(l, o, &vec![b; n])),
                        Act::Discard(l) => {
                            journal.supersede(l);
                            let _ = journal.insert_discard(l);
                        }
                        Act::Supersede(l) => journal.supersede(l),
                        Act::RemoveEarlier(l) => {
                            journal.remove_earlier(l);
                            written.push(l);
                        }
                    }
                }
                let during = says(&mut journal);
                let mut page = [0; 1024];
                let mut accepted = journal.accepted_in(&mut page);
                accepted.make_record(false);
                prop_assert_eq!(says(&mut accepted), during.clone());
                prop_assert!(
                    well_formed(SHAPE, accepted.page(), 4, 300).is_some(),
                    "a page to program is well formed"
                );
                if succeeds {
                    journal.accept();
                    prop_assert_eq!(says(&mut journal), during);
                } else {
                    journal.undo();
                    for (l, said) in
                        before.0.iter().enumerate().filter(|(l, _)| !written.contains(&(*l as u32)))
                    {
                        prop_assert_eq!(
                            &(view(&journal, l as u32, 300), journal.is_discarded(l as u32)),
                            said
                        );
                    }
                    prop_assert!(journal.used() <= before.1);
                }
            }
        }

        /// The records that commits program suffice to reproduce the buffer after every commit.
        #[test]
        fn a_chain_says_what_was_committed(
            size in 80usize..400,
            transactions in prop::collection::vec(
                prop::collection::vec(
                    (any::<bool>(), prop::collection::vec(act(), 1..5)),
                    1..4,
                ),
                1..12,
            ),
        ) {
            let (mut bytes, mut other) = ([0; 1024], [0; 1024]);
            let mut journal = Journal::new(&mut bytes[..size], true, SHAPE);
            let mut follower = Journal::new(&mut other[..size], true, SHAPE);
            for (index, calls) in transactions.into_iter().enumerate() {
                for (succeeds, acts) in calls {
                    journal.begin();
                    for act in acts {
                        match act {
                            Act::Patch(l, o, n, b) => {
                                while journal.insert(l, o, &vec![b; n]).is_err() {
                                    let Some((largest, _)) = journal.largest() else { break };
                                    journal.remove_earlier(largest);
                                }
                            }
                            Act::Discard(l) => {
                                journal.supersede(l);
                                while journal.insert_discard(l).is_err() {
                                    let Some((largest, _)) = journal.largest() else { break };
                                    journal.remove_earlier(largest);
                                }
                            }
                            Act::Supersede(l) => journal.supersede(l),
                            Act::RemoveEarlier(l) => journal.remove_earlier(l),
                        }
                    }
                    if succeeds { journal.accept() } else { journal.undo() }
                }
                let mut page = [0; 1024];
                let mut record = journal.accepted_in(&mut page);
                // Each block begins with a whole buffer.
                let is_delta = index % 3 > 0;
                record.make_record(is_delta);
                let bytes = record.page().to_vec();
                let followed = if !is_delta {
                    follower.replace(&bytes, 4, 300)
                } else {
                    follower.apply_delta(&bytes, 4, 300)
                };
                prop_assert!(followed, "a record is well formed");
                prop_assert_eq!(says(&mut follower), says(&mut journal));
                journal.finish_commit();
                follower.remove_discards();
                prop_assert_eq!(follower.page(), journal.page());
            }
        }

        #[test]
        fn any_patches_read_back_as_the_last_write(
            writes in prop::collection::vec((0u32..4, 0u32..200, 1usize..60, any::<u8>()), 1..60),
        ) {
            let mut bytes = [0; 1024];
            let mut journal = Journal::new(&mut bytes, false, SHAPE);
            let mut model = vec![vec![0u8; 300]; 4];
            for (logical, offset, length, fill) in writes {
                let data: Vec<u8> = (0..length).map(|i| fill.wrapping_add(i as u8)).collect();
                if insert(&mut journal, logical, offset, &data) {
                    model[logical as usize][offset as usize..offset as usize + length]
                        .copy_from_slice(&data);
                }
            }
            for logical in 0..4 {
                prop_assert_eq!(&view(&journal, logical, 300), &model[logical as usize]);
            }
            let page = journal.page().to_vec();
            let mut copy = [0xFF; 1024];
            copy[..page.len()].copy_from_slice(&page);
            let mut other = [0; 1024];
            let mut again = Journal::new(&mut other, false, SHAPE);
            prop_assert!(again.replace(&copy, 4, 300));
            for logical in 0..4 {
                prop_assert_eq!(&view(&again, logical, 300), &model[logical as usize]);
            }
        }

        #[test]
        fn a_record_never_panics_on_hostile_bytes(
            mut page in prop::collection::vec(any::<u8>(), 128),
        ) {
            page[1] = 0;
            let mut bytes = [0; 256];
            let mut journal = Journal::new(&mut bytes, true, SHAPE);
            let _ = journal.apply_delta(&page, 1000, 512);
            if journal.replace(&page, 1000, 512) {
                let _ = view(&journal, 1, 512);
                let _ = journal.largest();
            }
        }
    }
}
