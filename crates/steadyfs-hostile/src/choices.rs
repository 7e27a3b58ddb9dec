//! A fuzzer's bytes, taken as choices: each byte decides the same whatever was decided before it, so that a changed byte changes one thing.

/// The bytes that are left. Behind the last one come zeros.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'i>(&'i [u8]);

impl<'i> Choices<'i> {
    /// Choices from an input.
    pub fn new(input: &'i [u8]) -> Self {
        Self(input)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As many bytes as are left, and `count` at most.
    pub fn bytes(&mut self, count: usize) -> &'i [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A little-endian number of `width` bytes.
    fn number(&mut self, width: usize) -> u64 {
        self.bytes(width).iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        self.number(1) as u8
    }

    /// Two bytes.
    pub fn word(&mut self) -> u16 {
        self.number(2) as u16
    }

    /// A number below `limit`, which is at least 1, from one byte where that is enough and from two where not.
    pub fn below(&mut self, limit: usize) -> usize {
        let width = if limit <= 256 { 1 } else { 2 };
        self.number(width) as usize % limit
    }

    /// One of some values.
    pub fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    /// A number of bytes or an offset: mostly small, now and then one at which something overflows.
    pub fn size(&mut self) -> u64 {
        match self.byte() {
            small @ 0..=199 => u64::from(small) * 9,
            200..=239 => u64::from(self.word()),
            240..=247 => u64::from(self.word()) << 16,
            248 => u64::MAX,
            249 => u64::MAX >> 1,
            250 => u64::from(u32::MAX),
            _ => self.number(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_used_up_gives_zeros() {
        let mut choices = Choices::new(&[7, 1]);
        assert_eq!((choices.byte(), choices.word(), choices.byte(), choices.size()), (7, 1, 0, 0));
        assert!(choices.is_empty() && choices.bytes(5).is_empty());
    }
}
