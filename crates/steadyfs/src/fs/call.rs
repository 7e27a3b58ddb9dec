//! The calls whose worst case is computed, and what each changes itself, as [`Work`], and looks up.
//!
//! The bytes below are those of the patches with their headers, the pages those that they touch; `docs/design.md` adds them up.

#[cfg(doc)]
use super::FileSystem;
use super::inode::REGIONS;
use super::volume::{MAP, Volume};
use crate::cost::Cost;
use crate::media::Flash;
use crate::pace::Work;

/// A call whose worst case [`FileSystem::bound`] tells. That of a call which changes something includes the commit that its handle or
/// an [event](super::CommitOn) makes; a commit that the caller makes is a call of its own, [`Sync`](Self::Sync).
///
/// `depth` is the number of names in the path; of both paths together in a rename, and at least that of a directory which moves; in an exchange that of both, if they are directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A write of one whole logical page that the file has already, through a durable handle, without a clock.
    Overwrite,
    /// A write or append of at most this many bytes within one logical page, or a reservation.
    Write(u32),
    /// The same in a file whose data is not kept in its inode: larger than 144 bytes. [`FileSystem::write_call`] tells.
    WriteLarge(u32),
    /// A truncate.
    Truncate,
    /// A read of at most this many bytes.
    Read(u32),
    /// Opening a file that exists, `stat`, `attribute`.
    Open {
        /// Names in the path; 0 for an inode that is known.
        depth: u32,
    },
    /// `open` that creates a file; `create_dir`.
    Create {
        /// Names in the path.
        depth: u32,
    },
    /// `create_symlink`.
    Symlink {
        /// Names in the path.
        depth: u32,
        /// Bytes of what it names.
        bytes: u32,
    },
    /// `remove`, `remove_dir`, `close` of a file that was removed.
    Remove {
        /// Names in the path.
        depth: u32,
    },
    /// `rename`.
    Rename {
        /// Names in both paths.
        depth: u32,
    },
    /// `exchange`.
    Exchange {
        /// Names in both paths.
        depth: u32,
    },
    /// `set_attribute`, `set_modified`, `set_permissions`.
    SetAttribute,
    /// `list` of one entry.
    List,
    /// `commit`, `sync`, `flush`, `poll`.
    Sync,
}

/// What a write changes beside the data.
const fn around_data(call: Call) -> Work {
    let leave = if matches!(call, Call::Write(_)) { LEAVE_INODE } else { Work::patched(0, 0, 0, 0, 0) };
    ADD_PAGE.plus(&leave).plus(&NOTE)
}

/// What an inode and its entry change.
const fn creation(is_long: bool) -> Work {
    if is_long { INODE.plus(&INSERT) } else { SHORT_INODE.plus(&INSERT) }
}

/// A step of the trim list: a region, eight bits and discards, the list, two extensions; the inode and these with the pages that they leave empty.
pub(super) const TRIM: Work = Work { discards: 11, ..Work::patched(21, 171, 19, 0, 12) };
/// The list of orphans becomes part of the trim list.
pub(super) const COLLECT: Work = Work::patched(2, 30, 19, 0, 2);
/// A page more for a file: three bits, a region, two index entries.
const ADD_PAGE: Work = Work::patched(6, 61, 15, 0, 6);
/// The inode left by its data: the data, the regions, the flag, a bit.
const LEAVE_INODE: Work = Work::patched(4, 318, 151, 2, 3);
/// Size and time.
const NOTE: Work = Work::patched(1, 23, 23, 0, 1);
/// An inode with a long name: its bit, header and name, the extension's bit, header and two pieces.
const INODE: Work = Work::patched(6, 355, 131, 3, 4);
/// The same with a name that the inode holds.
const SHORT_INODE: Work = Work::patched(2, 127, 119, 1, 2);
/// A record, the directory's count, and growth: regions, a page, the number of buckets; two buckets are written.
const INSERT: Work = Work { frames: 2, ..Work::patched(10, 261, 151, 1, 8) };
/// A record less, the directory's count, the inode, its extensions, and the pages that these leave empty; the list of orphans or of trims.
const REMOVE: Work = Work { discards: 3, ..Work::patched(14, 196, 55, 0, 11) };
/// Another name and place: name, lengths, extension and the page that it leaves empty, parent.
const RENAME: Work = Work { discards: 1, ..Work::patched(10, 367, 131, 3, 5) };
/// The same where the inode holds both names.
const SHORT_RENAME: Work = Work::patched(3, 90, 71, 1, 1);
/// Two records name another inode; number of directories and time of their directories.
const EXCHANGE: Work = Work::patched(4, 68, 23, 0, 4);
/// Attributes: an extension's bit, header and two pieces, or the page that it leaves empty; the inode's link.
const ATTRIBUTES: Work = Work { discards: 1, ..Work::patched(5, 296, 131, 2, 4) };
/// The last page cut, two index pages copied; size, regions, an inode for the end, its regions, the list.
const TRUNCATE: Work = Work { frames: 3, ..Work::patched(12, 480, 151, 2, 9) };

impl Call {
    /// What a call changes, perhaps with a name that an inode does not hold; `None` when it changes nothing.
    pub(super) fn work<F: Flash>(self, volume: &Volume<'_, F>, is_long: bool) -> Option<Work> {
        let commit = Work { commits: 1, ..Work::default() };
        let work = match self {
            Call::Read(_) | Call::Open { .. } | Call::List => return None,
            Call::Overwrite => Work { frames: 1, ..Work::default() },
            Call::Write(bytes) | Call::WriteLarge(bytes) => {
                commit.plus(&volume.store.bounds().work_of_write(bytes)).plus(&around_data(self))
            }
            Call::Truncate => commit.plus(&TRUNCATE).plus(&LEAVE_INODE),
            Call::Create { .. } => commit.plus(&creation(is_long)),
            Call::Symlink { bytes, .. } => commit
                .plus(&creation(is_long))
                .plus(&volume.store.bounds().work_of_write(bytes))
                .plus(&around_data(Call::Write(bytes))),
            Call::Remove { .. } => commit.plus(&REMOVE),
            Call::Rename { .. } => commit.plus(if is_long { &RENAME } else { &SHORT_RENAME }).plus(&INSERT).plus(&REMOVE),
            Call::Exchange { .. } => {
                let names = if is_long { RENAME.plus(&RENAME) } else { SHORT_RENAME.plus(&SHORT_RENAME) };
                commit.plus(&names).plus(&EXCHANGE)
            }
            Call::SetAttribute => commit.plus(&ATTRIBUTES),
            Call::Sync => commit,
        };
        Some(work)
    }

    /// What a write of few bytes changes when they complete a page of which the journal buffer has much; `None` where none can.
    pub(super) fn completing<F: Flash>(self, volume: &Volume<'_, F>) -> Option<Work> {
        let (Call::Write(bytes) | Call::WriteLarge(bytes)) = self else { return None };
        let may_be = bytes as usize <= volume.store.logical.patch_bytes_max() && volume.store.logical.may_be_completed(bytes);
        may_be.then(|| Work { commits: 1, ..Work::PAGE }.plus(&around_data(self)))
    }

    /// Logical pages that a call may write, the step of the trim list that it may begin with included.
    pub(super) fn pages<F: Flash>(self, volume: &Volume<'_, F>, is_long: bool, trims: bool) -> u32 {
        let pages = |work: Work| volume.store.bounds().pages_of(&if trims { work.plus(&TRIM) } else { work });
        pages(self.work(volume, is_long).unwrap_or_default()).max(self.completing(volume).map_or(0, pages))
    }

    /// Reads of a call, beside those of the frames that it writes.
    fn reads<F: Flash>(self, volume: &Volume<'_, F>) -> u32 {
        let layout = volume.store.layout();
        let unit = u32::from(layout.config.unit_pages);
        // The inode, whose header and regions lie in one program page, and an index.
        let page = 2 + u32::from(volume.plan().index_is_deep);
        // The directory, its bucket, and four names of equal hash with their extensions.
        let find = 2 + page + unit + 4 + 4 * 4;
        // Free bits, looked for in the whole allocation map; where it is, is looked up once for each of its logical pages.
        let map_pages = volume.plan().table - MAP;
        let scan = (map_pages * (unit + 1)).div_ceil(2);
        let write = 3 * page + 3 + scan;
        let create = |depth| depth * find + 2 * find + 2 * unit + 5 + 3 * scan;
        let count = match self {
            Call::Overwrite => page,
            Call::Write(_) => write,
            // The page's place; then the inode's regions, a free page, and the index.
            Call::WriteLarge(_) => 2 * page + scan,
            Call::Truncate => 2 * page + 10 + REGIONS / 8 + 3 * scan,
            Call::Read(bytes) => {
                let pages = bytes / layout.geometry.page_bytes + 2;
                return looks(page * (bytes / layout.logical_bytes + 2)) + pages + 1;
            }
            Call::Open { depth } => depth * find + 4,
            Call::Create { depth } => create(depth),
            Call::Symlink { depth, .. } => create(depth) + write,
            Call::Remove { depth } => depth * find + find + 12,
            Call::Rename { depth } => depth * (find + 1) + 3 * find + 2 * unit + 17 + 3 * scan,
            // Both ways up to the root, and the places of two inodes and two extensions.
            Call::Exchange { depth } => depth * (find + 2) + 2 * find + 24 + 2 * scan,
            Call::SetAttribute => 8 + scan,
            Call::List => 2 + page + 3 * unit + 4,
            Call::Sync => 0,
        };
        looks(count)
    }

    /// The same as a cost, and looks at a page that may be unsteady.
    pub(super) fn lookups<F: Flash>(self, volume: &Volume<'_, F>) -> Cost {
        Cost { reads: self.reads(volume) + volume.store.unsteady_reads(), ..Cost::default() }
    }
}

/// Reads of `count` looks at pages of the file system: a leaf of the map, and the page.
pub(super) fn looks(count: u32) -> u32 {
    2 * count
}
