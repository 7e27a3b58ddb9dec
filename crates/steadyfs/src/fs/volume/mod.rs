//! The pages and inodes of a volume on its store: where they lie, which are taken, and what they hold.
//!
//! | file | idea |
//! |---|---|
//! | [`buckets`] | the division of a directory into pages and records |
//! | [`identity`] | the number of a mount, which its handles have |
//! | [`plan`] | where the parts of the logical address space lie |
//! | [`space`] | what RAM knows of free space |
//! | [`allocation`] | pages and inodes are taken, and given back |
//! | [`inodes`] | headers, names and extensions |
//! | [`regions`] | page of a file → logical page |
//! | [`extents`] | how many pages an inode has |
//! | [`content`] | the bytes of a file |
//! | [`records`] | the records of a directory |
//! | [`freeing`] | pages of removed files are given back, few at once and many a few at a time |

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
pub use plan::{MAP, Plan, capacity_empty};
pub use records::{Cursor, DEPTH_AT, DEPTH_BYTES, END, Step, check_name};
pub use regions::Node;
pub use space::{Depth, Room};

use crate::media::Flash;
use crate::store::Store;
use space::Space;

/// The pages and inodes of a volume.
pub struct Volume<'m, F> {
    pub store: Store<'m, F>,
    plan: Plan,
    space: Space,
    /// What a call that fails goes back to.
    mark: Space,
    /// Grows with every change of an inode; a handle that knows an older one looks its inode up again.
    stamp: u32,
    mount_id: MountId,
    /// What changes are stamped with; 0 before anybody has told the time.
    now_ns: u64,
}

impl<'m, F: Flash> Volume<'m, F> {
    /// Of a store that is not recovered yet.
    pub fn new(store: Store<'m, F>) -> Self {
        Self {
            plan: Plan::new(store.layout()),
            store,
            space: Space::default(),
            mark: Space::default(),
            stamp: 1,
            mount_id: MountId::next(),
            now_ns: 0,
        }
    }

    /// Where the parts of the address space lie.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether there may be names that an inode does not hold.
    pub fn has_long_names(&self) -> bool {
        usize::from(self.store.layout().config.name_bytes_max) > self.plan.name_inline()
    }

    /// What is taken.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Makes the present state the one that [`undo`](Self::undo) goes back to.
    pub fn accept(&mut self) {
        self.store.logical.accept();
        self.mark = self.space;
    }

    /// Undoes what happened since the mark; reads nothing and cannot fail.
    pub fn undo(&mut self) {
        self.store.logical.undo();
        self.space = self.mark;
    }

    /// The volume's part of a new handle: the identity of the mount, and the number of the last change.
    pub fn mark_of_handle(&self) -> (MountId, u32) {
        (self.mount_id, self.stamp)
    }

    /// The number of the last change of an inode.
    pub fn stamp(&self) -> u32 {
        self.stamp
    }

    /// The identity of this mount, which its handles have.
    pub fn mount_id(&self) -> MountId {
        self.mount_id
    }

    /// Makes every handle look its inode up again.
    pub fn outdate_handles(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
    }

    /// The time that was told last.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Tells the time.
    pub fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }
}
