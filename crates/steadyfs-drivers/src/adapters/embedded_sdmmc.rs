//! An adapter from [`BlockDevice`] of [embedded-sdmmc](https://docs.rs/embedded-sdmmc/0.10). It
//! serves that crate's SD driver, and all drivers that others wrote for that crate's FAT file
//! system.
//!
//! From 0.10 on, the trait is defined in embedded-sdmmc-types. Only embedded-sdmmc-types is a
//! dependency here.

use super::sectors::{BATCH, batches, conclude, gather, scatter};
use crate::parts;
use embedded_sdmmc_types::{Block, BlockDevice, BlockIdx};
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SectorDevice, SectorTimes};

/// A [`BlockDevice`] as a device of sectors. The adapter needs 4.6 KB of RAM for the sectors in
/// transfer.
///
/// The SD driver of embedded-sdmmc returns from a write of several sectors while the card still
/// programs them. So it does not check the result of such a write. The [flush](SectorDevice::flush)
/// of this adapter waits for the card, but an error of the card stays unknown. After a write of one
/// sector, the driver of embedded-sdmmc checks the result. [`SdCard`](crate::sd::SdCard) checks the
/// result of every write, and keeps streams of writes open.
///
/// The type of the device's errors is unknown here, so each error is a [`Failure::Device`].
/// [`SectorPages`](steadyfs::media::sectors::SectorPages) itself detects a sector that cannot be
/// written: a write to the sector fails for the second time.
pub struct FromBlockDevice<T: BlockDevice> {
    device: T,
    sectors: u32,
    times: SectorTimes,
    batch: [Block; BATCH],
    /// The last written sector, until it is flushed.
    written: Option<u32>,
    last_error: Option<T::Error>,
}

impl<T: BlockDevice> FromBlockDevice<T> {
    /// Takes a device and its times. The bounds of calls are only as good as these times.
    ///
    /// # Errors
    /// An error of the device when it returns its size.
    pub fn new(device: T, times: SectorTimes) -> Result<Self, T::Error> {
        let sectors = device.num_blocks()?.0;
        Ok(Self {
            device,
            sectors,
            times,
            batch: core::array::from_fn(|_| Block::new()),
            written: None,
            last_error: None,
        })
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

impl<T: BlockDevice> SectorDevice for FromBlockDevice<T> {
    fn sector_count(&self) -> u32 {
        self.sectors
    }

    fn times(&self) -> SectorTimes {
        self.times
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        for (done, count) in batches(parts::bytes(parts))? {
            let result = self.device.read(&mut self.batch[..count], BlockIdx(first + done as u32));
            conclude(result, &mut self.last_error)?;
            self.batch[..count]
                .iter()
                .enumerate()
                .for_each(|(index, block)| scatter(parts, done + index, &block.contents));
        }
        Ok(())
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        for (done, count) in batches(parts::bytes(parts))? {
            self.batch[..count]
                .iter_mut()
                .enumerate()
                .for_each(|(index, block)| gather(parts, done + index, &mut block.contents));
            self.written = Some(first + (done + count - 1) as u32);
            let result = self.device.write(&self.batch[..count], BlockIdx(first + done as u32));
            conclude(result, &mut self.last_error)?;
        }
        Ok(())
    }

    /// Reads the sector that was written last, which makes the device finish its writes.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(sector) = self.written else { return Ok(()) };
        let result = self.device.read(&mut self.batch[..1], BlockIdx(sector));
        conclude(result, &mut self.last_error)?;
        self.written = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sectors::tests::{BROKEN, Ram, TIMES, exercise};
    use super::*;
    use core::fmt;
    use embedded_sdmmc_types::BlockCount;

    #[derive(Debug, PartialEq)]
    pub struct Broken;

    impl fmt::Display for Broken {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("broken")
        }
    }

    impl core::error::Error for Broken {}

    impl BlockDevice for Ram {
        type Error = Broken;

        fn read(&self, blocks: &mut [Block], start: BlockIdx) -> Result<(), Broken> {
            self.calls.borrow_mut().push(blocks.len());
            let sectors = self.sectors.borrow();
            blocks
                .iter_mut()
                .zip(start.0 as usize..)
                .for_each(|(block, sector)| block.contents = sectors[sector]);
            Ok(())
        }

        fn write(&self, blocks: &[Block], start: BlockIdx) -> Result<(), Broken> {
            self.calls.borrow_mut().push(blocks.len());
            for (block, sector) in blocks.iter().zip(start.0 as usize..) {
                if sector == BROKEN {
                    return Err(Broken);
                }
                self.sectors.borrow_mut()[sector] = block.contents;
            }
            Ok(())
        }

        fn num_blocks(&self) -> Result<BlockCount, Broken> {
            Ok(BlockCount(64))
        }
    }

    #[test]
    fn sectors_pass_through_in_batches() {
        let mut device = FromBlockDevice::new(Ram::new(), TIMES).unwrap();
        exercise(&mut device);
        assert_eq!(device.last_error(), Some(&Broken));
        assert_eq!(device.into_device().calls.into_inner(), [9, 9, 2, 1, 9, 9, 3, 1, 1]);
    }
}
