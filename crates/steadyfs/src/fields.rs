//! Little-endian numbers in a sequence of bytes.

/// Reads and writes little-endian fields one after the other.
pub(crate) struct Fields<B> {
    bytes: B,
    at: usize,
}

impl<B> Fields<B> {
    pub fn new(bytes: B) -> Self {
        Self { bytes, at: 0 }
    }
}

impl Fields<&[u8]> {
    /// Returns the next `width` bytes as a number. The caller must make sure that there are so many
    /// bytes.
    pub fn get(&mut self, width: usize) -> u64 {
        let mut word = [0; 8];
        word[..width].copy_from_slice(&self.bytes[self.at..self.at + width]);
        self.at += width;
        u64::from_le_bytes(word)
    }

    pub fn get32(&mut self) -> u32 {
        self.get(4) as u32
    }

    pub fn get16(&mut self) -> u16 {
        self.get(2) as u16
    }
}

impl Fields<&mut [u8]> {
    /// Writes the low `width` bytes of a number.
    pub fn put(&mut self, width: usize, value: u64) {
        self.bytes[self.at..self.at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        self.at += width;
    }
}
