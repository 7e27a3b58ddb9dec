//! How deep a call goes, and how long it takes: what is below the stack is painted before it, and looked at behind it.

use crate::timer::now;
use core::arch::asm;

const PAINT: u32 = 0x5AA5_C33C;
/// Words that are painted: more than any call takes.
const WORDS: usize = 4096;
/// Words below the caller that the painter takes itself, at most.
const OWN_WORDS: usize = 16;

/// Where the stack ends now.
#[inline(always)]
fn pointer() -> *mut u32 {
    let pointer: *mut u32;
    // SAFETY: reads a register.
    unsafe { asm!("mov {0}, sp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// Fills what is below the caller's stack, and returns the end of that.
#[inline(never)]
fn paint() -> *mut u32 {
    let end = pointer();
    for word in OWN_WORDS..WORDS {
        // SAFETY: nothing lives below the stack, and the board has RAM there.
        unsafe { end.sub(word).write_volatile(PAINT) };
    }
    end
}

/// Bytes below `end` that are not painted any more.
#[inline(never)]
fn used(end: *mut u32) -> u32 {
    let mut word = WORDS - 1;
    // SAFETY: as above.
    while word > 0 && unsafe { end.sub(word).read_volatile() } == PAINT {
        word -= 1;
    }
    4 * word as u32
}

/// Not inlined, so that the frames of the call lie below the paint's beginning.
#[inline(never)]
fn apply<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// What a call took.
#[derive(Clone, Copy)]
pub struct Taken {
    /// Ticks of the timer.
    pub ticks: u32,
    /// Bytes of stack.
    pub stack: u32,
}

/// Makes a call, and tells what it took.
#[inline(never)]
pub fn measure<R>(call: impl FnOnce() -> R) -> (R, Taken) {
    let end = paint();
    let begin = now();
    let result = apply(call);
    let ticks = now().wrapping_sub(begin);
    (result, Taken { ticks, stack: used(end) })
}
