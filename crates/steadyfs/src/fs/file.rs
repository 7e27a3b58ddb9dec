//! Files: open, read, write, truncate, remove.

use super::FileSystem;
use super::directory::Found;
use super::inode::{AREA_AT, AREA_BYTES, InodeKind, REGION_BYTES, REGIONS, Region, SIZE_AT};
use crate::error::Error;
use crate::media::Flash;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Create the file when it does not exist.
    pub create: bool,
    /// Fail with [`Error::Exists`] when it does; only with `create`.
    pub new: bool,
    /// Cut the file to nothing.
    pub truncate: bool,
    /// Every change through this handle is durable when the call returns.
    pub durable: bool,
}

impl OpenOptions {
    /// Open an existing file.
    pub const EXISTING: Self = Self { create: false, new: false, truncate: false, durable: false };
    /// Open the file, create it when it does not exist.
    pub const CREATE: Self = Self { create: true, ..Self::EXISTING };
    /// The same, and every change is durable when its call returns.
    pub const DURABLE: Self = Self { durable: true, ..Self::CREATE };
}

/// An open file. It lives with the caller and holds no place in the volume.
///
/// Several handles of one file see each other's changes. After [`FileSystem::remove`] calls with it return
/// [`Error::Stale`].
#[derive(Clone, Copy, Debug)]
pub struct File {
    inode: u32,
    generation: u32,
    durable: bool,
    /// The volume's stamp when the fields below were read.
    stamp: u32,
    size: u64,
    inline: bool,
    /// The run of pages that was used last: file pages `first..first + count` from `logical` on.
    first: u32,
    count: u32,
    logical: u32,
}

impl File {
    /// Number of the file, for its life.
    pub fn inode(&self) -> u32 {
        self.inode
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Opens a file.
    ///
    /// # Power loss
    /// A file that is created is there after the next commit.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open), or [`Call::Create`](super::Call::Create).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Exists`], [`Error::InvalidName`], [`Error::TooManyFiles`], [`Error::NoSpace`],
    /// [`Error::NameCollision`], [`Error::ReadOnly`], [`Error::Corrupt`], [`Error::Device`], [`Error::MediaFailing`].
    pub fn open(&mut self, name: &str, options: OpenOptions) -> Result<File, Error> {
        let (inode, generation) = match self.find(name)? {
            Found::At { .. } if options.create && options.new => return Err(Error::Exists),
            Found::At { inode, .. } => (inode, self.read_header(inode)?.generation),
            Found::Free(_) if !options.create => return Err(Error::NotFound),
            Found::Free(None) => return Err(Error::NameCollision),
            Found::Free(Some(slot)) => {
                self.begin()?;
                let result = self.create(name, slot);
                self.stamp = self.stamp.wrapping_add(1);
                self.finish(result, options.durable)?
            }
        };
        let mut file = File {
            inode,
            generation,
            durable: options.durable,
            stamp: self.stamp.wrapping_sub(1),
            size: 0,
            inline: false,
            first: 0,
            count: 0,
            logical: 0,
        };
        self.refresh(&mut file)?;
        if options.truncate && file.size > 0 {
            self.truncate(&mut file, 0)?;
        }
        Ok(file)
    }

    fn create(&mut self, name: &str, slot: u32) -> Result<(u32, u32), Error> {
        if self.space.used >= self.capacity() {
            return Err(Error::NoSpace);
        }
        self.add_name(name, slot)
    }

    /// Reads again what the handle knows, if an inode was changed since.
    fn refresh(&mut self, file: &mut File) -> Result<(), Error> {
        if file.stamp == self.stamp {
            return Ok(());
        }
        let header = self.read_header(file.inode).map_err(|error| if error == Error::Corrupt { Error::Stale } else { error })?;
        if header.generation != file.generation || header.kind == InodeKind::Removed {
            return Err(Error::Stale);
        }
        (file.size, file.inline, file.count) = (header.size, header.kind == InodeKind::Inline, 0);
        file.stamp = self.stamp;
        Ok(())
    }

    /// Size of a file in bytes.
    ///
    /// # Cost
    /// Nothing, or one look at the inode after a change through another handle.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::Corrupt`], [`Error::Device`].
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
    /// [`Error::Stale`], [`Error::Corrupt`], [`Error::Device`].
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        self.refresh(file)?;
        let length = (file.size.saturating_sub(offset)).min(data.len() as u64) as usize;
        let data = &mut data[..length];
        if file.inline {
            if length > 0 {
                let (page, at) = self.inode_place(file.inode);
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
            match self.page_of(file, file_page)? {
                Some(logical) => self.store.read(logical, within, target)?,
                None => target.fill(0),
            }
            done += step;
        }
        Ok(length)
    }

    /// Writes at `offset`; the file grows where needed, and a gap reads as zeros.
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
    /// [`Error::NoSpace`], [`Error::FileTooLarge`], [`Error::TransactionTooLarge`], [`Error::Stale`], [`Error::ReadOnly`],
    /// [`Error::Corrupt`], [`Error::Device`], [`Error::MediaFailing`].
    pub fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Error> {
        self.refresh(file)?;
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.size_max()) {
            return Err(Error::FileTooLarge);
        }
        let logical_bytes = self.store.layout().logical_bytes;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let step = ((logical_bytes - self.split(at).1) as usize).min(data.len() - done);
            self.begin()?;
            let result = self.write_piece(file, at, &data[done..done + step]);
            self.finish(result, file.durable)?;
            done += step;
        }
        Ok(())
    }

    /// The page of a file in which an offset lies, and where in it. A shift: a 64-bit division takes 400 bytes of code.
    fn split(&self, offset: u64) -> (u32, u32) {
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
    fn write_piece(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Error> {
        let end = offset + data.len() as u64;
        if file.inline && end <= AREA_BYTES as u64 {
            self.fill_inline_gap(file, offset)?;
            // The larger patch last: if it fills the journal, the inode's page is written with both.
            self.grow(file, end)?;
            let (page, at) = self.inode_place(file.inode);
            return self.store.patch(page, at + AREA_AT + offset as u32, data);
        }
        if file.inline {
            self.leave_inode(file)?;
        }
        let (file_page, within) = self.split(offset);
        let (logical, is_new) = match self.page_of(file, file_page)? {
            Some(logical) => (logical, false),
            None => (self.add_page(file, file_page)?, true),
        };
        let alone = file.durable && !is_new && end <= file.size;
        self.grow(file, end)?;
        if data.len() <= self.store.patch_bytes_max() {
            self.store.patch(logical, within, data)
        } else {
            self.store.write(logical, within, data, alone)
        }
    }

    /// Notes a larger size.
    fn grow(&mut self, file: &mut File, end: u64) -> Result<(), Error> {
        if end > file.size {
            self.set_size(file, end)?;
        }
        Ok(())
    }

    fn set_size(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode);
        self.store.patch(page, at + SIZE_AT, &size.to_le_bytes())?;
        self.touch(file);
        file.size = size;
        Ok(())
    }

    /// Makes other handles look the inode up again.
    fn touch(&mut self, file: &mut File) {
        self.stamp = self.stamp.wrapping_add(1);
        file.stamp = self.stamp;
    }

    /// Moves inline data into a page of its own.
    fn leave_inode(&mut self, file: &mut File) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode);
        let mut data = [0; AREA_BYTES];
        let size = file.size as usize;
        let mut first = Region::Empty;
        if size > 0 {
            let logical = self.allocate_page()?;
            self.store.read(page, at + AREA_AT, &mut data[..size])?;
            self.store.patch(logical, 0, &data[..size])?;
            first = Region::Run { logical, count: 1 };
        }
        data.fill(0);
        data[..REGION_BYTES as usize].copy_from_slice(&first.emit());
        self.store.patch(page, at + AREA_AT, &data)?;
        self.store.patch(page, at, &[InodeKind::Regions as u8])?;
        (file.inline, file.count) = (false, 0);
        self.touch(file);
        Ok(())
    }

    /// The logical page of a page of the file.
    ///
    /// # Cost
    /// Nothing within the run used last; else one look at the inode and, in a scattered region, one at its index page.
    fn page_of(&mut self, file: &mut File, file_page: u32) -> Result<Option<u32>, Error> {
        if file_page.wrapping_sub(file.first) < file.count {
            return Ok(Some(file.logical + file_page - file.first));
        }
        let region_pages = self.plan.region_pages;
        let region_index = file_page / region_pages;
        let logical_bytes = u64::from(self.store.layout().logical_bytes);
        if region_index >= REGIONS || u64::from(file_page) * logical_bytes >= file.size {
            // No file has pages behind its end.
            return Ok(None);
        }
        let mut area = [0; AREA_BYTES];
        let (page, at) = self.inode_place(file.inode);
        self.store.read(page, at + AREA_AT, &mut area)?;
        match region(&area, region_index) {
            Region::Empty => Ok(None),
            Region::Index { logical, .. } => self.index_entry(logical, file_page % region_pages),
            Region::Run { logical, count } => {
                if file_page % region_pages >= count {
                    return Ok(None);
                }
                // Full regions whose pages follow each other are one run.
                self.check_data_pages(logical, count)?;
                (file.first, file.logical, file.count) = (region_index * region_pages, logical, count);
                let mut next = region_index + 1;
                while file.count == (next - region_index) * region_pages && next < REGIONS {
                    match region(&area, next) {
                        Region::Run { logical, count } if logical == file.logical + file.count => file.count += count,
                        _ => break,
                    }
                    next += 1;
                }
                let mut before = region_index;
                while before > 0 {
                    match region(&area, before - 1) {
                        Region::Run { logical, count } if count == region_pages && logical + count == file.logical => {
                            (file.first, file.logical, file.count) = (file.first - count, logical, file.count + count);
                        }
                        _ => break,
                    }
                    before -= 1;
                }
                Ok(Some(file.logical + file_page - file.first))
            }
        }
    }

    /// Reads an entry of an index page.
    pub(super) fn index_entry(&mut self, logical: u32, index: u32) -> Result<Option<u32>, Error> {
        let width = self.plan.index_bytes;
        let mut bytes = [0; 4];
        self.store.read(logical, index * width, &mut bytes[..width as usize])?;
        let number = u32::from_le_bytes(bytes);
        if number > self.plan.data_count {
            return Err(Error::Corrupt);
        }
        Ok(number.checked_sub(1).map(|number| self.plan.data + number))
    }

    /// Writes an entry of an index page.
    pub(super) fn set_index_entry(&mut self, logical: u32, index: u32, page: Option<u32>) -> Result<(), Error> {
        let width = self.plan.index_bytes;
        let number = page.map_or(0, |page| page - self.plan.data + 1);
        self.store.patch(logical, index * width, &number.to_le_bytes()[..width as usize])
    }

    /// Reads a region of an inode.
    pub(super) fn read_region(&mut self, inode: u32, index: u32) -> Result<Region, Error> {
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; REGION_BYTES as usize];
        self.store.read(page, at + AREA_AT + index * REGION_BYTES, &mut bytes)?;
        Ok(Region::parse(&bytes))
    }

    /// Writes a region of an inode.
    pub(super) fn write_region(&mut self, inode: u32, index: u32, region: Region) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at + AREA_AT + index * REGION_BYTES, &region.emit())
    }

    /// Gives a file a new page.
    fn add_page(&mut self, file: &mut File, file_page: u32) -> Result<u32, Error> {
        let (index, within) = (file_page / self.plan.region_pages, file_page % self.plan.region_pages);
        let region = self.read_region(file.inode, index)?;
        let logical = self.allocate_page()?;
        match region {
            Region::Empty if within == 0 => self.write_region(file.inode, index, Region::Run { logical, count: 1 })?,
            Region::Run { logical: first, count } if within == count && logical == first + count => {
                self.write_region(file.inode, index, Region::Run { logical: first, count: count + 1 })?;
            }
            Region::Index { logical: index_page, .. } => self.set_index_entry(index_page, within, Some(logical))?,
            scattered => {
                let index_page = self.allocate_page()?;
                let (first, count) = match scattered {
                    Region::Run { logical, count } => (logical - self.plan.data + 1, count),
                    _ => (0, 0),
                };
                self.store.write_count(index_page, first, count, self.plan.index_bytes)?;
                self.set_index_entry(index_page, within, Some(logical))?;
                self.write_region(file.inode, index, Region::Index { logical: index_page, from: 0 })?;
            }
        }
        file.count = 0;
        self.touch(file);
        Ok(logical)
    }

    /// Cuts a file, or makes it larger with zeros.
    ///
    /// # Power loss
    /// The old size or the new one.
    ///
    /// # Cost
    /// [`Call::Write`](super::Call::Write), whatever the sizes. The pages behind the new end are freed by later calls, a few each.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn truncate(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        self.refresh(file)?;
        if size > self.size_max() {
            return Err(Error::FileTooLarge);
        }
        if size == file.size {
            return Ok(());
        }
        self.begin()?;
        self.refresh(file)?;
        let result = self.cut_or_extend(file, size);
        self.finish(result, file.durable)
    }

    fn cut_or_extend(&mut self, file: &mut File, size: u64) -> Result<(), Error> {
        if file.inline && size > AREA_BYTES as u64 {
            self.leave_inode(file)?;
        } else if file.inline {
            if size < file.size {
                let (page, at) = self.inode_place(file.inode);
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
            && let Some(logical) = self.page_of(file, file_page)?
        {
            self.store.write_cut(logical, logical, keep)?;
        }
        self.set_size(file, size)?;
        file.count = 0;
        self.cut_regions(file.inode, file_page + u32::from(keep > 0))
    }

    /// Zeroes the inline bytes between the end of a file and `offset`: an earlier file's bytes may be there.
    fn fill_inline_gap(&mut self, file: &File, offset: u64) -> Result<(), Error> {
        if offset <= file.size {
            return Ok(());
        }
        let (page, at) = self.inode_place(file.inode);
        let zeros = [0; AREA_BYTES];
        self.store.patch(page, at + AREA_AT + file.size as u32, &zeros[..(offset - file.size) as usize])
    }

    /// Removes a file. Its pages are freed by later calls, a few each.
    ///
    /// # Power loss
    /// The file is there until the next commit.
    ///
    /// # Cost
    /// [`Call::Remove`](super::Call::Remove), whatever the file's size.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InvalidName`], [`Error::ReadOnly`], [`Error::Corrupt`], [`Error::Device`],
    /// [`Error::MediaFailing`].
    pub fn remove(&mut self, name: &str) -> Result<(), Error> {
        let Found::At { slot, inode } = self.find(name)? else { return Err(Error::NotFound) };
        self.begin()?;
        let result = self.remove_at(slot, inode);
        self.stamp = self.stamp.wrapping_add(1);
        self.finish(result, false)
    }

    fn remove_at(&mut self, slot: u32, inode: u32) -> Result<(), Error> {
        self.remove_name(slot)?;
        let header = self.read_header(inode)?;
        let (page, at) = self.inode_place(inode);
        if header.kind == InodeKind::Inline {
            self.store.patch(page, at, &[0])?;
            return self.free_inode(inode);
        }
        self.store.patch(page, at, &[InodeKind::Removed as u8])?;
        self.start_trim(inode)
    }
}

/// A region in the bytes of an inode's area.
pub(super) fn region(area: &[u8; AREA_BYTES], index: u32) -> Region {
    let at = (index * REGION_BYTES) as usize;
    Region::parse(&area[at..at + REGION_BYTES as usize])
}
