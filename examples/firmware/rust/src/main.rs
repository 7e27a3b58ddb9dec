//! SteadyFS on a Cortex-M3. The program formats, mounts and logs to a simulated NOR chip and a
//! simulated NAND chip. Power fails in the middle of a program or an erase, which resets the
//! processor. Afterwards all acknowledged records must be there. The program prints instructions
//! and stack of each call.

#![no_std]
#![no_main]

mod chips;
mod start;

use board::host::{Output, exit};
use board::meter::{Meter, Metered};
use board::stack::{self, Taken};
use board::timer;
use chips::{NAND, NOR, NandChip, NorChip};
use core::fmt::{Display, Write};
use start::{Kept, kept};
use steadyfs::media::Geometry;
use steadyfs::media::nor::NorPages;
use steadyfs::{Access, Call, Config, File, FileSystem, OpenOptions, Verify};

const RECORD_BYTES: usize = 32;
const RECORDS: u32 = 64;
/// Programs and erases after the last measured call. Power fails in the last of them.
const CUT_IN: u32 = 23;

/// Returns the RAM of a volume, to the byte.
const fn memory_bytes(geometry: &Geometry) -> usize {
    Config::for_geometry(geometry).memory_bytes(geometry)
}

fn main() -> ! {
    let (kept, starts_before) = kept();
    let Kept { power, acknowledged, nor, nand, .. } = kept;
    let (mut nor, mut nand) = (NorChip::new(nor, power), NandChip::new(nand, power));
    let (mut nor_memory, mut nand_memory) = ([0; memory_bytes(&NOR)], [0; memory_bytes(&NAND)]);
    let cut = || power.fail_in(CUT_IN);
    if starts_before == 0 {
        power.fail_in(0);
        nor.wipe();
        nand.wipe();
    }
    let mut nor = NorPages::new(Metered::new(nor), NOR.page_bytes);
    let mut nand = Metered::new(nand);
    match starts_before {
        0 => {
            first("NOR, 256 KiB in sectors of 4 KiB", &mut nor, &mut nor_memory, acknowledged, cut)
        }
        1 => {
            second("NOR", &mut nor, &mut nor_memory, acknowledged.get());
            first(
                "NAND, 512 KiB in pages of 512 bytes",
                &mut nand,
                &mut nand_memory,
                acknowledged,
                cut,
            );
        }
        2 => {
            second("NAND", &mut nand, &mut nand_memory, acknowledged.get());
            exit(0)
        }
        _ => {}
    }
    let _ = writeln!(Output, "power was to fail, and did not");
    exit(1)
}

/// Formats, mounts and logs, until power fails in the middle of an operation.
fn first<F: Meter>(
    name: &str,
    chip: &mut F,
    memory: &mut [u8],
    acknowledged: &core::cell::Cell<u32>,
    cut: impl Fn(),
) {
    let config = Config::for_geometry(&chip.geometry());
    let _ = writeln!(
        Output,
        "{name}: {} bytes of RAM beside the {} of the struct",
        memory.len(),
        size_of::<FileSystem<'_, &mut F>>()
    );
    let before = chip.spent().chip;
    let (chip, taken) = stack::measure(|| FileSystem::format(chip, &config, memory));
    let chip = report("format", chip, taken, |chip| chip.spent().chip.wrapping_sub(before));
    let mut fs = mount("mount", chip, memory);
    measure(&mut fs, "create_dir", |fs| fs.create_dir("data"));
    let mut log = measure(&mut fs, "open, creates", |fs| fs.open("data/log", OpenOptions::DURABLE));
    measure(&mut fs, "bound of an append", |fs| {
        Ok::<_, steadyfs::Error>(core::hint::black_box(
            fs.bounds().of(Call::Write(RECORD_BYTES as u32)),
        ))
    });
    measure(&mut fs, "append, durable", |fs| fs.append(&mut log, &record(0)));
    for number in 1..RECORDS {
        must("append", fs.append(&mut log, &record(number)));
    }
    let mut found = [0; RECORD_BYTES];
    measure(&mut fs, "read", |fs| fs.read(&mut log, 0, &mut found));
    chunks(&mut fs, &mut log);
    measure(&mut fs, "rename", |fs| fs.rename("data/log", "data/log.1"));
    must("sync", fs.sync(steadyfs::CommitOn::SYNC));
    let _ = writeln!(Output, "  power fails");
    cut();
    for number in RECORDS.. {
        acknowledged.set(number);
        must("append", fs.append(&mut log, &record(number)));
        if number == RECORDS + CUT_IN {
            break;
        }
    }
}

/// Reads the log in pieces. Data is not verified, but handed over as the chip's own ECC returns
/// it.
fn chunks<F: Meter>(fs: &mut FileSystem<'_, &mut F>, log: &mut File) {
    fs.set_verify(Verify::Metadata);
    let mut found = [0; 256];
    for bytes in [1, 16, 64, 256] {
        let (before, begin) = (fs.flash().spent().chip, timer::now());
        for at in (0..RECORDS * RECORD_BYTES as u32).step_by(bytes) {
            must("read", fs.read(log, at.into(), &mut found[..bytes]));
        }
        let ticks = timer::now().wrapping_sub(begin) - fs.flash().spent().chip.wrapping_sub(before);
        let per_byte = timer::instructions(ticks) / (RECORDS * RECORD_BYTES as u32);
        let _ = writeln!(Output, "  read by {bytes:>3} B: {per_byte:>21} instructions a byte");
    }
    fs.set_verify(Verify::Always);
}

/// Checks that every acknowledged record is there, and at most the record in flight beside them.
fn second<F: Meter>(name: &str, chip: &mut F, memory: &mut [u8], acknowledged: u32) {
    let _ = writeln!(Output, "{name} after the reset");
    let mut fs = mount("mount after a power cut", chip, memory);
    let mut log = measure(&mut fs, "open", |fs| fs.open("data/log.1", OpenOptions::DURABLE));
    let (mut count, mut found) = (0, [0; RECORD_BYTES]);
    while must("read", fs.read(&mut log, u64::from(count) * RECORD_BYTES as u64, &mut found))
        == RECORD_BYTES
    {
        must(
            "compare",
            if found == record(count) { Ok(()) } else { Err("a record is not what was written") },
        );
        count += 1;
    }
    let is_right = count == acknowledged || count == acknowledged + 1;
    must(
        "count",
        if is_right { Ok(()) } else { Err("another number of records than was acknowledged") },
    );
    measure(&mut fs, "append, durable", |fs| fs.append(&mut log, &record(count)));
    measure(&mut fs, "close", |fs| fs.close(log));
    measure(&mut fs, "remove", |fs| fs.remove("data/log.1"));
    let before = fs.flash().spent().chip;
    let (chip, taken) = stack::measure(|| fs.unmount());
    let chip = report("unmount", chip, taken, |chip| chip.spent().chip.wrapping_sub(before));
    must("unmount", mount("mount", chip, memory).unmount());
    let _ = writeln!(Output, "  all {acknowledged} records are there");
}

/// Returns the bytes of a record, which are different for each record.
fn record(number: u32) -> [u8; RECORD_BYTES] {
    let mut random = number.wrapping_mul(2_654_435_761) | 1;
    core::array::from_fn(|_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    })
}

fn mount<'m, 'c, F: Meter>(
    name: &str,
    chip: &'c mut F,
    memory: &'m mut [u8],
) -> FileSystem<'m, &'c mut F> {
    let before = chip.spent().chip;
    let (fs, taken) = stack::measure(|| FileSystem::mount(chip, Access::ReadWrite, memory));
    report(name, fs, taken, |fs| fs.flash().spent().chip.wrapping_sub(before))
}

/// Makes a call, and prints its instructions and stack.
fn measure<'m, 'c, F: Meter, R, E: Display>(
    fs: &mut FileSystem<'m, &'c mut F>,
    name: &str,
    call: impl FnOnce(&mut FileSystem<'m, &'c mut F>) -> Result<R, E>,
) -> R {
    let before = fs.flash().spent().chip;
    let (result, taken) = stack::measure(|| call(fs));
    report(name, result, taken, |_| fs.flash().spent().chip.wrapping_sub(before))
}

/// Prints the instructions and stack of a call, without the chip; `in_chip` returns the chip's
/// ticks.
fn report<R, E: Display>(
    name: &str,
    result: Result<R, E>,
    taken: Taken,
    in_chip: impl FnOnce(&R) -> u32,
) -> R {
    let result = must(name, result);
    let instructions = timer::instructions(taken.ticks - in_chip(&result));
    let _ = writeln!(
        Output,
        "  {name:<24} {instructions:>8} instructions, {:>5} bytes of stack",
        taken.stack
    );
    result
}

/// Ends the program if an operation failed.
fn must<R, E: Display>(what: &str, result: Result<R, E>) -> R {
    match result {
        Ok(value) => value,
        Err(error) => {
            let _ = writeln!(Output, "{what}: {error}");
            exit(1)
        }
    }
}
