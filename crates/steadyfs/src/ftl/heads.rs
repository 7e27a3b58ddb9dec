//! Blocks for heads, and what a program that failed leaves to be done.

use super::Ftl;
use crate::error::Error;
use crate::media::Flash;
use crate::mount::Traces;
use crate::space::{Choice, FAILURE_JUMP, Head, HeadIndex, NONE, State};

/// Frames or journal pages left in a head's block that one call may use up.
const SCARCE: u32 = 4;

/// Why a place that was taken does not hold what it should.
pub(crate) enum Failed {
    /// A later page of the frame could not be made.
    Unmade(Error),
    /// A program failed, and whether it was the last one, with which the record may be there all the same.
    Program(Error, bool),
}

impl<F: Flash> Ftl<'_, F> {
    /// Makes sure that a head has room, so that taking its next place touches no flash.
    pub fn ready_head(&mut self, head: HeadIndex) -> Result<(), Error> {
        if self.space.rest(head) == 0 {
            self.space.close(head);
            self.space.close_full_streams();
            // Data that moves is data that rests: it goes to the blocks that have had most.
            self.open_head(head, head.is_moved())?;
        }
        Ok(())
    }

    /// Gives a head a block: the least worn that is erased, or the most worn. Reclamation keeps a stock of them; should it be empty, this erases one.
    pub fn open_head(&mut self, head: HeadIndex, worn: bool) -> Result<(), Error> {
        while self.space.blocks().count(State::Erased) == 0 {
            if self.space.blocks().count(State::Listed) == 0 {
                self.write_root()?;
            }
            if self.space.blocks().count(State::Erased) + self.space.blocks().count(State::Listed) == 0 {
                break;
            }
            self.erase_listed()?;
        }
        if self.space.open_head(head, worn) { Ok(()) } else { Err(Error::NoSpace) }
    }

    /// Erases listed blocks until one is erased.
    ///
    /// A block at which the device does not answer becomes free: the next root lists it again, and
    /// until then no call comes back to it. The call goes on with another one, at most `failures`
    /// times.
    pub fn erase_listed(&mut self) -> Result<(), Error> {
        while let Some(block) = self.space.blocks().choose(State::Listed, Choice::LeastWorn) {
            match self.erase(block) {
                Ok(true) => {
                    self.space.blocks_mut().set_state(block, State::Erased);
                    break;
                }
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

    /// Counts a failure of the call in progress; how many it has had.
    fn count_failure(&mut self) -> u32 {
        self.call.failures = self.call.failures.saturating_add(1);
        self.call.failures.into()
    }

    /// After a place was taken and not programmed as it should be: uses it up, and lets the caller try elsewhere, as often as the settings say.
    ///
    /// A block that failed goes out of use. One whose device did not answer is left as well: its
    /// place may be blank, and a mount would take a record behind a blank place for nothing, or for
    /// a loss. A commit is repeated once more, because it may be there.
    pub fn survive_failure(&mut self, head: HeadIndex, failed: Failed, commits: bool) -> Result<(), Error> {
        // A mount takes a smaller gap in the numbers for a record that was lost.
        self.space.take_sequences(FAILURE_JUMP);
        let (error, may_be_there) = match failed {
            Failed::Unmade(error) => {
                // A mount takes a record with another one behind it for whole.
                self.give_up_block(head);
                return Err(error);
            }
            Failed::Program(error, is_last) => (self.refused(error), is_last && error != Error::ReadOnly),
        };
        self.call.in_doubt |= commits && may_be_there;
        if error == Error::MediaFailing {
            self.space.retire_head(head);
        } else {
            self.give_up_block(head);
        }
        let (failures, most) = (self.count_failure(), u32::from(self.layout.config.failures) + u32::from(commits));
        let repeats = error != Error::ReadOnly && failures <= most;
        if repeats { Ok(()) } else { Err(error) }
    }

    /// Gives up the block of a head before it is full; the frames that are left in it come out of the savings.
    pub fn give_up_block(&mut self, head: HeadIndex) {
        self.space.close(head);
        self.savings.use_up(self.layout.frames_per_block);
    }

    /// Gives up the block of a head in which a page is weak, so that its frames move.
    pub fn release_head(&mut self, head: HeadIndex) {
        let block = self.space.heads().get(head).block;
        self.give_up_block(head);
        self.space.weaken(block);
    }

    /// Skips the places of each head that a cut program may have touched without a trace.
    ///
    /// These are one place, or two if the first one is not blank, and those of a
    /// [group](Self::group_frames) more. The journal's comes first after a mount. The others can
    /// have been in use only if there is a trace of anything.
    pub fn skip_places(&mut self, traces: &Traces) {
        if self.layout.programs_bytes() {
            // A chain never goes on behind a place that may have been touched.
            self.space.close(HeadIndex::JOURNAL);
        }
        let used = traces.are_there() || !self.space.is_unmarked();
        for head in self.space.heads().all() {
            let at = self.space.heads().get(head);
            if at.block != NONE && (used || head == HeadIndex::JOURNAL) {
                let group = if head == HeadIndex::JOURNAL { 0 } else { self.group_frames() };
                let next = (at.next + traces.touched_places(head) + group).min(self.space.capacity(head));
                self.space.heads_mut().replace(head, Head { next, ..at });
            }
        }
    }

    /// Returns the frames of a group of moves on a chip that takes each page once: a cut may have
    /// programmed any of them. It is 0 without groups, and on devices of sectors.
    pub fn group_frames(&self) -> u32 {
        if self.layout.moves_join() && self.pages.takes_pages_once() { self.layout.move_group() } else { 0 }
    }

    /// Erases blocks for the heads that will soon need one, so that no call after the mount erases twice: a call may erase one
    /// itself and then moves nothing. Where blocks are small, one call may need two.
    pub fn stock_heads(&mut self) -> Result<(), Error> {
        if self.layout.programs_bytes() {
            // A mount is short where erases last so long that it waits for nothing else: the first call may erase once more, and its bound says so.
            return Ok(());
        }
        let is_scarce = |&head: &HeadIndex| self.space.rest(head) <= SCARCE;
        // A call writes to one stream beside what is of none.
        let scarce = [HeadIndex::USER, HeadIndex::JOURNAL].iter().filter(|head| is_scarce(head)).count() as u32
            + u32::from(self.space.heads().of_streams().any(|head| is_scarce(&head)));
        let needed = scarce.saturating_sub(1).max(16 / self.layout.frames_per_block);
        while self.space.blocks().count(State::Erased) < needed && self.space.blocks().count(State::Listed) > 0 {
            match self.erase_listed() {
                // No mount depends on it: the calls that need a block erase another one.
                Err(Error::Device) => break,
                result => result?,
            }
        }
        Ok(())
    }
}
