//! Wrong names, kinds and paths. Each command reports them at once, and names the expected ones.

use crate::common::{Bench, text};
use std::time::{Duration, Instant};

/// Time in which a command with wrong arguments ends.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Commands, and a part of their errors. `NO/` is a directory that does not exist.
const CASES: &[(&str, &str)] = &[
    // Names that do not exist.
    ("evaluate --device floppy", "expected one of"),
    ("bench --device floppy", "gd25q64"),
    ("costs --device floppy", "expected one of"),
    ("transactions --device sd-consumer,floppy", "expected one of"),
    ("life --device floppy", "expected one of"),
    ("streams --device floppy", "expected one of"),
    ("realtime --nand floppy", "expected one of"),
    ("realtime --card sd-consumer,floppy", "expected one of"),
    ("torture --device floppy", "expected one of"),
    ("format x.img --device floppy", "expected one of"),
    ("ls i.img --device floppy", "expected one of"),
    ("evaluate --workload randm", "random"),
    ("evaluate --timing slow", "maximum"),
    ("bench --case opn", "open"),
    ("streams --writes zip", "zipf"),
    ("streams --streams auto", "automatic"),
    ("torture --geometry tiny", "small-copy"),
    ("torture --workload logs", "configuration"),
    ("torture --fault flips", "bit-flips"),
    ("torture --mode some", "sampled"),
    ("torture --replay nonsense", "--replay"),
    ("mount i.img d --commit-on never", "timed"),
    ("completions tcl", "bash"),
    ("fit t.csv --kind floppy --capacity 4GiB", "emmc"),
    ("fit t.csv --kind sd", "--capacity"),
    ("realtime --may-lose 0", "expected one write at least"),
    ("fit t.csv --kind sd --capacity 10MiB", "expected 64 MiB"),
    ("replay t.csv --unit weeks", "ms"),
    // Devices of another kind.
    ("evaluate --device sd-industrial", "is a card; this command takes raw flash: "),
    ("bench --device ssd-sata", "is an SSD; this command takes raw flash: "),
    ("costs --device emmc-64gb", "is an eMMC; this command takes raw flash: "),
    ("torture --device sd-consumer", "is a card; this command takes raw flash: "),
    ("life --device w25q128jv", "is NOR; this command takes raw NAND: "),
    ("life --device sd-industrial", "is a card; this command takes raw NAND: "),
    ("streams --device emmc-64gb", "is an eMMC; this command takes raw NAND: "),
    ("realtime --nand sd-industrial", "is a card; this command takes raw NAND: "),
    ("realtime --nand w25q128jv", "is NOR; this command takes raw NAND: "),
    ("realtime --card mt29f1g01abafd", "is raw NAND; this command takes managed flash: "),
    ("format x.img --device sd-industrial", "is a card; this command takes raw flash: "),
    ("evaluate --device card.toml", "is a card; this command takes raw flash: "),
    // Profiles that cannot be read.
    ("evaluate --device NO/chip.toml", "expected the file of a profile"),
    ("life --device broken.toml", "expected"),
    ("transactions --device NO/card.toml", "expected the file of a profile"),
    ("compare --kept --cpu cortex-m3", "expected a processor and its clock"),
    ("compare --kept --cpu cortex-m3@0MHz", "expected a processor and its clock"),
    // Outputs that cannot be written.
    ("evaluate --report NO/x.html", "expected a directory in which files can be made"),
    ("evaluate --json NO/x.json", "expected a directory in which files can be made"),
    ("evaluate --trace NO/x.csv", "expected a directory in which files can be made"),
    ("evaluate --report d", "is a directory; expected the name of a file"),
    ("evaluate --svg t.csv", "is a file; expected a directory"),
    ("evaluate --svg t.csv/figures", "is a file; expected a directory"),
    ("bench --json NO/x.json", "expected a directory in which files can be made"),
    ("costs --json d", "is a directory; expected the name of a file"),
    ("transactions --json NO/x.json", "expected a directory in which files can be made"),
    ("life --json NO/x.json", "expected a directory in which files can be made"),
    ("streams --report t.csv/x.html", "expected"),
    ("realtime --json NO/x.json", "expected a directory in which files can be made"),
    ("transactions --report NO/x.html", "expected a directory in which files can be made"),
    ("torture --json NO/x.json", "expected a directory in which files can be made"),
    ("torture --resume NO/state.json", "expected a directory in which files can be made"),
    ("replay t.csv --report NO/x.html", "expected a directory in which files can be made"),
    ("health i.img --json NO/x.json", "expected a directory in which files can be made"),
    ("life --report NO/x.html", "expected a directory in which files can be made"),
    ("life --report d", "is a directory; expected the name of a file"),
    ("life --svg t.csv", "is a file; expected a directory"),
    ("streams --study --report NO/x.html", "expected a directory in which files can be made"),
    ("streams --study --json d", "is a directory; expected the name of a file"),
    ("streams --study --svg t.csv/figures", "is a file; expected a directory"),
    ("man t.csv", "is a file; expected a directory"),
    // Settings that one kind of run does not have, or has less of.
    ("life --workload sequential", "adversary"),
    ("life --blocks 3", "from 16 to 65536"),
    ("streams --study --device emmc-like", "cannot be used with"),
    ("streams --study --blocks 10", "from 16 to 65536"),
    ("streams --passes 3", "--study"),
    ("transactions --series 20 --files 10", "expected no more than --files"),
    ("devices floppy", "expected a name that `steady devices` lists"),
    ("devices --new floppy", "nand"),
    ("devices mt29f1g01abafd --new nor", "cannot be used with"),
    // Numbers.
    ("evaluate --accesses -1", "expected a whole number, 1 or more"),
    ("evaluate --seed x", "expected a whole number, 0 or more"),
    ("bench --cache 2000", "expected a whole number from 0 to 1024"),
    ("torture --steps 0", "expected a whole number"),
    ("format x.img --device mt29f1g01abafd --streams 300", "expected a whole number from 1 to 4"),
    // Standard output is one file.
    ("evaluate --svg -", "expected a directory"),
    ("evaluate --report -", "expected the name of a file"),
    ("evaluate --trace -", "expected the name of a file"),
    ("compare --kept --markdown -", "expected the name of a file"),
    // Places in a volume.
    ("ls i.img nothing", "i.img:/nothing: no such file or directory"),
    ("tree i.img nothing", "i.img:/nothing: no such file or directory"),
    ("put i.img t.csv nothing/x/", "is no directory; expected an existing directory"),
    ("put i.img d /", "-r takes it with all that it holds"),
    ("get i.img nothing out", "i.img:/nothing: no such file or directory"),
    ("get i.img / out", "-r gets it with all that it holds"),
    ("cat i.img nothing", "i.img:/nothing: no such file or directory"),
    ("rm i.img /", "expected a file or directory below the root"),
    ("mkdir i.img a/b/c", "-p makes the directories above too"),
    ("mv i.img nothing x", "i.img:/nothing: no such file or directory"),
    ("stat i.img nothing", "i.img:/nothing: no such file or directory"),
    ("unpack i.img t.csv", "is no directory; expected an empty directory, or none"),
    ("mount i.img t.csv", "is no directory; expected one to mount on"),
    // Images that are none.
    ("df t.csv", "no SteadyFS superblock"),
    ("dump t.csv", "no SteadyFS superblock"),
    ("check d", "expected the image of a chip"),
    ("scrub d", "expected the image of a chip"),
    ("tree NO/i.img", "NO/i.img: the file cannot be used"),
    // Sizes of another kind of device.
    ("format x.img --device mt29f1g01abafd --size 16MiB", "are for NOR"),
    (
        "format x.img --device w25q128jv --size 100000",
        "expected a multiple of the block, 4096 bytes",
    ),
    ("format x.img --device w25q128jv --unit 4MiB", "--unit is for cards and disks"),
    // Names among the devices that no driver has made.
    ("format /dev/none0 --size 1MiB", "/dev/none0: no such device"),
    ("format /dev/none0 --block --size 64MiB", "/dev/none0: no such device"),
    ("pack d /dev/none0", "/dev/none0: no such device"),
    ("pack d /dev/none0 --read-only", "/dev/none0: no such device"),
    ("convert i.img /dev/none0 --to squashfs", "/dev/none0: no such device"),
    ("health i.img --json /dev/none0", "/dev/none0: no such device"),
    ("format /dev/null --device nand.toml", "exists already"),
    ("format /dev/null --device nand.toml --force", "MTD"),
    ("evaluate --report /proc/x.html", "expected a directory in which files can be made"),
    ("evaluate --svg /proc/x", "cannot be written"),
    ("evaluate --device d", "is a directory; expected a name"),
    ("mv i.img / /b", "the root cannot be moved"),
    ("compare --kept --results NO", "no such directory"),
    // Inputs that do not exist.
    ("evaluate --beside NO/t.csv", "NO/t.csv"),
    ("replay NO/t.csv", "NO/t.csv"),
    ("fit NO/t.csv --kind sd --capacity 4GiB", "NO/t.csv"),
    ("pack NO i.img --force --device nand.toml", "NO"),
    ("mount i.img NO/d", "NO/d"),
];

/// Wrong arguments were found late: `evaluate --report` into a missing directory simulated first
/// and then failed, as did `realtime --nand` with a card. `evaluate --device sd-industrial` found
/// no profile of a name that `steady devices` lists.
#[test]
fn what_is_wrong_is_said_at_once_with_what_was_expected() {
    let bench = Bench::new("wrong-arguments");
    bench.ok("format i.img --device nand.toml");
    bench.write("t.csv", b"time_us\n1\n2\n3\n");
    bench.write("broken.toml", b"name = 1");
    bench.write("card.toml", include_bytes!("../../steadyfs-sim/profiles/sd-industrial.toml"));
    std::fs::create_dir(bench.path("d")).unwrap();
    // A volume that is mounted for an impossible change gets a new root, so the test compares its
    // files.
    let made = || {
        let mut tree = crate::common::tree(&bench.directory);
        tree.iter_mut()
            .filter(|(path, _)| path.ends_with("i.img"))
            .for_each(|(_, bytes)| *bytes = None);
        (tree, bench.ok("tree i.img"))
    };
    let before = made();
    let mut slow = Vec::new();
    for (line, expected) in CASES {
        // Other programs use the machine too, so the best of three runs counts.
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            let output = bench.run(line);
            best = best.min(start.elapsed());
            let said = text(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(1 | 2)) && output.stdout.is_empty(),
                "{line}: {said}"
            );
            // A wrong value of an option is wrong usage in every command.
            let is_usage = line.contains("floppy")
                || expected.starts_with("expected a whole")
                || line.ends_with(" -");
            assert!(!is_usage || output.status.code() == Some(2), "{line}: {said}");
            assert!(said.starts_with("error: ") && said.contains(expected), "{line}: {said}");
            if best < AT_ONCE {
                break;
            }
        }
        if best >= AT_ONCE {
            slow.push((line, best));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
    assert!(made() == before, "nothing is made");
}

/// Command lines that are wrong by themselves, each with a part of its error. An option contradicts
/// another option, or the profile of the device.
const USAGE: &[(&str, &str)] = &[
    ("advise", "--device is missing"),
    ("advise --device w25q128jv --workload log --effort 0%", "expected more than 0%"),
    ("advise --device w25q128jv --workload log --size 4KiB", "expected at least"),
    ("compare", "nothing to compare is named"),
    ("convert i.img x.cramfs --compress xz", "cramfs has its own compression"),
    ("convert i.img x", "has no known format in its name"),
    ("costs --device w25q128jv --size 1MiB --files 100000", "choose fewer files"),
    ("evaluate --size 1MB", "expected whole erase blocks"),
    ("evaluate --erase-block 5KiB", "expected one of"),
    ("evaluate --write 1GiB", "the workload needs"),
    ("format x.img", "--device is missing"),
    ("format x.img --block", "--size is missing"),
    ("format x.img --block --size 64MiB --erase", "--erase is for raw chips"),
    ("format x.img --block --size 64MiB --wear-spread 32", "a card or disk levels wear"),
    ("format x.img --block --size 64MiB --journal-pages 2", "--journal-pages is for NOR"),
    ("format x.img --device sd-industrial", "is a card; this command takes"),
    ("format x.img --device w25q128jv --bad-block 3", "--bad-block is for NAND"),
    ("format x.img --device w25q128jv --block-bytes 5000", "expected one of"),
    ("format x.img --device w25q128jv --size 64KiB", "found 16, expected at least"),
    ("format x.img --device w25q128jv --tags within", "--tags is for cards and disks"),
    ("format x.img --device nand.toml --bad-block 1024", "--bad-block 1024"),
    ("format x.img --device nand.toml --disk --files-max 9", "expected no --files-max with --disk"),
    ("format x.img --device nand.toml --failures 9", "expected a whole number from 0 to 8"),
    ("format x.img --device nand.toml --files-max 0", "expected a whole number from 1 to"),
    ("format x.img --device nand.toml --files-max 10000000", "expected a whole number from 1 to"),
    ("format x.img --device nand.toml --journal-pages 2", "--journal-pages is for NOR"),
    ("format x.img --device nand.toml --leaf-log-bytes 96", "--leaf-log-bytes is for NOR"),
    ("format x.img --device nand.toml --moved-apart", "--moved-apart is for two streams or more"),
    ("format x.img --device nand.toml --name-bytes-max 0", "expected a whole number from 1 to"),
    ("format x.img --device nand.toml --streams 5", "expected a whole number from 1 to 4"),
    ("format x.img --device nand.toml --wear-spread 0", "expected 8 to 200 on a raw chip"),
    ("format x.img --device nand.toml --wear-spread 5", "wear_spread must be 8 to 200"),
    ("mount i.img d --real-time", "expected --device as well"),
    ("mount i.img d -o foo", "option `foo`: expected one of"),
    ("mount i.img d -o device=foo", "option `device=foo`: no profile named"),
    ("pack d x.img --device nand.toml --compress xz", "expected lz4, deflate or zstd"),
    ("pack d x.img --read-only --bad-block 3", "--bad-block is for NAND"),
    ("pack d x.img --read-only --files-max 9", "expected no --files-max with --read-only"),
    ("pack d x.img --read-only --tags within", "expected no --tags with --read-only"),
    ("transactions --series 20 --files 10", "expected no more than --files"),
];

/// Exit code 2 depended on the place of the check, not on the cause of the error.
#[test]
fn an_error_of_the_command_line_alone_is_wrong_usage() {
    let bench = Bench::new("wrong-usage");
    bench.ok("format i.img --device nand.toml");
    std::fs::create_dir(bench.path("d")).unwrap();
    for (line, expected) in USAGE {
        let said = bench.is_wrong(line);
        assert!(said.starts_with("error: ") && said.contains(expected), "{line}: {said}");
        assert!(!bench.path("x.img").exists(), "{line}");
    }
}

/// An output that could not be written cost the table.
#[test]
#[cfg(target_os = "linux")]
fn the_table_is_printed_although_a_file_cannot_be_written() {
    let bench = Bench::new("full-disk");
    let output = bench.run("costs --device w25q16jv --files 5 --json /dev/full");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/dev/full: cannot be written"), "{said}");
    assert!(text(&output.stdout).contains("append 64 B"));
}
