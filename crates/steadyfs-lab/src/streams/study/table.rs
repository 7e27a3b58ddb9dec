//! The study as text.

use super::case::{PLAIN, STEADYFS};
use super::figures::LESS_PERCENT;
use super::rows::less_or_more;
use super::{Finding, Run, Study};
use crate::streams::Writes;
use crate::table::{Align, table};
use std::fmt::{self, Write};

/// Maximum letters of a line.
const WIDTH: usize = 100;
/// Spaces before a sentence.
const INDENT: usize = 2;

impl Study {
    /// Returns the rows by their part.
    pub fn parts(&self) -> Vec<(&str, Vec<&Finding>)> {
        let mut parts: Vec<(&str, Vec<&Finding>)> = Vec::new();
        for finding in &self.findings {
            match parts.last_mut() {
                Some((part, findings)) if *part == finding.part => findings.push(finding),
                _ => parts.push((&finding.part, vec![finding])),
            }
        }
        parts
    }

    /// Returns the change of the write amplification by three streams, as a sentence: in the paper,
    /// on the plain layer and on SteadyFS.
    pub fn sentence(&self) -> String {
        let gains = |system: &str, writes: Writes| -> Vec<f64> {
            let of = |run: &Run, ids: u8| {
                run.system == system
                    && run.writes == writes.name()
                    && run.ids == ids
                    && !run.moved_apart
            };
            let gain = |one: &Run| {
                let three = self.runs.iter().find(|run| of(run, 3) && run.fill == one.fill)?;
                Some(1.0 - three.amplification / one.amplification)
            };
            self.runs.iter().filter(|run| of(run, 1)).filter_map(gain).collect()
        };
        let kinds = [("in order", Writes::Sequential), ("at random", Writes::Random)];
        let kind = |(name, writes)| {
            let [plain, steadyfs] = [PLAIN, STEADYFS].map(|system| gains(system, writes));
            (!plain.is_empty() && !steadyfs.is_empty()).then(|| {
                format!(
                    "jobs {name} program {} on a plain layer, {} on SteadyFS",
                    less_or_more(&plain),
                    less_or_more(&steadyfs)
                )
            })
        };
        let measured: Vec<String> = kinds.into_iter().filter_map(kind).collect();
        if measured.is_empty() {
            return "Streams in an eMMC: each number of a paper, measured again.".to_string();
        }
        format!(
            "Three streams in place of one: {}; the paper has {LESS_PERCENT:.0} % less.",
            measured.join("; ")
        )
    }

    /// Returns the sources and the runs, in sentences.
    pub fn lead(&self) -> [String; 2] {
        [
            "The three jobs, \"2X, 101X & 709X\" in the paper's table 1, are read in two ways: as \
             sizes of three regions that are written equally often, and as write rates of three \
             regions of equal size. \"figure alone\": the paper's text has no number."
                .to_string(),
            format!("{}; seed {}.", self.scale, self.seed),
        ]
    }
}

/// Prints the tables, with a sentence below each row or group of rows that it explains.
impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wrapped(&self.sentence(), 0))?;
        f.write_str(
            "Enhancing eMMC using Multi-Stream technique (2019), and our measurements\n\n",
        )?;
        for sentence in self.lead() {
            f.write_str(&wrapped(&sentence, 0))?;
        }
        for (part, findings) in self.parts() {
            let mut rows =
                vec![[part, "Paper", "Plain layer", "SteadyFS"].map(String::from).to_vec()];
            rows.extend(findings.iter().map(|row| {
                [&row.what, &row.paper, &row.plain, &row.steadyfs].map(String::from).to_vec()
            }));
            let text = table(&rows, &[Align::Left, Align::Right, Align::Right, Align::Right]);
            f.write_char('\n')?;
            for (index, line) in text.lines().enumerate() {
                writeln!(f, "{line}")?;
                let Some(at) = index.checked_sub(2) else { continue };
                let why = &findings[at].why;
                if !why.is_empty() && findings.get(at + 1).is_none_or(|next| next.why != *why) {
                    f.write_str(&wrapped(why, INDENT))?;
                }
            }
        }
        Ok(())
    }
}

/// Breaks text into lines that are not too long, each with `indent` spaces before it.
fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > WIDTH {
            let _ = writeln!(lines, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line.push(' ');
    }
    lines + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words() {
        let text = wrapped(&"word ".repeat(45), 2);
        assert_eq!(text.split_whitespace().count(), 45);
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH && line.starts_with("  word"))
        );
    }
}
