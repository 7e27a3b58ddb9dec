//! All threads at work, until no work is left or the time is up.

use super::runner::{Tally, runner};
use super::state::State;
use super::summary::Summary;
use super::workload::Workload;
use super::{BadInput, Options};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Interval between reports of the progress.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Progress of the work.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the work or of the time that is done.
    pub share: f64,
    /// Cuts so far.
    pub cuts: u64,
    /// Failures so far.
    pub failures: usize,
}

/// Result of an item.
struct Done {
    /// Number of the item.
    item: u64,
    tally: Tally,
    /// True if the item is finished.
    is_whole: bool,
    /// Number of cuts that were tried in the item.
    runs: u64,
}

/// State that the threads share.
#[derive(Default)]
struct Shared {
    over: AtomicBool,
    next: AtomicU64,
    /// Number of cuts that were tried so far, also in unfinished items. Items take long, and not
    /// all take equally long.
    runs: AtomicU64,
    /// The work of these cuts, see [`Options::cut_work`]. On some volumes a cut takes five times as
    /// long as on others.
    work: AtomicU64,
}

/// Runs the torture on all threads, as long as `tell` returns true. With `resume`, the file keeps
/// the results, and work continues from there.
///
/// # Errors
/// The options are empty, or the file belongs to other options or cannot be read or written.
pub fn run(
    options: &Options,
    resume: Option<&Path>,
    tell: &dyn Fn(Progress) -> bool,
) -> Result<Summary, BadInput> {
    options.check()?;
    let mut pool = Pool::new(options, State::load(resume, options)?);
    let shared = Shared { over: AtomicBool::new(pool.is_over()), ..Shared::default() };
    let (sender, receiver) = mpsc::channel::<Done>();
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            let (sender, shared, done) = (sender.clone(), &shared, pool.done_before.clone());
            scope.spawn(move || work(options, &done, shared, &sender));
        }
        drop(sender);
        pool.collect(&receiver, &shared, tell)
    })?;
    Ok(pool.summary())
}

/// Takes items until none is left.
fn work(options: &Options, done: &[bool], shared: &Shared, sender: &mpsc::Sender<Done>) {
    let is_over = || shared.over.load(Ordering::Relaxed);
    while !is_over() {
        let item = shared.next.fetch_add(1, Ordering::Relaxed);
        if options.items().is_some_and(|items| item >= items) {
            return;
        }
        if done.get(item as usize).copied().unwrap_or(false) {
            continue;
        }
        let (runs, cut_work) = (AtomicU64::new(0), options.cut_work(item));
        let looks = || {
            runs.fetch_add(1, Ordering::Relaxed);
            shared.runs.fetch_add(1, Ordering::Relaxed);
            shared.work.fetch_add(cut_work, Ordering::Relaxed);
            is_over()
        };
        let (tally, is_whole) = runner(&options.item(item), options.mode, &looks);
        if sender.send(Done { item, tally, is_whole, runs: runs.into_inner() }).is_err() {
            return;
        }
    }
}

/// Results of the threads.
struct Pool<'o> {
    options: &'o Options,
    state: State,
    /// Items that earlier invocations finished.
    done_before: Vec<bool>,
    /// The next item to count. If the number of cuts ends the work, items count in their order. The
    /// result then does not depend on the speed of a thread.
    next: u64,
    /// Finished items after the next one.
    early: BTreeMap<u64, Done>,
    /// Results of items that this invocation did not finish.
    unfinished: Tally,
    /// Number of items of earlier invocations, and number of their cuts.
    before: (u64, u64),
    /// Number of cuts that were tried in the items that this invocation finished.
    runs: u64,
    /// See [`Options::cut_work_mean`].
    cut_work_mean: f64,
    start: Instant,
}

impl<'o> Pool<'o> {
    fn new(options: &'o Options, state: State) -> Self {
        let before = (state.items_done(), state.tally.cuts);
        let (done_before, next, early) = (state.done(), 0, BTreeMap::new());
        Self {
            options,
            state,
            done_before,
            next,
            early,
            unfinished: Tally::default(),
            before,
            runs: 0,
            cut_work_mean: options.cut_work_mean(),
            start: Instant::now(),
        }
    }

    /// Takes the results that the threads send, until all threads have ended.
    fn collect(
        &mut self,
        receiver: &mpsc::Receiver<Done>,
        shared: &Shared,
        tell: &dyn Fn(Progress) -> bool,
    ) -> Result<(), BadInput> {
        let mut result = Ok(());
        loop {
            match receiver.recv_timeout(TELL_EVERY) {
                Ok(done) if done.is_whole => {
                    self.take(done);
                    result = result.and(self.state.save(false));
                }
                // If the number of cuts ended the work, the last item of each thread is not needed.
                Ok(_) if self.options.cuts.is_some() && self.is_full() => {}
                Ok(Done { tally, .. }) => self.unfinished.add(&tally),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            let goes_on = tell(self.progress(
                shared.runs.load(Ordering::Relaxed),
                shared.work.load(Ordering::Relaxed),
            ));
            if self.is_over() || !goes_on || result.is_err() {
                shared.over.store(true, Ordering::Relaxed);
            }
        }
        self.end();
        result.and(self.state.save(true))
    }

    /// Takes a finished item.
    fn take(&mut self, done: Done) {
        if self.options.cuts.is_none() {
            return self.count(&done);
        }
        self.early.insert(done.item, done);
        while !self.is_full() {
            while self.done_before.get(self.next as usize).copied().unwrap_or(false) {
                self.next += 1;
            }
            let Some(done) = self.early.remove(&self.next) else { break };
            self.next += 1;
            self.count(&done);
        }
    }

    fn count(&mut self, done: &Done) {
        self.runs += done.runs;
        self.state.add(done.item, &done.tally);
    }

    /// Takes the results that did not count yet. After the last requested cut only failures count,
    /// so that none is missed.
    fn end(&mut self) {
        for done in std::mem::take(&mut self.early).into_values() {
            if self.is_full() {
                self.unfinished.failures.extend(done.tally.failures);
            } else {
                self.count(&done);
            }
        }
    }

    /// Returns true if the requested number of cuts is reached, or the number of failures.
    fn is_full(&self) -> bool {
        let tally = &self.state.tally;
        self.options.cuts.is_some_and(|cuts| tally.cuts >= cuts)
            || tally.failures.len() >= self.options.failures_max
    }

    /// Returns true if the threads must stop although there is more to do.
    fn is_over(&self) -> bool {
        self.is_full() || self.options.time.is_some_and(|time| self.start.elapsed() >= time)
    }

    /// Returns the progress of this invocation, which has tried `runs` cuts with this much work.
    fn progress(&self, runs: u64, work: u64) -> Progress {
        let tally = &self.state.tally;
        let (items_before, cuts_before) = self.before;
        let share = |done: f64, all: f64| if all > 0.0 { (done / all).min(1.0) } else { 1.0 };
        let done = |cuts: f64| share(work as f64, cuts * self.cut_work_mean);
        let items =
            self.options.items().map(|items| done(self.runs_of((items - items_before) as f64)));
        let cuts = self.options.cuts.map(|cuts| done(cuts.saturating_sub(cuts_before) as f64));
        let time = self
            .options
            .time
            .map(|time| share(self.start.elapsed().as_secs_f64(), time.as_secs_f64()));
        let share = [items, cuts, time].into_iter().flatten().fold(0.0, f64::max);
        Progress { share, cuts: cuts_before + runs, failures: tally.failures.len() }
    }

    /// Returns the number of tried cuts after `items` items, if all items are like the finished
    /// ones. Items of all kinds are dealt out among each other.
    fn runs_of(&self, items: f64) -> f64 {
        match self.state.items_done() - self.before.0 {
            // There is no estimate yet.
            0 => f64::INFINITY,
            done => items * self.runs as f64 / done as f64,
        }
    }

    fn summary(self) -> Summary {
        let mut tally = self.state.tally.clone();
        tally.add(&self.unfinished);
        let complete = self.options.items().map(|items| self.state.items_done() >= items);
        Summary::new(self.options, tally, complete, self.start.elapsed())
    }
}

impl Options {
    /// Refuses options that leave nothing to do.
    ///
    /// # Errors
    /// A list is empty, a number is zero, or a volume is impossible.
    pub fn check(&self) -> Result<(), BadInput> {
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
        self.volumes.iter().try_for_each(|volume| {
            if has_disk { volume.disk_config() } else { volume.config() }.map(drop)
        })
    }
}
