//! The room that is left in the open transaction.

#[cfg(doc)]
use super::CommitOn;
use super::call::{first_steps, work_of_pieces};
use super::filesystem::FileSystem;
use super::inode::AREA_BYTES;
use crate::media::Flash;
use crate::pace::Work;

/// The room that is left in the open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionRoom {
    /// Bytes that one write or append surely takes, at any offset of any file.
    pub bytes: u32,
    /// Different logical pages that may still be written. Small files share them: the
    /// [guide](crate::guide) has their number for usual chips.
    pub pages: u32,
}

impl<F: Flash> FileSystem<'_, F> {
    /// Returns the room that is left in the open transaction. After a [commit](Self::commit) it
    /// is the room of a whole transaction.
    ///
    /// A call with more may be refused with [`Error::TransactionTooLarge`], and nothing has
    /// changed then. [`CommitOn::FULL`] commits a full transaction instead. More
    /// [`transaction_pages`](crate::Config::transaction_pages) give more room.
    ///
    /// [`Error::TransactionTooLarge`]: crate::Error::TransactionTooLarge
    ///
    /// # Cost
    /// No operation of the medium.
    pub fn transaction_room(&self) -> TransactionRoom {
        let (volume, bounds) = (&self.volume, self.volume.store.bounds());
        // The call may free pages of removed files first.
        let first = first_steps(volume, self.lists.steps(volume, self.has_abandoned_orphans()), false);
        let logical_bytes = volume.store.layout().logical_bytes;
        let pieces = most(|pieces| {
            let work = work_of_pieces(volume, pieces, [logical_bytes; 2], Some(AREA_BYTES as u32));
            !bounds.may_refuse(&work.plus(&first))
        });
        // The write may begin and end within a page.
        TransactionRoom { bytes: pieces.saturating_sub(1) * logical_bytes, pages: volume.store.logical.pending_room() }
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
