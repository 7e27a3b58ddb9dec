//! The worlds that are checked.

use super::call::Call::{self, *};
use super::state::Scope;

const EVERYTHING: &[Call] = &[Mount, PowerOff, Write(0), Write(1), Root, Close, Destroy, Lose];

impl Scope {
    /// Walks.
    pub const WALK: Scope = Scope {
        name: "walk",
        ring: 6,
        pages: 8,
        parts: 1,
        heads: 2,
        names: 4096,
        mark: false,
        uneven: true,
        wild: false,
        cuts: u8::MAX,
        failures: 0,
        misreads: 0,
        losses: 0,
        calls: EVERYTHING,
        depth: 8,
        without: None,
    };
}
