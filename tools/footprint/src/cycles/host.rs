//! What the emulator offers: the host's files and standard output (Arm semihosting), and a timer that counts instructions.

use core::arch::asm;
use core::fmt::{Error, Write};

const OPEN: u32 = 0x01;
const WRITE_TEXT: u32 = 0x04;
const WRITE: u32 = 0x05;
const READ: u32 = 0x06;
const SEEK: u32 = 0x0A;
const EXIT: u32 = 0x18;
/// Reading and writing, what was there cut off.
const MODE_CREATE: u32 = 7;
/// The application ends as it should.
const EXIT_REASON: u32 = 0x20026;

/// Asks the host for an operation.
fn request(operation: u32, argument: u32) -> i32 {
    let answer;
    // SAFETY: the host reads and writes only what the callers below name, buffers that they borrow for that long.
    unsafe { asm!("bkpt 0xAB", inout("r0") operation => answer, in("r1") argument) };
    answer
}

/// A file on the host.
pub struct HostFile(u32);

impl HostFile {
    /// Creates a file, whose name ends with a zero.
    pub fn create(name: &[u8]) -> Self {
        let arguments = [name.as_ptr() as u32, MODE_CREATE, name.len() as u32 - 1];
        let handle = request(OPEN, arguments.as_ptr() as u32);
        assert!(handle > 0);
        Self(handle as u32)
    }

    pub fn read(&mut self, at: u32, bytes: &mut [u8]) {
        self.transfer(READ, at, bytes.as_mut_ptr() as u32, bytes.len());
    }

    pub fn write(&mut self, at: u32, bytes: &[u8]) {
        self.transfer(WRITE, at, bytes.as_ptr() as u32, bytes.len());
    }

    fn transfer(&mut self, operation: u32, at: u32, bytes: u32, len: usize) {
        assert!(request(SEEK, [self.0, at].as_ptr() as u32) == 0);
        // The answer is the number of bytes that are missing.
        assert!(request(operation, [self.0, bytes, len as u32].as_ptr() as u32) == 0);
    }
}

/// The standard output.
pub struct Output;

impl Write for Output {
    fn write_str(&mut self, text: &str) -> Result<(), Error> {
        for piece in text.as_bytes().chunks(63) {
            let mut terminated = [0; 64];
            terminated[..piece.len()].copy_from_slice(piece);
            request(WRITE_TEXT, terminated.as_ptr() as u32);
        }
        Ok(())
    }
}

/// Ends the emulator.
pub fn exit() -> ! {
    request(EXIT, EXIT_REASON);
    loop {}
}

const TIMER_CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
const TIMER_VALUE: *mut u32 = 0x4000_0004 as *mut u32;
const TIMER_RELOAD: *mut u32 = 0x4000_0008 as *mut u32;

/// Starts the timer of the board (CMSDK, 25 MHz) at its largest value.
pub fn start_timer() {
    // SAFETY: these are the timer's registers on the emulated board, and nobody else uses it.
    unsafe {
        TIMER_RELOAD.write_volatile(u32::MAX);
        TIMER_VALUE.write_volatile(u32::MAX);
        TIMER_CONTROL.write_volatile(1);
    }
    // So many instructions, which must be seen.
    let before = now();
    // SAFETY: a loop that changes one register.
    unsafe { asm!("2: subs {0}, {0}, #1", "bne 2b", inout(reg) 50_000 => _) };
    assert!(instructions(now().wrapping_sub(before)).abs_diff(100_000) < 8);
}

/// The time in ticks of the timer.
#[inline(always)]
pub fn now() -> u32 {
    // SAFETY: as above. The timer counts down.
    unsafe { !TIMER_VALUE.read_volatile() }
}

/// Turns ticks of 40 ns into instructions of 64 ns, as `-icount shift=6` has them.
pub const fn instructions(ticks: u32) -> u32 {
    (ticks as u64 * 5 / 8) as u32
}
