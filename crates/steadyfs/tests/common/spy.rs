//! A chip that records its changes, and leaves some of them out.

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

const ROOT_KIND: u8 = 2;

/// A change of the medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    Erase(BlockIndex),
    /// A page of a root, of copy 0 (the root itself) or a later copy.
    Root(PageIndex, u8),
    /// Any other page.
    Program(PageIndex),
    /// Bytes in a block.
    Bytes(BlockIndex),
}

/// A chip that records its changes, loses power after some of them, refuses one, and hides pages.
#[derive(Clone)]
pub struct Spy<F> {
    pub chip: F,
    pub changes: Vec<Change>,
    pub left: u32,
    pub hidden: Vec<PageIndex>,
    /// Pages whose first byte reads wrong.
    pub flipped: Vec<PageIndex>,
    /// The change that is refused, once: 1 is the next change, 0 is none.
    pub refused: u32,
}

impl<F: Flash + Clone> Spy<F> {
    pub fn new(chip: F, left: u32) -> Self {
        Self {
            chip,
            changes: Vec::new(),
            left,
            hidden: Vec::new(),
            flipped: Vec::new(),
            refused: 0,
        }
    }

    fn spend(&mut self, change: Change) -> Result<(), Failure> {
        let before = self.refused;
        self.refused = before.saturating_sub(1);
        if before == 1 {
            return Err(Failure::Device);
        }
        self.left = self.left.checked_sub(1).ok_or(Failure::Device)?;
        self.changes.push(change);
        Ok(())
    }

    /// Returns the pages whose data equals these bytes.
    #[allow(dead_code, reason = "not every test looks for pages")]
    pub fn pages_with(&mut self, bytes: &[u8]) -> Vec<PageIndex> {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = self.geometry();
        let (mut data, mut tag) = (vec![0; page_bytes as usize], [0; TAG_BYTES]);
        let mut holds =
            |&page: &PageIndex| self.chip.read(page, &mut data, &mut tag).is_ok() && data == bytes;
        (0..pages_per_block * block_count).filter(&mut holds).collect()
    }

    fn see(&self, page: PageIndex) -> Result<(), Failure> {
        if self.hidden.contains(&page) { Err(Failure::Uncorrectable) } else { Ok(()) }
    }

    /// Returns the same medium, with power for `left` changes.
    pub fn again(&self, left: u32) -> Self {
        Self { changes: Vec::new(), left, hidden: Vec::new(), ..self.clone() }
    }

    pub fn pages_of(&self, block: BlockIndex) -> Vec<PageIndex> {
        let pages = self.geometry().pages_per_block;
        (block * pages..(block + 1) * pages).collect()
    }
}

impl<F: Flash + Clone> Flash for Spy<F> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read(page, data, tag)?;
        data[0] ^= u8::from(self.flipped.contains(&page));
        Ok(())
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        // Tag layout of `docs/format.md`: byte 10 is the number of the root's copy.
        let change = if tag[8] & 15 == ROOT_KIND {
            Change::Root(page, tag[10])
        } else {
            Change::Program(page)
        };
        self.spend(change)?;
        self.chip.program(page, data, tag)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.spend(Change::Erase(block))?;
        let pages = self.chip.geometry().pages_per_block;
        self.hidden.retain(|page| page / pages != block);
        self.flipped.retain(|page| page / pages != block);
        self.chip.erase(block)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.spend(Change::Bytes(block))?;
        self.chip.program_bytes(block, offset, data)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}
