//! The floor: the access times of a page-mapped log whose whole map is in RAM and whose metadata
//! is free.
//!
//! The model receives the same logical writes as the compared system, on the same chip, and
//! still has to reclaim space. So it separates the cost of the flash from the additions of a
//! file system. It works in *units*: the pages of one write, which live and die together.
//!
//! Reclaim takes the block with the fewest live units, as late as it can. It spreads the moves
//! of these units evenly over the calls that are left before space runs out. It erases the block
//! in a call of its own that moves nothing. If no calls are left, the last moves and the erase
//! share a call.
//!
//! [`floor`] returns the access times, which [`stats`](crate::stats) and
//! [`backlog`](crate::backlog) accept like any other trace. [`reclaims`] returns the moves and
//! erases of each access beside its own unit.

use std::fmt;

/// Calls between two erases if there is slack, so that erases do not add up in the input buffer.
const CALLS_BETWEEN_ERASES: u64 = 12;
/// Spare units, beyond a block and the reserve, at which the next victim may be chosen.
const EARLY_UNITS: u64 = 3;

/// The chip, the space and the times of one operation on one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloorConfig {
    /// Erase blocks that hold data.
    pub block_count: u32,
    /// Units in one erase block: block size over write size.
    pub units_per_block: u32,
    /// Number of distinct logical units. Writes name units below this number.
    pub logical_units: u32,
    /// Nanoseconds to program all pages of a unit, transfer included.
    pub program_ns: u64,
    /// Nanoseconds to move all pages of a unit within the chip, or by reading and programming them.
    pub copy_ns: u64,
    /// Nanoseconds to erase a block.
    pub erase_ns: u64,
}

/// The reason for which the model cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FloorError {
    /// The logical units leave too little room: a victim might free nothing.
    TooFull {
        /// Number of requested logical units.
        logical_units: u32,
        /// Maximum number of logical units that these blocks can hold.
        most: u32,
    },
    /// A write names a unit that does not exist.
    NoSuchUnit {
        /// The named unit.
        unit: u32,
        /// Number of logical units.
        logical_units: u32,
    },
}

impl fmt::Display for FloorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FloorError::TooFull { logical_units, most } => {
                write!(
                    f,
                    "{logical_units} logical units are too many; expected at most {most}, the \
                     capacity of the blocks"
                )
            }
            FloorError::NoSuchUnit { unit, logical_units } => {
                write!(f, "a write names unit {unit}, but there are {logical_units}")
            }
        }
    }
}

impl std::error::Error for FloorError {}

impl FloorConfig {
    /// Returns the maximum number of logical units that leave every victim at least two units to
    /// gain.
    ///
    /// Four blocks are never closed when a victim is chosen: two are being filled, and two
    /// erased or partly filled blocks are the reserve. The fewest live units of the others are
    /// at most their average.
    pub fn most_logical_units(&self) -> u32 {
        self.block_count.saturating_sub(5) * self.units_per_block.saturating_sub(2)
    }
}

/// The work of an access beside programming its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaim {
    /// Number of moved units.
    pub moves: u64,
    /// Number of erased blocks.
    pub erases: u64,
}

impl FloorConfig {
    /// Returns the nanoseconds of an access with this reclaim.
    pub fn access_ns(&self, reclaim: Reclaim) -> u64 {
        self.program_ns + reclaim.moves * self.copy_ns + reclaim.erases * self.erase_ns
    }
}

/// Runs the model over a sequence of writes and returns the access time of each in nanoseconds.
///
/// `writes` names the logical unit that each access writes. The first `warm_up` accesses are
/// carried out, but are not part of the result. They include the first fill, because the chip
/// starts erased.
///
/// # Errors
/// [`FloorError::TooFull`] and [`FloorError::NoSuchUnit`].
///
/// # Example
/// ```
/// use steadyfs_lab::floor::{FloorConfig, floor};
/// let chip = FloorConfig {
///     block_count: 16, units_per_block: 32, logical_units: 100,
///     program_ns: 504_000, copy_ns: 538_000, erase_ns: 2_001_000,
/// };
/// let access_ns = floor(&chip, 100, (0..100).chain(0..50)).unwrap();
/// assert_eq!(access_ns, [504_000; 50]); // nothing needs reclaiming yet
/// ```
pub fn floor(
    config: &FloorConfig,
    warm_up: usize,
    writes: impl Iterator<Item = u32>,
) -> Result<Vec<u64>, FloorError> {
    let reclaims = reclaims(config, warm_up, writes)?;
    Ok(reclaims.into_iter().map(|reclaim| config.access_ns(reclaim)).collect())
}

/// Runs the model over a sequence of writes and returns the reclaim of each access.
///
/// # Errors
/// [`FloorError::TooFull`] and [`FloorError::NoSuchUnit`].
pub fn reclaims(
    config: &FloorConfig,
    warm_up: usize,
    writes: impl Iterator<Item = u32>,
) -> Result<Vec<Reclaim>, FloorError> {
    let most = config.most_logical_units();
    if config.logical_units > most {
        return Err(FloorError::TooFull { logical_units: config.logical_units, most });
    }
    let mut log = Log::new(*config);
    let mut reclaims = Vec::new();
    for (index, unit) in writes.enumerate() {
        if unit >= config.logical_units {
            return Err(FloorError::NoSuchUnit { unit, logical_units: config.logical_units });
        }
        let reclaim = log.write(unit);
        if index >= warm_up {
            reclaims.push(reclaim);
        }
    }
    Ok(reclaims)
}

/// A place that stores nothing, or whose unit was written again elsewhere.
const DEAD: u32 = u32::MAX;

/// The use of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Erased,
    Filling,
    Closed,
    Victim,
}

/// One of the two blocks being filled.
#[derive(Clone, Copy)]
enum Head {
    Fresh = 0,
    Moved = 1,
}

/// The log: the place of each unit, the units of each block, and the victim being emptied.
struct Log {
    config: FloorConfig,
    /// Place of each logical unit, `DEAD` before its first write.
    place_of: Vec<u32>,
    /// Logical unit at each place.
    unit_at: Vec<u32>,
    live: Vec<u32>,
    uses: Vec<Use>,
    erased: Vec<u32>,
    /// Next place to fill and number of places left, per head.
    heads: [(u32, u32); 2],
    /// Units that can be programmed before an erase: erased blocks and the rest of both heads.
    free_units: u64,
    victim: Option<u32>,
    next_in_victim: u32,
    calls_since_erase: u64,
}

impl Log {
    fn new(config: FloorConfig) -> Log {
        let (blocks, units) = (config.block_count as usize, config.units_per_block);
        Log {
            config,
            place_of: vec![DEAD; config.logical_units as usize],
            unit_at: vec![DEAD; blocks * units as usize],
            live: vec![0; blocks],
            uses: vec![Use::Erased; blocks],
            erased: (0..config.block_count).rev().collect(),
            heads: [(0, 0); 2],
            free_units: u64::from(config.block_count) * u64::from(units),
            victim: None,
            next_in_victim: 0,
            calls_since_erase: CALLS_BETWEEN_ERASES,
        }
    }

    /// Writes one unit and does the reclaim of this call.
    fn write(&mut self, unit: u32) -> Reclaim {
        self.put(unit, Head::Fresh);
        self.reclaim()
    }

    /// Puts a unit at the next place of a head. The place that held the unit before is dead.
    fn put(&mut self, unit: u32, head: Head) {
        let units = self.config.units_per_block;
        let old = self.place_of[unit as usize];
        if old != DEAD {
            self.unit_at[old as usize] = DEAD;
            self.live[(old / units) as usize] -= 1;
        }
        if self.heads[head as usize].1 == 0 {
            let block =
                self.erased.pop().expect("the pace of reclaim keeps an erased block for each head");
            self.uses[block as usize] = Use::Filling;
            self.heads[head as usize] = (block * units, units);
        }
        let (place, left) = self.heads[head as usize];
        self.heads[head as usize] = (place + 1, left - 1);
        self.free_units -= 1;
        self.place_of[unit as usize] = place;
        self.unit_at[place as usize] = unit;
        self.live[(place / units) as usize] += 1;
        if left == 1 {
            self.uses[(place / units) as usize] = Use::Closed;
        }
    }

    /// Returns the units that stay free: the rest of a block that the other head may have to
    /// leave unused.
    fn reserve(&self) -> u64 {
        u64::from(self.config.units_per_block) - 1
    }

    /// Returns the number of calls until the victim must be empty, if `live` units are left in
    /// it.
    fn calls_left(&self, live: u64) -> u64 {
        self.free_units.saturating_sub(self.reserve() + live)
    }

    /// Chooses, empties or erases the victim as far as this call requires.
    fn reclaim(&mut self) -> Reclaim {
        self.calls_since_erase += 1;
        self.choose_victim();
        let Some(victim) = self.victim else { return Reclaim::default() };
        let live = u64::from(self.live[victim as usize]);
        let calls = self.calls_left(live);
        if live == 0 {
            let due = calls == 0 || self.calls_since_erase >= CALLS_BETWEEN_ERASES;
            return Reclaim { moves: 0, erases: if due { self.erase(victim) } else { 0 } };
        }
        let moves = self.moves_now(live, calls);
        for _ in 0..moves {
            self.move_one(victim);
        }
        Reclaim { moves, erases: if calls == 0 { self.erase(victim) } else { 0 } }
    }

    /// Returns the moves of this call: an even share, and more now if the erase would be the
    /// longer call.
    fn moves_now(&self, live: u64, calls: u64) -> u64 {
        if calls == 0 {
            return live;
        }
        let free_of_cost = self.config.erase_ns / self.config.copy_ns.max(1);
        let even = live.div_ceil(calls);
        let share =
            if even <= free_of_cost { even } else { (live + free_of_cost).div_ceil(calls + 1) };
        share.min(live)
    }

    /// Chooses the closed block with the fewest live units, if a later choice would force many
    /// moves into one call.
    fn choose_victim(&mut self) {
        let threshold = self.reserve() + u64::from(self.config.units_per_block) + EARLY_UNITS;
        if self.victim.is_some() || self.free_units > threshold {
            return;
        }
        let closed =
            (0..self.config.block_count).filter(|&block| self.uses[block as usize] == Use::Closed);
        let Some(fewest) = closed.min_by_key(|&block| self.live[block as usize]) else { return };
        let live = u64::from(self.live[fewest as usize]);
        if self.calls_left(live) <= live.max(1) + 2 {
            self.uses[fewest as usize] = Use::Victim;
            self.victim = Some(fewest);
            self.next_in_victim = 0;
        }
    }

    /// Moves the next live unit of the victim to the head of moved units.
    fn move_one(&mut self, victim: u32) {
        let first = victim * self.config.units_per_block;
        while self.unit_at[(first + self.next_in_victim) as usize] == DEAD {
            self.next_in_victim += 1;
        }
        let unit = self.unit_at[(first + self.next_in_victim) as usize];
        self.put(unit, Head::Moved);
    }

    /// Erases the empty victim. Returns the number of erases.
    fn erase(&mut self, victim: u32) -> u64 {
        assert_eq!(self.live[victim as usize], 0, "only an empty block is erased");
        self.uses[victim as usize] = Use::Erased;
        self.erased.insert(0, victim);
        self.free_units += u64::from(self.config.units_per_block);
        self.victim = None;
        self.calls_since_erase = 0;
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Stats;
    use proptest::prelude::*;

    /// 128 MiB of NAND, 4 KiB writes, typical times with on-chip copies.
    fn nand(fill: f64) -> FloorConfig {
        FloorConfig {
            block_count: 1021,
            units_per_block: 32,
            logical_units: (fill * 0.9 * 32_768.0) as u32,
            program_ns: 2 * 252_000,
            copy_ns: 2 * 269_000,
            erase_ns: 2_001_000,
        }
    }

    /// Returns a sequence of pseudo-random units after a first fill, and the number of writes
    /// that warm up.
    fn random_writes(config: &FloorConfig, accesses: usize) -> (usize, impl Iterator<Item = u32>) {
        let units = config.logical_units;
        let warm_up = units as usize + 3 * 32_768;
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let random = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((u128::from(state) * u128::from(units)) >> 64) as u32
        });
        (warm_up, (0..units).chain(random).take(warm_up + accesses))
    }

    fn run(fill: f64) -> Stats {
        let config = nand(fill);
        let (warm_up, writes) = random_writes(&config, 20_000);
        Stats::of(&floor(&config, warm_up, writes).unwrap()).unwrap()
    }

    #[test]
    fn random_writes_at_80_percent_need_1_12_ms() {
        let stats = run(0.8);
        assert!((1.08e6..1.16e6).contains(&stats.mean_ns), "{}", stats.mean_ns);
        assert_eq!(stats.max_ns, 2 * 252_000 + 2_001_000);
    }

    #[test]
    fn random_writes_at_50_percent_need_0_66_ms() {
        let stats = run(0.5);
        assert!((0.63e6..0.69e6).contains(&stats.mean_ns), "{}", stats.mean_ns);
        assert_eq!(stats.max_ns, 2 * 252_000 + 2_001_000);
    }

    #[test]
    fn sequential_writes_pay_one_erase_a_block_and_no_move() {
        let config = nand(0.8);
        let sweep = (0..config.logical_units).cycle();
        let access_ns = floor(&config, 100_000, sweep.take(100_000 + 3_200)).unwrap();
        let erases =
            access_ns.iter().filter(|&&ns| ns == config.program_ns + config.erase_ns).count();
        assert_eq!(erases, 100);
        assert_eq!(access_ns.iter().filter(|&&ns| ns == config.program_ns).count(), 3_100);
    }

    #[test]
    fn impossible_requests_are_refused() {
        let config = FloorConfig { logical_units: 1021 * 32, ..nand(0.8) };
        assert!(matches!(floor(&config, 0, std::iter::empty()), Err(FloorError::TooFull { .. })));
        let config = nand(0.8);
        let writes = std::iter::once(config.logical_units);
        assert!(matches!(floor(&config, 0, writes), Err(FloorError::NoSuchUnit { .. })));
    }

    proptest! {
        #[test]
        fn reclaim_never_runs_out_of_space(
            block_count in 6_u32..40, units_per_block in 3_u32..40, fill in 0.0_f64..1.0,
            erase_ns in 0_u64..5_000, copy_ns in 0_u64..800, seed in prop::collection::vec(0_u32..u32::MAX, 1..40),
        ) {
            let mut config = FloorConfig {
                block_count, units_per_block, logical_units: 1, program_ns: 500, copy_ns, erase_ns,
            };
            config.logical_units = ((f64::from(config.most_logical_units()) * fill) as u32).max(1);
            let spread = (0_u32..).map(|index| {
                seed[index as usize % seed.len()].wrapping_add(index.wrapping_mul(2_654_435_761)) % config.logical_units
            });
            let accesses = 20_000;
            let access_ns = floor(&config, 0, (0..config.logical_units).chain(spread).take(accesses)).unwrap();
            prop_assert_eq!(access_ns.len(), accesses);
        }
    }
}
