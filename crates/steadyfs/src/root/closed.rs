//! Search for the root that ended the use of a volume, if nothing came behind it.
//!
//! ```text
//! the ring block with the largest number: | … | closed root | journal | its copies | blank … |
//! any other one:                          blank, or older roots
//! ```
//!
//! After a clean end, the first program goes into the ring. It is a root with a larger number in
//! another block, which is not closed, or a mark behind the closed root. So the newest root is
//! the volume's state if all of these hold:
//!
//! - It is closed, and no mark lies behind it.
//! - Each page of the root and of its copies can be read.
//! - The rest of the block is blank.
//! - Every other block shows the number of its first root, or is blank, or was bad before. So no
//!   newer root can be there.
//!
//! Here all remains of a cut are doubtful, and none are repaired. A [search](super::Search) that
//! recovers does that.

use super::Search;
use super::scan::newest_below;
use crate::error::Error;
use crate::format::root::BYTES;
use crate::media::Flash;
use crate::space::{NONE, State};

impl<F: Flash> Search<'_, '_, F> {
    /// Reads the newest root into the tables. Returns `false` unless it is closed, and nothing
    /// can have been programmed since. [`find`](Self::find) would begin with the same root, at
    /// every mount.
    pub fn find_closed(&mut self) -> Result<bool, Error> {
        let firsts = self.first_numbers()?;
        let Some((place, _)) = newest_below(&firsts, u32::MAX) else { return Ok(false) };
        // A closed root is the last content of its block, so the search begins at the end.
        let end =
            self.find_end(self.ring.block(place) * self.tables.layout.geometry.pages_per_block)?;
        Ok(self.read_closed(place, end)?
            && !self.is_marked(place, end)?
            && !self.has_doubtful_place()?)
    }

    /// Reads the root whose copies end at a page of a ring block into the tables. Returns
    /// whether it is closed, each of its pages and of its copies can be read, and no repair was
    /// begun.
    fn read_closed(&mut self, place: u32, end: u32) -> Result<bool, Error> {
        let (mut header, mut number) = ([0; BYTES], None);
        let (pages, programs) = (self.tables.layout.root_pages, self.tables.layout.root_programs);
        let Some(copies) = end.checked_sub(programs - pages) else { return Ok(false) };
        // The copies come first: they name the journal page that lies before them.
        for index in pages..programs {
            if !self.is_root_page(place, copies + index - pages, index, &mut number)? {
                return Ok(false);
            }
            // The first copy fills the tables; further copies only have to be readable.
            if index < 2 * pages {
                self.tables.exchange(&mut header, index - pages, true);
            }
        }
        let flags = self.adopt_root(&header);
        let ends_the_use = flags.is_some_and(|flags| !flags.unchecked) && self.ring.closed;
        if !ends_the_use {
            return Ok(false);
        }
        // The copies name the journal page between them and the root.
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

    /// Returns true if page `index` of a root and its copies can be read at a page of a ring
    /// block. The first page that is read determines the number of the root.
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

    /// Returns true if a mark behind a closed root shows that the volume was opened. The root
    /// ends at page `end` of a ring block. At the end of the block there can be no mark.
    fn is_marked(&mut self, place: u32, end: u32) -> Result<bool, Error> {
        let pages = self.tables.layout.geometry.pages_per_block;
        Ok(self.tables.layout.programs_bytes()
            && end < pages
            && self.is_opened(self.ring.block(place) * pages + end)?)
    }

    /// Returns true if a ring block has undetermined content, and was not bad before the root in
    /// the tables.
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
