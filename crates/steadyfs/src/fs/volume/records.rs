//! The records of a directory's bucket: which bucket a name is in, and where in it.

use super::Volume;
use crate::config::Layout;
use crate::error::Error;
#[cfg(doc)]
use crate::fs::FileSystem;
use crate::fs::inode::{Header, NAME_BYTES_MAX};
use crate::logical::edit::{self, REMOVED};
use crate::media::Flash;

/// Place in a directory, for [`FileSystem::list`]. Stays valid whatever happens to the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Bits of the hash, reversed.
    pub reversed: u32,
    /// The first inode of that hash that is not listed yet, plus one.
    pub number: u32,
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

/// The hash of a name: FNV-1a, and a finish that lets every bit of it depend on every byte.
pub fn hash(name: &[u8]) -> u32 {
    let mut h = name.iter().fold(0x811C_9DC5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
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

/// The bucket of a hash in a directory of `buckets`, and how many bits of the hash name it.
pub fn bucket_of(hash: u32, buckets: u32) -> (u32, u32) {
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
pub fn slots(layout: &Layout) -> u32 {
    layout.logical_bytes / layout.record_bytes()
}

/// Entries above which a directory of `buckets` grows. A bucket that is not split yet holds up to twice the average; small ones
/// need more room, because chance fills them less evenly.
pub fn entries_max(layout: &Layout, buckets: u32) -> u32 {
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

/// The place behind all entries.
pub const END: Cursor = Cursor { reversed: u32::MAX, number: u32::MAX };

impl<F: Flash> Volume<'_, F> {
    /// The next record of a hash in a bucket, behind slot `after`; notes the first free slot.
    pub fn next_record(
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
            let (found, is_full) = self.store.logical.with_page(page, index, |bytes| {
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

    #[inline(never)]
    pub fn name_is(&mut self, inode: u32, name: &[u8]) -> Result<bool, Error> {
        let header = self.read_header(inode)?;
        if usize::from(header.name_bytes) != name.len() {
            return Ok(false);
        }
        let mut bytes = [0; NAME_BYTES_MAX];
        self.read_name(inode, &header, &mut bytes)?;
        Ok(&bytes[..name.len()] == name)
    }

    pub fn write_record(&mut self, page: u32, at: u32, hash: u32, number: u32) -> Result<(), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes() as usize);
        edit::write_record(&mut record[..width], hash, number);
        self.store.logical.patch(page, at, &record[..width])
    }

    /// What a record has of a hash.
    fn key_of(&self, hash: u32) -> u32 {
        if self.store.layout().record_bytes() == 4 { hash & 0xFFFF } else { hash }
    }

    /// The first record of a bucket from `cursor` on, as a cursor.
    pub fn first_in_bucket(&mut self, page: u32, cursor: Cursor) -> Result<Option<Cursor>, Error> {
        let (mut best, width) = (None, self.store.layout().record_bytes() as usize);
        for index in 0..u32::from(self.store.layout().config.unit_pages) {
            let here = self.store.logical.with_page(page, index, |bytes| {
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
    pub fn read_record(&mut self, page: u32, slot: u32) -> Result<(u32, u32), Error> {
        let (mut record, width) = ([0; 8], self.store.layout().record_bytes());
        let record = &mut record[..width as usize];
        self.store.logical.read(page, slot * width, record)?;
        Ok((edit::key(record), edit::number(record)))
    }

    /// Clears a record that names nothing.
    pub fn clear_record(&mut self, page: u32, slot: u32) -> Result<(), Error> {
        // As removed: whether records were sent on to the next program page is not known here.
        let width = self.store.layout().record_bytes();
        self.store.logical.patch(page, slot * width + width / 2, &REMOVED.to_le_bytes()[..width as usize / 2])
    }

    /// Whether a record with this hash, in this bucket, is that of an inode's name.
    pub fn record_is_right(&mut self, inode: u32, header: &Header, hash: u32, bucket: u32, buckets: u32) -> Result<bool, Error> {
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
}

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
