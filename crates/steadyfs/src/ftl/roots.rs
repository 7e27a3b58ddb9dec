//! Calls of the [ring](crate::root), and the effects of their results on the volume's status.

use super::Ftl;
use crate::error::Error;
use crate::media::Flash;
use crate::pages::Group;
use crate::root::{Lost, Ring, RootState, Roots, Search, VolumeFlags};

impl<'m, F: Flash> Ftl<'m, F> {
    /// Returns the rooms whose state a root contains, the ring, and the memory for a group of
    /// pages.
    fn parts(&mut self) -> (RootState<'_, 'm, F>, &mut Ring, &mut Group<'m>) {
        let tables = RootState {
            layout: &self.layout,
            pages: &mut self.pages,
            space: &mut self.space,
            map: &mut self.map,
            transaction: &mut self.transaction,
        };
        (tables, &mut self.ring, &mut self.group)
    }

    /// Returns a search of the ring.
    pub fn search(&mut self) -> Search<'_, 'm, F> {
        let (tables, ring, _) = self.parts();
        Search { ring, tables }
    }

    /// Runs `work` with the ring. If `work` returns an error because the chip has locked itself,
    /// the status records this.
    pub fn in_ring<R>(
        &mut self,
        work: impl FnOnce(&mut Roots<'_, 'm, F>, VolumeFlags, &mut Lost) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let flags = VolumeFlags {
            worn_out: self.status.is_worn_out(),
            unchecked: self.status.is_unchecked(),
            reserve: self.reserve.flags(),
        };
        let mut lost = self.call.lost_roots;
        let (tables, ring, group) = self.parts();
        let result = work(&mut Roots { ring, tables, group }, flags, &mut lost);
        self.call.lost_roots = lost;
        result.map_err(|error| self.refused(error))
    }

    /// Runs `work`, which writes a root and returns true if it has written one. Then handles the
    /// consequences.
    fn with_root(
        &mut self,
        work: impl FnOnce(&mut Roots<'_, 'm, F>, VolumeFlags, &mut Lost) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let result = self.in_ring(work);
        self.after_root(result)
    }

    /// Handles the result of an attempt to write a root; `true` means that a root was written.
    pub fn after_root(&mut self, result: Result<bool, Error>) -> Result<(), Error> {
        // The blocks that the newest root needs must stay intact, because the root that would free
        // them was not written.
        if result.is_err() && self.ring.needs_root() {
            self.status.lock();
        }
        if result? {
            self.mark_retired();
        }
        Ok(())
    }

    /// Writes a root with its copies.
    ///
    /// # Cost
    /// The cost of [`Roots::write`], and the mark of a block in which a program failed.
    pub fn write_root(&mut self) -> Result<(), Error> {
        self.with_root(|roots, flags, lost| roots.write(flags, lost).map(|()| true))
    }

    /// Opens the ring for the first change after a clean end.
    ///
    /// # Cost
    /// The cost of [`Roots::open`], and the mark of a block in which a program failed.
    pub fn open_ring(&mut self) -> Result<(), Error> {
        self.with_root(|roots, flags, lost| roots.open(flags, lost))
    }

    /// Turns the volume read-only for good. Writes a last root that records this. With this root,
    /// later mounts need no roll-forward.
    pub fn give_up(&mut self) -> Result<(), Error> {
        self.status.wear_out();
        // If even this root cannot be written, the next mount finds the wear by itself.
        let _ = self.write_root();
        self.status.lock();
        Err(Error::ReadOnly)
    }
}
