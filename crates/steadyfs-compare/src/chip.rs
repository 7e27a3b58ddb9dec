//! The chip of a contender, as a handle. The code that measures, and the code that cuts power,
//! hold other handles to the same chip.

use std::cell::RefCell;
use std::rc::Rc;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_lab::bench::{BenchChip, Plain};
use steadyfs_sim::{Counters, Metered};

/// A simulated chip. Clones are the same chip; [`Chip::twin`] is another one.
#[derive(Clone)]
pub struct Chip(Rc<RefCell<dyn Twin>>);

/// A chip that can be duplicated.
trait Twin: BenchChip {
    fn twin(&self) -> Chip;
}

impl<C: BenchChip + Clone + 'static> Twin for C {
    fn twin(&self) -> Chip {
        Chip::new(self.clone())
    }
}

impl Chip {
    /// Returns a handle to a chip that other code may hold too.
    pub fn of<C: BenchChip + Clone + 'static>(chip: Rc<RefCell<C>>) -> Chip {
        Chip(chip)
    }

    /// Returns a handle to a new chip.
    pub fn new<C: BenchChip + Clone + 'static>(chip: C) -> Chip {
        Chip::of(Rc::new(RefCell::new(chip)))
    }

    /// Returns another chip with the same content and the same history.
    #[must_use]
    pub fn twin(&self) -> Chip {
        self.0.borrow().twin()
    }

    /// Erases a block.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn erase_block(&self, block: u32) -> Result<(), Failure> {
        self.0.borrow_mut().erase(block)
    }
}

impl Flash for Chip {
    fn geometry(&self) -> Geometry {
        self.0.borrow().geometry()
    }

    fn timing(&self) -> Timing {
        self.0.borrow().timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.0.borrow_mut().read(page, data, tag)
    }

    fn reads_many(&self) -> bool {
        self.0.borrow().reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.0.borrow_mut().read_many(first, data, tags)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.0.borrow_mut().read_tag(page, tag)
    }

    fn corrected(&mut self) -> steadyfs::media::Corrected {
        self.0.borrow_mut().corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.0.borrow_mut().program(page, data, tag)
    }

    fn can_copy(&self) -> bool {
        self.0.borrow().can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.0.borrow_mut().program_loaded(page, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.0.borrow_mut().read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.0.borrow_mut().program_bytes(block, offset, data)
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        steadyfs_sim::checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.erase_block(block)
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.0.borrow_mut().is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.0.borrow_mut().mark_bad(block)
    }
}

impl Metered for Chip {
    fn counters(&self) -> Counters {
        self.0.borrow().counters()
    }
}

impl BenchChip for Chip {
    fn erase_counts(&self) -> Vec<u32> {
        self.0.borrow().erase_counts()
    }

    fn plain(&self) -> Plain {
        self.0.borrow().plain()
    }

    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.0.borrow_mut().read_plain(block, offset, data)
    }

    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure> {
        self.0.borrow_mut().program_plain(block, offset, data)
    }

    fn copy_plain(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        self.0.borrow_mut().copy_plain(from, to)
    }
}
