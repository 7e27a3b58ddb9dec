//! Bits that flip, blocks that wear out, and what is done about it.
//!
//! The ECC tells with each read how many bits it corrected. A block in which a page needed three quarters of its strength is *weak*: its frames move
//! at the pace of reclamation, and its next erase makes it new. Flips come with age and with reads of the same block, so not only what
//! is read is looked at: after every 1,024 reads another page of the block that was read last is (a block that is read often is so
//! looked at often, without a counter for each), and [`scrub`](crate::FileSystem::scrub) goes through everything.

use super::Ftl;
use crate::error::Error;
use crate::media::{BlockIndex, Corrected, Flash, TAG_BYTES};
use crate::space::State;

/// How the medium is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Whether the volume can only be read, for whatever reason.
    pub read_only: bool,
    /// Whether what it holds does not leave the room that reclamation needs, since so many blocks are bad.
    pub worn_out: bool,
    /// Blocks that are bad, those of the manufacturer included.
    pub bad_blocks: u32,
    /// Blocks that may still go bad before the volume shrinks.
    pub spare_blocks: u32,
    /// Blocks whose data is to move because their pages needed many corrections.
    pub weak_blocks: u32,
    /// Erases of the least worn block since the first format.
    pub erases_min: u32,
    /// Erases of the most worn block.
    pub erases_max: u32,
    /// Erases of all blocks that are in use.
    pub erases_total: u64,
    /// Blocks that `erases_total` is of.
    pub blocks: u32,
    /// Reads since the mount.
    pub reads: u32,
    /// Reads since the mount that needed a correction.
    pub corrected_reads: u32,
    /// Reads since the mount that could not be corrected.
    pub lost_reads: u32,
    /// The worst correction since the mount; its strength is 0 where the device does not tell.
    pub worst: Corrected,
}

impl Health {
    /// Share of the life that is used, in thousandths, on a chip whose blocks take `endurance` erases.
    pub fn life_used_permille(&self, endurance: u32) -> u32 {
        let whole = u64::from(self.blocks) * u64::from(endurance);
        (self.erases_total * 1000).checked_div(whole).unwrap_or(1000).min(1000) as u32
    }

    /// Time until the erases are used up at the rate between `earlier` and now; `None` when nothing was erased since.
    pub fn life_left_ns(&self, endurance: u32, earlier: &Self, elapsed_ns: u64) -> Option<u64> {
        let left = (u64::from(self.blocks) * u64::from(endurance)).saturating_sub(self.erases_total);
        let erases = self.erases_total.checked_sub(earlier.erases_total).filter(|&erases| erases > 0)?;
        Some((u128::from(left) * u128::from(elapsed_ns) / u128::from(erases)).try_into().unwrap_or(u64::MAX))
    }
}

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// Holds a superblock or roots.
    Reserved,
    /// Holds nothing; may be listed by the next root.
    Free,
    /// The same, and erased.
    Clean,
    /// May be allocated before the next root, once erased.
    Listed,
    /// The same, erased since the mount.
    Erased,
    /// In quarantine: empty, but the last root may need it.
    Dead,
    /// Holds live pages.
    Used,
    /// Programmed at present.
    Active,
    /// Holds live pages; goes bad when they have moved.
    Retiring,
    /// Holds live pages; a page needed so many corrections that all of them are to move.
    Weak,
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// What it is used for.
    pub state: BlockState,
    /// Erase count, above that of the least worn block at some time.
    pub wear: u8,
    /// Logical pages and leaves in it that are live; superseded ones count until their leaf is written anew.
    pub live: u32,
}

impl<F: Flash> Ftl<'_, F> {
    /// Looks at another page of the block that was read last, one that holds something, if it is time.
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
        let next = self.space.blocks().live_from(block * frames + spread % frames).filter(|&frame| frame < (block + 1) * frames);
        let Some(frame) = next.or_else(|| self.space.blocks().first_live(block)) else { return Ok(()) };
        let mut tag = [0; TAG_BYTES];
        let index = (spread / frames) % u32::from(self.layout.config.unit_pages);
        self.pages.read_page(self.layout.frame_page(frame) + index, &mut tag)?;
        self.note_weak();
        Ok(())
    }

    /// Lets scrubbing begin anywhere, so that a device that is never on for a whole round gets everywhere.
    pub fn start_scrub(&mut self) {
        let total = self.layout.frame_count();
        let at = (self.space.sequence() as u32).wrapping_mul(0x9E37_79B9) % total;
        self.pages.watch_mut().begin_round(at, total);
    }

    /// How the medium is doing. Costs nothing.
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
            weak_blocks: self.space.blocks().count(State::Weak) + u32::from(self.space.weak_head().is_some()),
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

    /// What is known of a block; `None` behind the last one. Costs nothing.
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
        Some(BlockInfo { state, wear: self.space.blocks().wear(block), live: self.space.blocks().live(block) })
    }
}
