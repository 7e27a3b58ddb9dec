//! Names: each directory is a hash table that grows by a logical page at a time (linear hashing).
//!
//! A *bucket* is a logical page of the directory. Its records have no order. Let a directory have
//! `b` buckets, with `2^l ≤ b < 2^(l+1)`. The low `l + 1` bits of a name's hash are the number of
//! the bucket for this name. If the directory has no bucket with this number yet, the low `l` bits
//! are the number of the bucket.
//!
//! If the directory has too many entries for its buckets, one bucket is split: the records whose
//! hash has bit `l` set move to a new page. So a look-up reads one page for any number of names,
//! and each step of growth costs two frames.
//!
//! ```text
//! 0      4           8
//! | hash | inode + 1 |      0: free; all ones: removed from a full program page
//! ```
//!
//! If logical pages are small and there are few inodes, hash and inode have 16 bits each. A page
//! then holds twice as many records. This helps because each change of a record writes a whole
//! page.
//!
//! Other bits of the hash choose the program page of the bucket for a record. If this page is
//! full, the record goes into the next one. If the bucket is full, the record goes into the
//! first *overflow page* with a free slot. All buckets of a directory share its overflow pages,
//! and no split changes them. So no name is refused because of its hash.
//!
//! A search ends at the first program page that was never full. Each directory has a seed, which is
//! drawn when the directory gets its first name. So the order of names in one directory is a random
//! order in another directory. Only names that were chosen for their hashes fill buckets.
//!
//! Two numbers in the root page of the volume bound every search. They are the volume's [`Depth`]:
//! the maximum number of overflow pages of a directory, and the maximum number of names of equal
//! hash. If an insert makes one of them larger, it writes the new number, and does not split a
//! bucket in the same call.
//!
//! Names lie in the inodes. Names are listed in the order of the reversed bits of their hashes.
//! Splits and overflow pages do not change this order.

use super::inode::{
    AREA_AT, AREA_BYTES, InodeHeader, InodeKind, NAME_BYTES_MAX, ROOT, SEED_BITS, SIZE_AT,
};
use super::stat::Entry;
use super::volume::{
    Cursor, Depth, END, Node, RecordPlace, Room, SearchStep, Volume, bucket_of, check_name, hash,
};
use crate::error::Error;
use crate::journal::RecordsAhead;
use crate::logical::edit::{Edit, REMOVED, is_full};
use crate::media::Flash;

/// The records that a call may add after the split of a bucket: the record of the name, and the
/// count of the directory. The bytes include the headers.
const RECORDS_AFTER_SPLIT: RecordsAhead = RecordsAhead { count: 0, bytes: 64 };

/// The directory that was used last.
#[derive(Clone, Copy, Debug)]
struct Directory {
    node: Node,
    /// Number of entries. The upper half is the number of directories among them.
    size: u64,
    modified_ns: u64,
    buckets: u32,
    /// The start value of the hashes of its names.
    seed: u32,
}

impl Directory {
    fn of(inode: u32, header: &InodeHeader) -> Self {
        let InodeHeader { size, modified_ns, extra: buckets, seed, .. } = *header;
        Self { node: Node::new(inode), size, modified_ns, buckets, seed }
    }
}

/// The free slot for a name that does not exist, and the extent of the search for the name.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameGap {
    /// The first free slot of the search. `None` if all searched pages are full, or if the
    /// directory has no buckets.
    place: Option<RecordPlace>,
    searched: Depth,
}

/// The result of the search for a name.
pub enum Found {
    /// The record of the name is in this place, and names this inode.
    At { place: RecordPlace, inode: u32, header: InodeHeader, searched: Depth },
    /// The name does not exist.
    Free(NameGap),
}

/// An existing name and its inode.
pub(super) struct Named<'p> {
    pub directory: u32,
    pub name: &'p str,
    pub place: RecordPlace,
    pub inode: u32,
    pub header: InodeHeader,
}

impl Named<'_> {
    pub fn is_directory(&self) -> bool {
        self.header.kind == InodeKind::Directory
    }
}

/// The directories of a volume.
#[derive(Default)]
pub(super) struct Directories {
    /// The directory that was used last.
    dir: Option<Directory>,
}

impl Directories {
    /// Drops the directory that was used last: its inode was changed, or may have been.
    pub fn forget(&mut self) {
        self.dir = None;
    }

    /// Drops the directory that was used last, if it has this inode.
    pub fn forget_if(&mut self, inode: u32) {
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            self.dir = None;
        }
    }

    /// Makes a directory the current one: the functions below work on it.
    ///
    /// Nothing if the directory was used last, and two looks if not.
    pub fn enter<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32) -> Result<(), Error> {
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            return Ok(());
        }
        let header = volume.taken_header(inode)?;
        self.enter_found(inode, &header)
    }

    /// Makes a directory the current one, if its header was just read.
    pub fn enter_found(&mut self, inode: u32, header: &InodeHeader) -> Result<(), Error> {
        match header.kind {
            InodeKind::Directory => {}
            InodeKind::File | InodeKind::Orphan => return Err(Error::NotADirectory),
            InodeKind::Removed | InodeKind::Extension => return Err(Error::NotFound),
        }
        self.dir = Some(Directory::of(inode, header));
        Ok(())
    }

    fn directory(&self) -> Directory {
        let none =
            Directory { node: Node::new(ROOT), size: 0, modified_ns: 0, buckets: 0, seed: 0 };
        self.dir.unwrap_or(none)
    }

    /// Returns the logical page of a page of the directory.
    fn page_of<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        file_page: u32,
    ) -> Result<Option<u32>, Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let page = volume.page_of(&mut dir.node, file_page)?;
        self.dir = Some(dir);
        Ok(page)
    }

    /// Returns the logical page of a bucket of the directory.
    fn bucket_page<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        bucket: u32,
    ) -> Result<u32, Error> {
        self.page_of(volume, bucket)?.ok_or(Error::Corrupt)
    }

    /// Returns the logical page of an overflow page of the directory, or `None` if the
    /// directory does not have it.
    fn overflow_page<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        number: u32,
    ) -> Result<Option<u32>, Error> {
        match volume.buckets().overflow_page(number) {
            // Buckets grow from the first page up, overflow pages from the last region down.
            Some(file_page) if file_page >= self.directory().buckets => {
                self.page_of(volume, file_page)
            }
            _ => Ok(None),
        }
    }

    /// Returns the number of buckets of the directory.
    fn buckets<F: Flash>(&self, volume: &Volume<'_, F>) -> Result<u32, Error> {
        let buckets = self.directory().buckets;
        if buckets <= volume.plan().data_count { Ok(buckets) } else { Err(Error::Corrupt) }
    }

    /// Looks a name up in a directory.
    ///
    /// # Cost
    /// - If the directory was not used last, a look at its inode.
    /// - A look at a program page of the bucket; seldom at two.
    /// - A look at the inode of each name of equal hash.
    /// - If the bucket was full at some time, a look at each overflow page, and one further look.
    pub fn find<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        directory: u32,
        name: &str,
    ) -> Result<Found, Error> {
        let name = check_name(name)?;
        self.enter(volume, directory)?;
        let (hash, buckets) = (hash(self.directory().seed, name), self.buckets(volume)?);
        let mut gap = NameGap::default();
        if buckets == 0 {
            return Ok(Found::Free(gap));
        }
        let mut page = self.bucket_page(volume, bucket_of(hash, buckets).0)?;
        let mut after = None;
        loop {
            match volume.next_record(page, hash, after, &mut gap.place)? {
                SearchStep::Record { slot, inode } => {
                    gap.searched.equal += 1;
                    // Bounds include no deeper search. So a deeper search may be made only on a
                    // damaged volume.
                    volume.check_searched(gap.searched)?;
                    // Equal hashes do not prove equal names.
                    if let Some(header) = volume.header_of_name(inode, name)? {
                        let place = volume.buckets().place(page, slot);
                        return Ok(Found::At { place, inode, header, searched: gap.searched });
                    }
                    after = Some(slot);
                }
                // The page was full at some time, so the record may be in the next page.
                SearchStep::GoesOn => {
                    let Some(next) = self.overflow_page(volume, gap.searched.pages)? else { break };
                    gap.searched.pages += 1;
                    volume.check_searched(gap.searched)?;
                    (page, after) = (next, None);
                }
                SearchStep::Ends => break,
            }
        }
        Ok(Found::Free(gap))
    }

    /// Adds a record to the directory, in the gap that the search for its name has found.
    ///
    /// # Cost
    /// Only patches. If a bucket is split, also two frames.
    pub fn insert_record<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        name: &str,
        inode: u32,
        gap: NameGap,
        is_directory: bool,
        room: Room,
    ) -> Result<(), Error> {
        let name = check_name(name)?;
        let buckets = self.buckets(volume)?;
        let before = self.directory();
        // With the first name, the directory gets the seed on which the name's hash depends.
        if buckets == 0 {
            self.begin(volume, name)?;
        }
        let hash = hash(self.directory().seed, name);
        let mut depth = Depth { equal: gap.searched.equal + 1, ..gap.searched };
        let place = match gap.place {
            // A call that writes the depth does not split a bucket, because its bound includes only
            // one of these two changes.
            Some(place)
                if depth.max(volume.depth()) == volume.depth()
                    && self.is_crowded(volume, buckets) =>
            {
                self.split(volume, place, hash, room)?
            }
            Some(place) => place,
            None if buckets == 0 => {
                let page = self.add_bucket(volume, room)?;
                volume.buckets().first_place(page, hash)
            }
            None => {
                let page = self.add_overflow(volume, depth.pages, room)?;
                depth.pages += 1;
                volume.buckets().first_place(page, hash)
            }
        };
        volume.write_record(place, hash, inode + 1)?;
        if depth.max(volume.depth()) != volume.depth() {
            volume.write_depth(depth.max(volume.depth()))?;
        }
        let has_grown = self.directory().buckets != before.buckets;
        self.count_entry(volume, true, is_directory, has_grown)
    }

    /// Replaces the inode of a record. `was_directory` is true if the old inode is a directory, and
    /// `is_directory` is true if the new inode is.
    pub fn replace_record<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: RecordPlace,
        inode: u32,
        [was_directory, is_directory]: [bool; 2],
    ) -> Result<(), Error> {
        let half = volume.store.layout().record_bytes() / 2;
        volume.store.logical.patch(
            place.page,
            place.at + half,
            &(inode + 1).to_le_bytes()[..half as usize],
        )?;
        let mut dir = self.directory();
        dir.size = dir
            .size
            .wrapping_sub(u64::from(was_directory) << 32)
            .wrapping_add(u64::from(is_directory) << 32);
        self.note_directory(volume, dir, false)
    }

    /// Exchanges the inodes of two names: in the records of the directories, and in the inodes
    /// themselves.
    pub fn exchange<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        one: &Named<'_>,
        other: &Named<'_>,
    ) -> Result<(), Error> {
        for (name, new) in [(one, other), (other, one)] {
            self.enter(volume, name.directory)?;
            self.replace_record(
                volume,
                name.place,
                new.inode,
                [name.is_directory(), new.is_directory()],
            )?;
        }
        let mut unused = [0; 2];
        for ((name, new), unused) in [(one, other), (other, one)].into_iter().zip(&mut unused) {
            let mut header = new.header;
            self.forget_if(new.inode);
            *unused = volume.move_inode(new.inode, &mut header, name.directory, name.name)?;
        }
        let inodes = unused.iter().filter(|&&unused| unused > 0).count() as u32;
        volume.store.logical.make_journal_room(RecordsAhead::freeing(0, inodes))?;
        unused.into_iter().try_for_each(|unused| volume.remove_extension(unused))
    }

    /// Removes a name.
    pub fn remove_named<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        named: &Named<'_>,
    ) -> Result<(), Error> {
        self.enter(volume, named.directory)?;
        self.remove_record(volume, named.place, named.is_directory())
    }

    /// Removes a record of the directory.
    pub fn remove_record<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: RecordPlace,
        is_directory: bool,
    ) -> Result<(), Error> {
        let RecordPlace { page, at } = place;
        let (page_bytes, width) =
            (volume.store.layout().geometry.page_bytes, volume.store.layout().record_bytes());
        // While this program page was full, inserts may have put records into the next page.
        let number = volume.store.logical.with_page(page, at / page_bytes, |bytes| {
            if is_full(bytes, width) { REMOVED } else { 0 }
        })?;
        // The last byte of an inode number of four bytes is 0 already.
        let changed = if number == 0 { (width / 2).min(3) } else { width / 2 };
        volume.store.logical.patch(
            page,
            at + width / 2,
            &number.to_le_bytes()[..changed as usize],
        )?;
        self.count_entry(volume, false, is_directory, false)
    }

    /// Counts one entry more or less in the directory, and updates the directory's time. If the
    /// directory has grown, also writes its number of buckets.
    fn count_entry<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        more: bool,
        is_directory: bool,
        has_grown: bool,
    ) -> Result<(), Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let step = 1 | u64::from(is_directory) << 32;
        dir.size = if more { dir.size.wrapping_add(step) } else { dir.size.wrapping_sub(step) };
        self.note_directory(volume, dir, has_grown)
    }

    /// Writes the number of entries of the directory, and the time. If the directory has grown,
    /// also writes its number of buckets and its seed.
    fn note_directory<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        mut dir: Directory,
        has_grown: bool,
    ) -> Result<(), Error> {
        dir.modified_ns = volume.now_ns().max(dir.modified_ns);
        let (page, at) = volume.inode_place(dir.node.inode);
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&dir.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&dir.modified_ns.to_le_bytes());
        bytes[16..20].copy_from_slice(&dir.buckets.to_le_bytes());
        // The seed follows the byte for the stream, which a directory does not use.
        bytes[20..].copy_from_slice(&(dir.seed << 8).to_le_bytes());
        volume.store.logical.patch(
            page,
            at + SIZE_AT,
            &bytes[..if has_grown { 24 } else { 16 }],
        )?;
        self.dir = Some(dir);
        Ok(())
    }

    /// Prepares the directory for its first name, and gives it a separate seed.
    fn begin<F: Flash>(&mut self, volume: &mut Volume<'_, F>, name: &[u8]) -> Result<(), Error> {
        let Some(dir) = &mut self.dir else { return Err(Error::Corrupt) };
        // Two volumes with the same history get different seeds if their first names differ.
        dir.seed = hash(volume.store.sequence(), name) >> (32 - SEED_BITS);
        // An earlier file with this inode may have left bytes in the area of regions.
        let (page, at) = volume.inode_place(dir.node.inode);
        volume.patch_what_differs(page, at + AREA_AT, &[0; AREA_BYTES])
    }

    /// Returns true if the directory has too many entries for its buckets.
    fn is_crowded<F: Flash>(&self, volume: &Volume<'_, F>, buckets: u32) -> bool {
        self.directory().size as u32 >= volume.buckets().entries_max(buckets)
    }

    /// Adds a page for one more bucket to the directory.
    fn add_bucket<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        room: Room,
    ) -> Result<u32, Error> {
        let Some(dir) = &mut self.dir else { return Err(Error::Corrupt) };
        let page = volume.add_page(&mut dir.node, dir.buckets, room)?;
        dir.buckets += 1;
        Ok(page)
    }

    /// Adds overflow page `number` to the directory.
    fn add_overflow<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        number: u32,
        room: Room,
    ) -> Result<u32, Error> {
        let Some(dir) = &mut self.dir else { return Err(Error::Corrupt) };
        let file_page = volume
            .buckets()
            .overflow_page(number)
            .filter(|&page| page >= dir.buckets)
            .ok_or(Error::NoSpace)?;
        volume.add_page(&mut dir.node, file_page, room)
    }

    /// Splits the bucket whose turn it is. Returns the free slot for a hash. Before the split, this
    /// slot was `place`.
    fn split<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        place: RecordPlace,
        hash: u32,
        room: Room,
    ) -> Result<RecordPlace, Error> {
        let number = self.directory().buckets;
        let new = self.add_bucket(volume, room)?;
        let bit = 1 << number.ilog2();
        let old = self.bucket_page(volume, number - bit)?;
        let bytes = volume.store.layout().record_bytes();
        // The new page is written first, because the old page has the records until it is
        // rewritten.
        volume.store.logical.write_edited(
            new,
            old,
            Edit::Records { bytes, mask: bit, value: bit },
        )?;
        if volume.store.logical.journal.patches(old) {
            volume.store.logical.make_journal_room(RECORDS_AFTER_SPLIT)?;
        }
        volume.store.logical.write_edited(
            old,
            old,
            Edit::Records { bytes, mask: bit, value: 0 },
        )?;
        // A slot that was free in the old page is free in the old and in the new page.
        let moves = place.page == old && hash & bit != 0;
        Ok(if moves { RecordPlace { page: new, ..place } } else { place })
    }

    /// Returns the first entry of a directory from `cursor` on, and moves `cursor` behind it.
    ///
    /// A subdirectory is listed only by the directory that its inode names. On a damaged volume,
    /// another directory may also have a record of it, perhaps a directory inside the subdirectory.
    /// A walk along such records would never end. If the mount has found damage, such an entry is
    /// skipped. If not, the call returns [`Error::Corrupt`].
    ///
    /// # Cost
    /// - A look at the directory's inode.
    /// - A look at each page of the bucket.
    /// - A look for each bucket without entries.
    /// - A look at the inode of the entry. On a damaged volume, also a look at the inode of each
    ///   entry that is skipped.
    /// - If the bucket was full at some time, a look at each overflow page, and one further look.
    pub fn next_entry<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        directory: u32,
        cursor: &mut Cursor,
    ) -> Result<Option<Entry>, Error> {
        self.enter(volume, directory)?;
        let buckets = self.buckets(volume)?;
        while buckets > 0 && *cursor != END {
            let (bucket, bits) = bucket_of(cursor.reversed.reverse_bits(), buckets);
            // `next` is greater than all reversed hashes that belong to this bucket.
            let next = ((u64::from(cursor.reversed) >> (32 - bits)) + 1) << (32 - bits);
            if let Some(found) = self.first_in_bucket(volume, bucket, *cursor, (next - 1) as u32)? {
                let inode = found.number - 1;
                // An entry that is skipped must not be found again.
                *cursor = Cursor { number: found.number + 1, ..found };
                let header = volume.read_header(inode)?;
                if header.kind == InodeKind::Directory
                    && (header.parent != directory || inode == ROOT)
                {
                    if volume.store.status().damage().is_some() {
                        continue;
                    }
                    return Err(Error::Corrupt);
                }
                let mut name = [0; NAME_BYTES_MAX];
                volume.read_name(inode, &header, &mut name)?;
                return Ok(Some(Entry::new(name, inode, &header)));
            }
            *cursor =
                if next >> 32 == 0 { Cursor { reversed: next as u32, number: 0 } } else { END };
        }
        Ok(None)
    }

    /// Returns the first record of a bucket from `cursor` to the hash `end`. The record may be in
    /// the bucket or in an overflow page.
    fn first_in_bucket<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        bucket: u32,
        cursor: Cursor,
        end: u32,
    ) -> Result<Option<Cursor>, Error> {
        let page = self.bucket_page(volume, bucket)?;
        let (mut best, mut goes_on) = volume.first_in_page(page, cursor, end)?;
        let mut number = 0;
        // Overflow pages have records only of buckets that were full at some time.
        while goes_on && let Some(page) = self.overflow_page(volume, number)? {
            let (here, is_full) = volume.first_in_page(page, cursor, end)?;
            best = here.into_iter().chain(best).min();
            (number, goes_on) = (number + 1, is_full);
        }
        Ok(best)
    }

    /// Returns the number of overflow pages of a directory that can be found.
    pub fn overflow_pages<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
        header: &InodeHeader,
    ) -> Result<u32, Error> {
        self.dir = Some(Directory::of(inode, header));
        let mut number = 0;
        while self.overflow_page(volume, number)?.is_some() {
            number += 1;
        }
        Ok(number)
    }

    /// Writes the numbers of entries and of subdirectories of a directory.
    pub fn write_count<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        directory: u32,
        entries: u32,
        subdirectories: u32,
    ) -> Result<(), Error> {
        self.dir = None;
        let size = u64::from(entries) | u64::from(subdirectories) << 32;
        let (page, at) = volume.inode_place(directory);
        volume.store.logical.patch(page, at + SIZE_AT, &size.to_le_bytes())
    }

    /// Returns true if `inode` is equal to `directory`, or contains `directory`.
    ///
    /// # Cost
    /// A look at the inode of each directory up to the root.
    pub fn holds<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        inode: u32,
        directory: u32,
    ) -> Result<bool, Error> {
        let mut at = directory;
        // On a damaged volume the parents may form a circle.
        for _ in 0..volume.plan().inode_count {
            if at == inode || at == ROOT {
                return Ok(at == inode);
            }
            let header = volume.read_header(at)?;
            if header.kind != InodeKind::Directory {
                return Err(if at == directory { Error::NotADirectory } else { Error::Corrupt });
            }
            at = header.parent;
        }
        Err(Error::Corrupt)
    }
}
