//! Runs `steady bench` as users do.

use crate::common::Bench;

#[test]
fn bench_tells_its_rows_as_json_and_as_a_table() {
    let bench = Bench::new("bench");
    let line =
        "bench --device nand.toml --files 50 --case create,small-formatted,append-16,copy-10mb";
    let report = bench.json(&format!("{line} --json -"));
    assert_eq!(
        (&report["device"], &report["size_bytes"]),
        (&"small-nand".into(), &(1 << 20).into())
    );
    assert!(
        report["usable_bytes"].as_u64() > Some(0) && report["ram_bytes"].as_u64() > Some(0),
        "{report}"
    );
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["case"].as_str().unwrap()).collect();
    assert_eq!(names, ["create", "small-formatted", "append-16", "copy-10mb"]);
    for row in &rows[..3] {
        let figure = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"));
        for name in ["p99_us", "reads", "read_bytes", "programs", "programmed_bytes", "erases"] {
            assert!(figure(name) >= 0.0);
        }
        assert!(
            figure("limit_us") <= figure("mean_us") && figure("mean_us") <= figure("max_us"),
            "{row}"
        );
        assert!(figure("max_us") <= figure("bound_us"), "{row}");
        assert!(
            row["wear"]["min"].as_f64() <= row["wear"]["mean"].as_f64()
                && row["wear"]["max"].is_u64(),
            "{row}"
        );
    }
    assert_eq!((rows[0]["calls"].as_u64(), rows[0]["bytes_per_s"].is_null()), (Some(50), true));
    assert!(rows[1]["bytes_per_s"].as_f64() > Some(0.0));
    assert!(
        rows[3]["skipped"].as_str().unwrap().starts_with("needs files of 10,000,000 bytes"),
        "{}",
        rows[3]
    );

    let table = bench.ok(line);
    for case in [
        "create",
        "small-formatted",
        "append-16",
        "copy-10mb was not measured: needs files of 10,000,000 bytes",
    ] {
        assert!(table.lines().any(|line| line.starts_with(case)), "{case}: {table}");
    }
}

#[test]
fn bench_takes_a_part_of_a_chip_and_the_blocks_that_it_has() {
    let bench = Bench::new("bench-sizes");
    let report = bench.json("bench --device w25q128jv --size 1MiB --case open --json -");
    assert_eq!(
        (&report["size_bytes"], &report["erase_block_bytes"]),
        (&(1 << 20).into(), &4096.into())
    );
    let report = bench.json("bench --device w25q128jv --case open --json -");
    assert_eq!(
        (&report["size_bytes"], &report["erase_block_bytes"]),
        (&(16 << 20).into(), &65_536.into())
    );
    let error = bench.contradicts("bench --device w25q128jv --erase-block 8KiB");
    assert_eq!(error, "an erase block of 8 KiB; expected one of 4 KiB, 64 KiB");
    let error = bench.contradicts("bench --device mt29f1g01abafd --size 1MiB");
    assert_eq!(error, "a size of 1 MiB is too small for a volume; expected at least 3.5 MiB");
    let error = bench.contradicts("bench --device nand.toml --size 2MiB");
    assert_eq!(
        error,
        "a size of 2,097,152 bytes; expected whole erase blocks of 16 KiB, at most 1 MiB"
    );
}

/// Reads of pages that came from the chip only once were reported as faster than the chip. The
/// limit counted erases of blocks that the format leaves erased.
#[test]
fn no_case_is_faster_than_its_limit() {
    let bench = Bench::new("bench-limits");
    let line = "bench --device w25q128jv --size 1MiB --erase-block 4KiB --files 50 --json -";
    let report = bench.json(&format!("{line} --read-cache 8 --case web-server,open,small-durable"));
    let rows = report["rows"].as_array().unwrap();
    assert!(
        rows[0]["limit_us"].is_null()
            && rows[1]["limit_us"].is_null()
            && rows[2]["limit_us"].is_f64(),
        "{report}"
    );
    let report = bench.json(&format!(
        "{line} --erased --case seq-4096,small-formatted,small-durable,create,remove"
    ));
    for row in report["rows"].as_array().unwrap() {
        assert!(row["limit_us"].as_f64().unwrap() <= row["mean_us"].as_f64().unwrap(), "{row}");
    }
}
