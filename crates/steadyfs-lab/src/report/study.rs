//! The report of `steady streams --study`. It has the paper's numbers beside ours, the
//! amplification by the number of streams, and time and amplification over the run.

use super::canvas::Width;
use super::figures::{plain, tick_time};
use super::lines::{Figure, Line};
use super::paper::{Paper, figure};
use super::{Page, escape};
use crate::streams::study::{Finding, Run, Study};
use crate::units::format_percent;

const FOOTER: &str = "S. Vishwakarma, A. Sharma, S. K. Kodase: Enhancing eMMC using Multi-Stream \
    technique, EAI 2019. Plain layer: a page map with an active block for each stream, and greedy \
    cleaning that ignores streams. SteadyFS: each write is durable, and kept its promise.";

/// A report of the study.
#[derive(Clone, Debug)]
pub struct StudyReport<'a>(&'a Study);

impl<'a> StudyReport<'a> {
    /// Returns the report of a study.
    pub fn of(study: &'a Study) -> StudyReport<'a> {
        StudyReport(study)
    }

    /// Draws the amplification by the number of streams.
    fn by_count(&self, width: Width) -> String {
        let of = |system: &str| -> Vec<f64> {
            self.0
                .runs
                .iter()
                .filter(|run| run.system == system && run.writes == "lives" && !run.moved_apart)
                .map(|run| run.amplification)
                .collect()
        };
        // A device of one stream is at the left.
        let lines = [("plain", "w0"), ("steadyfs", "w1")].map(|(system, class)| Line {
            name: name_of(system).to_string(),
            class,
            points: (1..).map(f64::from).zip(of(system)).collect(),
        });
        let counts =
            lines[0].points.iter().map(|&(count, _)| (count, format!("{count:.0}"))).collect();
        let figure = Figure {
            title: "Write amplification by the number of streams",
            subtitle: "eight jobs, each with a region twice as large as the region before",
            across: "streams that the jobs name",
            ticks: counts,
            text: &plain,
        };
        figure.draw(width, &lines)
    }

    /// Draws a number over time, for runs at random at one fill, with one stream and with three.
    fn over_time(
        &self,
        width: Width,
        title: &str,
        values: impl Fn(&Run) -> &Vec<f64>,
        text: &dyn Fn(f64) -> String,
    ) -> String {
        const SHOWN: f64 = 0.9;
        let is_shown = |run: &&Run| run.writes == "random" && run.fill == SHOWN && !run.moved_apart;
        let class_of = |run: &Run| match (run.system.as_str(), run.ids) {
            ("plain", 1) => "w0",
            ("plain", _) => "w4",
            (_, 1) => "w3",
            _ => "w1",
        };
        let line = |run: &Run| Line {
            name: format!(
                "{}, {} {}",
                name_of(&run.system),
                run.ids,
                if run.ids == 1 { "stream" } else { "streams" }
            ),
            class: class_of(run),
            points: (0..).map(f64::from).zip(values(run).iter().copied()).collect(),
        };
        let lines: Vec<Line> = self
            .0
            .runs
            .iter()
            .filter(|run| ["plain", "steadyfs"].contains(&run.system.as_str()))
            .filter(is_shown)
            .map(line)
            .collect();
        let subtitle = format!("three jobs at random, {} full", format_percent(SHOWN));
        let across = "from the filled device to the end of the run";
        Figure { title, subtitle: &subtitle, across, ticks: Vec::new(), text }.draw(width, &lines)
    }

    /// Draws all figures.
    fn figures(&self, width: Width) -> Vec<(&'static str, String)> {
        vec![
            ("by-count.svg", self.by_count(width)),
            (
                "amplification-over-time.svg",
                self.over_time(
                    width,
                    "Write amplification over time",
                    |run| &run.over_time,
                    &plain,
                ),
            ),
            (
                "latency-over-time.svg",
                self.over_time(
                    width,
                    "Mean time of a write over time",
                    |run| &run.mean_us_over_time,
                    &|us| tick_time(1e3 * us),
                ),
            ),
        ]
    }
}

impl Page for StudyReport<'_> {
    fn html(&self) -> String {
        let tables: String =
            self.0.parts().into_iter().map(|(part, findings)| section(part, &findings)).collect();
        let figures: String = (0..self.svg().len())
            .map(|at| figure("", |width| self.figures(width).swap_remove(at).1))
            .collect();
        Paper {
            brand: "streams · study",
            title: "Streams: a paper and our measurements",
            headline: &self.0.sentence(),
            leads: self.0.lead().to_vec(),
            body: tables + &figures,
            footer: FOOTER,
        }
        .html()
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        self.figures(Width::Wide)
    }
}

/// Returns the name of a system in figures.
fn name_of(system: &str) -> &str {
    if system == "plain" { "plain layer" } else { "SteadyFS" }
}

/// Returns the table of a part.
fn section(part: &str, findings: &[&Finding]) -> String {
    let rows: String = findings
        .iter()
        .enumerate()
        .map(|(at, row)| table_row(row, findings.get(at + 1).copied()))
        .collect();
    format!(
        "<section class=\"card\"><h2>{}</h2><div class=\"wide\"><table>\n\
         <thead><tr><th scope=\"col\"></th><th scope=\"col\" class=\"name\">Source</th><th \
         scope=\"col\">Paper</th><th scope=\"col\">Plain layer</th><th \
         scope=\"col\">SteadyFS</th></tr></thead>\n\
         <tbody>{rows}</tbody></table></div></section>\n",
        escape(part)
    )
}

/// Returns a row, and its explanation below it, unless the next row has the same explanation.
fn table_row(row: &Finding, next: Option<&Finding>) -> String {
    let why = match !row.why.is_empty() && next.is_none_or(|next| next.why != row.why) {
        true => format!("<tr><td colspan=\"5\" class=\"why\">{}</td></tr>\n", escape(&row.why)),
        false => String::new(),
    };
    format!(
        "<tr><th scope=\"row\">{}</th><td \
         class=\"name\" data-name=\"Source\">{}</td><td data-name=\"Paper\">{}</td><td \
         data-name=\"Plain layer\">{}</td><td data-name=\"SteadyFS\">{}</td></tr>\n\
         {why}",
        escape(&row.what),
        escape(&row.source),
        escape(&row.paper),
        escape(&row.plain),
        escape(&row.steadyfs)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> Study {
        let run = |system: &str, writes: &str, ids: u8| Run {
            system: system.into(),
            writes: writes.into(),
            fill: 0.9,
            ids,
            streams: ids,
            moved_apart: false,
            pages: 1_000,
            written_times: 20.0,
            amplification: 2.0 / f64::from(ids),
            erases_per_block: 30.0,
            mean_us: 700.0,
            max_us: 3_000.0,
            bound_us: None,
            ram_bytes: None,
            over_time: vec![1.0, 2.0, 1.9],
            mean_us_over_time: vec![400.0, 700.0, 690.0],
        };
        let finding = Finding {
            part: "Write amplification".into(),
            what: "<at> random".into(),
            source: "abstract".into(),
            paper: "−50 %".into(),
            plain: "2.00 → 1.00 (−50 %)".into(),
            steadyfs: "1.50 → 1.20 (−20 %)".into(),
            why: "Because.".into(),
        };
        let runs = ["plain", "steadyfs"].map(|system| {
            [("random", 1), ("random", 3), ("lives", 1), ("lives", 2)]
                .map(|(writes, ids)| run(system, writes, ids))
        });
        Study {
            scale: "scaled".into(),
            seed: 1,
            findings: vec![finding.clone(), finding],
            runs: runs.concat(),
        }
    }

    #[test]
    fn the_report_has_every_row_and_a_sentence_for_those_that_share_it() {
        let study = study();
        let html = StudyReport::of(&study).html();
        assert_eq!(html.matches("<th scope=\"row\">&lt;at&gt; random</th>").count(), 2);
        assert_eq!(html.matches("Because.").count(), 1);
        assert!(html.ends_with("</html>\n") && !html.contains("{{"));
        let figures = StudyReport::of(&study).svg();
        let lines =
            figures.iter().map(|(_, svg)| svg.matches("class=\"way").count()).collect::<Vec<_>>();
        assert_eq!(lines, [2, 4, 4]);
        assert!(figures.iter().all(|(_, svg)| !svg.contains("NaN") && !svg.contains("inf")));
    }

    #[test]
    fn nothing_is_a_report_too() {
        let study = Study { findings: Vec::new(), runs: Vec::new(), ..study() };
        assert!(StudyReport::of(&study).svg().iter().all(|(_, svg)| svg.ends_with("</svg>\n")
            && !svg.contains("NaN")
            && !svg.contains("inf")));
    }
}
