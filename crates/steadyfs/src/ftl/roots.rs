//! What follows from the work of the [ring](crate::root): what its answers mean for what the volume may still do.

use super::Ftl;
use crate::error::Error;
use crate::media::Flash;
use crate::pages::Group;
use crate::root::{Lost, Ring, Roots, Said, Search, Tables};

impl<'m, F: Flash> Ftl<'m, F> {
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
    pub fn search(&mut self) -> Search<'_, 'm, F> {
        let (tables, ring, _) = self.parts();
        Search { ring, tables }
    }

    /// Lets the ring work. Where the chip has locked itself that is noted.
    pub fn in_ring<R>(
        &mut self,
        work: impl FnOnce(&mut Roots<'_, 'm, F>, Said, &mut Lost) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let said =
            Said { worn_out: self.status.is_worn_out(), unchecked: self.status.is_unchecked(), savings: self.savings.said() };
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
        self.after_root(result)
    }

    /// Draws the consequences of an attempt to write a root, which returns whether there is one.
    pub fn after_root(&mut self, result: Result<bool, Error>) -> Result<(), Error> {
        // What the newest root needs must not be destroyed on the word of one that is not there.
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
    /// That of [`Roots::write`], and the mark of a block in which a program failed.
    pub fn write_root(&mut self) -> Result<(), Error> {
        self.with_root(|roots, said, lost| roots.write(said, lost).map(|()| true))
    }

    /// Makes the first change after a clean end possible.
    ///
    /// # Cost
    /// That of [`Roots::open`], and the mark of a block in which a program failed.
    pub fn open_ring(&mut self) -> Result<(), Error> {
        self.with_root(|roots, said, lost| roots.open(said, lost))
    }

    /// Turns the volume read-only for good: a last root says so, and spares later mounts the roll-forward.
    pub fn give_up(&mut self) -> Result<(), Error> {
        self.status.wear_out();
        // Where not even that can be written, the next mount finds out by itself.
        let _ = self.write_root();
        self.status.lock();
        Err(Error::ReadOnly)
    }
}
