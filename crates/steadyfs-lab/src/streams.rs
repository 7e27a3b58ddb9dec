//! What streams save: the same writes on a disk with one stream, with streams that are named, and with streams that it finds by itself.
//!
//! The experiment is that of Vishwakarma, Sharma and Kodase, *Enhancing eMMC using Multi-Stream technique* (2019): three jobs write at the same rate in regions of
//! 2 : 101 : 709, so that what the first one writes dies long before what the last one writes. [`Writes`] has that and harder ones, [`Way`] what is
//! compared. [`run`] measures all of it on a simulated chip; each row holds every call to its bound.
//!
//! ```text
//!   workload   what is written, by whom           sqlite   what SQLite wrote, recorded
//!   drive      one disk from empty to measured    map      what its blocks hold
//!   table      rows, for people and as JSON       f2fs     what a file system like F2FS writes
//!   layer      a plain log of blocks              study    each number of the document, beside ours
//! ```

mod drive;
mod f2fs;
mod layer;
mod map;
mod sqlite;
pub mod study;
mod table;
mod workload;

pub use map::{Cell, Map};
pub use table::{Row, Streams};
pub use workload::Writes;

use crate::evaluate::{EvaluateError, Timing, UnknownName, find_nand};
use crate::workers::{into_inner, lock, side_by_side};
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use steadyfs::disk::Disk;
use steadyfs::media::Geometry;
use steadyfs::{Bound, Config, ConfigError, Cost, Error, MountError};
use steadyfs_sim::{Nand, NandProfile, NandTiming, Profile};
use workload::JOBS_MAX;

/// The device that is taken where none is named, in the place of a profile.
pub const EMMC: &str = "emmc-like";
const EMMC_PROFILE: &str = include_str!("../assets/emmc-like.toml");

/// How a disk uses streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// One stream.
    One,
    /// The jobs name theirs.
    Given,
    /// The same, and moved pages keep to blocks of their stream.
    GivenAged,
    /// The disk finds them.
    Automatic,
    /// The same, and moved pages are kept apart.
    AutomaticAged,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 5] = [Way::One, Way::Given, Way::GivenAged, Way::Automatic, Way::AutomaticAged];

    /// The name, as on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Way::One => "one",
            Way::Given => "given",
            Way::GivenAged => "given+aged",
            Way::Automatic => "automatic",
            Way::AutomaticAged => "automatic+aged",
        }
    }

    fn is_automatic(self) -> bool {
        matches!(self, Way::Automatic | Way::AutomaticAged)
    }

    fn is_given(self) -> bool {
        matches!(self, Way::Given | Way::GivenAged)
    }

    /// The settings of a disk with so many streams.
    fn config(self, geometry: &Geometry, streams: u8) -> Config {
        let usual = Config::for_disk(geometry);
        if self == Way::One {
            return usual;
        }
        let moved_apart = matches!(self, Way::GivenAged | Way::AutomaticAged);
        Config { streams, moved_apart, auto_streams: self.is_automatic(), ..usual }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Way {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName { found: text.to_string(), expected: Way::ALL.map(Way::name).join(", ") };
        Way::ALL.into_iter().find(|way| way.name() == text).ok_or_else(unknown)
    }
}

/// What is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// NAND profile: a built-in name or a file in TOML, or [`EMMC`]. Default that.
    pub device: String,
    /// Blocks of the chip, from its beginning; `None` for all. Default none.
    pub blocks: Option<u32>,
    /// Times of the simulated chip. Default typical.
    pub timing: Timing,
    /// What is written. Default all.
    pub writes: Vec<Writes>,
    /// Shares of the disk that hold something. Where ways are compared the disk is the smallest of theirs. Default 0.8 and 0.9.
    pub fills: Vec<f64>,
    /// What is compared. Default all.
    pub ways: Vec<Way>,
    /// Streams of a disk that has several, 2 to 4. Default 3.
    pub streams: u8,
    /// Whether all pages are mixed up by one stream first: the document begins with an erased device. Default no.
    pub mixed: bool,
    /// Seed of the places; the same seed gives the same run. Default 1.
    pub seed: u64,
    /// Runs at a time. Default as many as the machine has processors.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: EMMC.to_string(),
            blocks: None,
            timing: Timing::default(),
            writes: Writes::ALL.to_vec(),
            fills: vec![0.8, 0.9],
            ways: Way::ALL.to_vec(),
            streams: 3,
            mixed: false,
            seed: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamsError {
    /// The device cannot be used.
    Device(EvaluateError),
    /// The settings do not fit the chip.
    Config(ConfigError),
    /// The disk could not be made.
    Mount(MountError),
    /// The disk is too small for the jobs.
    TooSmall {
        /// Logical pages that would be in use.
        pages: u32,
        /// As many as are needed.
        needed: u32,
    },
    /// A call failed.
    Call {
        /// The row.
        row: String,
        /// What the disk said.
        error: Error,
    },
    /// A call cost more than was promised.
    BoundBroken {
        /// The row.
        row: String,
        /// What it cost.
        observed: Cost,
        /// What was promised.
        bound: Bound,
    },
}

impl fmt::Display for StreamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamsError::Device(error) => error.fmt(f),
            StreamsError::Config(error) => write!(f, "the settings do not fit the chip: {error}"),
            StreamsError::Mount(error) => write!(f, "the disk cannot be made: {error}"),
            StreamsError::TooSmall { pages, needed } => {
                write!(f, "the disk would hold {pages} logical pages; expected at least {needed}: a larger chip or fill")
            }
            StreamsError::Call { row, error } => write!(f, "{row}: {error}"),
            StreamsError::BoundBroken { row, observed, bound } => {
                write!(f, "{row}: a call cost {observed:?}, promised was {bound:?}")
            }
        }
    }
}

impl std::error::Error for StreamsError {}

/// How many times the pages the workload goes on until it is measured, and then is measured.
const PASSES: [u64; 2] = [8, 4];

/// How often all pages are written at random first, where they are to be mixed up.
const MIX_UP: u64 = 4;

/// One run.
#[derive(Clone)]
struct Item {
    writes: Writes,
    fill: f64,
    way: Way,
    /// Streams of the disk, where the way has several.
    streams: u8,
    /// Stream of each job.
    map: [u8; JOBS_MAX],
    passes: [u64; 2],
    /// Logical pages that hold something.
    pages: u32,
}

impl Item {
    fn name(&self) -> String {
        format!("{} at {:.0} %, {}", self.writes, 100.0 * self.fill, self.way)
    }

    /// Pages that are written until it is measured, those included that mix all of them up first.
    fn writes(&self, options: &Options) -> u64 {
        let mixed = if options.mixed { MIX_UP } else { 0 };
        u64::from(self.pages) * (1 + mixed + self.passes.iter().sum::<u64>())
    }
}

/// The chip of the runs.
struct Device {
    profile: Profile,
    nand: NandProfile,
    geometry: Geometry,
}

impl Device {
    fn of(options: &Options) -> Result<Device, StreamsError> {
        let profile = match options.device.as_str() {
            EMMC => Profile::from_toml(EMMC_PROFILE).expect("the built-in profile is a profile"),
            device => find_nand(device).map_err(StreamsError::Device)?,
        };
        let nand = profile.nand().expect("it was looked for among these");
        let usual = nand.geometry();
        let geometry = Geometry { block_count: options.blocks.unwrap_or(usual.block_count), ..usual };
        Ok(Device { nand: nand.clone(), profile, geometry })
    }

    /// An erased chip.
    fn chip(&self, options: &Options) -> Nand {
        let timing = NandTiming::of(&self.nand, options.timing.choice());
        Nand::with_geometry(self.geometry, timing, options.seed).with_on_chip_copy(self.nand.on_chip_copy)
    }
}

/// Runs all of it. `tell` hears the share of all pages that are written, and what is run.
///
/// # Errors
/// The first one of [`StreamsError`].
pub fn run(options: &Options, tell: &(dyn Fn(f64, &str) + Sync)) -> Result<Streams, StreamsError> {
    let device = Device::of(options)?;
    let rows = drive_all(&items(options, &device)?, &device, options, tell)?;
    Ok(Streams::new(options, &device.profile.name, device.geometry, rows))
}

/// Runs all items, several at a time, and gives their rows in order.
fn drive_all(
    items: &[Item],
    device: &Device,
    options: &Options,
    tell: &(dyn Fn(f64, &str) + Sync),
) -> Result<Vec<Row>, StreamsError> {
    let (next, written) = (AtomicUsize::new(0), AtomicU64::new(0));
    let all = items.iter().map(|item| item.writes(options)).sum::<u64>() as f64;
    let order = dealt(items.len());
    let results: Vec<Mutex<Option<Result<Row, StreamsError>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    side_by_side(options.threads, || {
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let item = &items[index];
            let result = drive::run(item, device, options, &|pages| {
                tell((pages + written.fetch_add(pages, Ordering::Relaxed)) as f64 / all, &item.name());
            });
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            *lock(&results[index]) = Some(result);
        }
    });
    results.into_iter().filter_map(into_inner).collect()
}

/// The order of so many runs: those that are alike do not follow each other, so that a part of them tells how long all take.
fn dealt(count: usize) -> Vec<usize> {
    const STEP: usize = 11;
    (0..STEP).flat_map(|first| (first..count).step_by(STEP)).collect()
}

/// The runs, in the order of the rows. Where nobody knows which job a write is of, nothing can be given.
fn items(options: &Options, device: &Device) -> Result<Vec<Item>, StreamsError> {
    let mut disk = u32::MAX;
    for way in &options.ways {
        disk = disk.min(disk_pages(way.config(&device.geometry, options.streams), device, options)?);
    }
    // Four streams leave the first one to what nobody names, as the document has it.
    let map = std::array::from_fn(|job| job.min(2) as u8 + u8::from(options.streams > 3));
    let mut items = Vec::new();
    for &writes in &options.writes {
        for &fill in &options.fills {
            let pages = (f64::from(disk) * fill) as u32;
            if pages < writes.pages_min() {
                return Err(StreamsError::TooSmall { pages, needed: writes.pages_min() });
            }
            let ways = options.ways.iter().filter(|way| !way.is_given() || writes.has_jobs());
            let streams = options.streams;
            items.extend(ways.map(|&way| Item { writes, fill, way, streams, map, passes: PASSES, pages }));
        }
    }
    Ok(items)
}

/// Logical pages of a disk with these settings.
fn disk_pages(config: Config, device: &Device, options: &Options) -> Result<u32, StreamsError> {
    config.check(&device.geometry).map_err(StreamsError::Config)?;
    let mut memory = vec![0; config.memory_bytes(&device.geometry)];
    let chip = Disk::format(device.chip(options), &config, &mut memory).map_err(StreamsError::Mount)?;
    let mounted = Disk::mount(chip, steadyfs::Access::ReadOnly, &mut memory).map_err(StreamsError::Mount)?;
    Ok(mounted.sectors() / mounted.page_sectors())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { blocks: Some(96), fills: vec![0.8], ..Options::default() }
    }

    fn moved(streams: &Streams, writes: Writes, way: Way) -> f64 {
        let row = streams.rows.iter().find(|row| row.writes == writes.name() && row.streams == way.name());
        row.unwrap_or_else(|| panic!("no row of {writes}, {way}")).moved_per_page
    }

    #[test]
    fn what_dies_together_is_not_moved_where_it_lies_together() {
        let options = Options { blocks: Some(160), ..options() };
        let streams = run(&Options { writes: vec![Writes::Sequential], ..options.clone() }, &|_, _| {}).unwrap();
        assert!(moved(&streams, Writes::Sequential, Way::One) > 0.2, "{streams}");
        for way in [Way::Given, Way::GivenAged, Way::Automatic, Way::AutomaticAged] {
            assert!(moved(&streams, Writes::Sequential, way) <= 0.02, "{streams}");
        }
        let ways = vec![Way::One, Way::Given, Way::Automatic];
        let streams = run(&Options { writes: vec![Writes::Mix, Writes::Zipf], ways, ..options }, &|_, _| {}).unwrap();
        assert_eq!(streams.rows.len(), 5, "nobody can name the streams of single pages");
        for (writes, way) in [(Writes::Mix, Way::Given), (Writes::Mix, Way::Automatic), (Writes::Zipf, Way::Automatic)] {
            assert!(moved(&streams, writes, way) < moved(&streams, writes, Way::One), "{streams}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_rows_on_any_number_of_threads() {
        let options = Options { writes: vec![Writes::Random], ways: vec![Way::One, Way::Automatic], ..options() };
        let [a, b] = [1, 2].map(|threads| run(&Options { threads, ..options.clone() }, &|_, _| {}).unwrap().rows);
        assert_eq!(a, b);
        let c = run(&Options { seed: 2, ..options }, &|_, _| {}).unwrap().rows;
        assert_ne!(a, c);
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        let error = |options: Options| run(&options, &|_, _| {}).unwrap_err().to_string();
        assert!(error(Options { device: "w25q128jv".into(), ..options() }).contains("w25q128jv"));
        assert!(error(Options { streams: 9, ..options() }).contains("streams must be 1 to 4"));
        assert!(error(Options { fills: vec![0.0], ..options() }).contains("at least"));
    }

    #[test]
    fn names_are_read_back() {
        for way in Way::ALL {
            assert_eq!(way.name().parse(), Ok(way));
        }
        assert!("some".parse::<Way>().unwrap_err().to_string().contains("automatic+aged"));
    }
}
