//! The positions of everything on the medium, for tools.

use super::Store;
use crate::config::Config;
use crate::media::{BlockIndex, Flash, Geometry, PageIndex};
use crate::space::{HeadIndex, NONE};

/// Geometry and settings of a volume, and the positions of its parts on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Description {
    /// Geometry of the medium.
    pub geometry: Geometry,
    /// Settings of the volume.
    pub config: Config,
    /// Number of logical pages that may hold data at the same time.
    pub usable_pages: u32,
    /// Size of the logical address space, in logical pages.
    pub logical_pages: u32,
    /// Number of logical pages that fit in a block.
    pub frames_per_block: u32,
    /// Number of leaves of the map.
    pub leaves: u32,
    /// Sequence number of the next program.
    pub sequence: u64,
    /// Position of the newest journal page.
    pub journal: Option<PageIndex>,
    /// Position of another page with the same content. There is one after a clean end, and after
    /// idle work.
    pub journal_copy: Option<PageIndex>,
    /// Number of bytes of the changes that are in the journal, but not in their pages yet.
    pub journal_bytes: u32,
    /// Number of changes of the map that no leaf contains yet.
    pub overlay_entries: u32,
    /// Block that holds the newest root, and the index of the next page in this block.
    pub ring: (BlockIndex, u32),
    /// Number of blocks in the ring of roots.
    pub ring_blocks: u32,
    /// The heads for the caller's pages, moved pages and journal pages: the block that is
    /// programmed at present, and the head's next place in it.
    pub heads: [Option<(BlockIndex, u32)>; 3],
    /// The heads for the caller's pages of each further stream: the block, and the head's next
    /// place in it.
    pub streams: [Option<(BlockIndex, u32)>; 3],
}

impl<F: Flash> Store<'_, F> {
    /// Returns the positions of everything. Costs nothing.
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
