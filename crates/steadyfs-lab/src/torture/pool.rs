//! All threads at work, until there is nothing left or time is up.

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

/// What an item gave.
struct Done {
    /// Its number.
    item: u64,
    tally: Tally,
    /// Whether it came to its end.
    is_whole: bool,
    /// Cuts that were tried in it.
    runs: u64,
}

/// What the threads know of each other.
#[derive(Default)]
struct Shared {
    over: AtomicBool,
    next: AtomicU64,
    /// Cuts that were tried so far, in items that are not done too: items take long, and not one as long as the other.
    runs: AtomicU64,
    /// The work of these cuts, see [`Options::cut_work`]: on some volumes a cut takes five times as long as on others.
    work: AtomicU64,
}

/// Tortures, on all threads, as long as `tell` returns that it is to go on. With `resume`, what was done is kept in that file, and work goes on from there.
///
/// # Errors
/// The options are empty, or the file is of other options or cannot be read or written.
pub fn run(options: &Options, resume: Option<&Path>, tell: &dyn Fn(Progress) -> bool) -> Result<Summary, BadInput> {
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

/// Takes items until there are no more.
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

/// What the threads have done.
struct Pool<'o> {
    options: &'o Options,
    state: State,
    /// Items that earlier invocations brought to an end.
    done_before: Vec<bool>,
    /// Where the number of cuts ends the work, items count in their order: what is done must not depend on which thread was faster. The next one...
    next: u64,
    /// ...and those behind it that have come to their end.
    early: BTreeMap<u64, Done>,
    /// What this invocation did of items that it did not bring to an end.
    unfinished: Tally,
    /// Items of earlier invocations, and cuts of them.
    before: (u64, u64),
    /// Cuts that were tried in the items that this invocation brought to an end.
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

    /// Takes what the threads send until they have all ended.
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
                // The last item of each thread is not needed any more where the number of cuts ended the work.
                Ok(_) if self.options.cuts.is_some() && self.is_full() => {}
                Ok(Done { tally, .. }) => self.unfinished.add(&tally),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            let goes_on = tell(self.progress(shared.runs.load(Ordering::Relaxed), shared.work.load(Ordering::Relaxed)));
            if self.is_over() || !goes_on || result.is_err() {
                shared.over.store(true, Ordering::Relaxed);
            }
        }
        self.end();
        result.and(self.state.save(true))
    }

    /// Takes an item that came to its end.
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

    /// Takes what did not count yet. Behind the last cut that was asked for only failures do: nobody wants to miss one.
    fn end(&mut self) {
        for done in std::mem::take(&mut self.early).into_values() {
            if self.is_full() {
                self.unfinished.failures.extend(done.tally.failures);
            } else {
                self.count(&done);
            }
        }
    }

    /// Whether as much was done as was asked for: so many cuts, or so many failures.
    fn is_full(&self) -> bool {
        let tally = &self.state.tally;
        self.options.cuts.is_some_and(|cuts| tally.cuts >= cuts) || tally.failures.len() >= self.options.failures_max
    }

    /// Whether the threads are to stop although there is more to do.
    fn is_over(&self) -> bool {
        self.is_full() || self.options.time.is_some_and(|time| self.start.elapsed() >= time)
    }

    /// How far this invocation is, which has tried so many cuts, that were so much work.
    fn progress(&self, runs: u64, work: u64) -> Progress {
        let tally = &self.state.tally;
        let (items_before, cuts_before) = self.before;
        let share = |done: f64, all: f64| if all > 0.0 { (done / all).min(1.0) } else { 1.0 };
        let done = |cuts: f64| share(work as f64, cuts * self.cut_work_mean);
        let items = self.options.items().map(|items| done(self.runs_of((items - items_before) as f64)));
        let cuts = self.options.cuts.map(|cuts| done(cuts.saturating_sub(cuts_before) as f64));
        let time = self.options.time.map(|time| share(self.start.elapsed().as_secs_f64(), time.as_secs_f64()));
        let share = [items, cuts, time].into_iter().flatten().fold(0.0, f64::max);
        Progress { share, cuts: cuts_before + runs, failures: tally.failures.len() }
    }

    /// Cuts that will have been tried when so many items are done, if the others are as those that are. Items of all kinds are dealt out among each other.
    fn runs_of(&self, items: f64) -> f64 {
        match self.state.items_done() - self.before.0 {
            // Nothing is known yet.
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
    /// Refuses what leaves nothing to do.
    ///
    /// # Errors
    /// A list is empty, a number is zero, or a volume cannot be.
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
        self.volumes.iter().try_for_each(|volume| if has_disk { volume.disk_config() } else { volume.config() }.map(drop))
    }
}
