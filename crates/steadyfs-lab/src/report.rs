//! Reports for people: one HTML file that opens offline, and the same figures as SVG files.
//!
//! The page holds the whole trace, so that its slider computes the backlog of any input rate exactly; only the drawing
//! is thinned, and keeps every minimum and maximum. It takes about eight bytes of file per access.

mod axis;
mod downsample;
mod figures;
mod html;

use crate::envelope::{Envelope, guaranteed_left_bytes};
use crate::evaluate::Outcome;
use crate::replay::Trace;
use crate::summary::Summary;
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size};
use std::io;
use std::path::{Path, PathBuf};

pub use downsample::downsample;

/// A number that stands at the top of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is, in one to three words.
    pub label: String,
    /// The number with its unit.
    pub value: String,
    /// What to compare it with; may be empty.
    pub note: String,
}

impl Fact {
    fn new(label: &str, value: String, note: impl Into<String>) -> Fact {
        Fact { label: label.to_string(), value, note: note.into() }
    }
}

/// What a report shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Headline: the device or the name of the trace.
    pub title: String,
    /// One line below it: what was run.
    pub subtitle: String,
    /// The key numbers.
    pub facts: Vec<Fact>,
    /// Access times in nanoseconds, in order; at least one.
    pub access_ns: Vec<u64>,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Input rates in bytes per second, offered beside the slider and drawn as SVG.
    pub rates: Vec<u64>,
    /// The promised longest access in nanoseconds, drawn as a line; `None` when nothing is promised.
    pub bound_ns: Option<u64>,
    /// The promised envelopes; without a bound they are not used.
    pub envelopes: Vec<Envelope>,
}

impl Report {
    /// The report of an evaluation.
    pub fn of_evaluation(outcome: &Outcome) -> Report {
        let e = &outcome.evaluation;
        let duration = |us: f64| format_duration(us * 1e3);
        let floor = match e.idle {
            Some(_) => "in bursts".to_string(),
            None => format!("{} of the chip's limit", format_percent(e.share_of_floor())),
        };
        let mut facts = vec![
            Fact::new("Longest access", duration(e.max_us), format!("promised {}", duration(e.bound_us))),
            Fact::new("Mean access", duration(e.mean_us), format!("p99.9 {}", duration(e.p999_us))),
            Fact::new("Throughput", format_rate(e.throughput_bytes_per_s), floor),
            Fact::new("Programs", format!("{:.2}", e.programs_per_data_page), "per page of data"),
            Fact::new("RAM", format_size(e.ram_bytes), "everything included"),
            Fact::new("Mount", duration(e.mount_us), ""),
            Fact::new("Usable", format_size(e.usable_bytes), format!("{} in use", format_percent(e.fill))),
            Fact::new(
                "Erase counts",
                format!("{} to {}", e.erase_count.min, e.erase_count.max),
                format!("{} erases in this run", format_count(e.erases)),
            ),
        ];
        let mut subtitle = e.title().replace('\n', ", ");
        if let Some(idle) = &e.idle {
            subtitle += ", when no data comes in";
            let used = format!("{} of the idle time used", format_percent(idle.used_share));
            facts.push(Fact::new("Without idle time", duration(idle.without.max_us), "longest access"));
            facts.push(Fact::new("Idle work", format!("{} erases", format_count(idle.erases)), used));
        }
        Report {
            title: e.device.clone(),
            subtitle,
            facts,
            access_ns: outcome.access_ns.clone(),
            write_bytes: e.write_bytes,
            rates: e.backlog.iter().map(|row| row.rate).collect(),
            bound_ns: Some((e.bound_us * 1e3).round() as u64),
            envelopes: outcome.envelopes.clone(),
        }
    }

    /// The report of a replayed trace: nothing is promised in it.
    pub fn of_trace(trace: &Trace, summary: &Summary) -> Report {
        let duration = |us: f64| format_duration(us * 1e3);
        let throughput = summary.throughput_bytes_per_s.unwrap_or(f64::INFINITY);
        let name = Path::new(&trace.name).file_name().map_or(trace.name.clone(), |n| n.to_string_lossy().into_owned());
        Report {
            title: name,
            subtitle: summary.title(),
            facts: vec![
                Fact::new("Longest access", duration(summary.max_us), "in this trace"),
                Fact::new("Mean access", duration(summary.mean_us), format!("p50 {}", duration(summary.p50_us))),
                Fact::new("p99.9", duration(summary.p999_us), format!("p99 {}", duration(summary.p99_us))),
                Fact::new("Throughput", format_rate(throughput), "mean of the trace"),
            ],
            access_ns: trace.access_ns.clone(),
            write_bytes: summary.write_bytes,
            rates: summary.backlog.iter().map(|row| row.rate).collect(),
            bound_ns: None,
            envelopes: Vec::new(),
        }
    }

    /// The most bytes left that are promised at a rate; `None` when nothing finite is promised.
    pub(crate) fn guaranteed_bytes(&self, rate: u64) -> Option<u64> {
        guaranteed_left_bytes(&self.envelopes, self.bound_ns?, self.write_bytes, rate)
    }

    /// The report as one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The figures as SVG: file name and text of each.
    pub fn svg(&self) -> Vec<(&'static str, String)> {
        vec![
            ("access-times.svg", figures::access_times(self)),
            ("distribution.svg", figures::distribution(self)),
            ("backlog.svg", figures::backlog(self)),
        ]
    }

    /// Writes the figures into a directory, which is created if it is missing; returns their paths.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_svg(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::create_dir_all(directory)?;
        self.svg()
            .into_iter()
            .map(|(name, text)| {
                let path = directory.join(name);
                std::fs::write(&path, text).map(|()| path)
            })
            .collect()
    }
}

/// Escapes text for HTML and SVG, in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::evaluation::{Evaluation, tests::measured};

    pub(crate) fn report() -> Report {
        let run = measured();
        let evaluation = Evaluation::of(&run, &[500_000, 1_000_000, 100_000_000]).unwrap();
        Report::of_evaluation(&Outcome { evaluation, access_ns: run.access_ns, work: Vec::new(), envelopes: run.envelopes })
    }

    #[test]
    fn evaluation_shows_its_bound_and_a_trace_shows_none() {
        assert_eq!(report().bound_ns, Some(10_000_000));
        assert_eq!(report().guaranteed_bytes(1_000_000), Some(5_904));
        let trace = Trace { name: "some/where/board.csv".into(), access_ns: vec![1_000, 2_000] };
        let replayed = Report::of_trace(&trace, &Summary::of(&trace, 4096, &[500_000], None).unwrap());
        assert_eq!((replayed.bound_ns, replayed.guaranteed_bytes(1), replayed.title.as_str()), (None, None, "board.csv"));
        assert_eq!(replayed.rates, [500_000]);
    }

    #[test]
    fn figures_are_written_into_a_new_directory() {
        let directory = std::env::temp_dir().join(format!("steadyfs-lab-{}", std::process::id())).join("figures");
        let paths = report().write_svg(&directory).unwrap();
        assert_eq!(paths.len(), 3);
        assert!(paths.iter().all(|path| std::fs::read_to_string(path).unwrap().starts_with("<svg")));
        std::fs::remove_dir_all(directory.parent().unwrap()).unwrap();
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(escape(r#"<a href="x">&'"#), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }
}
