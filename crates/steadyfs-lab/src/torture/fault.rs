//! Faults beside power cuts.

use super::BadInput;
use crate::model::{Device, Rng};
use std::fmt;
use std::str::FromStr;
use steadyfs_sim::fault::{BitErrorModel, Survivors};

/// A fault in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The n-th program or copy of the workload fails, and its block goes bad.
    Program(u64),
    /// The n-th erase of the workload fails, and its block goes bad.
    Erase(u64),
    /// This many blocks are bad from the factory.
    FactoryBad(u32),
    /// Every program and erase of a block fails.
    Block(u32),
    /// This many bits of a codeword flip on average; 64 can be corrected.
    BitFlips(u32),
    /// A cache before the chip answers first and programs later. It holds up to this many
    /// operations. A cut loses the last ones.
    WriteCache(u32),
    /// A cache like this before a device of sectors. A cut loses any part of its content.
    Reorder(u32),
    /// The chip locks itself after this many operations of the workload.
    Lock(u64),
    /// The chip reports the n-th program of the workload as done, and does not make it. No file
    /// system survives that.
    Lie(u64),
}

/// Kinds of faults. A seed draws their places.
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
    /// A block of the ring of roots, or of the second superblock, on which every program and erase
    /// fails.
    Ring,
    /// Bits that flip and can be corrected.
    BitFlips,
    /// Writes that are not flushed vanish, the last ones first.
    WriteCache,
    /// Any part of the writes that are not flushed vanishes; on managed flash only.
    Reorder,
    /// The chip refuses all further programs and erases.
    Lock,
    /// A chip that lies about a program. The torture must find the loss.
    Lie,
}

/// Kinds and their names.
const NAMES: [(FaultKind, &str); 10] = [
    (FaultKind::None, "none"),
    (FaultKind::Programs, "programs"),
    (FaultKind::Erases, "erases"),
    (FaultKind::BadBlocks, "bad-blocks"),
    (FaultKind::Ring, "ring"),
    (FaultKind::BitFlips, "bit-flips"),
    (FaultKind::WriteCache, "write-cache"),
    (FaultKind::Reorder, "reorder"),
    (FaultKind::Lock, "lock"),
    (FaultKind::Lie, "lie"),
];

/// Bits flip as soon as they are programmed, but never more than can be corrected: the model's
/// numbers end at 64. With 36 on average, one codeword in 35 has so many flips that its page must
/// be moved.
const FLIPS: BitErrorModel = BitErrorModel {
    strength: 64,
    codewords: 1,
    fresh: 36.0,
    weak_permille: 0,
    ..BitErrorModel::SLC
};

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Programs,
        Self::Erases,
        Self::BadBlocks,
        Self::Ring,
        Self::BitFlips,
        Self::WriteCache,
        Self::Reorder,
        Self::Lock,
        Self::Lie,
    ];

    /// Returns the kinds of faults of raw flash: chips without a cache of their own, which do not
    /// lie.
    pub fn of_raw_flash() -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|kind| !matches!(kind, Self::WriteCache | Self::Reorder | Self::Lie))
            .collect()
    }

    /// Draws the faults of a workload of `operations` operations, on a volume with its ring in the
    /// blocks `ring`.
    pub(super) fn draw(self, seed: u64, operations: u64, ring: &[u32]) -> Vec<Fault> {
        let mut rng = Rng(seed ^ 0xFA17);
        match self {
            Self::None => Vec::new(),
            Self::Programs if rng.one_in(3) => {
                // Two that follow each other, so that the repetition fails, too.
                let first = 1 + rng.below(operations);
                vec![Fault::Program(first), Fault::Program(first + 1)]
            }
            Self::Programs => vec![Fault::Program(1 + rng.below(operations))],
            Self::Erases => vec![Fault::Erase(1 + rng.below(1 + operations / 16))],
            Self::BadBlocks => vec![Fault::FactoryBad(1 + rng.below(2) as u32)],
            Self::Ring => {
                let drawn = ring.get(rng.below(ring.len().max(1) as u64) as usize);
                drawn.map(|block| Fault::Block(*block)).into_iter().collect()
            }
            Self::BitFlips => vec![Fault::BitFlips(30 + rng.below(12) as u32)],
            Self::WriteCache => vec![Fault::WriteCache(2 + rng.below(40) as u32)],
            Self::Reorder => vec![Fault::Reorder(2 + rng.below(40) as u32)],
            Self::Lock => vec![Fault::Lock(1 + rng.below(operations))],
            Self::Lie => vec![Fault::Lie(1 + rng.below(operations))],
        }
    }
}

impl Fault {
    /// Plans the fault on a chip.
    pub(super) fn plan(self, device: &mut Device, seed: u64) {
        match self {
            Self::BitFlips(bits) => {
                let model = BitErrorModel { fresh: f64::from(bits), ..FLIPS };
                let medium = device.medium();
                *medium = medium.clone().with_bit_errors(model, seed);
            }
            Self::WriteCache(operations) => add_cache(device, Survivors::InOrder, operations),
            Self::Reorder(operations) => add_cache(device, Survivors::Any, operations),
            Self::Lock(n) => device.fail().lock_after(n),
            Self::Block(block) => device.fail().fail_block(block),
            Self::Lie(n) => device.medium().lie_in = Some(n),
            Self::Program(n) => device.fail().fail_program(n),
            Self::Erase(n) => device.fail().fail_erase(n),
            // The chip was made with these blocks.
            Self::FactoryBad(_) => {}
        }
    }
}

fn add_cache(device: &mut Device, survivors: Survivors, operations: u32) {
    let medium = device.medium();
    *medium = medium.clone().with_write_cache(survivors, operations as usize);
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(n) => write!(f, "p{n}"),
            Self::Erase(n) => write!(f, "e{n}"),
            Self::FactoryBad(count) => write!(f, "b{count}"),
            Self::BitFlips(bits) => write!(f, "f{bits}"),
            Self::WriteCache(operations) => write!(f, "w{operations}"),
            Self::Reorder(operations) => write!(f, "r{operations}"),
            Self::Lock(n) => write!(f, "l{n}"),
            Self::Block(block) => write!(f, "k{block}"),
            Self::Lie(n) => write!(f, "z{n}"),
        }
    }
}

impl FromStr for Fault {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let wrong = || {
            BadInput(format!(
                "fault {text:?}: expected p (program that fails), e (erase), b (factory bad \
                 blocks), k (block that fails), f (flipping bits), w (write cache), r (write cache \
                 that reorders), l (lock) or z (lie) and a number from 1 on"
            ))
        };
        let letter = text.chars().next().ok_or_else(wrong)?;
        let number: u64 =
            text[letter.len_utf8()..].parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
        match letter {
            'p' => Ok(Self::Program(number)),
            'e' => Ok(Self::Erase(number)),
            'b' if number <= 8 => Ok(Self::FactoryBad(number as u32)),
            'f' if number <= 64 => Ok(Self::BitFlips(number as u32)),
            'w' if number <= 10_000 => Ok(Self::WriteCache(number as u32)),
            'r' if number <= 10_000 => Ok(Self::Reorder(number as u32)),
            'l' => Ok(Self::Lock(number)),
            'z' => Ok(Self::Lie(number)),
            'k' if number < 1 << 20 => Ok(Self::Block(number as u32)),
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
            for fault in kind.draw(5, 100, &[7]) {
                assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
            }
        }
        assert!(
            "fire"
                .parse::<FaultKind>()
                .unwrap_err()
                .to_string()
                .contains("expected one of none, programs")
        );
        assert!("p0".parse::<Fault>().unwrap_err().to_string().contains("a number from 1 on"));
    }
}
