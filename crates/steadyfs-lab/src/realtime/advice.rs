//! Advice for a rate: the media that keep it with some RAM, the loss when power fails, and the
//! basis of each answer.

use super::options::Options;
use super::row::{Medium, Row};
use crate::backlog::Load;
use serde::{Deserialize, Serialize};

/// Basis of the answer that a rate is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// A bound computed from the datasheet's times.
    Computed,
    /// A long run on a device of this profile. No specification promises as much.
    ByProfile,
    /// No basis: the rate is not kept.
    None,
}

/// Suitability of a medium for a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The medium keeps the rate within the RAM, and loses no more than is allowed.
    Yes,
    /// No buffer suffices, or the buffer and the file system do not fit into the RAM.
    TooMuchRam,
    /// A power cut loses more than is allowed.
    LosesTooMuch,
    /// The medium passes, but the run was too short for a yes: the device hardly cleaned, or the
    /// level still grew.
    RunTooShort,
}

/// Advice on one medium for a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The medium and the file system.
    pub system: String,
    /// Writes for each commit.
    pub commit_every: u32,
    /// Buffer for the rate, in bytes; `None` if the rate is above 95 % of the mean rate.
    pub buffer_bytes: Option<u64>,
    /// True if the rate is not above the mean rate, but above 95 % of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near_mean: bool,
    /// Buffer for the rate without the device's own cleaning, in bytes; `None` on raw flash.
    pub uncleaned_bytes: Option<u64>,
    /// RAM of the file system, in bytes.
    pub file_system_bytes: u64,
    /// Suitability of the medium.
    pub answer: Answer,
    /// Basis of the answer.
    pub guarantee: Guarantee,
    /// Maximum bytes that a power cut loses: the bytes since the last commit, and the buffer;
    /// `None` if no buffer suffices.
    pub lost_bytes: Option<u64>,
    /// Milliseconds in which the lost bytes arrive.
    pub lost_ms: Option<f64>,
    /// Bytes that reach the medium for each byte of the caller. They wear the medium.
    pub written_per_byte: f64,
}

/// Returns the advice on each medium for a rate.
pub(super) fn advise(rows: &[Row], options: &Options) -> Vec<Advice> {
    rows.iter().map(|row| advise_on(row, options)).collect()
}

fn advise_on(row: &Row, options: &Options) -> Advice {
    let buffer_bytes = row.buffer_at(options.rate);
    let lost_bytes =
        buffer_bytes.map(|buffer| buffer + u64::from(row.commit_every) * row.access_bytes);
    let may_lose = options.may_lose.map_or(u64::MAX, |loss| loss.bytes(options.rate));
    Advice {
        system: row.medium.to_string(),
        commit_every: row.commit_every,
        buffer_bytes,
        near_mean: row.load_at(options.rate) == Load::NearMean,
        uncleaned_bytes: row.backlog_at(options.rate).and_then(|row| row.uncleaned_bytes),
        file_system_bytes: row.ram_bytes,
        answer: match (buffer_bytes, lost_bytes) {
            (Some(buffer), _) if buffer + row.ram_bytes > options.ram_bytes => Answer::TooMuchRam,
            (Some(_), Some(lost)) if lost > may_lose => Answer::LosesTooMuch,
            (Some(_), _)
                if row.is_too_short()
                    || row.backlog_at(options.rate).is_some_and(|row| row.grows) =>
            {
                Answer::RunTooShort
            }
            (Some(_), _) => Answer::Yes,
            (None, _) => Answer::TooMuchRam,
        },
        guarantee: match buffer_bytes {
            None => Guarantee::None,
            Some(_) if matches!(row.medium, Medium::RawFlash(_)) => Guarantee::Computed,
            Some(_) => Guarantee::ByProfile,
        },
        lost_bytes,
        lost_ms: lost_bytes.map(|bytes| bytes as f64 * 1e3 / options.rate.max(1) as f64),
        written_per_byte: row.written_per_byte,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Backlog, Loss, Trace};
    use super::*;
    use crate::realtime::cards::Cleaning;

    fn row(bursts: u64, commit_every: u32, access_ms: u64) -> Row {
        let access_ns = vec![access_ms * 1_000_000; 10];
        let trace = Trace {
            cleaning: Some(Cleaning { bursts, access_ns: vec![0; 10] }),
            access_ns,
            access_bytes: 4096,
            stream_bytes_per_s: None,
            root_ns: Vec::new(),
            bound_ns: None,
            ram_bytes: 10_000,
            usable_bytes: 0,
            written_per_byte: 1.0,
            flushes_per_access: 1.0,
        };
        Row { commit_every, ..Row::of(Medium::Device("card".into()), trace, &[500_000]) }
    }

    fn answer(row: &Row, may_lose: Option<Loss>) -> Answer {
        advise_on(row, &Options { ram_bytes: 12_000, may_lose, ..Options::default() }).answer
    }

    #[test]
    fn a_yes_needs_ram_a_small_loss_and_a_device_that_has_cleaned() {
        assert_eq!(answer(&row(3, 16, 7), None), Answer::Yes);
        assert_eq!(
            answer(&row(2, 16, 7), None),
            Answer::RunTooShort,
            "a short run shows no long access"
        );
        assert_eq!(answer(&row(3, 16, 7), Some(Loss::Writes(16))), Answer::Yes);
        assert_eq!(answer(&row(3, 16, 7), Some(Loss::Writes(15))), Answer::LosesTooMuch);
        // 16 writes of 4 KiB are 131 ms of 500 kB/s.
        assert_eq!(answer(&row(3, 16, 7), Some(Loss::Time(132_000_000))), Answer::Yes);
        assert_eq!(answer(&row(3, 16, 7), Some(Loss::Time(131_000_000))), Answer::LosesTooMuch);
        assert_eq!(
            answer(&row(0, 16, 9), None),
            Answer::TooMuchRam,
            "no buffer suffices, in a short run either"
        );
        let other = Row {
            backlog: vec![Backlog {
                rate: 500_000,
                buffer_bytes: Some(2001),
                uncleaned_bytes: None,
                grows: false,
            }],
            ..row(3, 1, 7)
        };
        assert_eq!(answer(&other, None), Answer::TooMuchRam);
    }

    #[test]
    fn what_may_be_lost_says_how_often_to_commit() {
        assert_eq!(
            [1, 2, 3, 32, 1000].map(|count| Loss::Writes(count).commit_every(500_000)),
            [1, 1, 1, 16, 64]
        );
        assert_eq!(
            [0, 17_000_000, 200_000_000].map(|ns| Loss::Time(ns).commit_every(500_000)),
            [1, 1, 12]
        );
    }
}
