//! The result of a call, and the checks after it.

use super::call::Call;
use super::chip::{Cell, Chip, LOG, Page, Record, Root, Seen, Stop};
use super::machine::{Machine, Step};
use super::rules::Rule;
use super::scope::Scope;
use super::state::{Ram, State};
use super::violation::Violation;
use crate::choices::Choices;
use std::collections::HashSet;

/// A call with the answers to its choices, and its result.
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
        let broken =
            self.state.broken.map(|violation| format!(" {violation:?}")).unwrap_or_default();
        let off = if self.state.ram.is_none() { " off" } else { "" };
        write!(out, "{:?}{:?}{off}{broken}", self.call, self.answers)
    }
}

impl State {
    /// Makes a formatted chip without power.
    pub fn formatted(scope: &Scope) -> Self {
        let mut state = State::blank(scope);
        let full = std::mem::replace(&mut state.chip, State::blank(scope).chip);
        (state.chip.cuts, state.chip.failures, state.chip.reads) = (0, 0, 0);
        let mut choices = Choices::default();
        let ram = state.ram.take().unwrap_or_default();
        let mut machine = Machine {
            scope,
            chip: state.chip.clone(),
            ram,
            choices: &mut choices,
            seen: Vec::new(),
        };
        machine.write_root().expect("nothing fails while a chip is formatted");
        state.promise.needed = machine.ram.root.number;
        state.chip.ring = machine.chip.ring;
        (state.chip.cuts, state.chip.failures, state.chip.reads) =
            (full.cuts, full.failures, full.reads);
        state
    }

    /// Adds all actions that may follow.
    pub fn follow(&self, scope: &Scope, actions: &mut Vec<Action>) {
        if self.broken.is_some() {
            return;
        }
        if self.ram.is_none() {
            if self.chip.losses > 0 {
                self.follow_call(scope, Call::Lose, actions);
            }
            self.mount(scope, actions);
            return;
        }
        for &call in scope.calls {
            self.follow_call(scope, call, actions);
        }
    }

    fn follow_call(&self, scope: &Scope, call: Call, actions: &mut Vec<Action>) {
        let mut choices = Choices::default();
        loop {
            if let Some(state) = self.after(scope, call, &mut choices) {
                actions.push(Action { call, answers: choices.answers(), state: Box::new(state) });
            }
            if !choices.advance() {
                break;
            }
        }
    }

    /// Adds all mounts: first the states that a mount may find, then the actions that may follow
    /// from each.
    fn mount(&self, scope: &Scope, actions: &mut Vec<Action>) {
        let (mut choices, mut seen) = (Choices::default(), HashSet::new());
        loop {
            let mut machine = Machine {
                scope,
                chip: self.chip.clone(),
                ram: Ram::default(),
                choices: &mut choices,
                seen: Vec::new(),
            };
            let result = machine.find_state();
            let (chip, ram) = (machine.chip, machine.ram);
            if seen.insert((ram.clone(), chip.reads, format!("{result:?}"))) {
                let answers = choices.answers();
                match result {
                    Ok(()) => self.mount_found(scope, &chip, &ram, &answers, actions),
                    Err(stop) => {
                        let state =
                            State { chip, ..self.clone() }.end(scope, Call::Mount, ram, Err(stop));
                        actions.push(Action { call: Call::Mount, answers, state: Box::new(state) });
                    }
                }
            }
            if !choices.advance() {
                break;
            }
        }
    }

    fn mount_found(
        &self,
        scope: &Scope,
        chip: &Chip,
        ram: &Ram,
        found: &[u8],
        actions: &mut Vec<Action>,
    ) {
        let mut choices = Choices::default();
        loop {
            let mut machine = Machine {
                scope,
                chip: chip.clone(),
                ram: ram.clone(),
                choices: &mut choices,
                seen: Vec::new(),
            };
            if let Some(newest) = ram.root.newest.filter(|_| !scope.every_look)
                && let Cell::Good(page) | Cell::Unsteady(page) = chip.cell(newest)
            {
                // The root search read it already.
                machine.seen.push((newest, Seen::Page(page)));
            }
            let settles = !ram.root.closed && !ram.damaged && scope.has(Rule::SettleRoot);
            let known = if ram.damaged { Ok(()) } else { machine.know_blank_places() };
            let result = known.and_then(|()| if settles { machine.settle() } else { Ok(()) });
            let (chip, ram) = (machine.chip, machine.ram);
            let state = State { chip, ..self.clone() }.end(scope, Call::Mount, ram, result);
            let answers = [found, &choices.answers()].concat();
            actions.push(Action { call: Call::Mount, answers, state: Box::new(state) });
            if !choices.advance() {
                break;
            }
        }
    }

    /// Returns the state after a call other than a mount, or `None` if the call is refused.
    fn after(&self, scope: &Scope, call: Call, choices: &mut Choices) -> Option<State> {
        let mut state = self.clone();
        let Some(ram) = state.ram.take() else { return state.lose(choices).then_some(state) };
        let mut machine =
            Machine { scope, chip: state.chip.clone(), ram, choices, seen: Vec::new() };
        let result = match call {
            Call::PowerOff => Err(Stop::Cut),
            Call::Save => state.save(&mut machine),
            Call::Root if !machine.ram.root.closed => machine.write_root(),
            Call::End if !machine.ram.root.closed => {
                machine.ram.root.closed = true;
                machine.write_root()
            }
            _ => return None,
        };
        if result == Err(Stop::Failed) {
            return None;
        }
        state.chip = machine.chip;
        Some(state.end(scope, call, machine.ram, result))
    }

    fn save(&mut self, machine: &mut Machine<'_>) -> Step {
        if machine.ram.root.closed {
            machine.open_ring()?;
        }
        // From here on, data that only older roots need may be destroyed.
        self.promise.needed = self.promise.needed.max(machine.ram.root.number);
        let (value, at) = (machine.ram.value + 1, (LOG, machine.ram.root.head));
        self.promise.attempted = Some(value);
        self.promise.last.get_or_insert(at.1);
        let record = Page::Record(Record { value, sequence: machine.ram.root.sequence });
        machine.chip.program(at, record, machine.choices)?;
        self.promise.last = Some(at.1);
        (machine.ram.value, machine.ram.unreadable) = (value, false);
        machine.ram.root = Root {
            newest: Some(at),
            head: at.1 + 1,
            sequence: machine.ram.root.sequence + 1,
            ..machine.ram.root
        };
        Ok(())
    }

    /// Loses a page. The last complete record of all stays, and so does a cut record behind it:
    /// no mount can distinguish the two.
    fn lose(&mut self, choices: &mut Choices) -> bool {
        let ring = self
            .chip
            .ring
            .iter()
            .zip(0..)
            .flat_map(|(block, place)| (0..block.len() as u8).map(move |page| (place, page)));
        let log = (0..self.chip.log.len() as u8)
            .filter(|&at| self.promise.last.is_none_or(|last| at < last))
            .map(|at| (LOG, at));
        let pages: Vec<_> =
            ring.chain(log).filter(|&at| matches!(self.chip.cell(at), Cell::Good(_))).collect();
        if pages.is_empty() {
            return false;
        }
        *self.chip.cell_mut(*choices.of(&pages)) = Cell::Lost;
        self.chip.losses -= 1;
        self.promise.lost = true;
        true
    }

    /// Ends a call: updates the caller's promise, and checks that it is kept.
    fn end(mut self, scope: &Scope, call: Call, mut ram: Ram, result: Step) -> Self {
        let has_lost = self.chip.losses < scope.losses;
        let promise = &mut self.promise;
        match result {
            Err(Stop::Broken(violation)) => self.broken = Some(violation),
            Err(_) => {}
            // The volume can only be read, and reports that.
            Ok(()) if call == Call::Mount && ram.damaged => {
                let may_be = has_lost || self.chip.reads < scope.reads || scope.may_alarm;
                self.broken = (!may_be).then_some(Violation::ToldForNothing);
            }
            Ok(()) if call == Call::Mount => {
                if ram.unreadable {
                    // A read of the value reports the loss, and the caller may store another
                    // value.
                    ram.value = promise.attempted.unwrap_or(promise.committed);
                    self.broken = (!promise.lost).then_some(Violation::Unreadable);
                } else if ram.value != promise.committed && Some(ram.value) != promise.attempted {
                    self.broken = Some(Violation::CommitLost);
                }
                if self.broken.is_none() && ram.root.number < promise.needed {
                    self.broken = Some(Violation::OldRoot);
                }
                (promise.committed, promise.attempted) = (ram.value, None);
                promise.lost = ram.unreadable;
                if !ram.root.closed {
                    promise.needed = ram.root.number;
                    promise.last = None;
                }
                self.ram = Some(ram);
            }
            Ok(()) => {
                promise.committed = ram.value;
                promise.attempted = None;
                promise.lost = ram.unreadable;
                if call != Call::Save {
                    promise.last = None;
                }
                self.ram = Some(ram).filter(|_| call != Call::End);
            }
        }
        self
    }
}
