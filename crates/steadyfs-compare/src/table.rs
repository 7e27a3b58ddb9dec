//! The comparison as tables of text: one for each question, and one for each case.

use crate::result::{Board, Comparison, Entry, Outcome};
use std::fmt;
use steadyfs_lab::backlog::{Load, buffer_text};
use steadyfs_lab::bench::Figures;
use steadyfs_lab::table::{Align, table};
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
    fn new(question: &str, cases: &'static str, head: &[&str]) -> Answer {
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

fn duration(us: f64) -> String {
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
                "mean",
                "p99",
                "longest",
                "promised",
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
                        duration(figures.mean_us),
                        duration(figures.p99_us),
                        duration(figures.max_us),
                        figures.bound_us.map_or("nothing".to_string(), duration),
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

/// Characters of a cell in a terminal. A longer text stands below the table.
const CELL_MAX: usize = 30;

/// Replaces texts that are too long for a column by numbers. Returns the notes that the numbers
/// name.
fn take_notes(rows: &mut [Vec<String>]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for cell in rows
        .iter_mut()
        .flat_map(|row| row.iter_mut().skip(1))
        .filter(|cell| cell.chars().count() > CELL_MAX)
    {
        let number = notes.iter().position(|note| note == cell).unwrap_or_else(|| {
            notes.push(cell.clone());
            notes.len() - 1
        });
        let begin = cell
            .split_once(": ")
            .map(|(begin, _)| format!("{begin} "))
            .filter(|begin| begin.len() < CELL_MAX / 2);
        *cell = format!("{}[{}]", begin.unwrap_or_default(), number + 1);
    }
    notes
}

/// Prints everything for people.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for board in &self.boards {
            writeln!(f, "{}\n", board.title_with_times())?;
            for mut answer in self.answers(board).into_iter().chain([self.cases(board)]) {
                if answer.rows.is_empty() {
                    continue;
                }
                writeln!(f, "{}", answer.question)?;
                let align = vec![Align::Left; answer.head.len()];
                let notes = take_notes(&mut answer.rows);
                let rows: Vec<_> = std::iter::once(answer.head).chain(answer.rows).collect();
                writeln!(f, "{}", table(&rows, &align).trim_end())?;
                for (number, note) in (1..).zip(notes) {
                    writeln!(f, "[{number}] {note}")?;
                }
                writeln!(f)?;
            }
        }
        let kept: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| entry.kept)
            .map(|entry| entry.facts.name.as_str())
            .collect();
        if !kept.is_empty() {
            writeln!(f, "Measured earlier and kept: {}.", kept.join(", "))?;
        }
        writeln!(
            f,
            "Seed {}. Times are chip times. A case ends after {} s of chip time at the latest.",
            self.seed, self.patience_s
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reasons_are_told_below_the_table_and_once() {
        let reason = "not: its crate looks through a directory for a short name again and again";
        let first = "file 3 is neither what it was nor what it was to be";
        let mut rows = [
            ["a name that is long, and stays where it is", "1 ms"],
            ["b", reason],
            ["c", reason],
            ["d", first],
        ]
        .map(|row| row.map(str::to_string).to_vec());
        assert_eq!(take_notes(&mut rows), [reason, first]);
        let cells = rows.map(|row| row[1].clone());
        assert_eq!(cells, ["1 ms", "not [1]", "not [1]", "[2]"]);
    }
}
