//! Tables of fixed capacity in memory that the caller lends: numbers of 2 or 4 bytes, and sorted
//! pairs of them.

/// A vector of little-endian numbers of `width` bytes.
pub(crate) struct Words<'m> {
    bytes: &'m mut [u8],
    width: usize,
}

impl<'m> Words<'m> {
    pub fn new(bytes: &'m mut [u8], width: u32) -> Self {
        Self { bytes, width: width as usize }
    }

    /// Returns the number of bytes of a number.
    pub fn width(&self) -> u32 {
        self.width as u32
    }

    pub fn get(&self, index: u32) -> u32 {
        read_word(self.bytes, index as usize * self.width, self.width)
    }

    pub fn set(&mut self, index: u32, value: u32) {
        write_word(self.bytes, index as usize * self.width, self.width, value);
    }

    pub fn len(&self) -> u32 {
        (self.bytes.len() / self.width) as u32
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
}

/// Reads a little-endian number of `width` bytes, at most 4.
pub(crate) fn read_word(bytes: &[u8], at: usize, width: usize) -> u32 {
    match bytes[at..at + width] {
        [a, b] => u32::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        ref long => long.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
    }
}

/// Writes a little-endian number of `width` bytes, at most 4.
pub(crate) fn write_word(bytes: &mut [u8], at: usize, width: usize, value: u32) {
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Pairs of a key and a value, sorted by key. Each key occurs once.
pub(crate) struct Pairs<'m> {
    words: Words<'m>,
    len: u32,
}

impl<'m> Pairs<'m> {
    pub fn new(bytes: &'m mut [u8], width: u32) -> Self {
        Self { words: Words::new(bytes, width), len: 0 }
    }

    /// Returns the number of bytes of a number.
    pub fn width(&self) -> u32 {
        self.words.width()
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn capacity(&self) -> u32 {
        self.words.len() / 2
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns the key of an entry. It reads the key directly, because searches do little else.
    pub fn key(&self, index: u32) -> u32 {
        read_word(self.words.bytes, index as usize * 2 * self.words.width, self.words.width)
    }

    pub fn value(&self, index: u32) -> u32 {
        self.words.get(index * 2 + 1)
    }

    pub fn set_value(&mut self, index: u32, value: u32) {
        self.words.set(index * 2 + 1, value);
    }

    /// Returns the index of the first entry whose key is at least `key`.
    pub fn lower_bound(&self, key: u32) -> u32 {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = (low + high) / 2;
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the index of the entry with this key; `None` if there is no such entry.
    pub fn find(&self, key: u32) -> Option<u32> {
        let index = self.lower_bound(key);
        (index < self.len && self.key(index) == key).then_some(index)
    }

    /// Adds an entry with a new key. Returns `false` if the table is full.
    pub fn insert(&mut self, key: u32, value: u32) -> bool {
        if self.len == self.capacity() {
            return false;
        }
        let index = self.lower_bound(key);
        let pair = 2 * self.words.width;
        let at = index as usize * pair;
        self.words.bytes.copy_within(at..self.len as usize * pair, at + pair);
        self.len += 1;
        self.words.set(index * 2, key);
        self.words.set(index * 2 + 1, value);
        true
    }

    /// Removes `count` entries from `index` on.
    pub fn remove(&mut self, index: u32, count: u32) {
        let pair = 2 * self.words.width;
        let (at, after) = (index as usize * pair, (index + count) as usize * pair);
        self.words.bytes.copy_within(after..self.len as usize * pair, at);
        self.len -= count;
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.words.bytes
    }

    /// Fills the bytes behind the entries with `0xFF`, so that they need not be programmed on NOR.
    pub fn blank_rest(&mut self) {
        let used = 2 * self.len as usize * self.words.width;
        self.words.bytes[used..].fill(0xFF);
    }

    /// Takes over `len` entries that were written into the bytes. Returns `false` if there are too
    /// many entries, or if they are not sorted.
    pub fn adopt(&mut self, len: u32) -> bool {
        if len > self.capacity() {
            return false;
        }
        self.len = len;
        (1..len).all(|index| self.key(index - 1) < self.key(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stay_sorted_through_insert_and_remove() {
        let mut bytes = [0; 40];
        let mut pairs = Pairs::new(&mut bytes, 2);
        for key in [7, 3, 9, 1, 5] {
            assert!(pairs.insert(key, key * 10));
        }
        assert_eq!((0..5).map(|i| pairs.key(i)).collect::<std::vec::Vec<_>>(), [1, 3, 5, 7, 9]);
        assert_eq!(pairs.find(7).map(|i| pairs.value(i)), Some(70));
        pairs.remove(1, 2);
        assert_eq!((0..3).map(|i| pairs.key(i)).collect::<std::vec::Vec<_>>(), [1, 7, 9]);
        assert_eq!(pairs.find(3), None);
    }

    #[test]
    fn pairs_refuse_more_than_they_hold() {
        let mut bytes = [0; 16];
        let mut pairs = Pairs::new(&mut bytes, 4);
        assert!(pairs.insert(1, 1) && pairs.insert(2, 2));
        assert!(!pairs.insert(3, 3));
    }

    #[test]
    fn adopt_refuses_unsorted_bytes() {
        let mut bytes = [5, 0, 0, 0, 4, 0, 0, 0];
        let mut pairs = Pairs::new(&mut bytes, 2);
        assert!(!pairs.adopt(2));
        assert!(!pairs.adopt(3));
    }
}
