//! Results of the reads since the mount.
//!
//! A read is of a page, but the reaction to flipped bits concerns the content of its block. So
//! this module only records a weak block. The layer above [takes](Watch::take_weak) the record
//! between two reads of a call.

use crate::features::SCRUB;
use crate::media::{BlockIndex, Corrected, Failure};
use core::num::NonZeroU32;

/// Number of reads after which another page of the last read block is read. Read disturb affects
/// SLC pages from some 100,000 reads of a block on. By then each page of the block has been read
/// more than once.
const PATROL_READS: u16 = 1024;

/// Results of the reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    reads: u32,
    corrected: u32,
    lost: u32,
    worst: Corrected,
    /// The low bits of `reads` when another page was last read.
    patrolled: u16,
    /// The block that was read last.
    block: BlockIndex,
    /// One more than the block in which a weak page was last found, until it is taken. A block
    /// overwritten here is found again, because its pages are read again.
    weak: Option<NonZeroU32>,
    /// The next frame of the scrub round, and the number of frames that remain in the round.
    round: (u32, u32),
    /// One more than the place of the next record of the journal's chain that scrubbing reads.
    /// `None` if scrubbing is not in the chain.
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

    /// Takes the block in which a page was found weak since the last call of this function.
    pub fn take_weak(&mut self) -> Option<BlockIndex> {
        self.weak.take().map(|next| next.get() - 1)
    }

    /// Returns true if the device has reported the strength of its ECC. Only then are other
    /// pages read.
    pub fn patrols(&self) -> bool {
        self.worst.strength != 0
    }

    /// Returns true if it is time to read another page of the last read block. Inlined, because
    /// a small read does little else.
    #[inline(always)]
    pub fn patrol_is_due(&self) -> bool {
        SCRUB && self.patrols() && (self.reads as u16).wrapping_sub(self.patrolled) >= PATROL_READS
    }

    /// Returns the last read block and a number that is spread over its pages, if it is time to
    /// read another page of it.
    pub fn take_patrol(&mut self) -> Option<(BlockIndex, u32)> {
        if !self.patrol_is_due() {
            return None;
        }
        self.patrolled = self.reads as u16;
        // A hash spreads the number, so that no rhythm of the reads leaves a page out.
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

    /// Returns the worst correction. Its strength is 0 if the device does not report one.
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

    /// Continues the round at frame `next`. All frames before it are done. `frames` is the
    /// number of all frames.
    pub fn go_round(&mut self, next: u32, frames: u32) {
        self.round = (next % frames, self.round.1.saturating_sub(next - self.round.0));
    }

    /// Takes the place of the next record of the journal's chain to be read.
    pub fn take_chain(&mut self) -> Option<u32> {
        self.chain.take().map(|after| after.get() - 1)
    }

    /// Sets the record of the journal's chain that scrubbing reads next.
    pub fn look_at_chain(&mut self, place: u32) {
        self.chain = NonZeroU32::new(place + 1);
    }

    /// Starts a round over `frames` frames at the end of the last round.
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
