//! Buses and delays of embedded-hal-async.

use super::{Turn, wait};
use core::future::Future;
use embedded_hal::spi::{ErrorType, Operation, SpiBus, SpiDevice};

/// An adapter from asynchronous buses, delays and flash to the traits whose calls block. See the
/// [module](super).
///
/// | from | to |
/// |---|---|
/// | `embedded_hal_async::spi::SpiDevice` | [`SpiDevice`], for [NOR](crate::nor) and [NAND](crate::nand) |
/// | `embedded_hal_async::spi::SpiBus` | [`SpiBus`], for [SD cards](crate::sd) |
/// | `embedded_hal_async::delay::DelayNs` | [`DelayNs`](embedded_hal::delay::DelayNs) |
/// | `NorFlash` of `embedded-storage-async` | `NorFlash` of `embedded-storage` |
/// | `MultiwriteNorFlash` of `embedded-storage-async` | `MultiwriteNorFlash` of `embedded-storage` |
///
/// The last two need the feature `embedded-storage`.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<T, M> {
    pub(super) inner: T,
    pub(super) turn: M,
}

impl<T, M: Turn> Waiting<T, M> {
    /// Wraps a bus, delay or flash. `turn` is the work of each [turn](Turn), usually a reference to
    /// a [`Meanwhile`](super::Meanwhile).
    pub fn new(inner: T, turn: M) -> Self {
        Self { inner, turn }
    }

    /// Returns the bus, delay or flash.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Returns the bus, delay or flash, mutable.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the bus, delay or flash, and drops the adapter.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// Polls a future until it is done, with a turn before each poll. So the rest of the program gets a
/// turn even if the future is never pending.
pub(super) fn take_turns<F: Future>(future: F, turn: &mut impl Turn) -> F::Output {
    turn.take();
    wait(future, turn)
}

impl<T: embedded_hal_async::delay::DelayNs, M: Turn> embedded_hal::delay::DelayNs
    for Waiting<T, M>
{
    fn delay_ns(&mut self, ns: u32) {
        take_turns(self.inner.delay_ns(ns), &mut self.turn);
    }

    fn delay_us(&mut self, us: u32) {
        take_turns(self.inner.delay_us(us), &mut self.turn);
    }

    fn delay_ms(&mut self, ms: u32) {
        take_turns(self.inner.delay_ms(ms), &mut self.turn);
    }
}

impl<T: ErrorType, M> ErrorType for Waiting<T, M> {
    type Error = T::Error;
}

impl<T: embedded_hal_async::spi::SpiDevice, M: Turn> SpiDevice for Waiting<T, M> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), T::Error> {
        take_turns(self.inner.transaction(operations), &mut self.turn)
    }
}

impl<T: embedded_hal_async::spi::SpiBus, M: Turn> SpiBus for Waiting<T, M> {
    fn read(&mut self, words: &mut [u8]) -> Result<(), T::Error> {
        take_turns(self.inner.read(words), &mut self.turn)
    }

    fn write(&mut self, words: &[u8]) -> Result<(), T::Error> {
        take_turns(self.inner.write(words), &mut self.turn)
    }

    fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), T::Error> {
        take_turns(self.inner.transfer(read, write), &mut self.turn)
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), T::Error> {
        take_turns(self.inner.transfer_in_place(words), &mut self.turn)
    }

    fn flush(&mut self) -> Result<(), T::Error> {
        take_turns(self.inner.flush(), &mut self.turn)
    }
}
