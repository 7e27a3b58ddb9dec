//! Fits the parameters of a model to a trace of a device.

use super::{Figures, Kind, ManagedProfile, Summary, Translation, random_writes};

/// Largest number of accesses before the accesses that are compared. They fill the log or the spare
/// superblocks, so that cleaning is in its usual state.
const WARM_UP_MAX: usize = 1_500_000;
/// Largest number of accesses that are compared.
const COMPARED_MAX: usize = 60_000;
/// Largest number of accesses of all runs of the model in one search, for a card and for a drive.
/// These accesses take ten seconds.
const ACCESSES_MAX: [usize; 2] = [16_000_000, 18_000_000];
/// The error at which a search stops: 2 % in each figure.
const GOOD: f64 = 0.02;
/// The error up to which one search suffices.
const ENOUGH: f64 = 0.06;
/// Number of nearest starts from which the search continues.
const STARTS: usize = 2;
/// Smallest number of accesses of a trace that determine a profile. In a shorter trace the device
/// has hardly cleaned.
const ACCESSES_MIN: usize = 4000;
/// The error above which a profile does not describe the device well.
const ERROR_MAX: f64 = 0.15;

/// The quality of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of bytes of a write.
    pub write_bytes: u32,
    /// Rates of the two backlogs, in bytes a second: 7 % and 33 % of the mean rate of the device.
    pub rates_bytes_per_s: [u64; 2],
    /// Summary of the trace.
    pub trace: Summary,
    /// Summary of the model.
    pub fit: Summary,
    /// Root of the mean square of the logarithms of the ratios: 0.1 is about 10 %.
    pub error: f64,
    /// Number of runs of the model.
    pub runs: u32,
    /// Number of accesses of the trace.
    pub accesses: usize,
}

/// The reason why a fit is not reliable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// The trace has too few accesses. The number is their number.
    Short(usize),
    /// The profile misses the trace by this error: the device is not of this kind, or no model
    /// describes it.
    Far(f64),
}

impl Doubt {
    /// Returns a doubt if a trace of `accesses` accesses is too short. The check needs no fit.
    pub fn of_accesses(accesses: usize) -> Option<Doubt> {
        (accesses < ACCESSES_MIN).then_some(Doubt::Short(accesses))
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::Short(accesses) => write!(
                f,
                "the trace has {accesses} accesses; expected at least {ACCESSES_MIN}, so that a \
                 device cleans more than once"
            ),
            Doubt::Far(error) => write!(
                f,
                "the profile misses the trace by {error:.2}; expected at most {ERROR_MAX}: no \
                 model behaves like this device, or the trace is not of random writes without \
                 pauses"
            ),
        }
    }
}

impl Quality {
    /// Returns the reason why the profile is not reliable, if there is one.
    pub fn doubt(&self) -> Option<Doubt> {
        Doubt::of_accesses(self.accesses)
            .or_else(|| (self.error > ERROR_MAX).then_some(Doubt::Far(self.error)))
    }
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |ns: f64| ns / 1e6;
        writeln!(f, "{:>22} {:>12} {:>12}", "", "trace", "fit")?;
        writeln!(
            f,
            "{:>22} {:>12.3} {:>12.3}",
            "mean, ms",
            ms(self.trace.mean_ns),
            ms(self.fit.mean_ns)
        )?;
        for (index, name) in Summary::PERCENTILES.iter().enumerate() {
            let [trace, fit] =
                [&self.trace, &self.fit].map(|summary| ms(summary.percentile_ns[index] as f64));
            writeln!(f, "{:>22} {trace:>12.3} {fit:>12.3}", format!("{name}, ms"))?;
        }
        for (index, rate) in self.rates_bytes_per_s.iter().enumerate() {
            let name = format!("B at {} kB/s", rate / 1000);
            writeln!(
                f,
                "{name:>22} {:>12} {:>12}",
                self.trace.backlog_bytes[index], self.fit.backlog_bytes[index]
            )?;
        }
        write!(f, "error {:.2} after {} runs", self.error, self.runs)
    }
}

/// Finds a profile whose random writes take as long as the writes of a trace.
///
/// `access_ns` are the durations, in order, of writes of `write_bytes` bytes, a multiple of 512.
/// The writes went to random positions on the whole device, without a pause. A few thousand writes
/// show the bursts of most cards. If the trace has fewer than two bursts, their distance remains
/// unknown. `capacity_mib` is the capacity of the device: the random writes are spread over all of
/// it.
///
/// The search begins with the built-in profiles of the kind, and changes one figure after another.
/// Figures that do not affect random writes, such as the number of open units, keep their values.
///
/// `progress` is called after each run of the search, with the share of the longest search that is
/// done, from 0 to 1. The search ends earlier if it finds a good profile.
///
/// # Panics
/// If the trace is empty, or `write_bytes` is not a multiple of 512.
pub fn fit(
    access_ns: &[u64],
    write_bytes: u32,
    kind: Kind,
    capacity_mib: u32,
    progress: &mut dyn FnMut(f64),
) -> (ManagedProfile, Quality) {
    assert!(
        !access_ns.is_empty() && write_bytes >= 512 && write_bytes.is_multiple_of(512),
        "a trace of writes of whole sectors"
    );
    let starts = ManagedProfile::all().into_iter().filter(|profile| profile.kind == kind);
    let starts = starts.map(|profile| with_capacity(profile, capacity_mib));
    let mut search = Search::new(access_ns, write_bytes, progress);
    let shape = Shape::of(access_ns);
    let mut found = Vec::new();
    for start in starts {
        let shaped =
            shape.and_then(|shape| shape.shaped(&start)).and_then(|shaped| search.balance(shaped));
        found.extend(search.found(start).into_iter().chain(shaped));
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found.truncate(STARTS);
    let (like, (mut profile, error, fit)) = search.find(found);
    // The figures that the trace does not determine come from the nearest profile. Their sources in
    // that profile do not apply to this device.
    profile.sources.values_mut().for_each(|source| *source = format!("U: as of {like}"));
    profile.sources.insert("capacity_mib".into(), "D: of the device".into());
    profile.title = format!("{}, fitted to a trace", profile.title);
    profile.name = format!("{}-fitted", profile.name);
    let mut keys: Vec<_> =
        figures_of(&mut profile.figures).into_iter().map(|figure| figure.key).collect();
    keys.extend(profile.card().map(|_| "busy_us_max"));
    for key in keys {
        profile.sources.insert(
            key.into(),
            format!(
                "F: {} writes of {write_bytes} bytes, error {:.2}",
                access_ns.len(),
                error.sqrt()
            ),
        );
    }
    let Search { write_bytes, rates, trace, runs, .. } = search;
    (
        profile,
        Quality {
            write_bytes,
            rates_bytes_per_s: rates,
            trace,
            fit,
            error: error.sqrt(),
            runs,
            accesses: access_ns.len(),
        },
    )
}

/// Returns the same device with another capacity, in whole units. A drive keeps its share of
/// spare superblocks. The log of a card is at most an eighth of the card.
fn with_capacity(mut profile: ManagedProfile, capacity_mib: u32) -> ManagedProfile {
    match &mut profile.figures {
        Figures::Card(card) => {
            card.capacity_mib = (capacity_mib / (card.unit_kib / 1024).max(1)
                * (card.unit_kib / 1024).max(1))
            .max(64);
            let blocks =
                (card.capacity_mib * 128 / card.log_block_kib).max(2 * card.clean_high_blocks);
            card.log_kib = card.log_kib.min(blocks * card.log_block_kib);
        }
        Figures::Drive(drive) => {
            let spare = u64::from(drive.spare_superblocks) * u64::from(capacity_mib)
                / u64::from(drive.capacity_mib);
            drive.capacity_mib = capacity_mib.max(64);
            drive.spare_superblocks = (spare as u32).max(drive.clean_high + 2);
        }
    }
    profile
}

/// A figure that a fit may change.
struct Figure<'p> {
    key: &'static str,
    value: &'p mut u32,
    /// The unit. The value is a whole multiple of this unit.
    unit: u32,
}

/// Returns the figures that a fit may change, the most important first.
fn figures_of(figures: &mut Figures) -> Vec<Figure<'_>> {
    let figure = |key, value, unit| Figure { key, value, unit };
    match figures {
        Figures::Card(card) => vec![
            figure("slot_program_us", &mut card.slot_program_us, 1),
            figure("log_kib", &mut card.log_kib, card.log_block_kib),
            figure("clean_slice_us", &mut card.clean_slice_us, 1),
            figure("clean_high_blocks", &mut card.clean_high_blocks, 1),
            figure("page_program_us", &mut card.page_program_us, 1),
        ],
        Figures::Drive(drive) => vec![
            figure("command_us", &mut drive.command_us, 1),
            figure("page_program_us", &mut drive.page_program_us, 1),
            figure("clean_slice_us", &mut drive.clean_slice_us, 1),
            figure("clean_high", &mut drive.clean_high, 1),
            figure("spare_superblocks", &mut drive.spare_superblocks, 1),
        ],
    }
}

/// Returns the time of a write that meets no cleaning, and the cleaning time that one access
/// waits for, in microseconds.
fn times_of(figures: &mut Figures) -> [&mut u32; 2] {
    match figures {
        Figures::Card(card) => {
            // The program of a part of a page takes no longer than the program of the whole page.
            let is_whole = card.slot_program_us >= card.page_program_us;
            [
                if is_whole { &mut card.page_program_us } else { &mut card.slot_program_us },
                &mut card.clean_slice_us,
            ]
        }
        Figures::Drive(drive) => [&mut drive.command_us, &mut drive.clean_slice_us],
    }
}

fn shift(time_us: &mut u32, by_us: i64) {
    *time_us = (i64::from(*time_us) + by_us).clamp(1, 1 << 23) as u32;
}

/// The figures of a card that its trace shows directly: most accesses meet no cleaning, and the
/// others come in bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    /// The time of an access that meets no cleaning, and the part of a slow access that is
    /// cleaning, in microseconds.
    write_us: u32,
    slice_us: u32,
    /// The longest access, in microseconds. No busy time is longer, even if there is more work.
    longest_us: u32,
    /// Number of accesses from the beginning of a burst to the beginning of the next burst.
    period: f64,
}

impl Shape {
    /// An access is slow if it takes more than this many times the median.
    const SLOW: u64 = 3;

    /// Returns `None` if hardly any access is slow.
    fn of(access_ns: &[u64]) -> Option<Self> {
        let median = |times: &mut Vec<u64>| {
            times.sort_unstable();
            times.get(times.len() / 2).copied()
        };
        let write_ns = median(&mut access_ns.to_vec())?;
        let is_slow = |ns: u64| ns > Self::SLOW * write_ns;
        let slow_ns = median(&mut access_ns.iter().copied().filter(|&ns| is_slow(ns)).collect())?;
        let longest_ns = access_ns.iter().max()?;
        let begins =
            access_ns.windows(2).filter(|pair| !is_slow(pair[0]) && is_slow(pair[1])).count();
        (begins > 1).then(|| Self {
            write_us: (write_ns / 1000) as u32,
            slice_us: ((slow_ns - write_ns) / 1000) as u32,
            longest_us: (longest_ns / 1000) as u32,
            period: access_ns.len() as f64 / begins as f64,
        })
    }

    /// Returns a card with these figures, and all other figures of `start`. Returns `None` for a
    /// drive, which hides its writes in its cache.
    fn shaped(self, start: &ManagedProfile) -> Option<ManagedProfile> {
        let mut profile = start.clone();
        let Figures::Card(card) = &mut profile.figures else { return None };
        let transfer_us = card.command_us + card.sector_ns * (card.slot_bytes / 512) / 1000;
        card.slot_program_us = self.write_us.saturating_sub(transfer_us).max(1);
        // The program of a part of a page takes no longer than the program of the whole page.
        card.page_program_us = card.page_program_us.max(card.slot_program_us);
        card.clean_slice_us = self.slice_us.max(1);
        // A unit that is closed early is copied in as many busy times as the copy needs.
        let busy_us =
            self.longest_us.saturating_sub(self.write_us).saturating_add(2 * card.page_program_us);
        card.busy_us_max = card.busy_us_max.min(busy_us.max(1000));
        let slots = card.log_block_kib * 1024 / card.slot_bytes;
        card.clean_high_blocks =
            card.clean_low_blocks + ((self.period / f64::from(slots)) as u32).max(1);
        Some(profile)
    }
}

/// A profile, the square of its error, and the summary of its accesses.
type Found = (ManagedProfile, f64, Summary);

/// A trace, and the progress of the search.
struct Search<'p> {
    write_bytes: u32,
    rates: [u64; 2],
    trace: Summary,
    compared: usize,
    runs: u32,
    /// Accesses of all runs, and true if more runs are allowed.
    accesses: usize,
    has_time: bool,
    /// Number of searches that are done, and of all.
    searches: [usize; 2],
    progress: &'p mut dyn FnMut(f64),
}

impl<'p> Search<'p> {
    fn new(access_ns: &[u64], write_bytes: u32, progress: &'p mut dyn FnMut(f64)) -> Self {
        let mean =
            (access_ns.iter().map(|&ns| ns as f64).sum::<f64>() / access_ns.len() as f64).max(1.0);
        let taken = f64::from(write_bytes) * 1e9 / mean;
        let rates = [(taken * 0.07) as u64, (taken * 0.33) as u64];
        let trace = Summary::of(access_ns, write_bytes, rates);
        Self {
            write_bytes,
            rates,
            trace,
            compared: access_ns.len().clamp(1000, COMPARED_MAX),
            runs: 0,
            accesses: 0,
            has_time: true,
            searches: [0, 0],
            progress,
        }
    }

    /// Searches from each start, the nearest first, with and without a shift of the times. The
    /// shift saves many steps, but may lead to a worse result. Stops when a search reaches
    /// `ENOUGH`. Also returns the name of the start.
    fn find(&mut self, starts: Vec<Found>) -> (String, Found) {
        let mut best: Option<(String, Found)> = None;
        self.searches = [0, 2 * starts.len()];
        for (start, shifts) in
            starts.into_iter().flat_map(|start| [(start.clone(), true), (start, false)])
        {
            if best.as_ref().is_some_and(|(_, found)| found.1 <= ENOUGH * ENOUGH) {
                break;
            }
            (self.accesses, self.has_time) = (0, true);
            let like = start.0.name.clone();
            let found = self.descend(start, shifts);
            self.searches[0] += 1;
            if best.as_ref().is_none_or(|(_, least)| found.1 < least.1) {
                best = Some((like, found));
            }
        }
        best.expect("each kind has a built-in profile")
    }

    /// Returns a profile with its error and the summary of its accesses.
    fn found(&mut self, profile: ManagedProfile) -> Option<Found> {
        self.judge(&profile).map(|(error, summary)| (profile, error, summary))
    }

    /// Finds the size of a card's log with which the card cleans as much as in the trace. A log
    /// of twice the size frees twice the slots with each fold.
    fn balance(&mut self, start: ManagedProfile) -> Option<Found> {
        let mut best = self.found(start)?;
        let cleaning = |summary: &Summary| {
            (summary.mean_ns - summary.percentile_ns[Summary::MEDIAN] as f64).max(1.0)
        };
        for _ in 0..6 {
            let mut other = best.0.clone();
            let Figures::Card(card) = &mut other.figures else { break };
            let factor = (cleaning(&best.2) / cleaning(&self.trace)).clamp(0.2, 5.0);
            let blocks = (f64::from(card.log_kib / card.log_block_kib) * factor) as u32;
            card.log_kib =
                blocks.max(2 * card.clean_high_blocks).saturating_mul(card.log_block_kib);
            match self.found(other) {
                Some(found) if found.1 < best.1 => best = found,
                _ => break,
            }
        }
        Some(best)
    }

    /// Changes one figure after the other by ever smaller factors, as long as that helps.
    fn descend(&mut self, start: Found, shifts: bool) -> Found {
        let mut best = start;
        for step in [1.6, 1.25, 1.1, 1.04] {
            if shifts {
                self.align(&mut best);
            }
            let mut is_better = true;
            while is_better && best.1 > GOOD * GOOD && self.has_time {
                is_better = false;
                for index in 0..figures_of(&mut best.0.figures).len() {
                    is_better |= self.improve(&mut best, index, step);
                }
            }
        }
        best
    }

    /// Shifts the time of a write and the time of cleaning by the errors at the median and at 99 %.
    /// Repeats this while the error falls. Without this shift, the search would need many steps.
    fn align(&mut self, best: &mut Found) {
        for _ in 0..6 {
            let mut other = best.0.clone();
            let off_us = |at: usize| {
                (self.trace.percentile_ns[at] as i64 - best.2.percentile_ns[at] as i64) / 1000
            };
            let [write, cleaning] = times_of(&mut other.figures);
            shift(write, off_us(Summary::MEDIAN));
            shift(cleaning, off_us(Summary::HIGH) - off_us(Summary::MEDIAN));
            match self.judge(&other) {
                Some((error, summary)) if error < best.1 => *best = (other, error, summary),
                _ => return,
            }
        }
    }

    /// Increases or decreases a figure as long as the error falls.
    fn improve(&mut self, best: &mut Found, index: usize, step: f64) -> bool {
        let mut is_better = false;
        for factor in [step, 1.0 / step] {
            while self.has_time {
                let mut other = best.0.clone();
                if !scale(&mut other.figures, index, factor) {
                    break;
                }
                match self.judge(&other) {
                    Some((error, summary)) if error < best.1 => {
                        *best = (other, error, summary);
                        is_better = true;
                    }
                    _ => break,
                }
            }
        }
        is_better
    }

    /// Runs a profile. Returns `None` if its figures contradict each other.
    fn judge(&mut self, profile: &ManagedProfile) -> Option<(f64, Summary)> {
        ManagedProfile::from_toml(&profile.to_toml()).ok()?;
        self.runs += 1;
        let small = part_of(profile);
        let mut device = Translation::new(&small, 1);
        device.fill();
        let warm_up = warm_up(&small.figures, self.write_bytes);
        self.accesses += warm_up + self.compared;
        let accesses_max = ACCESSES_MAX[usize::from(profile.card().is_none())];
        self.has_time = self.accesses < accesses_max;
        let [done, all] = self.searches;
        if all > 0 {
            let share = (self.accesses as f64 / accesses_max as f64).min(1.0);
            (self.progress)((done as f64 + share) / all as f64);
        }
        random_writes(&mut device, self.write_bytes, warm_up, 1);
        let trace = random_writes(&mut device, self.write_bytes, self.compared, 2);
        let fit = Summary::of(&trace, self.write_bytes, self.rates);
        Some((difference(&self.trace, &fit, self.write_bytes), fit))
    }
}

/// Changes a figure by a factor. If the factor is above 1, changes the figure by at least one unit.
/// Returns true if the figure changed.
fn scale(figures: &mut Figures, index: usize, factor: f64) -> bool {
    let Figure { value, unit, .. } = figures_of(figures).swap_remove(index);
    let units = *value / unit;
    let scaled = ((f64::from(units) * factor).round() as u32).max(1);
    let scaled = if scaled == units && factor > 1.0 { units + 1 } else { scaled };
    *value = scaled.saturating_mul(unit);
    scaled != units
}

/// Returns an eighth of a drive, with the same share of spare superblocks beyond the free ones.
/// It cleans as the whole drive does, and a run takes an eighth of the time.
fn part_of(profile: &ManagedProfile) -> ManagedProfile {
    let mut small = profile.clone();
    if let Figures::Drive(drive) = &mut small.figures {
        drive.capacity_mib = (drive.capacity_mib / 8).max(64);
        drive.spare_superblocks = drive.clean_high
            + (drive.spare_superblocks.saturating_sub(drive.clean_high) / 8).max(2);
    }
    small
}

/// Returns the number of writes after which the log or the spare superblocks are in use and
/// cleaning is in balance.
fn warm_up(figures: &Figures, write_bytes: u32) -> usize {
    let bytes = match figures {
        Figures::Card(card) => u64::from(card.log_kib) * 1024 * 2,
        Figures::Drive(drive) => {
            u64::from(drive.spare_superblocks) * u64::from(drive.superblock_kib) * 1024
        }
    };
    usize::try_from(bytes / u64::from(write_bytes))
        .map_or(WARM_UP_MAX, |count| count.min(WARM_UP_MAX))
}

/// Returns the mean square of the logarithms of the ratios. A backlog includes the write in
/// progress.
fn difference(trace: &Summary, fit: &Summary, write_bytes: u32) -> f64 {
    let mut pairs = vec![(trace.mean_ns, fit.mean_ns), (trace.mean_ns, fit.mean_ns)];
    pairs.extend(
        trace.percentile_ns.iter().zip(fit.percentile_ns).map(|(&a, b)| (a as f64, b as f64)),
    );
    let whole = f64::from(write_bytes);
    pairs.extend(
        trace
            .backlog_bytes
            .iter()
            .zip(fit.backlog_bytes)
            .map(|(&a, b)| (a as f64 + whole, b as f64 + whole)),
    );
    let squares = pairs.iter().map(|(a, b)| (a.max(1.0) / b.max(1.0)).ln().powi(2));
    squares.sum::<f64>() / pairs.len() as f64
}
