//! Mount and repair: the state that a [mount](crate::mount) finds becomes the state of the store.

use super::Store;
use crate::error::{Error, MountError};
use crate::media::Flash;
use crate::mount::{Access, Damage, Forward, Last, find_superblock};
use crate::pages::TRIES;
use crate::space::NONE;

impl<'m, F: Flash> Store<'m, F> {
    /// Reads the superblock and makes a store with the volume's settings. The store is empty until
    /// [`recover`](Self::recover).
    ///
    /// `open` and `recover` are not inlined, so that the variables of one function are off the
    /// stack when the other runs. `recover` gets the store by reference, because this takes less
    /// code than a store on its own stack.
    #[inline(never)]
    pub fn open(mut flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let superblock = find_superblock(&mut flash, memory)?;
        Self::empty(flash, &superblock.config, Some(&superblock), access, memory)
    }

    /// Brings the store to the state that was committed last. If `SETTLE` is true, settles this
    /// state on the medium. Returns `false` if there is no readable root.
    ///
    /// `SETTLE` is a constant, so firmware that only reads contains no code that programs.
    ///
    /// # Cost
    /// See [`bounds`](crate::reclaim).
    #[inline(never)]
    pub fn recover<const SETTLE: bool>(&mut self) -> Result<bool, Error> {
        let Some(last) = self.find_state()? else { return Ok(false) };
        let ftl = &mut self.logical.ftl;
        // If the root is closed, every later mount begins with it as well.
        ftl.status.settle(ftl.ring.is_closed());
        if ftl.ring.is_closed() && ftl.status.damage().is_none() {
            if ftl.status.is_worn_out() {
                ftl.status.lock();
            }
            if SETTLE {
                // A blank ring block hides no root, so the first change need not erase it.
                ftl.search().mark_blank_places()?;
                // The next record continues the chain only if a mount could read it there: all
                // records before it can be read, and nothing has touched the slots behind them.
                let mut records = self.logical.records();
                records.verify_copied_chain()?;
                records.leave_touched_chain()?;
            }
            // Work that is not urgent is delayed, so that the first calls are as short as other
            // calls.
            self.reclaim.wait();
            return Ok(true);
        }
        if SETTLE
            && !self.logical.ftl.status.is_worn_out()
            && self.logical.ftl.status.damage().is_none()
        {
            match self.settle(last) {
                // The medium takes no more programs, but the volume can still be read. The mount
                // uses the same root again, because its own root is not complete.
                Err(Error::MediaFailing | Error::ReadOnly) => {}
                result => return result.map(|()| true),
            }
            // The failed settling has changed the tables, so they are read again.
            if self.find_state()?.is_none() {
                return Ok(false);
            }
        }
        // The state is not settled, so nothing may be programmed.
        self.logical.ftl.status.lock();
        Ok(true)
    }

    /// Returns the error of a mount that finds no root. A format programs the first page of block 0
    /// last. So if this page is blank, a power cut has interrupted a format, and there is no volume
    /// yet.
    pub fn without_root(&mut self) -> MountError {
        match self.logical.ftl.pages.is_blank(0) {
            Ok(true) => MountError::NotFormatted,
            Ok(false) => MountError::NoRoot,
            Err(error) => MountError::Volume(error),
        }
    }

    /// Brings the store to the state at the clean end of the volume's use. Uses no code for
    /// recovery. Returns [`MountError::NeedsRecovery`] if there was no clean end, if anything was
    /// changed after it, or if either is in doubt.
    ///
    /// # Cost
    /// See [`bounds`](crate::reclaim).
    #[inline(never)]
    pub fn resume_closed(&mut self) -> Result<(), MountError> {
        if self.layout().config.is_disk() {
            return Err(MountError::IsDisk);
        }
        if self.logical.ftl.search().find_closed()? && self.load_journal()? {
            Ok(())
        } else {
            Err(MountError::NeedsRecovery)
        }
    }

    /// Accepts the losses that the mount found. The first `tables` logical pages hold tables. For
    /// tables in the range of the first leaf, this leaf must be readable. Until
    /// [`end_repair`](Self::end_repair) every mount finds that a repair was begun.
    ///
    /// # Cost
    /// The cost of a mount.
    pub fn begin_repair(&mut self, tables: u32) -> Result<(), Error> {
        let Some(before) = self.logical.ftl.status.repairable()? else { return Ok(()) };
        // A repair begins with the state on the medium, not with the state in RAM.
        let last =
            self.find_state().and_then(|last| last.ok_or(Error::Corrupt)).inspect_err(|_| {
                self.logical.forget_state();
                self.logical.ftl.status.set_damage(before);
            })?;
        let damage = self.logical.ftl.status.damage();
        if damage == Some(Damage::Leaf) {
            // Without these tables, a repair could find no file.
            let first = tables.min(self.logical.ftl.layout.leaf_entries);
            (0..first).try_for_each(|logical| self.logical.frame_of(logical).map(drop))?;
        }
        // From here on every root contains the flag that a repair was begun.
        self.logical.ftl.status.begin_repair();
        let result = self.settle(last).and_then(|()| {
            if damage == Some(Damage::Leaf) { self.replace_leaves() } else { Ok(()) }
        });
        // The search in the store does not find lost tables of the file system. If the search found
        // no damage, the earlier damage counts.
        result.inspect_err(|_| self.logical.ftl.status.abandon_repair(damage.or(Some(before))))
    }

    /// Ends a repair. If `mended` is true, the volume can be used without limits. If not, it can
    /// only be read.
    pub fn end_repair(&mut self, mended: bool) -> Result<(), Error> {
        self.logical.ftl.status.end_repair(mended);
        // A root without the flag shows later mounts that the repair has ended.
        let result = if mended { self.logical.ftl.write_root() } else { Ok(()) };
        if !mended || result.is_err() {
            self.logical.ftl.status.abandon_repair(Some(Damage::Repair));
        }
        result
    }

    /// Writes leaves with a lost page again. The new leaf marks the logical pages that the lost
    /// page mapped as missing. The blocks of these pages become free only after this write, because
    /// the lost page may be readable tomorrow.
    fn replace_leaves(&mut self) -> Result<(), Error> {
        self.begin()?;
        self.logical.ftl.status.replace_leaves(true);
        for leaf in 0..self.logical.ftl.layout.leaf_count {
            if !self.logical.ftl.leaf_can_be_read(leaf)? {
                self.logical.fold_leaf(leaf)?;
            }
        }
        // From this root on, later mounts do not need the lost leaf.
        self.logical.ftl.write_root()?;
        self.logical.ftl.status.replace_leaves(false);
        (0..self.logical.ftl.space.blocks().block_count())
            .for_each(|block| self.logical.ftl.space.quarantine_if_empty(block));
        Ok(())
    }

    /// Finds the state that was committed last. Programs nothing.
    ///
    /// If only one seal of a root can be read, the root may be a leftover in a block whose erase
    /// was interrupted. The frames and the journal page that the root names in that block may read
    /// as whole now and as damaged later. If anything is missing behind such a root, no caller has
    /// ever seen the state of the root. Then the root before it counts as the newest.
    fn find_state(&mut self) -> Result<Option<Last>, Error> {
        let mut below = u32::MAX;
        loop {
            let found = self.find_state_below(below)?;
            match self
                .logical
                .ftl
                .ring
                .uncertain()
                .filter(|_| self.logical.ftl.status.damage().is_some())
            {
                Some(number) => below = number.get(),
                None => return Ok(found),
            }
        }
    }

    /// Finds the newest root with a number below a limit. Applies the records since this root, and
    /// derives the live frames.
    fn find_state_below(&mut self, below: u32) -> Result<Option<Last>, Error> {
        let ftl = &mut self.logical.ftl;
        // An earlier search may have left a recorded loss, pages and remembered look-ups in RAM.
        ftl.status.begin_search();
        ftl.transaction.begin_replay();
        ftl.pages.forget();
        ftl.map.begin();
        let Some(base) = ftl.search().find(below)? else { return Ok(None) };
        ftl.status.adopt(base.flags.worn_out, base.flags.unchecked);
        ftl.reserve.adopt(base.flags.reserve, &ftl.layout);
        // The superblocks, and not the root, determine the blocks of the ring.
        ftl.reserve_own_blocks();
        if base.lost {
            ftl.status.set_damage(Damage::Root);
        } else if ftl.status.is_unchecked() {
            ftl.status.set_damage(Damage::Repair);
        }
        let last = self.roll_forward()?;
        if let Some(damage) = last.damage {
            self.logical.ftl.status.set_damage(damage);
        }
        if !self.logical.ftl.ring.is_closed() {
            // A power cut may have touched any log.
            self.logical.ftl.map.mark_no_log();
        }
        // Roll-forward has determined the newest journal record.
        self.load_committed(&last)?;
        // The live frames follow from the map, which is complete only now.
        match self.logical.ftl.derive_live() {
            // The pages of a lost leaf are reported when they are read.
            Err(Error::Corrupt) => self.logical.ftl.status.set_damage(Damage::Leaf),
            result => result?,
        }
        Ok(Some(last))
    }

    /// Applies the records since the root. Not inlined, so that its variables are off the stack
    /// when the volume is settled.
    #[inline(never)]
    fn roll_forward(&mut self) -> Result<Last, Error> {
        let (records, map, transaction, group) = self.logical.forward_parts();
        Forward::new(records, map, transaction, group).roll_forward()
    }

    /// Loads the newest journal page into the journal buffer. If roll-forward has read the page
    /// already, it is not read again, because it may be metastable. If no attempt can read the
    /// page, later roots name no journal page.
    fn load_committed(&mut self, last: &Last) -> Result<(), Error> {
        self.logical.ftl.transaction.clear();
        if last.journal_is_read {
            self.logical.journal.remove_discards();
            return Ok(());
        }
        if !self.load_journal()? {
            self.logical.ftl.space.adopt_journal(NONE);
            self.logical.ftl.status.set_damage(Damage::Journal);
        }
        Ok(())
    }

    /// Reads the newest journal page into the journal buffer, or the copy that the root names.
    /// Returns `false` if neither can be read.
    fn load_journal(&mut self) -> Result<bool, Error> {
        // A chain may have thousands of records, and its copy has few pages.
        let copy_of_chain = self.logical.records().copy_of_chain();
        if copy_of_chain != NONE {
            if self.try_load_journal(copy_of_chain)? {
                return Ok(true);
            }
            self.logical.ftl.space.set_journal_copy(NONE);
        }
        let space = &self.logical.ftl.space;
        let (newest, copy) = (space.journal_at(), space.journal_copy());
        if self.try_load_journal(newest)? {
            return Ok(true);
        }
        if copy == NONE {
            return Ok(false);
        }
        // The copy replaces the lost page. Later roots name the copy.
        self.logical.ftl.space.adopt_journal(copy);
        self.try_load_journal(copy)
    }

    /// Reads the journal page at a place into the journal buffer. Returns `false` if no attempt
    /// succeeds.
    fn try_load_journal(&mut self, place: u32) -> Result<bool, Error> {
        match (0..TRIES)
            .map(|_| self.logical.records().load(place))
            .find(|result| *result != Err(Error::Corrupt))
        {
            Some(result) => result.map(|()| true),
            None => Ok(false),
        }
    }
}
