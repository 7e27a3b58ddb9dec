//! What is run: a chip, and which writes, fills and ways.

use super::way::Way;
use super::workload::Writes;
use crate::evaluate::Timing;

/// The device that is taken where none is named, in the place of a profile.
pub const EMMC: &str = "emmc-like";

/// What is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// NAND profile: a built-in name or a file in TOML, or [`EMMC`]. Default that.
    pub device: String,
    /// Blocks of the chip, from its beginning; `None` for all. Default none.
    pub blocks: Option<u32>,
    /// Times of the simulated chip. Default typical.
    pub timing: Timing,
    /// What is written. Default all.
    pub writes: Vec<Writes>,
    /// Shares of the disk that hold something. Where ways are compared the disk is the smallest of theirs. Default 0.8 and 0.9.
    pub fills: Vec<f64>,
    /// What is compared. Default all.
    pub ways: Vec<Way>,
    /// Streams of a disk that has several, 2 to 4. Default 3.
    pub streams: u8,
    /// Whether all pages are mixed up by one stream first: the document begins with an erased device. Default no.
    pub mixed: bool,
    /// Seed of the places; the same seed gives the same run. Default 1.
    pub seed: u64,
    /// Runs at a time. Default as many as the machine has processors.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: EMMC.to_string(),
            blocks: None,
            timing: Timing::default(),
            writes: Writes::ALL.to_vec(),
            fills: vec![0.8, 0.9],
            ways: Way::ALL.to_vec(),
            streams: 3,
            mixed: false,
            seed: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
