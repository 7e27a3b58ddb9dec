//! The copy of the first leaf.
//!
//! The first leaf maps the tables of a file system, and without them no file can be found. So the
//! end of the use, and on NAND idle work, write it once more, and roots name both places. The copy
//! says what the leaf and the overlay said when it was made. Later changes are in the overlay, until
//! the leaf is written anew or its log takes them: then the copy is of before, and given up. It is
//! also given up when its block is to be emptied, and where few frames are left.

use super::Map;
use crate::space::{Frame, Space};

impl Map<'_> {
    /// Where the copy of the first leaf lies; 0 if there is none.
    pub fn copy(&self) -> Frame {
        self.copy
    }

    /// Records where the copy of the first leaf lies; 0 if there is none.
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

    /// Gives the copy up if it lies in a frame, which the caller releases. Returns whether it does.
    pub fn forget_copy(&mut self, frame: Frame) -> bool {
        let is_copy = frame != 0 && self.copy == frame;
        if is_copy {
            self.copy = 0;
        }
        is_copy
    }

    /// Lets the copy take the place of a leaf that cannot be read. Returns `false` if that has none. The
    /// frame of the lost leaf stays marked as live until reclamation comes to it, or the next mount.
    ///
    /// The log of the copy takes no changes. A record of them would end the copy for a mount that begins
    /// with an earlier root, which names the lost leaf.
    pub(super) fn take_copy(&mut self, leaf: u32) -> bool {
        let has_copy = leaf == 0 && self.copy != 0;
        if has_copy {
            self.leaves.set(0, core::mem::take(&mut self.copy));
            self.forget_log(0);
        }
        has_copy
    }
}
