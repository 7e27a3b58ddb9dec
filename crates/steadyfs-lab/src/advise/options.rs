//! What to advise on: a device, and what it does all day.

use crate::evaluate::Timing;

/// What a device does all day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Durable records of 64 B at the end of a file, which gives way to a new one.
    Log,
    /// Durable overwrites of 4 KiB at random places.
    Overwrite,
    /// Durable changes of whole files of 200 B, in place.
    Configuration,
    /// Files of 16 KiB written by 256 B, durable when they are closed; each replaces an old one.
    Files,
}

impl Workload {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Workload); 4] = [
        ("log", Workload::Log),
        ("overwrite", Workload::Overwrite),
        ("configuration", Workload::Configuration),
        ("files", Workload::Files),
    ];

    /// The workload of a name.
    pub fn named(name: &str) -> Option<Workload> {
        Workload::ALL.iter().find(|(known, _)| *known == name).map(|&(_, workload)| workload)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Workload::ALL.iter().find(|(_, workload)| *workload == self).map_or("", |(name, _)| name)
    }
}

/// What to advise on.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML.
    pub device: String,
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// What the device does.
    pub workload: Workload,
    /// Share of these bytes that data takes, from 0 to 1. Default a half.
    pub fill: f64,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Share of the usual length of all runs, from 0 to 1. Less: sooner, and an advice that knows less of what is rare. Default 1.
    pub effort: f64,
    /// Seed of places; the same seed gives the same advice. Default 1.
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
            effort: 1.0,
            seed: 1,
        }
    }
}
