//! The chip of a life: its blocks die, its bits flip, and years pass with its erases.

use super::Options;
use steadyfs::media::Geometry;
use steadyfs_sim::{BitErrorModel, BitErrors, FailOps, Lives, Metered, Nand, NandTiming, Profile};

/// Hours of a year.
const YEAR_HOURS: f64 = 8766.0;

/// NAND that wears out.
pub type LifeChip = FailOps<BitErrors<Nand>>;

/// Makes an erased chip.
pub fn make(profile: &Profile, options: &Options) -> LifeChip {
    let nand = profile.nand().expect("the profile was looked for among those of NAND");
    let Options { blocks, pages_per_block, endurance, spread_percent, seed, .. } = *options;
    let geometry = Geometry {
        page_bytes: nand.page_bytes,
        pages_per_block,
        block_count: blocks,
        programs_bytes: false,
    };
    let timing = NandTiming::of(nand, options.timing.choice());
    let chip = Nand::with_geometry(geometry, timing, seed).with_on_chip_copy(nand.on_chip_copy);
    let model = BitErrorModel { endurance, ..BitErrorModel::SLC };
    let chip = BitErrors::new(chip);
    let chip = if options.bit_errors { chip.with_model(model, seed) } else { chip };
    let lives = Lives {
        endurance,
        spread_percent,
        ending_in_program_percent: options.program_failures_percent,
    };
    FailOps::new(chip, seed).with_lives(lives, seed)
}

/// A clock of the time that passes while the erases are used up.
pub struct Clock {
    budget: u64,
    hours: f64,
    passed: u32,
}

impl Clock {
    /// Returns the days since the beginning.
    pub fn days(&self) -> u32 {
        self.passed / 24
    }

    /// Returns a clock at the beginning.
    pub fn new(options: &Options) -> Clock {
        Clock { budget: options.erase_budget(), hours: options.years * YEAR_HOURS, passed: 0 }
    }

    /// Advances the time to match the erases so far. Returns their share of all erases.
    pub fn follow(&mut self, chip: &mut LifeChip) -> f64 {
        let share = chip.counters().erases as f64 / self.budget.max(1) as f64;
        let due = (share * self.hours) as u32;
        chip.inner_mut().advance_hours(due - self.passed);
        self.passed = due;
        share
    }
}
