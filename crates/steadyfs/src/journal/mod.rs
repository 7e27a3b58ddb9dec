//! The journal buffer: small changes to logical pages. The buffer lies in RAM, and as one page on
//! the medium.
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
//! page and offset, and neither overlap nor touch. A record without bytes discards its logical page
//! when the record is committed. After the commit, the record has no meaning.
//!
//! The call in progress can be undone. Its records follow behind a *mark*, in the order in which
//! the call added them. If records overlap, the later record is valid. An undo needs the records
//! before the mark, so they are kept. If the call writes or discards a page as a whole, the page's
//! earlier records are *superseded*, and a bit in their header marks them. When the call has
//! succeeded, its records are sorted in among the other records.
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
//! A delta is applied in two steps. First, patches are removed: all patches of dropped and
//! discarded pages, and all patches within patches of the delta. Then the patches of the delta are
//! added.

mod chain;
mod found;
mod list;
mod record;
mod records;
mod room;

pub(crate) use list::Full;
pub(crate) use record::RecordShape;
pub(crate) use records::{Records, empty_places};
pub(crate) use room::{BufferCounts, RecordsAhead};

use list::{RecordList, Removed};
use record::{DISCARD, Record};

pub(crate) struct Journal<'m> {
    list: RecordList<'m>,
    /// True if the buffer differs from the newest journal page.
    dirty: bool,
    /// True if the buffer differed from the newest journal page before the call in progress.
    was_dirty: bool,
    /// The page with few patches that was last written because its [turn](Self::take_turn) had
    /// come.
    turn: u32,
    /// Number of pages written so far to make room.
    flushes: u8,
}

impl<'m> Journal<'m> {
    pub fn new(bytes: &'m mut [u8], is_chain: bool, shape: RecordShape) -> Self {
        let list = RecordList::new(bytes, is_chain, shape);
        Self { list, dirty: false, was_dirty: false, turn: 0, flushes: 0 }
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.dirty = false;
    }

    /// Returns the used bytes of the buffer. They include the records of a call in progress. If no
    /// call is in progress, a commit makes its record from exactly these bytes.
    pub fn page(&self) -> &[u8] {
        self.list.page()
    }

    /// Makes a copy of the buffer in `page`. The copy is in the state as if the call in progress
    /// had succeeded.
    pub fn accepted_in<'p>(&self, page: &'p mut [u8]) -> Journal<'p> {
        let mut copy = Journal { list: self.list.copy_in(page), ..*self };
        copy.accept();
        copy
    }

    /// Replaces the buffer by the content of a page that was read. If the page is not well formed,
    /// returns `false` and changes nothing.
    pub fn replace(&mut self, page: &[u8], logical_count: u32, logical_bytes: u32) -> bool {
        let is_replaced = self.list.replace(page, logical_count, logical_bytes);
        self.dirty &= !is_replaced;
        is_replaced
    }

    /// Starts a call.
    pub fn begin(&mut self) {
        self.accept();
        self.was_dirty = self.dirty;
    }

    /// Undoes the changes of the call in progress.
    pub fn undo(&mut self) {
        self.list.remove_own();
        self.dirty = self.was_dirty;
    }

    /// Ends a call that has succeeded: its records are sorted in among the records before the mark.
    /// Does nothing if the buffer has no changes.
    pub fn accept(&mut self) {
        if !self.dirty {
            return;
        }
        // Superseded records are removed first, so that no record of the call is merged with them.
        self.list.remove_superseded();
        while self.list.mark() < self.list.used() {
            self.list.sort_in();
        }
    }

    fn append(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        // A merged patch is fresh as a whole, so it makes the next delta longer. Therefore patches
        // are merged only if there is too little room.
        if self.patch_room(data.len()) > self.room() as usize {
            self.list.merge_overlapping();
        }
        self.list.append(logical, offset, data)?;
        self.dirty = true;
        Ok(())
    }

    /// Adds a patch. In a chain, if a patch changes only a few bytes of an earlier patch, only
    /// these bytes are added.
    pub fn insert(&mut self, logical: u32, offset: u32, data: &[u8]) -> Result<(), Full> {
        let (from, to) = self.list.differing(logical, offset, data);
        if from < to { self.append(logical, offset + from as u32, &data[from..to]) } else { Ok(()) }
    }

    /// Adds a discard of a logical page. The page's patches must be superseded already.
    pub fn insert_discard(&mut self, logical: u32) -> Result<(), Full> {
        if self.is_discarded(logical) { Ok(()) } else { self.append(logical, DISCARD, &[]) }
    }

    /// Returns true if the open transaction discards this logical page. Every search for a page
    /// begins with this function.
    pub fn is_discarded(&mut self, logical: u32) -> bool {
        self.list.look_for(logical);
        self.list.may_have_notes()
            && self.list.records_of(logical).any(|record| record.is_discard())
    }

    /// Returns the number of logical pages that the open transaction discards.
    pub fn discard_count(&self) -> u32 {
        self.list.notes().filter(Record::is_discard).count() as u32
    }

    /// Returns the first discarded logical page from `from` on. No call may be in progress.
    pub fn next_discard(&mut self, from: u32) -> Option<u32> {
        self.list.first_discarded(from)
    }

    /// Removes the records of a logical page that is written or discarded as a whole. An undo of
    /// the call would not restore the records, so no error may follow in the call.
    pub fn remove(&mut self, logical: u32) {
        self.dirty |= self.list.remove(Removed::Page(logical), true);
    }

    /// Removes the records of a logical page from before the call in progress, because they were
    /// written with the page. An undo of the call does not restore these records.
    pub fn remove_earlier(&mut self, logical: u32) {
        if self.list.remove(Removed::EarlierOf(logical), true) {
            (self.dirty, self.was_dirty) = (true, true);
        }
    }

    /// Makes the records of a logical page ineffective, because the call in progress writes or
    /// discards the page as a whole.
    pub fn supersede(&mut self, logical: u32) {
        // The call's own records are not needed for an undo, so they are removed.
        if self.list.next_own(logical).is_some() {
            self.dirty |= self.list.remove(Removed::OwnOf(logical), true);
        }
        self.dirty |= self.list.supersede(logical);
    }

    /// Removes the discards and the notes of dropped pages that a commit has carried out.
    pub fn remove_discards(&mut self) {
        self.list.remove_notes();
    }

    /// Lays the patches of a logical page over `data`, which starts at `offset`.
    pub fn apply(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.list
            .records_of(logical)
            .filter(Record::is_patch)
            .for_each(|patch| self.list.lay(&patch, offset, data));
    }

    /// Lays only the patches from before the call in progress over `data`.
    pub fn apply_earlier(&self, logical: u32, offset: u32, data: &mut [u8]) {
        self.list.earlier_patches_of(logical).for_each(|patch| self.list.lay(&patch, offset, data));
    }
}

#[cfg(test)]
mod tests {
    use super::record::{START, well_formed};
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

    /// Commits patches in a chain of a whole buffer and a delta, and follows the chain. Each patch
    /// is made by a call of its own. The buffer has `size` bytes.
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

    /// The patches of an early page were applied before a late page had freed the room for them.
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
        /// A failed call had merged its patches into earlier patches. Only a second read of the
        /// journal page could undo the merge, but this read undid the whole transaction.
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
                let before = (says(&mut journal), journal.page().len());
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
                    prop_assert!(journal.page().len() <= before.1);
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

        /// A delta fits into the buffer of a reader that follows the chain. This holds even if the
        /// calls of the delta have freed room and then filled the buffer to the last byte.
        #[test]
        fn a_delta_fits_whatever_the_buffer_held(
            size in 40usize..140,
            // Patches of single bytes, with gaps. A patch over several of them frees room.
            committed in prop::collection::vec((1u32..4, 0u32..8, any::<u8>()), 1..16)
                .prop_map(|all| {
                    all.into_iter().map(|(l, o, b)| (l, 2 * o, 1, b)).collect::<Vec<_>>()
                }),
            changes in prop::collection::vec((1u32..4, 0u32..8, 1usize..16, any::<u8>()), 0..6),
            filled in 0u32..4,
        ) {
            let (mut bytes, mut other) = ([0; 256], [0; 256]);
            let mut journal = Journal::new(&mut bytes[..size], true, SHAPE);
            let mut follower = Journal::new(&mut other[..size], true, SHAPE);
            for (is_delta, patches) in [(false, committed), (true, changes)] {
                for (logical, offset, length, fill) in patches {
                    let _ = insert(&mut journal, logical, offset, &vec![fill; length]);
                }
                let rest = (journal.room() as usize).saturating_sub(SHAPE.header_bytes());
                if is_delta && rest > 0 {
                    let _ = insert(&mut journal, filled, 40, &vec![7; rest]);
                }
                let mut page = [0; 256];
                let mut record = journal.accepted_in(&mut page);
                record.make_record(is_delta);
                let bytes = record.page().to_vec();
                let followed = match is_delta {
                    false => follower.replace(&bytes, 4, 300),
                    true => follower.apply_delta(&bytes, 4, 300),
                };
                prop_assert!(followed, "the record does not fit");
                journal.finish_commit();
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
