//! Look-up, creation, removal, renaming.

use super::Volume;
use super::nodes::{Details, Node, inode_of, number_of};
use super::permissions::Creator;
use crate::errno::errno;
use fuser::{Errno, FileHandle, INodeNo, RenameFlags};
use steadyfs::media::Flash;
use steadyfs::streams::sqlite_stream;
use steadyfs::{Error, InodeNumber, OpenOptions, Stat};
use steadyfs_host::plain::{self, PlainFile};

impl<F: Flash> Volume<'_, '_, F> {
    pub fn lookup(&mut self, parent: INodeNo, name: &str) -> Result<Node, Errno> {
        let stat = self.named((parent, name))?;
        let node = self.node(&stat)?;
        self.told(parent, name, &node);
        Ok(node)
    }

    /// Records that a reply to the kernel contains a name and its node.
    pub(super) fn told(&mut self, parent: INodeNo, name: &str, node: &Node) {
        if let Some(recorder) = &mut self.recorder {
            recorder.named(parent, name.as_bytes(), node.attr.ino);
        }
    }

    /// Returns the status of the file or directory under a name in a directory.
    fn named(&mut self, (parent, name): (INodeNo, &str)) -> Result<Stat, Errno> {
        let parent = self.directory(parent)?;
        self.changes.fs().stat((parent, name)).map_err(errno)
    }

    /// Returns the inode of a directory. Returns an error if the directory was removed.
    pub(super) fn directory(&mut self, number: INodeNo) -> Result<InodeNumber, Errno> {
        let stat = self.stat_of(number)?;
        if stat.kind == steadyfs::Kind::Directory { Ok(stat.inode) } else { Err(Errno::ENOTDIR) }
    }

    pub(super) fn stat_of(&mut self, number: INodeNo) -> Result<Stat, Errno> {
        let inode = inode_of(number)?;
        self.changes.fs().stat(inode).map_err(errno)
    }

    /// Returns the node of a file or directory for a reply to the kernel.
    pub(super) fn node(&mut self, stat: &Stat) -> Result<Node, Errno> {
        let stat = &plain::stat(self.changes.fs(), *stat);
        let permissions = self.permissions(stat)?;
        let allocated = match self.changes.fs().allocated(stat.inode) {
            // If the map of the file's pages is damaged, only the number of blocks is unknown.
            Err(Error::Corrupt) => 0,
            result => result.map_err(errno)?,
        };
        let logical_bytes = self.changes.fs().usage().logical_bytes;
        Ok(self.nodes.node(stat, &Details { permissions, allocated }, logical_bytes))
    }

    /// Sets the permissions of a new file or directory, and returns its node for a reply to the
    /// kernel.
    pub(super) fn created(
        &mut self,
        parent: InodeNumber,
        inode: InodeNumber,
        creator: Creator,
    ) -> Result<Node, Errno> {
        self.own(parent, inode, creator)?;
        let stat = self.changes.fs().stat(inode).map_err(errno)?;
        self.node(&stat)
    }

    /// Opens a file. Creates the file if it does not exist.
    pub fn create(
        &mut self,
        parent: INodeNo,
        name: &str,
        flags: i32,
        creator: Creator,
    ) -> Result<(Node, FileHandle), Errno> {
        let parent = self.directory(parent)?;
        let is_there = self.changes.fs().stat((parent, name)).is_ok();
        let flags = super::files::open_flags(flags);
        let is_new = flags.contains(rustix::fs::OFlags::EXCL);
        let truncate = flags.contains(rustix::fs::OFlags::TRUNC);
        let stream = self.stream_of(name);
        let usual = self.usual_packing;
        let packing = plain::rule_or(self.changes.fs(), parent, usual)
            .map_err(|error| errno(error.into()))?;
        // The kernel itself checks reads and writes against the mode of the handle. So a file can
        // be created and then opened as read-only.
        let options = OpenOptions { create_new: is_new, stream, ..OpenOptions::CREATE };
        let file = self.changes.make(|fs| {
            let file = fs.open((parent, name), options)?;
            let inode = file.inode();
            let mut file = if is_there {
                fs.close(file).and_then(|()| Ok(PlainFile::open_to_write(fs, inode, usual)?))?
            } else {
                PlainFile::Plain(file, packing)
            };
            if truncate && let Err(error) = file.truncate(fs, 0) {
                let _ = file.close(fs);
                return Err(error.into());
            }
            Ok(file)
        })?;
        let inode = file.inode();
        self.handles.forget(inode);
        let handle = self.keep(file, true);
        if !is_there {
            let node = self.created(parent, inode, creator)?;
            self.told(number_of(parent), name, &node);
            return Ok((node, handle));
        }
        let stat = self.changes.fs().stat(inode).map_err(errno)?;
        let node = self.node(&stat)?;
        self.told(number_of(parent), name, &node);
        Ok((node, handle))
    }

    /// Returns the stream of a new file, from its name. On a volume with several streams, temporary
    /// files of SQLite have their own streams.
    fn stream_of(&mut self, name: &str) -> u8 {
        sqlite_stream(name.as_bytes(), self.changes.fs().config().streams)
    }

    /// Creates a file without opening it.
    pub fn make_file(
        &mut self,
        parent: INodeNo,
        name: &str,
        creator: Creator,
    ) -> Result<Node, Errno> {
        let parent = self.directory(parent)?;
        let options =
            OpenOptions { create_new: true, stream: self.stream_of(name), ..OpenOptions::CREATE };
        let inode = self.changes.make(|fs| {
            let file = fs.open((parent, name), options)?;
            let inode = file.inode();
            fs.close(file).map(|()| inode)
        })?;
        let node = self.created(parent, inode, creator)?;
        self.told(number_of(parent), name, &node);
        Ok(node)
    }

    pub fn make_directory(
        &mut self,
        parent: INodeNo,
        name: &str,
        creator: Creator,
    ) -> Result<Node, Errno> {
        let parent = self.directory(parent)?;
        let inode = self.changes.make(|fs| plain::create_dir(fs, (parent, name)))?;
        let node = self.created(parent, inode, creator)?;
        self.told(number_of(parent), name, &node);
        Ok(node)
    }

    pub fn remove_file(&mut self, parent: INodeNo, name: &str) -> Result<(), Errno> {
        let stat = self.named((parent, name))?;
        let parent = inode_of(parent)?;
        self.changes.make(|fs| fs.remove((parent, name)))?;
        self.nodes.removed(stat.inode);
        Ok(())
    }

    pub fn remove_directory(&mut self, parent: INodeNo, name: &str) -> Result<(), Errno> {
        let stat = self.named((parent, name))?;
        let parent = inode_of(parent)?;
        self.changes.make(|fs| fs.remove_dir((parent, name)))?;
        self.nodes.removed(stat.inode);
        Ok(())
    }

    pub fn rename(
        &mut self,
        from: (INodeNo, &str),
        to: (INodeNo, &str),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let target = self.directory(to.0)?;
        if flags == RenameFlags::RENAME_EXCHANGE {
            let from = (inode_of(from.0)?, from.1);
            return self.changes.make(|fs| fs.exchange(from, (target, to.1)));
        }
        if !RenameFlags::RENAME_NOREPLACE.contains(flags) {
            return Err(Errno::EINVAL);
        }
        let source = self.named(from)?;
        let replaced = match self.changes.fs().stat((target, to.1)) {
            Ok(_) if flags.contains(RenameFlags::RENAME_NOREPLACE) => return Err(Errno::EEXIST),
            Ok(stat) if stat.inode == source.inode => return Ok(()),
            Ok(stat) => Some(stat.inode),
            Err(Error::NotFound) => None,
            Err(error) => return Err(errno(error)),
        };
        let from = (inode_of(from.0)?, from.1);
        self.changes.make(|fs| fs.rename(from, (target, to.1)))?;
        if let Some(inode) = replaced {
            self.nodes.removed(inode);
        }
        Ok(())
    }
}
