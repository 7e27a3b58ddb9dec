//! The whole life of a chip: a workload until the volume cannot go on, and then everything that was committed read back.
//!
//! ```text
//!   chip      blocks that die after so many erases, bits that flip with wear, age and reads
//!     ▼
//!   wear out  fill, then access after access until a call fails
//!   course    time that passes with the erases, scrubs, and how worn the blocks are meanwhile
//!     ▼
//!   audit     mount for reading, and compare every byte of every file
//!     ▼
//!   table     how much of the erases was used, how evenly, and what was lost
//! ```
//!
//! [`run`] wears a chip out, and gives its [`Life`].

mod audit;
mod chip;
mod course;
mod table;
mod wear_out;

pub use audit::{Audit, Loss};
pub use course::Moment;
pub use table::{Life, Spread};

use crate::evaluate::tracker::TagTracker;
use crate::evaluate::{EvaluateError, Timing, Workload, find_nand};
use steadyfs::media::Flash;
use steadyfs::{Access, Config, FileSystem};
use wear_out::wear_out;

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
    /// Days after which everything is read by a scrub, so that pages whose bits flip are noticed; 0 for never. Default 30.
    pub scrub_days: u32,
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
            scrub_days: 30,
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
    let profile = find_nand(&options.device)?;
    let mut tracker = TagTracker::new(chip::make(&profile, options));
    let geometry = tracker.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    FileSystem::format(&mut tracker, &config, &mut memory)?;
    let fs = FileSystem::mount(&mut tracker, Access::ReadWrite, &mut memory)?;
    let worn = wear_out(fs, options, progress)?;
    progress(1.0, "read back");
    let audit = Audit::of(&mut tracker, &mut memory, &worn.writer);
    Ok(Life::of(&profile.name, options, &tracker, &worn, audit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(workload: Workload) -> Options {
        let write_bytes = workload.default_write_bytes();
        Options { blocks: 64, pages_per_block: 16, endurance: 40, scrub_days: 0, workload, write_bytes, ..Options::default() }
    }

    fn life(options: &Options) -> Life {
        run(options, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn every_workload_uses_most_erases_and_loses_nothing() {
        for (name, workload) in Workload::NAMES {
            let life = life(&Options { bit_errors: false, ..small(workload) });
            assert!(life.erases_percent > 60.0 && life.bad_blocks > 1, "{name}: {life}");
            assert_eq!((life.audit.lost_bytes, life.known_bad_blocks), (0, life.bad_blocks), "{name}: {life}");
        }
    }

    #[test]
    fn the_same_seed_lives_the_same_life() {
        let options = Options { spread_percent: 10, program_failures_percent: 30, ..small(Workload::Random) };
        assert_eq!(life(&options), life(&options));
        assert_ne!(life(&options), life(&Options { seed: 2, ..options.clone() }));
    }

    #[test]
    fn scrubs_come_with_the_days() {
        let options = Options { years: 1.0, scrub_days: 73, ..small(Workload::Hot) };
        let scrubs = life(&options).scrubs;
        assert!((2..=5).contains(&scrubs), "{scrubs}");
    }

    #[test]
    fn progress_is_the_share_of_the_erases() {
        let mut shares = Vec::new();
        run(&small(Workload::Random), &mut |share, _| shares.push(share)).unwrap();
        assert!(shares.is_sorted() && shares.first() < Some(&0.1) && shares.last() == Some(&1.0), "{shares:?}");
    }

    #[test]
    fn nor_is_refused() {
        let error = run(&Options { device: "w25q128jv".into(), ..Options::default() }, &mut |_, _| {}).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w25q128jv: is NOR; this command takes raw NAND: mt29f1g01abafd, w25n01gv, gd5f1gq5, mt29f2g08abaea, k9f1208u0"
        );
    }
}
