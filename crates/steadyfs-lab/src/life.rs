//! The whole life of a chip: a workload until the volume cannot go on, and then everything that was committed read back.
//!
//! ```text
//!   chip      blocks that die after so many erases, bits that flip with wear, age and reads
//!     ▼
//!   wear out  fill, then access after access until a call fails; time passes with the erases
//!     ▼
//!   audit     mount for reading, and compare every byte of every file
//!     ▼
//!   table     how much of the erases was used, how evenly, and what was lost
//! ```

mod audit;
mod chip;
mod table;

pub use audit::{Audit, Loss};
pub use table::{Life, Spread};

use crate::evaluate::judge::{Judge, Progress, Volume};
use crate::evaluate::shadow::Shadow;
use crate::evaluate::writer::{Plan, Writer};
use crate::evaluate::{EvaluateError, Phase, Timing, Workload, find_profile};
use chip::{Clock, LifeChip};
use steadyfs::media::{BlockIndex, Flash};
use steadyfs::{Access, BlockState, Config, FileSystem};

/// Accesses between two looks at the clock.
const CLOCK_EVERY: u64 = 64;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a NAND profile, or path of one in TOML: times and page size. Default `mt29f1g01abafd`.
    pub device: String,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Erase blocks. Default 128.
    pub blocks: u32,
    /// Pages of a block. Default 32.
    pub pages_per_block: u32,
    /// Erases that a block takes. Default 3,000.
    pub endurance: u32,
    /// Percent by which the lives of blocks differ from the endurance at most, up and down. Default 0: all die at it.
    pub spread_percent: u32,
    /// Of 100 blocks, those whose life ends in a program in place of an erase. Default 0.
    pub program_failures_percent: u32,
    /// Years that pass while the erases are used up. Default 5.
    pub years: f64,
    /// Whether bits flip. Default yes.
    pub bit_errors: bool,
    /// Share of the usable space in use, from 0 to 1. Default 0.8.
    pub fill: f64,
    /// What is written. Default log.
    pub workload: Workload,
    /// Bytes of each write. Default [`Workload::default_write_bytes`].
    pub write_bytes: u64,
    /// Seed of the workload and of the faults: the same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            timing: Timing::default(),
            blocks: 128,
            pages_per_block: 32,
            endurance: 3_000,
            spread_percent: 0,
            program_failures_percent: 0,
            years: 5.0,
            bit_errors: true,
            fill: 0.8,
            workload: Workload::Log,
            write_bytes: Workload::Log.default_write_bytes(),
            seed: 1,
        }
    }
}

impl Options {
    /// Erases of all blocks that their endurance allows together.
    fn erase_budget(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.endurance)
    }
}

/// Runs a chip to its end. `progress` is called now and then with the share of the erases that is used, and the phase.
///
/// # Errors
/// [`EvaluateError`]: the device or the options are not possible, or the volume fails before it is filled. How a volume ends
/// after that is the result, not an error.
pub fn run(options: &Options, progress: &mut dyn FnMut(f64, &str)) -> Result<Life, EvaluateError> {
    let profile = find_profile(&options.device)?;
    let mut shadow = Shadow::new(chip::make(&profile, options)?);
    let geometry = shadow.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    FileSystem::format(&mut shadow, &config, &mut memory)?;
    let fs = FileSystem::mount(&mut shadow, Access::ReadWrite, &mut memory)?;
    let worn = wear_out(fs, options, progress)?;
    progress(1.0, "read back");
    let audit = Audit::of(&mut shadow, &mut memory, &worn.writer);
    Ok(Life::of(&profile.name, options, &shadow, &worn, audit))
}

/// What a volume was like when it could not go on.
struct Worn {
    writer: Writer,
    accesses: u64,
    /// Programs and copies of the accesses.
    programs: u64,
    /// Why it could not.
    end: EvaluateError,
    superblocks: Vec<BlockIndex>,
    /// Blocks that hold checkpoints.
    anchors: Vec<BlockIndex>,
    /// Blocks that the volume calls bad.
    bad_blocks: u32,
    usable_bytes: u64,
}

/// Fills the volume and writes until a call fails.
fn wear_out(
    mut fs: Volume<'_, '_, LifeChip>,
    options: &Options,
    report: &mut dyn FnMut(f64, &str),
) -> Result<Worn, EvaluateError> {
    let usage = fs.usage();
    let logical_bytes = u64::from(usage.logical_bytes);
    let fill_bytes = (usage.usable_bytes as f64 * options.fill.clamp(0.0, 1.0)) as u64 / logical_bytes * logical_bytes;
    let write_bytes = options.write_bytes.max(logical_bytes);
    if fill_bytes < write_bytes {
        return Err(EvaluateError::TooSmall { used_bytes: fill_bytes, needed_bytes: write_bytes });
    }
    let plan = Plan { workload: options.workload, seed: options.seed, fill_bytes, write_bytes };
    // The share of the erases says more than the number of accesses, which nobody knows.
    let mut progress = Progress { expected: 1, done: 0, report: &mut |_, _| {} };
    let mut judge = Judge::only_counting(Phase::Fill, &mut progress);
    let mut writer = Writer::fill(&plan, &mut fs, &mut judge, |_| {})?;
    let before = fs.flash().counts();
    let mut clock = Clock::new(options);
    let mut judge = Judge::only_counting(Phase::WearOut, &mut progress);
    let end = loop {
        if judge.accesses().is_multiple_of(CLOCK_EVERY) {
            report(clock.follow(fs.flash_mut().chip_mut()), &Phase::WearOut.to_string());
        }
        if let Err(error) = writer.access(&mut fs, &mut judge, options.write_bytes) {
            break error;
        }
    };
    let spent = fs.flash().counts().since(&before);
    let blocks_in = |state: BlockState| -> Vec<BlockIndex> {
        (0..options.blocks).filter(|&block| fs.block(block).is_some_and(|info| info.state == state)).collect()
    };
    // The first two reserved blocks hold superblocks.
    let mut superblocks = blocks_in(BlockState::Reserved);
    let anchors = superblocks.split_off(2.min(superblocks.len()));
    Ok(Worn {
        writer,
        accesses: judge.accesses(),
        programs: spent.programs + spent.copies,
        end,
        superblocks,
        anchors,
        bad_blocks: blocks_in(BlockState::Bad).len() as u32,
        usable_bytes: usage.usable_bytes,
    })
}
