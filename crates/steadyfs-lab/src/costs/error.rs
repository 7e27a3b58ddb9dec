//! Why nothing was measured, with the call and both numbers where a promise was broken.

use crate::called::called;
use crate::evaluate::EvaluateError;
use crate::units::format_duration;
use std::fmt;
use steadyfs::{Bound, Call, Cost, Error, MountError};

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostsError {
    /// The device is neither a profile that is known nor one that can be read.
    Device(EvaluateError),
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// The volume cannot hold so many files.
    TooManyFiles {
        /// Files asked for, those that the measurement needs beside them included.
        needed: u32,
        /// Files that the volume can hold.
        files_max: u32,
    },
    /// A call failed.
    Volume {
        /// What was measured.
        step: String,
        /// The call.
        call: Call,
        /// How it failed.
        error: Error,
    },
    /// A call did more than was promised before it.
    BoundBroken {
        /// What was measured.
        step: String,
        /// The call.
        call: Call,
        /// What it did.
        observed: Cost,
        /// What was promised.
        bound: Bound,
    },
    /// A call took longer than was promised before it.
    TimeBroken {
        /// What was measured.
        step: String,
        /// The call.
        call: Call,
        /// Nanoseconds that it took.
        observed_ns: u64,
        /// Nanoseconds promised.
        bound_ns: u64,
    },
    /// A mount did more than was promised.
    MountBroken {
        /// What it did.
        observed: Cost,
        /// What was promised.
        bound: Cost,
    },
    /// Bytes are not those that were written.
    Lost {
        /// What was measured.
        step: String,
    },
}

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostsError::Device(error) => error.fmt(f),
            CostsError::Mount(error) => error.fmt(f),
            CostsError::TooManyFiles { needed, files_max } => {
                write!(f, "{needed} files are needed, but the volume holds {files_max}: ask for fewer with --files")
            }
            CostsError::Volume { step, call, error } => write!(f, "{step}, {}: {error}", called(*call)),
            CostsError::BoundBroken { step, call, observed, bound } => {
                write!(f, "{step}, {}: did {observed:?}, promised was {bound:?}", called(*call))
            }
            CostsError::TimeBroken { step, call, observed_ns, bound_ns } => {
                let (observed, bound) = (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(f, "{step}, {}: took {observed}, promised was {bound}", called(*call))
            }
            CostsError::MountBroken { observed, bound } => write!(f, "mount: did {observed:?}, promised was {bound:?}"),
            CostsError::Lost { step } => write!(f, "{step}: the bytes read are not those written"),
        }
    }
}

impl std::error::Error for CostsError {}

impl From<EvaluateError> for CostsError {
    fn from(error: EvaluateError) -> CostsError {
        CostsError::Device(error)
    }
}

impl From<MountError> for CostsError {
    fn from(error: MountError) -> CostsError {
        CostsError::Mount(error)
    }
}
