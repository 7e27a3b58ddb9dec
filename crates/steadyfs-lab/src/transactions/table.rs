//! The result: for each device a row of each file system and event, and the state of its copies.

use super::{Call, Copies, Events, System, Times};
use crate::table::{Align, paragraph, table};
use crate::units::{format_count, format_size};
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

    /// Returns true if the row has one commit after the calls of `series` files.
    fn is_of(&self, series: u32) -> bool {
        series > 1 && self.commit_on == Events::Series.name(series)
    }

    /// Returns the times of a file, with its part of a commit of `series` files.
    pub(crate) fn us_per_file(&self, series: u32) -> [f64; Call::ALL.len()] {
        let mut us = self.us;
        if self.is_of(series) {
            us[Call::After as usize] /= f64::from(series);
        }
        us
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

    /// Returns the row as text, without its name. A commit after the calls of `series` files has
    /// their number behind its time, if the row has such commits.
    pub(crate) fn cells(&self, series: u32) -> Vec<String> {
        let of_series = self.is_of(series);
        let time = |(at, us): (usize, f64)| {
            let files = if of_series && at == Call::After as usize {
                format!("/{series}")
            } else {
                String::new()
            };
            short_duration(us) + &files
        };
        let times =
            self.us.iter().copied().chain([self.file_us, self.max_us]).enumerate().map(time);
        let share = self
            .flush_share()
            .map_or_else(|| "–".to_string(), |share| format!("{:.0} %", 100.0 * share));
        times.chain([format!("{:.2}", self.flushes_per_file), share]).collect()
    }
}

/// Formats a time in microseconds with three digits: `955 ms`, `1.17 ms`.
fn short_duration(us: f64) -> String {
    let (number, unit) = match us {
        us if us < 999.5 => (us, "µs"),
        us if us < 999_500.0 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let decimals = match number {
        _ if us < 999.5 => 0,
        number if number < 9.995 => 2,
        number if number < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$} {unit}")
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
    ["create", "write", "flush", "close", "after", "a file", "longest", "device flush", "cache"];

impl Transactions {
    /// Returns the measurement in one line.
    pub(crate) fn title(&self) -> String {
        format!(
            "{} files of {}, one file each second",
            format_count(self.files.into()),
            format_size(self.write_bytes)
        )
    }

    /// Returns the first device with a cache that a power cut empties.
    pub(crate) fn cached(&self) -> Option<&DeviceRows> {
        self.devices.iter().find(|device| matches!(device.cache, Cache::Volatile { .. }))
    }

    /// Returns the result: the state of copies after a power cut, and the price of a commit.
    pub(crate) fn sentence(&self) -> String {
        let Some(device) = self.cached() else {
            return "Create, write, flush, close: the chosen call pays for the commit.".to_string();
        };
        let whole: Vec<_> = device.copies.iter().filter(|copies| copies.lost() == 0).collect();
        let mut states = Vec::new();
        if let Some(copies) = whole.first() {
            let systems: Vec<_> = whole.iter().map(|copies| copies.system.to_string()).collect();
            let count = format_count(copies.copies.into());
            states.push(format!("{} kept all {count} finished copies", systems.join(" and ")));
        }
        let lost = device.copies.iter().filter(|copies| copies.lost() > 0);
        states.extend(lost.map(|copies| {
            format!("{} lost {}", copies.system, format_count(copies.lost().into()))
        }));
        let kept = if states.is_empty() {
            String::new()
        } else {
            format!("A power cut on {}: {}. ", device.device, states.join(", "))
        };
        let close = device.rows.iter().find(|row| row.commit_on == "on close");
        let paid = close.map_or(String::new(), |row| {
            format!(
                "A commit takes {} on {}, in the call that you choose.",
                short_duration(row.call_us(Call::Close)),
                device.device
            )
        });
        (kept + &paid).trim_end().to_string()
    }

    /// Returns the meaning of the columns.
    pub(crate) fn legend(&self) -> String {
        let mut legend = "\
            Create, write, flush, close: the median time of the call.\n\
            After: the median time of a commit by the clock or by the application, after the calls."
            .to_string();
        if self.series > 1 {
            legend += &format!(
                "\n\
                 /{0}: this commit is for {0} files, so each file takes 1/{0} of it.",
                self.series
            );
        }
        legend
            + "\n\
               A file: the mean of the whole time of a file. Longest: of the four calls.\n\
               Device flush: the flushes of the device for each file. Cache: the part of the time in which the \
               device emptied its cache.\n\
               FAT as exFAT never flushes. FAT as TexFAT flushes after each call."
    }
}

impl fmt::Display for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", paragraph(&self.sentence(), 0))?;
        writeln!(f, "{}\n", self.title())?;
        for device in &self.devices {
            writeln!(f, "{}\n{}", device.device, paragraph(&device.cache.to_string(), 0))?;
            let head: Vec<String> =
                std::iter::once("Commit").chain(COLUMNS).map(String::from).collect();
            let row =
                |row: &Row| std::iter::once(row.name()).chain(row.cells(self.series)).collect();
            let rows: Vec<_> = std::iter::once(head).chain(device.rows.iter().map(row)).collect();
            let mut align = vec![Align::Left];
            align.resize(rows[0].len(), Align::Right);
            if !device.rows.is_empty() {
                writeln!(f, "{}", table(&rows, &align))?;
            }
            for skipped in &device.skipped {
                writeln!(f, "{}", paragraph(&skipped.to_string(), 0))?;
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
        writeln!(f, "{}", paragraph(&self.legend(), 2))
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
        assert_eq!(row.cells(2)[8], "50 %");
        assert_eq!(row.cells(2)[4..6], ["90 µs/2", "51 µs"], "a commit of two files");
        assert_eq!(row.cells(3)[4], "90 µs");
        let of_file: f64 = row.us_per_file(2).iter().sum();
        assert_eq!(of_file, row.file_us, "the figure and the table have one time of a file");
    }

    #[test]
    fn times_have_three_digits() {
        let texts = [0.0, 503.4, 999.6, 1_165.0, 12_230.0, 954_573.0, 1_910_000.0];
        assert_eq!(
            texts.map(short_duration),
            ["0 µs", "503 µs", "1.00 ms", "1.17 ms", "12.2 ms", "955 ms", "1.91 s"]
        );
    }
}
