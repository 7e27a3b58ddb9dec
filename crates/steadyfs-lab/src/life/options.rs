//! What to run: a chip with its lives, and what is written to it.

use crate::evaluate::{Timing, Workload};

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a NAND profile, or path of one in TOML: times and page size. Default `mt29f1g01abafd`.
    pub device: String,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Erase blocks. Default 128.
    pub blocks: u32,
    /// Pages of a block. Default 32.
    pub pages_per_block: u32,
    /// Erases that a block takes. Default 3,000.
    pub endurance: u32,
    /// Percent by which the lives of blocks differ from the endurance at most, up and down. Default 0: all die at it.
    pub spread_percent: u32,
    /// Of 100 blocks, those whose life ends in a program in place of an erase. Default 0.
    pub program_failures_percent: u32,
    /// Years that pass while the erases are used up. Default 5.
    pub years: f64,
    /// Days after which everything is read by a scrub, so that pages whose bits flip are noticed; 0 for never. Default 30.
    pub scrub_days: u32,
    /// Whether bits flip. Default yes.
    pub bit_errors: bool,
    /// Share of the usable space in use, from 0 to 1. Default 0.8.
    pub fill: f64,
    /// What is written. Default log.
    pub workload: Workload,
    /// Bytes of each write. Default [`Workload::default_write_bytes`].
    pub write_bytes: u64,
    /// Seed of the workload and of the faults: the same seed gives the same run. Default 1.
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
    /// Erases of all blocks that their endurance allows together.
    pub(super) fn erase_budget(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.endurance)
    }
}
