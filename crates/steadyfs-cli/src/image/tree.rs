//! What commands read from, a volume or an archive: its directories, sorted by name, and everything below them.

use super::names::join;
use super::volume::Volume;
use crate::{Failure, interrupt};
use std::collections::HashSet;
use std::fmt::Display;
use steadyfs::{Cursor, InodeNumber, Permissions};
use steadyfs_host::plain;

/// Directories in each other that are looked at. A path of as many names is longer than those that hosts take.
const DEPTH_MAX: usize = 1000;

/// What takes the bytes of a file, a piece at a time.
pub type Take<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// Files that are read: those of a mounted volume, or of an archive.
pub trait Files {
    /// What a path names.
    fn look(&mut self, path: &str) -> Result<Stat, Failure>;
    /// The entries of a directory, sorted by name.
    fn entries(&mut self, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure>;
    /// Reads a whole file, a piece at a time.
    fn content(&mut self, file: InodeNumber, path: &str, take: Take<'_>) -> Result<(), Failure>;
    /// What a symbolic link names.
    fn target(&mut self, link: InodeNumber, path: &str) -> Result<String, Failure>;
    /// Mode, owner and group, where there are any.
    fn owned(&mut self, inode: InodeNumber) -> Option<Permissions>;
    /// Whether two names may be those of one file.
    fn has_hard_links(&self) -> bool;
    /// A failure at a path.
    fn fault(&self, path: &str, what: &dyn Display) -> Failure;
}

/// What something is.
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
    /// In one word.
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

/// What is known of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its number.
    pub inode: InodeNumber,
    /// What it is.
    pub kind: Kind,
    /// Bytes of a file, or of what a link names; entries of a directory.
    pub size: u64,
    /// When it was changed last; 0 where there is no time.
    pub modified_ns: u64,
    /// The directory that it is in; of an archive the root.
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
    /// Its name.
    pub name: String,
    /// Whether its name is that: an archive may have names that are no text, whose bytes are shown as well as can be.
    pub is_text: bool,
    /// Its path from the root, as errors name it.
    pub path: String,
    /// Directories between it and where the walk began: 0 for an entry of that directory.
    pub depth: usize,
    /// The last one of its directory.
    pub is_last: bool,
    /// What it is.
    pub stat: Stat,
}

impl Item {
    /// An entry of a directory with this path.
    pub fn new(name: String, directory: &str, stat: Stat) -> Self {
        Self { path: join(directory, &name), name, is_text: true, depth: 0, is_last: false, stat }
    }

    /// Whether it is a directory.
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
        while let Some(entry) = self.fs.list(directory, &mut cursor).map_err(|error| self.fail(path, error))? {
            if items.len() == most {
                return Err(self.refuse(path, "names more files than the volume holds; `steady check` tells more"));
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

    fn has_hard_links(&self) -> bool {
        false
    }

    fn fault(&self, path: &str, what: &dyn Display) -> Failure {
        self.refuse(path, what)
    }
}

/// Everything below a directory: each directory before what it holds, entries sorted by name.
pub fn walk(files: &mut dyn Files, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure> {
    let mut walk = Walk { seen: HashSet::from([directory]), items: Vec::new(), lost: None };
    walk.descend(files, directory, path, 0)?;
    Ok(walk.items)
}

/// The same without what cannot be read, and why that is so: each file is read once to find out.
pub fn walk_readable(files: &mut dyn Files, directory: InodeNumber, path: &str) -> Result<(Vec<Item>, Vec<Failure>), Failure> {
    let mut walk = Walk { seen: HashSet::from([directory]), items: Vec::new(), lost: Some(Vec::new()) };
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
    /// Directories that were entered. A damaged volume may have one in itself.
    seen: HashSet<InodeNumber>,
    items: Vec<Item>,
    /// What cannot be read, where that ends no walk.
    lost: Option<Vec<Failure>>,
}

impl Walk {
    fn descend(&mut self, files: &mut dyn Files, directory: InodeNumber, path: &str, depth: usize) -> Result<(), Failure> {
        if depth == DEPTH_MAX {
            return Err(files.fault(path, &format!("lies below {DEPTH_MAX} directories; expected fewer")));
        }
        let entries = match files.entries(directory, path) {
            Ok(entries) => entries,
            Err(failure) => return self.pass_over(failure),
        };
        for item in entries {
            let (inode, path, enters) = (item.stat.inode, item.path.clone(), item.is_directory());
            if enters && !self.seen.insert(inode) {
                self.pass_over(files.fault(&path, &"is a directory that has two names; `steady check` tells more"))?;
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

/// Files, directories and bytes of some items. A damaged volume may have files that say any size.
pub fn totals(items: &[Item]) -> (u64, u64, u64) {
    items.iter().fold((0, 0, 0), |(files, directories, bytes), item| {
        if item.is_directory() {
            (files, directories + 1, bytes)
        } else {
            (files + 1, directories, bytes.saturating_add(item.stat.size))
        }
    })
}
