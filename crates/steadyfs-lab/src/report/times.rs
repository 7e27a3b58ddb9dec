//! The report of access times, from an evaluation or from a trace.

use super::levels::{self, Level};
use super::view::View;
use crate::envelope::{Envelope, guaranteed_left_bytes};
use crate::evaluate::Outcome;
use crate::evaluation::{Evaluation, Peer};
use crate::replay::Trace;
use crate::summary::Summary;
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size};
use std::path::Path;

/// A number of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Name of the number, in one to three words.
    pub label: String,
    /// The number with its unit.
    pub value: String,
    /// A value to compare with; may be empty.
    pub note: String,
}

impl Fact {
    pub(super) fn new(label: &str, value: String, note: impl Into<String>) -> Fact {
        Fact { label: label.to_string(), value, note: note.into() }
    }
}

/// Content of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Headline: the device or the name of the trace.
    pub title: String,
    /// One line below the headline: a description of the run.
    pub subtitle: String,
    /// The two or three numbers that matter most, beside the buffer.
    pub tiles: Vec<Fact>,
    /// The other numbers.
    pub facts: Vec<Fact>,
    /// Access times in nanoseconds, in order; at least one.
    pub access_ns: Vec<u64>,
    /// Levels that the figure of accesses names. Earlier levels choose their place first. Empty if
    /// only times are available.
    pub levels: Vec<Level>,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Input rates in bytes per second, offered beside the slider and drawn as SVG.
    pub rates: Vec<u64>,
    /// The promised longest access in nanoseconds, drawn as a line; `None` if nothing is promised.
    pub bound_ns: Option<u64>,
    /// The promised envelopes. They are not used without a bound.
    pub envelopes: Vec<Envelope>,
    /// Other file systems, drawn beside the run in a figure of its own.
    pub peers: Vec<Peer>,
}

impl Report {
    /// Returns the report of an evaluation.
    pub fn of_evaluation(outcome: &Outcome) -> Report {
        let e = &outcome.evaluation;
        let mut subtitle = e.title().replace('\n', ", ");
        if e.idle.is_some() {
            subtitle += ", when no data comes in";
        }
        Report {
            title: e.device.clone(),
            subtitle,
            tiles: evaluation_tiles(e),
            facts: evaluation_facts(e),
            access_ns: outcome.access_ns.clone(),
            levels: levels::levels(&outcome.access_ns, &outcome.work),
            write_bytes: e.write_bytes,
            rates: e.backlog.iter().map(|row| row.rate).collect(),
            bound_ns: Some((e.bound_us * 1e3).round() as u64),
            envelopes: outcome.envelopes.clone(),
            peers: outcome.peers.clone(),
        }
    }

    /// Returns the report of a replayed trace. It promises nothing, and contains only times.
    pub fn of_trace(trace: &Trace, summary: &Summary) -> Report {
        let throughput = summary.throughput_bytes_per_s.unwrap_or(f64::INFINITY);
        let name = Path::new(&trace.name)
            .file_name()
            .map_or(trace.name.clone(), |n| n.to_string_lossy().into_owned());
        Report {
            title: name,
            subtitle: summary.title(),
            tiles: vec![
                Fact::new("Throughput", format_rate(throughput), "mean of the trace"),
                longest_tile(summary.max_us, summary.p999_us),
            ],
            facts: percentile_facts(summary.mean_us, summary.p50_us, summary.p99_us),
            access_ns: trace.access_ns.clone(),
            levels: Vec::new(),
            write_bytes: summary.write_bytes,
            rates: summary.backlog.iter().map(|row| row.rate).collect(),
            bound_ns: None,
            envelopes: Vec::new(),
            peers: vec![],
        }
    }

    /// Returns the longest access in nanoseconds.
    pub(super) fn longest_ns(&self) -> u64 {
        self.access_ns.iter().copied().max().unwrap_or(0)
    }

    /// Returns the axis of access times.
    pub(super) fn view(&self) -> View {
        View::of(self.longest_ns(), self.bound_ns)
    }

    /// Returns the maximum bytes left that are promised at a rate; `None` if nothing finite is
    /// promised.
    pub(crate) fn guaranteed_bytes(&self, rate: u64) -> Option<u64> {
        guaranteed_left_bytes(&self.envelopes, self.bound_ns?, self.write_bytes, rate)
    }
}

/// Formats microseconds as text.
fn duration(us: f64) -> String {
    format_duration(us * 1e3)
}

fn longest_tile(max_us: f64, p999_us: f64) -> Fact {
    Fact::new(
        "Longest access",
        duration(max_us),
        format!("99.9 % take at most {}", duration(p999_us)),
    )
}

fn percentile_facts(mean_us: f64, p50_us: f64, p99_us: f64) -> Vec<Fact> {
    vec![
        Fact::new("Mean access", duration(mean_us), ""),
        Fact::new("Half of the accesses", duration(p50_us), "at most"),
        Fact::new("99 % of the accesses", duration(p99_us), "at most"),
    ]
}

/// Returns the numbers of an evaluation that matter most.
fn evaluation_tiles(e: &Evaluation) -> Vec<Fact> {
    let floor = match e.idle {
        Some(_) => "in bursts".to_string(),
        None => format!("{} of the chip's limit", format_percent(e.share_of_floor())),
    };
    vec![
        Fact::new(
            "Promised longest access",
            duration(e.bound_us),
            format!("longest of these accesses: {}", duration(e.max_us)),
        ),
        Fact::new("Throughput", format_rate(e.throughput_bytes_per_s), floor),
        Fact::new("RAM", format_size(e.ram_bytes), "everything included"),
    ]
}

/// Returns the other numbers of an evaluation.
fn evaluation_facts(e: &Evaluation) -> Vec<Fact> {
    let mut facts = percentile_facts(e.mean_us, e.p50_us, e.p99_us);
    facts.push(Fact::new("99.9 % of the accesses", duration(e.p999_us), "at most"));
    let wear = format!("{} to {}", e.erase_count.min, e.erase_count.max);
    facts.extend([
        Fact::new("Programs", format!("{:.2}", e.programs_per_data_page), "per data page"),
        Fact::new("Erase counts", wear, format!("{} erases in this run", format_count(e.erases))),
        Fact::new(
            "Usable",
            format_size(e.usable_bytes),
            format!("{} in use", format_percent(e.fill)),
        ),
        Fact::new("Mount", duration(e.mount_us), ""),
    ]);
    if let Some(log) = &e.log {
        let kinds = [("Append alone", &log.append), ("Change of file", &log.change)];
        facts.extend(kinds.map(|(label, kind)| {
            let seen = format!("promised; longest of {}: {}", kind.accesses, duration(kind.max_us));
            Fact::new(label, duration(kind.bound_us), seen)
        }));
    }
    if let Some(idle) = &e.idle {
        let used = format!("{} of the idle time used", format_percent(idle.used_share));
        facts.push(Fact::new("Without idle time", duration(idle.without.max_us), "longest access"));
        facts.push(Fact::new("Idle work", format!("{} erases", format_count(idle.erases)), used));
    }
    for beside in &e.beside {
        facts.push(Fact::new(
            &beside.label,
            duration(beside.max_us),
            format!("longest access, mean {}", duration(beside.mean_us)),
        ));
    }
    facts
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::evaluate::Work;
    use crate::evaluation::{Measured, tests::measured};

    pub(crate) fn report() -> Report {
        let run = measured();
        let evaluation = Evaluation::of(&run, &[500_000, 1_000_000, 100_000_000]).unwrap();
        let mut work = vec![Work { programs: 1, ..Work::default() }; run.access_ns.len()];
        work.last_mut().unwrap().erases = 1;
        Report::of_evaluation(&outcome(evaluation, run, work))
    }

    pub(crate) fn outcome(evaluation: Evaluation, run: Measured, work: Vec<Work>) -> Outcome {
        Outcome {
            evaluation,
            access_ns: run.access_ns,
            work,
            envelopes: run.envelopes,
            peers: vec![],
        }
    }

    #[test]
    fn evaluation_shows_its_bound_and_a_trace_shows_none() {
        assert_eq!(report().bound_ns, Some(10_000_000));
        assert_eq!(report().guaranteed_bytes(1_000_000), Some(5_904));
        let trace = Trace {
            name: "some/where/board.csv".into(),
            access_ns: vec![1_000, 2_000],
            fio: None,
            refused: 0,
        };
        let replayed =
            Report::of_trace(&trace, &Summary::of(&trace, 4096, &[500_000], None).unwrap());
        assert_eq!(
            (replayed.bound_ns, replayed.guaranteed_bytes(1), replayed.title.as_str()),
            (None, None, "board.csv")
        );
        assert_eq!(
            (replayed.rates.as_slice(), replayed.levels.as_slice()),
            ([500_000].as_slice(), [].as_slice())
        );
    }

    #[test]
    fn few_numbers_stand_in_front() {
        let report = report();
        let labels: Vec<_> = report.tiles.iter().map(|tile| tile.label.as_str()).collect();
        assert_eq!(labels, ["Promised longest access", "Throughput", "RAM"]);
        assert!(
            report.tiles[1].note.ends_with("of the chip's limit")
                && report.tiles[0].note.ends_with("these accesses: 9.000 ms")
        );
        assert!(report.facts.iter().any(|fact| fact.label == "Mount"));
    }
}
