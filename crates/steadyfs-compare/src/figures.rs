//! The figures: one for each question, peers side by side on a logarithmic axis.

use crate::result::{Board, Comparison, Entry, Standing};
use crate::table::{life_bytes, reason};
use std::fmt::Write;
use steadyfs_lab::bench::Figures;
use steadyfs_lab::report::{
    Axis, BOTTOM, Canvas, LEFT, Spread, TEXT_LINE, TOP, Width, label, tick_time,
};
use steadyfs_lab::units::{format_count, format_duration, format_rate, format_size};

/// Height of a contender's lane below its text, and of the text if it has one line.
const LANE: f64 = 30.0;
/// Height of the plotting area of curves.
const CURVES: f64 = 280.0;
/// Size of a letter of a name in pixels: the largest mean width, and the height.
const LETTER: (f64, f64) = (7.4, 13.0);
/// Classes of curves: SteadyFS, the limit, the others.
const CLASSES: [&str; 5] = ["way w1", "way w0", "way w3", "way w2", "way w4"];

/// Returns the contenders on a board, with their results there.
fn on<'c>(comparison: &'c Comparison, board: &'c Board) -> Vec<(&'c Entry, &'c Standing)> {
    let is_there = |(entry, standing): (&'c Entry, &'c Standing)| {
        standing.absent.is_none().then_some((entry, standing))
    };
    comparison
        .entries
        .iter()
        .filter_map(|entry| entry.on(&board.id).map(|on| (entry, on)).and_then(is_there))
        .collect()
}

fn name_class(entry: &Entry) -> &'static str {
    if entry.facts.is_ours() { "name ours" } else { "name" }
}

/// Returns a logarithmic axis across a figure of lanes, over all values and up to whole decades.
fn across(width: Width, canvas: &Canvas, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let axis = decades_of(values);
    Axis { pixels: (width.edge(), canvas.right), ..axis }
}

/// Returns a logarithmic axis over all values and up to whole decades.
fn decades_of(values: impl Iterator<Item = f64> + Clone) -> Axis {
    let low = values.clone().fold(f64::INFINITY, f64::min).max(1e-3);
    let high = values.fold(0.0, f64::max).max(low * 10.0);
    let decade = |value: f64, up: bool| {
        10_f64.powf(if up { value.log10().ceil() } else { value.log10().floor() })
    };
    let (low, high) =
        if low.is_finite() { (decade(low, false), decade(high, true)) } else { (1.0, 10.0) };
    Axis { low, high: high.max(low * 10.0), spread: Spread::Logarithmic, pixels: (0.0, 1.0) }
}

/// Returns the share of refused calls, for the end of a sentence.
fn refused(figures: &Figures) -> String {
    match figures.refused {
        0 => String::new(),
        refused => format!(
            "; {} of {} calls refused",
            format_count(refused),
            format_count(figures.calls + refused)
        ),
    }
}

/// Draws the access times of durable overwrites, in a lane for each contender. A dot shows the
/// longest of a few accesses.
pub fn waits(width: Width, comparison: &Comparison, board: &Board) -> String {
    let all = on(comparison, board);
    let text = |(entry, standing): &(&Entry, &Standing)| match standing.figures("random-4096") {
        Some(figures) => {
            let promised = figures
                .bound_us
                .map_or(String::new(), |us| format!("promised {}, ", format_duration(us * 1e3)));
            format!(
                "{}: {promised}longest {}, mean {}{}",
                entry.facts.name,
                format_duration(figures.max_us * 1e3),
                format_duration(figures.mean_us * 1e3),
                refused(figures)
            )
        }
        None => format!("{}: {}", entry.facts.name, reason(standing.outcome("random-4096"))),
    };
    let texts: Vec<_> = all.iter().map(text).collect();
    let Lanes { places, bottom } = Lanes::of(width, texts.iter().map(String::as_str));
    let subtitle = "durable overwrites of 4,096 B at random places, 80 % full; each dot is the \
        longest of a few";
    let mut canvas = Canvas::new(width, bottom + BOTTOM, "How long may my data wait?", subtitle);
    let times = |standing: &'_ Standing| {
        standing.outcome("random-4096").map(|outcome| outcome.times_us.clone()).unwrap_or_default()
    };
    let values: Vec<f64> = all.iter().flat_map(|(_, standing)| times(standing)).collect();
    let x = across(width, &canvas, values.iter().copied());
    decades(&mut canvas, &x, bottom, |us| tick_time(us * 1e3), "time of a call, logarithmic");
    for (((entry, standing), text), place) in all.iter().zip(&texts).zip(places) {
        canvas.heading(place, name_class(entry), text);
        let mut path = String::new();
        for (at, us) in times(standing).into_iter().enumerate() {
            let _ = write!(path, "M{} {:.1}h0", x.at(us), place + 8.0 + (at * 7 % 19) as f64);
        }
        if !path.is_empty() {
            canvas.path(if entry.facts.is_ours() { "dots ours" } else { "dots peer" }, &path);
        }
    }
    canvas.finish()
}

/// The lanes of a figure: for each contender its text, and below it its bar or its dots.
struct Lanes {
    /// The place of each lane below its text.
    places: Vec<f64>,
    bottom: f64,
}

impl Lanes {
    /// Places lanes with these texts.
    fn of<'t>(width: Width, texts: impl Iterator<Item = &'t str>) -> Lanes {
        let (mut places, mut bottom) = (Vec::new(), TOP);
        for text in texts {
            let place = bottom + TEXT_LINE * width.lines("name", text).len() as f64;
            places.push(place);
            bottom = place + LANE;
        }
        Lanes { places, bottom }
    }
}

/// Draws the ticks of a logarithmic axis across.
fn decades(canvas: &mut Canvas, x: &Axis, bottom: f64, text: impl Fn(f64) -> String, name: &str) {
    let ticks = label(x.ticks(6), text);
    for (value, _) in &ticks {
        canvas.line("grid", (x.at(*value), TOP), (x.at(*value), bottom));
    }
    canvas.horizontal(x, bottom, &ticks, name);
}

/// Draws RAM against the rate: a curve for each contender. It ends at the rate for which no
/// buffer is large enough.
pub fn rates(width: Width, comparison: &Comparison, board: &Board) -> String {
    let bottom = TOP + CURVES;
    let subtitle =
        "in front of durable overwrites of 4,096 B; a curve ends at 95 % of the mean rate";
    let mut canvas =
        Canvas::new(width, bottom + BOTTOM, "How much RAM does a rate need?", subtitle);
    let curves: Vec<_> = on(comparison, board)
        .into_iter()
        .filter_map(|(entry, standing)| {
            let needs = &standing.outcome("random-4096")?.needs;
            let points: Vec<_> = needs
                .iter()
                .filter_map(|need| Some((need.rate as f64, need.bytes? as f64)))
                .collect();
            (!points.is_empty()).then_some((entry, points))
        })
        .collect();
    let rates = curves.iter().flat_map(|(_, points)| points.iter().map(|(rate, _)| *rate));
    let x = Axis { pixels: (LEFT, canvas.right), ..decades_of(rates) };
    let most = curves
        .iter()
        .flat_map(|(_, points)| points.iter().map(|(_, bytes)| *bytes))
        .fold(1024.0, f64::max);
    // An empty buffer stands at the bottom.
    let y =
        Axis { low: 16.0, high: 2.0 * most, spread: Spread::Logarithmic, pixels: (bottom, TOP) };
    let heights: Vec<f64> = (2..20)
        .map(|power| 4_f64.powi(power))
        .filter(|&bytes| bytes > 16.0 && bytes <= y.high)
        .collect();
    let mut ticks = label(heights, |bytes| format_size(bytes as u64));
    ticks.insert(0, (16.0, "none".to_string()));
    canvas.vertical(&y, &ticks);
    canvas.horizontal(&x, bottom, &label(x.ticks(6), format_rate), "input rate, logarithmic");
    let mut ends = Vec::new();
    for (index, (entry, points)) in curves.iter().enumerate() {
        let mut path = String::new();
        for (at, &(rate, bytes)) in points.iter().enumerate() {
            let _ =
                write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, x.at(rate), y.at(bytes));
        }
        let class = CLASSES[index % CLASSES.len()];
        canvas.path(class, &path);
        if let Some(&(rate, bytes)) = points.last() {
            let end = (x.at(rate), y.at(bytes));
            canvas.path(class, &format!("M{} {}l4 4m-8 0l8 -8m-8 0l4 4", end.0, end.1));
            ends.push((end, entry.facts.name.as_str()));
        }
    }
    let area = ((LEFT, canvas.right), (TOP, bottom));
    for (((end, name), place), index) in ends.iter().zip(beside_ends(&ends, area)).zip(0..) {
        let class = format!("{} halo", CLASSES[index % CLASSES.len()].replace("way", "end"));
        let middle = place.0 + LETTER.0 * name.chars().count() as f64 / 2.0;
        if (place.1 - end.1).abs() > 2.0 * LETTER.1 {
            let to = if place.1 < end.1 { place.1 + 4.0 } else { place.1 - 10.0 };
            canvas.path("leader", &format!("M{} {}L{middle:.1} {to:.1}", end.0, end.1));
        }
        canvas.text(place.0, place.1, "start", &class, name);
    }
    canvas.finish()
}

/// Returns the place of the name of each curve: its left end and its base line. A name stands
/// beside the end of its curve, within the area, and touches no other name and no end.
fn beside_ends(
    ends: &[((f64, f64), &str)],
    ((left, right), (top, bottom)): ((f64, f64), (f64, f64)),
) -> Vec<(f64, f64)> {
    type Box = (f64, f64, f64, f64);
    let touch = |a: &Box, b: &Box| a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
    let mut taken: Vec<Box> =
        ends.iter().map(|&((x, y), _)| (x - 5.0, y - 5.0, x + 5.0, y + 5.0)).collect();
    let mut places = Vec::new();
    for &((x, y), name) in ends {
        let long = LETTER.0 * name.chars().count() as f64;
        let of = |(x, y): (f64, f64)| (x, y - LETTER.1 + 2.0, x + long, y + 3.0);
        let fits = |place: &(f64, f64)| {
            let text = of(*place);
            text.0 >= left
                && text.2 <= right + 14.0
                && text.1 >= top - 8.0
                && text.3 <= bottom
                && !taken.iter().any(|other| touch(&text, other))
        };
        let inside = |x: f64| x.min(right + 14.0 - long).max(left);
        // Beside the end, then above and below it, farther with each step.
        let beside = [(x + 9.0, y + 4.0), (x - 9.0 - long, y + 4.0)];
        let farther = (0..40).flat_map(|step| {
            let away = 12.0 + 7.0 * f64::from(step);
            [y - away, y + away + 8.0].into_iter().flat_map(move |y| {
                [x + 4.0, x - 4.0 - long, x - long / 2.0].map(|x| (inside(x), y))
            })
        });
        let place = beside.into_iter().chain(farther).find(fits).unwrap_or((inside(x), y - 12.0));
        taken.push(of(place));
        places.push(place);
    }
    places
}

/// Draws the results of power cuts: a bar for each contender, as long as the share of cuts that
/// lost something.
pub fn cuts(width: Width, comparison: &Comparison, board: &Board) -> String {
    let found: Vec<_> = on(comparison, board)
        .into_iter()
        .filter_map(|(entry, standing)| Some((entry, standing.cuts.as_ref()?)))
        .collect();
    let text = |(entry, cuts): &(&Entry, &crate::result::Cuts)| {
        let crate::result::Cuts { lost, torn, unusable, illegal, .. } = cuts;
        let count = format_count(cuts.cuts.into());
        let what = if cuts.bad() == 0 {
            format!("nothing in {count} cuts")
        } else {
            format!(
                "{lost} lost, {torn} torn, {unusable} unusable, {illegal} illegal of {count} cuts"
            )
        };
        format!("{}: {what}", entry.facts.name)
    };
    let texts: Vec<_> = found.iter().map(text).collect();
    let Lanes { places, bottom } = Lanes::of(width, texts.iter().map(String::as_str));
    let subtitle =
        "power cuts in durable calls, of 1,000, that left something lost, torn or unusable";
    let mut canvas = Canvas::new(width, bottom + BOTTOM, "What survives a brown-out?", subtitle);
    let share = |bad: u32, cuts: u32| 1e3 * f64::from(bad) / f64::from(cuts.max(1));
    let x = across(
        width,
        &canvas,
        found
            .iter()
            .map(|(_, cuts)| share(cuts.bad(), cuts.cuts))
            .filter(|&share| share > 0.0)
            .chain([1.0, 1000.0])
            .collect::<Vec<_>>()
            .into_iter(),
    );
    let count = |cuts: f64| format_count(cuts.round() as u64);
    decades(&mut canvas, &x, bottom, count, "of 1,000 cuts, logarithmic");
    for (((entry, cuts), text), place) in found.iter().zip(&texts).zip(places) {
        canvas.heading(place, name_class(entry), text);
        if cuts.bad() > 0 {
            let to = x.at(share(cuts.bad(), cuts.cuts));
            bar(&mut canvas, (width.edge(), to), place, entry.facts.is_ours());
        }
    }
    canvas.finish()
}

/// Draws a bar from one place to another.
fn bar(canvas: &mut Canvas, (from, to): (f64, f64), place: f64, is_ours: bool) {
    let width = (to - from).max(1.0);
    canvas.path(
        if is_ours { "bar w1" } else { "bar w0" },
        &format!("M{from} {}h{width:.1}v14h-{width:.1}z", place + 8.0),
    );
}

/// Formats a size in GiB, as a tick.
fn gib(size: f64) -> String {
    let number = if size < 1.0 {
        steadyfs_lab::report::plain(size)
    } else {
        format_count(size.round() as u64)
    };
    format!("{number} GiB")
}

/// Draws the number of bytes that can be written until the first block is worn out.
pub fn lives(width: Width, comparison: &Comparison, board: &Board) -> String {
    let all = on(comparison, board);
    let life = |standing: &Standing| {
        standing
            .figures("wear-random")
            .map(|figures| life_bytes(figures, 4096, board.endurance_erases))
    };
    let text = |(entry, standing): &(&Entry, &Standing)| {
        let refusals = standing.figures("wear-random").map_or(String::new(), refused);
        let what = life(standing).map_or_else(
            || reason(standing.outcome("wear-random")),
            |bytes| format!("{}{refusals}", format_size(bytes as u64)),
        );
        format!("{}: {what}", entry.facts.name)
    };
    let texts: Vec<_> = all.iter().map(text).collect();
    let Lanes { places, bottom } = Lanes::of(width, texts.iter().map(String::as_str));
    let subtitle = "durable overwrites of 4,096 B, 80 % full, until the most worn block reaches \
        its last erase";
    let mut canvas = Canvas::new(width, bottom + BOTTOM, "How long will the chip live?", subtitle);
    let values: Vec<f64> = all.iter().filter_map(|(_, standing)| life(standing)).collect();
    let in_gib = |bytes: f64| bytes / f64::from(1 << 30);
    let x = across(width, &canvas, values.iter().map(|&bytes| in_gib(bytes)));
    decades(&mut canvas, &x, bottom, gib, "payload, logarithmic");
    for (((entry, standing), text), place) in all.iter().zip(&texts).zip(places) {
        canvas.heading(place, name_class(entry), text);
        if let Some(bytes) = life(standing) {
            bar(&mut canvas, (width.edge(), x.at(in_gib(bytes))), place, entry.facts.is_ours());
        }
    }
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_beside_the_end_of_its_curve_and_touches_no_other() {
        let area = ((78.0, 804.0), (62.0, 342.0));
        let ends = [
            ((500.0, 80.0), "SteadyFS"),
            ((500.0, 90.0), "SteadyFS, erased"),
            ((200.0, 90.0), "littlefs"),
            ((800.0, 342.0), "sequential-storage, map"),
            ((800.0, 342.0), "the chip alone"),
        ];
        let places = beside_ends(&ends, area);
        for (index, ((end, name), place)) in ends.iter().zip(&places).enumerate() {
            let long = LETTER.0 * name.len() as f64;
            assert!((place.1 - end.1).abs() < 45.0, "{name}: {place:?}");
            assert!(place.0 <= end.0 + 10.0 && place.0 + long >= end.0 - 10.0, "{name}: {place:?}");
            for other in &places[..index] {
                let apart =
                    (place.1 - other.1).abs() >= LETTER.1 || (place.0 - other.0).abs() > 60.0;
                assert!(apart, "{name}: {place:?} {other:?}");
            }
        }
    }
}
