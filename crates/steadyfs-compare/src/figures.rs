//! The figures: one for each question, peers side by side on a logarithmic axis.

use crate::result::{Board, Comparison, Entry, Standing};
use crate::table::{life_bytes, reason};
use std::fmt::Write;
use steadyfs_lab::report::{Axis, BOTTOM, Canvas, LEFT, Spread, TOP, label};
use steadyfs_lab::units::{format_duration, format_rate, format_size};

/// Height of a contender's lane.
const LANE: f64 = 46.0;
/// Height of the plotting area of curves.
const CURVES: f64 = 280.0;
/// Maximum letters of a name beside a curve.
const LETTERS: usize = 24;
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

/// Returns a logarithmic axis across the figure, over all values and up to whole decades.
fn across(canvas: &Canvas, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let low = values.clone().fold(f64::INFINITY, f64::min).max(1e-3);
    let high = values.fold(0.0, f64::max).max(low * 10.0);
    let decade = |value: f64, up: bool| {
        10_f64.powf(if up { value.log10().ceil() } else { value.log10().floor() })
    };
    let (low, high) =
        if low.is_finite() { (decade(low, false), decade(high, true)) } else { (1.0, 10.0) };
    Axis {
        low,
        high: high.max(low * 10.0),
        spread: Spread::Logarithmic,
        pixels: (LEFT, canvas.right),
    }
}

/// Draws the access times of durable overwrites, in a lane for each contender. A dot shows the
/// longest of a few accesses.
pub fn waits(comparison: &Comparison, board: &Board) -> String {
    let all = on(comparison, board);
    let bottom = TOP + LANE * all.len() as f64;
    let subtitle = "durable overwrites of 4,096 B at random places, 80 % full; each dot is the \
        longest of a few";
    let mut canvas = Canvas::new(bottom + BOTTOM, "How long may my data wait?", subtitle);
    let times = |standing: &'_ Standing| {
        standing.outcome("random-4096").map(|outcome| outcome.times_us.clone()).unwrap_or_default()
    };
    let values: Vec<f64> = all.iter().flat_map(|(_, standing)| times(standing)).collect();
    let x = across(&canvas, values.iter().copied());
    decades(&mut canvas, &x, bottom, |us| format_duration(us * 1e3), "time of a call, logarithmic");
    for (index, (entry, standing)) in all.iter().enumerate() {
        let top = TOP + LANE * index as f64;
        let text = match standing.figures("random-4096") {
            Some(figures) => {
                let mean = format_duration(figures.mean_us * 1e3);
                let promised = figures.bound_us.map_or(String::new(), |us| {
                    format!(", promised {}", format_duration(us * 1e3))
                });
                format!(
                    "{}: mean {mean}, longest {}{promised}",
                    entry.facts.name,
                    format_duration(figures.max_us * 1e3)
                )
            }
            None => format!("{}: {}", entry.facts.name, reason(standing.outcome("random-4096"))),
        };
        canvas.text(LEFT, top + 15.0, "start", name_class(entry), &shortened(&text));
        let mut path = String::new();
        for (at, us) in times(standing).into_iter().enumerate() {
            let _ = write!(path, "M{} {:.1}h0", x.at(us), top + 23.0 + (at * 7 % 19) as f64);
        }
        if !path.is_empty() {
            canvas.path(if entry.facts.is_ours() { "dots ours" } else { "dots peer" }, &path);
        }
    }
    canvas.finish()
}

/// Shortens a text so that it fits into the figure.
fn shortened(text: &str) -> String {
    const LETTERS: usize = 100;
    if text.chars().count() <= LETTERS {
        text.to_string()
    } else {
        text.chars().take(LETTERS - 1).chain(['…']).collect()
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
pub fn rates(comparison: &Comparison, board: &Board) -> String {
    let bottom = TOP + CURVES;
    let subtitle =
        "in front of durable overwrites of 4,096 B; a curve ends at 95 % of the mean rate";
    let mut canvas = Canvas::new(bottom + BOTTOM, "How much RAM does a rate need?", subtitle);
    canvas.make_room(LETTERS);
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
    let x =
        across(&canvas, curves.iter().flat_map(|(_, points)| points.iter().map(|(rate, _)| *rate)));
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
    let ends: Vec<f64> = curves
        .iter()
        .map(|(_, points)| points.last().map_or(bottom, |&(_, bytes)| y.at(bytes)))
        .collect();
    let places = steadyfs_lab::report::spread(&ends, 15.0, bottom);
    for (index, ((entry, points), place)) in curves.iter().zip(places).enumerate() {
        let mut path = String::new();
        for (at, &(rate, bytes)) in points.iter().enumerate() {
            let _ =
                write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, x.at(rate), y.at(bytes));
        }
        let class = CLASSES[index % CLASSES.len()];
        canvas.path(class, &path);
        if let Some(&(rate, bytes)) = points.last() {
            canvas.path(class, &format!("M{} {}l4 4m-8 0l8 -8m-8 0l4 4", x.at(rate), y.at(bytes)));
        }
        canvas.name_level(ends[index], place, &entry.facts.name);
    }
    canvas.finish()
}

/// Draws the results of power cuts: a bar for each contender, as long as the share of cuts that
/// lost something.
pub fn cuts(comparison: &Comparison, board: &Board) -> String {
    let found: Vec<_> = on(comparison, board)
        .into_iter()
        .filter_map(|(entry, standing)| Some((entry, standing.cuts.as_ref()?)))
        .collect();
    let bottom = TOP + LANE * found.len() as f64;
    let subtitle =
        "power cuts in durable calls, of 1,000, that left something lost, torn or unusable";
    let mut canvas = Canvas::new(bottom + BOTTOM, "What survives a brown-out?", subtitle);
    let share = |bad: u32, cuts: u32| 1e3 * f64::from(bad) / f64::from(cuts.max(1));
    let x = across(
        &canvas,
        found
            .iter()
            .map(|(_, cuts)| share(cuts.bad(), cuts.cuts))
            .filter(|&share| share > 0.0)
            .chain([1.0, 1000.0])
            .collect::<Vec<_>>()
            .into_iter(),
    );
    decades(&mut canvas, &x, bottom, steadyfs_lab::report::plain, "of 1,000 cuts, logarithmic");
    for (index, (entry, cuts)) in found.iter().enumerate() {
        let top = TOP + LANE * index as f64;
        let what = if cuts.bad() == 0 {
            format!("nothing in {} cuts", cuts.cuts)
        } else {
            let crate::result::Cuts { lost, torn, unusable, illegal, cuts, .. } = cuts;
            format!(
                "of {cuts} cuts {lost} lost, {torn} torn, {unusable} unusable, {illegal} illegal"
            )
        };
        canvas.text(
            LEFT,
            top + 15.0,
            "start",
            name_class(entry),
            &shortened(&format!("{}: {what}", entry.facts.name)),
        );
        if cuts.bad() > 0 {
            bar(&mut canvas, x.at(share(cuts.bad(), cuts.cuts)), top, entry.facts.is_ours());
        }
    }
    canvas.finish()
}

fn bar(canvas: &mut Canvas, to: f64, top: f64, is_ours: bool) {
    let width = (to - LEFT).max(1.0);
    canvas.path(
        if is_ours { "bar w1" } else { "bar w0" },
        &format!("M{LEFT} {}h{width:.1}v14h-{width:.1}z", top + 23.0),
    );
}

/// Formats a size with a unit that is a power of ten, as ticks are.
fn decimal(bytes: f64) -> String {
    let (unit, name) = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")]
        .into_iter()
        .find(|&(unit, _)| bytes >= unit)
        .unwrap_or((1e3, "kB"));
    format!("{} {name}", steadyfs_lab::report::plain(bytes / unit))
}

/// Draws the number of bytes that can be written until the first block is worn out.
pub fn lives(comparison: &Comparison, board: &Board) -> String {
    let all = on(comparison, board);
    let bottom = TOP + LANE * all.len() as f64;
    let subtitle = "durable overwrites of 4,096 B, 80 % full, until the most worn block reaches \
        its last erase";
    let mut canvas = Canvas::new(bottom + BOTTOM, "How long will the chip live?", subtitle);
    let life = |standing: &Standing| {
        standing
            .figures("wear-random")
            .map(|figures| life_bytes(figures, 4096, board.endurance_erases))
    };
    let values: Vec<f64> = all.iter().filter_map(|(_, standing)| life(standing)).collect();
    let x = across(&canvas, values.iter().copied());
    decades(&mut canvas, &x, bottom, decimal, "payload, logarithmic");
    for (index, (entry, standing)) in all.iter().enumerate() {
        let top = TOP + LANE * index as f64;
        let what = life(standing).map_or_else(
            || reason(standing.outcome("wear-random")),
            |bytes| format_size(bytes as u64),
        );
        canvas.text(
            LEFT,
            top + 15.0,
            "start",
            name_class(entry),
            &shortened(&format!("{}: {what}", entry.facts.name)),
        );
        if let Some(bytes) = life(standing) {
            bar(&mut canvas, x.at(bytes), top, entry.facts.is_ours());
        }
    }
    canvas.finish()
}
