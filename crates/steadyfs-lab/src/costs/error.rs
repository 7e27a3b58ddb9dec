//! The reasons for which nothing was measured. A broken bound comes with the call and both
//! numbers.

use crate::allowed::NotAllowed;
use crate::called::called;
use crate::evaluate::EvaluateError;
use crate::units::format_duration;
use std::fmt;
use steadyfs::{Bound, Call, Cost, Error, MountError};

/// The reason for which nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostsError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device is neither the name of a profile nor a profile that can be read.
    Device(EvaluateError),
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// The volume cannot hold the requested number of files.
    TooManyFiles {
        /// Number of requested files, including the files that the measurement needs beside
        /// them.
        needed: u32,
        /// Maximum number of files of the volume.
        files_max: u32,
    },
    /// A call failed.
    Volume {
        /// Name of the step.
        step: String,
        /// The call.
        call: Call,
        /// Error of the call.
        error: Error,
    },
    /// A call exceeded its bound in operations.
    BoundBroken {
        /// Name of the step.
        step: String,
        /// The call.
        call: Call,
        /// Operations of the call.
        observed: Cost,
        /// Bound just before the call.
        bound: Box<Bound>,
    },
    /// A call exceeded its bound in time.
    TimeBroken {
        /// Name of the step.
        step: String,
        /// The call.
        call: Call,
        /// Nanoseconds of the call.
        observed_ns: u64,
        /// Bound just before the call, in nanoseconds.
        bound_ns: u64,
    },
    /// A mount exceeded its bound.
    MountBroken {
        /// Operations of the mount.
        observed: Cost,
        /// Bound of the mount.
        bound: Cost,
    },
    /// Read bytes differ from the written bytes.
    Lost {
        /// Name of the step.
        step: String,
    },
}

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostsError::Option(error) => error.fmt(f),
            CostsError::Device(error) => error.fmt(f),
            CostsError::Mount(error) => error.fmt(f),
            CostsError::TooManyFiles { needed, files_max } => {
                write!(
                    f,
                    "{needed} files are needed, but the volume has room for {files_max}: choose \
                     fewer files"
                )
            }
            CostsError::Volume { step, call, error } => {
                write!(f, "{step}, {}: {error}", called(*call))?;
                match error {
                    Error::NoSpace | Error::TooManyFiles => f.write_str("; choose fewer files"),
                    _ => Ok(()),
                }
            }
            CostsError::BoundBroken { step, call, observed, bound } => {
                write!(
                    f,
                    "{step}, {}: did {observed:?}, but its bound was {bound:?}",
                    called(*call)
                )
            }
            CostsError::TimeBroken { step, call, observed_ns, bound_ns } => {
                let (observed, bound) =
                    (format_duration(*observed_ns as f64), format_duration(*bound_ns as f64));
                write!(f, "{step}, {}: took {observed}, but its bound was {bound}", called(*call))
            }
            CostsError::MountBroken { observed, bound } => {
                write!(f, "mount: did {observed:?}, but its bound was {bound:?}")
            }
            CostsError::Lost { step } => {
                write!(f, "{step}: the read bytes differ from the written bytes")
            }
        }
    }
}

impl std::error::Error for CostsError {}

impl From<NotAllowed> for CostsError {
    fn from(error: NotAllowed) -> Self {
        CostsError::Option(error)
    }
}

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
