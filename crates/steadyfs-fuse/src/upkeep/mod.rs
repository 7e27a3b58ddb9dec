//! Work without a request, for all kinds of volumes.
//!
//! | file | idea |
//! |---|---|
//! | [`timer`] | timed commits, and work for idle times |
//! | [`scrub`] | reads of data at rest |

mod scrub;
mod timer;

pub(crate) use timer::Timer;

use fuser::Errno;
use steadyfs::media::BlockIndex;
use steadyfs::{BlockInfo, Budget, Description, Error, Health};

/// A volume as the timer uses it.
pub(crate) trait Upkeep {
    /// Returns true if anything was changed or committed since the last call.
    fn take_changed(&mut self) -> bool;
    /// Returns true if changes wait for a timed commit.
    fn waits_for_timer(&self) -> bool;
    /// Returns true if changes wait for a commit.
    fn has_changes(&self) -> bool;
    /// Makes all changes so far durable.
    fn commit(&mut self) -> Result<(), Errno>;
    /// Does idle work. Returns true if no idle work is left.
    fn maintain(&mut self, budget: Budget) -> Result<bool, Error>;
    /// Returns the used bytes, of which idle work may free some.
    fn used_bytes(&self) -> u64;
    /// Reads data at rest. Returns true if a round ended.
    fn scrub(&mut self, budget: Budget) -> Result<bool, Error>;
    fn health(&self) -> Health;
    fn describe(&self) -> Description;
    fn block(&self, block: BlockIndex) -> Option<BlockInfo>;
}
