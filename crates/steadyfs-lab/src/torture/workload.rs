//! The workloads on a volume while its power fails.

use super::BadInput;
use super::face::Step;
use super::sectors::{Disk, sector_steps};
use crate::model::Rng;
use crate::model::steps::{AT_REST, At, Limits, Op, PAGES_AT_REST, name_changes, random_steps};
use std::fmt;
use std::str::FromStr;
use steadyfs::CommitOn;

/// Kinds of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Durable records at the end of a file. A long file is replaced.
    Log,
    /// Settings that are written beside the old ones and renamed over them, and bytes changed in
    /// place.
    Configuration,
    /// Any call.
    Random,
    /// Files of a few bytes that come and go.
    SmallFiles,
    /// Names that come, go and move between directories.
    Directories,
    /// Pages of several files in one transaction, long enough for its own pages to be moved.
    Transactions,
    /// Pages anywhere in a full volume, and small changes just before whole pages.
    Reclaim,
    /// Sectors of a disk on the chip, in place of files: writes, some of them durable, trims and
    /// flushes.
    Disk,
}

/// Workloads and their names.
const NAMES: [(Workload, &str); 8] = [
    (Workload::Log, "log"),
    (Workload::Configuration, "configuration"),
    (Workload::Random, "random"),
    (Workload::SmallFiles, "files"),
    (Workload::Directories, "directories"),
    (Workload::Transactions, "transactions"),
    (Workload::Reclaim, "reclaim"),
    (Workload::Disk, "disk"),
];

/// Sizes from which steps are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sizes {
    Files(Files),
    Disk(Disk),
}

/// Sizes of a volume with files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files {
    pub limits: Limits,
    /// Pages of the files at rest.
    pub rest_pages: u64,
    /// Pages that one transaction may write.
    pub transaction_pages: u64,
}

impl Workload {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Log,
        Self::Configuration,
        Self::Random,
        Self::SmallFiles,
        Self::Directories,
        Self::Transactions,
        Self::Reclaim,
        Self::Disk,
    ];

    /// Returns the percentage of the volume that files at rest take.
    pub(super) fn fill(self) -> u64 {
        match self {
            Self::Reclaim => 95,
            Self::Random | Self::Log => 75,
            _ => 85,
        }
    }

    /// Returns the steps that a seed draws.
    pub(super) fn steps(self, seed: u64, count: usize, sizes: &Sizes) -> Vec<Step> {
        match sizes {
            Sizes::Files(files) => {
                self.file_steps(seed, count, files).into_iter().map(Step::Files).collect()
            }
            Sizes::Disk(disk) => sector_steps(seed, disk).take(count).map(Step::Disk).collect(),
        }
    }

    /// Returns the steps that a seed draws for a volume with files.
    pub(super) fn file_steps(self, seed: u64, count: usize, sizes: &Files) -> Vec<Op> {
        let mut rng = Rng(seed ^ 0x7082_7472 ^ (self as u64) << 40);
        match self {
            Self::Random => return random_steps(seed, count, sizes.limits).collect(),
            Self::Directories => return name_changes(seed, count, sizes.limits).collect(),
            _ => {}
        }
        let mut steps = Vec::new();
        while steps.len() < count {
            match self {
                Self::Log => log(&mut steps, &mut rng),
                Self::Configuration => configuration(&mut steps, &mut rng),
                Self::SmallFiles => small_files(&mut steps, &mut rng),
                Self::Transactions => transaction(&mut steps, &mut rng, sizes),
                _ => overwrite(&mut steps, &mut rng, sizes),
            }
        }
        steps.truncate(count);
        steps
    }
}

/// Returns a name in the root.
fn file(name: u64) -> At {
    At { directory: 0, name: name as u16 }
}

/// Adds a run of records. Then the log begins anew, and the old log stays under another name.
fn log(steps: &mut Vec<Op>, rng: &mut Rng) {
    for _ in 0..8 + rng.below(8) {
        let durable = !rng.one_in(8);
        steps.push(Op::Append { at: file(1), bytes: 16 + rng.below(80) as usize, durable });
        if !durable {
            steps.push(Op::Sync);
        }
    }
    steps.push(Op::Rename { from: file(1), to: file(3) });
    steps.push(Op::Commit);
}

/// Changes one setting: by a file that takes the place of the old one, in place, or as an
/// attribute.
fn configuration(steps: &mut Vec<Op>, rng: &mut Rng) {
    let at = file(8 + 8 * rng.below(4));
    match rng.below(4) {
        0 => steps.push(Op::Write {
            at,
            offset: rng.below(300),
            bytes: 1 + rng.below(40) as usize,
            durable: true,
        }),
        1 if rng.one_in(2) => {
            steps.push(Op::SetPermissions { at, mode: rng.below(0o10000) as u16 })
        }
        1 => steps.push(Op::SetAttribute { at, key: 1, bytes: Some(rng.below(60) as u8) }),
        _ => {
            steps.push(Op::Write {
                at: file(6),
                offset: 0,
                bytes: 40 + rng.below(700) as usize,
                durable: false,
            });
            if rng.one_in(2) {
                steps.push(Op::Flush);
            }
            steps.push(Op::Rename { from: file(6), to: at });
            steps.push(Op::Close { handle: 0 });
        }
    }
    if !rng.one_in(4) {
        steps.push(Op::Commit);
    }
}

/// Makes some files and removes some, and then commits all of that.
fn small_files(steps: &mut Vec<Op>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = file(rng.below(24));
        match rng.below(5) {
            0..=1 => steps.push(Op::Remove { at }),
            2 => {
                steps.push(Op::Append { at, bytes: 100 + rng.below(300) as usize, durable: false })
            }
            _ => match 1 + rng.below(140) as usize {
                // The target lies in the inode, or in a page of its own.
                bytes if bytes % 16 == 0 => {
                    steps.push(Op::Symlink { at, bytes: (2 * bytes) as u8 })
                }
                bytes => steps.push(Op::Write { at, offset: 0, bytes, durable: false }),
            },
        }
        steps.push(Op::Close { handle: 0 });
    }
    steps.push(Op::Commit);
}

/// Adds a transaction: a page of each of several files, with small changes among them. One in three
/// also writes one page again and again, so that the blocks of these pages are soon the emptiest.
fn transaction(steps: &mut Vec<Op>, rng: &mut Rng, sizes: &Files) {
    let page = sizes.limits.logical_bytes;
    let bytes = page as usize;
    let mut write =
        |at, offset, bytes, durable| steps.push(Op::Write { at, offset, bytes, durable });
    for number in 0..1 + rng.below(sizes.transaction_pages - 2) {
        let place = rng.below(3) * page;
        match rng.below(3) {
            0 => write(file(number), place + rng.below(page), 1 + rng.below(40) as usize, false),
            _ => write(file(number), place, bytes, false),
        }
    }
    if rng.one_in(3) {
        let again = 4 + rng.below(24);
        (0..again).for_each(|_| write(file(0), 3 * page, bytes, false));
    }
    match rng.below(8) {
        0 => steps.push(Op::Rollback),
        // The next transaction begins in the middle of this one.
        1 => {}
        2 => steps.push(Op::Sync),
        _ => steps.push(Op::Commit),
    }
}

/// Writes a page of the files at rest. In one of four cases, a few bytes of it are written before.
fn overwrite(steps: &mut Vec<Op>, rng: &mut Rng, sizes: &Files) {
    let (page, place) = (sizes.limits.logical_bytes, rng.below(sizes.rest_pages.max(1)));
    let at = file(u64::from(AT_REST) + place / PAGES_AT_REST);
    let offset = place % PAGES_AT_REST * page;
    if rng.one_in(4) {
        let (within, bytes) = (rng.below(page - 30), 1 + rng.below(30) as usize);
        steps.push(Op::Write { at, offset: offset + within, bytes, durable: true });
    }
    if !rng.one_in(16) {
        steps.push(Op::Write { at, offset, bytes: page as usize, durable: true });
    }
}

/// Returns the events that commit in a workload: its explicit calls. In workloads of names and of
/// small files, a full transaction also commits.
pub(super) fn events(workload: Workload) -> CommitOn {
    match workload {
        Workload::Directories | Workload::SmallFiles => CommitOn::ON_SYNC,
        _ => crate::model::steps::EXPLICIT,
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            NAMES.iter().find(|(workload, _)| workload == self).map_or("", |(_, name)| *name);
        f.write_str(name)
    }
}

impl FromStr for Workload {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let found = NAMES.iter().find(|(_, name)| *name == text).map(|(workload, _)| *workload);
        let names = NAMES.map(|(_, name)| name).join(", ");
        found.ok_or_else(|| BadInput(format!("workload {text:?}: expected one of {names}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(workload: Workload) -> Sizes {
        let limits = Limits { files: 6, span: 1024, logical_bytes: 256 };
        match workload {
            Workload::Disk => Sizes::Disk(Disk { sectors: 400, page_sectors: 4, streams: 3 }),
            _ => Sizes::Files(Files { limits, rest_pages: 120, transaction_pages: 6 }),
        }
    }

    #[test]
    fn names_read_back() {
        for workload in Workload::ALL {
            assert_eq!(workload.to_string().parse::<Workload>().unwrap(), workload);
        }
        let error = "logs".parse::<Workload>().unwrap_err().to_string();
        assert!(error.contains("expected one of log, configuration"), "{error}");
    }

    #[test]
    fn a_seed_draws_the_same_steps_and_as_many_as_are_wanted() {
        for workload in Workload::ALL {
            let draw = |seed| format!("{:?}", workload.steps(seed, 50, &sizes(workload)));
            assert_eq!(draw(3), draw(3));
            assert_ne!(draw(3), draw(4), "{workload}");
            assert_eq!(workload.steps(3, 50, &sizes(workload)).len(), 50);
        }
    }
}
