//! The options of an advice: a device and its workload.

use crate::allowed::{NotAllowed, share};
use crate::evaluate::{Part, Timing};

/// The workload of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Appends durable records of 64 B to a file. A new file replaces a full one.
    Log,
    /// Overwrites 4 KiB durably at random places.
    Overwrite,
    /// Changes whole files of 200 B durably, in place.
    Configuration,
    /// Writes files of 16 KiB in pieces of 256 B and makes them durable at their end. Each file
    /// replaces an old one.
    Files,
}

impl Workload {
    /// All workloads with their names.
    pub const ALL: [(&'static str, Workload); 4] = [
        ("log", Workload::Log),
        ("overwrite", Workload::Overwrite),
        ("configuration", Workload::Configuration),
        ("files", Workload::Files),
    ];

    /// Returns the workload with a name.
    pub fn named(name: &str) -> Option<Workload> {
        Workload::ALL.iter().find(|(known, _)| *known == name).map(|&(_, workload)| workload)
    }

    /// Returns the name of the workload.
    pub fn name(self) -> &'static str {
        Workload::ALL.iter().find(|(_, workload)| *workload == self).map_or("", |(name, _)| name)
    }
}

/// The options of an advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML.
    pub device: String,
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// Workload of the device.
    pub workload: Workload,
    /// Share of these bytes that data takes, from 0 to 1. Default 0.5.
    pub fill: f64,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Time of the driver for each command, in microseconds. It is part of all times and bounds.
    /// Default 0: flash time alone.
    pub call_us: u32,
    /// Share of the usual length of all runs, from 0 to 1. Less is faster, and covers rare
    /// states less well. Default 1.
    pub effort: f64,
    /// Seed of the random places. The same seed gives the same advice. Default 1.
    pub seed: u64,
}

impl Options {
    /// The defaults, for a device and a workload.
    pub fn new(device: &str, workload: Workload) -> Options {
        Options {
            device: device.to_string(),
            size_bytes: None,
            workload,
            fill: 0.5,
            timing: Timing::default(),
            call_us: 0,
            effort: 1.0,
            seed: 1,
        }
    }

    /// Checks the options, without the device.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        share("fill", self.fill)?;
        share("effort", self.effort)?;
        if self.effort == 0.0 {
            return Err(NotAllowed::new("effort", 0, "a share above 0"));
        }
        self.part().check()
    }

    /// Returns the part of the chip.
    pub(super) fn part(&self) -> Part {
        let Self { size_bytes, timing, call_us, .. } = *self;
        Part { size_bytes, timing, call_us, ..Part::default() }
    }
}
