//! An open compressed file, and its reads.

use crate::codec::{self, LEVEL_DEFAULT, Refusal};
use crate::error::Fault;
use crate::format::{ATTRIBUTE, ATTRIBUTE_BYTES, ENTRY_BYTES, Entry, Form, NO_CHUNK, Shape, Spot};
use crate::stored::Stored;
use crate::{Error, Method, Volume};
use steadyfs::media::Flash;
use steadyfs::{File, FileSystem, InodeNumber, Location, OpenOptions, Reader};

/// An open compressed file, and the memory that is lent to it: an array on a microcontroller, a
/// `Vec` on a host.
///
/// This struct caches the chunk that it decoded last. Call [`forget`](Self::forget) if another
/// handle may have changed the file, or if changes were rolled back.
///
/// # Power loss
/// As for a plain file: after a power cut the file has exactly the committed content.
///
/// # Errors of every call
/// Each call may return [`Error::Volume`], [`Error::Size`], [`Error::Entry`], [`Error::Chunk`] or
/// [`Error::Method`].
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub struct PackedFile<B> {
    pub(crate) stored: Stored,
    pub(crate) memory: B,
    /// Number of the chunk whose content is at the beginning of the memory. The rest of the chunk's
    /// memory is zeros.
    pub(crate) decoded: u32,
    /// The chunk that was looked up last, and its method. Errors report them.
    looked_up: (u32, Method),
    pub(crate) level: i32,
}

/// Returns the shape of a file, or `None` if the file is not compressed.
///
/// # Cost
/// As [`FileSystem::attribute`].
///
/// # Errors
/// [`Error::Volume`], [`Error::Attribute`].
pub(crate) fn shape_of(
    volume: &mut impl Volume,
    inode: InodeNumber,
) -> Result<Option<Shape>, Error> {
    let mut value = [0; ATTRIBUTE_BYTES];
    match volume.attribute(inode, ATTRIBUTE, &mut value) {
        Ok(ATTRIBUTE_BYTES) => Shape::parse(&value).map(Some),
        Ok(_) => Err(Error::Attribute),
        Err(steadyfs::Error::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Shape {
    /// Returns the shape of a file, or `None` if the file is not compressed.
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
    /// Opens a compressed file that exists, for reading, and also for writing if `writes` is
    /// true.
    ///
    /// # Cost
    /// [`Call::Open`](steadyfs::Call::Open), twice.
    ///
    /// # Errors
    /// The errors of [`FileSystem::open`], [`Error::NotPacked`], [`Error::Attribute`], and
    /// [`Error::MemoryTooSmall`] if the memory is smaller than [`Shape::read_bytes`].
    pub fn open<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Location<'p>>,
        writes: bool,
        memory: B,
    ) -> Result<Self, Error> {
        let options = if writes { OpenOptions::WRITE } else { OpenOptions::READ };
        Self::open_as(fs, place.into(), options, None, memory)
    }

    /// Opens a compressed file, or turns an empty file into one.
    pub(crate) fn open_as<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: Location<'_>,
        options: OpenOptions,
        new: Option<Shape>,
        memory: B,
    ) -> Result<Self, Error> {
        let file = fs.open(place, options)?;
        let inode = file.inode();
        let shape = match new {
            Some(shape) => set_shape(fs, inode, shape),
            None => fit(shape_of(fs, inode), &memory),
        };
        match shape {
            Ok(shape) => Ok(Self::new(file, shape, memory)),
            Err(error) => {
                let _ = fs.close(file);
                if new.is_some() {
                    let _ = fs.remove(place);
                }
                Err(error)
            }
        }
    }

    /// Opens a compressed file by its inode.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_inode<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        inode: InodeNumber,
        writes: bool,
        memory: B,
    ) -> Result<Self, Error> {
        let shape = fit(shape_of(fs, inode), &memory)?;
        let options = if writes { OpenOptions::WRITE } else { OpenOptions::READ };
        Ok(Self::new(fs.open(inode, options)?, shape, memory))
    }

    /// Opens a compressed file on a volume that is mounted for reads only.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in_reader<'p, F: Flash>(
        reader: &mut Reader<'_, F>,
        place: impl Into<Location<'p>>,
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
        Self {
            stored: Stored { file, shape },
            memory,
            decoded: NO_CHUNK,
            looked_up: (NO_CHUNK, Method::Lz4),
            level: LEVEL_DEFAULT,
        }
    }

    /// Returns the inode number of the file, which never changes.
    pub fn inode(&self) -> InodeNumber {
        self.stored.file.inode()
    }

    /// Returns the shape of the file.
    pub fn shape(&self) -> Shape {
        self.stored.shape
    }

    /// Discards the chunk that was decoded last, so that the next read reads the medium. Costs
    /// nothing.
    pub fn forget(&mut self) {
        self.decoded = NO_CHUNK;
    }

    /// Returns the underlying plain file, for calls such as [`FileSystem::size`].
    pub fn stored(&mut self) -> &mut File {
        &mut self.stored.file
    }

    /// Returns the number of bytes of the content.
    ///
    /// # Cost
    /// [`Call::Read`](steadyfs::Call::Read) of 8 bytes.
    ///
    /// # Errors
    /// The errors of every call.
    pub fn size(&mut self, volume: &mut impl Volume) -> Result<u64, Error> {
        let end = self.end(volume).map_err(|fault| self.error(fault))?;
        Ok(self.stored.shape.offset(end))
    }

    /// Reads from `offset` on. Returns the number of bytes that were read. Only at the end of the
    /// file this is less than requested.
    ///
    /// # Cost
    /// At most [`read_bound`](Self::read_bound). For each chunk, the call reads its entry. It also
    /// reads its stored bytes, unless this chunk was decoded last.
    ///
    /// # Errors
    /// The errors of every call.
    pub fn read(
        &mut self,
        volume: &mut impl Volume,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Error> {
        self.read_chunks(volume, offset, data).map_err(|fault| self.error(fault))
    }

    fn read_chunks(
        &mut self,
        volume: &mut impl Volume,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Fault> {
        let end = self.end(volume)?;
        let Some(mut at) = self.stored.shape.spot(offset) else { return Ok(0) };
        let mut done = 0;
        let mut rest = data;
        while at < end && !rest.is_empty() {
            let step = self.stored.shape.left(at, end).min(rest.len());
            let (now, later) = rest.split_at_mut(step);
            self.read_chunk(volume, at, now)?;
            rest = later;
            done += step;
            at = self.stored.shape.behind(at, step);
        }
        Ok(done)
    }

    /// Reads within one chunk.
    fn read_chunk(
        &mut self,
        volume: &mut impl Volume,
        at: Spot,
        data: &mut [u8],
    ) -> Result<(), Fault> {
        if self.decoded != at.chunk
            && let Some(position) = self.find(volume, at.chunk)?
        {
            return self.stored.read(volume, at.chunk, position + at.within as u32, data);
        }
        data.copy_from_slice(&self.memory.as_ref()[at.within..at.within + data.len()]);
        Ok(())
    }

    /// If a chunk is stored uncompressed, returns its position in its slot. Otherwise decodes the
    /// chunk to the beginning of the memory, and returns `None`.
    pub(crate) fn find(
        &mut self,
        volume: &mut impl Volume,
        chunk: u32,
    ) -> Result<Option<u32>, Fault> {
        self.looked_up.0 = chunk;
        let mut bytes = [0; ENTRY_BYTES];
        self.stored.read(volume, chunk, self.stored.shape.entry_of(chunk), &mut bytes)?;
        let mut length = 0;
        match Entry::parse(&bytes, &self.stored.shape).map_err(|_| Fault::Entry)? {
            Some(Entry { position, form: Form::Plain }) => return Ok(Some(position)),
            _ if self.decoded == chunk => return Ok(None),
            Some(Entry { position, form: Form::Compressed { method, stored } }) => {
                self.forget();
                length = self.decode(volume, position, method, stored)?;
            }
            None => {}
        }
        self.memory.as_mut()[length..self.stored.shape.chunk_bytes()].fill(0);
        self.decoded = chunk;
        Ok(None)
    }

    /// Returns the end of the content.
    pub(crate) fn end(&mut self, volume: &mut impl Volume) -> Result<Spot, Fault> {
        let mut bytes = [0; 8];
        self.stored.read(volume, 0, 0, &mut bytes)?;
        self.stored.shape.spot(u64::from_le_bytes(bytes)).ok_or(Fault::Size)
    }

    /// Decodes the chunk that was looked up to the beginning of the memory. Returns the number of
    /// decoded bytes.
    fn decode(
        &mut self,
        volume: &mut impl Volume,
        position: u32,
        method: Method,
        stored: usize,
    ) -> Result<usize, Fault> {
        self.looked_up.1 = method;
        let room = &mut self.memory.as_mut()[..self.stored.shape.read_bytes()];
        let from = room.len() - stored;
        self.stored.read(volume, self.looked_up.0, position, &mut room[from..])?;
        codec::decode(method, room, stored, self.stored.shape.chunk_bytes()).map_err(|refusal| {
            match refusal {
                Refusal::Damaged => Fault::Chunk,
                Refusal::Unknown => Fault::Method,
            }
        })
    }

    /// Returns the error that a call reports for a step that failed.
    pub(crate) fn error(&self, fault: Fault) -> Error {
        let (chunk, method) = self.looked_up;
        match fault {
            Fault::Volume(error) => Error::Volume(error),
            Fault::Size => Error::Size,
            Fault::Entry => Error::Entry { chunk },
            Fault::Chunk => Error::Chunk { chunk },
            Fault::Method => Error::Method { chunk, method },
            Fault::Memory => Error::MemoryTooSmall {
                needed: self.stored.shape.write_bytes(),
                lent: self.memory.as_ref().len(),
            },
        }
    }

    /// Closes the file.
    ///
    /// # Errors, cost, power loss
    /// As [`FileSystem::close`].
    pub fn close<F: Flash>(self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        Ok(fs.close(self.stored.file)?)
    }

    /// Closes a file of a volume that is mounted for reads only.
    pub fn close_in_reader<F: Flash>(self, reader: &mut Reader<'_, F>) {
        reader.close(self.stored.file);
    }
}

fn set_shape<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    inode: InodeNumber,
    shape: Shape,
) -> Result<Shape, Error> {
    fs.set_attribute(inode, ATTRIBUTE, Some(&shape.emit()))?;
    Ok(shape)
}

/// Returns the shape of a compressed file if the memory suffices to read the file.
fn fit(shape: Result<Option<Shape>, Error>, memory: &impl AsRef<[u8]>) -> Result<Shape, Error> {
    let shape = shape?.ok_or(Error::NotPacked)?;
    check_memory(shape.read_bytes(), memory.as_ref())?;
    Ok(shape)
}

pub(crate) fn check_memory(needed: usize, memory: &[u8]) -> Result<(), Error> {
    let lent = memory.len();
    if lent < needed { Err(Error::MemoryTooSmall { needed, lent }) } else { Ok(()) }
}
