//! The cost of a commit, and the call that pays for it. Create, write, flush and close are timed,
//! under every event that may commit. A second measurement shows the state of finished copies after
//! a power cut.
//!
//! The experiment follows a note of Datalight, *Myth Busting: SSDs are Faster than SDs – or Are
//! They?*. The note makes four calls under several transaction masks on an SSD, whose cache takes
//! 955 ms to empty. It also copies a file with exFAT; the file is short or wrong if power fails
//! after the copy.
//!
//! Here SteadyFS stands for Reliance Nitro, FAT that never flushes for exFAT, and FAT that flushes
//! after each call for TexFAT written through. Raw flash has no cache and supports no FAT, so only
//! SteadyFS runs on it.
//!
//! ```text
//!   events   after what a volume commits              fat     bytes on a device, as a FAT wants them
//!   calls    the four calls of each file system       copies  a copy, a power cut, and a comparison
//!   table    the result
//! ```

mod calls;
mod copies;
mod error;
mod events;
pub mod fat;
mod options;
mod system;
mod table;

pub use calls::{Call, CallTime, Times};
pub use copies::Copies;
pub use error::TransactionsError;
pub use events::Events;
pub use options::Options;
pub use system::System;
pub(crate) use table::COLUMNS;
pub use table::{Cache, DeviceRows, Row, Skipped, Transactions};

use crate::evaluate::device::{Found, OnChip, find, on_chip};
use steadyfs::media::Flash;
use steadyfs::{Config, Error};
use steadyfs_sim::Metered;
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::sectors::{Controller, Managed, Timed};

/// Measures all devices. `tell` receives the share that is done, and the device: before each row of
/// its table, and before each copy.
///
/// # Errors
/// The first [`TransactionsError`].
pub fn run(
    options: &Options,
    tell: &mut dyn FnMut(f64, &str),
) -> Result<Transactions, TransactionsError> {
    options.check()?;
    let found = options.devices.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let mut devices = Vec::new();
    for (index, device) in found.iter().enumerate() {
        let tell =
            &mut |share: f64| tell((index as f64 + share) / found.len() as f64, device.name());
        devices.push(match device {
            Found::Raw(profile) => on_chip(
                profile,
                options.timing,
                options.seed,
                Raw { name: &profile.name, options, tell },
            )?,
            Found::Managed(profile) => {
                run_managed(profile, &Managed::of(profile, options.seed), options, tell)?
            }
        });
    }
    Ok(Transactions {
        write_bytes: options.write_bytes,
        files: options.files,
        series: options.series,
        devices,
    })
}

/// The measurement of a raw chip.
struct Raw<'o> {
    name: &'o str,
    options: &'o Options,
    tell: &'o mut dyn FnMut(f64),
}

impl OnChip for Raw<'_> {
    type Output = Result<DeviceRows, TransactionsError>;

    fn run<C: Flash + Metered>(self, mut chip: C) -> Self::Output {
        let config = Config::for_geometry(&chip.geometry());
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        for (index, events) in Events::ALL.into_iter().enumerate() {
            (self.tell)(index as f64 / Events::ALL.len() as f64);
            let now = |chip: &&mut C| calls::Stamp { ns: chip.time_ns(), ..Default::default() };
            let clock = calls::Clock { now, rest: |_| {} };
            let name = events.name(self.options.series);
            match calls::steadyfs(&mut chip, &config, &clock, events, self.options) {
                Ok((times, flushes)) => {
                    rows.push(Row::of(
                        System::SteadyFs,
                        name,
                        &times,
                        flushes,
                        events.series(self.options),
                    ));
                }
                // A small chip has no room for all files, or for the data of a series until its
                // commit.
                Err(TransactionsError::Volume(
                    error @ (Error::NoSpace | Error::TooManyFiles | Error::TransactionTooLarge),
                )) => {
                    skipped.push(Skipped {
                        system: System::SteadyFs.to_string(),
                        commit_on: name,
                        reason: error.to_string(),
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(DeviceRows {
            device: self.name.to_string(),
            cache: Cache::RawFlash,
            rows,
            copies: Vec::new(),
            skipped,
        })
    }
}

/// Measures one managed device.
fn run_managed<C: Controller + Clone>(
    profile: &ManagedProfile,
    device: &Timed<C>,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<DeviceRows, TransactionsError> {
    let fat = [System::FatNeverFlushed, System::FatWrittenThrough];
    let steps = (Events::ALL.len() + fat.len() + System::ALL.len()) as f64;
    let mut rows = Vec::new();
    for events in Events::ALL {
        tell(rows.len() as f64 / steps);
        let (times, flushes) = calls::steadyfs_on_sectors(device.clone(), events, options)?;
        rows.push(Row::of(
            System::SteadyFs,
            events.name(options.series),
            &times,
            flushes,
            events.series(options),
        ));
    }
    for system in fat {
        tell(rows.len() as f64 / steps);
        let (times, flushes) = calls::fat(system, device.clone(), options)?;
        rows.push(Row::of(system, String::new(), &times, flushes, 1));
    }
    let mut copies = Vec::new();
    for system in System::ALL {
        let before = rows.len() + copies.len();
        copies.push(copies::run(system, device, options, &mut |share| {
            tell((before as f64 + share) / steps)
        })?);
    }
    let cache = match profile.drive().map_or(0, |drive| drive.cache_kib) {
        0 => Cache::None,
        kib => Cache::Volatile { bytes: u64::from(kib) << 10 },
    };
    Ok(DeviceRows { device: profile.name.clone(), cache, rows, copies, skipped: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Transactions {
        run(&Options { files: 20, copies: 60, series: 5, ..Options::default() }, &mut |_, _| {})
            .unwrap()
    }

    #[test]
    fn commit_is_paid_by_the_call_that_was_chosen_and_no_finished_copy_is_lost() {
        let transactions = measured();
        let [chip, card, disk] = &transactions.devices[..] else { panic!("three devices") };
        for row in disk.rows.iter().filter(|row| row.system == "SteadyFS") {
            let expected: &[usize] = match row.commit_on.as_str() {
                "on close" => &[3],
                "on flush" => &[2],
                "each write" => &[0, 1],
                _ => &[4],
            };
            for (call, us) in row.us.iter().enumerate() {
                assert_eq!(*us >= 900_000.0, expected.contains(&call), "{row:?}");
            }
            let (all, flushed) = (row.us.iter().sum::<f64>(), row.flush_us.iter().sum::<f64>());
            assert!(flushed > 0.9 * all, "what takes so long is the disk's cache: {row:?}");
        }
        for device in [card, disk] {
            let lost: Vec<_> = device.copies.iter().map(Copies::lost).collect();
            assert_eq!((lost[0], lost[2]), (0, 0), "{device:?}");
            assert!(
                device.copies.iter().all(|copies| copies.copies == 60 && copies.unmountable == 0)
            );
        }
        assert_eq!(card.copies[1].lost(), 0, "a card without a cache has nothing to lose");
        assert!(disk.copies[1].lost() > 0, "a cache that nobody flushes loses files");
        assert!(
            chip.copies.is_empty()
                && chip.rows.len() == Events::ALL.len()
                && chip.cache == Cache::RawFlash
        );
        assert!(chip.rows.iter().all(|row| row.flushes_per_file == 0.0), "raw flash has no cache");
        let text = transactions.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(
            text.contains("answers a write when it is durable")
                && text.contains("this commit is for 5 files"),
            "{text}"
        );
        let json = serde_json::to_string(&transactions).unwrap();
        assert_eq!(serde_json::from_str::<Transactions>(&json).unwrap(), transactions);
    }

    /// A flush takes 955 ms on the disk, whatever its cache contains. Files that are committed
    /// together share one flush.
    #[test]
    fn a_series_of_files_shares_one_commit() {
        let options = Options {
            devices: vec!["ssd-sata".into()],
            files: 20,
            copies: 0,
            series: 10,
            ..Options::default()
        };
        let transactions = run(&options, &mut |_, _| {}).unwrap();
        let of = |name: &str| {
            transactions.devices[0].rows.iter().find(|row| row.commit_on == name).unwrap()
        };
        let (each, series) = (of("by hand"), of("10 by hand"));
        assert!(
            each.flushes_per_file >= 1.0 && (0.1..0.5).contains(&series.flushes_per_file),
            "{each:?} {series:?}"
        );
        assert!(series.file_us < each.file_us / 5.0, "{each:?} {series:?}");
    }

    #[test]
    fn unknown_devices_are_answered_with_the_known_ones() {
        let options = Options { devices: vec!["floppy".into()], ..Options::default() };
        let error = run(&options, &mut |_, _| {}).unwrap_err().to_string();
        assert!(
            error.contains("floppy")
                && error.contains("sd-consumer")
                && error.contains("w25q128jv"),
            "{error}"
        );
    }
}
