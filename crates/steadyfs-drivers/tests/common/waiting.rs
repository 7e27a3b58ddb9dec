//! A simulated chip on a bus and a delay whose calls are futures.

use embassy_futures::yield_now;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorType, Operation, SpiBus, SpiDevice};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

/// The longest time, in the chip's nanoseconds, until a delay is pending again. It stands for the
/// tick of a timer.
pub const TICK_NS: u32 = 10_000;

/// A bus or delay whose calls return pending futures until the work is done.
pub struct Futures<W>(pub W);

impl<W: ErrorType> ErrorType for Futures<W> {
    type Error = W::Error;
}

impl<W: SpiDevice> embedded_hal_async::spi::SpiDevice for Futures<W> {
    async fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), W::Error> {
        yield_now().await; // the DMA works
        self.0.transaction(operations)
    }
}

impl<W: SpiBus> embedded_hal_async::spi::SpiBus for Futures<W> {
    async fn read(&mut self, words: &mut [u8]) -> Result<(), W::Error> {
        yield_now().await;
        self.0.read(words)
    }

    async fn write(&mut self, words: &[u8]) -> Result<(), W::Error> {
        yield_now().await;
        self.0.write(words)
    }

    async fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), W::Error> {
        yield_now().await;
        self.0.transfer(read, write)
    }

    async fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), W::Error> {
        yield_now().await;
        self.0.transfer_in_place(words)
    }

    async fn flush(&mut self) -> Result<(), W::Error> {
        self.0.flush()
    }
}

impl<W: DelayNs> embedded_hal_async::delay::DelayNs for Futures<W> {
    async fn delay_ns(&mut self, ns: u32) {
        let mut left = ns;
        while left > 0 {
            let step = left.min(TICK_NS);
            self.0.delay_ns(step);
            left -= step;
            yield_now().await;
        }
    }
}

/// A chip of 1 MiB.
pub fn w25q128jv() -> NorSim {
    NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv().with_bytes(1 << 20)))
}
