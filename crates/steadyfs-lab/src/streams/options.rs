//! Options of the runs: a chip, and the writes, fills and ways.

use super::way::Way;
use super::workload::Writes;
use crate::allowed::{Allowed, NotAllowed, share};
use crate::evaluate::Timing;

/// Name of the default device, in the place of a profile.
pub const EMMC: &str = "emmc-like";

/// Options of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// NAND profile: a built-in name or a file in TOML, or [`EMMC`]. Default [`EMMC`].
    pub device: String,
    /// Blocks of the chip, from its beginning; `None` for all. Default none.
    pub blocks: Option<u32>,
    /// Times of the simulated chip. Default typical.
    pub timing: Timing,
    /// Workloads. Default all.
    pub writes: Vec<Writes>,
    /// Shares of the disk that are in use. The disk is as small as the smallest of the compared
    /// ways. Default 0.8 and 0.9.
    pub fills: Vec<f64>,
    /// Ways that are compared. Default all.
    pub ways: Vec<Way>,
    /// Streams of a disk with several, 2 to 4. Default 3.
    pub streams: u8,
    /// True if one stream mixes up all pages first. The paper begins with an erased device. Default
    /// no.
    pub mixed: bool,
    /// Seed of the places; the same seed gives the same run. Default 1.
    pub seed: u64,
    /// Number of runs at a time. Default: the number of processors of the machine.
    pub threads: usize,
}

impl Options {
    /// Allowed numbers of blocks.
    pub const BLOCKS: Allowed = Allowed::new("blocks", 16..=65_536);
    /// Allowed numbers of streams.
    pub const STREAMS: Allowed = Allowed::new("streams", 2..=4);

    /// Checks the options, without the device.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        self.blocks.map_or(Ok(()), |blocks| Self::BLOCKS.check(blocks))?;
        self.fills.iter().try_for_each(|&fill| share("fills", fill))?;
        Self::STREAMS.check(self.streams)
    }
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
