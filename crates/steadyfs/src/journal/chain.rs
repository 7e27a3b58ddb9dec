//! The buffer in a chain: the part that a commit programs, the part that is on the medium, and the
//! effect of a delta.

use super::record::{DISCARD, DROP, Header, Record, START};
use super::{Full, Journal, Removed};

impl Journal<'_> {
    /// Reduces the buffer to the content of a record on the medium. The content is the whole buffer
    /// or, for a delta, the changes since the previous record.
    pub fn make_record(&mut self, is_delta: bool) {
        if self.is_chain() {
            // A whole buffer needs no notes of dropped pages, because no patches come before it. A
            // delta contains only the changes.
            if is_delta {
                self.remove_records(Removed::OnMedium, false);
            } else {
                self.remove_records(Removed::Notes, false);
            }
            self.end_fresh();
        }
    }

    /// Records a commit: all remaining records are on the medium.
    pub fn finish_commit(&mut self) {
        self.remove_discards();
        self.end_fresh();
        self.dirty = false;
    }

    /// Marks every record as being on the medium, and merges patches that touch or overlap.
    /// Overlapping patches have equal values in their shared bytes.
    fn end_fresh(&mut self) {
        if !self.is_chain() {
            return;
        }
        let mut at = START;
        loop {
            // Only a record with a flag changes, or the record before it. The other records were
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
    pub(super) fn merge_overlapping(&mut self) {
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
    pub(super) fn merge(&mut self, record: Record, next: Record) {
        let shared = (record.stop() - next.offset).min(next.length);
        self.write_header(&Record { length: record.length + next.length - shared, ..record });
        let goes = record.header + shared as usize;
        self.bytes.copy_within(next.at + goes..self.used(), next.at);
        self.set_ends(self.used() - goes, self.mark() - goes);
    }

    /// Returns the patch that contains all bytes of a patch of a delta.
    fn covering(&self, new: &Record) -> Option<Record> {
        self.earlier_patches_of(new.logical).find(|old| old.covers(new))
    }

    /// Applies a delta. Returns `false` if it is not well formed. The discards of the delta stay in
    /// the buffer until the next delta.
    pub fn apply_delta(&mut self, delta: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        self.remove_discards();
        let used = usize::from(u16::from_le_bytes([delta[0], delta[1]]));
        // First, the patches are removed that the delta drops, and the old patches within its
        // patches, of all pages. Then the patches are applied, and then the discards. In this order
        // all records fit, as they did when the delta was made: the room that a late page freed may
        // have been given to an early page.
        for step in 0..3 {
            let mut at = START;
            while at < used {
                if at + self.shape.header_bytes() > used.min(delta.len()) {
                    return false;
                }
                // A step passes over the records of the others. The first one checks them all.
                let header = Header::read(self.shape, delta, at);
                let is_patch = header.length(self.shape) > 0;
                if step > 0 && is_patch != (step == 1) {
                    at += header.bytes(self.shape);
                    continue;
                }
                let record = Record::parse(self.shape, delta, at);
                self.look_for(record.logical);
                let sound = record.logical < logical_count
                    && !(record.superseded || record.fresh || record.mixed)
                    && record.end() <= used.min(delta.len())
                    && (!record.is_patch()
                        || (record.length > 0 && record.stop() <= logical_bytes));
                let done = match record.offset {
                    _ if !sound => Err(Full),
                    DROP | DISCARD if step == 0 => {
                        self.remove_records(Removed::PatchesOf(record.logical), false);
                        Ok(())
                    }
                    offset if step == 0 && self.covering(&record).is_none() => {
                        let Record { logical, .. } = record;
                        let within = Removed::Within { logical, offset, stop: record.stop() };
                        self.remove_records(within, false);
                        Ok(())
                    }
                    DISCARD if step == 2 => self.insert_discard(record.logical),
                    offset if step == 1 => {
                        let data = &delta[record.data()];
                        match self.covering(&record) {
                            Some(old) => {
                                let at = old.data().start + (offset - old.offset) as usize;
                                self.bytes[at..at + data.len()].copy_from_slice(data);
                                Ok(())
                            }
                            None => self.insert(record.logical, offset, data),
                        }
                    }
                    _ => Ok(()),
                };
                if done.is_err() {
                    return false;
                }
                self.accept();
                at = record.end();
            }
        }
        self.end_fresh();
        self.dirty = false;
        true
    }
}
