//! Flash of embedded-storage-async.

use super::hal::take_turns;
use super::{Turn, Waiting};
use embedded_storage::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use embedded_storage_async::nor_flash as of_futures;

impl<T: ErrorType, M> ErrorType for Waiting<T, M> {
    type Error = T::Error;
}

impl<T: of_futures::ReadNorFlash, M: Turn> ReadNorFlash for Waiting<T, M> {
    const READ_SIZE: usize = T::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), T::Error> {
        take_turns(self.inner.read(offset, bytes), &mut self.turn)
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}

impl<T: of_futures::NorFlash, M: Turn> NorFlash for Waiting<T, M> {
    const WRITE_SIZE: usize = T::WRITE_SIZE;
    const ERASE_SIZE: usize = T::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), T::Error> {
        take_turns(self.inner.erase(from, to), &mut self.turn)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), T::Error> {
        take_turns(self.inner.write(offset, bytes), &mut self.turn)
    }
}

impl<T: of_futures::MultiwriteNorFlash, M: Turn> MultiwriteNorFlash for Waiting<T, M> {}
