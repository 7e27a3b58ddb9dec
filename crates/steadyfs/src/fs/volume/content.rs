//! The bytes of a file within one call: reads, writes, truncations and reservations.

use super::Volume;
use super::space::Room;
use crate::error::Error;
use crate::fs::handle::File;
use crate::fs::inode::{AREA_AT, AREA_BYTES, MODIFIED_AT, Region, SIZE_AT};
use crate::logical::Piece;
use crate::media::Flash;

/// Maximum number of look-ups in one call of [`FileSystem::reserve`](crate::FileSystem::reserve). A
/// run of pages takes one look-up.
const RESERVE_LOOKS: u32 = 2;

/// The zeros that fill inline data when a file is truncated or extended.
static ZEROS: [u8; AREA_BYTES] = [0; AREA_BYTES];

/// The new end of a file that was truncated.
pub struct NewEnd {
    /// The first page of the file behind the end.
    pub page: u32,
    /// If the file ends within a page: the logical page, and the number of bytes that stay.
    cut_page: Option<(u32, u32)>,
}

impl<F: Flash> Volume<'_, F> {
    /// Reads from a file. `file` must be up to date with its inode.
    pub fn read_known(
        &mut self,
        file: &mut File,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Error> {
        let length = (file.size.saturating_sub(offset)).min(data.len() as u64) as usize;
        let data = &mut data[..length];
        if file.inline {
            if length > 0 {
                let (page, at) = self.inode_place(file.inode());
                self.store.logical.read(page, at + AREA_AT + offset as u32, data)?;
            }
            return Ok(length);
        }
        let logical_bytes = self.store.layout().logical_bytes;
        let (mut done, mut in_order) = (0, true);
        while done < length {
            let (file_page, within) = self.split(offset + done as u64);
            done += match self.page_of(&mut file.node, file_page)? {
                Some(logical) => {
                    // The pages of a run follow each other, so one command may read several.
                    let pages = file.node.run_end(file_page).max(file_page + 1) - file_page;
                    self.store.logical.read_pages(
                        logical,
                        pages,
                        within,
                        &mut data[done..],
                        &mut in_order,
                    )?
                }
                None => {
                    let step = ((logical_bytes - within) as usize).min(length - done);
                    data[done..done + step].fill(0);
                    step
                }
            };
        }
        Ok(length)
    }

    /// Returns the page of a file at a byte offset, and the offset within this page.
    ///
    /// The function shifts the offset, and divides only the shifted offset if the page size is not
    /// a power of two. A 64-bit division would take 400 bytes of code. In the largest file, the
    /// shifted offset is less than 2³².
    pub fn split(&self, offset: u64) -> (u32, u32) {
        let logical_bytes = self.store.layout().logical_bytes;
        let shift = logical_bytes.trailing_zeros();
        let (steps, per_page) = ((offset >> shift) as u32, logical_bytes >> shift);
        (steps / per_page, ((steps % per_page) << shift) | offset as u32 & ((1 << shift) - 1))
    }

    /// Writes within one logical page of the file. `commits` is true if the call commits right
    /// after this piece.
    pub fn write_piece(
        &mut self,
        file: &mut File,
        offset: u64,
        data: &[u8],
        commits: bool,
    ) -> Result<(), Error> {
        let end = offset + data.len() as u64;
        if file.inline && end <= AREA_BYTES as u64 {
            self.fill_inline_gap(file, offset)?;
            // Apply the larger patch last. If it fills the journal buffer, the inode's page is then
            // written with both patches.
            self.note_change(file, end)?;
            let (page, at) = self.inode_place(file.inode());
            return self.store.logical.patch_or_write_through(
                page,
                at + AREA_AT + offset as u32,
                data,
            );
        }
        if file.inline {
            self.leave_inode(file)?;
        }
        let (file_page, within) = self.split(offset);
        let logical = match self.page_of(&mut file.node, file_page)? {
            Some(logical) => logical,
            None => self.add_file_page(
                file,
                file_page,
                data.len() as u32 == self.store.layout().logical_bytes,
            )?,
        };
        // `note_change` changes the size of the file, so compare before it.
        let grows = end > file.size;
        self.note_change(file, end)?;
        // The data is written last, because a write into the cache cannot be undone.
        let piece = Piece { logical, offset: within, bytes: data, stream: file.stream, commits };
        self.store.logical.write_or_patch(&piece, grows)
    }

    fn add_file_page(
        &mut self,
        file: &mut File,
        file_page: u32,
        is_whole: bool,
    ) -> Result<u32, Error> {
        let logical = self.add_page(&mut file.node, file_page, Room::Usable)?;
        self.touch(file);
        if !is_whole {
            // A free page was discarded or never written.
            self.store.logical.mark_unwritten(logical);
        }
        Ok(logical)
    }

    /// Updates the size if the file grows, and the time if it has changed.
    fn note_change(&mut self, file: &mut File, end: u64) -> Result<(), Error> {
        let (page, at) = self.inode_place(file.inode());
        if end > file.size {
            self.set_size(file, end)?;
        } else if self.now_ns != file.modified_ns && self.now_ns != 0 {
            self.store.logical.patch(page, at + MODIFIED_AT, &self.now_ns.to_le_bytes())?;
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
            self.store.logical.patch(page, at + SIZE_AT, &bytes)?;
        } else {
            self.store.logical.patch(page, at + SIZE_AT, &bytes[..8])?;
        }
        file.size = size;
        self.touch(file);
        Ok(())
    }

    /// Makes all other handles of the file read the inode again.
    fn touch(&mut self, file: &mut File) {
        self.stamp = self.stamp.wrapping_add(1);
        file.stamp = self.stamp;
    }

    /// Moves inline data into a separate page.
    fn leave_inode(&mut self, file: &mut File) -> Result<(), Error> {
        let size = file.size as usize;
        let first = if size > 0 {
            Region { logical: self.allocate_page(Room::Usable)?, count: 1, index: 0 }
        } else {
            Region::EMPTY
        };
        self.move_inline_data(file.inode(), size, first)?;
        file.inline = false;
        file.node.forget();
        self.touch(file);
        Ok(())
    }

    /// Moves `size` bytes of inline data into the page of region `first`, and writes the region
    /// in their place.
    ///
    /// Not inlined, so that the data is off the stack during the search for the page.
    #[inline(never)]
    fn move_inline_data(&mut self, inode: u32, size: usize, first: Region) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        let mut data = [0; AREA_BYTES];
        if size > 0 {
            self.store.logical.read(page, at + AREA_AT, &mut data[..size])?;
            self.store.logical.patch(first.logical, 0, &data[..size])?;
        }
        data.fill(0);
        data[..8].copy_from_slice(&first.emit());
        self.patch_what_differs(page, at + AREA_AT, &data)?;
        self.store.logical.patch(page, at + 1, &[0])
    }

    /// Truncates a file, or extends it with zeros. If pages may lie behind the new end, returns the
    /// end. The caller then frees these pages, and [truncates](Self::cut_page) the last page.
    #[inline(never)]
    pub fn cut_or_extend(&mut self, file: &mut File, size: u64) -> Result<Option<NewEnd>, Error> {
        if file.inline && size > AREA_BYTES as u64 {
            self.leave_inode(file)?;
        } else if file.inline {
            // If the file grows again, these bytes must read as zeros.
            if size < file.size {
                let (page, at) = self.inode_place(file.inode());
                self.store.logical.patch(
                    page,
                    at + AREA_AT + size as u32,
                    &ZEROS[..(file.size - size) as usize],
                )?;
            }
            self.fill_inline_gap(file, size)?;
            return self.set_size(file, size).map(|()| None);
        }
        if size > file.size {
            return self.set_size(file, size).map(|()| None);
        }
        let (file_page, keep) = self.split(size);
        let cut_page = if keep > 0 && size < file.size {
            self.page_of(&mut file.node, file_page)?.map(|logical| (logical, keep))
        } else {
            None
        };
        if size != file.size {
            self.set_size(file, size)?;
        }
        file.node.forget();
        self.touch(file);
        Ok(Some(NewEnd { page: file_page + u32::from(keep > 0), cut_page }))
    }

    /// Truncates the last page at the new end of a file: if the file grows again, the bytes behind
    /// the end must read as zeros. No other change may follow in the call, because the patches of
    /// the page keep their room in the journal buffer.
    pub fn cut_page(&mut self, end: &NewEnd) -> Result<(), Error> {
        match end.cut_page {
            Some((logical, keep)) => self.copy_cut(logical, logical, keep),
            None => Ok(()),
        }
    }

    /// Writes zeros over the inline bytes between the end of a file and `offset`, because bytes of
    /// an earlier file may be there.
    fn fill_inline_gap(&mut self, file: &File, offset: u64) -> Result<(), Error> {
        if offset <= file.size {
            return Ok(());
        }
        let (page, at) = self.inode_place(file.inode());
        self.store.logical.patch(
            page,
            at + AREA_AT + file.size as u32,
            &ZEROS[..(offset - file.size) as usize],
        )
    }

    pub fn reserve_pages(&mut self, file: &mut File, from: u64, to: u64) -> Result<u64, Error> {
        // The data no longer fits in the inode.
        if file.inline {
            self.leave_inode(file)?;
        }
        let (last, within) = self.split(to);
        let end = last + u32::from(within > 0);
        let mut at = self.split(from).0;
        // Skip pages that exist already. A run of such pages is skipped in one step.
        for _ in 0..RESERVE_LOOKS {
            if at >= end {
                break;
            }
            match self.page_of(&mut file.node, at)? {
                Some(_) => at = file.node.run_end(at).max(at + 1),
                None => {
                    let mut taken = self.extend_run(&mut file.node, at, end - at)?;
                    // The run cannot grow, so the page gets an entry in the index.
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
