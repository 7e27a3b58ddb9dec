//! The calls whose worst case is computed, and what each changes itself, as [`Work`], and looks up.
//!
//! The bytes below are those of the patches with their headers, the pages those that they touch; `docs/design.md` adds them up.

#[cfg(doc)]
use super::FileSystem;
use super::inode::{AREA_BYTES, EXTENSION_BYTES, NAME_BYTES_MAX, NAME_ROOM, PERMISSIONS_BYTES, REGIONS};
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
    /// A write or append of at most this many bytes, within one logical page if no more fit there, or a reservation. What is longer is told as the sum of its pages, of
    /// which [`row_bound_ns`](FileSystem::row_bound_ns) tells less.
    Write(u32),
    /// The same in a file whose data is not kept in its inode: larger than 144 bytes. [`FileSystem::write_call`] tells.
    WriteLarge(u32),
    /// The same in a file whose data is kept in its inode before and behind: it ends within the first 144 bytes, and begins at the end of the file or before.
    WriteInline(u32),
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

/// What decides on how much a call changes: how many pages of the allocation map there are, and levels of an index.
#[derive(Clone, Copy)]
struct Shape {
    map_pages: u32,
    index_is_deep: bool,
}

impl Shape {
    fn of<F: Flash>(volume: &Volume<'_, F>) -> Self {
        Self { map_pages: volume.plan().table - MAP, index_is_deep: volume.plan().index_is_deep }
    }

    /// The same with the pages that so many bits of the allocation map lie on.
    fn with_bits(self, bits: u32, work: &Work) -> Work {
        Work { pages: work.pages + bits.min(self.map_pages), ..*work }
    }

    /// A page more for a file: its bit, a region; beside a run the page's entry, an index and its bit, and where that has two levels one more of each.
    fn add_page(self) -> Work {
        if self.index_is_deep { self.with_bits(3, &DEEP_PAGE) } else { self.with_bits(2, &PAGE) }
    }

    /// What a write changes beside the data.
    fn around_data(self, call: Call) -> Work {
        self.add_page().plus(if matches!(call, Call::Write(_)) { &LEAVE_INODE } else { &Work::NONE }).plus(&NOTE)
    }

    /// What the pieces of one write change beside the data, which follow each other in a file and lie on so many of its pages: of each page its bit, and its entry in an
    /// index; regions with their indexes and the bits of these, one or two more than they fill; size and time.
    fn around_pieces(self, pieces: u32, index_entries: u32) -> Work {
        let regions = 2 + pieces / index_entries * (1 + u32::from(self.index_is_deep));
        self.with_bits(pieces, &ENTRY.times(pieces)).plus(&REGION.times(regions)).plus(&NOTE)
    }

    /// A record, the directory's count, and a page. Either a bucket is split, and two are written. Or the page is the first one of the directory, whose regions an earlier
    /// file may have left, or an overflow page, and the depth of the volume is written.
    fn inserts(self) -> [Work; 2] {
        [&SPLIT, &FIRST_OR_OVERFLOW].map(|insert| self.add_page().plus(insert))
    }

    /// A record less, the directory's count. And a file that goes at once: bits and pages of eight pages that follow each other, of the inode and of its extensions; or its
    /// place in a list; or that of a directory, whose extensions go at once.
    fn remove(self) -> Work {
        self.with_bits(2, &REMOVE)
    }

    /// A step of the trim list: a region, bits and pages of eight pages that follow each other, the list, and those of the inode and of its extensions; or four entries of
    /// an index, with bits and pages.
    fn trim(self) -> Work {
        self.with_bits(5, &TRIM)
    }

    /// The last page cut; size, a region, bits and pages of eight pages that follow each other.
    fn cut_run(self) -> Work {
        self.with_bits(2, &CUT_RUN)
    }

    /// The last page cut; size, the list, an inode for the end with its bit and regions; and where an index is cut, that of each level is copied, with a bit.
    fn truncate(self) -> Work {
        if self.index_is_deep { self.with_bits(3, &DEEP_TRUNCATE) } else { self.with_bits(2, &TRUNCATE) }
    }
}

/// Bytes of an inode's regions, or of the data in their place.
const AREA: u32 = AREA_BYTES as u32;
/// Bytes of an extension that are written at once.
const PIECE: u32 = EXTENSION_BYTES as u32 / 2;
/// Bytes of the longest name that neither the inode holds nor the first piece of an extension.
const NAME_REST: u32 = (NAME_BYTES_MAX - NAME_ROOM + PERMISSIONS_BYTES) as u32 - PIECE;

/// The list of orphans becomes part of the trim list.
const COLLECT: Work = Work::patched(&[12, 4], 2);
/// See [`Shape::add_page`].
const PAGE: Work = Work::patched(&[8, 4, 1, 1], 1);
const DEEP_PAGE: Work = Work::patched(&[8, 4, 4, 1, 1, 1], 2);
/// See [`Shape::around_pieces`].
const ENTRY: Work = Work::patched(&[4, 1], 0);
const REGION: Work = Work::patched(&[8, 4, 1], 1);
/// See [`Shape::inserts`].
const SPLIT: Work = Work { frames: 2, ..Work::patched(&[24, 8], 2) };
const FIRST_OR_OVERFLOW: Work = Work::patched(&[AREA, 24, 8, 8], 3);
/// See [`Shape::remove`].
const REMOVE: Work = Work { discards: 11, ..Work::patched(&[48, 16, 12, 4, 4, 1, 1, 1], 5) };
/// See [`Shape::trim`].
const TRIM: Work = Work { discards: 11, ..Work::patched(&[12, 8, 4, 4, 1, 1, 1, 1], 2) };
/// See [`Shape::cut_run`].
const CUT_RUN: Work = Work { frames: 1, discards: 8, ..Work::patched(&[16, 8, 1, 1], 1) };
/// See [`Shape::truncate`].
const TRUNCATE: Work = Work { frames: 2, ..Work::patched(&[AREA, AREA, 48, 16, 12, 4, 1, 1, 1], 4) };
const DEEP_TRUNCATE: Work = Work { frames: 3, ..Work::patched(&[AREA, AREA, 48, 16, 12, 4, 4, 1, 1, 1, 1], 5) };
/// An inode left by as much data as it holds.
const LEAVE_INODE: Work = leave_inode(AREA);
/// An inode left by so much data: the data, the regions, the flag, a bit.
const fn leave_inode(bytes: u32) -> Work {
    if bytes > 0 { Work::patched(&[bytes, AREA, 1, 1], 2) } else { Work::patched(&[AREA, 1], 1) }
}

/// Size and time.
const NOTE: Work = Work::patched(&[16], 1);
/// An inode with a long name: its bit, header and name, the extension's bit, header and two pieces.
const INODE: Work = Work::patched(&[112, PIECE, NAME_REST, 8, 1, 1], 4);
/// The same with a name that the inode holds.
const SHORT_INODE: Work = Work::patched(&[112, 1], 2);
/// Another name and place: name, lengths, extension and the page that it leaves empty, parent.
const RENAME: Work = Work { discards: 1, ..Work::patched(&[PIECE, NAME_REST, 64, 8, 4, 4, 1, 1], 3) };
/// The same where the inode holds both names.
const SHORT_RENAME: Work = Work::patched(&[64, 4, 1], 1);
/// A record that names another inode, and the number of directories and the time of its directory.
const REPLACE: Work = Work::patched(&[16, 4], 2);
/// Attributes: an extension's bit, header and two pieces, or the page that it leaves empty; the inode's link.
const ATTRIBUTES: Work = Work { discards: 1, ..Work::patched(&[PIECE, PIECE, 8, 4, 1], 3) };

/// What the calls before have left for a call to begin with: so many steps of the trim list; the orphans of the time before the mount.
pub(super) fn first_steps<F: Flash>(volume: &Volume<'_, F>, trims: u32, orphans: bool) -> Work {
    Shape::of(volume).trim().times(trims).plus(if orphans { &COLLECT } else { &Work::NONE })
}

/// What a write of several pieces changes, the first and the last of so many bytes, and where so much data leaves the inode.
pub(super) fn work_of_pieces<F: Flash>(
    volume: &Volume<'_, F>,
    pieces: u32,
    [first, last]: [u32; 2],
    leaves: Option<u32>,
) -> Work {
    let around = Shape::of(volume).around_pieces(pieces, volume.plan().index_entries);
    let ends = [first, last].map(|bytes| volume.store.bounds().work_of_write(bytes));
    let whole = Work { frames: pieces.saturating_sub(2), ..Work::NONE };
    around.plus(&ends[0]).plus(&ends[1]).plus(&whole).plus(&leaves.map_or(Work::NONE, leave_inode))
}

impl Call {
    /// Pieces of a write behind the first one at most, each within one logical page of so many bytes.
    pub(super) fn further_pieces(self, logical_bytes: u32) -> u32 {
        match self {
            Call::Write(bytes) | Call::WriteLarge(bytes) if bytes > logical_bytes => (bytes - 1).div_ceil(logical_bytes),
            _ => 0,
        }
    }

    /// The change of a call, perhaps with a name that an inode does not hold. A call that changes nothing has none.
    pub(super) fn works<F: Flash>(self, volume: &Volume<'_, F>, is_long: bool) -> [Option<Work>; 3] {
        let shape = Shape::of(volume);
        let inode = if is_long { &INODE } else { &SHORT_INODE };
        let of_data = |bytes| volume.store.bounds().work_of_write(bytes);
        let mut third = None;
        let (one, other) = match self {
            Call::Read(_) | Call::Open { .. } | Call::List => return [None; 3],
            Call::Overwrite => return [Some(Work::PAGE), None, None],
            Call::Write(bytes) | Call::WriteLarge(bytes) => {
                let around = shape.around_data(self);
                let page = Work::PAGE.plus(&around);
                if self.further_pieces(volume.store.layout().logical_bytes) > 0 {
                    // A piece is a page, or at either end what may be a patch.
                    (of_data(volume.store.logical.patch_bytes_max() as u32).plus(&around), Some(page))
                } else {
                    (of_data(bytes).plus(&around), self.may_complete(volume).then_some(page))
                }
            }
            Call::WriteInline(bytes) => (Work::patched(&[bytes.min(AREA)], 0).plus(&NOTE), Some(Work::PAGE.plus(&NOTE))),
            Call::Truncate => (shape.truncate(), Some(shape.cut_run())),
            Call::Create { .. } => {
                let [split, no_split] = shape.inserts().map(|insert| inode.plus(&insert));
                (split, Some(no_split))
            }
            Call::Symlink { bytes, .. } => {
                let link = inode.plus(&of_data(bytes)).plus(&shape.around_data(Call::Write(bytes)));
                let [split, no_split] = shape.inserts().map(|insert| link.plus(&insert));
                (split, Some(no_split))
            }
            Call::Remove { .. } => (shape.remove(), None),
            Call::Rename { .. } => {
                // The old name's record goes, and a new one comes or names another inode.
                let moved = if is_long { &RENAME } else { &SHORT_RENAME }.plus(&REPLACE);
                let [split, no_split] = shape.inserts().map(|insert| moved.plus(&insert));
                third = Some(moved.plus(&shape.remove()));
                (split, Some(no_split))
            }
            Call::Exchange { .. } => (if is_long { &RENAME } else { &SHORT_RENAME }.plus(&REPLACE).times(2), None),
            Call::SetAttribute => (ATTRIBUTES, None),
            Call::Sync => (Work::NONE, None),
        };
        [Some(one), other, third].map(|work| work.map(|work| Work { commits: 1, ..work }))
    }

    /// Whether few bytes that are written may complete a page of which the journal buffer has much, so that it is written.
    fn may_complete<F: Flash>(self, volume: &Volume<'_, F>) -> bool {
        let (Call::Write(bytes) | Call::WriteLarge(bytes)) = self else { return false };
        bytes as usize <= volume.store.logical.patch_bytes_max() && volume.store.logical.may_be_completed(bytes)
    }

    /// The call as it begins: an overwrite finds out later that it is one.
    pub(super) fn begun<F: Flash>(self, volume: &Volume<'_, F>) -> Self {
        if self == Call::Overwrite { Call::WriteLarge(volume.store.layout().logical_bytes) } else { self }
    }

    /// Reads of a call, beside those of the frames that it writes.
    fn reads<F: Flash>(self, volume: &Volume<'_, F>) -> u32 {
        let layout = volume.store.layout();
        let unit = u32::from(layout.config.unit_pages);
        // The inode, whose header and regions lie in one program page, and an index.
        let page = 2 + u32::from(volume.plan().index_is_deep);
        // A page of a directory: where it is, and its program pages.
        let dir_page = page + unit;
        let depth = volume.depth();
        // The overflow pages, and that there is no further one.
        let overflow = depth.pages.saturating_mul(dir_page).saturating_add(page);
        // Header and name of each name of equal hash, and of its extension.
        let equal = depth.equal.saturating_mul(if volume.has_long_names() { 4 } else { 2 });
        // The directory, and its bucket.
        let near = 2 + dir_page;
        let find = near.saturating_add(overflow).saturating_add(equal);
        // Free bits, looked for in the whole allocation map; where it is, is looked up once for each of its logical pages.
        let map_pages = volume.plan().table - MAP;
        let scan = (map_pages * (unit + 1)).div_ceil(2);
        let write = 3 * page + 3 + scan;
        let finds = |depth| levels(depth).saturating_mul(find);
        let create = |depth| finds(depth).saturating_add(2 * near + 2 * unit + 9 + 3 * scan);
        let count = match self {
            Call::Overwrite => page,
            Call::Write(_) => write,
            // The page's place; then the inode's regions, a free page, and the index.
            Call::WriteLarge(_) => 2 * page + scan,
            Call::WriteInline(_) => 2 + unit,
            Call::Truncate => 2 * page + 10 + REGIONS / 8 + 3 * scan,
            Call::Read(bytes) => {
                let pages = bytes / layout.geometry.page_bytes + 2;
                return looks(page * (bytes / layout.logical_bytes + 2)) + pages + 1;
            }
            Call::Open { depth } => finds(depth).saturating_add(4),
            Call::Create { depth } => create(depth),
            Call::Symlink { depth, .. } => create(depth).saturating_add(write),
            Call::Remove { depth } => finds(depth).saturating_add(near + 12),
            Call::Rename { depth } => finds(depth).saturating_add(levels(depth) + 3 * near + 2 * unit + 21 + 3 * scan),
            // Both ways up to the root, and the places of two inodes and two extensions.
            Call::Exchange { depth } => finds(depth).saturating_add(2 * levels(depth) + 2 * near + 24 + 2 * scan),
            Call::SetAttribute => 8 + scan,
            Call::List => overflow.saturating_add(2 + page + 3 * unit + 4),
            Call::Sync => 0,
        };
        looks(count)
    }

    /// The same as a cost, and looks at a page that may be unsteady.
    pub(super) fn lookups<F: Flash>(self, volume: &Volume<'_, F>) -> Cost {
        Cost { reads: self.reads(volume) + volume.store.unsteady_reads(), ..Cost::default() }
    }
}

/// Names of a path that count: no path has more.
fn levels(depth: u32) -> u32 {
    depth.min(0xFFFF)
}

/// Reads of `count` looks at pages of the file system: a leaf of the map, and the page.
pub(super) fn looks(count: u32) -> u32 {
    count.saturating_mul(2)
}
