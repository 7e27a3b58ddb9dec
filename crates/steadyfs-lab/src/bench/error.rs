//! The reasons for which a run, or a case of it, gave no results.

use super::contender::Fault;
use crate::allowed::NotAllowed;
use crate::evaluate::EvaluateError;
use crate::part::PartError;
use crate::units::{format_count, format_size};
use std::fmt;

/// The reason for which a run measured nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device is neither the name of a profile nor a profile that can be read.
    Device(EvaluateError),
    /// The chip has no such part.
    Part(PartError),
    /// The blocks are too few for a volume.
    TooSmall {
        /// Requested bytes.
        asked_bytes: u64,
        /// Minimum bytes of a volume with the usual settings.
        least_bytes: u64,
    },
    /// The volume could not be formatted and mounted.
    Volume(Fault),
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Option(error) => error.fmt(f),
            BenchError::Device(error) => error.fmt(f),
            BenchError::Part(error) => error.fmt(f),
            BenchError::TooSmall { asked_bytes, least_bytes } => {
                let (asked, least) = (format_size(*asked_bytes), format_size(*least_bytes));
                write!(f, "a size of {asked} is too small for a volume; expected at least {least}")
            }
            BenchError::Volume(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for BenchError {}

impl From<NotAllowed> for BenchError {
    fn from(error: NotAllowed) -> Self {
        BenchError::Option(error)
    }
}

impl From<EvaluateError> for BenchError {
    fn from(error: EvaluateError) -> BenchError {
        BenchError::Device(error)
    }
}

impl From<PartError> for BenchError {
    fn from(error: PartError) -> BenchError {
        BenchError::Part(error)
    }
}

impl From<Fault> for BenchError {
    fn from(fault: Fault) -> BenchError {
        BenchError::Volume(fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoRoom(reason) | Fault::Cannot(reason) | Fault::Failed(reason) => {
                f.write_str(reason)
            }
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// Returns the fault of read bytes that differ from the written bytes.
    pub(super) fn wrong(path: &str, offset: u64) -> Fault {
        Fault::Failed(format!(
            "{path}, from byte {}: the read bytes differ from the written bytes",
            format_count(offset)
        ))
    }
}
