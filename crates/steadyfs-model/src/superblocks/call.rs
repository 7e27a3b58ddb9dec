//! The calls, and what must hold after each.

use super::anchors::{Machine, Step};
use super::chip::{Cell, Content, NONE, Stop};
use super::state::{BlockState, Scope, State, Violation};
use crate::choices::Choices;

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// The power comes on.
    Mount,
    /// While the power is off, a superblock is lost.
    Lose,
    /// The power goes off between two operations.
    PowerOff,
    /// A new version is stored, by a checkpoint.
    Save,
    /// The next anchor is erased.
    Prepare,
    /// A place of the ring is given to another block; a checkpoint announces it.
    Replace,
    /// A superblock is weak: both are to be written anew.
    Renew,
    /// The superblock that changes is erased, or written.
    Superblock,
    /// A free block is erased and takes data.
    Fill,
    /// A block with data becomes empty.
    Drop,
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
        let off = if self.state.ram.is_none() && self.call != Call::PowerOff { " cut" } else { "" };
        write!(out, "{:?}{:?}{off}{broken}", self.call, self.answers)
    }
}

impl State {
    /// All that may follow.
    pub fn follow(&self, scope: &Scope, actions: &mut Vec<Action>) {
        let calls: &[Call] = match &self.ram {
            None if self.chip.losses == 0 => &[Call::Mount],
            None => &[Call::Mount, Call::Lose],
            Some(ram) if ram.read_only => &[Call::PowerOff],
            Some(_) => scope.calls,
        };
        for &call in calls.iter().filter(|_| self.broken.is_none()) {
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
    }

    /// The state after a call; `None` when there is nothing to do.
    fn after(&self, scope: &Scope, call: Call, choices: &mut Choices) -> Option<Self> {
        let mut state = self.clone();
        if call == Call::Lose {
            // While one block is erased, the other one must not be lost.
            let is_page = |page: u8| matches!(state.chip.cells[usize::from(page)], Cell::Page(..));
            let may_go = |block: u8| is_page(scope.pages_of(1 - block).start);
            let pages = (0..2).filter(|&block| may_go(block)).flat_map(|block| scope.pages_of(block));
            let cells: Vec<usize> = pages.filter(|&page| is_page(page)).map(usize::from).collect();
            if cells.is_empty() {
                return None;
            }
            let lost = *choices.of(&cells);
            if let Cell::Page(_, content) = state.chip.cells[lost] {
                (state.chip.cells[lost], state.chip.losses) = (Cell::Lost(content), state.chip.losses - 1);
            }
            state.broken = state.is_lost_now(scope);
            return Some(state);
        }
        let (machine, result) = match state.ram.take() {
            None => Machine::mount(scope, state.chip.clone(), choices, true),
            Some(ram) => {
                let mut machine = Machine { scope, chip: state.chip.clone(), ram, choices };
                if call != Call::PowerOff {
                    // The first thing after a mount is a journal page among the data.
                    machine.ram.journal_at = NONE;
                }
                let result = machine.call(call, self.promise.newest);
                (machine, result)
            }
        };
        let result = match result {
            Ok(false) => return None,
            result => result.map(|_| ()),
        };
        Some(state.end(machine, call, result))
    }

    /// Ends a call: what the caller may rely on from now on, and whether it is so.
    fn end(mut self, machine: Machine<'_>, call: Call, result: Step) -> Self {
        let Machine { scope, chip, ram, .. } = machine;
        self.chip = chip;
        let failures = scope.failures - self.chip.failures;
        let may_stick = failures > u8::from(scope.anchors > 3);
        let promise = &mut self.promise;
        promise.newest = promise.newest.max(ram.version);
        match result {
            Err(Stop::Broken(violation)) => self.broken = Some(violation),
            Err(Stop::Failed) if !may_stick => self.broken = Some(Violation::Stuck),
            Ok(()) if call == Call::Mount && !promise.allows(ram.version) => self.broken = Some(Violation::WrongVersion),
            Ok(()) if call == Call::Mount && ram.read_only && !may_stick => self.broken = Some(Violation::Stuck),
            Ok(()) if matches!(call, Call::Mount | Call::Save | Call::Replace) && !ram.read_only => {
                (promise.committed, promise.attempted) = (ram.version, None);
            }
            Err(Stop::Cut | Stop::Failed) if call == Call::Save => {
                promise.attempted.get_or_insert(ram.version);
            }
            _ => {}
        }
        if result == Err(Stop::Cut) || call == Call::PowerOff {
            self.chip.power_off();
        } else {
            self.ram = Some(ram);
        }
        self.broken = self.broken.or_else(|| self.is_lost_now(scope));
        self
    }

    /// What would be wrong after a power failure now, however the pages read that are not steady.
    fn is_lost_now(&self, scope: &Scope) -> Option<Violation> {
        let mut choices = Choices::default();
        let mut chip = self.chip.clone();
        chip.power_off();
        loop {
            let (machine, result) = Machine::mount(scope, chip.clone(), &mut choices, false);
            let known = self.promise.allows(machine.ram.version);
            let lost = match result {
                Err(Stop::Broken(violation)) => Some(violation),
                _ if !known => Some(Violation::WrongVersion),
                _ => machine.lost_data(),
            };
            if lost.is_some() || !choices.advance() {
                return lost;
            }
        }
    }
}

impl Machine<'_> {
    /// Does a call; `false` when there is nothing to do.
    fn call(&mut self, call: Call, newest: u8) -> Step<bool> {
        let first = |machine: &Self, state| (0..machine.scope.block_count()).find(|&block| machine.state(block) == state);
        match call {
            Call::Mount | Call::Lose | Call::PowerOff => Ok(true),
            Call::Save => {
                self.ram.version = newest + 1;
                self.checkpoint(false).map(|()| true)
            }
            Call::Prepare if self.ram.anchors.prepared == NONE => self.prepare_anchor().map(|()| true),
            Call::Replace => {
                let places = self.replaceable();
                let blocks = (0..self.scope.block_count()).filter(|&block| self.state(block) == BlockState::Free);
                let blocks: Vec<u8> = blocks.collect();
                if places.is_empty() || blocks.is_empty() {
                    return Ok(false);
                }
                let (place, block) = (*self.choices.of(&places), *self.choices.of(&blocks));
                self.replace_anchor(place, block);
                self.checkpoint(false).map(|()| true)
            }
            Call::Renew if self.ram.anchors.changing.is_none() => {
                self.renew();
                Ok(true)
            }
            Call::Superblock => self.step_superblock(),
            Call::Fill => {
                let Some(block) = first(self, BlockState::Free) else { return Ok(false) };
                if self.erase(block)? {
                    let page = self.scope.pages_of(block).start;
                    match self.program(page, Content::Data) {
                        Err(Stop::Failed) => self.go_bad(block),
                        result => {
                            result?;
                            self.set_state(block, BlockState::Used);
                        }
                    }
                }
                Ok(true)
            }
            Call::Drop => {
                let Some(block) = first(self, BlockState::Used) else { return Ok(false) };
                self.set_state(block, BlockState::Dead);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Whether the data is gone of a block that has some.
    fn lost_data(&self) -> Option<Violation> {
        let is_data = |block| {
            let page = usize::from(self.scope.pages_of(block).start);
            matches!(self.chip.cells[page], Cell::Page(_, Content::Data))
        };
        let mut used = (0..self.scope.block_count()).filter(|&block| self.state(block) == BlockState::Used);
        used.any(|block| !is_data(block)).then_some(Violation::DataLost)
    }
}
