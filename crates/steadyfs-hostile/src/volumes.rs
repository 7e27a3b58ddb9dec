//! Sound volumes on tiny media, to be damaged. They are so small that one volume is copied,
//! damaged, mounted and used thousands of times per second.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use steadyfs::disk::{Disk, SECTOR_BYTES, WriteOptions};
use steadyfs::media::{BlockIndex, Flash, Geometry, PageIndex, TAG_BYTES};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};

use crate::exercise::memory_for;
use crate::kind;
use crate::medium::Ram;
use crate::seal::{LEAF_LOG_BYTES, seal_tag};

/// Shape of a medium and settings of its volume.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Shape of the medium.
    pub geometry: Geometry,
    /// Settings.
    pub config: Config,
}

/// The smallest volumes that have settings: single pages, pages of two, a chip that copies, and a
/// chip that programs bytes.
pub const SHAPES: [Shape; 4] = [
    shape(256, 8, 44, 1, false),
    shape(256, 16, 32, 2, false),
    shape(512, 16, 28, 1, false),
    shape(256, 16, 40, 1, true),
];

const fn shape(
    page_bytes: u32,
    pages_per_block: u32,
    block_count: u32,
    pages_per_logical_page: u16,
    programs_bytes: bool,
) -> Shape {
    let geometry = Geometry { page_bytes, pages_per_block, block_count, programs_bytes };
    let config = Config {
        pages_per_logical_page,
        overlay_entries: 60,
        transaction_pages: 16,
        checkpoint_programs: 32,
        wear_spread: if pages_per_logical_page == 2 { 0 } else { 8 },
        bad_blocks_max: 1,
        files_max: 40,
        failures: 0,
        name_bytes_max: 255,
        permissions: pages_per_logical_page == 1,
        // The shapes that are large enough.
        streams: if pages_per_logical_page == 1 && page_bytes == 256 { 2 } else { 1 },
        moved_apart: page_bytes == 256,
        auto_streams: programs_bytes,
        // Pages of two, on a device that levels wear itself.
        move_group: if pages_per_logical_page == 2 { 6 } else { 1 },
        leaf_log_bytes: LEAF_LOG_BYTES,
        journal_pages: 2,
    };
    Shape { geometry, config }
}

/// A sound volume.
#[derive(Clone, Debug)]
pub struct Volume {
    /// Shape and settings.
    pub shape: Shape,
    /// The medium.
    pub ram: Ram,
    /// Programmed pages, the newest first, with their tags.
    tags: Vec<(usize, Tag)>,
    /// Records of chains, the newest first.
    chain_records: Vec<ChainRecord>,
    /// The newest page of each logical page.
    newest: BTreeMap<u32, usize>,
}

/// A record of a chain: a tag, and the bytes behind it.
#[derive(Clone, Copy, Debug)]
pub struct ChainRecord {
    /// The block.
    pub block: BlockIndex,
    /// The record's first byte in the block's data.
    pub offset: u32,
    /// The record's bytes, its tag included.
    pub bytes: usize,
}

/// Returns volumes of each shape: an unmounted volume, and a volume whose power failed in an open
/// transaction. The last volume is the golden image, whose indexes have two levels.
pub fn volumes() -> &'static [Volume] {
    static VOLUMES: LazyLock<Vec<Volume>> = LazyLock::new(|| {
        let mut volumes: Vec<Volume> = SHAPES.iter().flat_map(made).collect();
        volumes.extend(golden());
        volumes
    });
    &VOLUMES
}

/// Returns disks on such media: an unmounted disk, and a disk whose power failed while writes and
/// trims waited.
pub fn disks() -> &'static [Volume] {
    static DISKS: LazyLock<Vec<Volume>> =
        LazyLock::new(|| disk_shapes().iter().flat_map(made_disk).collect());
    &DISKS
}

/// Returns shapes of disks whose logical pages are one or two sectors. The first of [`SHAPES`]
/// has blocks that are too small for either.
fn disk_shapes() -> [Shape; 3] {
    [&SHAPES[1], &SHAPES[2], &SHAPES[3]].map(|shape| {
        // The lifetimes of pages take too much of such a small root.
        let config = Config {
            pages_per_logical_page: 2,
            files_max: 0,
            permissions: false,
            auto_streams: false,
            ..shape.config
        };
        Shape { config, ..*shape }
    })
}

/// Returns a disk of each shape. Most of its medium is still erased.
pub fn young_disks() -> [Volume; 3] {
    disk_shapes().map(|shape| Volume::new(shape, worked_disk(&shape, 8)))
}

/// Returns a new disk that was written `rounds` times and unmounted.
fn worked_disk(shape: &Shape, rounds: u32) -> Ram {
    let mut memory = vec![0; shape.config.memory_bytes(&shape.geometry)];
    let mut ram =
        Disk::format(Ram::new(shape.geometry), &shape.config, &mut memory).expect("format");
    ram.can_copy = shape.geometry.page_bytes == 512;
    let mut disk = Disk::mount(ram, Access::ReadWrite, &mut memory).expect("mount");
    rewrite(&mut disk, rounds).expect("sectors that there are");
    disk.unmount().expect("unmount")
}

fn made_disk(shape: &Shape) -> [Volume; 2] {
    let mut memory = vec![0; shape.config.memory_bytes(&shape.geometry)];
    let ram = worked_disk(shape, 300);
    let mut disk = Disk::mount(ram.clone(), Access::ReadWrite, &mut memory).expect("mount");
    rewrite(&mut disk, 21).expect("sectors that there are");
    let cut = disk.flash().clone();
    [ram, cut].map(|ram| Volume::new(*shape, ram))
}

/// Writes all of a disk again and again, in parts and in whole pages, so that reclamation works,
/// and trims some of it.
fn rewrite(disk: &mut Disk<'_, Ram>, rounds: u32) -> Result<(), Error> {
    let (sectors, per_page) = (disk.sectors(), disk.page_sectors());
    for round in 0..rounds {
        let sector = round * 7 % sectors;
        let count = if round % 3 == 0 { 1 } else { per_page - sector % per_page };
        let options = WriteOptions { durable: round % 5 == 0, stream: (sector % 2) as u8 };
        disk.write_with(sector, &vec![round as u8; (count * SECTOR_BYTES) as usize], options)?;
        match round % 20 {
            7 => disk.flush()?,
            19 => drop(disk.trim(sector, (5 * per_page).min(sectors - sector))?),
            _ => {}
        }
    }
    Ok(())
}

/// Returns a volume of each shape with a few files. Most of its medium is still erased.
pub fn young() -> [Volume; 4] {
    SHAPES.map(|shape| Volume::new(shape, formatted(&shape, begin)))
}

/// Returns a new volume, filled and unmounted.
fn formatted(
    shape: &Shape,
    fill: impl FnOnce(&mut FileSystem<'_, Ram>) -> Result<(), Error>,
) -> Ram {
    let mut memory = vec![0; shape.config.memory_bytes(&shape.geometry)];
    let mut ram =
        FileSystem::format(Ram::new(shape.geometry), &shape.config, &mut memory).expect("format");
    ram.can_copy = shape.geometry.page_bytes == 512;
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).expect("mount");
    fill(&mut fs).expect("a volume with room");
    fs.unmount().expect("unmount")
}

fn made(shape: &Shape) -> [Volume; 2] {
    let mut memory = vec![0; shape.config.memory_bytes(&shape.geometry)];
    let ram = formatted(shape, fill);
    let mut fs = FileSystem::mount(ram.clone(), Access::ReadWrite, &mut memory).expect("mount");
    leave_open(&mut fs).expect("a volume with room");
    let cut = fs.flash().clone();
    [ram, cut].map(|ram| Volume::new(*shape, ram))
}

/// Makes a file in a directory, a file in its inode, and a file with a hole.
fn begin(fs: &mut FileSystem<'_, Ram>) -> Result<(), Error> {
    fs.create_dir("d")?;
    put(fs, "d/a1", 0, &[1; 300])?;
    put(fs, "a2", 0, b"in the inode")?;
    put(fs, "d/a3", 2000, &[3; 20])
}

/// Makes files and directories of every form, with reclamation at work, and more changes than the
/// journal holds.
fn fill(fs: &mut FileSystem<'_, Ram>) -> Result<(), Error> {
    for (index, directory) in ["d", "d/e", "d/e/f"].into_iter().enumerate() {
        let inode = fs.create_dir(directory)?;
        fs.set_attribute(inode, "k", Some(&[7; 50][..40 + index]))?;
    }
    fs.create_symlink("d/short", "../a2")?;
    fs.create_symlink("d/long", &"long/".repeat(40))?;
    for number in 0..8 {
        put(fs, &format!("d/e/{number:070}"), 0, &[number; 40])?;
    }
    for round in 0..150_u64 {
        let path = format!("a{}", round * 7 % 5);
        put(fs, &path, round * 131 % 900, &vec![round as u8; 1 + round as usize * 37 % 400])?;
        if round % 40 == 39 {
            let mut file = fs.open(&path, OpenOptions::DURABLE)?;
            fs.truncate(&mut file, round * 7)?;
            fs.close(file)?;
        }
        if round % 50 == 30 {
            fs.remove(&path)?;
        }
    }
    fs.rename("a0", "d/renamed")?;
    fs.sync(CommitOn::SYNC)
}

fn put(fs: &mut FileSystem<'_, Ram>, path: &str, offset: u64, data: &[u8]) -> Result<(), Error> {
    let mut file = fs.open(path, OpenOptions::DURABLE)?;
    fs.write(&mut file, offset, data)?;
    fs.close(file)
}

/// Leaves orphans, a list of removed files, and a transaction that is not committed.
fn leave_open(fs: &mut FileSystem<'_, Ram>) -> Result<(), Error> {
    for path in ["orphan", "inline orphan"] {
        let mut orphan = fs.open(path, OpenOptions::DURABLE)?;
        fs.write(&mut orphan, 0, &vec![9; path.len() * 70])?;
        fs.remove(path)?;
    }
    fs.remove("a1")?;
    fs.commit()?;
    fs.set_commit_on(CommitOn::MANUAL);
    let mut file = fs.open("a2", OpenOptions::CREATE)?;
    let page = fs.usage().logical_bytes as usize;
    fs.write(&mut file, 0, &vec![1; 2 * page])
}

/// Returns the golden images of this version of the format that list pages with their tags.
fn golden() -> Vec<Volume> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../steadyfs/tests/images");
    let entries =
        std::fs::read_dir(directory).expect(directory).map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    paths
        .iter()
        .filter(|path| path.to_string_lossy().ends_with("-small.hex"))
        .filter_map(|path| of_text(&std::fs::read_to_string(path).expect("an image")))
        .collect()
}

/// Reads a golden image, in which each line is a page: its number, tag and data. Returns `None`
/// if the image has another version.
fn of_text(text: &str) -> Option<Volume> {
    let geometry =
        Geometry { page_bytes: 256, pages_per_block: 64, block_count: 41, programs_bytes: false };
    let mut ram = Ram::new(geometry);
    for line in text.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let page: PageIndex = parts[0].parse().expect("a page");
        let tag = bytes(parts[1]).try_into().expect("a tag");
        ram.program(page, &bytes(parts[2]), &tag).expect("RAM");
    }
    let mut memory = vec![0; memory_for(&mut ram).ok()?];
    let config = *FileSystem::mount(&mut ram, Access::ReadOnly, &mut memory).ok()?.config();
    Some(Volume::new(Shape { geometry, config }, ram))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

/// The fields of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Number of the program.
    pub sequence: u64,
    /// Logical page, leaf, or a count.
    pub logical: u32,
    /// Kind of the page.
    pub kind: u8,
    /// Pages of a root, and the number of the copy; a frame or a distance.
    pub aux: u32,
}

impl Tag {
    fn read(tag: &[u8]) -> Self {
        let number = |range: std::ops::Range<usize>| {
            tag[range].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
        };
        Self {
            sequence: number(0..5) & 0xF_FFFF_FFFF,
            logical: number(5..8) as u32,
            kind: tag[8] & 0xF,
            aux: number(9..12) as u32,
        }
    }
}

impl Volume {
    fn new(shape: Shape, ram: Ram) -> Self {
        let mut tags: Vec<(usize, Tag)> =
            (0..ram.page_count()).map(|page| (page, Tag::read(ram.parts(page).1))).collect();
        tags.retain(|(_, tag)| tag.kind <= kind::LAST);
        tags.sort_by_key(|(_, tag)| std::cmp::Reverse(tag.sequence));
        let data = tags.iter().rev().filter(|(_, tag)| kind::DATA.contains(&tag.kind));
        let newest = data.map(|&(page, tag)| (tag.logical, page)).collect();
        let chain_records = if shape.geometry.programs_bytes {
            chain_records(&shape.geometry, &ram)
        } else {
            Vec::new()
        };
        Self { shape, ram, tags, chain_records, newest }
    }

    /// Returns the records of chains, the newest first.
    pub fn chain_records(&self) -> &[ChainRecord] {
        &self.chain_records
    }

    /// Returns the pages of the newest root and of its copies.
    pub fn newest_root(&self) -> impl Iterator<Item = (usize, Tag)> {
        let newest = self.pages_of(&[kind::ROOT]).next().map_or(0, |(_, tag)| tag.sequence);
        self.pages_of(&[kind::ROOT]).filter(move |(_, tag)| tag.sequence == newest)
    }

    /// Returns the pages of some kinds, the newest first, with their tags.
    pub fn pages_of(&self, kinds: &[u8]) -> impl Iterator<Item = (usize, Tag)> {
        self.tags.iter().copied().filter(|(_, tag)| kinds.contains(&tag.kind))
    }

    /// Returns every programmed page, the newest first.
    pub fn every_page(&self) -> impl Iterator<Item = usize> {
        self.tags.iter().map(|&(page, _)| page)
    }

    /// Returns the newest page of a logical page.
    pub fn newest_of(&self, logical: u32) -> Option<usize> {
        self.newest.get(&logical).copied()
    }

    /// Returns the first page of the newest frame of a logical page.
    pub fn frame_of(&self, logical: u32) -> Option<usize> {
        let unit = usize::from(self.shape.config.pages_per_logical_page);
        self.newest_of(logical).map(|page| page / unit * unit)
    }

    /// Returns the bytes of a logical page.
    pub fn logical_bytes(&self) -> u32 {
        self.shape.geometry.page_bytes * u32::from(self.shape.config.pages_per_logical_page)
    }

    /// Returns the number of logical pages.
    pub fn logical_count(&self) -> u32 {
        if self.is_disk() { self.data_pages() } else { self.data() + self.data_pages() }
    }

    /// Returns true if the volume holds sectors in place of files.
    pub fn is_disk(&self) -> bool {
        self.shape.config.files_max == 0
    }

    /// Returns the bytes of the log in each page of a leaf.
    pub fn log_bytes(&self) -> u32 {
        if self.shape.geometry.programs_bytes {
            u32::from(self.shape.config.leaf_log_bytes)
        } else {
            0
        }
    }

    /// Returns the number of leaves of the map. On such a small medium, entries have two bytes.
    pub fn leaves(&self) -> u32 {
        let entries = (self.shape.geometry.page_bytes - self.log_bytes()) / 2
            * u32::from(self.shape.config.pages_per_logical_page);
        self.logical_count().div_ceil(entries)
    }

    /// Returns the number of heads that only a volume with streams has.
    pub fn stream_heads(&self) -> u32 {
        2 * (u32::from(self.shape.config.streams) - 1)
    }

    /// Returns the bytes of the table of page lifetimes.
    pub fn lifetimes_bytes(&self) -> u32 {
        if self.shape.config.auto_streams && self.shape.config.streams > 1 {
            4 + 3 * 256
        } else {
            0
        }
    }

    /// Returns the first logical page of the file table: behind the root page and the allocation
    /// map, as `docs/format.md` defines.
    pub fn table(&self) -> u32 {
        let config = &self.shape.config;
        1 + (self.data_pages() + config.files_max + 16 + 7).div_ceil(8 * self.logical_bytes())
    }

    /// Returns the number of logical pages of data. It is larger if moves go in groups.
    pub fn data_pages(&self) -> u32 {
        let Shape { geometry, config } = &self.shape;
        let frames = geometry.pages_per_block / u32::from(config.pages_per_logical_page)
            * geometry.block_count;
        if config.move_group > 1 { frames / 25 * 24 } else { frames / 10 * 9 }
    }

    /// Returns the first logical page of the data.
    pub fn data(&self) -> u32 {
        self.table() + (self.shape.config.files_max + 16).div_ceil(self.logical_bytes() / 256)
    }

    /// Returns the bits of the fields of a record's header in the journal: logical page, offset,
    /// length.
    pub fn record_widths(&self) -> [u32; 3] {
        let geometry = &self.shape.geometry;
        [self.logical_count(), self.logical_bytes(), geometry.page_bytes]
            .map(|count| u32::BITS - (count - 1).leading_zeros())
    }
}

/// Finds records of chains: at any slot of a block, with a kind of the journal and the right
/// checksum.
fn chain_records(geometry: &Geometry, ram: &Ram) -> Vec<ChainRecord> {
    let mut found = Vec::new();
    for block in 0..geometry.block_count {
        let block_bytes = geometry.pages_per_block * geometry.page_bytes;
        for offset in (0..block_bytes - 2 * TAG_BYTES as u32).step_by(TAG_BYTES) {
            let room = (block_bytes - offset).min(geometry.page_bytes) as usize;
            let record = ram.bytes(block, offset, room);
            let (tag, data) = record.split_at(TAG_BYTES);
            let length = usize::from(u16::from_le_bytes([data[0], data[1]]));
            let mut right = tag.to_vec();
            if (2..=data.len()).contains(&length) {
                seal_tag(&data[..length], &mut right);
                let is_of_journal =
                    kind::JOURNAL.contains(&(tag[8] & 0xF)) || tag[8] & 0xF == kind::LEAF_CHANGED;
                if right == tag && is_of_journal {
                    found.push((
                        Tag::read(tag).sequence,
                        ChainRecord { block, offset, bytes: TAG_BYTES + length },
                    ));
                }
            }
        }
    }
    found.sort_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
    found.into_iter().map(|(_, record)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_that_program_bytes_have_chains() {
        let mut count = 0;
        for volume in volumes().iter().filter(|volume| volume.shape.geometry.programs_bytes) {
            assert!(volume.chain_records().len() > 3, "{}", volume.chain_records().len());
            count += 1;
        }
        assert_eq!(count, 2);
    }

    #[test]
    fn every_disk_is_sound_and_some_have_parts_of_pages_and_streams() {
        assert!(disks().iter().any(|disk| disk.logical_bytes() > SECTOR_BYTES));
        assert!(disks().iter().any(|disk| disk.shape.config.streams > 1));
        for (index, volume) in disks().iter().enumerate() {
            let mut memory = vec![0; volume.shape.config.memory_bytes(&volume.shape.geometry)];
            let mut disk =
                Disk::mount(volume.ram.clone(), Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(
                (*disk.config(), disk.damage()),
                (volume.shape.config, None),
                "disk {index}"
            );
            let mut page = vec![0; (disk.page_sectors() * SECTOR_BYTES) as usize];
            for sector in (0..disk.sectors()).step_by(disk.page_sectors() as usize) {
                disk.read(sector, &mut page).expect("read");
            }
            assert!(volume.pages_of(&kind::LEAF).next().is_some(), "disk {index}: a leaf");
        }
    }

    #[test]
    fn every_volume_is_sound_and_has_pages_of_every_kind_of_interest() {
        assert!(volumes().len() > 2 * SHAPES.len(), "no golden image of this version");
        for (index, volume) in volumes().iter().enumerate() {
            let mut ram = volume.ram.clone();
            let mut memory = vec![0; memory_for(&mut ram).expect("a volume")];
            let mut fs =
                FileSystem::mount(&mut ram, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(*fs.config(), volume.shape.config, "volume {index}");
            let mut scratch = vec![0; volume.shape.config.check_bytes(&volume.shape.geometry)];
            let checked = fs
                .check(&mut scratch, false, &mut |finding| panic!("volume {index}: {finding}"))
                .expect("check");
            assert!(checked.files > 5 && checked.directories > 3, "volume {index}: {checked:?}");
            let has_pages = !volume.shape.geometry.programs_bytes;
            let journal = if has_pages { &kind::JOURNAL[..] } else { &[kind::SUPER] };
            for kinds in [&[kind::SUPER][..], &[kind::ROOT], journal, &kind::DATA, &kind::LEAF] {
                assert!(volume.pages_of(kinds).next().is_some(), "volume {index}: {kinds:?}");
            }
            assert!(volume.newest_of(volume.table()).is_some(), "volume {index}: the first inodes");
        }
    }
}
