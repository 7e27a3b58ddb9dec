//! The worst cases of mounts: after a power cut, after an unmount, and of a mount that recovers
//! nothing.

use super::{Bounds, ROOT_SLACK, WorkQuota};
use crate::config::{COPIED_MAX, Layout, SLOT_BYTES, SUPERBLOCK_BLOCKS};
use crate::cost::Cost;
use crate::journal::empty_places;
use crate::media::{BlockIndex, Flash, Geometry};
use crate::pages::TRIES;
use crate::processor;
use crate::root::ring_window;
use crate::space::{HeadIndex, State};

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the worst case of the next mount, if the use of the volume ends cleanly in its
    /// present state.
    ///
    /// The mount reads:
    ///
    /// - a superblock
    /// - the first page of each ring block, and more pages of bad ring blocks
    /// - the end of one ring block: the closed root, the copy of the journal page, and a mark
    /// - this root once more, and the journal page
    /// - the leaves
    /// - the newest chain
    /// - two pages several times, because power cuts of earlier uses may have left them unsteady
    ///
    /// If nothing was changed since a mount that found unsteady pages in the ring, the next mount
    /// may be one after a power cut.
    pub fn clean_mount(&self) -> Cost {
        if self.view.ftl.ring.is_doubtful() {
            return mount_bound(&self.view.ftl.layout);
        }
        let (layout, space) = (&self.view.ftl.layout, &self.view.ftl.space);
        let pages_per_block = layout.geometry.pages_per_block;
        let is_bad = |block: &BlockIndex| space.blocks().state(*block) == State::Bad;
        let bad = self.view.ftl.ring.all().filter(is_bad).count() as u32;
        // The unmount may add a commit.
        let chain = self.chain_reads(2 * layout.journal_bytes);
        // A damaged page may look blank, so up to three tags are read at each step.
        let ends = 3 * (pages_per_block.ilog2() + 2);
        let blank = 4 + layout.root_programs - layout.root_pages;
        Cost {
            reads: 2
                + 2 * TRIES
                + layout.ring_count
                + TRIES * bad * layout.first_root_pages()
                + layout.root_programs
                + layout.root_pages
                + 2 * layout.journal_pages()
                + 1
                + layout.leaf_count * u32::from(layout.config.pages_per_logical_page)
                + chain,
            tag_reads: ends
                + layout.ring_count * blank
                + TRIES * bad * (3 * layout.first_root_pages() + layout.root_programs)
                + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
            instructions: processor::base_of_mount(layout),
            ..Cost::default()
        }
    }

    /// Returns the worst case of a rollback of the journal: it reads the newest journal page, or it
    /// verifies the newest chain and then reads it again.
    pub fn rollback(&self) -> Cost {
        let layout = &self.view.ftl.layout;
        Cost {
            reads: layout.journal_pages() + 2 * self.chain_reads(0),
            instructions: processor::base_of_rollback(layout),
            ..Cost::default()
        }
    }

    /// Returns the number of reads of the newest chain, with `further` bytes behind it. On media
    /// without chains it is 0. A read covers at least half of a page, because a record may cross
    /// its end. A longer record takes one more read.
    fn chain_reads(&self, further: u32) -> u32 {
        let (layout, space) = (&self.view.ftl.layout, &self.view.ftl.space);
        if !layout.programs_bytes() {
            return 0;
        }
        let Geometry { page_bytes, pages_per_block, .. } = layout.geometry;
        let used = space.capacity(HeadIndex::JOURNAL) - space.rest(HeadIndex::JOURNAL);
        let bytes = used * SLOT_BYTES + further;
        3 * bytes.min(page_bytes * pages_per_block).div_ceil(page_bytes) + 2
    }
}

/// Returns the worst case of a mount after an unclean stop.
///
/// The search for the root and roll-forward read:
///
/// - the superblocks, and the bad block marks of the blocks before the second superblock
/// - the first pages of each ring block: after many interrupted mounts in a row, all of them may be
///   unsteady
/// - the ends of two ring blocks
/// - the root
/// - one tag for each program since the root, and one tag behind the end of each block
/// - the last record of each block
/// - the first page of each block that may have been programmed since the root
/// - the leaves and the journal page
///
/// Settling needs:
///
/// - one erase
/// - the root with its copies
/// - copies of frames and of the journal page
/// - erases of blocks for heads whose blocks are nearly full (two erases if blocks are small)
/// - if several frames were copied, moves of these frames back into other blocks, which may have to
///   be erased first
/// - one erase of each ring block in which no root can be read
///
/// Many interrupted mounts in a row may leave such ring blocks. All ring blocks except three are
/// counted: two blocks hold roots, and one block is erased anyway.
///
/// A record with discards is read as a whole. On some media any part of the unflushed data may
/// survive a power cut, for example on a device whose cache reorders writes. There a mount reads
/// every record as a whole, and the source of the first incomplete copy.
///
/// If programs fail because the medium takes no more programs, the mount reads the volume once
/// more. Then the cost is at most twice this bound.
pub(crate) fn mount_bound(layout: &Layout) -> Cost {
    let unit = u32::from(layout.config.pages_per_logical_page);
    // The more moves a call makes, the later a root may be. So the quota assumes that an erase
    // lasts as long as all moves of a block, which gives a large number of moves.
    let moves = WorkQuota::new(layout, layout.usable, layout.data_blocks, layout.frames_per_block)
        .moving(2)
        .moves;
    let overshoot = ROOT_SLACK + 2 * (2 + moves + 2) * unit + 4;
    let programs = u32::from(layout.config.checkpoint_programs) + overshoot;
    let chains = 3 + layout.extra_heads() + layout.listed_blocks;
    // For the ring, the bound counts as many reads of tags as reads of pages. If a damaged page may
    // look blank, the search for the end of a block reads two more tags. The counted tags include
    // these two.
    let ring = TRIES * (layout.ring_count * layout.first_root_pages() + 2 * ring_window(layout));
    let copied = COPIED_MAX * unit + unit.max(layout.journal_pages());
    // Each record of a chain is read when it is found, when it is verified, and when it is applied.
    // Behind the end of a chain, a record may begin at every slot. On other media, records with
    // discards are read as a whole. If any part of the data may survive a power cut, all records
    // are read as a whole.
    let records = if layout.programs_bytes() {
        4 * programs + TRIES * chains * (2 * layout.journal_record_places() + 1)
    } else {
        programs + unit
    };
    Cost {
        // A stale root may be read before the root that is used instead.
        reads: 2
            + ring
            + 2 * layout.root_pages
            + (2 * chains + TRIES) * unit
            + layout.leaf_count * unit
            + TRIES * (1 + layout.journal_pages())
            + 3 * copied
            + records,
        tag_reads: ring
            + layout.ring_count * layout.root_programs * TRIES
            + 2 * (layout.geometry.pages_per_block.ilog2() + 2)
            + programs
            + 2 * chains
            + 4 * unit
            + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
        programs: 2 * copied + 2 + layout.root_programs + u32::from(layout.programs_bytes()),
        copies: COPIED_MAX * unit,
        erases: 3 + (16 / layout.frames_per_block).max(1) + (layout.ring_count - 3),
        instructions: processor::base_of_mount(layout),
    }
}

/// Returns the worst case of a mount that [recovers nothing](crate::CleanReader).
///
/// It reads:
///
/// - the superblocks, and the bad block marks of the blocks before the second superblock
/// - the first pages of each ring block, and the end of one ring block
/// - a root and its copies
/// - in ring blocks without a readable root, the pages of a possible root
/// - the journal page, or the copy of a chain
/// - if the copy cannot be read, all records of the chain, each with two reads
pub(crate) fn clean_mount_bound(layout: &Layout) -> Cost {
    let journal = if layout.programs_bytes() {
        2 * layout.journal_places().div_ceil(empty_places())
    } else {
        layout.journal_pages()
    };
    let firsts = layout.ring_count * layout.first_root_pages();
    // A damaged page may look blank, so the page behind each page may be read too. The page behind
    // the gap of a root may also be read.
    let ends = 3 * (layout.geometry.pages_per_block.ilog2() + 2);
    Cost {
        reads: TRIES * (2 + firsts + layout.root_programs + journal + layout.journal_pages()) + 1,
        tag_reads: TRIES * (3 * firsts + ends + layout.ring_count * layout.root_programs)
            + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
        instructions: processor::base_of_mount(layout),
        ..Cost::default()
    }
}
