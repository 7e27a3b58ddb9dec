//! The room of the open transaction, and the room that a call may take.
//!
//! A call is admitted if each [`Share`] has room for all that the call may do. [`Work`] bounds
//! its time as well, so an admitted call is not refused halfway. Patches are no share. Pages
//! leave the journal buffer to make room for patches, and these pages take places.

use super::{Bounds, Work};
use crate::commit::UNDO_PAGES;
use crate::media::Flash;

/// Something that is limited in a transaction.
struct Share {
    /// Taken by the open transaction; a commit gives it back.
    used: u32,
    /// Taken by the call at most.
    needed: u32,
    /// The limit.
    most: u32,
    /// Taken at most by a page that is written, and by one that is discarded.
    per_page: [u32; 2],
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the room that a call takes of a transaction, if `flushes` pages leave the journal
    /// buffer for it.
    fn shares(&self, work: &Work, flushes: u32) -> [Share; 4] {
        let transaction = &self.view.ftl.transaction;
        let places = transaction.places(self.cache);
        let kept = self.journal.kept_records();
        let discards = if kept > 0 { self.journal.discard_count() } else { 0 };
        let written = work.frames + flushes;
        let header = self.journal.patch_room(0) as u32;
        // In a chain, a page that leaves the buffer may leave a note there.
        let notes = u32::from(self.view.ftl.layout.programs_bytes());
        let share = |used, per_page: [u32; 2], most| {
            let needed = written * per_page[0] + work.discards * per_page[1];
            Share { used, needed, most, per_page }
        };
        [
            share(places, [1, 0], transaction.capacity()),
            share(places + discards, [1, 1], self.view.ftl.map.changes_max()),
            share(kept * header, [notes * header, (1 + notes) * header], self.journal.capacity()),
            // The call's undo notes the pages that the call writes, and the discarded pages of
            // the transaction. A commit makes room for the latter alone.
            Share {
                used: work.discards.min(transaction.len()),
                needed: (work.frames + flushes.min(work.pages)).min(UNDO_PAGES),
                most: UNDO_PAGES,
                per_page: [0, 0],
            },
        ]
    }

    /// Returns true if the open transaction may have too little room for a call.
    pub fn lacks_room(&self, work: &Work) -> bool {
        self.shares(work, self.flushes(work, 1))
            .iter()
            .any(|share| share.used + share.needed > share.most)
    }

    /// Returns true if a call may be refused. A page takes one place, however often it leaves
    /// the journal buffer.
    pub fn may_refuse(&self, work: &Work) -> bool {
        let flushes = self.flushes(work, 1);
        let different = flushes.min(work.pages + self.journal.patched_pages());
        let [places, changes, ..] = self.shares(work, different);
        let [.., notes, undo] = self.shares(work, flushes);
        [places, changes, notes, undo].iter().any(|share| share.used + share.needed > share.most)
    }

    /// Returns true if a call may need more room than an empty transaction has.
    pub fn outgrows_transaction(&self, work: &Work) -> bool {
        self.shares(work, self.flushes(work, 1)).iter().any(|share| share.needed > share.most)
    }

    /// Returns the number of pages that calls of one kind write, at least, until one call may
    /// lack room. The transaction begins with `discards` discards.
    pub fn pages_until_full(&self, work: &Work, discards: u32) -> u32 {
        let shares = self.shares(work, work.flushes_of_any());
        let pages = |Share { needed, most, per_page, .. }: &Share| {
            most.saturating_sub(needed + discards * per_page[1]).checked_div(per_page[0])
        };
        shares.iter().filter_map(pages).min().unwrap_or(0).max(1)
    }
}
