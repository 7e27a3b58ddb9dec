//! Why a trace could not be read: where, what was found, and what was expected.

use super::unit::TimeUnit;
use std::fmt;
use std::io;

/// Why a trace could not be read: where, what was found, and what was expected.
#[derive(Debug)]
pub struct TraceError {
    /// Name of the file, as given.
    pub file: String,
    /// Line in the file, from one; `None` when the file as a whole is meant.
    pub line: Option<u64>,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a trace.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file could not be read.
    Unreadable(io::Error),
    /// The line is not UTF-8 text.
    NotText,
    /// There is no access in the file.
    Empty,
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
    /// No column is known to hold durations, or starts and ends.
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
    /// A time is longer than 30 years, which no access is: the unit is probably wrong.
    TooLong {
        /// The field as it stands.
        found: String,
        /// The unit it was read in.
        unit: TimeUnit,
    },
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
            Problem::Empty => write!(f, "found no access, expected at least one line with a duration"),
            Problem::UnitMissing { column } if column.is_empty() => {
                write!(
                    f,
                    "found numbers without a unit, expected a header such as `duration_us`, or --unit us of `steady replay`"
                )
            }
            Problem::UnitMissing { column } => write!(
                f,
                "found the column `{column}` without a known unit, expected one of ns, us, ms or s in its name, such as \
                 `duration_us`, or --unit us of `steady replay`"
            ),
            Problem::UnitConflict { header, given } => {
                write!(f, "found the unit {header} in the header, expected {given} as given by --unit")
            }
            Problem::UnitsDiffer { start, end } => {
                write!(f, "found starts in {start} and ends in {end}, expected the same unit")
            }
            Problem::NoColumn { found } => write!(
                f,
                "found the columns {found}, expected a column of durations (`duration_us`) or of starts and ends \
                 (`start_us,end_us`)"
            ),
            Problem::ShortLine { found, expected } => {
                write!(f, "found {found} column{}, expected {expected}", if *found == 1 { "" } else { "s" })
            }
            Problem::NotANumber { found } => write!(f, "found `{found}`, expected a number"),
            Problem::NotFinite { found } => write!(f, "found `{found}`, expected a finite number"),
            Problem::Negative { found } => write!(f, "found `{found}`, expected a time that is not negative"),
            Problem::EndBeforeStart { start, end } => {
                write!(f, "found the end `{end}`, expected one that is not before the start `{start}`")
            }
            Problem::TooLong { found, unit } => {
                write!(f, "found `{found}` {unit}, expected less than 30 years; is the unit right?")
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
