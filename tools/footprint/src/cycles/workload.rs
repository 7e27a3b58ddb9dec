//! The counted calls. They come in rounds of all kinds, on a volume that is four fifths full.

use crate::calls::{Calls, System};
use crate::tally::Tally;
use core::hint::black_box;
use steadyfs::{Error, OpenOptions};

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
/// Bytes of a file that is written in order at the end.
const STREAM_BYTES: usize = 128 << 10;
/// Number of mounts of each kind.
const MOUNTS: u32 = 8;
/// Largest number of rounds before a mount.
const ROUNDS_BEFORE_MOUNT: u32 = 12;

/// A medium, and the amount of work that ages a volume on it.
#[derive(Clone, Copy)]
pub struct Medium {
    pub name: &'static str,
    /// Bytes that are programmed together, for chips without tags: a page of NAND, 1 on NOR.
    #[allow(dead_code, reason = "chips with tags have it of their own")]
    pub unit_bytes: u32,
    pub block_bytes: u32,
    pub block_count: u32,
    /// Number of small files in the directory.
    pub small_files: u32,
    /// Number of overwrites until reclamation is in its steady state.
    pub settling: u32,
    /// A file that grows is emptied when it has this length.
    pub growth_bytes: u64,
    /// Instructions that the overwrites before the rounds may take. The counted rounds may take
    /// eight times as many for their overwrites. Then rounds go on without them.
    pub patience: u64,
}

pub const NAND: Medium = Medium {
    name: "128 MiB NAND",
    unit_bytes: 2048,
    block_bytes: 128 << 10,
    block_count: 1024,
    small_files: 500,
    settling: 8000,
    growth_bytes: 64 << 10,
    patience: u64::MAX,
};
pub const SMALL_NOR: Medium = Medium {
    name: "1 MiB NOR",
    unit_bytes: 1,
    block_bytes: 4096,
    block_count: 256,
    small_files: 100,
    settling: 1000,
    growth_bytes: 8 << 10,
    patience: u64::MAX,
};
pub const LARGE_NOR: Medium = Medium {
    name: "16 MiB NOR",
    unit_bytes: 1,
    block_bytes: 65536,
    block_count: 256,
    small_files: 500,
    settling: 6000,
    growth_bytes: 64 << 10,
    patience: u64::MAX,
};

/// The error that ends the measurement.
pub struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
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

/// Counts all kinds of calls on a medium, and prints a row for each.
pub fn measure(medium: &Medium, system: &mut impl System) -> Result<(), Failed> {
    system.format()?;
    let mut mounts = Tally::default();
    {
        let mut fs = system.mount()?;
        (0..medium.small_files).try_for_each(|number| make(&mut fs, number))?;
        fs.unmount()?;
    }
    for number in 0..MOUNTS {
        let mut fs = system.mount_counted(&mut mounts)?;
        replace_in_place(&mut fs, number)?;
        fs.unmount()?;
    }
    mounts.print(medium.name, "mount, clean, small files");

    let mut random = Random(1);
    let mut fs = system.mount()?;
    let pages = fs.fill("data", &[0x5A; PAGE_BYTES])?;
    let mut file = fs.borrow("data", OpenOptions::DURABLE)?;
    let mut settling = Tally::default();
    for _ in 0..medium.settling {
        let page = random.below(pages);
        file = overwrite(&mut fs, file, page, &[0xA5; PAGE_BYTES], &mut settling)?;
        if settling.spent() > medium.patience {
            break;
        }
    }
    fs.give_back(file)?;
    let patience = medium.patience.saturating_sub(settling.spent());
    let mut round = Round { medium, pages, random, next: medium.small_files, patience };
    for _ in 0..ROUNDS_BEFORE {
        round.make(&mut fs, &mut Tallies::default())?;
    }
    let mut tallies = Tallies::default();
    round.patience = medium.patience.saturating_mul(8);
    for _ in 0..ROUNDS {
        round.make(&mut fs, &mut tallies)?;
    }
    fs.unmount()?;
    tallies.print(medium.name);

    let [mut clean, mut cut] = <[Tally; 2]>::default();
    for _ in 0..MOUNTS {
        let mut fs = system.mount_counted(&mut clean)?;
        for _ in 0..round.random.below(ROUNDS_BEFORE_MOUNT) {
            round.make(&mut fs, &mut Tallies::default())?;
        }
        fs.cut();
        let mut fs = system.mount_counted(&mut cut)?;
        for _ in 0..round.random.below(ROUNDS_BEFORE_MOUNT) {
            round.make(&mut fs, &mut Tallies::default())?;
        }
        fs.unmount()?;
    }
    clean.print(medium.name, "mount, clean");
    cut.print(medium.name, "mount, after a power cut");

    for (bytes, name) in [(512, "stream, 512 B"), (PAGE_BYTES, "stream, 4 KiB")] {
        system.format()?;
        let mut streams = Tally::default();
        let mut fs = system.mount()?;
        stream(&mut fs, bytes, &mut streams)?;
        fs.unmount()?;
        streams.print(medium.name, name);
    }
    Ok(())
}

/// Writes the only file of a volume, from its beginning to its end, in pieces. It is durable at its
/// end. As in `steady bench`, the opening and the end count as calls.
fn stream(fs: &mut impl Calls, bytes: usize, tally: &mut Tally) -> Result<(), Failed> {
    let mut file = tally.call(fs, |fs| fs.open("stream", OpenOptions::CREATE))?;
    for number in 0..STREAM_BYTES / bytes {
        let at = (number * bytes) as u64;
        tally.call(fs, |fs| fs.write(&mut file, at, &[0x99; PAGE_BYTES][..bytes]))?;
    }
    tally.call(fs, |fs| fs.close(file).and_then(|()| fs.commit()))?;
    Ok(())
}

/// Overwrites a page of the large file. Returns the file.
fn overwrite<F: Calls>(
    fs: &mut F,
    mut file: F::File,
    page: u32,
    data: &[u8],
    tally: &mut Tally,
) -> Result<F::File, Error> {
    let at = u64::from(page) * PAGE_BYTES as u64;
    match tally.call(fs, |fs| fs.write(&mut file, at, data)) {
        Ok(()) => Ok(file),
        Err(Error::NoSpace) => fs.after_refusal(file),
        Err(error) => Err(error),
    }
}

/// Creates a small file.
fn make(fs: &mut impl Calls, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open(name(number, &mut bytes), OpenOptions::DURABLE)?;
    fs.write(&mut file, 0, &[0x3C; SMALL_BYTES])?;
    fs.close(file)
}

fn replace_in_place(fs: &mut impl Calls, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open(name(number, &mut bytes), OpenOptions::DURABLE)?;
    fs.write(&mut file, 0, &[0x66; REPLACED_BYTES])?;
    fs.close(file)
}

fn replace_by_truncation(fs: &mut impl Calls, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open_empty(name(number, &mut bytes))?;
    fs.write(&mut file, 0, &[0x77; REPLACED_BYTES])?;
    fs.close(file)?;
    fs.commit()
}

fn replace_by_rename(fs: &mut impl Calls, number: u32) -> Result<(), Error> {
    let mut bytes = [0; NAME_BYTES];
    let mut file = fs.open("new", OpenOptions::CREATE)?;
    fs.write(&mut file, 0, &[0x88; REPLACED_BYTES])?;
    fs.close(file)?;
    fs.rename("new", name(number, &mut bytes))?;
    fs.commit()
}

/// Appends to a file. Empties it first if it is long.
fn append(
    fs: &mut impl Calls,
    (path, bytes_max): (&'static str, u64),
    data: &[u8],
    tally: &mut Tally,
    options: OpenOptions,
) -> Result<(), Error> {
    let mut file = fs.borrow(path, options)?;
    if fs.size(&mut file)? >= bytes_max {
        fs.empty(&mut file)?;
    }
    tally.call(fs, |fs| fs.append(&mut file, data))?;
    fs.give_back(file)
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
    /// Instructions that the overwrites of the next rounds may take.
    patience: u64,
}

impl Round<'_> {
    /// Makes each kind of call once.
    fn make(&mut self, fs: &mut impl Calls, tallies: &mut Tallies) -> Result<(), Failed> {
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
        let mut file = fs.borrow("data", OpenOptions::DURABLE)?;
        let number = self.random.below(self.pages);
        if self.patience > 0 {
            let before = overwrites.spent();
            file = overwrite(fs, file, number, &page, overwrites)?;
            self.patience = self.patience.saturating_sub(overwrites.spent() - before);
        }
        let at = self.place();
        reads.call(fs, |fs| fs.read(&mut file, at, &mut read))?;
        let at = self.place() + 512;
        small_reads.call(fs, |fs| fs.read(&mut file, at, &mut read[..256]))?;
        // The rest of the page, piece by piece.
        for piece in 1..PAGE_BYTES as u64 / 256 - 2 {
            reads_in_order.call(fs, |fs| fs.read(&mut file, at + piece * 256, &mut read[..256]))?;
        }
        black_box(read);
        fs.give_back(file)?;

        let most = self.medium.growth_bytes;
        append(fs, ("log", most), &page[..64], appends, OpenOptions::DURABLE)?;
        append(fs, ("small", most), &page[..512], in_order_small, OpenOptions::CREATE)?;
        append(fs, ("large", most), &page, in_order, OpenOptions::CREATE)?;
        append(fs, ("events", most), &page[..64], buffered, OpenOptions::CREATE)?;
        syncs.call(fs, |fs| fs.sync(&["small", "large", "events"]))?;

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
