//! The records of the journal buffer, in order: their places, the search for them, and their
//! removal.

mod merge;

use super::found::SearchPlace;
use super::record::{DROP, Header, Record, RecordShape, START, well_formed};
use crate::features::NOR;
use core::ops::Range;

/// The buffer has no room for the patch.
pub(crate) struct Full;

/// A choice of records that are removed together.
#[derive(Clone, Copy)]
pub(super) enum Removed {
    Superseded,
    /// Discards, and notes of dropped pages.
    WithoutBytes,
    /// Notes of dropped pages.
    Notes,
    /// Patches that are not fresh.
    OnMedium,
    /// The patches and the discard of a logical page.
    Page(u32),
    /// The patches and the discard of a logical page that were there before the call in progress.
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

    /// Returns false if a record with this header is certainly not chosen.
    #[inline(always)]
    fn may_have(self, header: Header, shape: RecordShape) -> bool {
        match self {
            Self::Within { offset, stop, .. } => {
                header.offset(shape) >= offset
                    && header.offset(shape) + header.length(shape) <= stop
            }
            _ => true,
        }
    }

    /// Returns true if a record is chosen. `mark` is the end of the records from before the call in
    /// progress.
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

/// The records of the journal buffer. The records before the *mark* are sorted by logical page and
/// offset. The records of the call in progress follow behind it, in the order in which the call
/// added them.
pub(super) struct RecordList<'m> {
    bytes: &'m mut [u8],
    shape: RecordShape,
    /// The end of the records, as the first two bytes store it.
    used: u16,
    /// The offset at which the records of the call in progress begin.
    mark: u16,
    /// The place at which the last search for a logical page ended.
    found: SearchPlace,
    /// True if journal records form chains: each record behind the first record of a block is a
    /// delta to the previous record.
    is_chain: bool,
    /// False if no record is superseded.
    may_be_superseded: bool,
    /// False if no record is without bytes: there is neither a discard nor a note of a dropped
    /// page.
    may_have_notes: bool,
}

impl<'m> RecordList<'m> {
    /// Creates a list without records.
    pub fn new(bytes: &'m mut [u8], is_chain: bool, shape: RecordShape) -> Self {
        let mut list = Self {
            bytes,
            shape,
            used: 0,
            mark: 0,
            found: SearchPlace::START,
            is_chain,
            may_be_superseded: false,
            may_have_notes: false,
        };
        list.clear();
        list
    }

    /// Returns true if the medium has journal records as chains. In a build without the feature
    /// `nor` this is a constant `false`.
    pub fn is_chain(&self) -> bool {
        NOR && self.is_chain
    }

    pub fn shape(&self) -> RecordShape {
        self.shape
    }

    /// Returns the number of bytes of the buffer.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.set_used(START);
        (self.may_be_superseded, self.may_have_notes) = (false, false);
    }

    /// Sets the end of the records to `used`. No call is in progress afterwards.
    fn set_used(&mut self, used: usize) {
        self.set_ends(used, used, 0);
        self.seal();
    }

    /// Returns the end of the records.
    pub fn used(&self) -> usize {
        self.used.into()
    }

    /// Returns the end of the records from before the call in progress.
    pub fn mark(&self) -> usize {
        self.mark.into()
    }

    /// Sets the ends of the records, after records before the mark have moved. The records of pages
    /// before `first` have not moved.
    fn set_ends(&mut self, used: usize, mark: usize, first: u32) {
        (self.used, self.mark) = (used as u16, mark as u16);
        self.found.keep_before(first);
    }

    fn seal(&mut self) {
        self.bytes[..2].copy_from_slice(&self.used.to_le_bytes());
    }

    /// Returns the used bytes of the buffer. They include the records of a call in progress. If no
    /// call is in progress, a commit makes its record from exactly these bytes.
    pub fn page(&self) -> &[u8] {
        &self.bytes[..self.used()]
    }

    /// Makes a copy of the list in `page`.
    pub fn copy_in<'p>(&self, page: &'p mut [u8]) -> RecordList<'p> {
        let bytes = &mut page[..self.bytes.len()];
        bytes[..self.used()].copy_from_slice(self.page());
        let Self { shape, used, mark, found, is_chain, may_be_superseded, may_have_notes, .. } =
            *self;
        RecordList { bytes, shape, used, mark, found, is_chain, may_be_superseded, may_have_notes }
    }

    /// Replaces the list by the content of a page that was read. If the page is not well formed,
    /// returns `false` and changes nothing.
    pub fn replace(&mut self, page: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        let Some(used) = well_formed(self.shape, page, logical_count, logical_bytes)
            .filter(|&used| used <= self.bytes.len())
        else {
            return false;
        };
        self.bytes[..used].copy_from_slice(&page[..used]);
        self.set_used(used);
        (self.may_be_superseded, self.may_have_notes) = (false, true);
        true
    }

    fn record(&self, at: usize) -> Record {
        Record::parse(self.shape, self.bytes, at)
    }

    /// Returns the record at `at`, if it lies before the mark.
    fn record_before_mark(&self, at: usize) -> Option<Record> {
        (at < self.mark()).then(|| self.record(at))
    }

    /// Returns all records from `at` on.
    pub fn records_from(&self, at: usize) -> impl Iterator<Item = Record> + '_ {
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
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.records_from(START).filter(|record| !record.superseded)
    }

    /// Returns the records of one logical page that are not superseded.
    pub fn records_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        self.all_of(logical).filter(|record| !record.superseded)
    }

    /// Returns the records of one logical page, including superseded records.
    fn all_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        let mut at = START;
        core::iter::from_fn(move || {
            let record = self.record(self.next_of(at, logical)?);
            at = record.end();
            Some(record)
        })
    }

    /// Returns the patches of one logical page from before the call in progress.
    pub fn earlier_patches_of(&self, logical: u32) -> impl Iterator<Item = Record> + '_ {
        self.records_of(logical)
            .take_while(|record| record.at < self.mark())
            .filter(Record::is_patch)
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

    /// Returns the place of the first record of a logical page behind the mark: the call in
    /// progress has added it.
    pub fn next_own(&self, logical: u32) -> Option<usize> {
        Record::next_of(self.shape, self.page(), self.mark(), Some(logical))
    }

    /// Stores the place of the first record of a logical page for the searches that follow.
    pub fn look_for(&mut self, logical: u32) {
        self.found = SearchPlace::new(logical, self.first_at(START, logical));
    }

    /// Returns false if there is neither a discard nor a note of a dropped page. Usually there is
    /// none.
    pub fn may_have_notes(&self) -> bool {
        self.may_have_notes
    }

    /// Returns the discards and the notes of dropped pages that are not superseded. The search does
    /// not parse the other records.
    pub fn notes(&self) -> impl Iterator<Item = Record> + '_ {
        let mut at = if self.may_have_notes { START } else { self.used() };
        let all = core::iter::from_fn(move || {
            let record = self.record(Record::next_of(self.shape, self.page(), at, None)?);
            at = record.end();
            Some(record)
        });
        all.filter(|record| !record.superseded)
    }

    /// Returns the first logical page, from `from` on, that was patched before the call in
    /// progress.
    pub fn first_patched(&self, from: u32) -> Option<u32> {
        self.records_from(self.first_at(START, from))
            .take_while(|record| record.at < self.mark())
            .find(|record| !record.superseded && record.is_patch())
            .map(|record| record.logical)
    }

    /// Returns the first logical page, from `from` on, that was discarded before the call in
    /// progress. The search does not parse the patches.
    pub fn first_discarded(&mut self, from: u32) -> Option<u32> {
        if !self.may_have_notes {
            return None;
        }
        self.look_for(from);
        let (mut at, sorted) = (self.first_at(START, from), &self.bytes[..self.mark()]);
        while let Some(place) = Record::next_of(self.shape, sorted, at, None) {
            let record = self.record(place);
            if !record.superseded && record.is_discard() {
                return Some(record.logical);
            }
            at = record.end();
        }
        None
    }

    fn write_header(&mut self, record: &Record) {
        record.emit(self.shape, self.bytes);
    }

    /// Adds a record behind the others.
    pub fn append(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        let record = Record {
            at: self.used(),
            header: self.shape.header_bytes(),
            logical,
            offset,
            length: data.len() as u32,
            superseded: false,
            fresh: self.is_chain(),
            mixed: false,
        };
        if record.end() > self.bytes.len() {
            return Err(Full);
        }
        self.may_have_notes |= data.is_empty();
        self.write_header(&record);
        self.bytes[record.data()].copy_from_slice(data);
        self.used = record.end() as u16;
        self.seal();
        Ok(())
    }

    /// Removes the records of the call in progress, and makes the records before the mark effective
    /// again.
    pub fn remove_own(&mut self) {
        self.used = self.mark;
        self.seal();
        let mut at = START;
        while self.may_be_superseded && at < self.used() {
            let record = self.record(at);
            self.write_header(&Record { superseded: false, ..record });
            at = record.end();
        }
        self.may_be_superseded = false;
    }

    /// Makes the records of a logical page from before the call in progress ineffective. Returns
    /// true if there are such records.
    pub fn supersede(&mut self, logical: u32) -> bool {
        let (mut at, mut is_superseded) = (self.first_at(START, logical), false);
        while let Some(record) = self.record_before_mark(at).filter(|old| old.logical == logical) {
            if record.offset != DROP {
                self.write_header(&Record { superseded: true, ..record });
                is_superseded = true;
            }
            at = record.end();
        }
        self.may_be_superseded |= is_superseded;
        is_superseded
    }

    /// Removes the superseded records.
    pub fn remove_superseded(&mut self) {
        if core::mem::take(&mut self.may_be_superseded) {
            self.remove(Removed::Superseded, true);
        }
    }

    /// Removes the discards and the notes of dropped pages.
    pub fn remove_notes(&mut self) {
        if core::mem::take(&mut self.may_have_notes) {
            self.remove(Removed::WithoutBytes, false);
        }
    }

    /// Removes records. Returns true if any record was removed. In a chain, if `drops` is true, a
    /// note stays for each page that loses patches on the medium.
    pub fn remove(&mut self, removed: Removed, drops: bool) -> bool {
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
            let mut next = at + header.bytes(self.shape);
            if page.is_some_and(|logical| header.logical(self.shape) != logical) {
                // The page has no more records before the mark.
                next = if at < self.mark() { self.mark() } else { next };
            } else if removed.may_have(header, self.shape) {
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
        if end == self.used() {
            return false;
        }
        self.set_ends(end, mark, page.unwrap_or(0));
        self.seal();
        true
    }

    /// Moves records to an earlier place. Returns the place behind them.
    fn close_up(&mut self, records: Range<usize>, to: usize) -> usize {
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
        self.may_have_notes = true;
        note.end()
    }

    /// Returns the patch from before the call in progress that contains all bytes of another patch.
    /// The search parses no record: a mount makes it for each record of a chain.
    pub fn covering(&self, new: &Record) -> Option<Record> {
        let (mut at, sorted) = (self.first_at(START, new.logical), &self.bytes[..self.mark()]);
        while at < sorted.len() {
            let header = Header::read(self.shape, sorted, at);
            let (offset, length) = (header.offset(self.shape), header.length(self.shape));
            // The patches of a page are sorted by their offsets.
            if header.logical(self.shape) != new.logical || (length > 0 && offset > new.offset) {
                break;
            }
            if length > 0 && offset + length >= new.stop() && !header.is_superseded() {
                return Some(self.record(at));
            }
            at += header.bytes(self.shape);
        }
        None
    }

    /// Copies bytes into a patch that contains their place.
    pub fn overwrite(&mut self, patch: &Record, offset: u32, data: &[u8]) {
        let at = patch.data().start + (offset - patch.offset) as usize;
        self.bytes[at..at + data.len()].copy_from_slice(data);
    }

    pub fn lay(&self, patch: &Record, offset: u32, data: &mut [u8]) {
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
