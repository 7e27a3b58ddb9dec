//! What a commit costs on managed flash, and who pays: create, write, flush and close, each timed, under every event that may commit; and what is left of a
//! copy that was said to be finished when power fails.
//!
//! The experiment is that of a note of Datalight's, *Myth Busting: SSDs are Faster than SDs* (2014): four calls under several transaction masks on an SSD, whose
//! cache takes 955 ms to be emptied, and a file copied with exFAT, which comes back short or wrong when power fails after it. SteadyFS stands for Reliance Nitro here, FAT that never flushes for exFAT, FAT
//! that flushes after each call for TexFAT written through.
//!
//! ```text
//!   calls    the four calls of each file system       fat     bytes on a device, as a FAT wants them
//!   copies   a copy, a power cut, and a comparison    table   the result
//! ```

mod calls;
mod copies;
mod fat;
mod table;

pub use calls::{Call, CallTime};
pub use copies::Copies;
pub use table::{Commit, DeviceRows, Row};

use crate::evaluate::{EvaluateError, find_managed};
use crate::transactions::Events;
use std::fmt;
use std::io;
use steadyfs::{Error, MountError};
use steadyfs_sim::sectors::{Controller, Managed, Timed};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// SteadyFS, which flushes at commits.
    SteadyFs,
    /// FAT that never flushes.
    FatNeverFlushed,
    /// FAT that flushes after each call.
    FatWrittenThrough,
}

impl System {
    /// All of them.
    pub const ALL: [System; 3] = [System::SteadyFs, System::FatNeverFlushed, System::FatWrittenThrough];
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            System::SteadyFs => "SteadyFS",
            System::FatNeverFlushed => "FAT, never flushed",
            System::FatWrittenThrough => "FAT, written through",
        })
    }
}

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Managed devices: built-in names or files in TOML. Default an SD card and an SSD.
    pub devices: Vec<String>,
    /// Bytes written to each file. Default 4,096.
    pub write_bytes: u64,
    /// Files of each row. Default 100.
    pub files: u32,
    /// Copies after which power is cut, for each file system. Default 1,000.
    pub copies: u32,
    /// Seed of contents and of what cuts leave. Default 1.
    pub seed: u64,
}

/// Why nothing was measured.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitError {
    /// The device cannot be simulated.
    Device(EvaluateError),
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// A call of the volume failed.
    Volume(Error),
    /// FAT failed.
    Fat(io::Error),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Device(error) => error.fmt(f),
            CommitError::Mount(error) => write!(f, "the volume cannot be made: {error}"),
            CommitError::Volume(error) => write!(f, "a call failed: {error}"),
            CommitError::Fat(error) => write!(f, "FAT failed: {error}"),
        }
    }
}

impl std::error::Error for CommitError {}

impl From<MountError> for CommitError {
    fn from(error: MountError) -> Self {
        CommitError::Mount(error)
    }
}

impl From<Error> for CommitError {
    fn from(error: Error) -> Self {
        CommitError::Volume(error)
    }
}

impl From<io::Error> for CommitError {
    fn from(error: io::Error) -> Self {
        CommitError::Fat(error)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            devices: ["sd-industrial", "ssd-sata"].map(String::from).to_vec(),
            write_bytes: 4096,
            files: 100,
            copies: 1000,
            seed: 1,
        }
    }
}

/// Measures all devices. `tell` hears the share that is done, and the device.
///
/// # Errors
/// The first one of [`CommitError`].
pub fn run(options: &Options, tell: &mut dyn FnMut(f64, &str)) -> Result<Commit, CommitError> {
    let profiles = options.devices.iter().map(|name| find_managed(name)).collect::<Result<Vec<_>, _>>();
    let profiles = profiles.map_err(CommitError::Device)?;
    let mut devices = Vec::new();
    for (index, profile) in profiles.iter().enumerate() {
        tell(index as f64 / profiles.len() as f64, &profile.name);
        devices.push(run_on(&profile.name, &Managed::of(profile, options.seed), options)?);
    }
    Ok(Commit { write_bytes: options.write_bytes, files: options.files, devices })
}

/// Measures one device.
fn run_on<C: Controller + Clone>(name: &str, device: &Timed<C>, options: &Options) -> Result<DeviceRows, CommitError> {
    let mut rows = Vec::new();
    for events in Events::ALL {
        rows.push(Row::of(System::SteadyFs, events.to_string(), &calls::steadyfs(device.clone(), events, options)?));
    }
    for system in [System::FatNeverFlushed, System::FatWrittenThrough] {
        rows.push(Row::of(system, String::new(), &calls::fat(system, device.clone(), options)?));
    }
    let copies = System::ALL.into_iter().map(|system| copies::run(system, device, options)).collect::<Result<_, _>>()?;
    Ok(DeviceRows { device: name.to_string(), rows, copies })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Commit {
        let options = Options { files: 20, copies: 60, ..Options::default() };
        run(&options, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn commit_is_paid_by_the_call_that_was_chosen_and_no_finished_copy_is_lost() {
        let commit = measured();
        let [card, disk] = &commit.devices[..] else { panic!("two devices") };
        for row in disk.rows.iter().filter(|row| row.system == "SteadyFS") {
            let expected: &[usize] = match row.commit_on.as_str() {
                "on close" => &[3],
                "on flush" => &[2],
                "every write" => &[0, 1],
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
            assert!(device.copies.iter().all(|copies| copies.copies == 60 && copies.unmountable == 0));
        }
        assert_eq!(card.copies[1].lost(), 0, "a card without a cache has nothing to lose");
        assert!(disk.copies[1].lost() > 0, "a cache that nobody flushes loses files");
        let text = commit.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn unknown_devices_are_answered_with_the_known_ones() {
        let options = Options { devices: vec!["floppy".into()], ..Options::default() };
        let error = run(&options, &mut |_, _| {}).unwrap_err().to_string();
        assert!(error.contains("floppy") && error.contains("sd-consumer"), "{error}");
    }
}
