//! The fill, and then access after access until a call fails.

use super::Options;
use super::chip::LifeChip;
use super::course::Course;
use crate::evaluate::checker::{Checker, Progress, Volume};
use crate::evaluate::plan::Plan;
use crate::evaluate::writer::Writer;
use crate::evaluate::{EvaluateError, Phase};
use steadyfs::media::BlockIndex;
use steadyfs::{BlockState, Health, Usage};

/// Number of accesses between two updates of the course.
const LOOK_EVERY: u64 = 64;

/// The state of a volume at its end.
pub struct Worn {
    /// Writer that returns the expected contents of the files.
    pub writer: Writer,
    /// Number of accesses after the volume was filled.
    pub accesses: u64,
    /// Page programs and copies of these accesses.
    pub programs: u64,
    /// Error that ended the run.
    pub end: EvaluateError,
    /// Blocks that hold the superblocks.
    pub superblocks: Vec<BlockIndex>,
    /// Blocks of the ring of roots.
    pub ring: Vec<BlockIndex>,
    /// The volume's own report of its wear.
    pub health: Health,
    /// Events during the run.
    pub course: Course,
    /// Usable bytes of the volume when it was new.
    pub usable_bytes: u64,
}

/// Fills the volume and writes until a call fails.
pub fn wear_out(
    mut fs: Volume<'_, '_, LifeChip>,
    options: &Options,
    report: &mut dyn FnMut(f64, &str),
) -> Result<Worn, EvaluateError> {
    let usage = fs.usage();
    let plan = plan(options, &usage)?;
    // The progress is the share of the erases. The number of accesses until the end is unknown.
    let mut progress = Progress { expected: 1, done: 0, report: &mut |_, _| {} };
    let mut checker = Checker::only_counting(Phase::Fill, &mut progress);
    let mut writer = Writer::fill(&plan, &mut fs, &mut checker, |_| {})?;
    let before = fs.flash().counts();
    let (superblocks, ring) = reserved(&fs, options.blocks);
    let mut course = Course::new(options, superblocks.iter().chain(&ring).copied());
    let mut checker = Checker::only_counting(Phase::WearOut, &mut progress);
    let end = loop {
        if checker.accesses().is_multiple_of(LOOK_EVERY) {
            report(
                course.look(&mut fs, options, plan.fill_bytes, checker.accesses())?,
                &Phase::WearOut.to_string(),
            );
        }
        if let Err(error) = writer.access(&mut fs, &mut checker, options.write_bytes) {
            break error;
        }
    };
    let (accesses, spent) = (checker.accesses(), fs.flash().counts().since(&before));
    course.end(fs.flash(), options, accesses);
    let (programs, health, usable_bytes) =
        (spent.programs + spent.copies, fs.health(), usage.usable_bytes);
    Ok(Worn { writer, accesses, programs, end, superblocks, ring, health, course, usable_bytes })
}

/// Returns the plan of the fill before the wear.
fn plan(options: &Options, usage: &Usage) -> Result<Plan, EvaluateError> {
    let logical_bytes = u64::from(usage.logical_bytes);
    let fill_bytes = (usage.usable_bytes as f64 * options.fill.clamp(0.0, 1.0)) as u64
        / logical_bytes
        * logical_bytes;
    let write_bytes = options.write_bytes.max(logical_bytes);
    if fill_bytes < write_bytes {
        return Err(EvaluateError::TooSmall { used_bytes: fill_bytes, needed_bytes: write_bytes });
    }
    Ok(Plan { workload: options.workload, seed: options.seed, fill_bytes, write_bytes })
}

/// Returns the blocks of the superblocks, which are the first two reserved blocks, and the
/// blocks of the ring.
fn reserved(fs: &Volume<'_, '_, LifeChip>, blocks: u32) -> (Vec<BlockIndex>, Vec<BlockIndex>) {
    let is_reserved = |block: &BlockIndex| {
        fs.block(*block).is_some_and(|info| info.state == BlockState::Reserved)
    };
    let mut superblocks: Vec<_> = (0..blocks).filter(is_reserved).collect();
    let ring = superblocks.split_off(superblocks.len().min(2));
    (superblocks, ring)
}
