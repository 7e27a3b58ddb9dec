//! Opening and closing of files.

use super::call::Call;
use super::commits::CommitOn;
use super::directories::{Found, NameGap};
use super::filesystem::{Change, FileSystem};
use super::handle::{File, OpenOptions};
use super::inode::{InodeHeader, InodeKind};
use super::path::{Location, Target};
use super::stat::Kind;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> FileSystem<'_, F> {
    /// Opens a file, by its path or by its inode.
    ///
    /// # Power loss
    /// After the next commit, a created file exists, and a truncated file is empty.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open) or [`Call::Create`](super::Call::Create). With `truncate`,
    /// also [`Call::Truncate`](super::Call::Truncate).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Exists`], [`Error::IsADirectory`], [`Error::IsALink`],
    /// [`Error::NotADirectory`], [`Error::InvalidName`], [`Error::NameTooLong`],
    /// [`Error::NotWritable`] if the options contradict each other,
    /// [`Error::TooManyOpenFiles`], [`Error::TooManyFiles`], [`Error::NoSpace`],
    /// [`Error::Unsupported`] if the build lacks the feature for a long name or for truncation.
    /// Also the errors of [every call](FileSystem#errors-of-every-call).
    pub fn open<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        options: OpenOptions,
    ) -> Result<File, Error> {
        self.open_place(place.into(), options)
    }

    /// Opens a file. All types of paths use this function, which is not generic, so its code exists
    /// once.
    fn open_place(&mut self, place: Location<'_>, options: OpenOptions) -> Result<File, Error> {
        let creates = options.create || options.create_new;
        if (creates && !options.changes()) || (options.truncate && !options.write) {
            return Err(Error::NotWritable);
        }
        let (directory, name) = match self.directories.resolve(&mut self.volume, place)? {
            Target::Name { directory, name } => (directory, name),
            Target::Inode(inode) => {
                let header = self.header_of(inode)?;
                return match header.kind {
                    InodeKind::File if options.create_new => Err(Error::Exists),
                    _ => self.open_header(inode, &header, options),
                };
            }
        };
        match self.directories.find(&mut self.volume, directory, name)? {
            Found::At { .. } if options.create_new => Err(Error::Exists),
            Found::At { inode, header, .. } => self.open_header(inode, &header, options),
            Found::Free(_) if !creates => Err(Error::NotFound),
            Found::Free(gap) => self.create_open(directory, name, gap, options),
        }
    }

    /// Creates a file and opens it. Not inlined, so that an open that truncates an existing file
    /// does not need the stack of this function too.
    #[inline(never)]
    fn create_open(
        &mut self,
        directory: u32,
        name: &str,
        gap: NameGap,
        options: OpenOptions,
    ) -> Result<File, Error> {
        // This error must be returned before the file exists.
        if !self.open.has_room() {
            return Err(Error::TooManyOpenFiles);
        }
        self.begin_named(Call::Create { depth: 0 }, name.len() > self.volume.plan().name_inline())?;
        let result = self.create(directory, name, gap, Kind::File, options.stream);
        let (inode, header) = self.finish(result, CommitOn::CREATE, options.durable)?;
        self.notify(Change::Created(inode));
        self.handle(inode, &header, options)
    }

    fn open_header(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        options: OpenOptions,
    ) -> Result<File, Error> {
        if header.kind == InodeKind::Directory {
            return Err(Error::IsADirectory);
        }
        let mut file = self.handle(inode, header, options)?;
        if options.truncate
            && file.size > 0
            && let Err(error) = self.truncate(&mut file, 0)
        {
            // The caller gets no handle, so the table must not keep an entry for this handle.
            let _ = self.release_handle(&file);
            return Err(error);
        }
        Ok(file)
    }

    /// Returns the inode and the header of the file or directory at a place.
    pub(super) fn located(&mut self, place: Location<'_>) -> Result<(u32, InodeHeader), Error> {
        let (inode, header) = self.directories.locate(&mut self.volume, place)?;
        let header = match header {
            Some(header) => header,
            // An inode of the caller may be free by now. A name leads to an inode in use.
            None if place.path.is_empty() => self.header_of(inode)?,
            None => self.volume.read_header(inode)?,
        };
        Ok((inode, header))
    }

    /// Returns the header of an existing file or directory.
    pub(super) fn header_of(&mut self, inode: u32) -> Result<InodeHeader, Error> {
        self.reload()?;
        let header = self.volume.taken_header(inode)?;
        match header.kind {
            InodeKind::File | InodeKind::Directory => Ok(header),
            InodeKind::Orphan if self.open.find(inode).is_some() => Ok(header),
            _ => Err(Error::NotFound),
        }
    }

    /// Makes a handle and counts it in the table of open files.
    pub(super) fn handle(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        options: OpenOptions,
    ) -> Result<File, Error> {
        self.volume.check_openable(header)?;
        self.reload()?;
        let slot = self.open.enter(inode, header.generation)?;
        Ok(File::new(slot, inode, header, options, self.volume.mark_of_handle()))
    }

    /// Closes a file. The last handle of a removed file frees its room.
    ///
    /// # Power loss
    /// As in [`commit`](Self::commit), if the volume commits on close. If files were removed and
    /// still open, calls after the next mount free their room.
    ///
    /// # Cost
    /// Nothing, or one commit if the volume commits on close. For the last handle of a removed
    /// file, the cost of [`Call::Remove`](super::Call::Remove).
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call). The handle is closed even if
    /// the call returns an error. But after [`Error::WrongMount`] the handle keeps its entry in the
    /// mount that made it.
    pub fn close(&mut self, file: File) -> Result<(), Error> {
        self.release_handle(&file)?;
        let commits = self.commits.events().contains(CommitOn::CLOSE) && file.options.changes();
        if commits { self.commit() } else { Ok(()) }
    }

    /// Closes all files of this mount, also the files whose handles were dropped. Later calls
    /// refuse the handles with [`Error::WrongMount`].
    ///
    /// A handle that is dropped without [`close`](Self::close) keeps its entry in the table of open
    /// files. If its file is removed, it also keeps the room of the file.
    ///
    /// Later calls free the room of removed files, a few pages in each call. They begin only after
    /// the removal is committed.
    ///
    /// # Power loss
    /// As in [`close`](Self::close).
    ///
    /// # Cost
    /// Nothing, or one commit if the volume commits on close.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call). The files are closed even if
    /// the call returns an error.
    ///
    /// ```
    /// # use steadyfs::{Error, FileSystem, OpenOptions, media::Flash};
    /// # fn again<F: Flash>(fs: &mut FileSystem<'_, F>) -> Result<(), Error> {
    /// let logged = fs.open("log", OpenOptions::DURABLE).and_then(|mut log| {
    ///     fs.append(&mut log, b"21.5 degrees\n")?; // an error drops the handle
    ///     fs.close(log)
    /// });
    /// if logged.is_err() {
    ///     fs.close_all()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn close_all(&mut self) -> Result<(), Error> {
        self.open.clear();
        self.volume.refuse_handles();
        if self.commits.events().contains(CommitOn::CLOSE) { self.commit() } else { Ok(()) }
    }

    fn release_handle(&mut self, file: &File) -> Result<(), Error> {
        file.check_mount(self.volume.mount_id())?;
        let known = self.reload();
        if !self.open.is_last_of_orphan(file) || self.volume.store.status().is_read_only() {
            self.open.close(file);
            return known;
        }
        let begun = self.begin(Call::Remove { depth: 0 });
        // If the call fails, the orphan has no handle any more, and a later call frees it.
        self.open.close(file);
        begun?;
        let result = self.lists.free_orphan(&mut self.volume, file.inode());
        // The commit belongs to this call. As a separate call, it would do the share of reclamation
        // a second time.
        let event = if file.options.changes() { CommitOn::CLOSE } else { CommitOn::NONE };
        self.finish(result, event, false)
    }

    /// Updates a handle from its inode, if any inode was changed since the last update.
    #[inline(always)]
    pub(super) fn refresh(&mut self, file: &mut File) -> Result<(), Error> {
        // A rollback outdates every handle. So the inode of a file that no longer exists is read
        // again.
        let is_known =
            file.stamp == self.volume.stamp() && file.check_mount(self.volume.mount_id()).is_ok();
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

    /// Returns true if there are orphans without a handle, which a power cut or a failed close has
    /// left. Always false while a damaged volume waits for a repair.
    pub(super) fn has_abandoned_orphans(&self) -> bool {
        self.lists.orphans().0 != 0
            && !self.open.has_orphans()
            && !self.volume.store.status().is_unchecked()
    }
}
