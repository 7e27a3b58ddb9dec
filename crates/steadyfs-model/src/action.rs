//! The result of a call, and the checks after it.

use crate::call::Call;
use crate::chip::{Cell, Chip, Stop};
use crate::choices::Choices;
use crate::machine::{Machine, Step};
use crate::numbers::{LOGICAL, LOST, NONE, Page, Pages};
use crate::page::Content;
use crate::scope::Scope;
use crate::state::{Promise, Ram, State};
use crate::table::{BlockState, JOURNAL};
use crate::violation::Violation;

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
        let off = if self.state.ram.is_none() && self.call != Call::PowerOff { " cut" } else { "" };
        write!(out, "{:?}{:?}{off}{broken}", self.call, self.answers)
    }
}

impl State {
    /// Makes a formatted chip without power.
    pub fn formatted(scope: &Scope) -> Self {
        let mut state = State::blank(scope);
        let chip = Chip { cuts: 0, failures: 0, losses: 0, ..state.chip.clone() };
        let mut choices = Choices::default();
        let mut machine = Machine { scope, chip, ram: Ram::empty(scope), choices: &mut choices };
        machine.write_root_here().expect("nothing fails while a chip is formatted");
        state.chip.cells = machine.chip.cells;
        state.ram = None;
        state.canonize(scope);
        state
    }

    /// Adds all actions that may follow.
    pub fn follow(&self, scope: &Scope, actions: &mut Vec<Action>) {
        let calls: &[Call] = match &self.ram {
            None if self.chip.losses > 0 => &[Call::Lose, Call::Mount],
            None => &[Call::Mount],
            Some(_) => scope.calls,
        };
        for &call in calls.iter().filter(|_| self.broken.is_none()) {
            let mut choices = Choices::default();
            loop {
                if let Some(mut state) = self.after(scope, call, &mut choices) {
                    state.canonize(scope);
                    actions.push(Action {
                        call,
                        answers: choices.answers(),
                        state: Box::new(state),
                    });
                }
                if !choices.advance() {
                    break;
                }
            }
        }
    }

    /// Returns the state after a call, or `None` if the call is refused.
    fn after(&self, scope: &Scope, call: Call, choices: &mut Choices) -> Option<State> {
        let mut state = self.clone();
        if call == Call::Lose {
            return state.lose(scope, choices).then_some(state);
        }
        let (machine, result) = match state.ram.take() {
            None => Machine::mount(scope, state.chip.clone(), choices, true),
            Some(ram) => {
                let mut machine = Machine { scope, chip: state.chip.clone(), ram, choices };
                let result = state.call(&mut machine, call);
                (machine, result)
            }
        };
        state.end(machine, call, result)
    }

    fn call(&mut self, machine: &mut Machine<'_>, call: Call) -> Step {
        match call {
            Call::PowerOff => return Err(Stop::Cut),
            Call::End
                if machine.ram.table.closed || self.promise.open != self.promise.committed =>
            {
                return Err(Stop::NoSpace);
            }
            // A lost page can only be written as a whole.
            Call::Patch(logical) | Call::Flush(logical)
                if self.promise.open[logical][0] == LOST =>
            {
                return Err(Stop::NoSpace);
            }
            _ => machine.begin()?,
        }
        let next = |state: &mut Self, logical| state.newest_value(logical) + 1;
        self.ram = Some(machine.ram.clone());
        match call {
            Call::Write(logical) | Call::Save(logical) => {
                self.promise.open[logical] = [next(self, logical); 2]
            }
            Call::Patch(logical) => self.promise.open[logical][1] = next(self, logical),
            Call::Rollback => self.promise.open = self.promise.committed,
            _ => {}
        }
        self.ram = None;
        if matches!(call, Call::Save(_) | Call::Commit) {
            self.promise.attempted = Some(self.promise.open);
        }
        self.step(machine, call)
    }

    fn step(&self, machine: &mut Machine<'_>, call: Call) -> Step {
        match call {
            Call::Write(logical) => machine.write(logical, self.promise.open[logical], false),
            Call::Save(logical) => {
                machine.write(logical, self.promise.open[logical], true)?;
                machine.commit()
            }
            Call::Patch(logical) => {
                (machine.ram.patches[logical], machine.ram.dirty) =
                    (self.promise.open[logical][1], true);
                Ok(())
            }
            Call::Flush(logical) if machine.ram.patches[logical] != 0 => {
                machine.write(logical, self.promise.open[logical], false)
            }
            Call::Commit => machine.commit(),
            Call::Rollback => machine.rollback(),
            Call::Move => match machine.movable() {
                frames if frames.is_empty() => Err(Stop::NoSpace),
                frames => {
                    let frame = *machine.choices.of(&frames);
                    machine.move_frame(frame)
                }
            },
            Call::Fold if machine.ram.table.overlay.iter().any(Option::is_some) => machine.fold(),
            Call::Root => machine.write_root(),
            Call::End => {
                machine.ram.table.closed = true;
                machine.write_root()
            }
            Call::Erase if machine.first(BlockState::Listed).is_some() => machine.erase_listed(),
            Call::MoveJournal
                if self.promise.open == self.promise.committed && !machine.ram.dirty =>
            {
                machine.close(JOURNAL);
                machine.program_journal()
            }
            _ => Err(Stop::NoSpace),
        }
    }

    /// Loses a page. No mount can distinguish a lost last record from one that was cut, so the
    /// last record is lost only if the world allows it.
    fn lose(&mut self, scope: &Scope, choices: &mut Choices) -> bool {
        if scope.logs {
            return self.lose_change(choices);
        }
        let base = self.newest_root(scope).map_or(0, |(_, table)| table.sequence);
        let record = |page: usize| match &self.chip.cells[page] {
            Cell::Good(tag, _)
                if tag.sequence >= base && !scope.is_of_ring(scope.block_of(page as Page)) =>
            {
                Some(tag.sequence)
            }
            _ => None,
        };
        let last = (0..self.chip.cells.len()).filter_map(record).max();
        let may_go = |&page: &usize| {
            matches!(self.chip.cells[page], Cell::Good(..))
                && (scope.loses_last || last.is_none() || record(page) != last)
        };
        let pages: Vec<usize> = (0..self.chip.cells.len()).filter(may_go).collect();
        if pages.is_empty() {
            return false;
        }
        let page = *choices.of(&pages);
        if last.is_none() || record(page) != last {
            self.promise.before = None;
        }
        self.chip.cells[page] = Cell::Lost;
        self.chip.losses -= 1;
        self.promise.lost = true;
        true
    }

    /// Loses a change in the log of a leaf.
    fn lose_change(&mut self, choices: &mut Choices) -> bool {
        let has = |page: usize, logical: usize| match &self.chip.cells[page] {
            Cell::Good(_, Content::Leaf(_, log)) => log.whole[logical].is_some(),
            _ => false,
        };
        let places = (0..self.chip.cells.len())
            .flat_map(|page| (0..LOGICAL).map(move |logical| (page, logical)));
        let changes: Vec<(usize, usize)> =
            places.filter(|&(page, logical)| has(page, logical)).collect();
        if changes.is_empty() {
            return false;
        }
        let (page, logical) = *choices.of(&changes);
        if let Cell::Good(_, Content::Leaf(_, log)) = &mut self.chip.cells[page] {
            (log.whole[logical], log.unreadable[logical]) = (None, true);
        }
        self.chip.losses -= 1;
        self.promise.lost = true;
        true
    }

    /// Ends a call: updates the caller's promise, and checks that it is kept.
    fn end(mut self, mut machine: Machine<'_>, call: Call, result: Step) -> Option<Self> {
        let has_lost = machine.chip.losses < machine.scope.losses;
        let promise = &mut self.promise;
        self.broken = match result {
            // A missing block comes back when the frame in it has moved.
            Err(Stop::NoSpace | Stop::Failed) if call != Call::Mount => return None,
            Err(Stop::Cut) => None,
            Err(Stop::NoSpace | Stop::Failed) => Some(Violation::MountRefused),
            Err(Stop::Broken(violation)) => Some(violation),
            // The volume can only be read, and reports that.
            Ok(()) if machine.ram.damaged && has_lost => return None,
            Ok(()) if machine.ram.damaged => Some(Violation::ToldForNothing),
            Ok(()) if call == Call::Mount => match machine.all_bytes() {
                Ok(found) if promise.is_kept_by(found) => {
                    *promise = Promise { committed: found, open: found, ..Promise::default() };
                    machine.wrong_claim().or_else(|| machine.second_mount_differs(found))
                }
                _ => Some(Violation::CommitLostOrMixed),
            },
            Ok(()) if machine.all_bytes() != Ok(promise.open) => Some(Violation::WrongRead),
            Ok(()) => machine.wrong_claim(),
        };
        if result.is_ok() {
            if matches!(call, Call::Save(_) | Call::Commit) && promise.committed != promise.open {
                let before = core::mem::replace(&mut promise.committed, promise.open);
                promise.before =
                    Some(before).filter(|_| machine.scope.loses_last && machine.chip.losses > 0);
            }
            promise.attempted = None;
            self.ram = Some(machine.ram).filter(|_| call != Call::End);
        }
        self.chip = machine.chip;
        Some(self)
    }
}

impl Promise {
    /// Returns true if a mount may find these bytes: the acknowledged ones, or all bytes of a cut
    /// commit. If a page was lost, its bytes may be missing.
    fn is_kept_by(&self, found: Pages<[u8; 2]>) -> bool {
        let is_kept =
            |(found, promised): (&u8, &u8)| found == promised || (self.lost && *found == LOST);
        let keeps = |promised: &Pages<[u8; 2]>| {
            found.as_flattened().iter().zip(promised.as_flattened()).all(is_kept)
        };
        keeps(&self.committed)
            || self.attempted.as_ref().is_some_and(keeps)
            || self.before.as_ref().is_some_and(|before| self.lost && keeps(before))
    }
}

impl Machine<'_> {
    fn all_bytes(&mut self) -> Step<Pages<[u8; 2]>> {
        let mut bytes = [[0; 2]; LOGICAL];
        for (logical, bytes) in bytes.iter_mut().enumerate() {
            *bytes = self.bytes(logical)?;
        }
        Ok(bytes)
    }

    /// Returns a violation if another mount would find something else.
    fn second_mount_differs(&self, found: Pages<[u8; 2]>) -> Option<Violation> {
        let mut choices = Choices::default();
        let (mut machine, result) =
            Machine::mount(self.scope, self.chip.clone(), &mut choices, false);
        (result.is_err() || machine.ram.damaged || machine.all_bytes() != Ok(found))
            .then_some(Violation::NotIdempotent)
    }

    /// Returns true if the map depends on a change in the log of the leaf that reads as whole at
    /// some times only.
    fn log_may_change(&self) -> bool {
        let Some(Cell::Good(_, Content::Leaf(frames, log))) =
            self.chip.cells.get(usize::from(self.ram.table.leaf))
        else {
            return false;
        };
        (0..LOGICAL).any(|logical| {
            let whole = log.whole[logical].unwrap_or(frames[logical]);
            self.ram.table.overlay[logical].is_none()
                && log.unsteady[logical].is_some_and(|change| change != whole)
        })
    }

    /// Returns a violation if a frame is claimed twice, is not marked as live, or does not hold
    /// the claimed page for good.
    fn wrong_claim(&mut self) -> Option<Violation> {
        let mut claims: Vec<(Page, Option<usize>)> = vec![(self.ram.table.leaf, None)];
        for logical in 0..LOGICAL {
            claims.push((self.committed_frame(logical), Some(logical)));
            claims.extend(self.ram.table.pending[logical].map(|frame| (frame, Some(logical))));
        }
        claims.retain(|claim| claim.0 != NONE);
        let (mut frames, has_lost) = (0, self.chip.losses < self.scope.losses);
        for (frame, logical) in claims {
            let holds = match &self.chip.cells[usize::from(frame)] {
                Cell::Good(tag, Content::Data(_)) => logical == Some(usize::from(tag.logical)),
                Cell::Good(_, Content::Leaf(..)) => logical.is_none(),
                Cell::Good(tag, Content::Lost) => {
                    has_lost && logical == Some(usize::from(tag.logical))
                }
                Cell::Lost => has_lost && logical.is_some(),
                _ => false,
            };
            if !holds || frames >> frame & 1 != 0 {
                return Some(Violation::WrongClaim);
            }
            frames |= 1u64 << frame;
        }
        if self.log_may_change() {
            return Some(Violation::WrongClaim);
        }
        let journal = self.ram.table.journal_at;
        let is_journal =
            |cell: &Cell| matches!(cell, Cell::Good(tag, _) if tag.kind.is_of_journal());
        if journal != NONE && !is_journal(&self.chip.cells[usize::from(journal)]) {
            return Some(Violation::WrongClaim);
        }
        (frames & !self.ram.live != 0).then_some(Violation::LiveMarkLost)
    }
}
