//! A figure of lines with their names beside their ends.

use super::axis::{Axis, Spread};
use super::canvas::{BOTTOM, Canvas, TOP, Width};
use super::figures::label;
use std::fmt::Write;

/// Height of the plotting area in pixels.
const HEIGHT: f64 = 260.0;

/// A line: its name, its class, and its points from left to right.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) class: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// The parts around the lines.
pub(super) struct Figure<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    /// The name of the horizontal axis.
    pub(super) across: &'a str,
    /// Labels of the horizontal axis. Labels outside the range of the lines are left out.
    pub(super) ticks: Vec<(f64, String)>,
    /// Format of the values of the vertical axis.
    pub(super) text: &'a dyn Fn(f64) -> String,
}

impl Figure<'_> {
    /// Draws the lines, as large as the figure allows.
    pub(super) fn draw(&self, width: Width, lines: &[Line]) -> String {
        let bottom = TOP + HEIGHT;
        let mut canvas = Canvas::new(width, bottom + BOTTOM, self.title, self.subtitle);
        canvas.make_room(lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0));
        let all = || lines.iter().flat_map(|line| line.points.iter().copied());
        let range = |of: fn((f64, f64)) -> f64| {
            all().map(of).fold(None, |range: Option<(f64, f64)>, value| {
                range.map_or(Some((value, value)), |(low, high)| {
                    Some((low.min(value), high.max(value)))
                })
            })
        };
        let (least, most) = range(|(_, y)| y).unwrap_or((0.0, 0.0));
        let room = (0.05 * (most - least)).max(0.01);
        let y = Axis {
            low: (least - room).max(0.0),
            high: most + room,
            spread: Spread::Linear,
            pixels: (bottom, TOP),
        };
        let (first, last) = range(|(x, _)| x).unwrap_or((0.0, 1.0));
        let x = canvas.across(first, last.max(first + f64::EPSILON));
        canvas.vertical(&y, &label(y.ticks(5), self.text));
        let ticks: Vec<_> =
            self.ticks.iter().filter(|(at, _)| (first..=last).contains(at)).cloned().collect();
        canvas.horizontal(&x, bottom, &ticks, self.across);
        let ends: Vec<f64> = lines
            .iter()
            .map(|line| line.points.last().map_or(bottom, |&(_, last)| y.at(last)))
            .collect();
        let places = spread(&ends, 15.0, bottom);
        for ((line, &end), &place) in lines.iter().zip(&ends).zip(&places) {
            let mut path = String::new();
            for (at, point) in line.points.iter().enumerate() {
                let _ = write!(
                    path,
                    "{}{} {}",
                    if at == 0 { 'M' } else { 'L' },
                    x.at(point.0),
                    y.at(point.1)
                );
            }
            canvas.path(&format!("way {}", line.class), &path);
            canvas.name_level(line.class, end, place, &line.name);
        }
        canvas.finish()
    }
}

/// Returns places as near to the levels as possible, with `room` between each two, and none below
/// `bottom`.
pub fn spread(levels: &[f64], room: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|&a, &b| levels[b].total_cmp(&levels[a]));
    let mut places = vec![0.0; levels.len()];
    let mut least = bottom + room;
    for index in order {
        places[index] = levels[index].min(least - room);
        least = places[index];
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_apart() {
        assert_eq!(spread(&[100.0, 101.0, 40.0], 15.0, 200.0), [86.0, 101.0, 40.0]);
    }

    #[test]
    fn degenerate_lines_are_drawn() {
        let figure = Figure {
            title: "t",
            subtitle: "s",
            across: "x",
            ticks: vec![],
            text: &|value| format!("{value:.1}"),
        };
        for points in [vec![], vec![(3.0, 1.0)], vec![(0.0, 0.0), (0.0, 0.0)]] {
            let svg =
                figure.draw(Width::Narrow, &[Line { name: "line".into(), class: "w0", points }]);
            assert!(
                svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"),
                "{svg}"
            );
        }
    }
}
