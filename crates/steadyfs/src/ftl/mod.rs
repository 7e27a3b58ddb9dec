//! The translation layer: the frame of each logical page, the place of the next frame, and the
//! roots that record both.
//!
//! [`Ftl`] owns the rooms of the medium, each with its own state. It also does the work that
//! concerns several rooms: it gives a head a block, writes a root, records a moved frame, and
//! decides about retries after a failed program. It holds the committed map. The
//! [logical pages](crate::logical) in the layer above handle the content of frames.
//!
//! | file | idea |
//! |---|---|
//! | `heads` | blocks for heads, and retries after a failed program |
//! | `roots` | writing roots, and the consequences |
//! | `look` | look-ups of a logical page in the map, and checks of a frame |
//! | `change` | changes of the map: frames released, leaves replaced, frames moved |
//! | `group` | moves that are made in one command |
//! | `copies` | frames that a mount copies into the ring |
//! | `derive` | the live frames, which a mount derives from the map |
//! | `health` | flipped bits, worn blocks, and the state of each block |
//! | `status` | the operations that the volume still permits |
//! | `reserve` | the part of the reserve that is present |

mod change;
mod copies;
mod derive;
mod group;
mod heads;
mod health;
mod look;
mod reserve;
mod roots;
mod status;

pub(crate) use copies::Copied;
pub(crate) use heads::Failed;
pub use health::{BlockInfo, BlockState, Health};
pub(crate) use reserve::Reserve;
pub(crate) use status::Status;

use crate::commit::Transaction;
use crate::config::Layout;
use crate::error::Error;
use crate::map::Map;
use crate::media::{BlockIndex, Flash};
use crate::pages::{Group, Pages};
use crate::root::{Lost, Ring};
use crate::space::{Space, State};

/// Counters and events of the call in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallState {
    /// Number of frames programmed for the caller.
    pub frames: u32,
    /// Number of programs that failed.
    pub failures: u8,
    /// Value of the erase counter when the call began.
    pub erases_before: u16,
    /// True if the call opened the ring: it makes the first change after a clean end.
    pub opened: bool,
    /// Number of changes of the map.
    pub changes: u32,
    /// True if the call has committed and flushed the device's cache.
    pub flushed: bool,
    /// True if the call has written a page with few patches in the journal, to make room there.
    pub flushed_small: bool,
    /// Number of roots that were lost because the device did not answer.
    pub lost_roots: Lost,
    /// Number of blocks that were bad when the call began.
    pub bad_blocks: u32,
    /// True if the program of a commit failed, but the commit may still be on the medium.
    pub in_doubt: bool,
}

/// The translation layer. See the [module](self).
pub(crate) struct Ftl<'m, F> {
    pub layout: Layout,
    pub pages: Pages<'m, F>,
    pub space: Space<'m>,
    pub map: Map<'m>,
    /// The pages of the open transaction. A root contains them.
    pub transaction: Transaction<'m>,
    pub ring: Ring,
    pub group: Group<'m>,
    pub reserve: Reserve,
    pub call: CallState,
    pub status: Status,
}

impl<F: Flash> Ftl<'_, F> {
    /// Starts a call: resets its counters.
    pub fn begin_call(&mut self) {
        let bad_blocks = self.space.blocks().count(State::Bad);
        self.call =
            CallState { bad_blocks, erases_before: self.pages.erases(), ..CallState::default() };
    }

    /// Erases a block and counts the erase. Returns `false` if the erase failed; the block is
    /// bad from then on.
    pub fn erase(&mut self, block: BlockIndex) -> Result<bool, Error> {
        let is_erased =
            self.space.erase(&mut self.pages, block).map_err(|error| self.refused(error))?;
        if !is_erased {
            self.mark_bad(block);
        }
        Ok(is_erased)
    }

    /// Marks a bad block on the chip, for other users of the chip. The volume itself reads bad
    /// blocks from its root. Blocks of the ring and of superblocks are not marked, because a mount
    /// searches only unmarked blocks for superblocks and roots.
    fn mark_bad(&mut self, block: BlockIndex) {
        if !self.ring.owns(block) {
            let _ = self.pages.flash_mut().mark_bad(block);
        }
    }

    /// Marks one block as bad: an empty block in which a program failed. Runs after each root,
    /// because a mark may destroy the block's content, and a recovery may need this content until
    /// that root. It marks one block for each root, so the bound of a call includes one mark.
    pub(super) fn mark_retired(&mut self) {
        if let Some(block) = self.space.retired() {
            self.space.lose(block);
            self.mark_bad(block);
        }
    }

    /// Returns the number of logical pages that may hold data. It shrinks if more blocks go bad
    /// than the settings allow.
    pub fn usable(&self) -> u32 {
        self.layout.usable_with(self.space.blocks().count(State::Bad))
    }

    /// Returns the number of blocks that have gone bad in the call in progress. A bad block
    /// stays bad.
    pub fn blocks_lost(&self) -> u32 {
        self.space.blocks().count(State::Bad).saturating_sub(self.call.bad_blocks)
    }

    /// Returns true if too many blocks are bad: the stored data does not leave the room that
    /// reclamation needs, or the ring has too few good blocks.
    pub fn is_worn_out(&self) -> bool {
        let bad = self.space.blocks().count(State::Bad);
        // The copy of the first leaf is dropped when its frame is needed.
        let needed = self.space.blocks().live_total() - u32::from(self.map.copy() != 0);
        let is_too_full =
            || bad > self.layout.config.bad_blocks_max.into() && needed > self.layout.live_max(bad);
        bad > 0 && (is_too_full() || self.ring.is_worn_out(&self.space, &self.layout))
    }

    /// Marks the blocks in which reads found a weak page, so that their frames move.
    pub fn note_weak(&mut self) {
        if !self.pages.flash().is_clean() {
            self.space.note_weak(self.pages.watch_mut());
        }
    }

    /// Makes all earlier programs durable on a device that reorders. Call it before a program whose
    /// presence proves that the earlier programs are complete.
    pub fn keep_order(&mut self) -> Result<(), Error> {
        self.pages.keep_order().map_err(|error| self.refused(error))
    }

    /// Updates the status if the error of a program or an erase reports that the chip has locked
    /// itself or has failed to flush. Returns the error.
    pub fn refused(&mut self, error: Error) -> Error {
        self.status.note_refusal(error);
        error
    }
}
