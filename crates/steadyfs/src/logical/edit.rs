//! Changes of a logical page while it is copied. The copy keeps the bytes before a file's new end,
//! half of a bucket's records, or the readable part of the page.

use crate::table::{read_word, write_word};

/// The part of a logical page that a call writes.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'b> {
    pub logical: u32,
    pub offset: u32,
    pub bytes: &'b [u8],
    /// The stream of the page, in case the page is written as a frame. A number beyond the volume's
    /// last stream means the last stream.
    pub stream: u8,
    /// True if the call commits right after this write.
    pub commits: bool,
}

/// Number in a record that was removed from a full program page. If a page is full, the search for
/// a record continues in the next page. This number makes the search continue even after the
/// removal. On the medium all its bits are set.
pub(crate) const REMOVED: u32 = u32::MAX;

/// A change of a logical page. It is applied to each program page separately, and applied again if
/// a program fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// Keeps the first `keep` bytes, and writes zeros behind them.
    Cut {
        /// Number of bytes that stay.
        keep: u32,
    },
    /// Keeps the readable program pages and all small changes. In each unreadable page, the bytes
    /// before offset `until` become `fill`, and the bytes behind it become zeros.
    Salvage {
        /// The byte that replaces lost bytes.
        fill: u8,
        /// The offset in the logical page up to which `fill` is written.
        until: u32,
    },
    /// Keeps the readable program pages with their small changes. Each unreadable page becomes
    /// zeros, without its small changes, because a small change may be only half of an inode.
    SalvageWhole,
    /// Keeps nothing. Reads of the page return an error until the page is written again.
    Lost,
    /// Keeps the records for which `key & mask == value`. Each record has `bytes` bytes.
    Records {
        /// Size of a record in bytes. The key and the number have half of the bytes each.
        bytes: u32,
        /// Mask of the key bits that are compared.
        mask: u32,
        /// Value of these bits in the records that stay.
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

/// Returns the number in a record. It is 0 for a free slot, and [`REMOVED`] for a removed record.
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
    // Records of this bucket may lie in the next page. So a page that was full must never show a
    // free slot.
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
