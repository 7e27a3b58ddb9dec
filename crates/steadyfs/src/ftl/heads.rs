//! Blocks for heads, and the work after a failed program.

use super::Ftl;
use crate::error::Error;
use crate::media::Flash;
use crate::mount::TornEvidence;
use crate::space::{BlockChoice, FAILURE_JUMP, Head, HeadIndex, NONE, State};

/// Number of frames or journal pages that one call may program with one head. A head with no more
/// places than this may need a new block in the next call.
const SCARCE: u32 = 4;

/// The reason why a frame or journal page that a head took is not programmed as intended.
pub(crate) enum Failed {
    /// The content of the second or a later page of the frame could not be composed.
    Unmade(Error),
    /// A program failed. The flag is true if it was the last program of the record: then the record
    /// may still be on the medium.
    Program(Error, bool),
}

impl<F: Flash> Ftl<'_, F> {
    /// Ensures that a head has room, so that taking its next place needs no access to flash.
    pub fn ready_head(&mut self, head: HeadIndex) -> Result<(), Error> {
        if self.space.rest(head) == 0 {
            self.space.close(head);
            // A block that a head has is never chosen as a victim. So the heads give up full blocks
            // here.
            self.space.close_full_streams();
            // Moved data is rarely rewritten, so it is programmed into the blocks with the most
            // erases.
            self.open_head(head, head.is_moved())?;
        }
        Ok(())
    }

    /// Gives a head the least worn erased block, or the most worn erased block if `worn` is true.
    /// Reclamation keeps a stock of erased blocks. If the stock is empty, this function erases a
    /// block.
    pub fn open_head(&mut self, head: HeadIndex, worn: bool) -> Result<(), Error> {
        while self.space.blocks().count(State::Erased) == 0 {
            // Only a root lists more blocks.
            if self.space.blocks().count(State::Listed) == 0 {
                self.write_root()?;
            }
            // The new root found no block to list either.
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
    /// If the device does not answer for a block, the block becomes free. No call tries it before
    /// the next root lists it again. The call continues with another block, at most `failures`
    /// times (a setting).
    pub fn erase_listed(&mut self) -> Result<(), Error> {
        while let Some(block) = self.space.blocks().choose(State::Listed, BlockChoice::LeastWorn) {
            match self.erase(block) {
                Ok(true) => {
                    self.space.blocks_mut().set_state(block, State::Erased);
                    break;
                }
                // The block is bad now, so another block is erased.
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

    /// Counts a failure of the call in progress. Returns the number of the call's failures.
    fn count_failure(&mut self) -> u32 {
        self.call.failures = self.call.failures.saturating_add(1);
        self.call.failures.into()
    }

    /// Handles a frame or journal page that a head took and that was not programmed as intended.
    /// Returns `Ok` if the caller may try again elsewhere; the setting `failures` limits the number
    /// of tries.
    ///
    /// If a program failed, its block goes out of use. If the device did not answer, the head gives
    /// up the block as well, because the page may have stayed blank. A mount would ignore a record
    /// behind a blank page, or report a loss. A commit gets one more try, because its first program
    /// may be on the medium.
    pub fn handle_program_failure(
        &mut self,
        head: HeadIndex,
        failed: Failed,
        commits: bool,
    ) -> Result<(), Error> {
        // Skip so many sequence numbers that a mount can see the failure. If the gap were smaller
        // than `FAILURE_JUMP`, a mount would report a lost record.
        self.space.take_sequences(FAILURE_JUMP);
        let (error, may_be_there) = match failed {
            Failed::Unmade(error) => {
                // A mount considers a record complete if another record follows it. So nothing may
                // follow this incomplete frame.
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

    /// Gives up the block of a head before the block is full. Takes the frames of a whole block out
    /// of the reserve.
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

    /// Lets each head skip the pages that an interrupted program may have touched without a trace.
    ///
    /// A head skips its next place, or the next two if the first of them is not blank. Heads of
    /// frames also skip the frames of a [group](Self::group_frames). The journal's head always
    /// skips, because it programs first after a mount. The other heads skip only if the evidence or
    /// the root shows that heads were in use.
    pub fn skip_places(&mut self, evidence: &TornEvidence) {
        if self.layout.programs_bytes() {
            // A chain never continues behind a slot that a power cut may have touched.
            self.space.close(HeadIndex::JOURNAL);
        }
        // The journal's head programs first in a power cycle. So only its next place is always in
        // doubt.
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

    /// Returns the number of frames in a group of moves, on a chip whose pages can be programmed
    /// only once between erases. After a power cut any of these frames may be programmed. Returns 0
    /// if moves are not made in groups, and on devices of sectors.
    pub fn group_frames(&self) -> u32 {
        if self.layout.moves_join() && self.pages.takes_pages_once() {
            self.layout.move_group()
        } else {
            0
        }
    }

    /// Erases blocks for the heads that will soon need a block, so that no call after the mount
    /// erases twice. A call may erase one block itself, and then it moves no frames. If blocks are
    /// small, one call may need two blocks.
    pub fn stock_heads(&mut self) -> Result<(), Error> {
        if self.layout.programs_bytes() {
            // On such media an erase takes long, so the mount erases nothing in advance. The first
            // call may need one more erase, and its bound includes this erase.
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
                // The mount succeeds without this block: a call that needs a block erases another
                // one.
                Err(Error::Device) => break,
                result => result?,
            }
        }
        Ok(())
    }
}
