//! The marks of a walk: a bit for each inode and for each data page, in memory that the caller
//! lends.

use super::super::inode::ROOT;
use super::super::volume::VolumePlan;
use crate::error::Error;

/// The marks.
pub(super) struct Marks<'c> {
    /// A bit for each inode: set if it has a name, is on a list, or is an extension of an inode in
    /// use.
    inodes: &'c mut [u8],
    /// A bit for each data page: set if the page has an owner.
    pages: &'c mut [u8],
    first_page: u32,
}

impl<'c> Marks<'c> {
    /// Divides the memory into the bits of a volume.
    pub fn new(scratch: &'c mut [u8], plan: &VolumePlan) -> Result<Self, Error> {
        Self::check_size(scratch, plan)?;
        let [inodes, pages] = Self::bytes(plan);
        let (inodes, pages) = scratch[..inodes + pages].split_at_mut(inodes);
        Ok(Self { inodes, pages, first_page: plan.data })
    }

    /// Refuses memory that is too small.
    pub fn check_size(scratch: &[u8], plan: &VolumePlan) -> Result<(), Error> {
        if scratch.len() < Self::bytes(plan).iter().sum() {
            Err(Error::ScratchTooSmall)
        } else {
            Ok(())
        }
    }

    /// Returns the number of bytes of the bits for all inodes, and for all data pages.
    fn bytes(plan: &VolumePlan) -> [usize; 2] {
        [plan.inode_count, plan.data_count].map(|count| count.div_ceil(8) as usize)
    }

    /// Clears all marks, and marks the root.
    pub fn clear(&mut self) {
        self.inodes.fill(0);
        self.pages.fill(0);
        mark(self.inodes, ROOT);
    }

    /// Marks an inode as named. Returns true if it was marked before.
    pub fn name(&mut self, inode: u32) -> bool {
        mark(self.inodes, inode)
    }

    pub fn is_named(&self, inode: u32) -> bool {
        is_marked(self.inodes, inode)
    }

    /// Marks a data page as owned. Returns true if it was marked before.
    pub fn own(&mut self, logical: u32) -> bool {
        mark(self.pages, logical - self.first_page)
    }

    pub fn is_owned(&self, logical: u32) -> bool {
        is_marked(self.pages, logical - self.first_page)
    }
}

/// Sets a bit. Returns true if it was set before.
fn mark(bits: &mut [u8], index: u32) -> bool {
    let (byte, bit) = (&mut bits[index as usize / 8], 1 << (index % 8));
    let before = *byte & bit != 0;
    *byte |= bit;
    before
}

fn is_marked(bits: &[u8], index: u32) -> bool {
    bits[index as usize / 8] >> (index % 8) & 1 != 0
}
