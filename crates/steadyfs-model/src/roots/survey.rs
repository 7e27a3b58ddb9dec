//! What a mount reads in the ring.

use super::chip::{Kind, Number, Page, Root, Seen};
use super::machine::{Machine, Step};
use super::rules::Rule;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What the ring says of a root.
#[derive(Clone, Copy, Debug)]
pub struct Traces {
    /// What it stores, if any page of it can be read; else its number only.
    pub root: Root,
    /// Its block.
    pub block: u8,
    /// Which of its pages can be read, a bit each; in a copy as well.
    pub parts: u8,
    /// The same, without copies.
    own_parts: u8,
    /// Which pages of its first seal can be read.
    pub first_seal: u8,
    /// How many pages of seals can be read.
    pub seals: u8,
    /// A seal is proved to be complete by what lies behind it.
    pub is_sealed_for_good: bool,
    /// A page of a seal can be read that is not the first one: the first one was complete.
    pub has_later: bool,
    /// A page of its second seal can be read.
    pub has_second: bool,
    /// A page of it was not read well each time.
    pub is_unsteady: bool,
    /// Page behind its first seal.
    pub behind_seal: u8,
}

/// All roots of which there are traces, by number.
pub type Survey = BTreeMap<Number, Traces>;

impl Machine<'_> {
    /// The ring blocks that are not blank, in the order in which a mount looks at them: those whose first page cannot be read, and
    /// then the others from the largest number down.
    pub fn first_pages(&mut self) -> Step<Vec<u8>> {
        let mut blocks = Vec::new();
        for block in 0..self.scope.ring {
            match self.look_ring(block, 0)? {
                Seen::Blank => {}
                Seen::Damaged => blocks.push((Number::MAX, block)),
                Seen::Good(page, _) => blocks.push((page.root.number, block)),
            }
        }
        blocks.sort_unstable_by_key(|&(number, block)| (Reverse(number), block));
        Ok(blocks.into_iter().map(|(_, block)| block).collect())
    }

    /// Adds what a ring block says; the numbers that it says something of.
    pub fn survey(&mut self, survey: &mut Survey, block: u8) -> Step<Vec<Number>> {
        let pages = self.survey_block(block)?;
        let mut numbers = Vec::new();
        for (at, &(index, seen)) in pages.iter().enumerate() {
            let behind = pages.get(at + 1).filter(|next| next.0 == index + 1).is_some_and(|next| next.1.is_touched());
            if let Seen::Good(page, unsteady) = seen
                && !matches!(page.kind, Kind::Mark | Kind::Nothing)
            {
                self.trace(survey, block, index, page, unsteady, behind);
                numbers.push(page.root.number);
            }
        }
        numbers.dedup();
        for number in &numbers {
            self.pass_over_copies(survey.get_mut(number).expect("it was just traced"));
        }
        Ok(numbers)
    }

    /// Forgets what a rule that is taken away would have seen.
    fn pass_over_copies(&self, traces: &mut Traces) {
        if !self.scope.has(Rule::Copy) {
            traces.parts = traces.own_parts;
        }
        if !self.scope.has(Rule::AnyName) && traces.own_parts != self.whole() {
            traces.seals = 0;
            traces.has_second = false;
        }
    }

    /// All pages of a root, a bit each.
    pub fn whole(&self) -> u8 {
        (1 << self.scope.parts) - 1
    }

    /// Of a ring block the first page, the end by bisection, and some pages before it.
    fn survey_block(&mut self, block: u8) -> Step<Vec<(u8, Seen<Page>)>> {
        let first = self.look_ring(block, 0)?;
        let (mut low, mut high) = (1, self.scope.pages);
        while low < high {
            let middle = (low + high) / 2;
            if self.look_ring(block, middle)?.is_touched() { low = middle + 1 } else { high = middle }
        }
        let mut pages = vec![(0, first)];
        for index in low.saturating_sub(self.scope.window()).max(1)..low {
            pages.push((index, self.look_ring(block, index)?));
        }
        Ok(pages)
    }

    fn trace(&self, survey: &mut Survey, block: u8, index: u8, page: Page, unsteady: bool, behind: bool) {
        let Page { kind, part, root, .. } = page;
        let traces = survey.entry(root.number).or_insert(Traces {
            root,
            block,
            parts: 0,
            own_parts: 0,
            first_seal: 0,
            seals: 0,
            is_sealed_for_good: false,
            has_later: false,
            has_second: false,
            is_unsteady: false,
            behind_seal: 0,
        });
        if matches!(kind, Kind::Copy(_)) {
            return;
        }
        traces.root = root;
        traces.parts |= 1 << part;
        traces.is_unsteady |= unsteady;
        let is_last = part + 1 == self.scope.parts;
        let may_be_mark = kind == Kind::First && is_last && root.closed && self.scope.mark;
        let proof = behind && !(may_be_mark && self.scope.has(Rule::MarkIsNoProof));
        match kind {
            Kind::Root => traces.own_parts |= 1 << part,
            Kind::First | Kind::Second => {
                traces.seals += 1;
                traces.is_sealed_for_good |= proof;
                traces.has_second |= kind == Kind::Second;
                traces.has_later |= kind == Kind::Second || part > 0;
            }
            _ => {}
        }
        if kind == Kind::Root {
            traces.behind_seal = index - part + 2 * self.scope.parts;
        } else if kind == Kind::First {
            traces.first_seal |= 1 << part;
            traces.behind_seal = index - part + self.scope.parts;
        }
    }
}
