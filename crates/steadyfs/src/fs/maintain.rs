//! Idle work: what later calls would otherwise have to do.

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use crate::cost::Budget;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Prepares the volume in idle time, so that the next `burst_bytes` of writes meet neither reclamation nor erase. Returns
    /// whether there is nothing left to prepare.
    ///
    /// It frees the pages of removed files, moves what keeps blocks from being erased, erases blocks, and writes leaves and roots,
    /// as far as the budget goes. `burst_bytes` counts what is programmed: a durable write of less than a program page counts as one.
    /// A burst may be as large as the room that there is; nearly full volumes have none to prepare.
    ///
    /// # Power loss
    /// What was committed stays; an open transaction stays open.
    ///
    /// # Cost
    /// Never more than `budget`, when no operation fails; one erase and one program more for each that does.
    ///
    /// # Errors
    /// Those of [every call](FileSystem#errors-of-every-call) that changes something.
    pub fn maintain(&mut self, budget: Budget, burst_bytes: u64) -> Result<bool, Error> {
        let frames = self.volume.split(burst_bytes).0.min(self.volume.store.layout().frame_count()) + 1;
        let mut left = budget;
        // Freeing pages commits, and an open transaction is not ours to commit.
        while !self.volume.store.logical.is_open() && self.lists.trims_first(&self.volume) {
            let cost = self.bound(Call::Remove { depth: 0 }).most();
            let Some(rest) = left.after(&cost, self.volume.store.flash()) else { return Ok(false) };
            left = rest;
            self.begin(Call::Remove { depth: 0 })?;
            self.finish(Ok(()), CommitOn::NONE, true)?;
        }
        self.volume.store.idle_within(left, frames)
    }

    /// Reads data at rest, so that pages whose bits have begun to flip are noticed while the ECC still corrects them; goes on where the
    /// last call stopped; after a mount anywhere. Returns whether a round through everything is complete.
    ///
    /// Blocks that are found weak move with the next calls that change something, and with [`maintain`](Self::maintain). A round
    /// every few months suffices for data that has to last years; hot devices and worn chips need more. Without it, reads find
    /// weak pages as well, but only where somebody reads. Devices that do not tell what they corrected gain nothing from it.
    ///
    /// # Cost
    /// Never more than `budget`: reads, a logical page or a root at a time. A budget of less does nothing.
    ///
    /// # Errors
    /// [`Error::Device`]. A page that cannot be read any more is counted in [`health`](Self::health); `check` tells whose it is.
    #[cfg(feature = "scrub")]
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.volume.store.scrub_within(budget)
    }
}
