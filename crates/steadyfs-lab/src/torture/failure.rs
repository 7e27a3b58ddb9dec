//! A violation that a run has found.

use serde::{Deserialize, Serialize};

/// A violation that a run has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// String that replays it: `steady torture --replay STRING`. It is as short as it could be
    /// made.
    pub replay: String,
    /// The expected and the found state.
    pub what: String,
}
