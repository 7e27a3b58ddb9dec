//! `steady health` and `steady scrub`, and the reports of other commands about a worn-out volume.

use crate::common::{Bench, content};
use std::collections::BTreeSet;

/// Bytes of a page of the small NAND chip, and of its spare area.
const PAGE_BYTES: usize = 512 + 128;
/// Bytes of the header of a root.
const HEADER_BYTES: usize = 64;
/// The byte of the header whose second bit marks a worn-out volume.
const FLAGS: usize = 10;

/// Marks the volume as worn out in every root of an image, and in every copy of it.
fn wear_out(bench: &Bench, image: &str) {
    let bytes = bench.read(image);
    let roots = bytes.chunks_exact(PAGE_BYTES).filter(|page| page.starts_with(b"SFSR"));
    let headers: BTreeSet<_> = roots.map(|page| page[..HEADER_BYTES].to_vec()).collect();
    for header in headers {
        let mut worn = header.clone();
        worn[FLAGS] |= 2;
        bench.forge(image, &header, &worn);
    }
}

fn volume(name: &str, device: &str) -> Bench {
    let bench = Bench::new(name);
    bench.write("from/file", &content(1, 50_000));
    bench.ok(&format!("pack from i.img --device {device}"));
    bench
}

#[test]
fn health_tells_blocks_and_erases_and_changes_nothing() {
    for device in ["nand.toml", "nor.toml"] {
        let bench = volume(&format!("health-{device}"), device);
        let before = bench.read("i.img");
        let health = bench.json("health i.img --json -");
        assert_eq!(
            (&health["bad_blocks"], &health["weak_blocks"], &health["worn_out"]),
            (&0.into(), &0.into(), &false.into())
        );
        assert!(
            health["blocks"] == 64
                && health["data_blocks"].as_u64().is_some_and(|data| (50..64).contains(&data)),
            "{health}"
        );
        assert!(health["erases_min"].as_u64() <= health["erases_max"].as_u64(), "{health}");
        let text = bench.ok("health i.img");
        assert!(
            text.contains("Spare blocks")
                && text.contains("can be written")
                && !text.contains("Life used"),
            "{text}"
        );
        assert!(bench.read("i.img") == before);
    }
}

#[test]
fn bad_blocks_take_from_the_spare_ones() {
    let bench = Bench::new("health-bad");
    bench.ok("format i.img --device nand.toml");
    let whole = bench.json("health i.img --json -");
    bench.ok("format i.img --device nand.toml --force --bad-block 7 --bad-block 20");
    let health = bench.json("health i.img --json -");
    assert_eq!(health["bad_blocks"], 2);
    assert_eq!(
        health["spare_blocks"].as_u64().unwrap() + 2,
        whole["spare_blocks"].as_u64().unwrap()
    );
}

#[test]
fn endurance_comes_from_the_device_or_the_argument_or_is_left_out() {
    let bench = volume("health-endurance", "nand.toml");
    assert_eq!(bench.json("health i.img --json -")["life_used_permille"], serde_json::Value::Null);
    let device = bench.json("health i.img --device nand.toml --json -");
    assert_eq!((&device["endurance"], &device["life_used_permille"]), (&100_000.into(), &0.into()));
    let told = bench.json("health i.img --device nand.toml --endurance 1 --json -");
    assert!(told["endurance"] == 1 && told["life_used_permille"].as_u64() > Some(100), "{told}");
    assert!(bench.ok("health i.img --endurance 5000").contains("of 5,000 erases a block"));
    assert_eq!(bench.run("health i.img --endurance 0").status.code(), Some(2));
}

#[test]
fn json_goes_to_a_file_beside_the_table() {
    let bench = volume("health-json", "nand.toml");
    assert!(bench.ok("health i.img --json health.json").starts_with("Blocks "));
    let health: serde_json::Value = serde_json::from_slice(&bench.read("health.json")).unwrap();
    assert_eq!(health["worn_out"], false);
}

#[test]
fn worn_out_volume_can_be_read_and_every_command_says_what_it_is() {
    let bench = volume("health-worn-out", "nand.toml");
    wear_out(&bench, "i.img");
    let output = bench.run("health i.img");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        crate::common::text(&output.stdout).contains("State           worn out: "),
        "{}",
        crate::common::text(&output.stdout)
    );
    assert!(
        crate::common::text(&output.stderr)
            .starts_with("error: i.img: is worn out: more blocks are bad than")
    );
    assert!(bench.ok("df i.img").contains("\nWorn out        more blocks are bad than"));
    assert_eq!(bench.json("df i.img --json")["worn_out"], true);
    assert!(bench.ok("check i.img").contains(": sound\nworn out: more blocks are bad than"));
    assert_eq!(bench.json("check i.img --json")["worn_out"], true);
    assert!(bench.fails("mkdir i.img new").ends_with("`steady health` gives details"));
    assert!(bench.fails("scrub i.img").ends_with("`steady health` gives details"));
    bench.ok("get i.img file back");
    assert_eq!(bench.read("back"), content(1, 50_000));
}

#[test]
fn scrub_reads_every_page_and_leaves_a_sound_volume_sound() {
    for device in ["nand.toml", "nor.toml"] {
        let bench = volume(&format!("scrub-{device}"), device);
        let round = bench.json("scrub i.img --json");
        assert!(round["reads"].as_u64() > Some(50_000 / 512), "{round}");
        assert_eq!(
            (&round["corrected"], &round["moved_blocks"], &round["lost"]),
            (&0.into(), &0.into(), &0.into())
        );
        let text = bench.ok("scrub i.img");
        assert!(
            text.contains(
                ": the chip does not report its corrections\n0 weak blocks moved\n0 pages lost\n"
            ),
            "{text}"
        );
        assert!(bench.ok("check i.img").ends_with(": sound\n"));
    }
}
