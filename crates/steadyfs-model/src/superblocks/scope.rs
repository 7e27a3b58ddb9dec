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
        full: false,
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
    /// x
    pub const X1: Scope = Scope { name: "x1 harsh failure", harsh: true, ..Scope::FAILURE };
    /// x
    pub const X2: Scope = Scope { name: "x2 harsh failures", harsh: true, ..Scope::FAILURES };
    /// x
    pub const X3: Scope = Scope { name: "x3 many cuts", readings: MANY, ..Scope::CUTS };
    /// x
    pub const X4: Scope =
        Scope { name: "x4 data, cut", anchors: 4, cuts: 1, failures: 1, calls: EVERYTHING, depth: 7, ..Scope::FAILURE };
    /// x
    pub const X5: Scope = Scope { name: "x5 3 pages", pages: 3, ..Scope::CUTS };
    /// x
    pub const X6: Scope = Scope { name: "x6 3 pages", pages: 3, depth: 7, ..Scope::FAILURE };
    /// x
    pub const X7: Scope =
        Scope { name: "x7 data two cuts", anchors: 4, cuts: 2, failures: 0, calls: EVERYTHING, depth: 7, ..Scope::CUTS };
    /// x
    pub const Y1: Scope = Scope { name: "y1 full cuts", full: true, depth: 10, ..Scope::CUTS };
    /// x
    pub const Y2: Scope = Scope { name: "y2 full failure", full: true, ..Scope::FAILURE };
    /// x
    pub const Y3: Scope = Scope { name: "y3 full failures", full: true, ..Scope::FAILURES };
    /// x
    pub const Y4: Scope = Scope { name: "y4 full nested", full: true, depth: 8, ..Scope::NESTED };
    /// x
    pub const Y5: Scope = Scope { name: "y5 full harsh failure many", full: true, harsh: true, readings: MANY, ..Scope::FAILURE };
    /// x
    pub const Y6: Scope =
        Scope { name: "y6 two failures", full: false, failures: 2, cuts: 1, anchors: 5, depth: 7, ..Scope::FAILURE };
    /// x
    pub const Y7: Scope =
        Scope { name: "y7 two failures full", full: true, failures: 2, cuts: 1, anchors: 5, depth: 7, ..Scope::FAILURE };
    /// x
    pub const Z1: Scope = Scope {
        name: "z1 failures only, data",
        full: true,
        cuts: 0,
        failures: 2,
        anchors: 4,
        depth: 8,
        calls: EVERYTHING,
        ..Scope::FAILURE
    };
    /// x
    pub const Z2: Scope = Scope {
        name: "z2 one failure deep, data",
        full: false,
        cuts: 0,
        failures: 1,
        anchors: 4,
        depth: 10,
        calls: EVERYTHING,
        ..Scope::FAILURE
    };
    /// x
    pub const Z3: Scope = Scope {
        name: "z3 one cut deep data",
        cuts: 1,
        failures: 0,
        anchors: 3,
        depth: 12,
        calls: &[PowerOff, Save, Replace, Superblock, Fill],
        ..Scope::FAILURE
    };
    /// x
    pub const Z4: Scope = Scope {
        name: "z4 cut and failure deep",
        depth: 9,
        full: true,
        calls: &[PowerOff, Save, Replace, Superblock],
        ..Scope::FAILURE
    };
    /// x
    pub const Z5: Scope = Scope {
        name: "z5 cut and failure data",
        depth: 9,
        calls: &[PowerOff, Save, Replace, Superblock, Fill],
        ..Scope::FAILURE
    };
    /// x
    pub const Z6: Scope = Scope {
        name: "z6 two cuts and failure, one save",
        depth: 8,
        anchors: 5,
        calls: &[PowerOff, Save, Replace, Superblock],
        ..Scope::FAILURES
    };
    /// x
    pub const Z7: Scope =
        Scope { name: "z7 two spare", spare: 2, depth: 8, calls: &[PowerOff, Save, Replace, Superblock, Fill], ..Scope::FAILURE };
}
