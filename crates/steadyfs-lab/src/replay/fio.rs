//! Latency logs of fio (`write_lat_log`): the lines that are writes, and the bytes of each write.
//!
//! ```text
//! time (ms), value, direction, block size [, offset] [, priority] [, issue time]
//! time (ms), mean, maximum, direction, 0, ...                      with log_window_value=both
//! ```
//!
//! With `log_avg_msec` a line is about a window of time: its block size is 0. Values are in
//! microseconds in logs of fio 2, and in nanoseconds in logs of fio 3. Logs of fio 2, and of fio 3
//! before 3.15, have no priority. Such a log needs the unit from the caller.
//!
//! Source: "Log File Formats" in the documentation of fio.

use super::error::{Accesses, Problem};
use super::unit::TimeUnit;
use std::ops::RangeInclusive;

/// Number of columns of a log.
const COLUMNS: RangeInclusive<usize> = 4..=8;
/// Minimum number of columns if the mean and the maximum of a window are beside each other.
const BOTH_COLUMNS: usize = 6;
/// Number of columns of a log that has either an offset or a priority.
const OFFSET_OR_PRIORITY: usize = 5;

/// The content of a trace beside the times of its writes: all of a log of fio, or the bytes of each
/// write from a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fio {
    /// Bytes of each write; 0 before the first write.
    pub write_bytes: u64,
    /// Number of reads, which are left out.
    pub reads: u64,
    /// Number of trims, which are left out.
    pub trims: u64,
}

impl Fio {
    pub(super) const EMPTY: Self = Self { write_bytes: 0, reads: 0, trims: 0 };

    /// Takes a line, and returns the column of its time if it is a write. `unit` is the unit that
    /// the caller gave.
    ///
    /// # Errors
    /// [`Problem::Window`], [`Problem::FioUnit`], [`Problem::WriteSizes`], [`Problem::Direction`],
    /// [`Problem::NotANumber`].
    pub(super) fn take(
        &mut self,
        fields: &[&str],
        unit: Option<TimeUnit>,
    ) -> Result<Option<usize>, Problem> {
        if has_both(fields) {
            return Err(Problem::Window);
        }
        let bytes: u64 =
            fields[3].parse().map_err(|_| Problem::NotANumber { found: fields[3].to_string() })?;
        if bytes == 0 {
            return Err(Problem::Window);
        }
        if unit.is_none() && !names_its_unit(fields) {
            return Err(Problem::FioUnit);
        }
        match fields[2] {
            "0" => self.reads += 1,
            "1" => {
                if ![0, bytes].contains(&self.write_bytes) {
                    return Err(Problem::WriteSizes { before: self.write_bytes, found: bytes });
                }
                self.write_bytes = bytes;
                return Ok(Some(1));
            }
            "2" => self.trims += 1,
            other => return Err(Problem::Direction { found: other.to_string() }),
        }
        Ok(None)
    }

    /// Returns the sentence about the lines that were left out, if there are any.
    pub fn left_out(&self) -> Option<String> {
        let Self { reads, trims, .. } = *self;
        (reads + trims > 0)
            .then(|| format!("{} left out: only writes count", Accesses { reads, trims }))
    }
}

/// Returns true if a line without a header is from a latency log of fio.
pub(super) fn is_fio(fields: &[&str]) -> bool {
    COLUMNS.contains(&fields.len())
        && fields.iter().all(|field| is_whole(field))
        && (is_direction(fields[2]) || has_both(fields))
}

/// Returns true if the line has a mean and a maximum of a window. Its direction is then one column
/// further.
fn has_both(fields: &[&str]) -> bool {
    fields.len() >= BOTH_COLUMNS
        && !is_direction(fields[2])
        && is_direction(fields[3])
        && fields[4] == "0"
}

/// Returns true if fio 3 wrote the line: it has a priority.
fn names_its_unit(fields: &[&str]) -> bool {
    let is_priority = |field: &str| field == "0" || field == "1" || field.starts_with("0x");
    fields.len() > OFFSET_OR_PRIORITY
        || (fields.len() == OFFSET_OR_PRIORITY && is_priority(fields[4]))
}

fn is_direction(field: &str) -> bool {
    ["0", "1", "2"].contains(&field)
}

/// Returns true for a whole number, in decimal or, with the prefix `0x`, in hexadecimal.
fn is_whole(field: &str) -> bool {
    match field.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => !field.is_empty() && field.bytes().all(|digit| digit.is_ascii_digit()),
    }
}
