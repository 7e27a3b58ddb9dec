//! What goes wrong beside power.

use super::BadInput;
use crate::model::{Device, Rng};
use std::fmt;
use std::str::FromStr;

/// Something that goes wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The n-th program or copy of the workload fails, and its block goes bad.
    Program(u64),
    /// The n-th erase of the workload fails, and its block goes bad.
    Erase(u64),
    /// So many blocks are bad from the factory.
    FactoryBad(u32),
}

/// Kinds of faults, of which a seed draws the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Power cuts alone.
    None,
    /// Programs that fail.
    Programs,
    /// Erases that fail.
    Erases,
    /// Blocks that are bad from the factory.
    BadBlocks,
}

/// Kinds and their names.
const NAMES: [(FaultKind, &str); 4] = [
    (FaultKind::None, "none"),
    (FaultKind::Programs, "programs"),
    (FaultKind::Erases, "erases"),
    (FaultKind::BadBlocks, "bad-blocks"),
];

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::None, Self::Programs, Self::Erases, Self::BadBlocks];

    /// Draws what fails in a workload of so many operations.
    pub(super) fn draw(self, seed: u64, operations: u64) -> Vec<Fault> {
        let mut rng = Rng(seed ^ 0xFA17);
        match self {
            Self::None => Vec::new(),
            Self::Programs if rng.one_in(3) => {
                // Two that follow each other: the repetition fails, too.
                let first = 1 + rng.below(operations);
                vec![Fault::Program(first), Fault::Program(first + 1)]
            }
            Self::Programs => vec![Fault::Program(1 + rng.below(operations))],
            Self::Erases => vec![Fault::Erase(1 + rng.below(1 + operations / 16))],
            Self::BadBlocks => vec![Fault::FactoryBad(1 + rng.below(2) as u32)],
        }
    }
}

impl Fault {
    /// Plans it on a chip.
    pub(super) fn plan(self, device: &mut Device) {
        match self {
            Self::Program(n) => device.fail().fail_program(n),
            Self::Erase(n) => device.fail().fail_erase(n),
            // The chip was made so.
            Self::FactoryBad(_) => {}
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(n) => write!(f, "p{n}"),
            Self::Erase(n) => write!(f, "e{n}"),
            Self::FactoryBad(count) => write!(f, "b{count}"),
        }
    }
}

impl FromStr for Fault {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let wrong = || {
            BadInput(format!(
                "fault {text:?}: expected p (program that fails), e (erase) or b (factory bad blocks) and a number from 1 on"
            ))
        };
        let letter = text.chars().next().ok_or_else(wrong)?;
        let number: u64 = text[letter.len_utf8()..].parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
        match letter {
            'p' => Ok(Self::Program(number)),
            'e' => Ok(Self::Erase(number)),
            'b' if number <= 8 => Ok(Self::FactoryBad(number as u32)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| *name))
    }
}

impl FromStr for FaultKind {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let found = NAMES.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind);
        let names = NAMES.map(|(_, name)| name).join(", ");
        found.ok_or_else(|| BadInput(format!("fault {text:?}: expected one of {names}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_and_their_kinds_read_back() {
        for kind in FaultKind::ALL {
            assert_eq!(kind.to_string().parse::<FaultKind>().unwrap(), kind);
            for fault in kind.draw(5, 100) {
                assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
            }
        }
        assert!("fire".parse::<FaultKind>().unwrap_err().to_string().contains("expected one of none, programs"));
        assert!("p0".parse::<Fault>().unwrap_err().to_string().contains("a number from 1 on"));
    }
}
