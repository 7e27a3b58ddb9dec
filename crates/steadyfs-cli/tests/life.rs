//! `steady life` as its users run it.

use std::process::{Command, Output};

fn steady(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steady")).args(arguments).output().unwrap()
}

#[test]
fn a_life_is_told_as_a_table_and_as_json() {
    let short = ["life", "--blocks", "64", "--pages", "16", "--endurance", "40", "--spread", "5", "--program-failures", "20"];
    let table = steady(&short);
    let table = String::from_utf8(table.stdout).unwrap();
    for fact in ["End", "Erases used", "Fill held", "Ring", "Bad blocks", "Scrubs", "Written", "Lost            nothing of"] {
        assert!(table.lines().any(|line| line.starts_with(fact)), "{fact}: {table}");
    }
    let output = steady(&[&short[..], &["--json", "-"]].concat());
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let life: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&life["workload"], &life["endurance"], &life["audit"]["lost_bytes"]), (&"log".into(), &40.into(), &0.into()));
    assert!(life["erases_percent"].as_f64() > Some(60.0) && life["bad_blocks"].as_u64() > Some(0), "{life}");
}

#[test]
fn nor_chips_end_with_code_1_and_one_sentence() {
    let output = steady(&["life", "--device", "w25q128jv"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: w25q128jv: is NOR; this command takes raw NAND: mt29f1g01abafd, w25n01gv, gd5f1gq5, mt29f2g08abaea, k9f1208u0\n"
    );
}
