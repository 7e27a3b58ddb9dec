//! The cases: the calls of each case, and the kind of volume that it begins with.
//!
//! Each case begins with a new chip, whose volume was just formatted, or aged. So cases can run
//! in any order and in parallel. Sizes and numbers of steps are the same for every contender.

mod append;
mod copy;
mod measured;
mod mounts;
mod names;
mod random;
mod read;
mod replace;
mod sequential;
mod small;
mod wear;
mod web_server;

pub use measured::{Bench, Measured};

use super::contender::{Contender, Fault};

/// A case, with the parameter that distinguishes it from similar cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Writes a large file from beginning to end, in pieces of this many bytes. It is durable at
    /// its end.
    Sequential(usize),
    /// Overwrites 4,096 B durably at random places of a file that takes 80 % of the volume.
    Random,
    /// Appends this many bytes durably, on an aged volume.
    Append(usize),
    /// Writes 100,000 B in pieces of 256 B.
    Small(small::Way),
    /// Replaces the contents of a file of 200 B durably, on an aged volume.
    Replace(replace::Way),
    /// Makes calls on many files of 100 B.
    Names(names::Call),
    /// Renames files durably among 10,000 files.
    RenameMany,
    /// Mounts a volume with many files.
    Mount(mounts::What),
    /// Reads 512 KiB in order, in pieces of this many bytes.
    Read(usize),
    /// Serves 10,000 visits of a web server. Each visit reads one of eight pages and a style
    /// sheet, by 256 B.
    WebServer,
    /// Writes ten times the bytes of the chip, beside data at rest.
    Wear(wear::Load),
    /// Mounts, copies files, and unmounts.
    Copy {
        /// Number of files.
        files: u32,
        /// Bytes of all files together.
        bytes: u64,
    },
}

/// The state of the volume at the beginning of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A volume that was just formatted.
    Empty,
    /// Files filled the whole volume, and this many of each five files stayed.
    Aged(usize),
}

/// All cases by their names, in the order of tables.
const CASES: [(&str, Case); 30] = [
    ("seq-512", Case::Sequential(512)),
    ("seq-4096", Case::Sequential(4096)),
    ("random-4096", Case::Random),
    ("append-64", Case::Append(64)),
    ("append-16", Case::Append(16)),
    ("small-formatted", Case::Small(small::Way::Formatted)),
    ("small-prepared", Case::Small(small::Way::Prepared)),
    ("small-80", Case::Small(small::Way::Aged)),
    ("small-durable", Case::Small(small::Way::Durable)),
    ("replace-truncate", Case::Replace(replace::Way::Truncate)),
    ("replace-rename", Case::Replace(replace::Way::Rename)),
    ("replace-in-place", Case::Replace(replace::Way::InPlace)),
    ("create", Case::Names(names::Call::Create)),
    ("open", Case::Names(names::Call::Open)),
    ("stat", Case::Names(names::Call::Stat)),
    ("remove", Case::Names(names::Call::Remove)),
    ("rename-10000", Case::RenameMany),
    ("mount-clean", Case::Mount(mounts::What::Clean)),
    ("mount-cut", Case::Mount(mounts::What::Cut)),
    ("first-change", Case::Mount(mounts::What::FirstChange)),
    ("read-1", Case::Read(1)),
    ("read-16", Case::Read(16)),
    ("read-64", Case::Read(64)),
    ("read-256", Case::Read(256)),
    ("read-4096", Case::Read(4096)),
    ("web-server", Case::WebServer),
    ("wear-random", Case::Wear(wear::Load::Random)),
    ("wear-log", Case::Wear(wear::Load::Log)),
    ("copy-10mb", Case::Copy { files: 1, bytes: 10_000_000 }),
    ("copy-35", Case::Copy { files: 35, bytes: 5_400_000 }),
];

impl Case {
    /// All cases, in the order of tables.
    pub fn all() -> Vec<Case> {
        CASES.iter().map(|&(_, case)| case).collect()
    }

    /// Returns the names of all cases, in the order of tables.
    pub fn names() -> Vec<&'static str> {
        CASES.iter().map(|&(name, _)| name).collect()
    }

    /// Returns the case with a name.
    pub fn named(name: &str) -> Option<Case> {
        CASES.iter().find(|(known, _)| *known == name).map(|&(_, case)| case)
    }

    /// Returns the name of the case.
    pub fn name(self) -> &'static str {
        CASES.iter().find(|&&(_, case)| case == self).map_or("", |(name, _)| name)
    }

    /// Returns the approximate duration of the case relative to other cases. The progress uses
    /// it as a weight, and heavy cases start first.
    pub fn weight(self) -> u32 {
        match self {
            Case::Wear(wear::Load::Log) => 120,
            Case::Wear(wear::Load::Random) => 60,
            Case::Random => 20,
            Case::Append(_) | Case::Replace(_) | Case::Small(small::Way::Aged) => 6,
            Case::RenameMany | Case::Sequential(_) => 3,
            _ => 1,
        }
    }

    /// Returns the state of the volume at the beginning of the case.
    pub fn ground(self) -> Ground {
        match self {
            Case::Append(_) | Case::Replace(_) => Ground::Aged(2),
            Case::Small(small::Way::Aged) => Ground::Aged(4),
            _ => Ground::Empty,
        }
    }

    /// Returns true if the case only repeats reads. If a file system keeps the read data in
    /// memory, the chip does not limit these cases.
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Case::Read(_) | Case::WebServer | Case::Names(names::Call::Open | names::Call::Stat)
        )
    }

    /// Measures the case.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn run<K: Contender>(self, bench: &mut Bench<'_, K>) -> Result<Measured, Fault> {
        match self {
            Case::Sequential(piece) => sequential::run(bench, piece),
            Case::Random => random::run(bench),
            Case::Append(bytes) => append::run(bench, bytes),
            Case::Small(way) => small::run(bench, way),
            Case::Replace(way) => replace::run(bench, way),
            Case::Names(call) => names::run(bench, call),
            Case::RenameMany => names::rename_many(bench),
            Case::Mount(what) => mounts::run(bench, what),
            Case::Read(piece) => read::run(bench, piece),
            Case::WebServer => web_server::run(bench),
            Case::Wear(load) => wear::run(bench, load),
            Case::Copy { files, bytes } => copy::run(bench, files, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_found_by_its_name() {
        for case in Case::all() {
            assert_eq!(Case::named(case.name()), Some(case));
        }
        assert_eq!(Case::named("seq"), None);
    }
}
