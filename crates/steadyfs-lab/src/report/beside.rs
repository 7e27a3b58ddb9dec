//! The figure of file systems side by side: the access times of the run and of its peers, in order,
//! on the same axes.

use super::Report;
use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, LEFT, TOP, Width};
use super::downsample::downsample;
use super::figures::{dots, label, ms_ticks};
use super::view::View;
use crate::evaluation::refused_text;
use crate::stats::Stats;
use crate::units::{format_count, format_duration};
use fastrand::Rng;
use std::collections::BTreeMap;

/// Height of the plotting area in pixels.
const HEIGHT: f64 = 320.0;
/// Maximum number of drawn points, of all series together. The figure is for documents, and stays
/// small.
const POINTS: usize = 4_000;
/// Maximum letters of a name; a longer name is cut.
const LETTERS: usize = 24;
/// Height of a line of the texts beside the plotting area in pixels.
const LINE: f64 = 17.0;
/// Height of such a text, with three lines and some room, in pixels.
const BLOCK: f64 = 3.0 * LINE + 6.0;
/// The axis is logarithmic if the longest access of one series is more than this many times the
/// longest access of another.
const FAR_APART: u64 = 16;
/// If a series has more than this many times fewer accesses than another, each series is drawn over
/// the whole width.
const FEWER: usize = 10;
/// Series with at most this many accesses have larger dots.
const FEW: usize = 100;
/// Classes of the peers' dots and names.
const PEERS: [[&str; 2]; 3] =
    [["dots peer", "name"], ["dots peer p1", "name p1"], ["dots peer p2", "name p2"]];

/// The access times of one file system, and the text beside them.
struct Series<'a> {
    access_ns: &'a [u64],
    stats: Stats,
    /// Class of the dots.
    dots: String,
    /// Class of the name.
    name: &'static str,
    /// Name, longest access, and the refused calls or the mean access.
    texts: [String; 3],
}

impl<'a> Series<'a> {
    /// Returns the series; `None` if there are no accesses.
    fn of(
        [dots, name]: [&'static str; 2],
        label: &str,
        access_ns: &'a [u64],
        refused: u64,
    ) -> Option<Series<'a>> {
        let stats = Stats::of(access_ns)?;
        let longest = format!("longest {}", format_duration(stats.max_ns as f64));
        let mean = || format!("mean {}", format_duration(stats.mean_ns));
        let texts = [
            short(label),
            longest,
            refused_text(refused, access_ns.len() as u64).unwrap_or_else(mean),
        ];
        let size = if access_ns.len() <= FEW { " few" } else { "" };
        Some(Series { access_ns, stats, dots: format!("{dots}{size}"), name, texts })
    }

    /// Returns the letters of the longest text.
    fn letters(&self) -> usize {
        self.texts.iter().map(|text| text.chars().count()).max().unwrap_or(0)
    }

    /// Writes the text beside the plotting area, with its middle at `y`.
    fn name(&self, canvas: &mut Canvas, y: f64) {
        for (line, text) in self.texts.iter().enumerate() {
            let class = if line == 0 { self.name } else { "" };
            canvas.beside(y + (line as f64 - 1.0) * LINE, class, text);
        }
    }
}

/// Draws the access times of the run and of its peers in order. A line marks the promised longest
/// access of the run.
pub(super) fn beside(report: &Report) -> String {
    let ours = Series::of(["dots ours", "name ours"], "SteadyFS", &report.access_ns, 0);
    let theirs = PEERS
        .iter()
        .zip(&report.peers)
        .map(|(classes, peer)| Series::of(*classes, &peer.label, &peer.access_ns, peer.refused));
    let all: Vec<_> = theirs.chain([ours]).flatten().collect();
    let bottom = TOP + HEIGHT;
    let names: Vec<_> =
        report.peers.iter().take(PEERS.len()).map(|peer| short(&peer.label)).collect();
    let title = format!("Time of a durable write: SteadyFS beside {}", names.join(" and "));
    let subtitle = format!("{}: {}", report.title, report.subtitle);
    let mut canvas = Canvas::new(Width::Wide, bottom + BOTTOM, &title, &subtitle);
    canvas.make_room(all.iter().map(Series::letters).max().unwrap_or(0));
    let scale = Scale::of(&all, report.bound_ns, (bottom, TOP));
    canvas.vertical(&scale.y, &scale.ticks());
    let drawn: Vec<_> =
        all.iter().map(|series| thin(series.access_ns, POINTS / all.len())).collect();
    let most = all.iter().map(|series| series.access_ns.len()).max().unwrap_or(0).max(1);
    let is_stretched = all.iter().any(|series| series.access_ns.len() * FEWER < most);
    let x = canvas.across(0.0, most as f64);
    let name = if is_stretched { counts(&all) } else { axis_name(&all, &drawn) };
    let ticks =
        if is_stretched { vec![] } else { label(x.ticks(5), |index| format_count(index as u64)) };
    canvas.horizontal(&x, bottom, &ticks, &name);
    for (series, points) in all.iter().zip(&drawn) {
        let own = if is_stretched { canvas.across(0.0, series.access_ns.len() as f64) } else { x };
        canvas.path(&series.dots, &dots(points, &own, &scale.y));
    }
    let levels: Vec<_> =
        all.iter().map(|series| scale.y.at(series.stats.p50_ns as f64 / 1e6)).collect();
    for (series, place) in all.iter().zip(apart(&levels, TOP, bottom)) {
        series.name(&mut canvas, place);
    }
    if let Some((level, bound)) = scale.bound_at_ms.map(|ms| scale.y.at(ms)).zip(report.bound_ns) {
        canvas.line("bound", (LEFT, level), (canvas.right, level));
        let text = format!("SteadyFS promises at most {}", format_duration(bound as f64));
        canvas.text(canvas.right, level - 7.0, "end", "boundtext halo", &text);
    }
    if let Some(at) = scale.view.and_then(|view| view.break_ms).map(|ms| scale.y.at(ms)) {
        canvas.tear((LEFT, at), (canvas.right, at));
    }
    canvas.finish()
}

/// The axis of access times, and the place of the promise on it.
struct Scale {
    y: Axis,
    bound_at_ms: Option<f64>,
    /// Break of a linear axis; `None` for a logarithmic axis.
    view: Option<View>,
}

impl Scale {
    fn of(all: &[Series<'_>], bound_ns: Option<u64>, pixels: (f64, f64)) -> Scale {
        let longest = || all.iter().map(|series| series.stats.max_ns);
        let (least_ns, most_ns) = (longest().min().unwrap_or(0), longest().max().unwrap_or(0));
        if most_ns / FAR_APART <= least_ns {
            let view = View::of(most_ns, bound_ns);
            let y = Axis { low: 0.0, high: view.end_ms, spread: Spread::Linear, pixels };
            return Scale { y, bound_at_ms: view.bound_at_ms, view: Some(view) };
        }
        let shortest_ns = all
            .iter()
            .flat_map(|series| series.access_ns)
            .copied()
            .filter(|&ns| ns > 0)
            .min()
            .unwrap_or(1);
        let high = 1.6 * most_ns.max(bound_ns.unwrap_or(0)) as f64 / 1e6;
        let y = Axis { low: shortest_ns as f64 / 1.6e6, high, spread: Spread::Logarithmic, pixels };
        Scale { y, bound_at_ms: bound_ns.map(|ns| ns as f64 / 1e6), view: None }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match &self.view {
            Some(view) => ms_ticks(&self.y, view, 6),
            None => label(self.y.ticks(6), |ms| match ms {
                1_000.0.. => format!("{} s", format_count((ms / 1e3).round() as u64)),
                0.999.. => format!("{} ms", ms.round()),
                _ => format!("{} µs", (ms * 1e3 * 1e3).round() / 1e3),
            }),
        }
    }
}

/// Returns the name of the axis of accesses if each series has its own: it contains the number of
/// accesses of each.
fn counts(all: &[Series<'_>]) -> String {
    let each = all.iter().map(|series| {
        format!("{} of {}", format_count(series.access_ns.len() as u64), series.texts[0])
    });
    format!("accesses in order, each over the whole width: {}", each.collect::<Vec<_>>().join(", "))
}

/// Returns the name of the axis of accesses. It contains the number of drawn accesses.
fn axis_name(all: &[Series<'_>], drawn: &[Vec<(usize, u64)>]) -> String {
    let [drawn, of] = [
        drawn.iter().map(Vec::len).sum(),
        all.iter().map(|series| series.access_ns.len()).sum::<usize>(),
    ];
    match drawn == of {
        true => "access".to_string(),
        false => format!(
            "access ({} of {} drawn, the longest among them)",
            format_count(drawn as u64),
            format_count(of as u64)
        ),
    }
}

/// Returns a name that fits beside the plotting area.
fn short(label: &str) -> String {
    match label.char_indices().nth(LETTERS) {
        Some(_) => label.chars().take(LETTERS - 1).chain(['…']).collect(),
        None => label.to_string(),
    }
}

/// Picks at most `points` of the values, with their indices in ascending order. It picks the
/// extremes of every stretch, and one value of every stretch at random. Extremes alone would leave
/// the middle of a cloud empty. Every twentieth value would always meet the same phase of a file
/// system with extra work at every fourth write. The same values give the same picks.
fn thin(values: &[u64], points: usize) -> Vec<(usize, u64)> {
    if values.len() <= points {
        return downsample(values, points);
    }
    let (mut rng, stretches) = (Rng::with_seed(0), points / 2);
    let mut picked: BTreeMap<usize, u64> = downsample(values, points / 2).into_iter().collect();
    picked.extend((0..stretches).map(|stretch| {
        let index =
            rng.usize(values.len() * stretch / stretches..values.len() * (stretch + 1) / stretches);
        (index, values[index])
    }));
    picked.into_iter().collect()
}

/// Returns places for the texts of the series between `top` and `bottom`, as near to their levels
/// as the room allows. Texts that would overlap move together.
fn apart(levels: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|&a, &b| levels[a].total_cmp(&levels[b]));
    // Groups of texts that touch: number of texts, and sum of their levels.
    let mut groups: Vec<(usize, f64)> = Vec::new();
    let middle = |(count, sum): (usize, f64)| {
        let half = count as f64 * BLOCK / 2.0;
        (sum / count as f64).clamp(top + half, (bottom - half).max(top + half))
    };
    for &index in &order {
        let mut group = (1, levels[index]);
        while let Some(&before) = groups.last()
            && middle(group) - middle(before) < (group.0 + before.0) as f64 * BLOCK / 2.0
        {
            groups.pop();
            group = (group.0 + before.0, group.1 + before.1);
        }
        groups.push(group);
    }
    let mut places = vec![0.0; levels.len()];
    let mut rest = order.iter();
    for group in groups {
        let first = middle(group) - (group.0 as f64 - 1.0) * BLOCK / 2.0;
        for (at, &index) in rest.by_ref().take(group.0).enumerate() {
            places[index] = first + at as f64 * BLOCK;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::times::tests::report;
    use super::*;
    use crate::evaluation::Peer;
    use proptest::prelude::*;

    fn peer(access_ns: Vec<u64>) -> Peer {
        Peer { label: "another <one>".into(), access_ns, refused: 0 }
    }

    fn beside(report: &Report, peer: &Peer) -> String {
        super::beside(&Report { peers: vec![peer.clone()], ..report.clone() })
    }

    #[test]
    fn figure_names_both_and_the_promise() {
        let svg = beside(&report(), &peer((0..1_000).map(|index| 12_000_000 + index).collect()));
        for text in [
            ">Time of a durable write: SteadyFS beside another &lt;one&gt;</text>",
            "mt29f1g01abafd: 1,000 random writes of 4 KiB, 80 % full, typical times, flash \
             alone, seed 1",
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
        let times = |step: u64| {
            (0..100_000).map(|index| 1_000_000 + index * step % 9_973 * 1_000).collect::<Vec<_>>()
        };
        let mut ours = times(7_919);
        ours[77_777] = 90_000_000;
        let svg = beside(&Report { access_ns: ours.clone(), ..report() }, &peer(times(4_001)));
        let points = svg.matches("h0").count();
        assert!(points <= POINTS && points > POINTS / 2, "{points}");
        assert!(svg.contains(" of 200,000 drawn, the longest among them)"));
        assert!(svg.len() < 120_000, "{}", svg.len());
        let picked = thin(&ours, POINTS / 2);
        assert!(picked.contains(&(77_777, 90_000_000)));
        // Each fourth access takes longer, as if a journal wrote a page for four. The others must
        // be visible too.
        let fourth: Vec<_> = (0..100_000)
            .map(|index| if index % 4 == 0 { 9_000 + index % 3 } else { 5_000 + index % 1_000 })
            .collect();
        let others =
            thin(&fourth, 2_000).iter().filter(|(_, ns)| (5_200..5_800).contains(ns)).count();
        assert!(others > 300, "{others}");
        let middle = picked.iter().filter(|(_, ns)| (4_000_000..8_000_000).contains(ns)).count();
        assert!(middle > 300, "the middle is not empty: {middle}");
    }

    #[test]
    fn far_promise_is_drawn_beyond_a_tear() {
        let svg =
            beside(&Report { bound_ns: Some(900_000_000), ..report() }, &peer(vec![12_000_000]));
        assert!(svg.contains("class=\"tear\"") && svg.contains("at most 900.000 ms"));
        let none = beside(&Report { bound_ns: None, ..report() }, &peer(vec![12_000_000]));
        assert!(!none.contains("class=\"bound\"") && !none.contains("promises"));
    }

    #[test]
    fn degenerate_series_are_drawn() {
        for access_ns in [vec![], vec![0], vec![7], vec![u64::MAX / 4; 3]] {
            let svg = beside(
                &Report { access_ns: access_ns.clone(), bound_ns: None, ..report() },
                &peer(access_ns),
            );
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf\""));
        }
    }

    #[test]
    fn long_names_are_cut() {
        let long = Peer { label: "é".repeat(80), access_ns: vec![1], refused: 0 };
        let svg = beside(&report(), &long);
        assert!(svg.contains(&("é".repeat(23) + "…")) && !svg.contains(&"é".repeat(24)));
        assert_eq!(short(&"é".repeat(24)), "é".repeat(24));
    }

    #[test]
    fn those_that_differ_by_decades_stand_on_a_logarithmic_axis_each_over_the_whole_width() {
        let slow = Peer { label: "slow".into(), access_ns: vec![2_700_000_000; 28], refused: 85 };
        let near = Peer { label: "near".into(), access_ns: vec![12_000_000; 1_000], refused: 0 };
        let svg = super::beside(&Report { peers: vec![near, slow], ..report() });
        for text in [
            ">1 ms</text>",
            ">100 ms</text>",
            ">1 s</text>",
            "dots peer p1 few",
            "SteadyFS beside near and slow<",
            ", 28 of slow, ",
            ">85 of 113 refused</text>",
        ] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        let right = svg.split("dots peer p1 few\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        let last: f64 =
            right.rsplit('M').next().unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(last > 400.0, "{right}");
        assert!(!svg.contains("NaN") && !svg.contains("class=\"tear\""));
    }

    proptest! {
        #[test]
        fn texts_never_overlap_and_keep_their_order(levels in prop::collection::vec(0.0..500.0, 1..5)) {
            let places = apart(&levels, 62.0, 382.0);
            prop_assert!(places.iter().all(|&place| (62.0 + BLOCK / 2.0 - 1e-6..=382.0 - BLOCK / 2.0 + 1e-6).contains(&place)), "{places:?}");
            for (a, b) in (0..levels.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert!((places[a] - places[b]).abs() >= BLOCK - 1e-6, "{places:?}");
                prop_assert!(levels[a] == levels[b] || (levels[a] < levels[b]) == (places[a] < places[b]), "{places:?}");
            }
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
