//! The contents of a disk after each call, and the states that a power cut may leave. A cut leaves
//! the effect of a first part of the calls, in their order. This part includes all flushed calls.

use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::{Access, Budget, Error, MountError};

use super::{Chip, Device, Rng, bounds_count, cost_since, failures, hold_budget};

const SECTOR: usize = SECTOR_BYTES as usize;

/// One step of a workload. Its sectors exist on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Write {
        sector: u32,
        count: u32,
        durable: bool,
        stream: u8,
    },
    /// Trims with repeated calls until all the sectors are done.
    Trim {
        sector: u32,
        count: u32,
    },
    Read {
        sector: u32,
        count: u32,
    },
    Flush,
    /// Idle work of at most `operations` operations.
    Maintain {
        operations: u32,
        burst: u64,
    },
    /// Reads of data at rest, with at most `operations` operations.
    Scrub {
        operations: u32,
    },
    /// Unmount and mount.
    Remount,
    /// Mount without an unmount before.
    Crash,
}

/// For each sector, the number of the write that it comes from; 0 if it reads as zeros.
type State = Vec<u64>;

/// The contents of the disk, and the states that a power cut may leave.
#[derive(Clone, Debug)]
pub struct Model {
    /// States that may be on the medium. The last durable state is first. Each page written since
    /// then adds one state, and each call that trimmed adds one. The disk shows the last state.
    states: Vec<State>,
    /// Number of the last write. It makes the bytes of every write different.
    stamp: u64,
}

impl Model {
    /// Returns the model of an empty disk.
    pub fn new(sectors: u32) -> Self {
        Self { states: vec![vec![0; sectors as usize]], stamp: 0 }
    }

    fn current(&self) -> &State {
        self.states.last().expect("a state")
    }

    /// Marks the shown state as durable.
    fn settle(&mut self) {
        self.states.drain(..self.states.len() - 1);
    }

    /// Returns the current state with `sectors` from the write `stamp`.
    fn with(&self, sectors: std::ops::Range<u32>, stamp: u64) -> State {
        let mut state = self.current().clone();
        state[sectors.start as usize..sectors.end as usize].fill(stamp);
        state
    }

    /// Returns true if `found` is one of the allowed states.
    fn allows(&self, found: &State) -> bool {
        self.states.contains(found)
    }

    /// Describes the difference between `found` and the nearest allowed state.
    fn differences(&self, found: &State) -> String {
        let differing = |state: &&State| {
            state.iter().zip(found).filter(|(expected, found)| expected != found).count()
        };
        let nearest = self.states.iter().min_by_key(differing).expect("a state");
        let pairs = nearest
            .iter()
            .zip(found)
            .enumerate()
            .filter(|(_, (expected, found))| expected != found);
        let named = pairs.take(4).map(|(sector, (expected, found))| {
            format!("sector {sector} has the content of write {found}; expected write {expected}")
        });
        let named: Vec<String> = named.collect();
        let (states, sectors) = (self.states.len(), differing(&nearest));
        format!(
            "none of the {states} allowed states; {sectors} sectors differ from the nearest state: \
             {}",
            named.join(", ")
        )
    }
}

/// Returns the bytes of a sector of a write: the number of the write, then bytes that no other
/// sector has.
fn content(stamp: u64, sector: u32) -> [u8; SECTOR] {
    let (mut bytes, mut rng) = ([0; SECTOR], Rng(stamp << 24 ^ u64::from(sector)));
    for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&if index == 0 { stamp } else { rng.next() }.to_le_bytes());
    }
    bytes
}

/// Returns the number of the write that a sector comes from. Asserts that the whole sector does.
fn stamp_of(sector: u32, bytes: &[u8]) -> u64 {
    let stamp = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let is_whole = if stamp == 0 {
        bytes.iter().all(|byte| *byte == 0)
    } else {
        bytes == content(stamp, sector)
    };
    assert!(is_whole, "sector {sector} begins like write {stamp}, but differs from it");
    stamp
}

/// A mounted disk and its oracle.
pub struct Session<'a> {
    pub disk: Disk<'a, &'a mut Chip>,
    model: &'a mut Model,
}

impl<'a> Session<'a> {
    /// Mounts, and asserts that the disk has its size and no damage.
    pub fn mount(
        access: Access,
        device: &'a mut Device,
        model: &'a mut Model,
    ) -> Result<Self, MountError> {
        let disk = device.mount_disk(access)?;
        assert_eq!(
            disk.sectors() as usize,
            model.current().len(),
            "a disk does not change its size"
        );
        assert_eq!(disk.damage(), None, "what the mount found missing");
        Ok(Self { disk, model })
    }

    /// Mounts for reading, and compares all sectors with the allowed states. If the mount reports
    /// that every later mount shows the same, the found state is the only allowed state from then
    /// on.
    pub fn glance(device: &'a mut Device, model: &'a mut Model) -> Result<(), MountError> {
        let mut session = Self::mount(Access::ReadOnly, device, model)?;
        let before = session.model.states.clone();
        session.compare()?;
        if !session.disk.is_settled() {
            session.model.states = before;
        }
        Ok(())
    }

    /// Compares all sectors with the states that are allowed after a mount. The found state becomes
    /// the model's only state.
    pub fn compare(&mut self) -> Result<(), Error> {
        let found = self.contents()?;
        assert!(self.model.allows(&found), "after a mount: {}", self.model.differences(&found));
        self.model.states = vec![found];
        Ok(())
    }

    /// Compares all sectors with the state that the disk must show.
    pub fn check(&mut self) -> Result<(), Error> {
        let found = self.contents()?;
        let shown = Model { states: vec![self.model.current().clone()], ..*self.model };
        assert!(shown.allows(&found), "{}", shown.differences(&found));
        Ok(())
    }

    /// Unmounts, which makes unflushed changes durable.
    pub fn unmount(self) -> Result<(), Error> {
        self.disk.unmount()?;
        self.model.settle();
        Ok(())
    }

    /// Makes a step and compares it with the oracle and with its bound. Returns the errors of the
    /// medium.
    pub fn step(&mut self, step: &Step) -> Result<(), Error> {
        match *step {
            Step::Write { sector, count, durable, stream } => {
                self.write(sector, count, WriteOptions { durable, stream })
            }
            Step::Trim { sector, count } => self.trim(sector, count),
            Step::Read { sector, count } => self.read(sector, count),
            Step::Flush => self.flush(),
            Step::Maintain { operations, burst } => {
                self.idle(operations, |disk| disk.maintain(Budget::Operations(operations), burst))
            }
            Step::Scrub { operations } => {
                self.idle(operations, |disk| disk.scrub(Budget::Operations(operations)))
            }
            Step::Remount | Step::Crash => unreachable!("the workload's owner mounts"),
        }?;
        // If nothing waits, everything is durable.
        if !self.disk.has_changes() {
            self.model.settle();
        }
        Ok(())
    }

    /// Writes sectors in one call. Each logical page may be on the medium without the next.
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
        assert!(
            !options.durable || !self.disk.has_changes(),
            "something waits after a durable write"
        );
        Ok(())
    }

    fn trim(&mut self, sector: u32, count: u32) -> Result<(), Error> {
        let (mut at, end, per_page) = (sector, sector + count, self.disk.page_sectors());
        while at < end {
            let (first, last) = (at.div_ceil(per_page), end / per_page);
            let known = self.model.states.len();
            // A call trims pages from the first one on, and returns the number of trimmed sectors.
            let until = |page: u32| first * per_page..page.max(first) * per_page;
            let states: Vec<State> =
                (first..=last).map(|page| self.model.with(until(page), 0)).collect();
            let whole = self.model.current().clone();
            self.model.states.extend(states);
            let done = self.bounded(Some(DiskCall::Trim), |disk| disk.trim(at, end - at))?;
            assert!(
                (1..=end - at).contains(&done),
                "a trim of {} sectors has done {done}",
                end - at
            );
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
        self.bounded(Some(DiskCall::Read(count * SECTOR_BYTES)), |disk| {
            disk.read(sector, &mut found)
        })?;
        for (sector, bytes) in (sector..).zip(found.chunks_exact(SECTOR)) {
            let (stamp, expected) =
                (stamp_of(sector, bytes), self.model.current()[sector as usize]);
            assert_eq!(stamp, expected, "the write that sector {sector} is of");
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.bounded(Some(DiskCall::Flush), |disk| disk.flush())?;
        assert!(!self.disk.has_changes(), "something waits after a flush");
        Ok(())
    }

    fn idle(
        &mut self,
        budget: u32,
        act: impl FnOnce(&mut Disk<'a, &'a mut Chip>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let (before, waits) = (self.disk.flash().counts(), self.disk.has_changes());
        self.disk.flash_mut().take_records();
        act(&mut self.disk)?;
        assert_eq!(self.disk.has_changes(), waits, "idle work changes nothing of what waits");
        hold_budget(self.disk.flash(), &before, budget);
        Ok(())
    }

    /// Makes a call and asserts that it costs no more than its bound, if it has one and nothing
    /// fails.
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
            state.extend(
                (first..)
                    .zip(page.chunks_exact(SECTOR))
                    .map(|(sector, bytes)| stamp_of(sector, bytes)),
            );
            let is_written = state[first as usize..].iter().any(|stamp| *stamp != 0);
            assert_eq!(
                self.disk.is_written(first)?,
                is_written,
                "whether the page of sector {first} holds anything"
            );
        }
        Ok(state)
    }
}

/// Fills the first `percent` percent of a disk.
pub fn fill(device: &mut Device, model: &mut Model, percent: u64) -> Result<(), MountError> {
    let mut session = Session::mount(Access::ReadWrite, device, model)?;
    let per_page = session.disk.page_sectors();
    let end = (u64::from(session.disk.sectors()) * percent / 100) as u32 / per_page * per_page;
    for sector in (0..end).step_by(per_page as usize) {
        session.step(&Step::Write { sector, count: per_page, durable: true, stream: 0 })?;
    }
    Ok(())
}
