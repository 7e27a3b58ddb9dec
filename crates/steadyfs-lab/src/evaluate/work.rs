//! The operations of an access on the chip, and their words for a figure.

use std::fmt;

/// Operations of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work {
    /// Number of page programs, without those of moves.
    pub programs: u64,
    /// Number of pages that reclamation moved.
    pub moves: u64,
    /// Number of block erases.
    pub erases: u64,
    /// Number of reads of pages and of tags alone.
    pub reads: u64,
}

impl Work {
    /// Adds the operations of another call of the same access.
    pub(super) fn add(&mut self, more: Work) {
        self.programs += more.programs;
        self.moves += more.moves;
        self.erases += more.erases;
        self.reads += more.reads;
    }

    /// Returns the same work without its reads, which take little of the time.
    #[must_use]
    pub fn without_reads(self) -> Work {
        Work { reads: 0, ..self }
    }
}

/// Prints the work as `2 programs + 1 move + erase + 3 reads`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = |count: u64, name: &str| match count {
            0 => None,
            1 => Some(format!("1 {name}")),
            _ => Some(format!("{count} {name}s")),
        };
        let erases = if self.erases == 1 {
            Some("erase".to_string())
        } else {
            several(self.erases, "erase")
        };
        let reads = several(self.reads, "read");
        let parts = [several(self.programs, "program"), several(self.moves, "move"), erases, reads];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" + ");
        f.write_str(if text.is_empty() { "nothing" } else { &text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_by_its_operations() {
        let text = |programs, moves, erases| Work { programs, moves, erases, reads: 0 }.to_string();
        assert_eq!((text(1, 0, 0), text(2, 0, 0)), ("1 program".into(), "2 programs".into()));
        assert_eq!(text(2, 1, 1), "2 programs + 1 move + erase");
        assert_eq!((text(0, 3, 2), text(0, 0, 0)), ("3 moves + 2 erases".into(), "nothing".into()));
        let read = Work { programs: 1, reads: 9, ..Work::default() };
        assert_eq!(
            (read.to_string(), read.without_reads().to_string()),
            ("1 program + 9 reads".into(), "1 program".into())
        );
    }
}
