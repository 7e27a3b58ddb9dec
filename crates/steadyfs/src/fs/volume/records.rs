//! The records of a directory: look-ups and changes in its pages, and the limits of a search.

use super::Volume;
use super::buckets::{RecordPlace, hash};
use super::space::Depth;
use crate::config::INODE_BYTES;
use crate::error::Error;
use crate::features::LONG_NAMES;
#[cfg(doc)]
use crate::fs::FileSystem;
use crate::fs::inode::{EXTENSION_AT, HEADER_BYTES, InodeHeader, NAME_BYTES_MAX, NAME_ROOM};
use crate::logical::edit::{self, REMOVED};
use crate::media::Flash;

/// Offset of the depth in the root page of the volume, behind the lists.
pub const DEPTH_AT: u32 = 12;
/// Number of bytes of the depth.
pub const DEPTH_BYTES: usize = 8;

/// A position in a directory, for [`FileSystem::list`]. It is a number, not a handle. It stays
/// valid after any change of the directory, and after a mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cursor {
    /// The bits of the hash in reverse order.
    pub reversed: u32,
    /// The first inode with this hash that is not listed yet, plus one.
    pub number: u32,
}

impl Cursor {
    /// Returns the position as a number. 0 is the beginning.
    pub fn to_bits(self) -> u64 {
        u64::from(self.reversed) << 32 | u64::from(self.number)
    }

    /// Returns the position for a number that [`to_bits`](Self::to_bits) returned.
    pub fn from_bits(bits: u64) -> Self {
        Self { reversed: (bits >> 32) as u32, number: bits as u32 }
    }
}

/// The outcome of a search of one page.
pub enum SearchStep {
    /// A record with the hash is in this slot, and names this inode.
    Record { slot: u32, inode: u32 },
    /// The page has no further record with the hash. The page was full at some time, so the next
    /// page may have such a record.
    GoesOn,
    /// Neither this page nor any later page has a further record with the hash.
    Ends,
}

/// Refuses names that no file can have.
pub fn check_name(name: &str) -> Result<&[u8], Error> {
    let bytes = name.as_bytes();
    match name {
        "" | "." | ".." => Err(Error::InvalidName),
        _ if bytes.len() > NAME_BYTES_MAX => Err(Error::NameTooLong),
        _ if bytes.iter().any(|&byte| byte == b'/' || byte == 0) => Err(Error::InvalidName),
        _ => Ok(bytes),
    }
}

/// The position behind all entries.
pub const END: Cursor = Cursor { reversed: u32::MAX, number: u32::MAX };

impl<F: Flash> Volume<'_, F> {
    /// Returns the next record with a hash in a page of a directory, behind slot `after`. Stores
    /// the first free slot in `free`.
    pub fn next_record(
        &mut self,
        page: u32,
        hash: u32,
        after: Option<u32>,
        free: &mut Option<RecordPlace>,
    ) -> Result<SearchStep, Error> {
        let (buckets, unit) =
            (self.buckets(), u32::from(self.store.layout().config.pages_per_logical_page));
        let per_page = buckets.slots() / unit;
        let (width, key, home) = (
            self.store.layout().record_bytes() as usize,
            buckets.key_of(hash),
            buckets.home_of(hash),
        );
        let done = after.map_or(0, |slot| (slot / per_page).wrapping_sub(home) & (unit - 1));
        for step in done..unit {
            let index = (home + step) & (unit - 1);
            let from =
                after.filter(|slot| slot / per_page == index).map_or(0, |slot| slot % per_page + 1);
            let (found, is_full) = self.store.logical.with_page(page, index, |bytes| {
                let mut is_full = true;
                let mut found = None;
                for (slot, record) in bytes.chunks_exact(width).enumerate() {
                    let (slot, number) = (slot as u32, edit::number(record));
                    if number == 0 || number == REMOVED {
                        is_full &= number != 0;
                        *free = free.or(Some(buckets.place(page, index * per_page + slot)));
                    } else if found.is_none() && slot >= from && edit::key(record) == key {
                        found = Some(SearchStep::Record {
                            slot: index * per_page + slot,
                            inode: number - 1,
                        });
                    }
                }
                (found, is_full)
            })?;
            if let Some(found) = found {
                return Ok(found);
            }
            // Inserts use a further page only if this page is full, so no further page has such a
            // record.
            if !is_full {
                return Ok(SearchStep::Ends);
            }
        }
        Ok(SearchStep::GoesOn)
    }

    /// Returns the depth of the volume that bounds include.
    pub fn depth(&self) -> Depth {
        self.space.depth.max(Depth { pages: 0, equal: self.buckets().equal_usual() })
    }

    /// Refuses a search that exceeds the depth of the volume, because only a damaged volume needs
    /// such a search. If the mount has reported damage, no search is refused, because the depth
    /// itself may be lost.
    pub fn check_searched(&self, searched: Depth) -> Result<(), Error> {
        let is_sound =
            searched.max(self.depth()) == self.depth() || self.store.status().damage().is_some();
        if is_sound { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Sets the depth in RAM. The root page of the volume does not change.
    pub fn set_depth(&mut self, depth: Depth) {
        self.space.depth = depth;
    }

    /// Writes a new depth into the root page.
    pub fn write_depth(&mut self, depth: Depth) -> Result<(), Error> {
        let mut bytes = [0; DEPTH_BYTES];
        bytes[..4].copy_from_slice(&depth.pages.to_le_bytes());
        bytes[4..].copy_from_slice(&depth.equal.to_le_bytes());
        self.store.logical.patch(0, DEPTH_AT, &bytes)?;
        self.set_depth(depth);
        Ok(())
    }

    /// Returns the header of an inode, if the inode has this name.
    ///
    /// # Cost
    /// One look. If a long name is equal up to the part in the inode, one more look at the rest of
    /// the name.
    pub fn header_of_name(
        &mut self,
        inode: u32,
        name: &[u8],
    ) -> Result<Option<InodeHeader>, Error> {
        let Some(header) = self.header_if_begun(inode, name)? else { return Ok(None) };
        let rest = &name[name.len().min(self.plan.name_inline())..];
        let is_it = rest.is_empty() || self.rest_is(header.name_more, rest)?;
        Ok(is_it.then_some(header))
    }

    /// Returns true if an extension holds `rest`, which is the end of a long name.
    ///
    /// Not inlined, so these bytes take no stack while the bytes of the inode are compared.
    #[inline(never)]
    fn rest_is(&mut self, extension: u32, rest: &[u8]) -> Result<bool, Error> {
        if !LONG_NAMES {
            return Err(Error::Unsupported);
        }
        let (mut bytes, at) = ([0; INODE_BYTES as usize], EXTENSION_AT as usize);
        let end = at + rest.len();
        self.read_extension(extension, &mut bytes[..end])?;
        Ok(bytes[at..end] == *rest)
    }

    /// Returns the header of an inode, if its name is as long as `name` and begins in the same way.
    /// The rest of a long name is not compared.
    ///
    /// Not inlined, so the bytes of the inode are off the stack while the rest is compared.
    #[inline(never)]
    fn header_if_begun(&mut self, inode: u32, name: &[u8]) -> Result<Option<InodeHeader>, Error> {
        if inode >= self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        // Header and name lie in one program page.
        let mut bytes = [0; HEADER_BYTES + NAME_ROOM];
        self.store.logical.read(page, at, &mut bytes)?;
        let header = bytes.first_chunk().and_then(|bytes| InodeHeader::parse(bytes, inode));
        let header = header.ok_or(Error::Corrupt)?;
        let first = &name[..name.len().min(self.plan.name_inline())];
        let is_it = usize::from(header.name_bytes) == name.len()
            && bytes[HEADER_BYTES..].starts_with(first);
        Ok(is_it.then_some(header))
    }

    pub fn write_record(
        &mut self,
        place: RecordPlace,
        hash: u32,
        number: u32,
    ) -> Result<(), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes() as usize);
        edit::write_record(&mut record[..width], hash, number);
        self.store.logical.patch(place.page, place.at, &record[..width])
    }

    /// Returns the first record of a page between `cursor` and `end`, as a cursor. The flag is true
    /// if every program page of the page was full at some time.
    pub fn first_in_page(
        &mut self,
        page: u32,
        cursor: Cursor,
        end: u32,
    ) -> Result<(Option<Cursor>, bool), Error> {
        let (mut best, mut all_full, width) =
            (None, true, self.store.layout().record_bytes() as usize);
        for index in 0..u32::from(self.store.layout().config.pages_per_logical_page) {
            let (here, is_full) = self.store.logical.with_page(page, index, |bytes| {
                let (mut here, mut is_full) = (None, true);
                for record in bytes.chunks_exact(width) {
                    let number = edit::number(record);
                    is_full &= number != 0;
                    if number == 0 || number == REMOVED {
                        continue;
                    }
                    let place = Cursor { reversed: edit::key(record).reverse_bits(), number };
                    if place >= cursor
                        && place.reversed <= end
                        && here.is_none_or(|first| place < first)
                    {
                        here = Some(place);
                    }
                }
                (here, is_full)
            })?;
            best = here.into_iter().chain(best).min();
            all_full &= is_full;
        }
        Ok((best, all_full))
    }

    /// Reads a record: its hash, and its inode plus one.
    pub fn read_record(&mut self, place: RecordPlace) -> Result<(u32, u32), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes());
        let record = &mut record[..width as usize];
        self.store.logical.read(place.page, place.at, record)?;
        Ok((edit::key(record), edit::number(record)))
    }

    /// Clears a record that names no file.
    pub fn clear_record(&mut self, place: RecordPlace) -> Result<(), Error> {
        // The record is marked as removed, not as free: earlier inserts may have continued in the
        // next program page.
        let half = self.store.layout().record_bytes() / 2;
        self.store.logical.patch(
            place.page,
            place.at + half,
            &REMOVED.to_le_bytes()[..half as usize],
        )
    }

    /// Returns true if a record with this hash can belong to the name of an inode, in a directory
    /// with this seed.
    pub fn record_is_right(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        hash: u32,
        seed: u32,
    ) -> Result<bool, Error> {
        let mut name = [0; NAME_BYTES_MAX];
        match self.read_name(inode, header, &mut name) {
            Err(error @ Error::Device) => Err(error),
            Err(_) => Ok(false),
            Ok(()) => {
                let name = &name[..usize::from(header.name_bytes)];
                let can_be = core::str::from_utf8(name).is_ok_and(|name| check_name(name).is_ok());
                Ok(can_be && hash == self.buckets().key_of(self::hash(seed, name)))
            }
        }
    }
}
