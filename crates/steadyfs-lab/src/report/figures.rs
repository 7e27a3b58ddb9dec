//! The figures of a report as SVG: access times in order, their distribution, and the backlog over
//! time.

use super::Report;
use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, LEFT, TOP, Width};
use super::downsample::downsample;
use super::levels::place;
use super::view::View;
use crate::backlog::{Load, backlog_series, need};
use crate::stats::{Scale, histogram};
use crate::units::{format_count, format_duration, format_rate, format_size};
use std::collections::HashSet;
use std::fmt::Write;

/// Height of the plotting area of the first two figures in pixels.
const HEIGHT: f64 = 300.0;
/// Height of one panel of the backlog figure in pixels.
const PANEL_HEIGHT: f64 = 130.0;
/// Maximum number of drawn points: more are not distinguishable.
const POINTS: usize = 20_000;
/// Bins of the distribution.
const BINS: usize = 80;

/// Formats a number without trailing zeros.
pub fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Formats a time of a tick, given in nanoseconds: `0`, `10 ms`, `2.5 s`.
pub fn tick_time(ns: f64) -> String {
    match ns {
        0.0 => "0".to_string(),
        ns if ns < 1e6 => format!("{} µs", plain(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", plain(ns / 1e6)),
        ns => format!("{} s", plain(ns / 1e9)),
    }
}

/// Returns ticks with their labels.
pub fn label(ticks: Vec<f64>, text: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    ticks.into_iter().map(|value| (value, text(value))).collect()
}

/// Returns the ticks of access times. No tick lies beyond the break of the axis.
pub(super) fn ms_ticks(axis: &Axis, view: &View, count: usize) -> Vec<(f64, String)> {
    let to_scale = Axis { high: view.scale_end_ms(), ..*axis };
    label(to_scale.ticks(count), |ms| format!("{} ms", plain(ms)))
}

/// Draws the access times in order, with the names of the levels. A line marks the promised longest
/// access.
pub(super) fn access_times(report: &Report) -> String {
    let bottom = TOP + HEIGHT;
    let mut canvas = Canvas::new(
        Width::Wide,
        bottom + BOTTOM,
        &format!("{}: access times", report.title),
        &report.subtitle,
    );
    let view = report.view();
    let labels = place(&report.levels, &view);
    canvas.make_room(labels.iter().map(|label| label.name.len()).max().unwrap_or(0));
    let y = Axis { low: 0.0, high: view.end_ms, spread: Spread::Linear, pixels: (bottom, TOP) };
    let x = canvas.across(0.0, report.access_ns.len().max(1) as f64);
    canvas.vertical(&y, &ms_ticks(&y, &view, 6));
    canvas.horizontal(&x, bottom, &label(x.ticks(5), |index| format_count(index as u64)), "access");
    canvas.path("dots", &dots(&downsample(&report.access_ns, POINTS), &x, &y));
    for label in &labels {
        canvas.name_level("", y.at(label.ms), y.at(label.at_ms), label.name);
    }
    if let Some((level, bound)) = view.bound_at_ms.map(|ms| y.at(ms)).zip(report.bound_ns) {
        let right = canvas.right;
        canvas.line("bound", (LEFT, level), (right, level));
        let text = format!("promised: at most {}", format_duration(bound as f64));
        canvas.text(right, level - 6.0, "end", "boundtext", &text);
    }
    if let Some(at) = view.break_ms.map(|ms| y.at(ms)) {
        canvas.tear((LEFT, at), (canvas.right, at));
    }
    canvas.finish()
}

/// Returns a path with one dot for each access, which is given by its index and its time in
/// nanoseconds.
pub(super) fn dots(points: &[(usize, u64)], x: &Axis, y: &Axis) -> String {
    let mut drawn = HashSet::new();
    let mut dots = String::new();
    for &(index, ns) in points {
        let (x, y) = (x.at(index as f64 + 0.5), y.at(ns as f64 / 1e6));
        if drawn.insert(((x * 10.0) as i64, (y * 10.0) as i64)) {
            let _ = write!(dots, "M{x} {y}h0");
        }
    }
    dots
}

/// Draws the number of accesses for each access time, with the number on a logarithmic axis.
pub(super) fn distribution(report: &Report) -> String {
    let bottom = TOP + HEIGHT;
    let mut canvas = Canvas::new(
        Width::Wide,
        bottom + BOTTOM,
        &format!("{}: distribution", report.title),
        &report.subtitle,
    );
    let view = report.view();
    let bins = histogram(&report.access_ns, BINS, Scale::Linear);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let y = Axis { low: 0.7, high: most * 2.0, spread: Spread::Logarithmic, pixels: (bottom, TOP) };
    let x = canvas.across(0.0, view.end_ms);
    canvas.vertical(&y, &label(y.ticks(5), |count| format_count(count as u64)));
    canvas.horizontal(&x, bottom, &ms_ticks(&x, &view, 8), "access time");
    let mut bars = String::new();
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        let (from, to) = (x.at(bin.from / 1e6), x.at(bin.to / 1e6));
        let to = (to - 1.0).max(from + 1.5);
        let _ = write!(bars, "M{from} {bottom}V{}H{to:.1}V{bottom}Z", y.at(bin.count as f64));
    }
    canvas.path("bars", &bars);
    if let Some((level, bound)) = view.bound_at_ms.map(|ms| x.at(ms)).zip(report.bound_ns) {
        canvas.line("bound", (level, TOP), (level, bottom));
        let text = format!("promised longest: {}", format_duration(bound as f64));
        canvas.text(level - 6.0, TOP + 12.0, "end", "boundtext", &text);
    }
    if let Some(at) = view.break_ms.map(|ms| x.at(ms)) {
        canvas.tear((at, bottom), (at, TOP + 20.0));
    }
    canvas.finish()
}

/// Draws the bytes left in the buffer after each access, over time, in one panel for each input
/// rate.
pub(super) fn backlog(report: &Report) -> String {
    let gap = 44.0;
    let panels = report.rates.len().max(1) as f64;
    let bottom = TOP + panels * (PANEL_HEIGHT + gap);
    let mut canvas = Canvas::new(
        Width::Wide,
        bottom + BOTTOM - 4.0,
        &format!("{}: backlog", report.title),
        &report.subtitle,
    );
    let ends_s = ends_s(&report.access_ns);
    let x = canvas.across(0.0, ends_s.last().copied().unwrap_or(0.0).max(1e-9));
    for (panel, &rate) in report.rates.iter().enumerate() {
        let top = TOP + panel as f64 * (PANEL_HEIGHT + gap) + gap - 8.0;
        backlog_panel(&mut canvas, report, rate, &x, &ends_s, top);
    }
    canvas.horizontal(
        &x,
        bottom - 8.0,
        &label(x.ticks(8), |s| format!("{} s", plain(s))),
        "time spent in accesses",
    );
    canvas.finish()
}

/// Returns the ends of accesses that follow each other directly, in seconds.
pub(super) fn ends_s(access_ns: &[u64]) -> Vec<f64> {
    let end = |total: &mut f64, &ns: &u64| {
        *total += ns as f64 / 1e9;
        Some(*total)
    };
    access_ns.iter().scan(0.0, end).collect()
}

/// Draws the backlog of one input rate.
fn backlog_panel(
    canvas: &mut Canvas,
    report: &Report,
    rate: u64,
    x: &Axis,
    ends_s: &[f64],
    top: f64,
) {
    let series = backlog_series(&report.access_ns, report.write_bytes, rate);
    let left: Vec<u64> = series.iter().map(|level| level.left_bytes).collect();
    let text = format_rate(rate as f64);
    let mut name = match need(&report.access_ns, report.write_bytes, rate) {
        Some(need) if need.grows => {
            format!(
                "{text}: {} of buffer, which still grew at the end",
                format_size(need.worst.left_bytes)
            )
        }
        Some(need) => format!("{text}: {} of buffer", format_size(need.worst.left_bytes)),
        None if Load::of(&report.access_ns, report.write_bytes, rate) == Load::NearMean => {
            format!(
                "{text}: above 95 % of the mean rate, so the buffer depends on the length of the \
                 run"
            )
        }
        None => format!("{text}: no finite buffer suffices"),
    };
    if let Some(bytes) = report.guaranteed_bytes(rate) {
        let _ = write!(name, ", {} guaranteed", format_size(bytes));
    }
    level_panel(canvas, &name, &left, x, ends_s, (top, PANEL_HEIGHT));
}

/// Draws levels of a buffer at the ends of accesses, below a name. The panel begins at `top` and
/// has the given height.
pub(super) fn level_panel(
    canvas: &mut Canvas,
    name: &str,
    left: &[u64],
    x: &Axis,
    ends_s: &[f64],
    (top, height): (f64, f64),
) {
    let bottom = top + height;
    let most = left.iter().copied().max().unwrap_or(0).max(1024);
    let y =
        Axis { low: 0.0, high: most as f64 * 1.06, spread: Spread::Linear, pixels: (bottom, top) };
    canvas.heading(top - 8.0, "", name);
    canvas.vertical(&y, &label(y.byte_ticks(4), |bytes| format_size(bytes as u64)));
    let mut line = String::new();
    for (index, bytes) in downsample(left, canvas.points(4_000)) {
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
    use super::super::Page;
    use super::super::times::tests::report;
    use super::*;

    #[test]
    fn every_figure_draws_its_text() {
        let report = report();
        for (svg, texts) in [
            (
                access_times(&report),
                ["mt29f1g01abafd: access times", "2 ms", "promised: at most 10.000 ms", ">access<"],
            ),
            (
                distribution(&report),
                [
                    "mt29f1g01abafd: distribution",
                    "100",
                    "access time",
                    "promised longest: 10.000 ms",
                ],
            ),
            (
                backlog(&report),
                [
                    "500 kB/s: 404 B of buffer, 904 B guaranteed",
                    "4 KiB",
                    "no finite buffer",
                    "time spent",
                ],
            ),
        ] {
            for text in texts {
                assert!(svg.contains(text), "{text}");
            }
            assert!(
                svg.contains("font:12px"),
                "text without a font family vanishes in some renderers"
            );
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", report.title);
        }
    }

    #[test]
    fn far_promise_is_drawn_beyond_a_tear_and_named() {
        let far = Report { bound_ns: Some(90_000_000), ..report() };
        for (svg, text) in [
            (access_times(&far), "promised: at most 90.000 ms"),
            (distribution(&far), "promised longest: 90.000 ms"),
        ] {
            assert!(
                svg.contains(text)
                    && svg.contains("class=\"bound\"")
                    && svg.contains("class=\"tear\"")
            );
            assert!(!svg.contains(">20 ms<"), "the scale ends with the accesses");
        }
        assert!(report().svg().iter().all(|(_, svg)| !svg.contains("class=\"tear\"")));
    }

    #[test]
    fn levels_are_named_where_the_run_tells_what_was_done() {
        let svg = access_times(&report());
        assert!(
            svg.contains(">longest: 1 program + erase</text>") && svg.contains(">1 program</text>")
        );
        let times_alone = access_times(&Report { levels: vec![], ..report() });
        assert!(!times_alone.contains("program") && !times_alone.contains("class=\"leader\""));
    }

    #[test]
    fn nothing_is_called_guaranteed_where_nothing_is() {
        assert!(!backlog(&Report { bound_ns: None, ..report() }).contains("guaranteed"));
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
        let many = Report {
            access_ns: (0..300_000).map(|index| 1_000_000 + index % 977 * 1_000).collect(),
            ..report()
        };
        assert!(many.svg().iter().all(|(_, svg)| svg.len() < 400_000));
    }
}
