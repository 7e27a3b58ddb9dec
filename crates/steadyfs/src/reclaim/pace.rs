//! The number of frames that the caller may still write: `x` in the formula of the
//! [pace](super).

use super::ReclaimView;
use crate::config::Layout;
use crate::media::Flash;
use crate::space::HeadIndex;

/// Everything that the pace depends on, apart from the victim.
#[derive(Clone, Copy)]
pub(super) struct Pace<'l> {
    layout: &'l Layout,
    /// Number of frames that can be programmed, less the reserve. May be negative.
    frames: i32,
    /// Number of entries of the overlay and of the open transaction.
    entries: u32,
}

impl Pace<'_> {
    /// Returns the pace with `frames` more frames that can be programmed.
    pub fn with(self, frames: i32) -> Self {
        Self { frames: self.frames + frames, ..self }
    }

    /// Takes `frames` frames and `entries` entries of the overlay.
    pub fn take(&mut self, frames: u32, entries: u32) {
        self.frames -= frames as i32;
        self.entries += entries;
    }

    /// Returns the number of frames that the caller may write until a victim with `live` live
    /// frames must be empty. If the reserve lacks frames, the result is the negative number of
    /// missing frames.
    pub fn beside(&self, live: u32) -> i32 {
        // Entries above the soft limit cause leaf write-backs, which take frames.
        let excess = (self.entries + live).saturating_sub(self.layout.overlay_soft);
        let room = self.frames - (live + excess / self.layout.leaf_changes) as i32;
        // Further leaves take a share of the frames.
        room - room.max(0) / (self.layout.leaf_changes as i32 + 1)
    }
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the pace at present.
    ///
    /// The unused frames of the journal's block count. So the pace does not change when the journal
    /// takes another whole block.
    pub(super) fn pace(&self) -> Pace<'_> {
        let (layout, space) = (&self.ftl.layout, &self.ftl.space);
        let journal = space.rest(HeadIndex::JOURNAL) * layout.frames_per_block
            / space.capacity(HeadIndex::JOURNAL);
        let frames = (space.pool() + journal) as i32 - self.reserve() as i32;
        Pace { layout, frames, entries: self.entries() }
    }

    /// Returns the pace for the present victim, or for a block of data at rest if `levelling` is
    /// true. For such a block, frames that are saved for wear levelling count as well.
    pub(super) fn pace_as(&self, levelling: bool) -> Pace<'_> {
        self.pace().with(if levelling { self.savings() as i32 } else { 0 })
    }

    /// Returns the number of frames that are saved for wear levelling, at most a block.
    pub(super) fn savings(&self) -> u32 {
        self.ftl.reserve.frames().saturating_sub(self.ftl.layout.frames_per_block)
    }

    /// Returns the number of frames that the caller may write before the reserve is touched, if
    /// `live` frames must be moved meanwhile.
    pub fn affordable(&self, live: u32) -> u32 {
        self.affordable_as(live, self.reclaim.levelling)
    }

    /// Returns the same number. `levelling` is true if the victim is a block of data at rest.
    pub(super) fn affordable_as(&self, live: u32, levelling: bool) -> u32 {
        self.pace_as(levelling).beside(live).max(0) as u32
    }
}
