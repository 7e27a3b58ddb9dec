//! The buckets of a directory: the page and the place of each record.

use super::Volume;
use crate::fs::inode::REGIONS;
use crate::media::Flash;

/// The place of a record of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its logical page.
    pub page: u32,
    /// Its first byte there.
    pub at: u32,
}

/// The division of a directory into pages and records, the same for all directories of a volume.
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    /// Bytes of a record: 8, or 4 with hashes of 16 bits.
    record_bytes: u32,
    /// Bytes of a program page, and program pages of a bucket.
    page_bytes: u32,
    pages_per_logical_page: u32,
    /// Pages that a region of a file maps.
    region_pages: u32,
}

impl Buckets {
    /// Records of a bucket.
    pub fn slots(&self) -> u32 {
        self.pages_per_logical_page * self.page_bytes / self.record_bytes
    }

    /// The place of a slot of a page.
    pub fn place(&self, page: u32, slot: u32) -> RecordPlace {
        RecordPlace { page, at: slot * self.record_bytes }
    }

    /// The bits of a hash that a record holds.
    pub fn key_of(&self, hash: u32) -> u32 {
        if self.record_bytes == 4 { hash & 0xFFFF } else { hash }
    }

    /// The program page of a bucket in which a search for a hash begins.
    ///
    /// Bits of the key select this page, so records of equal keys lie on one path. If a page on
    /// this path becomes full, a search still meets no more of them than the insert of its name
    /// counted.
    pub fn home_of(&self, hash: u32) -> u32 {
        let first = if self.record_bytes == 4 { 12 } else { 16 };
        self.key_of(hash) >> first & (self.pages_per_logical_page - 1)
    }

    /// The first place of a search for a hash in a page without records.
    pub fn first_place(&self, page: u32, hash: u32) -> RecordPlace {
        RecordPlace { page, at: self.home_of(hash) * self.page_bytes }
    }

    /// The page of a directory's file that is overflow page `number`. Overflow pages are counted
    /// from the last region down, and buckets from the first region up.
    pub fn overflow_page(&self, number: u32) -> Option<u32> {
        let region = (REGIONS - 1).checked_sub(number / self.region_pages)?;
        Some(region * self.region_pages + number % self.region_pages)
    }

    /// The number of the overflow page at a page of a directory's file.
    pub fn overflow_number(&self, file_page: u32) -> u32 {
        (REGIONS - 1).saturating_sub(file_page / self.region_pages) * self.region_pages
            + file_page % self.region_pages
    }

    /// The number of names of equal hash that every bound includes.
    ///
    /// Random hashes rarely exceed it. With 8,191 names and hashes of 16 bits, 2 directories of
    /// 100 have five names of equal hash. With a million names and hashes of 32 bits, 1 directory
    /// of 100 has three.
    pub fn equal_usual(&self) -> u32 {
        if self.record_bytes == 4 { 4 } else { 2 }
    }

    /// Entries above which a directory of `count` buckets grows.
    ///
    /// A bucket that is not split yet holds up to twice the average. Small buckets need more
    /// room, because random hashes fill them less evenly.
    pub fn entries_max(&self, count: u32) -> u32 {
        let slots = self.slots();
        // Random hashes overfill a bucket of twice the average at most once in a million times.
        let average = match slots {
            512.. => slots * 2 / 5,
            128.. => slots * 3 / 10,
            64.. => slots / 4,
            _ => slots / 5,
        };
        // The only bucket of a directory holds all its records, never twice the average.
        if count == 1 { average * 3 / 2 } else { average.saturating_mul(count) }
    }
}

impl<F: Flash> Volume<'_, F> {
    /// The division of the directories of this volume.
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

/// The hash of a name in a directory with seed `seed`: FNV-1a, then a final mix. Every bit of the
/// hash depends on every byte of the name.
pub fn hash(seed: u32, name: &[u8]) -> u32 {
    let basis = 0x811C_9DC5 ^ seed;
    let mut h = name
        .iter()
        .fold(basis, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

/// The bucket of a hash in a directory of `buckets` buckets, and the number of bits of the hash
/// that select it.
pub fn bucket_of(hash: u32, buckets: u32) -> (u32, u32) {
    let bits = buckets.ilog2();
    let bucket = hash & ((2 << bits) - 1);
    if bucket < buckets {
        // One bit less selects a bucket that is not split yet.
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
