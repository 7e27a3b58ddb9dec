//! The volume of the golden image: the calls that make it, its contents, and the image as a text.

pub mod reader;

use std::collections::BTreeMap;
use std::fmt::Write;

use steadyfs::media::{Flash, Geometry, PageIndex, TAG_BYTES};
use steadyfs::{Access, CommitOn, Config, Cursor, File, FileSystem, Kind, OpenOptions, ROOT};
use steadyfs_sim::{Nand, NandTiming};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/steadyfs/tests/images");
/// The pages are so small and so many that indexes have two levels.
pub const GEOMETRY: Geometry =
    Geometry { page_bytes: 256, pages_per_block: 64, block_count: 41, programs_bytes: false };
pub const CONFIG: Config = Config {
    permissions: false,
    pages_per_logical_page: 1,
    overlay_entries: 60,
    transaction_pages: 12,
    checkpoint_programs: 64,
    wear_spread: 32,
    bad_blocks_max: 1,
    files_max: 64,
    failures: 1,
    name_bytes_max: 200,
    streams: 1,
    moved_apart: false,
    auto_streams: false,
    move_group: 1,
    leaf_log_bytes: 96,
    journal_pages: 2,
};
/// A file page that the first page of entries of an index does not map.
const FAR_PAGE: usize = 200;

/// Returns bytes that are different in each file and at each offset.
pub fn content(file: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 256 * 13 + file * 61) as u8).collect()
}

/// A file or directory of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `None` if it is a directory.
    pub data: Option<Vec<u8>>,
    pub attributes: BTreeMap<String, Vec<u8>>,
    pub modified_ns: u64,
}

/// Everything in a volume, by path.
pub type Tree = BTreeMap<String, Node>;

fn long_name() -> String {
    "long name ".repeat(20)
}

/// Returns the contents of the image's volume.
pub fn expected() -> Tree {
    let mut sparse = vec![0; 9000];
    sparse.extend(content(6, 100));
    let mut cut = content(4, 3000);
    cut.truncate(1300);
    cut.resize(2100, 0);
    let mut deep = content(10, 700);
    deep.resize(FAR_PAGE * 256, 0);
    deep.extend(content(11, 300));
    let file = |data: Vec<u8>, modified_ns| Node {
        data: Some(data),
        attributes: BTreeMap::new(),
        modified_ns,
    };
    let directory = |modified_ns| Node { data: None, attributes: BTreeMap::new(), modified_ns };
    let mut tree = Tree::from([
        ("empty".into(), file(Vec::new(), 1)),
        ("inline".into(), file(content(1, 50), 1)),
        ("regions".into(), file(content(2, 5000), 1)),
        ("cut".into(), file(cut, 2)),
        ("patched".into(), file([&content(5, 700)[..], &content(1, 20)[..]].concat(), 2)),
        ("sparse".into(), file(sparse, 2)),
        ("deep".into(), file(deep, 3)),
        ("a".into(), directory(4)),
        ("a/b".into(), directory(4)),
        (format!("a/{}", long_name()), file(content(7, 144), 3)),
        ("a/b/renamed".into(), file(content(12, 300), 4)),
        ("many".into(), directory(5)),
    ]);
    tree.extend((0..20).map(|number| (format!("many/{number}"), file(vec![number; 5], 5))));
    tree.get_mut("a").unwrap().attributes = [("mode".into(), vec![7, 5])].into();
    tree.get_mut("cut").unwrap().attributes =
        [("k".into(), vec![9; 40]), ("ключ".into(), Vec::new())].into();
    tree
}

/// Opens a file, writes to it, and keeps the handle.
fn put(
    fs: &mut FileSystem<'_, &mut Nand>,
    path: &str,
    offset: usize,
    data: &[u8],
    options: OpenOptions,
) -> File {
    let mut file = fs.open(path, options).unwrap();
    fs.write(&mut file, offset as u64, data).unwrap();
    file
}

/// Writes like [`put`], then closes the file.
fn write(
    fs: &mut FileSystem<'_, &mut Nand>,
    path: &str,
    offset: usize,
    data: &[u8],
    options: OpenOptions,
) {
    let file = put(fs, path, offset, data, options);
    fs.close(file).unwrap();
}

/// Writes files of every form into the root directory.
fn first_mount(fs: &mut FileSystem<'_, &mut Nand>) {
    fs.set_time(1);
    for (path, data) in
        [("inline", content(1, 50)), ("removed", content(3, 2500)), ("cut", content(4, 3000))]
    {
        write(fs, path, 0, &data, OpenOptions::CREATE);
        fs.sync(CommitOn::SYNC).unwrap();
    }
    let file = fs.open("empty", OpenOptions::DURABLE).unwrap();
    fs.close(file).unwrap();
    // More pages than the overlay has entries: leaves of the map are written.
    for page in 0..60 {
        let mut data = [0xFF; 256];
        data[0] = page as u8;
        write(fs, "large", page * 256, &data, OpenOptions::DURABLE);
    }
    fs.remove("large").unwrap();
    write(fs, "regions", 0, &content(2, 5000), OpenOptions::DURABLE);
    fs.remove("removed").unwrap();
    fs.sync(CommitOn::SYNC).unwrap();
}

/// Makes truncations, holes, indexes of both levels, directories, attributes, orphans, and a
/// transaction that is left open.
fn second_mount(fs: &mut FileSystem<'_, &mut Nand>) {
    fs.set_time(2);
    let mut file = fs.open("cut", OpenOptions::WRITE).unwrap();
    fs.truncate(&mut file, 1300).unwrap();
    fs.truncate(&mut file, 2100).unwrap();
    fs.set_attribute(file.inode(), "k", Some(&[9; 40])).unwrap();
    fs.set_attribute(file.inode(), "ключ", Some(&[])).unwrap();
    write(fs, "sparse", 9000, &content(6, 100), OpenOptions::CREATE);
    fs.sync(CommitOn::SYNC).unwrap();
    let mut file = put(fs, "patched", 0, &content(5, 700), OpenOptions::DURABLE);
    fs.append(&mut file, &content(1, 20)).unwrap();
    fs.set_time(3);
    write(fs, "deep", 0, &content(10, 700), OpenOptions::DURABLE);
    write(fs, "deep", FAR_PAGE * 256, &content(11, 300), OpenOptions::DURABLE);
    let a = fs.create_dir("a").unwrap();
    fs.set_attribute(a, "mode", Some(&[7, 5])).unwrap();
    write(fs, &format!("a/{}", long_name()), 0, &content(7, 144), OpenOptions::DURABLE);
    fs.set_time(4);
    fs.create_dir("a/b").unwrap();
    write(fs, "name", 0, &content(12, 300), OpenOptions::CREATE);
    fs.rename("name", "a/b/renamed").unwrap();
    fs.set_time(5);
    fs.create_dir("many").unwrap();
    for number in 0..20 {
        write(fs, &format!("many/{number}"), 0, &[number; 5], OpenOptions::DURABLE);
    }
    // Two removed files that are still open: orphans.
    let orphans = ["orphan", "inline orphan"]
        .map(|path| put(fs, path, 0, &content(13, path.len() * 50), OpenOptions::DURABLE));
    write(fs, "goes", 0, &content(14, 3000), OpenOptions::DURABLE);
    // The last file is not open, and its pages are not freed yet.
    for path in ["orphan", "inline orphan", "goes"] {
        fs.remove(path).unwrap();
    }
    fs.commit().unwrap();
    drop(orphans);
    // This write is never committed.
    fs.set_commit_on(CommitOn::MANUAL);
    write(fs, "regions", 0, &content(8, 1024), OpenOptions::WRITE);
}

/// Makes the volume of the image: every kind of change, two mounts, and a power cut.
fn make() -> Nand {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut chip = FileSystem::format(
        Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1),
        &CONFIG,
        &mut memory,
    )
    .unwrap();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
    first_mount(&mut fs);
    fs.unmount().unwrap();
    second_mount(&mut FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap());
    chip
}

/// Programmed pages: tag and data.
pub type Pages = BTreeMap<PageIndex, ([u8; TAG_BYTES], Vec<u8>)>;

/// Returns the programmed pages of a chip.
pub fn dump(chip: &mut Nand) -> Pages {
    let mut pages = Pages::new();
    for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
        let (mut tag, mut data) = ([0; TAG_BYTES], vec![0; GEOMETRY.page_bytes as usize]);
        chip.read(page, &mut data, &mut tag).unwrap();
        if tag != [0xFF; TAG_BYTES] {
            pages.insert(page, (tag, data));
        }
    }
    pages
}

fn to_text(pages: &Pages) -> String {
    let mut text = String::new();
    for (page, (tag, data)) in pages {
        let used = data.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
        let hex = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
        };
        writeln!(text, "{page} {} {}", hex(tag), hex(&data[..used])).unwrap();
    }
    text
}

/// Returns the pages of the image. With `STEADYFS_BLESS=1`, writes the file first.
pub fn image() -> Pages {
    if std::env::var_os("STEADYFS_BLESS").is_some() {
        let text = to_text(&dump(&mut make()));
        // Tests run in parallel. With the rename, each of them reads a whole file.
        let path = path_of(steadyfs::FORMAT_VERSION);
        let part = format!("{path}.{:?}", std::thread::current().id());
        std::fs::write(&part, &text).and_then(|()| std::fs::rename(&part, &path)).expect(&path);
    }
    image_of_version(steadyfs::FORMAT_VERSION)
}

fn path_of(version: u16) -> String {
    format!("{DIRECTORY}/v{version}-small.hex")
}

/// Returns the pages of the image of a version of the format.
pub fn image_of_version(version: u16) -> Pages {
    let path = path_of(version);
    let text = std::fs::read_to_string(&path).expect(&path);
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
            .collect()
    };
    let line = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let mut data = bytes(parts[2]);
        data.resize(GEOMETRY.page_bytes as usize, 0xFF);
        (parts[0].parse().expect("a page"), (bytes(parts[1]).try_into().expect("a tag"), data))
    };
    text.lines().map(line).collect()
}

/// Returns a chip with the image.
pub fn chip() -> Nand {
    chip_with(&image())
}

/// Returns a chip with these pages.
pub fn chip_with(pages: &Pages) -> Nand {
    let mut chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    for (page, (tag, data)) in pages {
        chip.program(*page, data, tag).expect("program");
    }
    chip
}

/// Reads everything in a volume through the file system.
pub fn contents<F: Flash>(fs: &mut FileSystem<'_, F>) -> Tree {
    let (mut tree, mut waiting) = (Tree::new(), vec![(String::new(), ROOT)]);
    while let Some((directory, inode)) = waiting.pop() {
        let mut cursor = Cursor::default();
        while let Some(entry) = fs.list(inode, &mut cursor).expect("list") {
            let path = format!("{directory}{}", entry.name());
            let mut node = Node {
                data: None,
                attributes: BTreeMap::new(),
                modified_ns: entry.stat.modified_ns,
            };
            fs.attributes(entry.stat.inode, |key, value| {
                drop(node.attributes.insert(key.into(), value.into()))
            })
            .expect("attributes");
            if entry.stat.kind == Kind::Directory {
                waiting.push((format!("{path}/"), entry.stat.inode));
            } else {
                node.data = Some(read(fs, &path, entry.stat.size as usize));
            }
            tree.insert(path, node);
        }
    }
    tree
}

fn read<F: Flash>(fs: &mut FileSystem<'_, F>, path: &str, size: usize) -> Vec<u8> {
    let mut file = fs.open(path, OpenOptions::READ).expect("open");
    let mut data = vec![0; size + 1];
    let count = fs.read(&mut file, 0, &mut data).expect("read");
    data.truncate(count);
    fs.close(file).expect("close");
    data
}
