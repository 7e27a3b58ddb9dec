//! The error of all commands: the reason for a failure, as one sentence.

use std::fmt::Display;
use std::io;
use steadyfs_lab::advise::AdviseError;
use steadyfs_lab::bench::BenchError;
use steadyfs_lab::boot::BootError;
use steadyfs_lab::costs::CostsError;
use steadyfs_lab::evaluate::EvaluateError;
use steadyfs_lab::realtime::RealtimeError;
use steadyfs_lab::streams::StreamsError;
use steadyfs_lab::transactions::TransactionsError;

/// The reason for the failure of a command, as one sentence.
#[derive(Debug)]
pub struct Failure {
    /// The sentence.
    pub sentence: String,
    /// True for wrong usage: the command line alone is the cause. Its options contradict each
    /// other, or the profile of a device that it names.
    pub is_usage: bool,
}

impl Failure {
    /// Returns a failure that files or devices cause.
    pub fn new(sentence: impl Display) -> Failure {
        Failure { sentence: sentence.to_string(), is_usage: false }
    }

    /// Returns a failure that the command line alone causes.
    pub fn usage(sentence: impl Display) -> Failure {
        Failure { sentence: sentence.to_string(), is_usage: true }
    }

    /// Returns a failure at a place.
    pub fn at(place: impl Display, what: impl Display) -> Failure {
        Failure::new(format!("{place}: {what}"))
    }

    /// Returns a failure to write to a place.
    pub fn writing(place: impl Display, error: &io::Error) -> Failure {
        Failure::at(place, format!("cannot be written: {error}"))
    }

    /// Returns the failure of a measurement.
    pub fn measuring<E: Measuring>(error: E) -> Failure {
        Failure { sentence: error.to_string(), is_usage: error.is_usage() }
    }
}

/// The error of a measurement on a simulated device.
pub trait Measuring: Display {
    /// Returns true if the options ask for something that the device does not have.
    fn is_usage(&self) -> bool;
}

impl Measuring for EvaluateError {
    fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Device { .. }
                | Self::Unreadable { .. }
                | Self::Part(_)
                | Self::OtherKind { .. }
                | Self::TooSmall { .. }
                | Self::Mount(steadyfs::MountError::Config(_))
                | Self::NoAccess
                | Self::Floor(_)
        )
    }
}

impl Measuring for BenchError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Device(error) => error.is_usage(),
            Self::Part(_) | Self::TooSmall { .. } => true,
            _ => false,
        }
    }
}

impl Measuring for AdviseError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Chip(error) => error.is_usage(),
            Self::NothingFits { .. } => true,
            _ => false,
        }
    }
}

impl Measuring for CostsError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Device(error) => error.is_usage(),
            Self::Mount(steadyfs::MountError::Config(_)) | Self::TooManyFiles { .. } => true,
            _ => false,
        }
    }
}

impl Measuring for StreamsError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Device(error) => error.is_usage(),
            Self::Config(_) | Self::TooSmall { .. } => true,
            _ => false,
        }
    }
}

impl Measuring for TransactionsError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Device(error) => error.is_usage(),
            Self::Mount(steadyfs::MountError::Config(_)) => true,
            _ => false,
        }
    }
}

impl Measuring for RealtimeError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Profile(error) | Self::Nand(error) => error.is_usage(),
            Self::TooSmall | Self::Mount(steadyfs::MountError::Config(_)) => true,
            _ => false,
        }
    }
}

impl Measuring for BootError {
    fn is_usage(&self) -> bool {
        match self {
            Self::Device(error) => error.is_usage(),
            Self::Mount(steadyfs::MountError::Config(_)) => true,
            _ => false,
        }
    }
}
