//! The figure of two file systems: the access times of the run and those of a peer, in order, on the same axes.

use super::Report;
use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, LEFT, TOP};
use super::downsample::downsample;
use super::figures::{dots, label, ms_ticks};
use super::view::View;
use crate::evaluation::Peer;
use crate::stats::Stats;
use crate::units::{format_count, format_duration};
use fastrand::Rng;
use std::collections::BTreeMap;

/// Height of the plotting area in pixels.
const HEIGHT: f64 = 320.0;
/// Points drawn at most, of both together: the figure stands in documents, and stays small.
const POINTS: usize = 4_000;
/// Letters of a name at most; a longer one is cut.
const LETTERS: usize = 24;
/// Height of a line of the texts beside the plotting area in pixels.
const LINE: f64 = 17.0;
/// Height of such a text, of three lines and some room, in pixels.
const BLOCK: f64 = 3.0 * LINE + 6.0;

/// The access times of one of the two, and the text beside them.
struct Series<'a> {
    access_ns: &'a [u64],
    stats: Stats,
    /// Class of the dots.
    dots: &'static str,
    /// Class of the name.
    name: &'static str,
    /// Name, longest and mean access.
    texts: [String; 3],
}

impl<'a> Series<'a> {
    /// `None` when there are no accesses.
    fn of([dots, name]: [&'static str; 2], label: &str, access_ns: &'a [u64]) -> Option<Series<'a>> {
        let stats = Stats::of(access_ns)?;
        let longest = format!("longest {}", format_duration(stats.max_ns as f64));
        let texts = [short(label), longest, format!("mean {}", format_duration(stats.mean_ns))];
        Some(Series { access_ns, stats, dots, name, texts })
    }

    /// Letters of the longest text.
    fn letters(&self) -> usize {
        self.texts.iter().map(|text| text.chars().count()).max().unwrap_or(0)
    }

    /// Writes the text beside the plotting area, its middle at `y`.
    fn name(&self, canvas: &mut Canvas, y: f64) {
        for (line, text) in self.texts.iter().enumerate() {
            let class = if line == 0 { self.name } else { "" };
            canvas.beside(y + (line as f64 - 1.0) * LINE, class, text);
        }
    }
}

/// Draws the access times of the run and of a peer in order, with the promised longest access of the run as a line.
pub(super) fn beside(report: &Report, peer: &Peer) -> String {
    let ours = Series::of(["dots ours", "name ours"], "SteadyFS", &report.access_ns);
    let theirs = Series::of(["dots peer", "name"], &peer.label, &peer.access_ns);
    let both: Vec<_> = [theirs, ours].into_iter().flatten().collect();
    let bottom = TOP + HEIGHT;
    let title = format!("How long a durable write takes: SteadyFS beside {}", short(&peer.label));
    let subtitle = format!("{}: {}; flash time alone", report.title, report.subtitle);
    let mut canvas = Canvas::new(bottom + BOTTOM, &title, &subtitle);
    canvas.make_room(both.iter().map(Series::letters).max().unwrap_or(0));
    let longest_ns = both.iter().map(|series| series.stats.max_ns).max().unwrap_or(0);
    let view = View::of(longest_ns, report.bound_ns);
    let y = Axis { low: 0.0, high: view.end_ms, spread: Spread::Linear, pixels: (bottom, TOP) };
    let accesses = both.iter().map(|series| series.access_ns.len()).max().unwrap_or(0);
    let x = canvas.across(0.0, accesses.max(1) as f64);
    canvas.vertical(&y, &ms_ticks(&y, &view, 6));
    let drawn: Vec<_> = both.iter().map(|series| thin(series.access_ns, POINTS / 2)).collect();
    canvas.horizontal(&x, bottom, &label(x.ticks(5), |index| format_count(index as u64)), &axis_name(&both, &drawn));
    for (series, points) in both.iter().zip(&drawn) {
        canvas.path(series.dots, &dots(points, &x, &y));
    }
    let levels: Vec<_> = both.iter().map(|series| y.at(series.stats.p50_ns as f64 / 1e6)).collect();
    for (series, place) in both.iter().zip(apart(&levels, TOP, bottom)) {
        series.name(&mut canvas, place);
    }
    if let Some((level, bound)) = view.bound_at_ms.map(|ms| y.at(ms)).zip(report.bound_ns) {
        canvas.line("bound", (LEFT, level), (canvas.right, level));
        let text = format!("SteadyFS promises at most {}", format_duration(bound as f64));
        canvas.text(canvas.right, level - 7.0, "end", "boundtext halo", &text);
    }
    if let Some(at) = view.break_ms.map(|ms| y.at(ms)) {
        canvas.tear((LEFT, at), (canvas.right, at));
    }
    canvas.finish()
}

/// The name of the axis of accesses, which says how many of them are drawn.
fn axis_name(both: &[Series<'_>], drawn: &[Vec<(usize, u64)>]) -> String {
    let [drawn, all] = [drawn.iter().map(Vec::len).sum(), both.iter().map(|series| series.access_ns.len()).sum::<usize>()];
    match drawn == all {
        true => "access".to_string(),
        false => format!("access ({} of {} drawn, the longest among them)", format_count(drawn as u64), format_count(all as u64)),
    }
}

/// A name that fits beside the plotting area.
fn short(label: &str) -> String {
    match label.char_indices().nth(LETTERS) {
        Some(_) => label.chars().take(LETTERS - 1).chain(['…']).collect(),
        None => label.to_string(),
    }
}

/// Picks at most `points` of the values, with their indices in ascending order: the extremes of every stretch, and one value of
/// every stretch at random. Extremes alone would leave the middle of a cloud empty, and every twentieth value would always meet the same
/// phase of a file system that does something at every fourth write. The same values give the same picks.
fn thin(values: &[u64], points: usize) -> Vec<(usize, u64)> {
    if values.len() <= points {
        return downsample(values, points);
    }
    let (mut rng, stretches) = (Rng::with_seed(0), points / 2);
    let mut picked: BTreeMap<usize, u64> = downsample(values, points / 2).into_iter().collect();
    picked.extend((0..stretches).map(|stretch| {
        let index = rng.usize(values.len() * stretch / stretches..values.len() * (stretch + 1) / stretches);
        (index, values[index])
    }));
    picked.into_iter().collect()
}

/// Places for the texts of one or two series, as near to their levels as leaves room for each, between `top` and `bottom`.
fn apart(levels: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let within = |place: f64, room: f64| place.clamp(top + room, bottom - room);
    let alone: Vec<_> = levels.iter().map(|&level| within(level, BLOCK / 2.0)).collect();
    match alone[..] {
        [first, second] if (first - second).abs() < BLOCK => {
            let middle = within((first + second) / 2.0, BLOCK);
            let half = if levels[0] <= levels[1] { BLOCK / 2.0 } else { -BLOCK / 2.0 };
            vec![middle - half, middle + half]
        }
        _ => alone,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;
    use proptest::prelude::*;

    fn peer(access_ns: Vec<u64>) -> Peer {
        Peer { label: "another <one>".into(), access_ns }
    }

    #[test]
    fn figure_names_both_and_the_promise() {
        let svg = beside(&report(), &peer((0..1_000).map(|index| 12_000_000 + index).collect()));
        for text in [
            ">How long a durable write takes: SteadyFS beside another &lt;one&gt;</text>",
            "mt29f1g01abafd: 1,000 random writes of 4 KiB, 80 % full, typical timing, seed 1; flash time alone",
            "class=\"name ours\">SteadyFS</text>",
            ">longest 9.000 ms</text>",
            "class=\"name\">another &lt;one&gt;</text>",
            ">mean 12.000 ms</text>",
            "class=\"bound\"",
            ">SteadyFS promises at most 10.000 ms</text>",
            ">access</text>",
        ] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert!(svg.ends_with("</svg>\n") && svg.matches('<').count() == svg.matches('>').count());
    }

    #[test]
    fn both_stand_on_the_same_axes() {
        let svg = beside(&report(), &peer(vec![100_000_000; 3_000]));
        assert!(
            svg.contains(">100 ms</text>") && svg.contains(">3,000</text>"),
            "those of the longer trace and the longer access"
        );
    }

    #[test]
    fn many_accesses_make_a_small_figure_that_keeps_the_extremes() {
        let times = |step: u64| (0..100_000).map(|index| 1_000_000 + index * step % 9_973 * 1_000).collect::<Vec<_>>();
        let mut ours = times(7_919);
        ours[77_777] = 90_000_000;
        let svg = beside(&Report { access_ns: ours.clone(), ..report() }, &peer(times(4_001)));
        let points = svg.matches("h0").count();
        assert!(points <= POINTS && points > POINTS / 2, "{points}");
        assert!(svg.contains(" of 200,000 drawn, the longest among them)"));
        assert!(svg.len() < 120_000, "{}", svg.len());
        let picked = thin(&ours, POINTS / 2);
        assert!(picked.contains(&(77_777, 90_000_000)));
        // Each fourth access takes longer, as where a journal writes a page for four; seen are the others as well.
        let fourth: Vec<_> =
            (0..100_000).map(|index| if index % 4 == 0 { 9_000 + index % 3 } else { 5_000 + index % 1_000 }).collect();
        let others = thin(&fourth, 2_000).iter().filter(|(_, ns)| (5_200..5_800).contains(ns)).count();
        assert!(others > 300, "{others}");
        let middle = picked.iter().filter(|(_, ns)| (4_000_000..8_000_000).contains(ns)).count();
        assert!(middle > 300, "the middle is not empty: {middle}");
    }

    #[test]
    fn far_promise_is_drawn_beyond_a_tear() {
        let svg = beside(&Report { bound_ns: Some(900_000_000), ..report() }, &peer(vec![12_000_000]));
        assert!(svg.contains("class=\"tear\"") && svg.contains("at most 900.000 ms"));
        let none = beside(&Report { bound_ns: None, ..report() }, &peer(vec![12_000_000]));
        assert!(!none.contains("class=\"bound\"") && !none.contains("promises"));
    }

    #[test]
    fn degenerate_series_are_drawn() {
        for access_ns in [vec![], vec![0], vec![7], vec![u64::MAX / 4; 3]] {
            let svg = beside(&Report { access_ns: access_ns.clone(), bound_ns: None, ..report() }, &peer(access_ns));
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf\""));
        }
    }

    #[test]
    fn long_names_are_cut() {
        let long = Peer { label: "é".repeat(80), access_ns: vec![1] };
        let svg = beside(&report(), &long);
        assert!(svg.contains(&("é".repeat(23) + "…")) && !svg.contains(&"é".repeat(24)));
        assert_eq!(short(&"é".repeat(24)), "é".repeat(24));
    }

    proptest! {
        #[test]
        fn texts_never_overlap_and_keep_their_order(first in 0.0..500.0, second in 0.0..500.0) {
            let places = apart(&[first, second], 62.0, 382.0);
            prop_assert!((places[0] - places[1]).abs() >= BLOCK - 1e-6, "{places:?}");
            prop_assert!(places.iter().all(|&place| (62.0 + BLOCK / 2.0 - 1e-6..=382.0 - BLOCK / 2.0 + 1e-6).contains(&place)), "{places:?}");
            prop_assert_eq!(first <= second, places[0] < places[1], "{:?}", places);
        }

        #[test]
        fn thinned_values_are_few_and_in_order(values in prop::collection::vec(0_u64..1000, 1..500), points in 8_usize..100) {
            let picked = thin(&values, points);
            prop_assert!(picked.len() <= points);
            prop_assert!(picked.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert_eq!(picked.iter().map(|p| p.1).max(), values.iter().copied().max());
        }
    }
}
