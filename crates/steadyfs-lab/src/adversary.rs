//! A search for the longest call of each kind, to show how tight the bounds are.
//!
//! ```text
//!   kind      the kinds of calls, whose bounds are held and compared
//!   habit     what an adversary does before a call: drawn at random, or like one that made a call long
//!   taken     the time of a call, and its bound with its parts
//!   world     the files that there are, what can be done to them, and its bound
//!      ▼
//!   search    a volume that was used until nothing of the format is left; sessions on copies of it, in generations
//!      ▼
//!   report    for each kind the longest call beside what was promised
//! ```
//!
//! Some of the small files have names that are chosen for their hashes. Many of these names
//! share one hash. Others share one bucket, and are more than the bucket has room for.
//!
//! An adversary keeps a habit for a session. The habit sets the kinds and the number of the
//! calls before each call that is to take long. It also sets whether the adversary waits until the
//! bound is as large as any bound so far. The search keeps the habits that made the longest
//! calls, changes them a little and tries them again in the next generation. Each call is held
//! to its bound on the way. Times are those of the chip. The same seed gives the same search.

mod habit;
mod kind;
mod options;
mod report;
mod search;
mod taken;
mod world;

pub use kind::Kind;
pub use options::Options;
pub use report::{Report, Row};
pub use taken::Parts;

use crate::bench::{BenchChip, BenchError, Medium, OnChips};
use crate::evaluate::find_profile;
use steadyfs_sim::{PowerCut, Tearable};

/// Searches for the longest calls.
///
/// `progress` is called now and then with the completed share, from 0 to 1, and the current
/// step.
///
/// # Errors
/// [`BenchError`] if:
/// - the device or the options are not possible,
/// - the device holds no volume, or
/// - a call failed or broke its bound.
pub fn run(options: &Options, progress: &(dyn Fn(f64, &str) + Sync)) -> Result<Report, BenchError> {
    let profile = find_profile(&options.device)?;
    let medium = Medium::of(&profile, &options.part)?.with_volume()?;
    let rows = medium.with_chips(options.seed, Search { options, progress })?;
    Ok(Report {
        device: profile.name,
        size_bytes: medium.size_bytes(),
        erase_block_bytes: medium.block_bytes(),
        fill: options.fill,
        timing: options.part.timing.to_string(),
        call_us: options.part.call_us,
        seed: options.seed,
        rows,
    })
}

/// A search that has no chips yet.
struct Search<'o> {
    options: &'o Options,
    progress: &'o (dyn Fn(f64, &str) + Sync),
}

impl OnChips for Search<'_> {
    type Output = Result<Vec<Row>, BenchError>;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip + Tearable + Clone + Send + Sync + 'static,
        PowerCut<C>: BenchChip,
    {
        search::search(make, self.options, self.progress)
    }
}
