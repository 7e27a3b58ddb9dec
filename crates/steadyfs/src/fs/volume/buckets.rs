//! The buckets of a directory: the page and the position of each record.

use super::Volume;
use crate::fs::inode::REGIONS;
use crate::media::Flash;

/// The position of a record of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The logical page of the record.
    pub page: u32,
    /// Offset of the record in this page.
    pub at: u32,
}

/// The division of a directory into pages and records. It is the same for all directories of a
/// volume.
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    /// Number of bytes of a record: 8, or 4 if hashes have 16 bits.
    record_bytes: u32,
    /// Number of bytes of a program page, and number of program pages of a bucket.
    page_bytes: u32,
    pages_per_logical_page: u32,
    /// Number of pages that a region of a file maps.
    region_pages: u32,
}

impl Buckets {
    /// Returns the number of records of a bucket.
    pub fn slots(&self) -> u32 {
        self.pages_per_logical_page * self.page_bytes / self.record_bytes
    }

    /// Returns the position of a slot of a page.
    pub fn place(&self, page: u32, slot: u32) -> RecordPlace {
        RecordPlace { page, at: slot * self.record_bytes }
    }

    /// Returns the bits of a hash that a record holds.
    pub fn key_of(&self, hash: u32) -> u32 {
        if self.record_bytes == 4 { hash & 0xFFFF } else { hash }
    }

    /// Returns the program page of a bucket in which a search for a hash begins.
    ///
    /// Bits of the key select this page, so all records with the same key lie on one path of pages.
    /// A search never finds more records with the key of a name than the insert of this name has
    /// counted. This holds even if a page on the path becomes full later.
    pub fn home_of(&self, hash: u32) -> u32 {
        let first = if self.record_bytes == 4 { 12 } else { 16 };
        self.key_of(hash) >> first & (self.pages_per_logical_page - 1)
    }

    /// Returns the first position of a search for a hash in a page without records.
    pub fn first_place(&self, page: u32, hash: u32) -> RecordPlace {
        RecordPlace { page, at: self.home_of(hash) * self.page_bytes }
    }

    /// Returns the page of a directory's file that is overflow page `number`. Overflow pages are
    /// allocated from the last region down, and buckets from the first region up.
    pub fn overflow_page(&self, number: u32) -> Option<u32> {
        let region = (REGIONS - 1).checked_sub(number / self.region_pages)?;
        Some(region * self.region_pages + number % self.region_pages)
    }

    /// Returns the number of the overflow page that is at a page of a directory's file.
    pub fn overflow_number(&self, file_page: u32) -> u32 {
        (REGIONS - 1).saturating_sub(file_page / self.region_pages) * self.region_pages
            + file_page % self.region_pages
    }

    /// Returns the number of names of equal hash that every bound includes.
    ///
    /// Random hashes rarely exceed this number. With 8,191 names and hashes of 16 bits, 2 of 100
    /// directories have five names of equal hash. With a million names and hashes of 32 bits, 1 of
    /// 100 directories has three names of equal hash.
    pub fn equal_usual(&self) -> u32 {
        if self.record_bytes == 4 { 4 } else { 2 }
    }

    /// Returns the number of entries above which a directory of `count` buckets grows.
    ///
    /// A bucket that is not split yet holds up to twice the average number of records. Small
    /// buckets need more free room, because random hashes fill them less evenly.
    pub fn entries_max(&self, count: u32) -> u32 {
        let slots = self.slots();
        // With random hashes, at most one of a million buckets with twice the average has too many
        // records.
        let average = match slots {
            512.. => slots * 2 / 5,
            128.. => slots * 3 / 10,
            64.. => slots / 4,
            _ => slots / 5,
        };
        // The only bucket of a directory holds all its records, so it never holds twice the
        // average.
        if count == 1 { average * 3 / 2 } else { average.saturating_mul(count) }
    }
}

impl<F: Flash> Volume<'_, F> {
    /// Returns the division of the directories of this volume.
    pub fn buckets(&self) -> Buckets {
        let layout = self.store.layout();
        Buckets {
            record_bytes: layout.record_bytes(),
            page_bytes: layout.geometry.page_bytes,
            pages_per_logical_page: layout.config.pages_per_logical_page.into(),
            region_pages: self.plan.region_pages,
        }
    }
}

/// Returns the hash of a name in a directory with seed `seed`: FNV-1a, then a final mix. Every bit
/// of the hash depends on every byte of the name.
pub fn hash(seed: u32, name: &[u8]) -> u32 {
    let basis = 0x811C_9DC5 ^ seed;
    let mut h = name
        .iter()
        .fold(basis, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

/// Returns the bucket of a hash in a directory of `buckets` buckets, and the number of bits of the
/// hash that select the bucket.
pub fn bucket_of(hash: u32, buckets: u32) -> (u32, u32) {
    let bits = buckets.ilog2();
    let bucket = hash & ((2 << bits) - 1);
    if bucket < buckets {
        // If a bucket is not split yet, one bit less selects it.
        let whole = bucket < 1 << bits && bucket + (1 << bits) >= buckets;
        (bucket, if whole { bits } else { bits + 1 })
    } else {
        (hash & ((1 << bits) - 1), bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_in_one_bucket_and_splits_move_only_to_the_new_one() {
        for buckets in 1..40 {
            for seed in 0..2_000u32 {
                let hash = super::hash(0, &seed.to_le_bytes());
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
