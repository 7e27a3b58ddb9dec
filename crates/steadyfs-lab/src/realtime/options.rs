//! Options of the runs, and the allowed loss at a power cut.

use crate::allowed::{Allowed, NotAllowed, share};
use crate::part::Part;
use steadyfs::media::sectors::TagPlace;

/// Bytes of an access.
pub const WRITE_BYTES: usize = 4096;
/// Accesses of the figures, as in the article.
pub const WINDOW: usize = 4000;
/// Maximum number of writes for one commit.
const COMMIT_EVERY_MAX: u64 = 64;

/// Options of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Cards, eMMC or disks: built-in names or files in TOML. Default: the two cards of the
    /// article.
    pub cards: Vec<String>,
    /// Raw NAND: a built-in name or a file in TOML. Default: the NAND of the article.
    pub nand: String,
    /// Accesses of each run. Default 100,000.
    pub accesses: u32,
    /// Share of a volume that holds data. Default 0.8.
    pub fill: f64,
    /// Input rates for which the backlog is computed, in bytes per second. Default 100 and 500
    /// kB/s, 1 and 2 MB/s.
    pub rates: Vec<u64>,
    /// Rate for which advice is given, in bytes per second. Default 500 kB/s.
    pub rate: u64,
    /// RAM for buffer and file system, in bytes. Default 64 KiB.
    pub ram_bytes: u64,
    /// Writes for each commit on the cards, or for each flush without a file system. Default 1. On
    /// raw NAND, each write commits.
    pub commit_every: u32,
    /// Allowed loss at a power cut, of commit and buffer together. If it is given, FAT and SteadyFS
    /// run on each card with a commit for each write. They also run with a commit for as many
    /// writes as half of the loss allows, if that is more than one. Default none.
    pub may_lose: Option<Loss>,
    /// Place of the tags on the cards. Pages have 4 KiB, with their tags or without. Default
    /// beside.
    pub tags: TagPlace,
    /// Time of the driver for each command, in microseconds. It is part of all times and bounds.
    /// Default 0: flash time alone.
    pub call_us: u32,
    /// Seed of the places. Default 1.
    pub seed: u64,
}

impl Options {
    /// Allowed numbers of accesses. In a shorter run, cards do not clean.
    pub const ACCESSES: Allowed = Allowed::new("accesses", 1000..=10_000_000);
    /// Allowed numbers of writes for each commit.
    pub const COMMIT_EVERY: Allowed = Allowed::new("commit_every", 1..=1000);
    /// Allowed rates for the advice.
    pub const RATE: Allowed = Allowed::new("rate", 1..=1_000_000_000_000);

    /// Checks the options, without the devices.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        Self::ACCESSES.check(self.accesses)?;
        share("fill", self.fill)?;
        Self::RATE.check(self.rate)?;
        Self::COMMIT_EVERY.check(self.commit_every)?;
        Part::CALL_US.check(self.call_us)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cards: ["sd-industrial", "sd-consumer"].map(String::from).to_vec(),
            nand: "mt29f1g01abafd".to_string(),
            accesses: 100_000,
            fill: 0.8,
            rates: vec![100_000, 500_000, 1_000_000, 2_000_000],
            rate: 500_000,
            ram_bytes: 64 << 10,
            commit_every: 1,
            may_lose: None,
            tags: TagPlace::Beside,
            call_us: 0,
            seed: 1,
        }
    }
}

impl Options {
    /// Returns the writes for each commit, one number for each run.
    pub(super) fn commits(&self) -> Vec<u32> {
        match self.may_lose.map(|loss| loss.commit_every(self.rate)) {
            None => vec![self.commit_every],
            Some(1) => vec![1],
            Some(many) => vec![1, many],
        }
    }
}

/// Allowed loss when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A number of writes.
    Writes(u32),
    /// The bytes that arrive in this many nanoseconds.
    Time(u64),
}

impl Loss {
    /// Returns the bytes that may be lost, if `rate` bytes arrive in a second.
    pub(super) fn bytes(self, rate: u64) -> u64 {
        match self {
            Loss::Writes(count) => u64::from(count) * WRITE_BYTES as u64,
            Loss::Time(ns) => {
                u64::try_from(u128::from(ns) * u128::from(rate) / 1_000_000_000).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns the writes for each commit: half of the allowed loss, because the buffer is lost as
    /// well.
    pub(super) fn commit_every(self, rate: u64) -> u32 {
        (self.bytes(rate) / 2 / WRITE_BYTES as u64).clamp(1, COMMIT_EVERY_MAX) as u32
    }
}
