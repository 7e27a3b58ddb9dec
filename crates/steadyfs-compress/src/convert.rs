//! A plain file that begins to grow becomes a compressed one.
//!
//! The content moves and the attribute comes, and neither means anything without the other: so both are one transaction, which begins with nothing else
//! in it, commits nothing by itself, and is rolled back as a whole where a step fails.

use crate::Error;
use crate::error::Fault;
use crate::file::{PackedFile, check_memory};
use crate::format::{ATTRIBUTE, Shape, Spot};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, FileSystem, InodeNumber, OpenOptions};

/// How often the way back is tried before the last time.
const ROLLBACKS: usize = 3;

impl<B: AsRef<[u8]> + AsMut<[u8]>> PackedFile<B> {
    /// Makes a plain file of at most a chunk a compressed one, and opens it. Other handles of it must be closed and opened again.
    ///
    /// # Power loss
    /// The content is the same before and after; where the file is not empty, what waited for a commit is committed first, and what this call does waits
    /// for the next one.
    ///
    /// # Cost
    /// [`convert_bound`](Self::convert_bound); where a step fails, [`FileSystem::rollback`] as well.
    ///
    /// # Errors
    /// Those of the calls named: the file is plain, and what it was. [`Error::TooLarge`], [`Error::MemoryTooSmall`] with less than
    /// [`Shape::write_bytes`]. [`Error::NotUndone`] where the rollback fails too, again and again: no commit must be made before one succeeds.
    pub fn convert<F: Flash>(fs: &mut FileSystem<'_, F>, inode: InodeNumber, shape: Shape, memory: B) -> Result<Self, Error> {
        check_memory(shape.write_bytes(), memory.as_ref())?;
        let mut packed = Self::new(fs.open_inode(inode, OpenOptions::WRITE)?, shape, memory);
        match packed.take_over(fs) {
            Ok(()) => Ok(packed),
            Err(error) => {
                let _ = packed.close(fs);
                Err(error)
            }
        }
    }

    /// Takes the content of the plain file over.
    fn take_over<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
        let length = fs.size(&mut self.stored.file)?;
        if length > self.stored.shape.chunk_bytes() as u64 {
            return Err(Error::TooLarge);
        }
        if length == 0 {
            return Ok(self.set_attribute(fs)?);
        }
        fs.commit()?;
        let events = fs.commit_on();
        fs.set_commit_on(CommitOn::MANUAL);
        let mut result = self.move_content(fs, length as usize).map_err(|fault| self.error(fault));
        if result.is_err() {
            self.forget();
            // A read that fails now and then is made again: half of this must never be committed.
            let undone = (0..ROLLBACKS).map(|_| fs.rollback()).find(Result::is_ok).unwrap_or_else(|| fs.rollback());
            result = undone.map_err(|_| Error::NotUndone).and(result);
        }
        fs.set_commit_on(events);
        result
    }

    fn set_attribute<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) -> Result<(), steadyfs::Error> {
        fs.set_attribute(self.stored.file.inode(), ATTRIBUTE, Some(&self.stored.shape.emit()))
    }

    fn move_content<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, length: usize) -> Result<(), Fault> {
        let chunk_bytes = self.stored.shape.chunk_bytes();
        let content = &mut self.memory.as_mut()[..chunk_bytes];
        let known = fs.read(&mut self.stored.file, 0, &mut content[..length])?;
        content[known..].fill(0);
        fs.truncate(&mut self.stored.file, 0)?;
        self.set_attribute(fs)?;
        if let Some(form) = self.encode(length) {
            self.store(fs, 0, length, form)?;
        }
        self.decoded = 0;
        let end = if length == chunk_bytes { Spot { chunk: 1, within: 0 } } else { Spot { chunk: 0, within: length } };
        self.set_end(fs, end)
    }
}
