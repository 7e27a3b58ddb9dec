//! Runs an evaluation: a file system on a simulated chip under a workload, measured and checked call by call.
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
//! 2. Steady state: twice the usable bytes are written by the same workload. Where its writes are smaller than a logical
//!    page, whole pages are written at its places instead, and then 2,000 writes of its own size.
//! 3. The accesses are measured, each durable when it returns.
//!    With idle time, they are measured first without it, for comparison; then a tenth of their number, and then all of them,
//!    in bursts, before each of which the volume is idle and may work for so long.
//! 4. The volume is dropped without unmounting it, mounted again, what was written last is looked for, and the workload goes
//!    on for a while.
//!
//! Time is that of the chip. A call that takes longer or does more than was promised before it, in any phase, ends the run
//! with an error, and so does a run of calls beyond an envelope, and idle work beyond the idle time.
//!
//! [`run`] takes [`Options`] and gives an [`Outcome`], with the [`Evaluation`] for people and programs.

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

pub use device::{Found, find as find_device, find_managed, find_nand, find_profile, run_on};
pub use error::{EvaluateError, Phase};
pub use options::{DEFAULT_BURST_BYTES, DEFAULT_RATES, Idle, Options, Timing, UnknownName, Workload};
pub use outcome::Outcome;
pub use work::Work;

#[cfg(doc)]
use crate::evaluation::Evaluation;

/// Runs an evaluation. `progress` is called now and then with the share that is done, from 0 to 1, and the phase.
///
/// # Errors
/// [`EvaluateError`]: the device or the options are not possible, the volume refused a call, or a promise was broken.
pub fn run(options: &Options, progress: &mut dyn FnMut(f64, &str)) -> Result<Outcome, EvaluateError> {
    let profile = device::find_profile(&options.device)?;
    device::run_on(&profile, options, progress)
}
