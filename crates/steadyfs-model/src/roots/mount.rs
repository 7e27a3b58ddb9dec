//! A mount: which root it begins with, how far the log goes, what it keeps.

use super::chip::{At, Kind, Number, Page, Root, Seen};
use super::machine::{Machine, Step, Stop};
use super::rules::Rule;
use super::state::{Found, Placed, Ram, Told, Violation};
use super::survey::{Survey, Traces};
use std::collections::BTreeMap;

/// What the log says behind a root.
#[derive(Clone, Copy, Debug)]
struct Trail {
    /// The state at its end.
    root: Root,
    /// Records that name the root, before any that names another.
    names: u8,
    /// The first of them is proved to be complete by what lies behind it.
    is_proven: bool,
    /// The other root that the last record names.
    other: Option<Number>,
    /// The head of the last record.
    last: Option<usize>,
    /// Heads whose last page was not read well each time, a bit each.
    unsteady: u8,
    /// A record is missing.
    gap: bool,
    /// A place behind the end does not read as erased.
    touched: bool,
}

/// What the log says behind each root that can be read.
type Trails = BTreeMap<Number, Trail>;

impl Machine<'_> {
    /// Mounts: adopts a root that was closed, or writes its own.
    pub fn mount(&mut self) -> Step {
        let (survey, trails) = self.read_ring()?;
        let (found, clean) = self.decide(&survey, &trails)?;
        self.check(&found, &survey)?;
        if clean {
            let Found { base, next, keep, .. } = found;
            let (page, names) = (self.scope.pages, 0);
            self.ram = Some(Ram {
                newest: base,
                before: Placed { root: Root::NONE, ..base },
                certain: base,
                next,
                page,
                names,
                journaled: false,
                keep,
                failed: 0,
                untouched: Some(found),
            });
            return Ok(());
        }
        if !self.scope.has(Rule::Settle) {
            (self.promise.acknowledged, self.promise.flying) = (found.next.values, None);
        }
        self.settle(&found, 0)
    }

    /// Looks at the ring blocks, the newest first, until it has seen roots of each kind that it needs.
    fn read_ring(&mut self) -> Step<(Survey, Trails)> {
        let (mut survey, mut trails) = (Survey::new(), Trails::new());
        for block in self.first_pages()? {
            for number in self.survey(&mut survey, block)? {
                if self.can_be_read(&survey[&number]) {
                    trails.insert(number, self.follow(&survey[&number].root)?);
                }
            }
            let readable = self.readable(&survey, &self.counting(&survey, &trails), &trails)?;
            let two = self.scope.twin || readable.iter().any(|number| survey[number].seals + trails[number].names >= 2);
            if two && readable.iter().any(|number| self.is_certain(&survey[number], &trails[number])) {
                break;
            }
        }
        Ok((survey, trails))
    }

    /// The roots that count, from the smallest number.
    fn counting(&self, survey: &Survey, trails: &Trails) -> Vec<Number> {
        let counts = |number: &Number| {
            !self.scope.has(Rule::Seal) || survey[number].seals > 0 || trails.get(number).is_some_and(|trail| trail.names > 0)
        };
        survey.keys().copied().filter(counts).collect()
    }

    /// Whether a root will always count: two pages name it, or one that is proved to be complete.
    fn is_certain(&self, traces: &Traces, trail: &Trail) -> bool {
        if self.scope.twin {
            return traces.has_later;
        }
        traces.seals + trail.names >= 2 || traces.is_sealed_for_good || trail.is_proven
    }

    fn can_be_read(&self, traces: &Traces) -> bool {
        traces.parts == self.whole() || traces.parts != 0 && !self.scope.has(Rule::Whole)
    }

    /// Follows the log from a root, in the order of the sequence.
    fn follow(&mut self, from: &Root) -> Step<Trail> {
        let root = *from;
        let mut trail =
            Trail { root, names: 0, is_proven: false, other: None, last: None, unsteady: 0, gap: false, touched: false };
        loop {
            let mut next = None;
            for head in self.scope.heads() {
                if let Seen::Good(record, unsteady) = self.look_log(head, trail.root.heads[head])?
                    && record.sequence == trail.root.sequence
                {
                    next = Some((head, record, unsteady));
                }
            }
            let Some((head, record, unsteady)) = next else { break };
            trail.is_proven |= trail.names == 1;
            if !self.scope.is_name_of(record.name, from.number) {
                trail.other = Some(record.name);
            } else if trail.other.is_none() {
                let counts = self.scope.has(Rule::AnyName) || trail.last.is_none();
                trail.names = (trail.names + u8::from(counts)).min(2);
            }
            trail.root.at[head] = At::Log(head as u8, trail.root.heads[head]);
            trail.root.values[head] = record.value;
            trail.root.heads[head] += 1;
            trail.root.sequence += 1;
            trail.last = Some(head);
            trail.unsteady = trail.unsteady & !(1 << head) | u8::from(unsteady) << head;
        }
        self.look_behind(&mut trail)?;
        if self.scope.twin {
            (trail.names, trail.other, trail.is_proven) = (0, None, false);
        }
        Ok(trail)
    }

    /// Looks whether a record is missing at the end of the log.
    fn look_behind(&mut self, trail: &mut Trail) -> Step {
        let mut damaged = 0;
        for head in self.scope.heads() {
            for place in trail.root.heads[head].. {
                match self.look_log(head, place)? {
                    Seen::Blank => break,
                    Seen::Damaged => damaged += 1,
                    Seen::Good(record, _) => trail.gap |= record.sequence > trail.root.sequence,
                }
                trail.touched = true;
                if place > trail.root.heads[head] + 1 {
                    break;
                }
            }
        }
        trail.gap |= damaged > 1;
        trail.is_proven |= trail.names == 1 && trail.touched;
        Ok(())
    }

    /// Decides: the base, what it must not erase, and whether the volume was ended cleanly.
    fn decide(&mut self, survey: &Survey, trails: &Trails) -> Step<(Found, bool)> {
        let counting = self.counting(survey, trails);
        let readable = self.readable(survey, &counting, trails)?;
        let Some(&base) = readable.last() else { return Err(Stop::Told(Told::NoRoot)) };
        let largest = counting.iter().copied().filter(|&number| number == base || self.is_firm(&survey[&number], trails.get(&number))).max().unwrap_or(base);
        let (traces, trail) = (&survey[&base], &trails[&base]);
        self.pass_over_lost(largest, base, trail)?;
        if trail.gap && self.scope.has(Rule::Gap) {
            return Err(Stop::Told(Told::RecordLost));
        }
        let placed = Placed { root: traces.root, block: traces.block };
        let known = if self.scope.has(Rule::Outrank) { *survey.keys().last().unwrap_or(&base) } else { largest };
        let jump = if self.scope.has(Rule::Jump) { self.scope.jump() } else { 0 };
        let next = Root { number: known + jump, before: base, closed: false, settled: true, ..trail.root };
        let keep = self.keep(survey, trails, &readable, base);
        let mark = traces.behind_seal;
        let is_marked = self.scope.mark && mark < self.scope.pages && self.look_ring(traces.block, mark)?.is_touched();
        let found = Found { base: placed, next, keep, rescue: self.rescue(trail)?, mark };
        let sealed = !self.scope.mark || traces.first_seal == self.whole();
        let ended = placed.root.closed && sealed && trail.last.is_none() && largest == base;
        let outranked = self.scope.mark && self.scope.has(Rule::Largest) && (known > base || self.ring_is_damaged());
        let clean = ended && !outranked && !trail.touched && !is_marked && !traces.is_unsteady && trail.unsteady == 0;
        Ok((self.skip(found, trail), clean))
    }

    /// Of the roots that count, those that a mount may begin with.
    ///
    /// One that is named by its first seal alone must be able to give all that it needs: an erase that was cut may have left parts of it.
    fn readable(&mut self, survey: &Survey, counting: &[Number], trails: &Trails) -> Step<Vec<Number>> {
        let mut readable = Vec::new();
        for number in counting {
            let Some(trail) = trails.get(number) else { continue };
            if self.is_firm(&survey[number], Some(trail)) || self.has_copies(&survey[number].root)? {
                readable.push(*number);
            }
        }
        Ok(readable)
    }

    /// Whether a root was certainly complete: a record names it, or both of its seals.
    fn is_firm(&self, traces: &Traces, trail: Option<&Trail>) -> bool {
        let both = if self.scope.twin { traces.has_later } else { traces.first_seal != 0 && traces.has_second };
        both || trail.is_some_and(|trail| trail.names > 0) || !self.scope.has(Rule::Firm)
    }

    /// Whether all that a root needs of the ring can be read.
    fn has_copies(&mut self, root: &Root) -> Step<bool> {
        for head in self.scope.heads() {
            if let At::Ring(block, page) = root.at[head]
                && self.look_ring(block, page)?.good_copy(root, head).good().is_none()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks whether a root that is named but cannot be read is passed over by the log.
    fn pass_over_lost(&self, largest: Number, base: Number, trail: &Trail) -> Step {
        let has = |rule| self.scope.has(rule);
        let reached = |number| trail.other.is_some_and(|name| self.scope.is_name_of(name, number));
        let is_sealed_and_lost = largest > base && !reached(largest);
        let is_named_and_lost = (largest > base || trail.other.is_some()) && !has(Rule::History);
        if has(Rule::Named) && (is_sealed_and_lost || is_named_and_lost) { Err(Stop::Told(Told::RootLost)) } else { Ok(()) }
    }

    /// The ring blocks that a mount does not erase.
    fn keep(&self, survey: &Survey, trails: &Trails, readable: &[Number], base: Number) -> u16 {
        let two = |number: &Number| survey[number].seals + trails[number].names >= 2;
        let certain = |number: &Number| self.is_certain(&survey[number], &trails[number]);
        let oldest = || readable.first().filter(|_| self.scope.has(Rule::Fallback));
        let newest = |kind: &dyn Fn(&Number) -> bool| readable.iter().rev().find(|number| kind(number)).or_else(oldest).copied();
        let mut kept = Vec::new();
        if self.scope.has(Rule::Keep) {
            kept.extend(newest(&certain));
        }
        if self.scope.has(Rule::Two) && !self.scope.twin {
            kept.extend(newest(&two));
        }
        let mut blocks = 1 << survey[&base].block;
        if self.scope.has(Rule::KeepClosed) {
            let passed_over = survey.range(base + 1..).filter(|(_, traces)| traces.parts != 0 && traces.root.closed);
            blocks |= passed_over.fold(0, |blocks, (_, traces)| blocks | 1 << traces.block);
        }
        for number in kept {
            let traces = &survey[&number];
            blocks |= 1 << traces.block;
            if self.scope.has(Rule::History) && !self.scope.twin && traces.root.before > 0 {
                let before = traces.root.before;
                let seen = survey.get(&before).map(|traces| traces.block);
                blocks |= 1 << seen.unwrap_or((before % u32::from(self.scope.ring)) as u8);
            }
        }
        blocks
    }

    /// The heads of which the last page must be copied; all that the mount needs can be read.
    fn rescue(&mut self, trail: &Trail) -> Step<u8> {
        let mut rescue = trail.unsteady;
        if let Some(head) = trail.last.filter(|_| self.scope.has(Rule::Rescue)) {
            rescue |= 1 << head;
        }
        for head in self.scope.heads() {
            let seen = match trail.root.at[head] {
                At::Ring(block, page) => {
                    rescue |= u8::from(self.scope.has(Rule::Carry)) << head;
                    self.look_ring(block, page)?.good_copy(&trail.root, head)
                }
                At::Log(of, place) if head == 0 => self.look_log(usize::from(of), place)?.reading(),
                _ => Seen::Good((), false),
            };
            match seen {
                Seen::Good((), unsteady) => rescue |= u8::from(unsteady) << head,
                _ => return Err(Stop::Told(Told::PageLost)),
            }
        }
        Ok(rescue)
    }

    /// Whether a page of the ring was read as damaged.
    fn ring_is_damaged(&self) -> bool {
        self.memo.iter().any(|(at, seen)| matches!((at, seen), (At::Ring(..), Seen::Damaged)))
    }

    /// Skips the places that may have been touched.
    fn skip(&self, mut found: Found, trail: &Trail) -> Found {
        let next = &mut found.next;
        let others = trail.last.is_some() || !found.base.root.settled;
        if self.scope.has(Rule::Skip) {
            for head in self.scope.heads() {
                next.heads[head] += u32::from(head == 0 || others);
            }
        }
        next.sequence += if self.scope.has(Rule::Sequence) { 8 } else { 0 };
        found
    }

    /// Whether what a mount found is what it may find.
    fn check(&self, found: &Found, survey: &Survey) -> Step {
        let number = found.base.root.number;
        let broken = if survey[&number].parts != self.whole() {
            Violation::HalfRoot
        } else if !self.promise.allows(found.next.values) {
            Violation::WrongData
        } else if number < self.promise.gone {
            Violation::HistoryDestroyed
        } else {
            return Ok(());
        };
        Err(Stop::Broken(broken))
    }
}

impl<T> Seen<T> {
    fn reading(self) -> Seen<()> {
        match self {
            Seen::Good(_, unsteady) => Seen::Good((), unsteady),
            Seen::Damaged => Seen::Damaged,
            Seen::Blank => Seen::Blank,
        }
    }
}

impl Seen<Page> {
    /// The reading of a page that should be what a root says that a head wrote last.
    fn good_copy(self, root: &Root, head: usize) -> Seen<()> {
        match self {
            Seen::Good(page, _) if page.kind != Kind::Copy(head as u8) || page.root.values[head] != root.values[head] => Seen::Damaged,
            seen => seen.reading(),
        }
    }
}
