//! The comparison as tables of text: one for each question, and one for each case.

use crate::result::{Board, Comparison, Entry, Outcome};
use std::fmt;
use steadyfs_lab::backlog::{Load, buffer_text};
use steadyfs_lab::bench::Figures;
use steadyfs_lab::table::{Align, paragraph, table};
use steadyfs_lab::units::{format_count, format_duration, format_rate, format_size};

/// Rates for which tables show the RAM, in bytes per second.
pub const RATES: [u64; 4] = [100_000, 501_187, 1_000_000, 1_995_262];

/// A table: its question, its columns and its rows.
pub struct Answer {
    /// The question.
    pub question: String,
    /// Names of the columns; the first column names the contender.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// Contenders of the rows, as `steady compare` takes them to measure the rows again.
    pub ids: Vec<String>,
    /// The cases of all rows, as `steady compare` takes them.
    pub cases: &'static str,
}

impl Answer {
    /// Returns a table without rows.
    pub fn new(question: &str, cases: &'static str, head: &[&str]) -> Answer {
        let head = head.iter().map(ToString::to_string).collect();
        Answer { question: question.to_string(), head, rows: Vec::new(), ids: Vec::new(), cases }
    }

    fn push(&mut self, entry: &Entry, row: Vec<String>) {
        self.rows.push(row);
        self.ids.push(entry.facts.id.clone());
    }
}

/// Returns the text for a contender without figures of a case, with the reason.
pub fn reason(outcome: Option<&Outcome>) -> String {
    match outcome {
        None => "not measured".to_string(),
        Some(outcome) => match (&outcome.row.failed, &outcome.row.skipped) {
            (Some(reason), _) => format!("failed: {reason}"),
            (_, Some(reason)) => format!("not: {reason}"),
            _ => "not measured".to_string(),
        },
    }
}

/// Returns the RAM that a rate needs, as text.
pub fn need(outcome: &Outcome, rate: u64) -> String {
    let need = outcome.needs.iter().find(|need| need.rate == rate);
    let mean = outcome.row.figures.as_ref().map_or(0.0, |figures| 4096e6 / figures.mean_us);
    buffer_text(
        need.and_then(|need| need.bytes),
        need.is_some_and(|need| need.grows),
        Load::of_mean(mean, rate),
    )
}

/// Formats microseconds.
pub fn duration(us: f64) -> String {
    format_duration(us * 1e3)
}

/// Returns the bytes that can be written until the first block is worn out, at the current wear.
pub fn life_bytes(figures: &Figures, payload_bytes: u64, endurance_erases: u32) -> f64 {
    (figures.calls * payload_bytes) as f64 * f64::from(endurance_erases)
        / f64::from(figures.wear.max.max(1))
}

impl Comparison {
    /// Returns the tables of a board, in the order of the questions.
    pub fn answers(&self, board: &Board) -> Vec<Answer> {
        vec![
            self.waits(board),
            self.rates_of(board),
            self.cut(board),
            self.lives(board),
            self.memory(board),
        ]
    }

    /// Returns the contenders on a board. Absent contenders are included, with the reason.
    fn on<'c>(
        &'c self,
        board: &'c Board,
    ) -> impl Iterator<Item = (&'c Entry, &'c crate::result::Standing)> {
        self.entries
            .iter()
            .filter_map(|entry| entry.on(&board.id).map(|standing| (entry, standing)))
    }

    /// Returns the table of durable overwrites.
    fn waits(&self, board: &Board) -> Answer {
        let mut answer = Answer::new(
            "How long may my data wait? Durable overwrites of 4,096 B at random places, 80 % full",
            "random-4096",
            &[
                "",
                "promised",
                "longest",
                "p99",
                "mean",
                "rate",
                "written / payload",
                "erases a call",
                "refused",
            ],
        );
        for (entry, standing) in self.on(board) {
            let mut row = vec![entry.facts.name.clone()];
            match (&standing.absent, standing.figures("random-4096")) {
                (Some(reason), _) => row.push(format!("not: {reason}")),
                (None, Some(figures)) => {
                    let calls = figures.calls.max(1) as f64;
                    let all = figures.calls + figures.refused;
                    row.extend([
                        figures.bound_us.map_or("nothing".to_string(), duration),
                        duration(figures.max_us),
                        duration(figures.p99_us),
                        duration(figures.mean_us),
                        figures.bytes_per_s.map_or(String::new(), format_rate),
                        format!("{:.1}", figures.programmed_bytes as f64 / calls / 4096.0),
                        format!("{:.2}", figures.erases as f64 / calls),
                        if figures.refused == 0 {
                            "none".to_string()
                        } else {
                            format!("{:.0} %", 100.0 * figures.refused as f64 / all as f64)
                        },
                    ]);
                }
                (None, None) => row.push(reason(standing.outcome("random-4096"))),
            }
            answer.push(entry, row);
        }
        answer
    }

    /// Returns the table of RAM against the rate.
    fn rates_of(&self, board: &Board) -> Answer {
        let mut answer = Answer::new(
            "How much RAM does a rate need in front of these overwrites?",
            "random-4096",
            &["", "RAM of its own"],
        );
        answer.head.extend(RATES.map(|rate| format_rate(rate as f64)));
        for (entry, standing) in self.on(board).filter(|(_, standing)| standing.absent.is_none()) {
            let mut row = vec![entry.facts.name.clone(), format_size(standing.ram_bytes)];
            match standing.outcome("random-4096").filter(|outcome| !outcome.needs.is_empty()) {
                Some(outcome) => row.extend(RATES.map(|rate| need(outcome, rate))),
                None => row.push(reason(standing.outcome("random-4096"))),
            }
            answer.push(entry, row);
        }
        answer
    }

    /// Returns the table of power cuts.
    fn cut(&self, board: &Board) -> Answer {
        let mut answer = Answer::new(
            "What survives a brown-out? Durable calls; power is cut in a random operation of the \
             chip and leaves it torn",
            "cuts",
            &["", "cuts", "lost", "torn", "unusable", "illegal", "first", "contract"],
        );
        for (entry, standing) in self.on(board).filter(|(_, standing)| standing.absent.is_none()) {
            let mut row = vec![entry.facts.name.clone()];
            match &standing.cuts {
                Some(cuts) => row.extend([
                    format_count(cuts.cuts.into()),
                    cuts.lost.to_string(),
                    cuts.torn.to_string(),
                    cuts.unusable.to_string(),
                    cuts.illegal.to_string(),
                    cuts.first.clone().unwrap_or_else(|| "nothing".to_string()),
                    entry.facts.contract.clone(),
                ]),
                None if entry.facts.is_file_system() => row.push("not measured".to_string()),
                None => row.push("no file system".to_string()),
            }
            answer.push(entry, row);
        }
        answer
    }

    /// Returns the table of wear.
    fn lives(&self, board: &Board) -> Answer {
        let mut answer = Answer::new(
            "How long will the chip live? Bytes until the most worn block reaches its last erase",
            "wear-random,wear-log",
            &["", "4 KiB at random, 80 % full", "worn / mean", "log of 512 B", "worn / mean"],
        );
        for (entry, standing) in self.on(board).filter(|(_, standing)| standing.absent.is_none()) {
            let mut row = vec![entry.facts.name.clone()];
            for (case, payload) in [("wear-random", 4096), ("wear-log", 512)] {
                match standing.figures(case) {
                    Some(figures) => row.extend([
                        format_size(life_bytes(figures, payload, board.endurance_erases) as u64),
                        format!("{:.2}", f64::from(figures.wear.max) / figures.wear.mean),
                    ]),
                    None => row.extend([reason(standing.outcome(case)), String::new()]),
                }
            }
            answer.push(entry, row);
        }
        answer
    }

    /// Returns the table of room and RAM.
    fn memory(&self, board: &Board) -> Answer {
        let mut answer = Answer::new(
            "How much of the chip is mine?",
            "open",
            &["", "usable", "share", "RAM of its own"],
        );
        for (entry, standing) in self.on(board).filter(|(_, standing)| standing.absent.is_none()) {
            let share = 100.0 * standing.usable_bytes as f64 / board.size_bytes as f64;
            let (usable, ram) =
                (format_size(standing.usable_bytes), format_size(standing.ram_bytes));
            answer
                .push(entry, vec![entry.facts.name.clone(), usable, format!("{share:.1} %"), ram]);
        }
        answer
    }

    /// Returns mean and longest call of each case, in a column for each contender.
    pub fn cases(&self, board: &Board) -> Answer {
        let on: Vec<_> = self.on(board).filter(|(_, standing)| standing.absent.is_none()).collect();
        let mut answer =
            Answer::new("Every case: mean / longest of a call, or its rate", "", &["case"]);
        answer.head.extend(on.iter().map(|(entry, _)| entry.facts.name.clone()));
        let Some((_, first)) = on.first() else { return answer };
        for outcome in &first.outcomes {
            let case = &outcome.row.case;
            let mut row = vec![case.clone()];
            row.extend(on.iter().map(|(_, standing)| match standing.figures(case) {
                Some(figures) => cell(figures),
                None => reason(standing.outcome(case)),
            }));
            answer.rows.push(row);
        }
        answer
    }
}

/// Formats a case in a few letters.
fn cell(figures: &Figures) -> String {
    let times = format!("{} / {}", duration(figures.mean_us), duration(figures.max_us));
    let rate =
        figures.bytes_per_s.map_or(String::new(), |rate| format!(" · {}", format_rate(rate)));
    let refused = if figures.refused == 0 {
        String::new()
    } else {
        format!(" · {} refused", format_count(figures.refused))
    };
    times + &rate + &refused
}

/// Maximum letters of a cell in a terminal. A column with a longer text is a list below the table.
const CELL_MAX: usize = 24;

impl Answer {
    /// Returns the answer for a terminal: a table of the numbers, then the texts. Each text begins
    /// with the name of its contender.
    fn text(mut self) -> String {
        let mut text = paragraph(&self.question, 0) + "\n";
        // A reason why there is no number stands below the table. A row without any number is not
        // in the table.
        let mut reasons = Texts::default();
        for row in &mut self.rows {
            let (name, cells) = row.split_first_mut().expect("a row has a name");
            for cell in cells.iter_mut().filter(|cell| is_reason(cell)) {
                reasons.push(cell, name);
                *cell = "–".to_string();
            }
        }
        self.rows.retain(|row| row.iter().skip(1).any(|cell| !["", "–"].contains(&cell.as_str())));
        let mut lists = String::new();
        for column in (1..self.head.len()).rev() {
            let is_long = |row: &Vec<String>| {
                row.get(column).is_some_and(|cell| cell.chars().count() > CELL_MAX)
            };
            if self.rows.iter().any(is_long) {
                let mut texts = Texts::default();
                for row in self.rows.iter_mut().filter(|row| row.len() > column) {
                    let cell = row.remove(column);
                    texts.push(&cell, &row[0]);
                }
                let name = self.head.remove(column);
                lists = format!("{}:\n{}{lists}", capital(&name), texts.lines());
            }
        }
        if !self.rows.is_empty() {
            let align = vec![Align::Left; self.head.len()];
            let rows: Vec<_> = std::iter::once(self.head).chain(self.rows).collect();
            text += &table(&rows, &align);
        }
        text + &lists + &reasons.lines()
    }
}

/// Texts, each with the names that it is about.
#[derive(Default)]
struct Texts(Vec<(String, Vec<String>)>);

impl Texts {
    fn push(&mut self, text: &str, name: &str) {
        match self.0.iter_mut().find(|(known, _)| known == text) {
            Some((_, names)) if names.last().is_some_and(|last| last == name) => {}
            Some((_, names)) => names.push(name.to_string()),
            None => self.0.push((text.to_string(), vec![name.to_string()])),
        }
    }

    /// Returns a line for each text: its names, and then the text.
    fn lines(&self) -> String {
        let line = |(text, names): &(String, Vec<String>)| {
            paragraph(&format!("  {}: {text}", names.join("; ")), 4) + "\n"
        };
        self.0.iter().map(line).collect()
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns true if a cell has the reason why there is no number.
pub fn is_reason(cell: &str) -> bool {
    ["not: ", "failed: ", "not measured", "no file system"]
        .iter()
        .any(|begin| cell.starts_with(begin))
}

/// Formats one number of a case; `None` if the case does not have it.
type Number = fn(&Figures) -> Option<String>;

/// The numbers of each case that a table shows, with the titles of the tables.
const NUMBERS: [(&str, Number); 3] = [
    ("Every case: mean time of a call", |figures| Some(duration(figures.mean_us))),
    ("Every case: longest call", |figures| Some(duration(figures.max_us))),
    ("Every case: rate", |figures| figures.bytes_per_s.map(format_rate)),
];

impl Comparison {
    /// Returns the cases of a board as tables of one number each. A cell without a number is a
    /// dash; [`case_notes`](Self::case_notes) has the reason.
    pub fn case_tables(&self, board: &Board) -> Vec<Answer> {
        let on: Vec<_> = self.on(board).filter(|(_, standing)| standing.absent.is_none()).collect();
        let Some((_, first)) = on.first() else { return Vec::new() };
        let table = |(title, number): (&str, Number)| {
            let mut answer = Answer::new(title, "", &["case"]);
            answer.head.extend(on.iter().map(|(entry, _)| entry.facts.name.clone()));
            for outcome in &first.outcomes {
                let case = &outcome.row.case;
                let cells = on.iter().map(|(_, standing)| {
                    standing.figures(case).and_then(number).unwrap_or_else(|| "–".to_string())
                });
                answer.rows.push(std::iter::once(case.clone()).chain(cells).collect());
            }
            answer.rows.retain(|row| row.iter().skip(1).any(|cell| cell != "–"));
            answer
        };
        NUMBERS.into_iter().map(table).filter(|answer| !answer.rows.is_empty()).collect()
    }

    /// Returns the reasons for missing numbers, and the refused calls, a sentence for each.
    pub fn case_notes(&self, board: &Board) -> Vec<String> {
        let mut notes = Vec::new();
        for (entry, standing) in self.on(board).filter(|(_, standing)| standing.absent.is_none()) {
            let name = &entry.facts.name;
            let (mut without, mut refused) = (Texts::default(), Vec::new());
            for case in standing.outcomes.iter().map(|outcome| outcome.row.case.as_str()) {
                match standing.figures(case) {
                    Some(figures) if figures.refused > 0 => {
                        refused.push(format!("{} in {case}", format_count(figures.refused)));
                    }
                    Some(_) => {}
                    None => without.push(&reason(standing.outcome(case)), case),
                }
            }
            notes.extend(
                without.0.iter().map(|(why, cases)| format!("{name}, {}: {why}", cases.join(", "))),
            );
            if !refused.is_empty() {
                notes.push(format!("{name}, refused calls: {}", refused.join(", ")));
            }
        }
        notes
    }

    /// Returns the cases of a board for a terminal.
    fn cases_text(&self, board: &Board) -> String {
        let table = |answer: Answer| {
            let align = vec![Align::Left; answer.head.len()];
            let rows: Vec<_> = std::iter::once(answer.head).chain(answer.rows).collect();
            format!("{}\n{}\n", answer.question, table(&rows, &align))
        };
        let notes = self.case_notes(board).into_iter().map(|note| paragraph(&note, 2) + "\n");
        let totals = self.totals(board).map(table);
        let places = self.places_text(board).map(|places| paragraph(&places, 0) + "\n");
        self.case_tables(board)
            .into_iter()
            .map(table)
            .chain(notes)
            .chain(totals)
            .chain(places)
            .collect()
    }
}

/// Prints everything for people.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for board in &self.boards {
            writeln!(f, "{}\n", paragraph(&board.title_with_times(), 2))?;
            for answer in self.answers(board) {
                if !answer.rows.is_empty() {
                    writeln!(f, "{}", answer.text())?;
                }
            }
            writeln!(f, "{}", self.cases_text(board))?;
        }
        let kept: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| entry.kept)
            .map(|entry| entry.facts.name.as_str())
            .collect();
        if !kept.is_empty() {
            writeln!(
                f,
                "{}",
                paragraph(&format!("Measured earlier and kept: {}.", kept.join("; ")), 2)
            )?;
        }
        writeln!(
            f,
            "Seed {}. Times are chip times{}. A case ends after {} s of chip time at the latest.",
            self.seed,
            if self.cpu.is_some() { ", except in the tables with a processor" } else { "" },
            self.patience_s
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_stand_below_the_table_with_their_names() {
        let reason = "not: its crate looks through a directory for a short name again and again";
        let contract = "every acknowledged durable write is kept, and an interrupted call is whole";
        let rows = [
            ["SteadyFS", "1 ms", "2 ms", contract],
            ["another", "3 ms", "4 ms", contract],
            ["b", reason, "", ""],
            ["c", reason, "", ""],
        ]
        .map(|row| row.map(str::to_string).to_vec());
        let head = ["", "mean", "longest", "contract"].map(str::to_string).to_vec();
        let answer = Answer {
            question: "How long?".into(),
            head,
            rows: rows.to_vec(),
            ids: Vec::new(),
            cases: "",
        };
        assert_eq!(
            answer.text(),
            format!(
                "How long?\n          mean  longest\n────────  ────  ───────\n\
                 SteadyFS  1 ms  2 ms\nanother   3 ms  4 ms\n\
                 Contract:\n  SteadyFS; another: {contract}\n  b; c: {reason}\n"
            )
        );
    }
}
