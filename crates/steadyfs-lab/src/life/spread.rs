//! The distribution of erases over blocks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A summary of the erase counts of some blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of blocks.
    pub blocks: u32,
    /// The least erase count.
    pub min: u32,
    /// The mean erase count.
    pub mean: f64,
    /// The highest erase count.
    pub max: u32,
}

impl Spread {
    pub(super) fn of(counts: impl Iterator<Item = u32>) -> Spread {
        let counts: Vec<u32> = counts.collect();
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        Spread {
            blocks: counts.len() as u32,
            min: counts.iter().min().copied().unwrap_or(0),
            mean: sum as f64 / counts.len().max(1) as f64,
            max: counts.iter().max().copied().unwrap_or(0),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks, {} / {:.0} / {}", self.blocks, self.min, self.mean, self.max)
    }
}
