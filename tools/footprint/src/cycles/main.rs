//! A firmware that counts the instructions of SteadyFS's calls in QEMU, on aged volumes.
//!
//! The timer of the emulated board counts instructions (`-icount`). The instructions of the
//! driver are left out. The instructions of checksums are counted separately: a chip with a CRC
//! unit saves them.

#![no_std]
#![no_main]

mod calls;
mod chip;
mod steady;
mod tally;
mod workload;

use board::host::Output;
use board::meter::Metered;
use board::timer;
use chip::{Nand, Nor};
use core::fmt::Write;
use core::panic::PanicInfo;
use steady::Steady;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use workload::{Failed, LARGE_NOR, Medium, NAND, SMALL_NOR};

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

/// Bytes of RAM for a volume.
const MEMORY_BYTES: usize = 16 << 10;

fn measure() -> Result<(), Failed> {
    static mut MEMORY: [u8; MEMORY_BYTES] = [0; MEMORY_BYTES];
    // SAFETY: this function is called once.
    let memory = unsafe { (&raw mut MEMORY).as_mut().unwrap_unchecked() };
    workload::measure(&NAND, &mut Steady::new(&mut Metered::new(Nand::new()), memory))?;
    for medium in [SMALL_NOR, LARGE_NOR] {
        let Medium { block_bytes, block_count, .. } = medium;
        let chip = Metered::new(Nor::new(block_bytes, block_count));
        let mut chip = NorPages::new(chip, page_bytes_for(block_bytes));
        workload::measure(&medium, &mut Steady::new(&mut chip, memory))?;
    }
    Ok(())
}
