//! What a run has found: something that did not hold.

use serde::{Deserialize, Serialize};

/// Something that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Replays it: `steady torture --replay STRING`. As short as it could be made.
    pub replay: String,
    /// What was expected and what was found.
    pub what: String,
}
