//! The worlds that are checked. A ring has more anchors than what may leave one unsteady – cuts, failures – and a place in doubt: as
//! many as there are anchors lose the volume.

use super::call::Call::{self, *};
use super::chip::Reading;
use super::state::Scope;

/// As programmed, or as garbage.
const PLAIN: &[Reading] = &[Reading::Good, Reading::Noise];
/// The same, with a good tag, or as erased.
const MANY: &[Reading] = &[Reading::Good, Reading::Noise, Reading::Bad, Reading::Blank];
/// Every call.
const EVERYTHING: &[Call] = &[PowerOff, Save, Prepare, Replace, Renew, Superblock, Fill, Drop];
/// The change of an anchor.
const ONE_CHANGE: &[Call] = &[PowerOff, Save, Replace, Superblock];
/// Every call but those with data.
const CHANGES: &[Call] = &[PowerOff, Save, Replace, Renew, Superblock];
/// The change of an anchor, with data that may come into a block that it frees.
const WITH_DATA: &[Call] = &[PowerOff, Save, Replace, Superblock, Fill];

impl Scope {
    /// Every call, a cut, every reading.
    pub const BROAD: Scope = Scope {
        name: "broad",
        pages: 2,
        anchors: 3,
        spare: 1,
        full: false,
        cuts: 1,
        failures: 0,
        losses: 0,
        harsh: false,
        readings: MANY,
        calls: EVERYTHING,
        depth: 9,
        without: None,
    };
    /// Two cuts.
    pub const CUTS: Scope = Scope { name: "cuts", cuts: 2, anchors: 4, readings: PLAIN, calls: CHANGES, ..Scope::BROAD };
    /// Two cuts, and superblocks that must be erased.
    pub const FULL_LOGS: Scope = Scope { name: "full logs", full: true, ..Scope::CUTS };
    /// Two cuts, three pages in a block.
    pub const ROOMY: Scope = Scope { name: "roomy", pages: 3, ..Scope::CUTS };
    /// Three cuts.
    pub const NESTED: Scope = Scope { name: "nested", cuts: 3, anchors: 5, depth: 7, ..Scope::CUTS };
    /// A cut and a failure; what does not erase reads unsteadily.
    pub const FAILURE: Scope = Scope { name: "failure", cuts: 1, failures: 1, harsh: true, depth: 7, ..Scope::CUTS };
    /// A cut and a failure; superblocks must be erased.
    pub const FULL_FAILURE: Scope = Scope { name: "full failure", full: true, calls: ONE_CHANGE, depth: 8, ..Scope::FAILURE };
    /// A cut and a failure, with data.
    pub const DATA: Scope = Scope { name: "data", calls: WITH_DATA, depth: 8, ..Scope::FAILURE };
    /// Two cuts and a failure.
    pub const FAILURES: Scope = Scope { name: "failures", cuts: 2, anchors: 5, calls: ONE_CHANGE, depth: 6, ..Scope::FAILURE };
    /// A cut and two failures.
    pub const DYING: Scope = Scope { name: "dying", failures: 2, anchors: 5, calls: ONE_CHANGE, depth: 6, ..Scope::FAILURE };
    /// A superblock that is lost, with data.
    pub const LOSS: Scope = Scope {
        name: "loss",
        cuts: 0,
        losses: 1,
        anchors: 3,
        calls: &[PowerOff, Save, Replace, Renew, Superblock, Fill],
        depth: 11,
        ..Scope::CUTS
    };
    /// The same, and superblocks must be erased.
    pub const FULL_LOSS: Scope = Scope { name: "full loss", full: true, ..Scope::LOSS };
}
