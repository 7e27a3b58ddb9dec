//! Blocks for heads, and the work after a failed program.

use super::Ftl;
use crate::error::Error;
use crate::media::Flash;
use crate::mount::TornEvidence;
use crate::space::{BlockChoice, FAILURE_JUMP, Head, HeadIndex, NONE, State};

/// Frames or journal pages left in a head's block that one call may use up.
const SCARCE: u32 = 4;

/// The reason why a taken place is not programmed as intended.
pub(crate) enum Failed {
    /// The content of a later page of the frame could not be made.
    Unmade(Error),
    /// A program failed. True if it was the last program of the record: then the record may be
    /// on the medium all the same.
    Program(Error, bool),
}

impl<F: Flash> Ftl<'_, F> {
    /// Ensures that a head has room, so that taking its next place needs no access to flash.
    pub fn ready_head(&mut self, head: HeadIndex) -> Result<(), Error> {
        if self.space.rest(head) == 0 {
            self.space.close(head);
            // No victim is chosen among the blocks of heads, so a full block must leave its head.
            self.space.close_full_streams();
            // Moved data rests for long, so it goes to the blocks with the most erases.
            self.open_head(head, head.is_moved())?;
        }
        Ok(())
    }

    /// Gives a head the least worn erased block, or the most worn one if `worn`. Reclamation
    /// keeps a stock of erased blocks. If the stock is empty, this function erases one.
    pub fn open_head(&mut self, head: HeadIndex, worn: bool) -> Result<(), Error> {
        while self.space.blocks().count(State::Erased) == 0 {
            // Only a root lists more blocks.
            if self.space.blocks().count(State::Listed) == 0 {
                self.write_root()?;
            }
            // Not even a root has found a block.
            if self.space.blocks().count(State::Erased) + self.space.blocks().count(State::Listed)
                == 0
            {
                break;
            }
            self.erase_listed()?;
        }
        if self.space.open_head(head, worn) { Ok(()) } else { Err(Error::NoSpace) }
    }

    /// Erases listed blocks until one erase succeeds.
    ///
    /// If the device does not answer at a block, the block becomes free: the next root lists it
    /// again, and until then no call comes back to it. The call goes on with another block, at
    /// most `failures` times.
    pub fn erase_listed(&mut self) -> Result<(), Error> {
        while let Some(block) = self.space.blocks().choose(State::Listed, BlockChoice::LeastWorn) {
            match self.erase(block) {
                Ok(true) => {
                    self.space.blocks_mut().set_state(block, State::Erased);
                    break;
                }
                // The block is bad now, and another one takes its place.
                Ok(false) => {}
                Err(Error::Device) => {
                    self.space.blocks_mut().set_state(block, State::Free);
                    if self.count_failure() > u32::from(self.layout.config.failures) {
                        return Err(Error::Device);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Counts a failure of the call in progress. Returns the number of its failures.
    fn count_failure(&mut self) -> u32 {
        self.call.failures = self.call.failures.saturating_add(1);
        self.call.failures.into()
    }

    /// Uses up a place that was taken and not programmed as intended. Returns `Ok` if the caller
    /// may try again elsewhere; the settings limit the number of tries.
    ///
    /// A block whose program failed goes out of use. A block at which the device did not answer
    /// is given up as well: its place may be blank. A mount would ignore a record behind a blank
    /// place, or report it as a loss. A commit gets one more try, because its first program may
    /// be on the medium.
    pub fn handle_program_failure(
        &mut self,
        head: HeadIndex,
        failed: Failed,
        commits: bool,
    ) -> Result<(), Error> {
        // A mount treats a smaller gap in the sequence numbers as a lost record.
        self.space.take_sequences(FAILURE_JUMP);
        let (error, may_be_there) = match failed {
            Failed::Unmade(error) => {
                // A mount takes a record for complete if another record follows it. So nothing
                // may follow this one.
                self.give_up_block(head);
                return Err(error);
            }
            Failed::Program(error, is_last) => {
                (self.refused(error), is_last && error != Error::ReadOnly)
            }
        };
        // The medium may have the commit although its program failed.
        self.call.in_doubt |= commits && may_be_there;
        if error == Error::MediaFailing {
            self.space.retire_head(head);
        } else {
            self.give_up_block(head);
        }
        let (failures, most) =
            (self.count_failure(), u32::from(self.layout.config.failures) + u32::from(commits));
        let repeats = error != Error::ReadOnly && failures <= most;
        if repeats { Ok(()) } else { Err(error) }
    }

    /// Gives up the block of a head before it is full. Takes the frames of a whole block out of
    /// the savings.
    pub fn give_up_block(&mut self, head: HeadIndex) {
        self.space.close(head);
        self.reserve.withdraw(self.layout.frames_per_block);
    }

    /// Gives up the block of a head in which a page is weak, so that the block's frames move.
    pub fn release_head(&mut self, head: HeadIndex) {
        let block = self.space.heads().get(head).block;
        self.give_up_block(head);
        self.space.weaken(block);
    }

    /// Skips the places of each head that a cut program may have touched without a trace.
    ///
    /// These are one place, or two if the first one is not blank. Heads of frames also skip the
    /// frames of a [group](Self::group_frames). The journal's head is always skipped, because it
    /// programs first after a mount. The other heads can have been in use only if there is a
    /// trace of any program.
    pub fn skip_places(&mut self, evidence: &TornEvidence) {
        if self.layout.programs_bytes() {
            // A chain never continues behind a place that a cut may have touched.
            self.space.close(HeadIndex::JOURNAL);
        }
        // The journal's head comes first in a power cycle, so only its place is always in doubt.
        let used = evidence.are_there() || !self.space.is_unmarked();
        for head in self.space.heads().all() {
            let at = self.space.heads().get(head);
            if at.block != NONE && (used || head == HeadIndex::JOURNAL) {
                let group = if head == HeadIndex::JOURNAL { 0 } else { self.group_frames() };
                let next = (at.next + evidence.touched_places(head) + group)
                    .min(self.space.capacity(head));
                self.space.heads_mut().replace(head, Head { next, ..at });
            }
        }
    }

    /// Returns the number of frames in a group of moves on a chip that takes each page once. A
    /// cut may have programmed any of these frames. Returns 0 without groups, and on devices of
    /// sectors.
    pub fn group_frames(&self) -> u32 {
        if self.layout.moves_join() && self.pages.takes_pages_once() {
            self.layout.move_group()
        } else {
            0
        }
    }

    /// Erases blocks for the heads that will soon need one, so that no call after the mount
    /// erases twice. A call may erase one block itself, and then it moves nothing. If blocks are
    /// small, one call may need two.
    pub fn stock_heads(&mut self) -> Result<(), Error> {
        if self.layout.programs_bytes() {
            // Here an erase takes so long that a mount does not spend time on stock. The first
            // call may need one more erase, and its bound includes that.
            return Ok(());
        }
        let is_scarce = |&head: &HeadIndex| self.space.rest(head) <= SCARCE;
        // A call writes to at most one named stream.
        let scarce =
            [HeadIndex::USER, HeadIndex::JOURNAL].iter().filter(|head| is_scarce(head)).count()
                as u32
                + u32::from(self.space.heads().of_streams().any(|head| is_scarce(&head)));
        let needed = scarce.saturating_sub(1).max(16 / self.layout.frames_per_block);
        while self.space.blocks().count(State::Erased) < needed
            && self.space.blocks().count(State::Listed) > 0
        {
            match self.erase_listed() {
                // No mount depends on it: a call that needs a block erases another one.
                Err(Error::Device) => break,
                result => result?,
            }
        }
        Ok(())
    }
}
