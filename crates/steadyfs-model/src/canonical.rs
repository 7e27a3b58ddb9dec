//! Canonical states: of all states that behave the same, one.
//!
//! - Sequences keep their order, and how far apart they are, as long as a mount's jump and what it programs could bridge it.
//! - Values of a logical page keep which of them are equal.
//! - A page that no recovery can name, because it is older than the newest complete checkpoint and nothing durable leads to it, is
//!   only known to be there. Should a recovery lead to it after all, it reads as damaged.
//! - What a metastable page read as is forgotten when the power fails.

use crate::chip::{Cell, Content, IDLE, Kind, NONE, Page, Quality, Sequence};
use crate::recovery::JUMP;
use crate::state::{Checkpoint, LOGICAL, Scope, State};
use std::sync::Arc;

impl State {
    /// Brings the state to its canonical form.
    pub fn canonize(&mut self, scope: &Scope) {
        if self.ram.is_none() {
            self.promise.open = self.promise.committed;
            for cell in &mut self.chip.cells {
                if let Cell::Page(_, _, quality @ Quality::Metastable(Some(_))) = cell {
                    *quality = Quality::Metastable(None);
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
            numbers[index] = numbers[index - 1] + (sequences[index] - sequences[index - 1]).min(2 * JUMP);
        }
        self.each_sequence(&mut |sequence| {
            if let Ok(index) = sequences.binary_search(sequence) {
                *sequence = numbers[index];
            }
        });
        for logical in 0..LOGICAL {
            let mut values = vec![0];
            self.each_value(logical, &mut |value| values.push(*value));
            values.sort_unstable();
            values.dedup();
            self.each_value(logical, &mut |value| *value = values.binary_search(value).map_or(0, |index| index as u8));
        }
    }

    /// The largest value of a logical page.
    pub fn newest_value(&mut self, logical: usize) -> u8 {
        let mut newest = 0;
        self.each_value(logical, &mut |value| newest = newest.max(*value));
        newest
    }

    fn each_sequence(&mut self, visit: &mut impl FnMut(&mut Sequence)) {
        for cell in &mut self.chip.cells {
            if let Cell::Page(tag, content, _) = cell {
                visit(&mut tag.sequence);
                visit(&mut tag.start);
                if let Content::Checkpoint(table) = content {
                    let table = Arc::make_mut(table);
                    visit(&mut table.sequence);
                    visit(&mut table.start);
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
        for cell in &mut self.chip.cells {
            match cell {
                Cell::Page(tag, Content::Data(bytes), _) if usize::from(tag.logical) == logical => {
                    bytes.iter_mut().for_each(&mut *visit)
                }
                Cell::Page(_, Content::Patches(patches), _) => visit(&mut patches[logical]),
                _ => {}
            }
        }
        if let Some(ram) = &mut self.ram {
            visit(&mut ram.patches[logical]);
        }
        let promise = &mut self.promise;
        for pages in [&mut promise.committed, &mut promise.open].into_iter().chain(&mut promise.attempted) {
            pages[logical].iter_mut().for_each(&mut *visit);
        }
    }

    /// The newest checkpoint that is sure to be complete.
    fn newest_checkpoint(&self, scope: &Scope) -> Option<(Page, Arc<Checkpoint>)> {
        let whole = |page: Page| match &self.chip.cells[usize::from(page)] {
            Cell::Page(tag, content, Quality::Good) if tag.kind == Kind::Checkpoint => Some((tag, content)),
            _ => None,
        };
        let begins = |page: Page| {
            let (tag, Content::Checkpoint(table)) = whole(page)? else { return None };
            let rest =
                (1..scope.checkpoint_pages).all(|index| whole(page + index).is_some_and(|(part, _)| part.logical == index));
            rest.then(|| (tag.sequence, page, table.clone()))
        };
        let first = scope.pages_of(scope.blocks.0).start;
        let anchors = first..self.chip.cells.len() as Page + 1 - scope.checkpoint_pages;
        anchors.filter_map(begins).max_by_key(|found| found.0).map(|(_, page, table)| (page, table))
    }

    fn forget_old_pages(&mut self, scope: &Scope) {
        let Some((newest, table)) = self.newest_checkpoint(scope) else { return };
        let anchor = scope.block_of(newest);
        let mut named = Vec::new();
        let mut name = |table: &Checkpoint| {
            named.extend(table.overlay.iter().flatten().map(|entry| entry.0));
            named.extend(table.pending.iter().flatten());
            named.extend([table.root, table.journal_at]);
        };
        name(&table);
        self.ram.iter().for_each(|ram| name(&ram.table));
        for cell in &self.chip.cells {
            match cell {
                Cell::Page(tag, Content::Checkpoint(other), _) if tag.sequence > table.sequence => name(other),
                _ => {}
            }
        }
        for at in 0..self.chip.cells.len() as Page {
            if let Cell::Page(tag, Content::Leaf(frames), _) = &self.chip.cells[usize::from(at)]
                && (named.contains(&at) || tag.sequence >= table.sequence)
            {
                named.extend(frames.iter().filter(|&&frame| frame != NONE));
            }
        }
        let live = self.ram.as_ref().map_or(0, |ram| ram.live);
        for at in 0..self.chip.cells.len() as Page {
            let cell = &mut self.chip.cells[usize::from(at)];
            let Cell::Page(tag, content, quality) = cell else { continue };
            let kept = tag.sequence >= table.sequence || named.contains(&at) || live >> at & 1 != 0;
            if scope.block_of(at) == anchor {
                // The tags of the current anchor say which it is.
                let part = newest..newest + scope.checkpoint_pages;
                if !kept && !part.contains(&at) {
                    *content = Content::Nothing;
                }
            } else if !kept && (!matches!(quality, Quality::Metastable(_)) || !scope.has_forged()) {
                *cell = Cell::Stale;
            }
        }
    }
}
