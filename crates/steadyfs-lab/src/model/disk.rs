//! What a disk must hold after each call, and what a power cut may leave of it: what some of its calls in their order have left, all that
//! were flushed among them.

use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::{Access, Budget, Error, MountError};

use super::{Chip, Device, Rng, bounds_count, cost_since, failures, hold_budget};

const SECTOR: usize = SECTOR_BYTES as usize;

/// One step of a workload. Sectors are those that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Write {
        sector: u32,
        count: u32,
        durable: bool,
        stream: u8,
    },
    /// As many calls as it takes.
    Trim {
        sector: u32,
        count: u32,
    },
    Read {
        sector: u32,
        count: u32,
    },
    Flush,
    /// Idle work of so many operations at most.
    Maintain {
        operations: u32,
        burst: u64,
    },
    /// Reads of data at rest, so many operations at most.
    Scrub {
        operations: u32,
    },
    /// Unmount and mount.
    Remount,
    /// Mount without an unmount before.
    Crash,
}

/// For each sector the number of the write that it is of; 0 where it reads as zeros.
type State = Vec<u64>;

/// What the disk holds, and what a power cut may leave of it.
#[derive(Clone, Debug)]
pub struct Model {
    /// States that may be on the medium: the last that is durable first, then one for each page that was written and each call that trimmed
    /// since; the last one is what the disk shows.
    states: Vec<State>,
    /// Number of the last write; it makes every write's bytes different.
    stamp: u64,
}

impl Model {
    /// An empty disk.
    pub fn new(sectors: u32) -> Self {
        Self { states: vec![vec![0; sectors as usize]], stamp: 0 }
    }

    fn current(&self) -> &State {
        self.states.last().expect("a state")
    }

    /// What the disk shows is durable.
    fn settle(&mut self) {
        self.states.drain(..self.states.len() - 1);
    }

    /// The current state with sectors that are of another write.
    fn with(&self, sectors: std::ops::Range<u32>, stamp: u64) -> State {
        let mut state = self.current().clone();
        state[sectors.start as usize..sectors.end as usize].fill(stamp);
        state
    }

    /// Whether what was found may be there.
    fn allows(&self, found: &State) -> bool {
        self.states.contains(found)
    }

    /// Says in what `found` differs from the nearest of the states that it may be.
    fn differences(&self, found: &State) -> String {
        let differing = |state: &&State| state.iter().zip(found).filter(|(expected, found)| expected != found).count();
        let nearest = self.states.iter().min_by_key(differing).expect("a state");
        let pairs = nearest.iter().zip(found).enumerate().filter(|(_, (expected, found))| expected != found);
        let named =
            pairs.take(4).map(|(sector, (expected, found))| format!("sector {sector} is of write {found}, not {expected}"));
        let named: Vec<String> = named.collect();
        let (states, sectors) = (self.states.len(), differing(&nearest));
        format!("none of {states} states that may be there; {sectors} sectors differ from the nearest: {}", named.join(", "))
    }
}

/// The bytes of a sector of a write: its number, and what only this sector of it has.
fn content(stamp: u64, sector: u32) -> [u8; SECTOR] {
    let (mut bytes, mut rng) = ([0; SECTOR], Rng(stamp << 24 ^ u64::from(sector)));
    for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&if index == 0 { stamp } else { rng.next() }.to_le_bytes());
    }
    bytes
}

/// The write that a sector is of.
fn stamp_of(sector: u32, bytes: &[u8]) -> u64 {
    let stamp = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let is_whole = if stamp == 0 { bytes.iter().all(|byte| *byte == 0) } else { bytes == content(stamp, sector) };
    assert!(is_whole, "sector {sector} begins as write {stamp}, and is not of it");
    stamp
}

/// A mounted disk and its oracle.
pub struct Session<'a> {
    pub disk: Disk<'a, &'a mut Chip>,
    model: &'a mut Model,
}

impl<'a> Session<'a> {
    /// Mounts.
    pub fn mount(access: Access, device: &'a mut Device, model: &'a mut Model) -> Result<Self, MountError> {
        let disk = device.mount_disk(access)?;
        assert_eq!(disk.sectors() as usize, model.current().len(), "a disk does not change its size");
        assert_eq!(disk.damage(), None, "what the mount found missing");
        Ok(Self { disk, model })
    }

    /// Mounts for reading, and compares everything with what may be there. Where the mount says that every later one shows the same, only that
    /// may be there from now on.
    pub fn glance(device: &'a mut Device, model: &'a mut Model) -> Result<(), MountError> {
        let mut session = Self::mount(Access::ReadOnly, device, model)?;
        let before = session.model.states.clone();
        session.compare()?;
        if !session.disk.is_settled() {
            session.model.states = before;
        }
        Ok(())
    }

    /// Compares everything with what may be there after a mount, and takes what is there for the state from now on.
    pub fn compare(&mut self) -> Result<(), Error> {
        let found = self.contents()?;
        assert!(self.model.allows(&found), "after a mount: {}", self.model.differences(&found));
        self.model.states = vec![found];
        Ok(())
    }

    /// Compares everything with what the disk must show.
    pub fn check(&mut self) -> Result<(), Error> {
        let found = self.contents()?;
        let shown = Model { states: vec![self.model.current().clone()], ..*self.model };
        assert!(shown.allows(&found), "{}", shown.differences(&found));
        Ok(())
    }

    /// Unmounts; what was not flushed is then.
    pub fn unmount(self) -> Result<(), Error> {
        self.disk.unmount()?;
        self.model.settle();
        Ok(())
    }

    /// Makes a step and holds it to the oracle and to its bound. What the medium reports is returned.
    pub fn step(&mut self, step: &Step) -> Result<(), Error> {
        match *step {
            Step::Write { sector, count, durable, stream } => self.write(sector, count, WriteOptions { durable, stream }),
            Step::Trim { sector, count } => self.trim(sector, count),
            Step::Read { sector, count } => self.read(sector, count),
            Step::Flush => self.flush(),
            Step::Maintain { operations, burst } => {
                self.idle(operations, |disk| disk.maintain(Budget::Operations(operations), burst))
            }
            Step::Scrub { operations } => self.idle(operations, |disk| disk.scrub(Budget::Operations(operations))),
            Step::Remount | Step::Crash => unreachable!("the workload's owner mounts"),
        }?;
        // What waits for nothing is durable.
        if !self.disk.has_changes() {
            self.model.settle();
        }
        Ok(())
    }

    /// Writes sectors in one call, each logical page of which may be there without the next.
    fn write(&mut self, sector: u32, count: u32, options: WriteOptions) -> Result<(), Error> {
        self.model.stamp += 1;
        let (stamp, end, per_page) = (self.model.stamp, sector + count, self.disk.page_sectors());
        let mut at = sector;
        while at < end {
            let next = end.min(at + per_page - at % per_page);
            self.model.states.push(self.model.with(at..next, stamp));
            at = next;
        }
        let data: Vec<u8> = (sector..end).flat_map(|sector| content(stamp, sector)).collect();
        let is_within_page = sector / per_page == (end - 1) / per_page;
        let kind = if options.durable { DiskCall::WriteDurable } else { DiskCall::Write };
        let call = is_within_page.then(|| kind(count * SECTOR_BYTES));
        self.bounded(call, |disk| disk.write_with(sector, &data, options))?;
        assert!(!options.durable || !self.disk.has_changes(), "something waits after a durable write");
        Ok(())
    }

    fn trim(&mut self, sector: u32, count: u32) -> Result<(), Error> {
        let (mut at, end, per_page) = (sector, sector + count, self.disk.page_sectors());
        while at < end {
            let (first, last) = (at.div_ceil(per_page), end / per_page);
            let known = self.model.states.len();
            // A call trims pages from the first one on; it tells how many.
            let until = |page: u32| first * per_page..page.max(first) * per_page;
            let states: Vec<State> = (first..=last).map(|page| self.model.with(until(page), 0)).collect();
            let whole = self.model.current().clone();
            self.model.states.extend(states);
            let done = self.bounded(Some(DiskCall::Trim), |disk| disk.trim(at, end - at))?;
            assert!((1..=end - at).contains(&done), "a trim of {} sectors has done {done}", end - at);
            self.model.states.truncate(known);
            let state = self.model.with(until(last.min((at + done) / per_page)), 0);
            if state != whole {
                self.model.states.push(state);
            }
            at += done;
        }
        Ok(())
    }

    fn read(&mut self, sector: u32, count: u32) -> Result<(), Error> {
        let mut found = vec![0xEE; count as usize * SECTOR];
        self.bounded(Some(DiskCall::Read(count * SECTOR_BYTES)), |disk| disk.read(sector, &mut found))?;
        for (sector, bytes) in (sector..).zip(found.chunks_exact(SECTOR)) {
            let (stamp, expected) = (stamp_of(sector, bytes), self.model.current()[sector as usize]);
            assert_eq!(stamp, expected, "the write that sector {sector} is of");
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.bounded(Some(DiskCall::Flush), |disk| disk.flush())?;
        assert!(!self.disk.has_changes(), "something waits after a flush");
        Ok(())
    }

    fn idle(&mut self, budget: u32, act: impl FnOnce(&mut Disk<'a, &'a mut Chip>) -> Result<bool, Error>) -> Result<(), Error> {
        let (before, waits) = (self.disk.flash().counts(), self.disk.has_changes());
        self.disk.flash_mut().take_records();
        act(&mut self.disk)?;
        assert_eq!(self.disk.has_changes(), waits, "idle work changes nothing of what waits");
        hold_budget(self.disk.flash(), &before, budget);
        Ok(())
    }

    /// Makes a call and asserts that it costs no more than its bound, if it has one and nothing fails.
    fn bounded<T>(
        &mut self,
        call: Option<DiskCall>,
        act: impl FnOnce(&mut Disk<'a, &'a mut Chip>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let limit = call.map(|call| self.disk.bound(call));
        let before = self.disk.flash().counts();
        self.disk.flash_mut().take_records();
        let result = act(&mut self.disk);
        if let Some(limit) = limit.filter(|_| failures(self.disk.flash()) == 0 && bounds_count()) {
            let cost = cost_since(self.disk.flash(), &before);
            assert!(limit.holds(&cost), "{call:?} took {cost:?}, its bound is {limit:?}");
        }
        result
    }

    /// Reads every sector.
    fn contents(&mut self) -> Result<State, Error> {
        let (sectors, per_page) = (self.disk.sectors(), self.disk.page_sectors());
        let mut page = vec![0xEE; per_page as usize * SECTOR];
        let mut state = State::new();
        for first in (0..sectors).step_by(per_page as usize) {
            self.disk.read(first, &mut page)?;
            state.extend((first..).zip(page.chunks_exact(SECTOR)).map(|(sector, bytes)| stamp_of(sector, bytes)));
            let is_written = state[first as usize..].iter().any(|stamp| *stamp != 0);
            assert_eq!(self.disk.is_written(first)?, is_written, "whether the page of sector {first} holds anything");
        }
        Ok(state)
    }
}

/// Fills the first `percent` of a disk.
pub fn fill(device: &mut Device, model: &mut Model, percent: u64) -> Result<(), MountError> {
    let mut session = Session::mount(Access::ReadWrite, device, model)?;
    let per_page = session.disk.page_sectors();
    let end = (u64::from(session.disk.sectors()) * percent / 100) as u32 / per_page * per_page;
    for sector in (0..end).step_by(per_page as usize) {
        session.step(&Step::Write { sector, count: per_page, durable: true, stream: 0 })?;
    }
    Ok(())
}
