//! What is where on the medium, for tools; and whether a page is what was written.

use super::Store;
use crate::config::Config;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, Geometry, Kinds, PageIndex};
use crate::space::{HeadIndex, NONE, State};

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// Holds a superblock or roots.
    Reserved,
    /// Holds nothing; may be listed by the next root.
    Free,
    /// The same, and erased.
    Clean,
    /// May be allocated before the next root, once erased.
    Listed,
    /// The same, erased since the mount.
    Erased,
    /// In quarantine: empty, but the last root may need it.
    Dead,
    /// Holds live pages.
    Used,
    /// Programmed at present.
    Active,
    /// Holds live pages; goes bad when they have moved.
    Retiring,
    /// Holds live pages; a page needed so many corrections that all of them are to move.
    Weak,
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// What it is used for.
    pub state: BlockState,
    /// Erase count, above that of the least worn block at some time.
    pub wear: u8,
    /// Logical pages and leaves in it that are live; superseded ones count until their leaf is written anew.
    pub live: u32,
}

/// Where things are on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Shape of the medium.
    pub geometry: Geometry,
    /// Settings of the volume.
    pub config: Config,
    /// Logical pages that may hold data at once.
    pub usable_pages: u32,
    /// Size of the logical address space, in pages.
    pub logical_pages: u32,
    /// Logical pages that fit in a block.
    pub frames_per_block: u32,
    /// Leaves of the map.
    pub leaves: u32,
    /// Sequence of the next program.
    pub sequence: u64,
    /// The newest journal page.
    pub journal: Option<PageIndex>,
    /// Bytes of changes in the journal that are in no page yet.
    pub journal_bytes: u32,
    /// Changes of the map that are in no leaf yet.
    pub overlay_entries: u32,
    /// The block that holds the newest root, and the next page in it.
    pub ring: (BlockIndex, u32),
    /// Blocks of the ring of roots.
    pub ring_blocks: u32,
    /// Blocks programmed at present with the caller's pages, moved pages and journal pages: each with the next place.
    pub heads: [Option<(BlockIndex, u32)>; 3],
    /// The same of each further stream.
    pub streams: [Option<(BlockIndex, u32)>; 3],
}

impl<F: Flash> Store<'_, F> {
    /// Where things are. Costs nothing.
    pub fn describe(&self) -> Description {
        let layout = &self.layout;
        let head = |index: HeadIndex| {
            let head = self.space.heads().get(index);
            (head.block != NONE).then_some((head.block, head.next))
        };
        Description {
            geometry: layout.geometry,
            config: layout.config,
            usable_pages: self.usable(),
            logical_pages: layout.logical_count,
            frames_per_block: layout.frames_per_block,
            leaves: layout.leaf_count,
            sequence: self.space.sequence(),
            journal: (self.space.journal_at() != NONE).then(|| self.layout.journal_page(self.space.journal_at())),
            journal_bytes: self.journal.page().len() as u32 - 2,
            overlay_entries: self.map.len(),
            ring: self.ring.newest(),
            ring_blocks: layout.ring_count,
            heads: [head(HeadIndex::USER), head(HeadIndex::MOVED), head(HeadIndex::JOURNAL)],
            streams: core::array::from_fn(|index| {
                let index = HeadIndex::user(index as u8 + 1);
                if self.space.heads().has(index) { head(index) } else { None }
            }),
        }
    }

    /// What is known of a block; `None` behind the last one. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        if block >= self.space.blocks().block_count() {
            return None;
        }
        let state = match self.space.blocks().state(block) {
            State::Bad => BlockState::Bad,
            State::Reserved => BlockState::Reserved,
            State::Free => BlockState::Free,
            State::Clean => BlockState::Clean,
            State::Listed => BlockState::Listed,
            State::Erased => BlockState::Erased,
            State::Dead => BlockState::Dead,
            State::Used => BlockState::Used,
            State::Active => BlockState::Active,
            State::Retiring => BlockState::Retiring,
            State::Weak => BlockState::Weak,
        };
        Some(BlockInfo { state, wear: self.space.blocks().wear(block), live: self.space.blocks().live(block) })
    }

    /// Whether a logical page is what was written, and the map that names it; pages that never were are.
    ///
    /// # Cost
    /// `unit_pages` reads, and those of the leaf.
    pub fn verify(&mut self, logical: u32) -> Result<bool, Error> {
        let frame = match self.frame_of(logical) {
            Ok(0) => return Ok(true),
            Ok(frame) => frame,
            Err(Error::Corrupt) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.frame_is_complete(frame, Kinds::DATA, logical)
    }
}
