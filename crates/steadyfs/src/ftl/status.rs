//! What the volume may still do: every transition of it is here.
//!
//! ```text
//!              lock                    lose_certainty
//! writable ───────────→ locked   writable ────────────→ unknown
//!     ↑   begin_repair     │                  (until the next mount)
//!     └────────────────────┘
//! ```

use crate::error::Error;
use crate::mount::{Access, Damage};
use crate::pages::UNSTEADY_TRIES;

/// Whether calls may change the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Writable,
    /// Nothing may be changed.
    Locked,
    /// The same, and nobody knows whether the last commit is there, until the next mount.
    Unknown,
}

/// What the volume may still do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    mode: Mode,
    /// What the mount found missing, or a write-back since.
    damage: Option<Damage>,
    /// A repair may begin: the volume was mounted for writing, and no leaf was lost since.
    may_repair: bool,
    /// No later mount shows another state than this one did.
    is_settled: bool,
    /// The volume can only be read, and no mount changes that. Roots say so.
    is_worn_out: bool,
    /// A loss was accepted, and what it left is not mended yet. Roots say so.
    is_unchecked: bool,
    /// Small changes or frames are missing, and no page names them. A page without content may have
    /// had some.
    is_in_doubt: bool,
}

impl Status {
    /// Of a volume that is made, or mounted as told.
    pub fn new(access: Access) -> Self {
        let is_writable = access == Access::ReadWrite;
        Self {
            mode: if is_writable { Mode::Writable } else { Mode::Locked },
            damage: None,
            may_repair: is_writable,
            is_settled: false,
            is_worn_out: false,
            is_unchecked: false,
            is_in_doubt: false,
        }
    }

    pub fn is_read_only(&self) -> bool {
        self.mode != Mode::Writable
    }

    pub fn is_unknown(&self) -> bool {
        self.mode == Mode::Unknown
    }

    /// Whether every later mount begins with the state that is shown.
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.damage.is_none() && !self.is_unknown()
    }

    /// Whether a page may read differently each time: nothing was settled since a power cut, and nothing can be.
    pub fn is_unsteady(&self) -> bool {
        self.is_read_only() && !self.is_settled
    }

    /// Looks at a page that reads as damaged: at one that may be unsteady until it is whole.
    pub fn looks(&self) -> u32 {
        if self.is_unsteady() { UNSTEADY_TRIES } else { 1 }
    }

    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    pub fn is_worn_out(&self) -> bool {
        self.is_worn_out
    }

    pub fn is_unchecked(&self) -> bool {
        self.is_unchecked
    }

    /// Returns whether a page without content may have lost it.
    pub fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Returns whether such a page reads as an error: until a repair begins.
    pub fn hides_blank_pages(&self) -> bool {
        self.is_in_doubt && self.is_read_only()
    }

    /// Whether a repair replaces leaves that are lost.
    pub fn replaces_leaves(&self) -> bool {
        self.damage == Some(Damage::Leaf) && !self.is_read_only()
    }

    /// Nothing may be changed any more.
    pub fn lock(&mut self) {
        if self.mode == Mode::Writable {
            self.mode = Mode::Locked;
        }
    }

    /// The same, where an error says that the chip has locked itself, or that nobody knows what it has kept.
    pub fn note_refusal(&mut self, error: Error) {
        match error {
            Error::ReadOnly => self.lock(),
            Error::Unknown => self.lose_certainty(),
            _ => {}
        }
    }

    /// The last program of a commit may be there or not, or what was not flushed when a flush failed: nothing may be programmed any more that would decide it.
    pub fn lose_certainty(&mut self) {
        self.mode = Mode::Unknown;
    }

    /// So many blocks are bad that roots say that the volume can only be read. The root that says it first is still to be written.
    pub fn wear_out(&mut self) {
        self.is_worn_out = true;
    }

    /// Takes over what a root says.
    pub fn adopt(&mut self, is_worn_out: bool, is_unchecked: bool) {
        (self.is_worn_out, self.is_unchecked) = (is_worn_out, is_unchecked);
    }

    /// A mount begins to look for the state: nothing is known to be missing, but what a repair has left.
    pub fn begin_search(&mut self) {
        (self.damage, self.is_in_doubt) = (None, false);
    }

    /// Something is missing.
    pub fn find(&mut self, damage: Damage) {
        self.damage = Some(damage);
        // Pages of a lost leaf, and of lost tables, are errors when they are read.
        self.is_in_doubt |= !matches!(damage, Damage::Leaf | Damage::Tables);
    }

    /// Something is missing, and more than that may be: nothing may be changed.
    pub fn find_and_lock(&mut self, damage: Damage) {
        self.damage = self.damage.or(Some(damage));
        self.lock();
    }

    /// A leaf was lost in a volume at work, whose tables only a mount can make anew: no repair can begin before.
    pub fn lose_leaf(&mut self) {
        self.damage = Some(Damage::Leaf);
        self.may_repair = false;
        self.lock();
    }

    /// What was found is the state that every later mount begins with, or not.
    pub fn settle(&mut self, is_settled: bool) {
        self.is_settled = is_settled;
    }

    /// What a repair would be of; [`None`] where nothing is missing.
    pub fn repairable(&self) -> Result<Option<Damage>, Error> {
        if self.damage.is_some() && !self.may_repair { Err(Error::ReadOnly) } else { Ok(self.damage) }
    }

    /// Accepts what is missing.
    pub fn begin_repair(&mut self) {
        (self.damage, self.mode, self.is_unchecked) = (None, Mode::Writable, true);
    }

    /// A repair came to nothing: what was missing is.
    pub fn abandon_repair(&mut self, damage: Option<Damage>) {
        self.damage = damage;
        self.lock();
    }

    /// The leaves that were lost are to be replaced, or have been.
    pub fn replace_leaves(&mut self, is_begun: bool) {
        self.damage = is_begun.then_some(Damage::Leaf);
    }

    /// A repair is over: all is mended, or not.
    pub fn end_repair(&mut self, is_mended: bool) {
        self.is_unchecked = !is_mended;
        self.is_in_doubt &= !is_mended;
    }
}
