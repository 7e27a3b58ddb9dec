//! Directories of a volume, sorted by name, and everything below them.

use super::names::join;
use super::volume::{Volume, is_directory};
use crate::Failure;
use std::collections::HashSet;
use steadyfs::{Cursor, InodeNumber, Stat};
use steadyfs_host::plain;

/// Directories in each other that are looked at. A path of as many names is longer than those that hosts take.
const DEPTH_MAX: usize = 1000;

/// A file or directory of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Its path from the root of the volume, as errors name it.
    pub path: String,
    /// Directories between it and where the walk began: 0 for an entry of that directory.
    pub depth: usize,
    /// The last one of its directory.
    pub is_last: bool,
    /// What it is.
    pub stat: Stat,
}

impl Item {
    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        is_directory(&self.stat)
    }
}

/// The entries of a directory, sorted by name.
pub fn entries(volume: &mut Volume<'_>, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure> {
    let most = volume.fs.config().files_max as usize;
    let mut items = Vec::new();
    let mut cursor = Cursor::default();
    while let Some(entry) = volume.fs.list(directory, &mut cursor).map_err(|error| volume.fail(path, error))? {
        if items.len() == most {
            return Err(volume.refuse(path, "names more files than the volume holds; `steady check` tells more"));
        }
        let name = entry.name().to_string();
        let stat = plain::stat(&mut volume.fs, entry.stat);
        items.push(Item { path: join(path, &name), name, depth: 0, is_last: false, stat });
    }
    items.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    if let Some(last) = items.last_mut() {
        last.is_last = true;
    }
    Ok(items)
}

/// Everything below a directory: each directory before what it holds, entries sorted by name.
pub fn walk(volume: &mut Volume<'_>, directory: InodeNumber, path: &str) -> Result<Vec<Item>, Failure> {
    let mut walk = Walk { seen: HashSet::from([directory]), items: Vec::new() };
    walk.descend(volume, directory, path, 0)?;
    Ok(walk.items)
}

struct Walk {
    /// Directories that were entered. A damaged volume may have one in itself.
    seen: HashSet<InodeNumber>,
    items: Vec<Item>,
}

impl Walk {
    fn descend(&mut self, volume: &mut Volume<'_>, directory: InodeNumber, path: &str, depth: usize) -> Result<(), Failure> {
        if depth == DEPTH_MAX {
            return Err(volume.refuse(path, format!("lies below {DEPTH_MAX} directories; expected fewer")));
        }
        for item in entries(volume, directory, path)? {
            let (inode, path, enters) = (item.stat.inode, item.path.clone(), item.is_directory());
            if enters && !self.seen.insert(inode) {
                return Err(volume.refuse(&path, "is a directory that has two names; `steady check` tells more"));
            }
            self.items.push(Item { depth, ..item });
            if enters {
                self.descend(volume, inode, &path, depth + 1)?;
            }
        }
        Ok(())
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
