//! What a logical page may become while it is copied: the part of a file before a cut, or half of a bucket of records.

/// Bytes of a record: a key and a number, 32 bits each. The number 0 stands for a free slot, [`REMOVED`] for a used one.
pub(crate) const RECORD_BYTES: usize = 8;
/// Number of a record that was removed from a program page that was full: its search went on in the next one, and must do so still.
pub(crate) const REMOVED: u32 = u32::MAX;

/// A change of a logical page, made on each program page by itself, and made again when a program fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// The first `keep` bytes; zeros behind.
    Cut {
        /// Bytes that stay.
        keep: u32,
    },
    /// The records whose key has `value` under `mask`.
    Records {
        /// Bits of the key that count.
        mask: u32,
        /// What they must be.
        value: u32,
    },
}

impl Edit {
    /// Changes program page `index` of the logical page.
    pub fn apply(self, index: u32, bytes: &mut [u8]) {
        match self {
            Self::Cut { keep } => {
                let here = (keep as usize).saturating_sub(index as usize * bytes.len()).min(bytes.len());
                bytes[here..].fill(0);
            }
            Self::Records { mask, value } => keep_records(bytes, mask, value),
        }
    }
}

/// A 32-bit number of a record.
pub(crate) fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// Whether no slot of a program page is free.
pub(crate) fn is_full(bytes: &[u8]) -> bool {
    bytes.chunks_exact(RECORD_BYTES).all(|record| word(record, 4) != 0)
}

fn keep_records(bytes: &mut [u8], mask: u32, value: u32) {
    let gone = if is_full(bytes) { REMOVED } else { 0 };
    for record in bytes.chunks_exact_mut(RECORD_BYTES) {
        let number = word(record, 4);
        if number != 0 && (number == REMOVED || word(record, 0) & mask != value) {
            record[..4].fill(0);
            record[4..].copy_from_slice(&gone.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_keeps_the_bytes_before_it_on_every_program_page() {
        let mut pages = [[7; 16]; 3];
        for (index, page) in pages.iter_mut().enumerate() {
            Edit::Cut { keep: 20 }.apply(index as u32, page);
        }
        assert_eq!(pages[0], [7; 16]);
        assert_eq!((pages[1][..4].to_vec(), pages[1][4..].to_vec()), ([7; 4].to_vec(), [0; 12].to_vec()));
        assert_eq!(pages[2], [0; 16]);
    }

    #[test]
    fn split_of_a_full_page_leaves_no_slot_that_looks_free() {
        let record = |key: u32, number: u32| u64::from(key) | u64::from(number) << 32;
        let emit = |records: [u64; 3]| records.map(u64::to_le_bytes).concat();
        let mut full = emit([record(1, 5), record(2, 6), record(0, REMOVED)]);
        Edit::Records { mask: 1, value: 1 }.apply(0, &mut full);
        assert_eq!(full, emit([record(1, 5), record(0, REMOVED), record(0, REMOVED)]));
        let mut roomy = emit([record(1, 5), record(2, 6), record(0, 0)]);
        Edit::Records { mask: 1, value: 0 }.apply(0, &mut roomy);
        assert_eq!(roomy, emit([record(0, 0), record(2, 6), record(0, 0)]));
    }
}
