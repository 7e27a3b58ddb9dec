//! The result: a row for each medium, and the advice.

use super::advice::{Advice, Answer, Guarantee, advise};
use super::options::{Options, WRITE_BYTES};
use super::row::{Backlog, CLEANINGS_MIN, Row};
use crate::backlog::buffer_text;
use crate::part::times_of;
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_rate, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The whole result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Realtime {
    /// Accesses of each run.
    pub accesses: u32,
    /// Share of the volumes that holds data.
    pub fill: f64,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Measurements, a row for each run.
    pub rows: Vec<Row>,
    /// Rate for which advice is given, in bytes per second.
    pub rate: u64,
    /// Available RAM, in bytes.
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
            call_us: options.call_us,
            rows,
            rate: options.rate,
            ram_bytes: options.ram_bytes,
            advice,
        }
    }
}

/// Access times that the specification allows a card.
pub(crate) const SPECIFICATION: &str = "The SD specification alone allows a card to be busy for \
    250 ms after each 512 B: 2 s for 4 KiB, 2 kB/s without a buffer.";

/// Formats a time in microseconds.
fn time(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_string(), |us| format_duration(us * 1e3))
}

impl Row {
    pub(crate) fn cells(&self) -> Vec<String> {
        let commit =
            if self.commit_every > 1 { self.commit_every.to_string() } else { "each".to_string() };
        let longest = if self.is_too_short() {
            format!("≥ {}", time(Some(self.max_us)))
        } else {
            time(Some(self.max_us))
        };
        let mut cells = vec![
            self.medium.to_string(),
            commit,
            time(Some(self.mean_us)),
            format_rate(self.bytes_per_s()),
            longest,
        ];
        cells.extend([time(self.max_uncleaned_us), time(self.max_root_us)]);
        let text = |row: &Backlog| {
            buffer_text(row.buffer_bytes, row.grows || self.is_too_short(), self.load_at(row.rate))
        };
        cells.extend(self.backlog.iter().map(text));
        cells.extend([
            format!("{:.2}", self.written_per_byte),
            format!("{:.2}", self.flushes_per_access),
        ]);
        cells.push(self.stream_bytes_per_s.map_or_else(|| "–".to_string(), format_rate));
        cells
    }
}

impl Advice {
    /// Returns the answer for the medium, with its reason.
    pub(crate) fn text(&self) -> String {
        let word = match (self.answer, self.guarantee) {
            (Answer::Yes, Guarantee::Computed) => "yes, by a computed bound",
            (Answer::Yes, _) => "yes, by this profile alone",
            (Answer::TooMuchRam, _) => "no",
            (Answer::LosesTooMuch, _) => "no, a power cut loses too much data",
            (Answer::RunTooShort, _) => "unknown, the run is too short",
        };
        let (Some(needed), Some(lost), Some(ms)) =
            (self.buffer_bytes, self.lost_bytes, self.lost_ms)
        else {
            return format!(
                "{word}: the rate is {} the mean rate",
                if self.near_mean { "above 95 % of" } else { "above" }
            );
        };
        let uncleaned = self.uncleaned_bytes.filter(|bytes| *bytes < needed);
        let uncleaned = uncleaned.map_or_else(String::new, |bytes| {
            format!(" ({} without the card's cleaning)", format_size(bytes))
        });
        let ram = format!(
            "{} of buffer{uncleaned} and {} of file system",
            format_size(needed),
            format_size(self.file_system_bytes)
        );
        let writes = format_count(lost.div_ceil(WRITE_BYTES as u64));
        format!(
            "{word}: {ram}; a power cut loses up to {writes} {}, {}",
            if lost <= WRITE_BYTES as u64 { "write" } else { "writes" },
            format_duration(ms * 1e6)
        )
    }
}

impl Realtime {
    /// Returns a description of the measurement in one line.
    pub(crate) fn title(&self) -> String {
        format!(
            "4 KiB writes at random places, directly after each other: {} accesses; volumes {:.0} \
             % full; {}",
            format_count(self.accesses.into()),
            100.0 * self.fill,
            times_of("typical", self.call_us)
        )
    }

    /// Returns the meaning of the columns.
    pub(crate) fn legend(&self) -> String {
        let mut legend = "Commit: writes for each commit. Uncleaned: the longest access without \
            its wait for the card's\n\
            own cleaning. With root: the longest access in which SteadyFS wrote a root.\n\
            Below a rate: the buffer that the rate needs. ≥: the buffer still grew, or the run is \
            too short.\n\
            Near mean: above 95 % of the mean rate. Written: bytes to the medium for each byte of \
            the caller.\n\
            Flushes: of the device, for each access. In order: the rate of a new file in pieces of \
            16 pages,\n\
            on an empty volume.\n\
            FAT: written through, with data and the file's entry for each commit. It has the \
            file's place in\n\
            RAM, and this RAM is not counted."
            .to_string();
        if let Some(row) = self.rows.iter().find(|row| row.access_bytes != WRITE_BYTES as u64) {
            legend += &format!(
                "\n\
                 SteadyFS on cards: writes of a page, {} bytes. A write of 4,096 bytes touches two \
                 pages, and takes\n\
                 several times as long.",
                row.access_bytes
            );
        }
        if self.rows.iter().any(Row::is_too_short) {
            legend += &format!(
                "\n\
                 ≥: the card cleaned fewer than {CLEANINGS_MIN} times in that run, so longer \
                 accesses may be missing. Use more\n\
                 accesses to meet them."
            );
        }
        legend
    }

    /// Returns the names of the columns of [`Row::cells`].
    pub(crate) fn head(&self) -> Vec<String> {
        let mut head = ["", "commit", "mean", "rate", "longest", "uncleaned", "with root"]
            .map(String::from)
            .to_vec();
        let rates = self.rows.first().map(|row| row.backlog.clone()).unwrap_or_default();
        head.extend(rates.iter().map(|row| format_rate(row.rate as f64)));
        head.extend(["written", "flushes", "in order"].map(String::from));
        head
    }

    /// Returns the rows as a table.
    fn table(&self) -> String {
        let head = self.head();
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        table(
            &std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect::<Vec<_>>(),
            &align,
        )
    }
}

impl fmt::Display for Realtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        writeln!(f, "{}", self.table())?;
        writeln!(f, "{}\n", self.legend())?;
        writeln!(
            f,
            "{} with {} of RAM:",
            format_rate(self.rate as f64),
            format_size(self.ram_bytes)
        )?;
        for advice in &self.advice {
            let commit = if advice.commit_every > 1 {
                format!(", a commit each {}", advice.commit_every)
            } else {
                String::new()
            };
            writeln!(f, "  {:<44} {}", format!("{}{commit}", advice.system), advice.text())?;
        }
        writeln!(f, "\n{SPECIFICATION}")
    }
}
