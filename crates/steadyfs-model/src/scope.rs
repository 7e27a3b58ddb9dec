//! The worlds that are checked.
use crate::call::Call;
use crate::chip::{Kind, Quality, Reading};
use crate::state::Scope;

impl Scope {
    /// Whether a page may read as a tag that was never programmed.
    pub fn has_forged(&self) -> bool {
        self.readings.iter().any(|reading| matches!(reading, Reading::Forged(_)))
    }
}

/// Readings without forged tags.
pub const PLAIN: &[Reading] = &[Reading::Good, Reading::Bad, Reading::Noise];
/// Readings with forged tags.
pub const FORGED: &[Reading] = &[Reading::Good, Reading::Bad, Reading::Noise, Reading::Forged(Kind::DataCommit), Reading::Forged(Kind::Journal)];

/// Everything, to a small depth.
pub fn broad() -> Scope {
    Scope {
        name: "broad",
        blocks: (6, 2),
        anchors: (3, 5),
        checkpoint_pages: 2,
        listed: 3,
        overlay: 2,
        near_full: false,
        cuts: 2,
        failures: 0,
        failed: Quality::Good,
        readings: PLAIN,
        calls: &[
            Call::PowerOff, Call::Write(0), Call::Write(1), Call::Save(0), Call::Save(1), Call::Patch(0), Call::Patch(1), Call::Flush(0), Call::Commit, Call::Rollback,
            Call::Move, Call::Fold, Call::Checkpoint, Call::Erase, Call::Anchor, Call::MoveJournal,
        ],
        depth: 5,
        without: None,
    }
}

/// Smaller worlds that go deeper.
pub fn all() -> Vec<Scope> {
    use Call::*;
    let b = broad();
    vec![
        Scope { name: "recovery", cuts: 2, calls: &[PowerOff, Save(0), Save(1), Move, Checkpoint], depth: 6, ..b.clone() },
        Scope { name: "transactions", cuts: 1, calls: &[PowerOff, Write(0), Write(1), Save(0), Patch(0), Flush(0), Commit, Rollback, Checkpoint, Move], depth: 6, ..b.clone() },
        Scope { name: "map", cuts: 1, calls: &[PowerOff, Save(0), Save(1), Fold, Move, Checkpoint], depth: 8, ..b.clone() },
        Scope { name: "narrow", cuts: 1, overlay: 1, calls: &[PowerOff, Save(0), Save(1), Write(0), Commit, Move], depth: 6, ..b.clone() },
        Scope { name: "failures", cuts: 1, failures: 1, anchors: (4, 5), calls: &[PowerOff, Save(0), Write(0), Commit, Move, Patch(1), Checkpoint], depth: 5, ..b.clone() },
        Scope { name: "forged", cuts: 2, blocks: (5, 3), readings: FORGED, calls: &[PowerOff, Save(0), Erase, Checkpoint], depth: 6, ..b.clone() },
        Scope { name: "ring", cuts: 2, anchors: (3, 10), calls: &[PowerOff, Save(0), Move, Checkpoint, Anchor, Erase], depth: 6, ..b.clone() },
    ]
}
