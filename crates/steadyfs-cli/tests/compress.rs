//! `steady compress`, and directories with a rule for the compression of their files, in every
//! command that writes.

use crate::common::{Bench, noise, text, tree};
use serde_json::Value;

/// Makes text and noise of some pages, and a small file.
fn fill(bench: &Bench) {
    bench.write("from/logs/text", &b"21.5 degrees at the valve\n".repeat(3000));
    bench.write("from/logs/noise", &noise(60_000));
    bench.write("from/logs/small", b"21.5 degrees");
    bench.write("from/text", &b"the same again ".repeat(5000));
}

fn method(bench: &Bench, image: &str, path: &str) -> Option<String> {
    let stat = bench.json(&format!("stat {image} {path} --json"));
    stat["compressed"]["method"].as_str().map(String::from)
}

/// Returns everything that must stay when a file is written anew.
fn facts(bench: &Bench, image: &str, path: &str) -> Vec<Value> {
    let stat = bench.json(&format!("stat {image} {path} --json"));
    ["size", "modified_ns", "permissions", "attributes", "parent"]
        .map(|name| stat[name].clone())
        .to_vec()
}

#[test]
fn what_is_written_below_a_directory_follows_it() {
    let bench = Bench::new("compress");
    fill(&bench);
    bench.ok("format i.img --device nand.toml --compress lz4");
    bench.ok("mkdir i.img a a/b");
    bench.ok("mkdir -p i.img c/d");
    bench.ok("put -r i.img from /a/b");
    bench.ok("put i.img from/text /c/d");
    let all = ["a/b/from/text", "a/b/from/logs/text", "c/d/text"];
    for path in all {
        assert_eq!(method(&bench, "i.img", path).as_deref(), Some("lz4"), "{path}");
    }
    assert_eq!(method(&bench, "i.img", "a/b/from/logs/small"), None);
    let rule = bench.ok("stat i.img a/b/from/logs");
    assert!(rule.contains("Attribute steadyfs.compress = lz4"), "{rule}");
    bench.ok("compress i.img a none");
    bench.ok("put i.img from/text /a/b/plain");
    assert_eq!(method(&bench, "i.img", "a/b/plain"), None);
    assert_eq!(
        method(&bench, "i.img", all[0]).as_deref(),
        Some("lz4"),
        "what is there stays as it is"
    );
    bench.ok("put i.img from/text /c/again");
    assert_eq!(method(&bench, "i.img", "c/again").as_deref(), Some("lz4"));
    bench.ok("check i.img");
}

#[test]
fn files_that_are_there_are_written_anew_with_all_that_they_have() {
    let bench = Bench::new("compress-files");
    fill(&bench);
    bench.ok("pack from i.img --device nand.toml --mtime files");
    let paths = ["text", "logs/text", "logs/noise", "logs/small"];
    let before: Vec<_> = paths.iter().map(|path| facts(&bench, "i.img", path)).collect();
    let used = || bench.json("df i.img --json")["used_bytes"].as_u64().expect("bytes");
    let plain = used();
    for (line, expected) in
        [("lz4/4KiB", Some("lz4")), ("zstd:19/64KiB", Some("zstd")), ("none", None)]
    {
        let told = bench.ok(&format!("compress i.img / {line} --files"));
        let compressed = if expected.is_some() { "2" } else { "0" };
        assert!(
            told.lines().any(|line| line.starts_with("Compressed") && line.ends_with(compressed)),
            "{told}"
        );
        assert_eq!(method(&bench, "i.img", "logs/text").as_deref(), expected, "{line}");
        assert_eq!(method(&bench, "i.img", "logs/noise"), None, "{line}");
        let now: Vec<_> = paths.iter().map(|path| facts(&bench, "i.img", path)).collect();
        assert_eq!(now, before, "{line}");
        let out = format!("out-{}", line.replace(['/', ':'], "-"));
        bench.ok(&format!("unpack i.img {out}"));
        assert_eq!(tree(&bench.path("from")), tree(&bench.path(&out)), "{line}");
        bench.ok("check i.img");
        if expected.is_some() {
            assert!(used() * 2 < plain, "{line}: {} of {plain} bytes", used());
        }
    }
}

#[test]
fn what_says_nothing_is_named() {
    let bench = Bench::new("compress-wrong");
    fill(&bench);
    bench.ok("pack from i.img --device nand.toml");
    for (line, told) in [
        ("/ rar", "expected lz4, deflate, zstd"),
        ("/ lz4/5KiB", "4KiB, 8KiB"),
        ("/ zstd:99", "from 1 to 22"),
    ] {
        let output = bench.run(&format!("compress i.img {line}"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(told), "{line}: {}", text(&output.stderr));
    }
    assert!(bench.fails("compress i.img text lz4").contains("expected a directory"));
    assert!(bench.fails("compress i.img nowhere lz4").contains("no such file or directory"));
    assert!(!bench.ok("stat i.img /").contains("Attribute"));
}

#[test]
fn directories_that_say_something_else_keep_it() {
    let bench = Bench::new("compress-exceptions");
    bench.ok("format i.img --device nand.toml --compress lz4");
    bench.ok("mkdir i.img a a/b a/b/c d d/e");
    bench.ok("compress i.img a/b none");
    bench.ok("compress i.img / zstd:9/4096");
    let said = |path: &str| {
        bench.ok(&format!("stat i.img {path}")).lines().last().map(String::from).unwrap()
    };
    for (path, rule) in
        [("a", "zstd:9/4KiB"), ("a/b", "none"), ("a/b/c", "none"), ("d/e", "zstd:9/4KiB")]
    {
        assert_eq!(said(path), format!("Attribute steadyfs.compress = {rule}"), "{path}");
    }
}

#[test]
fn a_file_that_is_too_large_to_be_compressed_stays_plain() {
    let bench = Bench::new("compress-large");
    let room = |image: &str| {
        bench.json(&format!("df {image} --json"))["available_bytes"].as_u64().expect("bytes")
    };
    bench.ok("format i.img --device nor.toml --compress lz4/64KiB");
    let large = b"the same again and again ".repeat(room("i.img") as usize * 9 / 10 / 25);
    bench.write("large", &large);
    bench.ok("put i.img large /");
    bench.ok("get i.img large back");
    assert!(bench.read("back") == large);
    bench.ok("compress i.img / lz4 --files");
    bench.ok("check i.img");
}
