//! The input of commands that read, a volume or an archive: its directories, sorted by name, and
//! everything below them.

use super::attributes::Attributes;
use super::names::join;
use super::volume::Volume;
use crate::{Failure, interrupt};
use std::collections::HashSet;
use std::fmt::Display;
use steadyfs::{Cursor, InodeNumber, Permissions};
use steadyfs_host::plain;

/// Maximum depth of directories. A path with as many names is longer than hosts allow.
const DEPTH_MAX: usize = 1000;

/// A function that takes the bytes of a file, a piece at a time.
pub type Take<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// Files of a mounted volume or of an archive, for reading.
pub trait Files {
    /// Returns the file or directory at a path.
    fn look(&mut self, path: &str) -> Result<Stat, Failure>;
    /// Returns the entries of a directory, sorted by name.
    fn entries(&mut self, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure>;
    /// Reads a whole file, a piece at a time.
    fn content(&mut self, file: InodeNumber, path: &str, take: Take<'_>) -> Result<(), Failure>;
    /// Returns the target of a symbolic link.
    fn target(&mut self, link: InodeNumber, path: &str) -> Result<String, Failure>;
    /// Returns mode, owner and group, if there are any.
    fn owned(&mut self, inode: InodeNumber) -> Option<Permissions>;
    /// Returns the extended attributes.
    fn attributes(&mut self, inode: InodeNumber, path: &str) -> Result<Attributes, Failure>;
    /// Returns true if two names may belong to one file.
    fn has_hard_links(&self) -> bool;
    /// Returns a failure at a path.
    fn fault(&self, path: &str, what: &dyn Display) -> Failure;
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Directory,
    File,
    Symlink,
    BlockDevice,
    CharacterDevice,
    Fifo,
    Socket,
}

impl Kind {
    /// Returns the kind as text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Symlink => "link",
            Self::BlockDevice => "block device",
            Self::CharacterDevice => "character device",
            Self::Fifo => "pipe",
            Self::Socket => "socket",
        }
    }
}

impl From<steadyfs::Kind> for Kind {
    fn from(kind: steadyfs::Kind) -> Self {
        match kind {
            steadyfs::Kind::Directory => Self::Directory,
            steadyfs::Kind::Symlink => Self::Symlink,
            _ => Self::File,
        }
    }
}

/// The properties of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The number.
    pub inode: InodeNumber,
    /// The kind.
    pub kind: Kind,
    /// Bytes of a file, or of the target of a link; entries of a directory.
    pub size: u64,
    /// The time of the last change; 0 if there is none.
    pub modified_ns: u64,
    /// The directory that contains it; in an archive, the root.
    pub parent: InodeNumber,
}

impl From<steadyfs::Stat> for Stat {
    fn from(stat: steadyfs::Stat) -> Self {
        let steadyfs::Stat { inode, kind, size, modified_ns, parent, .. } = stat;
        Self { inode, kind: kind.into(), size, modified_ns, parent }
    }
}

/// A file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name.
    pub name: String,
    /// True if the name is text. An archive may have names that are no text; then `name` shows
    /// the bytes as well as possible.
    pub is_text: bool,
    /// The path from the root, as errors name it.
    pub path: String,
    /// Directories between it and the start of the walk: 0 for an entry of the start directory.
    pub depth: usize,
    /// True for the last entry of its directory.
    pub is_last: bool,
    /// The properties.
    pub stat: Stat,
}

impl Item {
    /// Returns an entry of a directory with this path.
    pub fn new(name: String, directory: &str, stat: Stat) -> Self {
        Self { path: join(directory, &name), name, is_text: true, depth: 0, is_last: false, stat }
    }

    /// Returns true for a directory.
    pub fn is_directory(&self) -> bool {
        self.stat.kind == Kind::Directory
    }
}

/// Sorts entries by the bytes of their names.
pub fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    if let Some(last) = items.last_mut() {
        last.is_last = true;
    }
    items
}

impl Files for Volume<'_> {
    fn look(&mut self, path: &str) -> Result<Stat, Failure> {
        self.stat(path).map(Stat::from)
    }

    fn entries(&mut self, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure> {
        let most = self.fs.config().files_max as usize;
        let mut items = Vec::new();
        let mut cursor = Cursor::default();
        while let Some(entry) =
            self.fs.list(directory, &mut cursor).map_err(|error| self.fail(path, error))?
        {
            if items.len() == most {
                return Err(self.refuse(
                    path,
                    "names more files than the volume holds; `steady check` gives details",
                ));
            }
            let stat = plain::stat(&mut self.fs, entry.stat);
            items.push(Item::new(entry.name().to_string(), path, stat.into()));
        }
        Ok(sorted(items))
    }

    fn content(&mut self, file: InodeNumber, path: &str, take: Take<'_>) -> Result<(), Failure> {
        self.read_file(file, path, take)
    }

    fn target(&mut self, link: InodeNumber, path: &str) -> Result<String, Failure> {
        self.read_link(link, path)
    }

    fn owned(&mut self, inode: InodeNumber) -> Option<Permissions> {
        self.fs.permissions(inode).ok().flatten()
    }

    fn attributes(&mut self, inode: InodeNumber, path: &str) -> Result<Attributes, Failure> {
        let mut attributes = Attributes::default();
        let see = |key: &str, value: &[u8]| {
            if !plain::is_own(key) {
                attributes.kept.insert(key.to_string(), value.to_vec());
            }
        };
        self.fs.attributes(inode, see).map_err(|error| self.fail(path, error))?;
        Ok(attributes)
    }

    fn has_hard_links(&self) -> bool {
        false
    }

    fn fault(&self, path: &str, what: &dyn Display) -> Failure {
        self.refuse(path, what)
    }
}

/// Returns everything below a directory. A directory comes before its entries; entries are sorted
/// by name.
pub fn walk(
    files: &mut dyn Files,
    directory: InodeNumber,
    path: &str,
) -> Result<Vec<Item>, Failure> {
    let mut walk = Walk { seen: HashSet::from([directory]), items: Vec::new(), lost: None };
    walk.descend(files, directory, path, 0)?;
    Ok(walk.items)
}

/// Returns the readable entries below a directory, and the failures of the others. Reads each
/// file once to check it.
pub fn walk_readable(
    files: &mut dyn Files,
    directory: InodeNumber,
    path: &str,
) -> Result<(Vec<Item>, Vec<Failure>), Failure> {
    let mut walk =
        Walk { seen: HashSet::from([directory]), items: Vec::new(), lost: Some(Vec::new()) };
    walk.descend(files, directory, path, 0)?;
    let (mut items, mut lost) = (Vec::new(), walk.lost.unwrap_or_default());
    for item in walk.items {
        let (inode, path) = (item.stat.inode, item.path.as_str());
        let result = match item.stat.kind {
            Kind::File => files.content(inode, path, &mut |_| Ok(())),
            Kind::Symlink => files.target(inode, path).map(drop),
            _ => Ok(()),
        };
        interrupt::check()?;
        match result {
            Ok(()) => items.push(item),
            Err(failure) => lost.push(failure),
        }
    }
    Ok((items, lost))
}

struct Walk {
    /// Directories that were entered. A damaged volume may have a directory within itself.
    seen: HashSet<InodeNumber>,
    items: Vec<Item>,
    /// Failures of unreadable entries, if these do not end the walk.
    lost: Option<Vec<Failure>>,
}

impl Walk {
    fn descend(
        &mut self,
        files: &mut dyn Files,
        directory: InodeNumber,
        path: &str,
        depth: usize,
    ) -> Result<(), Failure> {
        if depth == DEPTH_MAX {
            return Err(
                files.fault(path, &format!("lies below {DEPTH_MAX} directories; expected fewer"))
            );
        }
        let entries = match files.entries(directory, path) {
            Ok(entries) => entries,
            Err(failure) => return self.pass_over(failure),
        };
        for item in entries {
            let (inode, path, enters) = (item.stat.inode, item.path.clone(), item.is_directory());
            if enters && !self.seen.insert(inode) {
                self.pass_over(files.fault(
                    &path,
                    &"is a directory that has two names; `steady check` gives details",
                ))?;
                continue;
            }
            self.items.push(Item { depth, ..item });
            if enters {
                self.descend(files, inode, &path, depth + 1)?;
            }
        }
        Ok(())
    }

    fn pass_over(&mut self, failure: Failure) -> Result<(), Failure> {
        match &mut self.lost {
            Some(lost) => {
                lost.push(failure);
                Ok(())
            }
            None => Err(failure),
        }
    }
}

/// Returns the files, directories and bytes of some items. A damaged volume may have files that
/// claim any size.
pub fn totals(items: &[Item]) -> (u64, u64, u64) {
    items.iter().fold((0, 0, 0), |(files, directories, bytes), item| {
        if item.is_directory() {
            (files, directories + 1, bytes)
        } else {
            (files + 1, directories, bytes.saturating_add(item.stat.size))
        }
    })
}
