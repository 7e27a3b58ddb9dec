//! The options of a life: a chip with the lives of its blocks, and the workload.

use crate::evaluate::{Timing, Workload};

/// The options of a life.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a NAND profile, or path of a profile in TOML: times and page size. Default
    /// `mt29f1g01abafd`.
    pub device: String,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Number of erase blocks. Default 128.
    pub blocks: u32,
    /// Number of pages of a block. Default 32.
    pub pages_per_block: u32,
    /// Number of erases that a block endures. Default 3,000.
    pub endurance: u32,
    /// Maximum percentage by which the lives of blocks differ from the endurance, up and down.
    /// Default 0: all blocks die at the endurance.
    pub spread_percent: u32,
    /// Blocks out of 100 whose life ends in a program instead of an erase. Default 0.
    pub program_failures_percent: u32,
    /// Years that pass while the erases are used up. Default 5.
    pub years: f64,
    /// Days between scrubs that read everything, so that pages with flipped bits are noticed. 0
    /// for never. Default 30.
    pub scrub_days: u32,
    /// True if bits flip. Default true.
    pub bit_errors: bool,
    /// Share of the usable space in use, from 0 to 1. Default 0.8.
    pub fill: f64,
    /// Workload of the run. Default log.
    pub workload: Workload,
    /// Bytes of each write. Default [`Workload::default_write_bytes`].
    pub write_bytes: u64,
    /// Seed of the workload and of the faults. The same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            timing: Timing::default(),
            blocks: 128,
            pages_per_block: 32,
            endurance: 3_000,
            spread_percent: 0,
            program_failures_percent: 0,
            years: 5.0,
            scrub_days: 30,
            bit_errors: true,
            fill: 0.8,
            workload: Workload::Log,
            write_bytes: Workload::Log.default_write_bytes(),
            seed: 1,
        }
    }
}

impl Options {
    /// Returns the number of erases that the endurance of all blocks allows together.
    pub(super) fn erase_budget(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.endurance)
    }
}
