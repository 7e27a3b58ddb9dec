//! The result: a row for each medium, and the advice.

use super::advice::{Advice, Guarantee, advise};
use super::{Options, Trace, WINDOW, WRITE_BYTES};
use crate::backlog::backlog;
use crate::stats::Stats;
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_rate, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs_sim::managed::longest_window;

/// What an input rate leaves in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Input rate, in bytes a second.
    pub rate: u64,
    /// Bytes of buffer of the whole run; nothing where no finite buffer suffices.
    pub buffer_bytes: Option<u64>,
}

/// What was measured of one medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The medium, and the file system on it if there is one.
    pub system: String,
    /// It is raw flash, whose times a datasheet bounds.
    pub is_raw_flash: bool,
    /// Mean of an access, in microseconds.
    pub mean_us: f64,
    /// 99.9 % take at most so long.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The longest of those in which SteadyFS wrote a root on a card.
    #[serde(default)]
    pub max_root_us: Option<f64>,
    /// What is promised, by the profile's times on managed flash, in microseconds.
    pub bound_us: Option<f64>,
    /// Buffers of input rates.
    pub backlog: Vec<Backlog>,
    /// RAM of the file system.
    pub ram_bytes: u64,
    /// Bytes that it can hold.
    pub usable_bytes: u64,
    /// Bytes written to the medium for each byte of the caller.
    pub written_per_byte: f64,
    /// The accesses in a row that took longest, in nanoseconds.
    pub worst_ns: Vec<u64>,
}

impl Row {
    pub(super) fn of(system: &str, trace: Trace, is_raw_flash: bool, rates: &[u64]) -> Row {
        let us = |ns: u64| ns as f64 / 1e3;
        let stats = Stats::of(&trace.access_ns);
        let of = |number: &dyn Fn(&Stats) -> u64| stats.as_ref().map_or(0.0, |stats| us(number(stats)));
        let of_rate = |&rate: &u64| Backlog {
            rate,
            buffer_bytes: backlog(&trace.access_ns, WRITE_BYTES as u64, rate).map(|worst| worst.left_bytes),
        };
        Row {
            system: system.to_string(),
            is_raw_flash,
            mean_us: stats.as_ref().map_or(0.0, |stats| stats.mean_ns / 1e3),
            p999_us: of(&|stats| stats.p999_ns),
            max_us: of(&|stats| stats.max_ns),
            max_root_us: trace.root_ns.iter().max().map(|&ns| us(ns)),
            bound_us: trace.bound_ns.map(us),
            backlog: rates.iter().map(of_rate).collect(),
            ram_bytes: trace.ram_bytes,
            usable_bytes: trace.usable_bytes,
            written_per_byte: trace.written_per_byte,
            worst_ns: longest_window(&trace.access_ns, WINDOW).to_vec(),
        }
    }

    /// The buffer that a rate needs.
    pub(super) fn buffer_at(&self, rate: u64) -> Option<u64> {
        let known = self.backlog.iter().find(|row| row.rate == rate);
        known.and_then(|row| row.buffer_bytes)
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Realtime {
    /// Accesses of each run.
    pub accesses: u32,
    /// Share of the volumes that holds data.
    pub fill: f64,
    /// Rows.
    pub rows: Vec<Row>,
    /// Writes for each commit on the cards.
    #[serde(default)]
    pub commit_every: u32,
    /// The rate that advice is for, in bytes a second.
    pub rate: u64,
    /// The RAM that there is, in bytes.
    pub ram_bytes: u64,
    /// The advice.
    pub advice: Vec<Advice>,
}

impl Realtime {
    pub(super) fn of(options: &Options, rows: Vec<Row>) -> Realtime {
        let advice = advise(&rows, options);
        Realtime {
            accesses: options.accesses,
            fill: options.fill,
            commit_every: options.commit_every,
            rows,
            rate: options.rate,
            ram_bytes: options.ram_bytes,
            advice,
        }
    }
}

fn buffer(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_string(), format_size)
}

impl fmt::Display for Realtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accesses = format_count(self.accesses.into());
        writeln!(
            f,
            "4 KiB writes at random places, {}: {accesses} accesses; volumes {:.0} % full\n",
            if self.commit_every > 1 {
                format!("durable by {} on the cards", self.commit_every)
            } else {
                "each durable".to_string()
            },
            100.0 * self.fill
        )?;
        let mut head = ["", "mean", "longest", "with a root"].map(String::from).to_vec();
        let rates = self.rows.first().map(|row| row.backlog.clone()).unwrap_or_default();
        head.extend(rates.iter().map(|row| format_rate(row.rate as f64)));
        head.push("written".to_string());
        let cells = |row: &Row| {
            let mut cells = vec![row.system.clone(), format_duration(row.mean_us * 1e3), format_duration(row.max_us * 1e3)];
            cells.push(row.max_root_us.map_or_else(|| "–".to_string(), |us| format_duration(us * 1e3)));
            cells.extend(row.backlog.iter().map(|row| buffer(row.buffer_bytes)));
            cells.push(format!("{:.2}", row.written_per_byte));
            cells
        };
        let rows: Vec<_> = std::iter::once(head).chain(self.rows.iter().map(cells)).collect();
        let mut align = vec![Align::Left];
        align.resize(rows[0].len(), Align::Right);
        writeln!(f, "{}", table(&rows, &align))?;
        writeln!(
            f,
            "Below a rate: the buffer that it needs; – where none suffices. Written: bytes to the medium for each byte of the caller.\n"
        )?;
        writeln!(f, "{} with {} of RAM:", format_rate(self.rate as f64), format_size(self.ram_bytes))?;
        for advice in &self.advice {
            let ram = match advice.buffer_bytes {
                Some(buffer) => {
                    format!("{} of buffer and {} of file system", format_size(buffer), format_size(advice.file_system_bytes))
                }
                None => "no buffer suffices".to_string(),
            };
            let word = match (advice.fits, advice.guarantee) {
                (true, Guarantee::Computed) => "yes, by a computed bound",
                (true, _) => "yes, by this profile alone",
                (false, _) => "no",
            };
            writeln!(f, "  {:<28} {word}: {ram}", advice.system)?;
        }
        writeln!(f, "\nBy the SD specification alone, a card may be busy for 250 ms behind 512 B: 2 kB/s without a buffer.")
    }
}
