//! Inodes in the file table: headers, names, and the extensions for the rest of long names.

use super::Volume;
use super::space::Room;
use crate::error::Error;
use crate::features::LONG_NAMES;
use crate::fs::inode::{
    EXTENSION_AT, EXTENSION_BYTES, HEADER_BYTES, InodeHeader, InodeKind, NAME_AT, NAME_BYTES_AT,
    NAME_BYTES_MAX, NAME_MORE_AT, NAME_ROOM, PARENT_AT,
};
use crate::media::Flash;

impl<F: Flash> Volume<'_, F> {
    /// Returns the logical page and offset of an inode.
    pub fn inode_place(&self, inode: u32) -> (u32, u32) {
        let layout = self.store.layout();
        let per_page = layout.inodes_per_page();
        (self.plan.table + inode / per_page, layout.inode_offset(inode % per_page))
    }

    /// Reads the header of an inode.
    pub fn read_header(&mut self, inode: u32) -> Result<InodeHeader, Error> {
        if inode >= self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; HEADER_BYTES];
        self.store.logical.read(page, at, &mut bytes)?;
        InodeHeader::parse(&bytes, inode).ok_or(Error::Corrupt)
    }

    /// Reads the header of an inode in use.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the inode is free.
    pub fn taken_header(&mut self, inode: u32) -> Result<InodeHeader, Error> {
        if inode >= self.plan.inode_count || !self.inode_is_taken(inode)? {
            return Err(Error::NotFound);
        }
        self.read_header(inode)
    }

    /// Refuses to open a symbolic link, and a file whose size is impossible.
    pub fn check_openable(&self, header: &InodeHeader) -> Result<(), Error> {
        match () {
            () if header.is_link => Err(Error::IsALink),
            () if header.size > self.size_max() => Err(Error::Corrupt),
            () => Ok(()),
        }
    }

    /// Reads the name of an inode, which has `header.name_bytes` bytes.
    pub fn read_name(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        name: &mut [u8; NAME_BYTES_MAX],
    ) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        let length = usize::from(header.name_bytes);
        let inline = self.plan.name_inline();
        if length > inline {
            if !LONG_NAMES {
                return Err(Error::Unsupported);
            }
            // This read also returns the first bytes of the extension itself. The first part of the
            // name then overwrites these bytes.
            let first = inline - EXTENSION_AT as usize;
            self.read_extension(header.name_more, &mut name[first..length])?;
        }
        self.store.logical.read(page, at + NAME_AT, &mut name[..length.min(inline)])
    }

    /// Reads the first bytes of an extension. Its content begins at byte [`EXTENSION_AT`]. `number`
    /// is the extension's inode plus one.
    ///
    /// # Cost
    /// One look.
    pub fn read_extension(&mut self, number: u32, bytes: &mut [u8]) -> Result<(), Error> {
        let inode = number.checked_sub(1).filter(|&inode| inode < self.plan.inode_count);
        let (page, at) = self.inode_place(inode.ok_or(Error::Corrupt)?);
        self.store.logical.read(page, at, bytes)?;
        let kind = InodeKind::Extension as u8;
        if bytes.first() == Some(&kind) { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Takes an inode as an extension of inode `owner`. Returns the extension's number: its inode
    /// plus one.
    pub fn add_extension(&mut self, owner: u32) -> Result<u32, Error> {
        let inode = self.allocate_inode(self.plan.files_max(), Room::Usable)?;
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; EXTENSION_AT as usize];
        bytes[0] = InodeKind::Extension as u8;
        bytes[4..].copy_from_slice(&owner.to_le_bytes());
        self.store.logical.patch(page, at, &bytes)?;
        Ok(inode + 1)
    }

    /// Frees an extension. If `number` is 0, there is no extension.
    pub fn remove_extension(&mut self, number: u32) -> Result<(), Error> {
        match number.checked_sub(1) {
            Some(inode) if inode < self.plan.inode_count => self.free_inode(inode),
            Some(_) => Err(Error::Corrupt),
            None => Ok(()),
        }
    }

    /// Writes bytes of an extension, in pieces that fit the journal.
    pub fn write_extension(&mut self, number: u32, bytes: &[u8]) -> Result<(), Error> {
        debug_assert!(bytes.len() <= EXTENSION_BYTES);
        let (page, at) = self.inode_place(number - 1);
        for (index, piece) in bytes.chunks(EXTENSION_BYTES / 2).enumerate() {
            self.store.logical.patch(
                page,
                at + EXTENSION_AT + (index * (EXTENSION_BYTES / 2)) as u32,
                piece,
            )?;
        }
        Ok(())
    }

    /// Writes the rest of a name that exceeds the inode's room into an extension. Updates `header`:
    /// the length of the name, and the extension. Returns the number of an extension that is not
    /// needed any more, which the caller must remove, or 0.
    fn write_long_name(
        &mut self,
        inode: u32,
        header: &mut InodeHeader,
        name: &[u8],
    ) -> Result<u32, Error> {
        let inline = self.plan.name_inline();
        if header.name_more > 0 && usize::from(header.name_bytes) <= inline {
            // The name is so short that no part of it is in the extension.
            return Err(Error::Corrupt);
        }
        header.name_bytes = name.len() as u8;
        if name.len() <= inline {
            return Ok(core::mem::take(&mut header.name_more));
        }
        if !LONG_NAMES {
            return Err(Error::Unsupported);
        }
        if header.name_more == 0 {
            header.name_more = self.add_extension(inode)?;
        }
        self.write_extension(header.name_more, &name[inline..]).map(|()| 0)
    }

    /// Writes the header and the name of a new inode.
    #[inline(never)]
    pub fn write_inode(
        &mut self,
        inode: u32,
        header: &mut InodeHeader,
        name: &[u8],
    ) -> Result<(), Error> {
        self.write_long_name(inode, header, name)?;
        let mut end = HEADER_BYTES + name.len().min(self.plan.name_inline());
        let mut bytes = [0; HEADER_BYTES + NAME_ROOM];
        bytes[..HEADER_BYTES].copy_from_slice(&header.emit());
        bytes[HEADER_BYTES..end].copy_from_slice(&name[..end - HEADER_BYTES]);
        if self.plan.has_permissions {
            // The inode has no permissions, even if an earlier file with this inode had
            // permissions.
            end = bytes.len();
        }
        let (page, at) = self.inode_place(inode);
        self.store.logical.patch(page, at, &bytes[..end])
    }

    /// Writes a new name of an inode. Returns an extension that is not needed any more, or 0.
    ///
    /// The caller [removes](Self::remove_extension) this extension at the end of the call. Before
    /// the end, a discarded page would free no room in the journal buffer.
    pub fn write_name(
        &mut self,
        inode: u32,
        header: &mut InodeHeader,
        name: &[u8],
    ) -> Result<u32, Error> {
        let (length, more) = (header.name_bytes, header.name_more);
        let unused = self.write_long_name(inode, header, name)?;
        let (page, at) = self.inode_place(inode);
        // If a field does not change, it needs no patch.
        if header.name_bytes != length {
            self.store.logical.patch(page, at + NAME_BYTES_AT, &[header.name_bytes])?;
        }
        if header.name_more != more {
            self.store.logical.patch(page, at + NAME_MORE_AT, &header.name_more.to_le_bytes())?;
        }
        self.store.logical.patch(
            page,
            at + NAME_AT,
            &name[..name.len().min(self.plan.name_inline())],
        )?;
        Ok(unused)
    }

    /// Frees the extensions of an inode: the rest of its name, and its attributes.
    pub fn free_extensions(&mut self, header: &InodeHeader) -> Result<(), Error> {
        self.remove_extension(header.name_more)?;
        self.remove_extension(header.attributes)
    }

    /// Writes a new directory and a new name into an inode. Returns an extension that is not needed
    /// any more, or 0.
    pub fn move_inode(
        &mut self,
        inode: u32,
        header: &mut InodeHeader,
        directory: u32,
        name: &str,
    ) -> Result<u32, Error> {
        if header.parent != directory {
            let (page, at) = self.inode_place(inode);
            self.store.logical.patch(page, at + PARENT_AT, &directory.to_le_bytes())?;
        }
        self.write_name(inode, header, name.as_bytes())
    }
}
