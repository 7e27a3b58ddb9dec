//! Creating, removing, renaming and listing.

use super::directory::{Cursor, Found};
use super::inode::{Header, InodeKind, MODIFIED_AT, NAME_BYTES_MAX, PARENT_AT, ROOT};
use super::path::{Place, Target};
use super::space::Room;
use super::transaction::CommitOn;
use super::{Call, Change, FileSystem, InodeNumber};
use crate::config::STREAMS_MAX;
use crate::error::Error;
use crate::media::Flash;

/// What an inode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
}

/// What a file or directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Number of the file or directory, for its life.
    pub inode: InodeNumber,
    /// Whether it is a file, a directory or a symbolic link.
    pub kind: Kind,
    /// Bytes of a file, or of what a link names; entries of a directory.
    pub size: u64,
    /// Directories that a directory holds.
    pub subdirectories: u32,
    /// When it was changed last, in the unit of the caller's clock; 0 when there is none.
    pub modified_ns: u64,
    /// The directory it is in; that of the root is the root.
    pub parent: InodeNumber,
    /// Tells files apart that had the same number one after the other.
    pub generation: u32,
}

/// One entry of [`FileSystem::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(super) name: [u8; NAME_BYTES_MAX],
    pub(super) name_bytes: u8,
    /// What the file or directory is.
    pub stat: Stat,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..usize::from(self.name_bytes)]).unwrap_or("?")
    }
}

impl<F: Flash> FileSystem<'_, F> {
    /// Makes an inode and its entry in a directory; `slot` is free for it.
    pub(super) fn create(
        &mut self,
        directory: u32,
        name: &str,
        slot: Option<u32>,
        what: Kind,
        stream: u8,
    ) -> Result<(u32, Header), Error> {
        if self.space.used >= self.capacity() {
            return Err(Error::NoSpace);
        }
        if name.len() > usize::from(self.config().name_bytes_max) {
            return Err(Error::NameTooLong);
        }
        let inode = self.allocate_inode(self.plan.files_max)?;
        // The sequence goes on from mount to mount, the stamp within a transaction.
        self.stamp = self.stamp.wrapping_add(1);
        let kind = if what == Kind::Directory { InodeKind::Directory } else { InodeKind::File };
        let mut header = Header::new(kind, self.store.sequence() << 8 | self.stamp & 0xFF);
        (header.parent, header.modified_ns, header.is_link) = (directory, self.now_ns, what == Kind::Symlink);
        header.stream = stream.min(STREAMS_MAX - 1);
        self.write_inode(inode, &mut header, name.as_bytes())?;
        self.enter(directory)?;
        self.insert_record(name, inode, slot, what == Kind::Directory, Room::Usable)?;
        Ok((inode, header))
    }

    /// Makes a directory.
    ///
    /// # Power loss
    /// It is there after the next commit.
    ///
    /// # Cost
    /// [`Call::Create`](super::Call::Create).
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NotFound`] when a directory of the path is missing, [`Error::NotADirectory`],
    /// [`Error::InvalidName`], [`Error::NameTooLong`], [`Error::TooManyFiles`], [`Error::NoSpace`], [`Error::NameCollision`].
    pub fn create_dir<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<InodeNumber, Error> {
        let (directory, name) = match self.resolve(place.into())? {
            Target::Name { directory, name } => (directory, name),
            Target::Directory(_) => return Err(Error::Exists),
        };
        let Found::Free(slot) = self.find(directory, name)? else { return Err(Error::Exists) };
        self.begin_named(Call::Create { depth: 0 }, name.len() > self.plan.name_inline())?;
        let result = self.create(directory, name, slot, Kind::Directory, 0);
        let (inode, _) = self.finish(result, CommitOn::MKDIR, false)?;
        self.notify(Change::Created(inode));
        Ok(inode)
    }

    /// Removes a file or a symbolic link. Its pages are freed by later calls, a few each; a file that is open stays until it is closed.
    ///
    /// # Power loss
    /// The file is there until the next commit.
    ///
    /// # Cost
    /// [`Call::Remove`](super::Call::Remove), whatever the file's size.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::IsADirectory`], [`Error::NotADirectory`], [`Error::InvalidName`].
    pub fn remove<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<(), Error> {
        self.remove_kind(place.into(), InodeKind::File)
    }

    /// Removes an empty directory.
    ///
    /// # Power loss
    /// The directory is there until the next commit.
    ///
    /// # Cost
    /// [`Call::Remove`](super::Call::Remove).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotEmpty`], [`Error::NotADirectory`], [`Error::InvalidName`].
    pub fn remove_dir<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<(), Error> {
        self.remove_kind(place.into(), InodeKind::Directory)
    }

    fn remove_kind(&mut self, place: Place<'_>, kind: InodeKind) -> Result<(), Error> {
        let (directory, name) = self.resolve_name(place)?;
        let Found::At { slot, inode } = self.find(directory, name)? else { return Err(Error::NotFound) };
        let header = self.read_header(inode)?;
        check_replaceable(&header, kind)?;
        self.begin(Call::Remove { depth: 0 })?;
        let result = self.remove_at(directory, slot, inode, &header);
        self.finish(result, CommitOn::REMOVE, false)?;
        self.notify(Change::Removed(inode));
        Ok(())
    }

    fn remove_at(&mut self, directory: u32, slot: u32, inode: u32, header: &Header) -> Result<(), Error> {
        self.enter(directory)?;
        self.remove_record(slot, header.kind == InodeKind::Directory)?;
        self.unlink(inode, header)
    }

    /// Frees what is no longer named: at once, step by step, or when it is closed.
    fn unlink(&mut self, inode: u32, header: &Header) -> Result<(), Error> {
        if header.kind == InodeKind::Directory {
            if self.dir.is_some_and(|dir| dir.node.inode == inode) {
                self.dir = None;
            }
            return self.free_directory(inode, header);
        }
        self.stamp = self.stamp.wrapping_add(1);
        if self.orphan_if_open(inode)? { Ok(()) } else { self.free_file(inode, header) }
    }

    /// Renames or moves a file or directory. What the new name named before is replaced: a file by a file, an empty directory
    /// by a directory.
    ///
    /// # Power loss
    /// Before the next commit everything is as it was; there is no moment at which neither or both names are there.
    ///
    /// # Cost
    /// [`Call::Rename`](super::Call::Rename).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::IsADirectory`], [`Error::NotADirectory`], [`Error::NotEmpty`], [`Error::IntoItself`] when a
    /// directory would move into itself, [`Error::InvalidName`], [`Error::NameTooLong`], [`Error::NoSpace`],
    /// [`Error::NameCollision`].
    pub fn rename<'p>(&mut self, from: impl Into<Place<'p>>, to: impl Into<Place<'p>>) -> Result<(), Error> {
        let (source, from_name) = self.resolve_name(from.into())?;
        let (target, to_name) = self.resolve_name(to.into())?;
        if to_name.len() > usize::from(self.config().name_bytes_max) {
            return Err(Error::NameTooLong);
        }
        let Found::At { slot, inode } = self.find(source, from_name)? else { return Err(Error::NotFound) };
        let mut header = self.read_header(inode)?;
        if header.kind == InodeKind::Directory && self.holds(inode, target)? {
            return Err(Error::IntoItself);
        }
        let (replaced, free) = match self.find(target, to_name)? {
            Found::At { inode: other, .. } if other == inode => return Ok(()),
            Found::At { slot, inode: other } => {
                let replaced = self.read_header(other)?;
                check_replaceable(&replaced, header.kind)?;
                (Some((slot, other, replaced)), None)
            }
            Found::Free(free) => (None, free),
        };
        self.begin_named(Call::Rename { depth: 0 }, from_name.len().max(to_name.len()) > self.plan.name_inline())?;
        let result = self.move_name((source, slot), (target, to_name, free), inode, &mut header, &replaced);
        self.finish(result, CommitOn::RENAME, false)?;
        if let Some((_, other, _)) = replaced {
            self.notify(Change::Removed(other));
        }
        self.notify(Change::Renamed(inode));
        Ok(())
    }

    fn move_name(
        &mut self,
        (source, slot): (u32, u32),
        (target, name, free): (u32, &str, Option<u32>),
        inode: u32,
        header: &mut Header,
        replaced: &Option<(u32, u32, Header)>,
    ) -> Result<(), Error> {
        let is_directory = header.kind == InodeKind::Directory;
        self.enter(source)?;
        self.remove_record(slot, is_directory)?;
        self.enter(target)?;
        match replaced {
            Some((slot, other, replaced)) => {
                self.replace_record(*slot, inode)?;
                self.unlink(*other, replaced)?;
            }
            None => self.insert_record(name, inode, free, is_directory, Room::Usable)?,
        }
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            self.dir = None;
        }
        if header.parent != target {
            let (page, at) = self.inode_place(inode);
            self.store.patch(page, at + PARENT_AT, &target.to_le_bytes())?;
        }
        self.write_name(inode, header, name.as_bytes())
    }

    fn free_directory(&mut self, inode: u32, header: &Header) -> Result<(), Error> {
        self.free_extensions(header)?;
        if header.extra == 0 {
            return self.free_inode(inode);
        }
        let freed = Header { kind: InodeKind::Removed, extra: 0, name_more: 0, attributes: 0, ..*header };
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at, &freed.emit())?;
        self.start_trim(inode)
    }

    /// Frees a file: at once when its data lies in the inode, step by step otherwise.
    pub(super) fn free_file(&mut self, inode: u32, header: &Header) -> Result<(), Error> {
        if header.inline {
            self.free_extensions(header)?;
            return self.free_inode(inode);
        }
        self.start_trim(inode)
    }

    /// Tells what a file or directory is.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotADirectory`], [`Error::InvalidName`], [`Error::NameTooLong`].
    pub fn stat<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<Stat, Error> {
        let inode = self.locate(place.into())?;
        let header = self.read_header(inode)?;
        Ok(self.stat_of(inode, &header))
    }

    /// Tells what the file or directory of an inode is.
    ///
    /// # Cost
    /// Two looks.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn stat_inode(&mut self, inode: InodeNumber) -> Result<Stat, Error> {
        let header = self.header_of(inode)?;
        Ok(self.stat_of(inode, &header))
    }

    /// Sets when a file or directory was changed last, in the unit of the caller's clock.
    ///
    /// # Power loss
    /// Part of the open transaction, as data is.
    ///
    /// # Cost
    /// [`Call::SetAttribute`](super::Call::SetAttribute).
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn set_modified(&mut self, inode: InodeNumber, modified_ns: u64) -> Result<(), Error> {
        self.header_of(inode)?;
        self.begin(Call::SetAttribute)?;
        let (page, at) = self.inode_place(inode);
        let result = self.store.patch(page, at + MODIFIED_AT, &modified_ns.to_le_bytes());
        // Handles and the directory that was used last look again.
        self.stamp = self.stamp.wrapping_add(1);
        self.dir = None;
        self.finish(result, CommitOn::WRITE, false)?;
        self.notify(Change::Updated(inode));
        Ok(())
    }

    pub(super) fn stat_of(&self, inode: u32, header: &Header) -> Stat {
        let is_directory = header.kind == InodeKind::Directory;
        Stat {
            inode,
            kind: match header.is_link {
                _ if is_directory => Kind::Directory,
                true => Kind::Symlink,
                false => Kind::File,
            },
            size: if is_directory { u64::from(header.entries()) } else { header.size },
            subdirectories: if is_directory { header.subdirectories() } else { 0 },
            modified_ns: header.modified_ns,
            parent: if inode == ROOT || header.kind == InodeKind::Orphan { ROOT } else { header.parent },
            generation: header.generation,
        }
    }

    /// The next entry of a directory from `cursor` on; moves `cursor` behind it. Start with `Cursor::default()`.
    ///
    /// Entries that are there from the first call to the last are listed once, whatever is created and removed meanwhile.
    ///
    /// # Cost
    /// [`Call::List`](super::Call::List), and a look for each bucket without entries.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`]; [`Error::Corrupt`] for an entry that names a directory which is elsewhere, unless the
    /// volume [says](Self::damage) that something is missing: then it is passed over.
    pub fn list(&mut self, directory: InodeNumber, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        self.next_entry(directory, cursor)
    }
}

/// Refuses to remove or replace something by something of another kind, and a directory that is not empty.
fn check_replaceable(header: &Header, kind: InodeKind) -> Result<(), Error> {
    match (header.kind, kind) {
        (InodeKind::Directory, InodeKind::Directory) if header.entries() > 0 => Err(Error::NotEmpty),
        (InodeKind::Directory, InodeKind::Directory) | (InodeKind::File, InodeKind::File) => Ok(()),
        (InodeKind::Directory, _) => Err(Error::IsADirectory),
        (InodeKind::File, _) => Err(Error::NotADirectory),
        _ => Err(Error::Corrupt),
    }
}
