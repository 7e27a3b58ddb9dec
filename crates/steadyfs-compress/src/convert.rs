//! Converts a plain file that begins to grow into a compressed one.
//!
//! The content moves, and the attribute is set. Neither means anything without the other, so both
//! are one transaction:
//!
//! - It begins with nothing else in it.
//! - It commits nothing by itself.
//! - It is rolled back as a whole if a step fails.

use crate::Error;
use crate::error::Fault;
use crate::file::{PackedFile, check_memory};
use crate::format::{ATTRIBUTE, Shape, Spot};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, FileSystem, InodeNumber, OpenOptions};

/// Number of attempts to roll back before the last attempt.
const ROLLBACKS: usize = 3;

impl<B: AsRef<[u8]> + AsMut<[u8]>> PackedFile<B> {
    /// Converts a plain file of at most one chunk into a compressed one, and opens it. Other
    /// handles of the file must be closed and opened again.
    ///
    /// # Power loss
    /// The content is the same before and after. If the file is not empty, the call first commits
    /// the changes that waited. The changes of this call wait for the next commit.
    ///
    /// # Cost
    /// [`convert_bound`](Self::convert_bound). If a step fails, [`FileSystem::rollback`] as well.
    ///
    /// # Errors
    /// - The errors of the calls named: the file is plain, with its old content.
    /// - [`Error::TooLarge`].
    /// - [`Error::MemoryTooSmall`] with less than [`Shape::write_bytes`].
    /// - [`Error::NotUndone`] if each attempt to roll back fails too: no commit must be made
    ///   before a rollback succeeds.
    pub fn convert<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        inode: InodeNumber,
        shape: Shape,
        memory: B,
    ) -> Result<Self, Error> {
        check_memory(shape.write_bytes(), memory.as_ref())?;
        let mut packed = Self::new(fs.open(inode, OpenOptions::WRITE)?, shape, memory);
        match packed.take_over(fs) {
            Ok(()) => Ok(packed),
            Err(error) => {
                let _ = packed.close(fs);
                Err(error)
            }
        }
    }

    /// Takes over the content of the plain file.
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
            // A rollback is tried again because a read may fail now and then. Half of this
            // transaction must never be committed.
            let undone = (0..ROLLBACKS)
                .map(|_| fs.rollback())
                .find(Result::is_ok)
                .unwrap_or_else(|| fs.rollback());
            result = undone.map_err(|_| Error::NotUndone).and(result);
        }
        fs.set_commit_on(events);
        result
    }

    fn set_attribute<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
    ) -> Result<(), steadyfs::Error> {
        fs.set_attribute(self.stored.file.inode(), ATTRIBUTE, Some(&self.stored.shape.emit()))
    }

    fn move_content<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        length: usize,
    ) -> Result<(), Fault> {
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
        let end = if length == chunk_bytes {
            Spot { chunk: 1, within: 0 }
        } else {
            Spot { chunk: 0, within: length }
        };
        self.set_end(fs, end)
    }
}
