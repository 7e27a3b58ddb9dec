//! Whatever bytes are on the medium: mounting, listing, reading, changing and checking end, without a panic and without an
//! access beyond the chip.
//!
//! Pages of a sound volume are damaged, most of them under checksums that are right again.

mod common;

use common::{Rng, for_seeds};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, Config, Cursor, File, FileSystem, InodeNumber, Kind, OpenOptions, ROOT};

/// Operations after which a call is taken to be endless.
const OPERATIONS_MAX: u32 = 300_000;

/// A medium that takes any bytes and any order of programs, and panics only beyond its end.
#[derive(Clone)]
struct Ram {
    geometry: Geometry,
    pages: Vec<(Vec<u8>, [u8; TAG_BYTES])>,
    operations: u32,
}

impl Ram {
    fn new(geometry: Geometry) -> Self {
        let count = (geometry.block_count * geometry.pages_per_block) as usize;
        Self { geometry, pages: vec![(vec![0xFF; geometry.page_bytes as usize], [0xFF; TAG_BYTES]); count], operations: 0 }
    }

    fn count(&mut self) {
        self.operations += 1;
        assert!(self.operations < OPERATIONS_MAX, "no end after {OPERATIONS_MAX} operations");
    }
}

impl Flash for Ram {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        Timing { read_ns: 1, read_tag_ns: 1, program_ns: 4, copy_ns: 5, erase_ns: 40 }
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count();
        let stored = &self.pages[page as usize];
        data.copy_from_slice(&stored.0);
        *tag = stored.1;
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count();
        *tag = self.pages[page as usize].1;
        Ok(())
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count();
        let stored = &mut self.pages[page as usize];
        stored.0[..data.len()].copy_from_slice(data);
        stored.1 = *tag;
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.count();
        let first = (block * self.geometry.pages_per_block) as usize;
        for (data, tag) in &mut self.pages[first..first + self.geometry.pages_per_block as usize] {
            data.fill(0xFF);
            tag.fill(0xFF);
        }
        Ok(())
    }

    fn is_bad(&mut self, _block: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}

/// CRC-32, bit by bit: the test has its own, so that a wrong one in the core shows.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// Makes the checksum of a page right.
fn seal((data, tag): &mut (Vec<u8>, [u8; TAG_BYTES])) {
    let check = crc(data) ^ crc(&tag[..12]);
    tag[12..].copy_from_slice(&check.to_le_bytes());
}

/// Lists directories, as far as a few steps go; returns the paths and inodes that were seen.
fn walk(fs: &mut FileSystem<'_, Ram>) -> (Vec<String>, Vec<InodeNumber>) {
    let mut paths = vec!["a0".to_string(), "new".into(), "d/new".into()];
    let (mut inodes, mut waiting) = (vec![1, ROOT], vec![(String::new(), ROOT)]);
    while let Some((path, inode)) = waiting.pop() {
        let mut cursor = Cursor::default();
        for _ in 0..100 {
            fs.flash_mut().operations = 0;
            let Ok(Some(entry)) = fs.list(inode, &mut cursor) else { break };
            let path = format!("{path}{}", entry.name());
            if entry.stat.kind == Kind::Directory && paths.len() < 200 {
                waiting.push((format!("{path}/"), entry.stat.inode));
            }
            paths.push(path);
            inodes.push(entry.stat.inode);
        }
    }
    (paths, inodes)
}

/// What a user does with a file that is open, whatever it returns.
fn use_file(fs: &mut FileSystem<'_, Ram>, file: &mut File, rng: &mut Rng) {
    let mut data = vec![0; 3000];
    let size = fs.size(file).unwrap_or(0);
    let offset = if rng.one_in(4) { rng.next() } else { rng.below(size.clamp(1, 1 << 40)) };
    let bytes = 1 + rng.below(2000) as usize;
    let _ = match rng.below(5) {
        0 => fs.read(file, offset, &mut data).map(drop),
        1 => fs.write(file, offset, &data[..bytes]),
        2 => fs.append(file, &data[..bytes]),
        3 => fs.truncate(file, offset),
        _ => fs.reserve(file, offset, offset.saturating_add(bytes as u64)).map(drop),
    };
}

/// What a user does with names and inodes, whatever it returns.
fn use_names(fs: &mut FileSystem<'_, Ram>, from: &str, to: &str, inode: InodeNumber, rng: &mut Rng) {
    let _ = match rng.below(10) {
        0 => fs.remove(from),
        1 => fs.remove_dir(from),
        2 | 3 => fs.rename(from, to),
        4 => fs.create_dir(to).map(drop),
        5 => fs.set_attribute(inode, "k", Some(&[1; 60])),
        6 => fs.attributes(inode, |_, _| {}),
        7 => fs.stat_inode(inode).map(drop),
        8 => fs.rollback(),
        _ => fs.commit(),
    };
}

/// Everything that a user does, whatever it returns.
fn use_it(ram: Ram, access: Access, config: &Config, seed: u64) {
    let mut memory = vec![0; config.memory_bytes(&ram.geometry)];
    let mut scratch = vec![0; config.check_bytes(&ram.geometry)];
    let Ok(mut fs) = FileSystem::mount(ram, access, &mut memory) else { return };
    let mut rng = Rng(seed);
    let (paths, inodes) = walk(&mut fs);
    let mut open: Vec<File> = Vec::new();
    for round in 0..70 {
        fs.flash_mut().operations = 0;
        let mut path = || paths[rng.below(paths.len() as u64) as usize].as_str();
        let (from, to) = (path(), path());
        let inode = inodes[rng.below(inodes.len() as u64) as usize];
        let _ = fs.stat(from);
        use_names(&mut fs, from, to, inode, &mut rng);
        let options = OpenOptions { durable: rng.one_in(2), ..OpenOptions::CREATE };
        fs.flash_mut().operations = 0;
        open.extend(fs.open(from, options));
        if let Some(file) = open.last_mut() {
            use_file(&mut fs, file, &mut rng);
        }
        if open.len() > 5 {
            let _ = fs.close(open.swap_remove(0));
        }
        let _ = fs.usage();
        if round == 35 {
            fs.flash_mut().operations = 0;
            let _ = fs.check(&mut scratch, rng.one_in(2), &mut |_| {});
        }
    }
}

/// A volume with files and directories of every form, on which reclamation was at work.
fn sound_volume(geometry: Geometry, config: &Config) -> Ram {
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let ram = FileSystem::format(Ram::new(geometry), config, &mut memory).expect("format");
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).expect("mount");
    let mut rng = Rng(1);
    for directory in ["d", "d/e", "d/e/f"] {
        let inode = fs.create_dir(directory).expect("create_dir");
        fs.set_attribute(inode, "k", Some(&[7; 50])).expect("attribute");
    }
    for number in 0..30 {
        let file = fs.open(&format!("d/e/{number:0100}"), OpenOptions::DURABLE).expect("create");
        fs.close(file).expect("close");
    }
    for round in 0..600_u64 {
        fs.flash_mut().operations = 0;
        let mut file = fs.open(&format!("a{}", rng.below(9)), OpenOptions::DURABLE).expect("open");
        let data = vec![round as u8; 1 + rng.below(1500) as usize];
        fs.write(&mut file, rng.below(1 + round * 20), &data).expect("write");
        if round % 50 == 49 {
            fs.truncate(&mut file, rng.below(1 + round * 10)).expect("truncate");
        }
        fs.close(file).expect("close");
        if round % 90 == 70 {
            fs.remove(&format!("a{}", rng.below(9))).ok();
        }
    }
    // Orphans: what is removed while it is open, and never closed.
    let mut orphan = fs.open("orphan", OpenOptions::DURABLE).expect("open");
    fs.write(&mut orphan, 5000, &[9; 3000]).expect("write");
    fs.remove("orphan").expect("remove");
    fs.remove("a1").expect("remove");
    fs.unmount().expect("unmount")
}

/// Damages one page. Most of the time its kind is chosen first, so that rare kinds are met as often as data.
fn damage(ram: &mut Ram, rng: &mut Rng) {
    let kind = 1 + rng.below(9) as u8;
    let pages: Vec<usize> = (0..ram.pages.len()).filter(|&page| ram.pages[page].1[8] == kind).collect();
    if pages.is_empty() {
        return;
    }
    // The newest of a kind matter most.
    let newest =
        pages.iter().copied().max_by_key(|&page| ram.pages[page].1[..5].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)));
    let page = if rng.one_in(2) { newest.unwrap() } else { pages[rng.below(pages.len() as u64) as usize] };
    let other = rng.below(ram.pages.len() as u64) as usize;
    let sealed = !rng.one_in(8);
    match rng.below(5) {
        0 => {
            // The first bytes hold headers and tables.
            let target = &mut ram.pages[page].0;
            let limit = if rng.one_in(2) { 96 } else { target.len() as u64 };
            let at = rng.below(limit) as usize;
            target[at] = if rng.one_in(2) { rng.next() as u8 } else { 0xFF };
        }
        1 => ram.pages[page].1[rng.below(12) as usize] ^= 1 << rng.below(8),
        2 => ram.pages[page] = ram.pages[other].clone(),
        3 => ram.pages[page].0.iter_mut().for_each(|byte| *byte = rng.next() as u8),
        _ => (0..8).for_each(|_| {
            let at = rng.below(ram.pages[page].0.len() as u64) as usize;
            ram.pages[page].0[at] ^= 1 << rng.below(8);
        }),
    }
    if sealed {
        seal(&mut ram.pages[page]);
    }
}

/// Volumes whose logical pages are one program page and two, and one whose indexes have two levels.
fn settings(kind: usize) -> (Geometry, Config) {
    let geometry = match kind {
        2 => Geometry { page_bytes: 256, pages_per_block: 64, block_count: 48 },
        _ => Geometry { page_bytes: 512, pages_per_block: 32, block_count: 40 },
    };
    let unit_pages = if kind == 1 { 2 } else { 1 };
    (geometry, Config { unit_pages, ..Config::for_geometry(&geometry) })
}

#[test]
fn damaged_volume_gives_errors_only() {
    let volumes = [0, 1, 2].map(|kind| (settings(kind).1, sound_volume(settings(kind).0, &settings(kind).1)));
    for_seeds("hostile", "damaged_volume_gives_errors_only", 2000, |seed| {
        let (config, volume) = &volumes[seed as usize % 3];
        let (mut ram, mut rng) = (volume.clone(), Rng(seed));
        for _ in 0..1 + rng.below(4) {
            damage(&mut ram, &mut rng);
        }
        ram.operations = 0;
        use_it(ram.clone(), Access::ReadOnly, config, seed);
        use_it(ram, Access::ReadWrite, config, seed);
    });
}

#[test]
fn random_bytes_are_not_mounted() {
    for_seeds("hostile", "random_bytes_are_not_mounted", 200, |seed| {
        let (geometry, config) = settings(0);
        let (mut ram, mut rng) = (Ram::new(geometry), Rng(seed));
        for page in &mut ram.pages {
            page.0.iter_mut().chain(&mut page.1).for_each(|byte| *byte = rng.next() as u8);
            page.1[8] = 1 + rng.below(9) as u8;
            seal(page);
        }
        use_it(ram, Access::ReadWrite, &config, seed);
    });
}
