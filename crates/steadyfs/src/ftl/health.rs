//! Flipped bits, worn blocks, and the reaction to them.
//!
//! The ECC reports the number of corrected bits with each read. A block is *weak* if one of its
//! pages needed at least three quarters of the bits that the ECC can correct. The frames of a weak
//! block move at the pace of reclamation, and its next erase renews it.
//!
//! Bits flip with age and when other pages of the block are read. So the volume also checks pages
//! that no caller reads:
//!
//! - After every 1,024 reads it reads another page of the block that was read last. A block that
//!   is read often is therefore checked often, without a counter for each block.
//! - [`scrub`](crate::FileSystem::scrub) checks everything.

use super::Ftl;
use crate::error::Error;
use crate::media::{BlockIndex, Corrected, Flash, TAG_BYTES};
use crate::space::State;

/// The health of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Health {
    /// True if the volume can only be read, for any reason.
    pub read_only: bool,
    /// True if so many blocks are bad that the stored data leaves too little room for reclamation.
    pub worn_out: bool,
    /// Number of bad blocks, including factory bad blocks.
    pub bad_blocks: u32,
    /// Number of blocks that may still go bad before the volume shrinks.
    pub spare_blocks: u32,
    /// Number of blocks whose data will move, because their pages needed many corrections.
    pub weak_blocks: u32,
    /// Number of erases of the least worn block since the first format.
    pub erases_min: u32,
    /// Number of erases of the most worn block since the first format.
    pub erases_max: u32,
    /// Number of erases of all blocks in use together.
    pub erases_total: u64,
    /// Number of blocks that `erases_total` covers.
    pub blocks: u32,
    /// Number of reads since the mount.
    pub reads: u32,
    /// Number of reads since the mount that needed a correction.
    pub corrected_reads: u32,
    /// Number of reads since the mount that failed because the ECC could not correct the page.
    pub lost_reads: u32,
    /// The worst correction since the mount. Its `strength` is 0 if the device reports no
    /// corrections.
    pub worst: Corrected,
}

impl Health {
    /// Returns the used share of the life, in thousandths, for a chip whose blocks endure
    /// `endurance` erases.
    pub fn life_used_permille(&self, endurance: u32) -> u32 {
        let whole = u64::from(self.blocks) * u64::from(endurance);
        (self.erases_total * 1000).checked_div(whole).unwrap_or(1000).min(1000) as u32
    }

    /// Returns the time until the erases are used up, at the rate between `earlier` and now.
    /// Returns `None` if nothing was erased since `earlier`.
    pub fn life_left_ns(&self, endurance: u32, earlier: &Self, elapsed_ns: u64) -> Option<u64> {
        let left =
            (u64::from(self.blocks) * u64::from(endurance)).saturating_sub(self.erases_total);
        let erases =
            self.erases_total.checked_sub(earlier.erases_total).filter(|&erases| erases > 0)?;
        Some(
            (u128::from(left) * u128::from(elapsed_ns) / u128::from(erases))
                .try_into()
                .unwrap_or(u64::MAX),
        )
    }
}

/// The use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// Holds a superblock or roots.
    Reserved,
    /// Holds nothing, and needs an erase before it is used. The next root may list it.
    Free,
    /// Holds nothing and is erased. The next root may list it.
    Clean,
    /// May be allocated before the next root, after an erase.
    Listed,
    /// May be allocated before the next root, and was erased since the mount.
    Erased,
    /// In quarantine: no live pages, but the newest root may still need its content.
    Dead,
    /// Holds live pages.
    Used,
    /// A head programs it at present.
    Active,
    /// Holds live pages. When these pages have moved, the block is marked as bad.
    Retiring,
    /// Holds live pages. All of them will move, because one page needed many corrections.
    Weak,
}

/// State and wear of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BlockInfo {
    /// Its use.
    pub state: BlockState,
    /// Erase count minus an offset. The offset is the erase count of the volume's least worn block
    /// at some earlier time.
    pub wear: u8,
    /// Number of live logical pages and leaves in the block. A superseded page counts until its
    /// leaf is written back.
    pub live: u32,
}

impl<F: Flash> Ftl<'_, F> {
    /// Reads another live page of the block that was read last, if such a check is due.
    ///
    /// # Cost
    /// One read at most.
    #[inline(always)]
    pub fn patrol(&mut self) -> Result<(), Error> {
        if self.pages.watch().patrol_is_due() { self.patrol_now() } else { Ok(()) }
    }

    fn patrol_now(&mut self) -> Result<(), Error> {
        let Some((block, spread)) = self.pages.watch_mut().take_patrol() else { return Ok(()) };
        let frames = self.layout.frames_per_block;
        let next = self
            .space
            .blocks()
            .live_from(block * frames + spread % frames)
            .filter(|&frame| frame < (block + 1) * frames);
        let Some(frame) = next.or_else(|| self.space.blocks().first_live(block)) else {
            return Ok(());
        };
        let mut tag = [0; TAG_BYTES];
        let index = (spread / frames) % u32::from(self.layout.config.pages_per_logical_page);
        self.pages.read_page(self.layout.frame_page(frame) + index, &mut tag)?;
        self.note_weak();
        Ok(())
    }

    /// Starts a scrub round at a scattered frame. If a device is never on for a whole round, its
    /// rounds still reach every frame over time.
    pub fn start_scrub(&mut self) {
        let total = self.layout.frame_count();
        let at = (self.space.sequence() as u32).wrapping_mul(0x9E37_79B9) % total;
        self.pages.watch_mut().begin_round(at, total);
    }

    /// Returns the health of the medium. Costs nothing.
    pub fn health(&self) -> Health {
        let base = self.space.blocks().wear_base;
        let (mut blocks, mut total) = (0, 0);
        let (mut least, mut most) = (u8::MAX, 0);
        for wear in self.space.blocks().wears() {
            (blocks, total) = (blocks + 1, total + u64::from(base + u32::from(wear)));
            (least, most) = (least.min(wear), most.max(wear));
        }
        let bad_blocks = self.space.blocks().count(State::Bad);
        let [reads, corrected_reads, lost_reads] = self.pages.watch().counts();
        Health {
            read_only: self.status.is_read_only(),
            worn_out: self.status.is_worn_out() || self.is_worn_out(),
            bad_blocks,
            spare_blocks: u32::from(self.layout.config.bad_blocks_max).saturating_sub(bad_blocks),
            weak_blocks: self.space.blocks().count(State::Weak)
                + u32::from(self.space.weak_head().is_some()),
            erases_min: base + u32::from(least.min(most)),
            erases_max: base + u32::from(most),
            erases_total: total,
            blocks,
            reads,
            corrected_reads,
            lost_reads,
            worst: self.pages.watch().worst(),
        }
    }

    /// Returns state, wear and live frames of a block, or `None` if the index is past the last
    /// block. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        if block >= self.space.blocks().block_count() {
            return None;
        }
        let state = match self.space.blocks().state(block) {
            State::Bad => BlockState::Bad,
            State::Reserved => BlockState::Reserved,
            State::Free => BlockState::Free,
            State::Clean => BlockState::Clean,
            State::Listed => BlockState::Listed,
            State::Erased => BlockState::Erased,
            State::Dead => BlockState::Dead,
            State::Used => BlockState::Used,
            State::Active => BlockState::Active,
            State::Retiring => BlockState::Retiring,
            State::Weak => BlockState::Weak,
        };
        Some(BlockInfo {
            state,
            wear: self.space.blocks().wear(block),
            live: self.space.blocks().live(block),
        })
    }
}
