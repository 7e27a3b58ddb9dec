//! Drivers of two chips. Assembler functions do the work, so that the compiler sees only their
//! names.

// Each build uses a part of the drivers.
#![allow(dead_code)]

use core::arch::global_asm;
use core::hint::black_box;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

global_asm!(
    ".section .driver, \"ax\", %progbits",
    ".irp name, chip_read, chip_read_tag, chip_program, chip_program_loaded, chip_erase, chip_is_bad, chip_mark_bad",
    ".global \\name",
    ".type \\name, %function",
    ".thumb_func",
    "\\name:",
    "bx lr",
    ".endr",
    ".text",
);

unsafe extern "C" {
    fn chip_read(at: u32, data: *mut u8, bytes: usize, tag: *mut u8) -> i32;
    fn chip_read_tag(page: u32, tag: *mut u8) -> i32;
    fn chip_program(at: u32, data: *const u8, bytes: usize, tag: *const u8) -> i32;
    fn chip_program_loaded(page: u32, tag: *const u8) -> i32;
    fn chip_erase(block: u32) -> i32;
    fn chip_is_bad(block: u32) -> i32;
    fn chip_mark_bad(block: u32) -> i32;
}

/// Converts the return code of a chip function.
fn answer(code: i32) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        1 => Err(Failure::Uncorrectable),
        2 => Err(Failure::BadBlock),
        _ => Err(Failure::Device),
    }
}

/// A NAND chip with on-chip copies.
pub struct Nand;

/// Returns the NAND chip.
pub fn nand() -> Nand {
    Nand
}

impl Flash for Nand {
    fn geometry(&self) -> Geometry {
        black_box(crate::samples::NAND_128_MIB)
    }

    fn timing(&self) -> Timing {
        black_box(Timing {
            read_ns: 101_000,
            read_tag_ns: 71_000,
            program_ns: 632_000,
            copy_ns: 671_000,
            erase_ns: 10_000_000,
            instruction_ps: 0,
        })
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // SAFETY: pointer and length come from a slice; the tag has its fixed length.
        answer(unsafe { chip_read(page, data.as_mut_ptr(), data.len(), tag.as_mut_ptr()) })
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        // SAFETY: the tag has its fixed length.
        answer(unsafe { chip_read_tag(page, tag.as_mut_ptr()) })
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // SAFETY: pointer and length come from a slice; the tag has its fixed length.
        answer(unsafe { chip_program(page, data.as_ptr(), data.len(), tag.as_ptr()) })
    }

    fn can_copy(&self) -> bool {
        black_box(true)
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        // SAFETY: the tag has its fixed length.
        answer(unsafe { chip_program_loaded(page, tag.as_ptr()) })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        // SAFETY: the call has no pointer.
        answer(unsafe { chip_erase(block) })
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        // SAFETY: the call has no pointer.
        let code = unsafe { chip_is_bad(block) };
        if code < 0 { Err(Failure::Device) } else { Ok(code > 0) }
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        // SAFETY: the call has no pointer.
        answer(unsafe { chip_mark_bad(block) })
    }
}

/// A NOR chip.
pub struct Nor;

/// The NOR chip behind the `Flash` trait.
pub type NorChip = NorPages<Nor>;

/// Returns the NOR chip behind the `Flash` trait.
pub fn nor() -> NorChip {
    NorPages::new(Nor, black_box(512))
}

impl NorFlash for Nor {
    fn block_bytes(&self) -> u32 {
        black_box(65_536)
    }

    fn block_count(&self) -> u32 {
        black_box(256)
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        black_box((u64::from(bytes) * 20, u64::from(bytes) * 12_000, 2_000_000_000))
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        // SAFETY: pointer and length come from a slice; there is no tag.
        answer(unsafe { chip_read(address, data.as_mut_ptr(), data.len(), core::ptr::null_mut()) })
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        // SAFETY: pointer and length come from a slice; there is no tag.
        answer(unsafe { chip_program(address, data.as_ptr(), data.len(), core::ptr::null()) })
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        // SAFETY: the call has no pointer.
        answer(unsafe { chip_erase(block) })
    }
}

/// Makes each operation of the driver once: the firmware without a file system.
#[cfg(not(any(feature = "nand", feature = "nor", feature = "rom")))]
pub fn every_one() {
    let (mut chip, mut tag) = (nand(), [0; TAG_BYTES]);
    black_box((chip.geometry(), chip.timing(), chip.can_copy()));
    let results = [
        chip.read(black_box(0), black_box(&mut []), &mut tag),
        chip.read_tag(black_box(0), &mut tag),
        chip.program(black_box(0), black_box(&[]), &tag),
        chip.program_loaded(black_box(0), &tag),
        chip.erase(black_box(0)),
        chip.mark_bad(black_box(0)),
    ];
    let _ = black_box((results, chip.is_bad(black_box(0))));
}
