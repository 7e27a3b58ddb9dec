//! Why there is no advice.

use crate::bench::BenchError;
use crate::units::format_size;
use std::fmt;

/// Why there is no advice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdviseError {
    /// The device or the size is not possible.
    Chip(BenchError),
    /// No combination holds so much data.
    NothingFits {
        /// Bytes of data that were asked for.
        data_bytes: u64,
        /// Bytes of the chip that may be used.
        size_bytes: u64,
        /// The most that a combination holds, and the workload needs of it.
        most_bytes: u64,
    },
    /// A run failed that should not.
    Run(String),
}

impl fmt::Display for AdviseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chip(error) => error.fmt(f),
            Self::NothingFits { data_bytes, size_bytes, most_bytes } => {
                let [data, size, most] = [data_bytes, size_bytes, most_bytes].map(|&bytes| format_size(bytes));
                write!(f, "{data} of data on {size}: no settings hold so much; expected at most {most} of data")
            }
            Self::Run(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for AdviseError {}

impl From<BenchError> for AdviseError {
    fn from(error: BenchError) -> Self {
        Self::Chip(error)
    }
}
