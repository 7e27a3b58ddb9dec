//! Errors in a trace: the place, the found text, and the expected text.

use super::unit::TimeUnit;
use std::fmt;
use std::io;

/// An error in a trace: the place, the found text, and the expected text.
#[derive(Debug)]
pub struct TraceError {
    /// Name of the file, as given.
    pub file: String,
    /// Line in the file, from one; `None` if the error concerns the file as a whole.
    pub line: Option<u64>,
    /// The problem at this place.
    pub problem: Problem,
}

/// A problem in a trace.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file could not be read.
    Unreadable(io::Error),
    /// The line is not UTF-8 text.
    NotText,
    /// There is no access in the file.
    Empty,
    /// A log of fio has no write.
    NoWrite {
        /// Its reads.
        reads: u64,
        /// Its trims.
        trims: u64,
    },
    /// A line of a log of fio is about a window of time, not about an access.
    Window,
    /// A log of fio does not show whether its times are of fio 2 or of fio 3.
    FioUnit,
    /// A line of a log of fio has an unknown direction.
    Direction {
        /// The field as it stands.
        found: String,
    },
    /// The writes of a log of fio have several sizes.
    WriteSizes {
        /// Bytes of the writes before.
        before: u64,
        /// Bytes of this write.
        found: u64,
    },
    /// The writes of a log of fio have another size than the caller gave.
    WriteSize {
        /// Bytes of each write in the log.
        found: u64,
        /// Bytes that the caller gave.
        given: u64,
    },
    /// Neither the header nor the caller states the unit of the durations.
    UnitMissing {
        /// Name of the column; empty without a header.
        column: String,
    },
    /// The header states one unit and the caller another.
    UnitConflict {
        /// The unit in the header.
        header: TimeUnit,
        /// The unit that the caller gave.
        given: TimeUnit,
    },
    /// The columns for starts and ends have different units.
    UnitsDiffer {
        /// The unit of the starts.
        start: TimeUnit,
        /// The unit of the ends.
        end: TimeUnit,
    },
    /// No column is recognised as durations, or as starts and ends.
    NoColumn {
        /// The columns found, separated by commas.
        found: String,
    },
    /// The line has fewer columns than it needs.
    ShortLine {
        /// Columns found.
        found: usize,
        /// Columns expected.
        expected: usize,
    },
    /// The field is not a number.
    NotANumber {
        /// The field as it stands.
        found: String,
    },
    /// The field is infinite or `NaN`.
    NotFinite {
        /// The field as it stands.
        found: String,
    },
    /// A time is negative.
    Negative {
        /// The field as it stands.
        found: String,
    },
    /// An access ends before it starts.
    EndBeforeStart {
        /// The start as it stands.
        start: String,
        /// The end as it stands.
        end: String,
    },
    /// A time is longer than 30 years. No access takes so long, so the unit is probably wrong.
    TooLong {
        /// The field as it stands.
        found: String,
        /// The unit in which the field was read.
        unit: TimeUnit,
    },
}

/// Numbers of reads and trims, displayed in words.
pub(super) struct Accesses {
    pub reads: u64,
    pub trims: u64,
}

impl fmt::Display for Accesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word =
            |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        match (self.reads, self.trims) {
            (reads, 0) => f.write_str(&word(reads, "read")),
            (0, trims) => f.write_str(&word(trims, "trim")),
            (reads, trims) => write!(f, "{} and {}", word(reads, "read"), word(trims, "trim")),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.file, self.problem),
            None => write!(f, "{}: {}", self.file, self.problem),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Problem::NotText => write!(f, "found bytes that are not UTF-8, expected text"),
            Problem::Empty => {
                write!(f, "found no access, expected at least one line with a duration")
            }
            &Problem::NoWrite { reads, trims } => {
                write!(f, "found {}, expected at least one write", Accesses { reads, trims })
            }
            Problem::Window => write!(
                f,
                "found the mean or the maximum of a window of time (`log_avg_msec`), expected a \
                 time for each access: record the log without `log_avg_msec`"
            ),
            Problem::FioUnit => write!(
                f,
                "found a log of fio without a priority, whose times are in µs (fio 2) or in ns \
                 (fio 3 before 3.15), expected --unit us or --unit ns"
            ),
            Problem::Direction { found } => {
                write!(f, "found the direction `{found}`, expected 0 (read), 1 (write) or 2 (trim)")
            }
            Problem::WriteSizes { before, found } => {
                write!(
                    f,
                    "found a write of {found} bytes after writes of {before}, expected writes of \
                     one size"
                )
            }
            Problem::WriteSize { found, given } => {
                write!(f, "found writes of {found} bytes, expected {given} as given for each write")
            }
            Problem::UnitMissing { column } if column.is_empty() => {
                write!(
                    f,
                    "found numbers without a unit, expected a header such as `duration_us`, or \
                     --unit us of `steady replay`"
                )
            }
            Problem::UnitMissing { column } => write!(
                f,
                "found the column `{column}` without a known unit, expected one of ns, us, ms or s \
                 in its name, such as `duration_us`, or --unit us of `steady replay`"
            ),
            Problem::UnitConflict { header, given } => {
                write!(
                    f,
                    "found the unit {header} in the header, expected {given} as given by --unit"
                )
            }
            Problem::UnitsDiffer { start, end } => {
                write!(f, "found starts in {start} and ends in {end}, expected the same unit")
            }
            Problem::NoColumn { found } => write!(
                f,
                "found the columns {found}, expected a column of durations (`duration_us`) or of \
                 starts and ends (`start_us,end_us`)"
            ),
            Problem::ShortLine { found, expected } => {
                write!(
                    f,
                    "found {found} column{}, expected {expected}",
                    if *found == 1 { "" } else { "s" }
                )
            }
            Problem::NotANumber { found } => write!(f, "found `{found}`, expected a number"),
            Problem::NotFinite { found } => write!(f, "found `{found}`, expected a finite number"),
            Problem::Negative { found } => {
                write!(f, "found `{found}`, expected a time that is not negative")
            }
            Problem::EndBeforeStart { start, end } => {
                write!(f, "found the end `{end}`, expected no end before the start `{start}`")
            }
            Problem::TooLong { found, unit } => {
                write!(f, "found `{found}` {unit}, expected less than 30 years; check the unit")
            }
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}
