//! From reset to `main`, and what outlives a reset.

use crate::chips::{NandCells, NorCells, Power};
use board::host::{Output, exit};
use core::arch::global_asm;
use core::cell::Cell;
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

// The vectors, and the loops that fill `.data` and `.bss`, before which nothing of Rust may run.
global_asm!(
    ".section .vectors, \"a\", %progbits",
    ".word stack_end, reset",
    ".rept 14",
    ".word fault",
    ".endr",
    ".text",
    ".global reset",
    ".type reset, %function",
    ".thumb_func",
    "reset:",
    "ldr r0, =data_from",
    "ldr r1, =data_begin",
    "ldr r2, =data_end",
    "1: cmp r1, r2",
    "ittt lo",
    "ldrlo r3, [r0], #4",
    "strlo r3, [r1], #4",
    "blo 1b",
    "ldr r1, =bss_begin",
    "ldr r2, =bss_end",
    "movs r3, #0",
    "2: cmp r1, r2",
    "itt lo",
    "strlo r3, [r1], #4",
    "blo 2b",
    "bl start",
    ".ltorg",
);

#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    board::timer::start();
    crate::main()
}

#[unsafe(no_mangle)]
extern "C" fn fault() -> ! {
    let _ = writeln!(Output, "fault");
    exit(3)
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    let _ = writeln!(Output, "{info}");
    exit(3)
}

/// What chips keep when power fails, and what this program wants to know behind it. Any bits are values of all of it.
pub struct Kept {
    /// Starts so far, above a mark that says that there was one.
    starts: u32,
    pub power: Power,
    /// Records that the last log acknowledged.
    pub acknowledged: Cell<u32>,
    pub nor: NorCells,
    pub nand: NandCells,
}

/// In the upper bits of `starts` once there was a start.
const STARTED: u32 = 0x5354_0000;

#[unsafe(link_section = ".noinit")]
static mut KEPT: MaybeUninit<Kept> = MaybeUninit::uninit();

/// What was kept, and how many starts there were before this one.
pub fn kept() -> (&'static mut Kept, u32) {
    // SAFETY: `main` calls this once after each reset, nothing else knows of it, and RAM holds some bits from the beginning.
    let kept = unsafe { (&raw mut KEPT).cast::<Kept>().as_mut().unwrap_unchecked() };
    let before = if kept.starts & 0xFFFF_0000 == STARTED { kept.starts & 0xFFFF } else { 0 };
    kept.starts = STARTED | (before + 1);
    (kept, before)
}
