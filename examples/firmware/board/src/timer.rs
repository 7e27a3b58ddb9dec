//! The timer of the board (CMSDK, 25 MHz), which counts instructions.

use core::arch::asm;

const TIMER_CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
const TIMER_VALUE: *mut u32 = 0x4000_0004 as *mut u32;
const TIMER_RELOAD: *mut u32 = 0x4000_0008 as *mut u32;

/// Starts the timer at its largest value.
pub fn start() {
    // SAFETY: these are the timer's registers on the emulated board, and no other code uses the
    // timer.
    unsafe {
        TIMER_RELOAD.write_volatile(u32::MAX);
        TIMER_VALUE.write_volatile(u32::MAX);
        TIMER_CONTROL.write_volatile(1);
    }
    // The loop takes 100,000 instructions, which the timer must show.
    let before = now();
    // SAFETY: a loop that changes one register.
    unsafe { asm!("2: subs {0}, {0}, #1", "bne 2b", inout(reg) 50_000 => _) };
    assert!(instructions(now().wrapping_sub(before)).abs_diff(100_000) < 8);
}

/// Returns the time in ticks of the timer.
#[inline(always)]
pub fn now() -> u32 {
    // SAFETY: as above. The timer counts down.
    unsafe { !TIMER_VALUE.read_volatile() }
}

/// Converts ticks of 40 ns into instructions of 64 ns, as with `-icount shift=6`.
pub const fn instructions(ticks: u32) -> u32 {
    (ticks as u64 * 5 / 8) as u32
}
