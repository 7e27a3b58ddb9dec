//! One system on one chip: it is written, mounted and visited.

use super::joined::Joined;
use super::rootfs::{Rootfs, Visit, Visited, load};
use super::system::Image;
use super::table::{CopyRow, RandomRow, Row};
use super::{BootError, Codec, Options, Processor, System, Work, image, volume};
use crate::made_tree;
use steadyfs::media::Flash;
use steadyfs::{Access, CommitOn, Config, FileSystem};
use steadyfs_convert::{InodeIndex, Kind, Tree};
use steadyfs_sim::{Counters, Metered, Nand, Profile};

/// Bytes of a read at a random place.
const READ_BYTES: usize = 4096;
/// Logical pages of a write-back cache for the copied file. The last chunk of a compressed file
/// ends within a logical page.
const CACHE_PAGES: usize = 4;
/// Minimum bytes of a file that is read at random places.
const LARGE_BYTES: usize = 100_000;

/// The tree, and the order of its load.
pub struct Content {
    pub tree: Tree,
    pub order: Vec<(String, InodeIndex)>,
}

impl Content {
    pub fn new(options: &Options) -> Self {
        let tree = made_tree::part(options.seed, options.share);
        let order = made_tree::load_order(&tree);
        Self { tree, order }
    }

    /// Returns the number of files and their total bytes.
    pub fn files(&self) -> (u64, u64) {
        let files = self.tree.inodes().iter().filter_map(|inode| match &inode.kind {
            Kind::File(content) => Some(content.len() as u64),
            _ => None,
        });
        files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file))
    }

    /// Returns path and content of the large files. If none is large, returns the files of at
    /// least 4 KiB.
    fn large(&self) -> Vec<(&str, &[u8])> {
        let files = |least: usize| {
            let file = move |(path, inode): &'_ (String, InodeIndex)| match &self
                .tree
                .inode(*inode)
                .kind
            {
                Kind::File(content) if content.len() >= least => Some((path.clone(), *inode)),
                _ => None,
            };
            self.order.iter().filter_map(file).map(|(_, inode)| inode).collect::<Vec<_>>()
        };
        let mut chosen = files(LARGE_BYTES);
        if chosen.is_empty() {
            chosen = files(READ_BYTES);
        }
        let named = self.order.iter().filter(|(_, inode)| chosen.contains(inode));
        named
            .filter_map(|(path, inode)| match &self.tree.inode(*inode).kind {
                Kind::File(content) => Some((path.as_str(), &content[..])),
                _ => None,
            })
            .collect()
    }
}

/// A chip with a system on it.
pub struct Written<'o> {
    chip: Nand,
    system: System,
    image: Option<&'o Image>,
    block_bytes: u32,
    stored_bytes: u64,
}

/// Makes a new chip of a device.
fn chip(profile: &Profile, options: &Options) -> Nand {
    Nand::new(profile, options.timing.choice(), options.seed).with_bad_blocks(options.bad_blocks)
}

impl<'o> Written<'o> {
    /// Makes a chip and writes the tree to it.
    pub fn new(
        profile: &Profile,
        options: &Options,
        system: System,
        image: Option<&'o Image>,
        content: &Content,
    ) -> Result<Self, BootError> {
        let mut chip = chip(profile, options);
        let stored_bytes = match image {
            Some(image) => {
                image::write(&mut chip, image)?;
                image.bytes.len() as u64
            }
            None => {
                let packing =
                    system.codec().map(|codec| volume::packing(codec, options.block_bytes));
                volume::write(&mut Joined::new(&mut chip), packing, &content.tree, &content.order)?
            }
        };
        Ok(Self { chip, system, image, block_bytes: options.block_bytes, stored_bytes })
    }

    /// Mounts the system, visits it, and returns the cost of both.
    fn visit(&mut self, visit: Visit<'_>) -> Result<(Counters, Visited), BootError> {
        let start = self.chip.counters();
        let visited = match self.image {
            Some(image) => image::visit(&mut self.chip, self.system, image, visit)?,
            None => {
                let packing = self.system.codec().map(|codec| (codec, self.block_bytes));
                volume::visit(&mut Joined::new(&mut self.chip), packing, visit)?
            }
        };
        Ok((self.chip.counters().since(&start), visited))
    }

    /// Mounts the system and loads everything.
    pub fn load(&mut self, processor: &Processor, content: &Content) -> Result<Row, BootError> {
        let (mount, _) = self.visit(&mut |_| Ok(()))?;
        let system = self.system;
        let (all, visited) =
            self.visit(&mut |rootfs| load(rootfs, system, &content.tree, &content.order))?;
        let decode_ns = processor.time_ns(&visited.work);
        Ok(Row {
            system: system.to_string(),
            block_bytes: system.block_bytes(self.block_bytes),
            mount_us: mount.time_ns as f64 / 1e3,
            load_us: (all.time_ns - mount.time_ns) as f64 / 1e3,
            decode_us: decode_ns / 1e3,
            total_us: (all.time_ns as f64 + decode_ns) / 1e3,
            stored_bytes: self.stored_bytes,
            page_reads: all.reads,
            decoded_bytes: visited.work.decoded_bytes(),
            hashed_bytes: visited.work.bytes(Codec::Sha256),
            checked_bytes: visited.work.bytes(Codec::Crc32),
            ram_bytes: visited.ram_bytes,
        })
    }

    /// Reads at random places of large files.
    pub fn read(
        &mut self,
        processor: &Processor,
        options: &Options,
        content: &Content,
    ) -> Result<RandomRow, BootError> {
        let system = self.system;
        let large = content.large();
        let mut random = fastrand::Rng::with_seed(options.seed);
        let mut place = || {
            let (path, content) = large[random.usize(..large.len())];
            (path, content, random.usize(..=content.len() - READ_BYTES))
        };
        let places: Vec<_> = (0..options.reads).map(|_| place()).collect();
        let enter = |rootfs: &mut dyn Rootfs| {
            places.iter().try_for_each(|(path, _, _)| see_above(rootfs, path))
        };
        let (opened, idle) = self.visit(&mut |rootfs| {
            enter(rootfs)?;
            places.iter().try_for_each(|(path, _, _)| rootfs.open(path))
        })?;
        let (all, visited) = self.visit(&mut |rootfs| {
            enter(rootfs)?;
            let mut data = [0; READ_BYTES];
            places.iter().try_for_each(|&(path, content, offset)| {
                let count = rootfs.read(path, offset as u64, &mut data)?;
                if data[..count] == content[offset..offset + READ_BYTES] {
                    return Ok(());
                }
                Err(BootError::Differs { system: system.to_string(), path: path.to_string() })
            })
        })?;
        let reads = f64::from(options.reads.max(1));
        let more = |of: &dyn Fn(&Work) -> u64| {
            of(&visited.work).saturating_sub(of(&idle.work)) as f64 / reads
        };
        Ok(RandomRow {
            system: system.to_string(),
            block_bytes: system.block_bytes(self.block_bytes),
            pages_per_kib: all.reads.saturating_sub(opened.reads) as f64
                / reads
                / (READ_BYTES as f64 / 1024.0),
            bytes_per_byte: all.bytes_read.saturating_sub(opened.bytes_read) as f64
                / reads
                / READ_BYTES as f64,
            read_us: all.time_ns.saturating_sub(opened.time_ns) as f64 / reads / 1e3,
            decode_us: (processor.time_ns(&visited.work) - processor.time_ns(&idle.work)).max(0.0)
                / reads
                / 1e3,
            decoded_bytes: more(&Work::decoded_bytes),
        })
    }
}

/// Looks up the directories of a path.
fn see_above(rootfs: &mut dyn Rootfs, path: &str) -> Result<(), BootError> {
    let ends = path.char_indices().filter(|&(_, character)| character == '/');
    ends.map(|(end, _)| &path[..end]).try_for_each(|directory| rootfs.directory(directory))
}

/// Copies text into one file of an empty volume.
pub fn copy(
    profile: &Profile,
    options: &Options,
    codec: Option<Codec>,
) -> Result<CopyRow, BootError> {
    let mut chip = Joined::new(chip(profile, options));
    let text = made_tree::text(options.seed, options.copy_bytes);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    // The tools of JFFS2 and UBI erase the chip too.
    FileSystem::format_erased(&mut chip, &config, &mut memory, &mut |_, _| {})?;
    let mut cache = vec![0; config.cache_bytes(&geometry, CACHE_PAGES)];
    let ram_bytes = (memory.len() + cache.len()) as u64;
    let start = chip.counters();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
    let mounted = fs.flash().counters();
    fs.lend_cache(&mut cache)?;
    fs.set_commit_on(CommitOn::UNMOUNT.with(CommitOn::FULL).with(CommitOn::CLOSE));
    let packing = codec.map(|codec| volume::packing(codec, options.block_bytes));
    volume::write_file(&mut fs, "text", &text, packing)?;
    let copied = fs.flash().counters();
    fs.unmount()?;
    let ended = chip.counters();
    let us = |later: &Counters, earlier: &Counters| (later.time_ns - earlier.time_ns) as f64 / 1e3;
    let all = ended.since(&start);
    Ok(CopyRow {
        system: codec
            .map_or("SteadyFS, plain".to_string(), |codec| format!("SteadyFS, file by {codec}")),
        mount_us: us(&mounted, &start),
        copy_us: us(&copied, &mounted),
        unmount_us: us(&ended, &copied),
        total_us: us(&ended, &start),
        programs: all.programs + all.copies,
        erases: all.erases,
        ram_bytes: ram_bytes
            + packing
                .map_or(0, |packing| packing.shape(text.len() as u64).write_bytes_max() as u64),
    })
}
