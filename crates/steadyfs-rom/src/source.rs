//! Where the bytes of an image come from.

use crate::bound::Bound;
use crate::error::Error;

/// The bytes of an image.
///
/// Implement it for a medium of your own, or take [`OnNor`](crate::OnNor), [`OnNand`](crate::OnNand) or [`InRam`].
pub trait Source {
    /// How many bytes there are. An image may be shorter.
    fn bytes(&self) -> u64;

    /// Reads bytes.
    ///
    /// # Errors
    /// [`Error::End`] where there are not so many; what the medium says.
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error>;

    /// The most that it takes to read so many bytes in order, in so many pieces, wherever they lie.
    fn bound(&self, bytes: u64, pieces: u64) -> Bound;
}

impl<S: Source + ?Sized> Source for &mut S {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        (**self).read(offset, data)
    }
    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        (**self).bound(bytes, pieces)
    }
}

/// Refuses what lies behind the end.
pub fn within(offset: u64, count: usize, bytes: u64) -> Result<(), Error> {
    match offset.checked_add(count as u64) {
        Some(end) if end <= bytes => Ok(()),
        _ => Err(Error::End(offset.saturating_add(count as u64))),
    }
}

/// An image that the processor reads as memory: in RAM, linked into the firmware, or on flash that is mapped.
#[derive(Clone, Copy, Debug)]
pub struct InRam<'i>(&'i [u8]);

impl<'i> InRam<'i> {
    /// The image in these bytes.
    pub const fn new(bytes: &'i [u8]) -> Self {
        Self(bytes)
    }
}

impl Source for InRam<'_> {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        within(offset, data.len(), self.bytes())?;
        data.copy_from_slice(&self.0[offset as usize..offset as usize + data.len()]);
        Ok(())
    }

    /// None: the processor reads it.
    fn bound(&self, _bytes: u64, _pieces: u64) -> Bound {
        Bound::default()
    }
}
