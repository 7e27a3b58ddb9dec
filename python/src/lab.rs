//! The lab: functions that take options and return JSON and access times. `python/steadyfs/lab`
//! makes dataclasses of the results.
//!
//! The JSON equals the output of `steady COMMAND --json`. Times are bytes: 64-bit little-endian
//! nanoseconds. NumPy takes them without a conversion.

use crate::run::run;
use crate::trouble::Trouble;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::path::Path;
use steadyfs_lab::allowed::Allowed;
use steadyfs_lab::backlog::{self, BufferHolds};
use steadyfs_lab::bench::{self, Case};
use steadyfs_lab::evaluate::{self, EvaluateError, Idle, Part, Timing, Workload};
use steadyfs_lab::evaluation::Peer;
use steadyfs_lab::replay::{Problem, TimeUnit, Trace, TraceError, read_trace_file};
use steadyfs_lab::streams::{self, Way, Writes};
use steadyfs_lab::summary::Summary;
use steadyfs_lab::{advise, costs, realtime, transactions, units};
use steadyfs_sim::managed::ManagedProfile;

create_exception!(
    steadyfs,
    LabError,
    PyRuntimeError,
    "A run of the lab that was not possible, or that broke a promise."
);

type Progress = Option<Py<PyAny>>;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LabError", module.py().get_type::<LabError>())?;
    for function in [
        wrap_pyfunction!(allowed, module)?,
        wrap_pyfunction!(evaluate_check, module)?,
        wrap_pyfunction!(evaluate_run, module)?,
        wrap_pyfunction!(replay_run, module)?,
        wrap_pyfunction!(bench_run, module)?,
        wrap_pyfunction!(costs_run, module)?,
        wrap_pyfunction!(streams_run, module)?,
        wrap_pyfunction!(realtime_run, module)?,
        wrap_pyfunction!(transactions_run, module)?,
        wrap_pyfunction!(advise_run, module)?,
        wrap_pyfunction!(backlog_of, module)?,
        wrap_pyfunction!(backlog_series, module)?,
        wrap_pyfunction!(highest_rate, module)?,
        wrap_pyfunction!(read_trace, module)?,
        wrap_pyfunction!(devices, module)?,
        wrap_pyfunction!(parse, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

pub fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Parses a value by its name. An error names the argument.
pub fn named<T: std::str::FromStr<Err: std::fmt::Display>>(
    argument: &str,
    name: &str,
) -> PyResult<T> {
    name.parse().map_err(|error| wrong(format!("{argument}: {error}")))
}

/// Returns the allowed numbers of a call by argument: the least and the most.
#[pyfunction]
fn allowed(call: &str) -> BTreeMap<&'static str, (u64, u64)> {
    let options: &[Allowed] = match call {
        "evaluate" => &[
            evaluate::Options::ACCESSES,
            evaluate::Options::WRITE_BYTES,
            evaluate::Options::RATES,
            evaluate::Options::BURST_BYTES,
            Part::CALL_US,
        ],
        "bench" => {
            &[bench::Options::FILES, bench::Options::CACHE_PAGES, bench::Options::READ_CACHE_PAGES]
        }
        "costs" => &[costs::Options::FILES],
        "streams" => &[streams::Options::BLOCKS, streams::Options::STREAMS],
        "realtime" => &[realtime::Options::ACCESSES, realtime::Options::COMMIT_EVERY],
        "transactions" => &[
            transactions::Options::WRITE_BYTES,
            transactions::Options::FILES,
            transactions::Options::SERIES,
            transactions::Options::COPIES,
        ],
        _ => &[],
    };
    options.iter().map(|option| (option.name, (option.least, option.most))).collect()
}

/// Converts an error of a trace: `OSError` for a file that cannot be read, `ValueError` for wrong
/// content.
fn of_trace(py: Python<'_>, error: TraceError) -> PyErr {
    match &error.problem {
        Problem::Unreadable(reason) => Trouble::host(reason, error.file).raise(py),
        _ => wrong(in_python(&error.to_string())),
    }
}

/// Replaces the option of the command that an error of a trace names by the argument.
fn in_python(words: &str) -> String {
    let replaced = words.replace(" of `steady replay`", "").replace("by --unit", "by unit");
    ["us", "ns"].iter().fold(replaced, |words, unit| {
        words.replace(&format!("--unit {unit}"), &format!("unit='{unit}'"))
    })
}

pub fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| format!("JSON: {error}"))
}

/// Converts times to bytes.
fn to_bytes(times_ns: &[u64]) -> Vec<u8> {
    times_ns.iter().flat_map(|ns| ns.to_le_bytes()).collect()
}

/// Converts bytes to times.
fn of_bytes(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default()))
        .collect()
}

/// The result of a run: JSON, and times as bytes.
type Found = (String, Py<PyBytes>);

/// The options of an evaluation: a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct EvaluateOptions {
    device: String,
    size_bytes: Option<u64>,
    erase_block_bytes: Option<u32>,
    fill: f64,
    accesses: u64,
    write_bytes: Option<u64>,
    rates: Vec<u64>,
    timing: String,
    call_us: u32,
    workload: String,
    seed: u64,
    idle: Option<(u64, u64)>,
}

impl EvaluateOptions {
    /// Returns the options of the lab, checked.
    fn checked(self) -> PyResult<evaluate::Options> {
        let timing = named::<Timing>("timing", &self.timing)?;
        let workload = named::<Workload>("workload", &self.workload)?;
        let Self { size_bytes, erase_block_bytes, call_us, .. } = self;
        let options = evaluate::Options {
            device: self.device,
            fill: self.fill,
            accesses: self.accesses,
            write_bytes: self.write_bytes.unwrap_or_else(|| workload.default_write_bytes()),
            rates: self.rates,
            part: Part { size_bytes, erase_block_bytes, timing, call_us },
            workload,
            seed: self.seed,
            idle: self.idle.map(|(idle_ns, burst_bytes)| Idle { idle_ns, burst_bytes }),
        };
        options.check().map_err(wrong)?;
        Ok(options)
    }
}

/// Checks the options of an evaluation, and the name of its device. A worker of a sweep reads the
/// file of a profile.
#[pyfunction]
fn evaluate_check(options: EvaluateOptions) -> PyResult<()> {
    match evaluate::find_profile(&options.checked()?.device) {
        Ok(_) | Err(EvaluateError::Unreadable { .. }) => Ok(()),
        Err(error @ EvaluateError::Device { .. }) => Err(wrong(error)),
        Err(error) => Err(wrong(format!("device: {error}"))),
    }
}

#[pyfunction]
fn evaluate_run(
    py: Python<'_>,
    options: EvaluateOptions,
    beside: Option<(Option<String>, String)>,
    progress: Progress,
) -> PyResult<Found> {
    let options = options.checked()?;
    let peer = beside.map(|(label, path)| {
        let trace = read_trace_file(Path::new(&path), None);
        trace.and_then(|trace| Peer::of_trace(label, trace, options.write_bytes))
    });
    let peer = peer.transpose().map_err(|error| of_trace(py, error))?;
    let (text, times) = run(py, progress, |tell| {
        let mut outcome = evaluate::run(&options, &mut |share, phase| tell(share, phase))
            .map_err(|error| error.to_string())?;
        if let Some(peer) = peer {
            outcome.put_beside(peer);
        }
        Ok((json(&outcome.evaluation)?, to_bytes(&outcome.access_ns)))
    })?;
    Ok((text, PyBytes::new(py, &times).unbind()))
}

#[pyfunction]
fn replay_run(
    py: Python<'_>,
    name: String,
    access_ns: &[u8],
    write_bytes: u64,
    rates: Vec<u64>,
    buffer_bytes: Option<u64>,
) -> PyResult<String> {
    let trace = Trace { name, access_ns: of_bytes(access_ns), fio: None, refused: 0 };
    let summary = py.detach(|| Summary::of(&trace, write_bytes, &rates, buffer_bytes));
    let summary = summary.ok_or_else(|| wrong(format!("{}: found no access", trace.name)))?;
    json(&summary).map_err(LabError::new_err)
}

#[pyfunction]
fn read_trace(
    py: Python<'_>,
    path: String,
    unit: Option<&str>,
    write_bytes: Option<u64>,
) -> PyResult<(Py<PyBytes>, u64, Option<String>)> {
    let unit = unit.map(|unit| named::<TimeUnit>("unit", unit)).transpose()?;
    let trace = py.detach(|| read_trace_file(Path::new(&path), unit));
    let trace = trace.map_err(|error| of_trace(py, error))?;
    let write_bytes = trace.write_bytes(write_bytes).map_err(|error| of_trace(py, error))?;
    let left_out = trace.fio.and_then(|fio| fio.left_out());
    Ok((PyBytes::new(py, &to_bytes(&trace.access_ns)).unbind(), write_bytes, left_out))
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn bench_run(
    py: Python<'_>,
    device: String,
    size_bytes: Option<u64>,
    erase_block_bytes: Option<u32>,
    timing: &str,
    call_us: u32,
    cases: Option<Vec<String>>,
    files: u32,
    cache_pages: u32,
    read_cache_pages: u32,
    erased: bool,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let known = || Case::names().join(", ");
    let case = |name: &String| {
        Case::named(name)
            .ok_or_else(|| wrong(format!("cases: found `{name}`, expected one of {}", known())))
    };
    let cases = match cases {
        Some(names) => names.iter().map(case).collect::<PyResult<_>>()?,
        None => Case::all(),
    };
    let timing = named("timing", timing)?;
    let options = bench::Options {
        device,
        part: Part { size_bytes, erase_block_bytes, timing, call_us },
        cases,
        files,
        cache_pages,
        read_cache_pages,
        erased,
        seed,
    };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| json(&bench::run(&options, tell).map_err(|error| error.to_string())?))
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn costs_run(
    py: Python<'_>,
    device: String,
    size_bytes: Option<u64>,
    erase_block_bytes: Option<u32>,
    timing: &str,
    call_us: u32,
    files: Option<u32>,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let timing = named("timing", timing)?;
    let part = Part { size_bytes, erase_block_bytes, timing, call_us };
    let options = costs::Options { device, part, files, seed };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| {
        json(
            &costs::run(&options, &|share, what| tell(share, what))
                .map_err(|error| error.to_string())?,
        )
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn streams_run(
    py: Python<'_>,
    device: Option<String>,
    blocks: Option<u32>,
    timing: &str,
    writes: Option<Vec<String>>,
    fills: Option<Vec<f64>>,
    ways: Option<Vec<String>>,
    count: u8,
    mixed: bool,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let usual = streams::Options::default();
    let options = streams::Options {
        device: device.unwrap_or(usual.device),
        blocks,
        timing: named("timing", timing)?,
        writes: all_named::<Writes>("writes", writes, usual.writes)?,
        fills: fills.unwrap_or(usual.fills),
        ways: all_named::<Way>("ways", ways, usual.ways)?,
        streams: count,
        mixed,
        seed,
        threads: usual.threads,
    };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| {
        json(&streams::run(&options, tell).map_err(|error| error.to_string())?)
    })
}

/// Parses values by their names. Returns the usual values if there are no names.
fn all_named<T: std::str::FromStr<Err: std::fmt::Display>>(
    argument: &str,
    names: Option<Vec<String>>,
    usual: Vec<T>,
) -> PyResult<Vec<T>> {
    names.map_or(Ok(usual), |names| names.iter().map(|name| named(argument, name)).collect())
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn realtime_run(
    py: Python<'_>,
    cards: Option<Vec<String>>,
    nand: String,
    accesses: u32,
    fill: f64,
    rate: u64,
    ram_bytes: u64,
    commit_every: u32,
    call_us: u32,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let usual = realtime::Options::default();
    let cards = cards.unwrap_or(usual.cards);
    let (rates, may_lose) = (usual.rates, None);
    let options = realtime::Options {
        cards,
        nand,
        accesses,
        fill,
        rates,
        rate,
        ram_bytes,
        commit_every,
        may_lose,
        call_us,
        seed,
        ..usual
    };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| {
        json(&realtime::run(&options, tell).map_err(|error| error.to_string())?)
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn transactions_run(
    py: Python<'_>,
    devices: Option<Vec<String>>,
    timing: &str,
    write_bytes: u64,
    files: u32,
    series: u32,
    copies: u32,
    seed: u64,
    progress: Progress,
) -> PyResult<String> {
    let devices = devices.unwrap_or(transactions::Options::default().devices);
    let options = transactions::Options {
        devices,
        timing: named("timing", timing)?,
        write_bytes,
        files,
        series,
        copies,
        seed,
    };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| {
        let result = transactions::run(&options, &mut |share, what| tell(share, what));
        json(&result.map_err(|error| error.to_string())?)
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a run, called from one place")]
fn advise_run(
    py: Python<'_>,
    device: String,
    workload: &str,
    size_bytes: Option<u64>,
    fill: f64,
    timing: &str,
    call_us: u32,
    effort: f64,
    seed: u64,
    progress: Progress,
) -> PyResult<(String, String)> {
    let known = || advise::Workload::ALL.map(|(name, _)| name).join(", ");
    let workload = advise::Workload::named(workload).ok_or_else(|| {
        wrong(format!("workload: found `{workload}`, expected one of {}", known()))
    })?;
    let timing = named("timing", timing)?;
    let options = advise::Options {
        size_bytes,
        fill,
        timing,
        call_us,
        effort,
        seed,
        ..advise::Options::new(&device, workload)
    };
    options.check().map_err(wrong)?;
    run(py, progress, |tell| {
        let advice = advise::run(&options, tell).map_err(|error| error.to_string())?;
        Ok((json(&advice.summary())?, advice.text()))
    })
}

#[pyfunction]
fn backlog_of(py: Python<'_>, access_ns: &[u8], rate: u64, write_bytes: u64) -> Option<(u64, u64)> {
    let times = of_bytes(access_ns);
    let need = py.detach(|| backlog::need(&times, write_bytes, rate));
    need.map(|need| (need.worst.left_bytes, need.worst.peak_bytes))
}

#[pyfunction]
fn backlog_series(py: Python<'_>, access_ns: &[u8], rate: u64, write_bytes: u64) -> Py<PyBytes> {
    let times = of_bytes(access_ns);
    let left = py.detach(|| {
        let series = backlog::backlog_series(&times, write_bytes, rate);
        to_bytes(&series.iter().map(|level| level.left_bytes).collect::<Vec<_>>())
    });
    PyBytes::new(py, &left).unbind()
}

#[pyfunction]
fn highest_rate(
    py: Python<'_>,
    access_ns: &[u8],
    write_bytes: u64,
    buffer_bytes: u64,
    peak: bool,
) -> Option<u64> {
    let times = of_bytes(access_ns);
    let holds = if peak { BufferHolds::Peak } else { BufferHolds::Left };
    py.detach(|| backlog::highest_rate(&times, write_bytes, buffer_bytes, holds))
}

/// Return two lists of names: of raw chips, and of cards, eMMC and disks.
///
/// `Image`, `evaluate`, `bench`, `costs` and `advise` take raw chips alone. `streams` and the
/// `nand` of `realtime` take raw NAND. The `cards` of `realtime` are names of the second list.
/// `transactions` takes both. The path of a profile in TOML may stand for a name.
#[pyfunction]
fn devices() -> (Vec<String>, Vec<String>) {
    let raw = evaluate::chip_names();
    let managed = ManagedProfile::all().into_iter().map(|profile| profile.name).collect();
    (raw, managed)
}

/// Parses a number from its command-line text: a rate, size, duration or share.
#[pyfunction]
fn parse(kind: &str, text: &str) -> PyResult<f64> {
    let number = match kind {
        "rate" => units::parse_rate(text).map(|rate| rate as f64).map_err(wrong),
        "size" => units::parse_size(text).map(|size| size as f64).map_err(wrong),
        "duration" => units::parse_duration(text).map(|ns| ns as f64).map_err(wrong),
        _ => units::parse_percent(text).map_err(wrong),
    }?;
    Ok(number)
}
