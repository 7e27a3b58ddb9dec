//! `steady torture`: power cuts and faults against the file system, on a volume of your own
//! settings.

use crate::Failure;
use crate::interrupt;
use crate::output::{Numbers, check_file, print};
use crate::progress::Progress;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use steadyfs_lab::evaluate::find_profile;
use steadyfs_lab::torture::{self, BadInput, FaultKind, Mode, Options, Run, Volume, Workload};
use steadyfs_lab::units::parse_duration;

/// Arguments of `steady torture`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Chips: small, small-copy, small-nor, small-nor-groups, small-nor-journal, small-cached,
    /// small-streams, small-disk, nand, nand-double, nor, small-card, small-emmc, card,
    /// card-alone, small-within, card-within, large-pages, large-pages-within, or
    /// PAGE_BYTESxPAGESxBLOCKS such as 512x16x64 [default: small,small-copy,small-nor,nand]
    #[arg(long, value_name = "NAME|PxNxB", value_delimiter = ',')]
    geometry: Vec<Volume>,
    /// Pages and blocks of a device in place of a geometry: a name (see `steady devices`) or a
    /// file in TOML
    #[arg(
        long,
        value_name = "NAME|FILE.toml",
        conflicts_with = "geometry",
        value_parser = crate::device::raw_flash
    )]
    device: Option<String>,
    /// Blocks of the device that are used. Every run reads the whole volume, so a part of a large
    /// chip gives more results in the same time
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 48,
        requires = "device",
        value_parser = crate::number::any::<u32>
    )]
    blocks: u32,
    #[command(flatten)]
    settings: Settings,
    /// Workloads: log, configuration, random, files, directories, transactions, reclaim, disk
    /// [default: all; without disk if tags lie within pages]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    workload: Vec<Workload>,
    /// Faults beside the cuts, one kind at a time [default: all but write-cache, reorder and lie]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    fault: Vec<FaultKind>,
    /// every: cut every operation of a workload in every torn state; sampled: make chains of cuts
    /// that the seed draws
    #[arg(long, value_name = "MODE", default_value = "every")]
    mode: Mode,
    /// Cut every operation in every torn state; with 2, also every operation of each recovery and
    /// of the calls after it
    #[arg(
        long,
        value_name = "DEPTH",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u8>(1..=2),
        conflicts_with_all = ["mode", "cuts"]
    )]
    exhaustive: Option<u8>,
    /// The first seed; each round over geometries, workloads and faults takes the next
    #[arg(
        long,
        value_name = "NUMBER",
        allow_hyphen_values = true,
        default_value_t = 1,
        value_parser = crate::number::any::<u64>
    )]
    seed: u64,
    /// Repeat rounds until this much time has passed, such as 30s
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    time: Option<u64>,
    /// Repeat rounds until this many cuts were made, or a few more. A small number is spread
    /// evenly over a round [default without --time: one round]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::from::<u64>(1)
    )]
    cuts: Option<u64>,
    /// Steps of a workload [default: 40, or 80 if cuts are sampled]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u16>(1..=10_000)
    )]
    steps: Option<u16>,
    /// Threads [default: one for each core]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u16>(1..=1024)
    )]
    threads: Option<u16>,
    /// Failures after which the command stops
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 5,
        value_parser = crate::number::from::<u16>(1)
    )]
    failures: u16,
    /// Keep the finished work in a file, and go on from there if the file exists
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Repeat one run and print its story; a failure prints the string
    #[arg(long, value_name = "STRING", exclusive = true)]
    replay: Option<Run>,
    #[command(flatten)]
    numbers: Numbers,
}

/// Settings of the volume, instead of the settings of the geometry.
#[derive(Args, Debug)]
struct Settings {
    /// Number of program pages in a logical page
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::any::<u16>
    )]
    pages_per_logical_page: Option<u16>,
    /// Logical pages that one transaction may write
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::any::<u16>
    )]
    transaction_pages: Option<u16>,
    /// Map changes kept in RAM
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::any::<u16>
    )]
    overlay_entries: Option<u16>,
    /// Programs between two roots
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::any::<u16>
    )]
    checkpoint_programs: Option<u16>,
    /// Logical pages of write-back cache
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::any::<u16>
    )]
    cache_pages: Option<u16>,
}

const AFTER_HELP: &str = "\
Power fails in programs, copies and erases. Each leaves one of these states: the old content, but
weak; garbage; a page that reads well or badly, decided at each power-on or at each read; the new
content. After each cut, the volume must hold exactly the last acknowledged commit, or the commit in
flight. The volume goes on with a few calls, power fails again, and everything is compared once
more. The workload disk has sectors in place of files. After each cut, the sectors must be the
result of all calls up to some call, including all flushed calls.

Faults:
  none         cuts alone
  programs     one or two programs fail
  erases       one or two erases fail
  bad-blocks   blocks are bad from the factory
  ring         a block of the ring of roots takes nothing any more
  bit-flips    bits flip, and can be corrected
  lock         the chip takes no program and no erase any more
  write-cache  the device answers before it programs
  reorder      the same of cards, which may lose any part of the cache
  lie          the chip reports a program that it did not make: no file system survives this, and
               the printed failures show that lost data is found

One round, some 100,000 cuts, takes five minutes to half an hour on two cores. Ctrl-C prints the
results so far, and --resume keeps them. Each failure is made smaller and printed with a string that
replays it. Exit codes: 0 no failure; 1 a failure; 2 wrong usage, also of an impossible geometry.

Examples:
  steady torture --time 30s
  steady torture --device w25n01gv --pages-per-logical-page 1 --workload log,configuration \
    --cuts 100000 --json -
  steady torture --workload disk --geometry small-disk,nor --cuts 20000
  steady torture --exhaustive 2 --geometry small --fault none --resume night.json";

/// Runs `steady torture`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(run) = &arguments.replay {
        return replay(run);
    }
    arguments.numbers.check()?;
    arguments.resume.iter().try_for_each(|path| check_file(path))?;
    let options = arguments.options().map_err(Failure::usage)?;
    let progress = std::cell::RefCell::new(Progress::of(1, "torture"));
    let tell = |now: torture::Progress| {
        progress
            .borrow_mut()
            .set(now.share, &format!("{} cuts, {} failures", now.cuts, now.failures));
        interrupt::signal().is_none()
    };
    interrupt::ends_itself();
    let summary =
        torture::run(&options, arguments.resume.as_deref(), &tell).map_err(Failure::new)?;
    drop(progress);
    arguments.numbers.write(&summary)?;
    if let Some(signal) = interrupt::signal() {
        let more = if arguments.resume.is_some() { "; the same command goes on" } else { "" };
        eprintln!("interrupted: the results so far are above{more}");
        std::process::exit(128 + signal);
    }
    match summary.tally.failures.len() {
        0 => Ok(()),
        1 => Err(Failure::new("one run failed")),
        count => Err(Failure::new(format!("{count} runs failed"))),
    }
}

/// Repeats a run, and prints its story.
fn replay(run: &Run) -> Result<(), Failure> {
    let replay = torture::replay(run);
    let mut text = replay.story.join("\n") + "\n";
    if replay.failure.is_none() {
        text +=
            &format!("passes; {} of {} cuts met an operation\n", replay.cuts_met, run.cuts.len());
    }
    print(&text)?;
    replay.failure.map_or(Ok(()), |what| Err(Failure::new(what.trim())))
}

impl Arguments {
    /// Returns the options of the run in the lab's type.
    fn options(&self) -> Result<Options, BadInput> {
        let defaults = Options::default();
        let volumes = self.volumes()?;
        let may_be_disks = volumes.iter().all(Volume::may_be_disk);
        let usual = Workload::ALL
            .into_iter()
            .filter(|workload| may_be_disks || *workload != Workload::Disk);
        Ok(Options {
            volumes,
            workloads: if self.workload.is_empty() {
                usual.collect()
            } else {
                self.workload.clone()
            },
            faults: if self.fault.is_empty() {
                FaultKind::of_raw_flash()
            } else {
                self.fault.clone()
            },
            mode: match self.exhaustive {
                Some(2) => Mode::Exhaustive,
                Some(_) => Mode::Every,
                None => self.mode,
            },
            seed: self.seed,
            steps: self.steps.map(usize::from),
            cuts: self.cuts,
            time: self.time.map(Duration::from_nanos),
            threads: self.threads.map_or(defaults.threads, usize::from),
            failures_max: self.failures.into(),
        })
    }

    fn volumes(&self) -> Result<Vec<Volume>, BadInput> {
        let volumes = match &self.device {
            Some(device) => {
                let profile = find_profile(device).map_err(|error| BadInput(error.to_string()))?;
                vec![Volume::of_device(&profile, self.blocks)?]
            }
            None if self.geometry.is_empty() => {
                Volume::GROUNDS.iter().map(|name| name.parse()).collect::<Result<_, _>>()?
            }
            None => self.geometry.clone(),
        };
        volumes.into_iter().map(|volume| self.settings.over(volume)).collect()
    }
}

impl Settings {
    /// Returns the volume with the given settings in place of its own.
    fn over(&self, volume: Volume) -> Result<Volume, BadInput> {
        let volume = Volume {
            pages_per_logical_page: self
                .pages_per_logical_page
                .unwrap_or(volume.pages_per_logical_page),
            transaction_pages: self.transaction_pages.unwrap_or(volume.transaction_pages),
            overlay_entries: self.overlay_entries.unwrap_or(volume.overlay_entries),
            checkpoint_programs: self.checkpoint_programs.unwrap_or(volume.checkpoint_programs),
            cache_pages: self.cache_pages.unwrap_or(volume.cache_pages),
            ..volume
        };
        volume.config().map(|_| volume)
    }
}
