//! Images on NOR.

use crate::bound::Bound;
use crate::error::Error;
use crate::source::{Source, within};
use steadyfs::media::nor::NorFlash;

/// An image on NOR that begins at an address. The bytes of the image are stored unchanged.
#[derive(Debug)]
pub struct OnNor<N> {
    nor: N,
    address: u32,
    bytes: u32,
}

impl<N: NorFlash> OnNor<N> {
    /// Creates a source from the `bytes` bytes that begin at `address`. The image may be shorter.
    ///
    /// # Errors
    /// [`Error::End`] if the chip ends before the last of these bytes.
    pub fn new(nor: N, address: u32, bytes: u32) -> Result<Self, Error> {
        within(
            u64::from(address),
            bytes as usize,
            u64::from(nor.block_bytes()) * u64::from(nor.block_count()),
        )?;
        Ok(Self { nor, address, bytes })
    }

    /// Returns the driver.
    pub fn into_inner(self) -> N {
        self.nor
    }
}

impl<N: NorFlash> Source for OnNor<N> {
    fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        within(offset, data.len(), self.bytes())?;
        Ok(self.nor.read(self.address + offset as u32, data)?)
    }

    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        let each = |bytes: u64| self.nor.times_ns(u32::try_from(bytes).unwrap_or(u32::MAX)).0;
        Bound::of_flash(each(bytes) + pieces.saturating_sub(1) * each(1))
    }
}
