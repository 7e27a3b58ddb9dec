//! Checks that the results in `bench/results`, if there are any, are equal to new results.

use std::path::{Path, PathBuf};
use steadyfs_compare::contenders::{Raw, SteadyFs};
use steadyfs_compare::{Board, Options, kept, run};
use steadyfs_lab::bench::Case;

const HOW: &str = "measure again: STEADY_PEERS=DIR cargo run --release --features peers -- compare \
    --all --keep bench/results";

/// Returns the results that are kept in the repository; none if they were not measured yet.
fn results() -> Vec<(PathBuf, kept::Kept)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results");
    if directory.is_dir() { kept::read(&directory).unwrap() } else { Vec::new() }
}

fn nor(cases: &[&str]) -> Options {
    let boards = Board::all().into_iter().filter(|board| board.id == "nor").collect();
    let cases = cases.iter().map(|name| Case::named(name).unwrap()).collect();
    Options { boards, cases, cuts: 0, ..Options::default() }
}

#[test]
fn kept_results_are_of_these_chips_and_these_cases() {
    let found = results();
    let Some((_, first)) = found.first() else { return };
    let now = kept::reference(first.seed);
    for (path, kept) in &found {
        let path = path.display();
        assert_eq!(
            kept.reference, now,
            "{path} is out of date, for the chips or the cases have changed; {HOW}"
        );
        assert_eq!(kept.boards, Board::all(), "{path} is of other boards; {HOW}");
    }
}

/// The core may change faster than results are measured. They are out of date when a call takes
/// another time.
#[test]
fn kept_results_of_steadyfs_are_those_of_this_core() {
    let cases = ["small-durable", "create", "read-256"];
    let Some((_, then)) = results().into_iter().find(|(_, kept)| kept.entry.facts.id == "steadyfs")
    else {
        return;
    };
    let now = run(&[Box::new(SteadyFs)], &nor(&cases), &|_, _| {}).unwrap();
    for case in cases {
        let figures = |entry: &steadyfs_compare::Entry| {
            entry.on("nor").unwrap().figures(case).unwrap().mean_us
        };
        let (now, then) = (figures(&now.entries[0]), figures(&then.entry));
        assert!((now / then - 1.0).abs() < 0.02, "{case}: {now} µs, kept are {then} µs; {HOW}");
    }
}

#[test]
fn what_is_kept_is_shown_beside_what_is_measured_and_only_once() {
    let directory = std::env::temp_dir().join(format!("steady-kept-{}", std::process::id()));
    let measured =
        run(&[Box::new(Raw), Box::new(SteadyFs)], &nor(&["create"]), &|_, _| {}).unwrap();
    kept::write(&measured, &directory).unwrap();
    let read =
        || kept::read(&directory).unwrap().into_iter().map(|(_, kept)| kept).collect::<Vec<_>>();
    assert_eq!(read().len(), 2);

    let mut now = run(&[Box::new(SteadyFs)], &nor(&["create"]), &|_, _| {}).unwrap();
    now.add_kept(read());
    let shown: Vec<_> =
        now.entries.iter().map(|entry| (entry.facts.id.as_str(), entry.kept)).collect();
    assert_eq!(shown, [("steadyfs", false), ("raw", true)]);
    assert_eq!(now.entries[1].standings, measured.entries[0].standings);

    let table = now.to_string();
    assert!(table.contains("not measured") && table.contains("no file system"), "{table}");
    now.retain_cases(&[Case::named("open").unwrap()], false);
    assert!(
        now.entries.iter().all(|entry| entry.on("nor").unwrap().outcomes.is_empty()),
        "what was not asked for is not shown"
    );

    let mut of_another_seed = run(&[], &Options { seed: 2, ..nor(&[]) }, &|_, _| {}).unwrap();
    of_another_seed.add_kept(read());
    assert!(
        of_another_seed.entries.is_empty(),
        "numbers of different seeds are not set side by side"
    );

    std::fs::write(directory.join("raw.json"), "{").unwrap();
    let error = kept::read(&directory).unwrap_err().to_string();
    assert!(error.contains("raw.json: no kept results"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}
