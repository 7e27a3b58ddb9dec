//! The lifetimes of the blocks of a chip.

use fastrand::Rng;
use steadyfs::media::BlockIndex;

/// The lifetimes of blocks, in erases.
///
/// When the life of a block is over, its next erase fails, or already a program after its last
/// erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lives {
    /// Mean number of erases that a block endures. Datasheets promise 100,000 erases for SLC, and
    /// 3,000 for MLC.
    pub endurance: u32,
    /// Largest difference of a life from `endurance`, in percent of `endurance`. The lives of the
    /// blocks are spread evenly over this range. 0 makes all blocks fail at the same age.
    pub spread_percent: u32,
    /// Number of blocks in 100 whose life ends in a program.
    pub ending_in_program_percent: u32,
}

impl Lives {
    /// Returns lives with which all blocks fail in the erase after `endurance` successful erases.
    pub const fn of(endurance: u32) -> Self {
        Self { endurance, spread_percent: 0, ending_in_program_percent: 0 }
    }
}

/// The lives of the blocks of one chip, and their use so far.
#[derive(Clone, Debug)]
pub(super) struct Wear {
    lives: Lives,
    seed: u64,
    /// Number of successful erases of each block. It does not include the erases of a block that
    /// was replaced.
    erases: Vec<u32>,
    /// Number of times that the device has replaced each block.
    replaced: Vec<u32>,
}

impl Wear {
    pub(super) fn new(lives: Lives, block_count: u32, seed: u64) -> Self {
        assert!(
            lives.spread_percent <= 100,
            "lives spread by {} %: the least is below 0",
            lives.spread_percent
        );
        let nothing = vec![0; block_count as usize];
        Self { lives, seed, erases: nothing.clone(), replaced: nothing }
    }

    /// Returns the random numbers of a block.
    fn rng_of(&self, block: BlockIndex) -> Rng {
        Rng::with_seed(
            self.seed ^ u64::from(block) << 32 ^ u64::from(self.replaced[block as usize]),
        )
    }

    /// Returns the number of erases that a block endures.
    pub(super) fn life(&self, block: BlockIndex) -> u32 {
        let Lives { endurance, spread_percent, .. } = self.lives;
        let spread = u64::from(endurance) * u64::from(spread_percent) / 100;
        (u64::from(endurance) - spread + self.rng_of(block).u64(0..=2 * spread)) as u32
    }

    /// Counts an erase. Returns true if the block is dead, and the erase has failed.
    pub(super) fn erase_fails(&mut self, block: BlockIndex) -> bool {
        let dead = self.erases[block as usize] >= self.life(block);
        self.erases[block as usize] += u32::from(!dead);
        dead
    }

    /// Returns true if a program fails because the block has had its last erase.
    pub(super) fn program_fails(
        &self,
        block: BlockIndex,
        in_block: u32,
        pages_per_block: u32,
    ) -> bool {
        if self.lives.ending_in_program_percent == 0
            || self.erases[block as usize] < self.life(block)
        {
            return false;
        }
        let mut rng = self.rng_of(block);
        rng.u64(..);
        rng.u32(0..100) < self.lives.ending_in_program_percent
            && in_block >= rng.u32(0..pages_per_block)
    }

    /// Begins a new life of a block, because the device has replaced the block by another block.
    pub(super) fn replace(&mut self, block: BlockIndex) {
        self.erases[block as usize] = 0;
        self.replaced[block as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives_of(lives: Lives, seed: u64) -> Vec<u32> {
        let wear = Wear::new(lives, 64, seed);
        (0..64).map(|block| wear.life(block)).collect()
    }

    #[test]
    fn without_spread_all_lives_are_the_endurance() {
        assert_eq!(lives_of(Lives::of(3000), 1), [3000; 64]);
    }

    #[test]
    fn spread_lives_lie_around_the_endurance_and_follow_the_seed() {
        let lives = Lives { spread_percent: 10, ..Lives::of(3000) };
        let some = lives_of(lives, 1);
        assert!(some.iter().all(|life| (2700..=3300).contains(life)), "{some:?}");
        assert!(
            some.iter().any(|&life| life < 2800) && some.iter().any(|&life| life > 3200),
            "{some:?}"
        );
        let mean = some.iter().sum::<u32>() / 64;
        assert!((2900..3100).contains(&mean), "{mean}");
        assert_eq!(some, lives_of(lives, 1));
        assert_ne!(some, lives_of(lives, 2));
    }

    #[test]
    fn a_replaced_block_lives_anew() {
        let mut wear = Wear::new(Lives::of(2), 1, 1);
        assert_eq!(
            [wear.erase_fails(0), wear.erase_fails(0), wear.erase_fails(0)],
            [false, false, true]
        );
        wear.replace(0);
        assert!(!wear.erase_fails(0));
    }
}
