//! Volumes that lost a page with the places of others.
//!
//! Every command reports the loss, and `check --repair` accepts it.

use crate::common::{Bench, content, text};
use serde_json::Value;

const LOST: &str = "the newest journal page cannot be read: its small changes are missing; with \
                    few files, these may be all changes since the format";

/// Damages the newest journal page, and the copy that a clean end leaves.
fn lose_newest_journal_page(bench: &Bench) {
    let journal = bench.json("dump i.img --json")["journal"].clone();
    for place in ["page", "copy"] {
        bench.damage_page("i.img", journal[place].as_u64().expect("a journal page"));
    }
}

/// Makes an image with a few files, and damages its newest journal page.
fn damaged(name: &str) -> Bench {
    let bench = Bench::new(name);
    bench.write("from/file", &content(1, 50_000));
    // So many files that the journal no longer has the changes of the first one.
    (0..80).for_each(|number| bench.write(&format!("from/later {number}"), &content(number, 200)));
    bench.ok("pack from i.img --device nand.toml");
    bench.write("more", &content(2, 3000));
    bench.ok("put i.img more /");
    lose_newest_journal_page(&bench);
    bench
}

#[test]
fn commands_that_read_go_past_what_is_lost_and_warn() {
    let bench = damaged("damage-reads");
    let before = bench.read("i.img");
    for line in [
        "ls i.img",
        "tree i.img",
        "stat i.img",
        "cat i.img file",
        "get i.img file back",
        "dump i.img",
    ] {
        let output = bench.run(line);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {told}");
        let expected = format!(
            "warning: i.img: {LOST}; the volume is read-only until `steady check --repair` accepts \
             the loss\n"
        );
        assert_eq!(told, expected, "{line}");
    }
    assert_eq!(bench.read("back"), content(1, 50_000));
    assert!(bench.read("i.img") == before);
}

#[test]
fn df_health_dump_and_check_tell_what_is_lost_as_text_and_json() {
    let bench = damaged("damage-tells");
    // A long line is broken at its spaces.
    let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = joined(bench.ok("df i.img"));
    assert!(told.contains(LOST), "{told}");
    assert_eq!(bench.json("df i.img --json")["damage"], "journal");
    let output = bench.run("dump i.img --json");
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["root"]["damage"],
        "journal"
    );
    let output = bench.run("health i.img");
    assert_eq!(output.status.code(), Some(1));
    let told = joined(text(&output.stdout));
    assert!(told.contains(&format!("damaged: {LOST}")), "{told}");
    assert!(
        text(&output.stderr).starts_with(&format!("error: i.img: {LOST}; ")),
        "{}",
        text(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&bench.run("health i.img --json -").stdout).unwrap();
    assert_eq!(json["damage"], "journal");
    let output = bench.run("check i.img");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).starts_with(&format!("{LOST}; the volume is read-only until")),
        "{}",
        text(&output.stdout)
    );
    let json: Value = serde_json::from_slice(&bench.run("check i.img --json").stdout).unwrap();
    assert_eq!((&json["damage"], &json["repaired"]), (&"journal".into(), &false.into()));
}

#[test]
fn changes_are_refused_until_a_repair_accepts_the_loss() {
    let bench = damaged("damage-repair");
    let output = bench.run("mkdir i.img new");
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(
        told.ends_with(
            "; the volume is read-only until `steady check --repair` accepts the loss\n"
        ),
        "{told}"
    );
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

/// These commands ended with 0, and had copied nothing.
#[test]
fn what_copies_everything_ends_with_1_where_files_may_be_missing() {
    let bench = Bench::new("damage-copies");
    bench.write("from/file", b"some bytes");
    bench.ok("pack from i.img --device nand.toml");
    lose_newest_journal_page(&bench);
    for line in [
        "unpack i.img out",
        "get -r i.img / back",
        "unpack i.img kept --keep-going",
        "convert i.img i.sqfs",
    ] {
        let output = bench.run(line);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {told}");
        assert!(told.starts_with(&format!("warning: i.img: {LOST}")), "{line}: {told}");
        assert!(told.lines().any(|line| line.starts_with("error: ")), "{line}: {told}");
    }
}

#[test]
fn what_cannot_be_read_can_be_left_out() {
    let bench = Bench::new("damage-keeps-going");
    let needle = b"a needle in a page of its own";
    let mut bytes = content(1, 4096);
    bytes[700..700 + needle.len()].copy_from_slice(needle);
    bench.write("from/d/lost", &bytes);
    bench.write("from/d/kept", &content(2, 4096));
    bench.write("from/small", b"small");
    bench.ok("pack from i.img --device nand.toml");
    bench.damage("i.img", needle);
    for (line, place) in
        [("unpack i.img all --keep-going", "all/d"), ("get -r i.img d some --keep-going", "some")]
    {
        let output = bench.run(line);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {told}");
        let expected = "left out: i.img:/d/lost: the data read is not the written data";
        assert!(told.contains(expected), "{line}: {told}");
        assert!(
            told.ends_with("error: i.img: 1 file or directory cannot be read and was left out\n"),
            "{line}: {told}"
        );
        assert_eq!(bench.read(&format!("{place}/kept")), content(2, 4096));
        assert!(!bench.path(&format!("{place}/lost")).exists());
    }
    assert!(!bench.run("unpack i.img nothing").status.success() && !bench.path("nothing").exists());
}

/// A line for each leaked page hid the important finding above them. No line said that a repair
/// frees these pages.
#[test]
fn many_pages_of_lost_files_are_a_line_and_a_repair_that_frees_them_is_told_before() {
    let bench = Bench::new("damage-table");
    bench.write("from/a-name-to-find", &content(1, 60_000));
    (0..80).for_each(|number| bench.write(&format!("from/later {number}"), &content(number, 200)));
    bench.ok("pack from i.img --device nand.toml");
    let (mut bytes, needle) = (bench.read("i.img"), b"a-name-to-find");
    let places: Vec<usize> =
        (0..bytes.len() - needle.len()).filter(|&at| bytes[at..].starts_with(needle)).collect();
    places.into_iter().for_each(|at| bytes[at] ^= 1);
    bench.write("i.img", &bytes);

    let told = text(&bench.run("check i.img").stdout);
    let (table, pages) = (
        ", a table of the file system, cannot be read\n",
        " logical pages are taken, or hold something, and belong to no file: ",
    );
    assert!(told.contains(table) && told.contains(pages) && told.lines().count() < 10, "{told}");
    assert!(
        told.contains("--repair frees the ") && told.contains(" pages that belong to no file; "),
        "{told}"
    );
    let json: Value = serde_json::from_slice(&bench.run("check i.img --json").stdout).unwrap();
    assert!(json["findings"].as_array().unwrap().len() > 30, "JSON has each: {json}");
    let told = text(&bench.run("check i.img --repair").stdout);
    assert!(told.contains("pages given back") && !told.contains("--repair frees"), "{told}");
    assert!(bench.ok("check i.img").ends_with(": sound\n"));
}
