//! Runs the `steady` command as users do: outputs, exit codes and sentences.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Makes a directory for one test, empty at its start.
fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn steady(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steady"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A stall of ten milliseconds among accesses of one millisecond.
const TRACE: &str = "# board 7\nduration_us\n1000\n10000\n1000\n1000\n1000\n";

/// The whole trace was fitted before its length was checked. That took half a minute.
#[test]
fn fit_refuses_a_short_trace_before_it_fits() {
    let file = directory("short").join("card.csv");
    fs::write(&file, format!("duration_us\n{}", "1000\n".repeat(3000))).unwrap();
    let output = steady(&["fit", file.to_str().unwrap(), "--kind", "sd", "--capacity", "4GiB"]);
    let error = text(&output.stderr);
    assert!(
        error.starts_with("error: ") && error.contains("3000 accesses; expected at least 4000"),
        "{error}"
    );
    assert_eq!(
        (output.status.code(), error.lines().count()),
        (Some(1), 1),
        "nothing was fitted: {error}"
    );
}

#[test]
fn replay_prints_table_highest_rate_and_envelope() {
    let file = directory("table").join("board.csv");
    fs::write(&file, TRACE).unwrap();
    let file = file.to_str().unwrap();
    let output = steady(&[
        "replay", file, "--write", "4096", "--rate", "1MB/s", "--rate", "9MB/s", "--buffer",
        "10KiB",
    ]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let table = text(&output.stdout);
    for part in [
        "5 accesses of 4 KiB",
        "10.000 ms",
        "5.8 KiB",
        "9.8 KiB",
        "above mean",
        "Highest rate",
        "burst",
    ] {
        assert!(table.contains(part), "{part} in {table}");
    }
}

#[test]
fn json_to_standard_output_stands_alone() {
    let file = directory("json").join("board.csv");
    fs::write(&file, TRACE).unwrap();
    let output = steady(&["replay", file.to_str().unwrap(), "--rate", "1MB/s", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["backlog"][0]["bytes"], 5904);
    assert_eq!(json["max_us"], 10_000.0);
}

#[test]
fn report_figures_and_json_are_written_beside_the_table() {
    let directory = directory("files");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_string();
    fs::write(path("board.csv"), TRACE).unwrap();
    let (json, html, svg) = (path("board.json"), path("board.html"), path("figures"));
    let output =
        steady(&["replay", &path("board.csv"), "--json", &json, "--report", &html, "--svg", &svg]);
    assert!(output.status.success() && text(&output.stdout).contains("Input rate"));
    assert!(fs::read_to_string(&json).unwrap().starts_with('{'));
    let page = fs::read_to_string(&html).unwrap();
    assert!(
        page.contains("board.csv")
            && page.contains("; no bound is promised.</h1>")
            && page.contains("\"levels\":[]")
    );
    let figures = fs::read_dir(&svg).unwrap().count();
    assert_eq!(figures, 3);
}

#[test]
fn trace_is_read_from_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_steady"))
        .args(["replay", "-", "--unit", "ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"1\n2\n3\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && text(&output.stdout).contains("3 accesses"));
}

#[test]
fn bad_trace_fails_with_one_sentence_and_code_1() {
    let file = directory("bad").join("bad.csv");
    fs::write(&file, "duration_us\n1\n-3\n").unwrap();
    let output = steady(&["replay", file.to_str().unwrap()]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""));
    let error = text(&output.stderr);
    assert!(
        error.ends_with("bad.csv, line 3: found `-3`, expected a time that is not negative\n"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn place_that_cannot_be_written_fails_with_code_1() {
    let directory = directory("unwritable");
    let trace = directory.join("board.csv");
    fs::write(&trace, TRACE).unwrap();
    let place = directory.join("missing").join("board.html");
    let output = steady(&["replay", trace.to_str().unwrap(), "--report", place.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot be written"));
}

#[test]
fn wrong_usage_has_code_2() {
    for line in [
        &["replay"][..],
        &["replay", "x.csv", "--rate", "fast"],
        &["replay", "x.csv", "--unit", "h"],
        &["fly"],
        &[],
        &["replay", "x.csv", "--write", "0"],
    ] {
        let output = steady(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// Returns a fio log of 5,000 writes of 2 ms, five of which take 250 ms.
fn fio_log(bytes: u32) -> String {
    let mut ms = 0;
    let line = |at: u32| {
        let ns = if at % 1000 == 500 { 250_000_000u64 } else { 2_000_000 };
        ms += ns / 1_000_000;
        format!("{ms}, {ns}, 1, {bytes}, 0\n")
    };
    (0..5000).map(line).collect()
}

/// Averages were taken for accesses: the result was 0 B of buffer instead of the necessary 240
/// KiB. Writes of 64 KiB were reported as writes of 4 KiB.
#[test]
fn logs_of_fio_are_used_rightly_or_refused() {
    let directory = directory("fio");
    let at = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let raw = at("raw.log", &fio_log(4096));
    let output = steady(&["replay", &raw, "--rate", "1MB/s"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    assert!(text(&output.stdout).contains("5,000 accesses of 4 KiB"), "{}", text(&output.stdout));
    let averages = at("averages.log", "1000, 2000000, 1, 0, 0\n2000, 2400000, 1, 0, 0\n");
    for arguments in
        [&["replay", &averages][..], &["fit", &averages, "--kind", "sd", "--capacity", "4GiB"]]
    {
        let output = steady(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            error.contains(
                "averages.log, line 1: found the mean or the maximum of a window of time \
                 (`log_avg_msec`)"
            ),
            "{error}"
        );
    }
    let large = at("large.log", &fio_log(65_536));
    assert!(text(&steady(&["replay", &large]).stdout).contains("5,000 accesses of 64 KiB"));
    for arguments in [
        &["replay", &large, "--write", "4096"][..],
        &["fit", &large, "--kind", "sd", "--capacity", "4GiB", "--write", "4KiB"],
        &["evaluate", "--accesses", "2000", "--beside", &large],
    ] {
        let error = text(&steady(arguments).stderr);
        assert!(
            error.contains("found writes of 65536 bytes, expected 4096 as given for each write"),
            "{error}"
        );
    }
    let mixed = at(
        "mixed.log",
        "1, 70, 0, 512, 0\n2, 1000000, 1, 4096, 0\n3, 9, 2, 4096, 0\n4, 9, 2, 4096, 0\n",
    );
    let output = steady(&["replay", &mixed]);
    let said = text(&output.stderr);
    assert!(
        output.status.success()
            && said.ends_with("mixed.log: 1 read and 2 trims left out: only writes count\n"),
        "{said}"
    );
    let old = at("old.log", "1, 1500, 1, 4096\n");
    let error = text(&steady(&["replay", &old]).stderr);
    assert!(error.contains("--unit us or --unit ns"), "{error}");
    assert!(text(&steady(&["replay", &old, "--unit", "us"]).stdout).contains("1.500 ms"));
}
