//! The copy of the first leaf.
//!
//! The first leaf maps the tables of a file system. Without these tables no file can be found. So
//! when a volume is closed, a copy of the leaf is written. On NAND, idle work writes the copy as
//! well. Roots name both places.
//!
//! The copy holds the entries of the leaf and of the overlay at that time. The overlay holds all
//! later changes until the leaf is written anew, or until the leaf's log takes changes. From then
//! on the copy is out of date and is dropped. It is also dropped if its block must be emptied, or
//! if few frames are left.

use super::Map;
use crate::space::{Frame, Space};

impl Map<'_> {
    /// Returns the frame of the copy of the first leaf; 0 if there is none.
    pub fn copy(&self) -> Frame {
        self.copy
    }

    /// Records the frame of the copy of the first leaf; 0 if there is none.
    pub fn set_copy(&mut self, frame: Frame) {
        self.copy = frame;
    }

    /// Returns true if the first leaf was written and has no copy.
    pub fn lacks_copy(&self) -> bool {
        self.leaves.get(0) != 0 && self.copy == 0
    }

    /// Drops the copy.
    pub fn drop_copy(&mut self, space: &mut Space<'_>) {
        space.release(core::mem::take(&mut self.copy));
    }

    /// Drops the copy if it lies in `frame`. Returns true if it did. The caller releases the frame.
    pub fn forget_copy(&mut self, frame: Frame) -> bool {
        let is_copy = frame != 0 && self.copy == frame;
        if is_copy {
            self.copy = 0;
        }
        is_copy
    }

    /// Makes the copy the current version of a leaf that cannot be read. Returns `false` if the
    /// leaf has no copy. The frame of the lost leaf stays marked as live until reclamation reaches
    /// it, or until the next mount.
    ///
    /// No changes are programmed into the log of the copy, because the last root still names the
    /// lost leaf. If a record about such changes followed, a mount from that root would drop the
    /// copy.
    pub(super) fn take_copy(&mut self, leaf: u32) -> bool {
        let has_copy = leaf == 0 && self.copy != 0;
        if has_copy {
            self.leaves.set(0, core::mem::take(&mut self.copy));
            self.forget_log(0);
        }
        has_copy
    }
}
