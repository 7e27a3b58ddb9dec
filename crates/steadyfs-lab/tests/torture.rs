//! The torture itself: its cuts, its failures, and the replay of a failure from its string.

use steadyfs_lab::torture::{self, FaultKind, Mode, Options, Run, Workload};

/// Returns options for one small volume and one workload.
fn options(workload: Workload) -> Options {
    Options { workloads: vec![workload], threads: 2, steps: Some(12), ..Options::default() }
}

fn run(options: &Options) -> torture::Summary {
    torture::run(options, None, &|_| true).unwrap()
}

#[test]
fn a_chip_that_lies_is_found_out_and_the_string_replays_what_was_found() {
    let options = Options {
        faults: vec![FaultKind::Lie],
        failures_max: 1,
        cuts: Some(100_000),
        ..options(Workload::Reclaim)
    };
    let found = run(&options).tally.failures.remove(0);
    let replayed: Run = found.replay.parse().unwrap();
    assert_eq!(replayed.to_string(), found.replay);
    let told = torture::replay(&replayed);
    assert_eq!(told.failure.as_deref(), Some(found.what.as_str()));
    assert_eq!(told, torture::replay(&replayed), "a run is the same each time");
    assert!(told.story.iter().any(|line| line.contains("mount")), "{:?}", told.story);
    // The same run without its fault holds.
    assert_eq!(torture::replay(&Run { faults: Vec::new(), ..replayed }).failure, None);
}

#[test]
fn a_failure_is_made_smaller() {
    let options = Options {
        faults: vec![FaultKind::Lie],
        mode: Mode::Sampled,
        steps: None,
        failures_max: 1,
        cuts: Some(100_000),
        ..options(Workload::Reclaim)
    };
    let found: Run = run(&options).tally.failures[0].replay.parse().unwrap();
    // Chains have up to six cuts in 80 steps. A lie needs one cut to show, and another one to
    // strike a page that is read then.
    assert!(found.cuts.len() <= 2 && !found.faults.is_empty(), "{found}");
    let left_out: usize = found.left_out.iter().map(|span| span.last - span.first + 1).sum();
    assert!(found.steps - left_out < 40, "{found}");
}

#[test]
fn depth_two_cuts_every_operation_of_every_recovery() {
    let options = Options { mode: Mode::Exhaustive, steps: Some(2), ..options(Workload::Reclaim) };
    let tally = run(&options).tally;
    assert_eq!(tally.failures, []);
    // A mount alone takes more than four operations, and each is cut in five states.
    let first = tally.cuts - tally.double_cuts;
    assert!(first > 5 * 4 && tally.double_cuts > first * 5 * 4, "{tally:?}");
}

#[test]
fn every_ground_and_fault_goes_round_once_by_default() {
    let faults = FaultKind::of_raw_flash();
    let options =
        Options { faults: faults.clone(), steps: Some(3), ..options(Workload::Configuration) };
    let summary = run(&options);
    assert_eq!((summary.tally.workloads, summary.complete), (faults.len() as u64, Some(true)));
    assert!(summary.tally.failures.is_empty() && summary.tally.faults > 0, "{summary}");
}

#[test]
fn work_goes_on_where_it_was_interrupted() {
    let path = std::env::temp_dir().join(format!("steadyfs-resume-{}.json", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let whole = Options { steps: Some(3), threads: 2, ..Options::default() };
    let first = torture::run(&whole, Some(&path), &|progress| progress.cuts == 0).unwrap();
    let second = torture::run(&whole, Some(&path), &|_| true).unwrap();
    assert_eq!(second.complete, Some(true));
    assert!(first.tally.cuts > 0 && first.tally.cuts < second.tally.cuts, "{first}");
    let undisturbed = run(&whole);
    assert_eq!(second.tally, undisturbed.tally, "the same work in two pieces");
    std::fs::remove_file(&path).unwrap();
}

/// `--cuts 20` made a whole round of many more cuts, or as many as the threads had begun.
#[test]
fn few_cuts_end_near_their_number_and_are_the_same_on_any_number_of_threads() {
    for (mode, cuts) in [(Mode::Every, 20), (Mode::Every, 500), (Mode::Sampled, 20)] {
        let options = Options {
            mode,
            steps: None,
            cuts: Some(cuts),
            faults: FaultKind::of_raw_flash(),
            ..Options::default()
        };
        let [one, three] = [1, 3].map(|threads| run(&Options { threads, ..options.clone() }).tally);
        assert_eq!(one, three, "{mode} {cuts}");
        // A chain has one to six cuts.
        let most = if mode == Mode::Sampled { 2 * cuts } else { cuts + cuts / 2 };
        assert!(
            (cuts..most).contains(&one.cuts) && one.failures.is_empty(),
            "{mode} {cuts}: {one:?}"
        );
        // They are ordinary cuts, in as many workloads as they suffice for.
        assert!(one.torn_cuts > 0 && one.double_cuts > 0 && one.states > one.cuts, "{one:?}");
        assert!(mode == Mode::Sampled || one.workloads > cuts / 20, "{one:?}");
    }
}

#[test]
fn empty_options_are_refused_with_what_was_expected() {
    let refused =
        |options: &Options| torture::run(options, None, &|_| true).unwrap_err().to_string();
    assert_eq!(
        refused(&Options { threads: 0, ..Options::default() }),
        "no threads: expected at least one"
    );
    assert_eq!(
        refused(&Options { workloads: Vec::new(), ..Options::default() }),
        "no workload: expected at least one"
    );
}

/// Asserts that runs that failed once hold now.
fn hold(runs: &[&str]) {
    for run in runs {
        assert_eq!(torture::replay(&run.parse::<Run>().unwrap()).failure, None, "{run}");
    }
}

/// The log of a leaf took the move of a frame, and power failed in that. The mount did not count
/// the move, which was the last record, but it counted the log. The log read with the move at one
/// time and without it at another, so the block with the source was taken for empty.
#[test]
fn the_source_of_the_last_move_counts_whatever_the_log_of_its_leaf_says() {
    hold(&[
        "t1-r512x8x64u1t16o64k32-disk-s100-n26-a5-x0_7.11_12.14_15.18_20-c44u",
        "t1-r512x8x64u1t16o64k32-disk-s305-n37-a5-x4_7.11.17_18.22.30.33.35-p57-c76m",
    ]);
}

/// Idle work moved frames until no block was listed any more. The next call wrote a root beside its
/// erase.
#[test]
fn idle_work_leaves_blocks_that_a_call_may_take() {
    hold(&[
        "t1-r512x8x64u1t16o64k32-disk-s243-n3-a40-c12g.6n",
        "t1-r512x8x64u1t16o64k32-disk-s217-n60-a40-x0.2_3.9-e9-c11n",
        "t1-r512x8x64u1t16o64k32-disk-s278-n60-a40-x3.5.8.11.17.21.23.25.30.32_33-p29.p30-c66n",
    ]);
}

/// The last record was cut in its last byte, and read well once in fifteen reads. It counted, and
/// could not be read after the mount.
#[test]
fn a_record_that_reads_well_now_and_then_does_not_count() {
    hold(&["t1-r256x16x32u1t6o46k16-disk-s294-n37-a40-x18_19.21.24.31-e4-c129m"]);
}

/// The page that a call writes is one more live frame. If this makes the volume nearly full, the
/// call looks up the old frame of the page. The bound used the fill before the call, and a durable
/// write of a sector took one read more.
#[test]
fn the_page_with_which_a_volume_is_nearly_full_is_in_the_bound() {
    hold(&["t1-c1024x16x40u2t6o46k16s3-disk-s1-n1-a5-c8n.14n"]);
}

/// An erase failed on the way, so that one block fewer had to hold the same data. The later moves
/// of the same call were the moves of a fuller volume.
#[test]
fn a_block_that_goes_bad_leaves_its_call_the_moves_that_were_promised() {
    hold(&[
        "t1-r512x8x64u1t16o64k32-reclaim-s1-n47-a40-x12_13.18_19.32_35-p121-c85n.8o.47n.10n.14n.9o",
    ]);
}
