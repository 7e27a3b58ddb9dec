//! The errors of the measurements.

use crate::allowed::NotAllowed;
use crate::evaluate::EvaluateError;
use std::fmt;
use std::io;
use steadyfs::media::Failure;
use steadyfs::{Error, MountError};

/// Reason for the failure of a measurement.
#[derive(Debug)]
#[non_exhaustive]
pub enum RealtimeError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The card is unknown, or its profile is wrong.
    Profile(EvaluateError),
    /// The card failed.
    Device(Failure),
    /// The volume does not fit on the card.
    TooSmall,
    /// The volume could not be made.
    Mount(MountError),
    /// A call of the volume failed.
    Volume(Error),
    /// FAT failed.
    Fat(io::Error),
    /// The run on NAND failed.
    Nand(EvaluateError),
}

impl fmt::Display for RealtimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RealtimeError::Option(error) => error.fmt(f),
            RealtimeError::Profile(error) => error.fmt(f),
            RealtimeError::Device(failure) => write!(f, "the card failed: {failure}"),
            RealtimeError::TooSmall => {
                f.write_str("the card has no room for a volume; expected a few hundred MiB")
            }
            RealtimeError::Mount(error) => write!(f, "the volume cannot be made: {error}"),
            RealtimeError::Volume(error) => write!(f, "a call failed: {error}"),
            RealtimeError::Fat(error) => write!(f, "FAT failed: {error}"),
            RealtimeError::Nand(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RealtimeError {}

impl From<NotAllowed> for RealtimeError {
    fn from(error: NotAllowed) -> Self {
        RealtimeError::Option(error)
    }
}

impl From<MountError> for RealtimeError {
    fn from(error: MountError) -> Self {
        RealtimeError::Mount(error)
    }
}

impl From<Error> for RealtimeError {
    fn from(error: Error) -> Self {
        RealtimeError::Volume(error)
    }
}
