//! An open compressed file, and reading.

use crate::codec::{self, LEVEL_DEFAULT, Refusal};
use crate::format::{ATTRIBUTE, ATTRIBUTE_BYTES, ENTRY_BYTES, Entry, Form, Shape};
use crate::{Error, Volume};
use core::ops::Range;
use steadyfs::media::Flash;
use steadyfs::{File, FileSystem, InodeNumber, OpenOptions, Place, Reader};

/// Chunk that none is.
pub(crate) const NO_CHUNK: u32 = u32::MAX;

/// An open compressed file, and the memory that is lent to it: an array on a microcontroller, a `Vec` on a host.
///
/// It remembers the chunk that it decoded last. Where another handle may have changed the file, or changes were rolled back, [`forget`](Self::forget) it.
///
/// # Power loss
/// As of a plain file: what was committed is there, and nothing else.
///
/// # Errors of every call
/// [`Error::Volume`], [`Error::Size`], [`Error::Entry`], [`Error::Chunk`], [`Error::Method`].
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub struct PackedFile<B> {
    pub(crate) file: File,
    pub(crate) shape: Shape,
    pub(crate) memory: B,
    /// The chunk whose content is at the beginning of the memory, and its bytes.
    pub(crate) decoded: (u32, usize),
    pub(crate) level: i32,
}

/// How a file is compressed; `None` of one that is not.
///
/// # Cost
/// As [`FileSystem::attribute`].
///
/// # Errors
/// [`Error::Volume`], [`Error::Attribute`].
pub(crate) fn shape_of(volume: &mut impl Volume, inode: InodeNumber) -> Result<Option<Shape>, Error> {
    let mut value = [0; ATTRIBUTE_BYTES];
    match volume.attribute(inode, ATTRIBUTE, &mut value) {
        Ok(ATTRIBUTE_BYTES) => Shape::parse(&value).map(Some),
        Ok(_) => Err(Error::Attribute),
        Err(steadyfs::Error::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Shape {
    /// How a file is compressed; `None` of one that is not.
    ///
    /// # Cost
    /// As [`FileSystem::attribute`].
    ///
    /// # Errors
    /// [`Error::Volume`], [`Error::Attribute`].
    pub fn of(volume: &mut impl Volume, inode: InodeNumber) -> Result<Option<Self>, Error> {
        shape_of(volume, inode)
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> PackedFile<B> {
    /// Opens a compressed file that exists, for reading and writing where `writes`.
    ///
    /// # Cost
    /// [`Call::Open`](steadyfs::Call::Open), twice.
    ///
    /// # Errors
    /// Those of [`FileSystem::open`], [`Error::NotPacked`], [`Error::Attribute`], [`Error::MemoryTooSmall`] with less than [`Shape::read_bytes`].
    pub fn open<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Place<'p>>,
        writes: bool,
        memory: B,
    ) -> Result<Self, Error> {
        let options = if writes { OpenOptions::WRITE } else { OpenOptions::READ };
        let file = fs.open(place, options)?;
        let inode = file.inode();
        let shape = fit(shape_of(fs, inode), &memory);
        match shape {
            Ok(shape) => Ok(Self::new(file, shape, memory)),
            Err(error) => {
                let _ = fs.close(file);
                Err(error)
            }
        }
    }

    /// The same of a file that is known by its inode.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_inode<F: Flash>(fs: &mut FileSystem<'_, F>, inode: InodeNumber, writes: bool, memory: B) -> Result<Self, Error> {
        let shape = fit(shape_of(fs, inode), &memory)?;
        let options = if writes { OpenOptions::WRITE } else { OpenOptions::READ };
        Ok(Self::new(fs.open_inode(inode, options)?, shape, memory))
    }

    /// Opens a compressed file of a volume that is only read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in_reader<'p, F: Flash>(
        reader: &mut Reader<'_, F>,
        place: impl Into<Place<'p>>,
        memory: B,
    ) -> Result<Self, Error> {
        let file = reader.open(place)?;
        let shape = fit(shape_of(reader, file.inode()), &memory);
        match shape {
            Ok(shape) => Ok(Self::new(file, shape, memory)),
            Err(error) => {
                reader.close(file);
                Err(error)
            }
        }
    }

    pub(crate) fn new(file: File, shape: Shape, memory: B) -> Self {
        Self { file, shape, memory, decoded: (NO_CHUNK, 0), level: LEVEL_DEFAULT }
    }

    /// Number of the file, for its life.
    pub fn inode(&self) -> InodeNumber {
        self.file.inode()
    }

    /// How the file is compressed.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Forgets the chunk that was decoded last: the next read looks at the medium. Costs nothing.
    pub fn forget(&mut self) {
        self.decoded = (NO_CHUNK, 0);
    }

    /// The file as it is stored, as for [`FileSystem::flush`].
    pub fn stored(&mut self) -> &mut File {
        &mut self.file
    }

    /// Bytes of the content.
    ///
    /// # Cost
    /// [`Call::Read`](steadyfs::Call::Read) of 8 bytes.
    ///
    /// # Errors
    /// Those of every call.
    pub fn size(&mut self, volume: &mut impl Volume) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        volume.read(&mut self.file, 0, &mut bytes)?;
        let size = u64::from_le_bytes(bytes);
        match self.shape.chunk_of(size) {
            Some(chunk) if chunk != NO_CHUNK => Ok(size),
            _ => Err(Error::Size),
        }
    }

    /// Reads from `offset` on. Returns the number of bytes, less than asked for only at the end of the file.
    ///
    /// # Cost
    /// [`read_bound`](Self::read_bound): for each chunk its entry, and its stored bytes unless it was decoded last.
    ///
    /// # Errors
    /// Those of every call.
    pub fn read(&mut self, volume: &mut impl Volume, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        let size = self.size(volume)?;
        let length = size.saturating_sub(offset).min(data.len() as u64) as usize;
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let chunk = self.shape.chunk_of(at).ok_or(Error::Size)?;
            let within = (at - self.shape.start_of(chunk)) as usize;
            let step = (self.shape.chunk_bytes() - within).min(length - done);
            self.read_chunk(volume, chunk, within, &mut data[done..done + step])?;
            done += step;
        }
        Ok(length)
    }

    /// Reads within one chunk. What it does not have is zeros.
    pub(crate) fn read_chunk(
        &mut self,
        volume: &mut impl Volume,
        chunk: u32,
        within: usize,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let (slot, index) = self.shape.slot_of(chunk);
        let mut known = 0;
        if self.decoded.0 == chunk {
            known = self.copy_decoded(within, data);
        } else if let Some(entry) = self.entry(volume, chunk, slot, index)? {
            let place = slot + u64::from(entry.position);
            known = match entry.form {
                Form::Plain => volume.read(&mut self.file, place + within as u64, data)?,
                Form::Compressed { method, stored } => {
                    self.decode(volume, chunk, place, method, stored)?;
                    self.copy_decoded(within, data)
                }
            };
        }
        data[known..].fill(0);
        Ok(())
    }

    /// Copies what was decoded; returns how much of `data` that is.
    fn copy_decoded(&self, within: usize, data: &mut [u8]) -> usize {
        let content = &self.memory.as_ref()[..self.decoded.1];
        let content = content.get(within..).unwrap_or_default();
        let count = content.len().min(data.len());
        data[..count].copy_from_slice(&content[..count]);
        count
    }

    /// Where a chunk is.
    pub(crate) fn entry(&mut self, volume: &mut impl Volume, chunk: u32, slot: u64, index: u32) -> Result<Option<Entry>, Error> {
        let mut bytes = [0; ENTRY_BYTES];
        volume.read(&mut self.file, slot + place_of(index), &mut bytes)?;
        Entry::parse(&bytes, &self.shape).map_err(|_| Error::Entry { chunk })
    }

    /// Decodes a chunk to the beginning of the memory.
    fn decode(
        &mut self,
        volume: &mut impl Volume,
        chunk: u32,
        place: u64,
        method: crate::Method,
        stored: usize,
    ) -> Result<(), Error> {
        self.forget();
        let room = self.room();
        let (from, limit) = (room.end - stored, self.shape.chunk_bytes());
        let memory = &mut self.memory.as_mut()[room];
        if volume.read(&mut self.file, place, &mut memory[from..])? < stored {
            return Err(Error::Chunk { chunk });
        }
        let made = codec::decode(method, memory, stored, limit).map_err(|refusal| match refusal {
            Refusal::Damaged => Error::Chunk { chunk },
            Refusal::Unknown => Error::Method { chunk, method },
        })?;
        self.decoded = (chunk, made);
        Ok(())
    }

    /// The part of the memory in which chunks are decoded.
    pub(crate) fn room(&self) -> Range<usize> {
        0..self.shape.read_bytes()
    }

    /// Closes the file.
    ///
    /// # Errors, cost, power loss
    /// As [`FileSystem::close`].
    pub fn close<F: Flash>(self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        Ok(fs.close(self.file)?)
    }

    /// Closes a file of a volume that is only read.
    pub fn close_in_reader<F: Flash>(self, reader: &mut Reader<'_, F>) {
        reader.close(self.file);
    }
}

/// Where in a slot the entry is of the chunk at this place of its group.
pub(crate) fn place_of(index: u32) -> u64 {
    (u64::from(index) + 1) * ENTRY_BYTES as u64
}

/// The shape of a file that is compressed, where the memory suffices to read it.
fn fit(shape: Result<Option<Shape>, Error>, memory: &impl AsRef<[u8]>) -> Result<Shape, Error> {
    let shape = shape?.ok_or(Error::NotPacked)?;
    let (needed, lent) = (shape.read_bytes(), memory.as_ref().len());
    if lent < needed { Err(Error::MemoryTooSmall { needed, lent }) } else { Ok(shape) }
}
