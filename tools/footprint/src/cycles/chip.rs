//! Chips in a file of the host.

use board::host::HostFile;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false };
const PAGE_BYTES: u32 = GEOMETRY.page_bytes;
/// Bytes of a page and its tag.
const WHOLE_BYTES: u32 = PAGE_BYTES + TAG_BYTES as u32;
const BLOCK_BYTES: u32 = GEOMETRY.pages_per_block * WHOLE_BYTES;
static ERASED: [u8; BLOCK_BYTES as usize] = [0xFF; BLOCK_BYTES as usize];

/// 128 MiB of NAND, with on-chip copies.
pub struct Nand {
    file: HostFile,
    /// The page register.
    register: [u8; PAGE_BYTES as usize],
}

impl Nand {
    /// Returns an erased chip.
    pub fn new() -> Self {
        let mut file = HostFile::create(b"chip\0");
        (0..GEOMETRY.block_count).for_each(|block| file.write(block * BLOCK_BYTES, &ERASED));
        Self { file, register: [0; PAGE_BYTES as usize] }
    }
}

fn data_at(page: PageIndex) -> u32 {
    page * WHOLE_BYTES
}

fn tag_at(page: PageIndex) -> u32 {
    data_at(page) + PAGE_BYTES
}

impl Flash for Nand {
    fn geometry(&self) -> Geometry {
        GEOMETRY
    }

    /// Returns about the typical times of an MT29F1G01.
    fn timing(&self) -> Timing {
        Timing {
            read_ns: 77_000,
            read_tag_ns: 47_000,
            program_ns: 252_000,
            copy_ns: 268_000,
            erase_ns: 2_000_000,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.file.read(data_at(page), data);
        self.file.read(tag_at(page), tag);
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.file.read(data_at(page), &mut self.register);
        self.file.read(tag_at(page), tag);
        Ok(())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.file.write(data_at(page), data);
        self.file.write(tag_at(page), tag);
        Ok(())
    }

    fn can_copy(&self) -> bool {
        true
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.file.write(data_at(page), &self.register);
        self.file.write(tag_at(page), tag);
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.file.write(block * BLOCK_BYTES, &ERASED);
        Ok(())
    }

    fn is_bad(&mut self, _: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}

/// SPI NOR.
pub struct Nor {
    file: HostFile,
    block_bytes: u32,
    block_count: u32,
}

impl Nor {
    /// Returns an erased chip.
    pub fn new(block_bytes: u32, block_count: u32) -> Self {
        let mut chip = Self { file: HostFile::create(b"chip\0"), block_bytes, block_count };
        (0..block_count).for_each(|block| chip.blank(block));
        chip
    }

    fn blank(&mut self, block: BlockIndex) {
        self.file.write(block * self.block_bytes, &ERASED[..self.block_bytes as usize]);
    }
}

impl NorFlash for Nor {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.block_count
    }

    /// Returns about the typical times of a W25Q128JV.
    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let bytes = u64::from(bytes);
        (
            1_000 + bytes * 20,
            2_000 + bytes * 2_000,
            if self.block_bytes < 8192 { 45 } else { 150 } * 1_000_000,
        )
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.file.read(address, data);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        // A program can only clear bits.
        let mut stored = [0; 256];
        for (index, piece) in data.chunks(stored.len()).enumerate() {
            let at = address + (index * stored.len()) as u32;
            let stored = &mut stored[..piece.len()];
            self.file.read(at, stored);
            stored.iter_mut().zip(piece).for_each(|(old, new)| *old &= new);
            self.file.write(at, stored);
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.blank(block);
        Ok(())
    }
}
