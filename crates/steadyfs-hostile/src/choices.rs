//! A fuzzer's bytes as choices. The meaning of a byte does not depend on earlier decisions, so a
//! changed byte changes one thing.

/// The remaining bytes. Zeros follow the last byte.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'i>(&'i [u8]);

impl<'i> Choices<'i> {
    /// Makes choices from an input.
    pub fn new(input: &'i [u8]) -> Self {
        Self(input)
    }

    /// Returns true if no byte is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the bytes that are left, at most `count`.
    pub fn bytes(&mut self, count: usize) -> &'i [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Takes a little-endian number of `width` bytes.
    fn number(&mut self, width: usize) -> u64 {
        self.bytes(width).iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        self.number(1) as u8
    }

    /// Takes two bytes.
    pub fn word(&mut self) -> u16 {
        self.number(2) as u16
    }

    /// Takes a number below `limit`, which is at least 1. Uses one byte if that is enough, and
    /// two otherwise.
    pub fn below(&mut self, limit: usize) -> usize {
        let width = if limit <= 256 { 1 } else { 2 };
        self.number(width) as usize % limit
    }

    /// Takes one of `values`.
    pub fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    /// Takes a number of bytes or an offset: mostly small, now and then one at which something
    /// overflows.
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
