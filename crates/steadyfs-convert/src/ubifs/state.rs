//! Content of a volume: the position of each inode, block and name.

use super::node::Place;
use std::collections::BTreeMap;

/// Names and their inodes, by directory or by the inode with the attributes.
pub(super) type Names<'a> = BTreeMap<u32, BTreeMap<&'a [u8], u64>>;

/// Content of a volume: first in the state of the last commit, then in the state at the end of the
/// journal.
#[derive(Default)]
pub(super) struct State<'a> {
    pub inodes: BTreeMap<u32, Place>,
    /// Positions of data blocks, by inode and number of the block.
    pub blocks: BTreeMap<(u32, u32), Place>,
    pub names: Names<'a>,
    pub attributes: Names<'a>,
    /// Sizes of files whose inodes contain a smaller size, because of a power cut between data and
    /// inode.
    pub sizes: BTreeMap<u32, u64>,
}

impl<'a> State<'a> {
    /// Sets the target of a name. A target of 0 removes the name.
    pub fn name(names: &mut Names<'a>, inode: u32, name: &'a [u8], target: u64) {
        let of_inode = names.entry(inode).or_default();
        if target == 0 {
            of_inode.remove(name);
        } else {
            of_inode.insert(name, target);
        }
    }

    /// Removes an inode with its blocks, names and attributes.
    pub fn remove(&mut self, inode: u32) {
        for target in self.attributes.remove(&inode).unwrap_or_default().into_values() {
            if let Ok(target) = u32::try_from(target) {
                self.inodes.remove(&target);
            }
        }
        self.inodes.remove(&inode);
        self.names.remove(&inode);
        self.remove_blocks(inode, 0, u32::MAX);
    }

    /// Removes the blocks of a file from `first` to `last`, including both.
    pub fn remove_blocks(&mut self, inode: u32, first: u32, last: u32) {
        if first > last {
            return;
        }
        let keys: Vec<_> =
            self.blocks.range((inode, first)..=(inode, last)).map(|(&key, _)| key).collect();
        for key in keys {
            self.blocks.remove(&key);
        }
    }
}
