//! A firmware that counts the instructions of another file system's calls in QEMU, in the same
//! rounds as `cycles`. `tools/peers/processor.sh` builds it for each file system.
//!
//! The file system is in C. It is linked with its adapter in `crates/steadyfs-peers/shims`, which
//! `steady compare` uses as well. `STEADYFS_PEER` is its name.

#![no_std]
#![no_main]

mod calls;
#[allow(dead_code, reason = "another firmware uses the chip with tags")]
mod chip;
#[path = "../../../../crates/steadyfs-peers/src/header.rs"]
mod header;
mod peer;
mod tally;
mod workload;

use board::host::Output;
use board::timer;
use core::fmt::Write;
use core::panic::PanicInfo;
use peer::OnChip;
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

/// Instructions that the overwrites before the rounds may take. A file system may need thousands of
/// millions for an overwrite.
const PATIENCE: u64 = 12_000_000_000;

fn measure() -> Result<(), Failed> {
    let media: &[Medium] = match option_env!("STEADYFS_PEER") {
        Some("littlefs") => &[NAND, SMALL_NOR, LARGE_NOR],
        Some("spiffs") => &[SMALL_NOR, LARGE_NOR],
        Some("fatfs-on-dhara") => &[NAND],
        _ => &[],
    };
    // SPIFFS counts pages of its indexes and of its collector's reserve as room for data. On a
    // fuller volume it refuses some of these calls however often they are made.
    let room_percent = if option_env!("STEADYFS_PEER") == Some("spiffs") { 80 } else { 100 };
    for medium in media {
        let medium = Medium { patience: PATIENCE, ..*medium };
        workload::measure(&medium, &mut OnChip::new(&medium, room_percent))?;
    }
    Ok(())
}
