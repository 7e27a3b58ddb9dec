//! A chip in a few lines of text, for those who follow a walk.

use super::chip::{Cell, Kind, Page};
use super::state::State;
use std::fmt::Write;

impl State {
    /// The ring, a line for each block; the log, a line for each head; what was acknowledged.
    pub fn picture(&self) -> String {
        let mut text = String::new();
        for (block, pages) in self.chip.ring.iter().enumerate().filter(|(_, pages)| !pages.is_empty()) {
            let pages: Vec<String> = pages.iter().map(page).collect();
            let _ = writeln!(text, "  ring {block}: {}", pages.join(" "));
        }
        for (head, places) in self.chip.log.iter().enumerate() {
            let records = places.iter().filter(|(_, record)| record.cell != Cell::Gone);
            let records: Vec<String> = records
                .map(|(place, record)| format!("@{place}:s{} v{} n{}{}", record.sequence, record.value, record.name, mark(record.cell)))
                .collect();
            let _ = writeln!(text, "  head {head}: {}", records.join(" "));
        }
        let _ = write!(text, "  {:?}", self.promise);
        text
    }
}

fn page(page: &Page) -> String {
    let root = &page.root;
    let closed = if root.closed { "c" } else { "" };
    let kind = match page.kind {
        Kind::Root => format!("R{}.{}<{}[s{} {:?}]{closed}", root.number, page.part, root.before, root.sequence, root.heads),
        Kind::First => format!("S{}.{}", root.number, page.part),
        Kind::Second => format!("T{}.{}", root.number, page.part),
        Kind::Copy(head) => format!("K{}.{head}", root.number),
        Kind::Mark => "mark".into(),
        Kind::Nothing => "-".into(),
    };
    kind + mark(page.cell)
}

fn mark(cell: Cell) -> &'static str {
    match cell {
        Cell::Whole => "",
        Cell::Unsteady => "~",
        Cell::Weak => "?",
        Cell::Wild => "*",
        Cell::Lost => "!",
        Cell::Gone => "-",
    }
}
