//! The figures of a report as SVG: access times in order, their distribution, and the backlog over time.

use super::axis::{Axis, Spread};
use super::downsample::downsample;
use super::{Report, escape};
use crate::backlog::{backlog_series, is_sustained};
use crate::stats::{Scale, histogram};
use crate::units::{format_count, format_duration, format_rate, format_size};
use std::collections::HashSet;
use std::fmt::Write;

/// Width of every figure in pixels.
const WIDTH: f64 = 840.0;
/// Height of the plotting area of the first two figures in pixels.
const HEIGHT: f64 = 300.0;
/// Height of one panel of the backlog figure in pixels.
const PANEL_HEIGHT: f64 = 130.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 52.0;
/// Points drawn at most: more than that are not distinguishable.
const POINTS: usize = 20_000;
/// Bins of the distribution.
const BINS: usize = 80;

const STYLE: &str = "\
text{font:12px 'DejaVu Sans','Helvetica Neue',Arial,sans-serif;fill:#5b6472}\
.title{font-size:15px;font-weight:600;fill:#1c2430}.paper{fill:#fff}\
.grid{stroke:#e4e7ec;stroke-width:1}.dots{stroke:#2f6fde;stroke-width:2.2;stroke-linecap:round;stroke-opacity:.55}\
.bars{fill:#2f6fde}.area{fill:#2f6fde;fill-opacity:.25}.line{fill:none;stroke:#2f6fde;stroke-width:1.2}\
.bound{stroke:#d4552a;stroke-width:1.4;stroke-dasharray:6 4}.boundtext{fill:#d4552a}\
@media(prefers-color-scheme:dark){text{fill:#9aa5b5}.title{fill:#e6eaf0}.paper{fill:#151a21}\
.grid{stroke:#262e39}.dots{stroke:#6ea3ff}.bars,.area{fill:#6ea3ff}.line{stroke:#6ea3ff}\
.bound{stroke:#ff8a5c}.boundtext{fill:#ff8a5c}}";

/// An SVG in the making.
struct Canvas {
    svg: String,
}

impl Canvas {
    fn new(height: f64, title: &str, subtitle: &str) -> Canvas {
        let mut canvas = Canvas { svg: String::new() };
        canvas.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\"><title>{}</title><style>{STYLE}</style><rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>",
            escape(title)
        ));
        canvas.text(LEFT, 26.0, "start", "title", title);
        canvas.text(LEFT, 46.0, "start", "", subtitle);
        canvas
    }

    fn put(&mut self, element: &str) {
        self.svg.push_str(element);
        self.svg.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.put(&format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{class}>{}</text>", escape(text)));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(&format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    fn path(&mut self, class: &str, path: &str) {
        self.put(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// Draws the ticks of a vertical axis with a line across the plot at each.
    fn vertical(&mut self, axis: &Axis, ticks: &[(f64, String)]) {
        for (value, label) in ticks {
            let y = axis.at(*value);
            self.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
            self.text(LEFT - 8.0, y + 4.0, "end", "", label);
        }
    }

    /// Draws the labels of a horizontal axis below `bottom`, and its name.
    fn horizontal(&mut self, axis: &Axis, bottom: f64, ticks: &[(f64, String)], name: &str) {
        for (value, label) in ticks {
            let x = axis.at(*value);
            self.line("grid", (x, bottom), (x, bottom + 4.0));
            self.text(x, bottom + 18.0, "middle", "", label);
        }
        self.text((LEFT + WIDTH - RIGHT) / 2.0, bottom + 38.0, "middle", "", name);
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// A horizontal axis over the width of a figure.
fn across(low: f64, high: f64) -> Axis {
    Axis { low, high, spread: Spread::Linear, pixels: (LEFT, WIDTH - RIGHT) }
}

/// A number without trailing zeros.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn label(ticks: Vec<f64>, text: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    ticks.into_iter().map(|value| (value, text(value))).collect()
}

/// The greatest access time that has to fit into a figure, in milliseconds: of the run, or promised.
fn greatest_ms(report: &Report) -> f64 {
    let seen = report.access_ns.iter().copied().max().unwrap_or(0);
    seen.max(report.bound_ns.unwrap_or(0)).max(1) as f64 / 1e6
}

/// Draws the access times in order, with the promised longest access as a line.
pub(super) fn access_times(report: &Report) -> String {
    let bottom = TOP + HEIGHT;
    let mut canvas = Canvas::new(bottom + BOTTOM, &format!("{}: access times", report.title), &report.subtitle);
    let y = Axis { low: 0.0, high: greatest_ms(report) * 1.08, spread: Spread::Linear, pixels: (bottom, TOP) };
    let x = across(0.0, report.access_ns.len().max(1) as f64);
    canvas.vertical(&y, &label(y.ticks(6), |ms| format!("{} ms", plain(ms))));
    canvas.horizontal(&x, bottom, &label(x.ticks(5), |index| format_count(index as u64)), "access");
    let mut drawn = HashSet::new();
    let mut dots = String::new();
    for (index, ns) in downsample(&report.access_ns, POINTS) {
        let (x, y) = (x.at(index as f64 + 0.5), y.at(ns as f64 / 1e6));
        if drawn.insert(((x * 10.0) as i64, (y * 10.0) as i64)) {
            let _ = write!(dots, "M{x} {y}h0");
        }
    }
    canvas.path("dots", &dots);
    if let Some(bound) = report.bound_ns {
        let level = y.at(bound as f64 / 1e6);
        canvas.line("bound", (LEFT, level), (WIDTH - RIGHT, level));
        let text = format!("promised: at most {}", format_duration(bound as f64));
        canvas.text(WIDTH - RIGHT, level - 6.0, "end", "boundtext", &text);
    }
    canvas.finish()
}

/// Draws how many accesses took how long, the number on a logarithmic axis.
pub(super) fn distribution(report: &Report) -> String {
    let bottom = TOP + HEIGHT;
    let mut canvas = Canvas::new(bottom + BOTTOM, &format!("{}: distribution", report.title), &report.subtitle);
    let bins = histogram(&report.access_ns, BINS, Scale::Linear);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let y = Axis { low: 0.7, high: most * 1.3, spread: Spread::Logarithmic, pixels: (bottom, TOP) };
    let x = across(0.0, greatest_ms(report) * 1.03);
    canvas.vertical(&y, &label(y.ticks(5), |count| format_count(count as u64)));
    canvas.horizontal(&x, bottom, &label(x.ticks(8), |ms| format!("{} ms", plain(ms))), "access time");
    let mut bars = String::new();
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        let (from, to) = (x.at(bin.from / 1e6), x.at(bin.to / 1e6));
        let to = (to - 1.0).max(from + 1.5);
        let _ = write!(bars, "M{from} {bottom}V{}H{to:.1}V{bottom}Z", y.at(bin.count as f64));
    }
    canvas.path("bars", &bars);
    if let Some(bound) = report.bound_ns {
        let level = x.at(bound as f64 / 1e6);
        canvas.line("bound", (level, TOP), (level, bottom));
        canvas.text(level - 6.0, TOP + 12.0, "end", "boundtext", "promised longest");
    }
    canvas.finish()
}

/// Draws what is left in the buffer after each access, over time, in one panel for each input rate.
pub(super) fn backlog(report: &Report) -> String {
    let gap = 44.0;
    let panels = report.rates.len().max(1) as f64;
    let bottom = TOP + panels * (PANEL_HEIGHT + gap);
    let mut canvas = Canvas::new(bottom + BOTTOM - 4.0, &format!("{}: backlog", report.title), &report.subtitle);
    let ends_s: Vec<f64> = report
        .access_ns
        .iter()
        .scan(0.0, |total, &ns| {
            *total += ns as f64 / 1e9;
            Some(*total)
        })
        .collect();
    let x = across(0.0, ends_s.last().copied().unwrap_or(0.0).max(1e-9));
    for (panel, &rate) in report.rates.iter().enumerate() {
        let top = TOP + panel as f64 * (PANEL_HEIGHT + gap) + gap - 8.0;
        backlog_panel(&mut canvas, report, rate, &x, &ends_s, top);
    }
    canvas.horizontal(&x, bottom - 8.0, &label(x.ticks(8), |s| format!("{} s", plain(s))), "time spent in accesses");
    canvas.finish()
}

/// Draws the backlog of one input rate.
fn backlog_panel(canvas: &mut Canvas, report: &Report, rate: u64, x: &Axis, ends_s: &[f64], top: f64) {
    let series = backlog_series(&report.access_ns, report.write_bytes, rate);
    let left: Vec<u64> = series.iter().map(|level| level.left_bytes).collect();
    let most = left.iter().copied().max().unwrap_or(0);
    let bottom = top + PANEL_HEIGHT;
    let y = Axis { low: 0.0, high: most.max(1024) as f64 * 1.06, spread: Spread::Linear, pixels: (bottom, top) };
    let mut name = match is_sustained(&report.access_ns, report.write_bytes, rate) {
        true => format!("{}: {} of buffer", format_rate(rate as f64), format_size(most)),
        false => format!("{}: no finite buffer suffices", format_rate(rate as f64)),
    };
    if let Some(bytes) = report.guaranteed_bytes(rate) {
        let _ = write!(name, ", {} guaranteed", format_size(bytes));
    }
    canvas.text(LEFT, top - 8.0, "start", "", &name);
    canvas.vertical(&y, &label(y.byte_ticks(4), |bytes| format_size(bytes as u64)));
    let mut line = String::new();
    for (index, bytes) in downsample(&left, 4_000) {
        let command = if line.is_empty() { 'M' } else { 'L' };
        let _ = write!(line, "{command}{} {}", x.at(ends_s[index]), y.at(bytes as f64));
    }
    if !line.is_empty() {
        let (first, last) = (x.at(ends_s[0]), x.at(ends_s[ends_s.len() - 1]));
        canvas.path("area", &format!("{line}L{last} {bottom}L{first} {bottom}Z"));
        canvas.path("line", &line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn every_figure_draws_its_text() {
        let report = report();
        for (svg, texts) in [
            (access_times(&report), ["mt29f1g01abafd: access times", "2 ms", "promised: at most 10.000 ms", ">access<"]),
            (distribution(&report), ["mt29f1g01abafd: distribution", "100", "access time", "promised longest"]),
            (backlog(&report), ["500 kB/s: 404 B of buffer, 904 B guaranteed", "4 KiB", "no finite buffer", "time spent"]),
        ] {
            for text in texts {
                assert!(svg.contains(text), "{text}");
            }
            assert!(svg.contains("font:12px"), "text without a font family vanishes in some renderers");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", report.title);
        }
    }

    #[test]
    fn elements_are_closed() {
        for (_, svg) in report().svg() {
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
            assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        }
    }

    #[test]
    fn markup_in_a_title_stays_text() {
        let report = Report { title: "<script>alert(1)</script>".into(), ..report() };
        for (_, svg) in report.svg() {
            assert!(!svg.contains("<script"));
        }
    }

    #[test]
    fn degenerate_traces_are_drawn() {
        for access_ns in [vec![0], vec![0, 0], vec![7], vec![u64::MAX / 4; 3]] {
            for (_, svg) in (Report { access_ns, bound_ns: None, ..report() }).svg() {
                assert!(!svg.contains("NaN") && !svg.contains("inf\""));
            }
        }
        let none = Report { rates: vec![], ..report() };
        assert!(backlog(&none).ends_with("</svg>\n"));
    }

    #[test]
    fn many_accesses_make_small_figures() {
        let many = Report { access_ns: (0..300_000).map(|index| 1_000_000 + index % 977 * 1_000).collect(), ..report() };
        assert!(many.svg().iter().all(|(_, svg)| svg.len() < 400_000));
    }
}
