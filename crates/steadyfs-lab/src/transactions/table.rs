//! The result: one row for each choice of events.

use super::Times;
use crate::table::{Align, table};
use crate::units::{format_count, format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// After what the volume commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// A file is closed.
    Close,
    /// A second has passed.
    Timed,
    /// A file is flushed.
    Flush,
    /// Anything has changed.
    EveryWrite,
    /// The application commits.
    Manual,
}

impl Events {
    /// All choices.
    pub const ALL: [Events; 5] = [Events::Close, Events::Timed, Events::Flush, Events::EveryWrite, Events::Manual];
}

impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Events::Close => "on close",
            Events::Timed => "timed, 1 s",
            Events::Flush => "on flush",
            Events::EveryWrite => "every write",
            Events::Manual => "manual",
        })
    }
}

/// Mean times of the four calls under one choice of events, in microseconds of the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventCost {
    /// After what the volume commits.
    pub events: Events,
    /// Creating the file.
    pub create_us: f64,
    /// Writing to it.
    pub write_us: f64,
    /// Flushing it.
    pub flush_us: f64,
    /// Closing it.
    pub close_us: f64,
    /// After the calls: the timed commit, or that of the application.
    pub after_us: f64,
    /// All of them.
    pub total_us: f64,
    /// The longest of the four calls that was seen.
    pub max_us: f64,
}

impl EventCost {
    /// The means of many files.
    pub(super) fn of(events: Events, times: &[Times]) -> EventCost {
        let mean = |call: usize| times.iter().map(|times| times[call]).sum::<u64>() as f64 / times.len().max(1) as f64 / 1e3;
        let [create_us, write_us, flush_us, close_us, after_us] = std::array::from_fn::<_, 5, _>(mean);
        let max = times.iter().flat_map(|times| &times[..4]).max().copied().unwrap_or(0);
        EventCost {
            events,
            create_us,
            write_us,
            flush_us,
            close_us,
            after_us,
            total_us: create_us + write_us + flush_us + close_us + after_us,
            max_us: max as f64 / 1e3,
        }
    }

    fn cells(&self) -> Vec<String> {
        let times = [self.create_us, self.write_us, self.flush_us, self.close_us, self.after_us, self.total_us, self.max_us];
        std::iter::once(self.events.to_string()).chain(times.map(|us| format_duration(us * 1e3))).collect()
    }
}

/// The four calls under each choice of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Name of the device profile.
    pub device: String,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time that the device takes to empty its own cache, in microseconds.
    pub flush_us: f64,
    /// Bytes written to each file.
    pub write_bytes: u64,
    /// Files.
    pub files: u32,
    /// One row for each choice.
    pub rows: Vec<EventCost>,
}

/// Prints the table for people, at most 100 columns wide.
impl fmt::Display for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}\n{} files of {}, {} timing, {} to empty the cache of the device\n",
            self.device,
            format_count(self.files.into()),
            format_size(self.write_bytes),
            self.timing,
            format_duration(self.flush_us * 1e3)
        )?;
        let head = ["Commit", "create", "write", "flush", "close", "after", "all", "longest call"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.rows.iter().map(EventCost::cells));
        let mut align = vec![Align::Left];
        align.resize(head.len(), Align::Right);
        writeln!(f, "{}", table(&rows, &align))?;
        writeln!(f, "Means. After: the commit that the clock or the application makes when the four calls are over.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_add_up_and_the_longest_is_one_of_the_four_calls() {
        let row = EventCost::of(Events::Close, &[[1_000, 2_000, 0, 4_000, 90_000], [3_000, 2_000, 0, 8_000, 0]]);
        assert_eq!((row.create_us, row.write_us, row.close_us, row.after_us), (2.0, 2.0, 6.0, 45.0));
        assert_eq!((row.total_us, row.max_us), (55.0, 8.0));
    }

    #[test]
    fn table_has_a_row_for_each_choice() {
        let rows = Events::ALL.map(|events| EventCost::of(events, &[[955_000_000; 5]])).to_vec();
        let transactions = Transactions {
            device: "mt29f1g01abafd".into(),
            timing: "maximum".into(),
            flush_us: 955_000.0,
            write_bytes: 4096,
            files: 100,
            rows,
        };
        let text = transactions.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(Events::ALL.iter().all(|events| text.contains(&events.to_string())), "{text}");
        let json = serde_json::to_string(&transactions).unwrap();
        assert!(json.contains(r#""events":"every_write""#), "{json}");
        assert_eq!(serde_json::from_str::<Transactions>(&json).unwrap(), transactions);
    }
}
