//! Writing, appending, cutting.
//!
//! Every step leaves a file that reads as before, until one write of eight bytes (an entry, or the size) makes the change:
//!
//! ```text
//! overwrite:  chunk → a gap      entry → there                     append:  chunk → a gap      entry → there       size
//!             ─────────────────  ═════════════                              ─────────────────────────────────────  ════
//!             reads as before    new content                                reads as before                        new content
//! ```

use crate::Error;
use crate::codec;
use crate::error::Fault;
use crate::file::{PackedFile, check_memory};
use crate::format::{ENTRY_BYTES, Entry, Form, Shape, Spot};
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
        check_memory(shape.write_bytes(), memory.as_ref())?;
        let options = OpenOptions { create_new: true, ..OpenOptions::WRITE };
        Self::open_as(fs, place.into(), options, Some(shape), memory)
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
        self.write_chunks(fs, Some(offset), data).map_err(|fault| self.error(fault))
    }

    fn write_chunks<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, offset: Option<u64>, data: &[u8]) -> Result<(), Fault> {
        let mut end = self.end(fs)?;
        let offset = offset.unwrap_or(self.stored.shape.offset(end));
        let last = offset.checked_add(data.len() as u64).ok_or(steadyfs::Error::FileTooLarge)?;
        self.check(fs, last)?;
        let mut at = self.stored.shape.spot(offset).ok_or(Fault::Size)?;
        let mut rest = data;
        while !rest.is_empty() {
            // What is there changes with an entry, and what is new is there with the size: never both in one step.
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
    pub fn append<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, data: &[u8]) -> Result<(), Error> {
        self.write_chunks(fs, None, data).map_err(|fault| self.error(fault))
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
        self.change_size(fs, size).map_err(|fault| self.error(fault))
    }

    fn change_size<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, size: u64) -> Result<(), Fault> {
        let at = self.check(fs, size)?;
        let end = self.end(fs)?;
        if size == 0 && at < end {
            self.forget();
            return Ok(fs.truncate(&mut self.stored.file, 0)?);
        }
        self.in_one_commit(fs, CommitOn::TRUNCATE, end, at, &[])
    }

    /// Makes several changes one commit, where the volume commits on such an event: a write within one chunk, or of nothing where the end will be.
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
        // The file is cut. What lies behind its end takes room until a later call succeeds in this.
        let _ = self.clear_behind(fs, end);
        Ok(())
    }

    pub(crate) fn set_end<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, end: Spot) -> Result<(), Fault> {
        let size = self.stored.shape.offset(end);
        self.stored.write(fs, 0, 0, &size.to_le_bytes())
    }

    /// The end of a file of so many bytes. Refuses one that the file system cannot hold, and memory that is lent to read alone.
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

    /// Writes within one chunk, before the end of the content or from there on.
    fn write_chunk<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, end: Spot, at: Spot, data: &[u8]) -> Result<(), Fault> {
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

    /// Changes what a chunk of so many bytes holds, or will hold with the next size.
    fn change<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, at: Spot, old_length: usize, data: &[u8]) -> Result<(), Fault> {
        let length = old_length.max(at.within + data.len());
        let is_full = length == self.stored.shape.chunk_bytes();
        let goes_on = at.within > 0 && at.within == old_length;
        let plain = if goes_on { self.find(fs, at.chunk)?.map(|position| position + at.within as u32) } else { None };
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
            // It is full and does not shrink: it stays where it is.
            (Some(Form::Plain), Some(position)) => self.stored.write(fs, at.chunk, position, data)?,
            (Some(form), _) => self.store(fs, at.chunk, length, form)?,
            (None, _) => self.clear_entry(fs, at.chunk)?,
        }
        self.decoded = at.chunk;
        Ok(())
    }

    /// Makes the new content of a chunk, at the beginning of the memory.
    fn compose<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, at: Spot, old_length: usize, data: &[u8]) -> Result<(), Fault> {
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
        // What lies behind the end of the content has no meaning.
        memory[known..].fill(0);
        memory[at.within..end].copy_from_slice(data);
        Ok(())
    }

    /// Compresses what is at the beginning of the memory; `None` where it is zeros.
    pub(crate) fn encode(&mut self, length: usize) -> Option<Form> {
        let (content, rest) = self.memory.as_mut().split_at_mut(self.stored.shape.out_at());
        let (out, table) = rest.split_at_mut(self.stored.shape.chunk_bytes());
        let content = &content[..length];
        if content.iter().all(|&byte| byte == 0) {
            return None;
        }
        let out = &mut out[..length - length / GAIN - 1];
        let table_bytes = table.len().min(1 << 16);
        let made = codec::encode(self.stored.shape.method(), self.level, content, out, &mut table[..table_bytes]);
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

    /// Brings the header of a chunk's slot into the memory.
    fn load_header<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32) -> Result<(), Fault> {
        let header = self.stored.shape.header_of(self.memory.as_mut());
        self.stored.read(fs, chunk, 0, header)
    }

    /// Sees to it that there is no chunk, also where an entry behind the end of the file says that there is one.
    fn clear_entry<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32) -> Result<(), Fault> {
        let position = self.stored.shape.entry_of(chunk);
        let mut bytes = [0; ENTRY_BYTES];
        self.stored.read(fs, chunk, position, &mut bytes)?;
        if bytes == [0; ENTRY_BYTES] { Ok(()) } else { self.stored.write(fs, chunk, position, &[0; ENTRY_BYTES]) }
    }

    /// Makes all that is behind the end of the content zeros, before the file becomes larger with a gap.
    fn clear_beyond<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, end: Spot) -> Result<(), Fault> {
        if end.within > 0 {
            let behind = Spot { within: self.stored.shape.chunk_bytes(), ..end };
            self.change(fs, behind, end.within, &[])?;
        }
        self.clear_behind(fs, end)
    }

    /// Takes away the chunks that lie wholly behind the end of the content, and the room behind those of its last group.
    fn clear_behind<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, end: Spot) -> Result<(), Fault> {
        let shape = self.stored.shape;
        let first = end.chunk + u32::from(end.within > 0);
        // The size is there.
        let mut position = if first == 0 { ENTRY_BYTES as u32 } else { 0 };
        let kept = shape.entry_of(first);
        if kept > ENTRY_BYTES as u32 {
            self.load_header(fs, first)?;
            let header = shape.header_of(self.memory.as_mut());
            let behind = &mut header[kept as usize..];
            let has_more = behind.iter().any(|&byte| byte != 0);
            behind.fill(0);
            // The first gap of a whole slot is behind all chunks.
            position = gap(header, &shape, shape.slot_bytes());
            if has_more {
                self.stored.write(fs, first, kept, &header[kept as usize..])?;
            }
        }
        self.stored.cut(fs, first, position)
    }
}

/// A chunk saves at least its bytes divided by this, or is stored as it is: it costs less time to read then.
const GAIN: usize = 32;

/// The first place of a slot from which on so many bytes lie in no chunk of its header.
fn gap(header: &[u8], shape: &Shape, bytes: u32) -> u32 {
    let mut at = header.len() as u32;
    // No gap begins before the end of a chunk that lies in the way.
    while let Some(end) = end_of_any(header, shape, at, at + bytes) {
        at = end;
    }
    at
}

/// The end of a chunk of which a part lies there.
fn end_of_any(header: &[u8], shape: &Shape, from: u32, to: u32) -> Option<u32> {
    let entries = header.as_chunks::<ENTRY_BYTES>().0;
    entries.iter().skip(1).find_map(|bytes| {
        let entry = Entry::parse(bytes, shape).ok()??;
        let end = entry.position + entry.room(shape);
        (entry.position < to && end > from).then_some(end)
    })
}
