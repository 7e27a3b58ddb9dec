//! An SVG under construction: its size, its style, and the elements of figures.

use super::axis::{Axis, Spread};
use super::escape;
use std::fmt::Write;

/// Width of every figure in pixels.
const WIDTH: f64 = 840.0;
/// Left edge of the plotting area.
pub const LEFT: f64 = 78.0;
/// Room at the right of the plotting area.
pub const RIGHT: f64 = 36.0;
/// Top edge of the plotting area, below the title.
pub const TOP: f64 = 62.0;
/// Room below the plotting area.
pub const BOTTOM: f64 = 52.0;

/// Maximum average width of a letter in pixels.
const LETTER: f64 = 7.4;
/// Length of the line from a level to its name in pixels.
const LEADER: f64 = 16.0;

const STYLE: &str = "\
text{font:12px 'DejaVu Sans','Helvetica Neue',Arial,sans-serif;fill:#5b6472}\
.title{font-size:15px;font-weight:600;fill:#1c2430}.paper{fill:#fff}\
.j0{fill:#d4552a}.j1{fill:#e8b23a}.j2{fill:#2f6fde}.dead{fill:#a7b0bd}\
.way{fill:none;stroke-width:1.8}.bar{stroke:none}\
.w0{stroke:#7b8494;fill:#7b8494}.w1{stroke:#2f6fde;fill:#2f6fde}.w2{stroke:#14479e;fill:#14479e}\
.w3{stroke:#d4552a;fill:#d4552a}.w4{stroke:#8f2f10;fill:#8f2f10}.way{fill:none}\
.e0{fill:#14479e}.e1{fill:#2f6fde}.e2{fill:#7ba6ee}.e3{fill:#b9d0f7}\
.grid{stroke:#e4e7ec;stroke-width:1}\
.dots{stroke:#2f6fde;stroke-width:2.2;stroke-linecap:round;stroke-opacity:.55}\
.dots.ours{stroke-opacity:.8}.dots.peer{stroke:#7b8494;stroke-opacity:.8}.dots.p1{stroke:#b0508f}\
.dots.p2{stroke:#1d8a7a}.dots.few{stroke-width:5;stroke-opacity:1}.name.p1{fill:#b0508f}\
.name.p2{fill:#1d8a7a}.name{font-size:13px;font-weight:600}.name.ours{fill:#2f6fde}\
.halo{stroke:#fff;stroke-width:3;paint-order:stroke}\
.bars{fill:#2f6fde}.area{fill:#2f6fde;fill-opacity:.25}\
.line{fill:none;stroke:#2f6fde;stroke-width:1.2}\
.leader,.tear{fill:none;stroke:#8b94a3}.bound{stroke:#d4552a;stroke-width:1.4;stroke-dasharray:6 4}\
.boundtext{fill:#bd4a24}\
@media(prefers-color-scheme:dark){.dead{fill:#5c6878}.j2{fill:#6ea3ff}\
.w1{stroke:#6ea3ff;fill:#6ea3ff}.w2{stroke:#a9c8ff;fill:#a9c8ff}.w3{stroke:#ff8a5c;fill:#ff8a5c}\
.w4{stroke:#ffc2a8;fill:#ffc2a8}.way{fill:none}\
text{fill:#9aa5b5}.title{fill:#e6eaf0}.paper{fill:#151a21}.e0{fill:#2a5296}.e1{fill:#4a7fd6}\
.e2{fill:#86b2ff}.e3{fill:#cfe0ff}\
.grid{stroke:#262e39}.dots{stroke:#6ea3ff}.bars,.area{fill:#6ea3ff}.line{stroke:#6ea3ff}\
.bound{stroke:#ff8a5c}.boundtext{fill:#ff8a5c}.name.ours{fill:#6ea3ff}.halo{stroke:#151a21}\
.dots.peer{stroke:#9aa5b5}.dots.p1{stroke:#e08cc2}.dots.p2{stroke:#4cc2b0}.name.p1{fill:#e08cc2}\
.name.p2{fill:#4cc2b0}}";

/// An SVG under construction.
pub struct Canvas {
    svg: String,
    /// Right edge of the plotting area.
    pub right: f64,
}

impl Canvas {
    /// Returns an empty figure with a title, and a line below the title.
    pub fn new(height: f64, title: &str, subtitle: &str) -> Canvas {
        let mut canvas = Canvas { svg: String::new(), right: WIDTH - RIGHT };
        canvas.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\"><title>{}</title><style>{STYLE}</style><rect class=\"paper\" \
             width=\"{WIDTH}\" height=\"{height}\"/>",
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

    /// Writes a text.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.put(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{class}>{}</text>",
            escape(text)
        ));
    }

    /// Draws a line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(&format!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// Draws a path.
    pub fn path(&mut self, class: &str, path: &str) {
        self.put(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// Draws the ticks of a vertical axis, with a line across the plot at each.
    pub fn vertical(&mut self, axis: &Axis, ticks: &[(f64, String)]) {
        for (value, label) in ticks {
            let y = axis.at(*value);
            self.line("grid", (LEFT, y), (self.right, y));
            self.text(LEFT - 8.0, y + 4.0, "end", "", label);
        }
    }

    /// Draws the labels of a horizontal axis below `bottom`, and its name.
    pub fn horizontal(&mut self, axis: &Axis, bottom: f64, ticks: &[(f64, String)], name: &str) {
        for (value, label) in ticks {
            let x = axis.at(*value);
            self.line("grid", (x, bottom), (x, bottom + 4.0));
            self.text(x, bottom + 18.0, "middle", "", label);
        }
        self.text((LEFT + self.right) / 2.0, bottom + 38.0, "middle", "", name);
    }

    /// Returns the SVG.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    /// Leaves room for texts of `letters` beside the plotting area.
    pub fn make_room(&mut self, letters: usize) {
        self.right = WIDTH - RIGHT.max(LETTER * letters as f64 + LEADER + 12.0);
    }

    /// Returns a horizontal axis over the width of the plotting area.
    pub fn across(&self, low: f64, high: f64) -> Axis {
        Axis { low, high, spread: Spread::Linear, pixels: (LEFT, self.right) }
    }

    /// Names a level at `y`, with the name at `at` beside the plotting area.
    pub fn name_level(&mut self, y: f64, at: f64, name: &str) {
        let end = self.right + LEADER;
        self.path("leader", &format!("M{} {y}L{} {at}H{end}", self.right, end - 6.0));
        self.text(end + 4.0, at + 4.0, "start", "", name);
    }

    /// Writes a text beside the plotting area, with its middle at `y`.
    pub fn beside(&mut self, y: f64, class: &str, text: &str) {
        self.text(self.right + LEADER, y + 4.0, "start", class, text);
    }

    /// Draws the tear of a broken axis: a zigzag from one point to another, across or upright.
    pub fn tear(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / 6.0).round().max(1.0);
        let upright = from.0 == to.0;
        let mut path = String::new();
        for step in 0..=steps as u32 {
            let share = f64::from(step) / steps;
            let side = if step % 2 == 0 { -2.5 } else { 2.5 };
            let (x, y) = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            let (x, y) = if upright { (x + side, y) } else { (x, y + side) };
            let _ = write!(path, "{}{x:.1} {y:.1}", if step == 0 { 'M' } else { 'L' });
        }
        self.path("tear", &path);
    }
}
