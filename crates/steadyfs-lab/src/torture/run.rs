//! One run, and the string that replays it.

use super::BadInput;
use super::fault::Fault;
use super::volume::Volume;
use super::workload::Workload;
use std::fmt;
use std::str::FromStr;
use steadyfs_sim::Torn;

/// Version of the strings. It changes if the same string would mean another run.
const VERSION: &str = "t1";

/// Everything that decides a run. The same run gives the same outcome with the same version of this
/// library.
///
/// Its text has fields between dashes:
///
/// - version, volume, workload
/// - `s` and the seed, `n` and the number of steps, `a` and the number of steps after each cut
/// - `x` and ranges of steps that are left out, faults, and `c` and cuts
///
/// A cut is the number of the operation since power came back, and the state in which it leaves the
/// page. `t1-n256x16x32u1t6o46k16-log-s7-n40-a5-c12g.3m` cuts power in the 12th program or erase,
/// which garbles its page, and again in the third operation after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The volume.
    pub volume: Volume,
    /// Workload on the volume.
    pub workload: Workload,
    /// Seed of the volume's past and of the workload.
    pub seed: u64,
    /// Number of steps of the workload that are drawn.
    pub steps: usize,
    /// Number of steps of the volume's life after each cut.
    pub after: usize,
    /// Ranges of steps that are left out, ascending.
    pub left_out: Vec<Span>,
    /// Faults beside the cuts.
    pub faults: Vec<Fault>,
    /// Cuts, one after another.
    pub cuts: Vec<Cut>,
}

/// Steps from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first step.
    pub first: usize,
    /// The last step.
    pub last: usize,
}

/// A power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of the program, copy or erase that it meets. It counts from 1 at the start of the
    /// mount.
    pub operation: u64,
    /// State that it leaves.
    pub torn: Torn,
}

/// Letters for the states that a cut leaves.
const LETTERS: [(Torn, char); 5] = [
    (Torn::Old, 'o'),
    (Torn::Garbled, 'g'),
    (Torn::Metastable, 'm'),
    (Torn::Unstable, 'u'),
    (Torn::New, 'n'),
];

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter =
            LETTERS.iter().find(|(torn, _)| *torn == self.torn).map_or('?', |(_, letter)| *letter);
        write!(f, "{}{letter}", self.operation)
    }
}

impl FromStr for Cut {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let wrong = || {
            BadInput(format!(
                "cut {text:?}: expected an operation from 1 on and o (old), g (garbled), m \
                 (metastable), u (unstable) or n (new), such as 12g"
            ))
        };
        let letter = text.chars().last().ok_or_else(wrong)?;
        let (torn, _) = LETTERS.iter().find(|(_, c)| *c == letter).ok_or_else(wrong)?;
        let operation = text[..text.len() - letter.len_utf8()].parse().map_err(|_| wrong())?;
        if operation == 0 { Err(wrong()) } else { Ok(Self { operation, torn: *torn }) }
    }
}

impl Run {
    /// Returns true if a step is left out.
    pub(super) fn leaves_out(&self, step: usize) -> bool {
        self.left_out.iter().any(|span| (span.first..=span.last).contains(&step))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}_{}", self.first, self.last)
        }
    }
}

impl FromStr for Span {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let (first, last) = text.split_once('_').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(BadInput(format!(
                "steps {text:?} to leave out: expected a number, or two with _ between, such as 3_9"
            ))),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{VERSION}-{}-{}-s{}-n{}-a{}",
            self.volume, self.workload, self.seed, self.steps, self.after
        )?;
        list(f, "-x", &self.left_out)?;
        list(f, "-", &self.faults)?;
        list(f, "-c", &self.cuts)
    }
}

/// Writes a field of several values, if there are any.
fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, start: &str, values: &[T]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if index == 0 { start } else { "." })?;
    }
    Ok(())
}

/// Reads a field of several values.
fn values<T: FromStr<Err = BadInput>>(text: &str) -> Result<Vec<T>, BadInput> {
    text.split('.').map(str::parse).collect()
}

impl FromStr for Run {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let wrong = |what: &str| BadInput(format!("replay {text:?}: {what}"));
        let mut fields = text.trim().split('-');
        match fields.next() {
            Some(VERSION) => {}
            Some(version) if version.starts_with('t') && version[1..].parse::<u32>().is_ok() => {
                return Err(wrong(&format!(
                    "its version is {version}; this command replays {VERSION}"
                )));
            }
            _ => {
                return Err(wrong(
                    "expected a string such as t1-n256x16x32u1t6o46k16-log-s7-n40-a5-c12g",
                ));
            }
        }
        let volume =
            fields.next().ok_or_else(|| wrong("expected a geometry after the version"))?.parse()?;
        let workload = fields
            .next()
            .ok_or_else(|| wrong("expected a workload after the geometry"))?
            .parse()?;
        let (seed, steps, after) = (0, 0, 0);
        let mut run = Self {
            volume,
            workload,
            seed,
            steps,
            after,
            left_out: Vec::new(),
            faults: Vec::new(),
            cuts: Vec::new(),
        };
        let mut number = |letter: char| {
            let field = fields.next().and_then(|field| field.strip_prefix(letter));
            let number = field.and_then(|field| field.parse::<u64>().ok());
            number
                .ok_or_else(|| wrong(&format!("expected {letter} and a number after the workload")))
        };
        run.seed = number('s')?;
        let count = |number: u64| usize::try_from(number).ok().filter(|steps| *steps <= 10_000);
        run.steps = count(number('n')?).ok_or_else(|| wrong("more than 10000 steps"))?;
        run.after =
            count(number('a')?).ok_or_else(|| wrong("more than 10000 steps after a cut"))?;
        for field in fields {
            match field.chars().next() {
                Some('c') => run.cuts = values(&field[1..])?,
                Some('x') => run.left_out = values(&field[1..])?,
                Some(_) => run.faults = values(field)?,
                None => return Err(wrong("a field is empty")),
            }
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            volume: "small-cached".parse().unwrap(),
            workload: Workload::Transactions,
            seed: 18,
            steps: 40,
            after: 5,
            left_out: vec![Span { first: 3, last: 3 }, Span { first: 7, last: 9 }],
            faults: vec![Fault::Program(7), Fault::Erase(1)],
            cuts: vec![
                Cut { operation: 12, torn: Torn::Garbled },
                Cut { operation: 3, torn: Torn::Metastable },
            ],
        }
    }

    #[test]
    fn strings_read_back() {
        let text = run().to_string();
        assert_eq!(text, "t1-c256x16x32u1t6o46k16w4-transactions-s18-n40-a5-x3.7_9-p7.e1-c12g.3m");
        assert_eq!(text.parse::<Run>().unwrap(), run());
        let plain = Run { left_out: vec![], faults: vec![], cuts: vec![], ..run() };
        assert_eq!(plain.to_string().parse::<Run>().unwrap(), plain);
    }

    #[test]
    fn bad_strings_say_what_was_expected() {
        let error = |text: &str| text.parse::<Run>().unwrap_err().to_string();
        let base = "t1-n256x16x32u1t6o46k16-log";
        assert!(error("").contains("expected a string such as t1-"));
        assert!(error("t9-x").contains("its version is t9; this command replays t1"));
        assert!(error("t1").contains("expected a geometry"));
        assert!(error("t1-small").contains("expected a workload"));
        assert!(error("t1-tiny-log").contains("expected one of small"));
        assert!(error(base).contains("expected s and a number"));
        assert!(error(&format!("{base}-s1-n9999999")).contains("more than 10000 steps"));
        assert!(error(&format!("{base}-s1-n4-a5-c0g")).contains("an operation from 1 on"));
        assert!(error(&format!("{base}-s1-n4-a5-c4z")).contains("o (old), g (garbled)"));
        assert!(error(&format!("{base}-s1-n4-a5-cü")).contains("o (old), g (garbled)"));
        assert!(error(&format!("{base}-s1-n4-a5-xa")).contains("expected a number, or two"));
        assert!(error(&format!("{base}-s1-n4-a5-q7")).contains("expected p"));
        assert!(error(&format!("{base}-s1-n4-a5-")).contains("a field is empty"));
    }
}
