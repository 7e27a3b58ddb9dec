//! Media that keep an input rate, and the RAM that they need for it: SD cards as they are, SteadyFS
//! on raw NAND, and FAT and SteadyFS on the same cards.
//!
//! The figures follow a Tuxera article, *Evaluating Embedded File System RAM Usage Under Real-Time
//! Constraints*:
//!
//! - two sequences of accesses with the same longest access
//! - the 4,000 accesses of a long run that take longest, on an industrial and on a consumer card
//! - the backlog that these leave in the buffer at 100 and 500 kB/s
//! - the same for a file system on the Micron MT29F1G01
//!
//! The article's equation has `min` instead of `max`: a backlog is never negative.
//!
//! ```text
//!   cards    access times of a card, and of FAT and SteadyFS on it
//!   advice   which medium keeps a rate, and at what price      table  rows, for people and as JSON
//! ```

mod advice;
mod cards;
mod error;
mod options;
mod row;
mod stream;
mod table;

pub use advice::{Advice, Answer, Guarantee};
pub use cards::{Cleaning, Trace, Volume};
pub use error::RealtimeError;
pub use options::{Loss, Options, WINDOW, WRITE_BYTES};
pub use row::{Backlog, Medium, Row};
pub use table::Realtime;
pub(crate) use table::SPECIFICATION;

use crate::evaluate::{self, Part, find_managed, find_nand};
use crate::workers::{into_inner, lock, side_by_side};
use std::sync::Mutex;
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::sectors::Managed;

/// Bytes of a card that a volume takes. A volume on the whole card would take minutes to fill.
const VOLUME_BYTES: u64 = 512 << 20;

/// Returns the volume for a card: pages of 4 KiB in blocks of an allocation unit.
fn volume_of(profile: &ManagedProfile, options: &Options) -> Volume {
    let unit_bytes = profile.card().map_or(4 << 20, |card| card.unit_kib << 10);
    Volume {
        bytes: VOLUME_BYTES,
        unit_bytes,
        page_bytes: 4096,
        tags: options.tags,
        fill: options.fill,
    }
}

/// One run: a medium, and the file system on it if there is one.
enum Item<'o> {
    Raw(&'o ManagedProfile),
    /// FAT on a device, with the number of writes for each commit.
    Fat(&'o ManagedProfile, u32),
    OnCard(&'o ManagedProfile, u32),
    OnNand,
}

impl Item<'_> {
    fn run(
        &self,
        options: &Options,
        rates: &[u64],
        tell: &mut dyn FnMut(f64),
    ) -> Result<Row, RealtimeError> {
        let of = |profile: &ManagedProfile| {
            let profile = ManagedProfile { call_us: options.call_us, ..profile.clone() };
            Managed::of(&profile, options.seed)
        };
        let every = |commit_every| Options { commit_every, ..options.clone() };
        let (medium, commit_every, trace) = match *self {
            Item::Raw(profile) => {
                let trace = cards::raw(&mut of(profile), options, tell)?;
                let trace =
                    Trace { stream_bytes_per_s: Some(stream::raw(&mut of(profile))?), ..trace };
                (Medium::Device(profile.name.clone()), options.commit_every, trace)
            }
            Item::Fat(profile, commit_every) => {
                let trace = cards::fat(of(profile), VOLUME_BYTES, &every(commit_every), tell)?;
                (Medium::Fat(profile.name.clone()), commit_every, trace)
            }
            Item::OnCard(profile, commit_every) => {
                let volume = volume_of(profile, options);
                let trace = cards::steadyfs(of(profile), &volume, &every(commit_every), tell)?;
                let trace = Trace {
                    stream_bytes_per_s: Some(stream::steadyfs(of(profile), &volume)?),
                    ..trace
                };
                (Medium::SteadyFs(profile.name.clone()), commit_every, trace)
            }
            Item::OnNand => (Medium::RawFlash(options.nand.clone()), 1, on_nand(options, tell)?),
        };
        Ok(Row { commit_every, ..Row::of(medium, trace, rates) })
    }
}

/// Runs SteadyFS on raw NAND, as `steady evaluate` does.
fn on_nand(options: &Options, tell: &mut dyn FnMut(f64)) -> Result<Trace, RealtimeError> {
    let run = evaluate::Options {
        device: options.nand.clone(),
        fill: options.fill,
        part: Part { call_us: options.call_us, ..Part::default() },
        accesses: u64::from(options.accesses.min(20_000)),
        seed: options.seed,
        ..evaluate::Options::default()
    };
    let outcome = evaluate::run(&run, &mut |share, _| tell(share)).map_err(RealtimeError::Nand)?;
    let evaluation = &outcome.evaluation;
    Ok(Trace {
        access_bytes: WRITE_BYTES as u64,
        stream_bytes_per_s: None,
        root_ns: Vec::new(),
        cleaning: None,
        bound_ns: Some((evaluation.bound_us * 1e3).round() as u64),
        ram_bytes: evaluation.ram_bytes,
        usable_bytes: evaluation.usable_bytes,
        written_per_byte: evaluation.programs_per_data_page,
        flushes_per_access: 0.0,
        access_ns: outcome.access_ns,
    })
}

/// Makes all runs, two at a time. `tell` receives the share that is done, and an empty text.
///
/// # Errors
/// The first [`RealtimeError`] of a profile or of a run.
pub fn run(
    options: &Options,
    tell: &(dyn Fn(f64, &str) + Sync),
) -> Result<Realtime, RealtimeError> {
    options.check()?;
    let profiles =
        options.cards.iter().map(|card| find_managed(card)).collect::<Result<Vec<_>, _>>();
    let profiles = profiles.map_err(RealtimeError::Profile)?;
    find_nand(&options.nand).map_err(RealtimeError::Profile)?;
    // Advice needs a backlog for its rate.
    let mut rates = options.rates.clone();
    if !rates.contains(&options.rate) {
        rates.push(options.rate);
        rates.sort_unstable();
    }
    let mut items: Vec<Item<'_>> = profiles.iter().map(Item::Raw).collect();
    items.push(Item::OnNand);
    let commits = options.commits();
    items.extend(
        profiles.iter().flat_map(|profile| commits.iter().map(|&every| Item::Fat(profile, every))),
    );
    items.extend(
        profiles
            .iter()
            .flat_map(|profile| commits.iter().map(|&every| Item::OnCard(profile, every))),
    );
    let shares = Mutex::new(vec![0.0; items.len()]);
    let next = Mutex::new((0..items.len()).rev().collect::<Vec<_>>());
    let results: Vec<Mutex<Option<Result<Row, RealtimeError>>>> =
        items.iter().map(|_| Mutex::new(None)).collect();
    side_by_side(std::thread::available_parallelism().map_or(1, usize::from).min(2), || {
        // The lock is released before the run.
        let pop = || lock(&next).pop();
        while let Some(index) = pop() {
            let mut told = |share: f64| {
                let mut shares = lock(&shares);
                shares[index] = share;
                tell(shares.iter().sum::<f64>() / shares.len() as f64, "");
            };
            let result = items[index].run(options, &rates, &mut told);
            told(1.0);
            *lock(&results[index]) = Some(result);
        }
    });
    let rows = results.into_iter().filter_map(into_inner);
    Ok(Realtime::of(options, rows.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steadyfs_needs_less_buffer_than_the_card_and_nand_needs_none() {
        let options = Options {
            cards: vec!["sd-consumer".into()],
            accesses: 20_000,
            fill: 0.5,
            ..Options::default()
        };
        let realtime = run(&options, &|_, _| {}).unwrap();
        let [card, nand, fat, on_card] = &realtime.rows[..] else { panic!("four rows") };
        assert_eq!(nand.buffer_at(500_000), Some(0));
        let (raw, ours) = (card.buffer_at(100_000).unwrap(), on_card.buffer_at(100_000).unwrap());
        assert!(4 * ours <= raw, "{ours} B beside {raw} B");
        assert!(on_card.bound_us.is_some() && card.bound_us.is_none() && fat.bound_us.is_none());
        assert_eq!(
            (on_card.flushes_per_access >= 1.0, fat.flushes_per_access, nand.flushes_per_access),
            (true, 1.0, 0.0)
        );
        assert!(
            fat.mean_us > 1.1 * on_card.mean_us,
            "an entry of the directory for each: {} and {}",
            fat.mean_us,
            on_card.mean_us
        );
        let words: Vec<_> = realtime.advice.iter().map(|advice| advice.guarantee).collect();
        assert_eq!(words[1], Guarantee::Computed);
        assert!(
            words[2..].iter().all(|word| *word != Guarantee::Computed),
            "a card promises nothing"
        );
        let text = realtime.to_string();
        assert!(
            text.replace('\n', " ").contains("2 kB/s without a buffer")
                && text.contains("by a computed bound")
                && text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        assert!(realtime.rows.iter().all(|row| row.worst_ns.len() == WINDOW));
    }

    /// After 1,000 accesses the result was "0 B" for a card that needs a megabyte.
    #[test]
    fn a_run_in_which_the_card_hardly_cleans_gives_no_yes() {
        let options = Options {
            cards: vec!["sd-industrial".into()],
            accesses: 1000,
            fill: 0.2,
            commit_every: 16,
            ram_bytes: 1 << 30,
            ..Options::default()
        };
        let realtime = run(&options, &|_, _| {}).unwrap();
        let answers: Vec<_> = realtime.advice.iter().map(|advice| advice.answer).collect();
        assert_eq!(
            answers,
            [Answer::RunTooShort, Answer::Yes, Answer::RunTooShort, Answer::RunTooShort]
        );
        let text = realtime.to_string();
        assert!(
            text.contains("whose run is too short")
                && text.contains("longer accesses may be missing"),
            "{text}"
        );
    }

    #[test]
    fn what_may_be_lost_adds_a_run_with_commits_in_groups() {
        let may_lose = Some(Loss::Writes(8));
        let options = Options {
            cards: vec!["sd-consumer".into()],
            accesses: 1000,
            fill: 0.2,
            may_lose,
            ..Options::default()
        };
        let realtime = run(&options, &|_, _| {}).unwrap();
        assert_eq!(
            realtime.rows.iter().map(|row| row.commit_every).collect::<Vec<_>>(),
            [1, 1, 1, 4, 1, 4]
        );
        assert!(realtime.rows[5].mean_us < realtime.rows[4].mean_us, "fewer commits are faster");
        assert!(realtime.rows[4].max_uncleaned_us <= Some(realtime.rows[4].max_us));
        let lost = realtime.advice[5].lost_bytes.unwrap();
        assert_eq!(lost, realtime.advice[5].buffer_bytes.unwrap() + 4 * WRITE_BYTES as u64);
    }

    #[test]
    fn the_same_seed_gives_the_same_rows() {
        let options = Options {
            cards: vec!["sd-industrial".into()],
            accesses: 1000,
            fill: 0.1,
            rate: 250_000,
            ..Options::default()
        };
        let realtime = run(&options, &|_, _| {}).unwrap();
        let rates = realtime.rows[0].backlog.iter().map(|row| row.rate).collect::<Vec<_>>();
        assert_eq!(
            rates,
            [100_000, 250_000, 500_000, 1_000_000, 2_000_000],
            "advice is for a rate that is told"
        );
        assert_eq!(run(&options, &|_, _| {}).unwrap(), realtime);
    }
}
