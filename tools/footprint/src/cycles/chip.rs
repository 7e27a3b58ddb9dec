//! A NAND chip in a file of the host.

use board::host::HostFile;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false };
const PAGE_BYTES: u32 = GEOMETRY.page_bytes;
/// Bytes of a page and its tag.
const WHOLE_BYTES: u32 = PAGE_BYTES + TAG_BYTES as u32;
const BLOCK_BYTES: u32 = GEOMETRY.pages_per_block * WHOLE_BYTES;
static ERASED: [u8; BLOCK_BYTES as usize] = [0xFF; BLOCK_BYTES as usize];

/// The chip. It has on-chip copies.
pub struct Chip {
    file: HostFile,
    /// The page register.
    register: [u8; PAGE_BYTES as usize],
}

impl Chip {
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

impl Flash for Chip {
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
