//! All threads at work, until there is nothing left or time is up.

use super::runner::{Tally, runner};
use super::state::State;
use super::summary::Summary;
use super::workload::Workload;
use super::{BadInput, Options};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How often somebody is told of the progress.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the work or the time.
    pub share: f64,
    /// Cuts so far.
    pub cuts: u64,
    /// Failures so far.
    pub failures: usize,
}

/// What an item gave: its number, the tally, whether it came to its end.
type Done = (u64, Tally, bool);

/// Tortures, on all threads, as long as `tell` returns that it is to go on. With `resume`, what was done is kept in that file, and work goes on from there.
///
/// # Errors
/// The options are empty, or the file is of other options or cannot be read or written.
pub fn run(options: &Options, resume: Option<&Path>, tell: &dyn Fn(Progress) -> bool) -> Result<Summary, BadInput> {
    options.check()?;
    let mut pool = Pool::new(options, State::load(resume, options)?);
    let over = AtomicBool::new(pool.is_over());
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::channel::<Done>();
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            let (sender, over, next, state) = (sender.clone(), &over, &next, pool.state.done());
            scope.spawn(move || work(options, &state, next, over, &sender));
        }
        drop(sender);
        pool.collect(&receiver, &over, tell)
    })?;
    Ok(pool.summary())
}

/// Takes items until there are no more.
fn work(options: &Options, done: &[bool], next: &AtomicU64, over: &AtomicBool, sender: &mpsc::Sender<Done>) {
    let is_over = || over.load(Ordering::Relaxed);
    while !is_over() {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if options.items().is_some_and(|items| n >= items) {
            return;
        }
        if done.get(n as usize).copied().unwrap_or(false) {
            continue;
        }
        let (tally, whole) = runner(&options.item(n), options.mode, &is_over);
        if sender.send((n, tally, whole)).is_err() {
            return;
        }
    }
}

/// What the threads have done.
struct Pool<'o> {
    options: &'o Options,
    state: State,
    /// What this invocation did of items that it did not bring to an end.
    unfinished: Tally,
    start: Instant,
}

impl<'o> Pool<'o> {
    fn new(options: &'o Options, state: State) -> Self {
        Self { options, state, unfinished: Tally::default(), start: Instant::now() }
    }

    /// Takes what the threads send until they have all ended.
    fn collect(
        &mut self,
        receiver: &mpsc::Receiver<Done>,
        over: &AtomicBool,
        tell: &dyn Fn(Progress) -> bool,
    ) -> Result<(), BadInput> {
        let mut result = Ok(());
        loop {
            match receiver.recv_timeout(TELL_EVERY) {
                Ok((n, tally, true)) => {
                    self.state.add(n, &tally);
                    result = result.and(self.state.save(false));
                }
                Ok((_, tally, false)) => self.unfinished.add(&tally),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            let goes_on = tell(self.progress());
            if self.is_over() || !goes_on || result.is_err() {
                over.store(true, Ordering::Relaxed);
            }
        }
        result.and(self.state.save(true))
    }

    /// Whether the threads are to stop although there is more to do.
    fn is_over(&self) -> bool {
        let Options { cuts, time, failures_max, .. } = self.options;
        let tally = &self.state.tally;
        cuts.is_some_and(|cuts| tally.cuts >= cuts)
            || time.is_some_and(|time| self.start.elapsed() >= time)
            || tally.failures.len() >= *failures_max
    }

    fn progress(&self) -> Progress {
        let tally = &self.state.tally;
        let of = |done: f64, all: f64| if all > 0.0 { done / all } else { 1.0 };
        let items = self.options.items().map(|items| of(self.state.items_done() as f64, items as f64));
        let cuts = self.options.cuts.map(|cuts| of(tally.cuts as f64, cuts as f64));
        let time = self.options.time.map(|time| of(self.start.elapsed().as_secs_f64(), time.as_secs_f64()));
        let share = [items, cuts, time].into_iter().flatten().fold(0.0, f64::max);
        Progress { share, cuts: tally.cuts, failures: tally.failures.len() }
    }

    fn summary(self) -> Summary {
        let mut tally = self.state.tally.clone();
        tally.add(&self.unfinished);
        let complete = self.options.items().map(|items| self.state.items_done() >= items);
        Summary::new(self.options, tally, complete, self.start.elapsed())
    }
}

impl Options {
    /// Refuses what leaves nothing to do.
    fn check(&self) -> Result<(), BadInput> {
        let empty = |what: &str| Err(BadInput(format!("no {what}: expected at least one")));
        if self.volumes.is_empty() {
            return empty("geometry");
        }
        if self.workloads.is_empty() {
            return empty("workload");
        }
        if self.faults.is_empty() {
            return empty("kind of fault: \"none\" means power cuts alone");
        }
        if self.threads == 0 {
            return empty("threads");
        }
        if self.failures_max == 0 {
            return empty("failures");
        }
        if self.steps == Some(0) {
            return empty("steps");
        }
        let has_disk = self.workloads.contains(&Workload::Disk);
        self.volumes.iter().try_for_each(|volume| if has_disk { volume.disk_config() } else { volume.config() }.map(drop))
    }
}
