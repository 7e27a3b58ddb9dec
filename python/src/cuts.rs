//! Shards of power-cut campaigns: each function takes the options of a shard and returns its
//! findings as JSON. `python/steadyfs/cuts.py` sweeps the shards.

use crate::lab::{json, named, wrong};
use crate::run::{Tell, run};
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use steadyfs_lab::torture::{self, FaultKind, Options, Volume, Workload, caught};
use steadyfs_siege::campaign::{ALL, Campaign};
use steadyfs_siege::world::{MediumKind, World};

type Progress = Option<Py<PyAny>>;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(torture_usual, module)?)?;
    module.add_function(wrap_pyfunction!(torture_check, module)?)?;
    module.add_function(wrap_pyfunction!(torture_run, module)?)?;
    module.add_function(wrap_pyfunction!(siege_campaigns, module)?)?;
    module.add_function(wrap_pyfunction!(siege_check, module)?)?;
    module.add_function(wrap_pyfunction!(siege_run, module)?)
}

/// Returns the defaults of a torture run: geometries, workloads and faults.
#[pyfunction]
fn torture_usual() -> (Vec<String>, Vec<String>, Vec<String>) {
    let workloads = Workload::ALL.iter().map(ToString::to_string).collect();
    let faults = FaultKind::of_raw_flash().iter().map(ToString::to_string).collect();
    (Volume::GROUNDS.map(String::from).to_vec(), workloads, faults)
}

/// Checks the options of a shard. The run makes one scenario after the other on one thread, so
/// that the same shard gives the same findings.
fn options(
    geometry: &str,
    workload: &str,
    fault: &str,
    mode: &str,
    steps: Option<u64>,
    seed: u64,
) -> PyResult<Options> {
    if let Some(steps) = steps.filter(|steps| !(1..=10_000).contains(steps)) {
        return Err(wrong(format!("steps is {steps}; expected 1 to 10000")));
    }
    let options = Options {
        volumes: vec![named("geometry", geometry)?],
        workloads: vec![named("workload", workload)?],
        faults: vec![named("fault", fault)?],
        mode: named("mode", mode)?,
        seed,
        steps: steps.map(|steps| steps as usize),
        threads: 1,
        ..Options::default()
    };
    options.check().map_err(wrong)?;
    Ok(options)
}

#[pyfunction]
fn torture_check(
    geometry: &str,
    workload: &str,
    fault: &str,
    mode: &str,
    steps: Option<u64>,
) -> PyResult<()> {
    options(geometry, workload, fault, mode, steps, 0).map(drop)
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn torture_run(
    py: Python<'_>,
    geometry: &str,
    workload: &str,
    fault: &str,
    mode: &str,
    steps: Option<u64>,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let options = options(geometry, workload, fault, mode, steps, seed)?;
    run(py, progress, |tell| {
        // `tell` unwinds to stop the run. The panic is caught here, because torture's reporting
        // thread must first end its cutting thread.
        let goes_on = |now: torture::Progress| {
            catch_unwind(AssertUnwindSafe(|| tell(now.share, "cuts"))).is_ok()
        };
        let summary = torture::run(&options, None, &goes_on).map_err(|error| error.to_string())?;
        tell(1.0, "cuts");
        json(&summary)
    })
}

/// Returns the names of the siege campaigns. The default is to make all of them.
#[pyfunction]
fn siege_campaigns() -> Vec<&'static str> {
    ALL.iter().map(|campaign| campaign.name).collect()
}

fn siege(
    campaign: &str,
    medium: &str,
    streams: bool,
    long_logs: bool,
    full: bool,
    cache: bool,
    volumes: u64,
) -> PyResult<(Campaign, World)> {
    let names = || ALL.map(|campaign| campaign.name).join(", ");
    let found = Campaign::named(campaign)
        .ok_or_else(|| wrong(format!("campaign {campaign:?}: expected one of {}", names())))?;
    let medium = MediumKind::named(medium).ok_or_else(|| {
        wrong(format!("medium {medium:?}: expected chip, chip-groups, card or card-within"))
    })?;
    if !(1..=u64::from(u32::MAX)).contains(&volumes) {
        return Err(wrong(format!("volumes is {volumes}; expected one at least")));
    }
    Ok((
        found,
        World {
            medium,
            has_streams: streams,
            has_long_logs: long_logs,
            is_full: full,
            has_cache: cache,
            is_traced: false,
        },
    ))
}

#[pyfunction]
fn siege_check(
    campaign: &str,
    medium: &str,
    streams: bool,
    long_logs: bool,
    full: bool,
    cache: bool,
    volumes: u64,
) -> PyResult<()> {
    siege(campaign, medium, streams, long_logs, full, cache, volumes).map(drop)
}

/// The findings in the volumes of a shard.
#[derive(Default, Serialize)]
struct Besieged {
    /// Commands that replay the failed volumes, and the first finding of each.
    failures: Vec<String>,
    reasons: Vec<String>,
    /// Counts of events, as JSON. The campaign defines their names.
    counts: String,
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn siege_run(
    py: Python<'_>,
    campaign: &str,
    medium: &str,
    streams: bool,
    long_logs: bool,
    full: bool,
    cache: bool,
    volumes: u64,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let (campaign, world) = siege(campaign, medium, streams, long_logs, full, cache, volumes)?;
    run(py, progress, |tell| json(&besieged(campaign, world, volumes as u32, seed, tell)?))
}

fn besieged(
    campaign: Campaign,
    world: World,
    volumes: u32,
    seed: u64,
    tell: Tell<'_>,
) -> Result<Besieged, String> {
    let mut found = Besieged::default();
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for index in 0..volumes {
        tell(f64::from(index) / f64::from(volumes), campaign.name);
        // A panic is a finding, and must not be printed on the terminal.
        let log = caught(|| campaign.run(seed, index, world))?;
        log.counts.into_iter().for_each(|(what, count)| *counts.entry(what).or_default() += count);
        if let Some(first) = log.findings.first() {
            found.failures.push(world.replay(campaign.name, seed, index));
            let more = if log.findings.len() > 1 {
                format!(", and {} more", log.findings.len() - 1)
            } else {
                String::new()
            };
            found.reasons.push(format!("{}: {}{more}", first.class, first.detail));
        }
    }
    Ok(Besieged { counts: json(&counts)?, ..found })
}
