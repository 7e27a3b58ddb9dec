//! Commands on images are killed or interrupted at any moment. After one more command, no
//! leftover exists.

#![cfg(unix)]

use crate::common::{Bench, content, text, tree};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Number of moments at which each command is killed, and interrupted. `STEADY_MOMENTS` sets
/// another number.
fn moments() -> u32 {
    std::env::var("STEADY_MOMENTS").ok().map_or(12, |text| text.parse().expect("a number"))
}

/// Random moments, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: Duration) -> Duration {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        limit.mul_f64((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// A command that is stopped, and the command after it.
struct Case {
    name: &'static str,
    line: &'static str,
    then: &'static str,
}

const CASES: [Case; 8] = [
    Case { name: "put", line: "put -r i.img new /", then: "mkdir -p i.img then" },
    Case { name: "put-over", line: "put -r i.img old /", then: "rm i.img nothing" },
    Case { name: "mv", line: "mv i.img old/a old/b", then: "mkdir -p i.img then" },
    Case { name: "rm", line: "rm -r i.img old", then: "put i.img nand.toml /" },
    Case { name: "get", line: "get i.img old/a a", then: "get --force i.img old/a a" },
    Case { name: "get-r", line: "get -r i.img old out", then: "get -r i.img old out" },
    Case { name: "unpack", line: "unpack i.img out", then: "unpack i.img out" },
    Case {
        name: "pack",
        line: "pack new n.img --device nand.toml",
        then: "pack new n.img --device nand.toml --force",
    },
];

fn prepared(name: &str) -> Bench {
    let bench = Bench::new(&format!("leftovers-{name}"));
    for index in 0..12 {
        bench.write(&format!("new/file-{index}"), &content(index, 9000 + 1700 * index));
    }
    bench.write("old/a", &content(20, 90_000));
    bench.write("old/b", &content(21, 50_000));
    for index in 0..20 {
        bench.write(&format!("old/deep/er/{index}"), &content(30 + index, 100 * index));
    }
    bench.ok("format fresh.img --device nand.toml");
    bench.ok("put -r fresh.img old /");
    bench
}

/// Starts a command, and stops it after a time.
fn stop(bench: &Bench, line: &str, after: Duration, signal: Signal) {
    let mut command = bench.command(line);
    let mut child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let _ = kill_process(Pid::from_child(&child), signal);
    child.wait().unwrap();
}

/// Removes the files that the host got under the requested name. Returns true if they were
/// complete; `None` if there were none.
fn got(bench: &Bench, case: &Case) -> Option<bool> {
    let (name, below) = match case.name {
        "get" => {
            let bytes = fs::read(bench.path("a")).ok()?;
            fs::remove_file(bench.path("a")).unwrap();
            return Some(bytes == content(20, 90_000));
        }
        "get-r" => ("out", "out"),
        "unpack" => ("out", "out/old"),
        _ => return None,
    };
    let is_whole =
        bench.path(name).exists().then(|| tree(&bench.path(below)) == tree(&bench.path("old")))?;
    fs::remove_dir_all(bench.path(name)).unwrap();
    Some(is_whole)
}

/// Checks the host and a volume at the end: each file has its old or its new content, and no
/// other.
fn look(bench: &Bench, case: &Case, context: &str) {
    let check = bench.json("check i.img --json");
    assert_eq!(
        (&check["findings"], &check["removed_pages"]),
        (&serde_json::json!([]), &0.into()),
        "{context}: {check}"
    );
    assert!(
        check["interrupted_bytes"].is_null() && check["unsettled"] == false,
        "{context}: {check}"
    );
    bench.ok("unpack i.img shown");
    let is_shown =
        |path: &PathBuf, bytes: &Option<Vec<u8>>, from: &Tree| from.get(path) == Some(bytes);
    let host: Tree = tree(&bench.directory).into_iter().collect();
    let shown = tree(&bench.path("shown"));
    // Only visible files use space: pages of files, and few pages of each directory.
    let df = bench.json("df i.img --json");
    let number = |name: &str| df[name].as_u64().unwrap();
    let page_bytes = number("logical_bytes");
    let pages_of = |(_, bytes): &(PathBuf, Option<Vec<u8>>)| {
        bytes.as_ref().map_or(3, |bytes| bytes.len().div_ceil(page_bytes as usize) as u64)
    };
    let most = 3 + shown.iter().map(pages_of).sum::<u64>();
    assert!(
        number("files") == shown.len() as u64 && number("used_bytes") <= most * page_bytes,
        "{context}: {df}, {} shown",
        shown.len()
    );
    for (path, bytes) in shown {
        let moved = case.name == "mv" && path.ends_with("b");
        let from = if moved && !is_shown(&path, &bytes, &host) {
            PathBuf::from("old/a")
        } else {
            path.clone()
        };
        assert!(path.ends_with("then") || is_shown(&from, &bytes, &host), "{context}: {path:?}");
    }
    let strange: Vec<_> =
        host.keys().filter(|path| path.to_string_lossy().contains("steady-")).collect();
    assert!(strange.is_empty(), "{context}: {strange:?}");
}

fn stop_again_and_again(case: &Case) {
    let bench = prepared(case.name);
    let reset = || {
        for name in ["out", "shown"] {
            let _ = fs::remove_dir_all(bench.path(name));
        }
        for name in ["a", "n.img"] {
            let _ = fs::remove_file(bench.path(name));
        }
        fs::copy(bench.path("fresh.img"), bench.path("i.img")).unwrap();
    };
    reset();
    let start = Instant::now();
    bench.ok(case.line);
    let whole = start.elapsed();
    let mut chance = Chance(7);
    for (signal, name) in [(Signal::KILL, "killed"), (Signal::INT, "interrupted")] {
        let mut removed = 0;
        for _ in 0..moments() {
            reset();
            let after = chance.below(whole.mul_f64(1.2));
            stop(&bench, case.line, after, signal);
            let context = format!("{} {name} after {after:?}", case.name);
            // A file with its final name is complete. The next command makes it once more.
            if let Some(whole) = got(&bench, case) {
                assert!(whole, "{context}");
            }
            let then = bench.run(case.then);
            let said = text(&then.stderr);
            removed += u32::from(said.contains("removed "));
            assert!(then.status.success() || case.name == "put-over", "{context}: {said}");
            look(&bench, case, &context);
        }
        if moments() >= 100 {
            eprintln!(
                "{} {name} at {} moments of {whole:?}: {removed} times something was left and \
                 removed",
                case.name,
                moments()
            );
        }
    }
}

/// Ctrl-C in a `put` of 30 MB left a file `~0` of 24 % of the volume, and a kill left `~1` beside
/// it. Later commands and `check --repair` kept them. `get` and `unpack` left half of a file
/// under its name, and `pack` left a file beside the image.
#[test]
fn nothing_is_left_of_an_interrupted_put() {
    stop_again_and_again(&CASES[0]);
}

#[test]
fn nothing_is_left_of_an_interrupted_put_over_old_files() {
    stop_again_and_again(&CASES[1]);
}

#[test]
fn nothing_is_left_of_an_interrupted_mv() {
    stop_again_and_again(&CASES[2]);
}

#[test]
fn nothing_is_left_of_an_interrupted_rm() {
    stop_again_and_again(&CASES[3]);
}

#[test]
fn nothing_is_left_of_an_interrupted_get() {
    stop_again_and_again(&CASES[4]);
}

#[test]
fn nothing_is_left_of_an_interrupted_get_of_a_directory() {
    stop_again_and_again(&CASES[5]);
}

#[test]
fn nothing_is_left_of_an_interrupted_unpack() {
    stop_again_and_again(&CASES[6]);
}

#[test]
fn nothing_is_left_of_an_interrupted_pack() {
    stop_again_and_again(&CASES[7]);
}

/// Makes the leftovers of a killed `put` on `i.img`: the mark of drafts, and a draft with a
/// content.
fn leave(bench: &Bench, name: &str, number: u8) {
    use steadyfs::{Access, FileSystem, OpenOptions, ROOT};
    let image = steadyfs_host::image::Image::open(bench.path("i.img"), Access::ReadWrite).unwrap();
    let mut memory = vec![0; 1 << 20];
    let mut fs = FileSystem::mount(image, Access::ReadWrite, &mut memory).unwrap();
    let time_ns = 1_700_000_000_123_456_789_u64;
    fs.set_time(time_ns);
    let mark = [&[number][..], &time_ns.to_le_bytes()].concat();
    fs.set_attribute(ROOT, steadyfs_host::plain::DRAFT, Some(&mark)).unwrap();
    let mut file = fs.open(name, OpenOptions::CREATE).unwrap();
    fs.write(&mut file, 0, &content(1, 70_000)).unwrap();
    fs.close(file).unwrap();
    fs.unmount().unwrap();
}

#[test]
fn check_names_what_an_interrupted_put_left_and_repair_removes_it() {
    for (name, number) in [("~steady-put", 0), ("~steady-put3", 3)] {
        let bench = prepared("named");
        fs::copy(bench.path("fresh.img"), bench.path("i.img")).unwrap();
        leave(&bench, name, number);
        let before = bench.ok("check i.img");
        assert!(
            before.contains(&format!("left over: /{name}, 68.4 KiB, of an interrupted `put`")),
            "{before}"
        );
        assert!(!bench.ok("stat i.img /").contains("draft"), "the mark is no attribute of a user");
        let repaired = bench.run("check --repair i.img");
        assert_eq!(
            text(&repaired.stderr),
            format!("i.img: removed /{name}, which an interrupted `put` left\n")
        );
        let after = bench.ok("check i.img");
        assert!(!after.contains("left over") && after.ends_with("sound\n"), "{after}");
        bench.ok("put i.img nand.toml /");
    }
}

/// `pack` and `mv` make a file with the name of a draft. The next `put` deleted it.
#[test]
fn a_file_with_the_name_of_a_draft_is_never_deleted() {
    let bench = prepared("kept");
    bench.write("kept/~steady-put", &content(1, 7000));
    bench.write("kept/~steady-put1", &content(2, 700));
    bench.write("kept/other", &content(3, 70));
    bench.ok("pack kept i.img --device nand.toml");
    let has_all = |bench: &Bench| {
        bench.ok("get i.img ~steady-put back --force");
        assert!(bench.read("back") == content(1, 7000));
        bench.ok("get i.img ~steady-put1 back --force");
        assert!(bench.read("back") == content(2, 700));
        bench.ok("get i.img other back --force");
        assert!(bench.read("back") == content(3, 70));
    };
    for line in [
        "put -r i.img new /",
        "compress i.img / lz4 --files",
        "put i.img kept/other /",
        "rm -r i.img new",
        "check --repair i.img",
    ] {
        bench.ok(line);
        has_all(&bench);
    }
    // The name of a draft is an ordinary name.
    bench.write("~steady-put2", &content(4, 9000));
    bench.ok("put i.img ~steady-put2 kept/~steady-put kept/other /");
    bench.ok("put i.img nand.toml /~steady-put3");
    has_all(&bench);
    bench.ok("mv i.img ~steady-put3 ~steady-put4");
    bench.ok("put i.img nand.toml /");
    assert!(bench.ok("cat i.img ~steady-put4").into_bytes() == bench.read("nand.toml"));
    has_all(&bench);
    assert!(!bench.ok("check i.img").contains("left over"));
}

/// A user writes to the draft of a killed `put`. Another user makes a file of the draft's name
/// while the mark is there.
#[test]
fn what_a_user_made_of_a_draft_is_the_users() {
    use steadyfs::{Access, FileSystem, OpenOptions};
    for is_removed_first in [false, true] {
        let bench = prepared("users");
        fs::copy(bench.path("fresh.img"), bench.path("i.img")).unwrap();
        leave(&bench, "~steady-put", 0);
        let image =
            steadyfs_host::image::Image::open(bench.path("i.img"), Access::ReadWrite).unwrap();
        let mut memory = vec![0; 1 << 20];
        let mut fs = FileSystem::mount(image, Access::ReadWrite, &mut memory).unwrap();
        fs.set_time(1_800_000_000_000_000_000);
        if is_removed_first {
            fs.remove("~steady-put").unwrap();
        }
        let mut file = fs.open("~steady-put", OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, b"mine").unwrap();
        fs.close(file).unwrap();
        fs.unmount().unwrap();
        bench.ok("put i.img nand.toml /");
        bench.ok("put i.img nand.toml /again");
        assert!(bench.ok("ls i.img").contains("~steady-put"));
        let output = bench.run("cat i.img ~steady-put");
        assert!(output.status.success() && output.stdout.starts_with(b"mine"));
    }
}

#[test]
fn a_put_that_finds_no_free_name_says_which_it_needs() {
    let bench = prepared("no-name");
    for name in std::iter::once(String::new()).chain((1..8).map(|number| number.to_string())) {
        bench.write(&format!("kept/~steady-put{name}"), b"kept");
    }
    bench.ok("pack kept i.img --device nand.toml");
    let error = bench.fails("put i.img nand.toml /");
    assert!(
        error.contains(
            "is written under another name first; expected one of /~steady-put to \
             /~steady-put7 free"
        ),
        "{error}"
    );
    assert_eq!(bench.ok("ls i.img").lines().count(), 8);
}

#[test]
fn a_signal_ends_put_with_a_line_and_the_code_of_shells() {
    let bench = prepared("signal");
    bench.write("large", &content(1, 400_000));
    let mut seen = 0;
    for after_us in (500..20_000).step_by(500) {
        fs::copy(bench.path("fresh.img"), bench.path("i.img")).unwrap();
        let child = bench
            .command("put i.img large /")
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(after_us));
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        if output.status.code() == Some(130) && said.contains("% done") {
            seen += 1;
            assert!(
                said.starts_with("interrupted, ")
                    && said.ends_with(": the command was not finished\n"),
                "{said}"
            );
            // The next command has nothing left to do.
            let checked = bench.ok("check i.img");
            assert!(checked.ends_with("sound\n") && bench.ok("ls i.img") == "old/\n", "{checked}");
        }
    }
    assert!(seen > 0, "no signal came while the file was written");
}
