//! `steady fit`: makes the profile of a managed device from a trace of this device, or of a board
//! from figures of the board.

use crate::Failure;
use crate::fit_board::BoardArguments;
use crate::output::print;
use crate::progress::Progress;
use crate::replay::{read, write_bytes};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use steadyfs_lab::replay::TimeUnit;
use steadyfs_lab::units::{parse_size, parse_write_size};
use steadyfs_sim::managed::{self, Doubt, Kind, ManagedProfile};

/// Arguments of `steady fit`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The trace; `-` reads standard input. It has the columns of `steady replay`, or is a
    /// latency log of fio
    #[arg(value_name = "TRACE.csv", required_unless_present = "board")]
    trace: Option<PathBuf>,
    /// Kind of the device
    #[arg(long, value_parser = kinds(), required_unless_present = "board")]
    kind: Option<Kind>,
    /// Capacity of the device
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = capacity,
        required_unless_present = "board"
    )]
    capacity: Option<u32>,
    /// Write the profile even if it is not reliable
    #[arg(long, conflicts_with = "board")]
    anyway: bool,
    /// Bytes of each write: whole sectors [default: as in a log of fio, else 4KiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_write_size, conflicts_with = "board")]
    write: Option<u64>,
    /// Unit of the times when the header names none: ns, us, ms or s
    #[arg(long, conflicts_with = "board")]
    unit: Option<TimeUnit>,
    /// Name of the profile [default: name of the trace]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    board: BoardArguments,
}

const AFTER_HELP: &str = "\
The trace has the times of writes at random places of the whole device, one right behind the other.
It has 4,000 writes or more, so that the device cleans more than once. Standard output gets the
profile, standard error its difference from the trace. A profile that differs by more than 0.15, or
is from a shorter trace, is refused. Random writes do not show everything, such as open units: these
values stay as in the built-in profile of the kind.

fio records a trace. It overwrites the whole card, so the card must hold nothing of value:
  fio --name=card --filename=/dev/mmcblk1 --rw=randwrite --bs=4k --direct=1 --iodepth=1 \\
    --norandommap --io_size=1g --write_lat_log=card

With --board, the driver's time comes from one or two figures of a board that runs SteadyFS: the
mean of a case of `steady bench`, a time or a rate. One figure gives the time of each command. Two
figures also give the time of each byte. Standard output gets the chip's profile with the driver.

Examples:
  steady fit card_lat.1.log --kind sd --capacity 4GiB > card.toml \
    && steady realtime --card card.toml
  steady fit card.csv --kind sd --capacity 16GiB
  steady fit --board w25q128jv --size 1MiB --measured append-64=3ms,read-4096=650us \\
    > board.toml";

/// Reads a capacity, in MiB.
fn capacity(text: &str) -> Result<u32, String> {
    const EXPECTED: &str = "expected 64 MiB to 1 TiB";
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes >> 20)
        .ok()
        .filter(|mib| (64..=1 << 20).contains(mib))
        .ok_or_else(|| EXPECTED.to_string())
}

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
    match (&arguments.trace, arguments.kind, arguments.capacity) {
        (Some(trace), Some(kind), Some(capacity)) => fit_trace(arguments, trace, kind, capacity),
        _ => arguments.board.run(),
    }
}

/// Fits a managed device to its trace.
fn fit_trace(arguments: &Arguments, path: &Path, kind: Kind, capacity: u32) -> Result<(), Failure> {
    let trace = read(path, arguments.unit)?;
    let asked_for = write_bytes(&trace, arguments.write)?;
    let write_bytes = u32::try_from(asked_for).ok().filter(|bytes| bytes.is_multiple_of(512));
    let write_bytes = write_bytes.ok_or_else(|| {
        Failure::new(format!("writes of {asked_for} bytes: expected whole sectors of 512 bytes"))
    })?;
    if trace.access_ns.is_empty() {
        return Err(Failure::new(format!("{}: found no access", trace.name)));
    }
    let doubted = |doubt: Doubt| {
        Failure::new(format!("{}: {doubt}; --anyway writes it all the same", trace.name))
    };
    if let Some(doubt) = Doubt::of_accesses(trace.access_ns.len()).filter(|_| !arguments.anyway) {
        return Err(doubted(doubt));
    }
    let mut bar = Progress::of(1, "").at_most();
    let (profile, quality) =
        managed::fit(&trace.access_ns, write_bytes, kind, capacity, &mut |share| {
            bar.set(share, "search")
        });
    drop(bar);
    let stem =
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).filter(|stem| stem != "-");
    let name = arguments.name.clone().or(stem).unwrap_or_else(|| "fitted".to_string());
    let title = format!("Fitted to {} accesses of {}", trace.access_ns.len(), trace.name);
    eprintln!("{quality}");
    if let Some(doubt) = quality.doubt().filter(|_| !arguments.anyway) {
        return Err(doubted(doubt));
    }
    print(&ManagedProfile { name, title, ..profile }.to_toml())
}
