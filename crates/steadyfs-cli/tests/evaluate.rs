//! `steady evaluate` as its users run it, on a chip of their own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A chip of one MiB with 512-byte pages, in a file of its own.
fn small_device(directory: &std::path::Path) -> String {
    let profile = include_str!("../../steadyfs-sim/profiles/mt29f1g01abafd.toml");
    let (figures, _sources) = profile.split_once("[sources]").unwrap();
    let small = figures
        .replace("mt29f1g01abafd", "small")
        .replace("page_bytes = 2048", "page_bytes = 512")
        .replace("pages_per_block = 64", "pages_per_block = 32")
        .replace("block_count = 1024", "block_count = 64");
    let path = directory.join("small.toml");
    fs::write(&path, small).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn evaluate_runs_end_to_end_on_a_chip_from_a_file() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("evaluate");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_string();
    let device = small_device(&directory);
    let (trace, html) = (path("run.csv"), path("run.html"));
    let arguments = ["--accesses", "300", "--write", "1KiB", "--json", "-", "--trace", &trace, "--report", &html];
    let output =
        Command::new(env!("CARGO_BIN_EXE_steady")).args(["evaluate", "--device", &device]).args(arguments).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["device"], &json["fill"], &json["accesses"]), (&"small".into(), &0.8.into(), &300.into()));
    assert!(json["max_us"].as_f64() <= json["bound_us"].as_f64() && json["max_us"].as_f64() > Some(0.0));
    assert_eq!(
        fs::read_to_string(trace).unwrap().lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count(),
        300
    );
    let page = fs::read_to_string(html).unwrap();
    assert!(page.contains(": the bound held.</h1>") && page.contains("\"longest: "), "one sentence first, and named levels");
}

#[test]
fn idle_time_is_reported_beside_the_run_without() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("evaluate-idle");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let device = small_device(&directory);
    let html = directory.join("idle.html").to_str().unwrap().to_string();
    let arguments = ["--accesses", "300", "--write", "1KiB", "--fill", "50%", "--idle", "50ms", "--burst", "16KiB"];
    let output = Command::new(env!("CARGO_BIN_EXE_steady"))
        .args(["evaluate", "--device", &device, "--json", "-", "--report", &html])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let idle = &json["idle"];
    assert_eq!((&idle["idle_us"], &idle["burst_bytes"], &idle["bursts"]), (&50e3.into(), &16_384.into(), &19.into()));
    assert_eq!((&idle["accesses_with_moves"], &idle["accesses_with_erases"]), (&0.into(), &0.into()), "{json}");
    assert!(json["max_us"].as_f64() < idle["without"]["max_us"].as_f64(), "{json}");
    assert!(idle["longest_us"].as_f64() <= idle["idle_us"].as_f64(), "{json}");
    assert!(fs::read_to_string(html).unwrap().contains("50.000 ms idle before each 16 KiB"));
}

#[test]
fn burst_without_idle_time_is_wrong_usage() {
    let output = Command::new(env!("CARGO_BIN_EXE_steady")).args(["evaluate", "--burst", "4KiB"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--idle"));
}

#[test]
fn unknown_device_is_refused_in_one_sentence() {
    let output = Command::new(env!("CARGO_BIN_EXE_steady")).args(["evaluate", "--device", "mt29"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: ") && error.contains("`mt29`") && error.lines().count() == 1, "{error}");
}
