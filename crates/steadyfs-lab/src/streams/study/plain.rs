//! A case on a plain translation layer with a block of its own for each stream, as in the paper.
//! Moves ignore streams, unless they are kept apart.

use super::case::Case;
use super::result::Run;
use crate::streams::layer::{Event, Layer};
use crate::streams::step::Step;
use crate::streams::workload::Workload;
use steadyfs::media::Timing;

/// Number of superblocks of 48 MB that an eMMC of 64 GB shows, and the number that it has
/// (`emmc-64gb` of the simulator: 7 % of over-provisioning).
pub(super) const SHOWN_BLOCKS: u32 = 1280;
pub(super) const BLOCKS: u32 = 1370;
/// Number of parts of a run. Each has its amplification and its mean time.
const PARTS: u64 = 60;

/// Counters of the medium.
#[derive(Clone, Copy, Default)]
struct Tally {
    writes: u64,
    programs: u64,
    moves: u64,
    erases: u64,
    time_ns: u64,
}

impl Tally {
    fn since(&self, begin: &Tally) -> Tally {
        Tally {
            writes: self.writes - begin.writes,
            programs: self.programs - begin.programs,
            moves: self.moves - begin.moves,
            erases: self.erases - begin.erases,
            time_ns: self.time_ns - begin.time_ns,
        }
    }

    fn amplification(&self) -> f64 {
        self.programs as f64 / self.writes.max(1) as f64
    }

    fn mean_us(&self) -> f64 {
        self.time_ns as f64 / 1e3 / self.writes.max(1) as f64
    }
}

/// The layer during a run.
struct Plain<'c> {
    case: &'c Case,
    layer: Layer,
    timing: Timing,
    tally: Tally,
    longest_ns: u64,
}

/// Size of a plain layer.
pub(super) struct Shape {
    /// Name of the layer in the runs.
    pub system: &'static str,
    pub pages_per_block: u32,
    /// Pages that the layer shows; the rest is spare.
    pub shown_pages: u32,
}

/// Runs a case on a layer.
pub(super) fn run(case: &Case, shape: &Shape, timing: Timing, seed: u64) -> Run {
    let pages = (f64::from(shape.shown_pages) * case.fill) as u32;
    let moved_heads = if case.moved_apart { case.ids } else { 1 };
    let layer = Layer::new(
        BLOCKS,
        shape.pages_per_block,
        pages,
        usize::from(case.ids),
        usize::from(moved_heads),
    );
    let mut plain = Plain { case, layer, timing, tally: Tally::default(), longest_ns: 0 };
    let mut workload = Workload::new(case.writes, pages, seed);
    (0..pages).for_each(|page| plain.write(&workload, page, workload.job_of(page)));
    let (begin, all) = (plain.tally, case.passes * u64::from(pages));
    plain.longest_ns = 0;
    let (mut part, mut parts) = (begin, Vec::new());
    for write in 0..all {
        while let Step::Trim { page, count } = plain.step(&mut workload) {
            (page..page + count).for_each(|page| plain.layer.trim(page));
        }
        if (write + 1) * PARTS / all > write * PARTS / all {
            parts.push(plain.tally.since(&part));
            part = plain.tally;
        }
    }
    let whole = plain.tally.since(&begin);
    Run {
        system: shape.system.to_string(),
        writes: case.writes.name().to_string(),
        fill: case.fill,
        ids: case.ids,
        streams: case.ids,
        moved_apart: case.moved_apart,
        pages,
        written_times: plain.tally.writes as f64 / f64::from(shape.shown_pages),
        amplification: whole.amplification(),
        erases_per_block: plain.tally.erases as f64 / f64::from(BLOCKS),
        mean_us: whole.mean_us(),
        max_us: plain.longest_ns as f64 / 1e3,
        bound_us: None,
        ram_bytes: None,
        over_time: parts.iter().map(Tally::amplification).collect(),
        mean_us_over_time: parts.iter().map(Tally::mean_us).collect(),
    }
}

impl Plain<'_> {
    /// Makes a step. A trim is left to the caller.
    fn step(&mut self, workload: &mut Workload) -> Step {
        let step = workload.next();
        if let Step::Write { page, job } = step {
            self.write(workload, page, job);
        }
        step
    }

    fn write(&mut self, workload: &Workload, page: u32, job: u8) {
        let head = self.case.id_of(job);
        let begin = self.tally;
        let tally = &mut self.tally;
        let case = self.case;
        let moved_to = |page| {
            if case.moved_apart { usize::from(case.id_of(workload.job_of(page))) } else { 0 }
        };
        tally.writes += 1;
        let mut tell = |event| match event {
            Event::Program { is_moved, .. } => {
                tally.programs += 1;
                tally.moves += u64::from(is_moved);
            }
            Event::Freed { .. } => tally.erases += 1,
        };
        self.layer.write(page, usize::from(head), &moved_to, &mut tell);
        let spent = tally.since(&begin);
        let spent_ns = (spent.programs - spent.moves) * self.timing.program_ns
            + spent.moves * self.timing.copy_ns
            + spent.erases * self.timing.erase_ns;
        tally.time_ns += spent_ns;
        self.longest_ns = self.longest_ns.max(spent_ns);
    }
}

/// Computes the example of the paper's figure 1. It has eight pages in two blocks, and the first,
/// second, fifth and eighth page are written again. Returns the pages in use of the block with the
/// fewest. The first number is for pages written in order; for the second number, those four pages
/// have a stream.
pub(super) fn example() -> [u32; 2] {
    const AGAIN: [u32; 4] = [0, 1, 4, 7];
    [1, 2].map(|streams| {
        let mut layer = Layer::new(8, 4, 8, streams, 1);
        let head = |page: u32| if AGAIN.contains(&page) { streams - 1 } else { 0 };
        for page in (0..8).chain(AGAIN) {
            layer.write(page, head(page), &|_| 0, &mut |_| ());
        }
        layer.fewest_in_use()
    })
}
