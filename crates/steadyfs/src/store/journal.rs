//! The journal buffer: small changes to logical pages, in RAM and, as one page, on the medium.
//!
//! The buffer *is* the newest journal page: it holds every patch that was committed and not yet written into its logical
//! page, and the patches of the open transaction. A commit programs the whole of it, so that
//!
//! - one page program commits any number of small changes,
//! - a reader applies patches from RAM and never searches the medium for them,
//! - a mount needs the newest journal page only, and a rollback reads it back.
//!
//! ```text
//! 0      2                                              used
//! | used | logical 24 | offset 16 | length 16 | bytes … | …
//! ```
//!
//! Records are sorted by logical page and offset; they neither overlap nor touch. A record with the offset
//! [`DISCARD`] and no bytes discards the logical page when the page is committed; it has no meaning afterwards.
//!
//! The call in progress can be undone. Its records follow behind a *mark* in the order in which they came, and a later one counts before
//! an earlier one. Records before the mark stay; those of a page that the call writes or discards as a whole are *superseded*, which a bit of their
//! length says. When the call has succeeded its records take their place among the others.
//!
//! ```text
//! 2                      mark               used
//! | sorted, as before … | of the call, in turn |
//! ```

/// Bytes of a record before its data.
const HEADER: usize = 7;
/// Bytes of a discard.
pub(super) const DISCARD_BYTES: u32 = HEADER as u32;
/// Offset that marks a discard.
const DISCARD: u32 = 0xFFFF;
/// Bit of the length of a record that the call in progress supersedes. Never on the medium.
const SUPERSEDED: u32 = 0x8000;
/// Bytes before the first record.
const START: usize = 2;

/// The buffer does not hold the patch as well.
pub(super) struct Full;

pub(super) struct Journal<'m> {
    bytes: &'m mut [u8],
    used: usize,
    /// Where the records of the call in progress begin.
    mark: usize,
    /// The buffer differs from the newest journal page.
    pub dirty: bool,
    /// It did before the call in progress.
    was_dirty: bool,
}

#[derive(Clone, Copy)]
struct Record {
    at: usize,
    logical: u32,
    offset: u32,
    length: u32,
    superseded: bool,
}

impl Record {
    fn parse(bytes: &[u8], at: usize) -> Self {
        let b = &bytes[at..at + HEADER];
        let length = u32::from(u16::from_le_bytes([b[5], b[6]]));
        Self {
            at,
            logical: u32::from_le_bytes([b[0], b[1], b[2], 0]),
            offset: u32::from(u16::from_le_bytes([b[3], b[4]])),
            length: length & !SUPERSEDED,
            superseded: length & SUPERSEDED != 0,
        }
    }

    fn is_discard(&self) -> bool {
        self.offset == DISCARD
    }

    fn data(&self) -> core::ops::Range<usize> {
        self.at + HEADER..self.at + HEADER + if self.is_discard() { 0 } else { self.length as usize }
    }

    fn end(&self) -> usize {
        self.data().end
    }

    fn bytes(&self) -> usize {
        self.end() - self.at
    }

    /// The offset behind the patch.
    fn stop(&self) -> u32 {
        self.offset + self.length
    }
}

/// Bytes in use of a journal page that was read; `None` when it is not well formed.
fn well_formed(page: &[u8], logical_count: u32, logical_bytes: u32) -> Option<usize> {
    let used = usize::from(u16::from_le_bytes([page[0], page[1]]));
    if used > page.len() {
        return None;
    }
    let mut at = START;
    let mut floor = (0, 0);
    while at + HEADER <= used {
        let record = Record::parse(page, at);
        let discard = record.is_discard();
        let sound = record.logical < logical_count
            && !record.superseded
            && (discard || (record.length > 0 && record.stop() <= logical_bytes))
            && (record.logical, record.offset) >= floor
            && record.end() <= used;
        if !sound {
            return None;
        }
        floor = (record.logical, record.offset + if discard { 1 } else { record.length + 1 });
        at = record.end();
    }
    (at == used).then_some(used)
}

impl<'m> Journal<'m> {
    pub fn new(bytes: &'m mut [u8]) -> Self {
        let mut journal = Self { bytes, used: START, mark: START, dirty: false, was_dirty: false };
        journal.clear();
        journal
    }

    pub fn clear(&mut self) {
        self.set_used(START);
        self.dirty = false;
    }

    /// Ends the records at `used`; no call is in progress.
    fn set_used(&mut self, used: usize) {
        (self.used, self.mark) = (used, used);
        self.seal();
    }

    fn seal(&mut self) {
        let used = (self.used as u16).to_le_bytes();
        self.bytes[..2].copy_from_slice(&used);
    }

    /// The bytes to program, when no call is in progress.
    pub fn page(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Makes in `page` what this buffer will be when the call in progress has succeeded.
    pub fn settled_in<'p>(&self, page: &'p mut [u8]) -> Journal<'p> {
        page.copy_from_slice(self.bytes);
        let mut copy = Journal { bytes: page, used: self.used, mark: self.mark, dirty: self.dirty, was_dirty: self.was_dirty };
        copy.settle();
        copy
    }

    /// The whole buffer, to be filled with a page that was read; then call [`adopt`](Self::adopt).
    pub fn buffer(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// Takes over a page that was read into the buffer; `false` when it is not well formed.
    pub fn adopt(&mut self, logical_count: u32, logical_bytes: u32) -> bool {
        let used = well_formed(self.bytes, logical_count, logical_bytes);
        self.set_used(used.unwrap_or(START));
        self.dirty = false;
        used.is_some()
    }

    /// Takes over a page that was read elsewhere; `false`, and nothing changes, when it is not well formed.
    pub fn replace(&mut self, page: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        let Some(used) = well_formed(page, logical_count, logical_bytes) else { return false };
        self.bytes.copy_from_slice(page);
        self.set_used(used);
        self.dirty = false;
        true
    }

    /// Starts a call.
    pub fn begin(&mut self) {
        self.settle();
        self.was_dirty = self.dirty;
    }

    /// Undoes what the call in progress did.
    pub fn undo(&mut self) {
        self.used = self.mark;
        self.seal();
        let mut at = START;
        while at < self.used {
            let record = self.record(at);
            self.set_length(record, record.length);
            at = record.end();
        }
        self.dirty = self.was_dirty;
    }

    /// Ends a call that has succeeded: its records take their places.
    pub fn settle(&mut self) {
        self.remove_records(|record| record.superseded);
        while self.mark < self.used {
            self.sort_in();
        }
    }

    fn record(&self, at: usize) -> Record {
        Record::parse(self.bytes, at)
    }

    /// All records from `at` on.
    fn records_from(&self, at: usize) -> impl Iterator<Item = Record> + '_ {
        let mut at = at;
        core::iter::from_fn(move || {
            if at >= self.used {
                return None;
            }
            let record = self.record(at);
            at = record.end();
            Some(record)
        })
    }

    /// The records that count, in the order in which they do.
    fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.records_from(START).filter(|record| !record.superseded)
    }

    /// Those of before the call in progress.
    fn earlier(&self) -> impl Iterator<Item = Record> + '_ {
        self.records().take_while(|record| record.at < self.mark)
    }

    fn write_header(&mut self, at: usize, logical: u32, offset: u32, length: u32) {
        self.bytes[at..at + 3].copy_from_slice(&logical.to_le_bytes()[..3]);
        self.bytes[at + 3..at + 5].copy_from_slice(&offset.to_le_bytes()[..2]);
        self.bytes[at + 5..at + 7].copy_from_slice(&length.to_le_bytes()[..2]);
    }

    fn set_length(&mut self, record: Record, length: u32) {
        self.write_header(record.at, record.logical, record.offset, length);
    }

    fn append(&mut self, logical: u32, offset: u32, length: u32, data: &[u8]) -> Result<(), Full> {
        let (at, end) = (self.used, self.used + HEADER + data.len());
        if end > self.bytes.len() {
            return Err(Full);
        }
        self.write_header(at, logical, offset, length);
        self.bytes[at + HEADER..end].copy_from_slice(data);
        self.used = end;
        self.seal();
        self.dirty = true;
        Ok(())
    }

    /// Adds a patch.
    pub fn insert(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        self.append(logical, offset, data.len() as u32, data)
    }

    /// Adds a discard of a logical page whose patches were superseded.
    pub fn insert_discard(&mut self, logical: u32) -> Result<(), Full> {
        if self.is_discarded(logical) { Ok(()) } else { self.append(logical, DISCARD, 0, &[]) }
    }

    /// Puts the first record behind the mark in its place before it, and joins it with those that it overlaps or touches.
    fn sort_in(&mut self) {
        let new = self.record(self.mark);
        let comes_before = |old: &Record| {
            old.logical < new.logical
                || (old.logical == new.logical && !old.is_discard() && (new.is_discard() || old.stop() < new.offset))
        };
        let place = self.records_from(START).take_while(|old| old.at < new.at).find(|old| !comes_before(old));
        let place = place.map_or(new.at, |old| old.at);
        self.bytes[place..new.end()].rotate_right(new.bytes());
        self.mark = new.end();
        while !new.is_discard() && self.joins(place) {}
    }

    /// Joins the record at `place` with the older one behind it, if there is one that it overlaps or touches.
    fn joins(&mut self, place: usize) -> bool {
        let new = self.record(place);
        if new.end() >= self.mark {
            return false;
        }
        let old = self.record(new.end());
        if old.logical != new.logical || old.is_discard() || old.offset > new.stop() {
            return false;
        }
        // What is left of the old patch before and behind the new one.
        let before = new.offset.saturating_sub(old.offset) as usize;
        let behind = old.stop().saturating_sub(new.stop()) as usize;
        let data = new.data();
        self.bytes[data.start..old.data().start + before].rotate_left(data.len());
        let kept = data.start + HEADER..old.data().start + before;
        self.bytes.copy_within(kept.clone(), data.start);
        let (to, from) = (data.start + kept.len(), old.end() - behind);
        self.bytes.copy_within(from..self.used, to);
        self.used -= from - to;
        self.mark -= from - to;
        self.write_header(place, new.logical, new.offset.min(old.offset), (before + data.len() + behind) as u32);
        self.seal();
        true
    }

    /// The first logical page from `from` on that was discarded before the call in progress, or patched.
    fn first_from(&self, from: u32, discard: bool) -> Option<u32> {
        self.earlier().find(|r| r.logical >= from && r.is_discard() == discard).map(|r| r.logical)
    }

    /// Whether the open transaction discards this logical page.
    pub fn is_discarded(&self, logical: u32) -> bool {
        self.records().any(|record| record.logical == logical && record.is_discard())
    }

    /// Number of logical pages that the open transaction discards.
    pub fn discard_count(&self) -> u32 {
        self.records().filter(Record::is_discard).count() as u32
    }

    /// The first discarded logical page from `from` on, when no call is in progress.
    pub fn next_discard(&self, from: u32) -> Option<u32> {
        self.first_from(from, true)
    }

    /// Removes records; whether there were any.
    fn remove_records(&mut self, goes: impl Fn(&Record) -> bool) -> bool {
        let (mut from, mut to, mut mark) = (START, START, START);
        while from < self.used {
            let record = self.record(from);
            if !goes(&record) {
                self.bytes.copy_within(from..record.end(), to);
                to += record.bytes();
            }
            if from < self.mark {
                mark = to;
            }
            from = record.end();
        }
        let removed = to != self.used;
        (self.used, self.mark) = (to, mark);
        self.seal();
        removed
    }

    /// Removes what the buffer says of a logical page, because it is written or discarded as a whole and no error can follow in the call.
    pub fn remove(&mut self, logical: u32) {
        self.dirty |= self.remove_records(|record| record.logical == logical);
    }

    /// Removes what the buffer said of a logical page before the call in progress, because the page was written with it. That stays
    /// so when the call is undone.
    pub fn remove_earlier(&mut self, logical: u32) {
        let mark = self.mark;
        if self.remove_records(|record| record.logical == logical && record.at < mark) {
            (self.dirty, self.was_dirty) = (true, true);
        }
    }

    /// Lets what the buffer says of a logical page count no more, because the call in progress writes or discards it as a whole.
    pub fn supersede(&mut self, logical: u32) {
        let mark = self.mark;
        self.dirty |= self.remove_records(|record| record.logical == logical && record.at >= mark);
        let mut at = START;
        while at < self.mark {
            let record = self.record(at);
            if record.logical == logical {
                self.set_length(record, record.length | SUPERSEDED);
                self.dirty = true;
            }
            at = record.end();
        }
    }

    /// Forgets discards that a commit has carried out.
    pub fn remove_discards(&mut self) {
        self.remove_records(Record::is_discard);
    }

    /// Lays the patches of a logical page over `data`, which starts at `offset`.
    pub fn apply(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.records().for_each(|record| self.lay(&record, logical, offset, data));
    }

    /// The same with the patches of before the call in progress only.
    pub fn apply_earlier(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.earlier().for_each(|record| self.lay(&record, logical, offset, data));
    }

    fn lay(&self, record: &Record, logical: u32, offset: u32, data: &mut [u8]) {
        if record.logical != logical || record.is_discard() {
            return;
        }
        let end = offset + data.len() as u32;
        let (from, to) = (record.offset.max(offset), record.stop().min(end));
        if from < to {
            let source = record.at + HEADER + (from - record.offset) as usize;
            let length = (to - from) as usize;
            let target = (from - offset) as usize;
            data[target..target + length].copy_from_slice(&self.bytes[source..source + length]);
        }
    }

    /// The logical page whose patches of before the call take most room, and how many bytes.
    pub fn largest(&self) -> Option<(u32, usize)> {
        let mut best = None;
        for page in self.page_sizes() {
            if best.is_none_or(|(_, bytes)| page.1 > bytes) {
                best = Some(page);
            }
        }
        best
    }

    /// The logical page whose patches of the call itself take most room, and how many bytes.
    pub fn largest_own(&self) -> Option<(u32, usize)> {
        let own = || self.records_from(self.mark).filter(|record| !record.is_discard());
        let size = |logical: u32| own().filter(|record| record.logical == logical).map(|record| record.bytes()).sum::<usize>();
        own().map(|record| (record.logical, size(record.logical))).max_by_key(|&(_, bytes)| bytes)
    }

    /// Bytes that are free.
    pub fn room(&self) -> u32 {
        (self.bytes.len() - self.used) as u32
    }

    /// How many of the logical pages with most patches must be written before `bytes` more fit, and the bytes of the least of them;
    /// `None` when all of them do not do.
    pub fn flushes_for(&self, bytes: u32) -> Option<(u32, u32)> {
        let mut room = self.room();
        let (mut flushes, mut limit) = (0, (usize::MAX, u32::MAX));
        while room < bytes {
            // The next smaller page: fewer bytes, or as many and a smaller number.
            let next = self.page_sizes().map(|(logical, size)| (size, logical)).filter(|&page| page < limit).max()?;
            room += next.0 as u32;
            limit = next;
            flushes += 1;
        }
        Some((flushes, limit.0 as u32))
    }

    /// The logical pages that were patched before the call, each with the bytes that it takes.
    fn page_sizes(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let mut records = self.earlier().filter(|r| !r.is_discard()).peekable();
        core::iter::from_fn(move || {
            let first = records.next()?;
            let mut bytes = first.bytes();
            while let Some(record) = records.next_if(|record| record.logical == first.logical) {
                bytes += record.bytes();
            }
            Some((first.logical, bytes))
        })
    }

    /// Number of logical pages that the buffer patches.
    pub fn patched_pages(&self) -> u32 {
        let is_new = |record: &Record| {
            let before = self.records().take_while(|r| r.at < record.at);
            !record.is_discard() && !before.filter(|r| !r.is_discard()).any(|r| r.logical == record.logical)
        };
        let own = self.records_from(self.mark).filter(is_new).count();
        (self.page_sizes().count() + own) as u32
    }

    /// Bytes that a patch takes in the buffer.
    pub fn patch_room(&self, bytes: usize) -> usize {
        HEADER + bytes
    }

    /// The first logical page from `from` on that was patched before the call.
    pub fn patched_from(&self, from: u32) -> Option<u32> {
        self.first_from(from, false)
    }

    /// Whether the buffer patches this logical page.
    pub fn patches(&self, logical: u32) -> bool {
        self.records().any(|record| record.logical == logical && !record.is_discard())
    }

    /// Largest patch that an empty buffer holds.
    pub fn patch_bytes_max(&self) -> usize {
        self.bytes.len() - START - HEADER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn view(journal: &Journal<'_>, logical: u32, size: usize) -> Vec<u8> {
        let mut data = vec![0; size];
        journal.apply(logical, 0, &mut data);
        data
    }

    /// Adds a patch in a call of its own.
    fn insert(journal: &mut Journal<'_>, logical: u32, offset: u32, data: &[u8]) -> bool {
        journal.begin();
        let done = journal.insert(logical, offset, data).is_ok();
        journal.settle();
        done
    }

    #[test]
    fn appended_patches_become_one_record() {
        let mut bytes = [0; 256];
        let mut journal = Journal::new(&mut bytes);
        for i in 0..10 {
            assert!(insert(&mut journal, 5, i * 8, &[i as u8; 8]));
        }
        assert_eq!(journal.page().len(), START + HEADER + 80);
    }

    #[test]
    fn full_buffer_refuses_and_stays_as_it_was() {
        let mut bytes = [0; 64];
        let mut journal = Journal::new(&mut bytes);
        assert!(insert(&mut journal, 1, 0, &[1; 40]));
        let before = journal.page().to_vec();
        assert!(!insert(&mut journal, 2, 0, &[2; 20]));
        assert_eq!(journal.page(), before);
    }

    /// What may happen to the buffer within a call.
    #[derive(Clone, Debug)]
    enum Act {
        Patch(u32, u32, usize, u8),
        Discard(u32),
        /// Written or discarded as a whole.
        Supersede(u32),
        /// Written as it was before the call.
        RemoveEarlier(u32),
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            6 => (0u32..4, 0u32..200, 1usize..60, any::<u8>()).prop_map(|(l, o, n, b)| Act::Patch(l, o, n, b)),
            1 => (0u32..4).prop_map(Act::Discard),
            1 => (0u32..4).prop_map(Act::Supersede),
            1 => (0u32..4).prop_map(Act::RemoveEarlier),
        ]
    }

    /// What the buffer says of each page: the patches over a page of ones, and whether it is discarded.
    fn says(journal: &Journal<'_>) -> Vec<(Vec<u8>, bool)> {
        (0..4).map(|logical| (view(journal, logical, 300), journal.is_discarded(logical))).collect()
    }

    proptest! {
        /// A call that failed had merged its patches into those of before, so that only reading the journal page again could undo it, and with it the
        /// whole transaction.
        #[test]
        fn a_call_is_undone_or_takes_its_place(calls in prop::collection::vec((any::<bool>(), prop::collection::vec(act(), 1..8)), 1..12)) {
            let mut bytes = [0; 1024];
            let mut journal = Journal::new(&mut bytes);
            for (succeeds, acts) in calls {
                journal.begin();
                let before = (says(&journal), journal.used);
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
                let during = says(&journal);
                let mut page = [0; 1024];
                let mut settled = journal.settled_in(&mut page);
                prop_assert_eq!(says(&settled), during.clone());
                prop_assert!(settled.adopt(4, 300), "a page to program is well formed");
                if succeeds {
                    journal.settle();
                    prop_assert_eq!(says(&journal), during);
                } else {
                    journal.undo();
                    for (l, said) in before.0.iter().enumerate().filter(|(l, _)| !written.contains(&(*l as u32))) {
                        prop_assert_eq!(&(view(&journal, l as u32, 300), journal.is_discarded(l as u32)), said);
                    }
                    prop_assert!(journal.used <= before.1);
                }
            }
        }

        #[test]
        fn any_patches_read_back_as_the_last_write(writes in prop::collection::vec((0u32..4, 0u32..200, 1usize..60, any::<u8>()), 1..60)) {
            let mut bytes = [0; 1024];
            let mut journal = Journal::new(&mut bytes);
            let mut model = vec![vec![0u8; 300]; 4];
            for (logical, offset, length, fill) in writes {
                let data: Vec<u8> = (0..length).map(|i| fill.wrapping_add(i as u8)).collect();
                if insert(&mut journal, logical, offset, &data) {
                    model[logical as usize][offset as usize..offset as usize + length].copy_from_slice(&data);
                }
            }
            for logical in 0..4 {
                prop_assert_eq!(&view(&journal, logical, 300), &model[logical as usize]);
            }
            let page = journal.page().to_vec();
            let mut copy = [0xFF; 1024];
            copy[..page.len()].copy_from_slice(&page);
            let mut again = Journal { bytes: &mut copy, used: 0, mark: 0, dirty: false, was_dirty: false };
            prop_assert!(again.adopt(4, 300));
            for logical in 0..4 {
                prop_assert_eq!(&view(&again, logical, 300), &model[logical as usize]);
            }
        }

        #[test]
        fn adopt_never_panics_on_hostile_bytes(mut page in prop::collection::vec(any::<u8>(), 128)) {
            page[1] = 0;
            let mut journal = Journal { bytes: &mut page, used: 0, mark: 0, dirty: false, was_dirty: false };
            if journal.adopt(1000, 512) {
                let _ = view(&journal, 1, 512);
                let _ = journal.largest();
            }
        }
    }
}
