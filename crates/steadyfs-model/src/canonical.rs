//! Canonical states: one state for all states that behave the same.
//!
//! - Sequences keep their order. They keep their distances as far as a mount's jump and its
//!   programs could bridge them.
//! - Values of a logical page keep their order and their equalities.
//! - Numbers of roots keep their order.
//! - A data page may be out of reach of every mount: it is older than the newest complete root,
//!   and nothing durable leads to it. The state keeps only its presence. If a mount leads to it
//!   after all, it reads as damaged.
//! - The readings of unsteady pages are discarded when the power fails.

use crate::chip::Cell;
use crate::numbers::{IDLE, LOGICAL, LOST, NONE, Page, Sequence};
use crate::page::{Content, Kind, Tag};
use crate::roots::JUMP;
use crate::scope::Scope;
use crate::state::State;
use crate::table::Table;
use std::sync::Arc;

/// Returns the content of a page, whether it is steady or not.
fn held(cell: &Cell) -> Option<(&Tag, &Content)> {
    match cell {
        Cell::Good(tag, content) | Cell::Unsteady(tag, content, _) => Some((tag, content)),
        _ => None,
    }
}

/// Returns the same content, to change it.
fn held_mut(cell: &mut Cell) -> Option<(&mut Tag, &mut Content)> {
    match cell {
        Cell::Good(tag, content) | Cell::Unsteady(tag, content, _) => Some((tag, content)),
        _ => None,
    }
}

impl State {
    /// Brings the state to its canonical form.
    pub fn canonize(&mut self, scope: &Scope) {
        if self.ram.is_none() {
            self.promise.open = self.promise.committed;
            for cell in &mut self.chip.cells {
                if let Cell::Unsteady(_, _, reading) = cell {
                    *reading = None;
                }
                if let Some((_, Content::Leaf(_, log))) = held_mut(cell) {
                    log.reading = None;
                }
            }
        }
        self.forget_old_pages(scope);
        let mut sequences = Vec::new();
        self.each_sequence(&mut |sequence| sequences.push(*sequence));
        sequences.retain(|&sequence| sequence != IDLE);
        sequences.sort_unstable();
        sequences.dedup();
        let mut numbers = vec![1; sequences.len()];
        for index in 1..sequences.len() {
            numbers[index] =
                numbers[index - 1] + (sequences[index] - sequences[index - 1]).min(2 * JUMP);
        }
        self.each_sequence(&mut |sequence| {
            if let Ok(index) = sequences.binary_search(sequence) {
                *sequence = numbers[index];
            }
        });
        self.rank_roots();
        for logical in 0..LOGICAL {
            let mut values = vec![0];
            self.each_value(logical, &mut |value| values.push(*value));
            values.sort_unstable();
            values.dedup();
            self.each_value(logical, &mut |value| {
                *value = values.binary_search(value).map_or(0, |index| index as u8)
            });
        }
    }

    /// Returns the largest value of a logical page.
    pub fn newest_value(&mut self, logical: usize) -> u8 {
        let mut newest = 0;
        self.each_value(logical, &mut |value| newest = newest.max(*value));
        newest
    }

    fn rank_roots(&mut self) {
        let mut numbers = vec![0];
        self.each_number(&mut |number| numbers.push(*number));
        numbers.sort_unstable();
        numbers.dedup();
        self.each_number(&mut |number| {
            *number = numbers.binary_search(number).map_or(0, |index| index as Sequence)
        });
    }

    fn each_number(&mut self, visit: &mut impl FnMut(&mut Sequence)) {
        for (tag, _) in
            self.chip.cells.iter_mut().filter_map(held_mut).filter(|held| held.0.kind == Kind::Root)
        {
            visit(&mut tag.sequence);
            tag.start = tag.sequence;
        }
        if let Some(ram) = &mut self.ram {
            visit(&mut ram.ring.number);
            ram.ring.uncertain.iter_mut().for_each(visit);
        }
    }

    fn each_sequence(&mut self, visit: &mut impl FnMut(&mut Sequence)) {
        for (tag, content) in self.chip.cells.iter_mut().filter_map(held_mut) {
            match content {
                Content::Root(table) => {
                    let table = Arc::make_mut(table);
                    visit(&mut table.sequence);
                    visit(&mut table.start);
                }
                _ => {
                    visit(&mut tag.sequence);
                    visit(&mut tag.start);
                }
            }
        }
        if let Some(ram) = &mut self.ram {
            visit(&mut ram.table.sequence);
            visit(&mut ram.table.start);
            visit(&mut ram.committed_start);
        }
    }

    fn each_value(&mut self, logical: usize, visit: &mut impl FnMut(&mut u8)) {
        let mut visit = |value: &mut u8| {
            if *value != LOST {
                visit(value);
            }
        };
        for (tag, content) in self.chip.cells.iter_mut().filter_map(held_mut) {
            match content {
                Content::Data(bytes) if usize::from(tag.logical) == logical => {
                    bytes.iter_mut().for_each(&mut visit)
                }
                Content::Patches(patches) => visit(&mut patches[logical]),
                _ => {}
            }
        }
        if let Some(ram) = &mut self.ram {
            visit(&mut ram.patches[logical]);
        }
        let promise = &mut self.promise;
        for pages in [&mut promise.committed, &mut promise.open]
            .into_iter()
            .chain(&mut promise.attempted)
            .chain(&mut promise.before)
        {
            pages[logical].iter_mut().for_each(&mut visit);
        }
    }

    /// Returns the newest root that counts at every mount, and its number. Two pages of its copy
    /// are good.
    pub fn newest_root(&self, scope: &Scope) -> Option<(Sequence, Arc<Table>)> {
        let good = |cell: &Cell| match cell {
            Cell::Good(tag, Content::Root(table)) => {
                Some((tag.sequence, tag.logical, table.clone()))
            }
            _ => None,
        };
        let pages: Vec<_> = self.chip.cells.iter().filter_map(good).collect();
        let seals = |number| {
            pages.iter().filter(|page| page.0 == number && page.1 >= scope.root_pages).count()
        };
        let newest = pages.iter().filter(|page| seals(page.0) > 1).max_by_key(|page| page.0)?;
        Some((newest.0, newest.2.clone()))
    }

    fn forget_old_pages(&mut self, scope: &Scope) {
        let Some((number, table)) = self.newest_root(scope) else { return };
        let mut named = Vec::new();
        let mut name = |table: &Table| {
            named.extend(table.overlay.iter().flatten().map(|entry| entry.0));
            named.extend(table.pending.iter().flatten());
            named.extend([table.leaf, table.journal_at]);
        };
        name(&table);
        self.ram.iter().for_each(|ram| name(&ram.table));
        let mut sources = Vec::new();
        for (tag, content) in self.chip.cells.iter().filter_map(held) {
            match content {
                Content::Root(other) if tag.sequence > number => name(other),
                // A move that is the last record may not count.
                Content::Data(_) if tag.kind == Kind::Moved && tag.sequence >= table.sequence => {
                    sources.push(tag.source)
                }
                _ => {}
            }
        }
        named.extend(sources);
        for at in 0..self.chip.cells.len() as Page {
            if let Some((tag, Content::Leaf(frames, log))) = held(&self.chip.cells[usize::from(at)])
                && (named.contains(&at) || tag.sequence >= table.sequence)
            {
                named.extend(frames.iter().filter(|&&frame| frame != NONE));
                named.extend(log.whole.iter().chain(&log.unsteady).flatten());
            }
        }
        let live = self.ram.as_ref().map_or(0, |ram| ram.live);
        for at in 0..self.chip.cells.len() as Page {
            let is_of_ring = scope.is_of_ring(scope.block_of(at));
            let cell = &mut self.chip.cells[usize::from(at)];
            let is_unsteady = matches!(cell, Cell::Unsteady(..)) && scope.has_forged();
            let Some((tag, _)) = held(cell) else { continue };
            let is_kept =
                tag.sequence >= table.sequence || named.contains(&at) || live >> at & 1 != 0;
            if !is_of_ring && !is_kept && !is_unsteady {
                *cell = Cell::Stale;
            }
        }
    }
}
