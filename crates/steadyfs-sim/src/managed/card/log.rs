//! The log of a card: erase blocks that receive slots of any unit, one after the other.

use std::collections::BTreeSet;

/// A position in the log: the block's number times the number of slots of a block, plus the slot in
/// the block.
pub(super) type Place = u32;

/// Value that stands for no slot.
const NONE: u32 = u32::MAX;

/// The blocks of the log. For each slot of a block, it stores which slot of the card lies there.
#[derive(Clone, Debug)]
pub(super) struct Log {
    owners: Vec<u32>,
    /// Number of slots of each block that are still needed.
    valid: Vec<u32>,
    free: Vec<u32>,
    /// Full blocks except the head, sorted by their number of needed slots, the smallest first.
    full: BTreeSet<(u32, u32)>,
    head: u32,
    /// Number of slots of the head that are written.
    filled: u32,
    block_slots: u32,
}

impl Log {
    pub(super) fn new(blocks: u32, block_slots: u32) -> Self {
        Self {
            owners: vec![NONE; (blocks * block_slots) as usize],
            valid: vec![0; blocks as usize],
            free: (1..blocks).rev().collect(),
            full: BTreeSet::new(),
            head: 0,
            filled: 0,
            block_slots,
        }
    }

    /// Returns the number of empty blocks except the head.
    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Returns true if the next slot needs a block and none is free.
    pub(super) fn is_full(&self) -> bool {
        self.filled == self.block_slots && self.free.is_empty()
    }

    /// Appends a slot. The caller has checked that the log is not full.
    pub(super) fn append(&mut self, slot: u32) -> Place {
        if self.filled == self.block_slots {
            self.full.insert((self.valid[self.head as usize], self.head));
            self.head = self.free.pop().expect("the log has room");
            self.filled = 0;
        }
        let place = self.head * self.block_slots + self.filled;
        self.filled += 1;
        self.owners[place as usize] = slot;
        self.valid[self.head as usize] += 1;
        place
    }

    /// Discards the entry at a position.
    pub(super) fn forget(&mut self, place: Place) {
        self.owners[place as usize] = NONE;
        let block = place / self.block_slots;
        let valid = &mut self.valid[block as usize];
        if self.full.remove(&(*valid, block)) {
            self.full.insert((*valid - 1, block));
        }
        *valid -= 1;
    }

    /// Returns the full block with the fewest needed slots, and the number of these slots.
    pub(super) fn emptiest(&self) -> Option<(u32, u32)> {
        self.full.first().map(|&(valid, block)| (block, valid))
    }

    #[cfg(test)]
    pub(super) fn holds(&self, place: Place, slot: u32) -> bool {
        self.owners[place as usize] == slot
    }

    #[cfg(test)]
    pub(super) fn valid_slots(&self) -> u32 {
        self.valid.iter().sum()
    }

    /// Returns the number of slots of a block.
    pub(super) fn block_slots(&self) -> u32 {
        self.block_slots
    }

    /// Frees a block. Returns the slots that are still needed, which must be appended again.
    pub(super) fn take(&mut self, block: u32) -> Vec<u32> {
        let places = (block * self.block_slots) as usize..((block + 1) * self.block_slots) as usize;
        let needed =
            self.owners[places.clone()].iter().copied().filter(|&slot| slot != NONE).collect();
        self.owners[places].fill(NONE);
        self.full.remove(&(self.valid[block as usize], block));
        self.valid[block as usize] = 0;
        self.free.insert(0, block);
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_taken_gives_back_what_is_needed() {
        let mut log = Log::new(3, 4);
        let places: Vec<_> = (10..18).map(|slot| log.append(slot)).collect();
        assert_eq!((places[0], places[7], log.free_blocks()), (0, 7, 1));
        log.forget(places[1]);
        log.forget(places[3]);
        assert_eq!(log.emptiest(), Some((0, 2)));
        assert_eq!(log.take(0), [10, 12]);
        assert_eq!(log.free_blocks(), 2);
    }
}
