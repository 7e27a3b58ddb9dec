//! Wrong names, kinds and paths. Each command reports them at once, and names the expected ones.

use crate::common::{Bench, text};
use std::time::{Duration, Instant};

/// Time in which a command with wrong arguments ends.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Commands, and a part of their errors. `NO/` is a directory that does not exist.
const CASES: [(&str, &str); 112] = [
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
    ("man t.csv", "cannot be written"),
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
    ("format x.img --device mt29f1g01abafd --streams 300", "expected a whole number from 0 to 255"),
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
    ("unpack i.img t.csv", "Not a directory"),
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
    ("format /dev/mtd0 --size 1MiB", "--size"),
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
