//! A firmware that counts the instructions of SteadyFS's calls in QEMU, on a simulated chip at 80
//! % fill.
//!
//! The timer of the emulated board counts instructions (`-icount`). The instructions of the
//! driver are left out. The instructions of checksums are counted separately: a chip with a CRC
//! unit saves them.

#![no_std]
#![no_main]

mod chip;

use board::host::Output;
use board::meter::{Metered, Spent};
use board::timer::{self, now};
use chip::Chip;
use core::fmt::Write;
use core::hint::black_box;
use core::panic::PanicInfo;
use steadyfs::media::Flash;
use steadyfs::{Access, Config, Error, File, FileSystem, OpenOptions};

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

/// The entry point of the firmware.
#[unsafe(no_mangle)]
pub extern "C" fn reset() -> ! {
    timer::start();
    let result = measure();
    if result.is_err() {
        let _ = writeln!(Output, "error");
    }
    board::host::exit(result.is_err().into())
}

type Volume<'m> = FileSystem<'m, &'m mut Metered<Chip>>;

/// Bytes of a page of the large file.
const PAGE_BYTES: usize = 4096;
/// Bytes of RAM for the volume.
const MEMORY_BYTES: usize = 16 << 10;
/// Number of names in the directory.
const NAMES: u32 = 500;
const NAME_BYTES: usize = 8;
/// Bytes of a small file.
const SMALL_BYTES: usize = 50;
/// Number of overwrites until reclamation is in its steady state.
const SETTLING: u32 = 8000;
/// Numbers of counted calls.
const OVERWRITES: u32 = 4000;
const APPENDS: u32 = 2000;
const READS: u32 = 1000;
const OPENS: u32 = 500;
const MOUNTS: u32 = 8;
/// Largest number of overwrites before a mount.
const CHANGES_MAX: u32 = 200;

/// Instructions of one kind of call.
#[derive(Default)]
struct Tally {
    calls: u32,
    all: Sum,
    /// The instructions without checksums.
    rest: Sum,
}

#[derive(Default)]
struct Sum {
    total: u64,
    longest: u32,
}

impl Sum {
    fn add(&mut self, instructions: u32) {
        self.total += u64::from(instructions);
        self.longest = self.longest.max(instructions);
    }
}

impl Tally {
    /// Counts a call from its start until now.
    #[inline(always)]
    fn count(&mut self, start: u32, before: Spent, after: impl FnOnce() -> Spent) {
        let end = now();
        let after = after();
        let all = end.wrapping_sub(start) - after.chip.wrapping_sub(before.chip);
        self.calls += 1;
        self.all.add(timer::instructions(all));
        self.rest.add(timer::instructions(all - after.checksum.wrapping_sub(before.checksum)));
    }

    /// Makes a call and counts it.
    fn call<R>(
        &mut self,
        fs: &mut Volume<'_>,
        call: impl FnOnce(&mut Volume<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let before = fs.flash().spent;
        let start = now();
        let result = call(fs);
        self.count(start, before, || fs.flash().spent);
        result
    }

    /// Prints a row: the number of calls, then mean and maximum with checksums, then mean and
    /// maximum without.
    fn print(&self, name: &str) {
        let mean = |sum: &Sum| sum.total / u64::from(self.calls);
        let (all, rest) = (&self.all, &self.rest);
        let _ = writeln!(
            Output,
            "{name}|{}|{}|{}|{}|{}",
            self.calls,
            mean(all),
            all.longest,
            mean(rest),
            rest.longest
        );
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

/// Returns the name for a number.
fn name(number: u32, bytes: &mut [u8; NAME_BYTES]) -> &str {
    *bytes = *b"name0000";
    let mut rest = number;
    for digit in bytes.iter_mut().rev().take(4) {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// The error that ends the measurement.
struct Failed;

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

/// The medium and the RAM of a volume, for several mounts in a row.
struct Board {
    chip: Metered<Chip>,
    memory: &'static mut [u8],
}

impl Board {
    fn mount(&mut self) -> Result<Volume<'_>, Failed> {
        Ok(FileSystem::mount(&mut self.chip, Access::ReadWrite, self.memory)?)
    }

    /// Mounts and counts the mount.
    fn mount_counted(&mut self, tally: &mut Tally) -> Result<Volume<'_>, Failed> {
        let before = self.chip.spent;
        let start = now();
        let fs = FileSystem::mount(&mut self.chip, Access::ReadWrite, self.memory);
        tally.count(start, before, || fs.as_ref().map_or(before, |fs| fs.flash().spent));
        Ok(fs?)
    }
}

fn measure() -> Result<(), Failed> {
    static mut MEMORY: [u8; MEMORY_BYTES] = [0; MEMORY_BYTES];
    // SAFETY: this function is called once.
    let memory = unsafe { (&raw mut MEMORY).as_mut().unwrap_unchecked() };
    let mut board = Board { chip: Metered::new(Chip::new()), memory };
    let config = Config::for_geometry(&board.chip.geometry());
    FileSystem::format(&mut board.chip, &config, board.memory)?;
    let mut random = Random(1);
    let mut fs = board.mount()?;
    let pages = fill(&mut fs)?;
    let mut file = fs.open("data", OpenOptions::DURABLE)?;
    for _ in 0..SETTLING {
        overwrite(&mut fs, &mut file, random.below(pages))?;
    }
    data(&mut fs, &mut file, pages, &mut random)?;
    names(&mut fs, &mut random)?;
    fs.unmount()?;
    mounts(&mut board, pages, &mut random)
}

/// Creates a file that fills four fifths of the volume. Returns its number of pages.
fn fill(fs: &mut Volume<'_>) -> Result<u32, Failed> {
    let mut file = fs.open("data", OpenOptions::CREATE)?;
    let mut pages = 0;
    let target = fs.usage().usable_bytes / 5 * 4;
    while fs.usage().used_bytes < target {
        fs.append(&mut file, &[0x5A; PAGE_BYTES])?;
        pages += 1;
    }
    fs.close(file)?;
    Ok(pages)
}

fn overwrite(fs: &mut Volume<'_>, file: &mut File, page: u32) -> Result<(), Error> {
    fs.write(file, u64::from(page) * PAGE_BYTES as u64, &[0xA5; PAGE_BYTES])
}

/// Measures calls that write and read data.
fn data(
    fs: &mut Volume<'_>,
    file: &mut File,
    pages: u32,
    random: &mut Random,
) -> Result<(), Failed> {
    let [mut overwrites, mut appends, mut reads] = <[Tally; 3]>::default();
    let page = [0xC3; PAGE_BYTES];
    for _ in 0..OVERWRITES {
        let at = u64::from(random.below(pages)) * PAGE_BYTES as u64;
        overwrites.call(fs, |fs| fs.write(file, at, &page))?;
    }
    overwrites.print("durable overwrite, 4 KiB");
    let mut log = fs.open("log", OpenOptions::DURABLE)?;
    for _ in 0..APPENDS {
        appends.call(fs, |fs| fs.append(&mut log, &page[..64]))?;
    }
    appends.print("durable append, 64 B");
    fs.close(log)?;
    for _ in 0..READS {
        let at = u64::from(random.below(pages)) * PAGE_BYTES as u64;
        let mut page = [0; PAGE_BYTES];
        reads.call(fs, |fs| fs.read(file, at, &mut page))?;
        black_box(page);
    }
    reads.print("read, 4 KiB");
    Ok(())
}

/// Measures calls that look up names and change them.
fn names(fs: &mut Volume<'_>, random: &mut Random) -> Result<(), Failed> {
    let [mut creates, mut opens, mut removes] = <[Tally; 3]>::default();
    let mut bytes = [0; NAME_BYTES];
    for number in 0..NAMES {
        let name = name(number, &mut bytes);
        creates.call(fs, |fs| {
            let mut file = fs.open(name, OpenOptions::DURABLE)?;
            fs.write(&mut file, 0, &[0x3C; SMALL_BYTES])?;
            fs.close(file)
        })?;
    }
    creates.print("create, 50 B");
    for _ in 0..OPENS {
        let name = name(random.below(NAMES), &mut bytes);
        let file = opens.call(fs, |fs| fs.open(name, OpenOptions::READ))?;
        fs.close(file)?;
    }
    opens.print("open, among 500 names");
    for number in 0..NAMES {
        let name = name(number, &mut bytes);
        removes.call(fs, |fs| fs.remove(name))?;
    }
    removes.print("remove, 50 B");
    Ok(())
}

/// Measures mounts after a clean end and after a power cut, each after a different number of
/// changes.
fn mounts(board: &mut Board, pages: u32, random: &mut Random) -> Result<(), Failed> {
    let [mut clean, mut cut] = <[Tally; 2]>::default();
    for _ in 0..MOUNTS {
        let mut fs = board.mount_counted(&mut clean)?;
        change(&mut fs, pages, random)?;
        drop(fs);
        let mut fs = board.mount_counted(&mut cut)?;
        change(&mut fs, pages, random)?;
        fs.unmount()?;
    }
    clean.print("mount, after a clean end");
    cut.print("mount, after a power cut");
    Ok(())
}

fn change(fs: &mut Volume<'_>, pages: u32, random: &mut Random) -> Result<(), Failed> {
    let mut file = fs.open("data", OpenOptions::DURABLE)?;
    for _ in 0..random.below(CHANGES_MAX) {
        overwrite(fs, &mut file, random.below(pages))?;
    }
    Ok(())
}
