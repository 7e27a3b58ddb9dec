//! Whether the results in `bench/results` are those that one would get now.

use std::path::Path;
use steadyfs_compare::contenders::SteadyFs;
use steadyfs_compare::{Board, CompareReport, Options, kept, run};
use steadyfs_lab::bench::Case;
use steadyfs_lab::report::Page;

const HOW: &str = "measure again: STEADY_PEERS=DIR cargo run --release --features peers -- compare --all --keep bench/results";

fn results() -> Vec<(std::path::PathBuf, kept::Kept)> {
    kept::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results")).unwrap()
}

#[test]
fn kept_results_are_of_these_chips_and_these_cases() {
    let found = results();
    assert!(!found.is_empty());
    let now = kept::reference(found[0].1.seed);
    for (path, kept) in found {
        let path = path.display();
        assert_eq!(kept.reference, now, "{path} is out of date, for the chips or the cases have changed; {HOW}");
        assert_eq!(kept.boards, Board::all(), "{path} is of other boards; {HOW}");
        for board in &kept.boards {
            let standing = kept.entry.on(&board.id).unwrap_or_else(|| panic!("{path} has no board {}", board.id));
            let is_told = |case: &str| standing.outcome(case).is_some_and(|outcome| {
                let row = &outcome.row;
                row.figures.is_some() || row.skipped.is_some() || row.failed.is_some()
            });
            let all = ["random-4096", "create", "wear-random"].into_iter().all(is_told);
            assert!(standing.absent.is_some() || all, "{path} does not answer every question on {}; {HOW}", board.id);
        }
    }
}

#[test]
fn the_page_of_results_is_what_is_kept() {
    let found = results();
    let options = Options { cases: Vec::new(), cuts: 0, ..Options::default() };
    let mut comparison = run(&[], &options, &|_, _| {}).unwrap();
    comparison.add_kept(found.into_iter().map(|(_, kept)| kept).collect());
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md")).unwrap();
    let command = "cargo run --release -- compare --kept --markdown docs/results.md";
    assert!(page == comparison.markdown(), "docs/results.md is not what {command} makes");
}

#[test]
fn the_picture_is_what_is_kept() {
    let board = Board::all().into_iter().find(|board| board.id == "nand").unwrap();
    let options = Options { boards: vec![board], cases: Vec::new(), cuts: 0, ..Options::default() };
    let mut comparison = run(&[], &options, &|_, _| {}).unwrap();
    comparison.add_kept(results().into_iter().map(|(_, kept)| kept).collect());
    let (_, svg) = CompareReport::of(&comparison).svg().into_iter().find(|(name, _)| *name == "waits.svg").unwrap();
    let picture = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/waits.svg")).unwrap();
    assert!(picture == svg, "docs/waits.svg is not what `steady compare --kept --device nand --svg docs` makes of it");
}

/// The core may change faster than results are measured: they are out of date when a call takes another time.
#[test]
fn kept_results_of_steadyfs_are_those_of_this_core() {
    let cases: Vec<_> = ["small-durable", "create", "read-256"].iter().map(|name| Case::named(name).unwrap()).collect();
    let boards: Vec<_> = Board::all().into_iter().filter(|board| board.id == "nor").collect();
    let options = Options { boards, cases: cases.clone(), cuts: 0, ..Options::default() };
    let now = run(&[Box::new(SteadyFs)], &options, &|_, _| {}).unwrap();
    let then = results().into_iter().find(|(_, kept)| kept.entry.facts.id == "steadyfs").unwrap().1;
    for case in cases {
        let figures = |entry: &steadyfs_compare::Entry| entry.on("nor").unwrap().figures(case.name()).unwrap().mean_us;
        let (now, then) = (figures(&now.entries[0]), figures(&then.entry));
        assert!((now / then - 1.0).abs() < 0.02, "{}: {now} µs, kept are {then} µs; {HOW}", case.name());
    }
}
