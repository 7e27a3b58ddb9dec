//! The buffer on media with chains. A commit programs a part of it, another part is on the medium
//! already. A mount applies deltas to it.

use super::list::Removed;
use super::record::{Record, records_in};
use super::{Full, Journal};

impl Journal<'_> {
    /// Reduces the buffer to the content of a record on the medium. The content is the whole buffer
    /// or, for a delta, the changes since the previous record.
    pub fn make_record(&mut self, is_delta: bool) {
        if self.list.is_chain() {
            // A whole buffer needs no notes of dropped pages, because no earlier patches apply. A
            // delta contains only the changes.
            let removed = if is_delta { Removed::OnMedium } else { Removed::Notes };
            self.list.remove(removed, false);
            self.list.end_fresh();
        }
    }

    /// Records a commit: all remaining records are on the medium.
    pub fn finish_commit(&mut self) {
        self.remove_discards();
        self.list.end_fresh();
        self.dirty = false;
    }

    /// Applies a delta. Returns `false` if it is not well formed. The discards of the delta stay in
    /// the buffer until the next delta.
    ///
    /// First the room for all pages is made, in the same way as when the delta was made. An early
    /// page may have got room that a late page freed.
    pub fn apply_delta(&mut self, delta: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        self.remove_discards();
        let shape = self.list.shape();
        let mut has_discards = false;
        for record in records_in(shape, delta) {
            let Some(record) =
                record.filter(|record| record.is_sound_in_delta(logical_count, logical_bytes))
            else {
                return false;
            };
            has_discards |= record.is_discard();
            self.make_room_for(&record);
        }
        for patch in records_in(shape, delta).flatten().filter(Record::is_patch) {
            if self.add(&patch, &delta[patch.data()]).is_err() {
                return false;
            }
        }
        if has_discards {
            for discard in records_in(shape, delta).flatten().filter(Record::is_discard) {
                if self.insert_discard(discard.logical).is_err() {
                    return false;
                }
                self.accept();
            }
        }
        self.list.end_fresh();
        self.dirty = false;
        true
    }

    /// Removes the patches that a record of a delta replaces: the patches within its own patch, or
    /// all patches of a page that is dropped or discarded. A patch that contains the whole patch of
    /// the delta stays.
    fn make_room_for(&mut self, record: &Record) {
        let Record { logical, offset, .. } = *record;
        self.list.look_for(logical);
        if !record.is_patch() {
            self.list.remove(Removed::PatchesOf(logical), false);
        } else if self.list.covering(record).is_none() {
            self.list.remove(Removed::Within { logical, offset, stop: record.stop() }, false);
        }
    }

    /// Adds a patch from a delta to the buffer.
    fn add(&mut self, patch: &Record, data: &[u8]) -> Result<(), Full> {
        self.list.look_for(patch.logical);
        if let Some(old) = self.list.covering(patch) {
            self.list.overwrite(&old, patch.offset, data);
        } else if !self.list.insert_apart(patch, data) {
            self.insert(patch.logical, patch.offset, data)?;
            self.accept();
        }
        Ok(())
    }
}
