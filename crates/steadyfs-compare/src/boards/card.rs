//! Accesses to the sectors of a card, without a file system.

use super::step::{Span, Spans, Step};
use steadyfs_sim::Counters;
use steadyfs_sim::managed::{ManagedProfile, Translation};

const SECTOR_BYTES: u64 = 512;
/// Random writes before the measurement. They bring the card into its steady state.
const WARM_UP: u64 = 300_000;

/// Accesses of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// True if sectors are written.
    pub writes: bool,
    /// True if the places are random over the whole card.
    pub random: bool,
    /// Bytes of an access, whole sectors.
    pub bytes: u64,
    /// Number of accesses.
    pub count: u64,
}

/// Runs steps on a filled card. Returns their times.
///
/// # Errors
/// A step that is none of a card.
pub fn follow_card(profile: &ManagedProfile, steps: &[Step]) -> Result<Spans, String> {
    let mut spans = Spans::new();
    for step in steps {
        let Step::Sectors { label, writes, random, bytes, count } = step else {
            return Err(format!("{step:?} on a card"));
        };
        let accesses = Accesses { writes: *writes, random: *random, bytes: *bytes, count: *count };
        let span = accesses.run(profile);
        spans.insert(label.clone().unwrap_or_default(), span);
    }
    Ok(spans)
}

impl Accesses {
    fn run(self, profile: &ManagedProfile) -> Span {
        let mut card = Translation::new(profile, 1);
        card.fill();
        let mut rng = fastrand::Rng::with_seed(1);
        if self.random && self.writes {
            for index in 0..WARM_UP {
                self.access(&mut card, index, &mut rng);
            }
        }
        let mut span = Span::default();
        for index in 0..self.count {
            let before = Counters::default();
            let time_ns = self.access(&mut card, index, &mut rng);
            let after = Counters { time_ns, ..before };
            span.add(&before, &after, self.bytes);
            span.add_call(&before, &after);
        }
        span.close();
        span
    }

    /// Makes an access. Returns its time in nanoseconds.
    fn access(self, card: &mut Translation, index: u64, rng: &mut fastrand::Rng) -> u64 {
        let places = u64::from(card.sector_count()) * SECTOR_BYTES / self.bytes;
        let place = if self.random { rng.u64(..places) } else { index % places };
        let first = (place * self.bytes / SECTOR_BYTES) as u32;
        let count = (self.bytes / SECTOR_BYTES) as u32;
        if self.writes { card.write(first, count) } else { card.read(first, count) }
    }
}
