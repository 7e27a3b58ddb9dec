//! The comparison: all contenders pay the same costs, nothing is left out silently, and
//! acknowledged data is kept.

use steadyfs::media::{Flash, TAG_BYTES};
use steadyfs_compare::contenders::{self, Raw, SteadyFs};
use steadyfs_compare::{AnyEntrant, Board, Chip, CompareReport, Comparison, Options, run};
use steadyfs_lab::bench::{BenchChip, Case};
use steadyfs_lab::report::Page;
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, Profile, TimingChoice};

fn board(id: &str) -> Board {
    Board::all().into_iter().find(|board| board.id == id).unwrap()
}

fn options(id: &str, cases: &[&str], cuts: u32) -> Options {
    let cases = cases.iter().map(|name| Case::named(name).unwrap()).collect();
    Options { boards: vec![board(id)], cases, cuts, ..Options::default() }
}

fn measure(entrants: &[Box<dyn AnyEntrant>], options: &Options) -> Comparison {
    run(entrants, options, &|_, _| {}).unwrap()
}

/// The hard case. Some contenders use pages with tags, others bytes of blocks. The chip must
/// charge both the same.
#[test]
fn pages_and_bytes_of_nand_cost_the_same() {
    let profile = Profile::named("mt29f1g01abafd").unwrap();
    let spent = |act: fn(&mut Chip)| {
        let mut chip = Chip::new(Nand::new(&profile, TimingChoice::Typical, 1));
        act(&mut chip);
        chip.counters()
    };
    let pages = spent(|chip| {
        (0..64).for_each(|page| chip.program(page, &[7; 2048], &[0xFF; TAG_BYTES]).unwrap())
    });
    let bytes = spent(|chip| chip.program_plain(0, 0, &[7; 64 * 2048]).unwrap());
    assert_eq!(pages, bytes);
    let whole = spent(|chip| chip.read(0, &mut [0; 2048], &mut [0; TAG_BYTES]).unwrap());
    let bytes = spent(|chip| chip.read_plain(0, 0, &mut [0; 2048]).unwrap());
    assert_eq!((whole.reads, whole.bytes_read - bytes.bytes_read), (bytes.reads, TAG_BYTES as u64));
    let timing = NandTiming::of(profile.nand().unwrap(), TimingChoice::Typical);
    assert_eq!(
        whole.time_ns - bytes.time_ns,
        timing.read_ns(2048 + TAG_BYTES) - timing.read_ns(2048),
        "the tag, and nothing else"
    );
}

#[test]
fn bytes_of_nor_cost_what_the_chip_says_at_every_address() {
    let timing = NorTiming::ROUND;
    let mut chip =
        Chip::new(steadyfs::media::nor::NorPages::new(Nor::with_geometry(4096, 4, timing, 1), 256));
    let before = chip.counters();
    chip.program_plain(0, 250, &[0; 12]).unwrap();
    chip.read_plain(3, 4000, &mut [0; 96]).unwrap();
    let spent = chip.counters().since(&before);
    assert_eq!(
        (spent.programs, spent.reads),
        (2, 1),
        "a program is split where the chip's page ends"
    );
    assert_eq!(spent.time_ns, 2 * timing.command_ns(6) + timing.read_ns(96));
}

#[test]
fn every_contender_gives_back_what_was_written_or_says_why_not() {
    // Cases on a used volume take minutes on a chip of this size.
    let few: &[&str] = &["small-formatted", "create"];
    for (id, cases) in [
        ("nor", &["small-formatted", "replace-in-place", "create", "remove", "read-256"][..]),
        ("nand", few),
    ] {
        let found = measure(&contenders::all(), &options(id, cases, 0));
        for entry in &found.entries {
            let standing = entry.on(id).unwrap();
            if let Some(reason) = &standing.absent {
                assert!(reason.len() > 10, "{}: {reason}", entry.facts.name);
                continue;
            }
            assert_eq!(standing.outcomes.len(), cases.len());
            for outcome in &standing.outcomes {
                let row = &outcome.row;
                assert_eq!(row.failed, None, "{}, {id}, {}", entry.facts.name, row.case);
                let told = row.figures.is_some()
                    != row.skipped.as_ref().is_some_and(|reason| !reason.is_empty());
                assert!(told, "{}, {id}, {row:?}", entry.facts.name);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let options = options("nor", &["append-16", "replace-truncate"], 40);
    let once = measure(&contenders::all(), &options);
    assert_eq!(once, measure(&contenders::all(), &options));
    let text = serde_json::to_string(&once).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), once, "as JSON as well");
}

/// Aged volumes are made once, and copied to twins. A contender with data outside its chip had
/// nothing on the twin.
#[test]
fn a_case_gives_the_same_alone_and_on_a_twin_of_what_others_begin_with() {
    let cases = ["append-16", "replace-truncate"];
    let together = measure(&contenders::all(), &options("nor", &cases, 0));
    for case in cases {
        let alone = measure(&contenders::all(), &options("nor", &[case], 0));
        for (one, other) in alone.entries.iter().zip(&together.entries) {
            let outcome =
                |entry: &steadyfs_compare::Entry| entry.on("nor").unwrap().outcome(case).cloned();
            assert_eq!(outcome(one), outcome(other), "{}, {case}", one.facts.name);
        }
    }
}

#[test]
fn nobody_is_faster_than_the_chip_alone() {
    let cases = ["seq-4096", "small-durable", "create"];
    let found = measure(&[Box::new(Raw), Box::new(SteadyFs)], &options("nand", &cases, 0));
    for case in cases {
        let mean =
            |entry: usize| found.entries[entry].on("nand").unwrap().figures(case).unwrap().mean_us;
        assert!(mean(0) <= mean(1), "{case}: {} and {}", mean(0), mean(1));
        let limit = found.entries[0].on("nand").unwrap().figures(case).unwrap().limit_us.unwrap();
        assert!(
            (0.95..1.15).contains(&(mean(0) / limit)),
            "{case}: {} beside the limit of {limit}",
            mean(0)
        );
    }
}

#[test]
fn cuts_leave_what_steadyfs_acknowledged() {
    for id in ["nor", "nor-16", "nand"] {
        let found = measure(&[Box::new(SteadyFs)], &options(id, &[], 400));
        let cuts = found.entries[0].on(id).unwrap().cuts.clone().unwrap();
        assert_eq!((cuts.cuts, cuts.bad(), &cuts.first), (400, 0, &None), "{id}: {cuts:?}");
    }
}

#[test]
fn the_report_shows_every_contender_and_every_reason() {
    let cases = ["random-4096", "create", "web-server"];
    let found =
        measure(&contenders::all(), &Options { patience_s: 5, ..options("nor", &cases, 20) });
    let report = CompareReport::of(&found);
    let html = report.html();
    for entry in &found.entries {
        assert!(
            html.contains(&steadyfs_lab::report::escape(&entry.facts.name)),
            "{}",
            entry.facts.name
        );
    }
    assert!(html.contains("--case random-4096 --contender steadyfs"));
    // A reason takes the row of the numbers that it explains.
    assert!(html.contains(" colspan=\"8\" data-name=\"promised\">not: a store of small values"));
    assert!(html.contains("<h1>A durable 4 KiB write on w25q128jv, 80 % full: SteadyFS"));
    assert!(html.contains("Longest without a promise: the chip alone "));
    assert!(html.contains("a store of small values, not of files") && html.contains("above mean"));
    assert!(
        !html.contains("{{") && !html.contains("NaN") && html.len() < 2 << 20,
        "{} bytes",
        html.len()
    );
    for (name, svg) in report.svg() {
        assert!(
            svg.starts_with("<svg")
                && svg.ends_with("</svg>\n")
                && !svg.contains("NaN")
                && !svg.contains("inf"),
            "{name}"
        );
    }
    let text = found.to_string();
    assert!(text.contains("How long may my data wait?") && text.contains("SteadyFS"), "{text}");
}
