//! Files are opened and closed.

use super::call::Call;
use super::commits::CommitOn;
use super::directories::{Found, Gap};
use super::filesystem::{Change, FileSystem};
use super::handle::{File, OpenOptions};
use super::inode::{Header, InodeKind, InodeNumber};
use super::path::{Place, Target};
use super::stat::Kind;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Opens a file.
    ///
    /// # Power loss
    /// A file that is created is there after the next commit, one that is cut is cut.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open), or [`Call::Create`](super::Call::Create); with `truncate` and
    /// [`Call::Truncate`](super::Call::Truncate).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Exists`], [`Error::IsADirectory`], [`Error::IsALink`], [`Error::NotADirectory`], [`Error::InvalidName`],
    /// [`Error::NameTooLong`], [`Error::NotWritable`] when the options contradict each other, [`Error::TooManyOpenFiles`],
    /// [`Error::TooManyFiles`], [`Error::NoSpace`], [`Error::Unsupported`] if the build lacks the feature for a long name
    /// or for cutting, and the errors of [every call](FileSystem#errors-of-every-call).
    pub fn open<'p>(&mut self, place: impl Into<Place<'p>>, options: OpenOptions) -> Result<File, Error> {
        self.open_place(place.into(), options)
    }

    /// The same for every kind of name, so that it is there once.
    fn open_place(&mut self, place: Place<'_>, options: OpenOptions) -> Result<File, Error> {
        let creates = options.create || options.create_new;
        if (creates && !options.changes()) || (options.truncate && !options.write) {
            return Err(Error::NotWritable);
        }
        let (directory, name) = match self.directories.resolve(&mut self.volume, place)? {
            Target::Name { directory, name } => (directory, name),
            Target::Directory(_) => return Err(Error::IsADirectory),
        };
        match self.directories.find(&mut self.volume, directory, name)? {
            Found::At { .. } if options.create_new => Err(Error::Exists),
            Found::At { inode, .. } => {
                let header = self.volume.read_header(inode)?;
                self.open_header(inode, &header, options)
            }
            Found::Free(_) if !creates => Err(Error::NotFound),
            Found::Free(gap) => self.create_open(directory, name, gap, options),
        }
    }

    /// Creates a file and opens it. Not inlined: its stack is not beneath the cut of a file that exists.
    #[inline(never)]
    fn create_open(&mut self, directory: u32, name: &str, gap: Gap, options: OpenOptions) -> Result<File, Error> {
        if !self.open.has_room() {
            return Err(Error::TooManyOpenFiles);
        }
        self.begin_named(Call::Create { depth: 0 }, name.len() > self.volume.plan().name_inline())?;
        let result = self.create(directory, name, gap, Kind::File, options.stream);
        let (inode, header) = self.finish(result, CommitOn::CREATE, options.durable)?;
        self.notify(Change::Created(inode));
        self.handle(inode, &header, options)
    }

    /// Opens a file that is known by its inode, whatever its name is now.
    ///
    /// # Cost
    /// Two looks; with `truncate` also [`Call::Truncate`](super::Call::Truncate).
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such file, [`Error::IsADirectory`], [`Error::IsALink`], and those of [`open`](Self::open).
    pub fn open_inode(&mut self, inode: InodeNumber, options: OpenOptions) -> Result<File, Error> {
        let header = self.header_of(inode)?;
        self.open_header(inode, &header, options)
    }

    fn open_header(&mut self, inode: u32, header: &Header, options: OpenOptions) -> Result<File, Error> {
        if header.kind == InodeKind::Directory {
            return Err(Error::IsADirectory);
        }
        let mut file = self.handle(inode, header, options)?;
        if options.truncate
            && file.size > 0
            && let Err(error) = self.truncate(&mut file, 0)
        {
            let _ = self.release_handle(&file);
            return Err(error);
        }
        Ok(file)
    }

    /// The header of a file or directory that exists.
    pub(super) fn header_of(&mut self, inode: u32) -> Result<Header, Error> {
        self.reload()?;
        let header = self.volume.taken_header(inode)?;
        match header.kind {
            InodeKind::File | InodeKind::Directory => Ok(header),
            InodeKind::Orphan if self.open.find(inode).is_some() => Ok(header),
            _ => Err(Error::NotFound),
        }
    }

    /// Makes a handle and counts it.
    pub(super) fn handle(&mut self, inode: u32, header: &Header, options: OpenOptions) -> Result<File, Error> {
        self.volume.check_openable(header)?;
        self.reload()?;
        let slot = self.open.enter(inode, header.generation)?;
        Ok(File::new(slot, inode, header, options, self.volume.mark_of_handle()))
    }

    /// Closes a file. The last handle of a file that was removed gives its room back.
    ///
    /// # Power loss
    /// As in [`commit`](Self::commit), where the volume commits on close. Calls after the next mount take the room of removed
    /// files back that were open.
    ///
    /// # Cost
    /// Nothing, or one commit where the volume commits on close; [`Call::Remove`](super::Call::Remove) for the last handle of
    /// a file that was removed.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call). The handle is closed all the same; after
    /// [`Error::WrongMount`] the mount that made it keeps its place.
    pub fn close(&mut self, file: File) -> Result<(), Error> {
        self.release_handle(&file)?;
        let commits = self.commits.events().contains(CommitOn::CLOSE) && file.options.changes();
        if commits { self.commit() } else { Ok(()) }
    }

    fn release_handle(&mut self, file: &File) -> Result<(), Error> {
        file.check_mount(self.volume.mount_id())?;
        let known = self.reload();
        if !self.open.is_last_of_orphan(file) || self.volume.store.status().is_read_only() {
            self.open.close(file);
            return known;
        }
        let begun = self.begin(Call::Remove { depth: 0 });
        // Where the call fails nobody stands for the orphan any more, and a later call collects it.
        self.open.close(file);
        begun?;
        let result = self.lists.free_orphan(&mut self.volume, file.inode());
        // Here and not in a call of its own, which would do the share of reclamation a second time.
        let event = if file.options.changes() { CommitOn::CLOSE } else { CommitOn::NONE };
        self.finish(result, event, false)
    }

    /// Reads again what a handle knows, if an inode was changed since.
    #[inline(always)]
    pub(super) fn refresh(&mut self, file: &mut File) -> Result<(), Error> {
        // A rollback outdates every handle, so a file that is gone is looked at.
        let is_known = file.stamp == self.volume.stamp() && file.check_mount(self.volume.mount_id()).is_ok();
        if is_known { Ok(()) } else { self.look_again(file) }
    }

    fn look_again(&mut self, file: &mut File) -> Result<(), Error> {
        file.check_mount(self.volume.mount_id())?;
        self.reload()?;
        if self.open.is_gone(file) {
            return Err(Error::Stale);
        }
        let header = self.volume.read_header(file.inode())?;
        file.update(&header, self.volume.stamp())
    }

    /// Whether there are orphans that no handle stands for: a power cut, or a close that failed, has left them.
    pub(super) fn has_abandoned_orphans(&self) -> bool {
        self.lists.orphans().0 != 0 && !self.open.has_orphans() && !self.volume.store.status().is_unchecked()
    }
}
