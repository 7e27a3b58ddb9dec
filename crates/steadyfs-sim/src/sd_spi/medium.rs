//! What the card holds, and what a power cut leaves of it.

use fastrand::Rng;
use std::collections::{HashMap, HashSet};

pub(super) type Sector = [u8; 512];

/// The sectors of a card, and those that are not safe yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Medium {
    sectors: HashMap<u32, Sector>,
    /// Those that cannot be read until they are written.
    torn: HashSet<u32>,
    /// What sectors held before they were written, oldest first.
    recent: Vec<(u32, Sector)>,
}

impl Medium {
    pub fn read(&self, sector: u32) -> Option<Sector> {
        (!self.torn.contains(&sector)).then(|| self.sectors.get(&sector).copied().unwrap_or([0; 512]))
    }

    /// Writes; all but the last so many are safe now.
    pub fn write(&mut self, sector: u32, data: Sector, buffered: usize) {
        self.recent.push((sector, self.sectors.get(&sector).copied().unwrap_or([0; 512])));
        self.torn.remove(&sector);
        self.sectors.insert(sector, data);
        self.recent.drain(..self.recent.len() - self.recent.len().min(buffered.max(1)));
    }

    /// Erases; each may be old or erased until it is safe.
    pub fn erase(&mut self, first: u32, last: u32) {
        for sector in first..=last {
            if let Some(old) = self.sectors.remove(&sector) {
                self.recent.push((sector, old));
            }
            self.torn.remove(&sector);
        }
    }

    /// Lets sectors hold anything: they were announced.
    pub fn pre_erase(&mut self, first: u32, count: u32) {
        for sector in first..first.saturating_add(count) {
            self.sectors.insert(sector, anything(sector));
        }
    }

    /// All is programmed.
    pub fn settle(&mut self) {
        self.recent.clear();
    }

    /// Decides what the cut has left of each sector that was not safe: old, new, a part of both, or nothing that can be read.
    pub fn cut(&mut self, rng: &mut Rng) {
        for (sector, old) in std::mem::take(&mut self.recent) {
            match rng.u8(..4) {
                0 => drop(self.sectors.insert(sector, old)),
                1 => {}
                2 => {
                    let at = rng.usize(..512);
                    self.sectors.entry(sector).or_insert([0; 512])[at..].copy_from_slice(&old[at..]);
                }
                _ => drop(self.torn.insert(sector)),
            }
        }
    }
}

/// Bytes that nobody wrote.
fn anything(sector: u32) -> Sector {
    let mut rng = Rng::with_seed(sector.into());
    std::array::from_fn(|_| rng.u8(..))
}
