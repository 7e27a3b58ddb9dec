//! A plain log of blocks: pages are appended to the block of a head, and where blocks run out those with least in use are moved.
//!
//! It is a translation layer as the multi-stream paper has it, and a log-structured file system above one. Victims are chosen without a look at heads; it keeps
//! no journal, loses everything with the power, and promises nothing.

use std::collections::VecDeque;

/// No page, no place.
const NONE: u32 = u32::MAX;

/// What a write did to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A page was programmed, for the caller or by a move, through a head.
    Program { place: u32, head: usize, is_moved: bool },
    /// Nothing of a block is needed any more.
    Freed { block: u32 },
}

/// The log.
pub(super) struct Layer {
    pages_per_block: u32,
    /// Of each page its place, and of each place its page.
    places: Vec<u32>,
    owners: Vec<u32>,
    /// Pages in use of each block.
    live: Vec<u32>,
    /// The block of each head, and the next place in it.
    heads: Vec<Option<(u32, u32)>>,
    /// Heads of the caller; behind them those of moved pages.
    caller_heads: usize,
    free: VecDeque<u32>,
    /// Written blocks by pages in use, and where in that list each is.
    written: Vec<Vec<u32>>,
    at: Vec<u32>,
}

impl Layer {
    /// An erased medium of so many blocks, for so many pages, with so many heads for the caller and for moved pages.
    pub(super) fn new(blocks: u32, pages_per_block: u32, pages: u32, caller_heads: usize, moved_heads: usize) -> Layer {
        let spare = blocks * pages_per_block - pages;
        let needed = (caller_heads + 2 * moved_heads + 2) as u32 * pages_per_block;
        assert!(spare >= needed, "{blocks} blocks of {pages_per_block} are too few for {pages} pages and their heads");
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

    /// Writes a page through a head; what has to be moved goes through the head that `moved_to` names, counted from the first one of moved pages.
    pub(super) fn write(&mut self, page: u32, head: usize, moved_to: &dyn Fn(u32) -> usize, tell: &mut dyn FnMut(Event)) {
        if self.heads[head].is_none() {
            self.clean(moved_to, tell);
        }
        self.append(page, head, false, tell);
    }

    /// Forgets a page.
    pub(super) fn trim(&mut self, page: u32) {
        let place = std::mem::replace(&mut self.places[page as usize], NONE);
        if place != NONE {
            self.drop_place(place);
        }
    }

    /// Pages in use of the written block that has fewest.
    pub(super) fn fewest_in_use(&self) -> u32 {
        self.written.iter().position(|blocks| !blocks.is_empty()).unwrap_or(0) as u32
    }

    /// Moves blocks until the caller may begin one and each head of moved pages one more.
    fn clean(&mut self, moved_to: &dyn Fn(u32) -> usize, tell: &mut dyn FnMut(Event)) {
        let reserve = self.heads.len() - self.caller_heads + 1;
        while self.free.len() <= reserve {
            let victim = self.written.iter().find_map(|blocks| blocks.first().copied()).expect("what is not free is written");
            let live = self.live[victim as usize];
            assert!(live < self.pages_per_block, "the spare pages are more than the heads can hold");
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

    /// A place is not needed any more.
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

    /// Programs for each write, of so many pages in so many blocks, at random.
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
        // Random writes over a share r of all places: more than nothing, less than the moves of blocks that hold as much as the mean, 1 / (1 - r).
        assert!(most > 2.0 && most < 1.0 / (1.0 - 0.9), "{most}");
    }
}
