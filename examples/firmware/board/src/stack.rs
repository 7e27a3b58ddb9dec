//! Stack and time of a call: words below the stack are painted before the call, and checked after
//! it.

use crate::timer::now;
use core::arch::asm;

const PAINT: u32 = 0x5AA5_C33C;
/// Number of painted words: more than any call takes.
const WORDS: usize = 4096;
/// Words below the caller that the painter itself takes, at most.
const OWN_WORDS: usize = 16;

/// Returns the end of the stack.
#[inline(always)]
fn pointer() -> *mut u32 {
    let pointer: *mut u32;
    // SAFETY: reads a register.
    unsafe { asm!("mov {0}, sp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// Paints the words below the caller's stack. Returns the end of the stack.
#[inline(never)]
fn paint() -> *mut u32 {
    let end = pointer();
    for word in OWN_WORDS..WORDS {
        // SAFETY: nothing lives below the stack, and the board has RAM there.
        unsafe { end.sub(word).write_volatile(PAINT) };
    }
    end
}

/// Returns the number of bytes below `end` that are not painted any more.
#[inline(never)]
fn used(end: *mut u32) -> u32 {
    let mut word = WORDS - 1;
    // SAFETY: as above.
    while word > 0 && unsafe { end.sub(word).read_volatile() } == PAINT {
        word -= 1;
    }
    4 * word as u32
}

/// Makes the call. It is not inlined, so that the frames of the call lie below the beginning of
/// the paint.
#[inline(never)]
fn apply<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// Time and stack of a call.
#[derive(Clone, Copy)]
pub struct Taken {
    /// Ticks of the timer.
    pub ticks: u32,
    /// Bytes of stack.
    pub stack: u32,
}

/// Makes a call, and returns its result with its time and stack.
#[inline(never)]
pub fn measure<R>(call: impl FnOnce() -> R) -> (R, Taken) {
    let end = paint();
    let begin = now();
    let result = apply(call);
    let ticks = now().wrapping_sub(begin);
    (result, Taken { ticks, stack: used(end) })
}
