//! Work in idle time, which later calls then need not do.

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use crate::cost::Budget;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Prepares the volume in idle time, so that the next `burst_bytes` of writes need neither
    /// reclamation nor an erase. Returns true if nothing is left to prepare.
    ///
    /// It makes these steps, as long as the budget allows:
    ///
    /// - It frees the pages of removed files.
    /// - It moves live frames out of blocks that are to be erased.
    /// - It erases blocks, and writes leaves and roots.
    ///
    /// `burst_bytes` is the number of programmed bytes: a durable write of less than a program page
    /// counts as a program page. A burst may be as large as the free room. A nearly full volume has
    /// no room to prepare blocks.
    ///
    /// # Power loss
    /// Committed data stays, and an open transaction stays open.
    ///
    /// # Cost
    /// Never more than `budget`, if no operation fails. A budget below the cost of the next step
    /// does nothing, or only the reads that find this step. Each operation that fails adds one
    /// erase and one program.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call) that changes something. If the
    /// device does not answer an erase, the call ends with [`Error::Device`]. Nothing is lost, and
    /// a later call goes on.
    pub fn maintain(&mut self, budget: Budget, burst_bytes: u64) -> Result<bool, Error> {
        let frames =
            self.volume.split(burst_bytes).0.min(self.volume.store.layout().frame_count()) + 1;
        let mut left = budget;
        // The freeing of pages ends with a commit. If a transaction is open, only the caller may
        // commit it.
        while !self.volume.store.logical.is_open() && self.lists.trims_first(&self.volume) {
            let cost = self.bounds().of(Call::Remove { depth: 0 }).most();
            let Some(rest) = left.after(&cost, self.volume.store.flash()) else { return Ok(false) };
            left = rest;
            self.begin(Call::Remove { depth: 0 })?;
            self.finish(Ok(()), CommitOn::NONE, true)?;
        }
        self.volume.store.idle_within(left, frames)
    }

    /// Reads all data, one part in each call, to find pages whose bits begin to flip while the ECC
    /// can still correct them. Each call continues at the end of the last call. After a mount, the
    /// first call begins anywhere. Returns true if a round through all data is complete.
    ///
    /// The data of weak pages moves in later calls that change something, and in
    /// [`maintain`](Self::maintain). A round every few months suffices for data that has to last
    /// years. Hot devices and worn chips need more rounds. Without scrubbing, ordinary reads also
    /// find weak pages, but only among the pages that they read. If a device does not report
    /// corrected bits, scrubbing gains nothing.
    ///
    /// # Cost
    /// Never more than `budget`. One step reads a logical page or a root. If the budget is too
    /// small for one step, the call does nothing.
    ///
    /// # Errors
    /// [`Error::Device`]. If a page cannot be read any more, it is counted in
    /// [`health`](Self::health), and [`check`](Self::check) finds the file that it belongs to.
    #[cfg(feature = "scrub")]
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.volume.store.scrub_within(budget)
    }
}
