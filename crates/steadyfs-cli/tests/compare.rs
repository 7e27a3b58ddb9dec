//! Runs `steady compare` as users do.

use crate::common::Bench;

#[test]
fn what_was_not_asked_for_is_told_as_not_measured_and_not_shown() {
    let bench = Bench::new("compare");
    let line =
        "compare --device nor --contender steadyfs,raw --case append-64 --keep kept --results kept";
    bench.write("kept/none.txt", b"");
    let table = bench.ok(line);
    let cuts = table.split("What survives a brown-out?").nth(1).unwrap();
    let of = |name: &str| {
        cuts.lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap()
            .trim_end()
            .to_string()
    };
    assert!(
        of("SteadyFS").ends_with("not measured")
            && of("the chip alone").ends_with("no file system"),
        "{table}"
    );
    let kept = bench.json("compare --kept --results kept --case open,append-64 --json -");
    for entry in kept["entries"].as_array().unwrap() {
        let cases = entry["standings"][0]["outcomes"].as_array().unwrap();
        assert!(cases.iter().all(|case| case["case"] == "append-64"), "{entry}");
    }
    let kept = bench.json("compare --kept --results kept --case open --json -");
    assert!(
        kept["entries"][0]["standings"][0]["outcomes"].as_array().unwrap().is_empty(),
        "{kept}"
    );
}

/// The table of cases had lines of 207 columns.
#[test]
fn no_result_has_a_line_that_is_wider_than_a_terminal() {
    let bench = Bench::new("width");
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/results");
    for line in [
        &format!("compare --kept --results {results} --cpu cortex-m3@72MHz")[..],
        "devices",
        "bench --device w25q128jv --size 1MiB --case append-64,create",
        "evaluate --accesses 1000",
        "transactions --device sd-industrial --files 8 --copies 4",
        "realtime --accesses 1000 --card sd-industrial",
        "advise --device w25q128jv --size 1MiB --workload log",
    ] {
        let text = bench.ok(line);
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 100, "{line}:\n{widest}");
    }
}

/// The ticks of the figures were "10.000 ms".
#[test]
fn ticks_of_figures_have_no_zeros_at_their_end() {
    let bench = Bench::new("ticks");
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/results");
    bench.ok(&format!("compare --kept --results {results} --svg figures"));
    for figure in ["waits", "rates", "cuts", "lives"] {
        let svg = String::from_utf8(bench.read(&format!("figures/{figure}.svg"))).unwrap();
        let ticks: Vec<&str> = svg
            .lines()
            .filter(|line| line.contains("\"middle\"") || line.contains("\"end\""))
            .filter_map(|line| line.split('>').nth(1)?.split('<').next())
            .collect();
        assert!(ticks.len() > 3, "{figure}");
        for tick in ticks {
            let number = tick.split(' ').next().unwrap();
            assert!(!(number.contains('.') && number.ends_with('0')), "{figure}: {tick}");
        }
    }
}

#[test]
fn results_that_are_not_there_are_told() {
    let bench = Bench::new("compare-kept");
    let error = bench.fails("compare --kept");
    assert_eq!(
        error,
        "bench/results: no such directory; expected one that --keep wrote, named by --results"
    );
}
