//! A large table whose clones share the unchanged parts.

use std::sync::Arc;

/// Number of entries of a part. A part is shared or copied as a whole.
const PART: usize = 4096;

/// One entry for each slot of a device.
#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    parts: Vec<Arc<[T; PART]>>,
    len: usize,
}

impl<T: Copy + PartialEq> Slots<T> {
    /// Returns a table with equal entries. The table allocates memory only when entries change.
    pub(super) fn filled(value: T, len: usize) -> Self {
        let part = Arc::new([value; PART]);
        Self { parts: vec![part; len.div_ceil(PART)], len }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, index: u32) -> T {
        self.parts[index as usize / PART][index as usize % PART]
    }

    /// Sets an entry. Returns the old value.
    pub(super) fn set(&mut self, index: u32, value: T) -> T {
        let old = self.get(index);
        if old != value {
            Arc::make_mut(&mut self.parts[index as usize / PART])[index as usize % PART] = value;
        }
        old
    }

    /// Replaces each entry for which `is` returns true, in order.
    pub(super) fn replace_each(&mut self, is: impl Fn(T) -> bool, mut with: impl FnMut(T) -> T) {
        for part in &mut self.parts {
            if part.iter().any(|&value| is(value)) {
                for value in Arc::make_mut(part).iter_mut().filter(|value| is(**value)) {
                    *value = with(*value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_differ_in_what_was_set_alone() {
        let mut one = Slots::filled(0_u16, 10_000);
        let other = one.clone();
        assert_eq!(one.set(9_999, 7), 0);
        assert_eq!((one.get(9_999), other.get(9_999), one.len()), (7, 0, 10_000));
        one.replace_each(|value| value == 7, |value| value + 1);
        assert_eq!(one.get(9_999), 8);
    }
}
