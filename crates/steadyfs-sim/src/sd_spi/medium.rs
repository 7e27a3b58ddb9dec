//! The content of the card, and the effects of a power cut on it.

use fastrand::Rng;
use std::collections::{HashMap, HashSet};

pub(super) type Sector = [u8; 512];

/// The sectors of a card, and the sectors that are not safe yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Medium {
    sectors: HashMap<u32, Sector>,
    /// Sectors that cannot be read until they are written.
    torn: HashSet<u32>,
    /// The content of sectors before they were written, oldest first.
    recent: Vec<(u32, Sector)>,
}

impl Medium {
    pub fn read(&self, sector: u32) -> Option<Sector> {
        (!self.torn.contains(&sector))
            .then(|| self.sectors.get(&sector).copied().unwrap_or([0; 512]))
    }

    /// Writes a sector. Now all writes are safe except the last `buffered` writes, or at least the
    /// last write.
    pub fn write(&mut self, sector: u32, data: Sector, buffered: usize) {
        self.recent.push((sector, self.sectors.get(&sector).copied().unwrap_or([0; 512])));
        self.torn.remove(&sector);
        self.sectors.insert(sector, data);
        self.recent.drain(..self.recent.len() - self.recent.len().min(buffered.max(1)));
    }

    /// Erases sectors. Each sector may be old or erased until it is safe.
    pub fn erase(&mut self, first: u32, last: u32) {
        for sector in first..=last {
            if let Some(old) = self.sectors.remove(&sector) {
                self.recent.push((sector, old));
            }
            self.torn.remove(&sector);
        }
    }

    /// Fills announced sectors with any content.
    pub fn pre_erase(&mut self, first: u32, count: u32) {
        for sector in first..first.saturating_add(count) {
            self.sectors.insert(sector, anything(sector));
        }
    }

    /// Marks all data as programmed.
    pub fn settle(&mut self) {
        self.recent.clear();
    }

    /// After a power cut, decides the content of each sector that was not safe: old, new, a part of
    /// both, or unreadable.
    pub fn cut(&mut self, rng: &mut Rng) {
        for (sector, old) in std::mem::take(&mut self.recent) {
            match rng.u8(..4) {
                0 => drop(self.sectors.insert(sector, old)),
                1 => {}
                2 => {
                    let at = rng.usize(..512);
                    self.sectors.entry(sector).or_insert([0; 512])[at..]
                        .copy_from_slice(&old[at..]);
                }
                _ => drop(self.torn.insert(sector)),
            }
        }
    }
}

/// Returns random bytes, for sectors that were announced but not written.
fn anything(sector: u32) -> Sector {
    let mut rng = Rng::with_seed(sector.into());
    std::array::from_fn(|_| rng.u8(..))
}
