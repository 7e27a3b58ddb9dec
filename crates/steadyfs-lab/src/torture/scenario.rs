//! A volume on which reclamation is at work, a workload on it, and what happens when its power fails.

use super::BadInput;
use super::caught::caught;
use super::face::{Model, Step};
use super::fault::{Fault, FaultKind};
use super::run::{Cut, Run};
use super::stage::Stage;
use crate::model::Device;
use std::sync::Arc;
use steadyfs::media::Flash;
use steadyfs::{Access, BlockState, Error, MountError};
use steadyfs_sim::fault::Operation;

/// Cuts of a chain at most.
pub(super) const CUTS_MAX: usize = 8;
/// Reads of one life: many times what the longest takes, so a call that never ends is found.
const READS_MAX: u64 = 1 << 22;

/// A workload on a stage.
#[derive(Clone)]
pub(super) struct Scenario {
    stage: Arc<Stage>,
    /// The run without a cut.
    pub run: Run,
    /// Steps of the run, and then those after each cut.
    ops: Arc<Vec<Step>>,
    /// Steps until the first cut.
    steps: usize,
}

/// Where a run is.
#[derive(Clone)]
pub(super) struct Scene {
    device: Device,
    model: Model,
    /// Steps that were begun.
    next: usize,
    /// Operations before each step of the first life, and in all.
    marks: Vec<u64>,
    /// Power failed and was given back so often.
    pub lives: usize,
    /// A cut may have left a page that reads well or badly, and no mount has settled it since.
    torn: bool,
    /// What happened, where somebody wants to know.
    story: Option<Vec<String>>,
}

/// How a life of the volume, from one mount to the next power failure, went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// The cut met an operation, and left a page or a block as neither before nor after it, if `torn`.
    Cut { torn: bool },
    /// The cut was not reached in so many operations.
    Through(u64),
    /// The chip locked itself first. What was committed can still be read.
    Locked,
}

impl Scenario {
    /// The scenario of a run, cuts left aside.
    pub fn of(run: &Run) -> Result<Self, String> {
        let bad = run.faults.iter().map(|fault| if let Fault::FactoryBad(count) = fault { *count } else { 0 }).sum();
        let stage = Arc::new(Stage::new(&run.volume, run.workload, run.seed, bad)?);
        Ok(Self::on(stage, run))
    }

    /// The scenario with faults of a kind, drawn by the seed.
    pub fn with_faults(run: &Run, kind: FaultKind) -> Result<Self, String> {
        let faults = match kind {
            FaultKind::BadBlocks => kind.draw(run.seed, 1, &[]),
            _ => Vec::new(),
        };
        let scenario = Self::of(&Run { faults, cuts: Vec::new(), ..run.clone() })?;
        if matches!(kind, FaultKind::None | FaultKind::BadBlocks) {
            return Ok(scenario);
        }
        let ring = scenario.start().ring().map_err(|error| error.to_string())?;
        let faults = kind.draw(run.seed, scenario.operations()?.max(1), &ring);
        Ok(Self::on(scenario.stage.clone(), &Run { faults, ..scenario.run }))
    }

    /// The same stage with other steps and faults.
    fn on(stage: Arc<Stage>, run: &Run) -> Self {
        let after = run.after * CUTS_MAX;
        let drawn = run.workload.steps(run.seed, run.steps + after, &stage.sizes);
        let kept = drawn.into_iter().enumerate().filter(|(index, _)| !run.leaves_out(*index));
        let ops: Vec<Step> = kept.map(|(_, op)| op).collect();
        let steps = (0..run.steps).filter(|index| !run.leaves_out(*index)).count();
        Self { stage, run: Run { cuts: Vec::new(), ..run.clone() }, ops: Arc::new(ops), steps }
    }

    /// The same volume with other steps or faults; its past stays, so factory bad blocks cannot change.
    pub fn again(&self, run: &Run) -> Self {
        Self::on(self.stage.clone(), run)
    }

    /// The volume before the workload.
    pub fn start(&self) -> Scene {
        let mut device = self.stage.device.clone();
        self.run.faults.iter().for_each(|fault| fault.plan(&mut device, self.run.seed));
        Scene { device, model: self.stage.model.clone(), next: 0, marks: Vec::new(), lives: 0, torn: false, story: None }
    }

    /// Operations before each step of the workload, and of all of it.
    pub fn marks(&self) -> Result<Vec<u64>, String> {
        let mut scene = self.start();
        let before = scene.device.cut().operations();
        self.live(&mut scene, None)?;
        let all = scene.device.cut().operations();
        Ok(scene.marks.into_iter().chain([all]).map(|mark| mark - before).collect())
    }

    /// Operations of the workload without a cut.
    pub fn operations(&self) -> Result<u64, String> {
        self.marks().map(|marks| *marks.last().unwrap_or(&0))
    }

    /// Mounts and takes steps until the cut or the end of this life's steps. Then power is off, and on again.
    ///
    /// # Errors
    /// What does not hold.
    pub fn live(&self, scene: &mut Scene, cut: Option<Cut>) -> Result<Life, String> {
        let before = scene.device.cut().operations();
        scene.device.medium().reads_left = READS_MAX;
        if let Some(Cut { operation, torn }) = cut {
            scene.device.cut().cut_at_leaving(operation, torn);
        }
        let end = if scene.lives == 0 { self.steps } else { (scene.next + self.run.after).min(self.ops.len()) };
        let result = caught(|| scene.work(&self.ops[..end]))?;
        let operations = scene.device.cut().operations() - before;
        let life = match result {
            // What reclamation meets at the end of a call is not the call's error: the last one of the workload says nothing of the cut.
            Ok(()) | Err(MountError::Volume(Error::Device | Error::Unknown | Error::ReadOnly)) if scene.device.cut().is_off() => {
                let met = scene.device.chip.records().last().map(|record| (record.operation, record.index));
                let torn = cut.map_or(steadyfs_sim::Torn::New, |cut| cut.torn);
                scene.tell(|| format!("  power fails in operation {operations}: {met:?}, leaves {torn:?}"));
                scene.torn = true;
                Life::Cut { torn: torn != steadyfs_sim::Torn::New || met.is_some_and(|(kind, _)| kind == Operation::Erase) }
            }
            Ok(()) => Life::Through(operations),
            // What a cut left before the chip locked itself can be settled by nobody: it may read as anything.
            Err(MountError::Volume(error))
                if scene.device.fail().is_locked() && (scene.torn || matches!(error, Error::ReadOnly | Error::Unknown)) =>
            {
                scene.tell(|| format!("  the chip has locked itself after operation {operations}"));
                Life::Locked
            }
            Err(error) => return Err(format!("the volume reported: {error}")),
        };
        scene.lives += 1;
        scene.device.power_cycle();
        // A metastable page is decided anew each time.
        if (operations ^ self.run.seed) & 1 == 1 {
            scene.device.power_cycle();
        }
        Ok(life)
    }

    /// Goes on for some steps after the last cut, and looks at everything again after a power failure between two calls.
    ///
    /// Returns the operations from the mount to the last step; none where the chip is locked.
    pub fn close(&self, scene: &mut Scene) -> Result<u64, String> {
        let operations = match self.live(scene, None)? {
            Life::Through(operations) => operations,
            Life::Locked => 0,
            Life::Cut { .. } => return Err("power failed without a cut".into()),
        };
        scene.tell(|| "  power fails between two calls".into());
        caught(|| scene.look())?.map(|()| operations).map_err(|error| format!("the last mount reported: {error}"))
    }

    /// Makes a run: all its cuts, one after the other. Says how many of them met an operation.
    pub fn play(&self, cuts: &[Cut]) -> Result<usize, String> {
        let mut scene = self.start();
        self.play_on(&mut scene, cuts)
    }

    /// Makes a run and tells its story, whose end is what does not hold, if anything.
    pub fn tell(&self, cuts: &[Cut]) -> (Vec<String>, Result<usize, String>) {
        let mut scene = Scene { story: Some(Vec::new()), ..self.start() };
        let result = self.play_on(&mut scene, cuts);
        (scene.story.unwrap_or_default(), result)
    }

    fn play_on(&self, scene: &mut Scene, cuts: &[Cut]) -> Result<usize, String> {
        for (met, cut) in cuts.iter().enumerate() {
            if !matches!(self.live(scene, Some(*cut))?, Life::Cut { .. }) {
                return self.close(scene).map(|_| met);
            }
        }
        self.close(scene).map(|_| cuts.len())
    }

    /// The run with cuts.
    pub fn with_cuts(&self, cuts: &[Cut]) -> Run {
        Run { cuts: cuts.to_vec(), ..self.run.clone() }
    }

    /// Faults that a run of this scenario meets at most.
    pub fn faults(&self) -> u64 {
        self.run.faults.iter().map(|fault| if let Fault::FactoryBad(count) = fault { u64::from(*count) } else { 1 }).sum()
    }
}

impl Scene {
    /// Mounts and makes the steps up to the end of `ops`; compares everything at the end.
    fn work(&mut self, ops: &[Step]) -> Result<(), MountError> {
        let mut known = self.lives == 0;
        loop {
            let story = &mut self.story;
            if let Some(story) = story {
                story.push(format!("mount {}", self.lives + 1));
            }
            if !known {
                self.model.glance(&mut self.device)?;
            }
            let mut session = self.model.mount(Access::ReadWrite, &mut self.device)?;
            if session.chip().inner().inner().is_locked() {
                return Err(Error::ReadOnly.into());
            }
            // The mount has settled what a cut left.
            self.torn = false;
            if !known {
                session.compare()?;
            }
            known = false;
            let crash = loop {
                let Some(op) = ops.get(self.next) else {
                    return if self.lives == 0 { Ok(()) } else { Ok(session.check()?) };
                };
                self.next += 1;
                if self.lives == 0 {
                    self.marks.push(session.chip().inner().operations());
                }
                if let Some(story) = story {
                    story.push(format!("  step {}: {op:?}", self.next - 1));
                }
                match op.ends_mount() {
                    Some(crash) => break crash,
                    None => session.step(op)?,
                }
            };
            if !crash {
                session.unmount()?;
            }
        }
    }

    /// Mounts and compares everything; a chip that has locked itself is mounted for reading.
    fn look(&mut self) -> Result<(), MountError> {
        let locked = self.device.fail().is_locked();
        if locked && self.torn {
            // Nobody can settle the page that was cut any more: it reads as it likes.
            return Ok(());
        }
        let access = if locked { Access::ReadOnly } else { Access::ReadWrite };
        Ok(self.model.mount(access, &mut self.device)?.compare()?)
    }

    /// Blocks of the ring and of the second superblock; the first block is guaranteed to be good.
    fn ring(&mut self) -> Result<Vec<u32>, MountError> {
        let session = self.model.mount(Access::ReadOnly, &mut self.device)?;
        let blocks = 1..session.chip().geometry().block_count;
        Ok(blocks.filter(|block| session.block_state(*block) == Some(BlockState::Reserved)).collect())
    }

    fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }
}

impl From<BadInput> for String {
    fn from(error: BadInput) -> Self {
        error.to_string()
    }
}
