//! Long walks at random: some calls, then a chain of calls and mounts that are cut, over and over.

use super::call::Call;
use super::chip::{At, Cell};
use super::luck::{Event, Random};
use super::state::{Scope, State, Told, Violation};
use std::collections::BTreeMap;

/// What goes wrong besides the power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Nothing,
    /// In one mount of four a read fails: the device answers with an error, or one reading is damaged.
    Read,
    /// In one mount of four a page reads as damaged until the power goes off.
    Blind,
    /// One page is lost for good.
    Loss,
    /// One program or erase of fifty fails, of each power cycle at most one.
    Program,
    /// All of these but pages that read as damaged.
    All,
}

/// What the walks met.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// How often each thing was wrong, and the seed of the first walk with it.
    pub wrong: BTreeMap<Violation, (u32, u64)>,
    /// Mounts that refused, with cause.
    pub told: BTreeMap<&'static str, u32>,
    /// Mounts that ended well.
    pub mounts: u32,
    /// Calls and mounts that were cut.
    pub cuts: u32,
}

/// Walks through a world `runs` times, beginning with a seed.
pub fn walks(scope: &Scope, fault: Fault, runs: u32, seed: u64) -> Walked {
    let mut walked = Walked::default();
    for seed in seed..seed + u64::from(runs) {
        let mut walk = Walk { scope, fault, state: State::formatted(scope), random: Random::new(seed), trace: false };
        if let Some(violation) = walk.run(&mut walked) {
            walked.wrong.entry(violation).or_insert((0, seed)).0 += 1;
        }
    }
    walked
}

/// Walks once, and prints each step.
pub fn replay(scope: &Scope, fault: Fault, seed: u64) {
    let mut walk = Walk { scope, fault, state: State::formatted(scope), random: Random::new(seed), trace: true };
    let violation = walk.run(&mut Walked::default());
    println!("{violation:?}");
}

struct Walk<'a> {
    scope: &'a Scope,
    fault: Fault,
    state: State,
    random: Random,
    trace: bool,
}

impl Walk<'_> {
    fn run(&mut self, walked: &mut Walked) -> Option<Violation> {
        self.state.chip.budget = super::chip::Budget { cuts: u8::MAX, failures: 0, misreads: u8::MAX, losses: 1 };
        for _ in 0..10 {
            let calm = self.random.below(14);
            let chain = *self.random.of(&[1, 2, 3, 5, 10, 40]);
            for step in 0..calm + chain {
                self.step(step >= calm, walked);
                if self.state.broken.is_some() {
                    return self.state.broken;
                }
            }
            self.forget();
        }
        None
    }

    fn step(&mut self, cut: bool, walked: &mut Walked) {
        self.lose();
        let calls = [Call::Mount, Call::Write(0), Call::Write(1), Call::Write(2), Call::Root, Call::Close, Call::Destroy, Call::PowerOff];
        let may: Vec<Call> = calls.into_iter().filter(|&call| self.state.may(self.scope, call)).collect();
        let may = if may.len() > 1 && cut { &may[..may.len() - 1] } else { &may[..] };
        let call = *self.random.of(may);
        let mounting = call == Call::Mount;
        let operations = if mounting { 4 + 3 * u32::from(self.scope.parts) } else { 1 + 2 * u32::from(self.scope.parts) };
        self.random.cut_after = cut.then(|| self.random.below(operations));
        self.plan_reads(mounting);
        if mounting {
            self.state.chip.budget.failures = u8::from(matches!(self.fault, Fault::Program | Fault::All));
            self.random.failures_of_1000 = 20;
        }
        self.state = self.state.after(self.scope, call, &mut self.random);
        if self.trace {
            println!("{call:?} told {:?} broken {:?}", self.state.told, self.state.broken);
            println!("{}", self.state.picture());
        }
        walked.mounts += u32::from(mounting && self.state.ram.is_some());
        walked.cuts += u32::from(cut && self.state.ram.is_none());
        if let Some(told) = self.state.told {
            *walked.told.entry(name(told)).or_default() += 1;
        }
        if cut {
            self.state.ram = None;
        }
    }

    fn plan_reads(&mut self, mounting: bool) {
        let kinds: &[Event] = match self.fault {
            Fault::Read | Fault::All => &[Event::DeviceError, Event::Misread],
            Fault::Blind => &[Event::Blind],
            _ => &[],
        };
        let fails = mounting && !kinds.is_empty() && self.random.below(4) == 0;
        let after = self.random.below(40);
        self.random.read_fails_after = fails.then(|| (after, *self.random.of(kinds)));
    }

    /// Loses a page, sometimes: of two thirds one of the newest roots, if there is one.
    fn lose(&mut self) {
        if !matches!(self.fault, Fault::Loss | Fault::All) || self.state.lost.is_some() || self.random.below(60) > 0 {
            return;
        }
        let pages = self.state.losable();
        let ring = pages.iter().copied().filter(|at| matches!(at, At::Ring(..)));
        let number = |at: &At| match *at {
            At::Ring(block, page) => self.state.chip.ring[usize::from(block)][usize::from(page)].root.number,
            _ => 0,
        };
        let newest = ring.clone().map(|at| number(&at)).max().unwrap_or(0);
        let newest: Vec<At> = ring.filter(|at| number(at) + 2 * u32::from(self.scope.ring) > newest).collect();
        let pages = if self.random.below(3) < 2 && !newest.is_empty() { newest } else { pages };
        if !pages.is_empty() {
            let at = *self.random.of(&pages);
            if self.trace {
                println!("lost: {at:?}");
            }
            self.state.lose_page(at);
        }
    }

    /// Forgets records that nobody needs any more.
    fn forget(&mut self) {
        for places in &mut self.state.chip.log {
            places.retain(|_, record| record.cell != Cell::Gone);
        }
    }
}

fn name(told: Told) -> &'static str {
    match told {
        Told::Device => "device",
        Told::NoRoot => "no root",
        Told::RootLost => "root lost",
        Told::RecordLost => "record lost",
        Told::PageLost => "page lost",
    }
}
