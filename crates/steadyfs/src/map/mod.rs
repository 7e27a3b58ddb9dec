//! The map: logical page → frame.
//!
//! - The leaves hold the map on the medium.
//! - RAM and each root hold the places of the leaves.
//! - The overlay in RAM holds the changes since each leaf was written.
//!
//! When the overlay is full, the leaf with the most changes is written back (`fold` in the code).
//! It is written anew, or its changes are programmed into its [log].
//!
//! Each overlay entry has a *released* bit. If the bit is not set, the old frame, which the leaf
//! names, is still marked as live. The old frame is looked up when the leaf is written back, so a
//! change of the map needs no read before it. Until then the frame cannot be used again, because
//! its block is not empty.

mod copy;
mod leaf;
mod log;
mod log_entry;

use crate::config::{COPIED_MAX, Layout};
use crate::error::Error;
use crate::media::Flash;
use crate::pages::Pages;
use crate::space::Frame;
use crate::table::{Pairs, Words};

/// The last few look-ups in leaves. If the caller reads the same pages again, or the pages behind
/// them, no leaf is read again.
///
/// Each look-up is a *run*: consecutive logical pages in consecutive frames. A file that was
/// written in order has such runs. No page of a run is in the overlay: the look-up checked that. A
/// change of a page's frame discards the run that contains the page.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    runs: [Run; 4],
    next: u8,
}

/// The pages from `first` on, and the frame of the first page. To save RAM in every volume, `first`
/// also contains the number of pages, above the page number, which has 24 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u32,
    frame: Frame,
}

impl Run {
    /// Largest number of pages of a run.
    const PAGES_MAX: u32 = 32;

    fn new(first: u32, frame: Frame, pages: u32) -> Self {
        Self { first: first | pages << 24, frame }
    }

    /// Returns the distance of a page from the first page of the run, if the run contains it.
    fn distance(&self, logical: u32) -> Option<u32> {
        logical.checked_sub(self.first & 0xFF_FFFF).filter(|&distance| distance < self.first >> 24)
    }
}

impl Recent {
    fn find(&self, logical: u32) -> Option<Frame> {
        self.runs.iter().find_map(|run| run.distance(logical).map(|distance| run.frame + distance))
    }

    fn insert(&mut self, run: Run) {
        self.runs[usize::from(self.next)] = run;
        self.next = (self.next + 1) % 4;
    }

    /// Forgets the runs of map entries in RAM that contain a page, because the frame of this page
    /// changes.
    fn remove(&mut self, logical: u32) {
        for run in self.runs.iter_mut().filter(|run| run.distance(logical).is_some()) {
            *run = Run::default();
        }
    }
}

/// The medium and the layout, which a look-up in the map needs.
pub(crate) struct LeafReader<'s, 'm, F> {
    pub pages: &'s mut Pages<'m, F>,
    pub layout: &'s Layout,
    /// Largest number of reads of a leaf's page that reads as damaged.
    pub tries: u32,
}

/// The committed map. See the [module](self).
pub(crate) struct Map<'m> {
    /// The frame of each leaf; 0 for a leaf that was never written.
    leaves: Words<'m>,
    /// The frame of the copy of the first leaf; 0 if there is none.
    copy: Frame,
    overlay: Pairs<'m>,
    /// A bit for each leaf: set if no power cut has touched the blank rest of its log.
    known_logs: &'m mut [u8],
    recent: Recent,
}

impl<'m> Map<'m> {
    /// Creates the map of an empty volume.
    pub fn new(leaves: Words<'m>, overlay: Pairs<'m>, known_logs: &'m mut [u8]) -> Self {
        known_logs.fill(0);
        Self { leaves, copy: 0, overlay, known_logs, recent: Recent::default() }
    }

    /// Returns the *released* bit of an overlay value: the frame that the leaf names is no longer
    /// marked as live. Not inlined, because a call takes less code.
    #[inline(never)]
    pub fn released_bit(&self) -> u32 {
        1 << (self.leaves.width() * 8 - 1)
    }

    /// Returns the value of an entry whose frame is unknown, because a page of the leaf's earlier
    /// version was lost. No frame has this number.
    pub fn missing_entry(&self) -> u32 {
        self.released_bit() | (self.released_bit() - 1)
    }

    /// Returns the number of overlay entries.
    pub fn len(&self) -> u32 {
        self.overlay.len()
    }

    /// Returns the number of entries that the overlay has room for.
    pub fn capacity(&self) -> u32 {
        self.overlay.capacity()
    }

    /// Returns the number of entries that the overlay has room for besides the entries that a mount
    /// adds.
    pub fn changes_max(&self) -> u32 {
        self.capacity() - COPIED_MAX
    }

    /// Returns the leaves and the frame of each.
    pub fn leaves(&self) -> impl Iterator<Item = (u32, Frame)> + '_ {
        (0..self.leaves.len()).map(|leaf| (leaf, self.leaves.get(leaf)))
    }

    /// Returns the frame of a leaf; 0 if the leaf was never written.
    pub fn leaf(&self, leaf: u32) -> Frame {
        self.leaves.get(leaf)
    }

    /// Sets the new frame of a leaf that has moved. An untouched log stays untouched.
    pub fn move_leaf(&mut self, leaf: u32, frame: Frame) {
        self.leaves.set(leaf, frame);
    }

    /// Returns the logical pages that the overlay names, and their frames; 0 for a discarded
    /// page.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Frame)> + '_ {
        (0..self.overlay.len()).map(|index| self.entry(index))
    }

    /// Returns the entry with this index among the [`entries`](Self::entries).
    pub fn entry(&self, index: u32) -> (u32, Frame) {
        (self.overlay.key(index), self.overlay.value(index) & !self.released_bit())
    }

    /// Returns the frame that the overlay names for a logical page; 0 if the page was discarded.
    pub fn overlay_frame(&self, logical: u32) -> Option<Frame> {
        self.overlay.find(logical).map(|index| self.overlay.value(index) & !self.released_bit())
    }

    /// Returns the frame of a logical page; 0 if it has none.
    ///
    /// # Cost
    /// At most one read.
    pub fn find<F: Flash>(
        &mut self,
        reader: LeafReader<'_, '_, F>,
        logical: u32,
    ) -> Result<Frame, Error> {
        if let Some(frame) = self.overlay_frame(logical).or_else(|| self.recent.find(logical)) {
            return Ok(frame);
        }
        let (frame, pages) = self.leaf_run(reader, logical)?;
        self.recent.insert(Run::new(logical, frame, pages));
        Ok(frame)
    }

    /// Stores the result of a look-up: the page has no frame.
    pub fn mark_unwritten(&mut self, logical: u32) {
        self.recent.insert(Run::new(logical, 0, 1));
    }

    /// Changes the map. Returns the frame that the caller must release, or 0. The function applies
    /// a durable commit, so it reads nothing and cannot fail.
    pub fn set(&mut self, logical: u32, frame: Frame) -> Frame {
        // A stored look-up must not name the old frame.
        self.recent.remove(logical);
        let released = self.released_bit();
        if let Some(index) = self.overlay.find(logical) {
            let old = self.overlay.value(index);
            self.overlay.set_value(index, frame | (old & released));
            // Only the overlay names this frame. The released bit concerns the leaf's frame.
            return if old & !released != frame { old & !released } else { 0 };
        }
        let inserted = self.overlay.insert(logical, frame);
        debug_assert!(inserted, "no room was made");
        0
    }

    /// Changes the map because reclamation moved a frame, which the caller releases. A new entry
    /// gets the released bit, because the caller releases the only old frame.
    pub fn move_page(&mut self, logical: u32, to: Frame) {
        self.recent.remove(logical);
        let released = self.released_bit();
        match self.overlay.find(logical) {
            Some(index) => {
                let old = self.overlay.value(index);
                self.overlay.set_value(index, to | (old & released));
            }
            None => {
                let inserted = self.overlay.insert(logical, to | released);
                debug_assert!(inserted, "no room was made");
            }
        }
    }

    /// Changes the map as a replayed record requires. After all records are applied, the frames
    /// that the leaves name are looked up.
    pub fn replay(&mut self, logical: u32, frame: Frame) -> Result<(), Error> {
        self.recent.remove(logical);
        match self.overlay.find(logical) {
            Some(index) => self.overlay.set_value(index, frame),
            None if !self.overlay.insert(logical, frame) => return Err(Error::Corrupt),
            None => {}
        }
        Ok(())
    }

    /// Returns true if the overlay names another frame than `frame` for a page. `frame` is marked
    /// as live. If the function returns true, it has set the released bit of the overlay entry.
    pub fn supersedes(&mut self, logical: u32, frame: Frame) -> bool {
        let released = self.released_bit();
        let Some(index) = self.overlay.find(logical) else { return false };
        let value = self.overlay.value(index);
        if value & !released == frame {
            return false;
        }
        self.overlay.set_value(index, value | released);
        true
    }

    /// Returns the frame that a leaf still keeps marked as live, though the overlay names another
    /// frame for the page; 0 if there is none. The caller releases it. The look-up costs a read. If
    /// the read fails, the frame stays marked as live until the leaf is written.
    pub fn take_old<F: Flash>(&mut self, reader: LeafReader<'_, '_, F>, logical: u32) -> Frame {
        let released = self.released_bit();
        let Some(index) = self.overlay.find(logical) else { return 0 };
        let value = self.overlay.value(index);
        if value & released == 0
            && let Ok(old) = self.leaf_entry(reader, logical)
        {
            self.overlay.set_value(index, value | released);
            return if old != value { old } else { 0 };
        }
        0
    }

    /// Sets the released bit of all overlay entries: no frame that the overlay replaces is
    /// marked as live.
    pub fn note_all_released(&mut self) {
        let released = self.released_bit();
        (0..self.overlay.len())
            .for_each(|index| self.overlay.set_value(index, self.overlay.value(index) | released));
    }

    /// Discards the whole map: no page can be found any more.
    pub fn forget_all(&mut self) {
        let missing = self.missing_entry();
        (0..self.leaves.len()).for_each(|leaf| self.leaves.set(leaf, missing));
        self.copy = 0;
        self.overlay.clear();
        self.recent = Recent::default();
    }

    /// Discards the stored look-ups before a mount reads a root.
    pub fn begin(&mut self) {
        self.recent = Recent::default();
    }

    /// Returns the tables of the map that a root contains: leaves, untouched logs, and overlay.
    pub fn tables_mut(&mut self) -> [&mut [u8]; 3] {
        [self.leaves.bytes_mut(), self.known_logs, self.overlay.bytes_mut()]
    }

    /// Makes the unused bytes of the overlay blank.
    pub fn blank_rest(&mut self) {
        self.overlay.blank_rest();
    }

    /// Adopts tables that were read from a root. Returns `false` if they name a logical page or
    /// a frame that does not exist.
    pub fn adopt(&mut self, overlay_len: u32, layout: &Layout) -> bool {
        let frames = layout.frame_count();
        self.overlay.adopt(overlay_len)
            && self
                .entries()
                .all(|(logical, frame)| logical < layout.logical_count && frame < frames)
            && self.leaves().all(|(_, frame)| frame < frames)
            && self.copy < frames
    }
}
