//! A volume on which reclamation is at work, a workload on it, and the effect of its power cuts.

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

/// Maximum number of cuts of a chain.
pub(super) const CUTS_MAX: usize = 8;
/// Maximum number of reads of one life. It is many times the reads of the longest life, and finds a
/// call that never ends.
const READS_MAX: u64 = 1 << 22;

/// A workload on a stage.
#[derive(Clone)]
pub(super) struct Scenario {
    stage: Arc<Stage>,
    /// The run without a cut.
    pub run: Run,
    /// Steps of the run, and then the steps after each cut.
    ops: Arc<Vec<Step>>,
    /// Number of steps until the first cut.
    steps: usize,
}

/// Position in a run.
#[derive(Clone)]
pub(super) struct Scene {
    device: Device,
    model: Model,
    /// Number of steps that were begun.
    next: usize,
    /// Number of operations before each step of the first life.
    marks: Vec<u64>,
    /// Number of times that power failed and came back.
    pub lives: usize,
    /// True if a cut may have left a page that reads well or badly, and no mount has settled it
    /// since.
    torn: bool,
    /// The story, if it is requested.
    story: Option<Vec<String>>,
}

/// The course of a life of the volume, from one mount to the next power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// The cut met an operation. If `torn`, it left a page or a block neither old nor new.
    Cut { torn: bool },
    /// The cut was not reached in this many operations.
    Through(u64),
    /// The chip locked itself first. Committed data can still be read.
    Locked,
}

impl Scenario {
    /// Returns the scenario of a run, without its cuts.
    pub fn of(run: &Run) -> Result<Self, String> {
        let bad = run
            .faults
            .iter()
            .map(|fault| if let Fault::FactoryBad(count) = fault { *count } else { 0 })
            .sum();
        let stage = Arc::new(Stage::new(&run.volume, run.workload, run.seed, bad)?);
        Ok(Self::on(stage, run))
    }

    /// Returns the scenario with faults of a kind, drawn by the seed.
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

    /// Returns a scenario on the same stage, with the steps and faults of `run`.
    fn on(stage: Arc<Stage>, run: &Run) -> Self {
        let after = run.after * CUTS_MAX;
        let drawn = run.workload.steps(run.seed, run.steps + after, &stage.sizes);
        let kept = drawn.into_iter().enumerate().filter(|(index, _)| !run.leaves_out(*index));
        let ops: Vec<Step> = kept.map(|(_, op)| op).collect();
        let steps = (0..run.steps).filter(|index| !run.leaves_out(*index)).count();
        Self { stage, run: Run { cuts: Vec::new(), ..run.clone() }, ops: Arc::new(ops), steps }
    }

    /// Returns the same volume with other steps or faults. Its past stays, so factory bad blocks
    /// cannot change.
    pub fn again(&self, run: &Run) -> Self {
        Self::on(self.stage.clone(), run)
    }

    /// Returns the volume before the workload.
    pub fn start(&self) -> Scene {
        let mut device = self.stage.device.clone();
        self.run.faults.iter().for_each(|fault| fault.plan(&mut device, self.run.seed));
        Scene {
            device,
            model: self.stage.model.clone(),
            next: 0,
            marks: Vec::new(),
            lives: 0,
            torn: false,
            story: None,
        }
    }

    /// Returns the number of operations before each step of the workload, and of the whole
    /// workload.
    pub fn marks(&self) -> Result<Vec<u64>, String> {
        let mut scene = self.start();
        let before = scene.device.cut().operations();
        self.live(&mut scene, None)?;
        let all = scene.device.cut().operations();
        Ok(scene.marks.into_iter().chain([all]).map(|mark| mark - before).collect())
    }

    /// Returns the number of operations of the workload without a cut.
    pub fn operations(&self) -> Result<u64, String> {
        self.marks().map(|marks| *marks.last().unwrap_or(&0))
    }

    /// Mounts, and makes steps until the cut or the end of this life's steps. Then power goes off,
    /// and on again.
    ///
    /// # Errors
    /// The description of a violation.
    pub fn live(&self, scene: &mut Scene, cut: Option<Cut>) -> Result<Life, String> {
        let before = scene.device.cut().operations();
        scene.device.medium().reads_left = READS_MAX;
        if let Some(Cut { operation, torn }) = cut {
            scene.device.cut().cut_at_leaving(operation, torn);
        }
        let end = if scene.lives == 0 {
            self.steps
        } else {
            (scene.next + self.run.after).min(self.ops.len())
        };
        let result = caught(|| scene.work(&self.ops[..end]))?;
        let operations = scene.device.cut().operations() - before;
        let life = match result {
            // An error of reclamation at the end of a call is not an error of the call. So the last
            // call of the workload may not report the cut.
            Ok(()) | Err(MountError::Volume(Error::Device | Error::Unknown | Error::ReadOnly))
                if scene.device.cut().is_off() =>
            {
                let met = scene
                    .device
                    .chip
                    .records()
                    .last()
                    .map(|record| (record.operation, record.index));
                let torn = cut.map_or(steadyfs_sim::Torn::New, |cut| cut.torn);
                scene.tell(|| {
                    format!("  power fails in operation {operations}: {met:?}, leaves {torn:?}")
                });
                scene.torn = true;
                Life::Cut {
                    torn: torn != steadyfs_sim::Torn::New
                        || met.is_some_and(|(kind, _)| kind == Operation::Erase),
                }
            }
            Ok(()) => Life::Through(operations),
            // If the chip locked itself before a mount settled the cut, no mount can settle it any
            // more. The page may read as anything.
            Err(MountError::Volume(error))
                if scene.device.fail().is_locked()
                    && (scene.torn || matches!(error, Error::ReadOnly | Error::Unknown)) =>
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

    /// Continues for some steps after the last cut. Then compares everything again after a power
    /// failure between two calls.
    ///
    /// Returns the number of operations from the mount to the last step; 0 if the chip is locked.
    pub fn close(&self, scene: &mut Scene) -> Result<u64, String> {
        let operations = match self.live(scene, None)? {
            Life::Through(operations) => operations,
            Life::Locked => 0,
            Life::Cut { .. } => return Err("power failed without a cut".into()),
        };
        scene.tell(|| "  power fails between two calls".into());
        caught(|| scene.look())?
            .map(|()| operations)
            .map_err(|error| format!("the last mount reported: {error}"))
    }

    /// Makes a run: all its cuts, one after another. Returns the number of cuts that met an
    /// operation.
    pub fn play(&self, cuts: &[Cut]) -> Result<usize, String> {
        let mut scene = self.start();
        self.play_on(&mut scene, cuts)
    }

    /// Makes a run. Returns its story, and its result: the violation, if there is one.
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

    /// Returns the run with cuts.
    pub fn with_cuts(&self, cuts: &[Cut]) -> Run {
        Run { cuts: cuts.to_vec(), ..self.run.clone() }
    }

    /// Returns the maximum number of faults in a run of this scenario.
    pub fn faults(&self) -> u64 {
        self.run
            .faults
            .iter()
            .map(|fault| if let Fault::FactoryBad(count) = fault { u64::from(*count) } else { 1 })
            .sum()
    }
}

impl Scene {
    /// Mounts, and makes the steps up to the end of `ops`. In later lives, compares everything at
    /// the end.
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
            // The mount has settled the effect of a cut.
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

    /// Mounts and compares everything. A chip that has locked itself is mounted for reading.
    fn look(&mut self) -> Result<(), MountError> {
        let locked = self.device.fail().is_locked();
        if locked && self.torn {
            // No mount can settle the cut page any more: it may read as anything.
            return Ok(());
        }
        let access = if locked { Access::ReadOnly } else { Access::ReadWrite };
        Ok(self.model.mount(access, &mut self.device)?.compare()?)
    }

    /// Returns the blocks of the ring and of the second superblock. The first block is guaranteed
    /// to be good.
    fn ring(&mut self) -> Result<Vec<u32>, MountError> {
        let session = self.model.mount(Access::ReadOnly, &mut self.device)?;
        let blocks = 1..session.chip().geometry().block_count;
        Ok(blocks
            .filter(|block| session.block_state(*block) == Some(BlockState::Reserved))
            .collect())
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
