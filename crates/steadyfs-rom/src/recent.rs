//! A table of a few slots. A new entry replaces the least recently used entry.

/// At most `N` slots with entries, and the time of the last use of each entry.
#[derive(Debug)]
pub struct Recent<K, const N: usize> {
    kept: [Option<K>; N],
    used: [u32; N],
    now: u32,
}

impl<K: Copy, const N: usize> Recent<K, N> {
    /// Returns an empty table.
    pub const fn new() -> Self {
        Self { kept: [None; N], used: [0; N], now: 0 }
    }

    /// Finds an entry. Returns its slot and the entry.
    pub fn find(&self, is_it: impl Fn(&K) -> bool) -> Option<(usize, K)> {
        self.kept
            .iter()
            .enumerate()
            .find_map(|(place, kept)| kept.filter(&is_it).map(|kept| (place, kept)))
    }

    /// Empties the least recently used of the first `count` slots, and returns this slot. Prefers a
    /// slot that is already empty.
    pub fn make_room(&mut self, count: usize) -> usize {
        let age =
            |&place: &usize| (self.kept[place].is_none(), self.now.wrapping_sub(self.used[place]));
        let place = (0..count.min(N)).max_by_key(age).unwrap_or(0);
        self.kept[place] = None;
        place
    }

    /// Stores an entry in a slot, as the most recently used entry.
    pub fn put(&mut self, place: usize, what: K) {
        self.now = self.now.wrapping_add(1);
        self.used[place] = self.now;
        self.kept[place] = Some(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let mut recent = Recent::<u32, 3>::new();
        for what in [10, 11, 12] {
            let place = recent.make_room(3);
            recent.put(place, what);
        }
        let (place, _) = recent.find(|&what| what == 10).expect("kept");
        recent.put(place, 10);
        let room = recent.make_room(3);
        assert!(
            recent.find(|&what| what == 11).is_none() && recent.find(|&what| what == 12).is_some()
        );
        // Empty slots are used first, and slots beyond the count are not used.
        assert_eq!((recent.make_room(3), recent.make_room(1)), (room, 0));
    }
}
