//! Reading, writing, truncating and reserving within a file.

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::{Change, FileSystem};
use super::handle::File;
use super::inode::AREA_BYTES;
use crate::error::Error;
use crate::features::TRUNCATE;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Returns the size of a file in bytes.
    ///
    /// # Cost
    /// Nothing, or one look at the inode after a change through another handle.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub fn size(&mut self, file: &mut File) -> Result<u64, Error> {
        self.refresh(file)?;
        Ok(file.size)
    }

    /// Reads from `offset` on, and returns the number of bytes read. The number is less than the
    /// length of `data` only at the end of the file.
    ///
    /// # Cost
    /// [`Call::Read`](super::Call::Read). If a command for several pages fails, the volume reads
    /// these pages once more, at most sixteen pages.
    ///
    /// # Errors
    /// [`Error::NotReadable`], [`Error::Stale`].
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        if !file.options.read {
            return Err(Error::NotReadable);
        }
        self.volume.store.patrol()?;
        self.refresh(file)?;
        self.volume.read_known(file, offset, data)
    }

    /// Writes at `offset`. A handle that [appends](super::OpenOptions::append) writes at the end
    /// instead. The file grows if needed, and a gap reads as zeros.
    ///
    /// A long write is a sequence of writes of one logical page each.
    ///
    /// # Power loss
    /// A cut before the next commit undoes the whole write. Through a durable handle, the write of
    /// each logical page is a commit.
    ///
    /// # Cost
    /// For each logical page, [`Call::Overwrite`](super::Call::Overwrite) or
    /// [`Call::Write`](super::Call::Write). The whole write costs at most
    /// [`sequence_ns`](super::CallBounds::sequence_ns), which is less than the sum.
    ///
    /// # Errors
    /// [`Error::NotWritable`], [`Error::NoSpace`], [`Error::FileTooLarge`],
    /// [`Error::TransactionTooLarge`], [`Error::Stale`].
    pub fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Error> {
        if !file.options.write && !file.options.append {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        let offset = if file.options.append { file.size } else { offset };
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.volume.size_max()) {
            return Err(Error::FileTooLarge);
        }
        let logical_bytes = self.volume.store.layout().logical_bytes;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let step = ((logical_bytes - self.volume.split(at).1) as usize).min(data.len() - done);
            // Each logical page is a separate call, so that its bound holds.
            self.begin(self.bounds().write_call(file, at, step as u32))?;
            let commits = file.options.durable || self.commits.commits_on(CommitOn::WRITE);
            let result = self.volume.write_piece(file, at, &data[done..done + step], commits);
            self.finish(result, CommitOn::WRITE, file.options.durable)?;
            done += step;
        }
        self.notify(Change::Updated(file.inode()));
        Ok(())
    }

    /// Writes at the end of a file.
    ///
    /// # Errors, cost, power loss
    /// As [`write`](Self::write).
    pub fn append(&mut self, file: &mut File, data: &[u8]) -> Result<(), Error> {
        let size = self.size(file)?;
        self.write(file, size, data)
    }

    /// Truncates a file, or makes it larger with zeros. If the file does not grow, the call frees
    /// room that was [reserved](Self::reserve) behind the new end.
    ///
    /// # Power loss
    /// After a power cut, the file has the old size or the new one.
    ///
    /// # Cost
    /// [`Call::Truncate`](super::Call::Truncate), for any sizes. Up to eight neighbouring pages
    /// behind the new end are freed at once. If more pages lie there, later calls free them, a few
    /// pages in each call.
    ///
    /// # Errors
    /// As [`write`](Self::write), and [`Error::Unsupported`] if the build does not have the feature
    /// `truncate`.
    pub fn truncate(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        if !TRUNCATE {
            return Err(Error::Unsupported);
        }
        if !file.options.write {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        if size > self.volume.size_max() {
            return Err(Error::FileTooLarge);
        }
        self.begin(Call::Truncate)?;
        self.refresh(file)?;
        let result = match self.volume.cut_or_extend(file, size) {
            Ok(Some(end)) => self
                .lists
                .cut(&mut self.volume, file.inode(), end.page)
                .and_then(|()| self.volume.cut_page(&end)),
            result => result.map(drop),
        };
        self.finish(result, CommitOn::TRUNCATE, file.options.durable)?;
        self.notify(Change::Updated(file.inode()));
        Ok(())
    }

    /// Reserves room for the bytes `from..to` of a file. The range may lie within the file or
    /// behind its end. Later writes to the range cannot fail for lack of room. The size of the file
    /// stays the same.
    ///
    /// A call reserves up to 512 neighbouring pages, or skips some pages that exist already. It
    /// returns the end of the part that has room now. Call it again from this offset until it
    /// returns `to` or more.
    ///
    /// # Power loss
    /// The reservation is durable after the next commit.
    ///
    /// # Cost
    /// [`Call::Write`](super::Call::Write) of 65 bytes, because the bits of 512 pages take 65
    /// bytes.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::FileTooLarge`], [`Error::NotWritable`], [`Error::Stale`].
    pub fn reserve(&mut self, file: &mut File, from: u64, to: u64) -> Result<u64, Error> {
        if !file.options.write && !file.options.append {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        if to > self.volume.size_max() {
            return Err(Error::FileTooLarge);
        }
        if from >= to || (file.inline && to <= AREA_BYTES as u64) {
            return Ok(to);
        }
        self.begin(Call::Write(65))?;
        let result = self.volume.reserve_pages(file, from, to);
        self.finish(result, CommitOn::NONE, file.options.durable)
    }
}
