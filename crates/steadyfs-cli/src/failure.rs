//! The error of all commands: the reason for a failure, as one sentence.

use std::fmt::Display;
use std::io;
use steadyfs::MountError;
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

/// Implements [`Measuring`] for errors. Each line has an error, its variants that contain another
/// error of a measurement, and its variants that options cause.
macro_rules! measuring {
    ($($error:ident [$($inner:ident)*] $usage:pat,)*) => {
        $(impl Measuring for $error {
            fn is_usage(&self) -> bool {
                match self {
                    $($error::$inner(error) => error.is_usage(),)*
                    $usage => true,
                    _ => false,
                }
            }
        })*
    };
}

measuring! {
    EvaluateError [] EvaluateError::Option(_)
        | EvaluateError::Device { .. }
        | EvaluateError::Unreadable { .. }
        | EvaluateError::Part(_)
        | EvaluateError::OtherKind { .. }
        | EvaluateError::TooSmall { .. }
        | EvaluateError::Mount(MountError::Config(_))
        | EvaluateError::NoAccess
        | EvaluateError::Floor(_),
    BenchError [Device] BenchError::Option(_) | BenchError::Part(_) | BenchError::TooSmall { .. },
    AdviseError [Chip] AdviseError::Option(_) | AdviseError::NothingFits { .. },
    CostsError [Device] CostsError::Option(_)
        | CostsError::Mount(MountError::Config(_))
        | CostsError::TooManyFiles { .. },
    StreamsError [Device] StreamsError::Option(_)
        | StreamsError::Config(_)
        | StreamsError::TooSmall { .. },
    TransactionsError [Device] TransactionsError::Option(_)
        | TransactionsError::Mount(MountError::Config(_)),
    RealtimeError [Profile Nand] RealtimeError::Option(_)
        | RealtimeError::TooSmall
        | RealtimeError::Mount(MountError::Config(_)),
    BootError [Device] BootError::Mount(MountError::Config(_)),
}
