//! Files of a volume as plain bytes, whether they are [compressed](steadyfs_compress) or not: what every tool and a mounted directory show.
//!
//! ```
//! # use steadyfs::{Access, Config, FileSystem, media::Geometry};
//! use steadyfs_host::plain::{Packing, PlainFile};
//! # let geometry = Geometry { page_bytes: 2048, pages_per_block: 16, block_count: 64, programs_bytes: false };
//! # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
//! # let config = Config::for_geometry(&geometry);
//! # let mut ram = vec![0; config.memory_bytes(&geometry)];
//! # let flash = FileSystem::format(flash, &config, &mut ram)?;
//! # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram)?;
//! let packing: Packing = "deflate:9".parse()?;
//! let text = "21.5 degrees\n".repeat(1000);
//! let mut file = PlainFile::create(&mut fs, "log", Some(packing.shape(text.len() as u64)), packing.level)?;
//! file.write(&mut fs, 0, text.as_bytes())?;
//! assert_eq!(file.size(&mut fs)?, 13_000);
//! file.close(&mut fs)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::str::FromStr;
use steadyfs::media::Flash;
use steadyfs::{File, FileSystem, InodeNumber, Kind, OpenOptions, Part, Place, Stat};
pub use steadyfs_compress::{ATTRIBUTE, Error, Method, Shape};
use steadyfs_compress::{LEVEL_DEFAULT, PackedFile, encode};

/// An open file. Close it with [`close`](Self::close).
///
/// Errors are those of the calls of [`FileSystem`] that have the same names, and those of compressed files.
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub enum PlainFile {
    /// A file that is as it is.
    Plain(File),
    /// A compressed file.
    Packed(Box<PackedFile<Vec<u8>>>),
}

impl PlainFile {
    /// Opens a file that exists, for writing too where `writes`.
    ///
    /// # Errors
    /// As [`FileSystem::open_inode`].
    pub fn open<F: Flash>(fs: &mut FileSystem<'_, F>, inode: InodeNumber, writes: bool) -> Result<Self, Error> {
        match Shape::of(fs, inode)? {
            None => Ok(Self::Plain(fs.open_inode(inode, if writes { OpenOptions::WRITE } else { OpenOptions::READ })?)),
            Some(shape) => {
                let memory = vec![0; if writes { shape.write_bytes_max() } else { shape.read_bytes() }];
                Ok(Self::Packed(Box::new(PackedFile::open_inode(fs, inode, writes, memory)?)))
            }
        }
    }

    /// Creates a file, compressed where there is a shape.
    ///
    /// # Errors
    /// As [`FileSystem::open`], [`steadyfs::Error::Exists`] where there is one.
    pub fn create<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Place<'p>>,
        shape: Option<Shape>,
        level: i32,
    ) -> Result<Self, Error> {
        let Some(shape) = shape else {
            return Ok(Self::Plain(fs.open(place, OpenOptions { create_new: true, ..OpenOptions::WRITE })?));
        };
        let mut file = PackedFile::create(fs, place, shape, vec![0; shape.write_bytes_max()])?;
        file.set_level(level);
        Ok(Self::Packed(Box::new(file)))
    }

    /// Number of the file, for its life.
    pub fn inode(&self) -> InodeNumber {
        match self {
            Self::Plain(file) => file.inode(),
            Self::Packed(file) => file.inode(),
        }
    }

    /// The file as it is stored.
    pub fn stored(&mut self) -> &mut File {
        match self {
            Self::Plain(file) => file,
            Self::Packed(file) => file.stored(),
        }
    }

    /// Bytes of which a write is one step: a logical page, or a chunk.
    pub fn step_bytes<F: Flash>(&self, fs: &FileSystem<'_, F>) -> u64 {
        match self {
            Self::Plain(_) => fs.usage().logical_bytes.into(),
            Self::Packed(file) => file.shape().chunk_bytes() as u64,
        }
    }

    /// Bytes of the content.
    ///
    /// # Errors
    /// As [`FileSystem::size`].
    pub fn size<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) -> Result<u64, Error> {
        match self {
            Self::Plain(file) => Ok(fs.size(file)?),
            Self::Packed(file) => file.size(fs),
        }
    }

    /// Reads from `offset` on.
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    pub fn read<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Plain(file) => Ok(fs.read(file, offset, data)?),
            Self::Packed(file) => file.read(fs, offset, data),
        }
    }

    /// Writes at `offset`.
    ///
    /// # Errors
    /// As [`FileSystem::write`].
    pub fn write<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, offset: u64, data: &[u8]) -> Result<(), Error> {
        match self {
            Self::Plain(file) => Ok(fs.write(file, offset, data)?),
            Self::Packed(file) => file.write(fs, offset, data),
        }
    }

    /// Cuts the file, or makes it larger.
    ///
    /// # Errors
    /// As [`FileSystem::truncate`].
    pub fn truncate<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        match self {
            Self::Plain(file) => Ok(fs.truncate(file, size)?),
            Self::Packed(file) => file.truncate(fs, size),
        }
    }

    /// The first byte from `offset` on that is data, or in a hole. A compressed file tells of no holes.
    ///
    /// # Errors
    /// As [`FileSystem::seek`].
    pub fn seek<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, offset: u64, part: Part) -> Result<Option<u64>, Error> {
        match self {
            Self::Plain(file) => Ok(fs.seek(file, offset, part)?),
            Self::Packed(file) => {
                let size = file.size(fs)?;
                let place = if part == Part::Data { offset } else { size };
                Ok((offset < size).then_some(place))
            }
        }
    }

    /// Keeps room; see [`FileSystem::reserve`].
    ///
    /// # Errors
    /// As [`FileSystem::reserve`]; [`steadyfs::Error::Unsupported`] of a compressed file: nobody knows how much it will take.
    pub fn reserve<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, from: u64, to: u64) -> Result<u64, Error> {
        match self {
            Self::Plain(file) => Ok(fs.reserve(file, from, to)?),
            Self::Packed(_) => Err(steadyfs::Error::Unsupported.into()),
        }
    }

    /// Forgets what was read: another handle may have changed the file.
    pub fn forget(&mut self) {
        if let Self::Packed(file) = self {
            file.forget();
        }
    }

    /// Closes the file.
    ///
    /// # Errors
    /// As [`FileSystem::close`].
    pub fn close<F: Flash>(self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        match self {
            Self::Plain(file) => Ok(fs.close(file)?),
            Self::Packed(file) => file.close(fs),
        }
    }
}

/// What a file is, with the size of its content. Where that cannot be told it is the size of what is stored; to read the file says why.
pub fn stat<F: Flash>(fs: &mut FileSystem<'_, F>, stat: Stat) -> Stat {
    if stat.kind != Kind::File || !matches!(Shape::of(fs, stat.inode), Ok(Some(_))) {
        return stat;
    }
    let Ok(mut file) = PlainFile::open(fs, stat.inode, false) else { return stat };
    let size = file.size(fs);
    let _ = file.close(fs);
    Stat { size: size.unwrap_or(stat.size), ..stat }
}

/// How files are compressed that are written: `lz4`, `deflate` or `zstd`, and perhaps `:` and a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    method: Method,
    /// Level of the method; 0 for the one that is usual.
    pub level: i32,
    chunk_bytes: usize,
}

/// Bytes of a chunk where nothing else was asked for.
const CHUNK_BYTES: usize = 16 << 10;

impl FromStr for Packing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let (method, levels) = match name {
            "lz4" => (Method::Lz4, 0..=0),
            "deflate" => (Method::Deflate, 1..=10),
            "zstd" => (Method::Zstd, 1..=22),
            _ => return Err("expected lz4, deflate, zstd, deflate:LEVEL or zstd:LEVEL".to_string()),
        };
        let level = match level {
            None => LEVEL_DEFAULT,
            Some(_) if method == Method::Lz4 => return Err("lz4 has no levels".to_string()),
            Some(level) => level
                .parse()
                .ok()
                .filter(|level| levels.contains(level))
                .ok_or_else(|| format!("expected a level of {name} from {} to {}", levels.start(), levels.end()))?,
        };
        Ok(Self { method, level, chunk_bytes: CHUNK_BYTES })
    }
}

impl Packing {
    /// The same with chunks of another size: see [`Shape::new`].
    #[must_use]
    pub fn with_chunks(self, chunk_bytes: usize) -> Self {
        Self { chunk_bytes, ..self }
    }

    /// How a file of so many bytes is compressed.
    pub fn shape(&self, bytes: u64) -> Shape {
        Shape::new(self.chunk_bytes, self.method).for_size(bytes)
    }

    /// How a file is compressed whose first chunk is this; `None` where that saves not a single logical page, as of files that are small, or compressed already.
    ///
    /// # Cost
    /// The compression of one chunk, and nothing of the medium.
    pub fn look(&self, first: &[u8], bytes: u64, logical_bytes: u32) -> Option<Shape> {
        let (shape, logical_bytes) = (self.shape(bytes), u64::from(logical_bytes));
        let first = &first[..first.len().min(shape.chunk_bytes())];
        if bytes <= logical_bytes || first.is_empty() {
            return None;
        }
        let (mut out, mut table) = (vec![0; first.len() - first.len() / 16 - 1], vec![0; 1 << 16]);
        let (_, stored) = encode(self.method, self.level, first, &mut out, &mut table)?;
        // As the first chunk, so the others.
        let stored = shape.overhead(bytes) + (stored as u64 * bytes).div_ceil(first.len() as u64);
        (stored.div_ceil(logical_bytes) < bytes.div_ceil(logical_bytes)).then_some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_levels_are_taken_or_named() {
        let packing = |text: &str| text.parse::<Packing>();
        assert_eq!(packing("lz4").map(|packing| packing.level), Ok(0));
        assert_eq!(packing("zstd:19").map(|packing| packing.level), Ok(19));
        assert!(packing("zstd:23").is_err_and(|text| text.contains("1 to 22")));
        assert!(packing("lz4:3").is_err_and(|text| text.contains("no levels")));
        assert!(packing("lzma").is_err_and(|text| text.contains("expected lz4")));
    }

    #[test]
    fn files_that_save_no_page_stay_plain() {
        let packing: Packing = "lz4".parse().expect("a method");
        let text = b"the same again ".repeat(400);
        assert!(packing.look(&text, text.len() as u64, 2048).is_some());
        assert_eq!(packing.look(&text, 2048, 2048), None);
        let noise: Vec<u8> =
            (0..6000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ (n.wrapping_mul(n) >> 7) as u8).collect();
        assert_eq!(packing.look(&noise, 6000, 2048), None);
    }
}
