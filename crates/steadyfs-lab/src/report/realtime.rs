//! The report of `steady realtime`: the nine figures of an article, drawn from measurements, and
//! the article's numbers beside ours.

use super::Page;
use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, TOP, Width};
use super::downsample::downsample;
use super::figures::{ends_s, label, level_panel, plain, tick_time};
use super::paper::{Paper, Table, figure};
use crate::backlog::backlog_series;
use crate::realtime::{Medium, Realtime, Row, SPECIFICATION, WRITE_BYTES};
use crate::units::{format_duration, format_rate, format_size};
use std::fmt::Write;

/// Height of the plotting area in pixels: of a figure with one panel, and of each panel in a figure
/// with two.
const HEIGHT: f64 = 260.0;
const PANEL: f64 = 110.0;
/// Room above a panel, for its name.
const GAP: f64 = 44.0;
/// Maximum number of drawn accesses.
const BARS: usize = 1_400;
/// The devices of the article.
const INDUSTRIAL: &str = "sd-industrial";
const CONSUMER: &str = "sd-consumer";
const NAND: &str = "mt29f1g01abafd";
/// Two sequences of ten accesses, in milliseconds. Both have the same longest access, equally
/// often. Each access writes 4,000 bytes, at an input rate of 1 MB/s.
const APART: [u64; 10] = [2, 10, 2, 2, 2, 2, 10, 2, 2, 2];
const ADJACENT: [u64; 10] = [2, 2, 10, 10, 2, 2, 2, 2, 2, 2];
const SEQUENCE_BYTES: u64 = 4000;
const SEQUENCE_RATE: u64 = 1_000_000;
const FOOTER: &str = "Evaluating Embedded File System RAM Usage Under Real-Time Constraints \
    (Tuxera). Backlog after each access: max(0, B + δ·ω − S). The article prints min instead of \
    max, and a minimum could never be positive. Its Figure 5 calls the input rate “average \
    throughput”. Rates are decimal, buffers binary. Cards: the models of docs/results/cards.md, \
    fitted to these figures. TSFS stands beside SteadyFS on the same chip with the datasheet's \
    typical times.";

/// A report of a comparison of media.
#[derive(Clone, Debug)]
pub struct RealtimeReport<'a>(&'a Realtime);

/// A figure: its file, its drawing, its lead, and its row in the table.
struct Drawn {
    file: &'static str,
    svg: String,
    lead: &'static str,
    /// Name of the number, the article's number, and ours.
    row: [String; 3],
}

impl<'a> RealtimeReport<'a> {
    /// Returns the report of a result.
    pub fn of(realtime: &'a Realtime) -> RealtimeReport<'a> {
        RealtimeReport(realtime)
    }

    /// Returns a device without a file system, by its place among them.
    fn card(&self, index: usize) -> Option<(&'a Row, &'a str)> {
        let name = |row: &'a Row| {
            if let Medium::Device(name) = &row.medium { Some((row, name.as_str())) } else { None }
        };
        self.0.rows.iter().filter_map(name).nth(index)
    }

    /// Returns SteadyFS on raw flash.
    fn nand(&self) -> Option<(&'a Row, &'a str)> {
        let name = |row: &'a Row| {
            if let Medium::RawFlash(name) = &row.medium { Some((row, name.as_str())) } else { None }
        };
        self.0.rows.iter().find_map(name)
    }

    /// Returns the figures, in the order of the article.
    fn figures(&self, width: Width) -> Vec<Drawn> {
        let mut drawn = hypothetical(width);
        if let Some((row, name)) = self.card(0) {
            let is_known = name == INDUSTRIAL;
            drawn.push(accesses(
                width,
                "figure-3.svg",
                "Figure 3",
                row,
                name,
                if is_known { "longest about 141 ms, from the 10 kB of Figure 4" } else { "" },
            ));
            for (file, number, rate, article) in [
                ("figure-4.svg", "Figure 4", 100_000, "about 10 kB"),
                ("figure-5.svg", "Figure 5", 500_000, "about 1 MB"),
            ] {
                drawn.push(buffer(
                    width,
                    file,
                    number,
                    row,
                    name,
                    rate,
                    if is_known { article } else { "" },
                ));
            }
        }
        if let Some((row, name)) = self.card(1) {
            let article = if name == CONSUMER { "60 times Figure 4, about 600 kB" } else { "" };
            drawn.push(buffer(width, "figure-6.svg", "Figure 6", row, name, 100_000, article));
        }
        if let Some((row, name)) = self.nand() {
            let is_known = name == NAND;
            let told = |article: &'static str| if is_known { article } else { "" };
            drawn.push(accesses(
                width,
                "figure-7.svg",
                "Figure 7",
                row,
                name,
                told("TSFS: at most 8.2 ms, as 500 kB/s need no buffer"),
            ));
            drawn.push(buffer(
                width,
                "figure-8.svg",
                "Figure 8",
                row,
                name,
                1_000_000,
                told("TSFS: less than 1 KiB"),
            ));
            drawn.push(buffer(
                width,
                "figure-9.svg",
                "Figure 9",
                row,
                name,
                2_000_000,
                told("TSFS: less than 10 KiB"),
            ));
        }
        drawn
    }

    /// Returns the table of the advice, the best answer first.
    fn advice(&self) -> String {
        let rows = self.0.answers();
        let head: Vec<&str> = rows[0].iter().map(String::as_str).collect();
        let heading = format!(
            "{} with {} of RAM",
            format_rate(self.0.rate as f64),
            format_size(self.0.ram_bytes)
        );
        let legend = Realtime::ANSWERS.replace('\n', " ") + " " + SPECIFICATION;
        Table { heading: &heading, lead: "", legend: &legend, head: &head, names: 2 }
            .html(&rows[1..])
    }

    /// Returns two tables of all media: their times, and their buffers with the bytes written.
    fn media(&self) -> String {
        /// Columns of the first table.
        const TIMES: usize = 7;
        let head = self.0.head();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let legend = self.0.legend().replace('\n', " ");
        let rows: Vec<_> = self.0.rows.iter().map(Row::cells).collect();
        let part = |from: usize, to: usize, heading: &str, legend: &str| {
            let head: Vec<&str> = [head[0]].iter().chain(&head[from..to]).copied().collect();
            let row = |row: &Vec<String>| {
                [row[0].clone()].iter().chain(&row[from..to]).cloned().collect::<Vec<_>>()
            };
            let rows: Vec<_> = rows.iter().map(row).collect();
            Table { heading, lead: "", legend, head: &head, names: 1 }.html(&rows)
        };
        part(1, TIMES, "All media: times", "")
            + &part(TIMES, head.len(), "All media: buffers and writes", &legend)
    }
}

impl Page for RealtimeReport<'_> {
    fn html(&self) -> String {
        let drawn = self.figures(Width::Wide);
        let rows: Vec<_> = drawn.iter().map(|drawn| drawn.row.to_vec()).collect();
        let table = Table {
            heading: "Beside an article: “Evaluating Embedded File System RAM Usage Under \
                Real-Time Constraints”, Tuxera",
            lead: "The built-in cards are models of the cards of this article. Each buffer is for \
                the 4,000 consecutive accesses with the longest total time, as in the article.",
            legend: "",
            head: &["Figure", "Article", "Measured"],
            names: 3,
        };
        let figures: String = drawn
            .iter()
            .enumerate()
            .map(|(at, drawn)| figure(drawn.lead, |width| self.figures(width).swap_remove(at).svg))
            .collect();
        Paper {
            brand: "realtime",
            title: "Buffers for an input rate",
            headline: &self.0.sentence(),
            leads: vec![self.0.title() + "."],
            body: self.advice() + &self.media() + &table.html(&rows) + &figures,
            footer: FOOTER,
        }
        .html()
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        self.figures(Width::Wide).into_iter().map(|drawn| (drawn.file, drawn.svg)).collect()
    }
}

/// Returns the article's number, or a note that it has none for this device.
fn told(article: &str) -> String {
    if article.is_empty() { "not this device".to_string() } else { article.to_string() }
}

/// Returns figures 1 and 2, which show that the order of accesses decides.
fn hypothetical(width: Width) -> Vec<Drawn> {
    let [apart, adjacent] = [APART, ADJACENT].map(|ms| ms.map(|ms| ms * 1_000_000));
    let named =
        [("longest accesses apart", &apart[..]), ("the same next to each other", &adjacent[..])];
    let level = |access_ns: &[u64]| {
        levels(access_ns, SEQUENCE_BYTES, SEQUENCE_RATE).into_iter().max().unwrap_or(0)
    };
    let ratio = level(&adjacent) as f64 / level(&apart).max(1) as f64;
    vec![
        Drawn {
            file: "figure-1.svg",
            svg: bars(
                width,
                "Figure 1: two sequences with the same longest access",
                "4,000 bytes each, with equally many long accesses",
                &named,
            ),
            lead: "The order of the accesses decides, not the length of the longest access.",
            row: [
                "Figure 1: longest of two sequences".into(),
                "the same".into(),
                "10 ms and 10 ms".into(),
            ],
        },
        Drawn {
            file: "figure-2.svg",
            svg: fillings(
                width,
                "Figure 2: bytes that they leave in the buffer",
                &named.map(|(name, access_ns)| (name, access_ns, SEQUENCE_BYTES, SEQUENCE_RATE)),
            ),
            lead: "",
            row: [
                "Figure 2: RAM for the second".into(),
                "twice the RAM for the first".into(),
                format!(
                    "{ratio:.0} times: {} and {}",
                    format_size(level(&apart)),
                    format_size(level(&adjacent))
                ),
            ],
        },
    ]
}

/// Returns a figure of accesses.
fn accesses(
    width: Width,
    file: &'static str,
    number: &str,
    row: &Row,
    name: &str,
    article: &'static str,
) -> Drawn {
    let longest = row.worst_ns.iter().copied().max().unwrap_or(0) as f64;
    let title = format!("{number}: the consecutive accesses with the longest total time");
    Drawn {
        file,
        svg: bars(width, &title, &row.medium.to_string(), &[("", &row.worst_ns)]),
        lead: if matches!(row.medium, Medium::RawFlash(_)) {
            "On raw flash the file system chooses the time of long accesses."
        } else {
            "Bursts of slow accesses are the card's own cleaning."
        },
        row: [format!("{number}: longest access, {name}"), told(article), format_duration(longest)],
    }
}

/// Returns a figure of the buffer at a rate.
fn buffer(
    width: Width,
    file: &'static str,
    number: &str,
    row: &Row,
    name: &str,
    rate: u64,
    article: &str,
) -> Drawn {
    let most = levels(&row.worst_ns, WRITE_BYTES as u64, rate).into_iter().max().unwrap_or(0);
    let title = format!("{number}: buffer at {}", format_rate(rate as f64));
    Drawn {
        file,
        svg: fillings(
            width,
            &title,
            &[(&row.medium.to_string(), &row.worst_ns, WRITE_BYTES as u64, rate)],
        ),
        lead: "",
        row: [format!("{title}, {name}"), told(article), format_size(most)],
    }
}

/// Returns the bytes left in the buffer after each access.
fn levels(access_ns: &[u64], write_bytes: u64, rate: u64) -> Vec<u64> {
    backlog_series(access_ns, write_bytes, rate).iter().map(|level| level.left_bytes).collect()
}

/// Returns the tops of the panels of a figure, their height, and the bottom of the last panel.
fn panels(count: usize) -> (Vec<f64>, f64, f64) {
    let height = if count > 1 { PANEL } else { HEIGHT };
    let tops: Vec<_> =
        (0..count).map(|panel| TOP + GAP * 0.6 + panel as f64 * (height + GAP)).collect();
    let bottom = tops.last().map_or(TOP, |top| top + height);
    (tops, height, bottom)
}

/// Draws access times, with a bar for each access from its start to its end.
fn bars(width: Width, title: &str, subtitle: &str, sequences: &[(&str, &[u64])]) -> String {
    let (tops, height, bottom) = panels(sequences.len());
    let mut canvas = Canvas::new(width, bottom + BOTTOM, title, subtitle);
    let whole_s = sequences
        .iter()
        .filter_map(|(_, access_ns)| ends_s(access_ns).last().copied())
        .fold(1e-9, f64::max);
    let x = canvas.across(0.0, whole_s);
    for ((name, access_ns), top) in sequences.iter().zip(tops) {
        let longest = access_ns.iter().copied().max().unwrap_or(0).max(1) as f64 / 1e6;
        let y = Axis {
            low: 0.0,
            high: 1.06 * longest,
            spread: Spread::Linear,
            pixels: (top + height, top),
        };
        canvas.heading(top - 8.0, "", name);
        canvas.vertical(&y, &label(y.ticks(5), |ms| format!("{} ms", plain(ms))));
        let ends = ends_s(access_ns);
        let mut path = String::new();
        for (index, ns) in downsample(access_ns, canvas.points(BARS)) {
            let (from, to) = (
                x.at(ends[index] - ns as f64 / 1e9),
                x.at(ends[index]).max(x.at(ends[index] - ns as f64 / 1e9) + 0.6),
            );
            let _ = write!(
                path,
                "M{from} {:.1}V{}H{to:.1}V{:.1}z",
                top + height,
                y.at(ns as f64 / 1e6),
                top + height
            );
        }
        canvas.path("bars", &path);
    }
    time_axis(&mut canvas, &x, bottom);
    canvas.finish()
}

/// Draws the bytes left in a buffer over time, in a panel for each sequence of accesses. A sequence
/// has its bytes of a write and its rate.
fn fillings(width: Width, title: &str, sequences: &[(&str, &[u64], u64, u64)]) -> String {
    let (tops, height, bottom) = panels(sequences.len());
    let mut canvas = Canvas::new(width, bottom + BOTTOM, title, "bytes left after each access");
    let whole_s = sequences
        .iter()
        .filter_map(|(_, access_ns, ..)| ends_s(access_ns).last().copied())
        .fold(1e-9, f64::max);
    let x = canvas.across(0.0, whole_s);
    for (&(name, access_ns, write_bytes, rate), top) in sequences.iter().zip(tops) {
        let left = levels(access_ns, write_bytes, rate);
        let name =
            format!("{name}: {} at most", format_size(left.iter().copied().max().unwrap_or(0)));
        level_panel(&mut canvas, &name, &left, &x, &ends_s(access_ns), (top, height));
    }
    time_axis(&mut canvas, &x, bottom);
    canvas.finish()
}

/// Draws the axis of time below the panels.
fn time_axis(canvas: &mut Canvas, x: &Axis, bottom: f64) {
    let ticks = label(x.ticks(8), |s| tick_time(1e9 * s));
    canvas.horizontal(x, bottom, &ticks, "time spent in accesses");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime::{Options, Trace};

    fn row(medium: Medium, slow_ms: u64) -> Row {
        let access_ns =
            (0..5000).map(|at| if at % 40 == 0 { slow_ms * 1_000_000 } else { 900_000 }).collect();
        let trace = Trace {
            access_ns,
            access_bytes: 4096,
            stream_bytes_per_s: None,
            root_ns: Vec::new(),
            cleaning: None,
            bound_ns: None,
            ram_bytes: 1000,
            usable_bytes: 1 << 20,
            written_per_byte: 1.0,
            flushes_per_access: 1.0,
        };
        Row::of(medium, trace, &[100_000, 500_000])
    }

    fn realtime(cards: &[&str], nand: &str) -> Realtime {
        let mut rows: Vec<_> =
            cards.iter().map(|card| row(Medium::Device(card.to_string()), 60)).collect();
        rows.push(row(Medium::RawFlash(nand.to_string()), 4));
        rows.push(row(Medium::SteadyFs("<card>".into()), 20));
        Realtime::of(&Options::default(), rows)
    }

    #[test]
    fn each_figure_of_the_article_is_drawn_beside_its_number() {
        let realtime = realtime(&[INDUSTRIAL, CONSUMER], NAND);
        let report = RealtimeReport::of(&realtime);
        let names: Vec<_> = report.svg().into_iter().map(|(name, _)| name).collect();
        let expected: Vec<_> = (1..=9).map(|figure| format!("figure-{figure}.svg")).collect();
        assert_eq!(names, expected);
        for (name, svg) in report.svg() {
            assert!(
                svg.ends_with("</svg>\n") && svg.matches('<').count() == svg.matches('>').count(),
                "{name}"
            );
            assert!(
                !svg.contains("NaN")
                    && !svg.contains("inf")
                    && svg.contains("class=\"bars\"") | svg.contains("class=\"area\""),
                "{name}"
            );
        }
        let html = report.html();
        for text in [
            "about 10 kB",
            "about 1 MB",
            "60 times Figure 4",
            "TSFS: less than 1 KiB",
            "2 times: 5.9 KiB and 11.7 KiB",
            "2 s for 4 KiB",
        ] {
            assert!(html.contains(text), "{text}");
        }
        assert_eq!(html.matches("<svg").count(), 2 * 9, "each for wide and for narrow screens");
        assert!(
            html.find("<h2>500 kB/s with").unwrap() < html.find("Beside an article").unwrap(),
            "the answer comes first"
        );
        assert!(
            html.contains("SteadyFS on &lt;card&gt;") && !html.contains("<card>"),
            "names stay text"
        );
        assert!(
            html.ends_with("</html>\n")
                && !html.contains("{{")
                && !html.contains("src=")
                && !html.contains("href=")
        );
        assert!(html.len() < 750_000, "{}", html.len());
    }

    /// The article's numbers for its cards are no numbers of other cards.
    #[test]
    fn other_devices_have_no_number_of_the_article_and_one_card_no_figure_6() {
        let realtime = realtime(&["mine"], "mt29f2g08abaea");
        let report = RealtimeReport::of(&realtime);
        let html = report.html();
        assert!(
            !html.contains("about 1 MB")
                && !html.contains("TSFS: less")
                && html.contains("not this device")
        );
        assert_eq!(report.svg().len(), 8);
    }

    #[test]
    fn nothing_is_a_report_too() {
        let realtime = Realtime { rows: Vec::new(), advice: Vec::new(), ..realtime(&[], NAND) };
        let report = RealtimeReport::of(&realtime);
        assert!(report.html().ends_with("</html>\n") && report.svg().len() == 2);
        for access_ns in [vec![], vec![0], vec![0, 0]] {
            let svg = bars(Width::Wide, "t", "s", &[("", &access_ns)])
                + &fillings(Width::Narrow, "t", &[("", &access_ns, 4096, 1)]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
