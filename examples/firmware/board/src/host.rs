//! Services of the emulator's host: files, standard output and an exit status (Arm semihosting).

use core::arch::asm;
use core::fmt::{Error, Write};

const OPEN: u32 = 0x01;
const WRITE_TEXT: u32 = 0x04;
const WRITE: u32 = 0x05;
const READ: u32 = 0x06;
const SEEK: u32 = 0x0A;
const EXIT: u32 = 0x20;
/// Reading and writing; an existing file is cut to nothing.
const MODE_CREATE: u32 = 7;
/// The application ends normally.
const EXIT_REASON: u32 = 0x20026;

/// Requests an operation from the host.
fn request(operation: u32, argument: u32) -> i32 {
    let answer;
    // SAFETY: the host accesses only the buffers that the callers below name, and the callers
    // borrow them for that time.
    unsafe { asm!("bkpt 0xAB", inout("r0") operation => answer, in("r1") argument) };
    answer
}

/// A file on the host.
pub struct HostFile(u32);

impl HostFile {
    /// Creates a file; `name` ends with a zero.
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
        // The answer is the number of missing bytes.
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

/// Ends the emulator with an exit status.
pub fn exit(status: u32) -> ! {
    request(EXIT, [EXIT_REASON, status].as_ptr() as u32);
    loop {}
}
