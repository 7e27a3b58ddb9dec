//! What to run, and what a power cut may take of it.

use steadyfs::media::sectors::TagPlace;

/// Bytes of an access.
pub const WRITE_BYTES: usize = 4096;
/// Accesses of the figures: those of the article.
pub const WINDOW: usize = 4000;
/// Most writes that are tried for one commit.
const COMMIT_EVERY_MAX: u64 = 64;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Cards, eMMC or disks: built-in names or files in TOML. Default the two cards of the article.
    pub cards: Vec<String>,
    /// Raw NAND: a built-in name or a file in TOML. Default that of the article.
    pub nand: String,
    /// Accesses of each run. Default 100,000.
    pub accesses: u32,
    /// Share of a volume that holds data. Default 0.8.
    pub fill: f64,
    /// Input rates whose backlog is told, in bytes a second. Default 100 and 500 kB/s, 1 and 2 MB/s.
    pub rates: Vec<u64>,
    /// The rate that advice is wanted for. Default 500 kB/s.
    pub rate: u64,
    /// RAM for buffer and file system, in bytes. Default 64 KiB.
    pub ram_bytes: u64,
    /// Writes for each commit on the cards, and for each flush where there is no file system. Default 1. Raw NAND commits each.
    pub commit_every: u32,
    /// What may be lost at a power cut, of commit and buffer together. Where it is said, SteadyFS runs on each card with a commit for each write and with
    /// one for as many as half of that allows. Default none.
    pub may_lose: Option<Loss>,
    /// Where tags lie on the cards, whose pages have 4 KiB with them or without. Default beside.
    pub tags: TagPlace,
    /// Seed of the places. Default 1.
    pub seed: u64,
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
            seed: 1,
        }
    }
}

impl Options {
    /// Writes for each commit, one run for each.
    pub(super) fn commits(&self) -> Vec<u32> {
        match self.may_lose.map(|loss| loss.commit_every(self.rate)) {
            None => vec![self.commit_every],
            Some(1) => vec![1],
            Some(many) => vec![1, many],
        }
    }
}

/// What may be lost when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// So many writes.
    Writes(u32),
    /// What arrives in so many nanoseconds.
    Time(u64),
}

impl Loss {
    /// Bytes that may be lost, where so many arrive in a second.
    pub(super) fn bytes(self, rate: u64) -> u64 {
        match self {
            Loss::Writes(count) => u64::from(count) * WRITE_BYTES as u64,
            Loss::Time(ns) => u64::try_from(u128::from(ns) * u128::from(rate) / 1_000_000_000).unwrap_or(u64::MAX),
        }
    }

    /// Writes for each commit: half of what may be lost, for the buffer is lost as well.
    pub(super) fn commit_every(self, rate: u64) -> u32 {
        (self.bytes(rate) / 2 / WRITE_BYTES as u64).clamp(1, COMMIT_EVERY_MAX) as u32
    }
}
