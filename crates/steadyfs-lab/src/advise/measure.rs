//! The measurement of one combination: a volume that is filled and aged, and the workload on it.

use super::settings::{Setting, Shape};
use super::{AdviseError, Options, Workload};
use crate::bench::{BenchChip, OnChips};
use fastrand::Rng;
use std::mem::size_of;
use steadyfs::{Access, Call, CallSequence, Error, File, FileSystem, MountError, OpenOptions};

/// Bytes of a page for an overwrite.
const PAGE_BYTES: u64 = 4096;
/// Number of steps of a workload at full length.
const STEPS: u32 = 2000;
/// Bytes of a record of the log, and minimum bytes of a full log file.
const RECORD_BYTES: usize = 64;
const LOG_BYTES: u64 = 16 << 10;
/// Number of configuration files, and bytes of each.
const CONFIGURATIONS: u32 = 8;
const CONFIGURATION_BYTES: usize = 200;
/// Bytes of a file, bytes of one write to it, and number of files in turn.
const FILE_BYTES: u64 = 16 << 10;
const PIECE_BYTES: usize = 256;
const FILES: u32 = 2;
/// Maximum bytes that a workload takes beside the data at rest.
const BESIDE_BYTES: u64 = 64 << 10;

/// Measured costs of a combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Bytes of RAM on this machine: tables, buffers, cache, the struct, one open file.
    pub ram_bytes: u64,
    /// Mean time of a step of the workload, in nanoseconds.
    pub mean_ns: f64,
    /// The longest step seen, in nanoseconds.
    pub longest_ns: u64,
    /// The largest bound of a step, in nanoseconds.
    pub bound_ns: u64,
    /// Bytes that the device can write until its blocks have had the erases that their maker
    /// allows. It assumes even wear. `None` if the run had fewer than 4 erases.
    pub life_bytes: Option<f64>,
    /// Bytes of data that the volume holds.
    pub usable_bytes: u64,
}

impl Figures {
    /// Returns the figure that the choice minimizes: bytes times seconds.
    pub fn cost(&self) -> f64 {
        self.ram_bytes as f64 * self.mean_ns / 1e9
    }
}

/// Length of a run: a share of the full length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length(pub f64);

impl Length {
    pub const SHORT: Length = Length(0.25);
    pub const FULL: Length = Length(1.0);
}

/// The reason for which a combination has no figures.
pub(super) enum Unfit {
    /// The volume holds too little. Contains the bytes of data that would fit; 0 if a call ran
    /// out of room.
    NoRoom(u64),
    /// The run failed and should not.
    Failed(AdviseError),
}

/// Measures one combination.
pub(super) fn measure(
    shape: &Shape,
    setting: Setting,
    options: &Options,
    endurance: u32,
    length: Length,
) -> Result<Figures, Unfit> {
    let length = Length(length.0 * options.effort);
    shape.medium.with_chips(options.seed, Measure { shape, setting, options, endurance, length })
}

struct Measure<'m> {
    shape: &'m Shape,
    setting: Setting,
    options: &'m Options,
    endurance: u32,
    length: Length,
}

impl OnChips for Measure<'_> {
    type Output = Result<Figures, Unfit>;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip,
    {
        let (geometry, mut chip) = (&self.shape.geometry, make());
        let config = self.setting.config(geometry);
        let mut memory = vec![0; config.memory_bytes(geometry)];
        let mut cache = vec![0; config.cache_bytes(geometry, self.setting.cache_pages as usize)];
        // Check that the data fits.
        FileSystem::format(&mut chip, &config, &mut memory)?;
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
        let usable_bytes = fs.usage().usable_bytes;
        let data_bytes = (self.shape.medium.size_bytes() as f64 * self.options.fill) as u64;
        let room = usable_bytes.saturating_sub(BESIDE_BYTES.min(usable_bytes / 4));
        if data_bytes.max(PAGE_BYTES) > room {
            return Err(Unfit::NoRoom(room));
        }
        let structs = size_of::<FileSystem<'_, &mut C>>() + size_of::<File>();
        let ram_bytes = (config.memory_bytes(geometry) + cache.len() + structs) as u64;
        // Fill and age the volume.
        let pages = (data_bytes / PAGE_BYTES).max(1);
        let mut run = Run {
            workload: self.options.workload,
            rng: Rng::with_seed(self.options.seed),
            pages,
            bound_ns: 0,
        };
        let mut data = run.fill(&mut fs)?;
        let aging =
            (self.shape.medium.size_bytes() as f64 / PAGE_BYTES as f64 * self.length.0) as u64;
        for _ in 0..aging {
            run.overwrite(&mut fs, &mut data)?;
        }
        if !cache.is_empty() {
            fs.lend_cache(&mut cache)?;
        }
        // Warm up with a quarter of the steps.
        let steps = ((f64::from(STEPS) * self.length.0) as u32).max(4);
        run.prepare(&mut fs)?;
        (0..steps / 4).try_for_each(|step| run.step(&mut fs, &mut data, step))?;
        // Measure.
        run.bound_ns = 0;
        let (begin, mut longest_ns) = (fs.flash().counters(), 0);
        for step in steps / 4..steps / 4 + steps {
            let before = fs.flash().counters();
            run.step(&mut fs, &mut data, step)?;
            longest_ns = longest_ns.max(fs.flash().counters().since(&before).time_ns);
        }
        let spent = fs.flash().counters().since(&begin);
        let written = run.bytes_of_a_step() as f64 * f64::from(steps);
        let erases_there_are = f64::from(geometry.block_count) * f64::from(self.endurance);
        Ok(Figures {
            ram_bytes,
            mean_ns: spent.time_ns as f64 / f64::from(steps),
            longest_ns,
            bound_ns: run.bound_ns,
            life_bytes: (spent.erases >= 4)
                .then(|| written * erases_there_are / spent.erases as f64),
            usable_bytes,
        })
    }
}

type Volume<'m, 'c, C> = FileSystem<'m, &'c mut C>;

/// The workload on a volume.
struct Run {
    workload: Workload,
    rng: Rng,
    /// Pages of the data at rest.
    pages: u64,
    /// The largest bound of a call since the field was set to 0.
    bound_ns: u64,
}

impl Run {
    /// Writes the data at rest and opens it.
    fn fill<C: BenchChip>(&mut self, fs: &mut Volume<'_, '_, C>) -> Result<File, Error> {
        let mut data = fs.open("data", OpenOptions::CREATE)?;
        for page in 0..self.pages {
            fs.append(&mut data, &[page as u8; PAGE_BYTES as usize])?;
        }
        fs.close(data)?;
        fs.open("data", OpenOptions::DURABLE)
    }

    fn overwrite<C: BenchChip>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        data: &mut File,
    ) -> Result<(), Error> {
        let offset = self.rng.u64(..self.pages) * PAGE_BYTES;
        let logical_bytes = u64::from(fs.usage().logical_bytes);
        self.note(
            fs,
            match PAGE_BYTES.is_multiple_of(logical_bytes) {
                true => CallSequence::Overwrites((PAGE_BYTES / logical_bytes) as u32),
                false => CallSequence::Write { file: data, offset, bytes: PAGE_BYTES as u32 },
            },
        );
        fs.write(data, offset, &[self.rng.u8(..); PAGE_BYTES as usize])
    }

    /// Makes the files of the workload.
    fn prepare<C: BenchChip>(&mut self, fs: &mut Volume<'_, '_, C>) -> Result<(), Error> {
        let (count, bytes) = match self.workload {
            Workload::Configuration => (CONFIGURATIONS, CONFIGURATION_BYTES),
            _ => (0, 0),
        };
        for number in 0..count {
            let mut file = fs.open(&*format!("file-{number}"), OpenOptions::DURABLE)?;
            fs.write(&mut file, 0, &vec![0; bytes])?;
            fs.close(file)?;
        }
        Ok(())
    }

    /// Returns the bytes that a step writes.
    fn bytes_of_a_step(&self) -> u64 {
        match self.workload {
            Workload::Log => RECORD_BYTES as u64,
            Workload::Overwrite => PAGE_BYTES,
            Workload::Configuration => CONFIGURATION_BYTES as u64,
            Workload::Files => PIECE_BYTES as u64,
        }
    }

    /// Makes one step: one call, or a few that belong together.
    fn step<C: BenchChip>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        data: &mut File,
        step: u32,
    ) -> Result<(), Error> {
        match self.workload {
            Workload::Overwrite => self.overwrite(fs, data),
            Workload::Log => {
                let mut log = fs.open("log", OpenOptions::DURABLE)?;
                let mut size = fs.size(&mut log)?;
                if size >= LOG_BYTES {
                    fs.close(log)?;
                    fs.rename("log", "log.old")?;
                    log = fs.open("log", OpenOptions::DURABLE)?;
                    size = 0;
                }
                self.note(
                    fs,
                    CallSequence::Write { file: &log, offset: size, bytes: RECORD_BYTES as u32 },
                );
                fs.append(&mut log, &[self.rng.u8(..); RECORD_BYTES])?;
                fs.close(log)
            }
            Workload::Configuration => {
                let number = self.rng.u32(..CONFIGURATIONS);
                let mut file = fs.open(&*format!("file-{number}"), OpenOptions::DURABLE)?;
                self.note(
                    fs,
                    CallSequence::Write {
                        file: &file,
                        offset: 0,
                        bytes: CONFIGURATION_BYTES as u32,
                    },
                );
                fs.write(&mut file, 0, &[self.rng.u8(..); CONFIGURATION_BYTES])?;
                fs.close(file)
            }
            Workload::Files => {
                let pieces = (FILE_BYTES / PIECE_BYTES as u64) as u32;
                let (number, piece) = (step / pieces % FILES, step % pieces);
                let options = OpenOptions { truncate: piece == 0, ..OpenOptions::CREATE };
                let mut file = fs.open(&*format!("file-{number}"), options)?;
                let offset = u64::from(piece) * PIECE_BYTES as u64;
                self.note(
                    fs,
                    CallSequence::Write { file: &file, offset, bytes: PIECE_BYTES as u32 },
                );
                fs.write(&mut file, offset, &[self.rng.u8(..); PIECE_BYTES])?;
                if piece + 1 == pieces {
                    let bound_ns = fs.bounds().of(Call::Sync).time_ns(&fs.flash().timing());
                    self.bound_ns = self.bound_ns.max(bound_ns);
                    fs.sync(steadyfs::CommitOn::FSYNC)?;
                }
                fs.close(file)
            }
        }
    }

    /// Raises `bound_ns` to the bound of a write if that is larger.
    fn note<C: BenchChip>(&mut self, fs: &Volume<'_, '_, C>, row: CallSequence<'_>) {
        self.bound_ns = self.bound_ns.max(fs.bounds().sequence_ns(row, &fs.flash().timing()));
    }
}

impl From<Error> for Unfit {
    fn from(error: Error) -> Self {
        match error {
            Error::NoSpace | Error::TooManyFiles => Self::NoRoom(0),
            error => Self::Failed(AdviseError::Run(error.to_string())),
        }
    }
}

impl From<MountError> for Unfit {
    fn from(error: MountError) -> Self {
        Self::Failed(AdviseError::Run(error.to_string()))
    }
}
