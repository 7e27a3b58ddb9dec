//! What was asked for and cannot be done.

use std::fmt;

/// What was asked for cannot be done, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput(pub String);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}
