//! Tests the adapters for flash of `embedded-storage`: words of every size, power cuts in writes
//! and erases, and the translation of errors.
#![cfg(feature = "embedded-storage")]

#[path = "common/hal.rs"]
mod hal;

use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use hal::Hal;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{Failure, Flash, TAG_BYTES};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::adapters::embedded_storage::{
    FlashTimes, FromMultiwrite, FromWriteOnce, RangeError,
};
use steadyfs_sim::{Nor, Profile, TimingChoice, Torn};

const BYTES: usize = 256 << 10;

/// Formats, then appends records until power fails, in 50 rounds. Round `n` cuts after
/// `n * step % 9973 + 1` word writes and erases. Every acknowledged record must survive. Returns
/// the number of records.
fn cut<F: Flash>(fresh: F, cut_after: impl Fn(&mut F, Option<u32>), step: u32) -> u32 {
    let config = Config::for_geometry(&fresh.geometry());
    let mut memory = vec![0; config.memory_bytes(&fresh.geometry())];
    let mut flash = FileSystem::format(fresh, &config, &mut memory).unwrap();
    let (mut acknowledged, mut cuts) = (0u32, 0);
    for round in 0..50 {
        cut_after(&mut flash, Some(round * step % 9973 + 1));
        if let Ok(mut fs) = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory) {
            let mut log = fs.open("log", OpenOptions::DURABLE).ok();
            while let Some(log) = &mut log {
                if fs.append(log, &[acknowledged as u8; 32]).is_err() {
                    break;
                }
                acknowledged += 1;
            }
            cuts += 1;
        }
        cut_after(&mut flash, None);
        let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)
            .unwrap_or_else(|error| panic!("round {round}: {error}"));
        let length = fs.stat("log").map_or(0, |found| found.size as u32 / 32);
        assert!(
            length == acknowledged || length == acknowledged + 1,
            "round {round}: {length} records of {acknowledged}"
        );
        acknowledged = length;
        if length > 0 {
            let mut log = fs.open("log", OpenOptions::READ).unwrap();
            let mut found = vec![0; length as usize * 32];
            assert_eq!(fs.read(&mut log, 0, &mut found), Ok(found.len()));
            for (record, found) in found.chunks(32).enumerate() {
                assert_eq!(found, [record as u8; 32], "round {round}");
            }
        }
        let mut scratch = vec![0; config.check_bytes(&fs.flash().geometry())];
        fs.check(&mut scratch, false, &mut |finding| panic!("round {round}: {finding:?}")).unwrap();
    }
    assert!(acknowledged > 100 && cuts > 30, "{acknowledged} records in {cuts} cuts");
    acknowledged
}

fn cut_multiwrite<const READ: usize, const WRITE: usize>(step: u32) {
    let flash = FromMultiwrite::new(
        Hal::<READ, WRITE, 4096>::new(1 << 20),
        0..1u32 << 20,
        FlashTimes::SPI_NOR,
    )
    .unwrap();
    cut(flash, |flash, left| flash.chip_mut().flash_mut().left = left, step);
}

fn cut_write_once<const READ: usize, const WRITE: usize, const ERASE: usize>(step: u32) {
    let hal = Hal::<READ, WRITE, ERASE>::write_once(BYTES);
    let flash = FromWriteOnce::new(hal, 0..BYTES as u32, FlashTimes::INTERNAL).unwrap();
    cut(flash, |flash, left| flash.flash_mut().left = left, step);
}

#[test]
fn records_survive_cuts_on_chips_that_take_bits_of_words() {
    cut_multiwrite::<1, 1>(1931);
    cut_multiwrite::<4, 4>(487);
    cut_multiwrite::<1, 16>(121);
}

/// The chip panics on a second write of a word.
#[test]
fn records_survive_cuts_on_chips_that_take_each_word_once() {
    cut_write_once::<1, 8, 2048>(77);
    cut_write_once::<4, 4, 4096>(131);
    cut_write_once::<16, 16, 8192>(41);
    cut_write_once::<1, 32, 8192>(23);
}

/// The internal flash of a microcontroller behind the traits of its HAL, on the simulated chip of
/// a profile. That chip ends the test if a line is programmed twice or in part.
struct Inside {
    chip: Nor,
    bytes: usize,
    /// Number of line programs and erases until power fails.
    left: Option<u32>,
}

impl Inside {
    /// Returns true if power fails in this operation.
    fn fails(&mut self) -> Result<bool, NorFlashErrorKind> {
        match &mut self.left {
            Some(0) => Err(NorFlashErrorKind::Other),
            Some(left) => {
                *left -= 1;
                Ok(*left == 0)
            }
            None => Ok(false),
        }
    }
}

impl ErrorType for Inside {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Inside {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        if self.left == Some(0) {
            return Err(NorFlashErrorKind::Other);
        }
        self.chip.read(offset, bytes).map_err(|_| NorFlashErrorKind::Other)
    }

    fn capacity(&self) -> usize {
        self.bytes
    }
}

impl embedded_storage::nor_flash::NorFlash for Inside {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 2048;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        for block in from / 2048..to / 2048 {
            if self.fails()? {
                self.chip.erase_torn(block, Torn::ALL[block as usize % Torn::ALL.len()]);
                return Err(NorFlashErrorKind::Other);
            }
            NorFlash::erase(&mut self.chip, block).map_err(|_| NorFlashErrorKind::Other)?;
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        for (at, line) in (offset..).step_by(8).zip(bytes.chunks(8)) {
            if self.fails()? {
                self.chip.tear_program(0, Torn::ALL[at as usize / 8 % Torn::ALL.len()]);
            }
            self.chip.program(at, line).map_err(|_| NorFlashErrorKind::Other)?;
        }
        Ok(())
    }
}

#[test]
fn records_survive_cuts_inside_an_stm32g0() {
    let profile = Profile::named("stm32g0b1").unwrap();
    let nor = profile.nor().unwrap();
    let (bytes, erase_bytes) = (nor.size_bytes, nor.default_erase_bytes);
    assert_eq!((nor.program_line_bytes, erase_bytes), (8, 2048));
    let chip = Nor::new(&profile, bytes, erase_bytes, TimingChoice::Maximum, 1);
    let inside = Inside { chip, bytes: bytes as usize, left: None };
    // The volume uses the second half; the first half contains the program.
    let flash = FromWriteOnce::new(inside, bytes / 2..bytes, FlashTimes::INTERNAL).unwrap();
    assert_eq!(flash.geometry(), FromWriteOnce::<Inside>::geometry(bytes / 2).unwrap());
    assert!(Config::for_geometry(&flash.geometry()).memory_bytes(&flash.geometry()) < 4096);
    let cut_after = |flash: &mut FromWriteOnce<Inside>, left| {
        flash.flash_mut().chip.power_on();
        flash.flash_mut().left = left;
    };
    cut(flash, cut_after, 77);
}

/// The QSPI driver of embassy-nrf panicked, because parts of pages, tags and the memory of the
/// volume may start at any byte.
fn reach_aligned_memory<const WORD: usize>(align: usize, memory_start: usize) -> (usize, usize) {
    #[repr(align(4))]
    struct Memory([u8; 16 << 10]);

    let mut hal = Hal::<WORD, WORD, 4096>::write_once(1 << 20);
    hal.align = align;
    let flash = FromWriteOnce::new(hal, 0..1u32 << 20, FlashTimes::SPI_NOR).unwrap();
    let mut memory = Memory([0; 16 << 10]);
    let memory = &mut memory.0[memory_start..];
    let config = Config::for_geometry(&flash.geometry());
    let flash = FileSystem::format(flash, &config, memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, memory).unwrap();
    let mut file = fs.open("data", OpenOptions::CREATE).unwrap();
    let data: Vec<u8> = (0..20_001).map(|at| (at % 251) as u8).collect();
    for start in 0..5 {
        fs.write(&mut file, 0, &data[start..]).unwrap();
        fs.commit().unwrap();
        let mut found = vec![0; 20_001];
        fs.read(&mut file, 0, &mut found[start..]).unwrap();
        assert_eq!(found[start..], data[start..]);
    }
    fs.close(file).unwrap();
    fs.unmount().unwrap().into_flash().longest
}

#[test]
fn drivers_with_dma_get_aligned_memory() {
    for start in 0..4 {
        let (read, written) = reach_aligned_memory::<4>(4, start);
        assert!(read >= 256 && written >= 256, "calls of {read} and {written} bytes");
        reach_aligned_memory::<16>(4, start);
    }
    // A chip of bytes needs no buffer: the pages pass at once.
    let page_bytes = FromWriteOnce::<Hal<1, 1, 4096>>::geometry(1 << 20).unwrap().page_bytes;
    assert_eq!(reach_aligned_memory::<1>(1, 1), (page_bytes as usize, page_bytes as usize));
}

#[test]
fn a_range_is_all_that_is_touched() {
    let (bytes, range) = (1 << 20, 0x4_0000..0x8_0000);
    let mut hal = Hal::<4, 8, 4096>::new(bytes);
    hal.cells.iter_mut().enumerate().for_each(|(index, cell)| *cell = index as u8);
    let before = hal.cells.clone();
    let flash = FromWriteOnce::new(hal, range.clone(), FlashTimes::INTERNAL).unwrap();
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("data", OpenOptions::CREATE).unwrap();
    while fs.append(&mut file, &[7; 4096]).is_ok() {}
    let cells = fs.unmount().map(|flash| flash.into_flash().cells).unwrap_or_default();
    assert!(!cells.is_empty());
    assert!(cells[..range.start as usize] == before[..range.start as usize]);
    assert!(cells[range.end as usize..] == before[range.end as usize..]);
}

#[test]
fn a_bit_that_does_not_take_a_program_is_the_fault_of_its_block() {
    let mut hal = Hal::<1, 4, 4096>::new(1 << 20);
    hal.stuck = Some(4096 * 3 + 600);
    let mut flash = FromMultiwrite::new(hal, 0..1u32 << 20, FlashTimes::SPI_NOR).unwrap();
    let chip = flash.chip_mut();
    assert_eq!(chip.program(4096 * 3 + 590, &[0; 20]), Err(Failure::BadBlock));
    assert_eq!(chip.program(4096 * 3 + 621, &[0x5A; 2]), Ok(()));
    // Bytes before and after the programmed bytes stay unchanged, for any word size.
    let mut found = [0; 6];
    chip.read(4096 * 3 + 619, &mut found).unwrap();
    assert_eq!(found, [0xFF, 0xFF, 0x5A, 0x5A, 0xFF, 0xFF]);
}

#[test]
fn an_error_of_the_hal_is_kept_and_told() {
    let mut hal = Hal::<1, 8, 2048>::write_once(BYTES);
    hal.error = Some(NorFlashErrorKind::Other);
    let mut flash = FromWriteOnce::new(hal, 0..BYTES as u32, FlashTimes::INTERNAL).unwrap();
    assert_eq!(flash.last_error(), None);
    assert_eq!(flash.program(0, &[1; 64], &[2; TAG_BYTES]), Err(Failure::Device));
    assert_eq!(flash.read_tag(0, &mut [0; TAG_BYTES]), Err(Failure::Uncorrectable));
    assert_eq!(flash.last_error(), Some(&NorFlashErrorKind::Other));
    flash.flash_mut().error = None;
    assert_eq!(flash.program(0, &[1; 64], &[2; TAG_BYTES]), Ok(()));
}

#[test]
fn ranges_that_hold_no_volume_are_refused() {
    let new = |range| {
        FromWriteOnce::new(Hal::<1, 8, 2048>::new(BYTES), range, FlashTimes::INTERNAL)
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(new(0..BYTES as u32 + 2048), RangeError::OutOfBounds);
    assert_eq!(new(1024..8192), RangeError::NotSectors);
    assert_eq!(new(0..8192), RangeError::TooSmall);
    let words =
        FromWriteOnce::new(Hal::<1, 128, 2048>::new(BYTES), 0..BYTES as u32, FlashTimes::INTERNAL);
    assert_eq!(words.map(|_| ()).unwrap_err(), RangeError::Words);
}

/// Counts the code lines of the module's example, from the configuration of the driver to a
/// mounted volume.
#[test]
fn a_user_writes_at_most_twelve_lines() {
    let source = include_str!("../src/adapters/embedded_storage/mod.rs");
    let from = source.find("//! use steadyfs::{Access").unwrap();
    let to = source[from..].find("//! let mut log").unwrap() + from;
    let is_written = |line: &&str| {
        !line.trim_start_matches("//!").trim().is_empty() && !line.starts_with("//! #")
    };
    let lines = source[from..to].lines().filter(is_written).count();
    assert!(lines <= 12, "{lines} lines");
    assert_eq!(lines, 8);
}
