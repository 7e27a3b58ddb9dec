//! A card in memory. Its sectors can be written at any time and in any order. They lie behind a
//! cache, which may lose as much as the contract of [`SectorDevice`] allows.
//!
//! A sector holds bytes, or cannot be read until it is written again. `torn` draws the remains of
//! the sectors written since the last flush when power fails:
//!
//! - A cache that keeps the order leaves a number of the first writes, the next one in part, and
//!   none of the others.
//! - A cache that reorders leaves any part of them.
//!
//! One sector may also be hidden: it cannot be read for some looks, and then holds its old
//! content.

pub mod pages;
mod torn;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use steadyfs::media::Failure;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorTimes};

use crate::fate::Style;
use crate::fault::{Kind, PageFate};
use crate::strike::{Strike, Strikes};

/// Bytes of a sector.
pub type Bytes = [u8; SECTOR_BYTES];

/// Content of a sector.
#[derive(Clone, Debug)]
pub enum Held {
    /// The sector holds these bytes.
    Bytes(Rc<Bytes>),
    /// The sector cannot be read until it is written.
    Unreadable,
}

/// Behaviour of a card's cache before writes are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Maximum number of sectors in the cache; the oldest leave it first. With 0 a write is
    /// durable when it is answered.
    pub sectors_max: usize,
    /// True if a power cut may take any sectors of the cache, and not only the last ones.
    pub reorders: bool,
}

/// Kinds of commands that change sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Write,
    /// The sectors stay readable, with any content.
    Discard,
}

/// A sector that waits in the cache.
#[derive(Clone, Debug)]
struct Waiting {
    change: Change,
    /// Number of the command that wrote it.
    command: u64,
    sector: u32,
    held: Held,
}

/// A write: its place, its size, and a number that groups writes which a power cut does not
/// distinguish.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// First sector.
    pub first: u32,
    /// Number of sectors.
    pub count: u32,
    /// Number of the command. If the cache reorders, number of the flush before it.
    pub number: u64,
}

/// A sector that cannot be read for a while.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    sector: u32,
    looks: u32,
    /// True if a failure by this sector is excused: it counts as a fault.
    is_fault: bool,
}

/// Number of writes whose order is kept.
const ORDER: usize = 256;

#[derive(Clone)]
struct State {
    medium: Vec<Held>,
    /// Content of each sector before the present one.
    earlier: Vec<Rc<Bytes>>,
    waiting: VecDeque<Waiting>,
    cache: Cache,
    hidden: Option<Hidden>,
    /// Sectors that take no writes. `tells_refused` is true if the driver reports them.
    refused: Vec<Range<u32>>,
    tells_refused: bool,
    style: Style,
    rng: fastrand::Rng,
    strikes: Strikes,
    commands: u64,
    flushes: u64,
    order: VecDeque<Written>,
}

/// The card. Its controls take a shared reference.
/// [`SectorPages`](steadyfs::media::sectors::SectorPages) gives an exclusive reference only after
/// it has discarded its own state.
#[derive(Clone)]
pub struct Card {
    state: RefCell<State>,
}

impl Card {
    /// Makes a new card, or one with the data of an earlier use.
    pub fn new(sector_count: u32, cache: Cache, is_used: bool, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut first = [0; SECTOR_BYTES];
        if is_used {
            rng.fill(&mut first);
        }
        let (first, count) = (Rc::new(first), sector_count as usize);
        let state = State {
            medium: vec![Held::Bytes(first.clone()); count],
            earlier: vec![first; count],
            waiting: VecDeque::new(),
            cache,
            hidden: None,
            refused: Vec::new(),
            tells_refused: false,
            style: Style::Mixed,
            rng,
            strikes: Strikes::new(),
            commands: 0,
            flushes: 0,
            order: VecDeque::new(),
        };
        Self { state: RefCell::new(state) }
    }

    /// Passes the power state and the faults of the card to `act`, which may arm them.
    pub fn strikes<R>(&self, act: impl FnOnce(&mut Strikes) -> R) -> R {
        act(&mut self.state.borrow_mut().strikes)
    }

    /// Returns the behaviour of the cache.
    pub fn cache(&self) -> Cache {
        self.state.borrow().cache
    }

    /// Sets the style of the sectors that a cut leaves.
    pub fn set_style(&self, style: Style) {
        self.state.borrow_mut().style = style;
    }

    /// Makes a sector unreadable for `looks` looks. If `is_fault`, each look counts as a fault
    /// that struck.
    pub fn hide(&self, sector: u32, looks: u32, is_fault: bool) {
        self.state.borrow_mut().hidden = Some(Hidden { sector, looks, is_fault });
    }

    /// Makes sectors refuse writes from now on. The driver reports them as a bad block, or as a
    /// device that does not answer.
    pub fn refuse(&self, first: u32, count: u32, is_told: bool) {
        let mut state = self.state.borrow_mut();
        state.refused.push(first..first + count);
        state.tells_refused = is_told;
    }

    /// Returns true if a sector is hidden.
    pub fn hides(&self) -> bool {
        self.state.borrow().hidden.is_some()
    }

    /// Discards faults and hidden sectors that have not struck.
    pub fn disarm(&self) {
        let mut state = self.state.borrow_mut();
        state.strikes.disarm();
        state.hidden = None;
    }

    /// Turns power off, if it is still on, and on again. The part of the cache that survives is
    /// on the medium.
    pub fn power_on(&self) {
        let mut state = self.state.borrow_mut();
        state.lose_cache();
        state.strikes.power_on();
    }

    /// Returns the content of a sector, hidden or not.
    pub fn held(&self, sector: u32) -> Held {
        self.state.borrow().held(sector)
    }

    /// Replaces the content of a sector for good.
    pub fn spoil(&self, sector: u32, held: Held) {
        let mut state = self.state.borrow_mut();
        state.empty_cache(0);
        state.store(sector, held);
    }

    /// Returns the last writes, newest first.
    pub fn written(&self) -> Vec<Written> {
        self.state.borrow().order.iter().copied().collect()
    }

    /// Draws from the card's own random numbers.
    pub fn draw<R>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> R) -> R {
        draw(&mut self.state.borrow_mut().rng)
    }
}

impl State {
    fn held(&self, sector: u32) -> Held {
        let waiting = self.waiting.iter().rev().find(|waiting| waiting.sector == sector);
        waiting.map_or_else(|| self.medium[sector as usize].clone(), |waiting| waiting.held.clone())
    }

    /// Puts a sector on the medium.
    fn store(&mut self, sector: u32, held: Held) {
        let before = std::mem::replace(&mut self.medium[sector as usize], held);
        if let Held::Bytes(bytes) = before {
            self.earlier[sector as usize] = bytes;
        }
    }

    /// Writes the oldest sectors of the cache to the medium, until the cache has at most `most`
    /// sectors.
    fn empty_cache(&mut self, most: usize) {
        let excess = self.waiting.len().saturating_sub(most);
        for waiting in self.waiting.drain(..excess).collect::<Vec<_>>() {
            self.store(waiting.sector, waiting.held);
        }
    }

    /// Puts the result of a command into the cache.
    fn put(&mut self, change: Change, first: u32, sectors: Vec<Held>) {
        let (command, written) = (self.commands, first..first + sectors.len() as u32);
        self.hidden = self.hidden.filter(|hidden| !written.contains(&hidden.sector));
        self.waiting.extend(written.zip(sectors).map(|(sector, held)| Waiting {
            change,
            command,
            sector,
            held,
        }));
    }

    /// Notes a write as the newest one.
    fn note(&mut self, first: u32, count: u32) {
        // After a cut, the remains of a write may be readable but be no page. Such a write is not
        // among the last ones that a mount finds.
        if !self.strikes.has_power() {
            return;
        }
        let number = if self.cache.reorders { self.flushes } else { self.commands };
        self.order.push_front(Written { first, count, number });
        self.order.truncate(ORDER);
    }

    fn check(&self, first: u32, count: u32) {
        let is_there =
            first.checked_add(count).is_some_and(|end| end as usize <= self.medium.len());
        assert!(
            is_there && count > 0,
            "illegal use: {count} sectors from {first} of {}",
            self.medium.len()
        );
    }

    /// Returns true if a sector is hidden from this look.
    fn is_hidden(&mut self, sector: u32) -> bool {
        let Some(hidden) = self.hidden.as_mut().filter(|hidden| hidden.sector == sector) else {
            return false;
        };
        self.strikes.trace(|| format!("sector {sector} is hidden for {} looks", hidden.looks));
        if hidden.is_fault {
            self.strikes.fire(format!("sector {sector} cannot be read for {} looks", hidden.looks));
        }
        hidden.looks -= 1;
        if hidden.looks == 0 {
            self.hidden = None;
        }
        true
    }

    fn read(&mut self, first: u32, count: u32) -> Result<Vec<u8>, Failure> {
        self.check(first, count);
        match self.strikes.begin(Kind::Read)? {
            Strike::None => {}
            Strike::Cut => return Err(Failure::Device),
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("of {count} sectors from {first}"));
                return Err(fault.failure);
            }
        }
        let mut bytes = Vec::with_capacity(count as usize * SECTOR_BYTES);
        for sector in first..first + count {
            match self.held(sector) {
                Held::Bytes(held) if !self.is_hidden(sector) => bytes.extend(*held),
                _ => return Err(Failure::Uncorrectable),
            }
        }
        Ok(bytes)
    }

    /// Carries out a command that changes sectors. A strike may leave a part of it.
    fn change(&mut self, change: Change, first: u32, sectors: Vec<Held>) -> Result<(), Failure> {
        let count = sectors.len() as u32;
        self.check(first, count);
        let kind = if change == Change::Write { Kind::Program } else { Kind::Erase };
        let strike = self.strikes.begin(kind)?;
        self.commands += 1;
        let result = match strike {
            Strike::None if change == Change::Write && self.is_refused(first, count) => {
                self.refuse_write(first, sectors)
            }
            Strike::None => {
                self.put(change, first, sectors);
                Ok(())
            }
            Strike::Cut => {
                self.put(change, first, sectors);
                Err(Failure::Device)
            }
            Strike::Fault(fault) => {
                self.strikes.at(format_args!("of {count} sectors from {first}"));
                match fault.page {
                    PageFate::Untouched => {}
                    PageFate::Holds => self.put(change, first, sectors),
                    PageFate::Torn | PageFate::Unsteady => {
                        let style = if fault.page == PageFate::Torn {
                            Style::Mixed
                        } else {
                            Style::Unsteady
                        };
                        let torn: Vec<_> = (first..)
                            .zip(sectors)
                            .map(|(at, new)| self.torn(change, at, new, style))
                            .collect();
                        self.put(change, first, torn);
                    }
                }
                // A failure that passes is not the fault of the sectors.
                Err(Failure::Device)
            }
        };
        if self.strikes.has_power() {
            self.empty_cache(self.cache.sectors_max);
        }
        self.strikes.trace(|| format!("{change:?} of {count} sectors from {first}: {result:?}"));
        result
    }

    /// Returns true if any of these sectors takes no writes.
    fn is_refused(&self, first: u32, count: u32) -> bool {
        self.refused.iter().any(|range| range.start < first + count && first < range.end)
    }

    /// Refuses a write. Its sectors in the range stay as they are, or cannot be read any more.
    /// Each of the others is written or not.
    fn refuse_write(&mut self, first: u32, sectors: Vec<Held>) -> Result<(), Failure> {
        self.strikes.fire(format!(
            "Write of {} sectors from {first}, of which some take none",
            sectors.len()
        ));
        let (is_partly_there, is_readable) = (self.rng.bool(), self.rng.u32(..3) != 0);
        for (sector, held) in (first..).zip(sectors) {
            match self.is_refused(sector, 1) {
                false if is_partly_there && self.rng.bool() => {
                    self.put(Change::Write, sector, vec![held])
                }
                true if !is_readable => self.put(Change::Write, sector, vec![Held::Unreadable]),
                _ => {}
            }
        }
        Err(if self.tells_refused { Failure::BadBlock } else { Failure::Device })
    }

    /// Draws the content of discarded sectors: the old bytes, zeros, `0xFF` or junk.
    fn discarded(&mut self, first: u32, count: u32) -> Vec<Held> {
        let way = self.rng.u8(..4);
        let mut junk = [0; SECTOR_BYTES];
        self.rng.fill(&mut junk);
        let junk = Rc::new(junk);
        let mut one = |sector| match if way == 3 { self.rng.u8(..4) } else { way } {
            0 => self.held(sector),
            1 => Held::Bytes(Rc::new([0; SECTOR_BYTES])),
            2 => Held::Bytes(Rc::new([0xFF; SECTOR_BYTES])),
            _ => Held::Bytes(junk.clone()),
        };
        (first..first + count).map(&mut one).collect()
    }
}

impl SectorDevice for Card {
    fn sector_count(&self) -> u32 {
        self.state.borrow().medium.len() as u32
    }

    fn times(&self) -> SectorTimes {
        SectorTimes {
            read_ns: 200_000,
            read_sector_ns: 20_000,
            write_ns: 500_000,
            write_sector_ns: 25_000,
            discard_ns: 900_000,
            flush_ns: 2_000_000,
        }
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        assert!(
            bytes.is_multiple_of(SECTOR_BYTES),
            "illegal use: {bytes} bytes are no whole sectors"
        );
        let state = self.state.get_mut();
        let result = state.read(first, (bytes / SECTOR_BYTES) as u32);
        let mut rest = match &result {
            Ok(bytes) => &bytes[..],
            Err(_) => {
                // After an error the buffer may hold anything.
                parts.iter_mut().for_each(|part| state.rng.fill(part));
                return result.map(drop);
            }
        };
        for part in parts {
            let (here, behind) = rest.split_at(part.len());
            part.copy_from_slice(here);
            rest = behind;
        }
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let bytes = parts.concat();
        let (sectors, rest) = bytes.as_chunks::<SECTOR_BYTES>();
        assert!(rest.is_empty(), "illegal use: {} bytes are no whole sectors", bytes.len());
        let state = self.state.get_mut();
        let result = state.change(
            Change::Write,
            first,
            sectors.iter().map(|bytes| Held::Bytes(Rc::new(*bytes))).collect(),
        );
        state.note(first, sectors.len() as u32);
        result
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let state = self.state.get_mut();
        match state.strikes.begin(Kind::Flush)? {
            Strike::None => {
                state.strikes.trace(|| format!("Flush of {} sectors", state.waiting.len()));
                state.empty_cache(0);
                state.flushes += 1;
                Ok(())
            }
            Strike::Cut => Err(Failure::Device),
            Strike::Fault(fault) => {
                // Answered writes may be lost, as if power had failed. The next flush does not
                // report that.
                state.lose_cache();
                Err(fault.failure)
            }
        }
    }

    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let state = self.state.get_mut();
        state.check(first, count);
        let sectors = state.discarded(first, count);
        state.change(Change::Discard, first, sectors)
    }

    fn reorders(&self) -> bool {
        self.state.borrow().cache.reorders
    }
}
