//! Reading, writing, cutting and reserving within a file.

use super::inode::{AREA_AT, AREA_BYTES, MODIFIED_AT, Region, SIZE_AT};
use super::open::File;
use super::space::Room;
use super::transaction::CommitOn;
use super::{Call, Change, FileSystem};
use crate::error::Error;
use crate::features::TRUNCATE;
use crate::media::Flash;
use crate::store::Piece;

impl<F: Flash> FileSystem<'_, F> {
    /// Size of a file in bytes.
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

    /// Reads from `offset` on. Returns the number of bytes, less than asked for only at the end of the file.
    ///
    /// # Cost
    /// [`Call::Read`](super::Call::Read).
    ///
    /// # Errors
    /// [`Error::NotReadable`], [`Error::Stale`].
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        if !file.options.read {
            return Err(Error::NotReadable);
        }
        self.store.patrol()?;
        self.refresh(file)?;
        self.read_known(file, offset, data)
    }

    /// Reads from a file whose inode was just looked up.
    pub(super) fn read_known(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        let length = (file.size.saturating_sub(offset)).min(data.len() as u64) as usize;
        let data = &mut data[..length];
        if file.inline {
            if length > 0 {
                let (page, at) = self.inode_place(file.inode());
                self.store.read(page, at + AREA_AT + offset as u32, data)?;
            }
            return Ok(length);
        }
        let logical_bytes = self.store.layout().logical_bytes;
        let mut done = 0;
        while done < length {
            let (file_page, within) = self.split(offset + done as u64);
            let step = ((logical_bytes - within) as usize).min(length - done);
            let target = &mut data[done..done + step];
            match self.page_of(&mut file.node, file_page)? {
                Some(logical) => self.store.read_content(logical, within, target)?,
                None => target.fill(0),
            }
            done += step;
        }
        Ok(length)
    }

    /// Writes at `offset` (a handle that [appends](super::OpenOptions::append): at the end); the file grows where needed, and a gap
    /// reads as zeros.
    ///
    /// A long write is the sum of writes of one logical page each.
    ///
    /// # Power loss
    /// Nothing of it is there before the next commit; through a durable handle each logical page is a commit.
    ///
    /// # Cost
    /// For each logical page: [`Call::Overwrite`](super::Call::Overwrite) or [`Call::Write`](super::Call::Write).
    ///
    /// # Errors
    /// [`Error::NotWritable`], [`Error::NoSpace`], [`Error::FileTooLarge`], [`Error::TransactionTooLarge`], [`Error::Stale`].
    pub fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Error> {
        if !file.options.write && !file.options.append {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        let offset = if file.options.append { file.size } else { offset };
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.size_max()) {
            return Err(Error::FileTooLarge);
        }
        let logical_bytes = self.store.layout().logical_bytes;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let step = ((logical_bytes - self.split(at).1) as usize).min(data.len() - done);
            self.begin(Call::Write(step as u32))?;
            self.store.will_commit(file.options.durable || self.commits_on(CommitOn::WRITE));
            let result = self.write_piece(file, at, &data[done..done + step]);
            self.finish(result, CommitOn::WRITE, file.options.durable)?;
            done += step;
        }
        self.notify(Change::Updated(file.inode()));
        Ok(())
    }

    /// The page of a file in which an offset lies, and where in it. A shift: a 64-bit division takes 400 bytes of code.
    pub(super) fn split(&self, offset: u64) -> (u32, u32) {
        let logical_bytes = self.store.layout().logical_bytes;
        ((offset >> logical_bytes.trailing_zeros()) as u32, offset as u32 & (logical_bytes - 1))
    }

    /// Writes at the end of a file.
    ///
    /// # Errors, cost, power loss
    /// As [`write`](Self::write).
    pub fn append(&mut self, file: &mut File, data: &[u8]) -> Result<(), Error> {
        let size = self.size(file)?;
        self.write(file, size, data)
    }

    /// Writes within one logical page of the file.
    pub(super) fn write_piece(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Error> {
        let end = offset + data.len() as u64;
        if file.inline && end <= AREA_BYTES as u64 {
            self.fill_inline_gap(file, offset)?;
            // The larger patch last: if it fills the journal, the inode's page is written with both.
            self.note_change(file, end)?;
            let (page, at) = self.inode_place(file.inode());
            return self.store.patch_or_write_through(page, at + AREA_AT + offset as u32, data);
        }
        if file.inline {
            self.leave_inode(file)?;
        }
        let (file_page, within) = self.split(offset);
        let logical = match self.page_of(&mut file.node, file_page)? {
            Some(logical) => logical,
            None => self.add_file_page(file, file_page, data.len() as u32 == self.store.layout().logical_bytes)?,
        };
        let grows = end > file.size;
        self.note_change(file, end)?;
        let piece = Piece { logical, offset: within, bytes: data, stream: file.stream };
        self.store.write_or_patch(&piece, grows)
    }

    fn add_file_page(&mut self, file: &mut File, file_page: u32, is_whole: bool) -> Result<u32, Error> {
        let logical = self.add_page(&mut file.node, file_page, Room::Usable)?;
        self.touch(file);
        if !is_whole {
            // What was free is discarded, or was never written.
            self.store.know_unwritten(logical);
        }
        Ok(logical)
    }

    /// Notes a larger size and the time, where they differ.
    fn note_change(&mut self, file: &mut File, end: u64) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode());
        if end > file.size {
            self.set_size(file, end)?;
        } else if self.now_ns != file.modified_ns && self.now_ns != 0 {
            self.store.patch(page, at + MODIFIED_AT, &self.now_ns.to_le_bytes())?;
            file.modified_ns = self.now_ns;
            self.touch(file);
        }
        Ok(())
    }

    fn set_size(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&size.to_le_bytes());
        if self.now_ns != file.modified_ns && self.now_ns != 0 {
            file.modified_ns = self.now_ns;
            bytes[8..].copy_from_slice(&self.now_ns.to_le_bytes());
            self.store.patch(page, at + SIZE_AT, &bytes)?;
        } else {
            self.store.patch(page, at + SIZE_AT, &bytes[..8])?;
        }
        file.size = size;
        self.touch(file);
        Ok(())
    }

    /// Makes other handles look the inode up again.
    fn touch(&mut self, file: &mut File) {
        self.stamp = self.stamp.wrapping_add(1);
        file.stamp = self.stamp;
    }

    /// Moves inline data into a page of its own.
    fn leave_inode(&mut self, file: &mut File) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode());
        let mut data = [0; AREA_BYTES];
        let size = file.size as usize;
        let mut first = Region::EMPTY;
        if size > 0 {
            let logical = self.allocate_page(Room::Usable)?;
            self.store.read(page, at + AREA_AT, &mut data[..size])?;
            self.store.patch(logical, 0, &data[..size])?;
            first = Region { logical, count: 1, index: 0 };
        }
        data.fill(0);
        data[..8].copy_from_slice(&first.emit());
        self.patch_what_differs(page, at + AREA_AT, &data)?;
        self.store.patch(page, at + 1, &[0])?;
        file.inline = false;
        file.node.forget();
        self.touch(file);
        Ok(())
    }

    /// Cuts a file, or makes it larger with zeros. Room that was [reserved](Self::reserve) behind the new end is given back.
    ///
    /// # Power loss
    /// The old size or the new one.
    ///
    /// # Cost
    /// [`Call::Truncate`](super::Call::Truncate), whatever the sizes. The pages behind the new end are freed by later calls, a few
    /// each.
    ///
    /// # Errors
    /// As [`write`](Self::write); [`Error::Unsupported`] in a build without the feature `truncate`.
    pub fn truncate(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        if !TRUNCATE {
            return Err(Error::Unsupported);
        }
        if !file.options.write {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        if size > self.size_max() {
            return Err(Error::FileTooLarge);
        }
        self.begin(Call::Truncate)?;
        self.refresh(file)?;
        let result = self.cut_or_extend(file, size);
        self.finish(result, CommitOn::TRUNCATE, file.options.durable)?;
        self.notify(Change::Updated(file.inode()));
        Ok(())
    }

    fn cut_or_extend(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        if file.inline && size > AREA_BYTES as u64 {
            self.leave_inode(file)?;
        } else if file.inline {
            if size < file.size {
                let (page, at) = self.inode_place(file.inode());
                let zeros = [0; AREA_BYTES];
                self.store.patch(page, at + AREA_AT + size as u32, &zeros[..(file.size - size) as usize])?;
            }
            self.fill_inline_gap(file, size)?;
            return self.set_size(file, size);
        }
        if size > file.size {
            return self.set_size(file, size);
        }
        let (file_page, keep) = self.split(size);
        if keep > 0
            && size < file.size
            && let Some(logical) = self.page_of(&mut file.node, file_page)?
        {
            self.copy_cut(logical, logical, keep)?;
        }
        if size != file.size {
            self.set_size(file, size)?;
        }
        file.node.forget();
        self.touch(file);
        self.cut_regions(file.inode(), file_page + u32::from(keep > 0))
    }

    /// Zeroes the inline bytes between the end of a file and `offset`: an earlier file's bytes may be there.
    fn fill_inline_gap(&mut self, file: &File, offset: u64) -> Result<(), Error> {
        if offset <= file.size {
            return Ok(());
        }
        let (page, at) = self.inode_place(file.inode());
        let zeros = [0; AREA_BYTES];
        self.store.patch(page, at + AREA_AT + file.size as u32, &zeros[..(offset - file.size) as usize])
    }

    /// Keeps room for the bytes `from..to` of a file, within its size or behind, so that writes there cannot fail for want of it.
    /// The size of the file stays.
    ///
    /// A call takes pages that follow each other, up to 512, and returns up to where there is room now: call it again from there
    /// until it returns `to` or more.
    ///
    /// # Power loss
    /// The room is kept after the next commit.
    ///
    /// # Cost
    /// [`Call::Write`](super::Call::Write) of one byte.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::FileTooLarge`], [`Error::NotWritable`], [`Error::Stale`].
    pub fn reserve(&mut self, file: &mut File, from: u64, to: u64) -> Result<u64, Error> {
        if !file.options.write && !file.options.append {
            return Err(Error::NotWritable);
        }
        self.refresh(file)?;
        if to > self.size_max() {
            return Err(Error::FileTooLarge);
        }
        if from >= to || (file.inline && to <= AREA_BYTES as u64) {
            return Ok(to);
        }
        self.begin(Call::Write(1))?;
        let result = self.reserve_pages(file, from, to);
        self.finish(result, CommitOn::NONE, file.options.durable)
    }

    fn reserve_pages(&mut self, file: &mut File, from: u64, to: u64) -> Result<u64, Error> {
        if file.inline {
            self.leave_inode(file)?;
        }
        let (last, within) = self.split(to);
        let end = last + u32::from(within > 0);
        let mut at = self.split(from).0;
        // Pages that are there already; a run counts as one.
        for _ in 0..RESERVE_LOOKS {
            if at >= end {
                break;
            }
            match self.page_of(&mut file.node, at)? {
                Some(_) => at = file.node.run_end(at).max(at + 1),
                None => {
                    let mut taken = self.extend_run(&mut file.node, at, end - at)?;
                    if taken == 0 {
                        self.add_page(&mut file.node, at, Room::Usable)?;
                        taken = 1;
                    }
                    self.touch(file);
                    at += taken;
                    break;
                }
            }
        }
        Ok(u64::from(at) * u64::from(self.store.layout().logical_bytes))
    }
}

/// Runs and single pages that one call of [`FileSystem::reserve`] passes by.
const RESERVE_LOOKS: u32 = 16;
