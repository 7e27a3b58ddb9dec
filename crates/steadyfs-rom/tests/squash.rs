//! Reads images that `mksquashfs` made: every file, link and device, with mode and owner, within
//! the bounds. Without `mksquashfs` only the image in `tests/images` is read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use steadyfs_rom::squash::{Cursor, Needs, Node};
use steadyfs_rom::{Bound, Error, InRam, Kind, Source, Squash};

/// A source that takes a microsecond for each read and a nanosecond for each byte, and sums this
/// time.
struct Metered<'i> {
    ram: InRam<'i>,
    spent_ns: u64,
}

impl Source for Metered<'_> {
    fn bytes(&self) -> u64 {
        self.ram.bytes()
    }
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        self.spent_ns += 1000 + data.len() as u64;
        self.ram.read(offset, data)
    }
    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        Bound::of_flash(1000 * pieces + bytes)
    }
}

type Rom<'m, 'i> = Squash<'m, Metered<'i>>;

/// Makes a call, and checks its time against its bound.
fn within<'m, 'i, T>(
    rom: &mut Rom<'m, 'i>,
    bound: Bound,
    call: impl FnOnce(&mut Rom<'m, 'i>) -> Result<T, Error>,
) -> T {
    let before = rom.source_mut().spent_ns;
    let result = call(rom).expect("a sound image");
    let spent = rom.source_mut().spent_ns - before;
    assert!(spent <= bound.flash_ns, "{spent} ns, bound {}", bound.flash_ns);
    result
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, bytes).expect("a file");
}

/// Content: text, noise, or zeros.
fn content(rng: &mut fastrand::Rng, bytes: usize) -> Vec<u8> {
    match rng.u8(0..4) {
        0 => (0..bytes).map(|_| rng.u8(..)).collect(),
        1 => vec![0; bytes],
        _ => (0..bytes)
            .map(|at| {
                b"the quick brown fox "[(at + at / 97) % 20]
                    ^ (rng.u8(..) & u8::from(rng.u8(..) < 20))
            })
            .collect(),
    }
}

fn make_tree(root: &Path, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    for (index, bytes) in
        [0, 1, 4095, 4096, 4097, 8192, 70_000, 131_072, 131_073, 900_000].into_iter().enumerate()
    {
        write(&root.join(format!("sizes/{index}")), &content(&mut rng, bytes));
    }
    let mut sparse = vec![0; 300_000];
    sparse[200_000..200_010].copy_from_slice(b"in between");
    write(&root.join("sparse"), &sparse);
    for index in 0..900 {
        write(
            &root.join(format!("many/entry-{index:05}-{}", "x".repeat(index % 40))),
            format!("{index}").as_bytes(),
        );
    }
    let mut deep = root.to_path_buf();
    for index in 0..20 {
        deep = deep.join(format!("d{index}"));
    }
    write(&deep.join("bottom"), b"here");
    for index in 0..rng.usize(5..40) {
        let bytes = rng.usize(0..30_000);
        let path = root.join(format!("some/{}/{index}", rng.u8(0..5)));
        write(&path, &content(&mut rng, bytes));
    }
    symlink("some/where", root.join("link")).expect("a link");
    symlink("t".repeat(900), root.join("long-link")).expect("a link");
    fs::hard_link(root.join("sizes/6"), root.join("hard")).expect("a second name");
    fs::create_dir(root.join("empty")).expect("a directory");
    for (name, kind) in [("pipe", "p"), ("console", "c")] {
        let numbers: &[&str] = if kind == "c" { &["5", "1"] } else { &[] };
        let _ = Command::new("mknod").arg(root.join(name)).arg(kind).args(numbers).status();
    }
}

/// Returns every name of a directory on the host, with its path.
fn names(path: &Path) -> BTreeMap<Vec<u8>, std::path::PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry"));
    entries.map(|entry| (entry.file_name().into_vec(), entry.path())).collect()
}

fn compare(rom: &mut Rom<'_, '_>, node: &Node, path: &Path) {
    let there = fs::symlink_metadata(path).expect("a file");
    let stat = node.stat();
    assert_eq!(u32::from(stat.mode), there.mode() & 0o7777, "{path:?}");
    assert_eq!(rom.owner(node).expect("owners"), (there.uid(), there.gid()));
    match stat.kind {
        Kind::Directory => compare_directory(rom, node, path),
        Kind::File => compare_file(rom, node, &fs::read(path).expect("a file")),
        Kind::Symlink => {
            let mut target = vec![0; 1000];
            let count = rom.read_link(node, &mut target).expect("a target");
            assert_eq!(
                Path::new(std::str::from_utf8(&target[..count]).expect("text")),
                fs::read_link(path).expect("a link")
            );
        }
        Kind::CharacterDevice(number) => assert_eq!(u64::from(number), there.rdev()),
        Kind::Fifo => assert!(there.file_type().is_fifo()),
        other => panic!("{other:?}"),
    }
}

fn compare_directory(rom: &mut Rom<'_, '_>, node: &Node, path: &Path) {
    let there = names(path);
    let mut cursor = Cursor::default();
    let mut seen = Vec::new();
    let bound = rom.entry_bound();
    while let Some(entry) = within(rom, bound, |rom| rom.list(node, &mut cursor)) {
        seen.push(entry.name().to_vec());
    }
    assert_eq!(seen, there.keys().cloned().collect::<Vec<_>>(), "{path:?}");
    for (name, path) in there {
        let bound = rom.lookup_bound(node).plus(rom.node_bound());
        let below = within(rom, bound, |rom| rom.lookup(node, &name));
        compare(rom, &below, &path);
    }
    for name in ["", "0", "entry-00100", "zzz", "\u{ff}"] {
        if !seen.iter().any(|seen| seen == name.as_bytes()) {
            assert_eq!(rom.lookup(node, name.as_bytes()).err(), Some(Error::NotFound));
        }
    }
}

fn compare_file(rom: &mut Rom<'_, '_>, node: &Node, there: &[u8]) {
    let bound = rom.open_bound();
    let mut file = within(rom, bound, |rom| rom.open_node(node));
    assert_eq!(file.size(), there.len() as u64);
    let mut all = vec![0xAA; there.len() + 10];
    let bound = rom.read_bound(&file, all.len() as u64);
    let count = within(rom, bound, |rom| rom.read(&mut file, 0, &mut all));
    assert!(all[..count] == *there);
    let mut rng = fastrand::Rng::with_seed(there.len() as u64);
    for _ in 0..4 {
        let at = rng.usize(0..=there.len());
        let mut some = vec![0; rng.usize(0..9000)];
        let bound = rom.read_bound(&file, some.len() as u64);
        let count = within(rom, bound, |rom| rom.read(&mut file, at as u64, &mut some));
        assert!(
            some[..count] == there[at..at + count]
                && (count == some.len() || at + count == there.len())
        );
    }
}

fn check(image: &[u8], tree: &Path) {
    let needs = Needs::of(&mut InRam::new(image)).expect("a superblock");
    for bytes in [needs.least, needs.both] {
        let mut memory = vec![0; bytes];
        let mut rom = Squash::mount(Metered { ram: InRam::new(image), spent_ns: 0 }, &mut memory)
            .expect("an image");
        let root = rom.root().expect("a root");
        compare(&mut rom, &root, tree);
    }
    let mut memory = vec![0; needs.least - 1];
    let refused = Squash::mount(InRam::new(image), &mut memory).err();
    assert_eq!(refused, Some(Error::MemoryTooSmall { needed: needs.least, lent: needs.least - 1 }));
}

#[test]
fn what_mksquashfs_made_reads_as_the_tree() {
    if Command::new("mksquashfs").arg("-version").output().is_err() {
        eprintln!("mksquashfs is not there");
        return;
    }
    let place = tempfile::tempdir().expect("a place");
    let tree = place.path().join("tree");
    make_tree(&tree, 7);
    let compressors: &[&str] = if cfg!(feature = "host") {
        &["lz4", "lzo", "gzip", "xz", "zstd"]
    } else {
        &["lz4", "lzo"]
    };
    for (number, compressor) in compressors.iter().enumerate() {
        for (block, more) in [
            ("4096", "-noI -noId -noF"),
            ("131072", "-always-use-fragments"),
            ("1048576", "-no-fragments"),
        ] {
            let image = place.path().join(format!("{number}-{block}"));
            let made = Command::new("mksquashfs")
                .arg(&tree)
                .arg(&image)
                .args(["-comp", compressor, "-b", block])
                .args(more.split(' '))
                .output();
            assert!(made.expect("mksquashfs").status.success());
            check(&fs::read(&image).expect("an image"), &tree);
        }
    }
}

#[test]
fn links_files_and_directories_are_told_apart() {
    let image = include_bytes!("images/notes.squashfs");
    let mut memory = vec![0; Needs::of(&mut InRam::new(image)).expect("a superblock").least];
    let mut rom = Squash::mount(InRam::new(image), &mut memory).expect("an image");
    assert_eq!(rom.open("etc").err(), Some(Error::NotAFile));
    assert_eq!(rom.open("etc/none").err(), Some(Error::NotFound));
    assert_eq!(rom.find("etc/motd/x").err(), Some(Error::NotADirectory));
    let link = rom.find("/motd").expect("a link");
    assert_eq!(rom.read_link(&link, &mut [0; 3]).err(), Some(Error::BufferTooSmall { needed: 8 }));
    let motd = rom.find("etc//motd/").expect("a file");
    assert_eq!(rom.read_link(&motd, &mut [0; 3]).err(), Some(Error::NotALink));
    assert_eq!((motd.stat().size, motd.stat().modified), (19, 1_700_000_000));
}

#[test]
fn damaged_images_end_in_errors_and_in_time() {
    let image = include_bytes!("images/notes.squashfs");
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..4000 {
        let mut image = *image;
        for _ in 0..rng.usize(1..6) {
            let at = if rng.bool() { rng.usize(0..96) } else { rng.usize(0..image.len()) };
            image[at] = rng.u8(..);
        }
        let mut memory = vec![0; 40_000];
        let Ok(mut rom) = Squash::mount(InRam::new(&image), &mut memory) else { continue };
        for path in ["etc/motd", "etc/numbers", "motd"] {
            let Ok(node) = rom.find(path) else { continue };
            let _ = rom.read_link(&node, &mut [0; 100]);
            let Ok(mut file) = rom.open_node(&node) else { continue };
            let _ = rom.read(&mut file, 0, &mut [0; 2000]);
        }
    }
}
