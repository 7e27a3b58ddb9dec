//! Short runs of all combinations, long runs of the best.

use super::measure::{Figures, Length, Unfit, measure};
use super::settings::{Setting, Shape, settings, shapes};
use super::{Advice, AdviseError, Candidate, Options, code};
use crate::bench::Medium;
use crate::evaluate::find_profile;
use crate::workers::{into_inner, lock, side_by_side};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use steadyfs_sim::{Chip, Profile};

/// One short run in `KEPT`, but at least `KEPT_MIN`, is run again at full length.
const KEPT: usize = 6;
const KEPT_MIN: usize = 6;
/// Step between the fills above the requested one, and the factor by which a mean step may take
/// longer there.
const FILL_STEP: f64 = 0.1;
const SLOWER: f64 = 1.25;

/// Chooses settings.
///
/// `progress` is called now and then with the completed share, from 0 to 1, and the current
/// step.
///
/// # Errors
/// [`AdviseError`].
pub fn run(
    options: &Options,
    progress: &(dyn Fn(f64, &str) + Sync),
) -> Result<Advice, AdviseError> {
    options.check()?;
    let bench = Bench::new(options)?;
    let all = bench.combinations();
    let short = bench.measure_all(&all, Length::SHORT, &|share| {
        progress(share * 0.5, "short runs of all settings")
    });
    let (mut fit, unfit) = bench.fit(&all, short)?;
    fit.sort_by(|a, b| a.figures.cost().total_cmp(&b.figures.cost()));
    fit.truncate(fit.len().div_ceil(KEPT).max(KEPT_MIN));
    let best: Vec<Setting> = fit.iter().map(|candidate| candidate.setting).collect();
    let long = bench.measure_all(&best, Length::FULL, &|share| {
        progress(0.5 + share * 0.4, "long runs of the best settings")
    });
    // A long run may meet states that a short run does not. Combinations that fail it are left
    // out.
    let (candidates, _) = bench.fit(&best, long)?;
    let choice = cheapest(&candidates)
        .ok_or_else(|| AdviseError::Run("no settings were measured".to_string()))?;
    let others = bench.others(&all, &choice);
    progress(0.95, "other fills");
    let fill = bench.fill(&choice);
    progress(1.0, "");
    let geometry = bench.shape_of(&choice.setting).geometry;
    let (features, code_bytes) =
        code::build(&geometry, options.workload, choice.setting.cache_pages > 0);
    Ok(Advice {
        options: options.clone(),
        device: bench.profile.name.clone(),
        config: choice.setting.config(&geometry),
        geometry,
        others,
        tried: all.len(),
        unfit,
        fill,
        code_bytes,
        features,
        choice,
    })
}

/// Measures every combination at full length. Returns those that fit, the cheapest first.
///
/// # Errors
/// [`AdviseError`].
pub fn sweep(options: &Options) -> Result<Vec<Candidate>, AdviseError> {
    let bench = Bench::new(options)?;
    let all = bench.combinations();
    let (mut fit, _) = bench.fit(&all, bench.measure_all(&all, Length::FULL, &|_| ()))?;
    fit.sort_by(|a, b| a.figures.cost().total_cmp(&b.figures.cost()));
    Ok(fit)
}

fn cheapest(candidates: &[Candidate]) -> Option<Candidate> {
    candidates.iter().min_by(|a, b| a.figures.cost().total_cmp(&b.figures.cost())).cloned()
}

/// The chip in each of its shapes.
struct Bench<'o> {
    options: &'o Options,
    profile: Profile,
    shapes: Vec<Shape>,
    endurance: u32,
}

impl<'o> Bench<'o> {
    fn new(options: &'o Options) -> Result<Self, AdviseError> {
        let profile =
            find_profile(&options.device).map_err(|error| AdviseError::Chip(error.into()))?;
        let part = options.part();
        Medium::of(&profile, &part)?.with_volume()?;
        let shapes = shapes(&profile, &part)?;
        let endurance = match &profile.chip {
            Chip::Nand(nand) => nand.endurance_erases,
            Chip::Nor(nor) => nor.endurance_erases,
        };
        Ok(Self { options, profile, shapes, endurance })
    }

    fn combinations(&self) -> Vec<Setting> {
        self.shapes.iter().flat_map(settings).collect()
    }

    fn shape_of(&self, setting: &Setting) -> &Shape {
        self.shapes
            .iter()
            .find(|shape| shape.block_bytes == setting.block_bytes)
            .expect("settings are made of shapes")
    }

    /// Measures the settings in parallel on all processors. Returns the results in order.
    fn measure_all(
        &self,
        settings: &[Setting],
        length: Length,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Vec<Result<Figures, Unfit>> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(setting) = settings.get(index) else { return };
                let result =
                    measure(self.shape_of(setting), *setting, self.options, self.endurance, length);
                let mut results = lock(&results);
                results.push((index, result));
                progress(results.len() as f64 / settings.len() as f64);
            }
        };
        let threads =
            std::thread::available_parallelism().map_or(1, NonZero::get).min(settings.len().max(1));
        side_by_side(threads, work);
        let mut results = into_inner(results);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// Returns the combinations that fit, and the number of the others.
    fn fit(
        &self,
        settings: &[Setting],
        results: Vec<Result<Figures, Unfit>>,
    ) -> Result<(Vec<Candidate>, usize), AdviseError> {
        let (mut fit, mut most_bytes) = (Vec::new(), 0);
        for (&setting, result) in settings.iter().zip(results) {
            match result {
                Ok(figures) => fit.push(Candidate { setting, figures }),
                Err(Unfit::NoRoom(bytes)) => most_bytes = most_bytes.max(bytes),
                Err(Unfit::Failed(error)) => return Err(error),
            }
        }
        if fit.is_empty() {
            let size_bytes = self.shapes.first().map_or(0, |shape| shape.medium.size_bytes());
            let data_bytes = (size_bytes as f64 * self.options.fill) as u64;
            return Err(AdviseError::NothingFits { data_bytes, size_bytes, most_bytes });
        }
        let unfit = settings.len() - fit.len();
        Ok((fit, unfit))
    }

    /// Returns, for each setting, the best candidate with another value of it and all else as
    /// chosen.
    fn others(&self, all: &[Setting], choice: &Candidate) -> Vec<(&'static str, Candidate)> {
        let chosen = choice.setting.values();
        let mut others = Vec::new();
        for (index, name) in Setting::NAMES.into_iter().enumerate() {
            // Another erase block or logical page has other overlays, so there the overlay may
            // differ too.
            let is_like = |setting: &&Setting| {
                let values = setting.values();
                let same =
                    |other: usize| values[other] == chosen[other] || (index < 2 && other == 2);
                values[index] != chosen[index] && (0..4).filter(|&other| other != index).all(same)
            };
            let near: Vec<Setting> = all.iter().filter(is_like).copied().collect();
            let results = self.measure_all(&near, Length::FULL, &|_| ());
            if let Ok((candidates, _)) = self.fit(&near, results) {
                others.extend(cheapest(&candidates).map(|candidate| (name, candidate)));
            }
        }
        others
    }

    /// Returns the largest fill at which the mean step takes at most `SLOWER` times as long.
    fn fill(&self, choice: &Candidate) -> (f64, Figures) {
        let mut best = (self.options.fill, choice.figures);
        loop {
            let options = Options { fill: best.0 + FILL_STEP, ..self.options.clone() };
            let shape = self.shape_of(&choice.setting);
            match measure(shape, choice.setting, &options, self.endurance, Length::FULL) {
                Ok(figures) if figures.mean_ns <= choice.figures.mean_ns * SLOWER => {
                    best = (options.fill, figures)
                }
                _ => return best,
            }
        }
    }
}
