//! The counted calls. They come in rounds of all kinds, on a volume that is four fifths full.

use crate::tally::{Tally, Volume};
use board::meter::Meter;
use board::timer::now;
use core::hint::black_box;
use steadyfs::{Access, Config, Error, File, FileSystem, OpenOptions};

/// Bytes of a page of the large file.
const PAGE_BYTES: usize = 4096;
const NAME_BYTES: usize = 8;
/// Bytes of a small file, and of its new content.
const SMALL_BYTES: usize = 100;
const REPLACED_BYTES: usize = 200;
/// Number of rounds. A round makes each kind of call once.
const ROUNDS: u32 = 300;
/// Number of rounds before the counted ones.
const ROUNDS_BEFORE: u32 = 100;
/// Number of mounts of each kind.
const MOUNTS: u32 = 8;
/// Largest number of rounds before a mount.
const ROUNDS_BEFORE_MOUNT: u32 = 12;

/// A medium, and the amount of work that ages a volume on it.
pub struct Medium {
    pub name: &'static str,
    /// Number of small files in the directory.
    pub small_files: u32,
    /// Number of overwrites until reclamation is in its steady state.
    pub settling: u32,
    /// A file that grows is emptied when it has this length.
    pub growth_bytes: u64,
}

/// The error that ends the measurement.
pub struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

impl From<steadyfs::MountError> for Failed {
    fn from(_: steadyfs::MountError) -> Self {
        Self
    }
}

/// A small generator of numbers. Every run uses the same sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }
}

/// Returns the name of a small file.
fn name(number: u32, bytes: &mut [u8; NAME_BYTES]) -> &str {
    *bytes = *b"name0000";
    let mut rest = number;
    for digit in bytes.iter_mut().rev().take(4) {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// The medium and the RAM of a volume, for several mounts in a row.
struct Board<'b, C> {
    chip: &'b mut C,
    memory: &'b mut [u8],
}

impl<C: Meter> Board<'_, C> {
    fn mount(&mut self) -> Result<Volume<'_, C>, Failed> {
        Ok(FileSystem::mount(&mut *self.chip, Access::ReadWrite, self.memory)?)
    }

    /// Mounts and counts the mount.
    fn mount_counted(&mut self, tally: &mut Tally) -> Result<Volume<'_, C>, Failed> {
        let before = self.chip.spent();
        let start = now();
        let fs = FileSystem::mount(&mut *self.chip, Access::ReadWrite, self.memory);
        tally.count(start, before, || fs.as_ref().map_or(before, |fs| fs.flash().spent()));
        Ok(fs?)
    }
}

/// Counts all kinds of calls on a medium, and prints a row for each.
pub fn measure<C: Meter>(medium: &Medium, chip: &mut C, memory: &mut [u8]) -> Result<(), Failed> {
    let config = Config::for_geometry(&chip.geometry());
    // The RAM that the guides recommend: it has room for eight open files.
    let memory = &mut memory[..config.memory_bytes(&chip.geometry())];
    FileSystem::format(&mut *chip, &config, memory)?;
    let mut board = Board { chip, memory };
    let mut mounts = Tally::default();
    {
        let mut fs = board.mount()?;
        (0..medium.small_files).try_for_each(|number| make(&mut fs, number))?;
        fs.unmount()?;
    }
    for number in 0..MOUNTS {
        let mut fs = board.mount_counted(&mut mounts)?;
        replace_in_place(&mut fs, number)?;
        fs.unmount()?;
    }
    mounts.print(medium.name, "mount, clean, small files");

    let mut random = Random(1);
    let mut fs = board.mount()?;
    let pages = fill(&mut fs)?;
    let mut file = fs.open("data", OpenOptions::DURABLE)?;
    for _ in 0..medium.settling {
        overwrite(&mut fs, &mut file, random.below(pages))?;
    }
    fs.close(file)?;
    let mut round = Round { medium, pages, random, next: medium.small_files };
    for _ in 0..ROUNDS_BEFORE {
        round.make(&mut fs, &mut Tallies::default())?;
    }
    let mut tallies = Tallies::default();
    for _ in 0..ROUNDS {
        round.make(&mut fs, &mut tallies)?;
    }
    fs.unmount()?;
    tallies.print(medium.name);

    let [mut clean, mut cut] = <[Tally; 2]>::default();
    for _ in 0..MOUNTS {
        let mut fs = board.mount_counted(&mut clean)?;
        for _ in 0..round.random.below(ROUNDS_BEFORE_MOUNT) {
            round.make(&mut fs, &mut Tallies::default())?;
        }
        drop(fs);
        let mut fs = board.mount_counted(&mut cut)?;
        for _ in 0..round.random.below(ROUNDS_BEFORE_MOUNT) {
            round.make(&mut fs, &mut Tallies::default())?;
        }
        fs.unmount()?;
    }
    clean.print(medium.name, "mount, clean");
    cut.print(medium.name, "mount, after a power cut");
    Ok(())
}

/// Creates a file that fills four fifths of the volume. Returns its number of pages.
fn fill<C: Meter>(fs: &mut Volume<'_, C>) -> Result<u32, Failed> {
    let mut file = fs.open("data", OpenOptions::CREATE)?;
    let mut pages = 0;
    let target = fs.usage().usable_bytes / 5 * 4;
    while fs.usage().used_bytes < target {
        fs.append(&mut file, &[0x5A; PAGE_BYTES])?;
        pages += 1;
    }
    fs.close(file)?;
    fs.commit()?;
    Ok(pages)
}

fn overwrite<C: Meter>(fs: &mut Volume<'_, C>, file: &mut File, page: u32) -> Result<(), Error> {
    fs.write(file, u64::from(page) * PAGE_BYTES as u64, &[0xA5; PAGE_BYTES])
}

/// Creates a small file.
fn make<C: Meter>(fs: &mut Volume<'_, C>, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open(name(number, &mut bytes), OpenOptions::DURABLE)?;
    fs.write(&mut file, 0, &[0x3C; SMALL_BYTES])?;
    fs.close(file)
}

fn replace_in_place<C: Meter>(fs: &mut Volume<'_, C>, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open(name(number, &mut bytes), OpenOptions::DURABLE)?;
    fs.write(&mut file, 0, &[0x66; REPLACED_BYTES])?;
    fs.close(file)
}

fn replace_by_truncation<C: Meter>(fs: &mut Volume<'_, C>, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open(name(number, &mut bytes), OpenOptions::WRITE)?;
    fs.truncate(&mut file, 0)?;
    fs.write(&mut file, 0, &[0x77; REPLACED_BYTES])?;
    fs.close(file)?;
    fs.commit()
}

fn replace_by_rename<C: Meter>(fs: &mut Volume<'_, C>, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open("new", OpenOptions::CREATE)?;
    fs.write(&mut file, 0, &[0x88; REPLACED_BYTES])?;
    fs.close(file)?;
    fs.rename("new", name(number, &mut bytes))?;
    fs.commit()
}

/// Appends to a file. Empties it first if it is long.
fn append<C: Meter>(
    fs: &mut Volume<'_, C>,
    (path, bytes_max): (&str, u64),
    data: &[u8],
    tally: &mut Tally,
    options: OpenOptions,
) -> Result<(), Error> {
    let mut file = fs.open(path, options)?;
    if fs.size(&mut file)? >= bytes_max {
        fs.truncate(&mut file, 0)?;
    }
    tally.call(fs, |fs| fs.append(&mut file, data))?;
    fs.close(file)
}

/// Number of kinds of calls.
const KINDS: usize = 16;

/// The names of the kinds.
const NAMES: [&str; KINDS] = [
    "overwrite, 4 KiB, durable",
    "append, 64 B, durable",
    "create, 100 B, durable",
    "open",
    "replace in place, 200 B",
    "replace by truncation, 200 B",
    "replace by rename, 200 B",
    "rename",
    "remove",
    "read, 4 KiB",
    "read, 256 B",
    "read in order, 256 B",
    "in order, 512 B",
    "in order, 4 KiB",
    "append, 64 B",
    "sync of it",
];

/// One tally for each kind.
#[derive(Default)]
struct Tallies([Tally; KINDS]);

impl Tallies {
    fn print(&self, medium: &str) {
        self.0.iter().zip(NAMES).for_each(|(tally, name)| tally.print(medium, name));
    }
}

/// The rounds, and the state that they go on from.
struct Round<'a> {
    medium: &'a Medium,
    /// Pages of the large file.
    pages: u32,
    random: Random,
    /// Number of the next new file.
    next: u32,
}

impl Round<'_> {
    /// Makes each kind of call once.
    fn make<C: Meter>(
        &mut self,
        fs: &mut Volume<'_, C>,
        tallies: &mut Tallies,
    ) -> Result<(), Failed> {
        let [
            overwrites,
            appends,
            creates,
            opens,
            in_place,
            truncations,
            replacing_renames,
            renames,
            removes,
            reads,
            small_reads,
            reads_in_order,
            in_order_small,
            in_order,
            buffered,
            syncs,
        ] = &mut tallies.0;
        let page = [0xC3; PAGE_BYTES];
        let mut read = [0; PAGE_BYTES];
        let mut file = fs.open("data", OpenOptions::DURABLE)?;
        let at = self.place();
        overwrites.call(fs, |fs| fs.write(&mut file, at, &page))?;
        let at = self.place();
        reads.call(fs, |fs| fs.read(&mut file, at, &mut read))?;
        let at = self.place() + 512;
        small_reads.call(fs, |fs| fs.read(&mut file, at, &mut read[..256]))?;
        // The rest of the page, piece by piece.
        for piece in 1..PAGE_BYTES as u64 / 256 - 2 {
            reads_in_order.call(fs, |fs| fs.read(&mut file, at + piece * 256, &mut read[..256]))?;
        }
        black_box(read);
        fs.close(file)?;

        let most = self.medium.growth_bytes;
        append(fs, ("log", most), &page[..64], appends, OpenOptions::DURABLE)?;
        append(fs, ("small", most), &page[..512], in_order_small, OpenOptions::CREATE)?;
        append(fs, ("large", most), &page, in_order, OpenOptions::CREATE)?;
        append(fs, ("events", most), &page[..64], buffered, OpenOptions::CREATE)?;
        syncs.call(fs, |fs| fs.commit())?;

        // Names come and go: the directory keeps its size.
        let (mut old, mut new) = ([0; NAME_BYTES], [0; NAME_BYTES]);
        let number = self.next;
        creates.call(fs, |fs| make(fs, number % 10_000))?;
        let number = self.small_file();
        let file = opens.call(fs, |fs| fs.open(name(number, &mut old), OpenOptions::READ))?;
        fs.close(file)?;
        let number = self.small_file();
        in_place.call(fs, |fs| replace_in_place(fs, number))?;
        let number = self.small_file();
        truncations.call(fs, |fs| replace_by_truncation(fs, number))?;
        let number = self.small_file();
        replacing_renames.call(fs, |fs| replace_by_rename(fs, number))?;
        let (from, to) =
            (name(self.next % 10_000, &mut old), name((self.next + 1) % 10_000, &mut new));
        renames.call(fs, |fs| fs.rename(from, to).and_then(|()| fs.commit()))?;
        let number = self.next - self.medium.small_files;
        let oldest = name(number % 10_000, &mut old);
        removes.call(fs, |fs| fs.remove(oldest).and_then(|()| fs.commit()))?;
        let from = name((self.next + 1) % 10_000, &mut old);
        fs.rename(from, name(self.next % 10_000, &mut new))?;
        fs.commit()?;
        self.next += 1;
        Ok(())
    }

    /// Returns the place of a page of the large file.
    fn place(&mut self) -> u64 {
        u64::from(self.random.below(self.pages)) * PAGE_BYTES as u64
    }

    /// Returns the number of a small file that exists.
    fn small_file(&mut self) -> u32 {
        let count = self.medium.small_files;
        (self.next - count + self.random.below(count)) % 10_000
    }
}
