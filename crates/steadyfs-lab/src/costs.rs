//! The cost of each call on a simulated chip, and the cost of copying files relative to
//! programming their bytes.
//!
//! ```text
//!   gauge     a call and its bound; a step of one call or a few; the mean and the most of many steps
//!     ▼
//!   calls     10,000 steps of each kind, on one volume
//!   copying   mount, copy and unmount, each way on a volume of its own
//!     ▼
//!   table     rows for people and as JSON, with the bars that they are held against
//! ```
//!
//! Every call is held to its bound, in operations and in time. A call that breaks its bound ends
//! the run with an error. Means are only printed, because no bound covers them.
//!
//! [`run`] measures and returns [`Costs`].

mod calls;
mod copying;
mod error;
mod gauge;
mod options;
mod table;

pub(crate) use copying::file_bytes;

pub use error::CostsError;
pub use options::Options;
pub use table::{CallCost, Commits, CopyCost, Costs, SkippedCopy};

use crate::evaluate::EvaluateError;
use crate::evaluate::device::{find_profile, on_chip};

/// The share of the time for calls, of the whole measurement.
const CALLS_SHARE: f64 = 0.8;

/// Measures every call, and copying.
///
/// `progress` is called now and then with the completed share, from 0 to 1, and the current
/// work.
///
/// # Errors
/// [`CostsError`] if:
/// - the device or the options are not possible,
/// - the volume refused a call, or
/// - a call broke its bound.
pub fn run(options: &Options, progress: &dyn Fn(f64, &str)) -> Result<Costs, CostsError> {
    options.check()?;
    let profile = options.part.of(&find_profile(&options.device)?).map_err(EvaluateError::from)?;
    let calls =
        calls::Calls { options, progress: &|share, call| progress(share * CALLS_SHARE, call) };
    let (files, usage, calls) = on_chip(&profile, options.part.timing, options.seed, calls)?;
    let (mut copies, mut skipped) = (Vec::new(), Vec::new());
    let ways = copying::ways();
    let each = (1.0 - CALLS_SHARE) / ways.len() as f64;
    for (done, way) in ways.into_iter().enumerate() {
        progress(CALLS_SHARE + each * done as f64, "copies");
        match on_chip(&profile, options.part.timing, options.seed, way)? {
            Ok(copy) => copies.push(copy),
            Err(reason) => skipped.push(reason),
        }
    }
    Ok(Costs {
        device: options.part.name(&profile.name),
        timing: options.part.timing.to_string(),
        call_us: options.part.call_us,
        files,
        seed: options.seed,
        usable_bytes: usage.usable_bytes,
        used_bytes: usage.used_bytes,
        calls,
        copies,
        skipped,
    })
}
