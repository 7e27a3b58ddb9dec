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
