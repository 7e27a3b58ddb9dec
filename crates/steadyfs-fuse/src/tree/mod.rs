//! A tree of files in memory, which never changes. The session's thread answers requests of the
//! kernel.

mod bridge;
#[cfg(test)]
mod tests;

pub(crate) use bridge::TreeBridge;

use crate::mount::Served;
use crate::volume::Node;
use fuser::{Errno, FileAttr, FileType, Generation, INodeNo};
use std::time::{Duration, Instant, SystemTime};
use steadyfs_convert::{Inode, InodeIndex, Kind, Tree};

/// Bytes of a block, the unit of `st_blocks` in `stat`.
const BLOCK_BYTES: u64 = 512;

/// The work of the caller's thread for a tree: it only waits for the end of the mount.
pub(crate) struct TreeServed;

impl Served for TreeServed {
    fn wait(&mut self, _: Instant) -> Option<Duration> {
        None
    }

    fn rest(&mut self, _: Instant) {}

    fn commit(&mut self) {}

    fn close_all(&mut self) {}
}

/// A tree, and the queries that answer the kernel's requests.
pub(crate) struct View {
    tree: Tree,
    /// Link count of each inode: the number of its names, and for a directory also the number of
    /// its subdirectories.
    links: Vec<u32>,
}

impl View {
    pub fn new(tree: Tree) -> Self {
        let mut links = vec![0; tree.inodes().len()];
        links[0] = 2;
        for (index, inode) in tree.inodes().iter().enumerate() {
            let Kind::Directory(entries) = &inode.kind else { continue };
            for &entry in entries.values() {
                let is_directory = tree.inode(entry).is_directory();
                links[entry] += if is_directory { 2 } else { 1 };
                links[index] += u32::from(is_directory);
            }
        }
        Self { tree, links }
    }

    /// Returns the inode that belongs to the kernel's number.
    fn inode(&self, number: INodeNo) -> Result<(InodeIndex, &Inode), Errno> {
        let index = usize::try_from(number.0)
            .ok()
            .and_then(|number| number.checked_sub(1))
            .ok_or(Errno::ENOENT)?;
        Ok((index, self.tree.inodes().get(index).ok_or(Errno::ENOENT)?))
    }

    pub fn lookup(&self, parent: INodeNo, name: &[u8]) -> Result<Node, Errno> {
        let Kind::Directory(entries) = &self.inode(parent)?.1.kind else {
            return Err(Errno::ENOTDIR);
        };
        self.stat(number(*entries.get(name).ok_or(Errno::ENOENT)?))
    }

    pub fn stat(&self, number: INodeNo) -> Result<Node, Errno> {
        let (index, inode) = self.inode(number)?;
        let size = match &inode.kind {
            Kind::File(bytes) | Kind::Symlink(bytes) => bytes.len() as u64,
            _ => 0,
        };
        let time = time(inode.modified);
        let attr = FileAttr {
            ino: number,
            size,
            blocks: size.div_ceil(BLOCK_BYTES),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: file_type(&inode.kind),
            perm: inode.mode,
            nlink: self.links[index],
            uid: inode.uid,
            gid: inode.gid,
            rdev: device(&inode.kind),
            blksize: 4096,
            flags: 0,
        };
        Ok(Node { attr, generation: Generation(0) })
    }

    pub fn read(&self, number: INodeNo, offset: u64, size: u32) -> Result<&[u8], Errno> {
        let Kind::File(content) = &self.inode(number)?.1.kind else { return Err(Errno::EINVAL) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        Ok(&content[start..content.len().min(start.saturating_add(size as usize))])
    }

    pub fn target(&self, number: INodeNo) -> Result<&[u8], Errno> {
        match &self.inode(number)?.1.kind {
            Kind::Symlink(target) => Ok(target),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Returns the entries of a directory from an index on.
    pub fn entries(
        &self,
        number: INodeNo,
        from: usize,
    ) -> Result<impl Iterator<Item = (&[u8], INodeNo, FileType)>, Errno> {
        let Kind::Directory(entries) = &self.inode(number)?.1.kind else {
            return Err(Errno::ENOTDIR);
        };
        Ok(entries.iter().skip(from).map(|(name, &index)| {
            (name.as_slice(), self::number(index), file_type(&self.tree.inode(index).kind))
        }))
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, number: INodeNo, name: &[u8]) -> Result<&[u8], Errno> {
        self.inode(number)?.1.attributes.get(name).map(Vec::as_slice).ok_or(Errno::ENODATA)
    }

    /// Returns the names of all attributes, each followed by a zero byte.
    pub fn attributes(&self, number: INodeNo) -> Result<Vec<u8>, Errno> {
        Ok(self
            .inode(number)?
            .1
            .attributes
            .keys()
            .flat_map(|name| [name, &b"\0"[..]].concat())
            .collect())
    }

    /// Returns the number of blocks of all files, and the number of inodes.
    pub fn totals(&self) -> (u64, u64) {
        let bytes = |inode: &Inode| {
            if let Kind::File(content) = &inode.kind { content.len() as u64 } else { 0 }
        };
        let blocks =
            self.tree.inodes().iter().map(|inode| bytes(inode).div_ceil(BLOCK_BYTES)).sum();
        (blocks, self.tree.inodes().len() as u64)
    }
}

fn number(index: InodeIndex) -> INodeNo {
    INodeNo(index as u64 + 1)
}

fn time(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let found = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    found.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn file_type(kind: &Kind) -> FileType {
    match kind {
        Kind::Directory(_) => FileType::Directory,
        Kind::File(_) => FileType::RegularFile,
        Kind::Symlink(_) => FileType::Symlink,
        Kind::Device { is_block: true, .. } => FileType::BlockDevice,
        Kind::Device { .. } => FileType::CharDevice,
        Kind::Fifo => FileType::NamedPipe,
        Kind::Socket => FileType::Socket,
    }
}

/// Returns the number of a device in the 32-bit encoding of Linux. Returns 0 for other kinds.
fn device(kind: &Kind) -> u32 {
    match *kind {
        Kind::Device { major, minor, .. } => {
            steadyfs_convert::device::number(major, minor).unwrap_or(0)
        }
        _ => 0,
    }
}
