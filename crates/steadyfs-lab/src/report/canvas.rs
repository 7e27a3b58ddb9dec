//! An SVG under construction: its size, its style, and the elements of figures.

use super::axis::{Axis, Spread};
use super::escape;
use std::fmt::Write;

/// Right edge of a wide figure, and of a narrow figure, in pixels.
const WIDE: f64 = 840.0;
const NARROW: f64 = 372.0;
/// Left edge of a narrow figure. Labels of an axis need less room than a wide figure has.
const NARROW_FROM: f64 = 4.0;
/// Left edge of the plotting area.
pub const LEFT: f64 = 78.0;
/// Room at the right of the plotting area.
pub const RIGHT: f64 = 36.0;
/// Top edge of the plotting area, below the title.
pub const TOP: f64 = 62.0;
/// Room below the plotting area.
pub const BOTTOM: f64 = 52.0;

/// Maximum average width of a letter in pixels: of a text, of a name, and of a title.
const LETTER: f64 = 7.4;
const NAME_LETTER: f64 = 8.4;
const TITLE_LETTER: f64 = 9.6;
/// Height of a line of text in pixels.
pub const TEXT_LINE: f64 = 16.0;
/// Height of a line of the title in pixels.
const TITLE_LINE: f64 = 20.0;
/// Length of the line from a level to its name in pixels.
const LEADER: f64 = 16.0;

const STYLE: &str = "\
text{font:12px 'DejaVu Sans','Helvetica Neue',Arial,sans-serif;fill:#5b6472}\
.title{font-size:15px;font-weight:600;fill:#1c2430}.paper{fill:#fff}\
.j0{fill:#d4552a}.j1{fill:#e8b23a}.j2{fill:#2f6fde}.dead{fill:#a7b0bd}\
.way{fill:none;stroke-width:1.8}.bar{stroke:none}\
.w0{stroke:#7b8494;fill:#7b8494}.w1{stroke:#2f6fde;fill:#2f6fde}.w2{stroke:#14479e;fill:#14479e}\
.w3{stroke:#d4552a;fill:#d4552a}.w4{stroke:#8f2f10;fill:#8f2f10}.way{fill:none}.end{font-weight:600}.end.halo{stroke:#fff}\
.end.w0{fill:#5b6472}.end.w3{fill:#bd4a24}\
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
.w4{stroke:#ffc2a8;fill:#ffc2a8}.way{fill:none}.end.w0{fill:#9aa5b5}.end.w3{fill:#ff8a5c}\
text{fill:#9aa5b5}.title{fill:#e6eaf0}.paper{fill:#151a21}.e0{fill:#2a5296}.e1{fill:#4a7fd6}\
.e2{fill:#86b2ff}.e3{fill:#cfe0ff}\
.grid{stroke:#262e39}.dots{stroke:#6ea3ff}.bars,.area{fill:#6ea3ff}.line{stroke:#6ea3ff}\
.bound{stroke:#ff8a5c}.boundtext{fill:#ff8a5c}.name.ours{fill:#6ea3ff}.halo,.end.halo{stroke:#151a21}\
.dots.peer{stroke:#9aa5b5}.dots.p1{stroke:#e08cc2}.dots.p2{stroke:#4cc2b0}.name.p1{fill:#e08cc2}\
.name.p2{fill:#4cc2b0}}";

/// Width of a figure. A page has each figure in both widths, and shows the width of its screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// For a desk, and for a file.
    Wide,
    /// For a phone.
    Narrow,
}

impl Width {
    /// Returns the horizontal place at which titles and names begin.
    pub fn edge(self) -> f64 {
        match self {
            Width::Wide => LEFT,
            Width::Narrow => NARROW_FROM + 8.0,
        }
    }

    /// Splits a text of a class into lines that fit into the figure.
    pub fn lines(self, class: &str, text: &str) -> Vec<String> {
        let letter = match class.split(' ').next() {
            Some("title") => TITLE_LETTER,
            Some("name") => NAME_LETTER,
            _ => LETTER,
        };
        wrap(text, ((self.right() - 4.0 - self.edge()) / letter) as usize)
    }

    fn right(self) -> f64 {
        if self == Width::Wide { WIDE } else { NARROW }
    }

    fn left(self) -> f64 {
        if self == Width::Wide { 0.0 } else { NARROW_FROM }
    }
}

/// An SVG under construction.
pub struct Canvas {
    svg: String,
    width: Width,
    /// Right edge of the plotting area.
    pub right: f64,
    /// Top edge: below zero if the title has several lines.
    top: f64,
    bottom: f64,
    title: String,
    /// Names of the legend, with their classes.
    keys: Vec<(String, String)>,
}

impl Canvas {
    /// Returns an empty figure with a title, and a line below the title.
    pub fn new(width: Width, height: f64, title: &str, subtitle: &str) -> Canvas {
        let margin = if width == Width::Wide { RIGHT } else { 16.0 };
        let mut canvas = Canvas {
            svg: String::new(),
            width,
            right: width.right() - margin,
            top: 0.0,
            bottom: height,
            title: title.to_string(),
            keys: Vec::new(),
        };
        // The plotting area has its place below the last line.
        let mut y = 46.0;
        for line in width.lines("", subtitle).iter().rev() {
            canvas.text(width.edge(), y, "start", "", line);
            y -= TEXT_LINE;
        }
        y -= TITLE_LINE - TEXT_LINE;
        for line in width.lines("title", title).iter().rev() {
            canvas.text(width.edge(), y, "start", "title", line);
            y -= TITLE_LINE;
        }
        canvas.top = (y - 6.0).min(0.0);
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

    /// Returns the number of points that are distinguishable, from the number in a wide figure.
    pub fn points(&self, wide: usize) -> usize {
        if self.width == Width::Wide { wide } else { wide / 4 }
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

    /// Draws the labels of a horizontal axis below `bottom`, and its name. A label that would touch
    /// the label before it is left out.
    pub fn horizontal(&mut self, axis: &Axis, bottom: f64, ticks: &[(f64, String)], name: &str) {
        let mut free = self.width.left();
        for (value, label) in ticks {
            let x = axis.at(*value);
            self.line("grid", (x, bottom), (x, bottom + 4.0));
            let room = LETTER * label.chars().count() as f64;
            let (least, most) = (self.width.left(), self.width.right() - 2.0);
            let middle = x.min(most - room / 2.0).max(least + room / 2.0);
            if middle - room / 2.0 >= free {
                self.text(middle, bottom + 18.0, "middle", "", label);
                free = middle + room / 2.0 + 4.0;
            }
        }
        let lines = self.width.lines("", name);
        let middle = match lines.len() {
            1 => (LEFT + self.right) / 2.0,
            _ => (self.width.left() + self.width.right()) / 2.0,
        };
        for (at, line) in lines.iter().enumerate() {
            let y = bottom + 38.0 + TEXT_LINE * at as f64;
            self.text(middle, y, "middle", "", line);
            self.bottom = self.bottom.max(y + 10.0);
        }
    }

    /// Writes a text that begins at the left edge, upwards from its last line at `y`.
    pub fn heading(&mut self, y: f64, class: &str, text: &str) {
        let lines = self.width.lines(class, text);
        for (line, text) in lines.iter().rev().enumerate() {
            self.text(self.width.edge(), y - TEXT_LINE * line as f64, "start", class, text);
        }
    }

    /// Draws a legend at `top`: a square of each class with its name, in as many rows as it needs.
    pub fn legend<'k>(&mut self, top: f64, keys: impl IntoIterator<Item = (&'k str, &'k str)>) {
        let (mut x, mut y) = (self.width.edge(), top);
        for (class, name) in keys {
            let room = 15.0 + LETTER * name.chars().count() as f64;
            if x > self.width.edge() && x + room > self.width.right() {
                (x, y) = (self.width.edge(), y + TEXT_LINE + 2.0);
            }
            self.path(class, &format!("M{x} {y}h10v10h-10z"));
            self.text(x + 15.0, y + 9.0, "start", "", name);
            x += room + 16.0;
        }
        self.bottom = self.bottom.max(y + 20.0);
    }

    /// Returns the SVG.
    pub fn finish(mut self) -> String {
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.legend(self.bottom, keys.iter().map(|(class, name)| (&class[..], &name[..])));
        }
        let (left, top) = (self.width.left(), self.top);
        let (width, height) = (self.width.right() - left, self.bottom - top);
        let class = if self.width == Width::Wide { "desk" } else { "phone" };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"{left} {top} {width} {height}\" \
             role=\"img\"><title>{}</title><style>{STYLE}</style><rect class=\"paper\" \
             x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            escape(&self.title),
            self.svg
        )
    }

    /// Leaves room for texts of `letters` beside the plotting area. A narrow figure has these texts
    /// in its legend.
    pub fn make_room(&mut self, letters: usize) {
        if self.width == Width::Wide {
            self.right = WIDE - RIGHT.max(LETTER * letters as f64 + LEADER + 12.0);
        }
    }

    /// Returns a horizontal axis over the width of the plotting area.
    pub fn across(&self, low: f64, high: f64) -> Axis {
        Axis { low, high, spread: Spread::Linear, pixels: (LEFT, self.right) }
    }

    /// Returns a horizontal axis from the edge at which names begin. A figure has it if no labels
    /// stand at the left of its plotting area.
    pub fn across_from_edge(&self, low: f64, high: f64) -> Axis {
        Axis { low, high, spread: Spread::Linear, pixels: (self.width.edge(), self.right) }
    }

    /// Names a level at `y`. The name stands at `at`, beside the plotting area. In a narrow figure,
    /// the legend has the name, with a square of the class.
    pub fn name_level(&mut self, class: &str, y: f64, at: f64, name: &str) {
        if self.width == Width::Narrow {
            self.keys.push((format!("bar {class}"), name.to_string()));
            return;
        }
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

/// Splits a text at its spaces into lines of at most `letters`. A longer word has its own line.
fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= letters {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_have_several_lines_and_none_is_cut() {
        let title = "Content of the blocks: a column for each block, a colour for each job";
        for width in [Width::Wide, Width::Narrow] {
            let svg = Canvas::new(width, 100.0, title, title).finish();
            let words = svg.split("</style>").nth(1).unwrap();
            assert!(title.split(' ').all(|word| words.matches(word).count() >= 2), "{svg}");
        }
        let narrow = Canvas::new(Width::Narrow, 100.0, title, "").finish();
        assert!(narrow.contains("viewBox=\"4 -"), "lines above the first: {narrow}");
        assert_eq!(wrap("a bc def", 4), ["a bc", "def"]);
    }

    #[test]
    fn labels_of_an_axis_stand_apart_and_names_stand_in_the_legend() {
        let mut canvas = Canvas::new(Width::Narrow, 100.0, "t", "s");
        let x = canvas.across(0.0, 20.0);
        let ticks: Vec<_> = (0..20).map(|tick| (f64::from(tick), format!("{tick}00 ms"))).collect();
        canvas.horizontal(&x, 50.0, &ticks, "time");
        for _ in 0..9 {
            canvas.name_level("w1", 10.0, 10.0, "a contender");
        }
        let svg = canvas.finish();
        assert!((3..9).contains(&svg.matches("00 ms<").count()), "{svg}");
        assert_eq!(svg.matches("bar w1").count(), 9);
        let height: f64 =
            svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(height > 100.0 + 3.0 * TEXT_LINE, "rows of the legend: {height}");
    }
}
