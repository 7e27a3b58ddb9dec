//! The gain of streams. The same writes go to a disk with one stream, with named streams, and with
//! streams that it finds by itself.
//!
//! The experiment follows Vishwakarma, Sharma and Kodase, *Enhancing eMMC using Multi-Stream
//! technique* (2019). Three jobs write at the same rate in regions of 2 : 101 : 709. So the data of
//! the first job dies long before the data of the last. [`Writes`] has this workload and harder
//! ones, and [`Way`] has the compared uses of streams. [`run`] measures all of them on a simulated
//! chip. Every call of each row must stay within its bound.
//!
//! ```text
//!   workload   what is written, by whom           sqlite   what SQLite wrote, recorded
//!   drive      one disk from empty to measured    map      what its blocks hold
//!   table      rows, for people and as JSON       f2fs     what a file system like F2FS writes
//!   layer      a plain log of blocks              study    each number of the document, beside ours
//! ```

mod device;
mod drive;
mod error;
mod f2fs;
mod item;
mod layer;
mod map;
mod options;
mod sqlite;
mod step;
pub mod study;
mod table;
mod way;
mod workload;

pub use error::StreamsError;
pub use map::{Cell, Map};
pub use options::{EMMC, Options};
pub use table::{Row, Streams};
pub use way::Way;
pub use workload::Writes;

use crate::workers::{into_inner, lock, side_by_side};
use device::Device;
use item::Item;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use steadyfs::Config;
use steadyfs::disk::Disk;

/// Passes over the pages before the measurement, and passes that are measured.
const PASSES: [u64; 2] = [8, 4];

/// Makes all runs. `tell` receives the share of all pages that are written, and the name of the
/// run.
///
/// # Errors
/// The first [`StreamsError`].
pub fn run(options: &Options, tell: &(dyn Fn(f64, &str) + Sync)) -> Result<Streams, StreamsError> {
    options.check()?;
    let device = Device::of(options)?;
    let rows = drive_all(&items(options, &device)?, &device, options, tell)?;
    Ok(Streams::new(options, &device.profile.name, device.geometry, rows))
}

/// Runs all items, several at a time, and returns their rows in order.
fn drive_all(
    items: &[Item],
    device: &Device,
    options: &Options,
    tell: &(dyn Fn(f64, &str) + Sync),
) -> Result<Vec<Row>, StreamsError> {
    let (next, written) = (AtomicUsize::new(0), AtomicU64::new(0));
    let all = items.iter().map(|item| item.writes(options)).sum::<u64>() as f64;
    let order = dealt(items.len());
    let results: Vec<Mutex<Option<Result<Row, StreamsError>>>> =
        items.iter().map(|_| Mutex::new(None)).collect();
    side_by_side(options.threads, || {
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let item = &items[index];
            let result = drive::run(item, device, options, &|pages| {
                tell(
                    (pages + written.fetch_add(pages, Ordering::Relaxed)) as f64 / all,
                    &item.name(),
                );
            });
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            *lock(&results[index]) = Some(result);
        }
    });
    results.into_iter().filter_map(into_inner).collect()
}

/// Returns the order of `count` runs. Similar runs do not follow each other, so that the first part
/// of them predicts the time of all.
fn dealt(count: usize) -> Vec<usize> {
    const STEP: usize = 11;
    (0..STEP).flat_map(|first| (first..count).step_by(STEP)).collect()
}

/// Returns the runs, in the order of the rows. A workload without jobs has no runs with named
/// streams.
fn items(options: &Options, device: &Device) -> Result<Vec<Item>, StreamsError> {
    let mut disk = u32::MAX;
    for way in &options.ways {
        disk =
            disk.min(disk_pages(way.config(&device.geometry, options.streams), device, options)?);
    }
    // With four streams, the first one is for data without a name, as in the paper.
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
            items.extend(ways.map(|&way| Item {
                writes,
                fill,
                way,
                streams,
                map,
                passes: PASSES,
                pages,
            }));
        }
    }
    Ok(items)
}

/// Returns the logical pages of a disk with these settings.
fn disk_pages(config: Config, device: &Device, options: &Options) -> Result<u32, StreamsError> {
    config.check(&device.geometry).map_err(StreamsError::Config)?;
    let mut memory = vec![0; config.memory_bytes(&device.geometry)];
    let chip =
        Disk::format(device.chip(options), &config, &mut memory).map_err(StreamsError::Mount)?;
    let mounted =
        Disk::mount(chip, steadyfs::Access::ReadOnly, &mut memory).map_err(StreamsError::Mount)?;
    Ok(mounted.sectors() / mounted.page_sectors())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { blocks: Some(96), fills: vec![0.8], ..Options::default() }
    }

    fn moved(streams: &Streams, writes: Writes, way: Way) -> f64 {
        let row = streams
            .rows
            .iter()
            .find(|row| row.writes == writes.name() && row.streams == way.name());
        row.unwrap_or_else(|| panic!("no row of {writes}, {way}")).moved_per_page
    }

    #[test]
    fn what_dies_together_is_not_moved_where_it_lies_together() {
        let options = Options { blocks: Some(160), ..options() };
        let streams =
            run(&Options { writes: vec![Writes::Sequential], ..options.clone() }, &|_, _| {})
                .unwrap();
        assert!(moved(&streams, Writes::Sequential, Way::One) > 0.2, "{streams}");
        for way in [Way::Given, Way::GivenAged, Way::Automatic, Way::AutomaticAged] {
            assert!(moved(&streams, Writes::Sequential, way) <= 0.02, "{streams}");
        }
        let ways = vec![Way::One, Way::Given, Way::Automatic];
        let streams =
            run(&Options { writes: vec![Writes::Mix, Writes::Zipf], ways, ..options }, &|_, _| {})
                .unwrap();
        assert_eq!(streams.rows.len(), 5, "nobody can name the streams of single pages");
        for (writes, way) in [
            (Writes::Mix, Way::Given),
            (Writes::Mix, Way::Automatic),
            (Writes::Zipf, Way::Automatic),
        ] {
            assert!(moved(&streams, writes, way) < moved(&streams, writes, Way::One), "{streams}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_rows_on_any_number_of_threads() {
        let options = Options {
            writes: vec![Writes::Random],
            ways: vec![Way::One, Way::Automatic],
            ..options()
        };
        let [a, b] = [1, 2]
            .map(|threads| run(&Options { threads, ..options.clone() }, &|_, _| {}).unwrap().rows);
        assert_eq!(a, b);
        let c = run(&Options { seed: 2, ..options }, &|_, _| {}).unwrap().rows;
        assert_ne!(a, c);
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        let error = |options: Options| run(&options, &|_, _| {}).unwrap_err().to_string();
        assert!(error(Options { device: "w25q128jv".into(), ..options() }).contains("w25q128jv"));
        assert!(
            error(Options { streams: 9, ..options() }).contains("streams is 9; expected at most 4")
        );
        assert!(error(Options { fills: vec![0.0], ..options() }).contains("at least"));
    }
}
