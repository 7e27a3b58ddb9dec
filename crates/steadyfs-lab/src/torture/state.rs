//! The results in a file, so that work can continue after an interruption.

use super::runner::Tally;
use super::{BadInput, Options};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval between writes of the file.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Finished items, and their results.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    options: String,
    /// First and last item of each range, ascending.
    items: Vec<(u64, u64)>,
    pub tally: Tally,
    #[serde(skip)]
    path: Option<PathBuf>,
    #[serde(skip)]
    saved: Option<Instant>,
}

impl State {
    /// Reads the results. Without a file, there are none yet.
    pub fn load(path: Option<&Path>, options: &Options) -> Result<Self, BadInput> {
        let empty = Self {
            options: options.identity(),
            items: Vec::new(),
            tally: Tally::default(),
            path: path.map(Path::to_path_buf),
            saved: None,
        };
        let Some(path) = path.filter(|path| path.exists()) else { return Ok(empty) };
        let wrong = |what: String| BadInput(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let found: Self = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("is no file of --resume: {error}")))?;
        if found.options != empty.options {
            let (theirs, ours) = (found.options, empty.options);
            return Err(wrong(format!("was written for other options: {theirs}; expected {ours}")));
        }
        Ok(Self { path: empty.path, ..found })
    }

    /// Records a finished item.
    pub fn add(&mut self, n: u64, tally: &Tally) {
        self.tally.add(tally);
        let index = self.items.partition_point(|range| range.0 < n);
        self.items.insert(index, (n, n));
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in self.items.drain(..) {
            match joined.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.items = joined;
    }

    /// Returns a list with true at the number of each finished item.
    pub fn done(&self) -> Vec<bool> {
        let mut done = vec![false; self.items.last().map_or(0, |range| range.1 as usize + 1)];
        for (first, last) in &self.items {
            done[*first as usize..=*last as usize].fill(true);
        }
        done
    }

    /// Returns the number of finished items.
    pub fn items_done(&self) -> u64 {
        self.items.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Writes the file, if there is one. Writes it if it is old, or if `now`.
    pub fn save(&mut self, now: bool) -> Result<(), BadInput> {
        let Some(path) = &self.path else { return Ok(()) };
        if !now && self.saved.is_some_and(|saved| saved.elapsed() < SAVE_EVERY) {
            return Ok(());
        }
        let failed = |error: &dyn std::fmt::Display| {
            BadInput(format!("{}: cannot be written: {error}", path.display()))
        };
        let text = serde_json::to_string(self).map_err(|error| failed(&error))?;
        // An interruption leaves the old file or the new one.
        let beside = path.with_extension("new");
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, path))
            .map_err(|error| failed(&error))?;
        self.saved = Some(Instant::now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_in_any_order_become_ranges() {
        let mut state = State::load(None, &Options::default()).unwrap();
        for n in [4, 0, 1, 5, 2] {
            state.add(n, &Tally { cuts: 3, ..Tally::default() });
        }
        assert_eq!(state.items, [(0, 2), (4, 5)]);
        assert_eq!(state.done(), [true, true, true, false, true, true]);
        assert_eq!((state.items_done(), state.tally.cuts), (5, 15));
    }

    #[test]
    fn a_file_of_other_options_or_none_at_all_is_refused() {
        let path =
            std::env::temp_dir().join(format!("steadyfs-torture-{}.json", std::process::id()));
        let options = Options::default();
        let mut state = State::load(Some(&path), &options).unwrap();
        state.add(0, &Tally { cuts: 7, ..Tally::default() });
        state.save(true).unwrap();
        assert_eq!(State::load(Some(&path), &options).unwrap().tally.cuts, 7);
        let other = State::load(Some(&path), &Options { seed: 9, ..options.clone() })
            .unwrap_err()
            .to_string();
        assert!(
            other.contains("was written for other options") && other.contains("seed 9"),
            "{other}"
        );
        std::fs::write(&path, "{}").unwrap();
        let broken = State::load(Some(&path), &options).unwrap_err().to_string();
        assert!(broken.contains("is no file of --resume"), "{broken}");
        std::fs::remove_file(&path).unwrap();
    }
}
