//! The medium of a volume that was closed cleanly and is only read.

use super::{BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// A medium on which nothing changes, with a volume that was closed cleanly.
///
/// The code that reads a volume branches on [`is_clean`](Flash::is_clean). The compiler evaluates
/// the result, and omits the code that only a changing or interrupted volume needs. This code
/// handles:
///
/// - the open transaction and its pending discards;
/// - pages that may be unsteady (each read may return other bytes), and bits that flip.
pub(crate) struct Clean<F>(F);

impl<F> Clean<F> {
    pub fn new(flash: F) -> Self {
        Self(flash)
    }

    pub fn inner(&self) -> &F {
        &self.0
    }

    pub fn into_inner(self) -> F {
        self.0
    }
}

impl<F: Flash> Flash for Clean<F> {
    fn geometry(&self) -> Geometry {
        self.0.geometry()
    }
    fn timing(&self) -> Timing {
        self.0.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.0.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.0.read_tag(page, tag)
    }
    fn corrected(&mut self) -> Corrected {
        self.0.corrected()
    }
    fn program(&mut self, _: PageIndex, _: &[u8], _: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        Err(Failure::WriteProtected)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.0.read_bytes(block, offset, data)
    }
    fn program_bytes(&mut self, _: BlockIndex, _: u32, _: &[u8]) -> Result<(), Failure> {
        Err(Failure::WriteProtected)
    }
    fn erase(&mut self, _: BlockIndex) -> Result<(), Failure> {
        Err(Failure::WriteProtected)
    }
    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        self.0.checksum(data, missing)
    }
    fn reorders(&self) -> bool {
        self.0.reorders()
    }
    fn hides_damage(&self) -> bool {
        self.0.hides_damage()
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.0.is_bad(block)
    }
    fn mark_bad(&mut self, _: BlockIndex) -> Result<(), Failure> {
        Err(Failure::WriteProtected)
    }
    #[inline(always)]
    fn is_clean(&self) -> bool {
        true
    }
}
