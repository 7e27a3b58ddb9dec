//! The place of everything on the medium, for tools.

use super::Store;
use crate::config::Config;
use crate::media::{BlockIndex, Flash, Geometry, PageIndex};
use crate::space::{HeadIndex, NONE};

/// Shape of a volume, and the places of its parts on the medium.
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
    /// Another page with the same contents: after a clean end, and after idle work.
    pub journal_copy: Option<PageIndex>,
    /// Bytes of changes in the journal that are in no page yet.
    pub journal_bytes: u32,
    /// Changes of the map that are in no leaf yet.
    pub overlay_entries: u32,
    /// Block that holds the newest root, and the next page in it.
    pub ring: (BlockIndex, u32),
    /// Blocks of the ring of roots.
    pub ring_blocks: u32,
    /// Blocks that are programmed at present with the caller's pages, moved pages and journal
    /// pages, each with its next place.
    pub heads: [Option<(BlockIndex, u32)>; 3],
    /// Blocks for the caller's pages of each further stream, each with its next place.
    pub streams: [Option<(BlockIndex, u32)>; 3],
}

impl<F: Flash> Store<'_, F> {
    /// Returns the places of everything. Costs nothing.
    pub fn describe(&self) -> Description {
        let layout = &self.logical.ftl.layout;
        let head = |index: HeadIndex| {
            let head = self.logical.ftl.space.heads().get(index);
            (head.block != NONE).then_some((head.block, head.next))
        };
        let journal_page = |place: u32| (place != NONE).then(|| layout.journal_page(place));
        Description {
            geometry: layout.geometry,
            config: layout.config,
            usable_pages: self.logical.ftl.usable(),
            logical_pages: layout.logical_count,
            frames_per_block: layout.frames_per_block,
            leaves: layout.leaf_count,
            sequence: self.logical.ftl.space.sequence(),
            journal: journal_page(self.logical.ftl.space.journal_at()),
            journal_copy: journal_page(self.logical.ftl.space.journal_copy()),
            journal_bytes: self.logical.journal.page().len() as u32 - 2,
            overlay_entries: self.logical.ftl.map.len(),
            ring: self.logical.ftl.ring.newest(),
            ring_blocks: layout.ring_count,
            heads: [head(HeadIndex::USER), head(HeadIndex::MOVED), head(HeadIndex::JOURNAL)],
            streams: core::array::from_fn(|index| {
                let index = HeadIndex::user(index as u8 + 1);
                if self.logical.ftl.space.heads().has(index) { head(index) } else { None }
            }),
        }
    }
}
