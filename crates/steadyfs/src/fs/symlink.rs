//! Symbolic links: files whose data is a path. The file system stores links, but does not follow
//! them. The caller interprets the path.

use super::call::Call;
use super::commits::CommitOn;
use super::directories::Found;
use super::filesystem::{Change, FileSystem};
use super::handle::{File, OpenOptions};
use super::inode::InodeHeader;
use super::inode::InodeNumber;
use super::path::{Location, Target};
use super::stat::Kind;
use crate::error::Error;
use crate::media::Flash;

/// Slot of a handle that has no entry in the table of open files.
const NO_SLOT: u16 = u16::MAX;

impl<F: Flash> FileSystem<'_, F> {
    /// Makes a symbolic link to `target`. The target is any text of at most one logical page.
    ///
    /// # Power loss
    /// The whole link exists after the next commit.
    ///
    /// # Cost
    /// [`Call::Symlink`](super::Call::Symlink).
    ///
    /// # Errors
    /// As [`create_dir`](Self::create_dir). Also [`Error::InvalidName`] if `target` is empty,
    /// and [`Error::NameTooLong`] if it is longer than a logical page.
    pub fn create_symlink<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        target: &str,
    ) -> Result<InodeNumber, Error> {
        let (directory, name) = match self.directories.resolve(&mut self.volume, place.into())? {
            Target::Name { directory, name } => (directory, name),
            Target::Inode(_) => return Err(Error::Exists),
        };
        let Found::Free(gap) = self.directories.find(&mut self.volume, directory, name)? else {
            return Err(Error::Exists);
        };
        if target.is_empty() {
            return Err(Error::InvalidName);
        }
        if target.len() > self.volume.store.layout().logical_bytes as usize {
            return Err(Error::NameTooLong);
        }
        self.begin_named(
            Call::Symlink { depth: 0, bytes: target.len() as u32 },
            name.len() > self.volume.plan().name_inline(),
        )?;
        let commits = self.commits.commits_on(CommitOn::CREATE);
        let result =
            self.create(directory, name, gap, Kind::Symlink, 0).and_then(|(inode, header)| {
                // The target is the data of the link.
                let mut file = self.unlisted(inode, &header);
                self.volume.write_piece(&mut file, 0, target.as_bytes(), commits).map(|()| inode)
            });
        let inode = self.finish(result, CommitOn::CREATE, false)?;
        self.notify(Change::Created(inode));
        Ok(inode)
    }

    /// Reads the target of a symbolic link into `target` and returns its whole length. If `target`
    /// is shorter, it gets the first bytes.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open) and [`Call::Read`](super::Call::Read).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotALink`].
    pub fn read_link<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        target: &mut [u8],
    ) -> Result<usize, Error> {
        let (inode, header) = self.located(place.into())?;
        if !header.is_link {
            return Err(Error::NotALink);
        }
        let mut file = self.unlisted(inode, &header);
        self.volume.read_known(&mut file, 0, target)?;
        Ok(header.size as usize)
    }

    /// Makes a handle for one call, without an entry in the table of open files.
    fn unlisted(&self, inode: u32, header: &InodeHeader) -> File {
        File::new(NO_SLOT, inode, header, OpenOptions::WRITE, self.volume.mark_of_handle())
    }
}
