//! The phases of a run, on any chip.

use super::checker::{Checker, Progress, Verdict, Volume, cost};
use super::comparison::Comparison;
use super::idle::{IdleWork, burst_accesses, run_bursts};
use super::plan::Plan;
use super::tracker::TagTracker;
use super::writer::Writer;
use super::{EvaluateError, Idle, Options, Outcome, Phase};
use crate::evaluation::{Evaluation, IdleMeasured, Measured};
use crate::floor::Reclaim;
use std::mem::size_of;
use steadyfs::media::Flash;
use steadyfs::{Access, Bound, Config, Cost, File, FileSystem, Usage};
use steadyfs_sim::{Counters, Metered};

/// Number of accesses of the workload's own size at the end of the warm-up, if whole pages were
/// written before.
const SMALL_WARM_UP: u64 = 2_000;
/// Number of accesses after the mount that are checked and not measured.
const RESUMED: u64 = 100;
/// The inputs of a run besides the chip.
pub struct Drive<'o> {
    /// Name of the device.
    pub device: &'o str,
    /// Options of the evaluation.
    pub options: &'o Options,
    /// Function that changes each bound before a call or a mount is held to it. It returns the
    /// bound itself, except in tests.
    pub promise: fn(Bound) -> Bound,
}

/// Runs all phases on an erased chip.
pub fn drive<C: Flash + Metered>(
    chip: C,
    run: &Drive<'_>,
    report: &mut dyn FnMut(f64, &str),
) -> Result<Outcome, EvaluateError> {
    let options = run.options;
    let mut progress = Progress { expected: 0, done: 0, report };
    let mut tracker = TagTracker::new(chip);
    let geometry = tracker.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let ram_bytes = memory.len() + size_of::<Volume<'_, '_, C>>() - size_of::<&mut TagTracker<C>>()
        + size_of::<File>();

    FileSystem::format(&mut tracker, &config, &mut memory)?;
    let fs = FileSystem::mount(&mut tracker, Access::ReadWrite, &mut memory)?;
    let mut ran = run_phases(fs, run, &mut progress)?;
    let mount = mount_again(&mut tracker, &mut memory, &mut ran, run, &mut progress)?;
    let reclaimed = ran.reclaimed();

    let measured = Measured {
        device: options.part.name(run.device),
        timing: options.part.timing.to_string(),
        call_us: options.part.call_us,
        fill: ran.writer.fill_reached(options.fill, &ran.usage),
        workload: options.workload.to_string(),
        write_bytes: options.write_bytes,
        seed: options.seed,
        envelopes: ran.writer.envelopes(&ran.verdict, options.write_bytes, &ran.usage),
        writes: ran.verdict.writes,
        changes: ran.verdict.changes,
        access_ns: ran.verdict.access_ns,
        data_pages: (options.accesses * options.write_bytes).div_ceil(geometry.page_bytes.into()),
        reads: ran.spent.reads + ran.spent.tag_reads,
        programs: ran.spent.programs + ran.spent.copies,
        erases: ran.spent.erases,
        usable_bytes: ran.usage.usable_bytes,
        ram_bytes: ram_bytes as u64,
        mount_ns: mount.time_ns,
        erase_counts: tracker.good_erase_counts(),
        floor_ns: ran.floor.access_ns(reclaimed)?,
        idle: ran.idle,
    };
    let evaluation = Evaluation::of(&measured, &options.rates).ok_or(EvaluateError::NoAccess)?;
    let (access_ns, work, envelopes) = (measured.access_ns, ran.verdict.work, measured.envelopes);
    Ok(Outcome { evaluation, access_ns, work, envelopes, peers: vec![] })
}

/// The results of the phases.
struct Ran {
    writer: Writer,
    floor: Comparison,
    /// Usage of the empty volume.
    usage: Usage,
    verdict: Verdict,
    /// Operations of the measured accesses.
    spent: Counters,
    mount_bound: Cost,
    idle: Option<IdleMeasured>,
}

impl Ran {
    /// Returns the moves and erases in the measured accesses: the maximum that the floor may
    /// need. With idle time there is no maximum, because idle work takes them out of the
    /// accesses and the floor has no idle time.
    fn reclaimed(&self) -> Reclaim {
        if self.idle.is_some() {
            return Reclaim { moves: u64::MAX, erases: u64::MAX };
        }
        let work = &self.verdict.work;
        Reclaim {
            moves: work.iter().map(|work| work.moves).sum(),
            erases: work.iter().map(|work| work.erases).sum(),
        }
    }
}

/// Fills the volume, brings it to its steady state, measures, and drops it without unmounting.
fn run_phases<C: Flash + Metered>(
    mut fs: Volume<'_, '_, C>,
    run: &Drive<'_>,
    progress: &mut Progress<'_>,
) -> Result<Ran, EvaluateError> {
    let options = run.options;
    let usage = fs.usage();
    let sizes = Sizes::new(options, &usage)?;
    progress.expected = sizes.accesses(options);
    let (geometry, timing) = (fs.flash().geometry(), fs.flash().timing());
    let mut floor = Comparison::new(&geometry, &timing, options.write_bytes, sizes.fill_bytes);

    // Fill the volume.
    let mut checker = Checker::new(Phase::Fill, run.promise, progress);
    let plan = Plan {
        workload: options.workload,
        seed: options.seed,
        fill_bytes: sizes.fill_bytes,
        write_bytes: sizes.write_bytes,
    };
    let mut writer = Writer::fill(&plan, &mut fs, &mut checker, |written| floor.warm_up(written))?;
    checker.finish()?;

    // Bring it to its steady state.
    let mut checker = Checker::new(Phase::WarmUp, run.promise, progress);
    for bytes in sizes.warm_up_writes(options) {
        let offset = writer.access(&mut fs, &mut checker, bytes)?;
        floor.warm_up(offset..offset + bytes);
    }
    checker.finish()?;

    // With idle time: measure without it first, for comparison.
    let without = match &options.idle {
        Some(idle) => Some(compare_without(idle, run, &mut writer, &mut fs, progress, &mut floor)?),
        None => None,
    };
    // Measure the accesses.
    let mut checker = Checker::new(Phase::Measure, run.promise, progress);
    let before = fs.flash().counts();
    let (verdict, work) = match &options.idle {
        Some(idle) => {
            let size = (options.accesses, options.write_bytes);
            let work = run_bursts(idle, size, &mut writer, &mut fs, &mut checker, |offset| {
                floor.measure(offset)
            })?;
            (checker.finish()?, work)
        }
        None => {
            for _ in 0..options.accesses {
                floor.measure(writer.access(&mut fs, &mut checker, options.write_bytes)?);
            }
            (checker.finish()?, IdleWork::default())
        }
    };
    let spent = fs.flash().counts().since(&before).since(&work.spent);
    let idle = without
        .zip(options.idle)
        .map(|(without, idle)| idle_measured(idle, &work, &verdict, without));
    Ok(Ran { writer, floor, usage, verdict, spent, mount_bound: fs.bounds().mount(), idle })
}

/// Measures without idle time for the comparison. Then makes unmeasured bursts with idle time,
/// so that the volume gets used to it.
fn compare_without<C: Flash + Metered>(
    idle: &Idle,
    run: &Drive<'_>,
    writer: &mut Writer,
    fs: &mut Volume<'_, '_, C>,
    progress: &mut Progress<'_>,
    floor: &mut Comparison,
) -> Result<Verdict, EvaluateError> {
    let (options, write_bytes) = (run.options, run.options.write_bytes);
    let mut checker = Checker::new(Phase::WithoutIdle, run.promise, progress);
    for _ in 0..options.accesses {
        let offset = writer.access(fs, &mut checker, write_bytes)?;
        floor.warm_up(offset..offset + write_bytes);
    }
    let without = checker.finish()?;
    let mut checker = Checker::new(Phase::WarmUp, run.promise, progress);
    let size = (settling_accesses(idle, options), write_bytes);
    run_bursts(idle, size, writer, fs, &mut checker, |offset| {
        floor.warm_up(offset..offset + write_bytes)
    })?;
    checker.finish()?;
    Ok(without)
}

/// Returns the number of accesses in unmeasured bursts: a tenth of the measured ones, in whole
/// bursts.
fn settling_accesses(idle: &Idle, options: &Options) -> u64 {
    let burst = burst_accesses(idle, options.write_bytes);
    options.accesses.div_ceil(10).next_multiple_of(burst)
}

fn idle_measured(idle: Idle, work: &IdleWork, with: &Verdict, without: Verdict) -> IdleMeasured {
    IdleMeasured {
        idle_ns: idle.idle_ns,
        burst_bytes: idle.burst_bytes,
        bursts: work.bursts,
        prepared: work.prepared,
        work_ns: work.spent.time_ns,
        longest_ns: work.longest_ns,
        reads: work.spent.reads + work.spent.tag_reads,
        programs: work.spent.programs + work.spent.copies,
        erases: work.spent.erases,
        met: (with.met.moves, with.met.erases),
        met_without: (without.met.moves, without.met.erases),
        without_ns: without.access_ns,
    }
}

/// Mounts the dropped volume, reads back the newest data, and continues the workload. Returns
/// the counters of the mount.
fn mount_again<C: Flash + Metered>(
    tracker: &mut TagTracker<C>,
    memory: &mut [u8],
    ran: &mut Ran,
    run: &Drive<'_>,
    progress: &mut Progress<'_>,
) -> Result<Counters, EvaluateError> {
    let before = tracker.counts();
    let mut fs = FileSystem::mount(tracker, Access::ReadWrite, memory)?;
    let mount = fs.flash().counts().since(&before);
    let bound = (run.promise)(Bound::default().plus(&ran.mount_bound)).moving;
    check_mount(cost(&mount), bound, mount.time_ns, bound.time_ns(&fs.flash().timing()))?;
    let mut checker = Checker::new(Phase::ReadBack, run.promise, progress);
    ran.writer.read_back(&mut fs, &mut checker)?;
    let mut checker = Checker::new(Phase::Resume, run.promise, progress);
    for _ in 0..RESUMED {
        ran.writer.access(&mut fs, &mut checker, run.options.write_bytes)?;
    }
    checker.finish()?;
    Ok(mount)
}

/// Holds a mount to its bound.
fn check_mount(
    observed: Cost,
    bound: Cost,
    observed_ns: u64,
    bound_ns: u64,
) -> Result<(), EvaluateError> {
    if observed.is_within(&bound) && observed_ns <= bound_ns {
        return Ok(());
    }
    Err(EvaluateError::MountBroken { observed, bound, observed_ns, bound_ns })
}

/// The sizes of the writes in each phase.
struct Sizes {
    usable_bytes: u64,
    /// Bytes to use, in whole logical pages.
    fill_bytes: u64,
    /// Bytes of a write before the measurement: the bytes of the workload's writes, but at least
    /// a logical page.
    write_bytes: u64,
}

impl Sizes {
    fn new(options: &Options, usage: &Usage) -> Result<Sizes, EvaluateError> {
        let (usable_bytes, logical_bytes) = (usage.usable_bytes, u64::from(usage.logical_bytes));
        let pages = (usable_bytes as f64 * options.fill.clamp(0.0, 1.0)) as u64 / logical_bytes;
        let sizes = Sizes {
            usable_bytes,
            fill_bytes: pages * logical_bytes,
            write_bytes: options.write_bytes.max(logical_bytes),
        };
        if sizes.fill_bytes < sizes.write_bytes {
            return Err(EvaluateError::TooSmall {
                used_bytes: sizes.fill_bytes,
                needed_bytes: sizes.write_bytes,
            });
        }
        Ok(sizes)
    }

    /// Returns the sizes of the writes of the warm-up: twice the usable bytes.
    fn warm_up_writes(&self, options: &Options) -> impl Iterator<Item = u64> {
        let small = if options.write_bytes < self.write_bytes { SMALL_WARM_UP } else { 0 };
        let (large_bytes, small_bytes) = (self.write_bytes, options.write_bytes);
        let large = (2 * self.usable_bytes).div_ceil(large_bytes);
        (0..large).map(move |_| large_bytes).chain((0..small).map(move |_| small_bytes))
    }

    /// Returns the number of accesses of all phases, without those that read back.
    fn accesses(&self, options: &Options) -> u64 {
        let idle =
            options.idle.map_or(0, |idle| options.accesses + settling_accesses(&idle, options));
        self.fill_bytes / self.write_bytes
            + self.warm_up_writes(options).count() as u64
            + idle
            + options.accesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Work, Workload};
    use steadyfs::Call;
    use steadyfs::media::Geometry;
    use steadyfs_sim::{Nand, NandTiming};

    /// One MiB of NAND with logical pages of 1 KiB.
    fn chip() -> Nand {
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 16,
            block_count: 128,
            programs_bytes: false,
        };
        Nand::with_geometry(geometry, NandTiming::ROUND, 1)
    }

    fn options(workload: Workload) -> Options {
        let write_bytes = workload.default_write_bytes().min(1024);
        Options { workload, write_bytes, accesses: 500, ..Options::default() }
    }

    fn run(options: &Options, promise: fn(Bound) -> Bound) -> Result<Outcome, EvaluateError> {
        drive(chip(), &Drive { device: "small", options, promise }, &mut |_, _| {})
    }

    /// Loosens a bound, for tests of measurements and not of bounds.
    fn generous(bound: Bound) -> Bound {
        bound.plus(&bound.most().times(9))
    }

    #[test]
    fn every_workload_keeps_its_bounds_and_envelopes() {
        for (name, workload) in Workload::NAMES {
            for fill in [0.5, 0.8, 0.9] {
                let options = Options { fill, ..options(workload) };
                let outcome = run(&options, |bound| bound)
                    .unwrap_or_else(|error| panic!("{name}, {fill}: {error}"));
                assert_eq!((outcome.access_ns.len(), outcome.work.len()), (500, 500));
                let sum = |of: fn(&Work) -> u64| outcome.work.iter().map(of).sum::<u64>();
                let evaluation = &outcome.evaluation;
                let counted = [
                    sum(|work| work.programs + work.moves),
                    sum(|work| work.erases),
                    sum(|work| work.reads),
                ];
                if workload != Workload::AdversaryAppend {
                    assert_eq!(
                        counted,
                        [evaluation.programs, evaluation.erases, evaluation.reads],
                        "{name}: all is the work of an access"
                    );
                }
                assert!(outcome.evaluation.max_us <= outcome.evaluation.bound_us);
            }
        }
    }

    /// Short runs, small writes and writes of partial pages were reported as faster than the
    /// chip.
    #[test]
    fn no_run_is_faster_than_the_floor() {
        for (_, workload) in Workload::NAMES {
            for (write_bytes, accesses, fill) in
                [(64, 300, 0.5), (1024, 1, 0.8), (1300, 100, 0.8), (700, 500, 0.9)]
            {
                let options = Options { write_bytes, accesses, fill, ..options(workload) };
                let outcome =
                    run(&options, generous).unwrap_or_else(|error| panic!("{workload}: {error}"));
                let share = outcome.evaluation.share_of_floor();
                assert!(share <= 1.0, "{workload}, {accesses} of {write_bytes} B: {share}");
            }
        }
    }

    #[test]
    fn idle_work_keeps_its_time_and_takes_moves_and_erases_out_of_the_accesses() {
        // A burst with more programs than fit between two roots cannot be prepared as a whole.
        for (workload, burst_bytes) in [(Workload::Random, 16 << 10), (Workload::Log, 2 << 10)] {
            let idle = Some(Idle { idle_ns: 50_000_000, burst_bytes });
            let options = Options { idle, fill: 0.5, ..options(workload) };
            let outcome =
                run(&options, |bound| bound).unwrap_or_else(|error| panic!("{workload}: {error}"));
            let (evaluation, idle) = (&outcome.evaluation, outcome.evaluation.idle.unwrap());
            assert_eq!(
                (outcome.access_ns.len(), idle.bursts),
                (500, 500_u64.div_ceil(burst_bytes / options.write_bytes))
            );
            assert!(
                idle.longest_us <= idle.idle_us
                    && idle.used_share > 0.0
                    && idle.prepared_bursts > 0,
                "{idle:?}"
            );
            assert_eq!((idle.accesses_with_moves, idle.accesses_with_erases), (0, 0), "{workload}");
            assert!(evaluation.max_us < idle.without.max_us, "{workload}: {evaluation}");
        }
    }

    #[test]
    fn time_too_short_for_any_work_changes_nothing() {
        let idle = Some(Idle { idle_ns: 1_000, burst_bytes: 16 << 10 });
        let idle = run(&Options { idle, ..options(Workload::Random) }, |bound| bound)
            .unwrap()
            .evaluation
            .idle
            .unwrap();
        assert_eq!(
            (idle.programs, idle.erases, idle.used_share, idle.longest_us),
            (0, 0, 0.0, 0.0)
        );
    }

    #[test]
    fn broken_bound_is_an_error_that_names_the_access_and_both_costs() {
        // To create and fill the file takes only programs. The steady state moves or erases.
        let no_moves =
            |bound| Bound::default().plus(&Cost { copies: 0, erases: 9, ..generous(bound).most() });
        let error = run(&options(Workload::Random), no_moves).unwrap_err();
        let EvaluateError::BoundBroken { phase, access, call, observed, bound } = error.clone()
        else {
            panic!("{error}")
        };
        assert!(matches!(phase, Phase::Fill | Phase::WarmUp) && access > 0, "{error}");
        assert!(
            matches!(call, Call::Write(_) | Call::Overwrite)
                && observed.copies > 0
                && bound.moving.copies == 0,
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("access {access}, {}: did Cost", crate::called::called(call))),
            "{error}"
        );
    }

    #[test]
    fn broken_mount_is_an_error() {
        let (one, two) =
            (Cost { reads: 1, ..Cost::default() }, Cost { reads: 2, ..Cost::default() });
        assert_eq!(check_mount(one, two, 5, 5), Ok(()));
        assert!(matches!(check_mount(two, one, 5, 5), Err(EvaluateError::MountBroken { .. })));
        assert!(matches!(
            check_mount(one, two, 6, 5),
            Err(EvaluateError::MountBroken { observed_ns: 6, .. })
        ));
    }

    #[test]
    fn same_seed_gives_the_same_run_and_another_gives_another() {
        let options = options(Workload::Random);
        let first = run(&options, generous).unwrap();
        assert_eq!(run(&options, generous).unwrap(), first);
        assert_ne!(
            run(&Options { seed: 2, ..options }, generous).unwrap().access_ns,
            first.access_ns
        );
    }

    #[test]
    fn json_of_a_run_has_exactly_the_promised_keys_in_order() {
        let outcome = run(&options(Workload::Hot), generous).unwrap();
        let json = serde_json::to_string(&outcome.evaluation).unwrap();
        let keys: Vec<_> = json
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|text| json.contains(&format!("\"{text}\":")))
            .collect();
        let once = &keys[..keys.iter().rposition(|key| *key == "rate").unwrap() + 4];
        let mut promised =
            "device timing call_us fill workload write_bytes accesses seed mean_us p50_us \
            p99_us p999_us max_us bound_us throughput_bytes_per_s programs_per_data_page reads \
            programs erases usable_bytes ram_bytes mount_us erase_count min mean max backlog"
                .split_whitespace()
                .collect::<Vec<_>>();
        promised.extend(
            ["rate", "bytes", "peak_bytes", "guaranteed_bytes"]
                .repeat(options(Workload::Hot).rates.len()),
        );
        assert_eq!(once, promised);
        assert_eq!(keys[once.len()..], ["floor", "mean_us", "max_us", "throughput_bytes_per_s"]);
        let idle = Some(Idle { idle_ns: 20_000_000, burst_bytes: 16 << 10 });
        let outcome = run(&Options { idle, ..options(Workload::Hot) }, generous).unwrap();
        let json = serde_json::to_string(&outcome.evaluation).unwrap();
        let (_, idle) = json.split_once("\"idle\":").unwrap();
        let keys: Vec<_> = idle.split('"').skip(1).step_by(2).collect();
        let promised = "idle_us burst_bytes bursts prepared_bursts used_share longest_us reads \
            programs erases programs_per_data_page throughput_bytes_per_s accesses_with_moves \
            accesses_with_erases without mean_us p50_us p99_us p999_us max_us accesses_with_moves \
            accesses_with_erases";
        assert_eq!(keys, promised.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn log_has_the_bounds_of_an_append_and_of_a_change_of_file() {
        let options = Options { accesses: 2_000, ..options(Workload::Log) };
        let evaluation = run(&options, generous).unwrap().evaluation;
        let log = evaluation.log.expect("a change of file");
        assert_eq!(log.append.accesses + log.change.accesses, evaluation.accesses);
        assert!(log.change.accesses > 0 && log.append.accesses > log.change.accesses);
        assert!(log.append.bound_us < log.change.bound_us);
        assert_eq!(log.change.bound_us, evaluation.bound_us);
        assert_eq!(log.append.max_us.max(log.change.max_us), evaluation.max_us);
        let text = evaluation.to_string();
        assert!(text.contains("\nappend alone") && text.contains("\nchange of file"), "{text}");
        assert!(run(&self::options(Workload::Random), generous).unwrap().evaluation.log.is_none());
    }

    #[test]
    fn writes_of_any_size_are_whole_accesses() {
        for write_bytes in [1, 100, 512, 3000, 4096] {
            for workload in [Workload::Random, Workload::Append] {
                let options = Options { write_bytes, accesses: 100, ..options(workload) };
                let outcome = run(&options, generous)
                    .unwrap_or_else(|error| panic!("{workload}, {write_bytes}: {error}"));
                assert_eq!(
                    (outcome.evaluation.accesses, outcome.evaluation.write_bytes),
                    (100, write_bytes)
                );
            }
        }
    }

    #[test]
    fn full_volume_is_filled_to_its_last_pages() {
        let options = Options { fill: 1.0, accesses: 100, ..options(Workload::Random) };
        let outcome = run(&options, generous).unwrap();
        assert!(outcome.evaluation.fill > 0.95, "{}", outcome.evaluation.fill);
    }

    #[test]
    fn impossible_fill_is_refused() {
        for workload in [Workload::Random, Workload::Append] {
            let error = run(&Options { fill: 0.001, ..options(workload) }, generous).unwrap_err();
            assert!(matches!(error, EvaluateError::TooSmall { .. }), "{error}");
        }
    }

    #[test]
    fn progress_rises_to_its_end_through_the_phases() {
        let (mut shares, mut phases) = (Vec::new(), Vec::new());
        let options = options(Workload::Random);
        let mut report = |share: f64, phase: &str| {
            shares.push(share);
            phases.push(phase.to_string());
        };
        drive(
            chip(),
            &Drive { device: "small", options: &options, promise: generous },
            &mut report,
        )
        .unwrap();
        assert!(
            shares.is_sorted()
                && shares.len() > 4
                && shares.iter().all(|share| (0.0..=1.0).contains(share))
        );
        phases.dedup();
        assert_eq!(phases, ["fill", "steady state", "measure", "read back", "resume"]);
    }
}
