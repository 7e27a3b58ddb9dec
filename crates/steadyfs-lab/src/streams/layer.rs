//! A plain log of blocks. Pages are appended to the block of a head. If blocks run out, the blocks
//! with the fewest pages in use are moved.
//!
//! It is a translation layer like that in the multi-stream paper, and also a log-structured file
//! system above such a layer. It chooses victims without regard to heads. It keeps no journal,
//! loses everything at a power cut, and promises nothing.

use std::collections::VecDeque;

/// No page, or no place.
const NONE: u32 = u32::MAX;

/// An effect of a write on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A page was programmed, for the caller or by a move, through a head.
    Program { place: u32, head: usize, is_moved: bool },
    /// A block has no needed page any more.
    Freed { block: u32 },
}

/// The log.
pub(super) struct Layer {
    pages_per_block: u32,
    /// Place of each page, and page of each place.
    places: Vec<u32>,
    owners: Vec<u32>,
    /// Number of pages in use in each block.
    live: Vec<u32>,
    /// The block of each head, and the next place in it.
    heads: Vec<Option<(u32, u32)>>,
    /// Number of heads of the caller. The heads of moved pages follow them.
    caller_heads: usize,
    free: VecDeque<u32>,
    /// Written blocks by the number of pages in use, and the index of each block in its list.
    written: Vec<Vec<u32>>,
    at: Vec<u32>,
}

impl Layer {
    /// Returns an erased medium of `blocks` blocks for `pages` pages. It has `caller_heads` heads
    /// for the caller, and `moved_heads` heads for moved pages.
    pub(super) fn new(
        blocks: u32,
        pages_per_block: u32,
        pages: u32,
        caller_heads: usize,
        moved_heads: usize,
    ) -> Layer {
        let spare = blocks * pages_per_block - pages;
        let needed = (caller_heads + 2 * moved_heads + 2) as u32 * pages_per_block;
        assert!(
            spare >= needed,
            "{blocks} blocks of {pages_per_block} are too few for {pages} pages and their heads"
        );
        Layer {
            pages_per_block,
            places: vec![NONE; pages as usize],
            owners: vec![NONE; (blocks * pages_per_block) as usize],
            live: vec![0; blocks as usize],
            heads: vec![None; caller_heads + moved_heads],
            caller_heads,
            free: (0..blocks).collect(),
            written: vec![Vec::new(); pages_per_block as usize + 1],
            at: vec![NONE; blocks as usize],
        }
    }

    /// Writes a page through a head. Moved pages go through the head that `moved_to` returns,
    /// counted from the first head of moved pages.
    pub(super) fn write(
        &mut self,
        page: u32,
        head: usize,
        moved_to: &dyn Fn(u32) -> usize,
        tell: &mut dyn FnMut(Event),
    ) {
        if self.heads[head].is_none() {
            self.clean(moved_to, tell);
        }
        self.append(page, head, false, tell);
    }

    /// Discards a page.
    pub(super) fn trim(&mut self, page: u32) {
        let place = std::mem::replace(&mut self.places[page as usize], NONE);
        if place != NONE {
            self.drop_place(place);
        }
    }

    /// Returns the pages in use of the written block with the fewest.
    pub(super) fn fewest_in_use(&self) -> u32 {
        self.written.iter().position(|blocks| !blocks.is_empty()).unwrap_or(0) as u32
    }

    /// Moves blocks until there are enough free blocks: one for the caller, and one more for each
    /// head of moved pages.
    fn clean(&mut self, moved_to: &dyn Fn(u32) -> usize, tell: &mut dyn FnMut(Event)) {
        let reserve = self.heads.len() - self.caller_heads + 1;
        while self.free.len() <= reserve {
            let victim = self
                .written
                .iter()
                .find_map(|blocks| blocks.first().copied())
                .expect("what is not free is written");
            let live = self.live[victim as usize];
            assert!(
                live < self.pages_per_block,
                "the spare pages are more than the heads can hold"
            );
            self.leave_list(victim);
            let first = victim * self.pages_per_block;
            for place in first..first + self.pages_per_block {
                let page = self.owners[place as usize];
                if page != NONE {
                    self.append(page, self.caller_heads + moved_to(page), true, tell);
                }
            }
            self.free.push_back(victim);
            tell(Event::Freed { block: victim });
        }
    }

    /// Programs a page at a head.
    fn append(&mut self, page: u32, head: usize, is_moved: bool, tell: &mut dyn FnMut(Event)) {
        let begin = || (self.free.pop_front().expect("some are kept free"), 0);
        let (block, next) = self.heads[head].unwrap_or_else(begin);
        let place = block * self.pages_per_block + next;
        let old = std::mem::replace(&mut self.places[page as usize], place);
        if old != NONE {
            self.drop_place(old);
        }
        self.owners[place as usize] = page;
        self.live[block as usize] += 1;
        let is_full = next + 1 == self.pages_per_block;
        self.heads[head] = (!is_full).then_some((block, next + 1));
        if is_full {
            self.join_list(block);
        }
        tell(Event::Program { place, head, is_moved });
    }

    /// Marks a place as no longer needed.
    fn drop_place(&mut self, place: u32) {
        self.owners[place as usize] = NONE;
        let block = place / self.pages_per_block;
        let is_written = self.at[block as usize] != NONE;
        if is_written {
            self.leave_list(block);
        }
        self.live[block as usize] -= 1;
        if is_written {
            self.join_list(block);
        }
    }

    fn join_list(&mut self, block: u32) {
        let list = &mut self.written[self.live[block as usize] as usize];
        self.at[block as usize] = list.len() as u32;
        list.push(block);
    }

    fn leave_list(&mut self, block: u32) {
        let list = &mut self.written[self.live[block as usize] as usize];
        let at = std::mem::replace(&mut self.at[block as usize], NONE);
        list.swap_remove(at as usize);
        if let Some(&other) = list.get(at as usize) {
            self.at[other as usize] = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Returns the programs for each random write, with `pages` pages in `blocks` blocks.
    fn amplification(pages: u32, blocks: u32) -> f64 {
        let mut layer = Layer::new(blocks, 16, pages, 1, 1);
        let (mut rng, mut programs) = (Rng::with_seed(1), 0);
        let mut count = |event| programs += u32::from(matches!(event, Event::Program { .. }));
        (0..pages).for_each(|page| layer.write(page, 0, &|_| 0, &mut count));
        for _ in 0..10 * pages {
            layer.write(rng.u32(..pages), 0, &|_| 0, &mut count);
        }
        f64::from(programs) / f64::from(11 * pages)
    }

    #[test]
    fn each_page_has_one_place_and_the_books_agree() {
        let mut layer = Layer::new(40, 8, 200, 2, 1);
        let mut rng = Rng::with_seed(1);
        for _ in 0..5_000 {
            let page = rng.u32(..200);
            match rng.u32(..8) {
                0 => layer.trim(page),
                draw => layer.write(page, draw as usize % 2, &|_| 0, &mut |_| ()),
            }
            for (page, &place) in layer.places.iter().enumerate() {
                assert!(place == NONE || layer.owners[place as usize] == page as u32);
            }
        }
        for (block, &live) in layer.live.iter().enumerate() {
            let owners = &layer.owners[8 * block..8 * block + 8];
            assert_eq!(owners.iter().filter(|&&owner| owner != NONE).count() as u32, live);
        }
        assert!(layer.free.iter().all(|&block| layer.live[block as usize] == 0));
    }

    #[test]
    fn the_fuller_the_more_is_moved() {
        let [half, most] = [800, 1_440].map(|pages| amplification(pages, 100));
        assert!((1.0..1.2).contains(&half), "{half}");
        // Random writes over a share r of all places have moves. These are fewer than if each
        // victim had the mean number of pages in use, which gives 1 / (1 - r).
        assert!(most > 2.0 && most < 1.0 / (1.0 - 0.9), "{most}");
    }
}
