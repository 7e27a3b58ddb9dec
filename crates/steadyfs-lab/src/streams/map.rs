//! The contents of a disk's blocks. For each place they show the job of its page, or that the copy
//! is dead.

use super::workload::Workload;
use crate::evaluate::tracker::TagTracker;
use steadyfs_sim::Nand;

/// Content of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Blank,
    /// A page that was written again since, or a page of the disk's own.
    Dead,
    /// A page of a job.
    Live(u8),
}

/// The places of each block with a live page, in the order in which they were programmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// The blocks.
    pub blocks: Vec<Vec<Cell>>,
}

impl Map {
    pub(super) fn of(
        tracker: &TagTracker<Nand>,
        workload: &Workload,
        frames_per_block: usize,
    ) -> Map {
        let blocks = (0..tracker.block_count()).map(|block| {
            let mut cells: Vec<Cell> = tracker
                .logical_pages(block)
                .map(
                    |(logical, is_live)| {
                        if is_live { Cell::Live(workload.job_of(logical)) } else { Cell::Dead }
                    },
                )
                .collect();
            cells.resize(frames_per_block.max(cells.len()), Cell::Blank);
            cells
        });
        Map {
            blocks: blocks
                .filter(|cells| cells.iter().any(|cell| matches!(cell, Cell::Live(_))))
                .collect(),
        }
    }

    /// Returns the number of blocks whose live pages are all of one job, and the number of blocks
    /// with live pages.
    pub fn pure(&self) -> (usize, usize) {
        let is_pure = |cells: &&Vec<Cell>| {
            let mut live = cells.iter().filter(|cell| matches!(cell, Cell::Live(_)));
            let first = live.next();
            live.all(|cell| Some(cell) == first)
        };
        (self.blocks.iter().filter(is_pure).count(), self.blocks.len())
    }
}
