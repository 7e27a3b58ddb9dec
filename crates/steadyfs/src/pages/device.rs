//! The medium, to be read at any time, and to be changed until a flush fails.

use crate::error::Error;
use crate::media::{Failure, Flash};

/// The medium, and whether a flush has failed: nobody knows then what is there of what was programmed since the one before, and nothing may rest on it.
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

    /// To be read. What programs or erases takes [`certain`](Self::certain).
    pub fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    pub fn into_flash(self) -> F {
        self.flash
    }

    /// To be programmed or erased: not behind a flush that failed.
    pub fn certain(&mut self) -> Result<&mut F, Failure> {
        if self.flush_failed { Err(Failure::WriteProtected) } else { Ok(&mut self.flash) }
    }

    /// Empties the cache. [`Error::Unknown`] where that fails, and nothing is programmed or erased from then on: what was answered before may be lost, and a flush that
    /// succeeds later says nothing of it.
    pub fn flush(&mut self) -> Result<(), Error> {
        let result = self.certain().and_then(Flash::sync);
        self.flush_failed |= result.is_err();
        result.map_err(|_| Error::Unknown)
    }
}
