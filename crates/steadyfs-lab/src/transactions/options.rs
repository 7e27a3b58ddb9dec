//! Options of the measurement: devices, files and copies.

use crate::allowed::{Allowed, NotAllowed};
use crate::evaluate::Timing;

/// Options of the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Devices, raw or managed: built-in names or files in TOML. Default a NAND chip, an SD card
    /// and an SSD.
    pub devices: Vec<String>,
    /// Times of raw chips. Default typical.
    pub timing: Timing,
    /// Bytes written to each file. Default 4,096.
    pub write_bytes: u64,
    /// Files of each row. Default 100.
    pub files: u32,
    /// Files before one commit, in a series that is committed together. Default 8.
    pub series: u32,
    /// Copies after which power is cut, for each file system on each managed device. Default 1,000.
    pub copies: u32,
    /// Seed of the contents, and of the data that cuts leave. Default 1.
    pub seed: u64,
}

impl Options {
    /// Allowed bytes of a file.
    pub const WRITE_BYTES: Allowed = Allowed::new("write_bytes", 1..=1 << 48);
    /// Allowed numbers of files.
    pub const FILES: Allowed = Allowed::new("files", 1..=1000);
    /// Allowed numbers of files before one commit. `files` is a limit as well.
    pub const SERIES: Allowed = Allowed::new("series", 1..=1000);
    /// Allowed numbers of copies.
    pub const COPIES: Allowed = Allowed::new("copies", 0..=1_000_000);

    /// Checks the options, without the devices.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        Self::WRITE_BYTES.check(self.write_bytes)?;
        Self::FILES.check(self.files)?;
        Allowed { most: self.files.into(), ..Self::SERIES }.check(self.series)?;
        Self::COPIES.check(self.copies)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            devices: ["mt29f1g01abafd", "sd-industrial", "ssd-sata"].map(String::from).to_vec(),
            timing: Timing::default(),
            write_bytes: 4096,
            files: 100,
            series: 8,
            copies: 1000,
            seed: 1,
        }
    }
}
