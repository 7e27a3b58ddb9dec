//! QEMU's mps2-an385 as a board for measurements of a firmware. It runs with semihosting and
//! `-icount shift=6`: `.cargo/config.toml` of the firmware beside has the line.

#![no_std]

pub mod host;
pub mod meter;
pub mod stack;
pub mod timer;

const RESET_CONTROL: *mut u32 = 0xE000_ED0C as *mut u32;
/// The key, and the request to reset everything.
const RESET: u32 = 0x05FA_0004;

/// Resets the processor, as a power cut does; the contents of `.noinit` stay.
pub fn reset() -> ! {
    // SAFETY: this is the reset register of the Cortex-M3 (AIRCR), and no code follows.
    unsafe { RESET_CONTROL.write_volatile(RESET) };
    loop {}
}
