//! The medium. It can always be read. It can be programmed and erased until a flush fails.

use crate::error::Error;
use crate::media::{Failure, Flash};

/// The medium, and a flag for a failed flush. After a failed flush it is unknown which of the
/// programs since the last successful flush are on the medium. So no later program may rely on
/// these programs.
pub(super) struct Device<F> {
    flash: F,
    flush_failed: bool,
}

impl<F: Flash> Device<F> {
    pub fn new(flash: F) -> Self {
        Self { flash, flush_failed: false }
    }

    pub fn flash(&self) -> &F {
        &self.flash
    }

    /// Returns the medium for reads. For programs and erases use [`certain`](Self::certain).
    pub fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    pub fn into_flash(self) -> F {
        self.flash
    }

    /// Returns the medium for programs and erases, or an error after a failed flush.
    pub fn certain(&mut self) -> Result<&mut F, Failure> {
        if self.flush_failed { Err(Failure::WriteProtected) } else { Ok(&mut self.flash) }
    }

    /// Flushes the device's cache. If the flush fails, returns [`Error::Unknown`], and nothing is
    /// programmed or erased from then on. Data of earlier calls that returned success may be lost,
    /// and a later successful flush does not prove the opposite.
    pub fn flush(&mut self) -> Result<(), Error> {
        let result = self.certain().and_then(Flash::sync);
        self.flush_failed |= result.is_err();
        result.map_err(|_| Error::Unknown)
    }
}
