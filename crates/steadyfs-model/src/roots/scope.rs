//! The worlds that are checked.

use super::call::Call::{self, *};
use super::state::Scope;

/// One head, no end, nothing lost.
const NARROW: &[Call] = &[Mount, PowerOff, Write(0), Root];
/// One head.
const JOURNAL: &[Call] = &[Mount, PowerOff, Write(0), Root, Close, Destroy];
/// Two heads.
const HEADS: &[Call] = &[Mount, PowerOff, Write(0), Write(1), Root, Close];
/// One page lost, one head.
const LOSING: &[Call] = &[Mount, PowerOff, Write(0), Root, Close, Destroy, Lose];

impl Scope {
    /// Long walks, on NAND, roots of one page.
    pub const WALK: Scope = Scope {
        name: "walk",
        ring: 6,
        pages: 8,
        parts: 1,
        heads: 2,
        names: 4096,
        twin: false,
        mark: false,
        uneven: true,
        wild: false,
        cuts: u8::MAX,
        failures: u8::MAX,
        misreads: u8::MAX,
        losses: 1,
        calls: &[Mount, Write(0), Write(1), Write(2), Root, Close, Destroy, PowerOff],
        depth: 0,
        without: None,
        also_without: None,
    };
    /// Two cuts, one head.
    pub const CUTS: Scope = Scope {
        name: "cuts",
        ring: 5,
        pages: 5,
        heads: 1,
        uneven: false,
        cuts: 2,
        failures: 0,
        misreads: 0,
        losses: 0,
        calls: JOURNAL,
        depth: 7,
        ..Scope::WALK
    };
    /// Four cuts within mounts.
    pub const NESTED: Scope = Scope { name: "nested", ring: 6, cuts: 4, calls: NARROW, depth: 6, ..Scope::CUTS };
    /// Two heads.
    pub const TWO_HEADS: Scope = Scope { name: "two heads", heads: 2, pages: 6, calls: HEADS, depth: 6, ..Scope::CUTS };
    /// Roots of two pages.
    pub const PARTS: Scope = Scope { name: "parts", parts: 2, pages: 9, depth: 6, ..Scope::CUTS };
    /// One page is lost.
    pub const LOSS: Scope = Scope { name: "loss", losses: 1, calls: LOSING, cuts: 2, depth: 7, ..Scope::CUTS };
    /// A program or an erase fails.
    pub const FAILURE: Scope = Scope { name: "failure", ring: 6, failures: 1, cuts: 1, depth: 7, ..Scope::CUTS };
    /// Each page of a block whose erase was cut has a fate of its own.
    pub const UNEVEN: Scope = Scope { name: "uneven", uneven: true, wild: true, cuts: 2, depth: 5, ..Scope::CUTS };
    /// NOR.
    pub const MARK: Scope = Scope { name: "mark", mark: true, pages: 6, cuts: 2, depth: 7, ..Scope::CUTS };
}
