//! The calls that have a computed worst case: the changes of each call, as [`Work`], and its
//! look-ups.
//!
//! The numbers in [`Work::patched`] are the number of bytes of each patch without its header, and
//! the number of pages that the patches touch. `docs/design/bounds.md` adds them up.

#[cfg(doc)]
use super::CallBounds;
use super::inode::{
    AREA_BYTES, EXTENSION_BYTES, NAME_BYTES_MAX, NAME_ROOM, PERMISSIONS_BYTES, REGIONS,
};
use super::volume::{MAP, Volume};
use crate::cost::Cost;
use crate::media::Flash;
use crate::processor;
use crate::reclaim::Work;

/// A call with a worst case in [`CallBounds::of`]. If the call changes something, its worst case
/// includes a commit by its handle or by an [event](super::CommitOn). A commit by the caller is a
/// separate call, [`Sync`](Self::Sync).
///
/// `depth` is the number of names in the path. In a rename or an exchange, it is the number of
/// names in both paths together. If a directory moves, `depth` must be at least the depth of this
/// directory. If two directories are exchanged, it must be at least the depth of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A write of one whole logical page that the file already has, through a durable handle and
    /// without a clock.
    Overwrite,
    /// A write or append of at most this many bytes within one logical page, or a reservation.
    ///
    /// If the number of bytes exceeds a logical page, the bound is for the writes of all pages. It
    /// is the sum of their bounds, or a bound of all pages together if that is smaller. The bound
    /// holds for any offset. If the offset is known, [`sequence_ns`](CallBounds::sequence_ns)
    /// returns less.
    Write(u32),
    /// A [`Write`](Self::Write) to a file that is larger than 144 bytes, so its data is not in its
    /// inode. [`CallBounds::write_call`] finds the right call.
    WriteLarge(u32),
    /// A [`Write`](Self::Write) to a file that keeps its data in its inode before and after the
    /// call. The write ends within the first 144 bytes, and begins at the end of the file or
    /// before it.
    WriteInline(u32),
    /// A truncate.
    Truncate,
    /// A read of at most this many bytes.
    Read(u32),
    /// Opening a file that exists; `stat`; `attribute`.
    Open {
        /// Number of names in the path; 0 if the caller passes the inode.
        depth: u32,
    },
    /// `open` that creates a file; `create_dir`.
    Create {
        /// Number of names in the path.
        depth: u32,
    },
    /// `create_symlink`.
    Symlink {
        /// Number of names in the path.
        depth: u32,
        /// Number of bytes of the link's target.
        bytes: u32,
    },
    /// `remove`, `remove_dir`, and `close` of a file that was removed.
    Remove {
        /// Number of names in the path.
        depth: u32,
    },
    /// `rename`.
    Rename {
        /// Number of names in both paths together.
        depth: u32,
    },
    /// `exchange`.
    Exchange {
        /// Number of names in both paths together.
        depth: u32,
    },
    /// `set_attribute`, `set_modified`, `set_permissions`.
    SetAttribute,
    /// `list` of one entry.
    List,
    /// `commit`, `sync`, `poll`.
    Sync,
}

/// The properties of a volume on which the work of a call depends. They are the pages of its
/// allocation map, the levels of an index, and the number of inodes in a page of the file table.
#[derive(Clone, Copy)]
struct CallShape {
    map_pages: u32,
    index_is_deep: bool,
    inodes_share: bool,
}

impl CallShape {
    fn of<F: Flash>(volume: &Volume<'_, F>) -> Self {
        Self {
            map_pages: volume.plan().table - MAP,
            index_is_deep: volume.plan().index_is_deep,
            inodes_share: volume.store.layout().inodes_per_page() > 1,
        }
    }

    /// Adds the pages of the allocation map in which `bits` bits change.
    fn with_bits(self, bits: u32, work: &Work) -> Work {
        Work { pages: work.pages + bits.min(self.map_pages), ..*work }
    }

    /// Returns the work of adding one page to a file: the page's bit, and a region. If the page is
    /// outside of the run, the work also has an entry, an index and the bit of the index. An index
    /// of two levels adds one more of each.
    fn add_page(self) -> Work {
        if self.index_is_deep { self.with_bits(3, &DEEP_PAGE) } else { self.with_bits(2, &PAGE) }
    }

    /// Returns the work of a write for all changes except the data itself.
    fn around_data(self, call: Call) -> Work {
        self.add_page()
            .plus(if matches!(call, Call::Write(_)) { &LEAVE_INODE } else { &Work::NONE })
            .plus(&NOTE)
    }

    /// Returns the work of one write of several pieces, for all changes except the data itself. The
    /// pieces follow each other in a file, on `pieces` pages. The work has these parts:
    ///
    /// - for each page, its bit and its entry in an index;
    /// - regions with their indexes and the bits of the indexes: one or two more than the pieces
    ///   fill;
    /// - size and time.
    fn around_pieces(self, pieces: u32, index_entries: u32) -> Work {
        let regions = 2 + pieces / index_entries * (1 + u32::from(self.index_is_deep));
        self.with_bits(pieces, &ENTRY.times(pieces)).plus(&REGION.times(regions)).plus(&NOTE)
    }

    /// Returns the work of an insert: a record, the count of the directory, and a page. The page is
    /// one of these:
    ///
    /// - the new page of a split bucket: two pages are written;
    /// - the first page of the directory, or an overflow page: the call also writes the depth of
    ///   the volume. Before a first page, it clears the regions of the inode, because an earlier
    ///   file may have left them.
    fn inserts(self) -> [Work; 2] {
        [&SPLIT, &FIRST_OR_OVERFLOW].map(|insert| self.add_page().plus(insert))
    }

    /// Returns the work of a removal: the record is removed, the count of the directory changes,
    /// and one of these changes is made:
    ///
    /// - A file is freed at once: bits and pages of eight neighbouring pages, of the inode and of
    ///   its extensions.
    /// - A file is freed later: its entry in a list.
    /// - A directory is freed later: its entry in a list. Its extensions are freed at once.
    fn remove(self) -> Work {
        self.with_bits(2, &REMOVE)
    }

    /// Returns the work of `largest` largest steps of the trim list, and of `single` steps that
    /// free one page each. The largest step is one of these:
    ///
    /// - a region, the list, and bits and pages of eight neighbouring pages, of the inode and
    ///   of its extensions;
    /// - four neighbouring entries of an index in one patch, with bits and pages.
    ///
    /// A step that frees `n` pages counts as `n` steps, because `n` single steps are more work. So
    /// a call makes at most one largest step.
    fn steps(self, [largest, single]: [u32; 2]) -> Work {
        let one = match self.inodes_share {
            true => self.with_bits(4, &TRIM_ONE),
            // An inode is freed with its page.
            false => self.with_bits(1, &TRIM_PAGE),
        };
        self.with_bits(5, &TRIM).times(largest).plus(&one.times(single))
    }

    /// Returns the work of truncating a run:
    ///
    /// - the truncation of the last page;
    /// - size, and a region;
    /// - bits and pages of eight neighbouring pages.
    fn cut_run(self) -> Work {
        self.with_bits(2, &CUT_RUN)
    }

    /// Returns the work of truncating an end that is freed later:
    ///
    /// - the truncation of the last page;
    /// - size, and the list;
    /// - an inode for the end, with its bit and regions;
    /// - if an index is divided, a copy of each of its levels, with a bit.
    fn truncate(self) -> Work {
        if self.index_is_deep {
            self.with_bits(3, &DEEP_TRUNCATE)
        } else {
            self.with_bits(2, &TRUNCATE)
        }
    }
}

/// Number of bytes of an inode's regions, or of the inline data in their place.
const AREA: u32 = AREA_BYTES as u32;
/// Number of bytes of an extension that one patch writes.
const PIECE: u32 = EXTENSION_BYTES as u32 / 2;
/// Maximum number of bytes of a name beyond its part in the inode and the first piece of its
/// extension.
const NAME_REST: u32 = (NAME_BYTES_MAX - NAME_ROOM + PERMISSIONS_BYTES) as u32 - PIECE;

/// The work of making the list of orphans a part of the trim list.
const COLLECT: Work = Work::patched(&[12, 4], 2);
/// See [`CallShape::add_page`].
const PAGE: Work = Work::patched(&[8, 4, 1, 1], 1);
const DEEP_PAGE: Work = Work::patched(&[8, 4, 4, 1, 1, 1], 2);
/// See [`CallShape::around_pieces`].
const ENTRY: Work = Work::patched(&[4, 1], 0);
const REGION: Work = Work::patched(&[8, 4, 1], 1);
/// See [`CallShape::inserts`].
const SPLIT: Work = Work { frames: 2, ..Work::patched(&[24, 8], 2) };
const FIRST_OR_OVERFLOW: Work = Work::patched(&[AREA, 24, 8, 8], 3);
/// See [`CallShape::remove`].
const REMOVE: Work = Work { discards: 11, ..Work::patched(&[48, 16, 12, 4, 4, 1, 1, 1], 5) };
/// See [`CallShape::steps`].
const TRIM: Work = Work { discards: 11, ..Work::patched(&[16, 12, 1, 1, 1, 1, 1], 2) };
const TRIM_ONE: Work = Work { discards: 1, ..Work::patched(&[16, 8, 1, 1, 1, 1], 2) };
const TRIM_PAGE: Work = Work { discards: 1, ..Work::patched(&[16, 1], 1) };
/// See [`CallShape::cut_run`].
const CUT_RUN: Work = Work { frames: 1, discards: 8, ..Work::patched(&[16, 8, 1, 1], 1) };
/// See [`CallShape::truncate`].
const TRUNCATE: Work =
    Work { frames: 2, ..Work::patched(&[AREA, AREA, 48, 16, 12, 4, 1, 1, 1], 4) };
const DEEP_TRUNCATE: Work =
    Work { frames: 3, ..Work::patched(&[AREA, AREA, 48, 16, 12, 4, 4, 1, 1, 1, 1], 5) };
/// The work of moving the most inline data out of an inode.
const LEAVE_INODE: Work = leave_inode(AREA);
/// Returns the work of moving `bytes` bytes of inline data out of an inode: the data, the regions,
/// the flag, and a bit.
const fn leave_inode(bytes: u32) -> Work {
    if bytes > 0 { Work::patched(&[bytes, AREA, 1, 1], 2) } else { Work::patched(&[AREA, 1], 1) }
}

/// The work of a new size and time.
const NOTE: Work = Work::patched(&[16], 1);
/// The work of an inode with a long name. The inode has its bit, its header and the first part of
/// the name. The extension has its bit, its header and two pieces.
const INODE: Work = Work::patched(&[112, PIECE, NAME_REST, 8, 1, 1], 4);
/// The work of an inode that holds its whole name.
const SHORT_INODE: Work = Work::patched(&[112, 1], 2);
/// The work of another name and directory: name, lengths, extension, the page that becomes empty
/// without the extension, and parent.
const RENAME: Work =
    Work { discards: 1, ..Work::patched(&[PIECE, NAME_REST, 64, 8, 4, 4, 1, 1], 3) };
/// The work of another name and directory, if the inode has room for both names.
const SHORT_RENAME: Work = Work::patched(&[64, 4, 1], 1);
/// The work of a record that gets another inode: the record, and in its directory the number of
/// subdirectories and the time.
const REPLACE: Work = Work::patched(&[16, 4], 2);
/// The work of attributes: the bit, header and two pieces of an extension, or the page that becomes
/// empty without the extension. In addition, the link in the inode.
const ATTRIBUTES: Work = Work { discards: 1, ..Work::patched(&[PIECE, PIECE, 8, 4, 1], 3) };

/// Returns the work that earlier calls left to be done at the beginning of a call: `trims` steps of
/// the trim list, and the orphans from before the mount.
pub(super) fn first_steps<F: Flash>(volume: &Volume<'_, F>, trims: u32, orphans: bool) -> Work {
    steps_of_row(volume, [trims.min(1), trims.saturating_sub(1)], orphans)
}

/// Returns the work of steps of the trim list in calls in a row. `steps` are the numbers of largest
/// steps, and of steps that free one page each. If `orphans` is true, the list gets orphans first.
pub(super) fn steps_of_row<F: Flash>(
    volume: &Volume<'_, F>,
    steps: [u32; 2],
    orphans: bool,
) -> Work {
    CallShape::of(volume).steps(steps).plus(if orphans { &COLLECT } else { &Work::NONE })
}

/// Returns the work of a write of several pieces. The first piece has `first` bytes, the last piece
/// has `last` bytes. If `leaves` is given, this much inline data moves out of the inode.
pub(super) fn work_of_pieces<F: Flash>(
    volume: &Volume<'_, F>,
    pieces: u32,
    [first, last]: [u32; 2],
    leaves: Option<u32>,
) -> Work {
    let around = CallShape::of(volume).around_pieces(pieces, volume.plan().index_entries);
    let ends = [first, last].map(|bytes| volume.store.bounds().work_of_write(bytes));
    let whole = Work { frames: pieces.saturating_sub(2), ..Work::NONE };
    around.plus(&ends[0]).plus(&ends[1]).plus(&whole).plus(&leaves.map_or(Work::NONE, leave_inode))
}

impl Call {
    /// Returns the maximum number of pieces of a write behind its first piece. Each piece lies
    /// within one logical page of `logical_bytes`.
    pub(super) fn further_pieces(self, logical_bytes: u32) -> u32 {
        match self {
            Call::Write(bytes) | Call::WriteLarge(bytes) if bytes > logical_bytes => {
                (bytes - 1).div_ceil(logical_bytes)
            }
            _ => 0,
        }
    }

    /// Returns the alternative changes of a call. If `is_long`, a name of the call may be longer
    /// than its room in an inode. A call that changes nothing has no work.
    pub(super) fn works<F: Flash>(
        self,
        volume: &Volume<'_, F>,
        is_long: bool,
    ) -> [Option<Work>; 3] {
        let shape = CallShape::of(volume);
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
                    // A piece is a whole page. The first and the last piece may be a patch.
                    (
                        of_data(volume.store.logical.patch_bytes_max() as u32).plus(&around),
                        Some(page),
                    )
                } else {
                    (of_data(bytes).plus(&around), self.may_complete(volume).then_some(page))
                }
            }
            Call::WriteInline(bytes) => {
                (Work::patched(&[bytes.min(AREA)], 0).plus(&NOTE), Some(Work::PAGE.plus(&NOTE)))
            }
            Call::Truncate => (shape.truncate(), Some(shape.cut_run())),
            Call::Create { .. } => {
                let [split, no_split] = shape.inserts().map(|insert| inode.plus(&insert));
                (split, Some(no_split))
            }
            Call::Symlink { bytes, .. } => {
                let link = inode.plus(&of_data(bytes)).plus(&shape.around_data(Call::Write(bytes)));
                // The records of the target come after the split of a bucket.
                let link = Work { early_writes: 1, ..link };
                let [split, no_split] = shape.inserts().map(|insert| link.plus(&insert));
                (split, Some(no_split))
            }
            Call::Remove { .. } => (shape.remove(), None),
            Call::Rename { .. } => {
                // The record of the old name is removed. A record for the new name is added, or an
                // existing record gets the inode.
                let moved = if is_long { &RENAME } else { &SHORT_RENAME }.plus(&REPLACE);
                let [split, no_split] = shape.inserts().map(|insert| moved.plus(&insert));
                // The extension of the old name is removed last. Its two records may then find no
                // room.
                let last = Work { frames: if is_long { 2 } else { 0 }, ..Work::NONE };
                third = Some(moved.plus(&shape.remove()).plus(&last));
                (split, Some(no_split))
            }
            Call::Exchange { .. } => {
                (if is_long { &RENAME } else { &SHORT_RENAME }.plus(&REPLACE).times(2), None)
            }
            Call::SetAttribute => (ATTRIBUTES, None),
            Call::Sync => (Work::NONE, None),
        };
        [Some(one), other, third].map(|work| work.map(|work| Work { commits: 1, ..work }))
    }

    /// Returns true if a write of few bytes may complete a page, most of which is in the journal
    /// buffer. The page is then written.
    fn may_complete<F: Flash>(self, volume: &Volume<'_, F>) -> bool {
        let (Call::Write(bytes) | Call::WriteLarge(bytes)) = self else { return false };
        bytes as usize <= volume.store.logical.patch_bytes_max()
            && volume.store.logical.may_be_completed(bytes)
    }

    /// Returns the call as it begins. An overwrite begins as a large write. Only later does the
    /// call find that it is an overwrite.
    pub(super) fn begun<F: Flash>(self, volume: &Volume<'_, F>) -> Self {
        if self == Call::Overwrite {
            Call::WriteLarge(volume.store.layout().logical_bytes)
        } else {
            self
        }
    }

    /// Returns the reads of a call, without the reads for the frames that it writes.
    fn reads<F: Flash>(self, volume: &Volume<'_, F>) -> u32 {
        let layout = volume.store.layout();
        let unit = u32::from(layout.config.pages_per_logical_page);
        // The inode and an index. The header and the regions of an inode lie in one program page.
        let page = 2 + u32::from(volume.plan().index_is_deep);
        // A page of a directory: its map entry, and its program pages.
        let dir_page = page + unit;
        let depth = volume.depth();
        // The overflow pages, and the check that no further one exists.
        let overflow = depth.pages.saturating_mul(dir_page).saturating_add(page);
        // The header and the name of each inode with an equal hash, and the extension of the inode.
        let equal = depth.equal.saturating_mul(if volume.has_long_names() { 2 } else { 1 });
        // The inode of the directory, and the bucket.
        let near = 2 + dir_page;
        let find = near.saturating_add(overflow).saturating_add(equal);
        // A search of the whole allocation map for free bits. It looks up the map entry of each
        // logical page of the allocation map once.
        let map_pages = volume.plan().table - MAP;
        let scan = (map_pages * (unit + 1)).div_ceil(2);
        let write = 3 * page + 3 + scan;
        let finds = |depth| levels(depth).saturating_mul(find);
        let create = |depth| finds(depth).saturating_add(2 * near + 2 * unit + 9 + 3 * scan);
        let count = match self {
            Call::Overwrite => page,
            Call::Write(_) => write,
            // The page's map entry; then the inode's regions, a free page, and the index.
            Call::WriteLarge(_) => 2 * page + scan,
            Call::WriteInline(_) => 2 + unit,
            Call::Truncate => 2 * page + 10 + REGIONS / 8 + 3 * scan,
            // The inode. Then, for each logical page, its regions, its index and its map entry.
            Call::Read(bytes) => {
                let touched = |unit: u32| bytes.saturating_sub(1).div_ceil(unit) + 1;
                return looks(1)
                    + (looks(page) + 1) * touched(layout.logical_bytes)
                    + touched(layout.geometry.page_bytes);
            }
            Call::Open { depth } => finds(depth).saturating_add(3),
            Call::Create { depth } => create(depth),
            Call::Symlink { depth, .. } => create(depth).saturating_add(write),
            Call::Remove { depth } => finds(depth).saturating_add(near + 12),
            Call::Rename { depth } => {
                finds(depth).saturating_add(levels(depth) + 3 * near + 2 * unit + 21 + 3 * scan)
            }
            // Both paths of parents up to the root, and the map entries of two inodes and two
            // extensions.
            Call::Exchange { depth } => {
                finds(depth).saturating_add(2 * levels(depth) + 2 * near + 24 + 2 * scan)
            }
            Call::SetAttribute => 8 + scan,
            Call::List => overflow.saturating_add(2 + page + 3 * unit + 4),
            Call::Sync => 0,
        };
        looks(count)
    }

    /// Returns the base of the instructions of a call, without those of its operations.
    ///
    /// The numbers are measured: [`processor`].
    fn instructions<F: Flash>(self, volume: &Volume<'_, F>) -> u32 {
        let usual = match self {
            Call::Overwrite => 400_000,
            Call::Write(_) | Call::WriteLarge(_) => 540_000,
            Call::WriteInline(_) => 400_000,
            Call::Truncate => 500_000,
            Call::Read(_) => 10_000,
            Call::Open { .. } => 130_000,
            Call::Create { .. } | Call::Symlink { .. } => 640_000,
            Call::Remove { .. } => 600_000,
            Call::Rename { .. } => 800_000,
            Call::Exchange { .. } => 800_000,
            Call::SetAttribute => 450_000,
            Call::List => 50_000,
            Call::Sync => 340_000,
        };
        processor::base(volume.store.layout(), usual)
    }

    /// Returns the look-ups of a call as a cost: its reads, including repeated reads of a page that
    /// may be unsteady, and its base of instructions.
    pub(super) fn lookups<F: Flash>(self, volume: &Volume<'_, F>) -> Cost {
        Cost {
            reads: self.reads(volume) + volume.store.unsteady_reads(),
            instructions: self.instructions(volume),
            ..Cost::default()
        }
    }

    /// Returns the cost of a call beside the frames that it writes, without its reads.
    pub(super) fn base<F: Flash>(self, volume: &Volume<'_, F>) -> Cost {
        Cost { instructions: self.instructions(volume), ..Cost::default() }
    }
}

/// Limits the number of names of a path: no path has more.
fn levels(depth: u32) -> u32 {
    depth.min(0xFFFF)
}

/// Returns the reads of `count` steps of the trim list. The looks of a step are:
///
/// - the header and the regions of the inode, together;
/// - the parts of an index page, for each level of the index;
/// - four bytes of the allocation map, with the bits of the pages of four entries.
///
/// A step that clears no entries looks at fewer bits: of its pages in two bytes, of two extensions,
/// and of the inode.
pub(super) fn looks_of_steps<F: Flash>(volume: &Volume<'_, F>, count: u32) -> u32 {
    let unit = u32::from(volume.store.layout().config.pages_per_logical_page);
    let levels = 1 + u32::from(volume.plan().index_is_deep);
    looks((1 + 4 + levels * unit) * count)
}

/// Returns the number of reads in `count` looks at pages of the file system. A look reads a leaf of
/// the map, and the page.
pub(super) fn looks(count: u32) -> u32 {
    count.saturating_mul(2)
}
