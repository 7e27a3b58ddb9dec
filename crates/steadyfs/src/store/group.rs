//! Groups: pages that are programmed in one command, and moves that wait to be as many.
//!
//! What a card charges for is the end of a stream of writes, some two milliseconds, and hardly for its bytes: a commit ends one, a read does, a change of
//! the block does. So on such devices a move is not made when it is owed. It waits until there is a group of them; then the victim's frames are read into
//! lent memory, one behind the other, and programmed in one command behind the caller's pages. A call that has committed makes groups, for its flush has ended the stream
//! anyway; another one when it would owe two of them. Leaves and roots wait for a commit as well, where they can.
//!
//! What waits counts as moved where reclamation [plans](super::plan), so a plan is what it would be otherwise. Nothing is lost by that: a move that is not made
//! yet has not taken its frame either. What a call owes is counted up to whole groups in its bound.
//!
//! A device may leave any of a command's pages behind when power fails. So a mount takes the records up to the first that is missing, unless a commit
//! behind it proves that it was flushed, as behind a cache that reorders; and after a group that failed a root comes before anything else.

use super::Store;
use super::program::Failed;
use crate::error::Error;
use crate::features::GROUPS;
use crate::media::{Flash, PageIndex, TAG_BYTES, Tag};
use crate::pages::{LOST_CHECK, TRIES, was_read};
use crate::space::{Frame, HeadIndex};

/// Whether the time suits for a group of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// A stream of writes goes on.
    Streaming,
    /// A flush has ended it.
    Flushed,
    /// The victim must be left, whatever it costs.
    Now,
    /// All that is owed is made now: the reserve is used up.
    Last,
}

/// Moves that a call makes at most which owes `moves` itself, where `many` are made at once.
pub(super) fn made_at_most(moves: u32, many: u32) -> u32 {
    if many > 1 { moves.max(1).next_multiple_of(many) } else { moves }
}

/// Moves that calls owe to the victim, and have not made. A build without groups makes each when it is owed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting([u32; GROUPS as usize]);

impl Waiting {
    /// Moves that wait.
    pub fn owed(&self) -> u32 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Begins with another victim, to which nothing is owed.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds moves, of a victim with `live` frames, to what is owed, and tells how many are made now.
    ///
    /// A group of `many` is made where the `time` suits, or where no more frames are left. Where two are owed as many are made as leave less than two: so a call
    /// that adds `m` makes `m` at most, counted up to whole groups.
    pub fn owe(&mut self, moves: u32, live: u32, many: u32, time: Time) -> u32 {
        let Some(waiting) = self.0.first_mut().filter(|_| many > 1) else { return moves };
        let owed = *waiting + moves;
        let due = match time {
            Time::Last => owed,
            _ if owed >= 2 * many => (owed + 1 - 2 * many).next_multiple_of(many),
            Time::Now => owed.min(many),
            _ if owed >= live => owed.min(many),
            // Not right behind one that was made because two were owed.
            Time::Flushed if owed >= many + many / 4 => many,
            Time::Flushed | Time::Streaming => 0,
        };
        *waiting = owed - due;
        due
    }
}

impl<F: Flash> Store<'_, F> {
    /// Moves the first live frames of the victim, `most` at most, in one command; how many of them were looked at.
    pub(super) fn move_group(&mut self, most: u32) -> Result<u32, Error> {
        self.make_room(most)?;
        self.ready_head(HeadIndex::USER)?;
        let most = most.min(self.space.rest(HeadIndex::USER));
        let end = (self.pace.victim + 1) * self.layout.frames_per_block;
        let (mut next, mut looked, mut count) = (self.space.blocks().first_live(self.pace.victim), 0, 0);
        while let Some(frame) = next.filter(|&frame| frame < end && looked < most) {
            count += u32::from(self.read_member(frame, count)?);
            looked += 1;
            next = self.space.blocks().live_from(frame + 1);
        }
        if count > 0 {
            self.program_group(count)?;
        }
        Ok(looked)
    }

    /// Reads a frame as member `index` of the group, and gives it the tag of a copy; `false` where it need not move.
    fn read_member(&mut self, frame: Frame, index: u32) -> Result<bool, Error> {
        let (unit, from) = (u32::from(self.layout.config.unit_pages), self.layout.frame_page(frame));
        let mut tag = [0; TAG_BYTES];
        let mut check = self.read_to_group(from, index * unit, &mut tag)?;
        let Some((kind, logical)) = self.moves_as(frame, check.and_then(|_| Tag::parse(&tag))) else { return Ok(false) };
        for page in 0..unit {
            let at = index * unit + page;
            if page > 0 {
                check = self.read_to_group(from + page, at, &mut tag)?;
            }
            if check.is_none() {
                self.pages.fill_lost();
                self.group.page_mut(at).copy_from_slice(self.pages.bytes());
            }
            let tag = Tag { sequence: self.space.sequence() + u64::from(at), logical, kind, aux: Tag::aux_of(0, frame) };
            *self.group.tag_mut(at) = tag.emit(check.unwrap_or(LOST_CHECK));
        }
        Ok(true)
    }

    /// Reads a page into the group, and its tag. Returns the checksum that its copy carries; `None` where not even the tag can be read.
    fn read_to_group(&mut self, page: PageIndex, index: u32, tag: &mut [u8; TAG_BYTES]) -> Result<Option<u32>, Error> {
        for _ in 0..TRIES {
            if was_read(self.pages.read_to(page, self.group.page_mut(index), tag))? {
                return Ok(Some(Tag::carried_check(tag)));
            }
        }
        if !self.pages.read_tag_anyhow(page, tag)? {
            return Ok(None);
        }
        self.pages.fill_lost();
        self.group.page_mut(index).copy_from_slice(self.pages.bytes());
        Ok(Some(LOST_CHECK))
    }

    /// Programs the first `count` frames of the group, and lets the map name them.
    ///
    /// Nobody can tell which of them are there after a program that failed: a root says that none counts, before anything follows them.
    fn program_group(&mut self, count: u32) -> Result<(), Error> {
        let unit = u32::from(self.layout.config.unit_pages);
        let pages = count * unit;
        let first = self.space.take_places(HeadIndex::USER, count);
        self.space.take_sequences(u64::from(pages));
        self.space.count_programs(pages);
        let at = self.layout.frame_page(first);
        let (data, tags) = self.group.filled(pages);
        if let Err(failure) = self.pages.flash_mut().program_many(at, data, tags) {
            let survived = self.survive_failure(HeadIndex::USER, Failed::Program(failure.into(), true), false);
            self.write_root()?;
            return survived;
        }
        let victim = self.pace.victim * self.layout.frames_per_block;
        for index in 0..count {
            if let Some(tag) = Tag::parse(self.group.tag_mut(index * unit)) {
                self.space.blocks_mut().set_live(first + index, true);
                self.was_moved(tag.kind, tag.logical, tag.source_from(victim), first + index);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time() -> impl Strategy<Value = Time> {
        prop_oneof![Just(Time::Streaming), Just(Time::Flushed), Just(Time::Now)]
    }

    proptest! {
        /// What waits is never as much as two groups, and no call makes more than it owes itself, counted up to whole groups.
        #[test]
        fn a_call_makes_no_more_than_its_own_moves_counted_up(calls in prop::collection::vec((0u32..40, 0u32..100, time()), 1..60), many in 2u32..17) {
            let mut group = Waiting::default();
            let (mut owed, mut made) = (0, 0);
            for (moves, live, time) in calls {
                let now = group.owe(moves, live, many, time);
                (owed, made) = (owed + moves, made + now);
                prop_assert!(now <= made_at_most(moves, many), "{now} of {moves}");
                prop_assert!(group.owed() < 2 * many && made + group.owed() == owed);
            }
        }
    }

    #[test]
    fn alone_each_move_is_made_when_it_is_owed() {
        let mut group = Waiting::default();
        assert_eq!([(3, 9), (0, 9), (5, 1)].map(|(moves, live)| group.owe(moves, live, 1, Time::Streaming)), [3, 0, 5]);
    }

    #[test]
    fn a_group_waits_for_a_flush_until_there_are_two_of_them() {
        let mut group = Waiting::default();
        let mut owe = |moves, time| group.owe(moves, 900, 16, time);
        assert_eq!([owe(19, Time::Flushed), owe(5, Time::Streaming), owe(0, Time::Flushed)], [0, 0, 16]);
        assert_eq!([owe(23, Time::Streaming), owe(1, Time::Streaming), owe(3, Time::Flushed)], [0, 16, 0]);
        assert_eq!(owe(3, Time::Last), 22);
    }
}
