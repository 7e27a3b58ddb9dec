//! The size of a world and its possible events, and the worlds that are checked. Each world has a
//! part of all events, to the depth that its size allows.

use super::call::Call::{self, *};
use super::rules::Rule;

/// The size of a world, and its possible events.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Number of blocks of the ring.
    pub ring: u8,
    /// Number of pages of each block.
    pub pages: u8,
    /// Number of pages of a root.
    pub root_pages: u8,
    /// Number of pages that stay blank between a root and the copies behind it.
    pub gap: u8,
    /// True if a mark is programmed behind a closed root.
    pub marks: bool,
    /// True if records are frames, which a mount need not read. Otherwise they are journal pages.
    pub frames: bool,
    /// Number of power cuts.
    pub cuts: u8,
    /// Number of failures of programs and erases in the ring.
    pub failures: u8,
    /// Number of reads that fail at mounts.
    pub reads: u8,
    /// Number of pages that are lost for good while the power is off.
    pub losses: u8,
    /// True if an unsteady page may read as blank as well.
    pub reads_blank: bool,
    /// True if an unsteady page may read differently at each look, and not only at each mount.
    pub every_look: bool,
    /// True if a mount may miss a root of which a cut erase has left a page. The volume can then
    /// only be read, and the next mount may find that nothing is missing.
    pub may_alarm: bool,
    /// The calls.
    pub calls: &'static [Call],
    /// Maximum number of calls of a path, mounts included.
    pub depth: usize,
    /// The rule that is taken away.
    pub without: Option<Rule>,
}

impl Scope {
    /// Returns true if a rule holds.
    pub fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// Returns the number of programs of a root with its copies.
    pub fn root_programs(&self) -> u8 {
        if self.root_pages > 1 { 2 * self.root_pages } else { 3 }
    }
}

impl Scope {
    /// Every call, three cuts.
    pub const BROAD: Scope = Scope {
        name: "ring, every call",
        ring: 6,
        pages: 5,
        root_pages: 2,
        gap: 0,
        marks: false,
        frames: false,
        cuts: 3,
        failures: 0,
        reads: 0,
        losses: 0,
        reads_blank: true,
        every_look: false,
        may_alarm: false,
        calls: &[PowerOff, Save, Root, End],
        depth: 7,
        without: None,
    };
    /// Five cuts in a row, in mounts and at the first change after a clean end.
    pub const CHAINS: Scope = Scope {
        name: "ring, chains",
        cuts: 5,
        reads_blank: false,
        calls: &[PowerOff, Save],
        depth: 9,
        ..Scope::BROAD
    };
    /// Four cuts in a row; the pages after them may read as blank.
    pub const BLANK_CHAINS: Scope = Scope {
        name: "ring, blank chains",
        cuts: 4,
        calls: &[PowerOff, Save],
        depth: 9,
        ..Scope::BROAD
    };
    /// Unsteady pages read differently at each look.
    pub const LOOKS: Scope = Scope {
        name: "ring, looks",
        cuts: 2,
        reads_blank: false,
        every_look: true,
        depth: 6,
        ..Scope::BROAD
    };
    /// Blocks that take two roots.
    pub const ROOMY: Scope = Scope { name: "ring, roomy", pages: 9, ..Scope::BROAD };
    /// Roots of one page, with two copies.
    pub const SMALL: Scope = Scope { name: "ring, small roots", root_pages: 1, ..Scope::BROAD };
    /// A gap of pages stays blank behind the root of a mount.
    pub const GAP: Scope = Scope { name: "ring, gap", pages: 10, gap: 5, ..Scope::BROAD };
    /// A medium that programs bytes: a mark shows that a closed root was opened.
    pub const MARKS: Scope = Scope { name: "ring, marks", pages: 9, marks: true, ..Scope::BROAD };
    /// The same, with four cuts.
    pub const MARK_CHAINS: Scope = Scope {
        name: "ring, mark chains",
        cuts: 4,
        calls: &[PowerOff, Save, End],
        depth: 8,
        ..Scope::MARKS
    };
    /// Two programs or erases in the ring fail, perhaps in one call.
    pub const FAILURES: Scope =
        Scope { name: "ring, failures", ring: 7, cuts: 1, failures: 2, depth: 6, ..Scope::BROAD };
    /// The same, with marks.
    pub const MARKED_FAILURES: Scope = Scope {
        name: "ring, marked failures",
        pages: 9,
        marks: true,
        calls: &[PowerOff, Save, End],
        depth: 7,
        ..Scope::FAILURES
    };
    /// A read fails at a mount.
    pub const READS: Scope =
        Scope { name: "ring, reads", cuts: 2, reads: 1, depth: 6, ..Scope::BROAD };
    /// A page is lost for good.
    pub const LOSSES: Scope =
        Scope { name: "ring, losses", cuts: 2, losses: 1, depth: 7, ..Scope::BROAD };
    /// The same loss, if records are frames.
    pub const LOST_FRAMES: Scope =
        Scope { name: "ring, lost frames", frames: true, ..Scope::LOSSES };
    /// Records are frames, which a mount need not read.
    pub const FRAMES: Scope = Scope { name: "ring, frames", frames: true, ..Scope::BROAD };
    /// The ring goes round.
    pub const ROUND: Scope = Scope {
        name: "ring, round",
        ring: 4,
        cuts: 1,
        reads_blank: false,
        calls: &[PowerOff, Save, Root],
        depth: 9,
        ..Scope::BROAD
    };
    /// As many cuts in a row as blocks.
    pub const SHORT: Scope =
        Scope { name: "ring, short", ring: 4, cuts: 4, may_alarm: true, ..Scope::CHAINS };
}
