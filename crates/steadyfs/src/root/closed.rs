//! Search for the root that ended the use of a volume, if nothing was programmed behind it.
//!
//! ```text
//! the ring block with the largest number: | … | closed root | journal | its copies | blank … |
//! any other one:                          blank, or older roots
//! ```
//!
//! After a clean end, the first program is always made in the ring. It is either a mark behind the
//! closed root, or a root with a larger number in another block that is not closed. So the newest
//! root is the volume's state if all of these conditions hold:
//!
//! - The root is closed, and no mark lies behind it.
//! - Each page of the root and of its copies can be read.
//! - The rest of the block is blank.
//! - Every other ring block shows the number of its first root, or is blank, or is bad according to
//!   the root. So no newer root can be there.
//!
//! This search refuses every volume that shows a trace of a power cut. A [search](super::Search)
//! that recovers repairs such a volume.

use super::Search;
use super::scan::newest_below;
use crate::error::Error;
use crate::format::root::BYTES;
use crate::media::Flash;
use crate::space::{NONE, State};

impl<F: Flash> Search<'_, '_, F> {
    /// Reads the newest root into the tables. Returns true only if the root is closed and nothing
    /// can have been programmed since. In that case, [`find`](Self::find) finds the same root at
    /// every mount.
    pub fn find_closed(&mut self) -> Result<bool, Error> {
        let firsts = self.first_numbers()?;
        let Some((place, _)) = newest_below(&firsts, u32::MAX) else { return Ok(false) };
        // A closed root is the last content of its block, so its copies end at the end of the
        // programmed pages.
        let end =
            self.find_end(self.ring.block(place) * self.tables.layout.geometry.pages_per_block)?;
        Ok(self.read_closed(place, end)?
            && !self.is_marked(place, end)?
            && !self.has_doubtful_place()?)
    }

    /// Reads a root into the tables; its copies end before page `end` of a ring block. Returns true
    /// if the root is closed, no repair is unfinished, and all pages of the root and of its copies
    /// can be read.
    fn read_closed(&mut self, place: u32, end: u32) -> Result<bool, Error> {
        let (mut header, mut number) = ([0; BYTES], None);
        let (pages, programs) = (self.tables.layout.root_pages, self.tables.layout.root_programs);
        let Some(copies) = end.checked_sub(programs - pages) else { return Ok(false) };
        // The copies are read first, because they name the journal page that lies before them.
        for index in pages..programs {
            if !self.is_root_page(place, copies + index - pages, index, &mut number)? {
                return Ok(false);
            }
            // The first copy fills the tables. Further copies only have to be readable.
            if index < 2 * pages {
                self.tables.exchange(&mut header, index - pages, true);
            }
        }
        let flags = self.adopt_root(&header);
        let ends_the_use = flags.is_some_and(|flags| !flags.unchecked) && self.ring.closed;
        if !ends_the_use {
            return Ok(false);
        }
        // If the copies name a journal page in the ring, it lies between the root and its copies.
        let copy = self.tables.space.journal_copy();
        let is_between = copy != NONE && self.ring.has(self.tables.space.journal_block(copy));
        let journal = if is_between { self.tables.layout.journal_pages() } else { 0 };
        let Some(root) = copies.checked_sub(journal + pages) else { return Ok(false) };
        for index in 0..pages {
            if !self.is_root_page(place, root + index, index, &mut number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a page of a ring block can be read and is page `index` of a root and its
    /// copies. The first page that is read determines the number of the root.
    fn is_root_page(
        &mut self,
        place: u32,
        page: u32,
        index: u32,
        number: &mut Option<u64>,
    ) -> Result<bool, Error> {
        let pages = self.tables.layout.root_pages;
        let tag = self.root_page(place, page)?;
        Ok(tag.is_some_and(|tag| {
            (tag.aux >> 8, tag.logical) == (index / pages, index % pages)
                && *number.get_or_insert(tag.sequence) == tag.sequence
        }))
    }

    /// Returns true if a mark behind a closed root shows that the volume was opened. The root ends
    /// at page `end` of a ring block. If the root fills the block, there is no room for a mark.
    fn is_marked(&mut self, place: u32, end: u32) -> Result<bool, Error> {
        let pages = self.tables.layout.geometry.pages_per_block;
        Ok(self.tables.layout.programs_bytes()
            && end < pages
            && self.is_opened(self.ring.block(place) * pages + end)?)
    }

    /// Returns true if the content of a ring block cannot be determined, and the root in the tables
    /// does not name the block as bad.
    fn has_doubtful_place(&mut self) -> Result<bool, Error> {
        for place in 0..self.tables.layout.ring_count {
            // A readable number or a blank block excludes a newer root.
            let is_known = self.ring.unknown >> place & 1 == 0;
            let is_bad = self.tables.space.blocks().state(self.ring.block(place)) == State::Bad;
            if !is_known && !is_bad && !self.has_no_root(place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
