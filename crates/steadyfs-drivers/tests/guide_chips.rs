//! Runs the drivers on the chip models of the driver guide. These model the same chips, but were
//! written independently.
// Both have the same exercise, and are written for documentation tests.
#![allow(clippy::duplicate_mod, clippy::manual_is_multiple_of)]

#[path = "../../steadyfs/tests/fake/spi_nand.rs"]
mod spi_nand;
#[path = "../../steadyfs/tests/fake/spi_nor.rs"]
mod spi_nor;

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::{Flash, nor::NorFlash};
use steadyfs::{Config, FileSystem};
use steadyfs_drivers::check::{check_driver, check_nor_driver};
use steadyfs_drivers::nand::{self, NandChip};
use steadyfs_drivers::nor::{self, EraseType, LongAddress, NorChip, NorInfo};

const NONE: EraseType = EraseType { opcode: 0, bytes: 0, typical_ms: 0, maximum_ms: 0 };
/// The first MiB of a W25Q128JV. The model in `spi_nor` has no parameter table.
const W25Q128JV: NorInfo = NorInfo {
    id: [0xEF, 0x40, 0x18],
    bytes: 1 << 20,
    page_bytes: 256,
    program_typical_us: 700,
    program_maximum_us: 3000,
    erases: [
        EraseType { opcode: 0x20, bytes: 4096, typical_ms: 45, maximum_ms: 400 },
        NONE,
        NONE,
        NONE,
    ],
    long_address: LongAddress::No,
};

/// A delay for these models: their time is the number of status reads, 10 microseconds each.
struct Looks<B>(B, &'static [u8]);

impl<B: SpiDevice + DelayNs> DelayNs for Looks<B> {
    fn delay_ns(&mut self, ns: u32) {
        for _ in 0..ns.div_ceil(10_000).min(1000) {
            self.0.transaction(&mut [Operation::Write(self.1), Operation::Read(&mut [0])]).unwrap();
        }
        self.0.delay_ns(ns);
    }
}

fn memory(flash: &impl Flash) -> (Config, Vec<u8>) {
    let config = Config::for_geometry(&flash.geometry());
    (config, vec![0; config.memory_bytes(&flash.geometry())])
}

#[test]
fn spi_nor_does_what_the_guide_asks_of_a_driver() {
    let bus = spi_nor::Bus::new();
    let settings = nor::Settings { info: Some(W25Q128JV), ..nor::Settings::DEFAULT };
    let mut chip = NorChip::start(bus.clone(), Looks(bus.clone(), &[0x05]), settings).unwrap();
    assert_eq!((chip.block_bytes(), chip.block_count()), (4096, 256));
    assert_eq!(check_nor_driver(&mut chip, &[3, 4, 255]), Ok(()));
    let pages = NorPages::new(chip, page_bytes_for(4096));
    let (config, mut memory) = memory(&pages);
    let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
    let mut chip = pages.into_chip();
    spi_nor::examine(&bus, &mut chip).unwrap();
    spi_nor::exercise(&bus, NorPages::new(chip, page_bytes_for(4096)), &mut memory).unwrap();
}

#[test]
fn spi_nand_does_what_the_guide_asks_of_a_driver() {
    let bus = spi_nand::Bus::new(&[7, 500]);
    let mut chip =
        NandChip::start(bus.clone(), Looks(bus.clone(), &[0x0F, 0xC0]), nand::Settings::DEFAULT)
            .unwrap();
    assert_eq!(check_driver(&mut chip, &[3, 4, 1000], &mut [0; 2048]), Ok(()));
    let (config, mut memory) = memory(&chip);
    let mut chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    spi_nand::examine(&bus, &mut chip).unwrap();
    spi_nand::exercise(&bus, chip, &mut memory).unwrap();
}
