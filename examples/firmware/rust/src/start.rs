//! From reset to `main`, and the memory that outlives a reset.

use crate::chips::{NandCells, NorCells, Power};
use board::host::{Output, exit};
use core::arch::global_asm;
use core::cell::Cell;
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

// The vectors, and the loops that fill `.data` and `.bss`. No Rust code may run before them.
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

/// The lasting state of the chips and of this program's test. Any bits are valid values of all of
/// it.
pub struct Kept {
    /// Number of starts so far, below a mark of the first start.
    starts: u32,
    pub power: Power,
    /// Records that the last log acknowledged.
    pub acknowledged: Cell<u32>,
    pub nor: NorCells,
    pub nand: NandCells,
}

/// The mark in the upper bits of `starts` after the first start.
const STARTED: u32 = 0x5354_0000;

#[unsafe(link_section = ".noinit")]
static mut KEPT: MaybeUninit<Kept> = MaybeUninit::uninit();

/// Returns the lasting state, and the number of starts before this one.
pub fn kept() -> (&'static mut Kept, u32) {
    // SAFETY: `main` calls this once after each reset, no other code uses it, and RAM holds some
    // bits from the beginning.
    let kept = unsafe { (&raw mut KEPT).cast::<Kept>().as_mut().unwrap_unchecked() };
    let before = if kept.starts & 0xFFFF_0000 == STARTED { kept.starts & 0xFFFF } else { 0 };
    kept.starts = STARTED | (before + 1);
    (kept, before)
}
