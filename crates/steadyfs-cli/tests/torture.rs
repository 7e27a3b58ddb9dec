//! Runs `steady torture` as users do.

use std::path::PathBuf;
use std::process::{Command, Output};

fn steady(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steady")).arg("torture").args(arguments).output().unwrap()
}

/// Returns the message about wrong usage.
fn refused(arguments: &[&str]) -> String {
    let output = steady(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    error
}

/// Returns the message about an impossible run: one sentence, as in the other commands.
fn impossible(arguments: &[&str]) -> String {
    let output = steady(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.contains("Usage")), (Some(1), false), "{error}");
    error
}

/// A little of everything on the small volume.
const SHORT: [&str; 8] =
    ["--geometry", "small", "--workload", "log,reclaim", "--steps", "5", "--threads", "2"];

#[test]
fn a_short_torture_finds_nothing_and_tells_what_it_did() {
    let output = steady(&[&SHORT[..], &["--json", "-"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    // A busy machine may take so long that the time is printed.
    let is_time = |line: &str| line.starts_with("takes about ") || line.ends_with(" left");
    assert!(output.status.code() == Some(0) && said.lines().all(is_time), "{said}");
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["failures"].as_array().map(Vec::len), Some(0));
    // Seven kinds of faults, including none.
    assert_eq!((&run["workloads"], &run["complete"]), (&14.into(), &true.into()));
    for count in ["cuts", "torn_cuts", "double_cuts", "states", "faults"] {
        assert!(run[count].as_u64() > Some(0), "{count}: {run}");
    }
}

#[test]
fn what_a_lying_chip_loses_ends_with_code_1_and_a_string_that_replays_it() {
    let table =
        steady(&[&SHORT[..], &["--fault", "lie", "--cuts", "20000", "--failures", "1"]].concat());
    let text = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(1), "{text}");
    let replay = text
        .lines()
        .find_map(|line| line.strip_prefix("  replay: steady torture --replay "))
        .unwrap();
    let replayed = steady(&["--replay", replay]);
    let story = String::from_utf8(replayed.stdout).unwrap();
    let error = String::from_utf8(replayed.stderr).unwrap();
    assert_eq!(replayed.status.code(), Some(1), "{story}");
    assert!(story.starts_with("mount 1\n") && error.starts_with("error: "), "{story}{error}");
    // A long line is broken at its spaces.
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = error.trim().strip_prefix("error: ").unwrap().lines().next().unwrap();
    assert!(joined(&text).contains(&joined(told)), "{text}{error}");
}

#[test]
fn a_run_in_which_nothing_is_lost_replays_with_code_0() {
    let output = steady(&["--replay", "t1-n256x16x32u1t6o46k16-log-s1-n10-a5-c12g.3m"]);
    let story = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{story}");
    assert!(story.ends_with("passes; 2 of 2 cuts met an operation\n"), "{story}");
    assert_eq!(story.matches("power fails in operation").count(), 2, "{story}");
}

#[test]
fn wrong_usage_ends_with_code_2_and_says_what_was_expected() {
    assert!(refused(&["--geometry", "huge"]).contains("expected one of small, small-copy"));
    assert!(
        refused(&["--geometry", "512x16x64", "--pages-per-logical-page", "3"])
            .contains("pages_per_logical_page must be a power of two")
    );
    assert!(refused(&["--workload", "logs"]).contains("expected one of log, configuration"));
    assert!(refused(&["--fault", "fire"]).contains("expected one of none, programs"));
    assert!(refused(&["--mode", "some"]).contains("expected every, sampled or exhaustive"));
    assert!(refused(&["--exhaustive", "3"]).contains("from 1 to 2"));
    assert!(refused(&["--time", "30"]).contains("a duration such as"));
    assert!(refused(&["--replay", "t1-small"]).contains("expected a workload after the geometry"));
    assert!(
        refused(&["--device", "sd-industrial"]).contains("is a card; this command takes raw flash")
    );
    assert!(refused(&["--device", "nothing"]).contains("nothing"));
    assert!(refused(&["--device", "w25n01gv", "--blocks", "5000"]).contains("w25n01gv has 1024"));
    assert!(
        impossible(&["--resume", "/nowhere/at/all.json", "--steps", "1", "--geometry", "small"])
            .contains("cannot be written")
    );
}

#[test]
fn a_device_and_settings_of_ones_own_are_tortured() {
    let arguments = [
        "--device",
        "w25q128jv",
        "--blocks",
        "32",
        "--cache-pages",
        "2",
        "--workload",
        "configuration",
    ];
    let output = steady(
        &[&arguments[..], &["--fault", "none", "--cuts", "1", "--steps", "2", "--json", "-"]]
            .concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn work_is_kept_in_a_file_and_not_done_again() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("torture-resume.json");
    let _ = std::fs::remove_file(&path);
    let arguments =
        [&SHORT[..], &["--fault", "none", "--resume", path.to_str().unwrap(), "--json", "-"]]
            .concat();
    let cuts = |output: Output| {
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["cuts"].clone()
    };
    let (first, second) = (cuts(steady(&arguments)), cuts(steady(&arguments)));
    assert_eq!(first, second);
    assert!(
        impossible(&[&arguments[..], &["--seed", "7"]].concat())
            .contains("was written for other options")
    );
}
