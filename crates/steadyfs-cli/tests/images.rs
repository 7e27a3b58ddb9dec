//! Runs the commands on images as users do, on NAND and on NOR.

use crate::common::{Bench, content, text, tree};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The profiles of small chips.
const DEVICES: [&str; 2] = ["nand.toml", "nor.toml"];

/// Makes a directory with files of all sizes, some in directories. They are more than fit in one
/// transaction.
fn fill(bench: &Bench, name: &str) {
    for index in 0..40 {
        bench.write(&format!("{name}/many/file-{index:02}"), &content(index, index * 150));
    }
    bench.write(&format!("{name}/large.bin"), &content(7, 150_000));
    bench.write(&format!("{name}/a/b/c/deep.txt"), b"deep\n");
    bench.write(&format!("{name}/zeros"), &[0; 100_000]);
    fs::create_dir(bench.path(&format!("{name}/empty"))).unwrap();
}

#[test]
fn files_come_back_as_they_were() {
    for device in DEVICES {
        let bench = Bench::new(&format!("round-{device}"));
        fill(&bench, "from");
        assert!(bench.ok(&format!("format i.img --device {device}")).contains("Usable"));
        assert_eq!(bench.ok("put -r i.img from /"), "");
        assert_eq!(bench.ok("ls i.img"), "from/\n");
        assert_eq!(bench.ok("ls i.img:from"), "a/\nempty/\nlarge.bin\nmany/\nzeros\n");
        assert_eq!(bench.ok("cat i.img from/a/b/c/deep.txt /from/a/b/c/deep.txt"), "deep\ndeep\n");
        bench.ok("get -r i.img from to");
        assert_eq!(tree(&bench.path("from")), tree(&bench.path("to")));
        bench.ok("get i.img from/large.bin .");
        assert_eq!(bench.read("large.bin"), content(7, 150_000));
        assert!(
            bench.ok("check i.img").contains("43 files, 6 directories"),
            "{}",
            bench.ok("check i.img")
        );
        let zeros = bench.json("stat i.img from/zeros --json");
        assert_eq!((&zeros["size"], &zeros["kind"]), (&100_000.into(), &"file".into()));
    }
}

#[test]
fn files_keep_their_times() {
    let bench = Bench::new("times");
    bench.write("old", b"old");
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    fs::File::options().write(true).open(bench.path("old")).unwrap().set_modified(time).unwrap();
    bench.ok("format i.img --device nand.toml");
    bench.ok("put i.img old /");
    assert!(
        bench.ok("ls -l i.img").contains("   3  2020-09-13 12:26:40  old\n"),
        "{}",
        bench.ok("ls -l i.img")
    );
    bench.ok("get i.img old new");
    assert_eq!(fs::metadata(bench.path("new")).unwrap().modified().unwrap(), time);
}

#[test]
fn names_are_made_moved_and_removed() {
    for device in DEVICES {
        let bench = Bench::new(&format!("names-{device}"));
        fill(&bench, "from");
        bench.ok(&format!("format i.img --device {device}"));
        let free = bench.json("df i.img --json")["free_bytes"].clone();
        bench.ok("mkdir i.img a");
        bench.ok("mkdir -p i.img a/b/c a/b");
        bench.ok("put i.img from/large.bin from/zeros a/b");
        bench.ok("put i.img from/zeros a/b/large.bin");
        assert_eq!(bench.json("stat i.img:a/b/large.bin --json")["size"], 100_000);
        bench.ok("mv i.img a/b/zeros a/x");
        bench.ok("mv i.img a/b /");
        let trees = |names: [&str; 2]| names.map(|name| bench.ok(&format!("ls i.img {name}")));
        let before = trees(["a", "b"]);
        bench.ok("mv --exchange i.img a b");
        assert_eq!(trees(["b", "a"]), before);
        bench.ok("mv --exchange i.img a /b");
        assert_eq!(
            bench.ok("tree i.img").lines().collect::<Vec<_>>()[..6],
            ["/", "├── a/", "│   └── x", "└── b/", "    ├── c/", "    └── large.bin",]
        );
        bench.ok("put -r i.img from/many a");
        assert_eq!(bench.json("tree i.img --json").as_array().unwrap().len(), 46);
        bench.ok("rm i.img a/x b/large.bin");
        bench.ok("rm -r i.img a b");
        assert_eq!(
            (bench.ok("ls i.img"), bench.ok("ls -l i.img").lines().count()),
            (String::new(), 2)
        );
        // The first file takes a page of the file table that is never given back.
        let left = bench.json("df i.img --json")["free_bytes"].as_u64().unwrap();
        assert!(free.as_u64().unwrap() - left < 64 * 1024, "{left} of {free} free");
        bench.ok("check i.img");
    }
}

#[test]
fn mistakes_are_answered_with_one_sentence_that_says_where() {
    let bench = Bench::new("mistakes");
    bench.write("f", b"f");
    fs::create_dir(bench.path("d")).unwrap();
    bench.ok("format i.img --device nand.toml");
    bench.ok("put -r i.img f d /");
    for (line, sentence) in [
        ("ls i.img nope", "i.img:/nope: no such file or directory"),
        ("cat i.img d", "i.img:/d: is a directory; expected a file"),
        ("tree i.img f", "i.img:/f: is a file; expected a directory"),
        ("ls i.img f/x", "i.img:/f/x: found a file; expected a directory"),
        ("rm i.img d", "i.img:/d: is a directory; -r removes it with all that it holds"),
        (
            "rm -r i.img /",
            "i.img:/: has no name, so it cannot be removed; expected a file or directory below \
             the root",
        ),
        ("rm i.img f nope", "i.img:/nope: no such file or directory"),
        ("put i.img d /", "d: is a directory; -r takes it with all that it holds"),
        ("put i.img f f nope/", "i.img:/nope: is no directory; expected an existing directory"),
        ("put i.img f nope/f", "i.img:/nope: no such file or directory"),
        ("put i.img none /", "none: No such file or directory (os error 2)"),
        ("put -r i.img d f", "i.img:/f: is a file; expected a directory, or nothing"),
        ("put i.img f i.img:x/", "i.img:/i.img:x: is no directory; expected an existing directory"),
        ("mkdir i.img d", "i.img:/d: a file or directory of this name exists already"),
        (
            "mkdir i.img x/y",
            "i.img:/x/y: lies in no existing directory; -p makes the directories above too",
        ),
        ("mkdir -p i.img f/y", "i.img:/f: is a file; expected a directory, or nothing"),
        ("mv i.img none x", "i.img:/none: no such file or directory"),
        ("mv i.img f x/y", "i.img:/x/y: lies in no directory; expected an existing directory"),
        ("mv i.img d d/e", "i.img:/d: cannot become /d/e: a directory cannot move into itself"),
        ("mv --exchange i.img d d/none", "i.img:/d/none: no such file or directory"),
        ("mv i.img d f", "i.img:/f: found a file; expected a directory"),
        ("get i.img d x", "i.img:/d: is a directory; -r gets it with all that it holds"),
        ("get i.img f f", "f: exists already; --force replaces it"),
        ("get -r i.img d .", "./d: is not empty; expected an empty directory, or none"),
        (
            "ls none.img",
            "none.img: the file cannot be used: No such file or directory (os error 2)",
        ),
        ("ls d", "d: is a directory; expected the image of a chip"),
        (
            "ls i.img --device w25q128jv",
            "i.img: the profile w25q128jv describes a NOR chip; expected NAND, like the image",
        ),
        (
            "pack f x.img --device nand.toml",
            "f: is neither a directory nor an image of squashfs, cramfs, JFFS2, UBIFS or UBI",
        ),
        ("pack d d/x.img --device nand.toml", "d/x.img: lies in d; expected a place outside"),
        (
            "format i.img --device nand.toml",
            "i.img: exists already; --force replaces it, and all that it holds is lost",
        ),
        (
            "format no/x.img --device nand.toml",
            "no/x.img: the file cannot be used: No such file or directory (os error 2)",
        ),
    ] {
        if line == "get -r i.img d ." {
            bench.write("d/in-the-way", b"");
        }
        assert_eq!(bench.fails(line), sentence, "{line}");
    }
    for (line, sentence) in [
        (
            "format x.img",
            "--device is missing; expected the chip that the image is for, see `steady devices`, \
             or --block and --size for a card or disk",
        ),
        (
            "format x.img --device nor.toml --bad-block 3",
            "--bad-block is for NAND; small-nor is NOR, which has no marks of bad blocks",
        ),
        (
            "format x.img --device nand.toml --bad-block 64",
            "--bad-block 64: block 64 does not exist: the chip has 64",
        ),
    ] {
        assert_eq!(bench.contradicts(line), sentence, "{line}");
    }
    assert_eq!(bench.ok("ls i.img"), "d/\nf\n");
    assert!(!bench.path("x.img").exists());
    let left: Vec<_> = tree(&bench.directory)
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().contains("part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn wrong_usage_has_code_2() {
    let bench = Bench::new("usage");
    for line in [
        "ls",
        "put i.img x",
        "format",
        "cat i.img",
        "mv i.img a",
        "pack d",
        "format i.img --files-max many",
        "completions tcl",
    ] {
        let output = bench.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn settings_reach_the_volume() {
    let bench = Bench::new("settings");
    bench.ok("format i.img --device nand.toml --files-max 100 --name-bytes-max 12 \
         --transaction-pages 20 --wear-spread 40 --bad-block 9 --bad-block 63");
    let dump = bench.json("dump i.img --json");
    let superblock = &dump["superblock"];
    for (key, value) in
        [("files_max", 100), ("name_bytes_max", 12), ("transaction_pages", 20), ("wear_spread", 40)]
    {
        assert_eq!(superblock[key], value, "{key}");
    }
    let bad: Vec<_> = dump["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["state"] == "bad")
        .map(|block| block["block"].as_u64())
        .collect();
    assert_eq!(bad, [Some(9), Some(63)]);
    bench.write("a-name-that-is-too-long", b"");
    assert_eq!(
        bench.fails("put i.img a-name-that-is-too-long /"),
        "i.img:/a-name-that-is-too-long: the name is longer than the volume allows: 12 bytes"
    );
    let error = bench.contradicts("format j.img --device nand.toml --overlay-entries 8");
    assert!(
        error.starts_with("these settings do not fit the chip: ") && !bench.path("j.img").exists(),
        "{error}"
    );
    bench.ok("format k.img --device nor.toml --page-bytes 256");
    assert_eq!(bench.json("dump k.img --json")["superblock"]["page_bytes"], 256);
}

#[test]
fn dump_tells_the_blocks_as_text_and_json() {
    for device in DEVICES {
        let bench = Bench::new(&format!("dump-{device}"));
        fill(&bench, "from");
        bench.ok(&format!("pack from i.img --device {device}"));
        let dump = bench.json("dump i.img --json");
        assert_eq!(dump["blocks"].as_array().unwrap().len(), 64);
        let live: u64 = dump["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["live"].as_u64().unwrap())
            .sum();
        let used = bench.json("df i.img --json");
        // A page of a few bytes may exist only in the journal's buffer.
        let in_journal = dump["journal"]["bytes"].as_u64().unwrap() / 50;
        let pages = used["used_bytes"].as_u64().unwrap() / used["logical_bytes"].as_u64().unwrap();
        assert!(
            live + in_journal >= pages && pages > 2 * in_journal,
            "{live} live, {pages} used, {in_journal} in the journal"
        );
        assert!(dump["journal"]["page"].is_u64() && dump["root"]["sequence"].as_u64() > Some(100));
        assert!(
            dump["root"]["ring_blocks"].as_u64() >= Some(7) && dump["root"]["damage"].is_null(),
            "{dump}"
        );
        let text = bench.ok("dump i.img");
        for part in [
            "Superblock\n",
            "Next sequence",
            "in a ring of",
            "Journal",
            "Blocks",
            "reserved",
            "used",
            "listed",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn a_file_that_does_not_fit_leaves_the_old_one() {
    for device in DEVICES {
        let bench = Bench::new(&format!("full-{device}"));
        bench.ok(&format!("format i.img --device {device}"));
        bench.write("f", &content(1, 200_000));
        bench.ok("put i.img f /");
        let before = bench.json("df i.img --json");
        bench.write("f", &content(2, 1_500_000));
        let error = bench.fails("put i.img f /");
        let wanted = "i.img:/f: no room left on the volume: the file has 1.4 MiB, and ";
        assert!(error.starts_with(wanted) && error.ends_with(" are free"), "{error}");
        // The volume is unmounted after a failure too, and has the same room as before.
        assert_eq!(bench.ok("ls i.img"), "f\n");
        bench.ok("get i.img f back");
        assert_eq!(bench.read("back"), content(1, 200_000));
        let checked = bench.ok("check i.img");
        assert!(
            checked.starts_with("1 file, 0 directories, ") && checked.ends_with(" pages: sound\n"),
            "{checked}"
        );
        assert_eq!(bench.json("df i.img --json")["used_bytes"], before["used_bytes"]);
        // A failed pack leaves nothing. An image that existed before stays.
        bench.write("dir/f", &content(2, 1_500_000));
        let old = bench.read("i.img");
        bench.fails(&format!("pack dir i.img --force --device {device}"));
        bench.fails(&format!("pack dir j.img --device {device}"));
        assert!(bench.read("i.img") == old && !bench.path("j.img").exists());
    }
}

/// After a `put` that had failed for lack of space, the volume "was not unmounted". `check`
/// counted 3,190 pages of no file.
#[test]
fn a_put_that_fails_for_room_leaves_a_sound_volume_of_what_went_in() {
    let chips = [
        "--device nand.toml",
        "--device nor.toml",
        "--device nand.toml --files-max 12",
        "--block --size 64MiB --unit 512KiB --files-max 40",
    ];
    for (index, chip) in chips.iter().enumerate() {
        let bench = Bench::new(&format!("no-room-{index}"));
        // Files, directories and names of all lengths, then a file that is too large for every
        // volume.
        for file in 0..30 {
            let name = format!("from/d{}/{file}{}", file % 3, "x".repeat(file * 7 % 90));
            bench.write(&name, &content(file, file * file * 60));
        }
        bench.write("zhuge", &content(7, 60 << 20));
        bench.ok(&format!("format i.img {chip}"));
        for round in 0..3 {
            for line in ["put -r i.img from /", "put i.img zhuge /", "put i.img zhuge /from/d0/0"] {
                let output = bench.run(line);
                let said = text(&output.stderr);
                let is_full = said.contains("no room left") || said.contains("as many files as");
                assert!(
                    output.status.success() || (is_full && said.lines().count() == 1),
                    "{chip}, {line}: {said}"
                );
                // No command reports that the volume was not unmounted. The volume contains only
                // what `tree` lists.
                let (check, listed) = (bench.json("check i.img --json"), bench.ok("tree i.img"));
                assert_eq!(
                    (&check["findings"], &check["removed_pages"]),
                    (&serde_json::json!([]), &0.into()),
                    "{chip}, {line}"
                );
                let last = listed.lines().last().unwrap();
                let count = |what: &str| {
                    last.split(", ")
                        .find(|part| part.contains(what))
                        .unwrap()
                        .split(' ')
                        .next()
                        .unwrap()
                };
                assert_eq!(
                    check["files"].to_string(),
                    count("file"),
                    "{chip}, {line}, {round}: {last}"
                );
                assert_eq!(
                    check["directories"].to_string(),
                    count("director"),
                    "{chip}, {line}, {round}: {last}"
                );
                let df = bench.json("df i.img --json");
                let used = df["used_bytes"].as_u64().unwrap();
                let page =
                    bench.json("dump i.img --json")["logical_bytes"].as_u64().unwrap_or(4096);
                // Beside the pages of files and directories, the file table takes pages: 256
                // bytes for each of them and for each long name.
                let table = (df["files"].as_u64().unwrap() * 256).div_ceil(page);
                assert!(
                    used <= (check["pages"].as_u64().unwrap() + table) * page,
                    "{chip}, {line}: {used} {check}"
                );
            }
        }
        bench.ok("rm -r i.img from");
        let check = bench.json("check i.img --json");
        assert_eq!(
            (&check["files"], &check["directories"]),
            (&0.into(), &0.into()),
            "{chip}: {check}"
        );
    }
}

#[test]
fn a_command_that_is_killed_leaves_whole_files() {
    // The room is enough for all files and for the leftovers of a killed command.
    for device in DEVICES {
        let bench = Bench::new(&format!("killed-{device}"));
        for index in 0..60 {
            bench.write(&format!("from/file-{index:02}"), &content(index, 3000 + index * 80));
        }
        for delay_us in [500, 1000, 2000, 3000, 5000, 8000] {
            bench.ok(&format!("format i.img --force --device {device}"));
            let mut child = bench.command("put -r i.img from /").spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_micros(delay_us));
            let _ = child.kill();
            child.wait().unwrap();
            let _ = fs::remove_dir_all(bench.path("out"));
            bench.ok("check i.img");
            bench.ok_unsettled("unpack i.img out");
            for (path, bytes) in tree(&bench.path("out")) {
                let (name, bytes) =
                    (path.to_string_lossy().into_owned(), bytes.unwrap_or_default());
                if let Some(index) = name.strip_prefix("from/file-") {
                    let index: usize = index.parse().unwrap();
                    assert!(
                        bytes == content(index, 3000 + index * 80),
                        "{name} after {delay_us} µs"
                    );
                }
            }
            let again = bench.run("put -r i.img from /");
            let said = text(&again.stderr);
            let is_left = said == "i.img: removed /~steady-put, which an interrupted `put` left\n";
            assert!(again.status.success() && (said.is_empty() || is_left), "{said}");
            assert!(
                bench.ok("ls i.img from").lines().filter(|name| name.starts_with("file-")).count()
                    == 60
            );
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn devices_that_are_no_chips_are_named() {
    let bench = Bench::new("devices");
    for line in
        ["ls /dev/null", "format /dev/null --force", "format /dev/null --force --device nand.toml"]
    {
        let error = bench.fails(line);
        assert!(error.starts_with("/dev/null: ") && error.contains("MTD"), "{error}");
    }
}

#[test]
fn damage_is_found_and_changes_the_exit_code() {
    let bench = Bench::new("damage");
    let needle = b"a needle in a page of its own";
    let mut bytes = content(1, 4096);
    bytes[700..700 + needle.len()].copy_from_slice(needle);
    bench.write("from/f", &bytes);
    bench.ok("pack from i.img --device nand.toml");
    assert_eq!(bench.ok("check i.img").lines().last().unwrap().split(": ").last(), Some("sound"));
    bench.damage("i.img", needle);
    let output = bench.run("check i.img");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).starts_with("inode 2 (/f): logical page "),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&output.stdout).contains("cannot be read"), "{}", text(&output.stdout));
    assert_eq!(
        text(&output.stderr),
        "error: i.img: 1 finding; expected none; --repair mends as much as possible\n"
    );
    assert_eq!(
        bench.fails("scrub i.img"),
        "i.img: 1 page is lost; expected none; `steady check` names the files"
    );
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run("check --json i.img").stdout).unwrap();
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    assert!(bench.fails("cat i.img f").contains("i.img:/f: the data read is not the written data"));
    assert!(bench.fails("unpack i.img out").contains("i.img:/f: "));
    assert!(!bench.path("out").exists(), "nothing is left of what could not be unpacked");
    let repaired = bench.fails("check --repair i.img");
    assert!(
        repaired.contains("1 finding, 0 mended") && repaired.ends_with("or remove the file"),
        "{repaired}"
    );
    bench.ok("rm i.img f");
    assert_eq!(bench.ok("scrub i.img").lines().last(), Some("0 pages lost"));
}

#[test]
fn images_that_are_cut_or_no_images_are_refused_and_stay_as_they_are() {
    for device in DEVICES {
        let bench = Bench::new(&format!("cut-{device}"));
        bench.write("from/f", &content(1, 50_000));
        bench.ok(&format!("pack from whole.img --device {device}"));
        let whole = bench.read("whole.img");
        for length in [0, 1, 100, 512, 4096, whole.len() / 2, whole.len() - 576, whole.len() - 1] {
            bench.write("i.img", &whole[..length]);
            for line in [
                "ls i.img",
                "check i.img",
                "dump i.img",
                "unpack i.img out",
                "put i.img nor.toml /",
                "rm i.img f",
            ] {
                let error = bench.fails(line);
                assert!(error.starts_with("i.img: "), "{length}: {error}");
            }
            assert!(bench.read("i.img") == whole[..length] && !bench.path("out").exists());
        }
        assert!(bench.fails("df nor.toml").starts_with("nor.toml: no SteadyFS superblock"));
    }
}

#[test]
fn reading_changes_no_byte_of_the_image() {
    for device in DEVICES {
        let bench = Bench::new(&format!("reading-{device}"));
        fill(&bench, "from");
        bench.ok(&format!("pack from i.img --device {device}"));
        let before = bench.read("i.img");
        let mut permissions = fs::metadata(bench.path("i.img")).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(bench.path("i.img"), permissions).unwrap();
        for line in [
            "ls i.img",
            "tree i.img",
            "stat i.img",
            "df i.img",
            "cat i.img zeros",
            "check i.img",
            "dump i.img",
            "unpack i.img out",
            "get i.img zeros z",
        ] {
            let output = bench.run(line);
            assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output.stderr));
        }
        assert!(bench.read("i.img") == before);
        // Permissions do not stop the superuser.
        if fs::File::options().write(true).open(bench.path("i.img")).is_err() {
            assert_eq!(
                bench.fails("mkdir i.img d"),
                "i.img: the file cannot be used: Permission denied (os error 13)"
            );
        }
    }
}

#[test]
#[cfg(unix)]
fn an_image_that_somebody_writes_is_left_alone() {
    use rustix::fs::{FlockOperation, flock};
    let bench = Bench::new("lock");
    bench.ok("format i.img --device nand.toml");
    let file = fs::File::open(bench.path("i.img")).unwrap();
    flock(&file, FlockOperation::LockShared).unwrap();
    bench.ok("ls i.img");
    let error = "i.img: another process uses the image; expected it to be free";
    assert_eq!(
        (
            bench.fails("mkdir i.img d").as_str(),
            bench.fails("format i.img --force --device nand.toml").as_str()
        ),
        (error, error)
    );
    flock(&file, FlockOperation::LockExclusive).unwrap();
    assert_eq!(
        bench.fails("ls i.img"),
        "i.img: another process changes the image; expected it to be free"
    );
}

#[test]
fn what_the_chip_did_is_told_on_demand() {
    let bench = Bench::new("stats");
    bench.ok("format i.img --device nand.toml");
    let told = |line: &str| text(&bench.run(line).stderr);
    let plain = told("mkdir i.img d --stats");
    assert!(plain.contains(" programs, ") && plain.ends_with(" erases\n"), "{plain}");
    let timed = told("mkdir i.img e --stats --device nand.toml");
    assert!(timed.ends_with(" ms on small-nand\n"), "{timed}");
}

#[test]
fn every_command_has_help_a_manual_page_and_completions() {
    let bench = Bench::new("help");
    let help = bench.ok("--help");
    let names: Vec<_> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // The text of a command may have several lines.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() >= 20, "{names:?}");
    bench.ok("man pages");
    for name in &names {
        let help = bench.ok(&format!("{name} --help"));
        assert!(help.contains("Usage: steady"), "{help}");
        let page = text(&bench.read(&format!("pages/steady-{name}.1")));
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(&format!("steady\\-{name}")),
            "{page}"
        );
    }
    assert!(bench.ok("man").contains(".TH steady 1"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = bench.ok(&format!("completions {shell}"));
        assert!(names.iter().all(|name| script.contains(name)), "{shell}");
    }
}

#[test]
fn cards_and_their_images_work_with_the_same_commands() {
    for tags in ["beside", "table", "within"] {
        let bench = Bench::new(&format!("card-{tags}"));
        fill(&bench, "from");
        assert!(
            bench
                .ok(&format!("format card.img --block --size 64MiB --unit 512KiB --tags {tags}"))
                .contains("Usable")
        );
        bench.ok("put -r card.img from /");
        bench.ok("get -r card.img from to");
        assert_eq!(tree(&bench.path("from")), tree(&bench.path("to")));
        let checked = bench.ok("check card.img");
        assert!(
            checked.starts_with("43 files, 6 directories, ")
                && checked.ends_with(" pages: sound\n"),
            "{checked}"
        );
        let health = bench.ok("health card.img");
        assert!(
            health.contains(
                "Spare blocks    none needed: a card or disk replaces its blocks by itself"
            ),
            "{health}"
        );
        let before = bench.ok("ls card.img");
        bench.ok(&format!(
            "format card.img --block --size 64MiB --unit 512KiB --tags {tags} --force"
        ));
        assert_eq!((before.as_str(), bench.ok("ls card.img").as_str()), ("from/\n", ""));
        assert!(bench.fails("ls card.img --device nand.toml").contains("is managed flash"));
    }
    let bench = Bench::new("card-refused");
    let refused = bench.is_wrong("format card.img --block --size 64MiB --tags within --disk");
    assert!(refused.contains("a logical page of a disk must have whole sectors"), "{refused}");
    assert!(!bench.path("card.img").exists(), "nothing is made of it");
    assert!(bench.contradicts("format card.img --block").contains("--size is missing"));
    let refused = bench.contradicts("format card.img --block --size 1MiB");
    assert!(
        refused.contains("1 MiB have 8 allocation units of 128 KiB, too few for a volume"),
        "{refused}"
    );
    let refused = bench.contradicts("format card.img --block --size 64MiB --unit 4MiB");
    assert!(
        refused.contains("16 allocation units of 4 MiB")
            && refused.contains("expected --unit 1MiB, which leaves"),
        "{refused}"
    );
    assert!(!refused.contains("bad_blocks_max"), "words of raw chips: {refused}");
    assert!(!bench.path("card.img").exists());
    assert_eq!(
        fs::read_dir(&bench.directory).unwrap().count(),
        2,
        "nothing is left of a format that was refused"
    );
}

#[test]
fn a_file_that_holds_nothing_is_formatted_as_it_is_and_one_that_holds_something_is_not() {
    let bench = Bench::new("card-blank");
    let file = fs::File::create(bench.path("card.img")).unwrap();
    assert!(
        bench.contradicts("format card.img --block").contains("--size is missing"),
        "an empty one has no size"
    );
    file.set_len(64 << 20).unwrap();
    let before = fs::metadata(bench.path("card.img")).unwrap();
    let made = bench.ok("format card.img --block");
    assert!(made.contains("\nUnit ") && made.contains("; usable were "), "{made}");
    let after = fs::metadata(bench.path("card.img")).unwrap();
    assert_eq!((before.ino(), before.len()), (after.ino(), after.len()), "the same file");
    assert!(
        bench.fails("format card.img --block").contains("exists already"),
        "now it holds a volume"
    );
    bench.ok("ls card.img");
    fs::write(bench.path("notes"), [vec![0; 5000], vec![1]].concat()).unwrap();
    assert!(bench.fails("format notes --block --size 64MiB").contains("exists already"));
    fs::write(bench.path("zeros"), [0; 5000]).unwrap();
    bench.ok("format zeros --block --size 64MiB");
    assert_eq!(
        fs::metadata(bench.path("zeros")).unwrap().len(),
        64 << 20,
        "the size that was asked for"
    );
}

/// A card image that was cut to half was taken for an image of NAND. The error was "the
/// superblock at byte 1536 is damaged: pages_per_block is 910".
#[test]
fn a_card_image_that_is_cut_off_says_how_long_it_is_and_should_be() {
    for tags in ["beside", "table", "within"] {
        let bench = Bench::new(&format!("card-cut-{tags}"));
        bench.ok(&format!("format card.img --block --size 4GiB --tags {tags}"));
        let file = fs::File::options().write(true).open(bench.path("card.img")).unwrap();
        for (length, said) in [
            (
                2_u64 << 30,
                "has 2.0 GiB; expected 4.0 GiB, the size of the volume: the last 2147483648 bytes \
                 are missing",
            ),
            (
                100 << 20,
                "has 100.0 MiB; expected 4.0 GiB, the size of the volume: the last 4190109696 \
                 bytes are missing",
            ),
            (
                8192,
                "has 0.0 MiB; expected 4.0 GiB, the size of the volume: the last 4294959104 bytes \
                 are missing",
            ),
        ] {
            file.set_len(length).unwrap();
            for line in
                ["ls card.img", "check card.img", "put card.img nor.toml /", "mount card.img ."]
            {
                let error = bench.fails(line);
                assert!(
                    error == format!("card.img: {said}") || line.starts_with("mount"),
                    "{line}: {error}"
                );
            }
            assert_eq!(
                fs::metadata(bench.path("card.img")).unwrap().len(),
                length,
                "nothing is written"
            );
        }
        file.set_len(0).unwrap();
        assert!(bench.fails("ls card.img").starts_with("card.img: "));
    }
}
