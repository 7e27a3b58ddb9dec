//! The life of a volume: calls in random order.

use crate::counter::Counter;
use crate::random::Random;
use crate::watch::{MOUNT, ROLLBACK, Start, UNMOUNT, Volume, Watch};
use board::meter::Meter;
use steadyfs::media::Flash;
use steadyfs::{
    Access, Budget, Call, CommitOn, Config, Cost, Cursor, Error, File, FileSystem, MountError,
    OpenOptions,
};

/// The error that ends the measurement.
pub struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

impl From<MountError> for Failed {
    fn from(_: MountError) -> Self {
        Self
    }
}

/// The path of a small file: in the root directory, or in one or three directories, with a short or
/// a long name.
#[derive(Clone, Copy)]
struct Name {
    bytes: [u8; 120],
    len: usize,
    /// Number of names in the path.
    depth: u32,
}

impl Name {
    fn of(number: u32) -> Self {
        let mut name = Self { bytes: [0; 120], len: 0, depth: 1 };
        match number % 4 {
            0 | 1 => {}
            2 => name.push("d/"),
            _ => name.push("d/e/f/"),
        }
        name.depth += [0, 0, 1, 3][number as usize % 4];
        name.push("name");
        let mut rest = number;
        for _ in 0..4 {
            name.push(&"0123456789"[rest as usize % 10..][..1]);
            rest /= 10;
        }
        if number % 16 > 12 {
            name.push(
                "a-long-name-that-does-not-fit-into-the-room-of-an-inode-and-takes-an-extension",
            );
        }
        name
    }

    fn push(&mut self, text: &str) {
        self.bytes[self.len..][..text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
    }

    fn path(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

const PAGE_BYTES: usize = 4096;
static DATA: [u8; PAGE_BYTES] = [0xA7; PAGE_BYTES];
/// Budget of idle work, in nanoseconds.
const IDLE_NS: u64 = 400_000_000;
/// The longest target of a symbolic link.
const LINK: &str = "../some/directories/that/need/not/exist/with/a/file/of/a/long/name";

/// A volume, and the traces of its life so far.
struct Life {
    random: Random,
    watch: Watch,
    /// Number of names that files may have.
    names: u32,
    /// Number of pages of 4 KiB of the large file.
    pages: u32,
    /// Bytes of a logical page.
    logical_bytes: u32,
    /// Number of mounts.
    mounts: u32,
    /// Number of overwrites until reclamation is in its steady state.
    settling: u32,
}

/// Makes some ten thousand calls on a new volume, and prints a row for each kind.
pub fn live<C: Meter>(
    medium: &str,
    chip: &mut Counter<C>,
    memory: &mut [u8],
) -> Result<(), Failed> {
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let memory = &mut memory[..config.memory_bytes(&geometry)];
    FileSystem::format(&mut *chip, &config, memory)?;
    let is_small = geometry.block_count * geometry.pages_per_block * geometry.page_bytes < 4 << 20;
    let mut life = Life {
        random: Random(7),
        watch: Watch::new(chip),
        names: if is_small { 60 } else { 400 },
        pages: 0,
        logical_bytes: geometry.page_bytes * u32::from(config.pages_per_logical_page),
        mounts: if is_small { 60 } else { 90 },
        settling: if is_small { 800 } else { 4000 },
    };
    life.age(chip, memory)?;
    // The first mount follows an unmount. Its bound is asked for at the end of the use before.
    let mut bound = None;
    for _ in 0..life.mounts {
        bound = Some(life.live_once(chip, memory, bound)?);
    }
    life.watch.print(medium);
    Ok(())
}

/// Creates a small file.
fn make<C: Meter>(fs: &mut Volume<'_, C>, number: u32) -> Result<(), Error> {
    let name = Name::of(number);
    let mut file = fs.open(name.path(), OpenOptions::CREATE)?;
    let size = [40, 100, 300, 3000][number as usize / 4 % 4];
    fs.write(&mut file, 0, &DATA[..size])?;
    fs.close(file)
}

impl Life {
    /// Fills a volume with small files and a large one, and overwrites pages at random.
    fn age<C: Meter>(&mut self, chip: &mut Counter<C>, memory: &mut [u8]) -> Result<(), Failed> {
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory)?;
        ["d", "d/e", "d/e/f"].into_iter().try_for_each(|path| fs.create_dir(path).map(drop))?;
        (0..self.names / 2).try_for_each(|number| make(&mut fs, number))?;
        let mut file = fs.open("data", OpenOptions::CREATE)?;
        while fs.usage().used_bytes < fs.usage().usable_bytes / 100 * 84 {
            fs.append(&mut file, &DATA[..PAGE_BYTES])?;
            self.pages += 1;
        }
        fs.close(file)?;
        fs.commit()?;
        let mut file = fs.open("data", OpenOptions::DURABLE)?;
        for _ in 0..self.settling {
            let at = self.place();
            fs.write(&mut file, at, &DATA[..PAGE_BYTES])?;
        }
        fs.close(file)?;
        fs.unmount()?;
        Ok(())
    }

    /// Mounts, makes calls in random order, and ends the use. Returns the bound of the next mount.
    fn live_once<C: Meter>(
        &mut self,
        chip: &mut Counter<C>,
        memory: &mut [u8],
        bound: Option<Cost>,
    ) -> Result<Cost, Failed> {
        let start = Start::of(chip);
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory)?;
        if let Some(bound) = bound {
            self.watch.end(MOUNT, start, fs.flash(), bound);
        }
        self.make_calls(&mut fs)?;
        if fs.flash().has_processor() {
            let start = Start::of(fs.flash());
            fs.maintain(Budget::TimeNs(IDLE_NS), 64 << 10)?;
            self.watch.compare_idle(start, fs.flash(), IDLE_NS);
        }
        match self.random.below(3) {
            0 => {
                let (start, bound) = (Start::of(fs.flash()), fs.bounds().rollback());
                fs.rollback()?;
                self.watch.end(ROLLBACK, start, fs.flash(), bound);
                Ok(fs.bounds().mount())
            }
            1 => {
                self.watch.call(&mut fs, Call::Sync, |fs| fs.commit())?;
                let (start, bound) = (Start::of(fs.flash()), fs.bounds().unmount());
                let next = fs.bounds().clean_mount();
                let chip = fs.unmount()?;
                self.watch.end(UNMOUNT, start, chip, bound);
                Ok(next)
            }
            // As after a power cut.
            _ => Ok(fs.bounds().mount()),
        }
    }

    /// Makes up to 160 steps under one rule for commits.
    fn make_calls<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Failed> {
        let policies = [
            CommitOn::ON_SYNC,
            CommitOn::ON_SYNC,
            CommitOn::EVERY_WRITE,
            CommitOn::MANUAL,
            CommitOn::ON_CLOSE,
        ];
        fs.set_commit_on(policies[self.random.below(5) as usize]);
        if self.random.one_in(3) {
            fs.set_time(1_000_000_000);
        }
        for _ in 0..self.random.below(160) {
            match self.step(fs) {
                Err(Error::TransactionTooLarge) => {
                    self.watch.call(fs, Call::Sync, |fs| fs.commit())?;
                }
                Err(error @ (Error::Corrupt | Error::Device | Error::Unknown)) => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn name(&mut self) -> Name {
        Name::of(self.random.below(self.names))
    }

    /// Returns the offset of a page of the large file.
    fn place(&mut self) -> u64 {
        u64::from(self.random.below(self.pages)) * PAGE_BYTES as u64
    }

    /// Makes a few calls of one kind.
    fn step<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Error> {
        let name = self.name();
        let Name { depth, .. } = name;
        match self.random.below(20) {
            0..4 => self.write_small(fs, &name),
            4 => self.truncate(fs, &name),
            5..8 => self.overwrite(fs),
            8 => self.patch(fs),
            9 => self.read(fs),
            10 | 11 => self.watch.call(fs, Call::Remove { depth }, |fs| fs.remove(name.path())),
            12 | 13 => {
                let other = self.name();
                let call = Call::Rename { depth: depth + other.depth };
                self.watch.call(fs, call, |fs| fs.rename(name.path(), other.path()))
            }
            14 => {
                let other = self.name();
                let call = Call::Exchange { depth: depth + other.depth };
                self.watch.call(fs, call, |fs| fs.exchange(name.path(), other.path()))
            }
            15 | 16 => self.set_attribute(fs, &name),
            17 => self.list(fs),
            18 => {
                let target = &LINK[..1 + self.random.below(LINK.len() as u32) as usize];
                let call = Call::Symlink { depth, bytes: target.len() as u32 };
                self.watch.call(fs, call, |fs| fs.create_symlink(name.path(), target).map(drop))
            }
            _ => self.watch.call(fs, Call::Sync, |fs| fs.commit()),
        }
    }

    /// Opens a small file, or creates it.
    fn open<C: Meter>(&mut self, fs: &mut Volume<'_, C>, name: &Name) -> Result<File, Error> {
        let durable = self.random.one_in(2);
        let options = if durable { OpenOptions::DURABLE } else { OpenOptions::CREATE };
        let Name { depth, .. } = *name;
        let call = match self.watch.call(fs, Call::Open { depth }, |fs| fs.stat(name.path())) {
            Ok(_) => Call::Open { depth },
            Err(_) => Call::Create { depth },
        };
        self.watch.call(fs, call, |fs| fs.open(name.path(), options))
    }

    fn close<C: Meter>(&mut self, fs: &mut Volume<'_, C>, file: File) -> Result<(), Error> {
        self.watch.call(fs, Call::Sync, |fs| fs.close(file))
    }

    /// Writes to a small file: at its beginning, at its end, or anywhere.
    fn write_small<C: Meter>(&mut self, fs: &mut Volume<'_, C>, name: &Name) -> Result<(), Error> {
        let mut file = self.open(fs, name)?;
        let size = fs.size(&mut file)?;
        let at = match self.random.below(3) {
            0 => 0,
            1 => size,
            _ => u64::from(self.random.below(size as u32 + 100)),
        };
        let bytes = [1, 16, 64, 144, 200, 700, 2100, 4096][self.random.below(8) as usize];
        let done = self.write(fs, &mut file, at, bytes);
        done.and(self.close(fs, file))
    }

    fn write<C: Meter>(
        &mut self,
        fs: &mut Volume<'_, C>,
        file: &mut File,
        at: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        let in_page = self.logical_bytes - (at % u64::from(self.logical_bytes)) as u32;
        let call = if bytes as u32 <= in_page {
            fs.bounds().write_call(file, at, bytes as u32)
        } else {
            // The bound of several pages holds for any offset.
            Call::Write((bytes as u32).max(self.logical_bytes + 1))
        };
        self.watch.call(fs, call, |fs| fs.write(file, at, &DATA[..bytes]))
    }

    fn truncate<C: Meter>(&mut self, fs: &mut Volume<'_, C>, name: &Name) -> Result<(), Error> {
        let mut file = self.open(fs, name)?;
        let size = u64::from(self.random.below(4000));
        let done = self.watch.call(fs, Call::Truncate, |fs| fs.truncate(&mut file, size));
        done.and(self.close(fs, file))
    }

    /// Overwrites a page of the large file.
    fn overwrite<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Error> {
        let mut file = fs.open("data", OpenOptions::DURABLE)?;
        let at = self.place();
        let data = &DATA[..self.logical_bytes as usize];
        let done = self.watch.call(fs, Call::Overwrite, |fs| fs.write(&mut file, at, data));
        done.and(fs.close(file))
    }

    /// Writes a few bytes into a page of the large file.
    fn patch<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Error> {
        let mut file = fs.open("data", OpenOptions::CREATE)?;
        let at = self.place() + 17;
        let done = self.write(fs, &mut file, at, 100);
        done.and(fs.close(file))
    }

    fn read<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Error> {
        let mut file = fs.open("data", OpenOptions::READ)?;
        let (at, bytes) = (self.place(), [16, 256, PAGE_BYTES][self.random.below(3) as usize]);
        let mut data = [0; PAGE_BYTES];
        let call = Call::Read(bytes as u32);
        self.watch.call(fs, call, |fs| fs.read(&mut file, at, &mut data[..bytes]))?;
        fs.close(file)
    }

    fn set_attribute<C: Meter>(
        &mut self,
        fs: &mut Volume<'_, C>,
        name: &Name,
    ) -> Result<(), Error> {
        let inode = fs.stat(name.path())?.inode;
        let value = &DATA[..self.random.below(60) as usize];
        self.watch.call(fs, Call::SetAttribute, |fs| {
            fs.set_attribute(inode, "colour", Some(value)).map(drop)
        })
    }

    /// Lists a few entries of a directory.
    fn list<C: Meter>(&mut self, fs: &mut Volume<'_, C>) -> Result<(), Error> {
        let (mut cursor, directory) = (Cursor::default(), fs.stat("d")?.inode);
        for _ in 0..self.random.below(12) {
            self.watch.call(fs, Call::List, |fs| fs.list(directory, &mut cursor).map(drop))?;
        }
        Ok(())
    }
}
