//! Results of the reads since the mount.
//!
//! A read concerns one page, but the reaction to flipped bits moves the content of the page's
//! block. So this module only records the block as weak. The layer above
//! [fetches](Watch::take_weak) the record between two reads of a call.

use crate::features::SCRUB;
use crate::media::{BlockIndex, Corrected, Failure};
use core::num::NonZeroU32;

/// Number of reads after which the *patrol* reads another page of the block that was read last.
/// Read disturb affects SLC pages after some 100,000 reads of a block. By then the patrol has read
/// each page of the block more than once.
const PATROL_READS: u16 = 1024;

/// Results of the reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    reads: u32,
    corrected: u32,
    lost: u32,
    worst: Corrected,
    /// The low bits of `reads` when the patrol last read another page.
    patrolled: u16,
    /// The block that was read last.
    block: BlockIndex,
    /// The number, plus one, of the block in which a weak page was last found, until the number is
    /// fetched. If the number of another block overwrites it, the first block is found again,
    /// because its pages are read again.
    weak: Option<NonZeroU32>,
    /// The next frame of the scrub round, and the number of frames that remain in the round.
    round: (u32, u32),
    /// The place, plus one, of the next record of the journal's chain that scrubbing reads. `None`
    /// if scrubbing is not reading the chain.
    #[cfg(feature = "scrub")]
    chain: Option<NonZeroU32>,
}

impl Watch {
    /// Records a read of a page in a block, and the ECC's work in it.
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

    /// Returns and clears the block in which a page was found weak since the last call of this
    /// function.
    pub fn take_weak(&mut self) -> Option<BlockIndex> {
        self.weak.take().map(|next| next.get() - 1)
    }

    /// Returns true if the device has reported the strength of its ECC. Only then does the patrol
    /// read other pages.
    pub fn patrols(&self) -> bool {
        self.worst.strength != 0
    }

    /// Returns true if the patrol must now read another page of the last read block. Inlined,
    /// because a small read does little else.
    #[inline(always)]
    pub fn patrol_is_due(&self) -> bool {
        SCRUB && self.patrols() && (self.reads as u16).wrapping_sub(self.patrolled) >= PATROL_READS
    }

    /// If the patrol must now read another page of the last read block, returns the block, and a
    /// number that selects the page.
    pub fn take_patrol(&mut self) -> Option<(BlockIndex, u32)> {
        if !self.patrol_is_due() {
            return None;
        }
        self.patrolled = self.reads as u16;
        // A hash spreads the numbers evenly, so that no pattern of the reads skips a page for ever.
        Some((self.block, self.reads.wrapping_mul(0x9E37_79B9) >> 16))
    }

    /// Starts a round of scrubbing over `frames` frames at frame `at`.
    pub fn begin_round(&mut self, at: u32, frames: u32) {
        self.round = (at, frames);
    }

    /// Returns the number of reads, of reads that needed a correction, and of reads that could
    /// not be corrected.
    pub fn counts(&self) -> [u32; 3] {
        [self.reads, self.corrected, self.lost]
    }

    /// Returns the largest correction so far. Its strength is 0 if the device does not report
    /// corrections.
    pub fn worst(&self) -> Corrected {
        self.worst
    }
}

#[cfg(feature = "scrub")]
impl Watch {
    /// Returns the next frame of the scrub round, or `None` at its end.
    pub fn round(&self) -> Option<u32> {
        (self.round.1 > 0).then_some(self.round.0)
    }

    /// Continues the round at frame `next`. The frames before `next` are finished in this round.
    /// `frames` is the number of frames of the volume.
    pub fn go_round(&mut self, next: u32, frames: u32) {
        self.round = (next % frames, self.round.1.saturating_sub(next - self.round.0));
    }

    /// Returns and clears the place of the record of the journal's chain that scrubbing reads next.
    pub fn take_chain(&mut self) -> Option<u32> {
        self.chain.take().map(|after| after.get() - 1)
    }

    /// Sets the record of the journal's chain that scrubbing reads next.
    pub fn look_at_chain(&mut self, place: u32) {
        self.chain = NonZeroU32::new(place + 1);
    }

    /// Starts a round over `frames` frames at the frame at which the last round ended.
    pub fn begin_next_round(&mut self, frames: u32) {
        self.round.1 = frames;
    }
}

/// Returns a correction as a share of the ECC's strength, scaled for a comparison with `other`.
fn share(corrected: &Corrected, other: &Corrected) -> u32 {
    u32::from(corrected.bits) * u32::from(other.strength.max(1))
}

/// Returns true if a correction took three quarters of the ECC's strength. Linux' MTD layer asks
/// for a rewrite at the same share.
pub(crate) fn is_weak(corrected: &Corrected) -> bool {
    corrected.bits > 0 && u32::from(corrected.bits) * 4 >= u32::from(corrected.strength) * 3
}
