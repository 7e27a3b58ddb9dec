//! Mount: both superblocks, the newest complete checkpoint, which of them counts, and settling: `store/recovery.rs` of the core.

use super::anchors::{Machine, Step};
use super::chip::{Block, Checkpoint, Chip, Content, NONE, Page, Reading, Ring, Sequence, Stop};
use super::rules::Rule;
use super::state::{BlockState, Ram, Scope, Superblocks, Violation};
use crate::choices::Choices;

/// Distance by which the sequence jumps at a mount: more than failed programs use.
const JUMP: Sequence = 16;
/// No way on.
const REFUSED: Stop = Stop::Broken(Violation::MountRefused);

/// A superblock, and where it was found.
#[derive(Clone, Copy)]
struct Found {
    ring: Ring,
    generation: Sequence,
    index: u8,
    next: u8,
}

impl Machine<'_> {
    /// Mounts a chip; without `settle`, nothing is programmed or erased.
    pub fn mount<'a>(scope: &'a Scope, chip: Chip, choices: &'a mut Choices, settle: bool) -> (Machine<'a>, Step<bool>) {
        let mut machine = Machine { scope, chip, ram: Ram::empty(scope), choices };
        let result = machine.recover(settle).map(|()| true);
        (machine, result)
    }

    fn recover(&mut self, settle: bool) -> Step {
        self.open()?;
        self.find_checkpoint()?;
        if settle {
            match self.settle() {
                Err(Stop::Failed) => self.find_checkpoint()?,
                result => return result,
            }
        }
        self.ram.read_only = true;
        Ok(())
    }

    /// Finds both superblocks and takes over what the newer one says.
    fn open(&mut self) -> Step {
        let first = self.find_superblock(0);
        let second = if first.is_none() && self.chip.is_marked { None } else { self.find_superblock(1) };
        let found = [first, second];
        let newer = usize::from(found[0].map(|it| it.generation) < found[1].map(|it| it.generation));
        let newest = found[newer].ok_or(REFUSED)?;
        let other = found[1 - newer];
        let anchors = &mut self.ram.anchors;
        (anchors.blocks, anchors.generation, anchors.list_of) = (newest.ring, newest.generation, newest.index);
        for (index, found) in (0u8..).zip(found) {
            let next = found.map_or(0, |found| found.next);
            anchors.superblocks[usize::from(index)] = Superblocks { next, touched: found.is_none() };
            anchors.found[usize::from(index)] = found.map_or(0, |found| found.generation);
            if found.is_some_and(|found| found.generation != newest.generation) {
                anchors.older = Some(index);
            }
        }
        if let Some(other) = other.filter(|other| other.generation + 1 == newest.generation) {
            let differs =
                (0..self.scope.anchors).find(|&place| other.ring[usize::from(place)] != newest.ring[usize::from(place)]);
            anchors.doubt = differs.map_or((NONE, NONE), |place| (place, other.ring[usize::from(place)]));
        }
        Ok(())
    }

    /// Finds the newest superblock in a block.
    fn find_superblock(&mut self, index: Block) -> Option<Found> {
        let first = self.scope.pages_of(index).start;
        let (reading, _, content) = self.read(first);
        let is_super = matches!(reading, Reading::Good | Reading::Bad) && matches!(content, Content::Super(_));
        if !is_super {
            return None;
        }
        let next = self.find_end(first);
        (0..next).rev().find_map(|page| match self.read_sound(first + page) {
            Some((generation, Content::Super(ring))) => Some(Found { ring, generation, index, next }),
            _ => None,
        })
    }

    /// First page of a block from which on all are blank, as a search by halves finds it.
    fn find_end(&mut self, first: Page) -> u8 {
        let (mut low, mut high) = (1, self.scope.pages);
        while low < high {
            let middle = (low + high) / 2;
            if self.read(first + middle).0 == Reading::Blank { high = middle } else { low = middle + 1 }
        }
        low
    }

    fn find_checkpoint(&mut self) -> Step {
        let mut firsts: Vec<(Sequence, u8)> = Vec::new();
        self.ram.anchors.unreadable = 0;
        for place in 0..self.scope.anchors {
            let first = self.scope.pages_of(self.block_at(place)).start;
            let (reading, sequence, _) = self.read(first);
            self.ram.anchors.unreadable |= u8::from(matches!(reading, Reading::Noise | Reading::Bad)) << place;
            if reading == Reading::Good {
                firsts.push((sequence, place));
            } else if !self.scope.has(Rule::FirstPageCounts) {
                let second = self.read_sound(first + 1);
                firsts.extend(second.map(|(sequence, _)| (sequence, place)));
            }
        }
        // The newest first; of equals, that of the first place.
        firsts.sort_unstable_by_key(|&(sequence, place)| (core::cmp::Reverse(sequence), place));
        (self.ram.anchors.newest_seen, self.ram.anchors.passed_over) = (firsts.first().map_or(0, |newest| newest.0), NONE);
        for (_, place) in firsts {
            self.ram.anchors.current = place;
            if self.find_in_anchor(place)? {
                self.ram.anchors.complete = place;
                return self.reserve_anchors();
            }
            if self.ram.anchors.passed_over == NONE {
                self.ram.anchors.passed_over = place;
            }
        }
        Err(REFUSED)
    }

    /// Reads the newest complete checkpoint of one anchor, if it holds one, and the journal page that it names.
    fn find_in_anchor(&mut self, place: u8) -> Step<bool> {
        let first = self.scope.pages_of(self.block_at(place)).start;
        let end = self.find_end(first);
        for page in (0..end).rev() {
            let Some((_, Content::Checkpoint(found))) = self.read_sound(first + page) else { continue };
            (self.ram.states, self.ram.sequence) = (found.states, found.sequence);
            (self.ram.version, self.ram.journal_at) = (found.version, found.journal_at);
            self.trust_superblocks(&found);
            if found.journal_at != NONE {
                let Some((_, Content::Journal(version))) = self.read_sound(found.journal_at) else { return Err(REFUSED) };
                self.ram.version = version;
            }
            self.ram.anchors.next = end;
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes over what the superblock says that counts.
    fn trust_superblocks(&mut self, checkpoint: &Checkpoint) {
        let Checkpoint { changing, place, generation, .. } = *checkpoint;
        let generation = if self.scope.has(Rule::GenerationIsKept) { generation } else { 0 };
        let good = [0, 1].map(|index| self.superblock_is_good(index));
        let (announced_other, checks_bad) = (self.scope.has(Rule::OtherIsTrusted), self.scope.has(Rule::BadIsNotTrusted));
        let lost_first = self.scope.has(Rule::LostComesFirst);
        let older_written = self.scope.has(Rule::OlderIsWritten);
        let anchors = &mut self.ram.anchors;
        let newest = anchors.list_of;
        let (differs, other) = anchors.doubt;
        let trusted = match changing {
            Some(_) if !announced_other => newest,
            Some(index) if good[usize::from(1 - index)] && anchors.found[usize::from(1 - index)] >= generation => 1 - index,
            Some(index) => index,
            None if good == [false, true] && checks_bad => 1,
            None if good == [true, false] && checks_bad => 0,
            None => newest,
        };
        if trusted != newest && differs != NONE {
            anchors.doubt.1 = core::mem::replace(&mut anchors.blocks[usize::from(differs)], other);
            anchors.list_of = trusted;
        }
        if let Some(index) = changing {
            anchors.doubt.0 = place;
            if place != differs {
                anchors.doubt.1 = NONE;
            }
            anchors.superblocks[usize::from(index)].touched = true;
            (anchors.changing, anchors.announced) = (changing, true);
            let other = usize::from(1 - index);
            anchors.counts = anchors.found[if good[other] { other } else { 1 - other }];
            if anchors.found[other] < generation {
                // Its newest page is lost: it is as good as none.
                anchors.superblocks[other].touched = true;
            }
            if good[other] && anchors.superblocks[other].touched && lost_first {
                (anchors.changing, anchors.announced) = (Some(1 - index), false);
                anchors.counts = anchors.found[usize::from(index)];
            }
        } else {
            anchors.doubt = (if trusted == newest { NONE } else { differs }, NONE);
            if let Some(index) = anchors.older.filter(|&index| good[usize::from(index)] && older_written) {
                anchors.superblocks[usize::from(index)].touched = true;
            }
            let touched = (0..2).find(|&index| anchors.superblocks[usize::from(index)].touched);
            anchors.changing = touched.filter(|&index| good[usize::from(index)]);
            anchors.announced = false;
            anchors.counts = anchors.generation;
        }
    }

    /// Gives the blocks that the superblocks name their state, and takes it from those that lost their place.
    fn reserve_anchors(&mut self) -> Step {
        for block in 0..self.scope.block_count() {
            let is_named = block < 2 || self.ram.anchors.blocks.contains(&block);
            let state = self.state(block);
            if is_named && state != BlockState::Bad {
                if state == BlockState::Used {
                    return Err(Stop::Broken(Violation::DataLost));
                }
                self.set_state(block, BlockState::Reserved);
            } else if state == BlockState::Reserved && !is_named && block != self.ram.anchors.doubt.1 {
                self.set_state(block, BlockState::Free);
            }
        }
        Ok(())
    }

    /// Goes on to a fresh anchor, copies the journal page into it, and writes a checkpoint.
    fn settle(&mut self) -> Step {
        let seen = if self.scope.has(Rule::JumpBeyondPassedOver) { self.ram.anchors.newest_seen } else { 0 };
        self.ram.sequence = self.ram.sequence.max(seen) + JUMP;
        self.ram.anchors.newest_seen = 0;
        self.ram.anchors.prepared = NONE;
        self.advance_anchor()?;
        self.rescue_journal()?;
        self.checkpoint(self.scope.has(Rule::RescuedAgain))?;
        if self.scope.has(Rule::UnreadableErased) { self.erase_unreadable() } else { Ok(()) }
    }

    /// Erases the anchors whose first page read as nothing: it may be newer than what was seen, and read so later.
    fn erase_unreadable(&mut self) -> Step {
        for place in 0..self.scope.anchors {
            let block = self.block_at(place);
            let unreadable = self.ram.anchors.unreadable >> place & 1 != 0;
            if unreadable && place != self.ram.anchors.current && self.state(block) == BlockState::Reserved {
                self.erase(block)?;
            }
        }
        self.ram.anchors.unreadable = 0;
        Ok(())
    }
}
