//! SteadyFS as a contender.

use super::contender::{Contender, Fault, Mode, Operation, Room, Volume};
use super::medium::BenchChip;
use std::mem::size_of;
use steadyfs::media::Flash;
use steadyfs::{
    Access, BlockState, Bound, Budget, Call, CallSequence, CommitOn, Config, Error, FileSystem,
    MountError, OpenOptions, Usage,
};
use steadyfs_sim::Counters;

/// Number of names in a path.
const DEPTH: u32 = 1;

/// SteadyFS with the settings for its chip, and all its RAM.
pub struct Steady<C> {
    chip: C,
    config: Config,
    memory: Vec<u8>,
    cache: Vec<u8>,
    read_cache: Vec<u8>,
    erases: bool,
}

impl<C: BenchChip> Steady<C> {
    /// Returns SteadyFS on an erased chip.
    pub fn new(chip: C) -> Self {
        let geometry = chip.geometry();
        Self::with_config(chip, Config::for_geometry(&geometry))
    }

    /// Returns SteadyFS on an erased chip, with these settings.
    pub fn with_config(chip: C, config: Config) -> Self {
        let memory = vec![0; config.memory_bytes(&chip.geometry())];
        Self { chip, config, memory, cache: Vec::new(), read_cache: Vec::new(), erases: false }
    }

    /// Adds a cache of this many logical pages.
    #[must_use]
    pub fn with_cache(self, pages: u32) -> Self {
        let bytes = self.config.cache_bytes(&self.chip.geometry(), pages as usize);
        Self { cache: vec![0; bytes], ..self }
    }

    /// Adds a read cache of this many program pages.
    #[must_use]
    pub fn with_read_cache(self, pages: u32) -> Self {
        let bytes = if pages > 0 {
            self.config.read_cache_bytes(&self.chip.geometry(), pages as usize)
        } else {
            0
        };
        Self { read_cache: vec![0; bytes], ..self }
    }

    /// Sets whether a format erases the chip.
    #[must_use]
    pub fn with_erasing_format(self, erases: bool) -> Self {
        Self { erases, ..self }
    }
}

impl<C: BenchChip> Contender for Steady<C> {
    type File = OpenFile;

    type Volume<'a>
        = Mounted<'a, C>
    where
        C: 'a;

    fn system(&self) -> String {
        "SteadyFS".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        if self.erases {
            FileSystem::format_erased(
                &mut self.chip,
                &self.config,
                &mut self.memory,
                &mut |_, _| {},
            )?;
        } else {
            FileSystem::format(&mut self.chip, &self.config, &mut self.memory)?;
        }
        Ok(())
    }

    fn mount(&mut self) -> Result<Mounted<'_, C>, Fault> {
        let mut fs = FileSystem::mount(&mut self.chip, Access::ReadWrite, &mut self.memory)?;
        if !self.cache.is_empty() {
            fs.lend_cache(&mut self.cache)?;
        }
        fs.lend_read_cache(&mut self.read_cache);
        fs.set_commit_on(CommitOn::ON_SYNC.with(CommitOn::REMOVE).with(CommitOn::RENAME));
        Ok(Mounted { fs })
    }

    fn ram_bytes(&self) -> u64 {
        let structs =
            size_of::<FileSystem<'_, &mut C>>() - size_of::<&mut C>() + size_of::<steadyfs::File>();
        (self.memory.len() + self.cache.len() + self.read_cache.len() + structs) as u64
    }

    fn keeps_what_is_read(&self) -> bool {
        !self.read_cache.is_empty()
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.chip.erase_counts()
    }
}

/// A mounted volume.
pub struct Mounted<'a, C> {
    fs: FileSystem<'a, &'a mut C>,
}

/// An open file, with the values that the bound of a write depends on.
pub struct OpenFile {
    file: steadyfs::File,
    size: u64,
    durable: bool,
}

impl<C: BenchChip> Mounted<'_, C> {
    fn time_ns(&self, bound: &Bound) -> u64 {
        bound.time_ns(&self.fs.flash().timing())
    }

    fn bound_of(&self, call: Call) -> u64 {
        self.time_ns(&self.fs.bounds().of(call))
    }

    /// Returns the bound of a write, which is a row of calls, one for each logical page.
    fn write_bound_ns(&self, file: &OpenFile, offset: u64, bytes: usize) -> u64 {
        let logical_bytes = u64::from(self.fs.usage().logical_bytes);
        let is_whole =
            offset.is_multiple_of(logical_bytes) && (bytes as u64).is_multiple_of(logical_bytes);
        let row = if file.durable && is_whole && offset + bytes as u64 <= file.size {
            CallSequence::Overwrites((bytes as u64 / logical_bytes) as u32)
        } else {
            CallSequence::Write { file: &file.file, offset, bytes: bytes as u32 }
        };
        self.fs.bounds().sequence_ns(row, &self.fs.flash().timing())
    }
}

impl<C: BenchChip> Volume for Mounted<'_, C> {
    type File = OpenFile;

    fn open(&mut self, path: &str, mode: Mode) -> Result<OpenFile, Fault> {
        let options = match mode {
            Mode::Read => OpenOptions::READ,
            Mode::Write => OpenOptions::WRITE,
            Mode::Replace => OpenOptions { truncate: true, ..OpenOptions::WRITE },
            Mode::Create => OpenOptions::CREATE,
            Mode::Durable => OpenOptions::DURABLE,
        };
        let mut file = self.fs.open(path, options)?;
        let size = self.fs.size(&mut file)?;
        Ok(OpenFile { file, size, durable: options.durable })
    }

    fn close(&mut self, file: OpenFile) -> Result<(), Fault> {
        Ok(self.fs.close(file.file)?)
    }

    fn read(&mut self, file: &mut OpenFile, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        Ok(self.fs.read(&mut file.file, offset, data)?)
    }

    fn write(&mut self, file: &mut OpenFile, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.fs.write(&mut file.file, offset, data)?;
        file.size = file.size.max(offset + data.len() as u64);
        Ok(())
    }

    fn sync(&mut self, _file: &mut OpenFile) -> Result<(), Fault> {
        Ok(self.fs.sync(CommitOn::FSYNC)?)
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        Ok(self.fs.remove(path)?)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        Ok(self.fs.rename(from, to)?)
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        Ok(self.fs.stat(path)?.size)
    }

    fn idle(&mut self, burst_bytes: u64) -> Result<(), Fault> {
        self.fs.maintain(Budget::TimeNs(u64::MAX), burst_bytes)?;
        Ok(())
    }

    fn unmount(self) -> Result<(), Fault> {
        self.fs.unmount()?;
        Ok(())
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let Usage { usable_bytes, used_bytes, logical_bytes, files_max, .. } = self.fs.usage();
        Ok(Room {
            usable_bytes,
            free_bytes: usable_bytes.saturating_sub(used_bytes),
            unit_bytes: logical_bytes,
            files_max,
            file_bytes_max: usable_bytes,
        })
    }

    fn counters(&self) -> Counters {
        self.fs.flash().counters()
    }

    fn bound_ns(&self, operation: &Operation<'_, OpenFile>) -> Option<u64> {
        Some(match operation {
            Operation::Open(Mode::Read | Mode::Write) | Operation::Stat => {
                self.bound_of(Call::Open { depth: DEPTH })
            }
            Operation::Open(Mode::Replace) => {
                self.bound_of(Call::Open { depth: DEPTH }) + self.bound_of(Call::Truncate)
            }
            Operation::Open(Mode::Create | Mode::Durable) => {
                self.bound_of(Call::Create { depth: DEPTH })
            }
            Operation::Close => 0,
            Operation::Read(bytes) => self.bound_of(Call::Read(*bytes as u32)),
            Operation::Write { file, offset, bytes } => self.write_bound_ns(file, *offset, *bytes),
            Operation::Sync => self.bound_of(Call::Sync),
            Operation::Remove => self.bound_of(Call::Remove { depth: DEPTH }),
            Operation::Rename => self.bound_of(Call::Rename { depth: 2 * DEPTH }),
        })
    }

    fn mount_bound_ns(&self, is_clean: bool) -> Option<u64> {
        let bounds = self.fs.bounds();
        let cost = if is_clean { bounds.clean_mount() } else { bounds.mount() };
        Some(cost.time_ns(&self.fs.flash().timing()))
    }

    fn holds_data(&self, block: u32) -> bool {
        self.fs.block(block).is_some_and(|block| block.state != BlockState::Reserved)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        match error {
            Error::NoSpace | Error::TooManyFiles => Fault::NoRoom(error.to_string()),
            error => Fault::Failed(error.to_string()),
        }
    }
}

impl From<MountError> for Fault {
    fn from(error: MountError) -> Fault {
        Fault::Failed(error.to_string())
    }
}
