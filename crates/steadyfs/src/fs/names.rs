//! Creating, removing, renaming and listing.

use super::call::Call;
use super::commits::CommitOn;
use super::directories::{Found, NameGap};
use super::filesystem::{Change, FileSystem};
use super::inode::{InodeHeader, InodeKind, InodeNumber, MODIFIED_AT};
use super::path::{Location, Target};
use super::stat::{Entry, Kind, Stat, stat_of};
use super::volume::{Cursor, RecordPlace, Room};
use crate::config::STREAMS_MAX;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Creates an inode and its entry in a directory, in the gap that the search for the name
    /// found.
    pub(super) fn create(
        &mut self,
        directory: u32,
        name: &str,
        gap: NameGap,
        what: Kind,
        stream: u8,
    ) -> Result<(u32, InodeHeader), Error> {
        if self.volume.space().used >= self.volume.capacity() {
            return Err(Error::NoSpace);
        }
        if name.len() > usize::from(self.config().name_bytes_max) {
            return Err(Error::NameTooLong);
        }
        let inode = self.volume.allocate_inode(self.volume.plan().files_max(), Room::Usable)?;
        // The generation has two parts. The sequence number grows from mount to mount, and the
        // stamp grows within a transaction.
        self.volume.outdate_handles();
        let kind = if what == Kind::Directory { InodeKind::Directory } else { InodeKind::File };
        let mut header =
            InodeHeader::new(kind, self.volume.store.sequence() << 8 | self.volume.stamp() & 0xFF);
        (header.parent, header.modified_ns, header.is_link) =
            (directory, self.volume.now_ns(), what == Kind::Symlink);
        header.stream = stream.min(STREAMS_MAX - 1);
        self.volume.write_inode(inode, &mut header, name.as_bytes())?;
        self.directories.enter(&mut self.volume, directory)?;
        self.directories.insert_record(
            &mut self.volume,
            name,
            inode,
            gap,
            what == Kind::Directory,
            Room::Usable,
        )?;
        Ok((inode, header))
    }

    /// Creates a directory.
    ///
    /// # Power loss
    /// The directory exists after the next commit.
    ///
    /// # Cost
    /// [`Call::Create`](super::Call::Create).
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NotFound`] if a directory of the path is missing,
    /// [`Error::NotADirectory`], [`Error::InvalidName`], [`Error::NameTooLong`],
    /// [`Error::TooManyFiles`], [`Error::NoSpace`].
    pub fn create_dir<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<InodeNumber, Error> {
        let (directory, name) = match self.directories.resolve(&mut self.volume, place.into())? {
            Target::Name { directory, name } => (directory, name),
            Target::Inode(_) => return Err(Error::Exists),
        };
        let Found::Free(gap) = self.directories.find(&mut self.volume, directory, name)? else {
            return Err(Error::Exists);
        };
        self.begin_named(Call::Create { depth: 0 }, name.len() > self.volume.plan().name_inline())?;
        let result = self.create(directory, name, gap, Kind::Directory, 0).map(|(inode, _)| inode);
        let inode = self.finish(result, CommitOn::MKDIR, false)?;
        self.notify(Change::Created(inode));
        Ok(inode)
    }

    /// Removes a file or a symbolic link. Up to eight neighbouring pages are freed at once. Later
    /// calls free the pages of a larger file, a few pages in each call. An open file keeps its
    /// pages until it is closed.
    ///
    /// # Power loss
    /// Until the next commit, a power cut brings the file back.
    ///
    /// # Cost
    /// [`Call::Remove`](super::Call::Remove), for a file of any size.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::IsADirectory`], [`Error::NotADirectory`],
    /// [`Error::InvalidName`].
    pub fn remove<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<(), Error> {
        self.remove_kind(place.into(), InodeKind::File)
    }

    /// Removes an empty directory.
    ///
    /// # Power loss
    /// Until the next commit, a power cut brings the directory back.
    ///
    /// # Cost
    /// [`Call::Remove`](super::Call::Remove).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotEmpty`], [`Error::NotADirectory`], [`Error::InvalidName`].
    pub fn remove_dir<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<(), Error> {
        self.remove_kind(place.into(), InodeKind::Directory)
    }

    fn remove_kind(&mut self, place: Location<'_>, kind: InodeKind) -> Result<(), Error> {
        let named = self.directories.find_named(&mut self.volume, place)?;
        check_replaceable(&named.header, kind)?;
        self.begin(Call::Remove { depth: 0 })?;
        let removed = self.directories.remove_named(&mut self.volume, &named);
        let result = removed.and_then(|()| self.unlink(named.inode, &named.header));
        self.finish(result, CommitOn::REMOVE, false)?;
        self.notify(Change::Removed(named.inode));
        Ok(())
    }

    /// Frees a file or directory that has lost its name. It is freed at once, step by step, or when
    /// it is closed.
    fn unlink(&mut self, inode: u32, header: &InodeHeader) -> Result<(), Error> {
        if header.kind == InodeKind::Directory {
            self.directories.forget_if(inode);
            return self.lists.free_directory(&mut self.volume, inode, header);
        }
        self.volume.outdate_handles();
        // An open file keeps its pages until its last handle is closed.
        match self.open.find(inode) {
            Some(slot) => {
                self.lists.add_orphan(&mut self.volume, inode)?;
                self.open.note_orphan(slot);
                Ok(())
            }
            None => self.lists.free_file(&mut self.volume, inode, header),
        }
    }

    /// Renames or moves a file or directory. If the new name exists, it is replaced: a file
    /// replaces only a file, and a directory replaces only an empty directory.
    ///
    /// # Power loss
    /// A power cut before the next commit leaves everything as it was. At each moment the file or
    /// directory has exactly one of the two names.
    ///
    /// # Cost
    /// [`Call::Rename`](super::Call::Rename).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::IsADirectory`], [`Error::NotADirectory`],
    /// [`Error::NotEmpty`], [`Error::IntoItself`] if a directory would move into itself,
    /// [`Error::InvalidName`], [`Error::NameTooLong`], [`Error::NoSpace`],
    /// [`Error::TooManyFiles`] if a long name finds no entry of the file table.
    pub fn rename<'p>(
        &mut self,
        from: impl Into<Location<'p>>,
        to: impl Into<Location<'p>>,
    ) -> Result<(), Error> {
        let (source, from_name) = self.directories.resolve_name(&mut self.volume, from.into())?;
        let (target, to_name) = self.directories.resolve_name(&mut self.volume, to.into())?;
        if to_name.len() > usize::from(self.config().name_bytes_max) {
            return Err(Error::NameTooLong);
        }
        let Found::At { place, inode, mut header, .. } =
            self.directories.find(&mut self.volume, source, from_name)?
        else {
            return Err(Error::NotFound);
        };
        if header.kind == InodeKind::Directory
            // A directory within itself could not be reached from the root.
            && self.directories.holds(&mut self.volume, inode, target)?
        {
            return Err(Error::IntoItself);
        }
        let (replaced, gap) = match self.directories.find(&mut self.volume, target, to_name)? {
            // The new name already names this inode, so nothing changes.
            Found::At { inode: other, .. } if other == inode => return Ok(()),
            Found::At { place, inode: other, header: replaced, .. } => {
                check_replaceable(&replaced, header.kind)?;
                (Some((place, other, replaced)), NameGap::default())
            }
            Found::Free(gap) => (None, gap),
        };
        self.begin_named(
            Call::Rename { depth: 0 },
            from_name.len().max(to_name.len()) > self.volume.plan().name_inline(),
        )?;
        let result =
            self.move_name((source, place), (target, to_name, gap), inode, &mut header, &replaced);
        self.finish(result, CommitOn::RENAME, false)?;
        if let Some((_, other, _)) = replaced {
            self.notify(Change::Removed(other));
        }
        self.notify(Change::Renamed(inode));
        Ok(())
    }

    fn move_name(
        &mut self,
        (source, place): (u32, RecordPlace),
        (target, name, gap): (u32, &str, NameGap),
        inode: u32,
        header: &mut InodeHeader,
        replaced: &Option<(RecordPlace, u32, InodeHeader)>,
    ) -> Result<(), Error> {
        let is_directory = header.kind == InodeKind::Directory;
        self.directories.enter(&mut self.volume, source)?;
        self.directories.remove_record(&mut self.volume, place, is_directory)?;
        // If a directory moves, its inode gets another parent and name.
        self.directories.forget_if(inode);
        let unused = self.volume.move_inode(inode, header, target, name)?;
        self.directories.enter(&mut self.volume, target)?;
        match replaced {
            Some((place, other, replaced)) => {
                self.directories.replace_record(
                    &mut self.volume,
                    *place,
                    inode,
                    [is_directory; 2],
                )?;
                self.unlink(*other, replaced)?;
            }
            None => self.directories.insert_record(
                &mut self.volume,
                name,
                inode,
                gap,
                is_directory,
                Room::Usable,
            )?,
        }
        self.volume.remove_extension(unused)
    }

    /// Exchanges two names of files or directories: each name gets the inode of the other. So a
    /// tree that was written beside another tree replaces this tree in one step. A second exchange
    /// restores the old state.
    ///
    /// # Power loss
    /// A power cut before the next commit leaves everything as it was. At each moment both names
    /// exist, with different inodes.
    ///
    /// # Cost
    /// [`Call::Exchange`].
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::IntoItself`] if one contains the other,
    /// [`Error::NotADirectory`], [`Error::InvalidName`]. [`Error::TooManyFiles`] or
    /// [`Error::NoSpace`] if there is no inode or page for a long name.
    pub fn exchange<'p>(
        &mut self,
        one: impl Into<Location<'p>>,
        other: impl Into<Location<'p>>,
    ) -> Result<(), Error> {
        let [one, other] = {
            let mut find = |place| self.directories.find_named(&mut self.volume, place);
            [find(one.into())?, find(other.into())?]
        };
        if one.inode == other.inode {
            return Ok(());
        }
        // A directory within itself could not be reached from the root.
        for (outer, inner) in [(&one, &other), (&other, &one)] {
            if outer.is_directory()
                && self.directories.holds(&mut self.volume, outer.inode, inner.directory)?
            {
                return Err(Error::IntoItself);
            }
        }
        let is_long = one.name.len().max(other.name.len()) > self.volume.plan().name_inline();
        self.begin_named(Call::Exchange { depth: 0 }, is_long)?;
        let result = self.directories.exchange(&mut self.volume, &one, &other);
        self.finish(result, CommitOn::RENAME, false)?;
        self.notify(Change::Renamed(one.inode));
        self.notify(Change::Renamed(other.inode));
        Ok(())
    }

    /// Returns the metadata of a file or directory.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotADirectory`], [`Error::InvalidName`],
    /// [`Error::NameTooLong`].
    pub fn stat<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<Stat, Error> {
        let (inode, header) = self.located(place.into())?;
        Ok(stat_of(inode, &header))
    }

    /// Sets the time of the last change of a file or directory, in the unit of the caller's
    /// clock.
    ///
    /// # Power loss
    /// The change is part of the open transaction, like a change of data.
    ///
    /// # Cost
    /// [`Call::SetAttribute`](super::Call::SetAttribute). A path also costs
    /// [`Call::Open`](super::Call::Open) for its look-ups.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn set_modified<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        modified_ns: u64,
    ) -> Result<(), Error> {
        let (inode, _) = self.located(place.into())?;
        self.begin(Call::SetAttribute)?;
        let (page, at) = self.volume.inode_place(inode);
        let result =
            self.volume.store.logical.patch(page, at + MODIFIED_AT, &modified_ns.to_le_bytes());
        // Handles and the directory that was used last read the inode again.
        self.volume.outdate_handles();
        self.directories.forget();
        self.finish(result, CommitOn::WRITE, false)?;
        self.notify(Change::Updated(inode));
        Ok(())
    }

    /// Returns the next entry of a directory from `cursor` on, and moves `cursor` behind it.
    /// Start with `Cursor::default()`.
    ///
    /// An entry that exists from the first call to the last is listed once, even if others are
    /// created and removed meanwhile.
    ///
    /// # Cost
    /// The cost of [`Call::List`](super::Call::List), and one look at each bucket without entries.
    /// If names were chosen to fill a bucket, also a look at each overflow page.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`]. [`Error::Corrupt`] for the entry of a
    /// directory whose inode names another parent. If the volume has [damage](Self::damage), this
    /// entry is skipped instead.
    pub fn list(
        &mut self,
        directory: InodeNumber,
        cursor: &mut Cursor,
    ) -> Result<Option<Entry>, Error> {
        self.directories.next_entry(&mut self.volume, directory, cursor)
    }
}

/// Refuses to remove or replace an inode of another kind, or a directory that is not empty.
fn check_replaceable(header: &InodeHeader, kind: InodeKind) -> Result<(), Error> {
    match (header.kind, kind) {
        (InodeKind::Directory, InodeKind::Directory) if header.entries() > 0 => {
            Err(Error::NotEmpty)
        }
        (InodeKind::Directory, InodeKind::Directory) | (InodeKind::File, InodeKind::File) => Ok(()),
        (InodeKind::Directory, _) => Err(Error::IsADirectory),
        (InodeKind::File, _) => Err(Error::NotADirectory),
        _ => Err(Error::Corrupt),
    }
}
