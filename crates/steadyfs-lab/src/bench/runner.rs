//! Runs the cases, each on a chip of its own, on all processors.

use super::cases::{Bench, Ground, Measured};
use super::content::Document;
use super::gauge::Gauge;
use super::stage::age;
use super::{
    BenchError, Case, Contender, Fault, Figures, Medium, Options, Report, Row, Volume, Wear,
};
use crate::workers::{into_inner, lock, side_by_side};
use fastrand::Rng;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Measures a file system. `make` puts it on an erased chip of this kind, again for each case.
///
/// # Errors
/// [`BenchError::Volume`] if there can be no volume on the chip at all.
pub fn measure<K: Contender>(
    medium: &Medium,
    options: &Options,
    make: impl Fn() -> K + Sync,
    progress: &(dyn Fn(f64, &str) + Sync),
) -> Result<Report, BenchError> {
    let mut probe = make();
    probe.format()?;
    let usable_bytes = probe.mount()?.room()?.usable_bytes;
    Ok(Report {
        device: options.device.clone(),
        system: probe.system(),
        size_bytes: medium.size_bytes(),
        erase_block_bytes: medium.block_bytes(),
        timing: options.part.timing.to_string(),
        call_us: options.part.call_us,
        seed: options.seed,
        usable_bytes,
        ram_bytes: probe.ram_bytes(),
        rows: Runner { medium, options, make, progress, done: Mutex::new(Done::default()) }.rows(),
    })
}

/// The progress of the cases, by weights: the finished cases, and the completed shares of the
/// others.
#[derive(Default)]
struct Done {
    finished: f64,
    running: Vec<(Case, f64)>,
}

struct Runner<'r, M> {
    medium: &'r Medium,
    options: &'r Options,
    make: M,
    progress: &'r (dyn Fn(f64, &str) + Sync),
    done: Mutex<Done>,
}

impl<K: Contender, M: Fn() -> K + Sync> Runner<'_, M> {
    /// Returns the rows in the order of the options. Long cases begin first.
    fn rows(&self) -> Vec<Row> {
        let cases = &self.options.cases;
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(cases[index].weight()));
        let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let row = self.row(cases[index]);
                lock(&rows).push((index, row));
            }
        };
        let threads =
            std::thread::available_parallelism().map_or(1, NonZero::get).min(cases.len().max(1));
        side_by_side(threads, work);
        let mut rows = into_inner(rows);
        rows.sort_by_key(|(index, _)| *index);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn row(&self, case: Case) -> Row {
        self.tell(case, Some(0.0));
        let result = self.figures(case);
        self.tell(case, None);
        let mut row =
            Row { case: case.name().to_string(), figures: None, skipped: None, failed: None };
        match result {
            Ok((figures, broken)) => (row.figures, row.failed) = (Some(figures), broken),
            Err(Fault::NoRoom(reason) | Fault::Cannot(reason)) => row.skipped = Some(reason),
            Err(Fault::Failed(reason)) => row.failed = Some(reason),
        }
        row
    }

    /// Measures a case. Returns its figures, and the message of a broken bound.
    fn figures(&self, case: Case) -> Result<(Figures, Option<String>), Fault> {
        let tick = |share| self.tell(case, Some(share));
        let terms = Terms {
            medium: self.medium,
            files: self.options.files,
            seed: self.options.seed,
            patience_ns: u64::MAX,
        };
        let mut contender = (self.make)();
        let prepared = prepare(&mut contender, case.ground())?;
        let (figures, gauge) = measure_case(contender, prepared, case, &terms, &tick)?;
        Ok((figures, gauge.broken))
    }

    /// Records and reports the progress of a case. `None` means that the case is finished.
    fn tell(&self, case: Case, share: Option<f64>) {
        let mut done = lock(&self.done);
        done.running.retain(|(running, _)| *running != case);
        match share {
            Some(share) => done.running.push((case, share)),
            None => done.finished += f64::from(case.weight()),
        }
        let total: f64 = self.options.cases.iter().map(|case| f64::from(case.weight())).sum();
        let running: f64 =
            done.running.iter().map(|(case, share)| share * f64::from(case.weight())).sum();
        (self.progress)((done.finished + running) / total.max(1.0), case.name());
    }
}

/// The terms of a case that all contenders share.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'t> {
    /// The chip.
    pub medium: &'t Medium,
    /// Number of files in the cases with many files.
    pub files: u32,
    /// Seed of random places and orders.
    pub seed: u64,
    /// Time of the chip, in nanoseconds, after which a warm-up or a measurement ends early.
    pub patience_ns: u64,
}

/// The files on a volume before a case. The volume is formatted, and aged if the case requires
/// that. It is not mounted.
#[derive(Clone, Debug)]
pub struct Prepared(Vec<Document>);

/// Makes a volume for cases of a kind.
///
/// # Errors
/// [`Fault`].
pub fn prepare<K: Contender>(contender: &mut K, ground: Ground) -> Result<Prepared, Fault> {
    contender.format()?;
    Ok(Prepared(match ground {
        Ground::Empty => Vec::new(),
        Ground::Aged(keep) => age(contender, keep)?,
    }))
}

/// Measures a case on a volume that was prepared for it. Returns the figures and the steps of
/// the case.
///
/// # Errors
/// [`Fault`].
pub fn measure_case<K: Contender>(
    contender: K,
    prepared: Prepared,
    case: Case,
    terms: &Terms<'_>,
    tick: &dyn Fn(f64),
) -> Result<(Figures, Gauge), Fault> {
    let &Terms { medium, files, seed, patience_ns } = terms;
    let mut bench = Bench {
        contender,
        documents: prepared.0,
        medium,
        files,
        patience_ns,
        rng: Rng::with_seed(seed),
        tick,
    };
    let measured = case.run(&mut bench)?;
    let (wear, data_wear) = wear_of(&mut bench.contender)?;
    // Data that is kept in memory need not be read, so such a case has no limit.
    let is_limited = !(case.only_reads() && bench.contender.keeps_what_is_read());
    let measured = Measured { limit: measured.limit.filter(|_| is_limited), ..measured };
    Ok((figures_of(&measured, medium, wear, data_wear), measured.gauge))
}

/// Returns the wear of all blocks, and of the blocks that hold data in turn.
fn wear_of<K: Contender>(contender: &mut K) -> Result<(Wear, Wear), Fault> {
    let counts = contender.erase_counts();
    let volume = contender.mount()?;
    let data: Vec<u32> = (0..)
        .zip(&counts)
        .filter(|(block, _)| volume.holds_data(*block))
        .map(|(_, &count)| count)
        .collect();
    Ok((Wear::of(&counts), Wear::of(&data)))
}

fn figures_of(measured: &Measured, medium: &Medium, wear: Wear, data_wear: Wear) -> Figures {
    let Measured { gauge, bytes, limit } = measured;
    let stats = crate::stats::Stats::of(&gauge.steps_ns);
    let us = |ns: u64| ns as f64 / 1e3;
    let spent = &gauge.spent;
    let erases_ns = spent.erases as f64 * medium.erase_ns() / gauge.steps_ns.len().max(1) as f64;
    let limit_ns = limit.map(|limit| limit.ns(erases_ns)).filter(|&ns| ns > 0.0);
    Figures {
        calls: gauge.steps_ns.len() as u64,
        mean_us: stats.map_or(0.0, |stats| stats.mean_ns / 1e3),
        p99_us: stats.map_or(0.0, |stats| us(stats.p99_ns)),
        max_us: stats.map_or(0.0, |stats| us(stats.max_ns)),
        bound_us: gauge.bound_ns.map(us),
        bytes_per_s: bytes
            .filter(|_| spent.time_ns > 0)
            .map(|bytes| bytes as f64 * 1e9 / spent.time_ns as f64),
        reads: spent.reads + spent.tag_reads,
        read_bytes: spent.bytes_read,
        programs: spent.programs + spent.copies,
        programmed_bytes: spent.bytes_programmed,
        erases: spent.erases,
        refused: gauge.refused,
        wear,
        data_wear,
        limit_us: limit_ns.map(|ns| ns / 1e3),
    }
}
