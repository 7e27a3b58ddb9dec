//! Inserts records in order among the records before the mark, and merges records that touch or
//! overlap.

use super::RecordList;
use crate::journal::record::{Record, START};

impl RecordList<'_> {
    /// Returns the part of a patch that differs from the buffer. This is the whole patch if no
    /// earlier patch contains all of its bytes, or if the call in progress has changed the page.
    pub fn differing(&self, logical: u32, offset: u32, data: &[u8]) -> (usize, usize) {
        let (new_end, all) = (offset + data.len() as u32, (0, data.len()));
        // If the call has already patched the page, earlier patches have old bytes. A comparison
        // with old bytes would be wrong.
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

    /// Moves the first record behind the mark to its place before the mark, and merges it with the
    /// records that it overlaps or touches.
    pub fn sort_in(&mut self) {
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
                self.set_ends(self.used(), new.end(), new.logical);
            }
        }
    }

    /// Adds a patch that is on the medium, at its place. Returns `false` and changes nothing if the
    /// patch overlaps or touches another patch, or if there is no room. No call may be in progress.
    pub fn insert_apart(&mut self, patch: &Record, data: &[u8]) -> bool {
        let Record { logical, offset, .. } = *patch;
        let mut at = self.first_at(START, logical);
        while let Some(old) = self.record_before_mark(at).filter(|old| old.logical == logical) {
            if old.offset > patch.stop() {
                break;
            }
            if old.stop() >= offset {
                return false;
            }
            at = old.end();
        }
        let (bytes, used) = (patch.bytes(), self.used());
        if self.mark() != used || used + bytes > self.size() {
            return false;
        }
        self.bytes.copy_within(at..used, at + bytes);
        let record = Record { at, superseded: false, fresh: false, mixed: false, ..*patch };
        self.write_header(&record);
        self.bytes[record.data()].copy_from_slice(data);
        self.set_ends(used + bytes, used + bytes, logical);
        self.seal();
        true
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
        self.set_ends(self.used() + grows - new.bytes(), new.at + grows, new.logical);
        // The patch has grown, so it may reach the next ones.
        while let Some(next) =
            self.record_before_mark(record.end()).filter(|next| self.joins(&record, next))
        {
            self.merge(self.joined(&record, &next), next);
            record = self.record(old.at);
        }
        self.seal();
    }

    /// Marks every record as being on the medium, and merges patches that touch or overlap.
    /// Overlapping patches have equal values in their shared bytes.
    pub fn end_fresh(&mut self) {
        if !self.is_chain() {
            return;
        }
        let mut at = START;
        loop {
            // Only records with a flag change, and the records before them. The other records were
            // merged earlier.
            at = Record::before_flagged(self.shape, self.page(), at);
            if at == self.used() {
                break;
            }
            loop {
                let record =
                    Record { superseded: false, fresh: false, mixed: false, ..self.record(at) };
                self.write_header(&record);
                let next = (record.end() < self.used()).then(|| self.record(record.end()));
                // After a commit the medium has all patches, so they need not stay separate.
                let joins = |next: &Record| record.is_beside(next) && next.offset <= record.stop();
                match next.filter(joins) {
                    Some(next) => self.merge(record, next),
                    None => {
                        at = record.end();
                        break;
                    }
                }
            }
        }
        self.seal();
    }

    /// Makes room: merges each patch on the medium with the fresh patches within it. The merged
    /// patch is fresh as a whole.
    pub fn merge_overlapping(&mut self) {
        let mut at = START;
        while self.is_chain() && at < self.mark() {
            let record = self.record(at);
            let next = self.record_before_mark(record.end());
            let joins = |next: &Record| {
                record.is_beside(next)
                    && next.offset < record.stop()
                    && record.superseded == next.superseded
            };
            match next.filter(joins) {
                Some(next) => self.merge(Record { fresh: true, mixed: true, ..record }, next),
                None => at = record.end(),
            }
        }
        self.seal();
    }

    /// Merges a patch with the patch behind it, which touches or overlaps it. The two patches have
    /// equal values in their shared bytes.
    fn merge(&mut self, record: Record, next: Record) {
        let shared = (record.stop() - next.offset).min(next.length);
        self.write_header(&Record { length: record.length + next.length - shared, ..record });
        let goes = record.header + shared as usize;
        self.bytes.copy_within(next.at + goes..self.used(), next.at);
        self.set_ends(self.used() - goes, self.mark() - goes, record.logical);
    }
}
