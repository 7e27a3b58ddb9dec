//! An SD card: units that are written in order, and a log for all other writes.
//!
//! ```text
//!  a write …                                        … goes to
//!  at the begin of a unit                           a new open unit; the least recently used closes
//!  where an open unit goes on (or a little further) that unit: full pages, no copies
//!  where a unit closed last was left                that unit, opened again: its begin is copied
//!  anywhere else                                    the log, slot by slot
//! ```
//!
//! A unit that is closed early is completed with the data of the old unit that is still valid. If
//! few blocks of the log are free, cleaning begins. The unit with most slots in the log is
//! *folded*, that is, rewritten. Log blocks with few needed slots are compacted. Cleaning continues
//! until enough blocks are free again. Meanwhile each access waits for a slice of the cleaning.
//!
//! A *stream* is a series of writes in which each write begins directly behind the previous write.
//! It needs no new command for each write. Its pages are programmed while the next pages come over
//! the bus. The write that breaks the stream waits for the end of the stream: the unfinished page
//! is written to the log, and is read back if the stream continues later.
//!
//! A discard frees slots, so cleaning never copies them. If no slots of a unit remain, the unit is
//! no longer open. Work that takes longer than one busy gap continues in the next gap. A write of
//! several pages has a gap for each page. In idle time the card completes the work that is due.
//!
//! The sequential update blocks, their limited number, and the separate area for small writes
//! come from patents of SanDisk (US 7,904,670, US 8,275,953, US 2008/0235465). The scheme also
//! follows log-block layers (FAST: Lee et al., 2007; superblocks: Kang et al., 2006).

mod log;
mod open;
mod units;

use super::clock::Clock;
use super::profile::CardProfile;
use super::slots::Slots;
use log::{Log, Place};
use open::Open;

/// Bytes of a sector.
const SECTOR: u32 = 512;
/// Value of the map for a slot that stores nothing.
const BLANK: Place = u32::MAX;
/// Value of the map for a slot that lies in its unit.
const HOME: Place = u32::MAX - 1;
/// Number of units closed early for which the card remembers their last written sector.
const RECENT: usize = 16;

/// The translation layer of an SD card.
#[derive(Clone, Debug)]
pub(super) struct Card {
    profile: CardProfile,
    pub(super) clock: Clock,
    /// The position of each slot.
    map: Slots<Place>,
    /// Number of slots of each unit that lie in the log.
    logged: Vec<u32>,
    log: Log,
    open: Vec<Open>,
    /// Units closed early, and the next sector that each of them expected.
    recent: Vec<(u32, u32)>,
    /// The sector at which a write continues the last write.
    stream: Option<u32>,
    /// Slots that are about to be written to the log.
    pending: Vec<u32>,
    /// Time of work that must be complete before the next write, and time of cleaning that may be
    /// spread over several writes.
    owed_ns: u64,
    owed_cleaning_ns: u64,
    is_cleaning: bool,
    uses: u64,
}

const fn us(us: u32) -> u64 {
    us as u64 * 1000
}

impl Card {
    pub(super) fn new(profile: &CardProfile, seed: u64) -> Self {
        let units = (u64::from(profile.capacity_mib) * 1024 / u64::from(profile.unit_kib)) as usize;
        let block_slots = profile.log_block_kib * 1024 / profile.slot_bytes;
        let unit_slots = profile.unit_kib * 1024 / profile.slot_bytes;
        Self {
            clock: Clock::new(profile.jitter_permille, seed),
            map: Slots::filled(BLANK, units * unit_slots as usize),
            logged: vec![0; units],
            log: Log::new(profile.log_kib / profile.log_block_kib, block_slots),
            open: Vec::new(),
            recent: Vec::new(),
            stream: None,
            pending: Vec::new(),
            owed_ns: 0,
            owed_cleaning_ns: 0,
            is_cleaning: false,
            uses: 0,
            profile: profile.clone(),
        }
    }

    /// Marks every slot as written in order. Takes no time.
    pub(super) fn fill(&mut self) {
        self.map = Slots::filled(HOME, self.map.len());
        self.logged.fill(0);
        let block_slots = self.log.block_slots();
        self.log = Log::new(self.profile.log_kib / self.profile.log_block_kib, block_slots);
        (self.stream, self.is_cleaning) = (None, false);
        (self.owed_ns, self.owed_cleaning_ns) = (0, 0);
        self.open.clear();
        self.recent.clear();
        self.pending.clear();
    }

    pub(super) fn sector_count(&self) -> u64 {
        self.map.len() as u64 * u64::from(self.slot_sectors())
    }

    pub(super) fn write(&mut self, first: u32, count: u32) {
        self.clock.counts.host_bytes += u64::from(count) * u64::from(SECTOR);
        if self.stream != Some(first) {
            self.end_stream();
            self.clock.pass(us(self.profile.command_us));
        }
        let (mut at, end) = (first, first + count);
        while at < end {
            let length = (end - at).min(self.unit_sectors() - at % self.unit_sectors());
            let is_followed = self.stream == Some(at);
            match self.open_for(at) {
                Some(open) => {
                    self.program_pending();
                    self.write_home(open, at, length);
                }
                None => self.write_log(at, length, is_followed),
            }
            at += length;
            self.stream = Some(at);
        }
        self.pay((count * SECTOR).div_ceil(self.profile.page_kib * 1024));
    }

    pub(super) fn read(&mut self, first: u32, count: u32) {
        self.end_stream();
        self.clock.pass(us(self.profile.command_us));
        let (from, to) =
            (first / self.slot_sectors(), (first + count).div_ceil(self.slot_sectors()));
        let (mut last_page, mut work) = (u32::MAX, 0);
        for slot in from..to {
            match self.map.get(slot) {
                BLANK => {}
                HOME if slot / self.page_slots() == last_page => {}
                HOME => {
                    last_page = slot / self.page_slots();
                    work += us(self.profile.page_read_us);
                    self.clock.counts.reads += 1;
                }
                _ => work += self.read_slots(1),
            }
        }
        self.clock.start(work);
        self.clock.wait();
        self.clock.pass(u64::from(count) * u64::from(self.profile.sector_ns));
    }

    pub(super) fn discard(&mut self, first: u32, count: u32) {
        self.end_stream();
        self.clock.pass(us(self.profile.command_us) + us(self.profile.discard_us));
        let size = self.slot_sectors();
        for slot in first.div_ceil(size)..(first + count) / size {
            self.settle(slot, BLANK);
        }
        // If an open unit has no data left, it is closed.
        let (unit, end) = (self.unit_sectors(), first + count);
        self.open.retain(|open| first > open.unit * unit + size || end < (open.unit + 1) * unit);
        self.recent
            .retain(|&(closed, _)| first > closed * unit + size || end < (closed + 1) * unit);
    }

    pub(super) fn flush(&mut self) {
        self.end_stream();
        let owed = std::mem::take(&mut self.owed_ns);
        self.clock.stall(owed);
    }

    pub(super) fn idle(&mut self, ns: u64) {
        let until = self.clock.now_ns + ns;
        self.end_stream();
        while self.clock.now_ns < until {
            let room = until - self.clock.now_ns;
            let owed =
                if self.owed_ns > 0 { &mut self.owed_ns } else { &mut self.owed_cleaning_ns };
            let part = room.min(*owed);
            *owed -= part;
            self.clock.stall(part);
            let is_low =
                self.is_cleaning || self.log.free_blocks() < self.profile.clean_high_blocks;
            if self.owed_ns + self.owed_cleaning_ns == 0
                && !(is_low && self.profile.idle_cleans == 1 && self.clean_step())
            {
                break;
            }
        }
        self.is_cleaning &= self.log.free_blocks() < self.profile.clean_high_blocks;
        self.clock.now_ns = self.clock.now_ns.max(until);
    }

    /// Ends the stream, which another write might have continued. Programs the buffer, and waits
    /// until the card is ready.
    fn end_stream(&mut self) {
        if let Some(next) = self.stream.take()
            && !self.pending.is_empty()
            && !next.is_multiple_of(self.slot_sectors())
        {
            let work = self.read_slots(1);
            self.clock.start(work);
        }
        self.program_pending();
        self.park();
        self.clock.wait();
    }

    /// Takes sectors for the log. `is_followed`: the sectors continue the previous ones.
    fn write_log(&mut self, first: u32, count: u32, is_followed: bool) {
        let size = self.slot_sectors();
        if !first.is_multiple_of(size) && !is_followed && self.map.get(first / size) != BLANK {
            let work = self.read_slots(1);
            self.clock.start(work);
        }
        for slot in first / size..(first + count).div_ceil(size) {
            if self.pending.last() != Some(&slot) {
                if self.pending.len() as u32 == self.page_slots() {
                    self.program_pending();
                }
                self.pending.push(slot);
            }
        }
        self.clock.pass(u64::from(count) * u64::from(self.profile.sector_ns));
    }

    /// Programs the slots that are about to be written to the log.
    fn program_pending(&mut self) {
        let slots = std::mem::take(&mut self.pending);
        if slots.is_empty() {
            return;
        }
        self.clock.wait();
        let work = self.program_slots(slots.len() as u32);
        self.clock.start(work);
        for &slot in &slots {
            self.put_in_log(slot);
        }
        self.pending = slots;
        self.pending.clear();
    }

    /// Appends a slot to the log. Cleans first if the log is full.
    fn put_in_log(&mut self, slot: u32) {
        while self.log.is_full() && self.clean_step() {
            self.owed_ns += std::mem::take(&mut self.owed_cleaning_ns);
        }
        let place = self.log.append(slot);
        self.settle(slot, place);
        if !self.is_cleaning && self.log.free_blocks() <= self.profile.clean_low_blocks {
            self.is_cleaning = true;
            self.clock.counts.bursts += 1;
        }
    }

    /// Records the new position of a slot.
    fn settle(&mut self, slot: u32, place: Place) {
        let old = self.map.set(slot, place);
        let logged = &mut self.logged
            [(slot / (self.profile.unit_kib * 1024 / self.profile.slot_bytes)) as usize];
        if old < HOME {
            self.log.forget(old);
            *logged -= 1;
        }
        if place < HOME {
            *logged += 1;
        }
    }

    /// Frees a block of the log, or folds a unit so that a block becomes free. Returns false if
    /// there is nothing to clean.
    fn clean_step(&mut self) -> bool {
        let Some((block, valid)) = self.log.emptiest() else { return false };
        let size = self.log.block_slots();
        let is_worth_compacting = valid * 100 <= size * self.profile.compact_percent;
        // An open unit is folded only if no other unit can be folded. It stays open.
        let unit = if is_worth_compacting { None } else { self.fullest(false) };
        let unit = unit.or_else(|| if valid == size { self.fullest(true) } else { None });
        let cost = match unit {
            Some(unit) => {
                self.clock.counts.folds += 1;
                self.clock.counts.erases += 1;
                self.gather(unit, 0, self.unit_slots()) + us(self.profile.erase_us)
            }
            None if valid < size => self.compact(block),
            None => return false,
        };
        self.owed_cleaning_ns += self.clock.jittered(cost);
        true
    }

    /// Returns the unit with most slots in the log, either among the open units or among the other
    /// units.
    fn fullest(&self, is_open: bool) -> Option<u32> {
        let (mut most, mut fullest) = (0, None);
        for (unit, &logged) in (0..).zip(&self.logged) {
            if logged > most && is_open == self.open.iter().any(|open| open.unit == unit) {
                (most, fullest) = (logged, Some(unit));
            }
        }
        fullest
    }

    /// Moves the needed slots of a log block to the end of the log. Returns the time that this
    /// takes.
    fn compact(&mut self, block: u32) -> u64 {
        let needed = self.log.take(block);
        self.clock.counts.erases += 1;
        self.clock.counts.copied_bytes += needed.len() as u64 * u64::from(self.profile.slot_bytes);
        for &slot in &needed {
            let place = self.log.append(slot);
            self.map.set(slot, place);
        }
        us(self.profile.erase_us)
            + self.read_slots(needed.len() as u32)
            + self.program_slots(needed.len() as u32)
    }

    /// Makes an access wait for its share of the work that is due. The access waits a part in each
    /// of its busy gaps.
    fn pay(&mut self, gaps: u32) {
        for _ in 0..gaps {
            let longest =
                us(self.profile.busy_us_max.saturating_sub(2 * self.profile.page_program_us));
            if self.owed_ns > 0 {
                let part = self.owed_ns.min(longest);
                self.owed_ns -= part;
                self.clock.stall(part);
                continue;
            }
            let slice = us(self.profile.clean_slice_us).min(longest);
            while self.is_cleaning && self.owed_cleaning_ns < slice {
                self.is_cleaning =
                    self.log.free_blocks() < self.profile.clean_high_blocks && self.clean_step();
            }
            if self.owed_cleaning_ns > 0 {
                let part = self.owed_cleaning_ns.min(slice);
                self.owed_cleaning_ns -= part;
                self.clock.counts.cleaning_ns += part;
                self.clock.stall(part);
            }
        }
    }

    /// Counts reads of single slots. Returns the time that they take.
    fn read_slots(&mut self, count: u32) -> u64 {
        self.clock.counts.reads += u64::from(count);
        u64::from(count) * us(self.profile.slot_read_us)
    }

    /// Counts programs of consecutive slots. Returns the time that they take.
    fn program_slots(&mut self, count: u32) -> u64 {
        let (pages, rest) = (count / self.page_slots(), count % self.page_slots());
        self.clock.counts.programs += u64::from(pages) + u64::from(rest > 0);
        self.clock.counts.programmed_bytes += u64::from(count) * u64::from(self.profile.slot_bytes);
        let page = us(self.profile.page_program_us);
        u64::from(pages) * page + page.min(u64::from(rest) * us(self.profile.slot_program_us))
    }

    #[cfg(test)]
    pub(super) fn check_books(&self) {
        let mut logged = vec![0; self.logged.len()];
        for slot in (0..self.map.len() as u32).filter(|&slot| self.map.get(slot) < HOME) {
            logged[(slot / self.unit_slots()) as usize] += 1;
            assert!(self.log.holds(self.map.get(slot), slot));
        }
        assert_eq!(logged, self.logged);
        assert_eq!(logged.iter().sum::<u32>(), self.log.valid_slots());
        assert!(self.open.len() as u32 <= self.profile.open_units);
    }

    fn slot_sectors(&self) -> u32 {
        self.profile.slot_bytes / SECTOR
    }

    fn unit_sectors(&self) -> u32 {
        self.profile.unit_kib * 1024 / SECTOR
    }

    fn unit_slots(&self) -> u32 {
        self.profile.unit_kib * 1024 / self.profile.slot_bytes
    }

    fn page_sectors(&self) -> u32 {
        self.profile.page_kib * 1024 / SECTOR
    }

    fn page_slots(&self) -> u32 {
        self.profile.page_kib * 1024 / self.profile.slot_bytes
    }
}
