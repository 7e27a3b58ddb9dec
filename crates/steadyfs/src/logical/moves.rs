//! Moves of frames out of a block that reclamation empties, one by one or as a group.

use super::Logical;
use super::compose::Source;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, TAG_BYTES, Tag};
use crate::space::{Frame, HeadIndex};

impl<F: Flash> Logical<'_, F> {
    /// Moves a frame if it is still live.
    ///
    /// # Cost
    /// One read of a tag, then as many reads and programs as a logical page has program pages.
    pub fn move_frame(&mut self, frame: Frame) -> Result<(), Error> {
        // The move needs an overlay entry. The leaf write-back that makes room for it may release
        // the frame.
        self.make_room(1)?;
        if !self.ftl.space.blocks().is_live(frame) {
            // The leaf write-back that made room has released the frame, because the frame was
            // superseded.
            return Ok(());
        }
        self.move_known_frame(frame)
    }

    /// Moves a live frame. The overlay must have room for the change.
    pub fn move_known_frame(&mut self, frame: Frame) -> Result<(), Error> {
        let mut bytes = [0; TAG_BYTES];
        // The head gets its block before the tag is read, because an erase would replace the page
        // in the chip's register.
        if !self.ftl.layout.moves_apart() {
            let head = self.ftl.space.moved_head(&self.ftl.layout, &bytes);
            self.ftl.ready_head(head)?;
        }
        let mut is_read =
            self.ftl.pages.read_tag_with_retry(self.ftl.layout.frame_page(frame), &mut bytes)?;
        let head = self.ftl.space.moved_head(&self.ftl.layout, &bytes);
        // The head may need a new block, and so an erase. The tag is then read once more.
        if is_read && self.ftl.space.rest(head) == 0 {
            self.ftl.ready_head(head)?;
            is_read = self
                .ftl
                .pages
                .read_tag_with_retry(self.ftl.layout.frame_page(frame), &mut bytes)?;
        }
        let tag = if is_read { Tag::parse(&bytes) } else { None };
        let Some((kind, logical)) = self.ftl.moves_as(frame, tag) else { return Ok(()) };
        let to =
            self.program_frame(kind, logical, &Source::Copy { from: frame, loaded: &bytes })?;
        self.ftl.record_move(kind, logical, frame, to);
        Ok(())
    }

    /// Moves the first live frames of a block, at most `most`, in one command. Returns the
    /// number of frames that it has examined.
    pub fn move_group(&mut self, victim: BlockIndex, most: u32) -> Result<u32, Error> {
        let most = most.min(self.ftl.map.changes_max());
        // The frames move in one command. So the overlay must have room for all of them before the
        // command.
        self.make_room(most)?;
        self.ftl.ready_head(HeadIndex::USER)?;
        // One command programs pages of one block only.
        let most = most.min(self.ftl.space.rest(HeadIndex::USER));
        let end = (victim + 1) * self.ftl.layout.frames_per_block;
        let (mut next, mut looked, mut count) = (self.ftl.space.blocks().first_live(victim), 0, 0);
        while let Some(frame) = next.filter(|&frame| frame < end && looked < most) {
            count += u32::from(self.ftl.read_member(frame, count)?);
            looked += 1;
            next = self.ftl.space.blocks().live_from(frame + 1);
        }
        if count > 0 {
            self.ftl.program_group(victim, count)?;
        }
        Ok(looked)
    }
}
