//! Changes of a logical page while it is copied: the part of a file before a cut, half of a
//! bucket of records, or the readable part of the page.

use crate::table::{read_word, write_word};

/// The part of a logical page that a call writes.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'b> {
    pub logical: u32,
    pub offset: u32,
    pub bytes: &'b [u8],
    /// The stream of the page, if the page is written. A number above the volume's streams
    /// stands for the last one.
    pub stream: u8,
    /// True if the call ends with a commit right behind this write.
    pub commits: bool,
}

/// Number of a record that was removed from a full program page. The search for a record goes on
/// in the next page when a page is full, and must still do so. On the medium: all ones.
pub(crate) const REMOVED: u32 = u32::MAX;

/// A change of a logical page. It is made on each program page separately, and made again if a
/// program fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// Keeps the first `keep` bytes; zeros behind them.
    Cut {
        /// Number of bytes that stay.
        keep: u32,
    },
    /// Keeps the readable program pages and all small changes. Each unreadable page is filled
    /// with a byte up to a place, and with zeros behind it.
    Salvage {
        /// The byte.
        fill: u8,
        /// The place, as an offset in the logical page.
        until: u32,
    },
    /// Keeps the readable program pages with their small changes. Each unreadable page becomes
    /// zeros, without its small changes: these may be half of an inode.
    SalvageWhole,
    /// Keeps nothing. Reads of the page return an error until it is written anew.
    Lost,
    /// Keeps the records of `bytes` bytes whose key has `value` under `mask`.
    Records {
        /// Bytes of a record: a key and a number, each of half the bytes.
        bytes: u32,
        /// Bits of the key that are compared.
        mask: u32,
        /// Value of these bits.
        value: u32,
    },
}

impl Edit {
    /// Applies the change to program page `index` of the logical page.
    pub fn apply(self, index: u32, bytes: &mut [u8]) {
        match self {
            Self::Cut { keep } => {
                let here =
                    (keep as usize).saturating_sub(index as usize * bytes.len()).min(bytes.len());
                bytes[here..].fill(0);
            }
            Self::Salvage { .. } | Self::SalvageWhole | Self::Lost => {}
            Self::Records { bytes: width, mask, value } => keep_records(bytes, width, mask, value),
        }
    }
}

/// Returns the key of a record.
pub(crate) fn key(record: &[u8]) -> u32 {
    read_word(record, 0, record.len() / 2)
}

/// Returns the number of a record: 0 for a free slot, [`REMOVED`] for a removed record.
pub(crate) fn number(record: &[u8]) -> u32 {
    let half = record.len() / 2;
    let number = read_word(record, half, half);
    if half == 2 && number == 0xFFFF { REMOVED } else { number }
}

/// Writes a record of 4 or 8 bytes.
pub(crate) fn write_record(record: &mut [u8], key: u32, number: u32) {
    let half = record.len() / 2;
    write_word(record, 0, half, key);
    write_word(record, half, half, number);
}

/// Returns true if no slot of a program page is free.
pub(crate) fn is_full(bytes: &[u8], width: u32) -> bool {
    bytes.chunks_exact(width as usize).all(|record| number(record) != 0)
}

fn keep_records(bytes: &mut [u8], width: u32, mask: u32, value: u32) {
    // Records may have gone on to the next page, so a full page must never look free.
    let gone = if is_full(bytes, width) { REMOVED } else { 0 };
    for record in bytes.chunks_exact_mut(width as usize) {
        let number = number(record);
        if number != 0 && (number == REMOVED || key(record) & mask != value) {
            write_record(record, 0, gone);
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
        assert_eq!(
            (pages[1][..4].to_vec(), pages[1][4..].to_vec()),
            ([7; 4].to_vec(), [0; 12].to_vec())
        );
        assert_eq!(pages[2], [0; 16]);
    }

    #[test]
    fn split_of_a_full_page_leaves_no_slot_that_looks_free() {
        for bytes in [4, 8] {
            let emit = |records: [(u32, u32); 3]| {
                let mut page = std::vec![0; 3 * bytes as usize];
                page.chunks_exact_mut(bytes as usize)
                    .zip(records)
                    .for_each(|(slot, (key, number))| write_record(slot, key, number));
                page
            };
            let mut full = emit([(1, 5), (2, 6), (0, REMOVED)]);
            Edit::Records { bytes, mask: 1, value: 1 }.apply(0, &mut full);
            assert_eq!(full, emit([(1, 5), (0, REMOVED), (0, REMOVED)]));
            let mut roomy = emit([(1, 5), (2, 6), (0, 0)]);
            Edit::Records { bytes, mask: 1, value: 0 }.apply(0, &mut roomy);
            assert_eq!(roomy, emit([(0, 0), (2, 6), (0, 0)]));
        }
    }
}
