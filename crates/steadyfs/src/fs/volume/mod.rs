//! The pages and inodes of a volume on its store: their positions, their allocation and their
//! content.
//!
//! | file | idea |
//! |---|---|
//! | [`buckets`] | the division of a directory into pages and records |
//! | [`identity`] | the number of a mount, which its handles store |
//! | [`plan`] | the positions of the parts of the logical address space |
//! | [`space`] | the counts of free space in RAM |
//! | [`allocation`] | takes pages and inodes, and frees them |
//! | [`inodes`] | headers, names and extensions |
//! | [`regions`] | page of a file → logical page |
//! | [`extents`] | counts the pages of an inode |
//! | [`content`] | the bytes of a file |
//! | [`records`] | the records of a directory |
//! | [`freeing`] | frees the pages of removed files: a few at once, many in several steps |

mod allocation;
mod buckets;
mod content;
mod extents;
mod freeing;
mod identity;
mod inodes;
mod plan;
mod records;
mod regions;
mod space;

pub use buckets::{RecordPlace, bucket_of, hash};
pub use freeing::Tail;
pub use identity::MountId;
pub use plan::{MAP, SPARE_PAGES, VolumePlan, capacity_empty};
pub use records::{Cursor, DEPTH_AT, DEPTH_BYTES, END, SearchStep, check_name};
pub use regions::Node;
pub use space::{Depth, Room};

use crate::media::Flash;
use crate::store::Store;
use space::SpaceCounts;

/// The pages and inodes of a volume.
pub struct Volume<'m, F> {
    pub store: Store<'m, F>,
    plan: VolumePlan,
    space: SpaceCounts,
    /// The space counts that a failed call restores.
    mark: SpaceCounts,
    /// Number of the last change of an inode. A handle with another number reads its inode again.
    stamp: u32,
    mount_id: MountId,
    /// The time stamp of changes, in nanoseconds. It is 0 before the first call of `set_time`.
    now_ns: u64,
}

impl<'m, F: Flash> Volume<'m, F> {
    /// Creates the volume of a store that is not recovered yet.
    pub fn new(store: Store<'m, F>) -> Self {
        Self {
            plan: VolumePlan::new(store.layout()),
            store,
            space: SpaceCounts::default(),
            mark: SpaceCounts::default(),
            stamp: 1,
            mount_id: MountId::next(),
            now_ns: 0,
        }
    }

    /// Returns the positions of the parts of the logical address space.
    pub fn plan(&self) -> &VolumePlan {
        &self.plan
    }

    /// Returns true if names may be longer than the room for them in an inode.
    pub fn has_long_names(&self) -> bool {
        usize::from(self.store.layout().config.name_bytes_max) > self.plan.name_inline()
    }

    /// Returns the counts of pages and inodes in use.
    pub fn space(&self) -> &SpaceCounts {
        &self.space
    }

    /// Makes the present state the state that [`undo`](Self::undo) restores.
    pub fn accept(&mut self) {
        self.store.logical.accept();
        self.mark = self.space;
    }

    /// Undoes all changes since the last [`accept`](Self::accept). Reads nothing and cannot fail.
    pub fn undo(&mut self) {
        self.store.logical.undo();
        self.space = self.mark;
    }

    /// Returns the volume's part of a new handle: the identity of the mount, and the number of the
    /// last change.
    pub fn mark_of_handle(&self) -> (MountId, u32) {
        (self.mount_id, self.stamp)
    }

    /// Returns the number of the last change of an inode.
    pub fn stamp(&self) -> u32 {
        self.stamp
    }

    /// Returns the identity of this mount, which its handles store.
    pub fn mount_id(&self) -> MountId {
        self.mount_id
    }

    /// Makes every handle a handle of an earlier mount.
    pub fn refuse_handles(&mut self) {
        self.mount_id = MountId::next();
    }

    /// Makes every handle read its inode again.
    pub fn outdate_handles(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
    }

    /// Returns the time of the last call of [`set_time`](Self::set_time).
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Sets the time stamp of later changes.
    pub fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }
}
