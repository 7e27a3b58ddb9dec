//! The search: sessions on copies of used volumes, in generations.

use super::habit::Habit;
use super::kind::Kind;
use super::options::Options;
use super::report::Row;
use super::taken::{Taken, Told};
use super::world::{Fs, World};
use crate::bench::{BenchChip, BenchError, Fault};
use crate::evaluate::draw::one_of;
use crate::evaluate::tracker::TagTracker;
use crate::workers::{into_inner, lock, side_by_side};
use fastrand::Rng;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use steadyfs::media::Flash;
use steadyfs::{Access, Call, CommitOn, Config, Error, FileSystem};

/// Number of generations. Each one starts from the habits that the earlier ones found.
const GENERATIONS: u64 = 8;
/// Number of lives in a generation. Each works on its own copy of the volume.
const LIVES: u64 = 6;
/// Number of calls with one habit that are to take long.
const SESSION: u32 = 96;
/// Number of habits that are kept for each kind.
const KEPT: usize = 4;
/// Share of the largest bound from which a bound counts as large, in per cent.
const LARGE_PERCENT: u64 = 95;

/// Returns the time and the bound of a mount or an unmount.
fn without_parts(time_ns: u64, bound_ns: u64) -> Taken {
    Taken { time_ns, bound: Told { bound_ns, parts: None } }
}

/// The calls of each kind so far, and the habits that made them long.
struct Found {
    rows: Vec<Row>,
    best: Vec<Vec<(u64, Habit)>>,
}

impl Found {
    fn new() -> Self {
        Found {
            rows: Kind::ALL.iter().map(|kind| Row::of(kind.name())).collect(),
            best: vec![Vec::new(); Kind::ALL.len()],
        }
    }

    fn note(&mut self, kind: Kind, taken: Taken) -> Result<(), Fault> {
        self.rows[kind as usize].add(taken);
        if taken.time_ns <= taken.bound.bound_ns {
            return Ok(());
        }
        Err(Fault::Failed(format!(
            "{}: took {} ns, its bound is {} ns",
            kind.name(),
            taken.time_ns,
            taken.bound.bound_ns
        )))
    }

    fn keep(&mut self, kind: Kind, longest_ns: u64, habit: Habit) {
        let best = &mut self.best[kind as usize];
        if !best.contains(&(longest_ns, habit)) {
            best.push((longest_ns, habit));
        }
        best.sort_by_key(|&(longest_ns, _)| std::cmp::Reverse(longest_ns));
        best.truncate(KEPT);
    }

    fn merge(&mut self, other: Found) {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.merge(more);
        }
        for (kind, best) in Kind::ALL.into_iter().zip(other.best) {
            best.into_iter().for_each(|(longest_ns, habit)| self.keep(kind, longest_ns, habit));
        }
    }
}

/// An unmounted volume that was used until every block had been used.
#[derive(Clone)]
struct Ground<C> {
    chip: TagTracker<C>,
    config: Config,
    world: World,
}

impl<C: BenchChip + Clone> Ground<C> {
    fn prepare(chip: C, fill: f64, seed: u64) -> Result<Self, Fault> {
        let config = Config::for_geometry(&chip.geometry());
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let mut chip = TagTracker::new(chip);
        FileSystem::format(&mut chip, &config, &mut memory)?;
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
        let mut world = World::new(&mut fs)?;
        world.fill(&mut fs, fill, &mut Rng::with_seed(seed))?;
        fs.unmount()?;
        Ok(Ground { chip, config, world })
    }
}

/// Searches on chips from `make`.
pub fn search<C: BenchChip + Clone + Send + Sync>(
    make: impl Fn() -> C + Sync,
    options: &Options,
    progress: &(dyn Fn(f64, &str) + Sync),
) -> Result<Vec<Row>, BenchError> {
    progress(0.0, "fill");
    let ground = Ground::prepare(make(), options.fill, options.seed)?;
    let (mut found, calls) = (Found::new(), options.calls.div_ceil(GENERATIONS * LIVES));
    for generation in 0..GENERATIONS {
        progress((generation + 1) as f64 / (GENERATIONS + 1) as f64, "search");
        let lives = each(LIVES as usize, |index| {
            let seed = options
                .seed
                .wrapping_mul(GENERATIONS)
                .wrapping_add(generation)
                .wrapping_mul(LIVES)
                .wrapping_add(index as u64);
            Life {
                ground: &ground,
                rng: Rng::with_seed(seed),
                found: Found::new(),
                earlier: &found,
                calls,
                turn: index,
            }
            .live()
        })?;
        lives.into_iter().for_each(|life| found.merge(life));
    }
    Ok(found.rows)
}

/// Runs `act` `count` times, in parallel, and returns the results in order.
fn each<T: Send>(
    count: usize,
    act: impl Fn(usize) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>, Fault> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(count);
    side_by_side(threads, || {
        while let Some(index) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count)
        {
            let result = act(index);
            lock(&done).push((index, result));
        }
    });
    let mut done = into_inner(done);
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The life of one adversary on a copy of a volume.
struct Life<'f, C> {
    ground: &'f Ground<C>,
    rng: Rng,
    found: Found,
    /// Results of the earlier generations.
    earlier: &'f Found,
    /// Number of calls that are left to make.
    calls: u64,
    /// Index of the next kind.
    turn: usize,
}

impl<C: BenchChip + Clone> Life<'_, C> {
    fn live(mut self) -> Result<Found, Fault> {
        let Ground { mut chip, config, mut world } = self.ground.clone();
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let mut ended = (Kind::MountClean, None);
        loop {
            let before_ns = chip.counts().time_ns;
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
            let timing = fs.flash().timing();
            let time_ns = fs.flash().counts().time_ns - before_ns;
            if let (kind, Some(bound_ns)) = ended {
                self.found.note(kind, without_parts(time_ns, bound_ns))?;
            }
            if self.calls == 0 {
                return Ok(self.found);
            }
            if self.rng.bool() {
                fs.set_commit_on(
                    CommitOn::ON_SYNC
                        .with(CommitOn::CREATE)
                        .with(CommitOn::REMOVE)
                        .with(CommitOn::RENAME),
                );
            }
            self.session(&mut fs, &mut world)?;
            if self.rng.bool() {
                // The unmount commits the waiting changes first, so its bound includes a sync.
                let bound_ns = fs.bounds().of(Call::Sync).time_ns(&timing)
                    + fs.bounds().unmount().time_ns(&timing);
                ended = (Kind::MountClean, Some(fs.bounds().clean_mount().time_ns(&timing)));
                let before_ns = fs.flash().counts().time_ns;
                let time_ns = fs.unmount()?.counts().time_ns - before_ns;
                self.found.note(Kind::Unmount, without_parts(time_ns, bound_ns))?;
            } else {
                fs.sync(CommitOn::SYNC)?;
                if self.rng.bool() {
                    match world.discard_in_a_row(&mut fs) {
                        // The volume has no room for pages to discard.
                        Ok(()) | Err(Error::NoSpace) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                ended = (Kind::MountCut, Some(fs.bounds().mount().time_ns(&timing)));
            }
        }
    }

    /// Makes calls of one kind, each after the calls that a habit prepares with.
    fn session(&mut self, fs: &mut Fs<'_, '_, C>, world: &mut World) -> Result<(), Fault> {
        let kind = Kind::ALL[self.turn % Kind::CALLS];
        self.turn += 1;
        let habit = match one_of(&mut self.rng, &self.earlier.best[kind as usize]) {
            Some((_, best)) if self.rng.u32(..4) > 0 => Habit::like(&mut self.rng, &best),
            _ => Habit::any(&mut self.rng),
        };
        let (mut longest_ns, mut largest_ns) = (0, self.earlier.rows[kind as usize].bound_ns);
        for _ in 0..SESSION {
            let Some(step) = world.draw(kind, &habit, true, fs, &mut self.rng) else { break };
            for done in 0.. {
                let bound_ns = World::bound_ns(fs, &step, None);
                largest_ns = largest_ns.max(bound_ns);
                let is_large = bound_ns >= largest_ns / 100 * LARGE_PERCENT;
                let Some(before) = habit.next(&mut self.rng, done, is_large) else { break };
                let is_durable = self.rng.u32(..10) >= habit.waiting;
                if let Some(step) = world.draw(before, &habit, is_durable, fs, &mut self.rng) {
                    self.make(fs, world, &step)?;
                }
            }
            // A preparing call may have removed the file.
            let Some(step) = world.draw(kind, &habit, true, fs, &mut self.rng) else { break };
            longest_ns = self.make(fs, world, &step)?.max(longest_ns);
        }
        self.found.keep(kind, longest_ns, habit);
        Ok(())
    }

    /// Makes a call and returns its time in nanoseconds.
    fn make(
        &mut self,
        fs: &mut Fs<'_, '_, C>,
        world: &mut World,
        step: &super::world::Step,
    ) -> Result<u64, Fault> {
        self.calls = self.calls.saturating_sub(1);
        let Some(taken) = world.make(fs, step)? else { return Ok(0) };
        self.found.note(step.kind, taken)?;
        Ok(taken.time_ns)
    }
}
