//! Faults of chips: power cuts, lost caches, failing operations, flipping bits, and a record of
//! the operations.
//!
//! Each fault is a wrapper that is itself a [`Flash`], so faults can be combined.
//! `PowerCut<FailOps<BitErrors<Nand>>>` is raw NAND, and `PowerCut<FailOps<WriteCache<Nand>>>` is a
//! managed device. A wrapper without a planned fault passes all calls on. [`BitErrors`] lies
//! directly on the chip. A [`WriteCache`] lies below the wrappers that fail operations, because a
//! cache reports success before it programs.
//!
//! - An interrupted program or erase leaves the old content, the new content, some of the bits, or
//!   bytes that read differently each time: [`PowerCut`], [`Torn`]. Source: linux-mtd, "UBIFS
//!   recovery fails", October 2011: after a power cut, pages on several devices could be read a few
//!   times and then no longer.
//! - A page reads as erased after a power cut, but does not hold a later program: [`Torn::Old`].
//!   Source: in the same thread, the maker answers that partially programmed or erased pages must
//!   not be used.
//! - Writes that were not flushed vanish, in any order: [`WriteCache`]. Source: Zheng et al.,
//!   "Understanding the Robustness of SSDs under Power Fault", FAST 2013: unserializable and shorn
//!   writes on most of 15 drives.
//! - Blocks are bad from the factory: [`Nand::with_bad_blocks`](crate::Nand::with_bad_blocks).
//!   Source: datasheets: 20 of 1,024, block 0 is good.
//! - Programs and erases fail, blocks wear out: [`FailOps`], [`Lives`]. Source: datasheets: a block
//!   whose program or erase fails must be retired; Boboila and Desnoyers, "Write Endurance in Flash
//!   Drives", FAST 2010: the lives of blocks differ, and most blocks live longer than promised.
//! - A device locks itself when its spare is used up: [`FailOps::with_spare`],
//!   [`FailOps::lock_after`]. Source: eMMC and SD devices turn read-only at the end of their life.
//! - Bits flip with wear, age and reads; some pages are weak: [`BitErrors`], [`BitErrorModel`].
//!   Source: Mielke et al., "Bit Error Rate in NAND Flash Memories", IRPS 2008: write, retention
//!   and read-disturb errors; Cai et al., "Read Disturb Errors in MLC NAND Flash Memory", DSN 2015.

mod bit_errors;
mod fail_ops;
mod forward;
mod power_cut;
mod trace;
mod write_cache;

pub use bit_errors::{BitErrorModel, BitErrorTally, BitErrors};
use forward::forward;

pub use fail_ops::{FailOps, Lives};
pub use power_cut::PowerCut;
pub use trace::{Operation, Record, Trace};
pub use write_cache::{Survivors, WriteCache};

use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

/// The state that an operation leaves behind when power interrupts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Torn {
    /// The old content. But the cells are weak: a later program without an erase leaves garbage or
    /// fails.
    Old,
    /// Some of the bits changed.
    Garbled,
    /// The new content or garbage, decided again at each power-on, until one power-on settles it.
    Metastable,
    /// The new content or garbage, decided again at each read, until a power-on settles it.
    Unstable,
    /// The new content: power failed directly after the operation was complete.
    New,
}

impl Torn {
    /// All torn states.
    pub const ALL: [Self; 5] =
        [Self::Old, Self::Garbled, Self::Metastable, Self::Unstable, Self::New];
}

/// A medium on which an operation can be interrupted by a power cut.
///
/// The interrupted operation is counted and takes its full time. It must obey the same rules as a
/// complete operation.
pub trait Tearable: Flash {
    /// Programs one page while power fails.
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn);

    /// Returns true if [`program_many`](Flash::program_many) is one command on this medium. After a
    /// power cut any part of this command may be on the medium.
    fn joins_programs(&self) -> bool {
        false
    }

    /// Programs several pages in one command while power fails. Does nothing on a medium that
    /// programs one page after the other.
    fn program_many_torn(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
        torn: Torn,
    ) {
        let _ = (first, data, tags, torn);
    }

    /// Programs the page register while power fails. Does nothing on a medium without on-chip
    /// copy.
    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn);

    /// Programs bytes of a block while power fails. Does nothing on a medium that programs whole
    /// pages only.
    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        let _ = (block, offset, data, torn);
    }

    /// Erases one block while power fails. Each page of the block may be left in another state.
    fn erase_torn(&mut self, block: BlockIndex, torn: Torn);

    /// Restores power, decides again how metastable pages read, and settles some of them.
    fn power_on(&mut self);
}

/// Runs [`program_many`](Flash::program_many) on a medium that programs each page with a separate
/// command.
fn one_by_one<F: Flash>(
    flash: &mut F,
    first: PageIndex,
    data: &[u8],
    tags: &[[u8; TAG_BYTES]],
) -> Result<(), Failure> {
    let pages = data.chunks_exact(data.len() / tags.len().max(1));
    (first..)
        .zip(pages.zip(tags))
        .try_for_each(|(page, (data, tag))| flash.program(page, data, tag))
}

impl<F: Tearable + ?Sized> Tearable for &mut F {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        (**self).program_torn(page, data, tag, torn);
    }
    fn joins_programs(&self) -> bool {
        (**self).joins_programs()
    }
    fn program_many_torn(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
        torn: Torn,
    ) {
        (**self).program_many_torn(first, data, tags, torn);
    }
    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        (**self).program_loaded_torn(page, tag, torn);
    }
    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        (**self).program_bytes_torn(block, offset, data, torn);
    }
    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        (**self).erase_torn(block, torn);
    }
    fn power_on(&mut self) {
        (**self).power_on();
    }
}
