//! Converts a small plain file into a compressed file, when it begins to grow.
//!
//! The conversion moves the content and sets the attribute. Neither change is valid without the
//! other, so one transaction contains both:
//!
//! - The transaction contains no other changes.
//! - The conversion does not commit the transaction.
//! - If a step fails, the whole transaction is rolled back.

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
    /// The content is the same before and after the call. If the file is not empty, the call first
    /// commits all earlier uncommitted changes. The changes of this call become durable with the
    /// next commit.
    ///
    /// # Cost
    /// At most [`convert_bound`](Self::convert_bound). If a step fails, the cost of
    /// [`FileSystem::rollback`] is added.
    ///
    /// # Errors
    /// - The errors of the calls in [`convert_bound`](Self::convert_bound). The file then is still
    ///   plain and has its old content.
    /// - [`Error::TooLarge`].
    /// - [`Error::MemoryTooSmall`] if the memory is smaller than [`Shape::write_bytes`].
    /// - [`Error::NotUndone`] if each attempt to roll back fails too. The caller must not commit
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
            // Half of this transaction must never be committed. So a rollback that fails, for
            // example because one read failed, is tried again.
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
