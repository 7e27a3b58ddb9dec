//! The worlds that are checked.

use super::call::Call::{self, *};
use super::chip::Reading;
use super::state::Scope;

/// As programmed, or as garbage.
const PLAIN: &[Reading] = &[Reading::Good, Reading::Noise];
/// The same, with a good tag, or as erased.
const MANY: &[Reading] = &[Reading::Good, Reading::Noise, Reading::Bad, Reading::Blank];
/// Every call but those with data.
const CHANGES: &[Call] = &[PowerOff, Save, Replace, Renew, Superblock];
/// Every call.
const EVERYTHING: &[Call] = &[PowerOff, Save, Prepare, Replace, Renew, Superblock, Fill, Drop];

impl Scope {
    /// Every call, a cut.
    pub const BROAD: Scope = Scope {
        name: "broad",
        pages: 2,
        anchors: 3,
        spare: 1,
        cuts: 1,
        failures: 0,
        harsh: false,
        readings: MANY,
        calls: EVERYTHING,
        depth: 8,
        without: None,
    };
    /// Two cuts.
    pub const CUTS: Scope =
        Scope { name: "cuts", cuts: 2, anchors: 4, readings: PLAIN, calls: CHANGES, depth: 8, ..Scope::BROAD };
    /// Three cuts.
    pub const NESTED: Scope = Scope { name: "nested", cuts: 3, anchors: 5, depth: 7, ..Scope::CUTS };
    /// A cut and a failure.
    pub const FAILURE: Scope = Scope { name: "failure", cuts: 1, failures: 1, depth: 8, ..Scope::CUTS };
    /// Two cuts and a failure.
    pub const FAILURES: Scope = Scope { name: "failures", cuts: 2, failures: 1, anchors: 5, depth: 7, ..Scope::CUTS };
}
