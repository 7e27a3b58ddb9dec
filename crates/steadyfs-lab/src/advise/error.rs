//! The reasons for which there is no advice.

use crate::allowed::NotAllowed;
use crate::bench::BenchError;
use crate::units::format_size;
use std::fmt;

/// The reason for which there is no advice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdviseError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device or the size is not possible.
    Chip(BenchError),
    /// No combination holds the requested data.
    NothingFits {
        /// Requested bytes of data.
        data_bytes: u64,
        /// Usable bytes of the chip.
        size_bytes: u64,
        /// The largest number of bytes that a combination holds beside the workload's own files.
        most_bytes: u64,
    },
    /// A run failed that should succeed.
    Run(String),
}

impl fmt::Display for AdviseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(error) => error.fmt(f),
            Self::Chip(error) => error.fmt(f),
            Self::NothingFits { data_bytes, size_bytes, most_bytes } => {
                let [data, size, most] =
                    [data_bytes, size_bytes, most_bytes].map(|&bytes| format_size(bytes));
                write!(
                    f,
                    "{data} of data on {size}: no settings have room for it; expected at most \
                     {most} of data"
                )
            }
            Self::Run(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for AdviseError {}

impl From<NotAllowed> for AdviseError {
    fn from(error: NotAllowed) -> Self {
        Self::Option(error)
    }
}

impl From<BenchError> for AdviseError {
    fn from(error: BenchError) -> Self {
        Self::Chip(error)
    }
}
