//! Runs `steady life` as users do.

use std::process::{Command, Output};

fn steady(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steady")).args(arguments).output().unwrap()
}

#[test]
fn a_life_is_told_as_a_table_and_as_json() {
    let short = [
        "life",
        "--blocks",
        "64",
        "--pages",
        "16",
        "--endurance",
        "40",
        "--spread",
        "5",
        "--program-failures",
        "20",
    ];
    let table = steady(&short);
    let table = String::from_utf8(table.stdout).unwrap();
    for fact in [
        "End",
        "Erases used",
        "Fill held",
        "Ring",
        "First bad block",
        "Bad blocks",
        "Scrubs",
        "Written",
        "Lost            nothing of",
    ] {
        assert!(table.lines().any(|line| line.starts_with(fact)), "{fact}: {table}");
    }
    let output = steady(&[&short[..], &["--json", "-"]].concat());
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(0), "")
    );
    let life: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&life["workload"], &life["endurance"], &life["audit"]["lost_bytes"]),
        (&"log".into(), &40.into(), &0.into())
    );
    assert!(
        life["erases_percent"].as_f64() > Some(60.0) && life["bad_blocks"].as_u64() > Some(0),
        "{life}"
    );
}

#[test]
fn a_life_is_shown_in_a_page_and_in_figures() {
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("life");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let (page, figures) = (directory.join("life.html"), directory.join("figures"));
    let outputs = ["--report", page.to_str().unwrap(), "--svg", figures.to_str().unwrap()];
    let output = steady(
        &[&["life", "--blocks", "32", "--pages", "16", "--endurance", "40"][..], &outputs].concat(),
    );
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(0), "")
    );
    let page = std::fs::read_to_string(page).unwrap();
    for text in [
        "Erases of each block",
        "Evenness of the wear",
        "Bad blocks",
        "First bad block",
        "read back.",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for name in ["blocks", "erases", "evenness", "bad-blocks"] {
        assert!(
            std::fs::read_to_string(figures.join(format!("{name}.svg")))
                .unwrap()
                .starts_with("<svg"),
            "{name}"
        );
    }
}

#[test]
fn nor_chips_are_wrong_usage_and_nand_is_named() {
    let output = steady(&["life", "--device", "w25q128jv"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    let expected = "w25q128jv: is NOR; this command takes raw NAND: mt29f1g01abafd, w25n01gv, \
                    gd5f1gq5, mt29f2g08abaea, k9f1208u0\n";
    assert!(error.contains(expected), "{error}");
}
