//! What goes wrong with chips: power cuts, failing operations, and a record of what happened.
//!
//! Each fault is a wrapper that is a [`Flash`] itself, so they combine: `PowerCut<FailOps<Nand>>`.

mod fail_ops;
mod power_cut;
mod trace;

pub use fail_ops::FailOps;
pub use power_cut::PowerCut;
pub use trace::{Operation, Record, Trace};

use steadyfs::media::{BlockIndex, Flash, PageIndex, TAG_BYTES};

/// What an operation that power interrupted leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Torn {
    /// What was there before, but too weak: a later program without an erase would silently hold garbage.
    Old,
    /// Some of the bits changed.
    Garbled,
    /// The new content or garbage, decided anew at each power-on.
    Metastable,
    /// The new content: power went when the operation had just completed.
    New,
}

impl Torn {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Old, Self::Garbled, Self::Metastable, Self::New];
}

/// A medium on which an operation can be interrupted by a power cut.
///
/// The interrupted operation is counted and takes its full time. The rules for its legality are those of the complete one.
pub trait Tearable: Flash {
    /// Programs one page, and lets power fail meanwhile.
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn);

    /// Programs the page register, and lets power fail meanwhile. Nothing happens on a medium without on-chip copy.
    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn);

    /// Erases one block, and lets power fail meanwhile: each page of the block may be left in another state.
    fn erase_torn(&mut self, block: BlockIndex, torn: Torn);

    /// Gives power back, and decides anew how metastable pages read.
    fn power_on(&mut self);
}

impl<F: Tearable + ?Sized> Tearable for &mut F {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        (**self).program_torn(page, data, tag, torn);
    }
    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        (**self).program_loaded_torn(page, tag, torn);
    }
    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        (**self).erase_torn(block, torn);
    }
    fn power_on(&mut self) {
        (**self).power_on();
    }
}
