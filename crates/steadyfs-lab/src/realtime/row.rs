//! Measurements of one medium.

use super::cards::{Cleaning, Trace};
use super::options::{WINDOW, WRITE_BYTES};
use crate::backlog::{Load, need};
use crate::stats::Stats;
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs_sim::managed::longest_window;

/// Minimum number of times that a device must clean in a run before any conclusion. With fewer, the
/// longest accesses may be missing from the run.
pub(super) const CLEANINGS_MIN: u64 = 3;

/// Backlog that an input rate leaves in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Input rate, in bytes per second.
    pub rate: u64,
    /// Bytes of buffer for the whole run; `None` if the rate is above 95 % of the mean rate.
    pub buffer_bytes: Option<u64>,
    /// Bytes of buffer without the time that accesses waited for the device's own cleaning; `None`
    /// on raw flash.
    #[serde(default)]
    pub uncleaned_bytes: Option<u64>,
    /// True if the level still grew in the second half of the run: a longer run would need more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
}

/// A medium, and the file system on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A managed device of this name as it is, without a file system.
    Device(String),
    /// SteadyFS on the raw flash of this name, whose times a datasheet bounds.
    RawFlash(String),
    /// FAT, written through, on a managed device of this name.
    Fat(String),
    /// SteadyFS on a managed device of this name.
    SteadyFs(String),
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Medium::Device(name) => f.pad(name),
            Medium::Fat(name) => f.pad(&format!("FAT on {name}")),
            Medium::RawFlash(name) | Medium::SteadyFs(name) => {
                f.pad(&format!("SteadyFS on {name}"))
            }
        }
    }
}

/// Measurements of one medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The medium, and the file system on it if there is one.
    pub medium: Medium,
    /// Writes for each commit.
    #[serde(default)]
    pub commit_every: u32,
    /// Bytes of an access.
    #[serde(default = "usual_access")]
    pub access_bytes: u64,
    /// Mean of an access, in microseconds.
    pub mean_us: f64,
    /// Access time in microseconds that 99.9 % of the accesses do not exceed.
    pub p999_us: f64,
    /// Longest access, in microseconds.
    pub max_us: f64,
    /// Longest access in which SteadyFS wrote a root on a card, in microseconds.
    #[serde(default)]
    pub max_root_us: Option<f64>,
    /// Longest access, without the time that it waited for the device's own cleaning, in
    /// microseconds; `None` on raw flash.
    #[serde(default)]
    pub max_uncleaned_us: Option<f64>,
    /// Number of times that the device began to clean; `None` on raw flash.
    #[serde(default)]
    pub cleanings: Option<u64>,
    /// Bound of an access, in microseconds. On managed flash it follows from the profile's times.
    pub bound_us: Option<f64>,
    /// Buffers of input rates.
    pub backlog: Vec<Backlog>,
    /// RAM of the file system, in bytes.
    pub ram_bytes: u64,
    /// Bytes that the volume can hold.
    pub usable_bytes: u64,
    /// Bytes written to the medium for each byte of the caller.
    pub written_per_byte: f64,
    /// Flushes of the device for each access.
    pub flushes_per_access: f64,
    /// Rate of a stream in order, in pieces of 16 pages, in bytes per second; `None` on raw flash
    /// and with FAT.
    #[serde(default)]
    pub stream_bytes_per_s: Option<f64>,
    /// Durations of the consecutive accesses that took longest together, in nanoseconds.
    pub worst_ns: Vec<u64>,
}

/// Returns the bytes of an access, for results without this field.
fn usual_access() -> u64 {
    WRITE_BYTES as u64
}

impl Row {
    pub(crate) fn of(medium: Medium, trace: Trace, rates: &[u64]) -> Row {
        let us = |ns: u64| ns as f64 / 1e3;
        let stats = Stats::of(&trace.access_ns);
        let of =
            |number: &dyn Fn(&Stats) -> u64| stats.as_ref().map_or(0.0, |stats| us(number(stats)));
        let uncleaned_of = |cleaning: &Cleaning| -> Vec<u64> {
            trace
                .access_ns
                .iter()
                .zip(&cleaning.access_ns)
                .map(|(all, part)| all.saturating_sub(*part))
                .collect()
        };
        let uncleaned = trace.cleaning.as_ref().map(uncleaned_of);
        let of_rate = |&rate: &u64| {
            let seen = need(&trace.access_ns, trace.access_bytes, rate);
            let uncleaned =
                uncleaned.as_ref().and_then(|access_ns| need(access_ns, trace.access_bytes, rate));
            Backlog {
                rate,
                buffer_bytes: seen.map(|need| need.worst.left_bytes),
                uncleaned_bytes: uncleaned.map(|need| need.worst.left_bytes),
                grows: seen.is_some_and(|need| need.grows),
            }
        };
        Row {
            medium,
            commit_every: 1,
            access_bytes: trace.access_bytes,
            mean_us: stats.as_ref().map_or(0.0, |stats| stats.mean_ns / 1e3),
            p999_us: of(&|stats| stats.p999_ns),
            max_us: of(&|stats| stats.max_ns),
            max_root_us: trace.root_ns.iter().max().map(|&ns| us(ns)),
            max_uncleaned_us: uncleaned
                .as_ref()
                .and_then(|access_ns| access_ns.iter().copied().max())
                .map(us),
            cleanings: trace.cleaning.as_ref().map(|cleaning| cleaning.bursts),
            bound_us: trace.bound_ns.map(us),
            backlog: rates.iter().map(of_rate).collect(),
            ram_bytes: trace.ram_bytes,
            usable_bytes: trace.usable_bytes,
            written_per_byte: trace.written_per_byte,
            flushes_per_access: trace.flushes_per_access,
            stream_bytes_per_s: trace.stream_bytes_per_s,
            worst_ns: longest_window(&trace.access_ns, WINDOW).to_vec(),
        }
    }

    /// Returns true if the device cleaned so seldom that a longer run may show longer accesses.
    pub(super) fn is_too_short(&self) -> bool {
        self.cleanings.is_some_and(|cleanings| cleanings < CLEANINGS_MIN)
    }

    /// Returns the mean rate, in bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.access_bytes as f64 * 1e6 / self.mean_us.max(f64::MIN_POSITIVE)
    }

    /// Returns the relation of a rate to the mean rate.
    pub(crate) fn load_at(&self, rate: u64) -> Load {
        Load::of_mean(self.bytes_per_s(), rate)
    }

    /// Returns the buffer that a rate needs.
    pub(super) fn buffer_at(&self, rate: u64) -> Option<u64> {
        self.backlog_at(rate).and_then(|row| row.buffer_bytes)
    }

    /// Returns the backlog of a rate.
    pub(crate) fn backlog_at(&self, rate: u64) -> Option<&Backlog> {
        self.backlog.iter().find(|row| row.rate == rate)
    }
}
