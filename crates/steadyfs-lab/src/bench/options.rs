//! The options of a measurement: the part of a chip, the cases, and the memory that SteadyFS is
//! lent.

use super::cases::Case;
use crate::allowed::{Allowed, NotAllowed};
use crate::part::Part;

/// The options of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Part of the device to use. Default all, with typical times.
    pub part: Part,
    /// Cases to measure, in the order of rows. Default all.
    pub cases: Vec<Case>,
    /// Number of files in the cases with many files. Default 500.
    pub files: u32,
    /// Logical pages of a cache that SteadyFS is lent. They count as part of its RAM. Default
    /// none.
    pub cache_pages: u32,
    /// Number of program pages in a read cache that SteadyFS is lent. They count as part of its
    /// RAM. Default none.
    pub read_cache_pages: u32,
    /// True if a format erases the chip. Default false.
    pub erased: bool,
    /// Seed of random places and orders. The same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Options {
    /// Allowed numbers of files.
    pub const FILES: Allowed = Allowed::new("files", 1..=u32::MAX as u64);
    /// Allowed pages of the cache.
    pub const CACHE_PAGES: Allowed = Allowed::new("cache_pages", 0..=1024);
    /// Allowed pages of the read cache.
    pub const READ_CACHE_PAGES: Allowed = Allowed::new("read_cache_pages", 0..=65_536);

    /// Checks the options, without the device.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        Self::FILES.check(self.files)?;
        Self::CACHE_PAGES.check(self.cache_pages)?;
        Self::READ_CACHE_PAGES.check(self.read_cache_pages)?;
        self.part.check()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            part: Part::default(),
            cases: Case::all(),
            files: 500,
            cache_pages: 0,
            read_cache_pages: 0,
            erased: false,
            seed: 1,
        }
    }
}
