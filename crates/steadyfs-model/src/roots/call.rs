//! The calls, and what must hold after each.

use super::chip::{At, Cell, Kind, Root};
use super::luck::Luck;
use super::machine::{Machine, Step, Stop};
use super::rules::Rule;
use super::state::{Ram, Scope, State, Told, Violation};
use crate::choices::Choices;
use std::collections::BTreeMap;

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// The power comes on.
    Mount,
    /// The power goes off between two operations.
    PowerOff,
    /// A head of the log writes a new value.
    Write(u8),
    /// A root in normal operation.
    Root,
    /// The last root: the volume is ended.
    Close,
    /// What older roots need is destroyed.
    Destroy,
    /// While the power is off, a page is lost for good.
    Lose,
}

/// A call with the answers to what was not determined, and what it led to.
#[derive(Clone, PartialEq)]
pub struct Action {
    /// The call.
    pub call: Call,
    /// The answers.
    pub answers: Vec<u8>,
    /// The state after it.
    pub state: Box<State>,
}

impl std::fmt::Debug for Action {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let broken = self.state.broken.map(|violation| format!(" {violation:?}")).unwrap_or_default();
        let told = self.state.told.map(|told| format!(" told {told:?}")).unwrap_or_default();
        let off = if self.state.ram.is_none() && !matches!(self.call, Call::PowerOff | Call::Close) { " cut" } else { "" };
        write!(out, "{:?}{:?}{off}{told}{broken}", self.call, self.answers)
    }
}

impl State {
    /// All that may follow.
    pub fn follow(&self, scope: &Scope, actions: &mut Vec<Action>) {
        for &call in scope.calls.iter().filter(|&&call| self.may(scope, call)) {
            let mut choices = Choices::default();
            loop {
                let state = Box::new(self.after(scope, call, &mut choices));
                actions.push(Action { call, answers: choices.answers(), state });
                if !choices.advance() {
                    break;
                }
            }
        }
    }

    /// Whether a call makes sense now.
    pub fn may(&self, scope: &Scope, call: Call) -> bool {
        let spaced = scope.has(Rule::Spaced) && !scope.twin;
        match (&self.ram, call) {
            _ if self.broken.is_some() => false,
            (None, Call::Mount) => true,
            (None, Call::Lose) => self.chip.budget.losses > 0 && self.lost.is_none() && !self.losable().is_empty(),
            (None, _) | (Some(_), Call::Mount | Call::Lose) => false,
            (Some(_), Call::PowerOff) => true,
            (Some(_), Call::Write(head)) => head < scope.heads,
            (Some(ram), _) if ram.untouched.is_some() => false,
            (Some(ram), Call::Root) => ram.names >= 2 || !spaced,
            (Some(ram), Call::Close) => ram.names >= 1 || !spaced,
            (Some(ram), Call::Destroy) => self.promise.gone < limit(scope, ram) && ram.names >= if scope.has(Rule::Twice) { 2 } else { 1 },
        }
    }

    /// The state after a call.
    pub fn after(&self, scope: &Scope, call: Call, luck: &mut dyn Luck) -> Self {
        let State { chip, ram, promise, .. } = self.clone();
        let mut machine = Machine { scope, chip, ram, promise, memo: BTreeMap::new(), misread: false, luck };
        if call == Call::Lose {
            return self.lose(scope, machine.luck);
        }
        let end = machine.call(call);
        self.end(machine, call, end)
    }

    /// Ends a call: what the caller may rely on from now on, and whether it is so.
    fn end(&self, machine: Machine<'_>, call: Call, end: Step) -> Self {
        let Machine { scope, chip, ram, promise, misread, .. } = machine;
        let mut state = State { chip, ram, promise, lost: self.lost, told: None, broken: None };
        match end {
            Ok(()) if call == Call::Mount => {
                let ram = state.ram.as_ref().expect("a mount leaves RAM");
                state.broken = state.not_steady(scope, ram);
                (state.promise.acknowledged, state.promise.flying) = (ram.next.values, None);
            }
            Ok(()) if matches!(call, Call::Close | Call::PowerOff) => state.ram = None,
            Ok(()) => {}
            Err(Stop::Told(told)) => {
                state.ram = None;
                state.told = Some(told);
                state.broken = (!misread).then(|| state.told_wrongly(told)).flatten();
            }
            Err(Stop::Broken(violation)) => state.broken = Some(violation),
            Err(_) => state.ram = None,
        }
        state
    }

    /// Whether a mount had no reason to refuse, given that no read failed in it.
    fn told_wrongly(&self, told: Told) -> Option<Violation> {
        match self.lost {
            None => Some(Violation::ToldWithoutCause(told)),
            Some(At::Ring(block, page)) => {
                let page = self.chip.ring[usize::from(block)].get(usize::from(page));
                let is_copy = page.is_some_and(|page| page.cell == Cell::Lost && matches!(page.kind, Kind::Copy(_)));
                (!is_copy).then_some(Violation::RefusedForRing(told))
            }
            _ => None,
        }
    }

    /// Whether what the state needs may read differently at the next mount.
    fn not_steady(&self, scope: &Scope, ram: &Ram) -> Option<Violation> {
        let cell = |at| match at {
            At::Nowhere => Some(Cell::Whole),
            At::Log(head, place) => self.chip.log[usize::from(head)].get(&place).map(|record| record.cell),
            At::Ring(block, page) => self.chip.ring[usize::from(block)].get(usize::from(page)).map(|page| page.cell),
        };
        let is_bad = |head: usize| !matches!(cell(ram.next.at[head]), Some(Cell::Whole | Cell::Lost));
        scope.heads().any(is_bad).then_some(Violation::NotSteady)
    }

    /// The pages that may be lost: all whole ones but the newest record, which nobody can tell from one that was cut.
    pub fn losable(&self) -> Vec<At> {
        let ring = self.chip.ring.iter().enumerate().flat_map(|(block, pages)| {
            let whole = pages.iter().enumerate().filter(|(_, page)| page.cell == Cell::Whole);
            whole.map(move |(index, _)| At::Ring(block as u8, index as u8))
        });
        let log = self.chip.log.iter().enumerate().flat_map(|(head, places)| {
            let whole = places.iter().filter(|(_, record)| record.cell == Cell::Whole);
            whole.map(move |(&place, _)| At::Log(head as u8, place))
        });
        let newest = self.chip.newest_record();
        ring.chain(log.filter(|&at| Some(at) != newest)).collect()
    }

    fn lose(&self, _: &Scope, luck: &mut dyn Luck) -> Self {
        let pages = self.losable();
        let at = pages[usize::from(luck.choose(pages.len() as u8))];
        let mut state = self.clone();
        state.lose_page(at);
        state.chip.budget.losses -= 1;
        state
    }

    /// Loses a page.
    pub fn lose_page(&mut self, at: At) {
        self.lost = Some(at);
        match at {
            At::Ring(block, page) => self.chip.ring[usize::from(block)][usize::from(page)].cell = Cell::Lost,
            At::Log(head, place) => {
                self.chip.log[usize::from(head)].get_mut(&place).expect("the record is there").cell = Cell::Lost;
            }
            At::Nowhere => {}
        }
    }
}

/// The oldest root whose records are kept once the newest is certain.
fn oldest(scope: &Scope, ram: &Ram) -> Root {
    if scope.has(Rule::History) && !scope.twin { ram.before.root } else { ram.newest.root }
}

/// Roots of smaller numbers than this are not needed any more, once the newest one is certain.
fn limit(scope: &Scope, ram: &Ram) -> u32 {
    oldest(scope, ram).number
}

impl Machine<'_> {
    fn call(&mut self, call: Call) -> Step {
        match call {
            Call::Mount => self.mount(),
            Call::Write(head) => self.write(head.into()),
            Call::Root => self.root(false),
            Call::Close => self.root(true),
            Call::Destroy => {
                self.destroy();
                Ok(())
            }
            Call::PowerOff | Call::Lose => Ok(()),
        }
    }

    /// Destroys the records that neither the newest root nor the one before it needs.
    fn destroy(&mut self) {
        let ram = *self.ram();
        let oldest = oldest(self.scope, &ram);
        self.promise.gone = oldest.number;
        for (head, places) in self.chip.log.iter_mut().enumerate() {
            for (&place, record) in places.iter_mut().take_while(|(place, _)| **place < oldest.heads[head]) {
                let at = At::Log(head as u8, place);
                if ![oldest, ram.newest.root, ram.next].iter().any(|root| root.at[head] == at) {
                    record.cell = Cell::Gone;
                }
            }
        }
    }
}
