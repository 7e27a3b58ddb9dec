//! Images with one bad superblock. Every command works, and names the bad copy and the repair.

use crate::common::{Bench, content, text};

/// Makes an image of each medium with files. Returns the places of the superblock in its first
/// two blocks.
fn images(name: &str) -> (Bench, [(&'static str, [usize; 2]); 4]) {
    let bench = Bench::new(name);
    bench.write("from/a", &content(1, 20_000));
    bench.write("from/d/b", b"small");
    bench.write("more", &content(2, 3000));
    bench.ok("pack from nand.img --device nand.toml");
    bench.ok("pack from nor.img --device nor.toml");
    bench.ok("format card.img --block --size 16MiB");
    bench.ok("put -r card.img from/a from/d /");
    bench.ok("format disk.img --disk --block --size 16MiB");
    let find = |image: &str| {
        let bytes = bench.read(image);
        let mut places = bytes
            .windows(8)
            .enumerate()
            .filter(|(_, bytes)| bytes == b"SteadyFS")
            .map(|(at, _)| at);
        [places.next().unwrap(), places.next().unwrap()]
    };
    let images = ["nand.img", "nor.img", "card.img", "disk.img"].map(|image| (image, find(image)));
    (bench, images)
}

/// The damaged bytes: the magic, one bit of the version so that it reads as 20, a size, and the
/// settings.
const DAMAGES: [(usize, u8); 4] = [(0, 0x10), (8, 0x10), (16, 0x10), (33, 0x01)];

/// No tool opened an image with one bad superblock: it was "never formatted", or had to be
/// formatted anew. With the second copy bad, `check` said "sound".
#[test]
fn every_command_works_with_either_copy_and_warns() {
    let (bench, images) = images("superblocks-commands");
    for (image, places) in images {
        let whole = bench.read(image);
        for (block, at) in places.into_iter().enumerate() {
            for (byte, flip) in DAMAGES {
                let mut bytes = whole.clone();
                bytes[at + byte] ^= flip;
                bench.write("i.img", &bytes);
                let warning = format!(
                    "warning: i.img: the superblock in block {block} is damaged; its copy in block {} is \
                     whole, and no file is lost; `steady check --repair` writes it anew\n",
                    1 - block
                );
                let of_files = [
                    "ls i.img",
                    "tree i.img",
                    "cat i.img a",
                    "get i.img a back --force",
                    "stat i.img a",
                    "unpack i.img out-1",
                ];
                let of_all = ["df i.img", "health i.img", "dump i.img", "scrub i.img"];
                // Each command runs once. Some of them also meet the other damages.
                let (of_all, of_files) = if byte == 8 {
                    (&of_all[..], &of_files[..])
                } else {
                    (&of_all[..1], &of_files[..1])
                };
                let reading = of_all.iter().chain(of_files.iter().filter(|_| image != "disk.img"));
                for line in reading {
                    let output = bench.run(line);
                    let told = text(&output.stderr);
                    assert!(output.status.success(), "{image}, {block}, {byte}: {line}: {told}");
                    assert!(
                        told.starts_with(&warning) && told.matches("warning").count() == 1,
                        "{image}: {line}: {told}"
                    );
                }
                let _ = std::fs::remove_dir_all(bench.path("out-1"));
                if image != "disk.img" && byte == 8 {
                    for line in [
                        "put i.img more /",
                        "mkdir i.img new",
                        "mv i.img more new",
                        "rm -r i.img new",
                    ] {
                        let output = bench.run(line);
                        assert_eq!(
                            (output.status.code(), text(&output.stderr)),
                            (Some(0), warning.clone()),
                            "{image}: {line}"
                        );
                    }
                }
                let finding = format!(
                    "the superblock in block {block} is damaged; its copy in block {} is whole",
                    1 - block
                );
                let checked = bench.run("check i.img");
                let said = text(&checked.stdout);
                assert_eq!(checked.status.code(), Some(1), "{said}");
                assert!(
                    said.contains(&finding)
                        && said.contains("--repair writes it anew")
                        && said.ends_with(": damaged\n"),
                    "{said}"
                );
                let json: serde_json::Value =
                    serde_json::from_slice(&bench.run("check i.img --json").stdout).unwrap();
                assert!(json["findings"][0].as_str().unwrap().starts_with(&finding), "{json}");
                let repaired = text(&bench.run("check i.img --repair").stdout);
                assert!(repaired.contains("it was written anew"), "{repaired}");
                assert!(bench.ok("check i.img").ends_with(": sound\n"));
                let mended = bench.read("i.img");
                assert!(mended[at..at + 55] == whole[at..at + 55], "{image}, {block}, {byte}");
            }
        }
    }
}

#[test]
fn both_copies_damaged_is_an_error_that_does_not_say_to_format() {
    let (bench, images) = images("superblocks-both");
    for (image, places) in images {
        let mut bytes = bench.read(image);
        bytes[places[0] + 8] ^= 0x10;
        bytes[places[1] + 33] ^= 1;
        bench.write("i.img", &bytes);
        for line in ["ls i.img", "check i.img", "check --repair i.img", "df i.img"] {
            let error = bench.fails(line);
            assert!(!error.contains("format the volume again"), "{image}: {line}: {error}");
        }
    }
}

/// A partition tool wrote over the first sectors of a card. Then no command found its volume.
#[test]
fn a_card_without_its_first_sectors_is_read_and_mended() {
    let (bench, _) = images("superblocks-card");
    let mut bytes = bench.read("card.img");
    bytes[..4096].fill(0x5A);
    bench.write("i.img", &bytes);
    let output = bench.run("cat i.img a");
    assert!(
        output.status.success() && output.stdout == content(1, 20_000),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stderr).starts_with("warning: i.img: the superblock in block 0 is damaged")
    );
    assert!(text(&bench.run("check --repair i.img").stdout).contains("it was written anew"));
    assert!(bench.ok("check i.img").ends_with(": sound\n"));
}
