//! The result: for each device a row of each file system and event, and what became of its copies.

use super::{Call, Copies, System, Times};
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Times of the calls under one choice of events, half of them at most, in microseconds of the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The file system.
    pub system: String,
    /// After what it commits; empty where nobody can choose.
    pub commit_on: String,
    /// Create, write, flush, close, and the commit that comes after the calls.
    pub us: [f64; Call::ALL.len()],
    /// The share of each in which the device emptied its cache.
    pub flush_us: [f64; Call::ALL.len()],
    /// Mean of all that a file takes, its share of a commit of several included.
    pub file_us: f64,
    /// Flushes of the device for each file, in the mean.
    pub flushes_per_file: f64,
    /// The longest of the four calls.
    pub max_us: f64,
}

impl Row {
    /// What the times of files say, of which so many have one commit.
    pub(super) fn of(system: System, commit_on: String, times: &[Times], flushes: u64, series: u32) -> Row {
        // A series that was not complete has no commit.
        let whole = &times[..times.len() / series as usize * series as usize];
        let median = |call: Call, of: &dyn Fn(&Times) -> u64| {
            // What comes after the calls comes after the last one of a series.
            let (skip, step) = if call == Call::After { (series as usize - 1, series as usize) } else { (0, 1) };
            let mut all: Vec<_> = whole.iter().skip(skip).step_by(step).map(of).collect();
            all.sort_unstable();
            all.get(all.len() / 2).map_or(0.0, |&ns| ns as f64 / 1e3)
        };
        let longest = times.iter().flat_map(|times| &times[..4]).map(|time| time.ns).max().unwrap_or(0);
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

    /// The time of a call, in microseconds.
    pub fn call_us(&self, call: Call) -> f64 {
        self.us[call as usize]
    }

    /// The file system, and after what it commits.
    pub fn name(&self) -> String {
        if self.commit_on.is_empty() { self.system.clone() } else { format!("{}, {}", self.system, self.commit_on) }
    }

    /// The share of all times in which the device emptied its cache.
    fn flush_share(&self) -> Option<f64> {
        let (all, flushed): (f64, f64) = (self.us.iter().sum(), self.flush_us.iter().sum());
        (all > 0.0).then(|| flushed / all)
    }

    /// The row in text, behind its name.
    pub(crate) fn cells(&self) -> Vec<String> {
        let times = self.us.iter().copied().chain([self.file_us, self.max_us]).map(|us| format_duration(us * 1e3));
        let share = self.flush_share().map_or_else(|| "–".to_string(), |share| format!("{:.0} %", 100.0 * share));
        times.chain([format!("{:.2}", self.flushes_per_file), share]).collect()
    }
}

/// Whether a device answers writes before they are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// It is raw flash: a page that was programmed is there.
    RawFlash,
    /// It has none: a write that was answered is there.
    None,
    /// It has one, which is empty when power fails.
    Volatile {
        /// Its size.
        bytes: u64,
    },
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cache::RawFlash => f.write_str(
                "Raw flash: no cache, and no FAT without a translation layer between; a page that was programmed is there.",
            ),
            Cache::None => f.write_str(
                "No write cache: the card answers a write when it is durable, so nothing that was finished can be lost.\n\
                 Cards of class A2 may have one (SD 6.0), and are like a disk then.",
            ),
            Cache::Volatile { bytes } => {
                let size = format_size(*bytes);
                write!(f, "A write cache of {size}: what was not flushed may be lost, any part of it.")
            }
        }
    }
}

/// A row that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The file system.
    pub system: String,
    /// After what it was to commit.
    pub commit_on: String,
    /// Why it was not measured: the volume has no room for it, or for so much before a commit.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} was not measured: {}.", self.system, self.commit_on, self.reason)
    }
}

/// What was measured on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRows {
    /// Name of the device.
    pub device: String,
    /// Whether it has a cache.
    pub cache: Cache,
    /// Rows of calls.
    pub rows: Vec<Row>,
    /// What became of finished copies; nothing on raw flash.
    pub copies: Vec<Copies>,
    /// Rows that were not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Bytes written to each file.
    pub write_bytes: u64,
    /// Files of each row.
    pub files: u32,
    /// Files before one commit, where a series of them has one.
    pub series: u32,
    /// Devices.
    pub devices: Vec<DeviceRows>,
}

/// Names of the numbers of [`Row::cells`].
pub(crate) const COLUMNS: [&str; 9] = ["create", "write", "flush", "close", "after", "a file", "longest", "flushes", "cache"];

impl Transactions {
    /// What was measured, in one line.
    pub(crate) fn title(&self) -> String {
        format!("{} files of {}, one each second", format_count(self.files.into()), format_size(self.write_bytes))
    }

    /// What the columns mean.
    pub(crate) fn legend(&self) -> String {
        format!(
            "Create to after: medians. After: the commit that the clock or the application makes when the calls are over;\n\
             {0} by hand: {0} files before one commit. A file: the mean of all that it takes, its share of the commit\n\
             included. Longest: of the four calls. Flushes: of the device, for each file. Cache: the share of all times in\n\
             which the device emptied its cache. FAT as exFAT: never flushed; as TexFAT: flushed after each call.",
            self.series
        )
    }
}

impl fmt::Display for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        for device in &self.devices {
            writeln!(f, "{}\n{}", device.device, device.cache)?;
            let head: Vec<String> = std::iter::once("Commit").chain(COLUMNS).map(String::from).collect();
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
                let head: Vec<String> =
                    std::iter::once("Finished copies, then power fails").chain(Copies::COLUMNS).map(String::from).collect();
                let row = |copies: &Copies| std::iter::once(copies.name()).chain(copies.cells()).collect();
                let rows: Vec<Vec<String>> = std::iter::once(head).chain(device.copies.iter().map(row)).collect();
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
        // The last one has no commit.
        let times = [of([1000, 2000, 0, 3000, 0]), of([1000, 2000, 0, 3000, 90_000]), of([1000, 9000, 0, 3000, 0])];
        let row = Row::of(System::SteadyFs, "2 by hand".into(), &times, 6, 2);
        assert_eq!((row.us, row.flush_us[4]), ([1.0, 2.0, 0.0, 3.0, 90.0], 45.0));
        assert_eq!((row.file_us, row.max_us, row.flushes_per_file), (51.0, 9.0, 2.0));
        assert_eq!(row.cells()[8], "50 %");
    }
}
