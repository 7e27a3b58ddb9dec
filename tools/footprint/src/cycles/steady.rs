//! SteadyFS as a counted file system.

use crate::calls::{Calls, Counted, System};
use crate::tally::Tally;
use crate::workload::Failed;
use board::meter::{Meter, Spent};
use board::timer::{instructions, now};
use steadyfs::{Access, Config, Error, File, FileSystem, MountError, OpenOptions};

type Volume<'m, C> = FileSystem<'m, &'m mut C>;

impl From<MountError> for Failed {
    fn from(_: MountError) -> Self {
        Self
    }
}

/// The medium and the RAM of a volume.
pub struct Steady<'b, C> {
    chip: &'b mut C,
    memory: &'b mut [u8],
}

impl<'b, C: Meter> Steady<'b, C> {
    /// Uses as much of `memory` as the guides recommend: it has room for eight open files.
    pub fn new(chip: &'b mut C, memory: &'b mut [u8]) -> Self {
        let geometry = chip.geometry();
        let bytes = Config::for_geometry(&geometry).memory_bytes(&geometry);
        Self { chip, memory: &mut memory[..bytes] }
    }
}

/// Returns the instructions since a start.
#[inline(always)]
fn counted((before, start): (Spent, u32), after: impl FnOnce() -> Spent) -> Counted {
    let end = now();
    let after = after();
    let all = end.wrapping_sub(start) - after.chip.wrapping_sub(before.chip);
    let rest = all - after.checksum.wrapping_sub(before.checksum);
    Counted { all: instructions(all).into(), rest: instructions(rest).into() }
}

impl<C: Meter> System for Steady<'_, C> {
    type Volume<'v>
        = Volume<'v, C>
    where
        Self: 'v;

    fn format(&mut self) -> Result<(), Failed> {
        let config = Config::for_geometry(&self.chip.geometry());
        FileSystem::format(&mut *self.chip, &config, self.memory)?;
        Ok(())
    }

    fn mount(&mut self) -> Result<Volume<'_, C>, Failed> {
        Ok(FileSystem::mount(&mut *self.chip, Access::ReadWrite, self.memory)?)
    }

    fn mount_counted(&mut self, tally: &mut Tally) -> Result<Volume<'_, C>, Failed> {
        let before = self.chip.spent();
        let start = now();
        let fs = FileSystem::mount(&mut *self.chip, Access::ReadWrite, self.memory);
        tally.add(counted((before, start), || fs.as_ref().map_or(before, |fs| fs.flash().spent())));
        Ok(fs?)
    }
}

impl<C: Meter> Calls for Volume<'_, C> {
    type File = File;
    type Start = (Spent, u32);

    #[inline(always)]
    fn start(&self) -> Self::Start {
        let spent = self.flash().spent();
        (spent, now())
    }

    #[inline(always)]
    fn since(&self, start: Self::Start) -> Counted {
        counted(start, || self.flash().spent())
    }

    fn fill(&mut self, path: &'static str, page: &[u8]) -> Result<u32, Error> {
        let mut file = FileSystem::open(self, path, OpenOptions::CREATE)?;
        let mut pages = 0;
        let target = self.usage().usable_bytes / 5 * 4;
        while self.usage().used_bytes < target {
            FileSystem::append(self, &mut file, page)?;
            pages += 1;
        }
        FileSystem::close(self, file)?;
        FileSystem::commit(self)?;
        Ok(pages)
    }

    fn open(&mut self, path: &str, options: OpenOptions) -> Result<File, Error> {
        FileSystem::open(self, path, options)
    }

    fn open_empty(&mut self, path: &str) -> Result<File, Error> {
        let mut file = FileSystem::open(self, path, OpenOptions::WRITE)?;
        FileSystem::truncate(self, &mut file, 0)?;
        Ok(file)
    }

    fn close(&mut self, file: File) -> Result<(), Error> {
        FileSystem::close(self, file)
    }

    fn borrow(&mut self, path: &'static str, options: OpenOptions) -> Result<File, Error> {
        FileSystem::open(self, path, options)
    }

    fn give_back(&mut self, file: File) -> Result<(), Error> {
        FileSystem::close(self, file)
    }

    fn after_refusal(&mut self, file: File) -> Result<File, Error> {
        Ok(file)
    }

    fn size(&mut self, file: &mut File) -> Result<u64, Error> {
        FileSystem::size(self, file)
    }

    fn empty(&mut self, file: &mut File) -> Result<(), Error> {
        FileSystem::truncate(self, file, 0)
    }

    fn read(&mut self, file: &mut File, at: u64, data: &mut [u8]) -> Result<usize, Error> {
        FileSystem::read(self, file, at, data)
    }

    fn write(&mut self, file: &mut File, at: u64, data: &[u8]) -> Result<(), Error> {
        FileSystem::write(self, file, at, data)
    }

    fn append(&mut self, file: &mut File, data: &[u8]) -> Result<(), Error> {
        FileSystem::append(self, file, data)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        FileSystem::rename(self, from, to)
    }

    fn remove(&mut self, path: &str) -> Result<(), Error> {
        FileSystem::remove(self, path)
    }

    fn commit(&mut self) -> Result<(), Error> {
        FileSystem::commit(self)
    }

    fn sync(&mut self, _: &[&'static str]) -> Result<(), Error> {
        FileSystem::commit(self)
    }

    fn unmount(self) -> Result<(), Failed> {
        FileSystem::unmount(self)?;
        Ok(())
    }

    fn cut(self) {
        drop(self);
    }
}
