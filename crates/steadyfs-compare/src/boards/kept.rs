//! Measured runs, kept for builds without the contenders in C.

use super::step::Spans;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../assets/boards.json");

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The times of its steps.
    pub spans: Spans,
    /// The calibrated time of the driver, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// The kept runs, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRuns {
    /// The runs.
    pub runs: BTreeMap<String, RunResult>,
    /// The versions of the contenders in C.
    pub versions: BTreeMap<String, String>,
}

impl KeptRuns {
    /// Returns the runs that were kept when this program was built.
    ///
    /// # Panics
    /// If the built-in document is wrong, which a test excludes.
    pub fn built_in() -> KeptRuns {
        serde_json::from_str(DOCUMENT).unwrap_or_else(|error| panic!("assets/boards.json: {error}"))
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and names are JSON") + "\n"
    }
}
