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
        cuts.lines().find(|line| line.starts_with(name)).unwrap().trim_end().to_string()
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

#[test]
fn results_that_are_not_there_are_told() {
    let bench = Bench::new("compare-kept");
    let error = bench.fails("compare --kept");
    assert_eq!(
        error,
        "bench/results: no such directory; expected one that --keep wrote, named by --results"
    );
}
