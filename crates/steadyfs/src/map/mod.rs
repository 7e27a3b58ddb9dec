//! Logical page → frame.
//!
//! Leaves hold the map on the medium, the root (in RAM) says where they are, and the overlay (in RAM) holds what has changed
//! since each leaf was written. When the overlay is full, the leaf with most changes is written anew ("folded"), or its changes are programmed into its [log].
//!
//! An entry of the overlay whose *released* bit is not set still has a live mark at the frame that the leaf names: the old frame
//! is looked up when the leaf is folded and needs no read before. Until then the frame cannot be used again, because
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

/// The last few look-ups in leaves: a program that looks at the same pages again, or at those behind them, saves the reads of the map.
///
/// Each is a *run*: logical pages in order that lie in frames in order, as they do where a file was written so. No page of a run is in the overlay: that was looked
/// at, and whatever changes the frame of a page forgets the run that it is in.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    runs: [Run; 4],
    next: u8,
}

/// Pages from `first` on, and the frame of that one. The length is packed beside the page, which has 24 bits: this is in every volume's RAM.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u32,
    frame: Frame,
}

impl Run {
    /// Pages of a run at most.
    const PAGES_MAX: u32 = 32;

    fn new(first: u32, frame: Frame, pages: u32) -> Self {
        Self { first: first | pages << 24, frame }
    }

    /// How far behind the first page another one is, if it is in the run.
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

    /// Forgets a page whose frame changes.
    fn remove(&mut self, logical: u32) {
        for run in self.runs.iter_mut().filter(|run| run.distance(logical).is_some()) {
            *run = Run::default();
        }
    }
}

/// What a look at the map needs beside it.
pub(crate) struct Look<'s, 'm, F> {
    pub pages: &'s mut Pages<'m, F>,
    pub layout: &'s Layout,
    /// Looks at a page of a leaf that reads as damaged.
    pub tries: u32,
}

/// The committed map. See the [module](self).
pub(crate) struct Map<'m> {
    /// The frame of each leaf; 0 where it was never written.
    leaves: Words<'m>,
    /// The frame of the copy of the first one; 0 if there is none.
    copy: Frame,
    overlay: Pairs<'m>,
    /// A bit for each leaf: no power cut has touched the blank rest of its log.
    known_logs: &'m mut [u8],
    recent: Recent,
}

impl<'m> Map<'m> {
    /// Of an empty volume.
    pub fn new(leaves: Words<'m>, overlay: Pairs<'m>, known_logs: &'m mut [u8]) -> Self {
        known_logs.fill(0);
        Self { leaves, copy: 0, overlay, known_logs, recent: Recent::default() }
    }

    /// The bit of an overlay value that says that the leaf's frame is not marked as live any more. Not inlined: a
    /// call is shorter.
    #[inline(never)]
    pub fn released_bit(&self) -> u32 {
        1 << (self.leaves.width() * 8 - 1)
    }

    /// What a leaf has in place of a frame that nobody knows any more, because the page of an earlier leaf was lost. No frame has this number.
    pub fn missing_entry(&self) -> u32 {
        self.released_bit() | (self.released_bit() - 1)
    }

    /// Entries of the overlay.
    pub fn len(&self) -> u32 {
        self.overlay.len()
    }

    /// Entries that the overlay has room for.
    pub fn capacity(&self) -> u32 {
        self.overlay.capacity()
    }

    /// The same without those that a mount adds.
    pub fn changes_max(&self) -> u32 {
        self.capacity() - COPIED_MAX
    }

    /// Leaves, and where each of them lies.
    pub fn leaves(&self) -> impl Iterator<Item = (u32, Frame)> + '_ {
        (0..self.leaves.len()).map(|leaf| (leaf, self.leaves.get(leaf)))
    }

    /// Where a leaf lies; 0 where it was never written.
    pub fn leaf(&self, leaf: u32) -> Frame {
        self.leaves.get(leaf)
    }

    /// A leaf lies elsewhere: what is known of its log stays.
    pub fn move_leaf(&mut self, leaf: u32, frame: Frame) {
        self.leaves.set(leaf, frame);
    }

    /// The logical pages that the overlay names, and their frames; 0 for one that was discarded.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Frame)> + '_ {
        (0..self.overlay.len()).map(|index| self.entry(index))
    }

    /// One of them.
    pub fn entry(&self, index: u32) -> (u32, Frame) {
        (self.overlay.key(index), self.overlay.value(index) & !self.released_bit())
    }

    /// The frame that the overlay names for a logical page; 0 when it was discarded.
    pub fn overlay_frame(&self, logical: u32) -> Option<Frame> {
        self.overlay.find(logical).map(|index| self.overlay.value(index) & !self.released_bit())
    }

    /// The frame of a logical page; 0 when it has none.
    ///
    /// # Cost
    /// At most one read.
    pub fn find<F: Flash>(&mut self, look: Look<'_, '_, F>, logical: u32) -> Result<Frame, Error> {
        if let Some(frame) = self.overlay_frame(logical).or_else(|| self.recent.find(logical)) {
            return Ok(frame);
        }
        let (frame, pages) = self.leaf_run(look, logical)?;
        self.recent.insert(Run::new(logical, frame, pages));
        Ok(frame)
    }

    /// Notes that a page has no frame.
    pub fn know_unwritten(&mut self, logical: u32) {
        self.recent.insert(Run::new(logical, 0, 1));
    }

    /// Changes the map; the frame that is to be released, or 0. A commit that is durable is carried out with this: it reads nothing and cannot fail.
    pub fn set(&mut self, logical: u32, frame: Frame) -> Frame {
        self.recent.remove(logical);
        let released = self.released_bit();
        if let Some(index) = self.overlay.find(logical) {
            let old = self.overlay.value(index);
            self.overlay.set_value(index, frame | (old & released));
            return if old & !released != frame { old & !released } else { 0 };
        }
        let inserted = self.overlay.insert(logical, frame);
        debug_assert!(inserted, "no room was made");
        0
    }

    /// Changes the map because reclamation moved a frame, which the caller releases: a new entry says that nothing is left to be released.
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

    /// Changes the map as a record says; what the leaf names is looked for when all records are known.
    pub fn replay(&mut self, logical: u32, frame: Frame) -> Result<(), Error> {
        self.recent.remove(logical);
        match self.overlay.find(logical) {
            Some(index) => self.overlay.set_value(index, frame),
            None if !self.overlay.insert(logical, frame) => return Err(Error::Corrupt),
            None => {}
        }
        Ok(())
    }

    /// Lets an entry say that what the leaf names is marked as live no more, if the overlay names another frame than this one, which is marked; whether it
    /// does.
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

    /// The frame that a leaf still marks as live though the overlay names another one for the page; 0 when there is none. It is the caller's to release, for
    /// the price of a read. A read that fails does no harm: the mark stays until the leaf is written.
    pub fn take_old<F: Flash>(&mut self, look: Look<'_, '_, F>, logical: u32) -> Frame {
        let released = self.released_bit();
        let Some(index) = self.overlay.find(logical) else { return 0 };
        let value = self.overlay.value(index);
        if value & released == 0
            && let Ok(old) = self.leaf_entry(look, logical)
        {
            self.overlay.set_value(index, value | released);
            return if old != value { old } else { 0 };
        }
        0
    }

    /// No frame that a leaf names is marked as live where the overlay names another one.
    pub fn note_all_released(&mut self) {
        let released = self.released_bit();
        (0..self.overlay.len()).for_each(|index| self.overlay.set_value(index, self.overlay.value(index) | released));
    }

    /// Knows of no page any more where it is.
    pub fn forget_all(&mut self) {
        let missing = self.missing_entry();
        (0..self.leaves.len()).for_each(|leaf| self.leaves.set(leaf, missing));
        self.copy = 0;
        self.overlay.clear();
        self.recent = Recent::default();
    }

    /// Begins with what a root says.
    pub fn begin(&mut self) {
        self.recent = Recent::default();
    }

    /// What a root has of the map: leaves, what is known of their logs, and the overlay.
    pub fn tables_mut(&mut self) -> [&mut [u8]; 3] {
        [self.leaves.bytes_mut(), self.known_logs, self.overlay.bytes_mut()]
    }

    /// Makes the bytes of the overlay blank that hold no entry.
    pub fn blank_rest(&mut self) {
        self.overlay.blank_rest();
    }

    /// Takes over tables that were read; `false` where they name something that there is not.
    pub fn adopt(&mut self, overlay_len: u32, layout: &Layout) -> bool {
        let frames = layout.frame_count();
        self.overlay.adopt(overlay_len)
            && self.entries().all(|(logical, frame)| logical < layout.logical_count && frame < frames)
            && self.leaves().all(|(_, frame)| frame < frames)
            && self.copy < frames
    }
}
