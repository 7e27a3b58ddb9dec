//! Writes the seeds of the fuzz targets: `cargo run -p steadyfs-hostile --example seeds`. Other
//! files in `fuzz/seeds` stay: they are inputs that once found something.

use std::path::Path;
use steadyfs_hostile::structures::Structure;
use steadyfs_hostile::{image, volumes};

/// Some calls of every kind.
const SCRIPT: &[u8] =
    b"\0\0\x01\x03\x11\x01\x10\x20\x02\x05\x04\x00\x05\x07\x06\x01\x02\x03\x07\x00\
    \x05\x02\x08\x07\x06";

/// Two changes to a volume.
const DAMAGE: &[u8] = &[2, 1, 8, 0, 0, 1, 10, 0, 1, 3];

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let write = |target: &str, number: usize, bytes: &[u8]| {
        let directory = root.join(target);
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join(format!("seed-{number}")), bytes)
    };
    for (number, volume) in volumes::young().iter().chain(&volumes::volumes()[..1]).enumerate() {
        write("mount_arbitrary", number, &image::write(volume, SCRIPT))?;
    }
    for (number, disk) in volumes::young_disks().iter().enumerate() {
        write("disk_arbitrary", number, &image::write(disk, SCRIPT))?;
    }
    for number in 0..volumes::volumes().len() as u8 {
        write(
            "mount_forged",
            number.into(),
            &[&[3, number, 9, 1, 8, 3, 2, 1][..], DAMAGE, SCRIPT].concat(),
        )?;
    }
    for number in 0..volumes::disks().len() as u8 {
        write(
            "disk_forged",
            number.into(),
            &[&[2, number, 9, 1, 1, 3, 2, 1][..], DAMAGE, SCRIPT].concat(),
        )?;
        write("disk_mutated", number.into(), &[&[number], DAMAGE, SCRIPT].concat())?;
    }
    for (name, structure) in [
        ("parse_superblock", Structure::Superblock),
        ("parse_root", Structure::Root),
        ("parse_tag", Structure::Tag),
        ("parse_journal", Structure::Journal),
        ("parse_leaf", Structure::Leaf),
        ("parse_inode", Structure::Inode),
        ("parse_directory", Structure::Directory),
        ("parse_index", Structure::Index),
    ] {
        for (number, bytes) in structure.seeds(SCRIPT).iter().enumerate() {
            write(name, number, bytes)?;
        }
    }
    let records =
        [&[0x20, 0, 0, 0, 30, 0][..], &[3, 0, 0, 9], &[1; 9], &[5, 240, 0, 9], &[2; 9]].concat();
    write("parse_journal", 7, &[&records, SCRIPT].concat())?;
    for (name, texts) in TEXTS {
        for (number, text) in texts.iter().enumerate() {
            write(name, number, text.as_bytes())?;
        }
    }
    for number in 0..volumes::volumes().len() as u8 {
        write("mount_mutated", number.into(), &[&[number], DAMAGE, SCRIPT].concat())?;
    }
    let steps: Vec<u8> = (0..40u8)
        .flat_map(|step| [step.wrapping_mul(11), step, 0, 1, step, 4, 0, 9, 0, step, 1])
        .collect();
    for kind in 0..3u8 {
        write("operations", kind.into(), &[&[kind, kind, kind, 0][..], &steps].concat())?;
        write("parse_image", kind.into(), &[kind, 0, 0, 0, 0, 1, kind + 40, 0, 1])?;
    }
    for number in 0..3u8 {
        let entries = [5, 0, 0, 1, 99, 0, number, 1, 0, 3, 0xFF, 0xF, 3];
        write(
            "packed_file",
            number.into(),
            &[&[0, 0, number, number, 200, 7, 100][..], &entries, &[9; 40], SCRIPT].concat(),
        )?;
        write(
            "packed_block",
            number.into(),
            &[&[0, 8, 0x1F, 7, 1, 0, 20 * number, 0x50][..], b"12345"].concat(),
        )?;
    }
    Ok(())
}

/// Inputs that are text.
const TEXTS: [(&str, &[&str]); 4] = [
    (
        "parse_units",
        &[
            "500kB/s",
            "4KiB",
            "80%",
            "250 µs",
            "1700000000",
            "files",
            "adversary",
            "maximum",
            "1e99 s",
        ],
    ),
    (
        "parse_trace",
        &[
            "duration_us\n1.5\n2\n",
            "start_ms;end_ms\n0;1,5\n2;2,25\n",
            "# c\n\u{feff}ns\n7\n",
            "\"time [s]\"\t\"x\"\n1\t2\n",
        ],
    ),
    (
        "parse_profile",
        &[
            include_str!("../../steadyfs-sim/profiles/mt29f1g01abafd.toml"),
            include_str!("../../steadyfs-sim/profiles/w25q128jv.toml"),
        ],
    ),
    (
        "parse_names",
        &[
            "ordinary ä",
            "../../etc/passwd",
            "a\u{1b}[2Jb\n",
            "x\u{202e}txt",
            "a\0b",
            "/",
            "..",
            "image.img:path",
        ],
    ),
];
