//! Measures runs.

use super::card::follow_card;
use super::kept::RunResult;
use super::linux::mounts;
use super::plan::{Calibration, DriverPart, Figure, Measure, Run, Settings};
use super::step::Spans;
use crate::any_entrant::AnyEntrant;
use crate::run::chip_of;
use steadyfs_lab::evaluate::find_managed;
use steadyfs_sim::Driver;

/// Seed of the chips.
const SEED: u64 = 1;
/// Time of the driver in the run that shows the slope.
const PROBE: u32 = 100;

/// Makes contenders with settings.
pub trait Makers {
    /// Returns the contender of this name with these settings, or `None` if it is not built in.
    fn make(&self, system: &str, settings: &Settings) -> Option<Box<dyn AnyEntrant>>;
}

/// Measures a run. If the run has a calibration, measures it without and with the driver's time.
///
/// # Errors
/// The reason why it cannot be measured.
pub fn measure(run: &Run, makers: &dyn Makers) -> Result<RunResult, String> {
    let driver = Driver::default();
    let alone = follow(run, makers, &driver)?;
    let Some(calibration) = &run.calibrate else {
        return Ok(RunResult { spans: alone, driver: None });
    };
    let driver = fitted(run, calibration, makers, &alone)?;
    let spans = follow(run, makers, &driver)?;
    Ok(RunResult { spans, driver: Some(calibration.of.text(&driver)) })
}

fn follow(run: &Run, makers: &dyn Makers, driver: &Driver) -> Result<Spans, String> {
    if run.system == "linux" {
        return mounts();
    }
    if let Ok(card) = find_managed(&run.device) {
        return follow_card(&card, &run.steps);
    }
    let contender = makers
        .make(&run.system, &run.settings)
        .ok_or_else(|| format!("{} is not built in: see docs/results/contenders.md", run.system))?;
    contender.follow(chip_of(&run.medium(driver)?, SEED), &run.steps)
}

/// Returns the driver with which the calibrating figure has its published value. Times are linear
/// in the driver's time, so a run with a probe shows the slope.
fn fitted(
    run: &Run,
    calibration: &Calibration,
    makers: &dyn Makers,
    alone: &Spans,
) -> Result<Driver, String> {
    let figure = run.figure.iter().find(|figure| figure.name == calibration.by);
    let figure = figure.ok_or_else(|| format!("no figure {}", calibration.by))?;
    let probed = follow(run, makers, &calibration.of.driver(PROBE))?;
    let time = |spans| figure.time(spans).ok_or_else(|| format!("no step {}", figure.of));
    let (without, with) = (time(alone)?, time(&probed)?);
    let missing = figure.linear(figure.published) - without;
    let fitted = missing / (with - without) * f64::from(PROBE);
    Ok(calibration.of.driver(fitted.max(0.0).round() as u32))
}

impl DriverPart {
    /// Returns the keys of a profile for a driver with this part alone.
    fn text(self, driver: &Driver) -> String {
        match self {
            DriverPart::Command => format!("{} µs for each command", driver.read_call_us),
            DriverPart::Read => format!("`read_call_us = {}`", driver.read_call_us),
            DriverPart::Program => format!("`program_call_us = {}`", driver.program_call_us),
            DriverPart::Byte => format!("`byte_ns = {}`", driver.byte_ns),
        }
    }

    /// Returns a driver with this time: microseconds for commands, nanoseconds for bytes.
    fn driver(self, time: u32) -> Driver {
        match self {
            DriverPart::Command => Driver::of_call(time),
            DriverPart::Read => Driver { read_call_us: time, ..Driver::default() },
            DriverPart::Program => Driver { program_call_us: time, ..Driver::default() },
            DriverPart::Byte => Driver { byte_ns: time, ..Driver::default() },
        }
    }
}

impl Figure {
    /// Returns a value in a form that is linear in times.
    fn linear(&self, value: f64) -> f64 {
        if self.measure == Measure::Rate { value.recip() } else { value }
    }

    /// Returns the simulated value in a form that is linear in times.
    fn time(&self, spans: &Spans) -> Option<f64> {
        self.value(spans).map(|value| self.linear(value))
    }

    /// Returns the simulated value, in the unit of the published one.
    pub fn value(&self, spans: &Spans) -> Option<f64> {
        let span = spans.get(&self.of)?;
        Some(match self.measure {
            Measure::Total => span.total_ms,
            Measure::MeanFile => span.mean_file_ms,
            Measure::File(index) => *span.files_ms.get(index)?,
            Measure::MedianFile => span.median_file_ms,
            Measure::LongestFile => span.longest_file_ms,
            Measure::MedianCall => span.median_call_ms,
            Measure::LongestCall => span.longest_call_ms,
            Measure::Rate => span.payload_bytes as f64 / span.total_ms,
            Measure::Reads => span.reads as f64,
            Measure::BytesRead => span.bytes_read as f64,
        })
    }
}
