//! The operations that the volume still permits. Every transition is in this file.
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

/// Permission to change the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Writable,
    /// No change is permitted.
    Locked,
    /// No change is permitted until the next mount, because the last commit may or may not be on
    /// the medium.
    Unknown,
}

/// The operations that the volume still permits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    mode: Mode,
    /// The loss that the mount or a later leaf write-back has found, if any.
    damage: Option<Damage>,
    /// True if a repair may begin: the volume was mounted for writing, and no leaf was lost since.
    may_repair: bool,
    /// True if every later mount shows the same state as this one.
    is_settled: bool,
    /// True if the volume can only be read for good. Roots store this flag.
    is_worn_out: bool,
    /// True if a loss was accepted, and its effects are not repaired yet. Roots store this flag.
    is_unchecked: bool,
    /// True if small changes or frames are missing, and the pages that they belong to are unknown.
    /// A page without content may have lost its content.
    is_in_doubt: bool,
}

impl Status {
    /// Returns the status of a volume that is being formatted, or mounted with this access.
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

    /// Returns true if every later mount begins with the state that this one shows.
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.damage.is_none() && !self.is_unknown()
    }

    /// Returns true if a page may read differently each time. Then the volume may not have been
    /// settled since a power cut, and it cannot be settled while it is read-only.
    pub fn is_unsteady(&self) -> bool {
        self.is_read_only() && !self.is_settled
    }

    /// Returns the largest number of times that a page is read until it verifies.
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

    /// Returns true if a page without content may have lost its content.
    pub fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Returns true if reads of a page without content return an error. When a repair begins, such
    /// pages read as zeros again.
    pub fn hides_blank_pages(&self) -> bool {
        self.is_in_doubt && self.is_read_only()
    }

    /// Returns true if a repair replaces lost leaves.
    pub fn replaces_leaves(&self) -> bool {
        self.damage == Some(Damage::Leaf) && !self.is_read_only()
    }

    /// Forbids all changes.
    pub fn lock(&mut self) {
        if self.mode == Mode::Writable {
            self.mode = Mode::Locked;
        }
    }

    /// Forbids all changes if the error reports a chip that has locked itself, or data in an
    /// unknown state.
    pub fn note_refusal(&mut self, error: Error) {
        match error {
            Error::ReadOnly => self.lock(),
            Error::Unknown => self.lose_certainty(),
            _ => {}
        }
    }

    /// Forbids all changes until the next mount. The last program of a commit, or unflushed data
    /// after a failed flush, may or may not be on the medium. No later program of this session may
    /// change this.
    pub fn lose_certainty(&mut self) {
        self.mode = Mode::Unknown;
    }

    /// Records that the volume can only be read, because too many blocks are bad. The caller still
    /// has to write a root with this flag.
    pub fn wear_out(&mut self) {
        self.is_worn_out = true;
    }

    /// Takes over two flags from a root.
    pub fn adopt(&mut self, is_worn_out: bool, is_unchecked: bool) {
        (self.is_worn_out, self.is_unchecked) = (is_worn_out, is_unchecked);
    }

    /// Starts a mount's search for the state: no loss is found yet. The flag of an unfinished
    /// repair stays.
    pub fn begin_search(&mut self) {
        (self.damage, self.is_in_doubt) = (None, false);
    }

    /// Records a loss.
    pub fn set_damage(&mut self, damage: Damage) {
        self.damage = Some(damage);
        // Pages of a lost leaf or of lost tables return an error when they are read.
        self.is_in_doubt |= !matches!(damage, Damage::Leaf | Damage::Tables);
    }

    /// Records a loss, unless one is recorded already, and forbids all changes.
    pub fn set_damage_and_lock(&mut self, damage: Damage) {
        self.damage = self.damage.or(Some(damage));
        self.lock();
    }

    /// Records that a leaf was lost while the volume was in use. Only a mount can derive the tables
    /// in RAM anew, so a repair must wait for the next mount.
    pub fn lose_leaf(&mut self) {
        self.damage = Some(Damage::Leaf);
        self.may_repair = false;
        self.lock();
    }

    /// Records whether every later mount begins with the state that this mount found.
    pub fn settle(&mut self, is_settled: bool) {
        self.is_settled = is_settled;
    }

    /// Returns the damage that a repair would accept, or [`None`] if nothing is missing.
    pub fn repairable(&self) -> Result<Option<Damage>, Error> {
        if self.damage.is_some() && !self.may_repair {
            Err(Error::ReadOnly)
        } else {
            Ok(self.damage)
        }
    }

    /// Starts a repair: accepts the loss.
    pub fn begin_repair(&mut self) {
        (self.damage, self.mode, self.is_unchecked) = (None, Mode::Writable, true);
    }

    /// Ends a repair that failed: the loss remains.
    pub fn abandon_repair(&mut self, damage: Option<Damage>) {
        self.damage = damage;
        self.lock();
    }

    /// Starts the replacement of lost leaves if `is_begun` is true, and ends the replacement if
    /// not.
    pub fn replace_leaves(&mut self, is_begun: bool) {
        self.damage = is_begun.then_some(Damage::Leaf);
    }

    /// Ends a repair. `is_mended` is true if everything is repaired.
    pub fn end_repair(&mut self, is_mended: bool) {
        self.is_unchecked = !is_mended;
        self.is_in_doubt &= !is_mended;
    }
}
