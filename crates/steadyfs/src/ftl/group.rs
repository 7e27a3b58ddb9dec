//! Groups: pages programmed in one command, and moves that wait until they fill a group.
//!
//! A card charges for the end of a stream of writes, some two milliseconds, and hardly for the
//! bytes. A commit ends a stream, and so does a read or a change of the block. So on such
//! devices a move is not made when it is due:
//!
//! - It waits until there is a group of moves.
//! - Then the victim's frames are read into lent memory, one behind the other. One command
//!   programs them behind the caller's pages.
//! - A call that has committed makes groups, because its flush has ended the stream anyway.
//!   Another call makes groups if two are due, and then leaves less than two. It also makes one
//!   group if the victim is urgent, or if the waiting moves cover all of the victim's frames.
//! - Leaves and roots wait for a commit as well, if they can.
//!
//! A waiting move counts as moved when reclamation [plans](crate::reclaim), so the plan is the same
//! as without groups. This costs no room: a move that is not made yet has not taken its frame
//! either. The bound of a call rounds its due moves up to whole groups.
//!
//! A device may lose any of a command's pages when power fails. So a mount applies the records
//! up to the first missing record. It goes on only if a commit behind the gap proves that the
//! record was flushed, as behind a cache that reorders. After a group that failed, a root is
//! written before anything else.

use super::Ftl;
use super::heads::Failed;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, PageIndex, TAG_BYTES, Tag};
use crate::pages::{LOST_CHECK, TRIES, was_read};
use crate::space::{Frame, HeadIndex};

impl<F: Flash> Ftl<'_, F> {
    /// Reads a frame as member `index` of the group, and gives it the tag of a copy. Returns
    /// `false` if the frame need not move.
    pub fn read_member(&mut self, frame: Frame, index: u32) -> Result<bool, Error> {
        let (unit, from) =
            (u32::from(self.layout.config.pages_per_logical_page), self.layout.frame_page(frame));
        let mut tag = [0; TAG_BYTES];
        let mut check = self.read_to_group(from, index * unit, &mut tag)?;
        let Some((kind, logical)) = self.moves_as(frame, check.and_then(|_| Tag::parse(&tag)))
        else {
            return Ok(false);
        };
        for page in 0..unit {
            let at = index * unit + page;
            if page > 0 {
                check = self.read_to_group(from + page, at, &mut tag)?;
            }
            // Lost content moves as lost, or the victim would never become empty.
            if check.is_none() {
                self.pages.fill_lost();
                self.group.page_mut(at).copy_from_slice(self.pages.bytes());
            }
            let tag = Tag {
                sequence: self.space.sequence() + u64::from(at),
                logical,
                kind,
                aux: Tag::aux_of(0, frame),
            };
            *self.group.tag_mut(at) = tag.emit(check.unwrap_or(LOST_CHECK));
        }
        Ok(true)
    }

    /// Reads a page and its tag into the group. Returns the checksum that its copy carries, or
    /// `None` if not even the tag can be read.
    fn read_to_group(
        &mut self,
        page: PageIndex,
        index: u32,
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<Option<u32>, Error> {
        for _ in 0..TRIES {
            if was_read(self.pages.read_to(page, self.group.page_mut(index), tag))? {
                return Ok(Some(Tag::carried_check(tag)));
            }
        }
        // The tag alone still names the owner of the lost data.
        if !self.pages.read_tag_with_retry(page, tag)? {
            return Ok(None);
        }
        self.pages.fill_lost();
        self.group.page_mut(index).copy_from_slice(self.pages.bytes());
        Ok(Some(LOST_CHECK))
    }

    /// Programs the first `count` frames of the group, which came from the block `victim`, and
    /// records their new places.
    ///
    /// After a failed program it is unknown which of the frames are on the medium. So a root
    /// discards all of them before anything follows.
    pub fn program_group(&mut self, victim: BlockIndex, count: u32) -> Result<(), Error> {
        let unit = u32::from(self.layout.config.pages_per_logical_page);
        let pages = count * unit;
        // The places count as used even if the program fails.
        let first = self.space.take_places(HeadIndex::USER, count);
        self.space.take_sequences(u64::from(pages));
        self.space.count_programs(pages);
        let at = self.layout.frame_page(first);
        let (data, tags) = self.group.filled(pages);
        if let Err(failure) = self.pages.program_many(at, data, tags) {
            // The root comes first, and then the call learns if it may go on.
            let survived = self.handle_program_failure(
                HeadIndex::USER,
                Failed::Program(failure.into(), true),
                false,
            );
            self.write_root()?;
            return survived;
        }
        let victim = victim * self.layout.frames_per_block;
        for index in 0..count {
            if let Some(tag) = Tag::parse(self.group.tag_mut(index * unit)) {
                self.space.blocks_mut().set_live(first + index, true);
                self.record_move(tag.kind, tag.logical, tag.source_from(victim), first + index);
            }
        }
        Ok(())
    }
}
