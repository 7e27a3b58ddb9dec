//! The result: a row for each medium, and the advice.

use super::advice::{Advice, Answer, Guarantee, advise};
use super::options::{Options, WRITE_BYTES};
use super::row::{Backlog, CLEANINGS_MIN, Row};
use crate::backlog::buffer_text;
use crate::part::times_of;
use crate::table::{Align, paragraph, table};
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

/// Returns the name of a medium, with its commit if that has several writes.
fn name_of(medium: String, commit_every: u32) -> String {
    match commit_every {
        0 | 1 => medium,
        every => format!("{medium}, commit each {every}"),
    }
}

impl Row {
    pub(crate) fn cells(&self) -> Vec<String> {
        let longest = if self.is_too_short() {
            format!("≥ {}", time(Some(self.max_us)))
        } else {
            time(Some(self.max_us))
        };
        let mut cells = vec![
            name_of(self.medium.to_string(), self.commit_every),
            time(Some(self.mean_us)),
            format_rate(self.bytes_per_s()),
            longest,
        ];
        cells.extend([time(self.max_uncleaned_us), time(self.max_root_us)]);
        cells.push(self.stream_bytes_per_s.map_or_else(|| "–".to_string(), format_rate));
        let text = |row: &Backlog| {
            buffer_text(row.buffer_bytes, row.grows || self.is_too_short(), self.load_at(row.rate))
        };
        cells.extend(self.backlog.iter().map(text));
        cells.extend([
            format!("{:.2}", self.written_per_byte),
            format!("{:.2}", self.flushes_per_access),
        ]);
        cells
    }
}

impl Advice {
    /// Returns the place of the answer in a list: a guarantee stands before an observation.
    fn order(&self) -> u8 {
        match (self.answer, self.guarantee) {
            (Answer::Yes, Guarantee::Computed) => 0,
            (Answer::Yes, _) => 1,
            (Answer::RunTooShort, _) => 2,
            (Answer::LosesTooMuch, _) => 3,
            (Answer::TooMuchRam, _) => 4,
        }
    }

    /// Returns the medium, and its commit if that has several writes.
    fn name(&self) -> String {
        name_of(self.system.clone(), self.commit_every)
    }

    /// Returns the answer for the medium, with its reason, as cells.
    fn cells(&self) -> Vec<String> {
        let word = match (self.answer, self.guarantee) {
            (Answer::Yes, Guarantee::Computed) => "yes, bound",
            (Answer::Yes, _) => "yes, profile",
            (Answer::TooMuchRam, _) => "no",
            (Answer::LosesTooMuch, _) => "no, loss",
            (Answer::RunTooShort, _) => "unknown",
        };
        let (Some(needed), Some(lost), Some(ms)) =
            (self.buffer_bytes, self.lost_bytes, self.lost_ms)
        else {
            let near = if self.near_mean { "near mean" } else { "above mean" };
            return vec![self.name(), word.to_string(), near.to_string()];
        };
        let uncleaned = self.uncleaned_bytes.map_or_else(|| "–".to_string(), format_size);
        let writes = lost.div_ceil(WRITE_BYTES as u64);
        vec![
            self.name(),
            word.to_string(),
            format_size(needed),
            uncleaned,
            format_size(self.file_system_bytes),
            format!("{} {}", format_count(writes), if writes == 1 { "write" } else { "writes" }),
            format_duration(ms * 1e6),
        ]
    }
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

impl Realtime {
    /// Returns the answer in a sentence: a guarantee first, then observations.
    pub(crate) fn sentence(&self) -> String {
        let of = |order: u8| -> Vec<String> {
            self.advice.iter().filter(|on| on.order() == order).map(Advice::name).collect()
        };
        let (bound, profile, unknown) = (of(0), of(1), of(2));
        let mut parts = Vec::new();
        if !bound.is_empty() {
            parts.push(format!("{}, guaranteed by a computed bound", listed(&bound)));
        }
        if !profile.is_empty() {
            parts.push(format!("{}, observed without a guarantee", listed(&profile)));
        }
        if !unknown.is_empty() {
            parts.push(format!("perhaps {}, whose run is too short", listed(&unknown)));
        }
        if parts.is_empty() {
            parts.push("no medium".to_string());
        }
        format!(
            "{} with {} of RAM: {}.",
            format_rate(self.rate as f64),
            format_size(self.ram_bytes),
            parts.join("; ")
        )
    }

    /// Returns the advice as rows, the best answer first. The first row has the names.
    pub(crate) fn answers(&self) -> Vec<Vec<String>> {
        let mut advice: Vec<_> = self.advice.iter().collect();
        advice.sort_by_key(|advice| advice.order());
        let head = ["", "keeps it", "buffer", "uncleaned", "file system", "a cut loses", "time"];
        std::iter::once(head.map(String::from).to_vec())
            .chain(advice.into_iter().map(Advice::cells))
            .collect()
    }

    /// Returns the meaning of the columns of [`Realtime::answers`].
    pub(crate) const ANSWERS: &str = "\
        yes, bound: guaranteed by a computed bound. yes, profile: observed on a device of this \
        profile, which is no promise.\n\
        no: buffer and file system need more RAM, or the rate is above the mean rate. no, loss: a \
        power cut loses too much.\n\
        unknown: the run is too short. Uncleaned: the buffer without the card's own cleaning.\n\
        A cut loses, time: the loss at a power cut, and the time in which this data arrives.";
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
        let mut legend = "\
            Uncleaned: the longest access without its wait for the card's own cleaning.\n\
            With root: the longest access in which SteadyFS wrote a root.\n\
            Below a rate: the buffer that the rate needs. ≥: the buffer still grew, or the run is \
            too short. Near mean: above 95 % of the mean rate.\n\
            Written: bytes to the medium for each byte of the caller. Flushes: of the device, for \
            each access.\n\
            In order: the rate of a new file in pieces of 16 pages, on an empty volume.\n\
            FAT: written through, with data and the file's entry for each commit. It has the \
            file's place in RAM, and this RAM is not counted."
            .to_string();
        if let Some(row) = self.rows.iter().find(|row| row.access_bytes != WRITE_BYTES as u64) {
            legend += &format!(
                "\n\
                 SteadyFS on cards: writes of a page, {} bytes. A write of 4,096 bytes touches two \
                 pages, and takes \
                 several times as long.",
                row.access_bytes
            );
        }
        if self.rows.iter().any(Row::is_too_short) {
            legend += &format!(
                "\n\
                 ≥: the card cleaned fewer than {CLEANINGS_MIN} times in that run, so longer \
                 accesses may be missing. Use more \
                 accesses to meet them."
            );
        }
        legend
    }

    /// Returns the names of the columns of [`Row::cells`].
    pub(crate) fn head(&self) -> Vec<String> {
        let mut head = ["", "mean", "rate", "longest", "uncleaned", "with root", "in order"]
            .map(String::from)
            .to_vec();
        let rates = self.rows.first().map(|row| row.backlog.clone()).unwrap_or_default();
        head.extend(rates.iter().map(|row| format_rate(row.rate as f64)));
        head.extend(["written", "flushes"].map(String::from));
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
        let mut align = vec![Align::Left; 2];
        align.resize(self.answers()[0].len(), Align::Right);
        writeln!(f, "{}", paragraph(&self.sentence(), 0))?;
        writeln!(f, "{}\n", paragraph(&(self.title() + "."), 0))?;
        if !self.advice.is_empty() {
            writeln!(f, "{}", table(&self.answers(), &align))?;
            writeln!(f, "{}\n", paragraph(Self::ANSWERS, 2))?;
        }
        writeln!(f, "{}", self.table())?;
        writeln!(f, "{}\n", paragraph(&self.legend(), 2))?;
        writeln!(f, "{}", paragraph(SPECIFICATION, 0))
    }
}
