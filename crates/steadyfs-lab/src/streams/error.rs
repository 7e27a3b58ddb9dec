//! The errors of a measurement of streams.

use crate::allowed::NotAllowed;
use crate::evaluate::EvaluateError;
use std::fmt;
use steadyfs::{Bound, ConfigError, Cost, Error, MountError};

/// Reason for the failure of a measurement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamsError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device cannot be used.
    Device(EvaluateError),
    /// The settings do not fit the chip.
    Config(ConfigError),
    /// The disk could not be made.
    Mount(MountError),
    /// The disk is too small for the jobs.
    TooSmall {
        /// Logical pages that would be in use.
        pages: u32,
        /// Logical pages that are needed.
        needed: u32,
    },
    /// A call failed.
    Call {
        /// The row.
        row: String,
        /// Error of the disk.
        error: Error,
    },
    /// A call cost more than its bound.
    BoundBroken {
        /// The row.
        row: String,
        /// Cost of the call.
        observed: Cost,
        /// Bound of the call.
        bound: Bound,
    },
}

impl fmt::Display for StreamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamsError::Option(error) => error.fmt(f),
            StreamsError::Device(error) => error.fmt(f),
            StreamsError::Config(error) => write!(f, "the settings do not fit the chip: {error}"),
            StreamsError::Mount(error) => write!(f, "the disk cannot be made: {error}"),
            StreamsError::TooSmall { pages, needed } => {
                write!(
                    f,
                    "the disk has {pages} logical pages; expected at least {needed}: take a larger \
                     chip or fill"
                )
            }
            StreamsError::Call { row, error } => write!(f, "{row}: {error}"),
            StreamsError::BoundBroken { row, observed, bound } => {
                write!(f, "{row}: a call cost {observed:?}, but its bound was {bound:?}")
            }
        }
    }
}

impl std::error::Error for StreamsError {}

impl From<NotAllowed> for StreamsError {
    fn from(error: NotAllowed) -> Self {
        StreamsError::Option(error)
    }
}
