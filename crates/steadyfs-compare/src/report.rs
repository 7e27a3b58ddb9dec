//! The comparison as one page: a figure for each question, then sortable tables, and a slider for
//! the rate.

use crate::figures;
use crate::result::{Board, Comparison, Entry, rates};
use crate::table::{Answer, is_reason};
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

/// Contenders whose sources are not in this repository.
const IN_C: [&str; 4] = ["littlefs", "littlefs-sectors", "spiffs", "fatfs-on-dhara"];

/// A report of a comparison.
#[derive(Clone, Debug)]
pub struct CompareReport<'a>(&'a Comparison);

impl<'a> CompareReport<'a> {
    /// Returns the report of a result.
    pub fn of(comparison: &'a Comparison) -> CompareReport<'a> {
        CompareReport(comparison)
    }

    /// Returns the durable overwrites of the last board: each name, its promise and its longest
    /// call.
    fn waits(&self) -> Vec<(&'a str, Option<f64>, f64)> {
        let Some(board) = self.0.boards.last() else { return Vec::new() };
        let of = |entry: &'a Entry| {
            let figures = entry.on(&board.id)?.figures("random-4096")?;
            Some((entry.facts.name.as_str(), figures.bound_us, figures.max_us))
        };
        self.0.entries.iter().filter_map(of).collect()
    }

    /// Returns the promises for a durable overwrite on the last board, as a sentence. Contenders
    /// with the same times share a part of it.
    fn headline(&self) -> String {
        let Some(board) = self.0.boards.last() else { return "Nothing was compared.".to_string() };
        let mut promised: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, bound_us, max_us) in self.waits() {
            let Some(bound_us) = bound_us else { continue };
            let times = format!("{}, longest {}", time(bound_us), time(max_us));
            match promised.iter_mut().find(|(known, _)| *known == times) {
                Some((_, names)) => names.push(name),
                None => promised.push((times, vec![name])),
            }
        }
        let device = &board.device;
        if promised.is_empty() {
            return format!("Side by side on {device}.");
        }
        let part = |(times, names): (String, Vec<&str>)| {
            let verb = if names.len() == 1 { "promises" } else { "promise" };
            format!("{} {verb} {times}", names.join(" and "))
        };
        let parts: Vec<_> = promised.into_iter().map(part).collect();
        format!("A durable 4 KiB write on {device}, 80 % full: {}.", parts.join("; "))
    }

    /// Returns the longest overwrites of contenders that promise nothing, as a sentence.
    fn without_promise(&self) -> Option<String> {
        let others: Vec<_> = self
            .waits()
            .into_iter()
            .filter(|(_, bound_us, _)| bound_us.is_none())
            .map(|(name, _, max_us)| format!("{name} {}", time(max_us)))
            .collect();
        (!others.is_empty()).then(|| format!("Longest without a promise: {}.", others.join(", ")))
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
            body.extend(answers.next().map(|answer| table(&answer, &again(&answer, board))));
        }
        body.extend(answers.map(|answer| table(&answer, &again(&answer, board))));
        let cases = self.0.case_tables(board);
        let last = cases.len().saturating_sub(1);
        for (at, answer) in cases.iter().enumerate() {
            // The reasons for the dashes of all tables stand below the last.
            let notes = if at == last { self.0.case_notes(board) } else { Vec::new() };
            let notes: String = notes.iter().map(|note| paragraph(&escape(note))).collect();
            body += &table(answer, &(notes + &again(answer, board)));
        }
        if let (Some(totals), Some(places)) = (self.0.totals(board), self.0.places_text(board)) {
            body += &table(&totals, &paragraph(&escape(&places)));
        }
        body
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
        table(&Answer { question, head, rows: rows.collect(), ids: Vec::new(), cases: "" }, "")
    }
}

fn time(us: f64) -> String {
    format_duration(us * 1e3)
}

/// Returns a paragraph of markup below a table.
fn paragraph(markup: &str) -> String {
    format!("<p class=\"lead\">{markup}</p>\n")
}

/// Returns the command for measuring a row of a table again, and the names of the contenders.
fn again(answer: &Answer, board: &Board) -> String {
    let board = escape(&board.options());
    let Some((first, others)) = answer.ids.split_first() else {
        let case = answer.rows.first().and_then(|row| row.first()).map_or("", String::as_str);
        return paragraph(&format!(
            "Measure a row again: <code>steady compare {board} --case {}</code>",
            escape(case)
        ));
    };
    let others = match others {
        [] => String::new(),
        others => format!("; other contenders: {}", escape(&others.join(", "))),
    };
    let in_c: Vec<_> =
        answer.ids.iter().map(String::as_str).filter(|id| IN_C.contains(id)).collect();
    let needs = match in_c.as_slice() {
        [] => String::new(),
        names => format!(
            ". {} need their sources: docs/results/contenders.md, contenders in C",
            escape(&names.join(", "))
        ),
    };
    paragraph(&format!(
        "Measure a row again: <code>steady compare {board} --case {} --contender \
         {}</code>{others}{needs}",
        escape(answer.cases),
        escape(first)
    ))
}

/// Returns a table that its columns sort, with notes below it as markup.
fn table(answer: &Answer, notes: &str) -> String {
    let has_long =
        |at: usize| answer.rows.iter().any(|row| row.get(at).is_some_and(|cell| is_long(cell)));
    let is_text: Vec<bool> = (0..answer.head.len()).map(has_long).collect();
    let column = |(name, &is_text): (&String, &bool)| {
        format!(
            "<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
            if is_text { " class=\"text\"" } else { "" },
            escape(if name.is_empty() { "contender" } else { name })
        )
    };
    let head: String = answer.head.iter().zip(&is_text).map(column).collect();
    let rows: String = answer.rows.iter().map(|row| table_row(answer, row, &is_text)).collect();
    format!(
        "<details class=\"card\"><summary><h2>{}</h2></summary><div class=\"wide\"><table \
         class=\"answer\"><thead><tr>{head}</tr></thead>\n\
         <tbody>{rows}</tbody></table></div>{notes}</details>\n",
        escape(&answer.question)
    )
}

/// Returns true if a cell is a sentence. The reason for a missing number is not part of a column.
fn is_long(cell: &str) -> bool {
    cell.len() > 28 && !is_reason(cell)
}

/// Returns a row. A reason for missing numbers takes the cells that it explains.
fn table_row(answer: &Answer, row: &[String], is_text: &[bool]) -> String {
    let mut text =
        format!("<tr><th scope=\"row\">{}</th>", escape(row.first().map_or("", |name| name)));
    let mut at = 1;
    while at < answer.head.len() {
        let cell = row.get(at).map_or("", String::as_str);
        let empty = |&at: &usize| row.get(at).is_none_or(String::is_empty);
        let span = match is_reason(cell) {
            true => 1 + (at + 1..answer.head.len()).take_while(empty).count(),
            false => 1,
        };
        let class = if span > 1 || is_text[at] || is_long(cell) { " class=\"text\"" } else { "" };
        let wide = if span > 1 { format!(" colspan=\"{span}\"") } else { String::new() };
        let name = escape(&answer.head[at]);
        let _ = write!(text, "<td{class}{wide} data-name=\"{name}\">{}</td>", escape(cell));
        at += span;
    }
    text + "</tr>\n"
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
        let footer = match self.0.cpu {
            Some(_) => FOOTER.replacen(
                "without processor time",
                "without processor time, except in the tables with a processor",
                1,
            ),
            None => FOOTER.to_string(),
        };
        let who: Vec<_> = self.0.entries.iter().map(|entry| entry.facts.name.as_str()).collect();
        Paper {
            brand: "compare",
            title: "Side by side",
            headline: &self.headline(),
            leads: self
                .without_promise()
                .into_iter()
                .chain([
                    format!(
                        "{}: the same cases, the same clock, the same power cuts, on the same \
                     simulated chips.",
                        who.join("; ")
                    ),
                    format!(
                        "Seed {}; rates from {} to {}.",
                        self.0.seed,
                        format_rate(1e3),
                        format_rate(1e7)
                    ),
                ])
                .collect(),
            body,
            footer: &footer,
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
