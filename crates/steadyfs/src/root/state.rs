//! Content of a root: a header, followed by the tables of the rooms.

use super::Ring;
use crate::commit::{IDLE, Transaction};
use crate::config::Layout;
use crate::format::root::{BYTES, RootHeader};
use crate::map::Map;
use crate::media::Flash;
use crate::pages::Pages;
use crate::space::{Head, HeadIndex, NONE, Space};

/// Upper limit of the sequence number in a root. A tag has 36 bits for it. The numbers that a mount
/// and its session use must fit as well.
pub(crate) const SEQUENCE_MAX: u64 = (1 << 36) - (1 << 24);
/// The heads that every volume has. The header of a root contains their next places.
const HEADER_HEADS: [HeadIndex; 3] = [HeadIndex::USER, HeadIndex::MOVED, HeadIndex::JOURNAL];

/// Status of the volume, as a root contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VolumeFlags {
    /// True if the volume can only be read.
    pub worn_out: bool,
    /// True if a loss was accepted, and its effects are not repaired yet.
    pub unchecked: bool,
    /// Number of frames of the reserve that are present.
    pub reserve: u16,
}

/// The rooms whose state a root contains, and the medium.
pub(crate) struct RootState<'s, 'm, F> {
    pub layout: &'s Layout,
    pub pages: &'s mut Pages<'m, F>,
    pub space: &'s mut Space<'m>,
    pub map: &'s mut Map<'m>,
    pub transaction: &'s mut Transaction<'m>,
}

impl<F: Flash> RootState<'_, '_, F> {
    /// Returns the header of a root. Not inlined, so that its variables are off the stack when the
    /// root is programmed.
    #[inline(never)]
    pub(super) fn header(&self, flags: VolumeFlags, ring: &Ring) -> [u8; BYTES] {
        let header = RootHeader {
            overlay_len: self.map.len(),
            pending_len: self.transaction.len(),
            unmarked: self.space.is_unmarked(),
            worn_out: flags.worn_out,
            closed: ring.closed,
            unchecked: flags.unchecked,
            sequence: self.space.sequence(),
            transaction_start: self.transaction.start(),
            journal_at: self.space.journal_at(),
            heads: HEADER_HEADS
                .map(|head| self.space.heads().get(head))
                .map(|head| (head.block, head.next)),
            reserve: flags.reserve,
            wear_base: self.space.blocks().wear_base,
            follows: ring.follows,
            journal_copy: self.journal_copy_to_name(ring),
            leaf_copy: self.map.copy(),
        };
        header.emit()
    }

    /// Returns the place of the copy of the newest journal page, as a root names it; 0 if there is
    /// no copy. The copy must stay as long as the root. So the root names only a copy in the root's
    /// own block, or in the block of the newest journal page.
    fn journal_copy_to_name(&self, ring: &Ring) -> u32 {
        let copy = self.space.journal_copy();
        let is_in_ring = copy != NONE && self.space.journal_block(copy) == ring.current();
        if is_in_ring || self.space.has_copy_beside() { copy } else { 0 }
    }

    /// Copies page `index` of a root between the page buffer and the header and tables. In a root
    /// the tables follow the header, one behind the other. If `read` is true, copies from the page
    /// buffer; if not, copies into the page buffer.
    pub(super) fn exchange(&mut self, header: &mut [u8; BYTES], index: u32, read: bool) {
        let at = (index * self.layout.geometry.page_bytes) as usize;
        let [wear, state, streams] = self.space.tables_mut();
        let [leaves, known_logs, overlay] = self.map.tables_mut();
        let (page, mut start) = (self.pages.bytes_mut(), 0);
        let parts = [
            header,
            leaves,
            wear,
            state,
            known_logs,
            streams,
            overlay,
            self.transaction.table_mut(),
        ];
        for part in parts {
            // A table may cross the boundary of two pages.
            let (from, to) = (start.max(at), (start + part.len()).min(at + page.len()));
            if from < to {
                let (part, page) =
                    (&mut part[from - start..to - start], &mut page[from - at..to - at]);
                if read { part.copy_from_slice(page) } else { page.copy_from_slice(part) }
            }
            start += part.len();
        }
    }

    /// Returns true if a place can hold a journal record. In the ring, all pages of the record must
    /// lie in one block.
    fn is_journal_place(&self, place: u32, ring: &Ring) -> bool {
        let (layout, pages) = (self.layout, self.layout.geometry.pages_per_block);
        let block = place / layout.journal_places();
        let fits = || layout.journal_page(place) % pages + layout.journal_pages() <= pages;
        place == NONE || (block < layout.geometry.block_count && (!ring.has(block) || fits()))
    }

    /// Takes over the header of a root, and checks every number in it and in the tables.
    pub(super) fn adopt(&mut self, header: &RootHeader, ring: &Ring) -> bool {
        // This call clears the place of the copy, so it comes before the copy is set.
        self.space.adopt_journal(header.journal_at);
        self.map.set_copy(header.leaf_copy);
        if header.journal_copy > 0 {
            self.space.set_journal_copy(header.journal_copy);
        }
        let names_journal = [header.journal_at, header.journal_copy]
            .iter()
            .all(|&place| self.is_journal_place(place, ring));
        if self.pages.flash().is_clean() {
            // A mount that recovers nothing needs only the map and the journal.
            return self.map.adopt(header.overlay_len, self.layout) && names_journal;
        }
        for (head, (block, next)) in HEADER_HEADS.into_iter().zip(header.heads) {
            self.space.heads_mut().replace(head, Head { block, next });
        }
        // Later code uses these numbers as indices, and any of them may be damaged.
        let sound = self.map.adopt(header.overlay_len, self.layout)
            && self.transaction.adopt(header.pending_len, self.layout)
            && names_journal
            && self.space.heads_are_sound(|block| ring.owns(block))
            && header.sequence < SEQUENCE_MAX
            && header.wear_base < 1 << 31
            && (header.transaction_start == IDLE || header.transaction_start < header.sequence);
        if sound {
            self.space.set_sequence(header.sequence);
            self.transaction.resume(header.transaction_start);
            self.space.set_unmarked(header.unmarked);
            self.space.blocks_mut().wear_base = header.wear_base;
        }
        sound
    }
}
