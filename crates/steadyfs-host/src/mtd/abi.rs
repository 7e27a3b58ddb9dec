//! The ioctls of MTD devices, as in the kernel's `include/uapi/mtd/mtd-abi.h`, behind safe
//! functions.
//!
//! All unsafe code of this crate is here. Each function builds the structure that the kernel's
//! documentation defines for its request. If a structure points to a buffer, the buffer is a slice
//! that outlives the call.

#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;
use std::fs::File;
use std::io;

const GROUP: u8 = b'M';
const MTD_RAM: u8 = 1;
const MTD_NOR: u8 = 3;
const MTD_NAND: u8 = 4;
/// Mode in which the kernel places spare bytes outside the ECC and the bad-block mark
/// (`MTD_OPS_AUTO_OOB`).
const AUTO_PLACEMENT: u8 = 1;

/// Result of `MEMGETINFO` (`struct mtd_info_user`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Info {
    /// Type of the device.
    pub kind: u8,
    flags: u32,
    size: u32,
    /// Number of bytes of an erase block.
    pub erase_bytes: u32,
    /// Number of bytes of a write unit. On NAND, this is a page.
    pub write_bytes: u32,
    spare_bytes: u32,
    padding: u64,
}

impl Info {
    /// Returns true for NAND with one bit per cell. On NAND with several bits per cell (type 8), a
    /// power cut during the program of a page damages an earlier page. The file system requires
    /// that earlier pages are unchanged.
    pub fn is_nand(&self) -> bool {
        self.kind == MTD_NAND
    }

    /// Returns true if the device can program single bytes, as NOR and RAM can.
    pub fn is_nor(&self) -> bool {
        matches!(self.kind, MTD_NOR | MTD_RAM)
    }
}

/// Result of `ECCGETLAYOUT` (`struct nand_ecclayout_user`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Layout {
    ecc_bytes: u32,
    ecc_places: [u32; 64],
    free_bytes: u32,
    free_ranges: [[u32; 2]; 8],
}

/// Argument of `MEMERASE64` (`struct erase_info_user64`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    bytes: u64,
}

/// Argument of `MEMWRITE` (`struct mtd_write_req`). Its pointers are 64-bit numbers on every
/// machine.
#[repr(C)]
#[derive(Clone, Copy)]
struct Transfer {
    start: u64,
    data_bytes: u64,
    spare_bytes: u64,
    data: u64,
    spare: u64,
    placement: u8,
    padding: [u8; 7],
}

/// Argument of `MEMREAD` (`struct mtd_read_req`). The kernel writes its statistics into it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Fetch {
    transfer: Transfer,
    uncorrectable: u32,
    corrected: u32,
    corrected_most: u32,
}

const MEMGETINFO: Opcode = opcode::read::<Info>(GROUP, 1);
const MEMGETBADBLOCK: Opcode = opcode::write::<i64>(GROUP, 11);
const MEMSETBADBLOCK: Opcode = opcode::write::<i64>(GROUP, 12);
const ECCGETLAYOUT: Opcode = opcode::read::<Layout>(GROUP, 17);
const MEMERASE64: Opcode = opcode::write::<Range>(GROUP, 20);
const MEMWRITE: Opcode = opcode::read_write::<Transfer>(GROUP, 24);
const MEMREAD: Opcode = opcode::read_write::<Fetch>(GROUP, 26);

/// A request whose argument is a pointer to a `T`. The output of the request is the number that the
/// kernel returns.
struct Request<'a, T> {
    opcode: Opcode,
    argument: &'a mut T,
}

// SAFETY: `as_ptr` points to a `T` that is borrowed for the life of the request. `Request` is
// private, and only the function `request` creates it. The callers of `request` pair each opcode
// with the structure that the kernel reads and writes for it.
unsafe impl<T> Ioctl for Request<'_, T> {
    type Output = IoctlOutput;

    // The kernel may write to the structure, or to the memory that the structure points to.
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.argument).cast()
    }

    unsafe fn output_from_ptr(
        output: IoctlOutput,
        _: *mut c_void,
    ) -> rustix::io::Result<Self::Output> {
        Ok(output)
    }
}

/// Executes a request.
///
/// # Safety
/// The kernel must expect a `T` for this opcode. Each pointer in the `T` must be valid for the
/// number of bytes that the `T` contains.
unsafe fn request<T>(file: &File, opcode: Opcode, argument: &mut T) -> io::Result<IoctlOutput> {
    // SAFETY: the caller fulfils the conditions of this function.
    Ok(unsafe { ioctl(file, Request { opcode, argument }) }?)
}

/// Returns type and sizes of a device.
pub(super) fn info(file: &File) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: `MEMGETINFO` fills an `Info`, which has no pointers.
    unsafe { request(file, MEMGETINFO, &mut info) }?;
    Ok(info)
}

/// Returns the number of free bytes in the spare area of a page.
pub(super) fn free_spare_bytes(file: &File) -> io::Result<u32> {
    let mut layout =
        Layout { ecc_bytes: 0, ecc_places: [0; 64], free_bytes: 0, free_ranges: [[0; 2]; 8] };
    // SAFETY: `ECCGETLAYOUT` fills a `Layout`, which has no pointers.
    unsafe { request(file, ECCGETLAYOUT, &mut layout) }?;
    Ok(layout.free_bytes)
}

/// Erases a range.
pub(super) fn erase(file: &File, start: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: `MEMERASE64` takes a `Range`, which has no pointers.
    unsafe { request(file, MEMERASE64, &mut Range { start, bytes }) }.map(drop)
}

/// Returns true if the block at an offset is bad.
pub(super) fn is_bad(file: &File, start: u64) -> io::Result<bool> {
    // SAFETY: `MEMGETBADBLOCK` takes an offset of 64 bits.
    let output = unsafe { request(file, MEMGETBADBLOCK, &mut start.cast_signed()) }?;
    Ok(output != 0)
}

/// Marks the block at an offset bad.
pub(super) fn mark_bad(file: &File, start: u64) -> io::Result<()> {
    // SAFETY: `MEMSETBADBLOCK` takes an offset of 64 bits.
    unsafe { request(file, MEMSETBADBLOCK, &mut start.cast_signed()) }.map(drop)
}

/// Programs a page: data, and the first free bytes of its spare area.
pub(super) fn write(file: &File, start: u64, data: &[u8], spare: &[u8]) -> io::Result<()> {
    let mut transfer = Transfer {
        start,
        data_bytes: data.len() as u64,
        spare_bytes: spare.len() as u64,
        data: data.as_ptr().expose_provenance() as u64,
        spare: spare.as_ptr().expose_provenance() as u64,
        placement: AUTO_PLACEMENT,
        padding: [0; 7],
    };
    // SAFETY: `MEMWRITE` takes a `Transfer`, and reads as many bytes as the two slices have.
    unsafe { request(file, MEMWRITE, &mut transfer) }.map(drop)
}

/// Reads a page. If `data` is empty, reads only the spare area. Returns the number of corrected
/// bits of the worst codeword.
///
/// If the call fails with `EBADMSG`, the buffers are still filled.
pub(super) fn read(file: &File, start: u64, data: &mut [u8], spare: &mut [u8]) -> io::Result<u32> {
    // If the address is 0, the kernel does not read the data.
    let data_address = if data.is_empty() { 0 } else { data.as_mut_ptr().expose_provenance() };
    let transfer = Transfer {
        start,
        data_bytes: data.len() as u64,
        spare_bytes: spare.len() as u64,
        data: data_address as u64,
        spare: spare.as_mut_ptr().expose_provenance() as u64,
        placement: AUTO_PLACEMENT,
        padding: [0; 7],
    };
    let mut fetch = Fetch { transfer, uncorrectable: 0, corrected: 0, corrected_most: 0 };
    // SAFETY: `MEMREAD` takes a `Fetch`, and writes at most as many bytes as the two slices have.
    match unsafe { request(file, MEMREAD, &mut fetch) } {
        // `EUCLEAN` means that the data was corrected: it is right, although the chip is worn.
        Err(error) if error.raw_os_error() != Some(Errno::UCLEAN.raw_os_error()) => Err(error),
        _ => Ok(fetch.corrected_most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the opcodes with the numbers in the kernel's header, on machines with the usual
    /// encoding of requests.
    #[test]
    #[cfg(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv64"
    ))]
    fn requests_have_the_numbers_of_the_kernel() {
        assert_eq!(MEMGETINFO, 0x8020_4D01);
        assert_eq!(MEMGETBADBLOCK, 0x4008_4D0B);
        assert_eq!(MEMSETBADBLOCK, 0x4008_4D0C);
        assert_eq!(ECCGETLAYOUT, 0x8148_4D11);
        assert_eq!(MEMERASE64, 0x4010_4D14);
        assert_eq!(MEMWRITE, 0xC030_4D18);
        assert_eq!(MEMREAD, 0xC040_4D1A);
    }

    #[test]
    fn files_are_no_devices() {
        let file = File::open("/dev/null").expect("open");
        assert_eq!(info(&file).unwrap_err().raw_os_error(), Some(25), "ENOTTY");
    }
}
