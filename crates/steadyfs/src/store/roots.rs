//! What the store does about roots: it lets the [ring](crate::root) work, and notes what its answers mean for what the volume may still do.

use super::Store;
use crate::error::Error;
use crate::media::Flash;
use crate::pages::Group;
use crate::root::{Lost, Ring, Roots, Said, Search, Tables};

impl<'m, F: Flash> Store<'m, F> {
    /// The rooms whose state a root says, the ring, and memory for a group of pages.
    fn parts(&mut self) -> (Tables<'_, 'm, F>, &mut Ring, &mut Group<'m>) {
        let tables = Tables {
            layout: &self.layout,
            pages: &mut self.pages,
            space: &mut self.space,
            map: &mut self.map,
            transaction: &mut self.transaction,
        };
        (tables, &mut self.ring, &mut self.group)
    }

    /// A search of the ring.
    pub(super) fn search(&mut self) -> Search<'_, 'm, F> {
        let (tables, ring, _) = self.parts();
        Search { ring, tables }
    }

    /// Lets the ring work. Where the chip has locked itself that is noted.
    pub(super) fn in_ring<R>(
        &mut self,
        work: impl FnOnce(&mut Roots<'_, 'm, F>, Said, &mut Lost) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let said =
            Said { worn_out: self.status.is_worn_out(), unchecked: self.status.is_unchecked(), credit: self.pace.credit() };
        let mut lost = self.call.lost_roots;
        let (tables, ring, group) = self.parts();
        let result = work(&mut Roots { ring, tables, group }, said, &mut lost);
        self.call.lost_roots = lost;
        result.map_err(|error| self.refused(error))
    }

    /// Lets the ring write a root, and tell whether it has.
    fn with_root(
        &mut self,
        work: impl FnOnce(&mut Roots<'_, 'm, F>, Said, &mut Lost) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let result = self.in_ring(work);
        // What the newest root needs must not be destroyed on the word of one that is not there.
        if result.is_err() && self.ring.owes_root() {
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
    /// That of [`Roots::write`], and the mark of a block in which a program failed.
    pub(super) fn write_root(&mut self) -> Result<(), Error> {
        self.with_root(|roots, said, lost| roots.write(said, lost).map(|()| true))
    }

    /// Makes the first change after a clean end possible.
    ///
    /// # Cost
    /// That of [`Roots::open`], and the mark of a block in which a program failed.
    pub(super) fn open_ring(&mut self) -> Result<(), Error> {
        self.with_root(|roots, said, lost| roots.open(said, lost))
    }

    /// Ends the use of the volume: the next mount begins with this root, and neither searches nor programs.
    ///
    /// # Cost
    /// `root_programs` programs, and one erase where the ring block is full; the mark of a block in which a program failed; nothing where nothing
    /// was changed.
    pub fn end_use(&mut self) -> Result<(), Error> {
        if self.status.is_read_only() || self.ring.is_closed() || self.is_open() {
            return Ok(());
        }
        self.call = self.new_call();
        self.with_root(|roots, said, lost| roots.write_closing(said, lost).map(|()| true))
    }
}
