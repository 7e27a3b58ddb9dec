//! `steady fit`: the profile of a managed device from a trace of its own.

use crate::Failure;
use crate::output::print;
use crate::replay::read;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use steadyfs_lab::replay::TimeUnit;
use steadyfs_lab::units::parse_write_size;
use steadyfs_sim::managed::{self, Kind, ManagedProfile};

/// Arguments of `steady fit`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The trace; `-` reads standard input. Its columns are those of `steady replay`
    #[arg(value_name = "TRACE.csv")]
    trace: PathBuf,
    /// What the device is
    #[arg(long, value_parser = kinds())]
    kind: Kind,
    /// Bytes of each write: whole sectors
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "4KiB", value_parser = parse_write_size)]
    write: u64,
    /// Unit of the times when the header names none: ns, us, ms or s
    #[arg(long)]
    unit: Option<TimeUnit>,
    /// Name of the profile [default: that of the trace]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

const AFTER_HELP: &str = "\
The trace has the times of writes at random places of the whole device, one right behind the other: some thousands, so that the
device cleans more than once. The profile goes to standard output, how well it meets the trace to standard error. What random writes
do not show, such as open units, stays as in the built-in profile of the kind.

Example:
  steady fit card.csv --kind sd > card.toml && steady realtime --card card.toml";

/// Reads the name of a kind.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(["sd", "emmc", "ssd"]).map(|name| match name.as_str() {
        "sd" => Kind::Sd,
        "emmc" => Kind::Emmc,
        _ => Kind::Ssd,
    })
}

/// Runs `steady fit`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = read(&arguments.trace, arguments.unit)?;
    let write_bytes = u32::try_from(arguments.write).ok().filter(|bytes| bytes.is_multiple_of(512));
    let write_bytes =
        write_bytes.ok_or_else(|| Failure(format!("--write {}: expected whole sectors of 512 bytes", arguments.write)))?;
    if trace.access_ns.is_empty() {
        return Err(Failure(format!("{}: found no access", trace.name)));
    }
    let (profile, quality) = managed::fit(&trace.access_ns, write_bytes, arguments.kind);
    let stem = arguments.trace.file_stem().map(|stem| stem.to_string_lossy().into_owned()).filter(|stem| stem != "-");
    let name = arguments.name.clone().or(stem).unwrap_or_else(|| "fitted".to_string());
    let title = format!("Fitted to {} accesses of {}", trace.access_ns.len(), trace.name);
    eprintln!("{quality}");
    print(&ManagedProfile { name, title, ..profile }.to_toml())
}
