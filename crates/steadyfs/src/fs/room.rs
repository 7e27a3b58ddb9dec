//! The room that is left in the open transaction.

use super::call::work_of_pieces;
use super::inode::AREA_BYTES;
use super::volume::Volume;
use crate::media::Flash;
use crate::reclaim::Work;

/// The room that is left in the open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct TransactionRoom {
    /// Number of bytes that one write or append can write for certain, at any offset of any file.
    pub bytes: u32,
    /// Number of different logical pages that may still be written. Small files share logical
    /// pages: the [guide](crate::guide) lists how many new files fit for usual chips.
    pub pages: u32,
}

/// An index page that leaves the journal buffer while the pieces of the write fill it.
const INDEX: Work = Work { frames: 1, ..Work::NONE };

impl TransactionRoom {
    /// Computes the room for a call that does `first` before its own work.
    pub(super) fn of<F: Flash>(volume: &Volume<'_, F>, first: &Work) -> Self {
        let (bounds, logical_bytes) = (volume.store.bounds(), volume.store.layout().logical_bytes);
        let pieces = most(|pieces| {
            let work = work_of_pieces(volume, pieces, [logical_bytes; 2], Some(AREA_BYTES as u32));
            !bounds.may_refuse(&work.plus(first).plus(&INDEX))
        });
        // The write may begin and end within a page.
        Self {
            bytes: pieces.saturating_sub(1) * logical_bytes,
            pages: volume.store.logical.pending_room(),
        }
    }
}

/// Returns the largest count that fits. If a count does not fit, no larger one fits.
fn most(fits: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, Work::MANY);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}
