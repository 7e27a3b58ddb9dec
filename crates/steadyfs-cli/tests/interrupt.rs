//! Ctrl-C and SIGTERM: a summary or a line, the exit code of shells, and nothing half written.

#![cfg(unix)]

use crate::common::{Bench, text};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Starts a command, and sends a signal after some milliseconds.
fn interrupted(bench: &Bench, line: &str, after_ms: u64, signal: Signal) -> Output {
    let child: Child = Command::new(env!("CARGO_BIN_EXE_steady"))
        .args(line.split_whitespace())
        .current_dir(bench.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(after_ms));
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn torture_prints_what_it_did_and_keeps_it() {
    let bench = Bench::new("interrupt-torture");
    let line = "torture --geometry small --cuts 100000000 --resume state.json --json -";
    let first = interrupted(&bench, line, 3000, Signal::INT);
    assert_eq!(first.status.code(), Some(130), "{}", text(&first.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&first.stdout).expect("whole JSON");
    assert!(summary["cuts"].as_u64().unwrap() > 0, "{summary}");
    assert!(text(&first.stderr).contains("the same command goes on"));
    // The second run repeats the workloads that the first did not finish. A busy machine needs
    // its time.
    let second = interrupted(&bench, line, 12_000, Signal::TERM);
    assert_eq!(second.status.code(), Some(143), "{}", text(&second.stderr));
    let more: serde_json::Value = serde_json::from_slice(&second.stdout).expect("whole JSON");
    assert!(more["cuts"].as_u64() > summary["cuts"].as_u64(), "{more}");
}

#[test]
fn others_say_that_they_were_not_finished_and_write_nothing() {
    let bench = Bench::new("interrupt-others");
    for line in [
        "evaluate --accesses 5000000 --json out.json",
        "life --endurance 100000 --json out.json",
        "bench --json out.json",
        "costs --json out.json",
    ] {
        let output = interrupted(&bench, line, 1500, Signal::INT);
        assert_eq!(output.status.code(), Some(130), "{line}: {}", text(&output.stderr));
        let said = text(&output.stderr).lines().last().unwrap_or_default().to_string();
        assert!(
            said.starts_with("interrupted") && said.ends_with("the command was not finished"),
            "{line}: {said}"
        );
        assert!(output.stdout.is_empty() && !bench.path("out.json").exists(), "{line}");
    }
}
