//! Symbolic links. The kernel follows them.

use super::Volume;
use super::nodes::{Node, inode_of};
use super::permissions::Creator;
use crate::errno::errno;
use fuser::{Errno, INodeNo};
use steadyfs::media::Flash;

impl<F: Flash> Volume<'_, '_, F> {
    pub fn make_link(
        &mut self,
        parent: INodeNo,
        name: &str,
        target: &str,
        creator: Creator,
    ) -> Result<Node, Errno> {
        let parent = self.directory(parent)?;
        let inode = self.changes.make(|fs| fs.create_symlink((parent, name), target))?;
        self.created(parent, inode, creator)
    }

    /// Returns the target of a link.
    pub fn read_link(&mut self, number: INodeNo) -> Result<Vec<u8>, Errno> {
        let inode = inode_of(number)?;
        let fs = self.changes.fs();
        let mut target = vec![0; fs.usage().logical_bytes as usize];
        let length = fs.read_link(inode, &mut target).map_err(errno)?;
        target.truncate(length);
        Ok(target)
    }
}
