//! Evidence of torn pages. A *trace* is a place where roll-forward finds content that is not a
//! record. A trace is left by a program that a power cut interrupted, or by a record that is lost.
//!
//! An interrupted program and a lost record cannot be distinguished. If the trace is a lost record,
//! a power cut may have interrupted the next program. That program may have touched the place
//! behind the trace and left it blank. So a head must skip both places.

use crate::space::{HeadIndex, Heads};

/// Traces at the next places of the heads, and evidence that heads were in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TornEvidence {
    /// A bit for each head. It is set if the head's next place holds content that is not a record.
    at_heads: u16,
    /// True if anything was programmed since the root, even if it is not a record that counts.
    in_use: bool,
    /// Number of unreadable moves that roll-forward skipped.
    lost_moves: u32,
    /// Number of unreadable moves, since the last record that counts, whose source is unreadable as
    /// well.
    lost_copies: u32,
}

impl TornEvidence {
    /// Records whether the next place of a head holds content that is not a record.
    pub fn note(&mut self, head: HeadIndex, is_there: bool) {
        self.at_heads = self.at_heads & !head.bit() | if is_there { head.bit() } else { 0 };
        self.in_use |= is_there;
    }

    /// Counts unreadable moves.
    pub fn lose_moves(&mut self, count: u32) {
        self.lost_moves += count;
    }

    /// Returns true if unreadable moves of `unit` pages each account for a gap in the sequence
    /// numbers. Each unreadable move accounts for its numbers once.
    pub fn are_lost_moves(&mut self, gap: u32, unit: u32) -> bool {
        let moves = (gap / unit).min(self.lost_moves);
        self.lost_moves -= moves;
        moves * unit == gap
    }

    /// Counts an unreadable move whose source is unreadable as well.
    pub fn lose_copy(&mut self) {
        self.lost_copies += 1;
    }

    /// Returns true if the unreadable moves whose source is unreadable account exactly for a gap in
    /// the sequence numbers. Each unreadable move has `unit` pages.
    pub fn are_lost_copies(&self, gap: u64, unit: u32) -> bool {
        gap > 0 && gap == u64::from(self.lost_copies) * u64::from(unit)
    }

    /// Resets the number of unreadable moves whose source is unreadable, because a record counts.
    pub fn end_gap(&mut self) {
        self.lost_copies = 0;
    }

    /// Records that anything was programmed since the root.
    pub fn note_use(&mut self) {
        self.in_use = true;
    }

    /// Returns true if anything was programmed since the root. The journal's head programs first
    /// after a mount. Its record may be lost, and then another head may have touched its own next
    /// place without a trace.
    pub fn are_there(&self) -> bool {
        self.in_use
    }

    /// Returns the number of places of a head that a power cut may have touched. These are the next
    /// place, and the place behind it if the next place holds a trace.
    pub fn touched_places(&self, head: HeadIndex) -> u32 {
        1 + u32::from(self.at_heads & head.bit() != 0)
    }

    /// Returns the number of frames that all heads together skip, beyond one frame for each head.
    pub fn more_frames(&self, heads: &Heads<'_>) -> u32 {
        heads.of_frames().map(|head| self.touched_places(head) - 1).sum()
    }
}
