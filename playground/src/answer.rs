//! Questions and answers of the page.

use serde::{Deserialize, Serialize};
use steadyfs_lab::evaluate::{self, Options, Part, Timing, Workload};
use steadyfs_lab::evaluation::Evaluation;
use steadyfs_lab::report::{Page, Report};
use steadyfs_sim::Profile;

/// A question of the page.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
enum Question {
    /// Returns the chips, timings and workloads that the page can choose.
    Choices,
    /// Makes a run like `steady evaluate`.
    Evaluate {
        /// The profile of the chip, in TOML.
        chip: String,
        fill: f64,
        timing: String,
        workload: String,
        /// Bytes of a write. If it is missing, the default of the workload.
        write_bytes: Option<u64>,
        accesses: u64,
        rates: Vec<u64>,
        seed: u64,
    },
}

/// The answer to a question.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Choices {
        chips: Vec<Chip>,
        timings: Vec<Choice>,
        workloads: Vec<Choice>,
        accesses: u64,
        fill: f64,
        rates: Vec<u64>,
    },
    Evaluation {
        evaluation: Box<Evaluation>,
        report: String,
    },
    Error {
        error: String,
    },
}

/// A built-in chip.
#[derive(Serialize)]
struct Chip {
    name: String,
    title: String,
    toml: &'static str,
}

/// One of several names.
#[derive(Serialize)]
struct Choice {
    name: &'static str,
    write_bytes: Option<u64>,
}

/// Answers a question. Both are JSON.
pub fn to(question: &str, progress: &mut dyn FnMut(f64)) -> String {
    let answer = match serde_json::from_str(question) {
        Ok(Question::Choices) => choices(),
        Ok(question) => {
            evaluated(question, progress).unwrap_or_else(|error| Answer::Error { error })
        }
        Err(error) => Answer::Error { error: format!("unknown question: {error}") },
    };
    serde_json::to_string(&answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn choices() -> Answer {
    let defaults = Options::default();
    // Flash whose lines are programmed once is left out: for it, only drivers are simulated.
    let is_meant = |profile: &Profile| !profile.nor().is_some_and(|nor| nor.has_lines());
    let of_chip = |toml: &'static str| {
        let Profile { name, title, .. } = Profile::from_toml(toml).ok().filter(is_meant)?;
        Some(Chip { name, title, toml })
    };
    Answer::Choices {
        chips: Profile::documents().iter().filter_map(|toml| of_chip(toml)).collect(),
        timings: Timing::NAMES.iter().map(|(name, _)| Choice { name, write_bytes: None }).collect(),
        workloads: Workload::NAMES
            .iter()
            .map(|(name, workload)| Choice {
                name,
                write_bytes: Some(workload.default_write_bytes()),
            })
            .collect(),
        accesses: defaults.accesses,
        fill: defaults.fill,
        rates: defaults.rates,
    }
}

fn evaluated(question: Question, progress: &mut dyn FnMut(f64)) -> Result<Answer, String> {
    let Question::Evaluate { chip, fill, timing, workload, write_bytes, accesses, rates, seed } =
        question
    else {
        return Ok(choices());
    };
    let profile = Profile::from_toml(&chip).map_err(|error| error.to_string())?;
    let workload: Workload = workload.parse().map_err(|error| format!("{error}"))?;
    let timing: Timing = timing.parse().map_err(|error| format!("{error}"))?;
    let write_bytes = write_bytes.unwrap_or_else(|| workload.default_write_bytes());
    let options = Options {
        device: profile.name.clone(),
        fill,
        accesses,
        write_bytes,
        rates,
        part: Part { timing, ..Part::default() },
        workload,
        seed,
        idle: None,
    };
    let outcome = evaluate::run_on(&profile, &options, &mut |share, _| progress(share))
        .map_err(|error| error.to_string())?;
    let report = Report::of_evaluation(&outcome).html();
    Ok(Answer::Evaluation { evaluation: Box::new(outcome.evaluation), report })
}
