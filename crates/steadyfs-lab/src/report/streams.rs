//! The report of `steady streams`: the contents of the blocks, the write amplification over time,
//! and all runs side by side.

use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, TEXT_LINE, TOP, Width};
use super::figures::{label, plain};
use super::html::{STYLE, fill};
use super::lines::spread;
use super::paper::figure;
use super::{Page, escape};
use crate::streams::{Cell, Row, Streams, Way};
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size};
use std::fmt::Write;

const TEMPLATE: &str = include_str!("../../assets/streams.html");
/// Height of the blocks of a panel in pixels.
const PANEL: f64 = 112.0;
/// Room for the name of a panel in pixels.
const HEAD: f64 = 26.0;
/// Maximum number of drawn blocks of a panel: more are not distinguishable.
const BLOCKS: usize = 180;
/// Height of the plotting area of the amplification over time in pixels.
const HEIGHT: f64 = 260.0;
/// Height of a bar in pixels.
const BAR: f64 = 13.0;
/// Letters beside a figure: the longest name of a way and a number.
const LETTERS: usize = 22;

/// Classes of the written pages in the figures, by job.
const JOBS: [&str; 3] = ["j0", "j1", "j2"];

/// A report of streams.
#[derive(Clone, Debug)]
pub struct StreamsReport<'a> {
    streams: &'a Streams,
    /// Rows that are shown at length: the first workload, at the first fill.
    shown: Vec<&'a Row>,
}

impl<'a> StreamsReport<'a> {
    /// Returns the report of a result.
    pub fn of(streams: &'a Streams) -> StreamsReport<'a> {
        let first = streams.rows.first();
        let is_shown = |row: &&Row| {
            first.is_some_and(|first| row.writes == first.writes && row.fill == first.fill)
        };
        StreamsReport { streams, shown: streams.rows.iter().filter(is_shown).collect() }
    }

    /// Returns the description of the figures of one workload.
    fn shown_of(&self) -> String {
        self.shown.first().map_or(String::new(), |row| {
            format!("{} writes, {} full", row.writes, format_percent(row.fill))
        })
    }

    /// Returns the result in a sentence. It names three cases: the case that streams help most, the
    /// middle case, and the case that streams help least.
    fn sentence(&self) -> String {
        let mut cases = self.cases();
        cases.sort_by(|(_, a), (_, b)| gain(a).total_cmp(&gain(b)));
        let tell = |index: usize| {
            let (name, (one, best)) = &cases[index];
            format!("{one:.2} → {best:.2} ({name})")
        };
        match cases.len() {
            0 => "Pages that a disk programs for each written page.".to_string(),
            1 => format!("Write amplification with streams: {}.", tell(0)),
            2 => format!(
                "Write amplification with streams: at best {}, at worst {}.",
                tell(0),
                tell(1)
            ),
            count => format!(
                "Write amplification with streams: at best {}, typically {}, at worst {}.",
                tell(0),
                tell(count / 2),
                tell(count - 1)
            ),
        }
    }

    /// Returns each case with its name: write amplification with one stream, and with the best of
    /// several.
    fn cases(&self) -> Vec<(String, (f64, f64))> {
        let several = self.groups().into_iter().filter_map(|(name, rows)| {
            let one = rows.iter().find(|row| row.streams == "one")?.amplification;
            let others =
                rows.iter().filter(|row| row.streams != "one").map(|row| row.amplification);
            others.min_by(f64::total_cmp).map(|best| (name, (one, best)))
        });
        several.collect()
    }

    /// Returns the rows of the same writes and fill, with their name.
    fn groups(&self) -> Vec<(String, Vec<&Row>)> {
        let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in &self.streams.rows {
            let name = format!("{}, {} full", row.writes, format_percent(row.fill));
            match groups.last_mut() {
                Some((last, rows)) if *last == name => rows.push(row),
                _ => groups.push((name, vec![row])),
            }
        }
        groups
    }

    /// Draws the contents of the blocks at the end, in a panel for each way.
    fn blocks(&self, width: Width) -> String {
        let texts: Vec<String> = self
            .shown
            .iter()
            .map(|row| {
                let (pure, all) = row.map.pure();
                format!(
                    "{}: {pure} of {all} blocks hold pages of only one job; {:.3} moved pages for \
                     each written page",
                    row.streams, row.moved_per_page
                )
            })
            .collect();
        let lines = texts.iter().map(|text| width.lines("", text).len()).max().unwrap_or(1);
        let head = HEAD + TEXT_LINE * (lines - 1) as f64;
        let bottom = TOP + self.shown.len() as f64 * (PANEL + head);
        let mut canvas = Canvas::new(
            width,
            bottom + 34.0,
            "Content of the blocks: a column for each block, a colour for each job",
            &format!(
                "{}; grey: pages that were written again. A block with only grey pages is erased \
                 without a move",
                self.shown_of()
            ),
        );
        let x = canvas.across_from_edge(0.0, BLOCKS as f64);
        for (panel, row) in self.shown.iter().enumerate() {
            let top = TOP + panel as f64 * (PANEL + head) + head;
            let all = row.map.pure().1;
            canvas.heading(top - 8.0, "", &texts[panel]);
            // As many blocks as are distinguishable, evenly spaced.
            let step = (all as f64 / BLOCKS as f64).max(1.0);
            let seen = ((all as f64 / step) as usize).min(BLOCKS);
            let columns: Vec<_> =
                (0..seen).map(|column| &row.map.blocks[(column as f64 * step) as usize]).collect();
            let kinds = [Cell::Live(0), Cell::Live(1), Cell::Live(2), Cell::Dead];
            for (cell, class) in kinds.into_iter().zip(JOBS.into_iter().chain(["dead"])) {
                let path = cells(&columns, cell, &x, top);
                if !path.is_empty() {
                    canvas.path(class, &path);
                }
            }
        }
        let names = ["first job", "second", "third", "dead"];
        canvas.legend(bottom + 12.0, JOBS.into_iter().chain(["dead"]).zip(names));
        canvas.finish()
    }

    /// Draws the amplification over time, with a line for each way.
    fn over_time(&self, width: Width) -> String {
        let bottom = TOP + HEIGHT;
        let mut canvas =
            Canvas::new(width, bottom + BOTTOM, "Write amplification over time", &self.shown_of());
        canvas.make_room(LETTERS);
        let most = self
            .shown
            .iter()
            .flat_map(|row| &row.over_time)
            .fold(1.0, |most: f64, &value| most.max(value));
        let y = Axis {
            low: 1.0,
            high: 1.0 + 1.05 * (most - 1.0).max(0.1),
            spread: Spread::Linear,
            pixels: (bottom, TOP),
        };
        let parts = self.shown.iter().map(|row| row.over_time.len()).max().unwrap_or(1).max(2);
        let x = canvas.across(0.0, (parts - 1) as f64);
        canvas.vertical(&y, &label(y.ticks(5), plain));
        canvas.horizontal(
            &x,
            bottom,
            &[],
            "from the filled disk to the end: twelve times as many writes as pages",
        );
        let ends: Vec<f64> = self
            .shown
            .iter()
            .map(|row| row.over_time.last().map_or(bottom, |&last| y.at(last)))
            .collect();
        let places = spread(&ends, 15.0, bottom);
        for ((row, &end), &place) in self.shown.iter().zip(&ends).zip(&places) {
            let mut path = String::new();
            for (part, &value) in row.over_time.iter().enumerate() {
                let _ = write!(
                    path,
                    "{}{} {}",
                    if part == 0 { 'M' } else { 'L' },
                    x.at(part as f64),
                    y.at(value)
                );
            }
            canvas.path(&format!("way {}", class_of(&row.streams)), &path);
            canvas.name_level(&class_of(&row.streams), end, place, &row.streams);
        }
        canvas.finish()
    }

    /// Draws the amplification of every run as a bar.
    fn amplification(&self, width: Width) -> String {
        let groups = self.groups();
        let height: f64 = groups.iter().map(|(_, rows)| HEAD + BAR * rows.len() as f64 + 8.0).sum();
        let bottom = TOP + height;
        let mut canvas =
            Canvas::new(width, bottom + BOTTOM, "Write amplification", &self.streams.title());
        canvas.make_room(LETTERS);
        if width == Width::Narrow {
            // The texts behind the bars.
            canvas.right -= 130.0;
        }
        let most = self.streams.rows.iter().fold(1.0, |most: f64, row| most.max(row.amplification));
        let x = canvas.across_from_edge(0.0, 1.02 * most);
        let left = width.edge();
        let mut top = TOP;
        for (name, rows) in &groups {
            canvas.text(left, top + 18.0, "start", "name", name);
            top += HEAD;
            for row in rows {
                let end = x.at(row.amplification) - left;
                canvas.path(
                    &format!("bar {}", class_of(&row.streams)),
                    &format!("M{left} {:.1}h{end:.1}v{:.1}h-{end:.1}z", top + 1.0, BAR - 2.0),
                );
                canvas.text(
                    left + end + 6.0,
                    top + BAR - 2.5,
                    "start",
                    "",
                    &format!("{:.2} {}", row.amplification, row.streams),
                );
                top += BAR;
            }
            top += 8.0;
        }
        canvas.horizontal(
            &x,
            bottom,
            &label(x.ticks(6), plain),
            "write amplification: programmed pages for each written page",
        );
        canvas.finish()
    }

    /// Draws all figures.
    fn figures(&self, width: Width) -> Vec<(&'static str, String)> {
        vec![
            ("blocks.svg", self.blocks(width)),
            ("over-time.svg", self.over_time(width)),
            ("amplification.svg", self.amplification(width)),
        ]
    }
}

impl Page for StreamsReport<'_> {
    fn html(&self) -> String {
        let leads = [
            "If each job has its own blocks, pages with equal lifetimes lie together, and their \
             blocks become empty without moves. Pages in mixed blocks must be moved.",
            "A disk that finds streams by itself needs a few passes over the data to learn its \
             lifetimes.",
            "",
        ];
        let figures: String = leads
            .into_iter()
            .enumerate()
            .map(|(at, lead)| figure(lead, |width| self.figures(width).swap_remove(at).1))
            .collect();
        let rows: String = self.streams.rows.iter().map(table_row).collect();
        fill(
            TEMPLATE,
            &[
                ("title", "Streams"),
                ("sentence", &escape(&self.sentence())),
                ("subtitle", &escape(&self.streams.title())),
                ("style", STYLE),
                ("figures", &figures),
                ("rows", &rows),
            ],
        )
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        self.figures(Width::Wide)
    }
}

/// Returns the share of the amplification that is left.
fn gain((one, best): &(f64, f64)) -> f64 {
    best / one
}

/// Columns of the numbers of a run.
const NUMBERS: [&str; 9] =
    ["Moved", "WAF", "Promised", "Longest", "Mean", "Throughput", "Erases", "Life", "RAM"];

/// Returns a row of the table.
fn table_row(row: &Row) -> String {
    let numbers = [
        format!("{:.3}", row.moved_per_page),
        format!("{:.2}", row.amplification),
        format_duration(1e3 * row.bound_us),
        format_duration(1e3 * row.max_us),
        format_duration(1e3 * row.mean_us),
        format_rate(row.bytes_per_s),
        format_count(row.erases),
        format_size(row.life_bytes),
        format_size(row.ram_bytes),
    ];
    let cell = |(name, number): (&str, &String)| {
        let class = if name == "WAF" { " class=\"waf\"" } else { "" };
        format!("<td{class} data-name=\"{name}\">{}</td>", escape(number))
    };
    let cells: String = NUMBERS.into_iter().zip(&numbers).map(cell).collect();
    let (writes, streams) = (escape(&row.writes), escape(&row.streams));
    format!(
        "<tr><th scope=\"row\">{writes}</th><td data-name=\"Fill\">{}</td><td \
         class=\"name\" data-name=\"Streams\">{streams}</td>{cells}</tr>\n",
        format_percent(row.fill)
    )
}

/// Returns the class of a way's line or bar.
fn class_of(way: &str) -> String {
    let index = Way::ALL.iter().position(|known| known.name() == way).unwrap_or(0);
    format!("w{index}")
}

/// Returns the places of one kind in some blocks, as a path. Neighbours in a block are one
/// rectangle.
fn cells(columns: &[&Vec<Cell>], kind: Cell, x: &Axis, top: f64) -> String {
    let mut path = String::new();
    for (column, cells) in columns.iter().enumerate() {
        let (left, height) = (x.at(column as f64), PANEL / cells.len().max(1) as f64);
        let width = (x.at(column as f64 + 1.0) - left - 0.6).max(0.4);
        let mut at = 0;
        while at < cells.len() {
            let run = cells[at..].iter().take_while(|&&cell| cell == kind).count();
            if run > 0 {
                let (y, tall) = (top + at as f64 * height, run as f64 * height);
                let _ = write!(path, "M{left:.1} {y:.1}h{width:.1}v{tall:.1}h-{width:.1}z");
            }
            at += run.max(1);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::{Options, Writes, run};

    fn streams() -> Streams {
        let writes = vec![Writes::Sequential, Writes::Zipf];
        let ways = vec![Way::One, Way::Given, Way::Automatic];
        run(
            &Options { blocks: Some(96), fills: vec![0.8], writes, ways, ..Options::default() },
            &|_, _| {},
        )
        .unwrap()
    }

    #[test]
    fn the_report_shows_what_the_rows_say() {
        let streams = streams();
        let report = StreamsReport::of(&streams);
        let html = report.html();
        let one = &streams.rows[0];
        // The sentence names the case that streams help most, beside the case that streams help
        // least.
        let sentence = report.sentence();
        assert!(sentence.contains("at best") && sentence.contains(", at worst"), "{sentence}");
        assert!(
            sentence.contains(&format!("{:.2} →", one.amplification))
                && html.contains(&escape(&sentence)),
            "{sentence}"
        );
        assert_eq!(html.matches("<th scope=\"row\">").count(), streams.rows.len());
        assert!(
            !html.contains("{{") && !html.contains("http://")
                || html.contains("www.w3.org/2000/svg")
        );
        for (name, svg) in report.svg() {
            assert!(
                svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"),
                "{name}"
            );
        }
        let [blocks, over_time, bars] = &report.svg()[..] else { panic!("three figures") };
        for class in JOBS {
            assert_eq!(
                blocks.1.matches(&format!("<path class=\"{class}\"")).count(),
                4,
                "in each panel, and in the legend"
            );
        }
        assert_eq!(over_time.1.matches("class=\"way").count(), 3);
        assert_eq!(bars.1.matches("class=\"bar").count(), 5);
    }

    #[test]
    fn nothing_is_a_report_too() {
        let streams = Streams { rows: Vec::new(), ..streams() };
        let report = StreamsReport::of(&streams);
        assert!(
            report.html().ends_with("</html>\n")
                && report.svg().iter().all(|(_, svg)| !svg.contains("NaN"))
        );
    }
}
