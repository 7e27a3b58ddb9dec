//! A mounted file system, for lookups of names and reads of files.

use super::{BootError, System, Work};
use steadyfs_convert::{InodeIndex, Kind, Tree};

/// The calls of a starting device on its root file system.
pub trait Rootfs {
    /// Looks up a directory.
    fn directory(&mut self, path: &str) -> Result<(), BootError>;

    /// Looks up a symbolic link and reads its target. Returns the bytes of the target.
    fn link(&mut self, path: &str, target: &mut [u8]) -> Result<usize, BootError>;

    /// Opens a file.
    fn open(&mut self, path: &str) -> Result<(), BootError>;

    /// Opens a file and reads from an offset on, as much as fits. Returns the number of bytes.
    fn read(&mut self, path: &str, offset: u64, data: &mut [u8]) -> Result<usize, BootError>;
}

/// A function that works on a file system while it is mounted.
pub type Visit<'v> = &'v mut dyn FnMut(&mut dyn Rootfs) -> Result<(), BootError>;

/// Cost of a visit beside flash time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visited {
    /// Decoded, hashed and checked bytes.
    pub work: Work,
    /// Bytes of lent memory.
    pub ram_bytes: u64,
}

/// Splits a path into directory and name.
pub fn parts(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Loads everything in order, and compares it with the tree.
pub fn load(
    rootfs: &mut dyn Rootfs,
    system: System,
    tree: &Tree,
    order: &[(String, InodeIndex)],
) -> Result<(), BootError> {
    let mut room = Vec::new();
    for (path, inode) in order {
        let (expected, count) = match &tree.inode(*inode).kind {
            Kind::Directory(_) => {
                rootfs.directory(path)?;
                continue;
            }
            Kind::File(content) => {
                room.resize(content.len() + 1, 0);
                (content, rootfs.read(path, 0, &mut room)?)
            }
            Kind::Symlink(target) => {
                room.resize(target.len() + 1, 0);
                (target, rootfs.link(path, &mut room)?)
            }
            _ => continue,
        };
        if room.get(..count) != Some(expected) {
            return Err(BootError::Differs { system: system.to_string(), path: path.clone() });
        }
    }
    Ok(())
}
