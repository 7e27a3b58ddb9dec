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

/// Bytes of a record before its data.
const HEADER: usize = 7;
/// Bytes of a discard.
pub(super) const DISCARD_BYTES: u32 = HEADER as u32;
/// Offset that marks a discard.
const DISCARD: u32 = 0xFFFF;
/// Bytes before the first record.
const START: usize = 2;

/// The buffer does not hold the patch as well.
pub(super) struct Full;

pub(super) struct Journal<'m> {
    bytes: &'m mut [u8],
    used: usize,
    /// The buffer differs from the newest journal page.
    pub dirty: bool,
}

#[derive(Clone, Copy)]
struct Record {
    at: usize,
    logical: u32,
    offset: u32,
    length: u32,
}

impl Record {
    fn parse(bytes: &[u8], at: usize) -> Self {
        let b = &bytes[at..at + HEADER];
        Self {
            at,
            logical: u32::from_le_bytes([b[0], b[1], b[2], 0]),
            offset: u32::from(u16::from_le_bytes([b[3], b[4]])),
            length: u32::from(u16::from_le_bytes([b[5], b[6]])),
        }
    }

    fn end(&self) -> usize {
        self.at + HEADER + if self.offset == DISCARD { 0 } else { self.length as usize }
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
        let discard = record.offset == DISCARD;
        let sound = record.logical < logical_count
            && (discard || (record.length > 0 && record.offset + record.length <= logical_bytes))
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
        let mut journal = Self { bytes, used: START, dirty: false };
        journal.clear();
        journal
    }

    pub fn clear(&mut self) {
        self.used = START;
        self.seal();
        self.dirty = false;
    }

    fn seal(&mut self) {
        let used = (self.used as u16).to_le_bytes();
        self.bytes[..2].copy_from_slice(&used);
    }

    /// The bytes to program.
    pub fn page(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// The whole buffer, to be filled with a page that was read; then call [`adopt`](Self::adopt).
    pub fn buffer(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// Takes over a page that was read into the buffer; `false` when it is not well formed.
    pub fn adopt(&mut self, logical_count: u32, logical_bytes: u32) -> bool {
        let used = well_formed(self.bytes, logical_count, logical_bytes);
        match used {
            Some(used) => (self.used, self.dirty) = (used, false),
            None => self.clear(),
        }
        used.is_some()
    }

    /// Takes over a page that was read elsewhere; `false`, and nothing changes, when it is not well formed.
    pub fn replace(&mut self, page: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        let Some(used) = well_formed(page, logical_count, logical_bytes) else { return false };
        self.bytes.copy_from_slice(page);
        self.used = used;
        self.dirty = false;
        true
    }

    fn record(&self, at: usize) -> Record {
        Record::parse(self.bytes, at)
    }

    fn records(&self) -> impl Iterator<Item = Record> + '_ {
        let mut at = START;
        core::iter::from_fn(move || {
            if at >= self.used {
                return None;
            }
            let record = self.record(at);
            at = record.end();
            Some(record)
        })
    }

    fn write_header(&mut self, at: usize, logical: u32, offset: u32, length: u32) {
        self.bytes[at..at + 3].copy_from_slice(&logical.to_le_bytes()[..3]);
        self.bytes[at + 3..at + 5].copy_from_slice(&offset.to_le_bytes()[..2]);
        self.bytes[at + 5..at + 7].copy_from_slice(&length.to_le_bytes()[..2]);
    }

    /// Adds a patch, joining what it overlaps or touches.
    pub fn insert(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        let end = offset + data.len() as u32;
        // The records that the patch overlaps or touches are neighbours; `at` is where it goes.
        let (mut at, mut first, mut last) = (self.used, None, None);
        for record in self.records() {
            let (start, stop) = (record.offset, record.offset + record.length);
            let before = record.logical < logical || (record.logical == logical && stop < offset && start != DISCARD);
            if before {
                continue;
            }
            if record.logical == logical && start != DISCARD && start <= end {
                first = first.or(Some(record));
                last = Some(record);
                continue;
            }
            at = at.min(record.at);
            break;
        }
        let from = first.map_or(offset, |r| r.offset.min(offset));
        let to = last.map_or(end, |r| (r.offset + r.length).max(end));
        let place = first.map_or(at, |r| r.at);
        // What follows the new bytes: the rest of the last joined record, then everything behind it.
        let rest = last
            .map_or(place, |r| if r.offset + r.length > end { r.end() - (r.offset + r.length - end) as usize } else { r.end() });
        let target = place + HEADER + (end - from) as usize;
        let used = self.used - rest + target;
        if used > self.bytes.len() {
            return Err(Full);
        }
        self.bytes.copy_within(rest..self.used, target);
        self.used = used;
        self.write_header(place, logical, from, to - from);
        let data_at = place + HEADER + (offset - from) as usize;
        self.bytes[data_at..data_at + data.len()].copy_from_slice(data);
        self.seal();
        self.dirty = true;
        Ok(())
    }

    /// Adds a discard of a logical page whose patches were removed.
    pub fn insert_discard(&mut self, logical: u32) -> Result<(), Full> {
        if self.is_discarded(logical) {
            return Ok(());
        }
        if self.used + HEADER > self.bytes.len() {
            return Err(Full);
        }
        let at = self.records().find(|r| r.logical > logical).map_or(self.used, |r| r.at);
        self.bytes.copy_within(at..self.used, at + HEADER);
        self.used += HEADER;
        self.write_header(at, logical, DISCARD, 0);
        self.seal();
        self.dirty = true;
        Ok(())
    }

    /// The first logical page from `from` on with a discard, or with a patch.
    fn first_from(&self, from: u32, discard: bool) -> Option<u32> {
        self.records().find(|r| r.logical >= from && (r.offset == DISCARD) == discard).map(|r| r.logical)
    }

    /// Number of logical pages with a discard, or with patches.
    fn count(&self, discard: bool) -> u32 {
        let (mut count, mut last) = (0, u32::MAX);
        for record in self.records() {
            if (record.offset == DISCARD) == discard && record.logical != last {
                (count, last) = (count + 1, record.logical);
            }
        }
        count
    }

    /// Whether the open transaction discards this logical page.
    pub fn is_discarded(&self, logical: u32) -> bool {
        self.first_from(logical, true) == Some(logical)
    }

    /// Number of logical pages that the open transaction discards.
    pub fn discard_count(&self) -> u32 {
        self.count(true)
    }

    /// The first discarded logical page from `from` on.
    pub fn next_discard(&self, from: u32) -> Option<u32> {
        self.first_from(from, true)
    }

    /// Removes what there is of one logical page, or else all discards; whether there was any.
    fn remove_records(&mut self, page: Option<u32>) -> bool {
        let (mut from, mut to) = (START, START);
        while from < self.used {
            let record = self.record(from);
            let end = record.end();
            if !page.map_or(record.offset == DISCARD, |logical| record.logical == logical) {
                self.bytes.copy_within(from..end, to);
                to += end - from;
            }
            from = end;
        }
        let removed = to != self.used;
        self.used = to;
        self.seal();
        removed
    }

    /// Removes what the buffer says of a logical page, because it is written or discarded as a whole.
    pub fn remove(&mut self, logical: u32) {
        if self.remove_records(Some(logical)) {
            self.dirty = true;
        }
    }

    /// Forgets discards that a commit has carried out.
    pub fn remove_discards(&mut self) {
        self.remove_records(None);
    }

    /// Lays the patches of a logical page over `data`, which starts at `offset`.
    pub fn apply(&self, logical: u32, offset: u32, data: &mut [u8]) {
        let end = offset + data.len() as u32;
        for record in self.records() {
            if record.logical != logical || record.offset == DISCARD {
                continue;
            }
            let (from, to) = (record.offset.max(offset), (record.offset + record.length).min(end));
            if from < to {
                let source = record.at + HEADER + (from - record.offset) as usize;
                let length = (to - from) as usize;
                let target = (from - offset) as usize;
                data[target..target + length].copy_from_slice(&self.bytes[source..source + length]);
            }
        }
    }

    /// The logical page whose patches take most room, and how many bytes.
    pub fn largest(&self) -> Option<(u32, usize)> {
        let mut best = None;
        for page in self.page_sizes() {
            if best.is_none_or(|(_, bytes)| page.1 > bytes) {
                best = Some(page);
            }
        }
        best
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

    /// The logical pages that the buffer patches, each with the bytes that it takes.
    fn page_sizes(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let mut records = self.records().filter(|r| r.offset != DISCARD).peekable();
        core::iter::from_fn(move || {
            let first = records.next()?;
            let mut bytes = first.end() - first.at;
            while let Some(record) = records.next_if(|record| record.logical == first.logical) {
                bytes += record.end() - record.at;
            }
            Some((first.logical, bytes))
        })
    }

    /// Number of logical pages that the buffer patches.
    pub fn patched_pages(&self) -> u32 {
        self.count(false)
    }

    /// Bytes that a patch takes in the buffer.
    pub fn patch_room(&self, bytes: usize) -> usize {
        HEADER + bytes
    }

    /// The first logical page from `from` on that the buffer patches.
    pub fn patched_from(&self, from: u32) -> Option<u32> {
        self.first_from(from, false)
    }

    /// Whether the buffer patches this logical page.
    pub fn patches(&self, logical: u32) -> bool {
        self.first_from(logical, false) == Some(logical)
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

    #[test]
    fn appended_patches_become_one_record() {
        let mut bytes = [0; 256];
        let mut journal = Journal::new(&mut bytes);
        for i in 0..10 {
            assert!(journal.insert(5, i * 8, &[i as u8; 8]).is_ok());
        }
        assert_eq!(journal.page().len(), START + HEADER + 80);
    }

    #[test]
    fn full_buffer_refuses_and_stays_as_it_was() {
        let mut bytes = [0; 64];
        let mut journal = Journal::new(&mut bytes);
        assert!(journal.insert(1, 0, &[1; 40]).is_ok());
        let before = journal.page().to_vec();
        assert!(journal.insert(2, 0, &[2; 20]).is_err());
        assert_eq!(journal.page(), before);
    }

    proptest! {
        #[test]
        fn any_patches_read_back_as_the_last_write(writes in prop::collection::vec((0u32..4, 0u32..200, 1usize..60, any::<u8>()), 1..60)) {
            let mut bytes = [0; 1024];
            let mut journal = Journal::new(&mut bytes);
            let mut model = vec![vec![0u8; 300]; 4];
            for (logical, offset, length, fill) in writes {
                let data: Vec<u8> = (0..length).map(|i| fill.wrapping_add(i as u8)).collect();
                if journal.insert(logical, offset, &data).is_ok() {
                    model[logical as usize][offset as usize..offset as usize + length].copy_from_slice(&data);
                }
            }
            for logical in 0..4 {
                prop_assert_eq!(&view(&journal, logical, 300), &model[logical as usize]);
            }
            let page = journal.page().to_vec();
            let mut copy = [0xFF; 1024];
            copy[..page.len()].copy_from_slice(&page);
            let mut again = Journal { bytes: &mut copy, used: 0, dirty: false };
            prop_assert!(again.adopt(4, 300));
            for logical in 0..4 {
                prop_assert_eq!(&view(&again, logical, 300), &model[logical as usize]);
            }
        }

        #[test]
        fn adopt_never_panics_on_hostile_bytes(mut page in prop::collection::vec(any::<u8>(), 128)) {
            page[1] = 0;
            let mut journal = Journal { bytes: &mut page, used: 0, dirty: false };
            if journal.adopt(1000, 512) {
                let _ = view(&journal, 1, 512);
                let _ = journal.largest();
            }
        }
    }
}
