//! Images on a chip: they are written around its bad blocks, mounted and read.

use super::rootfs::{Rootfs, Visit, Visited, parts};
use super::system::Image;
use super::{BootError, Codec, System};
use std::cell::Cell;
use std::collections::HashMap;
use steadyfs::media::Flash;
use steadyfs_rom::{
    Bound, Cached, Cramfs, Error, Install, OnNand, Source, Squash, Trusted, Verified, cramfs,
    squash,
};

/// Maximum number of bad blocks that the memory has room for.
const BAD_BLOCKS_MAX: u32 = 100;
/// Bytes of a block of the hash tree, and number of cached blocks: one of each level.
const HASH_BLOCK_BYTES: usize = 4096;
const HASH_BLOCKS: usize = 3;

/// Bytes of a cache for pages of names, inodes and tables.
pub const CACHE_BYTES: usize = 16 << 10;
/// Bytes of a piece of this cache. Pieces of one page that are read in order take one page read.
const PIECE_BYTES: usize = 512;

/// Writes an image to a chip.
pub fn write<F: Flash>(chip: &mut F, image: &Image) -> Result<(), BootError> {
    let mut memory = vec![0; Install::memory_bytes(&&mut *chip, BAD_BLOCKS_MAX)];
    let mut install = Install::begin(chip, &mut memory)?;
    install.push(&image.bytes)?;
    install.finish()?;
    Ok(())
}

/// Mounts the image of a chip.
pub fn visit<F: Flash>(
    chip: &mut F,
    system: System,
    image: &Image,
    visit: Visit<'_>,
) -> Result<Visited, BootError> {
    let mut memory = vec![0; OnNand::memory_bytes(&&mut *chip, BAD_BLOCKS_MAX)];
    let mut kept = vec![0; CACHE_BYTES];
    let ram_bytes = (memory.len() + kept.len()) as u64;
    let source = OnNand::open(chip, &mut memory)?;
    let mut visited = match (system, image.root) {
        (System::Cramfs, _) => visit_cramfs(Cached::new(source, PIECE_BYTES, &mut kept), visit)?,
        (_, Some((hash, bytes))) => {
            let hashed = Cell::new(0);
            let mut blocks = vec![0; Verified::<()>::memory_bytes(HASH_BLOCK_BYTES, HASH_BLOCKS)];
            let lent = blocks.len() as u64;
            let source = Hashed { source, hashed: &hashed };
            let verified = Verified::open(source, Trusted::Root { hash, bytes }, &mut blocks)?;
            let mut visited =
                visit_squash(Cached::new(verified, PIECE_BYTES, &mut kept), system, visit)?;
            visited.work.add(Codec::Sha256, hashed.get());
            visited.ram_bytes += lent;
            visited
        }
        _ => visit_squash(Cached::new(source, PIECE_BYTES, &mut kept), system, visit)?,
    };
    visited.ram_bytes += ram_bytes;
    Ok(visited)
}

/// The source below a verified one. It counts the bytes of reads of whole hash blocks, which are
/// the reads that get hashed.
struct Hashed<'c, S> {
    source: S,
    hashed: &'c Cell<u64>,
}

impl<S: Source> Source for Hashed<'_, S> {
    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        if data.len() == HASH_BLOCK_BYTES {
            self.hashed.set(self.hashed.get() + data.len() as u64);
        }
        self.source.read(offset, data)
    }

    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        self.source.bound(bytes, pieces)
    }
}

fn visit_squash<S: Source>(
    mut source: S,
    system: System,
    visit: Visit<'_>,
) -> Result<Visited, BootError> {
    let mut memory = vec![0; squash::Needs::of(&mut source)?.both];
    let ram_bytes = memory.len() as u64;
    let mut rom = Squash::mount(source, &mut memory)?;
    let root = rom.root()?;
    let knows_all = matches!(system, System::Squashfs(..));
    let mut mounted =
        MountedSquash { rom, knows_all, known: HashMap::from([(String::new(), root)]) };
    visit(&mut mounted)?;
    let mut visited = Visited { ram_bytes, ..Visited::default() };
    if let Some(codec) = system.codec() {
        visited.work.add(codec, mounted.rom.decoded_bytes());
    }
    Ok(visited)
}

/// A mounted squashfs, and the directories that were looked up.
struct MountedSquash<'m, S> {
    rom: Squash<'m, S>,
    /// True if a lookup reads all entries of a directory and keeps them, as Linux does.
    /// Otherwise each name is looked up alone.
    knows_all: bool,
    known: HashMap<String, squash::Node>,
}

impl<S: Source> MountedSquash<'_, S> {
    fn find(&mut self, path: &str) -> Result<squash::Node, BootError> {
        if let Some(node) = self.known.get(path) {
            return Ok(*node);
        }
        let (above, name) = parts(path);
        let directory = *self.known.get(above).ok_or(Error::NotFound)?;
        if self.knows_all {
            self.list(above, &directory)?;
            return Ok(*self.known.get(path).ok_or(Error::NotFound)?);
        }
        Ok(self.rom.lookup(&directory, name.as_bytes())?)
    }

    /// Reads all entries of a directory, and then their inodes. So each block of both is decoded
    /// once.
    fn list(&mut self, above: &str, directory: &squash::Node) -> Result<(), BootError> {
        let mut cursor = squash::Cursor::default();
        let mut entries = Vec::new();
        while let Some(entry) = self.rom.list(directory, &mut cursor)? {
            entries.push(entry);
        }
        for entry in entries {
            let node = self.rom.entry_node(&entry)?;
            self.known.insert(below(above, entry.name()), node);
        }
        Ok(())
    }
}

/// Returns the path of a name in a directory.
fn below(above: &str, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if above.is_empty() { name.into_owned() } else { format!("{above}/{name}") }
}

impl<S: Source> Rootfs for MountedSquash<'_, S> {
    fn directory(&mut self, path: &str) -> Result<(), BootError> {
        let node = self.find(path)?;
        self.known.insert(path.to_string(), node);
        Ok(())
    }

    fn link(&mut self, path: &str, target: &mut [u8]) -> Result<usize, BootError> {
        let node = self.find(path)?;
        Ok(self.rom.read_link(&node, target)?)
    }

    fn open(&mut self, path: &str) -> Result<(), BootError> {
        let node = self.find(path)?;
        self.rom.open_node(&node)?;
        Ok(())
    }

    fn read(&mut self, path: &str, offset: u64, data: &mut [u8]) -> Result<usize, BootError> {
        let node = self.find(path)?;
        let mut file = self.rom.open_node(&node)?;
        Ok(self.rom.read(&mut file, offset, data)?)
    }
}

fn visit_cramfs<S: Source>(source: S, visit: Visit<'_>) -> Result<Visited, BootError> {
    let mut memory = vec![0; Cramfs::<S>::MEMORY_BYTES];
    let ram_bytes = memory.len() as u64;
    let rom = Cramfs::mount(source, &mut memory)?;
    let known = HashMap::from([(String::new(), rom.root())]);
    let mut mounted = MountedCramfs { rom, known };
    visit(&mut mounted)?;
    let mut visited = Visited { ram_bytes, ..Visited::default() };
    visited.work.add(Codec::Deflate, mounted.rom.decoded_bytes());
    Ok(visited)
}

/// A mounted cramfs. A lookup reads the entries of a directory and keeps them, as Linux does.
struct MountedCramfs<'m, S> {
    rom: Cramfs<'m, S>,
    known: HashMap<String, cramfs::Node>,
}

impl<S: Source> MountedCramfs<'_, S> {
    fn find(&mut self, path: &str) -> Result<cramfs::Node, BootError> {
        if let Some(node) = self.known.get(path) {
            return Ok(*node);
        }
        let (above, _) = parts(path);
        let directory = *self.known.get(above).ok_or(Error::NotFound)?;
        let mut cursor = cramfs::Cursor::default();
        while let Some(entry) = self.rom.list(&directory, &mut cursor)? {
            self.known.insert(below(above, entry.name()), entry.node);
        }
        Ok(*self.known.get(path).ok_or(Error::NotFound)?)
    }
}

impl<S: Source> Rootfs for MountedCramfs<'_, S> {
    fn directory(&mut self, path: &str) -> Result<(), BootError> {
        self.find(path).map(drop)
    }

    fn link(&mut self, path: &str, target: &mut [u8]) -> Result<usize, BootError> {
        let node = self.find(path)?;
        Ok(self.rom.read_link(&node, target)?)
    }

    fn open(&mut self, path: &str) -> Result<(), BootError> {
        self.find(path).map(drop)
    }

    fn read(&mut self, path: &str, offset: u64, data: &mut [u8]) -> Result<usize, BootError> {
        let node = self.find(path)?;
        Ok(self.rom.read(&node, offset, data)?)
    }
}
