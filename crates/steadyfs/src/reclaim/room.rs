//! The room in the open transaction, and the room that a call may need there.
//!
//! A call is admitted if each [`Share`] has room for all changes of the call. The call's [`Work`]
//! is the limit of these changes, so an admitted call is never refused halfway. The bound in time
//! is computed from the same `Work`. Patches need no share of their own: pages are written out of
//! the journal buffer to make room for patches, and these pages are counted.

use super::{Bounds, Work};
use crate::commit::UNDO_PAGES;
use crate::media::Flash;

/// A resource that is limited in a transaction.
struct Share {
    /// Amount that the open transaction uses. A commit frees it.
    used: u32,
    /// Largest amount that the call uses.
    needed: u32,
    /// The limit of the amount.
    most: u32,
    /// Largest amounts that one written page and one discarded page use.
    per_page: [u32; 2],
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the shares of a call. `flushes` pages are written out of the journal buffer during
    /// the call.
    fn shares(&self, work: &Work, flushes: u32) -> [Share; 4] {
        let transaction = &self.view.ftl.transaction;
        let places = transaction.places(self.cache);
        let kept = self.counts.kept_records();
        let written = work.frames + flushes;
        let header = self.journal.patch_room(0) as u32;
        // If records form a chain, a page that is written out of the buffer may leave a note in the
        // buffer.
        let notes = u32::from(self.view.ftl.layout.programs_bytes());
        let share = |used, per_page: [u32; 2], most| {
            let needed = written * per_page[0] + work.discards * per_page[1];
            Share { used, needed, most, per_page }
        };
        [
            share(places, [1, 0], transaction.capacity()),
            share(places + self.counts.discards(), [1, 1], self.view.ftl.map.changes_max()),
            share(kept * header, [notes * header, (1 + notes) * header], self.journal.capacity()),
            // The undo of the call has notes on pages that the call writes, and on pages of the
            // transaction that the call discards. After a commit the transaction has no pages, so
            // the call needs only notes on written pages.
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
        self.exceeds(work, |share| share.used + share.needed > share.most)
    }

    /// Returns true if `exceeds` returns true for a share of the call. Most calls fit with any
    /// content of the journal buffer. Then the buffer is not searched.
    fn exceeds(&self, work: &Work, exceeds: impl Fn(&Share) -> bool) -> bool {
        let most = self.flushes_most(work);
        if !self.shares(work, most).iter().any(&exceeds) {
            debug_assert!(self.flushes(work, 1) <= most, "{work:?} may write more pages");
            return false;
        }
        self.shares(work, self.flushes(work, 1)).iter().any(&exceeds)
    }

    /// Returns true if a call may be refused for lack of room. A page needs one slot in the table
    /// of pending pages, however often it is written out of the journal buffer.
    pub fn may_refuse(&self, work: &Work) -> bool {
        let flushes = self.flushes(work, 1);
        let different = flushes.min(work.pages + self.counts.patched_pages());
        let [places, changes, ..] = self.shares(work, different);
        let [.., notes, undo] = self.shares(work, flushes);
        [places, changes, notes, undo].iter().any(|share| share.used + share.needed > share.most)
    }

    /// Returns true if a call may need more room than an empty transaction has.
    pub fn outgrows_transaction(&self, work: &Work) -> bool {
        self.exceeds(work, |share| share.needed > share.most)
    }

    /// Returns the least number of pages that calls of one kind write in a transaction until a call
    /// may lack room. The transaction begins with `discards` discards.
    pub fn pages_until_full(&self, work: &Work, discards: u32) -> u32 {
        let shares = self.shares(work, work.flushes_of_any());
        let pages = |Share { needed, most, per_page, .. }: &Share| {
            most.saturating_sub(needed + discards * per_page[1]).checked_div(per_page[0])
        };
        shares.iter().filter_map(pages).min().unwrap_or(0).max(1)
    }
}
