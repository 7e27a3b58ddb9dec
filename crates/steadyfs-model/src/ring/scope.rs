//! The worlds that are checked: each is a part of what may happen, to the depth that its size allows.

use super::call::Call::*;
use super::state::Scope;

impl Scope {
    /// Every call, two cuts.
    pub const BROAD: Scope = Scope {
        name: "ring, every call",
        ring: 6,
        pages: 5,
        root_pages: 2,
        gap: 0,
        marks: false,
        cuts: 2,
        failures: 0,
        reads: 0,
        losses: 0,
        reads_blank: true,
        every_look: false,
        calls: &[PowerOff, Save, Root, End],
        depth: 7,
        without: None,
    };
    /// Cuts in mounts and at the first change after a clean end.
    pub const CHAINS: Scope = Scope { name: "ring, chains", cuts: 4, reads_blank: false, calls: &[PowerOff, Save], depth: 10, ..Scope::BROAD };
}
