//! The result: a row for each kind of call, for people and as JSON.

use super::taken::{Parts, Taken, Told};
use crate::part::times_of;
use crate::table::{Align, facts, table};
use crate::units::{format_count, format_duration, format_percent, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

const NOTES: &str = "\
Times are chip times. Longest: the longest call of its kind. Promised: its bound, computed just
before it. Bound: the largest bound of any call. ×: this bound, divided by the longest call.
Nearest: the largest share of its bound that a call took.";

const PARTS: &str = "\
Shares of the largest bound. A write of several pages has the shares of its first page. Call: its
look-ups, its pages and its commit. Earlier changes: pages of small changes that leave the journal
buffer, and steps that free the pages of removed files. Reclamation: moves and leaf write-backs.";

/// The results of a search on a chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the device profile.
    pub device: String,
    /// Bytes of the chip that were in use.
    pub size_bytes: u64,
    /// Bytes of an erase block.
    pub erase_block_bytes: u32,
    /// Share of the usable bytes that was in use.
    pub fill: f64,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Seed of the search.
    pub seed: u64,
    /// One row for each kind of call.
    pub rows: Vec<Row>,
}

/// The results for one kind of call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the kind.
    pub kind: String,
    /// Number of calls, including the calls that prepared others.
    pub calls: u64,
    /// Total time of the calls, in nanoseconds.
    pub total_ns: u64,
    /// Time of the longest call, in nanoseconds.
    pub longest_ns: u64,
    /// Bound of the longest call just before it, in nanoseconds.
    pub told_ns: u64,
    /// The largest bound of any call, in nanoseconds.
    pub bound_ns: u64,
    /// The largest quotient of a call's time and its bound.
    pub nearest: f64,
    /// The parts of the largest bound. If a write covers several pages, they are the parts of the
    /// bound of its first page. Absent for mounts and unmounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

impl Row {
    /// Returns the row of a kind without calls.
    pub(super) fn of(kind: &str) -> Row {
        Row {
            kind: kind.to_string(),
            calls: 0,
            total_ns: 0,
            longest_ns: 0,
            told_ns: 0,
            bound_ns: 0,
            nearest: 0.0,
            parts: None,
        }
    }

    pub(super) fn add(&mut self, taken: Taken) {
        let Taken { time_ns, bound: Told { bound_ns, parts } } = taken;
        let nearest = time_ns as f64 / bound_ns.max(1) as f64;
        self.merge(&Row {
            calls: 1,
            total_ns: time_ns,
            longest_ns: time_ns,
            told_ns: bound_ns,
            bound_ns,
            nearest,
            parts,
            ..Row::of("")
        });
    }

    pub(super) fn merge(&mut self, other: &Row) {
        if other.longest_ns > self.longest_ns {
            (self.longest_ns, self.told_ns) = (other.longest_ns, other.told_ns);
        }
        self.calls += other.calls;
        self.total_ns += other.total_ns;
        if other.bound_ns > self.bound_ns {
            (self.bound_ns, self.parts) = (other.bound_ns, other.parts);
        }
        self.nearest = self.nearest.max(other.nearest);
    }

    /// Returns the largest bound divided by the time of the longest call.
    pub fn ratio(&self) -> f64 {
        self.bound_ns as f64 / self.longest_ns.max(1) as f64
    }

    fn cells(&self) -> Vec<String> {
        let duration = |ns: u64| format_duration(ns as f64);
        vec![
            self.kind.clone(),
            format_count(self.calls),
            duration(self.total_ns / self.calls.max(1)),
            duration(self.longest_ns),
            duration(self.told_ns),
            duration(self.bound_ns),
            format!("{:.2}", self.ratio()),
            format_percent(self.nearest),
        ]
    }
}

/// Returns the share of each part in a bound.
fn shares(parts: &Parts) -> [String; 5] {
    let each =
        [parts.call_ns, parts.earlier_ns, parts.reclamation_ns, parts.root_ns, parts.erase_ns];
    let total_ns = each.iter().sum::<u64>().max(1);
    each.map(|part_ns| format_percent(part_ns as f64 / total_ns as f64))
}

/// Prints the rows for people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, block) =
            (format_size(self.size_bytes), format_size(self.erase_block_bytes.into()));
        let lines = [
            (
                "Chip",
                format!(
                    "{}, {size} in blocks of {block}, {}",
                    self.device,
                    times_of(&self.timing, self.call_us)
                ),
            ),
            ("Fill", format_percent(self.fill)),
            ("Seed", self.seed.to_string()),
        ];
        writeln!(f, "{}", facts(lines))?;
        let head = ["Call", "calls", "mean", "longest", "promised", "bound", "×", "nearest"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.rows.iter().filter(|row| row.calls > 0).map(Row::cells));
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        writeln!(f, "{}", table(&rows, &align))?;
        writeln!(f, "{NOTES}\n")?;
        let head = ["Part of the bound", "call", "earlier changes", "reclamation", "root", "erase"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.rows.iter().filter_map(|row| {
            let cells = shares(row.parts.as_ref().filter(|_| row.calls > 0)?);
            Some([row.kind.clone()].into_iter().chain(cells).collect())
        }));
        writeln!(f, "{}\n{PARTS}", table(&rows, &align[..head.len()]))
    }
}
