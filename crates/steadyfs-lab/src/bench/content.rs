//! The contents of files: bytes that differ for each file, place and version. They are computed
//! again when a file is read back.

/// Bytes of a page, the unit of a rewrite.
pub const PAGE_BYTES: u64 = 4096;

/// The expected contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the file.
    pub path: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Key that distinguishes the bytes of this file from those of other files.
    key: u64,
    /// Number of rewrites of each page. Pages behind the end of the list have none.
    versions: Vec<u32>,
}

impl Document {
    /// An empty file.
    pub fn new(path: impl Into<String>) -> Document {
        let path = path.into();
        let key = path.bytes().fold(0x9E37_79B9_7F4A_7C15, |key, byte| mix(key ^ u64::from(byte)));
        Document { path, size: 0, key, versions: Vec::new() }
    }

    /// Gives all bytes other values.
    pub fn renew(&mut self) {
        self.key = mix(self.key);
        self.versions.clear();
    }

    /// Gives all bytes of a page other values.
    pub fn renew_page(&mut self, page: u64) {
        let page = page as usize;
        if page >= self.versions.len() {
            self.versions.resize(page + 1, 0);
        }
        self.versions[page] += 1;
    }

    /// Gives a page the bytes that it had before [`renew_page`](Self::renew_page).
    pub fn restore_page(&mut self, page: u64) {
        if let Some(version) = self.versions.get_mut(page as usize) {
            *version = version.saturating_sub(1);
        }
    }

    /// Fills `data` with the bytes from an offset on.
    pub fn fill(&self, offset: u64, data: &mut [u8]) {
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let left = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (piece, after) = rest.split_at_mut(left.min(rest.len()));
            self.fill_in_page(at, piece);
            at += piece.len() as u64;
            rest = after;
        }
    }

    /// Returns `bytes` bytes from an offset on.
    pub fn bytes(&self, offset: u64, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        self.fill(offset, &mut data);
        data
    }

    /// Fills `data` with bytes within one page.
    fn fill_in_page(&self, offset: u64, data: &mut [u8]) {
        let page = offset / PAGE_BYTES;
        let version = self.versions.get(page as usize).copied().unwrap_or(0);
        let seed = mix(self.key ^ page << 32 ^ u64::from(version));
        let word = |index: u64| mix(seed.wrapping_add(index)).to_le_bytes();
        let head = ((8 - offset % 8) % 8).min(data.len() as u64) as usize;
        let (first, rest) = data.split_at_mut(head);
        if head > 0 {
            first.copy_from_slice(&word(offset / 8)[(offset % 8) as usize..][..head]);
        }
        for (index, chunk) in ((offset + head as u64) / 8..).zip(rest.chunks_mut(8)) {
            chunk.copy_from_slice(&word(index)[..chunk.len()]);
        }
    }
}

/// Spreads a number over all its bits (splitmix64).
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_do_not_depend_on_the_pieces_they_are_asked_in() {
        let mut document = Document::new("a");
        document.renew_page(1);
        let whole = document.bytes(0, 10_000);
        for (offset, bytes) in [(0, 1), (3, 2), (7, 9), (4090, 20), (5, 9_000), (8190, 1)] {
            assert_eq!(
                document.bytes(offset, bytes),
                whole[offset as usize..][..bytes],
                "{offset}"
            );
        }
    }

    #[test]
    fn files_pages_and_versions_differ() {
        let mut document = Document::new("a");
        let before = document.bytes(0, 8192);
        assert_ne!(before[..4096], before[4096..]);
        assert_ne!(before, Document::new("b").bytes(0, 8192));
        document.renew_page(1);
        let after = document.bytes(0, 8192);
        assert_eq!(before[..4096], after[..4096]);
        assert_ne!(before[4096..], after[4096..]);
        document.renew();
        assert_ne!(document.bytes(0, 8192)[..4096], after[..4096]);
    }
}
