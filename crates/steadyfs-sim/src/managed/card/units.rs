//! Open units of a card: opening, continuing, parking, closing.

use super::open::Open;
use super::{BLANK, Card, HOME, RECENT, us};

impl Card {
    /// Returns the open unit to which a write at a sector belongs. Opens the unit if the card would
    /// open it for this write.
    pub(super) fn open_for(&mut self, sector: u32) -> Option<usize> {
        let (unit, offset) = (sector / self.unit_sectors(), sector % self.unit_sectors());
        self.uses += 1;
        if let Some(index) = self.open.iter().position(|open| open.unit == unit) {
            let gap = offset.checked_sub(self.open[index].next);
            let is_near = gap.is_some_and(|gap| gap * super::SECTOR <= self.profile.gap_kib * 1024);
            if is_near {
                self.open[index].used = self.uses;
                return Some(index);
            }
            // A write to the beginning of an open unit starts a new version, if the unit is
            // longer than a page.
            if offset > 0 || self.open[index].next <= self.page_sectors() {
                return None;
            }
        }
        let closed = self.recent.iter().position(|&closed| closed == (unit, offset));
        if offset > 0 && closed.is_none() {
            return None;
        }
        self.recent.retain(|&(closed, _)| closed != unit);
        self.park();
        self.make_place(unit);
        self.clock.counts.erases += 1;
        self.owed_ns += us(self.profile.erase_us);
        if offset > 0 {
            let head = self.gather(unit, 0, offset / self.page_sectors() * self.page_slots());
            self.owed_ns += self.clock.jittered(head);
        }
        self.open.push(Open { unit, next: offset, is_held: false, used: self.uses });
        Some(self.open.len() - 1)
    }

    /// Closes the unit if it is already open. Otherwise closes the least recently used unit if too
    /// many units are open.
    fn make_place(&mut self, unit: u32) {
        if let Some(index) = self.open.iter().position(|open| open.unit == unit) {
            self.close(index);
        } else if self.open.len() as u32 >= self.profile.open_units {
            let oldest = (0..self.open.len()).min_by_key(|&index| self.open[index].used);
            self.close(oldest.expect("a card has open units"));
        }
    }

    /// Completes a unit with the data of the old unit that is still valid.
    fn close(&mut self, index: usize) {
        let open = self.open.swap_remove(index);
        let from = open.next / self.page_sectors() * self.page_slots();
        let cost = self.gather(open.unit, from, self.unit_slots());
        self.owed_ns += self.clock.jittered(cost);
        self.clock.counts.early_closes += 1;
        if self.recent.len() == RECENT {
            self.recent.remove(0);
        }
        self.recent.push((open.unit, open.next));
    }

    /// Rewrites the pages `from` to `to` of a unit, which are given as slots. The slots may lie
    /// anywhere. Returns the time that this takes.
    pub(super) fn gather(&mut self, unit: u32, from: u32, to: u32) -> u64 {
        let (first, mut cost) = (unit * self.unit_slots(), 0);
        for page in (from..to).step_by(self.page_slots() as usize) {
            let (mut at_home, mut in_log) = (0, 0);
            for slot in first + page..first + page + self.page_slots() {
                match self.map.get(slot) {
                    BLANK => {}
                    HOME => at_home += 1,
                    _ => {
                        in_log += 1;
                        self.settle(slot, HOME);
                    }
                }
            }
            if at_home + in_log > 0 {
                let is_read = u32::from(at_home > 0);
                self.clock.counts.reads += u64::from(is_read);
                self.count_page();
                self.clock.counts.copied_bytes +=
                    u64::from(at_home + in_log) * u64::from(self.profile.slot_bytes);
                cost += us(is_read * self.profile.page_read_us)
                    + us(self.profile.page_program_us)
                    + self.read_slots(in_log);
            }
        }
        cost
    }

    fn count_page(&mut self) {
        self.clock.counts.programs += 1;
        self.clock.counts.programmed_bytes += u64::from(self.profile.page_kib) * 1024;
    }

    /// Continues an open unit.
    pub(super) fn write_home(&mut self, index: usize, first: u32, count: u32) {
        let (unit, page) = (self.open[index].unit, self.page_sectors());
        let (start, mut at) = (unit * self.unit_sectors(), self.open[index].next);
        let (from, end) = (first - start, first - start + count);
        self.resume(index);
        while at < end {
            let until = end.min((at / page + 1) * page);
            self.clock.pass(
                u64::from(until.saturating_sub(at.max(from))) * u64::from(self.profile.sector_ns),
            );
            self.skip(start, at, from.min(until));
            if until % page == 0 {
                self.clock.wait();
                self.clock.start(us(self.profile.page_program_us));
                self.count_page();
                let last = (start + until) / self.slot_sectors();
                for slot in last - self.page_slots()..last {
                    self.settle(slot, HOME);
                }
            }
            at = until;
        }
        let open = &mut self.open[index];
        (open.next, open.is_held) = (end, end % page != 0);
        if end == self.unit_sectors() {
            self.open.swap_remove(index);
        }
    }

    /// Fills a gap in a page with the valid data of the old unit.
    fn skip(&mut self, start: u32, at: u32, until: u32) {
        if at < until {
            let slots =
                (start + at) / self.slot_sectors()..(start + until).div_ceil(self.slot_sectors());
            let valid = slots.filter(|&slot| self.map.get(slot) != BLANK).count() as u32;
            let work = self.read_slots(valid);
            self.clock.start(work);
        }
    }

    /// Reads the beginning of a page back from the log.
    fn resume(&mut self, index: usize) {
        let (next, page) = (self.open[index].next, self.page_sectors());
        if !self.open[index].is_held && !next.is_multiple_of(page) {
            let work = self.read_slots((next % page).div_ceil(self.slot_sectors()));
            self.clock.start(work);
        }
    }

    /// Puts the beginning of a page, which is in the buffer, into the log: because the stream stops
    /// here, perhaps for ever.
    pub(super) fn park(&mut self) {
        let Some(index) = self.open.iter().position(|open| open.is_held) else { return };
        self.open[index].is_held = false;
        let (next, unit) = (self.open[index].next, self.open[index].unit);
        let start = unit * self.unit_sectors();
        let slots = (start + next / self.page_sectors() * self.page_sectors()) / self.slot_sectors()
            ..(start + next).div_ceil(self.slot_sectors());
        self.clock.wait();
        let work = self.program_slots(slots.len() as u32);
        self.clock.start(work);
        for slot in slots {
            self.put_in_log(slot);
        }
    }
}
