//! Volumes that have lost a page that says where others are: every command tells, and `check --repair` accepts it.

use crate::common::{Bench, content, text};
use serde_json::Value;

const LOST: &str = "the newest journal page cannot be read: small changes of the last commits are missing";

/// An image with a few files, whose newest journal page is lost.
fn damaged(name: &str) -> Bench {
    let bench = Bench::new(name);
    bench.write("from/file", &content(1, 50_000));
    // So many that what was said of the first one is in the journal no more.
    (0..80).for_each(|number| bench.write(&format!("from/later {number}"), &content(number, 200)));
    bench.ok("pack from i.img --device nand.toml");
    bench.write("more", &content(2, 3000));
    bench.ok("put i.img more /");
    let page = bench.json("dump i.img --json")["journal"]["page"].as_u64().expect("a journal page");
    bench.damage_page("i.img", page);
    bench
}

#[test]
fn commands_that_read_go_past_what_is_lost_and_warn() {
    let bench = damaged("damage-reads");
    let before = bench.read("i.img");
    for line in ["ls i.img", "tree i.img", "stat i.img", "cat i.img file", "get i.img file back", "dump i.img"] {
        let output = bench.run(line);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {told}");
        let expected =
            format!("warning: i.img: {LOST}; the volume can only be read until `steady check --repair` accepts that\n");
        assert_eq!(told, expected, "{line}");
    }
    assert_eq!(bench.read("back"), content(1, 50_000));
    assert!(bench.read("i.img") == before);
}

#[test]
fn df_health_dump_and_check_tell_what_is_lost_as_text_and_json() {
    let bench = damaged("damage-tells");
    assert!(bench.ok("df i.img").contains(&format!("{LOST}\n")));
    assert_eq!(bench.json("df i.img --json")["damage"], "journal");
    let output = bench.run("dump i.img --json");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["root"]["damage"], "journal");
    let output = bench.run("health i.img");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains(&format!("damaged: {LOST}")), "{}", text(&output.stdout));
    assert!(text(&output.stderr).starts_with(&format!("error: i.img: {LOST}; ")), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&bench.run("health i.img --json -").stdout).unwrap();
    assert_eq!(json["damage"], "journal");
    let output = bench.run("check i.img");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with(&format!("{LOST}; the volume can only be read until")), "{}", text(&output.stdout));
    let json: Value = serde_json::from_slice(&bench.run("check i.img --json").stdout).unwrap();
    assert_eq!((&json["damage"], &json["repaired"]), (&"journal".into(), &false.into()));
}

#[test]
fn changes_are_refused_until_a_repair_accepts_the_loss() {
    let bench = damaged("damage-repair");
    let output = bench.run("mkdir i.img new");
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.ends_with("; the volume can only be read until `steady check --repair` accepts that\n"), "{told}");
    let output = bench.run("check i.img --repair --json");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["damage"], &json["repaired"]), (&"journal".into(), &true.into()));
    assert_eq!(output.status.code(), Some(1), "something was found");
    bench.ok("mkdir i.img new");
    assert!(bench.ok("ls i.img").contains("new/"));
    assert_eq!(bench.json("df i.img --json")["damage"], Value::Null);
    bench.ok("get i.img file back");
    assert_eq!(bench.read("back"), content(1, 50_000));
}
