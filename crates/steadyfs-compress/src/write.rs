//! Writes, appends and truncates.
//!
//! Until the last step, reads return the old content. The last step is one write of eight bytes (an
//! entry, or the size), which makes the new content visible:
//!
//! ```text
//! overwrite:  chunk → a gap    entry → there    as before until the entry, then new content
//! append:     chunk → a gap    entry → there    size    as before until the size, then new content
//! ```

use crate::Error;
use crate::codec;
use crate::error::Fault;
use crate::file::{PackedFile, check_memory};
use crate::format::{ENTRY_BYTES, Entry, Form, Shape, Spot};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, FileSystem, Location, OpenOptions};

impl<B: AsRef<[u8]> + AsMut<[u8]>> PackedFile<B> {
    /// Creates an empty compressed file.
    ///
    /// # Power loss
    /// The next commit makes the compressed file durable. If the volume [commits](CommitOn::CREATE)
    /// when files are created, a power cut may leave an empty file that is not compressed.
    ///
    /// # Cost
    /// [`Call::Create`](steadyfs::Call::Create) and
    /// [`Call::SetAttribute`](steadyfs::Call::SetAttribute).
    ///
    /// # Errors
    /// The errors of [`FileSystem::open`], [`steadyfs::Error::Exists`] if the file exists, the
    /// errors of [`FileSystem::set_attribute`], and [`Error::MemoryTooSmall`] if the memory is
    /// smaller than [`Shape::write_bytes`].
    pub fn create<'p, F: Flash>(
        fs: &mut FileSystem<'_, F>,
        place: impl Into<Location<'p>>,
        shape: Shape,
        memory: B,
    ) -> Result<Self, Error> {
        check_memory(shape.write_bytes(), memory.as_ref())?;
        let options = OpenOptions { create_new: true, ..OpenOptions::WRITE };
        Self::open_as(fs, place.into(), options, Some(shape), memory)
    }

    /// Sets the level of a method that has levels: 1 to 10 for deflate, 1 to 22 for Zstandard.
    /// Costs nothing.
    pub fn set_level(&mut self, level: i32) {
        self.level = level;
    }

    /// Writes at `offset`. The file grows if needed, and a gap reads as zeros.
    ///
    /// A long write is divided into writes of at most one chunk each. A write across the end of the
    /// file is divided into an overwrite and an append.
    ///
    /// A write that begins a chunk compresses its data. A write that continues the last chunk
    /// stores the chunk uncompressed until the chunk is full. Small appends therefore cost as much
    /// as in a plain file, plus two small writes.
    ///
    /// # Power loss
    /// The data becomes durable with the next commit. If the volume commits [on
    /// writes](CommitOn::WRITE), each chunk is committed separately.
    ///
    /// # Cost
    /// At most [`write_bound`](Self::write_bound) for each chunk. If the write crosses the end of
    /// the file, add one more. If it begins behind the end of the file, add two more.
    ///
    /// # Errors
    /// The errors of [`FileSystem::write`], the errors of every call, and [`Error::MemoryTooSmall`]
    /// if the memory is smaller than [`Shape::write_bytes`]. If a chunk fails, the writes of the
    /// chunks before it have taken effect.
    pub fn write<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        self.write_chunks(fs, Some(offset), data).map_err(|fault| self.error(fault))
    }

    fn write_chunks<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        offset: Option<u64>,
        data: &[u8],
    ) -> Result<(), Fault> {
        let mut end = self.end(fs)?;
        let offset = offset.unwrap_or(self.stored.shape.offset(end));
        let last = offset.checked_add(data.len() as u64).ok_or(steadyfs::Error::FileTooLarge)?;
        self.check(fs, last)?;
        let mut at = self.stored.shape.spot(offset).ok_or(Fault::Size)?;
        let mut rest = data;
        while !rest.is_empty() {
            // An entry changes existing content, and the size publishes new content. So one step
            // never crosses the end of the file.
            let (now, later) = rest.split_at(rest.len().min(self.stored.shape.left(at, end)));
            self.in_one_commit(fs, CommitOn::WRITE, end, at, now)?;
            rest = later;
            at = self.stored.shape.behind(at, now.len());
            end = end.max(at);
        }
        Ok(())
    }

    /// Writes at the end of the file.
    ///
    /// # Errors, cost, power loss
    /// As [`write`](Self::write).
    pub fn append<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        data: &[u8],
    ) -> Result<(), Error> {
        self.write_chunks(fs, None, data).map_err(|fault| self.error(fault))
    }

    /// Truncates the file, or enlarges the file with zeros.
    ///
    /// # Power loss
    /// After a power cut the file has the old size or the new size.
    ///
    /// # Cost
    /// To truncate: a small write, a truncate, and a write of a header. To enlarge:
    /// [`write_bound`](Self::write_bound), a truncate, and a write of a header.
    ///
    /// # Errors
    /// As [`write`](Self::write), and the errors of [`FileSystem::truncate`].
    pub fn truncate<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        size: u64,
    ) -> Result<(), Error> {
        self.change_size(fs, size).map_err(|fault| self.error(fault))
    }

    fn change_size<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        size: u64,
    ) -> Result<(), Fault> {
        let at = self.check(fs, size)?;
        let end = self.end(fs)?;
        if size == 0 && at < end {
            self.forget();
            return Ok(fs.truncate(&mut self.stored.file, 0)?);
        }
        self.in_one_commit(fs, CommitOn::TRUNCATE, end, at, &[])
    }

    /// Makes the changes of one step one commit if the volume commits on `event`. A step is a
    /// write within one chunk, or, with empty `data`, a new end at `at`.
    fn in_one_commit<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        event: CommitOn,
        end: Spot,
        at: Spot,
        data: &[u8],
    ) -> Result<(), Fault> {
        let events = fs.commit_on();
        fs.set_commit_on(events.without(CommitOn::WRITE).without(CommitOn::TRUNCATE));
        let result = if !data.is_empty() || at > end {
            self.write_chunk(fs, end, at, data)
        } else if at < end {
            self.cut(fs, at)
        } else {
            Ok(())
        };
        fs.set_commit_on(events);
        result?;
        if events.contains(event) { Ok(fs.commit()?) } else { Ok(()) }
    }

    fn cut<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, end: Spot) -> Result<(), Fault> {
        self.forget();
        self.set_end(fs, end)?;
        // The file already has its new size. If this call fails, the bytes behind the end take
        // space until a later call clears them.
        let _ = self.clear_behind(fs, end);
        Ok(())
    }

    pub(crate) fn set_end<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        end: Spot,
    ) -> Result<(), Fault> {
        let size = self.stored.shape.offset(end);
        self.stored.write(fs, 0, 0, &size.to_le_bytes())
    }

    /// Returns the end of a file of `size` bytes. Refuses a size that the file system cannot
    /// hold, and memory that suffices for reads only.
    fn check<F: Flash>(&self, fs: &FileSystem<'_, F>, size: u64) -> Result<Spot, Fault> {
        if self.memory.as_ref().len() < self.stored.shape.write_bytes() {
            return Err(Fault::Memory);
        }
        let shape = &self.stored.shape;
        match shape.spot(size) {
            Some(end) if shape.place_of(end.chunk, shape.slot_bytes()) <= fs.size_max() => Ok(end),
            Some(end) if size <= shape.chunk_bytes() as u64 => Ok(end),
            _ => Err(steadyfs::Error::FileTooLarge.into()),
        }
    }

    /// Writes within one chunk, before the end of the content, at it or behind it.
    fn write_chunk<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        end: Spot,
        at: Spot,
        data: &[u8],
    ) -> Result<(), Fault> {
        if at.chunk > end.chunk {
            self.clear_beyond(fs, end)?;
        }
        let old_length = match at.chunk {
            chunk if chunk < end.chunk => self.stored.shape.chunk_bytes(),
            chunk if chunk == end.chunk => end.within,
            _ => 0,
        };
        self.change(fs, at, old_length, data)?;
        let last = Spot { within: at.within + data.len(), ..at };
        if last > end { self.set_end(fs, last) } else { Ok(()) }
    }

    /// Changes the content of a chunk. `old_length` is the number of bytes that the chunk holds, or
    /// will hold once the next size is written.
    fn change<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        at: Spot,
        old_length: usize,
        data: &[u8],
    ) -> Result<(), Fault> {
        let length = old_length.max(at.within + data.len());
        let is_full = length == self.stored.shape.chunk_bytes();
        let goes_on = at.within > 0 && at.within == old_length;
        let plain = if goes_on {
            self.find(fs, at.chunk)?.map(|position| position + at.within as u32)
        } else {
            None
        };
        if let Some(position) = plain
            && !is_full
        {
            self.stored.write(fs, at.chunk, position, data)?;
            if self.decoded == at.chunk {
                self.memory.as_mut()[at.within..length].copy_from_slice(data);
            }
            return Ok(());
        }
        self.compose(fs, at, old_length, data)?;
        let form = if goes_on && !is_full { Some(Form::Plain) } else { self.encode(length) };
        match (form, plain) {
            // The chunk already occupies the bytes of a whole chunk and stays uncompressed, so it
            // keeps its position.
            (Some(Form::Plain), Some(position)) => {
                self.stored.write(fs, at.chunk, position, data)?
            }
            (Some(form), _) => self.store(fs, at.chunk, length, form)?,
            (None, _) => self.clear_entry(fs, at.chunk)?,
        }
        self.decoded = at.chunk;
        Ok(())
    }

    /// Composes the new content of a chunk at the beginning of the memory.
    fn compose<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        at: Spot,
        old_length: usize,
        data: &[u8],
    ) -> Result<(), Fault> {
        let end = at.within + data.len();
        let is_changed = at.within > 0 || end < old_length;
        let known = if is_changed { old_length } else { 0 };
        if known > 0
            && self.decoded != at.chunk
            && let Some(position) = self.find(fs, at.chunk)?
        {
            self.forget();
            self.stored.read(fs, at.chunk, position, &mut self.memory.as_mut()[..known])?;
        }
        self.forget();
        let memory = &mut self.memory.as_mut()[..self.stored.shape.chunk_bytes()];
        // Bytes behind the end of the content have no meaning.
        memory[known..].fill(0);
        memory[at.within..end].copy_from_slice(data);
        Ok(())
    }

    /// Compresses the content at the beginning of the memory. Returns `None` if the content is
    /// zeros.
    pub(crate) fn encode(&mut self, length: usize) -> Option<Form> {
        let (content, rest) = self.memory.as_mut().split_at_mut(self.stored.shape.out_at());
        let (out, table) = rest.split_at_mut(self.stored.shape.chunk_bytes());
        let content = &content[..length];
        if content.iter().all(|&byte| byte == 0) {
            return None;
        }
        let out = &mut out[..length - length / GAIN - 1];
        let table_bytes = table.len().min(1 << 16);
        let made = codec::encode(
            self.stored.shape.method(),
            self.level,
            content,
            out,
            &mut table[..table_bytes],
        );
        Some(made.map_or(Form::Plain, |(method, stored)| Form::Compressed { method, stored }))
    }

    /// Writes a chunk into a gap of its slot, and then its entry.
    pub(crate) fn store<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
        length: usize,
        form: Form,
    ) -> Result<(), Fault> {
        let shape = self.stored.shape;
        let (from, count, room) = match form {
            Form::Plain => (0, length, shape.chunk_bytes()),
            Form::Compressed { stored, .. } => (shape.out_at(), stored, stored),
        };
        self.load_header(fs, chunk)?;
        let position = gap(shape.header_of(self.memory.as_mut()), &shape, room as u32);
        if position > shape.slot_bytes() - shape.chunk_bytes() as u32 {
            return Err(Fault::Entry);
        }
        self.stored.write(fs, chunk, position, &self.memory.as_ref()[from..from + count])?;
        self.stored.write(fs, chunk, shape.entry_of(chunk), &Entry { position, form }.emit(&shape))
    }

    /// Reads the header of a chunk's slot into the memory.
    fn load_header<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
    ) -> Result<(), Fault> {
        let header = self.stored.shape.header_of(self.memory.as_mut());
        self.stored.read(fs, chunk, 0, header)
    }

    /// Clears the entry of a chunk if the entry is not zero. Such a stale entry may exist behind
    /// the end of the file.
    fn clear_entry<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
    ) -> Result<(), Fault> {
        let position = self.stored.shape.entry_of(chunk);
        let mut bytes = [0; ENTRY_BYTES];
        self.stored.read(fs, chunk, position, &mut bytes)?;
        if bytes == [0; ENTRY_BYTES] {
            Ok(())
        } else {
            self.stored.write(fs, chunk, position, &[0; ENTRY_BYTES])
        }
    }

    /// Fills everything behind the end of the content with zeros. This comes before a write that
    /// begins behind the end.
    fn clear_beyond<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        end: Spot,
    ) -> Result<(), Fault> {
        if end.within > 0 {
            let behind = Spot { within: self.stored.shape.chunk_bytes(), ..end };
            self.change(fs, behind, end.within, &[])?;
        }
        self.clear_behind(fs, end)
    }

    /// Removes the chunks that lie wholly behind the end of the content, and frees the bytes behind
    /// the chunks that remain in the last group.
    fn clear_behind<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        end: Spot,
    ) -> Result<(), Fault> {
        let shape = self.stored.shape;
        let first = end.chunk + u32::from(end.within > 0);
        // The size lies at the beginning of the first slot.
        let mut position = if first == 0 { ENTRY_BYTES as u32 } else { 0 };
        let kept = shape.entry_of(first);
        if kept > ENTRY_BYTES as u32 {
            self.load_header(fs, first)?;
            let header = shape.header_of(self.memory.as_mut());
            let behind = &mut header[kept as usize..];
            let has_more = behind.iter().any(|&byte| byte != 0);
            behind.fill(0);
            // A gap of a whole slot's length exists only behind all chunks.
            position = gap(header, &shape, shape.slot_bytes());
            if has_more {
                self.stored.write(fs, first, kept, &header[kept as usize..])?;
            }
        }
        self.stored.cut(fs, first, position)
    }
}

/// A chunk is compressed only if this saves at least `1 / GAIN` of its bytes. Otherwise it is
/// stored uncompressed, because it is then faster to read.
const GAIN: usize = 32;

/// Returns the first position in a slot at which `bytes` bytes overlap no chunk of the header.
fn gap(header: &[u8], shape: &Shape, bytes: u32) -> u32 {
    let mut at = header.len() as u32;
    // If a chunk overlaps the range, no gap begins before the end of this chunk.
    while let Some(end) = end_of_any(header, shape, at, at + bytes) {
        at = end;
    }
    at
}

/// Returns the end of a chunk that overlaps `from..to`, if there is one.
fn end_of_any(header: &[u8], shape: &Shape, from: u32, to: u32) -> Option<u32> {
    let entries = header.as_chunks::<ENTRY_BYTES>().0;
    entries.iter().skip(1).find_map(|bytes| {
        let entry = Entry::parse(bytes, shape).ok()??;
        let end = entry.position + entry.room(shape);
        (entry.position < to && end > from).then_some(end)
    })
}
