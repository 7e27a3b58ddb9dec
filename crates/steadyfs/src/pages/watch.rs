//! What reads have told since the mount.
//!
//! A read is of a page; what is to be done where its bits have begun to flip is for whoever knows what lies in its block. So a weak block is noted here, and
//! [taken](Watch::take_weak) note of between two reads of a call.

use crate::features::SCRUB;
use crate::media::{BlockIndex, Corrected, Failure};
use core::num::NonZeroU32;

/// Reads after which another page of the block that was read last is looked at. Reads disturb SLC pages from some 100,000 reads of a
/// block on: each of its pages is then looked at more than once.
const PATROL_READS: u16 = 1024;

/// What reads have told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    reads: u32,
    corrected: u32,
    lost: u32,
    worst: Corrected,
    /// `reads` at the last look at another page; the low bits.
    patrolled: u16,
    /// The block that was read last.
    block: BlockIndex,
    /// The block after the one in which a page was found weak last, until somebody knows of it: what is read in between will be read again.
    weak: Option<NonZeroU32>,
    /// Where scrubbing goes on, and the frames that are left of its round.
    round: (u32, u32),
    /// The place after that of the next record of the journal's chain that scrubbing looks at, if it is at that.
    #[cfg(feature = "scrub")]
    chain: Option<NonZeroU32>,
}

impl Watch {
    /// Notes a read of a page in a block, and what the ECC did in it.
    pub fn note(&mut self, block: BlockIndex, result: Result<(), Failure>, corrected: &Corrected) {
        self.block = block;
        self.reads = self.reads.wrapping_add(1);
        match result {
            Ok(()) => {
                self.corrected = self.corrected.saturating_add(u32::from(corrected.bits > 0));
                if share(corrected, &self.worst) >= share(&self.worst, corrected) {
                    self.worst = *corrected;
                }
                if is_weak(corrected) {
                    self.note_weak(block);
                }
            }
            Err(Failure::Uncorrectable) => {
                self.lost = self.lost.saturating_add(1);
                self.note_weak(block);
            }
            Err(_) => {}
        }
    }

    fn note_weak(&mut self, block: BlockIndex) {
        if SCRUB {
            self.weak = NonZeroU32::new(block + 1);
        }
    }

    /// A block in which a page was found weak since this was asked last.
    pub fn take_weak(&mut self) -> Option<BlockIndex> {
        self.weak.take().map(|next| next.get() - 1)
    }

    /// Whether the device tells what its ECC corrects, as far as is known, so that pages are looked at.
    pub fn patrols(&self) -> bool {
        self.worst.strength != 0
    }

    /// Whether it is time to look at another page of the block that was read last. Inlined: a small read does little more than ask this.
    #[inline(always)]
    pub fn patrol_is_due(&self) -> bool {
        SCRUB && self.patrols() && (self.reads as u16).wrapping_sub(self.patrolled) >= PATROL_READS
    }

    /// The block that was read last, and a number that spreads over its pages, if it is time to look at another one of them.
    pub fn take_patrol(&mut self) -> Option<(BlockIndex, u32)> {
        if !self.patrol_is_due() {
            return None;
        }
        self.patrolled = self.reads as u16;
        // Spread by a hash, so that no rhythm of the reads leaves a page out.
        Some((self.block, self.reads.wrapping_mul(0x9E37_79B9) >> 16))
    }

    /// Lets a round of scrubbing over so many frames begin at one of them.
    pub fn begin_round(&mut self, at: u32, frames: u32) {
        self.round = (at, frames);
    }

    /// Reads, those that needed a correction, and those that could not be corrected.
    pub fn counts(&self) -> [u32; 3] {
        [self.reads, self.corrected, self.lost]
    }

    /// The worst correction; its strength is 0 where the device does not tell.
    pub fn worst(&self) -> Corrected {
        self.worst
    }
}

#[cfg(feature = "scrub")]
impl Watch {
    /// Where the round of scrubbing goes on; `None` at its end.
    pub fn round(&self) -> Option<u32> {
        (self.round.1 > 0).then_some(self.round.0)
    }

    /// Goes on with a round, of all the `frames`, behind those before `next`.
    pub fn go_round(&mut self, next: u32, frames: u32) {
        self.round = (next % frames, self.round.1.saturating_sub(next - self.round.0));
    }

    /// Takes the next record of the journal's chain to be looked at.
    pub fn take_chain(&mut self) -> Option<u32> {
        self.chain.take().map(|after| after.get() - 1)
    }

    /// Lets scrubbing look at a record of the journal's chain next.
    pub fn look_at_chain(&mut self, place: u32) {
        self.chain = NonZeroU32::new(place + 1);
    }

    /// Lets a round over so many frames begin where the last one has ended.
    pub fn begin_next_round(&mut self, frames: u32) {
        self.round.1 = frames;
    }
}

/// A correction as a share of the ECC's strength, to be compared with another one.
fn share(corrected: &Corrected, other: &Corrected) -> u32 {
    u32::from(corrected.bits) * u32::from(other.strength.max(1))
}

/// Whether a correction took three quarters of what the ECC can do: the share at which Linux' MTD layer asks for a rewrite, too.
pub(crate) fn is_weak(corrected: &Corrected) -> bool {
    corrected.bits > 0 && u32::from(corrected.bits) * 4 >= u32::from(corrected.strength) * 3
}
