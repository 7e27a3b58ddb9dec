//! Golden images of NOR and of a card, of format version 6. `format.rs` has the image of NAND. Every
//! later version of the code must read them wholly, as `docs/format.md` promises.
//!
//! An image is a text with a line for each part of the medium that is not blank: `address bytes` in
//! hexadecimal. The last byte of a line repeats to the end of its part.
//! `STEADYFS_BLESS=1 cargo test -p steadyfs --test all golden` writes the images again. Do this only
//! before a version is released.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::image::content;
use crate::image::reader::{crc, number};
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::sectors::{
    SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages, SectorTimes,
};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, TAG_BYTES};
use steadyfs::{
    Access, CommitOn, Config, Cursor, FORMAT_VERSION, FileSystem, Kind, MountError, OpenOptions,
    Permissions, ROOT,
};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/steadyfs/tests/images");
const NOR_BLOCK_BYTES: u32 = 4096;
const NOR: Geometry = Geometry::of_nor(NOR_BLOCK_BYTES, 48);
const CARD: SectorLayout =
    SectorLayout { page_bytes: 512, ..SectorLayout::for_device(48 * 32, 32 * 512) };

/// The bytes of a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bytes {
    bytes: Vec<u8>,
    /// The value of bytes that were never written.
    blank: u8,
    /// Number of bytes in a line of the text.
    part_bytes: usize,
}

impl Bytes {
    fn of_nor() -> Self {
        let bytes = (NOR.block_count * NOR_BLOCK_BYTES) as usize;
        Self { bytes: vec![0xFF; bytes], blank: 0xFF, part_bytes: 256 }
    }

    fn of_card() -> Self {
        let bytes = CARD.sectors as usize * SECTOR_BYTES;
        Self { bytes: vec![0; bytes], blank: 0, part_bytes: SECTOR_BYTES }
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, part) in self.bytes.chunks(self.part_bytes).enumerate() {
            if part.iter().any(|&byte| byte != self.blank) {
                let last = part[part.len() - 1];
                let used = part.iter().rposition(|&byte| byte != last).map_or(1, |at| at + 2);
                write!(text, "{:x} ", index * self.part_bytes).unwrap();
                part[..used].iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
                text.push('\n');
            }
        }
        text
    }

    /// Fills a blank medium with the bytes of an image.
    fn load(mut self, text: &str) -> Self {
        for line in text.lines() {
            let (address, bytes) = line.split_once(' ').expect("an address and bytes");
            let address = usize::from_str_radix(address, 16).expect("an address");
            let part = &mut self.bytes[address..address + self.part_bytes];
            for (at, pair) in bytes.as_bytes().chunks(2).enumerate() {
                let pair = std::str::from_utf8(pair).expect("hexadecimal");
                part[at..].fill(u8::from_str_radix(pair, 16).expect("hexadecimal"));
            }
        }
        self
    }
}

impl NorFlash for Bytes {
    fn block_bytes(&self) -> u32 {
        NOR_BLOCK_BYTES
    }

    fn block_count(&self) -> u32 {
        NOR.block_count
    }

    fn times_ns(&self, _bytes: u32) -> (u64, u64, u64) {
        (1, 1, 1)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        data.copy_from_slice(&self.bytes[address as usize..][..data.len()]);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        for (stored, byte) in self.bytes[address as usize..].iter_mut().zip(data) {
            *stored &= byte;
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let from = (block * NOR_BLOCK_BYTES) as usize;
        self.bytes[from..from + NOR_BLOCK_BYTES as usize].fill(0xFF);
        Ok(())
    }
}

impl SectorDevice for Bytes {
    fn sector_count(&self) -> u32 {
        CARD.sectors
    }

    fn times(&self) -> SectorTimes {
        SectorTimes {
            read_ns: 1,
            read_sector_ns: 1,
            write_ns: 1,
            write_sector_ns: 1,
            discard_ns: 0,
            flush_ns: 0,
        }
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let mut at = first as usize * SECTOR_BYTES;
        for part in parts {
            part.copy_from_slice(&self.bytes[at..at + part.len()]);
            at += part.len();
        }
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let mut at = first as usize * SECTOR_BYTES;
        for part in parts {
            self.bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        Ok(())
    }
}

fn nor(bytes: Bytes) -> NorPages<Bytes> {
    NorPages::new(bytes, NOR.page_bytes)
}

fn card(bytes: Bytes) -> SectorPages<Bytes> {
    SectorPages::new(bytes, CARD).expect("the layout")
}

/// Settings with everything that a volume can store.
fn config(geometry: &Geometry) -> Config {
    Config { permissions: true, streams: 2, ..Config::for_geometry(geometry) }
}

fn memory(geometry: &Geometry) -> Vec<u8> {
    vec![0; config(geometry).memory_bytes(geometry)]
}

/// A file, directory or link of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    /// The content of a file, the target of a link, empty for a directory.
    data: Vec<u8>,
    kind: Kind,
    stream: u8,
    modified_ns: u64,
    attributes: BTreeMap<String, Vec<u8>>,
    permissions: Option<Permissions>,
}

type Tree = BTreeMap<String, Node>;

const LONG: &str = "a name with many bytes, which does not fit into the inode of its file: ünïcödé";
const OWNED: Permissions = Permissions { mode: 0o640, uid: 70_000, gid: 33 };

/// Returns the contents of both images.
fn expected() -> Tree {
    let node = |kind, data, modified_ns| Node {
        data,
        kind,
        stream: 0,
        modified_ns,
        attributes: BTreeMap::new(),
        permissions: None,
    };
    let file = |data, modified_ns| node(Kind::File, data, modified_ns);
    let mut sparse = content(3, 10);
    sparse.resize(6000, 0);
    sparse.extend(content(4, 300));
    let mut changed = content(5, 4000);
    changed[1000..1100].copy_from_slice(&content(6, 100));
    let mut cut = content(7, 1500);
    cut.resize(2500, 0);
    let mut tree = Tree::from([
        ("empty".into(), file(Vec::new(), 1)),
        ("inline".into(), file(content(1, 100), 1)),
        ("sparse".into(), file(sparse, 1)),
        ("changed".into(), file(changed, 2)),
        ("cut".into(), file(cut, 2)),
        ("log".into(), Node { stream: 1, ..file(content(8, 3000), 1) }),
        ("dir".into(), node(Kind::Directory, Vec::new(), 2)),
        ("dir/moved".into(), file(content(9, 700), 1)),
        ("dir/link".into(), node(Kind::Symlink, b"../inline".to_vec(), 2)),
        (format!("dir/{LONG}"), file(content(10, 20), 2)),
    ]);
    let attributes = &mut tree.get_mut("inline").expect("inline").attributes;
    attributes.insert("user.kind".into(), b"configuration".to_vec());
    attributes.insert("k".into(), Vec::new());
    tree.get_mut("dir").expect("dir").attributes.insert("d".into(), vec![0, 255]);
    tree.get_mut("changed").expect("changed").permissions = Some(OWNED);
    tree
}

fn put<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    path: &str,
    offset: u64,
    data: &[u8],
    options: OpenOptions,
) {
    let mut file = fs.open(path, options).expect("open");
    fs.write(&mut file, offset, data).expect("write");
    fs.close(file).expect("close");
}

/// Makes the volume: two mounts, garbage collection, and a power cut with an open transaction.
fn make<F: Flash>(flash: &mut F) {
    let geometry = flash.geometry();
    let mut memory = memory(&geometry);
    FileSystem::format(&mut *flash, &config(&geometry), &mut memory).expect("format");
    let mut fs = FileSystem::mount(&mut *flash, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_time(1);
    put(&mut fs, "empty", 0, &[], OpenOptions::CREATE);
    put(&mut fs, "inline", 0, &content(1, 100), OpenOptions::CREATE);
    fs.set_attribute("inline", "user.kind", Some(b"configuration")).expect("attribute");
    fs.set_attribute("inline", "k", Some(&[])).expect("attribute");
    put(&mut fs, "sparse", 0, &content(3, 10), OpenOptions::CREATE);
    put(&mut fs, "sparse", 6000, &content(4, 300), OpenOptions::WRITE);
    put(&mut fs, "changed", 0, &content(5, 4000), OpenOptions::CREATE);
    put(&mut fs, "cut", 0, &content(7, 3000), OpenOptions::CREATE);
    let in_stream_1 = OpenOptions { stream: 1, ..OpenOptions::DURABLE };
    put(&mut fs, "log", 0, &content(8, 3000), in_stream_1);
    put(&mut fs, "moved", 0, &content(9, 700), OpenOptions::CREATE);
    // Rewrites fill the medium several times, so blocks are reclaimed.
    for round in 0..60 {
        put(&mut fs, "removed", 0, &[round; 8000], OpenOptions::DURABLE);
    }
    fs.unmount().expect("unmount");

    let mut fs = FileSystem::mount(&mut *flash, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_time(2);
    fs.remove("removed").expect("remove");
    put(&mut fs, "changed", 1000, &content(6, 100), OpenOptions::WRITE);
    fs.set_permissions("changed", OWNED).expect("permissions");
    let mut file = fs.open("cut", OpenOptions::WRITE).expect("open");
    fs.truncate(&mut file, 1500).expect("truncate");
    fs.truncate(&mut file, 2500).expect("truncate");
    fs.close(file).expect("close");
    fs.create_dir("dir").expect("directory");
    fs.set_attribute("dir", "d", Some(&[0, 255])).expect("attribute");
    fs.rename("moved", "dir/moved").expect("rename");
    fs.create_symlink("dir/link", "../inline").expect("link");
    put(&mut fs, &format!("dir/{LONG}"), 0, &content(10, 20), OpenOptions::CREATE);
    fs.sync(CommitOn::SYNC).expect("sync");
    // This change is never committed.
    fs.set_commit_on(CommitOn::MANUAL);
    put(&mut fs, "inline", 0, &content(11, 100), OpenOptions::WRITE);
}

/// Reads everything in a volume.
fn contents<F: Flash>(fs: &mut FileSystem<'_, F>) -> Tree {
    let (mut tree, mut waiting) = (Tree::new(), vec![(String::new(), ROOT)]);
    while let Some((directory, inode)) = waiting.pop() {
        let mut cursor = Cursor::default();
        while let Some(entry) = fs.list(inode, &mut cursor).expect("list") {
            let path = format!("{directory}{}", entry.name());
            if entry.stat.kind == Kind::Directory {
                waiting.push((format!("{path}/"), entry.stat.inode));
            }
            let node = node(fs, &path);
            tree.insert(path, node);
        }
    }
    tree
}

fn node<F: Flash>(fs: &mut FileSystem<'_, F>, path: &str) -> Node {
    let stat = fs.stat(path).expect("stat");
    let (mut data, mut stream) = (vec![0; stat.size as usize], 0);
    match stat.kind {
        Kind::File => {
            let mut file = fs.open(path, OpenOptions::READ).expect("open");
            assert_eq!(fs.read(&mut file, 0, &mut data), Ok(data.len()));
            stream = file.stream();
            fs.close(file).expect("close");
        }
        Kind::Symlink => assert_eq!(fs.read_link(path, &mut data), Ok(data.len())),
        _ => data.clear(),
    }
    let mut attributes = BTreeMap::new();
    fs.attributes(path, |key, value| {
        attributes.insert(key.into(), value.into());
    })
    .expect("attributes");
    let permissions = fs.permissions(path).expect("permissions");
    Node { data, kind: stat.kind, stream, modified_ns: stat.modified_ns, attributes, permissions }
}

/// Returns the bytes of an image, `nor` or `card`. With `STEADYFS_BLESS=1`, writes the file first.
fn image<F: Flash>(name: &str, blank: Bytes, flash: fn(Bytes) -> F, into: fn(F) -> Bytes) -> Bytes {
    let path = format!("{DIRECTORY}/v6-{name}.hex");
    if std::env::var_os("STEADYFS_BLESS").is_some() {
        let mut made = flash(blank.clone());
        make(&mut made);
        let part = format!("{path}.{:?}", std::thread::current().id());
        let text = into(made).to_text();
        std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, &path)).expect(&path);
    }
    blank.load(&std::fs::read_to_string(&path).expect(&path))
}

fn nor_image() -> Bytes {
    image("nor", Bytes::of_nor(), nor, NorPages::into_chip)
}

fn card_image() -> Bytes {
    image("card", Bytes::of_card(), card, SectorPages::into_device)
}

/// Reads the image wholly, without a change; changes it; and reads it again.
fn check<F: Flash>(image: &Bytes, flash: fn(Bytes) -> F, into: fn(F) -> Bytes) {
    let mut medium = flash(image.clone());
    let geometry = medium.geometry();
    let mut memory = memory(&geometry);
    let mut fs = FileSystem::mount(&mut medium, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!(fs.config(), &config(&geometry), "the settings");
    assert_eq!(contents(&mut fs), expected());
    let unchanged = into(medium);
    assert!(unchanged == *image, "a mount for reading has changed the medium");

    let mut medium = flash(image.clone());
    let mut fs = FileSystem::mount(&mut medium, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_time(9);
    put(&mut fs, "log", 3000, &content(12, 900), OpenOptions::DURABLE);
    fs.unmount().expect("unmount");
    let mut fs = FileSystem::mount(&mut medium, Access::ReadWrite, &mut memory).expect("mount");
    let mut tree = expected();
    let log = tree.get_mut("log").expect("log");
    log.data.extend(content(12, 900));
    log.modified_ns = 9;
    assert_eq!(contents(&mut fs), tree);
    let mut scratch = vec![0; config(&geometry).check_bytes(&geometry)];
    fs.check(&mut scratch, true, &mut |finding| panic!("{finding:?}")).expect("check");
}

#[test]
fn image_of_nor_is_read_wholly_and_can_be_changed() {
    check(&nor_image(), nor, NorPages::into_chip);
}

#[test]
fn image_of_a_card_is_read_wholly_and_can_be_changed() {
    check(&card_image(), card, SectorPages::into_device);
}

/// Writes another version into both superblocks, with a right checksum.
fn set_version<F: Flash>(flash: &mut F, version: u16) {
    let geometry = flash.geometry();
    for block in 0..2 {
        let page = block * geometry.pages_per_block;
        let (mut data, mut tag) = (vec![0; geometry.page_bytes as usize], [0; TAG_BYTES]);
        flash.read(page, &mut data, &mut tag).expect("read");
        assert_eq!((&data[..8], number(&data, 8, 2)), (&b"SteadyFS"[..], FORMAT_VERSION.into()));
        data[8..10].copy_from_slice(&version.to_le_bytes());
        let check = crc(&data) ^ crc(&tag[..12]);
        tag[12..].copy_from_slice(&check.to_le_bytes());
        flash.erase(block).expect("erase");
        flash.program(page, &data, &tag).expect("program");
    }
    flash.sync().expect("sync");
}

fn refuses_other_versions<F: Flash>(image: &Bytes, flash: fn(Bytes) -> F, into: fn(F) -> Bytes) {
    for version in [0, FORMAT_VERSION - 1, FORMAT_VERSION + 1, u16::MAX] {
        let mut medium = flash(image.clone());
        set_version(&mut medium, version);
        let before = into(medium);
        let mut medium = flash(before.clone());
        let mut memory = memory(&medium.geometry());
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = FileSystem::mount(&mut medium, access, &mut memory).map(drop).err();
            assert_eq!(error, Some(MountError::Version { on_flash: version }));
            let text = error.expect("an error").to_string();
            let start = format!("the volume has format version {version}; this library reads ");
            assert!(text.starts_with(&start) && text.contains("version 6"), "{text}");
        }
        assert!(into(medium) == before, "a refused mount has changed the medium");
    }
    // The number of this version makes the volume readable again.
    let mut medium = flash(image.clone());
    set_version(&mut medium, FORMAT_VERSION);
    let mut memory = memory(&medium.geometry());
    let mut fs = FileSystem::mount(&mut medium, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!(contents(&mut fs), expected());
}

#[test]
fn another_version_is_refused_by_its_number_and_nothing_changes() {
    refuses_other_versions(&nor_image(), nor, NorPages::into_chip);
    refuses_other_versions(&card_image(), card, SectorPages::into_device);
}
