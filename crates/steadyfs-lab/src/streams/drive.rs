//! A run of one disk, from empty to measured.

use super::device::Device;
use super::error::StreamsError;
use super::item::{Item, MIX_UP};
use super::map::Map;
use super::options::Options;
use super::step::Step;
use super::table::Row;
use super::workload::Workload;
use crate::evaluate::tracker::TagTracker;
use crate::model::cost;
use fastrand::Rng;
use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::media::{Flash, Timing};
use steadyfs::{Access, Bound};
use steadyfs_sim::{Counters, Nand};

/// Number of parts of the run. Each has its own write amplification.
const PARTS: u64 = 60;

/// A disk, and the costs of its calls.
struct Drive<'m> {
    disk: Disk<'m, TagTracker<Nand>>,
    timing: Timing,
    item: &'m Item,
    page: Vec<u8>,
    tally: Tally,
    /// Receives now and then the number of further pages that were written.
    tell: &'m dyn Fn(u64),
}

/// Costs of the calls since the last reset.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    writes: u64,
    /// Time of all writes and trims.
    time_ns: u64,
    /// Longest write.
    max_ns: u64,
    /// Longest bound of a write.
    bound_ns: u64,
}

/// Runs one item. `tell` receives now and then the number of further pages that were written.
pub(super) fn run(
    item: &Item,
    device: &Device,
    options: &Options,
    tell: &dyn Fn(u64),
) -> Result<Row, StreamsError> {
    let config = item.way.config(&device.geometry, item.streams);
    let mut memory = vec![0; config.memory_bytes(&device.geometry)];
    let ram_bytes = memory.len() as u64;
    let chip = TagTracker::new(device.chip(options));
    let chip = Disk::format(chip, &config, &mut memory).map_err(StreamsError::Mount)?;
    let disk = Disk::mount(chip, Access::ReadWrite, &mut memory).map_err(StreamsError::Mount)?;
    let mut workload = Workload::new(item.writes, item.pages, options.seed);
    let page = vec![0; (disk.page_sectors() * SECTOR_BYTES) as usize];
    let timing = disk.flash().timing();
    let mut drive = Drive { disk, timing, item, page, tally: Tally::default(), tell };
    drive.fill(&workload, options)?;
    drive.measure(&mut workload, device, ram_bytes)
}

impl Drive<'_> {
    /// Writes every page once. If the options require it, mixes the pages up.
    fn fill(&mut self, workload: &Workload, options: &Options) -> Result<(), StreamsError> {
        for page in 0..self.item.pages {
            let job = if options.mixed { 0 } else { workload.job_of(page) };
            self.write(page, job)?;
        }
        if options.mixed {
            let mut rng = Rng::with_seed(!options.seed);
            for _ in 0..MIX_UP * u64::from(self.item.pages) {
                self.write(rng.u32(..self.item.pages), 0)?;
            }
        }
        (self.tell)(self.tally.writes);
        Ok(())
    }

    /// Continues the workload, and measures its end.
    fn measure(
        mut self,
        workload: &mut Workload,
        device: &Device,
        ram_bytes: u64,
    ) -> Result<Row, StreamsError> {
        let pages = u64::from(self.item.pages);
        let (settle, all) =
            (self.item.passes[0] * pages, self.item.passes.iter().sum::<u64>() * pages);
        let (mut over_time, mut mean_us_over_time) = (Vec::new(), Vec::new());
        let mut part = self.counts();
        let mut part_begin = (0, part.time_ns);
        let mut begin = part;
        for write in 0..all {
            if write == settle {
                begin = self.counts();
                self.tally = Tally::default();
            }
            self.step(workload)?;
            if (write + 1) * PARTS / all > write * PARTS / all {
                let now = self.counts();
                over_time.push(self.amplification(&part, &now));
                mean_us_over_time.push(
                    (now.time_ns - part_begin.1) as f64 / 1e3 / (write + 1 - part_begin.0) as f64,
                );
                (self.tell)(write + 1 - part_begin.0);
                part = now;
                part_begin = (write + 1, now.time_ns);
            }
        }
        let end = self.counts();
        let unit = f64::from(self.disk.config().pages_per_logical_page);
        let Tally { writes, time_ns, max_ns, bound_ns } = self.tally;
        let erases = end.erases - begin.erases;
        let bytes = writes * self.page.len() as u64;
        let room = u64::from(device.geometry.block_count) * u64::from(device.nand.endurance_erases);
        let frames = device.geometry.pages_per_block as usize
            / usize::from(self.disk.config().pages_per_logical_page);
        Ok(Row {
            writes: self.item.writes.name().to_string(),
            fill: self.item.fill,
            streams: self.item.way.name().to_string(),
            pages: self.item.pages,
            moved_per_page: (end.moves - begin.moves) as f64 / unit / writes as f64,
            amplification: self.amplification(&begin, &end),
            mean_us: time_ns as f64 / 1e3 / writes as f64,
            max_us: max_ns as f64 / 1e3,
            bound_us: bound_ns as f64 / 1e3,
            bytes_per_s: bytes as f64 * 1e9 / time_ns as f64,
            erases,
            life_bytes: bytes.saturating_mul(room) / erases.max(1),
            ram_bytes,
            over_time,
            mean_us_over_time,
            map: Map::of(self.disk.flash(), workload, frames),
        })
    }

    /// Makes steps until a page is written.
    fn step(&mut self, workload: &mut Workload) -> Result<(), StreamsError> {
        loop {
            match workload.next() {
                Step::Write { page, job } => return self.write(page, job),
                Step::Trim { page, count } => self.trim(page, count)?,
            }
        }
    }

    /// Writes a page durably.
    fn write(&mut self, page: u32, job: u8) -> Result<(), StreamsError> {
        let stream = if self.item.way.is_given() { self.item.map[usize::from(job)] } else { 0 };
        self.page[..4].copy_from_slice(&page.to_le_bytes());
        let bound = self.disk.bound(DiskCall::WriteDurable(self.page.len() as u32));
        let before = self.disk.flash().counts();
        let sector = page * self.disk.page_sectors();
        let result =
            self.disk.write_with(sector, &self.page, WriteOptions { durable: true, stream });
        result.map_err(|error| StreamsError::Call { row: self.item.name(), error })?;
        let spent_ns = self.held(&before, &bound)?;
        self.tally.writes += 1;
        self.tally.max_ns = self.tally.max_ns.max(spent_ns);
        self.tally.bound_ns = self.tally.bound_ns.max(bound.time_ns(&self.timing));
        Ok(())
    }

    /// Trims pages.
    fn trim(&mut self, page: u32, count: u32) -> Result<(), StreamsError> {
        let (mut sector, end) =
            (page * self.disk.page_sectors(), (page + count) * self.disk.page_sectors());
        while sector < end {
            let bound = self.disk.bound(DiskCall::Trim);
            let before = self.disk.flash().counts();
            let result = self.disk.trim(sector, end - sector);
            sector +=
                result.map_err(|error| StreamsError::Call { row: self.item.name(), error })?;
            self.held(&before, &bound)?;
        }
        Ok(())
    }

    /// Checks that a call stayed within its bound. Returns its time.
    fn held(&mut self, before: &Counters, bound: &Bound) -> Result<u64, StreamsError> {
        let spent = self.disk.flash().counts().since(before);
        let observed = cost(&spent);
        if !bound.holds(&observed) {
            return Err(StreamsError::BoundBroken {
                row: self.item.name(),
                observed,
                bound: *bound,
            });
        }
        self.tally.time_ns += spent.time_ns;
        Ok(spent.time_ns)
    }

    fn counts(&self) -> Counts {
        let (chip, counts) = (self.disk.flash(), self.disk.flash().counts());
        let time_ns = counts.time_ns;
        Counts {
            time_ns,
            programs: counts.programs + counts.copies,
            moves: chip.moves(),
            erases: counts.erases,
            data: chip.kinds().data,
        }
    }

    /// Returns the pages programmed for each written page.
    fn amplification(&self, from: &Counts, to: &Counts) -> f64 {
        (to.programs - from.programs) as f64 / (to.data - from.data).max(1) as f64
    }
}

/// Counters of the chip.
#[derive(Clone, Copy)]
struct Counts {
    time_ns: u64,
    programs: u64,
    moves: u64,
    erases: u64,
    /// Pages of the caller.
    data: u64,
}
