//! The result: for each device a row of each file system and event, and what became of its copies.

use super::calls::{Call, FileTimes};
use super::{Copies, System};
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
    /// Create, write, flush, close, and what comes after the calls.
    pub us: [f64; 5],
    /// The share of each in which the device emptied its cache.
    pub flush_us: [f64; 5],
    /// The longest of the four calls.
    pub max_us: f64,
}

impl Row {
    pub(super) fn of(system: System, commit_on: String, times: &[FileTimes]) -> Row {
        let median = |of: &dyn Fn(&FileTimes) -> u64| {
            let mut all: Vec<_> = times.iter().map(of).collect();
            all.sort_unstable();
            all.get(all.len() / 2).map_or(0.0, |&ns| ns as f64 / 1e3)
        };
        let longest = times.iter().flat_map(|times| &times[..4]).map(|time| time.ns).max().unwrap_or(0);
        Row {
            system: system.to_string(),
            commit_on,
            us: std::array::from_fn(|call| median(&|times| times[call].ns)),
            flush_us: std::array::from_fn(|call| median(&|times| times[call].flush_ns)),
            max_us: longest as f64 / 1e3,
        }
    }

    /// The time of a call, in microseconds.
    pub fn call_us(&self, call: Call) -> f64 {
        self.us[call as usize]
    }

    fn cells(&self) -> Vec<String> {
        let name = if self.commit_on.is_empty() { self.system.clone() } else { format!("{}, {}", self.system, self.commit_on) };
        let all: f64 = self.us.iter().sum();
        let flushed: f64 = self.flush_us.iter().sum();
        let share = if all > 0.0 { format!("{:.0} %", 100.0 * flushed / all) } else { "–".to_string() };
        let times = self.us.iter().copied().chain([self.max_us]).map(|us| format_duration(us * 1e3));
        std::iter::once(name).chain(times).chain([share]).collect()
    }
}

/// What was measured on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRows {
    /// Name of the device.
    pub device: String,
    /// Rows of calls.
    pub rows: Vec<Row>,
    /// What became of finished copies.
    pub copies: Vec<Copies>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// Bytes written to each file.
    pub write_bytes: u64,
    /// Files of each row.
    pub files: u32,
    /// Devices.
    pub devices: Vec<DeviceRows>,
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} files of {}, one each second: the median of each call, and the longest of all\n",
            format_count(self.files.into()),
            format_size(self.write_bytes)
        )?;
        for device in &self.devices {
            writeln!(f, "{}", device.device)?;
            let head = ["Commit", "create", "write", "flush", "close", "after", "longest", "cache"].map(String::from).to_vec();
            let rows: Vec<_> = std::iter::once(head).chain(device.rows.iter().map(Row::cells)).collect();
            let mut align = vec![Align::Left];
            align.resize(rows[0].len(), Align::Right);
            writeln!(f, "{}", table(&rows, &align))?;
            let head = ["Finished copies, then power fails", "whole", "short", "wrong", "missing"].map(String::from).to_vec();
            let row = |copies: &Copies| {
                let numbers = [copies.whole, copies.short, copies.wrong, copies.missing].map(|count| format_count(count.into()));
                std::iter::once(format!("{}, {} copies", copies.system, format_count(copies.copies.into())))
                    .chain(numbers)
                    .collect()
            };
            let rows: Vec<Vec<String>> = std::iter::once(head).chain(device.copies.iter().map(row)).collect();
            align.truncate(rows[0].len());
            writeln!(f, "{}", table(&rows, &align))?;
        }
        writeln!(
            f,
            "After: the commit that the clock or the application makes when the calls are over.\nCache: the share of all times in which the device emptied its cache."
        )
    }
}
