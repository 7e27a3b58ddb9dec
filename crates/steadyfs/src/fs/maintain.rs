//! Idle work, which later calls would otherwise have to do.

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use crate::cost::Budget;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Prepares the volume in idle time, so that the next `burst_bytes` of writes meet neither
    /// reclamation nor erase. Returns true if nothing is left to prepare.
    ///
    /// As far as the budget goes, it does these steps:
    ///
    /// - It frees the pages of removed files.
    /// - It moves live frames out of blocks that are to be erased.
    /// - It erases blocks, and writes leaves and roots.
    ///
    /// `burst_bytes` counts programmed bytes: a durable write of less than a program page
    /// counts as a program page. A burst may be as large as the free room. Nearly full volumes
    /// have no room to prepare.
    ///
    /// # Power loss
    /// Committed data stays; an open transaction stays open.
    ///
    /// # Cost
    /// Never more than `budget`, if no operation fails. Each operation that fails adds one
    /// erase and one program.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call) that changes something.
    pub fn maintain(&mut self, budget: Budget, burst_bytes: u64) -> Result<bool, Error> {
        let frames =
            self.volume.split(burst_bytes).0.min(self.volume.store.layout().frame_count()) + 1;
        let mut left = budget;
        // Freeing pages commits. An open transaction is the caller's to commit.
        while !self.volume.store.logical.is_open() && self.lists.trims_first(&self.volume) {
            let cost = self.bounds().of(Call::Remove { depth: 0 }).most();
            let Some(rest) = left.after(&cost, self.volume.store.flash()) else { return Ok(false) };
            left = rest;
            self.begin(Call::Remove { depth: 0 })?;
            self.finish(Ok(()), CommitOn::NONE, true)?;
        }
        self.volume.store.idle_within(left, frames)
    }

    /// Reads data at rest, so pages whose bits begin to flip are noticed while the ECC still
    /// corrects them. It goes on at the end of the last call; after a mount it begins anywhere.
    /// Returns true if a round through everything is complete.
    ///
    /// Weak blocks move with the next calls that change something, and with
    /// [`maintain`](Self::maintain). A round every few months suffices for data that has to
    /// last years. Hot devices and worn chips need more. Without scrubbing, reads find weak
    /// pages as well, but only among the pages that they read. Devices that do not report
    /// corrected bits gain nothing from it.
    ///
    /// # Cost
    /// Never more than `budget`: reads of a logical page or a root at a time. A budget below
    /// such a step does nothing.
    ///
    /// # Errors
    /// [`Error::Device`]. A page that cannot be read any more is counted in
    /// [`health`](Self::health); `check` finds its owner.
    #[cfg(feature = "scrub")]
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.volume.store.scrub_within(budget)
    }
}
