//! Processor time in addition to flash time, for the cases with kept counts of instructions.

use crate::counts::{Counts, Processor};
use crate::cpu::Cpu;
use crate::result::{Board, Comparison, Outcome};
use crate::table::{Answer, duration};

/// Places of a contender in the cases of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Cases with counts of SteadyFS and another contender.
    pub cases: u32,
    /// Cases in which SteadyFS has the shortest mean flash time.
    pub first_by_flash: u32,
    /// Cases in which it has the shortest mean total time.
    pub first_by_total: u32,
}

impl Comparison {
    /// Adds processor time to each case that has a count.
    pub fn add_processor(&mut self, cpu: Cpu) {
        let counts = Counts::kept();
        for entry in &mut self.entries {
            for standing in &mut entry.standings {
                let count = |case: &str| counts.of(&entry.facts.id, &standing.board, case);
                for outcome in &mut standing.outcomes {
                    let Some(figures) = &outcome.row.figures else { continue };
                    if outcome.row.failed.is_some() {
                        continue;
                    }
                    outcome.processor = count(&outcome.row.case).map(|count| {
                        let mean_us = cpu.time_us(count.mean);
                        let total_us = figures.mean_us + mean_us;
                        Processor { instructions: count.mean, mean_us, total_us }
                    });
                }
            }
        }
        self.cpu = Some(cpu);
    }

    /// Returns the places of SteadyFS on a board.
    pub fn places(&self, board: &Board) -> Places {
        let mut places = Places::default();
        for ranks in self.cases_of(board).iter().filter_map(|case| self.ranks(board, case)) {
            places.cases += 1;
            places.first_by_flash += u32::from(ranks.by_flash == "SteadyFS");
            places.first_by_total += u32::from(ranks.by_total == "SteadyFS");
        }
        places
    }

    /// Returns the cases of a board, in the order of tables.
    fn cases_of(&self, board: &Board) -> Vec<String> {
        let first = self
            .entries
            .iter()
            .find_map(|entry| entry.on(&board.id).filter(|standing| standing.absent.is_none()));
        let name = |outcome: &Outcome| outcome.row.case.clone();
        first.map_or(Vec::new(), |standing| standing.outcomes.iter().map(name).collect())
    }

    /// Returns the shortest mean times of a case. None if SteadyFS or all others have no count.
    fn ranks(&self, board: &Board, case: &str) -> Option<Ranks<'_>> {
        let times: Vec<_> = self
            .entries
            .iter()
            .filter_map(|entry| {
                let standing = entry.on(&board.id)?;
                let flash_us = standing.figures(case)?.mean_us;
                let total_us = standing.outcome(case)?.processor?.total_us;
                Some((entry.facts.name.as_str(), flash_us, total_us))
            })
            .collect();
        if times.len() < 2 || !times.iter().any(|(name, ..)| *name == "SteadyFS") {
            return None;
        }
        Some(Ranks {
            by_flash: times.iter().min_by(|one, other| one.1.total_cmp(&other.1))?.0,
            by_total: times.iter().min_by(|one, other| one.2.total_cmp(&other.2))?.0,
        })
    }

    /// Returns the table of flash and processor time of a board. None without a processor.
    pub fn totals(&self, board: &Board) -> Option<Answer> {
        let cpu = self.cpu.as_ref()?;
        let on: Vec<_> = self
            .entries
            .iter()
            .filter_map(|entry| Some((entry, entry.on(&board.id)?)))
            .filter(|(entry, standing)| standing.absent.is_none() && entry.facts.is_file_system())
            .collect();
        let question = format!("Every case: mean flash and processor time of a call, {cpu}");
        let mut answer = Answer::new(&question, "", &["case"]);
        answer.head.extend(on.iter().map(|(entry, _)| entry.facts.name.clone()));
        answer.head.extend(["first by flash", "first by total"].map(str::to_string));
        for case in self.cases_of(board) {
            let cells = on.iter().map(|(_, standing)| match standing.outcome(&case) {
                Some(Outcome { processor: Some(processor), .. }) => duration(processor.total_us),
                _ if standing.figures(&case).is_some() => "no count".to_string(),
                _ => "–".to_string(),
            });
            let ranks = self.ranks(board, &case);
            let first = match &ranks {
                Some(ranks) => [ranks.by_flash, ranks.by_total].map(str::to_string),
                None => ["–".to_string(), "–".to_string()],
            };
            answer.rows.push(std::iter::once(case.clone()).chain(cells).chain(first).collect());
        }
        Some(answer)
    }

    /// Returns the places of SteadyFS on a board as a sentence. None without a processor.
    pub fn places_text(&self, board: &Board) -> Option<String> {
        self.cpu.as_ref()?;
        let Places { cases, first_by_flash, first_by_total } = self.places(board);
        Some(format!(
            "SteadyFS has the shortest mean flash time in {first_by_flash} and the shortest mean \
             total time in {first_by_total} of {cases} cases with counts of SteadyFS and another \
             contender. Cells with \"no count\" have flash time alone, in the tables above."
        ))
    }
}

/// The contenders with the shortest mean times of a case.
struct Ranks<'c> {
    by_flash: &'c str,
    by_total: &'c str,
}
