//! The result: for each device a row of each file system and event, and the state of its copies.

use super::{Call, Copies, System, Times};
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Times of the calls under one choice of events. They are medians, in microseconds of the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The file system.
    pub system: String,
    /// Event after which it commits; empty if there is no choice.
    pub commit_on: String,
    /// Create, write, flush, close, and the commit that comes after the calls.
    pub us: [f64; Call::ALL.len()],
    /// Part of each time in which the device emptied its cache.
    pub flush_us: [f64; Call::ALL.len()],
    /// Mean time of a file, with its share of a commit of several files.
    pub file_us: f64,
    /// Mean number of flushes of the device for each file.
    pub flushes_per_file: f64,
    /// Longest of the four calls.
    pub max_us: f64,
}

impl Row {
    /// Returns the row for the times of files, with one commit for `series` files.
    pub(super) fn of(
        system: System,
        commit_on: String,
        times: &[Times],
        flushes: u64,
        series: u32,
    ) -> Row {
        // An incomplete series has no commit.
        let whole = &times[..times.len() / series as usize * series as usize];
        let median = |call: Call, of: &dyn Fn(&Times) -> u64| {
            // The time after the calls belongs to the last file of a series.
            let (skip, step) =
                if call == Call::After { (series as usize - 1, series as usize) } else { (0, 1) };
            let mut all: Vec<_> = whole.iter().skip(skip).step_by(step).map(of).collect();
            all.sort_unstable();
            all.get(all.len() / 2).map_or(0.0, |&ns| ns as f64 / 1e3)
        };
        let longest =
            times.iter().flat_map(|times| &times[..4]).map(|time| time.ns).max().unwrap_or(0);
        let all: u64 = whole.iter().flatten().map(|time| time.ns).sum();
        Row {
            system: system.to_string(),
            commit_on,
            us: Call::ALL.map(|call| median(call, &|times| times[call as usize].ns)),
            flush_us: Call::ALL.map(|call| median(call, &|times| times[call as usize].flush_ns)),
            file_us: all as f64 / whole.len().max(1) as f64 / 1e3,
            flushes_per_file: flushes as f64 / times.len().max(1) as f64,
            max_us: longest as f64 / 1e3,
        }
    }

    /// Returns the time of a call, in microseconds.
    pub fn call_us(&self, call: Call) -> f64 {
        self.us[call as usize]
    }

    /// Returns the file system, and the event after which it commits.
    pub fn name(&self) -> String {
        if self.commit_on.is_empty() {
            self.system.clone()
        } else {
            format!("{}, {}", self.system, self.commit_on)
        }
    }

    /// Returns the share of all times in which the device emptied its cache.
    fn flush_share(&self) -> Option<f64> {
        let (all, flushed): (f64, f64) = (self.us.iter().sum(), self.flush_us.iter().sum());
        (all > 0.0).then(|| flushed / all)
    }

    /// Returns the row as text, without its name.
    pub(crate) fn cells(&self) -> Vec<String> {
        let times = self
            .us
            .iter()
            .copied()
            .chain([self.file_us, self.max_us])
            .map(|us| format_duration(us * 1e3));
        let share = self
            .flush_share()
            .map_or_else(|| "–".to_string(), |share| format!("{:.0} %", 100.0 * share));
        times.chain([format!("{:.2}", self.flushes_per_file), share]).collect()
    }
}

/// Write cache of a device, which may answer writes before they are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Raw flash: a programmed page is durable.
    RawFlash,
    /// No cache: an answered write is durable.
    None,
    /// A cache that loses its content when power fails.
    Volatile {
        /// Size of the cache.
        bytes: u64,
    },
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cache::RawFlash => f.write_str(
                "Raw flash: no cache, and no FAT without a translation layer. A programmed page is \
                 durable.",
            ),
            Cache::None => f.write_str(
                "No write cache: the card answers a write when it is durable, so no finished write \
                 can be lost.\n\
                 Cards of class A2 may have a cache (SD 6.0), and then behave like a disk.",
            ),
            Cache::Volatile { bytes } => {
                let size = format_size(*bytes);
                write!(f, "A write cache of {size}: any part of the unflushed data may be lost.")
            }
        }
    }
}

/// A row that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The file system.
    pub system: String,
    /// Event after which it was to commit.
    pub commit_on: String,
    /// Reason why it was not measured: the volume has no room for the files, or for the changes
    /// before a commit.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} was not measured: {}.", self.system, self.commit_on, self.reason)
    }
}

/// Measurements of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRows {
    /// Name of the device.
    pub device: String,
    /// Write cache of the device.
    pub cache: Cache,
    /// Rows of calls.
    pub rows: Vec<Row>,
    /// State of finished copies; empty on raw flash.
    pub copies: Vec<Copies>,
    /// Rows that were not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// The whole result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Bytes written to each file.
    pub write_bytes: u64,
    /// Files of each row.
    pub files: u32,
    /// Files before one commit, in a series.
    pub series: u32,
    /// Devices.
    pub devices: Vec<DeviceRows>,
}

/// Names of the numbers of [`Row::cells`].
pub(crate) const COLUMNS: [&str; 9] =
    ["create", "write", "flush", "close", "after", "a file", "longest", "flushes", "cache"];

impl Transactions {
    /// Returns the measurement in one line.
    pub(crate) fn title(&self) -> String {
        format!(
            "{} files of {}, one file each second",
            format_count(self.files.into()),
            format_size(self.write_bytes)
        )
    }

    /// Returns the meaning of the columns.
    pub(crate) fn legend(&self) -> String {
        format!(
            "Create to after: medians. After: the commit by the clock or the application after the \
             calls.\n\
             {0} by hand: {0} files before one commit. A file: the mean time of a file, with its \
             share of the commit.\n\
             Longest: of the four calls. Flushes: of the device, for each file. Cache: the share \
             of all times in\n\
             which the device emptied its cache. FAT as exFAT: never flushed. FAT as TexFAT: \
             flushed after each call.",
            self.series
        )
    }
}

impl fmt::Display for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        for device in &self.devices {
            writeln!(f, "{}\n{}", device.device, device.cache)?;
            let head: Vec<String> =
                std::iter::once("Commit").chain(COLUMNS).map(String::from).collect();
            let row = |row: &Row| std::iter::once(row.name()).chain(row.cells()).collect();
            let rows: Vec<_> = std::iter::once(head).chain(device.rows.iter().map(row)).collect();
            let mut align = vec![Align::Left];
            align.resize(rows[0].len(), Align::Right);
            if !device.rows.is_empty() {
                writeln!(f, "{}", table(&rows, &align))?;
            }
            for skipped in &device.skipped {
                writeln!(f, "{skipped}")?;
            }
            if !device.skipped.is_empty() {
                writeln!(f)?;
            }
            if !device.copies.is_empty() {
                let head: Vec<String> = std::iter::once("Finished copies, then power fails")
                    .chain(Copies::COLUMNS)
                    .map(String::from)
                    .collect();
                let row = |copies: &Copies| {
                    std::iter::once(copies.name()).chain(copies.cells()).collect()
                };
                let rows: Vec<Vec<String>> =
                    std::iter::once(head).chain(device.copies.iter().map(row)).collect();
                align.truncate(rows[0].len());
                writeln!(f, "{}", table(&rows, &align))?;
            }
        }
        writeln!(f, "{}", self.legend())
    }
}

#[cfg(test)]
mod tests {
    use super::super::CallTime;
    use super::*;

    #[test]
    fn a_commit_of_a_series_counts_once_in_its_time_and_by_its_share_in_that_of_a_file() {
        let of = |ns: [u64; 5]| ns.map(|ns| CallTime { ns, flush_ns: ns / 2 });
        // The last file has no commit.
        let times = [
            of([1000, 2000, 0, 3000, 0]),
            of([1000, 2000, 0, 3000, 90_000]),
            of([1000, 9000, 0, 3000, 0]),
        ];
        let row = Row::of(System::SteadyFs, "2 by hand".into(), &times, 6, 2);
        assert_eq!((row.us, row.flush_us[4]), ([1.0, 2.0, 0.0, 3.0, 90.0], 45.0));
        assert_eq!((row.file_us, row.max_us, row.flushes_per_file), (51.0, 9.0, 2.0));
        assert_eq!(row.cells()[8], "50 %");
    }
}
