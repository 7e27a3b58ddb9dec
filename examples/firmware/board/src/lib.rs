//! What QEMU's mps2-an385 offers to a firmware that is measured. It runs with semihosting and `-icount shift=6`: `.cargo/config.toml` of the firmware beside has the line.

#![no_std]

pub mod host;
pub mod meter;
pub mod stack;
pub mod timer;

const RESET_CONTROL: *mut u32 = 0xE000_ED0C as *mut u32;
/// The key, and the request of a reset of everything.
const RESET: u32 = 0x05FA_0004;

/// Resets the processor, as a power cut does; what is in `.noinit` stays.
pub fn reset() -> ! {
    // SAFETY: this is the register of the Cortex-M3 for it (AIRCR), and nothing comes behind.
    unsafe { RESET_CONTROL.write_volatile(RESET) };
    loop {}
}
