//! Groups: pages programmed in one command, and moves that wait until they fill a group.
//!
//! On a card the end of a stream of writes takes some two milliseconds, and the bytes take little
//! time. A commit, a read or a change of the block ends a stream. So on such devices a move is not
//! made when it is due:
//!
//! - It waits until enough moves are due to fill a group.
//! - Then the victim's frames are read into lent memory, one behind the other. One command programs
//!   all of them into the block of the caller's pages.
//! - A call that has committed makes one group if at least one and a quarter groups are due: its
//!   flush has ended the stream anyway. Another call makes groups if two groups are due, until less
//!   than two are due. It also makes one group if the victim is urgent, or if the waiting moves
//!   cover all of the victim's live frames.
//! - Leaf write-backs and roots also wait for a call that commits, if they are not urgent.
//!
//! A waiting move counts as moved when reclamation [plans](crate::reclaim), so the plan is the same
//! as without groups. The delay costs no room, because a move that is not made yet has not used a
//! frame either. The bound of a call rounds its due moves up to whole groups.
//!
//! When power fails, a device may lose any of a command's pages. So a mount applies the records up
//! to the first missing record. It applies later records only if a commit behind the gap proves
//! that the missing record was flushed. The same rule applies to a device whose cache reorders. If
//! a group fails, a root is written before anything else.

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
            // A page that cannot be read is copied as a lost page, so that the victim can become
            // empty.
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

    /// Reads a page and its tag into the group. Returns the checksum for the tag of the copy, or
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
        // If only the tag can be read, it still names the owner of the lost data.
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
    /// After a failed program it is unknown which of these frames are on the medium. So a root is
    /// written before anything else. With this root, a mount ignores all of these frames.
    pub fn program_group(&mut self, victim: BlockIndex, count: u32) -> Result<(), Error> {
        let unit = u32::from(self.layout.config.pages_per_logical_page);
        let pages = count * unit;
        // These frames count as used even if the program fails.
        let first = self.space.take_places(HeadIndex::USER, count);
        self.space.take_sequences(u64::from(pages));
        self.space.count_programs(pages);
        let at = self.layout.frame_page(first);
        let (data, tags) = self.group.filled(pages);
        if let Err(failure) = self.pages.program_many(at, data, tags) {
            // The root is written first. Only then the call returns, or continues if a retry is
            // permitted.
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
