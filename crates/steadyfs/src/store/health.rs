//! Bits that flip, blocks that wear out, and what is done about it.
//!
//! The ECC tells with each read how many bits it corrected. A block in which a page needed three quarters of its strength is *weak*: its frames move
//! at the pace of reclamation, and its next erase makes it new. Flips come with age and with reads of the same block, so not only what
//! is read is looked at: after every 1,024 reads another page of the block that was read last is (a block that is read often is so
//! looked at often, without a counter for each), and [`scrub`](crate::FileSystem::scrub) goes through everything.

use super::Store;
use crate::error::Error;
use crate::media::{Corrected, Flash, TAG_BYTES};
use crate::mount::Damage;
use crate::space::{HeadIndex, State};

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

impl<F: Flash> Store<'_, F> {
    /// Lets the frames of the blocks move in which reads have found a weak page.
    pub(super) fn note_weak(&mut self) {
        self.space.note_weak(self.pages.watch_mut());
    }

    /// Gives up the block of a head in which a page is weak, so that its frames move.
    pub(super) fn release_head(&mut self, head: HeadIndex) {
        let block = self.space.heads().get(head).block;
        self.give_up_block(head);
        self.space.weaken(block);
    }

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

    /// Whether so many blocks are bad that what the volume holds does not leave the room that reclamation needs.
    pub(super) fn is_worn_out(&self) -> bool {
        let bad = self.space.blocks().count(State::Bad);
        (bad > self.layout.config.bad_blocks_max.into() && self.space.blocks().live_total() > self.layout.live_max(bad))
            || self.ring.is_worn_out(&self.space, &self.layout)
    }

    /// Turns the volume read-only for good: a last root says so, and spares later mounts the roll-forward.
    pub(super) fn give_up(&mut self) -> Result<(), Error> {
        self.status.wear_out();
        // Where not even that can be written, the next mount finds out by itself.
        let _ = self.write_root();
        self.status.lock();
        Err(Error::ReadOnly)
    }

    /// Notes that a table of the file system cannot be read: the volume is read-only until a repair.
    pub fn find_tables_lost(&mut self) {
        self.status.find_and_lock(Damage::Tables);
    }

    /// Notes that the chip has locked itself, where that is why a program or an erase failed.
    pub(super) fn refused(&mut self, error: Error) -> Error {
        self.status.note_refusal(error);
        error
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
}
