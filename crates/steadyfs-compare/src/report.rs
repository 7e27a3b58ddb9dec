//! The comparison as one page: a figure for each question, then sortable tables, and a slider for
//! the rate.

use crate::figures;
use crate::result::{Board, Comparison, Entry, rates};
use crate::table::Answer;
use std::fmt::Write;
use steadyfs_lab::report::{Page, Paper, TEXT_SCRIPT, Width, escape, figure};
use steadyfs_lab::units::{format_duration, format_rate};

const STYLE: &str = include_str!("../assets/compare.css");
const SCRIPT: &str = include_str!("../assets/compare.js");
const FOOTER: &str = "Times are chip times, without processor time. All contenders use the same \
    chip model. It charges each operation by the bytes that it moves. All written data was read \
    back and compared. A case that takes too long ends before its last step, after the same chip \
    time for every contender. Limits, cases and the backlog equation: docs/results/bench.md and \
    docs/design.md. The set-up of each contender, and the way to add another: \
    docs/results/contenders.md. Rates are decimal, sizes binary.";

/// A report of a comparison.
#[derive(Clone, Debug)]
pub struct CompareReport<'a>(&'a Comparison);

impl<'a> CompareReport<'a> {
    /// Returns the report of a result.
    pub fn of(comparison: &'a Comparison) -> CompareReport<'a> {
        CompareReport(comparison)
    }

    /// Returns the statement of the first figure of the last board, as a sentence.
    fn headline(&self) -> String {
        let Some(board) = self.0.boards.last() else { return "Nothing was compared.".to_string() };
        let of = |entry: &'a Entry| {
            let figures = entry.on(&board.id)?.figures("random-4096")?;
            Some((entry.facts.name.as_str(), figures.bound_us, figures.max_us))
        };
        let time = |us: f64| format_duration(us * 1e3);
        let (mut promised, mut others) = (Vec::new(), Vec::new());
        for (name, bound_us, max_us) in self.0.entries.iter().filter_map(of) {
            match bound_us {
                Some(bound) => promised.push(format!(
                    "{name} promises {} and took at most {}",
                    time(bound),
                    time(max_us)
                )),
                None => others.push(format!("{name} {}", time(max_us))),
            }
        }
        let device = &board.device;
        if promised.is_empty() && others.is_empty() {
            return format!("Side by side on {device}.");
        }
        if !others.is_empty() {
            others = vec![format!("longest without a promise: {}", others.join(", "))];
        }
        let parts: Vec<_> = promised.into_iter().chain(others).collect();
        format!("A durable 4 KiB write on {device}, 80 % full: {}.", parts.join("; "))
    }

    fn section(&self, board: &Board) -> String {
        let mut body = format!(
            "<h2 class=\"board\" id=\"{}\">{}</h2>\n",
            escape(&board.id),
            escape(&board.title_with_times())
        );
        let figures = [figures::waits, figures::rates, figures::cuts, figures::lives];
        let mut answers = self.0.answers(board).into_iter();
        for (index, draw) in figures.into_iter().enumerate() {
            body += &figure("", |width| draw(width, self.0, board));
            if index == 1 {
                body += &self.slider(board);
            }
            body.extend(answers.next().map(|answer| table(&answer, Some(board))));
        }
        body.extend(answers.map(|answer| table(&answer, Some(board))));
        body + &table(&self.0.cases(board), Some(board))
    }

    /// Returns the slider, with the need of each contender at its rate. The slider starts at the
    /// highest rate for which some buffer suffices to the first contender.
    fn slider(&self, board: &Board) -> String {
        let (mut items, mut first) = (String::new(), None);
        for entry in &self.0.entries {
            let Some(outcome) = entry.on(&board.id).and_then(|on| on.outcome("random-4096")) else {
                continue;
            };
            if outcome.needs.is_empty() {
                continue;
            }
            let needs: Vec<_> = outcome.needs.iter().map(|need| need.bytes).collect();
            first = first.or_else(|| Some(needs.iter().rposition(Option::is_some).unwrap_or(0)));
            let needs = serde_json::to_string(&needs).unwrap_or_default();
            let _ = writeln!(
                items,
                "<li data-needs=\"{}\"><span>{}</span><strong></strong></li>",
                escape(&needs),
                escape(&entry.facts.name)
            );
        }
        let (id, most, first) =
            (format!("rate-{}", board.id), rates().len() - 1, first.unwrap_or(0));
        format!(
            "<section class=\"card needs-card\"><div class=\"control\"><label for=\"{id}\">Input \
             rate</label><input id=\"{id}\" type=\"range\" min=\"0\" max=\"{most}\" step=\"1\" \
             value=\"{first}\"><output for=\"{id}\"></output></div><p class=\"lead\">RAM in front \
             of the file system, beside the write in progress.</p><ul class=\"needs\" \
             aria-live=\"polite\">{items}</ul></section>\n"
        )
    }

    /// Returns the table of the contenders and their settings.
    fn contenders(&self) -> String {
        let head = ["", "version", "settings", "why these", "a power cut", "source"]
            .map(String::from)
            .to_vec();
        let rows = self.0.entries.iter().map(|entry| {
            let facts = entry.facts.clone();
            let kept = if entry.kept { ", measured earlier" } else { "" };
            let source = format!("{} ({})", facts.source, facts.licence);
            vec![
                facts.name,
                facts.version + kept,
                facts.configuration,
                facts.because,
                facts.contract,
                source,
            ]
        });
        let question = "Contenders and their settings".to_string();
        table(&Answer { question, head, rows: rows.collect(), ids: Vec::new(), cases: "" }, None)
    }
}

/// Returns the command that measures a row again.
fn command(answer: &Answer, row: usize, board: &Board) -> String {
    match answer.ids.get(row) {
        Some(id) => {
            format!("steady compare --device {} --contender {id} --case {}", board.id, answer.cases)
        }
        None => format!(
            "steady compare --device {} --case {}",
            board.id,
            answer.rows[row].first().map_or("", String::as_str)
        ),
    }
}

/// Returns a table that its columns sort. The last column shows the command.
fn table(answer: &Answer, board: Option<&Board>) -> String {
    let mut head: String = answer
        .head
        .iter()
        .map(|name| {
            format!(
                "<th scope=\"col\"><button type=\"button\">{}</button></th>",
                escape(if name.is_empty() { "contender" } else { name })
            )
        })
        .collect();
    if board.is_some() {
        head += "<th scope=\"col\">to measure it again</th>";
    }
    let mut rows = String::new();
    for (index, row) in answer.rows.iter().enumerate() {
        let (name, cells) =
            row.split_first().map_or(("", &[][..]), |(name, cells)| (name.as_str(), cells));
        let _ = write!(rows, "<tr><th scope=\"row\">{}</th>", escape(name));
        for at in 1..answer.head.len() {
            let text = cells.get(at - 1).map_or("", String::as_str);
            let class = if text.len() > 28 { " class=\"text\"" } else { "" };
            let column = escape(&answer.head[at]);
            let _ = write!(rows, "<td{class} data-name=\"{column}\">{}</td>", escape(text));
        }
        if let Some(board) = board {
            let _ = write!(
                rows,
                "<td class=\"text\" data-name=\"to measure it again\"><code>{}</code></td>",
                escape(&command(answer, index, board))
            );
        }
        rows += "</tr>\n";
    }
    format!(
        "<details class=\"card\"><summary><h2>{}</h2></summary><div class=\"wide\"><table \
         class=\"answer\"><thead><tr>{head}</tr></thead>\n\
         <tbody>{rows}</tbody></table></div></details>\n",
        escape(&answer.question)
    )
}

impl Page for CompareReport<'_> {
    fn html(&self) -> String {
        let boards = &self.0.boards;
        let links: String = boards
            .iter()
            .map(|board| format!("<a href=\"#{}\">{}</a>", escape(&board.id), escape(&board.title)))
            .collect();
        let mut body = format!(
            "<style>{STYLE}</style>\n<nav>{links}<a href=\"#contenders\">Contenders</a></nav>\n"
        );
        body.extend(boards.iter().map(|board| self.section(board)));
        let rates = serde_json::to_string(&rates()).unwrap_or_default();
        let contenders = self.contenders();
        let _ = write!(
            body,
            "<h2 class=\"board\" id=\"contenders\">Contenders</h2>\n\
             {contenders}<script type=\"application/json\" id=\"rates\">{rates}</script>\n\
             <script>{TEXT_SCRIPT}{SCRIPT}</script>\n"
        );
        let who: Vec<_> = self.0.entries.iter().map(|entry| entry.facts.name.as_str()).collect();
        Paper {
            brand: "compare",
            title: "Side by side",
            headline: &self.headline(),
            leads: vec![
                format!(
                    "{}: the same cases, the same clock, the same power cuts, on the same \
                     simulated chips.",
                    who.join(", ")
                ),
                format!(
                    "Seed {}; rates from {} to {}.",
                    self.0.seed,
                    format_rate(1e3),
                    format_rate(1e7)
                ),
            ],
            body,
            footer: FOOTER,
        }
        .html()
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        // The README shows the last board.
        let Some(board) = self.0.boards.last() else { return Vec::new() };
        vec![
            ("waits.svg", figures::waits(Width::Wide, self.0, board)),
            ("rates.svg", figures::rates(Width::Wide, self.0, board)),
            ("cuts.svg", figures::cuts(Width::Wide, self.0, board)),
            ("lives.svg", figures::lives(Width::Wide, self.0, board)),
        ]
    }
}
