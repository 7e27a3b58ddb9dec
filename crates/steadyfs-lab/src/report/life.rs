//! The report of `steady life`: the evenness of the wear, the failures of blocks, and the data read
//! back at the end.

use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, LEFT, TOP, Width};
use super::figures::{label, plain};
use super::html::{STYLE, fill, tile_of};
use super::lines::{Figure, Line};
use super::paper::figure;
use super::{Fact, Page, escape};
use crate::life::{Life, Moment};
use crate::units::{format_count, format_size};
use std::fmt::Write;

const TEMPLATE: &str = include_str!("../../assets/life.html");
/// Height of the plotting area of the blocks in pixels.
const HEIGHT: f64 = 260.0;
/// Room for the legend of the blocks in pixels.
const LEGEND: f64 = 24.0;
/// Maximum number of drawn blocks: more are not distinguishable.
const BLOCKS: usize = 363;
/// Height of the marks below a block in pixels.
const MARK: f64 = 5.0;
/// Classes of the parts of a bar, and their names if the life has this many parts.
const STAGES: [(&str, &str); 4] =
    [("e0", "to 25 %"), ("e1", "to 50 %"), ("e2", "to 75 %"), ("e3", "to the end")];
/// Percentage of the erases from which the evenness is drawn. Before it, many blocks have been
/// erased once or not at all.
const EVEN_FROM: f64 = 5.0;

/// A report of a life.
#[derive(Clone, Debug)]
pub struct LifeReport<'a>(&'a Life);

impl<'a> LifeReport<'a> {
    /// Returns the report of a life.
    pub fn of(life: &'a Life) -> LifeReport<'a> {
        LifeReport(life)
    }

    /// Returns the result in a sentence.
    fn sentence(&self) -> String {
        let audit = &self.0.audit;
        let bytes = format_size(audit.bytes);
        let read = match audit.lost_bytes {
            0 => format!("all {bytes} read back"),
            lost => format!("{} of {bytes} lost", format_size(lost)),
        };
        format!("{:.1} % of all erases used, then {read}.", self.0.erases_percent)
    }

    fn tiles(&self) -> Vec<Fact> {
        let life = self.0;
        let written = |writes: u64| format_size(writes * life.write_bytes);
        let first = match life.first_bad_writes.zip(life.first_bad_percent) {
            Some((writes, percent)) => Fact::new(
                "First bad block",
                written(writes),
                format!("written, {percent:.1} % of the erases used"),
            ),
            None => Fact::new("First bad block", "none".to_string(), ""),
        };
        let evenness = Fact::new(
            "Most worn / mean",
            format!("{:.3}", ratio(life.other_erases.max, life.other_erases.mean)),
            format!(
                "{} and {} erases of data blocks",
                format_count(life.other_erases.max.into()),
                format_count(life.other_erases.mean.round() as u64)
            ),
        );
        let end = format!(
            "{} writes, {:.2} programs each",
            format_count(life.writes),
            life.programs_per_write
        );
        let read = match life.audit.lost_bytes {
            0 => Fact::new(
                "Read back",
                "all".to_string(),
                format!("{} as committed", format_size(life.audit.bytes)),
            ),
            lost => Fact::new(
                "Lost",
                format_size(lost),
                format!("of {}", format_size(life.audit.bytes)),
            ),
        };
        vec![evenness, first, Fact::new("Written until the end", written(life.writes), end), read]
    }

    /// Draws the erases of each block, in parts of the life.
    fn blocks(&self, width: Width) -> String {
        let life = self.0;
        let counts = life.block_erases.last().map_or(&[][..], Vec::as_slice);
        let step = counts.len().div_ceil(BLOCKS).max(1);
        let subtitle = match step {
            1 => "at 25, 50 and 75 % of all erases that the endurance allows, and at the end"
                .to_string(),
            _ => format!(
                "every {step}th block, at 25, 50 and 75 % of all erases that the endurance allows, \
                 and at the end"
            ),
        };
        let bottom = TOP + HEIGHT;
        let mut canvas =
            Canvas::new(width, bottom + BOTTOM + LEGEND, "Erases of each block", &subtitle);
        let most = counts.iter().copied().max().unwrap_or(0).max(life.endurance);
        let y = Axis {
            low: 0.0,
            high: 1.12 * f64::from(most.max(1)),
            spread: Spread::Linear,
            pixels: (bottom, TOP),
        };
        let x = canvas.across(0.0, counts.len().max(1) as f64);
        canvas.vertical(&y, &label(y.ticks(5), |count| format_count(count as u64)));
        canvas.horizontal(
            &x,
            bottom + MARK,
            &label(x.ticks(8), |block| format_count(block as u64)),
            "erase block",
        );
        // The end has its own colour, however early it came.
        let stage_of =
            |part: usize| if part + 1 == life.block_erases.len() { STAGES.len() - 1 } else { part };
        let nothing = vec![0; counts.len()];
        let before = std::iter::once(&nothing).chain(&life.block_erases);
        let mut legend = Vec::new();
        for (part, (from, to)) in before.zip(&life.block_erases).enumerate() {
            let (class, name) = STAGES[stage_of(part).min(STAGES.len() - 1)];
            let path = bars(
                (0..counts.len()).step_by(step).map(|at| (at, from[at], to[at])),
                step,
                &x,
                &y,
            );
            canvas.path(class, &path);
            legend.push((class, name));
        }
        for (blocks, class, name) in
            [(&life.ring, "j1", "ring of roots"), (&life.bad, "j0", "failed")]
        {
            let path = marks(blocks.iter().map(|&block| block as usize), &x, bottom);
            if !path.is_empty() {
                canvas.path(class, &path);
                legend.push((class, name));
            }
        }
        let level = y.at(life.endurance.into());
        let right = canvas.right;
        canvas.line("bound", (LEFT, level), (right, level));
        let text = format!("endurance: {} erases", format_count(life.endurance.into()));
        canvas.text(right, y.at(most.into()) - 7.0, "end", "boundtext", &text);
        canvas.legend(bottom + BOTTOM + 4.0, legend);
        canvas.finish()
    }

    /// Draws a figure over the written bytes.
    fn over_time(
        &self,
        width: Width,
        title: &str,
        subtitle: &str,
        lines: &[Line],
        text: &dyn Fn(f64) -> String,
    ) -> String {
        let end = (self.0.writes * self.0.write_bytes).max(1) as f64;
        let x = Axis { low: 0.0, high: end, spread: Spread::Linear, pixels: (0.0, 1.0) };
        let ticks = label(x.byte_ticks(6), |bytes| format_size(bytes as u64));
        Figure { title, subtitle, across: "written since the volume was filled", ticks, text }
            .draw(width, lines)
    }

    fn line(
        &self,
        name: &str,
        class: &'static str,
        moments: &[Moment],
        value: impl Fn(&Moment) -> f64,
    ) -> Line {
        let point = |moment: &Moment| ((moment.writes * self.0.write_bytes) as f64, value(moment));
        Line { name: name.to_string(), class, points: moments.iter().map(point).collect() }
    }

    fn erases(&self, width: Width) -> String {
        let all = &self.0.moments;
        let lines = [
            self.line("most", "w3", all, |moment| moment.erases_max.into()),
            self.line("mean", "w1", all, |moment| moment.erases_mean),
            self.line("least", "w0", all, |moment| moment.erases_min.into()),
        ];
        let subtitle = "data blocks that have not failed";
        self.over_time(width, "Erase counts over the life", subtitle, &lines, &|count| {
            format_count(count as u64)
        })
    }

    fn evenness(&self, width: Width) -> String {
        let first = self.0.moments.partition_point(|moment| moment.erases_percent < EVEN_FROM);
        let later = &self.0.moments[first..];
        let lines = [
            self.line("most / mean", "w3", later, |moment| {
                ratio(moment.erases_max, moment.erases_mean)
            }),
            self.line("least / mean", "w0", later, |moment| {
                ratio(moment.erases_min, moment.erases_mean)
            }),
        ];
        let subtitle = "erase counts of data blocks that have not failed, after the first twentieth of \
            all erases; 1 is perfectly even";
        self.over_time(width, "Evenness of the wear", subtitle, &lines, &|ratio| plain(ratio))
    }

    fn bad_blocks(&self, width: Width) -> String {
        let mut line =
            self.line("bad blocks", "w3", &self.0.moments, |moment| moment.bad_blocks.into());
        // The line has steps, because nothing is between two numbers of blocks.
        let corners = line.points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
        line.points = corners.chain(line.points.last().copied()).collect();
        let subtitle = format!(
            "of {}; the volume recorded {} of them at the end",
            self.0.blocks, self.0.known_bad_blocks
        );
        self.over_time(width, "Bad blocks", &subtitle, &[line], &|count| format!("{count:.0}"))
    }

    /// Draws all figures.
    fn figures(&self, width: Width) -> Vec<(&'static str, String)> {
        vec![
            ("blocks.svg", self.blocks(width)),
            ("erases.svg", self.erases(width)),
            ("evenness.svg", self.evenness(width)),
            ("bad-blocks.svg", self.bad_blocks(width)),
        ]
    }
}

impl Page for LifeReport<'_> {
    fn html(&self) -> String {
        let leads = [
            "One bar for each block. If the bars of a colour are equally high, the wear was even \
             in that part of the life.",
            "The erases of the most and of the least worn block, against the written bytes.",
            "A block with data that never changes has few erases until its data is moved.",
            "The volume works on without failed blocks, as long as it has enough room.",
        ];
        let figures: String = leads
            .into_iter()
            .enumerate()
            .map(|(at, lead)| figure(lead, |width| self.figures(width).swap_remove(at).1))
            .collect();
        let fact = |(name, value): (&str, String)| {
            format!(
                "<tr><th scope=\"row\">{}</th><td class=\"note\">{}</td></tr>\n",
                escape(name),
                escape(&value)
            )
        };
        fill(
            TEMPLATE,
            &[
                ("title", &escape(&self.0.device)),
                ("sentence", &escape(&self.sentence())),
                ("subtitle", &escape(&self.0.title().replace('\n', ", "))),
                ("tiles", &self.tiles().iter().map(tile_of).collect::<String>()),
                ("style", STYLE),
                ("figures", &figures),
                ("facts", &self.0.facts().into_iter().map(fact).collect::<String>()),
            ],
        )
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        self.figures(Width::Wide)
    }
}

/// Returns the ratio of a count to the mean.
fn ratio(count: u32, mean: f64) -> f64 {
    f64::from(count) / mean.max(1.0)
}

/// Returns bars of blocks from one count to another, each over the room of `step` blocks.
fn bars(
    blocks: impl Iterator<Item = (usize, u32, u32)>,
    step: usize,
    x: &Axis,
    y: &Axis,
) -> String {
    let mut path = String::new();
    for (at, from, to) in blocks.filter(|(_, from, to)| from < to) {
        let (left, right) = (x.at(at as f64), x.at((at + step) as f64));
        let (bottom, top) = (y.at(from.into()), y.at(to.into()));
        let width = (right - left - 0.6).max(0.4);
        let _ = write!(path, "M{left:.1} {bottom:.1}V{top:.1}h{width:.1}V{bottom:.1}z");
    }
    path
}

/// Returns marks below blocks.
fn marks(blocks: impl Iterator<Item = usize>, x: &Axis, bottom: f64) -> String {
    let mut path = String::new();
    for block in blocks {
        let left = x.at(block as f64);
        let width = (x.at(block as f64 + 1.0) - left - 0.6).max(1.0);
        let _ = write!(path, "M{left:.1} {:.1}h{width:.1}v{MARK}h-{width:.1}z", bottom + 1.0);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::{Options, run};

    fn life() -> Life {
        let options = Options {
            blocks: 64,
            pages_per_block: 16,
            endurance: 40,
            spread_percent: 10,
            scrub_days: 0,
            ..Options::default()
        };
        run(&options, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn the_report_shows_what_the_life_was() {
        let life = life();
        let report = LifeReport::of(&life);
        let html = report.html();
        let sentence = format!(
            "{:.1} % of all erases used, then all {} read back.",
            life.erases_percent,
            format_size(life.audit.bytes)
        );
        assert!(html.contains(&format!("<h1>{sentence}</h1>")), "{}", report.sentence());
        assert_eq!(html.matches("class=\"tile\"").count(), 4);
        assert!(html.ends_with("</html>\n") && !html.contains("{{"));
        for (name, svg) in report.svg() {
            assert!(
                svg.starts_with("<svg")
                    && svg.ends_with("</svg>\n")
                    && !svg.contains("NaN")
                    && !svg.contains("inf"),
                "{name}"
            );
        }
        let blocks = &report.svg()[0].1;
        for class in ["e0", "e1", "e2", "e3", "j0", "j1"] {
            assert_eq!(
                blocks.matches(&format!("<path class=\"{class}\"")).count(),
                2,
                "{class}: in the figure, and in the legend"
            );
        }
    }

    #[test]
    fn moments_and_quarters_agree_with_the_end() {
        let life = life();
        let last = life.moments.last().unwrap();
        assert_eq!((last.writes, last.bad_blocks), (life.writes, life.bad_blocks));
        assert!(
            life.moments.is_sorted_by_key(|moment| moment.writes) && life.moments.len() > 20,
            "{}",
            life.moments.len()
        );
        assert!(
            life.first_bad_writes.unwrap() <= life.writes
                && life.first_bad_percent.unwrap() <= life.erases_percent
        );
        assert_eq!(life.block_erases.len(), 4);
        let sums: Vec<u64> = life
            .block_erases
            .iter()
            .map(|counts| counts.iter().copied().map(u64::from).sum())
            .collect();
        assert!(sums.is_sorted() && sums[3] == life.erases, "{sums:?}");
        assert_eq!(life.bad.len() as u32, life.bad_blocks);
    }

    #[test]
    fn what_is_lost_stands_in_front() {
        let mut life = life();
        life.audit.lost_bytes = 2048;
        let report = LifeReport::of(&life);
        assert!(
            report.sentence().contains("2 KiB of ") && report.sentence().ends_with(" lost."),
            "{}",
            report.sentence()
        );
        assert!(report.tiles().iter().any(|tile| tile.label == "Lost"));
    }

    #[test]
    fn a_life_of_nothing_is_a_report_too() {
        let life = Life {
            moments: Vec::new(),
            block_erases: Vec::new(),
            writes: 0,
            ring: Vec::new(),
            bad: Vec::new(),
            ..life()
        };
        assert!(
            LifeReport::of(&life)
                .svg()
                .iter()
                .all(|(_, svg)| !svg.contains("NaN") && !svg.contains("inf"))
        );
    }
}
