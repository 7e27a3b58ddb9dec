//! What a mount reads in the ring.

use super::chip::{Kind, Number, Page, Root, Seen};
use super::machine::{Machine, Step};
use super::rules::Rule;
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
    /// Reads the ring: of each block the first page, the end by bisection, and some pages before it.
    pub fn survey(&mut self) -> Step<Survey> {
        let mut survey = Survey::new();
        for block in 0..self.scope.ring {
            let pages = self.survey_block(block)?;
            for (at, &(index, seen)) in pages.iter().enumerate() {
                let behind = pages.get(at + 1).filter(|next| next.0 == index + 1).is_some_and(|next| next.1.is_touched());
                if let Seen::Good(page, unsteady) = seen {
                    self.trace(&mut survey, block, index, page, unsteady, behind);
                }
            }
        }
        let whole = self.whole();
        for traces in survey.values_mut() {
            if !self.scope.has(Rule::Copy) {
                traces.parts = traces.own_parts;
            }
            if !self.scope.has(Rule::AnyName) && traces.own_parts != whole {
                traces.seals = 0;
                traces.has_second = false;
            }
        }
        Ok(survey)
    }

    /// All pages of a root, a bit each.
    pub fn whole(&self) -> u8 {
        (1 << self.scope.parts) - 1
    }

    fn survey_block(&mut self, block: u8) -> Step<Vec<(u8, Seen<Page>)>> {
        let first = self.look_ring(block, 0)?;
        if !first.is_touched() {
            return Ok(Vec::new());
        }
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
        if matches!(kind, Kind::Mark | Kind::Nothing) {
            return;
        }
        let traces = survey.entry(root.number).or_insert(Traces {
            root,
            block,
            parts: 0,
            own_parts: 0,
            first_seal: 0,
            seals: 0,
            is_sealed_for_good: false,
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
