//! An eMMC or an SSD. It has a map of slots, superblocks, and a volatile cache.
//!
//! A write is stored in the cache. If the cache is full, its oldest page is programmed into the
//! superblock that is being filled. If few superblocks are free, the needed slots of several
//! superblocks are moved in a burst. Superblocks with the fewest needed slots come first. Each
//! access waits for a slice of this work.
//!
//! A flush programs the content of the cache, then the changed parts of the map, and sometimes the
//! whole map, which is a *checkpoint*. A device without a journal of its map writes a checkpoint at
//! each flush, which takes a second.

use super::clock::Clock;
use super::profile::DriveProfile;
use super::slots::Slots;
use std::collections::{HashSet, VecDeque};

/// Bytes of a sector.
const SECTOR: u32 = 512;
/// Value of the map for a slot that stores nothing.
const BLANK: u16 = u16::MAX;
/// Bytes of an entry of the map, and bytes of a part of the map that is written at once.
const ENTRY: u32 = 4;
const MAP_PART: u32 = 4096;

/// The translation layer of an eMMC or an SSD.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    profile: DriveProfile,
    pub(super) clock: Clock,
    /// The superblock of each slot.
    map: Slots<u16>,
    /// Number of needed slots of each superblock.
    valid: Vec<u32>,
    free: VecDeque<u16>,
    is_free: Vec<bool>,
    /// The superblocks being filled for the host and by cleaning, and the slots written there.
    heads: [(u16, u32); 2],
    cached: HashSet<u32>,
    order: VecDeque<u32>,
    changed_parts: HashSet<u32>,
    stream: Option<u32>,
    flushes: u32,
    is_cleaning: bool,
    owed_ns: u64,
    owed_cleaning_ns: u64,
}

const fn us(us: u32) -> u64 {
    us as u64 * 1000
}

impl Drive {
    pub(super) fn new(profile: &DriveProfile, seed: u64) -> Self {
        let slots = u64::from(profile.capacity_mib) * (1 << 20) / u64::from(profile.slot_bytes);
        let count = (u64::from(profile.capacity_mib) * 1024)
            .div_ceil(profile.superblock_kib.into())
            + u64::from(profile.spare_superblocks);
        let mut is_free = vec![true; count as usize];
        (is_free[0], is_free[1]) = (false, false);
        Self {
            clock: Clock::new(profile.jitter_permille, seed),
            map: Slots::filled(BLANK, slots as usize),
            valid: vec![0; count as usize],
            free: (2..count as u16).collect(),
            is_free,
            heads: [(0, 0), (1, 0)],
            cached: HashSet::new(),
            order: VecDeque::new(),
            changed_parts: HashSet::new(),
            stream: None,
            flushes: 0,
            is_cleaning: false,
            owed_ns: 0,
            owed_cleaning_ns: 0,
            profile: profile.clone(),
        }
    }

    /// Marks every slot as written in order. Takes no time.
    pub(super) fn fill(&mut self) {
        *self = Self { clock: self.clock.clone(), ..Self::new(&self.profile, 0) };
        let (size, slots) = (self.superblock_slots(), self.map.len() as u32);
        for slot in 0..slots {
            self.map.set(slot, (slot / size + 2) as u16);
        }
        for block in 0..slots.div_ceil(size) {
            let full = self.free.pop_front().expect("the device has as many superblocks") as usize;
            self.is_free[full] = false;
            self.valid[full] = size.min(slots - block * size);
        }
    }

    pub(super) fn sector_count(&self) -> u64 {
        self.map.len() as u64 * u64::from(self.slot_sectors())
    }

    pub(super) fn write(&mut self, first: u32, count: u32) {
        self.clock.counts.host_bytes += u64::from(count) * u64::from(SECTOR);
        if self.stream != Some(first) {
            self.clock.pass(us(self.profile.command_us));
        }
        let size = self.slot_sectors();
        for slot in first / size..(first + count).div_ceil(size) {
            let (from, to) = (first.max(slot * size), (first + count).min((slot + 1) * size));
            self.clock.pass(u64::from(to - from) * u64::from(self.profile.sector_ns));
            if self.cached.insert(slot) {
                if to - from < size && self.map.get(slot) != BLANK {
                    self.read_slot();
                }
                self.order.push_back(slot);
            }
            if self.order.len() as u32
                > (self.profile.cache_kib * 1024 / self.profile.slot_bytes).max(self.page_slots())
            {
                self.program_oldest(self.page_slots());
            }
        }
        self.stream = Some(first + count);
        if self.profile.cache_kib == 0 {
            self.empty_cache();
        }
        self.pay((count * SECTOR).div_ceil(self.profile.page_kib * 1024));
    }

    pub(super) fn read(&mut self, first: u32, count: u32) {
        self.stream = None;
        self.clock.pass(us(self.profile.command_us));
        let size = self.slot_sectors();
        let slots = first / size..(first + count).div_ceil(size);
        let stored = slots
            .filter(|&slot| !self.cached.contains(&slot) && self.map.get(slot) != BLANK)
            .count() as u32;
        // Slots of a page are read together.
        for _ in 0..stored.div_ceil(self.page_slots()) {
            self.read_slot();
        }
        self.clock.pass(u64::from(count) * u64::from(self.profile.sector_ns));
    }

    pub(super) fn discard(&mut self, first: u32, count: u32) {
        self.stream = None;
        self.clock.pass(us(self.profile.command_us) + us(self.profile.discard_us));
        let size = self.slot_sectors();
        for slot in first.div_ceil(size)..(first + count) / size {
            if self.cached.remove(&slot) {
                self.order.retain(|&other| other != slot);
            }
            let old = self.map.set(slot, BLANK);
            if old != BLANK {
                self.valid[old as usize] -= 1;
                self.note_change(slot);
            }
        }
    }

    pub(super) fn flush(&mut self) {
        self.stream = None;
        self.clock.pass(us(self.profile.command_us));
        if self.order.is_empty() && self.changed_parts.is_empty() {
            return;
        }
        let begin = self.clock.now_ns;
        self.empty_cache();
        self.flushes += 1;
        let parts = u64::from(MAP_PART) * self.changed_parts.len() as u64;
        self.changed_parts.clear();
        self.program_map(parts);
        if self.profile.flushes_per_checkpoint > 0
            && self.flushes.is_multiple_of(self.profile.flushes_per_checkpoint)
        {
            self.clock.counts.checkpoints += 1;
            self.program_map(self.map.len() as u64 * u64::from(ENTRY));
        }
        let waits = self.profile.flush_waits_for_cleaning == 1;
        let owed = std::mem::take(&mut self.owed_ns)
            + if waits { std::mem::take(&mut self.owed_cleaning_ns) } else { 0 };
        self.clock.stall(owed);
        let floor = self.clock.jittered(us(self.profile.flush_floor_us));
        self.clock.now_ns = self.clock.now_ns.max(begin + floor);
    }

    pub(super) fn idle(&mut self, ns: u64) {
        self.stream = None;
        let until = self.clock.now_ns + ns;
        while self.clock.now_ns < until {
            let room = until - self.clock.now_ns;
            let owed =
                if self.owed_ns > 0 { &mut self.owed_ns } else { &mut self.owed_cleaning_ns };
            let part = room.min(*owed);
            *owed -= part;
            self.clock.stall(part);
            let is_low = self.free.len() < self.profile.clean_high as usize;
            if self.owed_ns + self.owed_cleaning_ns == 0
                && !(is_low && self.profile.idle_cleans == 1 && self.clean_step())
            {
                break;
            }
        }
        self.is_cleaning &= self.free.len() < self.profile.clean_high as usize;
        self.clock.now_ns = self.clock.now_ns.max(until);
    }

    /// Programs all slots of the cache, and waits.
    fn empty_cache(&mut self) {
        while !self.order.is_empty() {
            self.program_oldest(self.page_slots());
        }
        self.clock.wait();
    }

    /// Programs the oldest slots of the cache as one page. The host waits until the previous page
    /// is programmed.
    fn program_oldest(&mut self, count: u32) {
        self.clock.wait();
        self.program_page();
        for _ in 0..count {
            let Some(slot) = self.order.pop_front() else { break };
            self.cached.remove(&slot);
            self.place(slot, 0);
        }
    }

    fn program_page(&mut self) {
        self.clock.counts.programs += 1;
        self.clock.counts.programmed_bytes += u64::from(self.profile.page_kib) * 1024;
        self.clock.start(us(self.profile.page_program_us));
    }

    /// Programs `bytes` bytes of the map, and waits.
    fn program_map(&mut self, bytes: u64) {
        for _ in 0..bytes.div_ceil(u64::from(self.profile.page_kib) * 1024) {
            self.program_page();
        }
        self.clock.wait();
    }

    fn read_slot(&mut self) {
        self.clock.counts.reads += 1;
        self.clock.start(us(self.profile.slot_read_us));
        self.clock.wait();
    }

    fn note_change(&mut self, slot: u32) {
        self.changed_parts.insert(slot / (MAP_PART / ENTRY));
    }

    /// Assigns a slot to one of the heads: the head of the host (0), or the head of cleaning (1).
    fn place(&mut self, slot: u32, head: usize) {
        let block = self.advance(head);
        let old = self.map.set(slot, block);
        if old != BLANK {
            self.valid[old as usize] -= 1;
        }
        self.valid[block as usize] += 1;
        self.note_change(slot);
    }

    /// Returns the superblock that takes the next slot of a head.
    fn advance(&mut self, head: usize) -> u16 {
        if self.heads[head].1 == self.superblock_slots() {
            while self.free.len() <= 1 - head && self.clean_step() {
                self.owed_ns += std::mem::take(&mut self.owed_cleaning_ns);
            }
            let block = self.free.pop_front().expect("spare superblocks suffice for cleaning");
            self.is_free[block as usize] = false;
            self.heads[head] = (block, 0);
            self.clock.counts.erases += 1;
            if !self.is_cleaning && self.free.len() <= self.profile.clean_low as usize {
                self.is_cleaning = true;
                self.clock.counts.bursts += 1;
            }
        }
        self.heads[head].1 += 1;
        self.heads[head].0
    }

    /// Moves the needed slots of the superblock that has the fewest needed slots. Returns true if
    /// this freed space.
    fn clean_step(&mut self) -> bool {
        let [(host, _), (cleaning, _)] = self.heads;
        let full = (0..self.valid.len() as u16)
            .filter(|&block| !self.is_free[block as usize] && block != host && block != cleaning);
        let Some(victim) = full.min_by_key(|&block| self.valid[block as usize]) else {
            return false;
        };
        let needed = self.valid[victim as usize];
        if needed == self.superblock_slots() {
            return false;
        }
        // The slots that fit go to the present superblock of cleaning, and the rest go to the next
        // superblock.
        let room = self.superblock_slots() - self.heads[1].1;
        let present = self.heads[1].0;
        self.heads[1].1 += needed.min(room);
        self.valid[victim as usize] = 0;
        if needed > room {
            let next = self.free.pop_front().expect("one superblock is kept for cleaning");
            self.is_free[next as usize] = false;
            self.heads[1] = (next, needed - room);
            self.valid[next as usize] = needed - room;
        }
        self.valid[present as usize] += needed.min(room);
        self.move_entries(victim, present, needed.min(room));
        self.is_free[victim as usize] = true;
        self.free.push_back(victim);
        self.count_move(needed);
        true
    }

    /// Changes the map: the first `count` slots of a superblock go to `to`, the others to the
    /// head of cleaning.
    fn move_entries(&mut self, from: u16, to: u16, count: u32) {
        let (left, rest) = (std::cell::Cell::new(count), self.heads[1].0);
        self.map.replace_each(
            |value| value == from,
            |_| {
                let is_first = left.get() > 0;
                left.set(left.get().saturating_sub(1));
                if is_first { to } else { rest }
            },
        );
    }

    fn count_move(&mut self, slots: u32) {
        let pages = u64::from(slots.div_ceil(self.page_slots()));
        let counts = &mut self.clock.counts;
        counts.folds += 1;
        counts.erases += 1;
        counts.reads += pages;
        counts.programs += pages;
        counts.programmed_bytes += pages * u64::from(self.profile.page_kib) * 1024;
        counts.copied_bytes += u64::from(slots) * u64::from(self.profile.slot_bytes);
        let page = us(self.profile.slot_read_us) + us(self.profile.page_program_us);
        self.owed_cleaning_ns += self.clock.jittered(pages * page + us(self.profile.erase_us));
    }

    /// Makes an access wait for its share of the work that is due. The access waits a part in each
    /// of its busy gaps.
    fn pay(&mut self, gaps: u32) {
        for _ in 0..gaps {
            let (longest, slice) = (us(self.profile.busy_us_max), us(self.profile.clean_slice_us));
            while self.is_cleaning && self.owed_cleaning_ns < slice {
                self.is_cleaning =
                    self.free.len() < self.profile.clean_high as usize && self.clean_step();
            }
            let is_urgent = self.owed_ns > 0;
            let (owed, most) = if is_urgent {
                (&mut self.owed_ns, longest)
            } else {
                (&mut self.owed_cleaning_ns, slice)
            };
            let part = most.min(*owed);
            *owed -= part;
            if part > 0 {
                self.clock.counts.cleaning_ns += if is_urgent { 0 } else { part };
                self.clock.stall(part);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn check_books(&self) {
        let mut valid = vec![0; self.valid.len()];
        for block in (0..self.map.len() as u32)
            .map(|slot| self.map.get(slot))
            .filter(|&block| block != BLANK)
        {
            valid[block as usize] += 1;
        }
        assert_eq!(valid, self.valid);
        assert!(valid.iter().all(|&count| count <= self.superblock_slots()));
        assert!(self.free.iter().all(|&block| valid[block as usize] == 0));
        assert_eq!(self.cached.len(), self.order.len());
    }

    fn slot_sectors(&self) -> u32 {
        self.profile.slot_bytes / SECTOR
    }

    fn page_slots(&self) -> u32 {
        self.profile.page_kib * 1024 / self.profile.slot_bytes
    }

    fn superblock_slots(&self) -> u32 {
        (u64::from(self.profile.superblock_kib) * 1024 / u64::from(self.profile.slot_bytes)) as u32
    }
}
