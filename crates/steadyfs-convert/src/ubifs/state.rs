//! Content of a volume: the place of each inode, block and name.

use super::node::Place;
use std::collections::BTreeMap;

/// Names and their inodes, by directory or by the inode with the attributes.
pub(super) type Names<'a> = BTreeMap<u32, BTreeMap<&'a [u8], u64>>;

/// Content of a volume: first as of the last commit, then as of the end of the journal.
#[derive(Default)]
pub(super) struct State<'a> {
    pub inodes: BTreeMap<u32, Place>,
    /// By inode and number of the block.
    pub blocks: BTreeMap<(u32, u32), Place>,
    pub names: Names<'a>,
    pub attributes: Names<'a>,
    /// Sizes of files that are larger than their inodes state, because of a power cut between data
    /// and inode.
    pub sizes: BTreeMap<u32, u64>,
}

impl<'a> State<'a> {
    /// Gives a name a target; 0 removes it.
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

    /// Removes the blocks of a file from one number to another, both included.
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
