//! The kept counts of instructions.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counts that `tools/peers/processor.sh` keeps.
const COUNTS: &str = include_str!("../assets/processor.json");

/// Instructions of the calls of contenders, on a Cortex-M3.
#[derive(Clone, Debug, Deserialize)]
pub struct Counts {
    /// The call of each case that has a count.
    pub cases: BTreeMap<String, String>,
    /// The contenders.
    pub contenders: BTreeMap<String, CountsOf>,
}

/// The counts of a contender.
#[derive(Clone, Debug, Deserialize)]
pub struct CountsOf {
    /// The compiler and its options.
    pub compiler: String,
    /// The counts by board and call.
    pub counts: BTreeMap<String, BTreeMap<String, Count>>,
}

/// Instructions of a call of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Count {
    /// Number of calls that succeeded.
    pub calls: u64,
    /// Mean instructions of a call.
    pub mean: u64,
    /// Instructions of the longest call.
    pub longest: u64,
    /// Number of calls that were refused for lack of room.
    pub refused: u64,
}

/// Processor time of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Mean instructions of a call.
    pub instructions: u64,
    /// Mean processor time of a call, in microseconds.
    pub mean_us: f64,
    /// Mean flash and processor time of a call, in microseconds.
    pub total_us: f64,
}

impl Counts {
    /// Returns the kept counts.
    ///
    /// # Panics
    /// If the kept file has another form. A test reads it.
    pub fn kept() -> Counts {
        serde_json::from_str(COUNTS).expect("the file is read by a test")
    }

    /// Returns the count of a case. A contender without a successful call has none.
    pub fn of(&self, contender: &str, board: &str, case: &str) -> Option<Count> {
        let counts = self.contenders.get(contender)?.counts.get(board)?;
        counts.get(self.cases.get(case)?).copied().filter(|count| count.calls > 0)
    }
}
