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

use super::inode::{
    AREA_AT, AREA_BYTES, EXTENSION_AT, EXTENSION_BYTES, EXTRA_AT, HEADER_BYTES, Header, InodeKind, NAME_AT, NAME_BYTES_AT,
    NAME_BYTES_MAX, NAME_MORE_AT, NAME_ROOM, ROOT, SIZE_AT,
};
use super::regions::Node;
use super::space::Room;
use super::{Entry, FileSystem};
use crate::config::{INODE_BYTES, Layout};
use crate::error::Error;
use crate::features::LONG_NAMES;
use crate::media::Flash;
use crate::store::edit::{self, Edit, REMOVED, is_full};

/// Names of equal hash that are looked at.
const EQUAL_HASHES_MAX: u32 = 8;

/// The directory that was used last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directory {
    pub node: Node,
    /// Entries, and in the upper half how many of them are directories.
    size: u64,
    modified_ns: u64,
    buckets: u32,
}

/// Where a name is, or would go.
pub(super) enum Found {
    /// In this slot, with this inode.
    At { slot: u32, inode: u32 },
    /// Nowhere; the slot is free for it, if there is one.
    Free(Option<u32>),
}

/// Place in a directory, for [`FileSystem::list`]. Stays valid whatever happens to the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Bits of the hash, reversed.
    reversed: u32,
    /// The first inode of that hash that is not listed yet, plus one.
    number: u32,
}

impl Cursor {
    /// The place as a number; 0 is the beginning.
    pub fn to_bits(self) -> u64 {
        u64::from(self.reversed) << 32 | u64::from(self.number)
    }

    /// The place that [`to_bits`](Self::to_bits) gave.
    pub fn from_bits(bits: u64) -> Self {
        Self { reversed: (bits >> 32) as u32, number: bits as u32 }
    }
}

/// FNV-1a, and a finish that lets every bit of it depend on every byte.
fn hash(name: &[u8]) -> u32 {
    let mut h = name.iter().fold(0x811C_9DC5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

/// Refuses names that no file can have.
fn check_name(name: &str) -> Result<&[u8], Error> {
    let bytes = name.as_bytes();
    match name {
        "" | "." | ".." => Err(Error::InvalidName),
        _ if bytes.len() > NAME_BYTES_MAX => Err(Error::NameTooLong),
        _ if bytes.iter().any(|&byte| byte == b'/' || byte == 0) => Err(Error::InvalidName),
        _ => Ok(bytes),
    }
}

/// The bucket of a hash in a directory of `buckets`, and how many bits of the hash name it.
fn bucket_of(hash: u32, buckets: u32) -> (u32, u32) {
    let bits = buckets.ilog2();
    let bucket = hash & ((2 << bits) - 1);
    if bucket < buckets {
        // A bucket that is not split yet is named by one bit less.
        let whole = bucket < 1 << bits && bucket + (1 << bits) >= buckets;
        (bucket, if whole { bits } else { bits + 1 })
    } else {
        (hash & ((1 << bits) - 1), bits)
    }
}

/// Records of a bucket.
pub(super) fn slots(layout: &Layout) -> u32 {
    layout.logical_bytes / layout.record_bytes()
}

/// Entries above which a directory of `buckets` grows. A bucket that is not split yet holds up to twice the average; small ones
/// need more room, because chance fills them less evenly.
fn entries_max(layout: &Layout, buckets: u32) -> u32 {
    let slots = slots(layout);
    // A bucket of twice the average overflows once in a million times at most.
    let average = match slots {
        512.. => slots * 2 / 5,
        128.. => slots * 3 / 10,
        64.. => slots / 4,
        _ => slots / 5,
    };
    // The first bucket has nobody to share with.
    if buckets == 1 { average * 3 / 2 } else { average * buckets }
}

impl<F: Flash> FileSystem<'_, F> {
    /// The logical page and offset of an inode.
    pub(super) fn inode_place(&self, inode: u32) -> (u32, u32) {
        let per_page = self.store.layout().logical_bytes / INODE_BYTES;
        (self.plan.table + inode / per_page, inode % per_page * INODE_BYTES)
    }

    /// Reads the header of an inode.
    pub(super) fn read_header(&mut self, inode: u32) -> Result<Header, Error> {
        if inode >= self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; HEADER_BYTES];
        self.store.read(page, at, &mut bytes)?;
        Header::parse(&bytes, inode).ok_or(Error::Corrupt)
    }

    /// Makes a directory the one that the functions below work on.
    ///
    /// # Cost
    /// Nothing when it was used last, else two looks.
    pub(super) fn enter(&mut self, inode: u32) -> Result<(), Error> {
        if self.dir.is_some_and(|dir| dir.node.inode == inode) {
            return Ok(());
        }
        let header = self.header_of(inode)?;
        if header.kind != InodeKind::Directory {
            return Err(Error::NotADirectory);
        }
        let Header { size, modified_ns, extra: buckets, .. } = header;
        self.dir = Some(Directory { node: Node::new(inode), size, modified_ns, buckets });
        Ok(())
    }

    pub(super) fn directory(&self) -> Directory {
        self.dir.unwrap_or(Directory { node: Node::new(ROOT), size: 0, modified_ns: 0, buckets: 0 })
    }

    /// The logical page of a bucket of the directory.
    fn bucket_page(&mut self, bucket: u32) -> Result<u32, Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let page = self.page_of(&mut dir.node, bucket)?;
        self.dir = Some(dir);
        page.ok_or(Error::Corrupt)
    }

    /// Buckets of the directory.
    fn buckets(&self) -> Result<u32, Error> {
        let buckets = self.directory().buckets;
        if buckets <= self.plan.data_count { Ok(buckets) } else { Err(Error::Corrupt) }
    }

    fn slot_place(&mut self, slot: u32) -> Result<(u32, u32), Error> {
        let slots = slots(self.store.layout());
        Ok((self.bucket_page(slot / slots)?, slot % slots * self.store.layout().record_bytes()))
    }

    /// Looks a name up in a directory.
    ///
    /// # Cost
    /// A look at the directory's inode if it was not used last, one at a program page of the bucket (seldom two), one at the inode of
    /// each name of equal hash.
    pub(super) fn find(&mut self, directory: u32, name: &str) -> Result<Found, Error> {
        let name = check_name(name)?;
        self.enter(directory)?;
        let (hash, buckets) = (hash(name), self.buckets()?);
        if buckets == 0 {
            return Ok(Found::Free(None));
        }
        let bucket = bucket_of(hash, buckets).0;
        let page = self.bucket_page(bucket)?;
        let (mut free, mut equal) = (None, 0);
        let mut after = None;
        loop {
            match self.next_record(page, hash, after, &mut free)? {
                None => return Ok(Found::Free(free.map(|slot| bucket * slots(self.store.layout()) + slot))),
                Some((slot, inode)) => {
                    if self.name_is(inode, name)? {
                        return Ok(Found::At { slot: bucket * slots(self.store.layout()) + slot, inode });
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

    /// The next record of a hash in a bucket, behind slot `after`; notes the first free slot.
    fn next_record(
        &mut self,
        page: u32,
        hash: u32,
        after: Option<u32>,
        free: &mut Option<u32>,
    ) -> Result<Option<(u32, u32)>, Error> {
        let unit = u32::from(self.store.layout().config.unit_pages);
        let per_page = slots(self.store.layout()) / unit;
        let (width, key) = (self.store.layout().record_bytes() as usize, self.key_of(hash));
        let home = hash >> 16 & (unit - 1);
        let done = after.map_or(0, |slot| (slot / per_page).wrapping_sub(home) & (unit - 1));
        for step in done..unit {
            let index = (home + step) & (unit - 1);
            let from = after.filter(|slot| slot / per_page == index).map_or(0, |slot| slot % per_page + 1);
            let (found, is_full) = self.store.with_page(page, index, |bytes| {
                let mut is_full = true;
                let mut found = None;
                for (slot, record) in bytes.chunks_exact(width).enumerate() {
                    let (slot, number) = (slot as u32, edit::number(record));
                    if number == 0 || number == REMOVED {
                        is_full &= number != 0;
                        *free = free.or(Some(index * per_page + slot));
                    } else if found.is_none() && slot >= from && edit::key(record) == key {
                        found = Some((index * per_page + slot, number - 1));
                    }
                }
                (found, is_full)
            })?;
            if found.is_some() || !is_full {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn name_is(&mut self, inode: u32, name: &[u8]) -> Result<bool, Error> {
        let header = self.read_header(inode)?;
        if usize::from(header.name_bytes) != name.len() {
            return Ok(false);
        }
        let mut bytes = [0; NAME_BYTES_MAX];
        self.read_name(inode, &header, &mut bytes)?;
        Ok(&bytes[..name.len()] == name)
    }

    /// Reads the name of an inode, of `header.name_bytes` bytes.
    pub(super) fn read_name(&mut self, inode: u32, header: &Header, name: &mut [u8; NAME_BYTES_MAX]) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        let length = usize::from(header.name_bytes);
        let inline = self.plan.name_inline();
        self.store.read(page, at + NAME_AT, &mut name[..length.min(inline)])?;
        if length > inline {
            if !LONG_NAMES {
                return Err(Error::Unsupported);
            }
            let (page, at) = self.extension_place(header.name_more)?;
            self.store.read(page, at, &mut name[inline..length])?;
        }
        Ok(())
    }

    /// The logical page and offset of an extension's content. `number` is its inode plus one.
    pub(super) fn extension_place(&mut self, number: u32) -> Result<(u32, u32), Error> {
        let inode = number.checked_sub(1).ok_or(Error::Corrupt)?;
        if self.read_header(inode)?.kind != InodeKind::Extension {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        Ok((page, at + EXTENSION_AT))
    }

    /// Takes an inode as extension of another one; returns its number plus one.
    pub(super) fn add_extension(&mut self, owner: u32) -> Result<u32, Error> {
        let inode = self.allocate_inode(self.plan.files_max)?;
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; EXTENSION_AT as usize];
        bytes[0] = InodeKind::Extension as u8;
        bytes[4..].copy_from_slice(&owner.to_le_bytes());
        self.store.patch(page, at, &bytes)?;
        Ok(inode + 1)
    }

    /// Gives an extension back, if there is one.
    pub(super) fn remove_extension(&mut self, number: u32) -> Result<(), Error> {
        match number.checked_sub(1) {
            Some(inode) if inode < self.plan.inode_count => self.free_inode(inode),
            Some(_) => Err(Error::Corrupt),
            None => Ok(()),
        }
    }

    /// Writes bytes of an extension, in pieces that the journal takes.
    pub(super) fn write_extension(&mut self, number: u32, bytes: &[u8]) -> Result<(), Error> {
        debug_assert!(bytes.len() <= EXTENSION_BYTES);
        let (page, at) = self.inode_place(number - 1);
        for (index, piece) in bytes.chunks(EXTENSION_BYTES / 2).enumerate() {
            self.store.patch(page, at + EXTENSION_AT + (index * (EXTENSION_BYTES / 2)) as u32, piece)?;
        }
        Ok(())
    }

    /// Puts what the inode itself does not hold of a name into an extension, and notes that and the length in `header`.
    fn write_long_name(&mut self, inode: u32, header: &mut Header, name: &[u8]) -> Result<(), Error> {
        header.name_bytes = name.len() as u8;
        let inline = self.plan.name_inline();
        if name.len() <= inline {
            return self.remove_extension(core::mem::take(&mut header.name_more));
        }
        if !LONG_NAMES {
            return Err(Error::Unsupported);
        }
        if header.name_more == 0 {
            header.name_more = self.add_extension(inode)?;
        }
        self.write_extension(header.name_more, &name[inline..])
    }

    /// Writes header and name of a new inode.
    pub(super) fn write_inode(&mut self, inode: u32, header: &mut Header, name: &[u8]) -> Result<(), Error> {
        self.write_long_name(inode, header, name)?;
        let mut end = HEADER_BYTES + name.len().min(self.plan.name_inline());
        let mut bytes = [0; HEADER_BYTES + NAME_ROOM];
        bytes[..HEADER_BYTES].copy_from_slice(&header.emit());
        bytes[HEADER_BYTES..end].copy_from_slice(&name[..end - HEADER_BYTES]);
        if self.plan.has_permissions {
            // None, whatever an earlier file with this inode had.
            end = bytes.len();
        }
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at, &bytes[..end])
    }

    /// Writes another name of an inode.
    pub(super) fn write_name(&mut self, inode: u32, header: &mut Header, name: &[u8]) -> Result<(), Error> {
        let (length, more) = (header.name_bytes, header.name_more);
        self.write_long_name(inode, header, name)?;
        let (page, at) = self.inode_place(inode);
        if header.name_bytes != length {
            self.store.patch(page, at + NAME_BYTES_AT, &[header.name_bytes])?;
        }
        if header.name_more != more {
            self.store.patch(page, at + NAME_MORE_AT, &header.name_more.to_le_bytes())?;
        }
        self.store.patch(page, at + NAME_AT, &name[..name.len().min(self.plan.name_inline())])
    }

    /// Adds a record to the directory. `slot` is free for it, unless the directory grows.
    ///
    /// # Cost
    /// Nothing but patches; two frames when the directory grows.
    pub(super) fn insert_record(
        &mut self,
        name: &str,
        inode: u32,
        slot: Option<u32>,
        is_directory: bool,
        room: Room,
    ) -> Result<(), Error> {
        let hash = hash(check_name(name)?);
        let dir = self.directory();
        let (entries, buckets) = (dir.size as u32, self.buckets()?);
        let mut slot = slot;
        if buckets == 0 || entries >= entries_max(self.store.layout(), buckets) {
            self.grow_directory(buckets, room)?;
            let bucket = bucket_of(hash, buckets + 1).0;
            let page = self.bucket_page(bucket)?;
            let (mut free, mut after) = (None, None);
            while let Some((slot, _)) = self.next_record(page, hash, after, &mut free)? {
                after = Some(slot);
            }
            slot = free.map(|slot| bucket * slots(self.store.layout()) + slot);
        }
        let (page, at) = self.slot_place(slot.ok_or(Error::NameCollision)?)?;
        self.write_record(page, at, hash, inode + 1)?;
        self.count_entry(true, is_directory)
    }

    fn write_record(&mut self, page: u32, at: u32, hash: u32, number: u32) -> Result<(), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes() as usize);
        edit::write_record(&mut record[..width], hash, number);
        self.store.patch(page, at, &record[..width])
    }

    /// What a record has of a hash.
    fn key_of(&self, hash: u32) -> u32 {
        if self.store.layout().record_bytes() == 4 { hash & 0xFFFF } else { hash }
    }

    /// Lets a record name another inode.
    pub(super) fn replace_record(&mut self, slot: u32, inode: u32) -> Result<(), Error> {
        let (page, at) = self.slot_place(slot)?;
        let half = self.store.layout().record_bytes() / 2;
        self.store.patch(page, at + half, &(inode + 1).to_le_bytes()[..half as usize])?;
        self.note_directory(self.directory())
    }

    /// Removes a record of the directory.
    pub(super) fn remove_record(&mut self, slot: u32, is_directory: bool) -> Result<(), Error> {
        let (page, at) = self.slot_place(slot)?;
        let (page_bytes, width) = (self.store.layout().geometry.page_bytes, self.store.layout().record_bytes());
        // A full program page may have sent records on to the next one.
        let number = self.store.with_page(page, at / page_bytes, |bytes| if is_full(bytes, width) { REMOVED } else { 0 })?;
        // The last byte of a long number is 0 already.
        let changed = if number == 0 { (width / 2).min(3) } else { width / 2 };
        self.store.patch(page, at + width / 2, &number.to_le_bytes()[..changed as usize])?;
        self.count_entry(false, is_directory)
    }

    /// Notes one entry more or less in the directory, and the time.
    fn count_entry(&mut self, more: bool, is_directory: bool) -> Result<(), Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        let step = 1 | u64::from(is_directory) << 32;
        dir.size = if more { dir.size.wrapping_add(step) } else { dir.size.wrapping_sub(step) };
        self.note_directory(dir)
    }

    /// Writes the number of entries of the directory, and the time.
    fn note_directory(&mut self, mut dir: Directory) -> Result<(), Error> {
        dir.modified_ns = self.now_ns.max(dir.modified_ns);
        let (page, at) = self.inode_place(dir.node.inode);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&dir.size.to_le_bytes());
        bytes[8..].copy_from_slice(&dir.modified_ns.to_le_bytes());
        self.store.patch(page, at + SIZE_AT, &bytes)?;
        self.dir = Some(dir);
        Ok(())
    }

    /// Gives the directory one bucket more.
    fn grow_directory(&mut self, buckets: u32, room: Room) -> Result<(), Error> {
        let Some(mut dir) = self.dir else { return Err(Error::Corrupt) };
        if buckets == 0 {
            // What an earlier file with this inode left there.
            let (page, at) = self.inode_place(dir.node.inode);
            self.patch_what_differs(page, at + AREA_AT, &[0; AREA_BYTES])?;
        }
        let new = self.add_page(&mut dir.node, buckets, room)?;
        dir.buckets = buckets + 1;
        self.dir = Some(dir);
        if buckets > 0 {
            let bit = 1 << buckets.ilog2();
            let old = self.bucket_page(buckets - bit)?;
            let bytes = self.store.layout().record_bytes();
            self.store.write_edited(new, old, Edit::Records { bytes, mask: bit, value: bit })?;
            self.store.write_edited(old, old, Edit::Records { bytes, mask: bit, value: 0 })?;
        }
        let (page, at) = self.inode_place(dir.node.inode);
        self.store.patch(page, at + EXTRA_AT, &dir.buckets.to_le_bytes())
    }

    /// The inode and name of the first entry of a directory from `cursor` on; moves `cursor` behind it.
    ///
    /// A directory is listed by the one that its inode names. A damaged volume may name it in another as well, perhaps within itself, and who follows the
    /// names would find no end. Such an entry is passed over where the mount has said that something is missing; else it is [`Error::Corrupt`].
    ///
    /// # Cost
    /// A look at the directory's inode, one at each page of the bucket, one for each bucket without entries, and one at the inode; on a damaged
    /// volume one at each that is passed over.
    pub(super) fn next_entry(&mut self, directory: u32, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        self.enter(directory)?;
        let buckets = self.buckets()?;
        while buckets > 0 && *cursor != END {
            let (bucket, bits) = bucket_of(cursor.reversed.reverse_bits(), buckets);
            let page = self.bucket_page(bucket)?;
            if let Some(found) = self.first_in_bucket(page, *cursor)? {
                let inode = found.number - 1;
                *cursor = Cursor { number: found.number + 1, ..found };
                let header = self.read_header(inode)?;
                if header.kind == InodeKind::Directory && (header.parent != directory || inode == ROOT) {
                    if self.damage().is_some() {
                        continue;
                    }
                    return Err(Error::Corrupt);
                }
                let mut name = [0; NAME_BYTES_MAX];
                self.read_name(inode, &header, &mut name)?;
                return Ok(Some(Entry { name, name_bytes: header.name_bytes, stat: self.stat_of(inode, &header) }));
            }
            // All hashes that share the bits that name the bucket are done.
            let next = ((u64::from(cursor.reversed) >> (32 - bits)) + 1) << (32 - bits);
            *cursor = if next >> 32 == 0 { Cursor { reversed: next as u32, number: 0 } } else { END };
        }
        Ok(None)
    }

    /// The first record of a bucket from `cursor` on, as a cursor.
    fn first_in_bucket(&mut self, page: u32, cursor: Cursor) -> Result<Option<Cursor>, Error> {
        let (mut best, width) = (None, self.store.layout().record_bytes() as usize);
        for index in 0..u32::from(self.store.layout().config.unit_pages) {
            let here = self.store.with_page(page, index, |bytes| {
                let records = bytes.chunks_exact(width);
                let taken = records.filter(|record| !matches!(edit::number(record), 0 | REMOVED));
                taken
                    .map(|record| Cursor { reversed: edit::key(record).reverse_bits(), number: edit::number(record) })
                    .filter(|place| *place >= cursor)
                    .min()
            })?;
            best = here.into_iter().chain(best).min();
        }
        Ok(best)
    }

    /// Reads a record: hash, and inode plus one.
    pub(super) fn read_record(&mut self, page: u32, slot: u32) -> Result<(u32, u32), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes());
        let record = &mut record[..width as usize];
        self.store.read(page, slot * width, record)?;
        Ok((edit::key(record), edit::number(record)))
    }

    /// Clears a record that names nothing.
    pub(super) fn clear_record(&mut self, page: u32, slot: u32) -> Result<(), Error> {
        // As removed: whether records were sent on to the next program page is not known here.
        let width = self.store.layout().record_bytes();
        self.store.patch(page, slot * width + width / 2, &REMOVED.to_le_bytes()[..width as usize / 2])
    }

    /// Whether a record with this hash, in this bucket, is that of an inode's name.
    pub(super) fn record_is_right(
        &mut self,
        inode: u32,
        header: &Header,
        hash: u32,
        bucket: u32,
        buckets: u32,
    ) -> Result<bool, Error> {
        let mut name = [0; NAME_BYTES_MAX];
        match self.read_name(inode, header, &mut name) {
            Err(error @ Error::Device) => Err(error),
            Err(_) => Ok(false),
            Ok(()) => {
                let name = &name[..usize::from(header.name_bytes)];
                let can_be = core::str::from_utf8(name).is_ok_and(|name| check_name(name).is_ok());
                let right = self.key_of(self::hash(name));
                Ok(can_be && hash == right && bucket_of(right, buckets).0 == bucket)
            }
        }
    }

    /// Writes the number of entries of a directory.
    pub(super) fn write_count(&mut self, directory: u32, entries: u32, subdirectories: u32) -> Result<(), Error> {
        self.dir = None;
        let size = u64::from(entries) | u64::from(subdirectories) << 32;
        let (page, at) = self.inode_place(directory);
        self.store.patch(page, at + SIZE_AT, &size.to_le_bytes())
    }

    /// Whether `inode` is `directory`, or holds it.
    ///
    /// # Cost
    /// A look at the inode of each directory up to the root.
    pub(super) fn holds(&mut self, inode: u32, directory: u32) -> Result<bool, Error> {
        let mut at = directory;
        for _ in 0..self.plan.inode_count {
            if at == inode || at == ROOT {
                return Ok(at == inode);
            }
            let header = self.read_header(at)?;
            if header.kind != InodeKind::Directory {
                return Err(if at == directory { Error::NotADirectory } else { Error::Corrupt });
            }
            at = header.parent;
        }
        Err(Error::Corrupt)
    }
}

/// The place behind all entries.
const END: Cursor = Cursor { reversed: u32::MAX, number: u32::MAX };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_in_one_bucket_and_splits_move_only_to_the_new_one() {
        for buckets in 1..40 {
            for seed in 0..2_000u32 {
                let hash = super::hash(&seed.to_le_bytes());
                let (before, bits) = bucket_of(hash, buckets);
                let (after, _) = bucket_of(hash, buckets + 1);
                assert!(before < buckets && (after == before || after == buckets));
                assert_eq!(hash & ((1 << bits) - 1), before, "the bits name the bucket");
            }
        }
    }

    #[test]
    fn listing_order_visits_each_bucket_once() {
        for buckets in 1..40u32 {
            let (mut reversed, mut seen) = (0u64, std::vec::Vec::new());
            while reversed >> 32 == 0 {
                let (bucket, bits) = bucket_of((reversed as u32).reverse_bits(), buckets);
                seen.push(bucket);
                reversed = ((reversed >> (32 - bits)) + 1) << (32 - bits);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..buckets).collect::<std::vec::Vec<_>>());
        }
    }
}
