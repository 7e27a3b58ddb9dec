//! Runs `steady costs` and `steady transactions` as users do.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Makes the profile of a chip of 16 MiB with 1 KiB pages, in a file of its own.
fn small_device(name: &str) -> String {
    let profile = include_str!("../../steadyfs-sim/profiles/mt29f1g01abafd.toml");
    let (figures, _sources) = profile.split_once("[sources]").unwrap();
    let small = figures
        .replace("mt29f1g01abafd", "small")
        .replace("page_bytes = 2048", "page_bytes = 1024")
        .replace("pages_per_block = 64", "pages_per_block = 32")
        .replace("block_count = 1024", "block_count = 512");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, small).unwrap();
    path.to_str().unwrap().to_string()
}

fn steady(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steady")).args(arguments).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(0), "")
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn costs_measures_every_call_within_its_bound_and_every_copy() {
    let device = small_device("costs.toml");
    let costs = json(&steady(&["costs", "--device", &device, "--files", "300", "--json", "-"]));
    assert_eq!((&costs["device"], &costs["files"]), (&"small".into(), &300.into()));
    let calls = costs["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 16);
    assert!(
        calls.iter().all(|call| call["max_us"].as_f64() <= call["bound_us"].as_f64()),
        "{costs}"
    );
    let copies = costs["copies"].as_array().unwrap();
    assert!(copies.iter().all(|copy| copy["ratio"].as_f64() > Some(1.0)), "{costs}");
}

#[test]
fn more_files_than_fit_are_wrong_usage() {
    let device = small_device("costs-files.toml");
    let output = steady(&["costs", "--device", &device, "--files", "1000000"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: 1000216 files are needed") && error.lines().count() == 1,
        "{error}"
    );
}

/// The first example of the help ended without room.
#[test]
fn a_small_volume_has_as_many_files_as_it_holds() {
    for size in ["256KiB", "512KiB", "1MiB"] {
        let line = ["costs", "--device", "w25q128jv", "--size", size, "--json", "-"];
        let costs = json(&steady(&line));
        assert!(costs["files"].as_u64() > Some(100), "{size}: {}", costs["files"]);
    }
}

#[test]
fn transactions_show_the_flush_of_the_device_in_the_column_of_the_commit() {
    let line =
        ["transactions", "--device", "ssd-sata", "--files", "10", "--copies", "0", "--json", "-"];
    let table = json(&steady(&line));
    let rows = table["devices"][0]["rows"].as_array().unwrap();
    // The columns are create, write, flush, close, and the time after these.
    for (events, paying) in [("on close", 3), ("on flush", 2), ("timed, 1 s", 4)] {
        let row = rows.iter().find(|row| row["commit_on"] == events).unwrap();
        let pays: Vec<_> = (0..5).filter(|&call| row["us"][call].as_f64() > Some(950e3)).collect();
        assert_eq!(pays, [paying], "{row}");
    }
}

/// A small chip got no table. The output was the error of the first step without room.
#[test]
fn what_a_small_chip_has_no_room_for_is_skipped_with_the_reason() {
    let line = ["costs", "--device", "w25q16jv", "--files", "100"];
    let costs = json(&steady(&[&line[..], &["--json", "-"]].concat()));
    let skipped = costs["skipped"].as_array().unwrap();
    assert_eq!(
        (
            costs["calls"].as_array().unwrap().len(),
            costs["copies"].as_array().unwrap().len(),
            skipped.len()
        ),
        (16, 0, 8)
    );
    assert!(skipped.iter().all(|copy| copy["reason"] == "no room left on the volume"), "{costs}");
    let text = String::from_utf8(steady(&line).stdout).unwrap();
    assert!(
        text.contains(
            "1: 10.0 MB, each file, erased was not measured: no room left on the volume."
        ),
        "{text}"
    );

    for device in ["w25q16jv", "m25p16"] {
        let line = ["transactions", "--device", device, "--copies", "3"];
        let rows = json(&steady(&[&line[..], &["--json", "-"]].concat()));
        let skipped = rows["devices"][0]["skipped"].as_array().unwrap();
        assert!(
            skipped.iter().all(|row| row["reason"].is_string()) && !skipped.is_empty(),
            "{rows}"
        );
        let text = String::from_utf8(steady(&line).stdout).unwrap();
        assert!(text.contains(" was not measured: "), "{text}");
    }
}
