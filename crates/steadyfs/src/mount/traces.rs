//! What roll-forward met beside records: the traces of a program that was cut, or of a record that is lost.
//!
//! Nobody can tell one from the other. If it was a record, the program behind it may have been cut, and have touched the next place without a
//! trace: a head must pass both.

use crate::space::{HeadIndex, Heads};

/// Where the heads stand, and whether they were used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traces {
    /// A bit for each head at whose next place there is something that is no record.
    at_heads: u16,
    /// Something was programmed since the root, whether it counts or not.
    in_use: bool,
    /// Moves that could not be read and were gone past.
    lost_moves: u32,
    /// Those among them, since the last record that counts, of which the source is lost as well.
    lost_copies: u32,
}

impl Traces {
    /// Notes whether something that is no record is at the next place of a head.
    pub fn note(&mut self, head: HeadIndex, is_there: bool) {
        self.at_heads = self.at_heads & !head.bit() | if is_there { head.bit() } else { 0 };
        self.in_use |= is_there;
    }

    /// Notes moves that could not be read.
    pub fn lose_moves(&mut self, count: u32) {
        self.lost_moves += count;
    }

    /// Whether so many numbers are missing as moves of `unit` pages that could not be read have, each of which accounts for them once.
    pub fn are_lost_moves(&mut self, gap: u32, unit: u32) -> bool {
        let moves = (gap / unit).min(self.lost_moves);
        self.lost_moves -= moves;
        moves * unit == gap
    }

    /// Notes a move that could not be read, nor its source.
    pub fn lose_copy(&mut self) {
        self.lost_copies += 1;
    }

    /// Whether so many numbers are missing as copies of `unit` pages have that were made of what was lost.
    pub fn are_lost_copies(&self, gap: u64, unit: u32) -> bool {
        gap > 0 && gap == u64::from(self.lost_copies) * u64::from(unit)
    }

    /// Notes a record that counts.
    pub fn end_gap(&mut self) {
        self.lost_copies = 0;
    }

    /// Notes that something was programmed.
    pub fn note_use(&mut self) {
        self.in_use = true;
    }

    /// Whether anything was programmed. The journal's head comes first after a mount: what it programmed may be lost, and another head have
    /// touched its place without a trace.
    pub fn are_there(&self) -> bool {
        self.in_use
    }

    /// Places of a head that may have been touched: the next one, and the one behind it where that is not blank.
    pub fn touched_places(&self, head: HeadIndex) -> u32 {
        1 + u32::from(self.at_heads & head.bit() != 0)
    }

    /// Frames that are passed beyond one for each head.
    pub fn more_frames(&self, heads: &Heads<'_>) -> u32 {
        heads.of_frames().map(|head| self.touched_places(head) - 1).sum()
    }
}
