//! The root with which a mount begins, and the values that a mount derives from the map, as in
//! `root/scan.rs` and `ftl/derive.rs`. `ring` models more of it.

use crate::chip::{Chip, Seen, Stop};
use crate::choices::Choices;
use crate::forward::Last;
use crate::machine::{Machine, Step};
use crate::numbers::{Block, LOGICAL, NONE, Page, Pages, Sequence};
use crate::page::{Content, Kind};
use crate::rules::Rule;
use crate::scope::Scope;
use crate::state::Ram;
use crate::table::{BlockState, Table};
use crate::violation::Violation;
use std::sync::Arc;

/// A root that was found in the ring.
struct Found {
    number: Sequence,
    place: u8,
    table: Arc<Table>,
    /// Readable pages, one bit each, in the root or its copy.
    pages: u8,
    seals: u8,
    last_seal: u8,
}

impl Machine<'_> {
    /// Mounts a chip. If `settles` is true, makes the programs of a mount as well.
    pub fn mount<'a>(
        scope: &'a Scope,
        chip: Chip,
        choices: &'a mut Choices,
        settles: bool,
    ) -> (Machine<'a>, Step) {
        let mut machine = Machine { scope, chip, ram: Ram::empty(scope), choices };
        let result = machine.recover(settles);
        (machine, result)
    }

    fn recover(&mut self, settles: bool) -> Step {
        let last = self.find_state()?;
        if self.ram.table.closed || self.ram.damaged || !settles {
            return Ok(());
        }
        self.settle(&last)
    }

    /// Returns the pages that a mount would name if the power failed now.
    pub fn durable_pages(&self) -> Vec<Page> {
        let mut choices = Choices::default();
        let (mut machine, result) =
            Machine::mount(self.scope, self.chip.clone(), &mut choices, false);
        if result.is_err() || machine.ram.damaged {
            return Vec::new();
        }
        let block = machine.ring_block(machine.ram.ring.place);
        let mut pages: Vec<Page> = self.scope.pages_of(block).collect();
        pages.extend((0..LOGICAL).map(|logical| machine.frame_of(logical)));
        pages.extend([machine.ram.table.leaf, machine.ram.table.journal_at]);
        pages
    }

    /// Finds the state that was committed last. Programs nothing.
    fn find_state(&mut self) -> Step<Last> {
        let mut below = Sequence::MAX;
        loop {
            self.ram = Ram::empty(self.scope);
            let lost = self.find_root(below)?;
            for state in &mut self.ram.table.blocks {
                // Only a root that ends the use of a volume proves that an erase was complete.
                let is_proved = self.ram.table.closed || !self.scope.has(Rule::EraseAgain);
                if *state == BlockState::Erased && !is_proved {
                    *state = BlockState::Listed;
                }
            }
            let last = self.roll_forward()?;
            self.ram.table.log_is_known &=
                self.ram.table.closed || !self.scope.has(Rule::LogIsKnown);
            self.ram.damaged |= lost;
            self.load_committed(&last);
            self.derive_live()?;
            match self.ram.ring.uncertain.filter(|_| self.ram.damaged) {
                Some(number) => below = number,
                None => return Ok(last),
            }
        }
    }

    /// Finds the newest root with a number below a limit. Returns true if a newer one is missing.
    fn find_root(&mut self, below: Sequence) -> Step<bool> {
        let mut roots: Vec<Found> = Vec::new();
        for place in 0..self.scope.ring {
            self.find_in_block(place, &mut roots);
        }
        roots.sort_unstable_by_key(|found| core::cmp::Reverse(found.number));
        self.ram.ring.number = roots.first().map_or(0, |newest| newest.number);
        let whole = (1 << self.scope.root_pages) - 1;
        let (mut base, mut oldest, mut lost) = (None, None, false);
        for found in roots.iter().filter(|found| found.seals > 0 && found.number < below) {
            let is_there = found.pages == whole || !self.scope.has(Rule::RootIsWhole);
            if base.is_none() && is_there && (found.seals > 1 || self.has_its_own(found)) {
                base = Some(found);
                self.ram.ring.kept |= 1 << found.place;
            }
            if base.is_none() {
                lost |= found.last_seal > 0 && found.pages & 1 == 0;
                continue;
            }
            oldest = Some(found).filter(|_| is_there).or(oldest);
            if is_there && found.last_seal > 0 {
                break;
            }
        }
        self.ram.ring.kept |= oldest.map_or(0, |found| 1 << found.place);
        let base = base.ok_or(Stop::Broken(Violation::MountRefused))?;
        let ring = &mut self.ram.ring;
        ring.uncertain = Some(base.number).filter(|_| base.seals < 2);
        (ring.complete, ring.place, ring.next) = (base.place, base.place, self.scope.ring_pages());
        self.ram.table = (*base.table).clone();
        if base.pages != whole {
            // The missing part contains the states of the blocks.
            self.ram.table.blocks.fill(BlockState::Bad);
        }
        Ok(lost)
    }

    fn find_in_block(&mut self, place: u8, roots: &mut Vec<Found>) {
        let block: Block = self.ring_block(place);
        let (mut is_blank, before) = (true, roots.len());
        for page in self.scope.pages_of(block) {
            match self.read(page) {
                Seen::Page(tag, Content::Root(table), true) if tag.kind == Kind::Root => {
                    let (index, pages) = (tag.logical, self.scope.root_pages);
                    let at = roots[before..].iter().position(|found| found.number == tag.sequence);
                    let at = at.map_or(roots.len(), |at| before + at);
                    if at == roots.len() {
                        roots.push(Found {
                            number: tag.sequence,
                            place,
                            table,
                            pages: 0,
                            seals: 0,
                            last_seal: 0,
                        });
                    }
                    let found = &mut roots[at];
                    found.pages |= 1 << (index % pages);
                    if index >= pages {
                        found.seals += 1;
                        found.last_seal = found.last_seal.max(index - pages);
                    }
                }
                Seen::Blank => {}
                _ => is_blank = false,
            }
        }
        if roots.len() == before && !is_blank {
            self.ram.ring.unknown |= 1 << place;
        }
    }

    /// Returns true if all pages that a root names in its own block can be read.
    fn has_its_own(&mut self, found: &Found) -> bool {
        let table = &found.table;
        let overlay = table.overlay.iter().flatten().map(|entry| entry.0);
        let named: Vec<Page> =
            overlay.chain([table.leaf, table.journal_at]).filter(|&page| page != NONE).collect();
        let block = self.scope.pages_of(self.ring_block(found.place));
        named
            .into_iter()
            .filter(|page| block.contains(page))
            .all(|page| self.read_sound(page).is_some())
    }

    /// Loads the newest journal page into the journal buffer. Roll-forward has read the page
    /// already if it is the last record.
    fn load_committed(&mut self, last: &Last) {
        (self.ram.table.pending, self.ram.table.start) = (Pages::default(), IDLE_START);
        if !last.journal_is_read {
            self.ram.damaged |= self.load_journal().is_err();
        }
    }

    /// Marks the frames that the map names, and finds the empty blocks.
    fn derive_live(&mut self) -> Step {
        self.ram.live = 0;
        let leaf = self.ram.table.leaf;
        if self.read_leaf().is_none() {
            // Reads report the pages of a lost leaf.
            self.ram.damaged = true;
            return Ok(());
        }
        let frames: Vec<Page> =
            (0..LOGICAL).map(|logical| self.committed_frame(logical)).chain([leaf]).collect();
        for frame in frames.into_iter().filter(|&frame| frame != NONE) {
            if self.ram.live >> frame & 1 != 0 {
                return Err(Stop::Broken(Violation::WrongClaim));
            }
            self.ram.live |= 1 << frame;
        }
        self.ram.table.overlay.iter_mut().flatten().for_each(|entry| entry.1 = true);
        for block in 0..self.scope.blocks.0 {
            use BlockState::{Dead, Erased, Free, Listed, Used};
            let in_use = self.has_live(block) || self.holds_journal(block);
            match self.state(block) {
                Free | Listed | Erased | Dead if in_use => self.set_state(block, Used),
                _ => self.settle_empty(block),
            }
        }
        Ok(())
    }
}

/// No transaction is open after a mount.
const IDLE_START: Sequence = crate::numbers::IDLE;
