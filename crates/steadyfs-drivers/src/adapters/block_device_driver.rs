//! An adapter from [`BlockDevice`] of
//! [block-device-driver](https://docs.rs/block-device-driver/0.2), whose calls are futures.
//!
//! A call of SteadyFS returns only when it is done, so this adapter polls a future until the future
//! is done. Between two polls it runs a [`Turn`]. A turn that does nothing is enough for drivers
//! that never wait. It is also enough if the future reads the hardware's state in each poll. Some
//! futures make progress only when an executor runs *another* task. Such a future ends only in two
//! cases. The turn polls that task ([`Meanwhile`](crate::waiting::Meanwhile)), or an executor of a
//! higher priority runs that task in an interrupt.

use super::sectors::{BATCH, batches, conclude, gather, scatter};
use crate::parts;
use crate::waiting::{Turn, wait};
use aligned::Aligned;
use block_device_driver::BlockDevice;
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorTimes};

type Sector<A> = Aligned<A, [u8; SECTOR_BYTES]>;

/// A [`BlockDevice`] of 512-byte blocks as a device of sectors. The adapter needs 4.6 KB of RAM for
/// the sectors in transfer.
///
/// The type of the device's errors is unknown here, so each error is a [`Failure::Device`].
pub struct FromAsync<T: BlockDevice<SECTOR_BYTES>, I> {
    device: T,
    idle: I,
    sectors: u32,
    times: SectorTimes,
    batch: [Sector<T::Align>; BATCH],
    /// The last written sector, until it is flushed.
    written: Option<u32>,
    last_error: Option<T::Error>,
}

impl<T: BlockDevice<SECTOR_BYTES>, I: Turn> FromAsync<T, I> {
    /// Takes a device, the work between two polls, and the times of the device. The work `idle` is
    /// an empty function, an instruction that sleeps until an interrupt, or `&Meanwhile`. The
    /// bounds of calls are only as good as these times.
    ///
    /// # Errors
    /// An error of the device when it returns its size.
    pub fn new(mut device: T, mut idle: I, times: SectorTimes) -> Result<Self, T::Error> {
        let bytes = wait(device.size(), &mut idle)?;
        let sectors = u32::try_from(bytes / SECTOR_BYTES as u64).unwrap_or(u32::MAX);
        let batch = core::array::from_fn(|_| Aligned([0; SECTOR_BYTES]));
        Ok(Self { device, idle, sectors, times, batch, written: None, last_error: None })
    }

    /// Returns the device underneath.
    pub fn device(&self) -> &T {
        &self.device
    }

    /// Returns the device, and drops the adapter.
    pub fn into_device(self) -> T {
        self.device
    }

    /// Returns the last error of the device; a call that succeeds does not clear it.
    pub fn last_error(&self) -> Option<&T::Error> {
        self.last_error.as_ref()
    }
}

impl<T: BlockDevice<SECTOR_BYTES>, I: Turn> SectorDevice for FromAsync<T, I> {
    fn sector_count(&self) -> u32 {
        self.sectors
    }

    fn times(&self) -> SectorTimes {
        self.times
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        for (done, count) in batches(parts::bytes(parts))? {
            let result = wait(
                self.device.read(first + done as u32, &mut self.batch[..count]),
                &mut self.idle,
            );
            conclude(result, &mut self.last_error)?;
            self.batch[..count]
                .iter()
                .enumerate()
                .for_each(|(index, sector)| scatter(parts, done + index, sector));
        }
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        for (done, count) in batches(parts::bytes(parts))? {
            self.batch[..count]
                .iter_mut()
                .enumerate()
                .for_each(|(index, sector)| gather(parts, done + index, sector));
            self.written = Some(first + (done + count - 1) as u32);
            let result =
                wait(self.device.write(first + done as u32, &self.batch[..count]), &mut self.idle);
            conclude(result, &mut self.last_error)?;
        }
        Ok(())
    }

    /// Reads the sector that was written last, which makes the device finish its writes.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(sector) = self.written else { return Ok(()) };
        let result = wait(self.device.read(sector, &mut self.batch[..1]), &mut self.idle);
        conclude(result, &mut self.last_error)?;
        self.written = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sectors::tests::{BROKEN, Ram, TIMES, exercise};
    use super::*;
    use core::cell::Cell;
    use core::task::Poll;

    /// Is pending once, like a driver that waits for an interrupt.
    async fn interrupt() {
        let mut was_polled = false;
        core::future::poll_fn(move |_| {
            if core::mem::replace(&mut was_polled, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    impl BlockDevice<SECTOR_BYTES> for Ram {
        type Error = &'static str;
        type Align = aligned::A4;

        async fn read(
            &mut self,
            first: u32,
            data: &mut [Sector<aligned::A4>],
        ) -> Result<(), &'static str> {
            interrupt().await;
            data.iter_mut()
                .zip(first as usize..)
                .for_each(|(sector, index)| **sector = self.sectors.borrow()[index]);
            Ok(())
        }

        async fn write(
            &mut self,
            first: u32,
            data: &[Sector<aligned::A4>],
        ) -> Result<(), &'static str> {
            for (sector, index) in data.iter().zip(first as usize..) {
                interrupt().await;
                if index == BROKEN {
                    return Err("broken");
                }
                self.sectors.borrow_mut()[index] = **sector;
            }
            Ok(())
        }

        async fn size(&mut self) -> Result<u64, &'static str> {
            Ok(64 * SECTOR_BYTES as u64)
        }
    }

    #[test]
    fn futures_are_polled_until_they_are_done() {
        let polls = Cell::new(0);
        let mut device = FromAsync::new(Ram::new(), || polls.set(polls.get() + 1), TIMES).unwrap();
        exercise(&mut device);
        assert_eq!(device.last_error(), Some(&"broken"));
        // 20 + 1 writes, one write of the broken sector, three reads of a batch, and the read of
        // the flush.
        assert_eq!(polls.get(), 22 + 3 + 1);
    }
}
