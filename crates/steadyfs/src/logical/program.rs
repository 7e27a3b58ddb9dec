//! Programming frames: the choice of the head, the head's next frame, and a new try elsewhere after
//! a failed program.

use super::Logical;
use super::compose::{Content, Source};
use super::edit::Piece;
use crate::error::Error;
use crate::ftl::Failed;
use crate::media::{Flash, PageIndex, Tag, TagKind};
use crate::space::{Frame, HeadIndex};

impl<F: Flash> Logical<'_, F> {
    /// Programs the content of `source` as the next frame of the head that suits it.
    ///
    /// The frame is taken from the head after its first page is composed. So an error in this step
    /// leaves no hole in the sequence numbers. After a later error the frame counts as used.
    ///
    /// # Power loss
    /// The frame counts as written only when its last page is complete.
    pub(super) fn program_frame(
        &mut self,
        kind: TagKind,
        logical: u32,
        source: &Source<'_>,
    ) -> Result<Frame, Error> {
        self.ftl.note_weak();
        let head = self.head_for(logical, source);
        let mut again = false;
        loop {
            self.ftl.ready_head(head)?;
            // The content is composed before the frame is taken, so an error leaves no hole in the
            // sequence numbers.
            let content = self.prepare(source, logical, 0, again)?;
            let (frame, tag) = self.take_frame(head, kind, logical, source);
            match self.program_pages(frame, tag, source, content) {
                Ok(()) => {
                    self.ftl.space.blocks_mut().set_live(frame, true);
                    return Ok(frame);
                }
                Err(error) => {
                    self.ftl.handle_program_failure(head, error, kind == TagKind::DataCommit)?
                }
            }
            again = true;
        }
    }

    /// Takes the next frame of a head, and the sequence numbers of its pages.
    fn take_frame(
        &mut self,
        head: HeadIndex,
        kind: TagKind,
        logical: u32,
        source: &Source<'_>,
    ) -> (Frame, Tag) {
        let frame = self.ftl.space.take_places(head, 1);
        let unit = u32::from(self.ftl.layout.config.pages_per_logical_page);
        let sequence = self.ftl.space.take_sequences(unit.into());
        self.ftl.space.count_programs(unit);
        // A mount reads this field: the start of a pending page's transaction, or the source of a
        // copy.
        let aux = match *source {
            _ if kind == TagKind::Data => {
                (sequence - self.ftl.transaction.start_at(sequence)) as u32
            }
            Source::Copy { from, .. } => from,
            _ => 0,
        };
        let aux = Tag::aux_of(head.stream(), aux);
        (frame, Tag { sequence, logical, kind, aux })
    }

    /// Programs the pages of one frame. `content` is the content of the first page.
    #[inline(never)]
    fn program_pages(
        &mut self,
        frame: Frame,
        mut tag: Tag,
        source: &Source<'_>,
        content: Content,
    ) -> Result<(), Failed> {
        let first = self.ftl.layout.frame_page(frame);
        let last = u32::from(self.ftl.layout.config.pages_per_logical_page) - 1;
        let mut content = content;
        for index in 0..=last {
            if index > 0 {
                content = self.prepare(source, tag.logical, index, true).map_err(Failed::Unmade)?;
            }
            self.program_content(first + index, &tag, source, index, content)
                .map_err(|error| Failed::Program(error, index == last))?;
            tag.sequence += 1;
        }
        Ok(())
    }

    /// Programs a page that `prepare` has made ready.
    fn program_content(
        &mut self,
        page: PageIndex,
        tag: &Tag,
        source: &Source<'_>,
        index: u32,
        content: Content,
    ) -> Result<(), Error> {
        match content {
            Content::Register(check) => return self.ftl.pages.program_loaded(page, check, tag),
            Content::Buffer(check) => return self.ftl.pages.program_made(page, check, tag),
            Content::Source => {}
        }
        let page_bytes = self.ftl.layout.geometry.page_bytes as usize;
        let here = index as usize * page_bytes..(index as usize + 1) * page_bytes;
        let data = match *source {
            Source::Whole { bytes, .. } => &bytes[here],
            Source::Cached { slot } => &self.cache.page(slot)[here],
            _ => return self.ftl.pages.program_buffer(page, tag),
        };
        self.ftl.pages.program(page, data, 0, None, tag)
    }

    /// Returns the head that programs a frame. Call it once for each frame, because it counts the
    /// write for the choice of streams.
    fn head_for(&mut self, logical: u32, source: &Source<'_>) -> HeadIndex {
        let named = match *source {
            Source::Copy { loaded, .. } => {
                return self.ftl.space.moved_head(&self.ftl.layout, loaded);
            }
            Source::Leaf => return HeadIndex::USER,
            Source::Whole { stream, .. } | Source::Merged { piece: Piece { stream, .. }, .. } => {
                self.ftl.layout.stream(stream)
            }
            Source::Cached { slot } => self.cache.stream(slot),
            // The stream of these pages is unknown: they are written to make room in the journal
            // buffer, or as copies.
            Source::Earlier { .. } | Source::Edited { .. } => 0,
        };
        let (sequence, room) = (self.ftl.space.sequence(), self.ftl.layout.frame_count());
        let found = self
            .ftl
            .space
            .lifetimes(&self.ftl.layout)
            .map(|mut lifetimes| lifetimes.written(logical, sequence, room));
        self.ftl.space.user_head(&self.ftl.layout, found.unwrap_or(named))
    }
}
