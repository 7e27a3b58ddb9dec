//! Runs `steady adversary` as users do.

use crate::common::Bench;

#[test]
fn a_search_is_told_as_a_table_and_as_json() {
    let bench = Bench::new("adversary");
    let line = "adversary --device nand.toml --calls 3000 --fill 50%";
    let report = bench.json(&format!("{line} --json -"));
    assert_eq!(
        (&report["device"], &report["size_bytes"]),
        (&"small-nand".into(), &(1 << 20).into())
    );
    let rows = report["rows"].as_array().unwrap();
    let table = bench.ok(line);
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        assert!(row["longest_ns"].as_u64() <= row["bound_ns"].as_u64(), "{row}");
        let is_there = table.lines().any(|line| line.split_whitespace().next() == Some(kind));
        assert_eq!(is_there, row["calls"].as_u64() > Some(0), "{kind}: {table}");
    }
    assert!(rows.iter().filter(|row| row["calls"].as_u64() > Some(0)).count() >= 13, "{table}");
}

#[test]
fn devices_and_sizes_that_are_not_there_are_refused() {
    let bench = Bench::new("adversary-refused");
    assert!(
        bench
            .contradicts("adversary --device nand.toml --size 2MiB")
            .starts_with("a size of 2,097,152 bytes; expected whole erase blocks")
    );
    assert!(
        bench
            .is_wrong("adversary --device sd-industrial")
            .contains("is a card; this command takes raw flash")
    );
}
