//! Sources of an image's bytes.

use crate::bound::Bound;
use crate::error::Error;

/// The bytes of an image.
///
/// Implement this trait for a medium of your own, or use [`OnNor`](crate::OnNor),
/// [`OnNand`](crate::OnNand) or [`InRam`].
pub trait Source {
    /// Returns the number of bytes of the source. An image may be shorter.
    fn bytes(&self) -> u64;

    /// Reads bytes from an offset on.
    ///
    /// # Errors
    /// [`Error::End`] if the range goes beyond the end. Errors of the medium.
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error>;

    /// Returns the worst case of reading `bytes` bytes in order, in `pieces` pieces, at any offset.
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

/// Checks that `count` bytes from `offset` on end within `bytes`.
pub fn within(offset: u64, count: usize, bytes: u64) -> Result<(), Error> {
    match offset.checked_add(count as u64) {
        Some(end) if end <= bytes => Ok(()),
        _ => Err(Error::End(offset.saturating_add(count as u64))),
    }
}

/// An image that the processor reads as memory: in RAM, linked into the firmware, or on mapped
/// flash.
#[derive(Clone, Copy, Debug)]
pub struct InRam<'i>(&'i [u8]);

impl<'i> InRam<'i> {
    /// Creates a source from the bytes of an image.
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

    /// Returns zero, because the processor reads the image directly.
    fn bound(&self, _bytes: u64, _pieces: u64) -> Bound {
        Bound::default()
    }
}
