//! The room for the copy of the first [leaf](crate::map), which a clean end and idle work make.

use super::ReclaimView;
use crate::media::Flash;
use crate::space::{HeadIndex, State};

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns true if the end of the volume's use can copy the first leaf. The leaf must map
    /// tables of the file system, and have no copy.
    ///
    /// The copy needs no move. It needs no erase either, unless no head was used since the mount.
    /// It may use a frame that is kept for data, because the next use of the volume begins by
    /// dropping such a copy.
    pub fn can_copy_leaf(&self) -> bool {
        let space = &self.ftl.space;
        let erases = if space.is_unmarked() { space.blocks().count(State::Listed) } else { 0 };
        self.ftl.layout.copies_leaf()
            && self.ftl.map.lacks_copy()
            && self.copy_erases() <= erases
            && !self.is_short(0)
    }

    /// Returns true if idle work can copy the first leaf, and calls do not need the frame of the
    /// copy soon.
    pub(super) fn can_spare_copy(&self) -> bool {
        let fpb = self.ftl.layout.frames_per_block;
        self.can_copy_leaf() && self.has_spare_frames(fpb) && !self.is_short(fpb)
    }

    /// Returns true if calls may need the frame of the copy for data.
    pub fn needs_copy_frame(&self) -> bool {
        self.ftl.map.copy() != 0 && !self.has_spare_frames(0)
    }

    /// Returns the number of erases that a copy needs. If no head was used since the mount, a
    /// journal page comes before the copy.
    pub(super) fn copy_erases(&self) -> u32 {
        let space = &self.ftl.space;
        let lacks = |head, places| u32::from(space.rest(head) < places);
        let journal = if space.is_unmarked() {
            lacks(HeadIndex::JOURNAL, self.ftl.layout.journal_record_places())
        } else {
            0
        };
        (lacks(HeadIndex::USER, 1) + journal).saturating_sub(space.blocks().count(State::Erased))
    }

    /// Returns true if the volume has room for `more` frames beside its live frames and a
    /// transaction of the largest permitted size.
    fn has_spare_frames(&self, more: u32) -> bool {
        let transaction = u32::from(self.ftl.layout.config.transaction_pages) + 1;
        let blocks = self.ftl.space.blocks();
        let most = self.ftl.layout.live_max(blocks.count(State::Bad));
        blocks.live_total() + transaction + more <= most
    }
}
