//! The root that a mount begins with, and the records behind it, as in `root/scan.rs` and
//! `mount/forward.rs`. Nothing is programmed.

use super::chip::{At, LOG, Number, Page, Record, Root, Seen, Sequence, Stop};
use super::machine::{Machine, Step};
use super::rules::Rule;
use super::state::Ram;
use super::violation::Violation;

/// Limit for the gap between two numbers. A smaller gap is a lost record.
const FAILURE_JUMP: Sequence = 16;
/// Maximum number of whole instances of a root: the root and its copies.
const INSTANCES: usize = 3;

/// A root that was found in the ring.
#[derive(Clone, Copy, Debug)]
struct Found {
    root: Root,
    place: u8,
    /// First page of the root and of each copy.
    starts: [Option<u8>; INSTANCES],
    /// Readable pages, one bit each.
    pages: u8,
    seals: u8,
    last_seal: u8,
}

impl Found {
    /// Returns true if a page of a copy can be read.
    fn counts(&self) -> bool {
        self.seals > 0
    }

    /// Returns true if the root counts at every mount.
    fn is_certain(&self) -> bool {
        self.last_seal > 0
    }

    /// Returns true if two pages of the copies can be read.
    fn is_firm(&self) -> bool {
        self.seals > 1
    }
}

/// Returns true if an uncertain root was begun before a certain one with a smaller number. Such a
/// root does not follow the certain one.
fn is_stale(newer: &Found, certain: &Found) -> bool {
    !newer.is_certain()
        && newer.root.follows < certain.root.number
        && certain.root.number < newer.root.number
}

impl Machine<'_> {
    /// Finds the state that was committed last.
    pub fn find_state(&mut self) -> Step {
        let mut below = Number::MAX;
        loop {
            self.ram = Ram::default();
            let lost = self.find_root(below)?;
            self.roll_forward()?;
            self.ram.damaged |= lost;
            match self.ram.uncertain.filter(|_| self.ram.damaged && self.scope.has(Rule::OneBefore))
            {
                Some(number) => below = number,
                None => return Ok(()),
            }
        }
    }

    /// Returns a page of a root, if it can be read as such.
    fn root_page(&mut self, at: At) -> Step<Option<(Root, u8)>> {
        Ok(match self.look(at)? {
            Seen::Page(Page::Root(root, index)) => Some((root, index)),
            _ => None,
        })
    }

    fn is_blank(&mut self, at: At) -> Step<bool> {
        Ok(self.look(at)? == Seen::Blank)
    }

    /// Returns true if a block is blank from one of its pages on. Passes over the gap behind the
    /// root of a mount.
    fn is_blank_from(&mut self, place: u8, page: u8) -> Step<bool> {
        let (root, copied) = (self.scope.root_pages, self.scope.root_pages + self.scope.gap);
        let in_gap = (root..copied).contains(&page) && self.scope.has(Rule::EndPassesGap);
        Ok(self.is_blank((place, page))? && (!in_gap || self.is_blank((place, copied))?))
    }

    /// Returns the number of the first root in a block. If the first page is lost, another page
    /// gives the number.
    fn first_number(&mut self, place: u8) -> Step<Option<Number>> {
        let scope = self.scope;
        let pages = if scope.root_pages > 1 {
            scope.root_pages
        } else {
            1 + scope.gap + 1 + scope.root_programs() - 1
        };
        let pages = if scope.has(Rule::AnotherPageTells) { pages } else { 1 };
        for index in 0..pages {
            if let Some((root, _)) = self.root_page((place, index))? {
                return Ok(Some(root.number));
            }
            if self.is_blank_from(place, index)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Finds the root to begin with, and notes the places that must not be erased. Returns true
    /// if a newer root is missing.
    fn find_root(&mut self, below: Number) -> Step<bool> {
        let mut firsts = Vec::new();
        for place in 0..self.scope.ring {
            match self.first_number(place)? {
                Some(first) => firsts.push((first, place)),
                None => self.ram.unknown |= 1 << place,
            }
        }
        firsts.sort_unstable();
        let (mut base, mut oldest, mut lost) = (None::<Found>, None::<Found>, false);
        let outrank = self.scope.has(Rule::OutrankAllSeen);
        for (first, place) in firsts.into_iter().rev() {
            self.ram.number = self.ram.number.max(if outrank { first } else { 0 });
            let mut end = self.find_end(place)?;
            let behind = end;
            while let Some(found) = self.root_before(place, &mut end)? {
                let counts = found.counts() || !self.scope.has(Rule::SealedRoots);
                self.ram.number =
                    self.ram.number.max(if outrank || counts { found.root.number } else { 0 });
                if !counts || found.root.number >= below {
                    continue;
                }
                let is_there =
                    self.is_whole(&found) && (base.is_some() || self.read_root(&found)?);
                if base.is_none() && is_there && (found.is_firm() || self.has_its_own(&found)?) {
                    base = Some(found);
                    self.ram.next =
                        if self.scope.has(Rule::FreshBlock) { self.scope.pages } else { behind };
                    self.ram.kept |= 1 << found.place;
                }
                if base.is_none() {
                    lost |= self.is_missed(&found);
                    continue;
                }
                if is_there {
                    oldest = Some(found);
                }
                if is_there && found.is_certain() {
                    let is_stale = base.is_some_and(|base| is_stale(&base, &found))
                        && self.scope.has(Rule::CertainIsFollowed);
                    if is_stale && self.read_root(&found)? {
                        (base, self.ram.kept) = (Some(found), 1 << found.place);
                    }
                    self.ram.kept |=
                        if self.scope.has(Rule::CertainIsKept) { 1 << found.place } else { 0 };
                    return self.begin_with(base).map(|()| lost);
                }
            }
        }
        // No root is certain, so the oldest root that counts takes its place.
        self.ram.kept |= oldest.map_or(0, |found| 1 << found.place);
        self.begin_with(base).map(|()| lost)
    }

    fn begin_with(&mut self, base: Option<Found>) -> Step {
        let base = base.ok_or(Stop::Broken(Violation::NoRoot))?;
        let ram = &mut self.ram;
        ram.root = base.root;
        ram.uncertain = (!base.is_firm()).then_some(base.root.number);
        (ram.complete, ram.place) = (base.place, base.place);
        ram.newest = base.root.number;
        let is_newest = ram.number == base.root.number || !self.scope.has(Rule::OnlyNewestIsMarked);
        ram.number += Number::from(self.scope.ring * self.scope.pages);
        if ram.root.closed && self.scope.marks {
            let start = base
                .starts
                .iter()
                .zip(0..)
                .find_map(|(start, copy)| start.map(|start| (start, copy)));
            let behind = start.map_or(0, |(start, copy)| {
                start + self.scope.root_programs() - copy * self.scope.root_pages
            });
            if behind < self.scope.pages {
                let may_mark = base.is_firm() || !self.scope.has(Rule::OnlyFirmRootsAreMarked);
                ram.mark = Some(behind).filter(|_| may_mark && is_newest);
                self.ram.root.closed = self.is_blank((base.place, behind))?;
            }
        }
        Ok(())
    }

    /// Returns the page behind the last page of a block that is not blank.
    fn find_end(&mut self, place: u8) -> Step<u8> {
        let (mut low, mut high) = (1, self.scope.pages);
        while low < high {
            let middle = (low + high) / 2;
            if self.is_blank_from(place, middle)? { high = middle } else { low = middle + 1 }
        }
        Ok(low)
    }

    /// Finds the last root before page `end`, reading backwards.
    fn root_before(&mut self, place: u8, end: &mut u8) -> Step<Option<Found>> {
        let (pages, mut found) = (self.scope.root_pages, None::<Found>);
        while *end > 0 {
            let Some((root, index)) = self.root_page((place, *end - 1))? else {
                *end -= 1;
                continue;
            };
            if found.is_some_and(|found| found.root.number != root.number) {
                break;
            }
            *end -= 1;
            let new =
                Found { root, place, starts: [None; INSTANCES], pages: 0, seals: 0, last_seal: 0 };
            let found = found.get_or_insert(new);
            found.pages |= 1 << (index % pages);
            found.starts[usize::from(index / pages)] = Some(*end - index % pages);
            if index >= pages {
                found.seals += 1;
                found.last_seal = found.last_seal.max(index - pages);
            }
            let found = *found;
            if found.is_certain() && found.starts[0].is_some() && self.is_whole(&found) {
                break;
            }
        }
        Ok(found)
    }

    fn is_whole(&self, found: &Found) -> bool {
        found.pages.count_ones() == u32::from(self.scope.root_pages)
    }

    /// Returns true if a root was complete once, and one of its pages can be read nowhere now.
    fn is_missed(&self, found: &Found) -> bool {
        let missing = (0..self.scope.root_pages).rev().find(|page| found.pages >> page & 1 == 0);
        found.is_certain() && missing.is_some_and(|page| found.last_seal > page)
    }

    /// Reads each page of a root, from any copy that has it.
    fn read_root(&mut self, found: &Found) -> Step<bool> {
        for index in 0..self.scope.root_pages {
            let mut is_there = false;
            for start in found.starts.into_iter().rev().flatten() {
                let page = self.root_page((found.place, start + index))?;
                is_there |= page.is_some_and(|(root, of)| {
                    root == found.root && of % self.scope.root_pages == index
                });
                if is_there {
                    break;
                }
            }
            if !is_there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if the content that a root names in its own block can be read.
    fn has_its_own(&mut self, found: &Found) -> Step<bool> {
        match found
            .root
            .newest
            .filter(|at| at.0 == found.place && self.scope.has(Rule::OneSealNeedsItsOwn))
        {
            Some(at) => Ok(matches!(self.look(at)?, Seen::Page(Page::Record(_)))),
            None => Ok(true),
        }
    }

    /// Applies the records behind the root.
    fn roll_forward(&mut self) -> Step {
        let mut at = self.ram.root.head;
        if !self.ram.root.closed {
            let mut next = self.record(at)?;
            while let Some((place, record)) = next {
                let gap = record.sequence - self.ram.root.sequence;
                self.ram.damaged |= (1..FAILURE_JUMP).contains(&gap);
                self.ram.root.newest = Some((LOG, place));
                self.ram.value = record.value;
                self.ram.root.sequence = record.sequence + 1;
                at = place + 1;
                next = self.record(at)?;
                self.ram.is_unsteady = next.is_none();
            }
        }
        if at == self.ram.root.head {
            match self.ram.root.newest {
                None => self.ram.value = 0,
                Some(newest) => match self.look(newest)? {
                    Seen::Page(Page::Record(record)) => self.ram.value = record.value,
                    // A mount does not look at frames. A read of the value reports the loss.
                    _ if self.scope.frames => self.ram.unreadable = true,
                    _ => self.ram.damaged = true,
                },
            }
        }
        self.ram.root.head = at;
        Ok(())
    }

    /// Returns the record at a place of the log, or behind a damaged one.
    fn record(&mut self, at: u8) -> Step<Option<(u8, Record)>> {
        for place in [at, at + 1] {
            if let Seen::Page(Page::Record(record)) = self.look((LOG, place))?
                && record.sequence >= self.ram.root.sequence
            {
                return Ok(Some((place, record)));
            }
        }
        Ok(None)
    }
}
