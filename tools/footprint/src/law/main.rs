//! A firmware that compares the instructions of calls in QEMU with their bounds.
//!
//! The calls come in random order, with small and large files, directories, attributes and renames,
//! on volumes that are nearly full. `Processor` (`crates/steadyfs/src/processor.rs`) has the law
//! that limits the instructions of a call by its operations.

#![no_std]
#![no_main]

#[path = "../cycles/chip.rs"]
mod chip;
mod counter;
mod disk;
mod life;
mod random;
mod watch;

use board::host::Output;
use board::meter::Metered;
use board::timer;
use chip::{Nand, Nor};
use core::fmt::Write;
use core::panic::PanicInfo;
use counter::Counter;
use life::{Failed, live};
use steadyfs::media::nor::{NorPages, page_bytes_for};
use watch::PROCESSOR;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    board::host::exit(1)
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

/// Bytes of RAM for a volume.
const MEMORY_BYTES: usize = 16 << 10;

fn measure() -> Result<(), Failed> {
    static mut MEMORY: [u8; MEMORY_BYTES] = [0; MEMORY_BYTES];
    // SAFETY: this function is called once.
    let memory = unsafe { (&raw mut MEMORY).as_mut().unwrap_unchecked() };
    live("128 MiB NAND", &mut Counter::new(Metered::new(Nand::new())), memory)?;
    disk::live("128 MiB NAND", &mut Counter::new(Metered::new(Nand::new())), memory)?;
    for (name, block_bytes, block_count) in
        [("1 MiB NOR", 4096, 256), ("16 MiB NOR", 65536, 256), ("1 MiB NOR, 16 KiB", 16384, 64)]
    {
        let chip = Metered::new(Nor::new(block_bytes, block_count));
        let chip = NorPages::new(chip, page_bytes_for(block_bytes));
        live(name, &mut Counter::with_processor(chip, PROCESSOR), memory)?;
    }
    let _ = writeln!(Output, "end");
    Ok(())
}
