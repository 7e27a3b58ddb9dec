//! Runs the driver check on drivers with planted mistakes, and on drivers without mistakes. The
//! check must return the kind of each mistake.

use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs_drivers::check::{Call, MistakeKind, check_driver, check_marks, check_nor_driver};
use steadyfs_drivers::{nand, nor};
use steadyfs_sim::nand_spi::{NandSim, NandSpi, NandSpiProfile};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 256, pages_per_block: 8, block_count: 64, programs_bytes: false };
const SPARE: [BlockIndex; 2] = [3, 62];

/// The mistake in [`Driver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    PageBytes,
    NoTimes,
    Checksum,
    GoodIsBad,
    EraseDoesNothing,
    EraseForgetsLastPage,
    EraseTakesNeighbours,
    ProgramDoesNothing,
    SwapsBytes,
    SwapsWords,
    BitsReversed,
    DummyMissing,
    DummyTooMany,
    BlocksWrap,
    PagesWrap,
    ReadsBufferOfBefore,
    ShortDataFillsZeros,
    FlipsABit,
    TagLost,
    TagTruncated,
    TagAloneOfNeighbour,
    CopyTakesNothing,
    CopyKeepsTag,
    CorrectsTooMuch,
    MarkErases,
    MarkNotKept,
    EraseFails,
}

/// A driver of a chip in RAM.
struct Driver {
    cells: Vec<[u8; 256]>,
    tags: Vec<[u8; TAG_BYTES]>,
    marks: Vec<bool>,
    planted: Planted,
    loaded: usize,
}

impl Driver {
    fn new(planted: Planted) -> Self {
        let pages = 64 * 8;
        Self {
            cells: vec![[0xFF; 256]; pages],
            tags: vec![[0xFF; 16]; pages],
            marks: vec![false; 64],
            planted,
            loaded: 0,
        }
    }

    fn place(&self, page: PageIndex) -> usize {
        match self.planted {
            Planted::BlocksWrap => page as usize % (59 * 8),
            Planted::PagesWrap => (page & !4) as usize,
            _ => page as usize,
        }
    }
}

impl Flash for Driver {
    fn geometry(&self) -> Geometry {
        let page_bytes = if self.planted == Planted::PageBytes { 200 } else { 256 };
        Geometry { page_bytes, ..GEOMETRY }
    }

    fn timing(&self) -> Timing {
        let erase_ns = if self.planted == Planted::NoTimes { 0 } else { 1 };
        Timing {
            read_ns: 1,
            read_tag_ns: 1,
            program_ns: 1,
            copy_ns: 1,
            erase_ns,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let place = self.place(page);
        let before = std::mem::replace(&mut self.loaded, place);
        let place = if self.planted == Planted::ReadsBufferOfBefore { before } else { place };
        let cells = self.cells[place];
        match self.planted {
            Planted::SwapsBytes => {
                data.iter_mut().enumerate().for_each(|(index, byte)| *byte = cells[index ^ 1])
            }
            Planted::SwapsWords => {
                data.iter_mut().enumerate().for_each(|(index, byte)| *byte = cells[index ^ 3])
            }
            Planted::BitsReversed => {
                data.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = cell.reverse_bits())
            }
            Planted::DummyMissing => data
                .iter_mut()
                .enumerate()
                .for_each(|(index, byte)| *byte = if index == 0 { 0xFF } else { cells[index - 1] }),
            Planted::DummyTooMany => data
                .iter_mut()
                .enumerate()
                .for_each(|(index, byte)| *byte = *cells.get(index + 1).unwrap_or(&0xFF)),
            _ => data.copy_from_slice(&cells),
        }
        *tag = self.tags[place];
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.loaded = self.place(page);
        *tag = self.tags[if self.planted == Planted::TagAloneOfNeighbour {
            self.loaded ^ 1
        } else {
            self.loaded
        }];
        Ok(())
    }

    fn corrected(&mut self) -> Corrected {
        if self.planted == Planted::CorrectsTooMuch {
            Corrected { bits: 9, strength: 8 }
        } else {
            Corrected::default()
        }
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let place = self.place(page);
        if self.planted == Planted::ProgramDoesNothing {
            return Ok(());
        }
        self.cells[place][..data.len()].copy_from_slice(data);
        match self.planted {
            Planted::ShortDataFillsZeros => self.cells[place][data.len()..].fill(0),
            Planted::FlipsABit => self.cells[place][100] ^= 4,
            _ => {}
        }
        match self.planted {
            Planted::TagLost => {}
            Planted::TagTruncated => self.tags[place][..12].copy_from_slice(&tag[..12]),
            _ => self.tags[place] = *tag,
        }
        Ok(())
    }

    fn can_copy(&self) -> bool {
        true
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let place = self.place(page);
        match self.planted {
            Planted::CopyTakesNothing => self.cells[place] = [0xFF; 256],
            _ => self.cells[place] = self.cells[self.loaded],
        }
        self.tags[place] =
            if self.planted == Planted::CopyKeepsTag { self.tags[self.loaded] } else { *tag };
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let mut pages = block as usize * 8..block as usize * 8 + 8;
        match self.planted {
            Planted::EraseDoesNothing => return Ok(()),
            Planted::EraseFails => return Err(Failure::BadBlock),
            Planted::EraseForgetsLastPage => pages.end -= 2,
            Planted::EraseTakesNeighbours => pages = 0..64 * 8,
            Planted::BlocksWrap => pages = self.place(block * 8)..self.place(block * 8) + 8,
            _ => {}
        }
        self.cells[pages.clone()].fill([0xFF; 256]);
        self.tags[pages].fill([0xFF; TAG_BYTES]);
        Ok(())
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        // Stands for the sum of a CRC unit without bit reflection.
        let plain = data.iter().fold(0, |sum: u32, byte| sum.rotate_left(5) ^ u32::from(*byte));
        if self.planted == Planted::Checksum {
            plain ^ missing as u32
        } else {
            crc32(data, missing)
        }
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        if self.planted == Planted::MarkErases && self.tags[block as usize * 8] != [0xFF; TAG_BYTES]
        {
            self.cells[block as usize * 8][17] = 0;
        }
        Ok(self.planted == Planted::GoodIsBad || self.marks[block as usize])
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.marks[block as usize] = self.planted != Planted::MarkNotKept;
        Ok(())
    }
}

fn crc32(data: &[u8], missing: usize) -> u32 {
    let bytes = data.iter().copied().chain(std::iter::repeat_n(0xFF, missing));
    !bytes.fold(!0, |sum: u32, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0xEDB8_8320 }
        })
    })
}

#[test]
fn each_mistake_of_a_driver_with_pages_is_told_by_its_name() {
    use MistakeKind as Kind;
    let cases = [
        (Planted::PageBytes, Kind::Geometry),
        (Planted::NoTimes, Kind::Times),
        (Planted::Checksum, Kind::Checksum),
        (Planted::GoodIsBad, Kind::GoodBlockIsBad),
        (Planted::EraseDoesNothing, Kind::NotErased),
        (Planted::EraseForgetsLastPage, Kind::NotErased),
        (Planted::EraseTakesNeighbours, Kind::ErasesAnother),
        (Planted::EraseFails, Kind::Failed(Call::Erase, Failure::BadBlock)),
        (Planted::ProgramDoesNothing, Kind::NotProgrammed),
        (Planted::SwapsBytes, Kind::ByteOrder),
        (Planted::SwapsWords, Kind::ByteOrder),
        (Planted::BitsReversed, Kind::BitOrder),
        (Planted::DummyMissing, Kind::Shifted),
        (Planted::DummyTooMany, Kind::Shifted),
        (Planted::BlocksWrap, Kind::AnotherPage),
        (Planted::PagesWrap, Kind::AnotherPage),
        (Planted::ReadsBufferOfBefore, Kind::AnotherPage),
        (Planted::ShortDataFillsZeros, Kind::NotLeftAlone),
        (Planted::FlipsABit, Kind::DataDiffers),
        (Planted::TagLost, Kind::TagNotKept),
        (Planted::TagTruncated, Kind::TagDiffers),
        (Planted::TagAloneOfNeighbour, Kind::TagAloneDiffers),
        (Planted::CopyTakesNothing, Kind::CopyData),
        (Planted::CopyKeepsTag, Kind::CopyTag),
        (Planted::CorrectsTooMuch, Kind::Corrected),
        (Planted::MarkErases, Kind::Disturbed),
    ];
    let mut page = [0; 256];
    for (planted, kind) in cases {
        // The chip has old data in its spare blocks.
        let mut driver = Driver::new(planted);
        driver.cells[SPARE[0] as usize * 8 + 7] = [0; 256];
        driver.cells[SPARE[1] as usize * 8..][..8].fill([0; 256]);
        let result = check_driver(&mut driver, &SPARE, &mut page);
        assert_eq!(result.map_err(|mistake| mistake.kind), Err(kind), "{planted:?}");
    }
    let mut driver = Driver::new(Planted::MarkNotKept);
    assert_eq!(check_driver(&mut driver, &SPARE, &mut page), Ok(()));
    assert_eq!(check_marks(&mut driver, 5).map_err(|mistake| mistake.kind), Err(Kind::MarkNotKept));
    let mut driver = Driver::new(Planted::Nothing);
    assert_eq!(check_driver(&mut driver, &SPARE, &mut page), Ok(()));
    assert_eq!(check_marks(&mut driver, 5), Ok(()));
    assert_eq!(
        check_driver(&mut driver, &[64], &mut page).map_err(|mistake| mistake.kind),
        Err(Kind::Arguments)
    );
    assert_eq!(
        check_driver(&mut driver, &[], &mut page).map_err(|mistake| mistake.kind),
        Err(Kind::Arguments)
    );
}

#[test]
fn a_mistake_says_what_was_expected_and_found() {
    let mistake =
        check_driver(&mut Driver::new(Planted::FlipsABit), &SPARE, &mut [0; 256]).unwrap_err();
    assert_eq!((mistake.block, mistake.offset, mistake.expected ^ mistake.found), (3, 100, 4));
    let text = format!("{mistake}");
    assert!(
        text.starts_with(
            "block 3, byte 100: the bytes differ from the programmed bytes (expected 0x"
        ),
        "{text}"
    );
}

/// The mistake in [`NorDriver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NorPlanted {
    Nothing,
    NoTimes,
    SmallBlocks,
    WrapsInPage,
    EraseHalf,
    EraseTooMuch,
    AddressWraps,
    SwapsBytes,
    DummyMissing,
    Overwrites,
    ZerosIgnored,
    ReadFails,
    LosesEndOfPiece,
}

struct NorDriver(Vec<u8>, NorPlanted);

impl NorDriver {
    fn place(&self, address: usize) -> usize {
        if self.1 == NorPlanted::AddressWraps { address % (16 * 4096) } else { address }
    }
}

impl NorFlash for NorDriver {
    fn block_bytes(&self) -> u32 {
        if self.1 == NorPlanted::SmallBlocks { 256 } else { 4096 }
    }

    fn block_count(&self) -> u32 {
        32
    }

    fn times_ns(&self, _bytes: u32) -> (u64, u64, u64) {
        if self.1 == NorPlanted::NoTimes { (0, 0, 0) } else { (1, 1, 1) }
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        if self.1 == NorPlanted::ReadFails {
            return Err(Failure::Device);
        }
        for (index, byte) in data.iter_mut().enumerate() {
            let at = address as usize + index;
            *byte = match self.1 {
                NorPlanted::SwapsBytes => self.0[at ^ 1],
                NorPlanted::DummyMissing if index == 0 => 0xFF,
                NorPlanted::DummyMissing => self.0[at - 1],
                _ => self.0[self.place(at)],
            };
        }
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let end = if self.1 == NorPlanted::LosesEndOfPiece {
            data.len() - data.len() / 300
        } else {
            data.len()
        };
        for (index, byte) in data[..end].iter().enumerate() {
            let at = address as usize + index;
            match self.1 {
                NorPlanted::WrapsInPage => self.0[address as usize & !0xFF | at & 0xFF] &= byte,
                NorPlanted::Overwrites => self.0[at] = *byte,
                NorPlanted::ZerosIgnored if *byte == 0 => {}
                _ => {
                    let place = self.place(at);
                    self.0[place] &= byte;
                }
            }
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let start = self.place(block as usize * 4096);
        let range = match self.1 {
            NorPlanted::EraseHalf => start..start + 2048,
            NorPlanted::EraseTooMuch => start..(start + 65536).min(self.0.len()),
            _ => start..start + 4096,
        };
        self.0[range].fill(0xFF);
        Ok(())
    }
}

#[test]
fn each_mistake_of_a_driver_with_bytes_is_told_by_its_name() {
    use MistakeKind as Kind;
    let cases = [
        (NorPlanted::NoTimes, Kind::Times),
        (NorPlanted::SmallBlocks, Kind::Geometry),
        (NorPlanted::WrapsInPage, Kind::WrapsInPage),
        (NorPlanted::EraseHalf, Kind::NotErased),
        (NorPlanted::EraseTooMuch, Kind::ErasesAnother),
        (NorPlanted::AddressWraps, Kind::AnotherPage),
        (NorPlanted::SwapsBytes, Kind::ByteOrder),
        (NorPlanted::DummyMissing, Kind::Shifted),
        (NorPlanted::Overwrites, Kind::OnesChange),
        (NorPlanted::ZerosIgnored, Kind::ZerosDoNot),
        (NorPlanted::ReadFails, Kind::Failed(Call::Read, Failure::Device)),
        (NorPlanted::LosesEndOfPiece, Kind::DataDiffers),
    ];
    for (planted, kind) in cases {
        let mut driver = NorDriver(vec![0; 32 * 4096], planted);
        let result = check_nor_driver(&mut driver, &[4, 5, 20]);
        assert_eq!(result.map_err(|mistake| mistake.kind), Err(kind), "{planted:?}");
    }
    assert_eq!(
        check_nor_driver(&mut NorDriver(vec![0; 32 * 4096], NorPlanted::Nothing), &[4, 5, 20]),
        Ok(())
    );
    assert_eq!(
        check_nor_driver(&mut NorDriver(vec![0; 32 * 4096], NorPlanted::Nothing), &[31]),
        Ok(())
    );
    let outside = check_nor_driver(&mut NorDriver(vec![0; 32 * 4096], NorPlanted::Nothing), &[32]);
    assert_eq!(outside.map_err(|mistake| mistake.kind), Err(Kind::Arguments));
}

#[test]
fn the_drivers_of_this_crate_have_no_mistakes() {
    let families = [
        NandSpiProfile::w25n01gv(),
        NandSpiProfile::w25n02kv(),
        NandSpiProfile::mt29f1g01(),
        NandSpiProfile::mt29f2g01(),
        NandSpiProfile::gd5f1gq5(),
    ];
    for profile in families {
        let sim = NandSim::new(NandSpi::new(profile));
        let mut chip =
            nand::NandChip::start(sim.clone(), sim.clone(), nand::Settings::DEFAULT).unwrap();
        let spare = [1, 2, chip.geometry().block_count - 1];
        assert_eq!(check_driver(&mut chip, &spare, &mut [0; 2048]), Ok(()));
        assert_eq!(check_marks(&mut chip, 9), Ok(()));
    }
    for profile in [NorSpiProfile::w25q128jv(), NorSpiProfile::mx25r6435f()] {
        let sim = NorSim::new(NorSpi::new(profile));
        let mut chip =
            nor::NorChip::start(sim.clone(), sim.clone(), nor::Settings::DEFAULT).unwrap();
        let spare = [1, 2, chip.block_count() - 1];
        assert_eq!(check_nor_driver(&mut chip, &spare), Ok(()));
        assert_eq!(check_driver(&mut NorPages::new(chip, 256), &spare, &mut [0; 256]), Ok(()));
    }
}
