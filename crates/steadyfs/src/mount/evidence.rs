//! Evidence of torn pages: traces, which are places where roll-forward finds something that is no
//! record. A trace is a program that was cut, or a record that is lost.
//!
//! The two cannot be distinguished. If the trace was a record, the program behind it may have
//! been cut, and may have touched the next place without a trace. So a head must skip both
//! places.

use crate::space::{HeadIndex, Heads};

/// The traces at the next places of the heads, and the use of the heads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TornEvidence {
    /// A bit for each head: set if its next place holds something that is no record.
    at_heads: u16,
    /// True if something was programmed since the root, even if it does not count.
    in_use: bool,
    /// Unreadable moves that roll-forward skipped.
    lost_moves: u32,
    /// Unreadable moves, since the last record that counts, whose source is lost as well.
    lost_copies: u32,
}

impl TornEvidence {
    /// Records whether the next place of a head holds something that is no record.
    pub fn note(&mut self, head: HeadIndex, is_there: bool) {
        self.at_heads = self.at_heads & !head.bit() | if is_there { head.bit() } else { 0 };
        self.in_use |= is_there;
    }

    /// Counts unreadable moves.
    pub fn lose_moves(&mut self, count: u32) {
        self.lost_moves += count;
    }

    /// Returns true if unreadable moves, of `unit` pages each, account for a gap in the numbers.
    /// Each unreadable move accounts for its numbers once.
    pub fn are_lost_moves(&mut self, gap: u32, unit: u32) -> bool {
        let moves = (gap / unit).min(self.lost_moves);
        self.lost_moves -= moves;
        moves * unit == gap
    }

    /// Counts an unreadable move whose source is unreadable as well.
    pub fn lose_copy(&mut self) {
        self.lost_copies += 1;
    }

    /// Returns true if the copies whose source was lost, of `unit` pages each, account exactly
    /// for a gap in the numbers.
    pub fn are_lost_copies(&self, gap: u64, unit: u32) -> bool {
        gap > 0 && gap == u64::from(self.lost_copies) * u64::from(unit)
    }

    /// Resets the count of lost copies, because a record counts.
    pub fn end_gap(&mut self) {
        self.lost_copies = 0;
    }

    /// Notes that something was programmed.
    pub fn note_use(&mut self) {
        self.in_use = true;
    }

    /// Returns true if anything was programmed. The journal's head programs first after a mount.
    /// Its record may be lost, and another head may have touched its own next place without a
    /// trace.
    pub fn are_there(&self) -> bool {
        self.in_use
    }

    /// Returns the number of places of a head that a cut may have touched: the next one, and the
    /// one behind it if the next one is not blank.
    pub fn touched_places(&self, head: HeadIndex) -> u32 {
        1 + u32::from(self.at_heads & head.bit() != 0)
    }

    /// Returns the number of frames that all heads skip beyond one frame each.
    pub fn more_frames(&self, heads: &Heads<'_>) -> u32 {
        heads.of_frames().map(|head| self.touched_places(head) - 1).sum()
    }
}
