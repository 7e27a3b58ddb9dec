//! Kept results in `bench/results`, a file for each contender. Tables and reports show them for
//! contenders that are not built.
//!
//! Each file contains the results of the chip alone in some of the cases, from the time of its
//! writing. If these are still the same now, neither the chips' models nor the cases have
//! changed. Then a new measurement would give the kept results again.

use crate::any_entrant::AnyEntrant;
use crate::contenders::Raw;
use crate::result::{Board, Comparison, Entry, Outcome};
use crate::run::{self, Options};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};
use steadyfs_lab::bench::Case;

/// Cases that show if the chips' models or the measurements have changed.
const REFERENCE: [&str; 5] = ["seq-4096", "small-formatted", "create", "read-256", "copy-35"];

/// The order of contenders in tables. Others follow after them.
const ORDER: [&str; 9] = [
    "steadyfs",
    "steadyfs-erased",
    "raw",
    "littlefs",
    "littlefs-sectors",
    "spiffs",
    "fatfs-on-dhara",
    "fat-on-disk",
    "sequential-storage",
];

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Seed of places, orders and cuts.
    pub seed: u64,
    /// Chip time after which a case ends, in seconds.
    pub patience_s: u64,
    /// The boards at that time.
    pub boards: Vec<Board>,
    /// The results of the chip alone.
    pub reference: String,
    /// The contender.
    pub entry: Entry,
}

/// The reason why kept results could not be read or written.
#[derive(Debug)]
pub struct KeptError {
    path: PathBuf,
    what: String,
}

impl fmt::Display for KeptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for KeptError {}

fn at(path: &Path) -> impl Fn(io::Error) -> KeptError + '_ {
    |error| KeptError { path: path.to_path_buf(), what: error.to_string() }
}

/// Returns the current results of the chip alone, as a number.
///
/// # Panics
/// If a built-in board is not possible.
pub fn reference(seed: u64) -> String {
    let cases = REFERENCE.iter().filter_map(|name| Case::named(name)).collect();
    let options = Options { cases, cuts: 0, seed, ..Options::default() };
    let raw: Vec<Box<dyn AnyEntrant>> = vec![Box::new(Raw)];
    let found = run::run(&raw, &options, &|_, _| {}).expect("the boards are possible");
    let outcomes =
        found.entries.into_iter().flat_map(|entry| entry.standings).flat_map(|on| on.outcomes);
    let outcomes: Vec<Outcome> = outcomes.map(without_limit).collect();
    let text = serde_json::to_string(&outcomes).expect("numbers and names are JSON");
    // FNV-1a.
    let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    format!("{hash:016x}")
}

/// Returns the results of the chip without their limits.
fn without_limit(mut outcome: Outcome) -> Outcome {
    if let Some(figures) = &mut outcome.row.figures {
        figures.limit_us = None;
    }
    outcome
}

/// Reads all files of a directory, by their names.
///
/// # Errors
/// [`KeptError`].
pub fn read(directory: &Path) -> Result<Vec<(PathBuf, Kept)>, KeptError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        let path = entry.map_err(at(directory))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(|path| read_file(&path).map(|kept| (path, kept))).collect()
}

fn read_file(path: &Path) -> Result<Kept, KeptError> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    serde_json::from_str(&text).map_err(|error| KeptError {
        path: path.to_path_buf(),
        what: format!("no kept results: {error}"),
    })
}

/// Writes a file for each newly measured contender.
///
/// # Errors
/// [`KeptError`].
pub fn write(comparison: &Comparison, directory: &Path) -> Result<(), KeptError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let reference = reference(comparison.seed);
    for entry in comparison.entries.iter().filter(|entry| !entry.kept) {
        let path = directory.join(format!("{}.json", entry.facts.id));
        let Comparison { seed, patience_s, boards, .. } = comparison.clone();
        let kept =
            Kept { seed, patience_s, boards, reference: reference.clone(), entry: entry.clone() };
        let text = serde_json::to_string(&kept).expect("numbers and names are JSON");
        fs::write(&path, text + "\n").map_err(at(&path))?;
    }
    Ok(())
}

impl Comparison {
    /// Adds kept results of contenders that were not measured now, if these have the same seed
    /// and patience.
    pub fn add_kept(&mut self, kept: Vec<Kept>) {
        for Kept { seed, patience_s, mut entry, .. } in kept {
            let is_known = self.entries.iter().any(|known| known.facts.id == entry.facts.id);
            if !is_known && (seed, patience_s) == (self.seed, self.patience_s) {
                entry.kept = true;
                entry
                    .standings
                    .retain(|standing| self.boards.iter().any(|board| board.id == standing.board));
                self.entries.push(entry);
            }
        }
        self.sort();
    }

    /// Leaves out all cases but these, and the power cuts if they are not wanted: kept results
    /// have everything.
    pub fn retain_cases(&mut self, cases: &[Case], has_cuts: bool) {
        let is_wanted =
            |outcome: &Outcome| cases.iter().any(|case| case.name() == outcome.row.case);
        for standing in self.entries.iter_mut().flat_map(|entry| &mut entry.standings) {
            standing.outcomes.retain(is_wanted);
            standing.cuts = standing.cuts.take().filter(|_| has_cuts);
        }
    }

    fn sort(&mut self) {
        let rank = |entry: &Entry| {
            ORDER.iter().position(|&id| id == entry.facts.id).unwrap_or(ORDER.len())
        };
        self.entries.sort_by_key(rank);
    }
}
