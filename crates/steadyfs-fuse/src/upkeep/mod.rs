//! What happens without a request, whatever the volume holds.
//!
//! | file | idea |
//! |---|---|
//! | [`timer`] | timed commits, and work for idle times |
//! | [`scrub`] | data at rest is looked at |

mod scrub;
mod timer;

pub(crate) use timer::Timer;

use fuser::Errno;
use steadyfs::media::BlockIndex;
use steadyfs::{BlockInfo, Budget, Description, Error, Health};

/// A volume, as the timer sees it.
pub(crate) trait Upkeep {
    /// Whether anything was changed or committed since this was asked last.
    fn take_changed(&mut self) -> bool;
    /// Whether changes wait that a timed commit is to make durable.
    fn waits_for_timer(&self) -> bool;
    /// Whether changes wait for a commit.
    fn has_changes(&self) -> bool;
    /// Makes everything durable that was done so far.
    fn commit(&mut self) -> Result<(), Errno>;
    /// Does idle work; whether none is left.
    fn maintain(&mut self, budget: Budget) -> Result<bool, Error>;
    /// Bytes that idle work may free.
    fn used_bytes(&self) -> u64;
    /// Reads data at rest; whether a round ended.
    fn scrub(&mut self, budget: Budget) -> Result<bool, Error>;
    fn health(&self) -> Health;
    fn describe(&self) -> Description;
    fn block(&self, block: BlockIndex) -> Option<BlockInfo>;
}
