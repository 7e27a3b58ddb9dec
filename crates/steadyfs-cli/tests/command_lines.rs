//! Runs every command line that the README, the documents, the guides and the help texts show.

use crate::common::{Bench, content, text};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use steadyfs_sim::managed::{ManagedProfile, Translation};

/// The way to run a line that a page shows.
enum Run {
    /// As it stands.
    AsShown,
    /// As it stands. Its output contains each of these figures, and so does the page.
    Shows(&'static str, &'static [&'static str]),
    /// With this text behind it, because as it stands it takes more than half a minute, or does
    /// not end.
    Smaller(&'static str),
    /// With this text behind it. Its output contains each of these figures, and so does the page.
    SmallerShows(&'static str, &'static str, &'static [&'static str]),
    /// With replacements, for devices and directories of a machine.
    With(&'static [(&'static str, &'static str)]),
    /// With a directory of the test instead of this one. It is unmounted after the mount.
    Mounts(&'static str),
    /// Not here, but by the file at this path, for this reason.
    Elsewhere(&'static str, &'static str),
}
use Run::{AsShown, Elsewhere, Mounts, Shows, Smaller, SmallerShows, With};

/// Lines that run in order in a directory, after the lines in `before` have made their inputs.
struct Session {
    name: &'static str,
    before: &'static str,
    lines: &'static [(&'static str, Run)],
}

/// Few accesses, to a chip of a MiB.
const EVALUATE: &str = " --accesses 500 --device nand.toml";

/// The reason why no sweep runs here.
const SWEEP: &str =
    "needs the Python package, whose tests run it; tests/sweep.rs has what this command does";

const SESSIONS: [Session; 13] = [
    Session {
        name: "readme-images",
        before: "steady format mtd3.img --device mt29f1g01abafd",
        lines: &[
            ("steady format card.img --device mt29f1g01abafd", AsShown),
            ("steady put -r card.img www settings.toml /", AsShown),
            ("steady put card.img settings.toml /", AsShown),
            ("steady mkdir card.img assets && steady put -r card.img www fonts /assets", AsShown),
            ("steady mv --exchange", With(&[("--exchange", "--exchange card.img www assets")])),
            ("steady check card.img", AsShown),
            ("steady format logs.img --device mt29f1g01abafd --compress lz4", AsShown),
            ("steady compress card.img /logs lz4/4KiB", With(&[("/logs", "/assets")])),
            ("steady compress card.img /logs lz4", With(&[("/logs", "/assets")])),
            ("steady compress card.img / zstd:19 --files", AsShown),
            ("steady health card.img --device mt29f1g01abafd", AsShown),
            ("steady scrub /dev/mtd3", With(&[("/dev/mtd3", "mtd3.img")])),
            (
                "steady health /dev/mtd3 --endurance 100000 --json -",
                With(&[("/dev/mtd3", "mtd3.img")]),
            ),
            (
                "steady format /dev/mtd3 --force",
                With(&[("/dev/mtd3", "mtd3.img --device mt29f1g01abafd")]),
            ),
            ("steady dump card.img --json", AsShown),
            ("steady pack rootfs card.img --device mt29f1g01abafd --force", AsShown),
            (
                "steady pack rootfs card.img --device mt29f1g01abafd --force --compress zstd:19",
                AsShown,
            ),
            (
                "steady pack rootfs card.img --device mt29f1g01abafd --force --compress lz4 \
                 --chunk 4KiB",
                AsShown,
            ),
            ("steady unpack card.img out", AsShown),
            ("steady check --repair", With(&[("--repair", "card.img --repair")])),
        ],
    },
    Session {
        name: "pack",
        before: "",
        lines: &[
            ("steady pack rootfs card.img --device mt29f1g01abafd --mtime 1700000000", AsShown),
            (
                "steady pack rootfs card.img --device mt29f1g01abafd --force --compress zstd:19 \
                 --chunk 64KiB",
                AsShown,
            ),
        ],
    },
    Session {
        name: "read-only",
        before: "steady pack rootfs card.img --device mt29f1g01abafd; \
                 steady pack rootfs rootfs.squashfs --read-only",
        lines: &[
            ("steady pack --read-only", With(&[("pack", "pack rootfs first.sqfs")])),
            (
                "steady pack rootfs rootfs.sqfs --read-only --compress zstd:19 --chunk 128KiB",
                With(&[("rootfs.sqfs", "small.sqfs")]),
            ),
            ("steady keygen release.key", AsShown),
            (
                "steady pack rootfs rootfs.sqfs --read-only --sign release.key --sign-block 1KiB",
                AsShown,
            ),
            (
                "steady pack rootfs rootfs.img --read-only --sign release.key \
                 --device mt29f1g01abafd --bad-block 7",
                AsShown,
            ),
            ("steady check rootfs.img --verify-key release.key.pub", AsShown),
            ("steady unpack rootfs.sqfs plain --verify-key release.key.pub", AsShown),
            ("steady convert card.img card.squashfs --compress zstd:19", AsShown),
            ("steady ls card.squashfs", AsShown),
            ("steady pack card.squashfs other.img --device w25n01gv --compress lz4", AsShown),
            ("steady convert card.squashfs card.cramfs", AsShown),
            ("steady convert card.img card.squashfs", With(&[("card.squashfs", "other.squashfs")])),
            ("steady convert card.img rootfs.squashfs", With(&[("rootfs", "again")])),
            ("steady convert card.img rootfs.squashfs --force --compress xz --chunk 1MiB", AsShown),
        ],
    },
    Session {
        name: "sectors",
        before: "",
        lines: &[
            ("steady format card.img --block --size 4GiB", AsShown),
            (
                "steady format /dev/mmcblk0p2 --force",
                With(&[("/dev/mmcblk0p2", "part.img --block --size 1GiB")]),
            ),
        ],
    },
    Session {
        name: "other-images",
        before: "mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions",
        lines: &[
            ("steady format disk.img --device mt29f1g01abafd --disk", AsShown),
            (
                "steady format boot.img --device w25q128jv --block-bytes 4KiB --files-max 100",
                AsShown,
            ),
            ("steady format boot.img --device w25q128jv --erase", With(&[("boot", "erased")])),
            ("steady format --disk", With(&[("--disk", "d.img --device w25q128jv --disk")])),
            (
                "steady format --block-bytes 4KiB",
                With(&[("--block", "s.img --device w25q128jv --size 1MiB --block")]),
            ),
            ("steady man DIR", With(&[("DIR", "man")])),
            (
                "steady completions bash > ~/.local/share/bash-completion/completions/steady",
                AsShown,
            ),
            ("steady completions fish > ~/.config/fish/completions/steady.fish", AsShown),
            ("steady devices", AsShown),
            ("steady devices w25n01gv > mine.toml", AsShown),
            (
                "steady devices --new nand > mine.toml",
                Elsewhere(
                    "crates/steadyfs-cli/src/devices.rs",
                    "asks on the terminal; its tests answer",
                ),
            ),
            ("steady evaluate --device mine.toml", Smaller(" --accesses 500")),
        ],
    },
    Session {
        name: "evaluate",
        before: "",
        lines: &[
            (
                "steady evaluate",
                Shows("docs/results/README.md", &["2.504 ms", "3.835 ms", "3.25 MB/s"]),
            ),
            ("steady evaluate --fill", With(&[("--fill", "--fill 50% --accesses 500")])),
            (
                "steady evaluate --timing maximum",
                Shows("docs/design.md", &["11.26", "12.30", "1.17"]),
            ),
            ("steady evaluate --workload log", Smaller(EVALUATE)),
            (
                "steady evaluate --fill 50% --timing maximum",
                Shows("docs/design.md", &["11.26", "12.30", "2.12"]),
            ),
            ("steady evaluate --workload log --report log.html", Smaller(EVALUATE)),
            ("steady evaluate --idle 100ms", Shows("docs/design.md", &["1.51", "32"])),
            (
                "steady evaluate --fill 80% --rate 1MB/s --report run.html --json run.json",
                Smaller(EVALUATE),
            ),
            ("steady evaluate --idle 100ms --burst 256KiB", Smaller(EVALUATE)),
            ("steady evaluate --call-us 20", Smaller(EVALUATE)),
            (
                "steady evaluate --beside \"FatFs on Dhara=docs/peers/fatfs-on-dhara.csv\" \
                 --beside littlefs=docs/peers/littlefs.csv --svg figures",
                Shows(
                    "docs/results/README.md",
                    &["16.284 ms", "422.3 kB/s", "5.701 s", "1.5 kB/s"],
                ),
            ),
            (
                "steady evaluate --beside 'FatFs on Dhara=docs/peers/fatfs-on-dhara.csv' \
                 --beside littlefs=docs/peers/littlefs.csv --svg figures",
                Smaller(EVALUATE),
            ),
        ],
    },
    Session {
        name: "measure",
        before: "",
        lines: &[
            (
                "steady streams --report streams.html",
                Smaller(" --writes sequential --blocks 80 --fill 80% --streams one,given"),
            ),
            (
                "steady streams --study --report study.html --json study.json",
                Smaller(" --blocks 192 --passes 1"),
            ),
            (
                "steady streams --writes zipf --streams one,automatic --fill 80%,95% \
                 --device mt29f1g01abafd",
                Smaller(" --blocks 64"),
            ),
            (
                "steady costs",
                Shows("docs/design.md", &["1.80", "1.12", "3.07", "1.16", "4.33", "1.38"]),
            ),
            ("steady costs --device w25n01gv --json costs.json", Smaller(" --files 200")),
            ("steady costs --device w25q128jv --size 1MiB", Smaller(" --files 50")),
            ("steady evaluate --device w25q128jv --size 1MiB", Smaller(" --accesses 500")),
            (
                "steady bench --device w25q128jv --size 1MiB",
                SmallerShows(" --case append-64,create", "docs/results/bench.md", &["4,131"]),
            ),
            (
                "steady bench --device w25q128jv --size 1MiB --erase-block 4KiB",
                Smaller(" --case append-64,create"),
            ),
            ("steady bench --case append-64,append-16 --json -", Smaller(" --device nand.toml")),
            ("steady adversary --device w25q128jv --size 1MiB", Smaller(" --calls 2000")),
            (
                "steady adversary --calls 1000000 --seed 7 --json near.json",
                With(&[("1000000", "2000 --device nand.toml")]),
            ),
            ("steady bench --cache 1", Smaller(" --device w25q128jv --size 1MiB --case seq-512")),
            (
                "steady advise --device w25q128jv --size 1MiB --workload log",
                Smaller(" --effort 2%"),
            ),
            ("steady life --spread 5", Smaller(" --blocks 32 --pages 16 --endurance 60")),
            (
                "steady life --spread 5 --report life.html --json life.json",
                Smaller(" --blocks 32 --pages 16 --endurance 60"),
            ),
        ],
    },
    Session {
        name: "compare",
        before: "steady compare --device nor --contender steadyfs --case append-64 --keep kept",
        lines: &[
            (
                "steady compare --all --report compare.html",
                With(&[(
                    "--all",
                    "--device nor --contender steadyfs,raw --case append-64,cuts --cuts 20",
                )]),
            ),
            (
                "steady compare --device nor --case append-64,replace-rename",
                Smaller(" --contender steadyfs"),
            ),
            (
                "steady compare --device w25q16jv --size 1MiB --case append-64",
                Smaller(" --contender steadyfs"),
            ),
            (
                "steady compare --contender fat-on-disk --case cuts --cuts 10000",
                With(&[("10000", "10")]),
            ),
            (
                "steady compare --kept --report compare.html",
                With(&[("--kept", "--kept --results kept")]),
            ),
            (
                "steady compare --kept --cpu cortex-m3@72MHz",
                With(&[("--kept", "--kept --results kept")]),
            ),
            (
                "steady compare --kept --markdown docs/results/side-by-side.md",
                With(&[
                    ("--kept", "--kept --results kept"),
                    ("docs/results/side-by-side.md", "side-by-side.md"),
                ]),
            ),
        ],
    },
    Session {
        name: "boards",
        before: "",
        lines: &[
            ("steady boards", AsShown),
            ("steady boards --run NAME", With(&[("NAME", "rp2040")])),
            ("steady boards --run esp-littlefs-512,teensy-260", AsShown),
            (
                "steady boards --markdown docs/results/boards.md",
                With(&[("docs/results/boards.md", "boards.md")]),
            ),
            (
                "steady fit --board",
                With(&[("--board", "--board w25q128jv --size 1MiB --measured append-64=3ms")]),
            ),
            (
                "steady fit --board w25q128jv --size 1MiB --measured \
                 append-64=3ms,read-4096=650us > board.toml",
                AsShown,
            ),
        ],
    },
    Session {
        name: "managed",
        before: "",
        lines: &[
            ("steady realtime", Smaller(" --accesses 1000 --fill 10%")),
            (
                "steady realtime --rate 500kB/s --ram 16KiB --card sd-industrial,mine.toml",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            ("steady boot", Smaller(" --share 50")),
            ("steady boot --device k9f1208u0 --cycles lz4=8,lzo=12", Smaller(" --share 50")),
            ("steady boot --block 64KiB --json boot.json", Smaller(" --share 50")),
            ("steady transactions", Smaller(" --copies 20 --files 20")),
            (
                "steady transactions --device emmc-64gb --series 32 --copies 10000",
                With(&[("10000", "100 --files 40")]),
            ),
            ("steady transactions --report transactions.html", Smaller(" --copies 20 --files 20")),
            (
                "steady realtime --rate 500kB/s --ram 192KiB --may-lose 300ms",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            (
                "steady realtime --card emmc-64gb --commit-every 16",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            (
                "steady realtime --tags within --commit-every 16",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            (
                "steady realtime --report realtime.html --svg figures",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            ("steady fit card.csv --kind sd --capacity 16GiB", AsShown),
            ("steady fit card_lat.1.log --kind sd --capacity 4GiB > card.toml", AsShown),
            ("steady realtime --card card.toml", Smaller(" --accesses 1000 --fill 10%")),
            (
                "steady fit card_lat.1.log --kind sd --capacity 4GiB > card.toml \
                 && steady realtime --card card.toml",
                Smaller(" --accesses 1000 --fill 10%"),
            ),
            ("steady replay trace.csv --write 4096 --rate 500kB/s", AsShown),
            (
                "steady replay board.csv --write 4096 --rate 500kB/s --rate 1MB/s --buffer 10KiB \
                 --report board.html",
                AsShown,
            ),
        ],
    },
    Session {
        name: "torture",
        before: "",
        lines: &[
            ("steady torture --geometry small-nor-groups", Smaller(" --time 2s")),
            ("steady torture --time 30s", With(&[("30s", "2s")])),
            (
                "steady torture --device w25n01gv --pages-per-logical-page 1 \
                 --workload log,configuration --cuts 100000",
                With(&[("100000", "1 --mode sampled --steps 3")]),
            ),
            (
                "steady torture --device w25n01gv --pages-per-logical-page 1 \
                 --workload log,configuration --cuts 100000 --json -",
                With(&[("100000", "1 --mode sampled --steps 3")]),
            ),
            (
                "steady torture --workload disk --geometry small-disk,nor --cuts 20000",
                With(&[("20000", "1 --steps 2")]),
            ),
            ("steady torture --exhaustive 2 --geometry small", Smaller(" --time 2s")),
            (
                "steady torture --exhaustive 2 --geometry small --fault none --resume night.json",
                Smaller(" --time 2s"),
            ),
        ],
    },
    Session {
        name: "mount",
        before: "steady format card.img --device mt29f1g01abafd; \
                 steady format disk.img --device mt29f1g01abafd --disk",
        lines: &[
            ("steady mount card.img /mnt/card --device mt29f1g01abafd", Mounts("/mnt/card")),
            ("steady mount disk.img /mnt/card --background", Mounts("/mnt/card")),
            (
                "steady mount card.img /mnt/card --commit-every 16 --commit-bytes 64KiB \
                 --commit-interval 100",
                Mounts("/mnt/card"),
            ),
            (
                "mkdir /tmp/card && steady mount card.img /tmp/card --device mt29f1g01abafd \
                 --real-time",
                Mounts("/tmp/card"),
            ),
            (
                "mke2fs -t ext4 /mnt/card/disk && mount -o loop,discard /mnt/card/disk /mnt/ext4",
                Elsewhere(
                    "crates/steadyfs-cli/tests/disk_mount.rs",
                    "needs a loop device, and is skipped there without one",
                ),
            ),
        ],
    },
    Session {
        name: "elsewhere",
        before: "",
        lines: &[
            (
                "cargo add steadyfs --path CLONE/crates/steadyfs",
                With(&[("cargo add", "$CARGO add --offline"), ("CLONE", "$CLONE")]),
            ),
            (
                "cargo add steadyfs-sim --path CLONE/crates/steadyfs-sim",
                With(&[("cargo add", "$CARGO add --offline"), ("CLONE", "$CLONE")]),
            ),
            (
                "cargo add steadyfs-drivers --path CLONE/crates/steadyfs-drivers",
                With(&[("cargo add", "$CARGO add --offline"), ("CLONE", "$CLONE")]),
            ),
            (
                "cargo install --path crates/steadyfs-cli",
                Elsewhere(
                    "crates/steadyfs-cli",
                    "builds all for minutes; what it installs is run here",
                ),
            ),
            (
                "cargo rustc -p steadyfs-c --release --lib --crate-type staticlib",
                Elsewhere(
                    "crates/steadyfs-c/tests/programs.rs",
                    "builds the library without --release",
                ),
            ),
            (
                "cargo rustc -p steadyfs-c --profile size --lib --crate-type staticlib \
                 --target thumbv7m-none-eabi",
                Elsewhere("tools/footprint/builds.sh", "needs a toolchain for the target"),
            ),
            (
                "cargo +nightly rustc -p steadyfs-c --profile size --lib --crate-type staticlib \
                 --target thumbv7m-none-eabi \\",
                Elsewhere("tools/footprint/builds.sh", "needs a nightly toolchain for the target"),
            ),
            (
                "cargo build --release --target thumbv7m-none-eabi",
                Elsewhere("tools/footprint/builds.sh", "needs a toolchain for the target"),
            ),
            (
                "cargo +nightly build --release --target thumbv7m-none-eabi -Zbuild-std=core \\",
                Elsewhere("tools/footprint/builds.sh", "needs a nightly toolchain for the target"),
            ),
            ("cargo test --workspace", Elsewhere(".ci/run", "is the command that runs this")),
            (
                "cargo run -p steadyfs-drivers --example getting_started",
                Elsewhere("crates/steadyfs-drivers/tests/examples.rs", "runs it as a test"),
            ),
            (
                "cargo run -p steadyfs-drivers --example readme",
                Elsewhere("crates/steadyfs-drivers/tests/examples.rs", "runs it as a test"),
            ),
            (
                "cargo test -p steadyfs-compare",
                Elsewhere(".ci/run", "is a part of the command that runs this"),
            ),
            (
                "cargo test -p steadyfs-hostile",
                Elsewhere(".ci/run", "is a part of the command that runs this"),
            ),
            (
                "cargo run --release -p steadyfs-siege -- all",
                Elsewhere("crates/steadyfs-siege/tests", "takes hours; a share of it is a test"),
            ),
            (
                "cargo run --release -p steadyfs-sim --example managed -- my-card.toml",
                Elsewhere(
                    "crates/steadyfs-sim/examples/managed.rs",
                    "builds for minutes; the tests build the example",
                ),
            ),
            (
                "cargo run -p steadyfs-lab --features boot --example made_tree DIR",
                Elsewhere(
                    "crates/steadyfs-lab/examples/made_tree.rs",
                    "writes thousands of files; the tests build the example",
                ),
            ),
            (
                "cargo run --release -p steadyfs-lab --example advise_sweep",
                Elsewhere(
                    "crates/steadyfs-lab/examples/advise_sweep.rs",
                    "takes minutes; the tests build the example",
                ),
            ),
            (
                "cargo run --release -p steadyfs-lab --example defaults_sweep",
                Elsewhere(
                    "crates/steadyfs-lab/examples/defaults_sweep.rs",
                    "takes minutes; the tests build the example",
                ),
            ),
            (
                "cargo run --release -p steadyfs-sim --example fits",
                Elsewhere(
                    "crates/steadyfs-sim/examples/fits.rs",
                    "takes many minutes; the tests build the example",
                ),
            ),
            (
                "cargo run -p steadyfs-hostile --example seeds",
                Elsewhere(
                    "crates/steadyfs-hostile/examples/seeds.rs",
                    "writes into the repository; the tests build the example",
                ),
            ),
            (
                "cargo +nightly fuzz run -s none mount_mutated -- -dict=fuzz/dictionary",
                Elsewhere("tools/fuzz.sh", "needs another toolchain and has no end"),
            ),
            ("steady sweep grid.toml", Elsewhere("python/tests/test_command.py", SWEEP)),
            (
                "steady sweep grid.toml --scheduler tcp://10.0.0.7:8786",
                Elsewhere("python/tests/test_command.py", SWEEP),
            ),
            (
                "cargo install cargo-fuzz",
                Elsewhere("tools/fuzz.sh", "installs what is not of this project"),
            ),
        ],
    },
];

/// Runs the lines of a session, in its directory.
fn run(name: &str) {
    let session = SESSIONS.iter().find(|session| session.name == name).unwrap();
    let bench = Bench::new(&format!("lines-{name}"));
    furnish(&bench);
    if name == "managed" {
        let lines =
            |line: fn(u64) -> String, card| traced(card).into_iter().map(line).collect::<String>();
        bench.write(
            "card.csv",
            format!("time_ns\n{}", lines(|ns| format!("{ns}\n"), "sd-consumer")).as_bytes(),
        );
        bench.write(
            "card_lat.1.log",
            lines(|ns| format!("0, {ns}, 1, 4096, 0\n"), "sd-industrial").as_bytes(),
        );
    }
    shell(&bench, session.before);
    for (shown, how) in session.lines {
        match how {
            AsShown => drop(shell(&bench, shown)),
            Shows(page, figures) => agree(shown, &shell(&bench, shown), page, figures),
            SmallerShows(beside, page, figures) => {
                agree(shown, &shell(&bench, &smaller(shown, beside)), page, figures)
            }
            Smaller(beside) => drop(shell(
                &bench,
                &shown
                    .split(" && ")
                    .map(|line| smaller(line, beside))
                    .collect::<Vec<_>>()
                    .join(" && "),
            )),
            With(places) => {
                drop(shell(
                    &bench,
                    &places
                        .iter()
                        .fold(shown.to_string(), |line, (from, to)| line.replace(from, to)),
                ));
            }
            Mounts(directory) => drop(shell(&bench, &mounted(&shown.replace(directory, "mnt")))),
            Elsewhere(place, _why) => {
                assert!(root().join(place).exists(), "{shown}: there is no {place}")
            }
        }
    }
}

/// Checks that the output of a line contains each of these figures, and the page too.
fn agree(shown: &str, output: &str, page: &str, figures: &[&str]) {
    let told = fs::read_to_string(root().join(page)).unwrap();
    for figure in figures {
        assert!(
            output.contains(figure) && told.contains(figure),
            "{shown}: {figure} is not in both:\n{output}"
        );
    }
}

/// Returns a line with more text behind it. A line with a redirected output stays as it is: `fit`
/// takes no time.
fn smaller(line: &str, beside: &str) -> String {
    if line.contains(" > ") { line.to_string() } else { format!("{line}{beside}") }
}

/// Returns a line that mounts `mnt`, and then unmounts it.
fn mounted(line: &str) -> String {
    let made = if line.starts_with("mkdir") { "rm -rf mnt" } else { "mkdir -p mnt" };
    let until = "n=0; until mountpoint -q mnt; do sleep 0.05; n=$((n + 1)); test $n -lt 400; done";
    format!(
        "{made}; ({line}) & {until}; until umount mnt; do sleep 0.1; n=$((n + 1)); \
         test $n -lt 400; done; wait $!"
    )
}

/// Makes everything that the lines name: files, directories, traces, and a home.
fn furnish(bench: &Bench) {
    for (index, name) in
        ["www/index.html", "www/style/a.css", "fonts/a.ttf", "settings.toml", "rootfs/etc/passwd"]
            .iter()
            .enumerate()
    {
        bench.write(name, &content(index, 5000 * index + 10));
    }
    let trace: String = (0..4000)
        .map(|at| format!("{}\n", 600 + at % 7 * 30 + if at % 97 == 0 { 15_000 } else { 0 }))
        .collect();
    for name in ["trace.csv", "board.csv"] {
        bench.write(name, format!("time_us\n{trace}").as_bytes());
    }
    for name in ["mine.toml", "card.toml"] {
        bench.write(name, include_bytes!("../../steadyfs-sim/profiles/sd-industrial.toml"));
    }
    bench.write(
        "Cargo.toml",
        b"[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    bench.write("src/lib.rs", b"");
    fs::create_dir(bench.path("home")).unwrap();
    fs::create_dir(bench.path("bin")).unwrap();
    std::os::unix::fs::symlink(root().join("docs"), bench.path("docs")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_steady"), bench.path("bin/steady")).unwrap();
}

/// Runs a line as a shell does. It must succeed and report nothing wrong.
fn shell(bench: &Bench, line: &str) -> String {
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-euc", line]).current_dir(&bench.directory).env("PATH", path);
    command.env("HOME", bench.path("home")).env("CLONE", root()).env("CARGO", env!("CARGO"));
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let (printed, said) = (text(&stdout), text(&stderr));
    assert!(
        status.success()
            && !said.lines().any(|line| line.starts_with("error:") || line.starts_with("warning:")),
        "{line}: {status}\n{printed}\n{said}"
    );
    printed
}

/// Returns the times of writes at random places of a card that was filled before.
fn traced(card: &str) -> Vec<u64> {
    let mut card = Translation::new(&ManagedProfile::named(card).unwrap(), 1);
    card.fill();
    let mut state = 1_u64;
    let mut write = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        card.write((state >> 33) as u32 % (card.sector_count() / 8) * 8, 8)
    };
    for _ in 0..300_000 {
        write();
    }
    (0..20_000).map(|_| write()).collect()
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all lines that pages show: in blocks of code without a language, and in help texts. In
/// text, only a span that is more than a name counts.
fn shown() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let folders =
        ["docs", "docs/guide", "docs/results", "docs/design"].map(|name| root().join(name));
    let docs = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .map(|entry| entry.unwrap().path());
    let others = [
        "README.md",
        "CONTRIBUTING.md",
        "RELEASING.md",
        "fuzz/README.md",
        "crates/steadyfs/src/guide.md",
        "crates/steadyfs/src/drivers.md",
    ];
    for path in docs.chain(others.iter().map(|name| root().join(name))) {
        if path.extension().is_some_and(|extension| extension == "md") {
            of_markdown(&fs::read_to_string(path).unwrap(), &mut found);
        }
    }
    for name in names() {
        of_help(&help(&name), &mut found);
    }
    found
}

/// Returns the commands that `steady --help` lists.
fn names() -> Vec<String> {
    let help = help("");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    list.lines()
        .take_while(|line| !line.is_empty())
        // The text of a command may have several lines.
        .filter(|line| !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_string())
        .collect()
}

fn help(name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steady"));
    let args = [name, "--help"];
    let help =
        text(&command.args(args.iter().filter(|arg| !arg.is_empty())).output().unwrap().stdout);
    // A long example has several lines.
    help.replace(" \\\n   ", "")
}

fn of_markdown(page: &str, found: &mut BTreeSet<String>) {
    let (mut language, mut rest) = (None, String::new());
    for line in page.lines() {
        match (line.strip_prefix("```"), language) {
            (Some(of), None) => language = Some(of),
            (Some(_), Some(_)) => language = None,
            (None, Some("")) => found.extend(command(line)),
            (None, Some(_)) => {}
            (None, None) => rest += &format!("{line}\n"),
        }
    }
    within(&rest, found);
}

fn of_help(page: &str, found: &mut BTreeSet<String>) {
    found.extend(page.lines().filter_map(|line| line.strip_prefix("  ")).filter_map(command));
    within(page, found);
}

/// Finds the lines within a text that are more than the name of a command or a way to its help.
fn within(page: &str, found: &mut BTreeSet<String>) {
    let spans = page.split('`').skip(1).step_by(2).filter_map(command);
    found.extend(spans.filter(|line| {
        line.split(' ').count() > 2
            && !line.contains("--help")
            && !["steady torture --replay", "mount -o loop"].contains(&line.as_str())
    }));
}

/// Returns a command line without the remark behind it, in the form for an installed `steady`.
fn command(line: &str) -> Option<String> {
    let line = line.split("  #").next()?.trim();
    let first = line.split(' ').next()?;
    let is_one = ["steady", "cargo", "mke2fs", "mkdir", "mount"].contains(&first);
    (is_one && line != first).then(|| line.replace("cargo run --release -- ", "steady "))
}

#[test]
fn every_line_that_is_shown_is_run_and_none_other() {
    let told: BTreeSet<String> = SESSIONS
        .iter()
        .flat_map(|session| session.lines)
        .map(|(line, _)| line.to_string())
        .collect();
    let shown = shown();
    assert!(shown.len() > 60, "they are not found: {shown:?}");
    let (new, gone): (Vec<_>, Vec<_>) =
        (shown.difference(&told).collect(), told.difference(&shown).collect());
    assert!(
        new.is_empty() && gone.is_empty(),
        "not in a session: {new:#?}\nnot shown any more: {gone:#?}"
    );
}

#[test]
fn lines_on_images_succeed() {
    for name in ["readme-images", "pack", "read-only", "sectors", "other-images", "elsewhere"] {
        run(name);
    }
}

#[test]
fn lines_that_evaluate_succeed() {
    run("evaluate");
}

#[test]
fn lines_that_compare_succeed() {
    run("compare");
    run("boards");
}

#[test]
fn lines_that_measure_succeed() {
    run("measure");
    run("managed");
}

#[test]
fn lines_that_cut_power_succeed() {
    run("torture");
}

#[cfg(target_os = "linux")]
#[test]
fn lines_that_mount_succeed() {
    crate::common::namespace::run("command_lines::lines_that_mount_succeed", || run("mount"));
}

/// Each page names existing commands, with options that they have.
#[test]
fn names_within_the_text_are_those_of_commands() {
    let mut found = BTreeSet::new();
    let docs = [
        "README.md",
        "docs/guide/linux.md",
        "docs/results/bench.md",
        "docs/guide/cards.md",
        "docs/results/cards.md",
        "CONTRIBUTING.md",
        "docs/results/README.md",
        "docs/design.md",
        "crates/steadyfs/src/guide.md",
    ];
    for page in docs
        .map(|name| fs::read_to_string(root().join(name)).unwrap())
        .into_iter()
        .chain(names().iter().map(|name| help(name)))
    {
        found.extend(
            page.split('`')
                .skip(1)
                .step_by(2)
                .filter_map(|span| span.strip_prefix("steady "))
                .map(str::to_string),
        );
    }
    let names = names();
    for span in
        found.iter().filter(|span| !span.starts_with("COMMAND") && !span.starts_with("--help"))
    {
        let mut words = span.split(' ');
        let name = words.next().unwrap();
        assert!(names.iter().any(|known| known == name), "steady {span}: there is no {name}");
        let help = help(name);
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
                "steady {span}: no {option}"
            );
        }
    }
}
