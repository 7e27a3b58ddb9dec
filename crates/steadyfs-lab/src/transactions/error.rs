//! The errors of the measurements.

use crate::allowed::NotAllowed;
use crate::evaluate::EvaluateError;
use std::fmt;
use std::io;
use steadyfs::{Error, MountError};

/// Reason for the failure of a measurement.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionsError {
    /// An option has a value that is not allowed.
    Option(NotAllowed),
    /// The device cannot be simulated.
    Device(EvaluateError),
    /// The volume could not be formatted or mounted.
    Mount(MountError),
    /// A call of the volume failed.
    Volume(Error),
    /// FAT failed.
    Fat(io::Error),
}

impl fmt::Display for TransactionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionsError::Option(error) => error.fmt(f),
            TransactionsError::Device(error) => error.fmt(f),
            TransactionsError::Mount(error) => write!(f, "the volume cannot be made: {error}"),
            TransactionsError::Volume(error) => write!(f, "a call failed: {error}"),
            TransactionsError::Fat(error) => write!(f, "FAT failed: {error}"),
        }
    }
}

impl std::error::Error for TransactionsError {}

impl From<NotAllowed> for TransactionsError {
    fn from(error: NotAllowed) -> Self {
        TransactionsError::Option(error)
    }
}

impl From<EvaluateError> for TransactionsError {
    fn from(error: EvaluateError) -> Self {
        TransactionsError::Device(error)
    }
}

impl From<MountError> for TransactionsError {
    fn from(error: MountError) -> Self {
        TransactionsError::Mount(error)
    }
}

impl From<Error> for TransactionsError {
    fn from(error: Error) -> Self {
        TransactionsError::Volume(error)
    }
}

impl From<io::Error> for TransactionsError {
    fn from(error: io::Error) -> Self {
        TransactionsError::Fat(error)
    }
}
