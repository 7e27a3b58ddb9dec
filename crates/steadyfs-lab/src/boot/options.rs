//! The options of a measurement: chips, tree and block sizes.

use super::Cycles;
use crate::evaluate::Timing;

/// The options of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Raw NAND: built-in names or files in TOML. Default the chip of the document's board, and
    /// a QSPI NAND.
    pub devices: Vec<String>,
    /// Times of the chips. Default typical.
    pub timing: Timing,
    /// Number of blocks of each chip that are bad from the factory. Default 6.
    pub bad_blocks: u32,
    /// Bytes of a block of SteadyFS's read-only images, and of a chunk of its compressed files.
    /// More makes both smaller, and takes more RAM. Default 16,384.
    pub block_bytes: u32,
    /// Cycles a byte that replace those of the table. Default none.
    pub cycles: Vec<Cycles>,
    /// Number of reads of 4 KiB at random places. Default 1,000.
    pub reads: u32,
    /// Divisor of the tree. The tree has one of this many files of each kind, and no file is
    /// longer than 2 MB divided by it. Default 1: the whole tree.
    pub share: usize,
    /// Bytes of the copied file. Default 10 MB.
    pub copy_bytes: usize,
    /// Seed of the tree, the bad blocks and the places. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            devices: ["k9f1208u0", "mt29f1g01abafd"].map(String::from).to_vec(),
            timing: Timing::default(),
            bad_blocks: 6,
            block_bytes: 16 << 10,
            cycles: Vec::new(),
            reads: 1000,
            share: 1,
            copy_bytes: 10_000_000,
            seed: 1,
        }
    }
}
