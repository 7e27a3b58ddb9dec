//! `steady replay`: computes the buffer that a trace of access times needs.

use crate::Failure;
use crate::output::Outputs;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use steadyfs_lab::evaluate::DEFAULT_RATES;
use steadyfs_lab::replay::{TimeUnit, Trace, read_trace, read_trace_file};
use steadyfs_lab::report::Report;
use steadyfs_lab::summary::Summary;
use steadyfs_lab::units::{parse_rate, parse_size, parse_write_size};

/// Arguments of `steady replay`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE.csv")]
    trace: PathBuf,
    /// Bytes of each write [default: as the trace states, else 4KiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_write_size)]
    write: Option<u64>,
    /// Input rate, such as 500kB/s; may be repeated [default: 100kB/s, 500kB/s, 1MB/s and 2MB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = parse_rate)]
    rate: Vec<u64>,
    /// Unit of the times when the header names none: ns, us, ms or s
    #[arg(long)]
    unit: Option<TimeUnit>,
    /// Show the highest rate for a buffer of this size
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size)]
    buffer: Option<u64>,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
A trace has one access per line: a column of durations (`duration_us`, `time [ns]`,
`latency (ms)`), or columns of starts and ends (`start_us,end_us`). Commas, semicolons or tabs
separate columns. Lines with # are comments. `# refused: N` counts refused calls, and
`# write bytes: N` states the bytes of each write.

A latency log of fio (--write_lat_log) is a trace as well. Only its writes count; the log has the
bytes of each write. fio 2 and fio 3 before 3.15 need --unit us or --unit ns. A log of windows
(log_avg_msec) is refused: it has no times of single accesses.

Example:
  steady replay board.csv --write 4096 --rate 500kB/s --rate 1MB/s --buffer 10KiB \
    --report board.html";

/// Runs `steady replay`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let trace = read(&arguments.trace, arguments.unit)?;
    let write_bytes = write_bytes(&trace, arguments.write)?;
    let rates =
        if arguments.rate.is_empty() { DEFAULT_RATES.to_vec() } else { arguments.rate.clone() };
    let summary = Summary::of(&trace, write_bytes, &rates, arguments.buffer)
        .ok_or_else(|| Failure::new(format!("{}: found no access", trace.name)))?;
    arguments.outputs.write(&summary, || Report::of_trace(&trace, &summary))
}

/// Returns the bytes of each write: as the trace states, else as in `--write`, else 4,096.
pub fn write_bytes(trace: &Trace, given: Option<u64>) -> Result<u64, Failure> {
    trace.write_bytes(given).map_err(Failure::new)
}

/// Reads a trace from a file, or from standard input for `-`. Prints a note about left-out lines
/// to standard error.
pub fn read(path: &Path, unit: Option<TimeUnit>) -> Result<Trace, Failure> {
    let trace = if path.as_os_str() == "-" {
        read_trace("standard input", io::stdin().lock(), unit)
    } else {
        read_trace_file(path, unit)
    };
    let trace = trace.map_err(Failure::new)?;
    if let Some(left_out) = trace.fio.and_then(|fio| fio.left_out()) {
        eprintln!("{}: {left_out}", trace.name);
    }
    Ok(trace)
}
