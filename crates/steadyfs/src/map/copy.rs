//! The copy of the first leaf.
//!
//! The first leaf maps the tables of a file system. Without these tables no file can be found.
//! So the end of the use, and on NAND idle work, write the leaf once more. Roots name both
//! places.
//!
//! The copy holds the entries of the leaf and of the overlay at that time. The overlay holds all
//! later changes until the leaf is written anew, or until the leaf's log takes changes. From
//! then on the copy is stale and is given up. It is also given up if its block is to be emptied,
//! or if few frames are left.

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

    /// Returns true if the first leaf is written, and has no copy.
    pub fn lacks_copy(&self) -> bool {
        self.leaves.get(0) != 0 && self.copy == 0
    }

    /// Gives the copy up.
    pub fn drop_copy(&mut self, space: &mut Space<'_>) {
        space.release(core::mem::take(&mut self.copy));
    }

    /// Gives the copy up if it lies in a frame, which the caller releases. Returns true if it
    /// does.
    pub fn forget_copy(&mut self, frame: Frame) -> bool {
        let is_copy = frame != 0 && self.copy == frame;
        if is_copy {
            self.copy = 0;
        }
        is_copy
    }

    /// Puts the copy in the place of a leaf that cannot be read. Returns `false` if there is no
    /// copy. The frame of the lost leaf stays marked as live until reclamation reaches it, or
    /// until the next mount.
    ///
    /// The log of the copy takes no changes, because the last root names the lost leaf. After a
    /// record of changes, a mount from that root would give the copy up.
    pub(super) fn take_copy(&mut self, leaf: u32) -> bool {
        let has_copy = leaf == 0 && self.copy != 0;
        if has_copy {
            self.leaves.set(0, core::mem::take(&mut self.copy));
            self.forget_log(0);
        }
        has_copy
    }
}
