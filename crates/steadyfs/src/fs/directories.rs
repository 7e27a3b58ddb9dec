//! Names: each directory is a hash table that grows by a logical page at a time (linear hashing).
//!
//! A *bucket* is a logical page of the directory, full of records in no order. With `b` buckets and `2^l ≤ b < 2^(l+1)`, a
//! name is in the bucket that the low `l + 1` bits of its hash name, or `l` bits where that is none yet. When the directory has
//! too many entries for its buckets, one bucket is split: the records whose bit `l` is set go to a new page. So a look-up reads one
//! page however many names there are, and growth costs two frames at a time.
//!
//! ```text
//! 0      4           8
//! | hash | inode + 1 |      0: free; all ones: removed from a full program page
//! ```
//!
//! Where logical pages are small and inodes few, hash and inode have 16 bits each: twice as many records in a page that is written for each of them.
//!
//! A record goes into the program page of its bucket that another bit of the hash names, or, when that is full, into the next.
//! Names lie in the inodes. Listing goes by reversed bits of the hash, an order that splits do not change.

use super::inode::{AREA_AT, AREA_BYTES, EXTRA_AT, Header, InodeKind, NAME_BYTES_MAX, ROOT, SIZE_AT};
use super::stat::Entry;
use super::volume::{Cursor, END, Node, Room, Volume, bucket_of, check_name, entries_max, hash, slots};
use crate::error::Error;
use crate::logical::edit::{Edit, REMOVED, is_full};
use crate::media::Flash;

/// Names of equal hash that are looked at.
const EQUAL_HASHES_MAX: u32 = 8;

/// The directory that was used last.
#[derive(Clone, Copy, Debug)]
struct Directory {
    node: Node,
    /// Entries, and in the upper half how many of them are directories.
    size: u64,
    modified_ns: u64,
    buckets: u32,
}

/// Where a name is, or would go.
pub enum Found {
    /// In this slot, with this inode.
    At { slot: u32, inode: u32 },
    /// Nowhere; the slot is free for it, if there is one.
    Free(Option<u32>),
}

/// A name that there is, and what it names.
pub(super) struct Named<'p> {
    pub directory: u32,
    pub name: &'p str,
    pub slot: u32,
    pub inode: u32,
    pub header: Header,
}

impl Named<'_> {
    pub fn is_directory(&self) -> bool {
        self.header.kind == InodeKind::Directory
    }
}

/// The directories of a volume.
#[derive(Default)]
pub(super) struct Directories {
    /// The one that was used last.
    dir: Option<Directory>,
}

impl Directories {
    /// Forgets the directory that was used last: its inode was changed, or may have been.
    pub fn forget(&mut self) {
        self.dir = None;
    }

    /// The same, if it is this one.
    pub fn forget_if(&mut self, inode: u32) {
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            self.dir = None;
        }
    }

    /// Makes a directory the one that the functions below work on.
    ///
    /// # Cost
    /// Nothing when it was used last, else two looks.
    pub fn enter<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32) -> Result<(), Error> {
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            return Ok(());
        }
        let header = volume.taken_header(inode)?;
        match header.kind {
            InodeKind::Directory => {}
            InodeKind::File | InodeKind::Orphan => return Err(Error::NotADirectory),
            InodeKind::Removed | InodeKind::Extension => return Err(Error::NotFound),
        }
        let Header { size, modified_ns, extra: buckets, .. } = header;
        self.dir = Some(Directory { node: Node::new(inode), size, modified_ns, buckets });
        Ok(())
    }

    fn directory(&self) -> Directory {
        self.dir.unwrap_or(Directory { node: Node::new(ROOT), size: 0, modified_ns: 0, buckets: 0 })
    }

    /// The logical page of a bucket of the directory.
    fn bucket_page<F: Flash>(&mut self, volume: &mut Volume<'_, F>, bucket: u32) -> Result<u32, Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let page = volume.page_of(&mut dir.node, bucket)?;
        self.dir = Some(dir);
        page.ok_or(Error::Corrupt)
    }

    /// Buckets of the directory.
    fn buckets<F: Flash>(&self, volume: &Volume<'_, F>) -> Result<u32, Error> {
        let buckets = self.directory().buckets;
        if buckets <= volume.plan().data_count { Ok(buckets) } else { Err(Error::Corrupt) }
    }

    fn slot_place<F: Flash>(&mut self, volume: &mut Volume<'_, F>, slot: u32) -> Result<(u32, u32), Error> {
        let slots = slots(volume.store.layout());
        Ok((self.bucket_page(volume, slot / slots)?, slot % slots * volume.store.layout().record_bytes()))
    }

    /// Looks a name up in a directory.
    ///
    /// # Cost
    /// A look at the directory's inode if it was not used last, one at a program page of the bucket (seldom two), one at the inode of
    /// each name of equal hash.
    pub fn find<F: Flash>(&mut self, volume: &mut Volume<'_, F>, directory: u32, name: &str) -> Result<Found, Error> {
        let name = check_name(name)?;
        self.enter(volume, directory)?;
        let (hash, buckets) = (hash(name), self.buckets(volume)?);
        if buckets == 0 {
            return Ok(Found::Free(None));
        }
        let bucket = bucket_of(hash, buckets).0;
        let page = self.bucket_page(volume, bucket)?;
        let (mut free, mut equal) = (None, 0);
        let mut after = None;
        loop {
            match volume.next_record(page, hash, after, &mut free)? {
                None => return Ok(Found::Free(free.map(|slot| bucket * slots(volume.store.layout()) + slot))),
                Some((slot, inode)) => {
                    if volume.name_is(inode, name)? {
                        return Ok(Found::At { slot: bucket * slots(volume.store.layout()) + slot, inode });
                    }
                    equal += 1;
                    if equal == EQUAL_HASHES_MAX {
                        return Err(Error::NameCollision);
                    }
                    after = Some(slot);
                }
            }
        }
    }

    /// Adds a record to the directory. `slot` is free for it, unless the directory grows.
    ///
    /// # Cost
    /// Nothing but patches; two frames when the directory grows.
    pub fn insert_record<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        name: &str,
        inode: u32,
        slot: Option<u32>,
        is_directory: bool,
        room: Room,
    ) -> Result<(), Error> {
        let hash = hash(check_name(name)?);
        let dir = self.directory();
        let (entries, buckets) = (dir.size as u32, self.buckets(volume)?);
        let mut slot = slot;
        if buckets == 0 || entries >= entries_max(volume.store.layout(), buckets) {
            self.grow_directory(volume, buckets, room)?;
            let bucket = bucket_of(hash, buckets + 1).0;
            let page = self.bucket_page(volume, bucket)?;
            let (mut free, mut after) = (None, None);
            while let Some((slot, _)) = volume.next_record(page, hash, after, &mut free)? {
                after = Some(slot);
            }
            slot = free.map(|slot| bucket * slots(volume.store.layout()) + slot);
        }
        let (page, at) = self.slot_place(volume, slot.ok_or(Error::NameCollision)?)?;
        volume.write_record(page, at, hash, inode + 1)?;
        self.count_entry(volume, true, is_directory)
    }

    /// Lets a record name another inode; each is a directory, or is none.
    pub fn replace_record<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        slot: u32,
        inode: u32,
        [was_directory, is_directory]: [bool; 2],
    ) -> Result<(), Error> {
        let (page, at) = self.slot_place(volume, slot)?;
        let half = volume.store.layout().record_bytes() / 2;
        volume.store.logical.patch(page, at + half, &(inode + 1).to_le_bytes()[..half as usize])?;
        let mut dir = self.directory();
        dir.size = dir.size.wrapping_sub(u64::from(was_directory) << 32).wrapping_add(u64::from(is_directory) << 32);
        self.note_directory(volume, dir)
    }

    /// Lets each of two names name what the other one does, in the records of their directories and in the inodes.
    pub fn exchange<F: Flash>(&mut self, volume: &mut Volume<'_, F>, one: &Named<'_>, other: &Named<'_>) -> Result<(), Error> {
        for (name, new) in [(one, other), (other, one)] {
            self.enter(volume, name.directory)?;
            self.replace_record(volume, name.slot, new.inode, [name.is_directory(), new.is_directory()])?;
        }
        for (name, new) in [(one, other), (other, one)] {
            let mut header = new.header;
            self.forget_if(new.inode);
            volume.move_inode(new.inode, &mut header, name.directory, name.name)?;
        }
        Ok(())
    }

    /// Removes a name.
    pub fn remove_named<F: Flash>(&mut self, volume: &mut Volume<'_, F>, named: &Named<'_>) -> Result<(), Error> {
        self.enter(volume, named.directory)?;
        self.remove_record(volume, named.slot, named.is_directory())
    }

    /// Removes a record of the directory.
    pub fn remove_record<F: Flash>(&mut self, volume: &mut Volume<'_, F>, slot: u32, is_directory: bool) -> Result<(), Error> {
        let (page, at) = self.slot_place(volume, slot)?;
        let (page_bytes, width) = (volume.store.layout().geometry.page_bytes, volume.store.layout().record_bytes());
        // A full program page may have sent records on to the next one.
        let number =
            volume.store.logical.with_page(page, at / page_bytes, |bytes| if is_full(bytes, width) { REMOVED } else { 0 })?;
        // The last byte of a long number is 0 already.
        let changed = if number == 0 { (width / 2).min(3) } else { width / 2 };
        volume.store.logical.patch(page, at + width / 2, &number.to_le_bytes()[..changed as usize])?;
        self.count_entry(volume, false, is_directory)
    }

    /// Notes one entry more or less in the directory, and the time.
    fn count_entry<F: Flash>(&mut self, volume: &mut Volume<'_, F>, more: bool, is_directory: bool) -> Result<(), Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let step = 1 | u64::from(is_directory) << 32;
        dir.size = if more { dir.size.wrapping_add(step) } else { dir.size.wrapping_sub(step) };
        self.note_directory(volume, dir)
    }

    /// Writes the number of entries of the directory, and the time.
    fn note_directory<F: Flash>(&mut self, volume: &mut Volume<'_, F>, mut dir: Directory) -> Result<(), Error> {
        dir.modified_ns = volume.now_ns().max(dir.modified_ns);
        let (page, at) = volume.inode_place(dir.node.inode);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&dir.size.to_le_bytes());
        bytes[8..].copy_from_slice(&dir.modified_ns.to_le_bytes());
        volume.store.logical.patch(page, at + SIZE_AT, &bytes)?;
        self.dir = Some(dir);
        Ok(())
    }

    /// Gives the directory one bucket more.
    fn grow_directory<F: Flash>(&mut self, volume: &mut Volume<'_, F>, buckets: u32, room: Room) -> Result<(), Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        if buckets == 0 {
            // What an earlier file with this inode left there.
            let (page, at) = volume.inode_place(dir.node.inode);
            volume.patch_what_differs(page, at + AREA_AT, &[0; AREA_BYTES])?;
        }
        let new = volume.add_page(&mut dir.node, buckets, room)?;
        dir.buckets = buckets + 1;
        self.dir = Some(dir);
        if buckets > 0 {
            let bit = 1 << buckets.ilog2();
            let old = self.bucket_page(volume, buckets - bit)?;
            let bytes = volume.store.layout().record_bytes();
            volume.store.logical.write_edited(new, old, Edit::Records { bytes, mask: bit, value: bit })?;
            volume.store.logical.write_edited(old, old, Edit::Records { bytes, mask: bit, value: 0 })?;
        }
        let (page, at) = volume.inode_place(dir.node.inode);
        volume.store.logical.patch(page, at + EXTRA_AT, &dir.buckets.to_le_bytes())
    }

    /// The inode and name of the first entry of a directory from `cursor` on; moves `cursor` behind it.
    ///
    /// A directory is listed by the one that its inode names. A damaged volume may name it in another as well, perhaps within itself, and who follows the
    /// names would find no end. Such an entry is passed over where the mount has said that something is missing; else it is [`Error::Corrupt`].
    ///
    /// # Cost
    /// A look at the directory's inode, one at each page of the bucket, one for each bucket without entries, and one at the inode; on a damaged
    /// volume one at each that is passed over.
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
            let page = self.bucket_page(volume, bucket)?;
            if let Some(found) = volume.first_in_bucket(page, *cursor)? {
                let inode = found.number - 1;
                *cursor = Cursor { number: found.number + 1, ..found };
                let header = volume.read_header(inode)?;
                if header.kind == InodeKind::Directory && (header.parent != directory || inode == ROOT) {
                    if volume.store.status().damage().is_some() {
                        continue;
                    }
                    return Err(Error::Corrupt);
                }
                let mut name = [0; NAME_BYTES_MAX];
                volume.read_name(inode, &header, &mut name)?;
                return Ok(Some(Entry::new(name, inode, &header)));
            }
            // All hashes that share the bits that name the bucket are done.
            let next = ((u64::from(cursor.reversed) >> (32 - bits)) + 1) << (32 - bits);
            *cursor = if next >> 32 == 0 { Cursor { reversed: next as u32, number: 0 } } else { END };
        }
        Ok(None)
    }

    /// Writes the number of entries of a directory.
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

    /// Whether `inode` is `directory`, or holds it.
    ///
    /// # Cost
    /// A look at the inode of each directory up to the root.
    pub fn holds<F: Flash>(&mut self, volume: &mut Volume<'_, F>, inode: u32, directory: u32) -> Result<bool, Error> {
        let mut at = directory;
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
