//! The error of all commands: the reason for a failure, as one sentence.

use std::fmt::Display;
use std::io;

/// The reason for the failure of a command, as one sentence.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    /// Returns a failure at a place.
    pub fn at(place: impl Display, what: impl Display) -> Failure {
        Failure(format!("{place}: {what}"))
    }

    /// Returns a failure to write to a place.
    pub fn writing(place: impl Display, error: &io::Error) -> Failure {
        Failure::at(place, format!("cannot be written: {error}"))
    }
}
