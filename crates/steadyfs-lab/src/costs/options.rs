//! The options of a measurement: the chip and the number of files.

use crate::allowed::{Allowed, NotAllowed};
use crate::part::Part;

/// The options of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Part of the device to use, and its times. Default all, with typical times.
    pub part: Part,
    /// Number of files in the large directory, and of steps of each kind. Default 10,000, or as
    /// many as the volume holds.
    pub files: Option<u32>,
    /// Seed of the order of files. The same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Options {
    /// Allowed numbers of files.
    pub const FILES: Allowed = Allowed::new("files", 1..=u32::MAX as u64);

    /// Checks the options, without the device.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        self.files.map_or(Ok(()), |files| Self::FILES.check(files))?;
        self.part.check()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            part: Part::default(),
            files: None,
            seed: 1,
        }
    }
}
