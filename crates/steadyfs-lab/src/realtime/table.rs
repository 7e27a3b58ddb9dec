//! The result: a row for each medium, and the advice.

use super::advice::{Advice, Answer, CLEANINGS_MIN, Guarantee, advise};
use super::cards::Cleaning;
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
    /// The same without the time that accesses waited for the device's own cleaning; nothing on raw flash.
    #[serde(default)]
    pub uncleaned_bytes: Option<u64>,
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
            Medium::RawFlash(name) | Medium::SteadyFs(name) => f.pad(&format!("SteadyFS on {name}")),
        }
    }
}

/// What was measured of one medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The medium, and the file system on it if there is one.
    pub medium: Medium,
    /// Writes for each commit.
    #[serde(default)]
    pub commit_every: u32,
    /// Mean of an access, in microseconds.
    pub mean_us: f64,
    /// 99.9 % take at most so long.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The longest of those in which SteadyFS wrote a root on a card.
    #[serde(default)]
    pub max_root_us: Option<f64>,
    /// The longest, without the time that it waited for the device's own cleaning; nothing on raw flash.
    #[serde(default)]
    pub max_uncleaned_us: Option<f64>,
    /// Times that the device began to clean; nothing on raw flash.
    #[serde(default)]
    pub cleanings: Option<u64>,
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
    /// Flushes of the device for each access.
    pub flushes_per_access: f64,
    /// The accesses in a row that took longest, in nanoseconds.
    pub worst_ns: Vec<u64>,
}

impl Row {
    pub(crate) fn of(medium: Medium, trace: Trace, rates: &[u64]) -> Row {
        let us = |ns: u64| ns as f64 / 1e3;
        let stats = Stats::of(&trace.access_ns);
        let of = |number: &dyn Fn(&Stats) -> u64| stats.as_ref().map_or(0.0, |stats| us(number(stats)));
        let uncleaned_of = |cleaning: &Cleaning| -> Vec<u64> {
            trace.access_ns.iter().zip(&cleaning.access_ns).map(|(all, part)| all.saturating_sub(*part)).collect()
        };
        let uncleaned = trace.cleaning.as_ref().map(uncleaned_of);
        let buffer = |access_ns: &[u64], rate| backlog(access_ns, WRITE_BYTES as u64, rate).map(|worst| worst.left_bytes);
        let of_rate = |&rate: &u64| Backlog {
            rate,
            buffer_bytes: buffer(&trace.access_ns, rate),
            uncleaned_bytes: uncleaned.as_ref().and_then(|access_ns| buffer(access_ns, rate)),
        };
        Row {
            medium,
            commit_every: 1,
            mean_us: stats.as_ref().map_or(0.0, |stats| stats.mean_ns / 1e3),
            p999_us: of(&|stats| stats.p999_ns),
            max_us: of(&|stats| stats.max_ns),
            max_root_us: trace.root_ns.iter().max().map(|&ns| us(ns)),
            max_uncleaned_us: uncleaned.as_ref().and_then(|access_ns| access_ns.iter().copied().max()).map(us),
            cleanings: trace.cleaning.as_ref().map(|cleaning| cleaning.bursts),
            bound_us: trace.bound_ns.map(us),
            backlog: rates.iter().map(of_rate).collect(),
            ram_bytes: trace.ram_bytes,
            usable_bytes: trace.usable_bytes,
            written_per_byte: trace.written_per_byte,
            flushes_per_access: trace.flushes_per_access,
            worst_ns: longest_window(&trace.access_ns, WINDOW).to_vec(),
        }
    }

    /// Whether the device cleaned so seldom that a longer run may show longer accesses.
    pub(super) fn is_too_short(&self) -> bool {
        self.cleanings.is_some_and(|cleanings| cleanings < CLEANINGS_MIN)
    }

    /// Mean rate, in bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        WRITE_BYTES as f64 * 1e6 / self.mean_us.max(f64::MIN_POSITIVE)
    }

    /// The buffer that a rate needs.
    pub(super) fn buffer_at(&self, rate: u64) -> Option<u64> {
        self.backlog_at(rate).and_then(|row| row.buffer_bytes)
    }

    /// What a rate needs.
    pub(crate) fn backlog_at(&self, rate: u64) -> Option<&Backlog> {
        self.backlog.iter().find(|row| row.rate == rate)
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
    /// The rate that advice is for, in bytes a second.
    pub rate: u64,
    /// The RAM that there is, in bytes.
    pub ram_bytes: u64,
    /// The advice.
    pub advice: Vec<Advice>,
}

impl Realtime {
    pub(crate) fn of(options: &Options, rows: Vec<Row>) -> Realtime {
        let advice = advise(&rows, options);
        Realtime {
            accesses: options.accesses,
            fill: options.fill,
            rows,
            rate: options.rate,
            ram_bytes: options.ram_bytes,
            advice,
        }
    }
}

/// What a card that keeps the specification may do.
pub(crate) const SPECIFICATION: &str =
    "By the SD specification alone, a card may be busy for 250 ms behind each 512 B: 2 s for 4 KiB, 2 kB/s without a buffer.";

fn buffer(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_string(), format_size)
}

/// A time in microseconds.
fn time(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_string(), |us| format_duration(us * 1e3))
}

impl Row {
    pub(crate) fn cells(&self) -> Vec<String> {
        let commit = if self.commit_every > 1 { self.commit_every.to_string() } else { "each".to_string() };
        let longest = if self.is_too_short() { format!("≥ {}", time(Some(self.max_us))) } else { time(Some(self.max_us)) };
        let mut cells = vec![self.medium.to_string(), commit, time(Some(self.mean_us)), format_rate(self.bytes_per_s()), longest];
        cells.extend([time(self.max_uncleaned_us), time(self.max_root_us)]);
        let at_least = |bytes: Option<u64>| match bytes {
            Some(_) if self.is_too_short() => format!("≥ {}", buffer(bytes)),
            _ => buffer(bytes),
        };
        cells.extend(self.backlog.iter().map(|row| at_least(row.buffer_bytes)));
        cells.extend([format!("{:.2}", self.written_per_byte), format!("{:.2}", self.flushes_per_access)]);
        cells
    }
}

impl Advice {
    /// Whether the medium will do, and why.
    pub(crate) fn text(&self) -> String {
        let word = match (self.answer, self.guarantee) {
            (Answer::Yes, Guarantee::Computed) => "yes, by a computed bound",
            (Answer::Yes, _) => "yes, by this profile alone",
            (Answer::TooMuchRam, _) => "no",
            (Answer::LosesTooMuch, _) => "no, a power cut loses too much",
            (Answer::RunTooShort, _) => "not known, the run is too short",
        };
        let (Some(needed), Some(lost), Some(ms)) = (self.buffer_bytes, self.lost_bytes, self.lost_ms) else {
            return format!("{word}: no buffer suffices");
        };
        let uncleaned = self.uncleaned_bytes.filter(|bytes| *bytes < needed);
        let uncleaned =
            uncleaned.map_or_else(String::new, |bytes| format!(" ({} without the card's cleaning)", format_size(bytes)));
        let ram =
            format!("{} of buffer{uncleaned} and {} of file system", format_size(needed), format_size(self.file_system_bytes));
        let writes = format_count(lost.div_ceil(WRITE_BYTES as u64));
        format!(
            "{word}: {ram}; a cut loses up to {writes} {}, {}",
            if lost <= WRITE_BYTES as u64 { "write" } else { "writes" },
            format_duration(ms * 1e6)
        )
    }
}

impl Realtime {
    /// What was measured, in one line.
    pub(crate) fn title(&self) -> String {
        format!(
            "4 KiB writes at random places, one right behind the other: {} accesses; volumes {:.0} % full",
            format_count(self.accesses.into()),
            100.0 * self.fill
        )
    }

    /// What the columns mean.
    pub(crate) fn legend(&self) -> String {
        let mut legend = "Commit: writes for each. Uncleaned: the longest access without what it waited for the card's own cleaning; with root: of those in which SteadyFS wrote a root.\n\
             Below a rate: the buffer that it needs; – where none suffices. Written: bytes to the medium for each byte of the caller. Flushes: of the device, for each access.\n\
             FAT: written through, data and the file's entry for each commit; it knows where the file lies, and its RAM is not counted."
            .to_string();
        if self.rows.iter().any(Row::is_too_short) {
            legend += &format!(
                "\n≥: the card cleaned less than {CLEANINGS_MIN} times in that run, so longer accesses may be missing; more accesses show them."
            );
        }
        legend
    }

    /// Names of the columns of [`Row::cells`].
    pub(crate) fn head(&self) -> Vec<String> {
        let mut head = ["", "commit", "mean", "rate", "longest", "uncleaned", "with root"].map(String::from).to_vec();
        let rates = self.rows.first().map(|row| row.backlog.clone()).unwrap_or_default();
        head.extend(rates.iter().map(|row| format_rate(row.rate as f64)));
        head.extend(["written", "flushes"].map(String::from));
        head
    }

    /// The rows as a table.
    fn table(&self) -> String {
        let head = self.head();
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        table(&std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect::<Vec<_>>(), &align)
    }
}

impl fmt::Display for Realtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        writeln!(f, "{}", self.table())?;
        writeln!(f, "{}\n", self.legend())?;
        writeln!(f, "{} with {} of RAM:", format_rate(self.rate as f64), format_size(self.ram_bytes))?;
        for advice in &self.advice {
            let commit = if advice.commit_every > 1 { format!(", a commit each {}", advice.commit_every) } else { String::new() };
            writeln!(f, "  {:<44} {}", format!("{}{commit}", advice.system), advice.text())?;
        }
        writeln!(f, "\n{SPECIFICATION}")
    }
}
