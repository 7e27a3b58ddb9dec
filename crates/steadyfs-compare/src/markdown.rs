//! The comparison as a page in Markdown.

use crate::result::Comparison;
use crate::table::Answer;
use std::fmt::Write;

const HEAD: &str = "\
# Results: SteadyFS beside its peers

Measured on simulated chips with the datasheet's typical times. All times are chip times, without
processor time. [`contenders.md`](contenders.md) has the set-up of each contender, the meaning of
the columns, and the commands that measure everything again.

`cargo run --release -- compare --kept --report compare.html` shows the same results as figures,
with a slider for the rate.
";

impl Comparison {
    /// Returns the page.
    pub fn markdown(&self) -> String {
        let mut page = match self.cpu {
            Some(_) => HEAD.replacen(
                "processor time.",
                "processor time, except in the tables with a processor.",
                1,
            ),
            None => HEAD.to_string(),
        };
        let versions = self
            .entries
            .iter()
            .map(|entry| format!("{} {}", entry.facts.name, entry.facts.version));
        let versions: Vec<_> = versions.collect();
        let _ = writeln!(
            page,
            "\n{}. Seed {}; a case ends after {} s of chip time.",
            versions.join(" · "),
            self.seed,
            self.patience_s
        );
        for board in &self.boards {
            let title = match board.call_us {
                0 => board.title.clone(),
                _ => board.title_with_times(),
            };
            let _ = writeln!(page, "\n## {title}");
            for answer in self
                .answers(board)
                .iter()
                .chain([&self.cases(board)])
                .filter(|answer| !answer.rows.is_empty())
            {
                let _ = write!(page, "\n### {}\n\n{}", answer.question, table(answer));
            }
            if let (Some(totals), Some(places)) = (self.totals(board), self.places_text(board)) {
                let _ = write!(page, "\n### {}\n\n{}", totals.question, table(&totals));
                let _ = writeln!(page, "\n{places}");
            }
            let _ = writeln!(
                page,
                "\n\
                 `steady compare` with `{}` measures this board again. With \
                 `--contender NAME --case NAME`,\n\
                 it measures one cell.",
                board.options()
            );
        }
        page
    }
}

/// Returns a table in Markdown. Short rows are filled up.
fn table(answer: &Answer) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&mut answer.head.iter().map(String::as_str));
    text += &format!("|{}\n", "---|".repeat(answer.head.len()));
    for row in &answer.rows {
        text += &line(&mut (0..answer.head.len()).map(|at| row.get(at).map_or("", String::as_str)));
    }
    text
}
