//! The translation layer: which frame holds a logical page, where the next one goes, and which roots say so.
//!
//! [`Ftl`] holds the rooms of the medium, each with its own state, and what concerns several of them: a head that needs a block, a root, a frame that was
//! moved, a place whose program failed. It knows the map as it was committed, and nothing of what is written in a frame: that is for the
//! [logical pages](crate::logical) above.
//!
//! | file | idea |
//! |---|---|
//! | `heads` | blocks for heads, and retries after a failed program |
//! | `roots` | roots are written, and what follows from that |
//! | `look` | what the map says of a logical page, and whether a frame holds it |
//! | `change` | what changes of the map bring with them: frames that are released, leaves that are replaced, frames that moved |
//! | `group` | moves that are made in one command |
//! | `copies` | frames that a mount copies into the ring |
//! | `derive` | what a mount derives from the map: which frames are live |
//! | `health` | bits that flip, blocks that wear out, and what is known of a block |
//! | `status` | what the volume may still do |
//! | `savings` | how much of the reserve is there |

mod change;
mod copies;
mod derive;
mod group;
mod heads;
mod health;
mod look;
mod roots;
mod savings;
mod status;

pub(crate) use copies::Copied;
pub(crate) use heads::Failed;
pub use health::{BlockInfo, BlockState, Health};
pub(crate) use savings::Savings;
pub(crate) use status::Status;

use crate::commit::Transaction;
use crate::config::Layout;
use crate::error::Error;
use crate::map::Map;
use crate::media::{BlockIndex, Flash};
use crate::pages::{Group, Pages};
use crate::root::{Lost, Ring};
use crate::space::{Space, State};

/// What the call in progress has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Call {
    /// Frames programmed for the caller.
    pub frames: u32,
    /// Programs that failed.
    pub failures: u8,
    /// Erases before it.
    pub erases_before: u16,
    /// The ring was opened: it is the first change after a clean end.
    pub opened: bool,
    /// Changes of the map.
    pub changes: u32,
    /// It has committed, and emptied the device's cache.
    pub flushed: bool,
    /// A page that had little in the journal was written.
    pub flushed_small: bool,
    /// Roots that were lost because the device did not answer.
    pub lost_roots: Lost,
    /// Blocks that were bad when it began.
    pub bad_blocks: u32,
    /// The program of a commit failed, and may be there all the same.
    pub in_doubt: bool,
}

/// The translation layer. See the [module](self).
pub(crate) struct Ftl<'m, F> {
    pub layout: Layout,
    pub pages: Pages<'m, F>,
    pub space: Space<'m>,
    pub map: Map<'m>,
    /// The pages of the open transaction: roots say them.
    pub transaction: Transaction<'m>,
    pub ring: Ring,
    pub group: Group<'m>,
    pub savings: Savings,
    pub call: Call,
    pub status: Status,
}

impl<F: Flash> Ftl<'_, F> {
    /// A call begins, which has done nothing yet.
    pub fn begin_call(&mut self) {
        let bad_blocks = self.space.blocks().count(State::Bad);
        self.call = Call { bad_blocks, erases_before: self.pages.erases(), ..Call::default() };
    }

    /// Erases a block and counts it; a block that does not erase is bad from now on.
    pub fn erase(&mut self, block: BlockIndex) -> Result<bool, Error> {
        let is_erased = self.space.erase(&mut self.pages, block).map_err(|error| self.refused(error))?;
        if !is_erased {
            self.mark_bad(block);
        }
        Ok(is_erased)
    }

    /// Marks a bad block. Only a note for other users of the chip; the root is what counts. Superblocks and roots are looked for in blocks without a mark.
    fn mark_bad(&mut self, block: BlockIndex) {
        if !self.ring.owns(block) {
            let _ = self.pages.flash_mut().mark_bad(block);
        }
    }

    /// Marks a block that is empty and in which a program failed. A root was written when it was: a mark may destroy what is in it, and a
    /// recovery needed that until then. One at each root, so that a bound has one in it.
    pub(super) fn mark_retired(&mut self) {
        if let Some(block) = self.space.retired() {
            self.space.lose(block);
            self.mark_bad(block);
        }
    }

    /// Logical pages that may hold data: fewer where more blocks are bad than the volume has to spare.
    pub fn usable(&self) -> u32 {
        self.layout.usable_with(self.space.blocks().count(State::Bad))
    }

    /// Blocks that have gone bad in the call in progress. A bad block stays bad.
    pub fn blocks_lost(&self) -> u32 {
        self.space.blocks().count(State::Bad).saturating_sub(self.call.bad_blocks)
    }

    /// Whether so many blocks are bad that what the volume holds does not leave the room that reclamation needs.
    pub fn is_worn_out(&self) -> bool {
        let bad = self.space.blocks().count(State::Bad);
        let is_too_full =
            || bad > self.layout.config.bad_blocks_max.into() && self.space.blocks().live_total() > self.layout.live_max(bad);
        bad > 0 && (is_too_full() || self.ring.is_worn_out(&self.space, &self.layout))
    }

    /// Lets the frames of the blocks move in which reads have found a weak page.
    pub fn note_weak(&mut self) {
        if !self.pages.flash().is_clean() {
            self.space.note_weak(self.pages.watch_mut());
        }
    }

    /// Before what proves that all before it is there.
    pub fn keep_order(&mut self) -> Result<(), Error> {
        self.pages.keep_order().map_err(|error| self.refused(error))
    }

    /// Notes that the chip has locked itself, or has failed to flush, where that is why a program or an erase failed.
    pub fn refused(&mut self, error: Error) -> Error {
        self.status.note_refusal(error);
        error
    }
}
