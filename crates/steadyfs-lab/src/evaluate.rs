//! Runs an evaluation: a file system on a simulated chip under a workload, measured and checked
//! call by call.
//!
//! ```text
//!   options ──▶ device: a chip from its profile
//!                  ▼
//!   drive: format, mount, fill, steady state, measure, cut, mount again
//!      │  overwrites · ring · appends   where the next bytes go
//!      │  checker               every call against its bound, every run of calls against the envelopes
//!      │  idle                  bursts, and idle work before each
//!      │  tracker               where the chip holds each logical page, for the adversary
//!      ▼
//!   comparison: the floor for the same writes ──▶ Evaluation
//! ```
//!
//! 1. The volume is filled to its share of the usable bytes.
//! 2. Steady state: the same workload writes twice the usable bytes. If its writes are smaller
//!    than a logical page, it writes whole pages at its places instead, and then makes 2,000
//!    writes of its own size.
//! 3. The accesses are measured. Each is durable when it returns. With idle time, the run first
//!    measures them without it, for comparison. Then it makes a tenth of their number, and then
//!    all of them, in bursts. Before each burst, the volume is idle and may work for the given
//!    time.
//! 4. The volume is dropped without an unmount and mounted again. The newest data is read back,
//!    and the workload continues for a while.
//!
//! Time is that of the chip. In any phase, the run ends with an error if:
//! - a call takes longer or does more than its bound,
//! - a run of calls exceeds an envelope, or
//! - idle work takes longer than the idle time.
//!
//! [`run`] takes [`Options`] and returns an [`Outcome`], with the [`Evaluation`] for people and
//! programs.

mod appends;
pub(crate) mod checker;
mod comparison;
pub(crate) mod device;
pub(crate) mod doubt;
pub(crate) mod draw;
mod drive;
mod error;
mod idle;
mod options;
mod outcome;
mod overwrites;
pub(crate) mod plan;
mod ring;
pub(crate) mod tracker;
mod work;
pub(crate) mod writer;

pub(crate) use checker::cost;

pub use crate::named::UnknownName;
pub use crate::part::{CALL_US_MAX, Part, PartError, Timing, times_of};
pub use device::{
    Found, chip_names, find as find_device, find_managed, find_nand, find_profile, run_on,
};
pub use error::{EvaluateError, Phase};
pub use options::{DEFAULT_BURST_BYTES, DEFAULT_RATES, Idle, Options, Workload};
pub use outcome::Outcome;
pub use work::Work;

#[cfg(doc)]
use crate::evaluation::Evaluation;

/// Runs an evaluation. `progress` is called now and then with the completed share, from 0 to 1,
/// and the phase.
///
/// # Errors
/// [`EvaluateError`] if the device or the options are not possible, if the volume refused a
/// call, or if a bound was broken.
pub fn run(
    options: &Options,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Outcome, EvaluateError> {
    let profile = options.part.of(&device::find_profile(&options.device)?)?;
    device::run_on(&profile, options, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The run fails if a call exceeds its bound. So the bounds contain the driver's time.
    #[test]
    fn the_time_of_the_driver_is_in_all_times_and_bounds() {
        for (device, mib) in [("w25q128jv", 1), ("mt29f1g01abafd", 16)] {
            let run_with = |call_us| {
                let part = Part { size_bytes: Some(mib << 20), call_us, ..Part::default() };
                let options =
                    Options { device: device.into(), part, accesses: 300, ..Options::default() };
                run(&options, &mut |_, _| {}).unwrap().evaluation
            };
            let (alone, driven) = (run_with(0), run_with(50));
            let commands = (driven.reads + driven.programs + driven.erases) as f64;
            let added_us = (driven.mean_us - alone.mean_us) * driven.accesses as f64;
            // The page program of NOR has two commands of 256 bytes, and its tag has another one.
            let most = if device == "w25q128jv" { 3.0 } else { 1.2 };
            assert!(
                (0.9 * 50.0 * commands..most * 50.0 * commands).contains(&added_us),
                "{device}: {added_us} us for {commands} commands"
            );
            assert!(driven.bound_us > alone.bound_us && driven.max_us <= driven.bound_us);
            assert!(driven.title().contains("50 µs of driver a command"), "{}", driven.title());
            assert!(alone.title().contains("typical times, flash alone"));
        }
    }
}
