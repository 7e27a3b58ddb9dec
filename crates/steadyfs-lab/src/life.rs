//! The whole life of a chip. A workload runs until the volume fails, and then all committed data
//! is read back.
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
//! [`run`] wears a chip out and returns its [`Life`].

mod audit;
mod chip;
mod course;
mod options;
mod spread;
mod table;
mod wear_out;

pub use audit::{Audit, Loss};
pub use course::Moment;
pub use options::Options;
pub use spread::Spread;
pub use table::Life;

use crate::evaluate::tracker::TagTracker;
use crate::evaluate::{EvaluateError, find_nand};
use steadyfs::media::Flash;
use steadyfs::{Access, Config, FileSystem};
use wear_out::wear_out;

/// Runs a chip to its end. `progress` is called now and then with the used share of the erases,
/// and the phase.
///
/// # Errors
/// [`EvaluateError`] if the device or the options are not possible, or if the volume fails
/// before it is filled. A later failure of the volume is the result, and not an error.
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
    use crate::evaluate::Workload;

    fn small(workload: Workload) -> Options {
        let write_bytes = workload.default_write_bytes();
        Options {
            blocks: 64,
            pages_per_block: 16,
            endurance: 40,
            scrub_days: 0,
            workload,
            write_bytes,
            ..Options::default()
        }
    }

    fn life(options: &Options) -> Life {
        run(options, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn every_workload_uses_most_erases_and_loses_nothing() {
        for (name, workload) in Workload::NAMES {
            let life = life(&Options { bit_errors: false, ..small(workload) });
            assert!(life.erases_percent > 60.0 && life.bad_blocks > 1, "{name}: {life}");
            assert_eq!(
                (life.audit.lost_bytes, life.known_bad_blocks),
                (0, life.bad_blocks),
                "{name}: {life}"
            );
        }
    }

    #[test]
    fn the_same_seed_lives_the_same_life() {
        let options =
            Options { spread_percent: 10, program_failures_percent: 30, ..small(Workload::Random) };
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
        assert!(
            shares.is_sorted() && shares.first() < Some(&0.1) && shares.last() == Some(&1.0),
            "{shares:?}"
        );
    }

    #[test]
    fn nor_is_refused() {
        let error =
            run(&Options { device: "w25q128jv".into(), ..Options::default() }, &mut |_, _| {})
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            "w25q128jv: is NOR; this command takes raw NAND: mt29f1g01abafd, w25n01gv, gd5f1gq5, \
             mt29f2g08abaea, k9f1208u0"
        );
    }
}
