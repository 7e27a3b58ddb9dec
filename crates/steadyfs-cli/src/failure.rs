//! Why a command failed, as one sentence: the error of all commands.

use std::fmt::Display;
use std::io;

/// Why a command failed, as one sentence.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    /// A failure at a place.
    pub fn at(place: impl Display, what: impl Display) -> Failure {
        Failure(format!("{place}: {what}"))
    }

    /// A failure to write to a place.
    pub fn writing(place: impl Display, error: &io::Error) -> Failure {
        Failure::at(place, format!("cannot be written: {error}"))
    }
}
