//! SteadyFS as a writable volume: plain, and with compressed files.

use super::image::CACHE_BYTES;
use super::rootfs::{Rootfs, Visit, Visited, parts};
use super::{BootError, Codec};
use std::collections::HashMap;
use steadyfs::media::Flash;
use steadyfs::{Access, CommitOn, Config, File, FileSystem, InodeNumber, OpenOptions};
use steadyfs_compress::format::Entry;
use steadyfs_compress::{Form, PackedFile, Shape};
use steadyfs_convert::{InodeIndex, Kind, Tree};
use steadyfs_host::plain::{Packing, shape_for};
use steadyfs_sim::Metered;

/// Bytes of one write to a file.
const WRITE_BYTES: usize = 64 << 10;

/// Returns the compression of files by a codec, in chunks of `chunk_bytes` bytes.
pub fn packing(codec: Codec, chunk_bytes: u32) -> Packing {
    let text = if codec == Codec::Deflate { "deflate" } else { "lz4" };
    text.parse::<Packing>().expect("a method that is known").with_chunks(chunk_bytes as usize)
}

/// Allocates the memory for a volume on a chip, and for the handles of some files.
fn memory<F: Flash>(chip: &F) -> Vec<u8> {
    let geometry = chip.geometry();
    vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry) + 64]
}

/// Formats a chip and writes the tree to it. Returns the bytes in use.
pub fn write<F: Flash>(
    chip: &mut F,
    packing: Option<Packing>,
    tree: &Tree,
    order: &[(String, InodeIndex)],
) -> Result<u64, BootError> {
    let mut memory = memory(chip);
    let config = Config::for_geometry(&chip.geometry());
    FileSystem::format(&mut *chip, &config, &mut memory)?;
    let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, &mut memory)?;
    fs.set_commit_on(CommitOn::UNMOUNT.with(CommitOn::FULL));
    for (path, inode) in order {
        match &tree.inode(*inode).kind {
            Kind::Directory(_) => {
                fs.create_dir(path)?;
            }
            Kind::File(content) => write_file(&mut fs, path, content, packing)?,
            Kind::Symlink(target) => {
                fs.create_symlink(path, &String::from_utf8_lossy(target))?;
            }
            _ => {}
        }
    }
    let used = fs.usage().used_bytes;
    fs.unmount()?;
    Ok(used)
}

/// Writes a file. Compresses it if that saves space.
pub fn write_file<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    path: &str,
    content: &[u8],
    packing: Option<Packing>,
) -> Result<(), BootError> {
    match packing.and_then(|packing| shape_for(fs, packing, content, content.len() as u64)) {
        Some(shape) => {
            let mut file = PackedFile::create(fs, path, shape, vec![0; shape.write_bytes_max()])?;
            for piece in content.chunks(WRITE_BYTES) {
                file.append(fs, piece)?;
            }
            Ok(file.close(fs)?)
        }
        None => {
            let mut file = fs.open(path, OpenOptions::CREATE)?;
            for piece in content.chunks(WRITE_BYTES) {
                fs.append(&mut file, piece)?;
            }
            Ok(fs.close(file)?)
        }
    }
}

/// Mounts the volume of a chip to read it.
pub fn visit<F: Flash + Metered>(
    chip: &mut F,
    packing: Option<(Codec, u32)>,
    visit: Visit<'_>,
) -> Result<Visited, BootError> {
    let mut memory = memory(chip);
    let mut room = packing.map_or(Vec::new(), |(codec, chunk_bytes)| {
        vec![0; super::volume::packing(codec, chunk_bytes).shape(u64::MAX >> 1).read_bytes()]
    });
    let config = Config::for_geometry(&chip.geometry());
    let mut kept = vec![
        0;
        config.read_cache_bytes(
            &chip.geometry(),
            CACHE_BYTES / chip.geometry().page_bytes as usize
        )
    ];
    let ram_bytes = (memory.len() + room.len() + kept.len()) as u64;
    let start = chip.counters();
    let mut fs = FileSystem::mount(&mut *chip, Access::ReadOnly, &mut memory)?;
    fs.lend_read_cache(&mut kept);
    let root = fs.stat("/")?.inode;
    let codec = packing.map(|(codec, _)| codec);
    let mut mounted = Mounted {
        fs,
        codec,
        room: &mut room,
        known: HashMap::from([(String::new(), root)]),
        decoded: 0,
    };
    visit(&mut mounted)?;
    let Mounted { fs, decoded, .. } = mounted;
    let checked = fs.flash().counters().since(&start).bytes_read;
    fs.unmount()?;
    let mut visited = Visited { ram_bytes, ..Visited::default() };
    visited.work.add(Codec::Crc32, checked);
    if let Some(codec) = codec {
        visited.work.add(codec, decoded);
    }
    Ok(visited)
}

/// A mounted volume, and the directories that were looked up.
struct Mounted<'m, F> {
    fs: FileSystem<'m, F>,
    codec: Option<Codec>,
    room: &'m mut [u8],
    known: HashMap<String, InodeNumber>,
    decoded: u64,
}

impl<F: Flash> Mounted<'_, F> {
    /// Returns the inode of a directory that was looked up before.
    fn above(&self, path: &str) -> Result<InodeNumber, BootError> {
        self.known.get(path).copied().ok_or(BootError::Volume(steadyfs::Error::NotFound))
    }

    fn open_file(&mut self, path: &str) -> Result<File, BootError> {
        let (above, name) = parts(path);
        let above = self.above(above)?;
        Ok(self.fs.open((above, name), OpenOptions::READ)?)
    }

    /// Reads from a file with compressed content.
    fn read_packed(
        &mut self,
        inode: InodeNumber,
        shape: Shape,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, BootError> {
        let mut file = PackedFile::open_inode(&mut self.fs, inode, false, &mut *self.room)?;
        let mut spy = Spy {
            volume: &mut self.fs,
            shape,
            size: 0,
            chunk_at: offset - offset % shape.chunk_bytes() as u64,
            stored: None,
            decoded: 0,
        };
        let count = file.read(&mut spy, offset, data);
        self.decoded += spy.decoded;
        file.close(&mut self.fs)?;
        Ok(count?)
    }
}

impl<F: Flash> Rootfs for Mounted<'_, F> {
    fn directory(&mut self, path: &str) -> Result<(), BootError> {
        let (above, name) = parts(path);
        let inode = self.fs.stat((self.above(above)?, name))?.inode;
        self.known.insert(path.to_string(), inode);
        Ok(())
    }

    fn link(&mut self, path: &str, target: &mut [u8]) -> Result<usize, BootError> {
        let (above, name) = parts(path);
        let inode = self.fs.stat((self.above(above)?, name))?.inode;
        Ok(self.fs.read_link(inode, target)?)
    }

    fn open(&mut self, path: &str) -> Result<(), BootError> {
        let file = self.open_file(path)?;
        if self.codec.is_some() {
            Shape::of(&mut self.fs, file.inode())?;
        }
        Ok(self.fs.close(file)?)
    }

    fn read(&mut self, path: &str, offset: u64, data: &mut [u8]) -> Result<usize, BootError> {
        let mut file = self.open_file(path)?;
        let shape =
            if self.codec.is_some() { Shape::of(&mut self.fs, file.inode())? } else { None };
        let count = match shape {
            None => self.fs.read(&mut file, offset, data)?,
            Some(shape) => self.read_packed(file.inode(), shape, offset, data)?,
        };
        self.fs.close(file)?;
        Ok(count)
    }
}

/// A wrapper of a volume that counts decoded bytes while one compressed file is read in order.
/// It counts them from the chunk entries that are read.
struct Spy<'s, V> {
    volume: &'s mut V,
    shape: Shape,
    /// Bytes of the file, after its size was read.
    size: u64,
    /// Offset in the content of the chunk whose entry comes next.
    chunk_at: u64,
    /// Stored bytes and content bytes of the chunk that is read next.
    stored: Option<(usize, u64)>,
    decoded: u64,
}

impl<V: steadyfs_compress::Volume> steadyfs_compress::Volume for Spy<'_, V> {
    fn read(
        &mut self,
        file: &mut File,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, steadyfs::Error> {
        let count = self.volume.read(file, offset, data)?;
        if let Some((_, content)) = self.stored.take_if(|(stored, _)| *stored == data.len()) {
            self.decoded += content;
        } else if let Ok(bytes) = <&[u8; 8]>::try_from(&*data) {
            if offset == 0 {
                self.size = u64::from_le_bytes(*bytes);
            } else {
                let content =
                    (self.shape.chunk_bytes() as u64).min(self.size.saturating_sub(self.chunk_at));
                self.chunk_at += content;
                if let Ok(Some(Entry { form: Form::Compressed { stored, .. }, .. })) =
                    Entry::parse(bytes, &self.shape)
                {
                    self.stored = Some((stored, content));
                }
            }
        }
        Ok(count)
    }

    fn attribute(
        &mut self,
        inode: InodeNumber,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, steadyfs::Error> {
        self.volume.attribute(inode, key, value)
    }
}
