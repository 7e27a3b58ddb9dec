//! Writing, appending, cutting.
//!
//! Every step leaves a file that reads as before, until one write of eight bytes (an entry, or the size) makes the change:
//!
//! ```text
//! overwrite:  chunk → a gap      entry → there                     append:  chunk → a gap      entry → there       size
//!             ─────────────────  ═════════════                              ─────────────────────────────────────  ════
//!             reads as before    new content                                reads as before                        new content
//! ```

use crate::codec;
use crate::file::{NO_CHUNK, PackedFile, place_of};
use crate::format::{ATTRIBUTE, ENTRY_BYTES, Entry, Form, Malformed, Shape};
use crate::{Error, Method};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, FileSystem, OpenOptions, Place};

impl<B: AsRef<[u8]> + AsMut<[u8]>> PackedFile<B> {
    /// Creates an empty compressed file.
    ///
    /// # Power loss
    /// There as a compressed file after the next commit, unless the volume [commits](CommitOn::CREATE) when files are created: then a cut may leave an
    /// empty file that is not compressed.
    ///
    /// # Cost
    /// [`Call::Create`](steadyfs::Call::Create) and [`Call::SetAttribute`](steadyfs::Call::SetAttribute).
    ///
    /// # Errors
    /// Those of [`FileSystem::open`], [`steadyfs::Error::Exists`] where there is one, those of [`FileSystem::set_attribute`],
    /// [`Error::MemoryTooSmall`] with less than [`Shape::write_bytes`].
    pub fn create<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Place<'p>>,
        shape: Shape,
        memory: B,
    ) -> Result<Self, Error> {
        let place = place.into();
        check_memory(&shape, &memory)?;
        let file = fs.open(place, OpenOptions { create_new: true, ..OpenOptions::WRITE })?;
        if let Err(error) = fs.set_attribute(file.inode(), ATTRIBUTE, Some(&shape.emit())) {
            let _ = fs.close(file);
            let _ = fs.remove(place);
            return Err(error.into());
        }
        Ok(Self::new(file, shape, memory))
    }

    /// Chooses the level of a method that has levels: 1 to 10 for deflate, 1 to 22 for Zstandard. Costs nothing.
    pub fn set_level(&mut self, level: i32) {
        self.level = level;
    }

    /// Writes at `offset`; the file grows where needed, and a gap reads as zeros.
    ///
    /// A long write is the sum of writes of one chunk each, and one across the end of the file that of an overwrite and an append. One that begins a chunk compresses what it has; one that goes on in the last chunk stores it as it
    /// is until it is full, so that many small appends cost what they cost in a plain file, and two small writes.
    ///
    /// # Power loss
    /// Nothing of it is there before the next commit; where the volume commits [on writes](CommitOn::WRITE), each chunk is a commit.
    ///
    /// # Cost
    /// [`write_bound`](Self::write_bound) for each chunk, once more across the end of the file, and twice more where there is a gap before it.
    ///
    /// # Errors
    /// Those of [`FileSystem::write`], those of every call, [`Error::MemoryTooSmall`] with less than [`Shape::write_bytes`]. Of chunks before the one that
    /// failed the writes have taken effect.
    pub fn write<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, offset: u64, data: &[u8]) -> Result<(), Error> {
        check_memory(&self.shape, &self.memory)?;
        let end = offset.checked_add(data.len() as u64).ok_or(steadyfs::Error::FileTooLarge)?;
        self.check_size(fs, end)?;
        let size = self.size(fs)?;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let chunk = self.shape.chunk_of(at).ok_or(Error::Size)?;
            let within = (at - self.shape.start_of(chunk)) as usize;
            // What is there changes with an entry, and what is new is there with the size: never both in one step.
            let to_end = if at < size { size - at } else { u64::MAX };
            let step = (self.shape.chunk_bytes() - within).min(data.len() - done).min(to_end.min(1 << 31) as usize);
            self.in_one_commit(fs, CommitOn::WRITE, |packed, fs| {
                packed.write_chunk(fs, chunk, within, &data[done..done + step])
            })?;
            done += step;
        }
        Ok(())
    }

    /// Writes at the end of the file.
    ///
    /// # Errors, cost, power loss
    /// As [`write`](Self::write).
    pub fn append<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, data: &[u8]) -> Result<(), Error> {
        let size = self.size(fs)?;
        self.write(fs, size, data)
    }

    /// Cuts the file, or makes it larger with zeros.
    ///
    /// # Power loss
    /// The old size or the new one.
    ///
    /// # Cost
    /// To cut: a small write, a truncate, and a write of a header. To enlarge: [`write_bound`](Self::write_bound), a truncate, and a write of a header.
    ///
    /// # Errors
    /// As [`write`](Self::write), and those of [`FileSystem::truncate`].
    pub fn truncate<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        check_memory(&self.shape, &self.memory)?;
        self.check_size(fs, size)?;
        let old = self.size(fs)?;
        if size == 0 && old > 0 {
            self.forget();
            return Ok(fs.truncate(&mut self.file, 0)?);
        }
        self.in_one_commit(fs, CommitOn::TRUNCATE, |packed, fs| {
            if size > old {
                packed.clear_beyond(fs, old)?;
                return packed.set_size(fs, size);
            }
            if size < old {
                packed.forget();
                packed.set_size(fs, size)?;
                // The file is cut. What lies behind its end takes room until a later call succeeds in this.
                let _ = packed.clear_behind(fs, size);
            }
            Ok(())
        })
    }

    /// Refuses a size that the file system cannot hold.
    fn check_size<F: Flash>(&self, fs: &FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        let last = self.shape.chunk_of(size).filter(|&chunk| chunk != NO_CHUNK);
        let end = last.map(|chunk| self.shape.slot_of(chunk).0 + u64::from(self.shape.slot_bytes()));
        match end {
            Some(end) if end <= fs.size_max() || size <= self.shape.start_of(1) => Ok(()),
            _ => Err(steadyfs::Error::FileTooLarge.into()),
        }
    }

    /// Makes several changes one commit, where the volume commits on such an event.
    fn in_one_commit<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        event: CommitOn,
        step: impl FnOnce(&mut Self, &mut FileSystem<'_, F>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let events = fs.commit_on();
        fs.set_commit_on(events.without(CommitOn::WRITE).without(CommitOn::TRUNCATE));
        let result = step(self, fs);
        fs.set_commit_on(events);
        result?;
        if events.contains(event) { Ok(fs.commit()?) } else { Ok(()) }
    }

    /// Writes within one chunk.
    fn write_chunk<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32, within: usize, data: &[u8]) -> Result<(), Error> {
        let (size, start, whole) = (self.size(fs)?, self.shape.start_of(chunk), self.shape.chunk_bytes());
        if start > size {
            self.clear_beyond(fs, size)?;
        }
        let old_length = size.saturating_sub(start).min(whole as u64) as usize;
        let length = old_length.max(within + data.len());
        let (slot, index) = self.shape.slot_of(chunk);
        let old = if old_length > 0 { self.entry(fs, chunk, slot, index)? } else { None };
        let goes_on = old_length > 0 && within == old_length;
        let plain_at = match old {
            Some(Entry { position, form: Form::Plain }) if goes_on => Some(slot + u64::from(position) + within as u64),
            _ => None,
        };
        if let Some(place) = plain_at.filter(|_| length < whole) {
            fs.write(&mut self.file, place, data)?;
            self.add_decoded(chunk, within, data);
        } else {
            self.compose(fs, chunk, old_length, within, data)?;
            let encoded = if goes_on && length < whole { Encoded::Plain } else { self.encode(length) };
            match (encoded, plain_at) {
                // It is full and does not shrink: it stays where it is.
                (Encoded::Plain, Some(place)) => fs.write(&mut self.file, place, data)?,
                (Encoded::Zeros, _) if old.is_none() => self.clear_entry(fs, slot, index)?,
                _ => self.store(fs, (chunk, slot, index), length, encoded)?,
            }
            self.decoded = (chunk, length);
        }
        if start + length as u64 > size { self.set_size(fs, start + length as u64) } else { Ok(()) }
    }

    /// Adds what was appended to the chunk that was decoded last, if it is this one.
    fn add_decoded(&mut self, chunk: u32, within: usize, data: &[u8]) {
        if self.decoded == (chunk, within) {
            self.memory.as_mut()[within..within + data.len()].copy_from_slice(data);
            self.decoded.1 += data.len();
        } else {
            self.forget();
        }
    }

    /// Makes the new content of a chunk, at the beginning of the memory.
    fn compose<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
        old_length: usize,
        within: usize,
        data: &[u8],
    ) -> Result<(), Error> {
        let (end, mut known) = (within + data.len(), 0);
        if old_length > 0 && (within > 0 || end < old_length) {
            if self.decoded.0 != chunk {
                self.load(fs, chunk, old_length)?;
            }
            known = self.decoded.1.min(old_length);
        }
        self.forget();
        let memory = self.memory.as_mut();
        // Behind what is known there are zeros.
        memory[known..end.max(old_length)].fill(0);
        memory[within..end].copy_from_slice(data);
        Ok(())
    }

    /// Brings a chunk to the beginning of the memory.
    fn load<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32, length: usize) -> Result<(), Error> {
        let (slot, index) = self.shape.slot_of(chunk);
        self.forget();
        self.decoded = match self.entry(fs, chunk, slot, index)? {
            None => (chunk, 0),
            Some(Entry { position, form: Form::Plain }) => {
                (chunk, fs.read(&mut self.file, slot + u64::from(position), &mut self.memory.as_mut()[..length])?)
            }
            // This decodes it.
            Some(_) => return self.read_chunk(fs, chunk, 0, &mut []),
        };
        Ok(())
    }

    /// Compresses what is at the beginning of the memory.
    pub(crate) fn encode(&mut self, length: usize) -> Encoded {
        let Parts { content, out, table, .. } = Parts::of(&self.shape, self.memory.as_mut());
        if content[..length].iter().all(|&byte| byte == 0) {
            return Encoded::Zeros;
        }
        let most = (length - length / GAIN).min(self.shape.chunk_bytes()) - 1;
        match codec::encode(self.shape.method(), self.level, &content[..length], &mut out[..most], table) {
            Some((method, stored)) if stored > 0 => Encoded::Compressed { method, stored },
            _ => Encoded::Plain,
        }
    }

    /// Writes a chunk into a gap of its slot, and then its entry.
    pub(crate) fn store<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        (chunk, slot, index): (u32, u64, u32),
        length: usize,
        encoded: Encoded,
    ) -> Result<(), Error> {
        let form = match encoded {
            Encoded::Zeros => return self.set_entry(fs, slot, index, [0; ENTRY_BYTES]),
            Encoded::Plain => Form::Plain,
            Encoded::Compressed { method, stored } => Form::Compressed { method, stored },
        };
        let mut entry = Entry { position: 0, form };
        self.load_header(fs, slot)?;
        let parts = Parts::of(&self.shape, self.memory.as_mut());
        entry.position = gap(parts.header, &self.shape, entry.room(&self.shape)).ok_or(Error::Entry { chunk })?;
        let data = match encoded {
            Encoded::Compressed { stored, .. } => &parts.out[..stored],
            _ => &parts.content[..length],
        };
        fs.write(&mut self.file, slot + u64::from(entry.position), data)?;
        self.set_entry(fs, slot, index, entry.emit(&self.shape))
    }

    /// Brings the header of a slot into the memory. What was never written is zeros.
    fn load_header<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, slot: u64) -> Result<(), Error> {
        let header = Parts::of(&self.shape, self.memory.as_mut()).header;
        let count = fs.read(&mut self.file, slot, header)?;
        header[count..].fill(0);
        Ok(())
    }

    fn set_entry<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        slot: u64,
        index: u32,
        bytes: [u8; ENTRY_BYTES],
    ) -> Result<(), Error> {
        Ok(fs.write(&mut self.file, slot + place_of(index), &bytes)?)
    }

    /// Sees to it that there is no chunk, also where an entry behind the end of the file says that there is one.
    fn clear_entry<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, slot: u64, index: u32) -> Result<(), Error> {
        let mut bytes = [0; ENTRY_BYTES];
        fs.read(&mut self.file, slot + place_of(index), &mut bytes)?;
        if bytes == [0; ENTRY_BYTES] { Ok(()) } else { self.set_entry(fs, slot, index, [0; ENTRY_BYTES]) }
    }

    pub(crate) fn set_size<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        Ok(fs.write(&mut self.file, 0, &size.to_le_bytes())?)
    }

    /// Makes all that is behind the end of the file zeros, before the file becomes larger with a gap.
    fn clear_beyond<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        let chunk = self.shape.chunk_of(size).ok_or(Error::Size)?;
        let (slot, index) = self.shape.slot_of(chunk);
        let length = (size - self.shape.start_of(chunk)) as usize;
        if length > 0 {
            self.compose(fs, chunk, length, self.shape.chunk_bytes(), &[])?;
            let encoded = self.encode(self.shape.chunk_bytes());
            self.store(fs, (chunk, slot, index), self.shape.chunk_bytes(), encoded)?;
            self.decoded = (chunk, self.shape.chunk_bytes());
        }
        self.clear_behind(fs, size)
    }

    /// Takes away the chunks that lie wholly behind the end of the file, and the room behind those of its last group.
    fn clear_behind<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Error> {
        let first = self.shape.chunk_of(size + self.shape.chunk_bytes() as u64 - 1).ok_or(Error::Size)?;
        let (slot, index) = self.shape.slot_of(first);
        let mut end = slot;
        if index > 0 {
            self.load_header(fs, slot)?;
            let header = Parts::of(&self.shape, self.memory.as_mut()).header;
            let kept = self.shape.header_bytes().min((index as usize + 1) * ENTRY_BYTES);
            let has_more = header[kept..].iter().any(|&byte| byte != 0);
            header[kept..].fill(0);
            let last =
                entries(header, &self.shape).filter_map(|entry| Some(entry.ok()?.position + entry.ok()?.room(&self.shape))).max();
            end += u64::from(last.unwrap_or(0).max(self.shape.header_bytes() as u32));
            if has_more {
                let header = &Parts::of(&self.shape, self.memory.as_mut()).header[kept..];
                fs.write(&mut self.file, slot + kept as u64, header)?;
            }
        }
        // The size is there.
        let end = end.max(ENTRY_BYTES as u64);
        if fs.size(&mut self.file)? > end { Ok(fs.truncate(&mut self.file, end)?) } else { Ok(()) }
    }
}

/// A chunk saves at least its bytes divided by this, or is stored as it is: it costs less time to read then.
const GAIN: usize = 32;

/// What a chunk becomes.
#[derive(Clone, Copy)]
pub(crate) enum Encoded {
    /// Nothing: it is zeros.
    Zeros,
    /// Itself.
    Plain,
    /// So many bytes, behind the header in the memory.
    Compressed { method: Method, stored: usize },
}

/// The memory of a file that is written.
struct Parts<'m> {
    /// The content of a chunk; its end is where chunks are read to be decoded.
    content: &'m mut [u8],
    header: &'m mut [u8],
    out: &'m mut [u8],
    table: &'m mut [u8],
}

impl<'m> Parts<'m> {
    fn of(shape: &Shape, memory: &'m mut [u8]) -> Self {
        let (content, rest) = memory.split_at_mut(shape.read_bytes());
        let (header, rest) = rest.split_at_mut(shape.header_bytes());
        let (out, table) = rest.split_at_mut(shape.chunk_bytes());
        let table_bytes = table.len().min(1 << 16);
        Self { content, header, out, table: &mut table[..table_bytes] }
    }
}

/// The chunks of a header; an error for each entry that is none.
fn entries<'h>(header: &'h [u8], shape: &'h Shape) -> impl Iterator<Item = Result<Entry, Malformed>> + 'h {
    let entries = header[ENTRY_BYTES..].as_chunks::<ENTRY_BYTES>().0;
    entries.iter().filter_map(|bytes| Entry::parse(bytes, shape).transpose())
}

/// The first place of a slot at which so many bytes lie in no chunk of its header. There always is one: see `docs/packed.md`.
fn gap(header: &[u8], shape: &Shape, bytes: u32) -> Option<u32> {
    let taken = || entries(header, shape).filter_map(Result::ok).map(|entry| entry.position..entry.position + entry.room(shape));
    let is_free =
        |&at: &u32| at + bytes <= shape.slot_bytes() && taken().all(|other| at + bytes <= other.start || at >= other.end);
    let last = shape.slot_bytes() - shape.chunk_bytes() as u32;
    let ends = taken().map(|other| other.end);
    core::iter::once(header.len() as u32).chain(ends).filter(|&at| at <= last).filter(is_free).min()
}

pub(crate) fn check_memory(shape: &Shape, memory: &impl AsRef<[u8]>) -> Result<(), Error> {
    let (needed, lent) = (shape.write_bytes(), memory.as_ref().len());
    if lent < needed { Err(Error::MemoryTooSmall { needed, lent }) } else { Ok(()) }
}
