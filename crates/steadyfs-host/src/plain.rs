//! Files of a volume as plain bytes, [compressed](steadyfs_compress) or not. Every tool and every
//! mounted directory show files in this way.
//!
//! ```
//! # use steadyfs::{Access, Config, FileSystem, media::Geometry};
//! use steadyfs_host::plain::{Packing, PlainFile};
//! # let geometry = Geometry {
//! #     page_bytes: 2048, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
//! # let config = Config::for_geometry(&geometry);
//! # let mut ram = vec![0; config.memory_bytes(&geometry)];
//! # let flash = FileSystem::format(flash, &config, &mut ram)?;
//! # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram)?;
//! let packing: Packing = "deflate:9".parse()?;
//! let text = "21.5 degrees\n".repeat(1000);
//! let shape = packing.shape(text.len() as u64);
//! let mut file = PlainFile::create(&mut fs, "log", Some(shape), packing.level)?;
//! file.write(&mut fs, 0, text.as_bytes())?;
//! assert_eq!(file.size(&mut fs)?, 13_000);
//! file.close(&mut fs)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use steadyfs::media::Flash;
use steadyfs::{File, FileSystem, InodeNumber, Kind, Location, OpenOptions, SeekTo, Stat};
use steadyfs_compress::PackedFile;
pub use steadyfs_compress::{ATTRIBUTE, Error, Method, NoPacking, Packing, RULE, Rule, Shape};

/// Returns the number of bytes up to which a growing file stays plain. It is a logical page, or
/// `UNDECIDED_BYTES` if that is more. In a smaller file, the entries may take more space than
/// compression saves. The result is at most one chunk, because a larger file cannot be
/// [converted](PackedFile::convert).
fn undecided_bytes(logical_bytes: u32, shape: &Shape) -> u64 {
    u64::from(logical_bytes.max(UNDECIDED_BYTES)).min(shape.chunk_bytes() as u64)
}

/// The attribute of the root directory that marks the unfinished files of a command. If the command
/// is killed, the attribute remains.
pub const DRAFT: &str = "steadyfs.draft";

/// Returns true if an attribute belongs to the tools of this project. All other attributes belong
/// to programs.
pub fn is_own(key: &str) -> bool {
    [ATTRIBUTE, DRAFT].contains(&key)
}

/// Smallest number of bytes up to which a growing file stays plain: the bytes of eight headers.
const UNDECIDED_BYTES: u32 = 4096;

/// Assumed size of a file whose first write fills a whole chunk.
const GOES_ON_BYTES: u64 = 1 << 20;

/// An open file. Close it with [`close`](Self::close).
///
/// Each call returns the errors of the call of [`FileSystem`] with the same name, and the errors of
/// compressed files.
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub enum PlainFile {
    /// An uncompressed file. When the file grows beyond a logical page (or 4 KiB, if that is more),
    /// the packing is tried. It is used only if it saves at least one logical page.
    Plain(File, Option<Packing>),
    /// A compressed file.
    Packed(Box<PackedFile<Vec<u8>>>),
}

impl PlainFile {
    /// Opens an existing file for reading, and also for writing if `writes` is true.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        inode: InodeNumber,
        writes: bool,
    ) -> Result<Self, Error> {
        match Shape::of(fs, inode)? {
            None => Ok(Self::Plain(
                fs.open(inode, if writes { OpenOptions::WRITE } else { OpenOptions::READ })?,
                None,
            )),
            Some(shape) => {
                let memory =
                    vec![0; if writes { shape.write_bytes_max() } else { shape.read_bytes() }];
                Ok(Self::Packed(Box::new(PackedFile::open_inode(fs, inode, writes, memory)?)))
            }
        }
    }

    /// Opens an existing file for writing. The rule of its directory decides how the file is
    /// compressed. If there is no rule, `usual` decides.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open_to_write<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        inode: InodeNumber,
        usual: Option<Packing>,
    ) -> Result<Self, Error> {
        let parent = fs.stat(inode)?.parent;
        let packing = rule_or(fs, parent, usual)?;
        let mut file = Self::open(fs, inode, true)?;
        match (&mut file, packing) {
            (Self::Plain(_, grows), _) => *grows = packing,
            (Self::Packed(file), Some(packing)) if packing.method() == file.shape().method() => {
                file.set_level(packing.level)
            }
            _ => {}
        }
        Ok(file)
    }

    /// Creates a file. The file is compressed if `shape` is not `None`.
    ///
    /// # Errors
    /// The errors of [`FileSystem::open`]. [`steadyfs::Error::Exists`] if the file exists.
    pub fn create<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Location<'p>>,
        shape: Option<Shape>,
        level: i32,
    ) -> Result<Self, Error> {
        let Some(shape) = shape else {
            return Ok(Self::Plain(
                fs.open(place, OpenOptions { create_new: true, ..OpenOptions::WRITE })?,
                None,
            ));
        };
        let mut file = PackedFile::create(fs, place, shape, vec![0; shape.write_bytes_max()])?;
        file.set_level(level);
        Ok(Self::Packed(Box::new(file)))
    }

    /// Returns the inode number of the file, which never changes.
    pub fn inode(&self) -> InodeNumber {
        match self {
            Self::Plain(file, _) => file.inode(),
            Self::Packed(file) => file.inode(),
        }
    }

    /// Returns true for a compressed file.
    pub fn is_packed(&self) -> bool {
        matches!(self, Self::Packed(_))
    }

    /// Returns the underlying stored file.
    pub fn stored(&mut self) -> &mut File {
        match self {
            Self::Plain(file, _) => file,
            Self::Packed(file) => file.stored(),
        }
    }

    /// A write is divided into steps. Returns the end of the first step of a write at `offset`.
    /// After a power cut, the file contains all or nothing of a step. A step is a logical page or a
    /// chunk. In a compressed file, the existing content and the content behind its end are
    /// separate steps.
    ///
    /// # Errors
    /// As [`size`](Self::size).
    pub fn step_end<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
    ) -> Result<u64, Error> {
        let behind = |step: u64| (offset / step + 1) * step;
        match self {
            Self::Plain(..) => Ok(behind(fs.usage().logical_bytes.into())),
            Self::Packed(file) => {
                let (size, end) = (file.size(fs)?, behind(file.shape().chunk_bytes() as u64));
                Ok(if offset < size { end.min(size) } else { end })
            }
        }
    }

    /// Returns the number of bytes of the content.
    ///
    /// # Errors
    /// As [`FileSystem::size`].
    pub fn size<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) -> Result<u64, Error> {
        match self {
            Self::Plain(file, _) => Ok(fs.size(file)?),
            Self::Packed(file) => file.size(fs),
        }
    }

    /// Reads from `offset` on.
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    pub fn read<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Error> {
        match self {
            Self::Plain(file, _) => Ok(fs.read(file, offset, data)?),
            Self::Packed(file) => file.read(fs, offset, data),
        }
    }

    /// Writes at `offset`.
    ///
    /// A file that grows beyond a logical page, or 4 KiB if that is more, may become compressed.
    /// Its other handles must then [look again](Self::look_again).
    ///
    /// # Errors
    /// As [`FileSystem::write`].
    pub fn write<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        self.prepare(fs, offset, data)?;
        match self {
            Self::Plain(file, _) => Ok(fs.write(file, offset, data)?),
            Self::Packed(file) => file.write(fs, offset, data),
        }
    }

    /// Decides the form of a file that grows with a write of `data` at `offset`, as
    /// [`write`](Self::write) does. A caller that writes step by step must make this call before
    /// the first step, because it examines all of the data.
    ///
    /// # Errors
    /// As [`FileSystem::write`].
    pub fn prepare<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        let &mut Self::Plain(ref mut file, Some(packing)) = self else { return Ok(()) };
        let size = fs.size(file)?;
        let end = offset.saturating_add(data.len() as u64);
        if size.max(end) <= undecided_bytes(fs.usage().logical_bytes, &packing.shape_of_any()) {
            return Ok(());
        }
        self.decide(fs, packing, (size, offset, data))
    }

    /// Called before a write of `data` at `offset`. Decides the form of a growing file: compressed
    /// if that saves pages, plain otherwise.
    fn decide<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        packing: Packing,
        (size, offset, data): (u64, u64, &[u8]),
    ) -> Result<(), Error> {
        let logical_bytes = fs.usage().logical_bytes;
        let shape = packing.shape_of_any().for_volume(fs.size_max());
        let mut made = None;
        let most = undecided_bytes(logical_bytes, &shape);
        // Only a small file without gaps is converted. A larger file was deliberately not
        // compressed by its writer. A file with a gap is not written in order. Reserved space is
        // for plain pages. `allocated` also includes pages of the file's map.
        let usual = 2 * most.next_multiple_of(logical_bytes.into());
        if size <= most && offset <= size && fs.allocated(self.inode())? <= usual {
            let bytes = size.max(offset + data.len() as u64);
            let mut first = vec![0; bytes.min(shape.chunk_bytes() as u64) as usize];
            self.read(fs, 0, &mut first)?;
            if let Some(place) = first.get_mut(offset as usize..) {
                let count = place.len().min(data.len());
                place[..count].copy_from_slice(&data[..count]);
            }
            let mut memory = vec![0; shape.write_bytes_max()];
            // A file whose first write fills a chunk will probably grow further. Many chunks
            // together save a page even if a single chunk saves less.
            let is_whole_chunk = first.len() == shape.chunk_bytes();
            let judged = if is_whole_chunk { bytes.max(GOES_ON_BYTES) } else { bytes };
            if packing.saves_pages(shape, &first, judged, logical_bytes, &mut memory) {
                // If the volume has no space for the conversion, the file stays plain. If the
                // medium fails, the write that follows returns the error.
                made = match PackedFile::convert(fs, self.inode(), shape, memory) {
                    Err(error @ Error::NotUndone) => return Err(error),
                    converted => converted.ok(),
                };
                made.iter_mut().for_each(|file| file.set_level(packing.level));
            }
        }
        match (self, made) {
            (file, Some(packed)) => {
                std::mem::replace(file, Self::Packed(Box::new(packed))).close(fs)
            }
            (Self::Plain(_, grows), None) => {
                *grows = None;
                Ok(())
            }
            (Self::Packed(_), None) => Ok(()),
        }
    }

    /// Truncates or enlarges the file.
    ///
    /// # Errors
    /// As [`FileSystem::truncate`].
    pub fn truncate<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        size: u64,
    ) -> Result<(), Error> {
        match self {
            Self::Plain(file, _) => Ok(fs.truncate(file, size)?),
            Self::Packed(file) => file.truncate(fs, size),
        }
    }

    /// Returns the offset of the first byte of data, or of the first byte in a hole, from `offset`
    /// on. A compressed file reports no holes.
    ///
    /// # Errors
    /// As [`FileSystem::seek`].
    pub fn seek<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
        part: SeekTo,
    ) -> Result<Option<u64>, Error> {
        match self {
            Self::Plain(file, _) => Ok(fs.seek(file, offset, part)?),
            Self::Packed(file) => {
                let size = file.size(fs)?;
                let place = if part == SeekTo::Data { offset } else { size };
                Ok((offset < size).then_some(place))
            }
        }
    }

    /// Reserves space, as [`FileSystem::reserve`] does.
    ///
    /// # Errors
    /// The errors of [`FileSystem::reserve`]. [`steadyfs::Error::Unsupported`] for a compressed
    /// file, because its stored size is unknown beforehand.
    pub fn reserve<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        from: u64,
        to: u64,
    ) -> Result<u64, Error> {
        match self {
            Self::Plain(file, grows) => {
                // Space is reserved for uncompressed pages, so the file stays plain.
                *grows = None;
                Ok(fs.reserve(file, from, to)?)
            }
            Self::Packed(_) => Err(steadyfs::Error::Unsupported.into()),
        }
    }

    /// Discards cached data, because another handle may have changed the file.
    pub fn forget(&mut self) {
        if let Self::Packed(file) = self {
            file.forget();
        }
    }

    /// Lets a handle read and write a file that another handle may have [compressed](Self::write).
    /// The call reads the attributes of the file.
    ///
    /// # Errors
    /// As [`open`](Self::open). After an error the handle must not be used any more.
    pub fn look_again<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        writes: bool,
    ) -> Result<(), Error> {
        if matches!(self, Self::Packed(_)) {
            return Ok(());
        }
        match Self::open(fs, self.inode(), writes)? {
            Self::Plain(file, _) => Ok(fs.close(file)?),
            packed => std::mem::replace(self, packed).close(fs),
        }
    }

    /// Closes the file.
    ///
    /// # Errors
    /// As [`FileSystem::close`].
    pub fn close<F: Flash>(self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        match self {
            Self::Plain(file, _) => Ok(fs.close(file)?),
            Self::Packed(file) => file.close(fs),
        }
    }
}

/// Returns the shape with which a file of `bytes` bytes is compressed. `first` contains its first
/// bytes. Returns `None` if compression does not save a logical page. Also returns `None` if the
/// file is larger than compressed files of the volume can be.
///
/// # Cost
/// The call compresses one chunk, and does not access the medium.
pub fn shape_for<F: Flash>(
    fs: &FileSystem<'_, F>,
    packing: Packing,
    first: &[u8],
    bytes: u64,
) -> Option<Shape> {
    let (fitting, stored_max) = (packing.shape(bytes), fs.size_max());
    let largest = packing.shape_of_any().for_volume(stored_max);
    let shape =
        [fitting, largest].into_iter().find(|shape| bytes <= shape.content_max(stored_max))?;
    let mut memory = vec![0; shape.write_bytes_max()];
    packing.saves_pages(shape, first, bytes, fs.usage().logical_bytes, &mut memory).then_some(shape)
}

/// Returns the compression for files of a directory. It is the rule of the directory, or `usual` if
/// there is no rule. If this release does not support the rule, it is ignored.
///
/// # Errors
/// As [`FileSystem::attribute`].
pub fn rule_or<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    directory: InodeNumber,
    usual: Option<Packing>,
) -> Result<Option<Packing>, Error> {
    match Rule::of(fs, directory) {
        Ok(Some(rule)) => Ok(rule.packing()),
        Ok(None) | Err(Error::Rule) => Ok(usual),
        Err(error) => Err(error),
    }
}

/// Creates a directory, and copies the rule of its parent directory.
///
/// # Errors
/// As [`FileSystem::create_dir`] and [`FileSystem::set_attribute`]. After an error the call removes
/// the directory again, if it can.
pub fn create_dir<'p, F: Flash>(
    fs: &mut FileSystem<'_, F>,
    place: impl Into<Location<'p>>,
) -> Result<InodeNumber, steadyfs::Error> {
    let place = place.into();
    let inode = fs.create_dir(place)?;
    let passed_on = fs
        .stat(inode)
        .map_err(Error::Volume)
        .and_then(|stat| Rule::pass_on(fs, stat.parent, inode));
    if let Err(error) = passed_on {
        fs.remove_dir(place)?;
        return Err(error.into());
    }
    Ok(inode)
}

/// Returns the state of a file, with the size of its content. If this size cannot be read, the
/// result contains the stored size. A read of the file then returns the error.
pub fn stat<F: Flash>(fs: &mut FileSystem<'_, F>, stat: Stat) -> Stat {
    if stat.kind != Kind::File || !matches!(Shape::of(fs, stat.inode), Ok(Some(_))) {
        return stat;
    }
    let Ok(mut file) = PlainFile::open(fs, stat.inode, false) else { return stat };
    let size = file.size(fs);
    let _ = file.close(fs);
    Stat { size: size.unwrap_or(stat.size), ..stat }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs::media::Geometry;
    use steadyfs::{Access, Config, ROOT};
    use steadyfs_sim::{Nand, NandTiming};

    /// Writes logs line by line, on volumes whose logical pages are smaller than a chunk, and on
    /// volumes whose logical pages are larger.
    #[test]
    fn logs_are_compressed_whatever_the_logical_page() {
        for (page_bytes, pages_per_logical_page) in
            [(256, 1), (512, 2), (2048, 2), (4096, 2), (4096, 8)]
        {
            let geometry = Geometry {
                page_bytes,
                pages_per_block: 64,
                block_count: 64,
                programs_bytes: false,
            };
            let config = Config { pages_per_logical_page, ..Config::for_geometry(&geometry) };
            let mut memory = vec![0; config.memory_bytes(&geometry)];
            let flash = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
            let flash = FileSystem::format(flash, &config, &mut memory).expect("a volume");
            let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).expect("a mount");
            for text in ["lz4/4KiB", "lz4"] {
                Rule::set(&mut fs, ROOT, Some(text.parse().expect("a rule"))).expect("set");
                let file = PlainFile::create(&mut fs, "log", None, 0).expect("a file");
                let inode = file.inode();
                file.close(&mut fs).expect("closed");
                for line in 0..3000 {
                    let mut file =
                        PlainFile::open_to_write(&mut fs, inode, None).expect("the file");
                    file.write(&mut fs, line * 13, b"21.5 degrees\n").expect("written");
                    file.close(&mut fs).expect("closed");
                }
                let mut file = PlainFile::open(&mut fs, inode, false).expect("the file");
                let mut all = vec![0; 40_000];
                assert_eq!(file.read(&mut fs, 0, &mut all).expect("content"), 39_000);
                assert!(
                    all[..39_000] == b"21.5 degrees\n".repeat(3000),
                    "{page_bytes} × {pages_per_logical_page}, {text}"
                );
                assert!(file.is_packed(), "{page_bytes} × {pages_per_logical_page}, {text}");
                file.close(&mut fs).expect("closed");
                fs.remove("log").expect("removed");
            }
        }
    }
}
