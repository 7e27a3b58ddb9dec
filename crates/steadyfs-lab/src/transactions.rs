//! Where the cost of a commit appears: the same four calls under different events that commit.
//!
//! An application creates a file, writes to it, flushes and closes it. What each of these calls takes depends on the event after
//! which the volume commits; the commit itself is the same, and moves from column to column. A device with a cache of its
//! own adds the time that it takes to empty it, once for each commit.
//!
//! [`run`] measures, and gives [`Transactions`].

mod flushing;
mod table;

pub use table::{EventCost, Events, Transactions};

use crate::costs::CostsError;
use crate::evaluate::Timing;
use crate::evaluate::device::{OnChip, find_profile, on_chip};
use flushing::Flushing;
use steadyfs::media::Flash;
use steadyfs::{Access, Call, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::Metered;

/// Interval of the timed commit.
const INTERVAL_NS: u64 = 1_000_000_000;

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Time that the device takes to empty its own cache, in nanoseconds. Default 0: raw flash has none.
    pub flush_ns: u64,
    /// Bytes written to each file. Default 4,096.
    pub write_bytes: u64,
    /// Files. Default 100.
    pub files: u32,
}

impl Default for Options {
    fn default() -> Options {
        let device = "mt29f1g01abafd".to_string();
        Options { device, timing: Timing::default(), flush_ns: 0, write_bytes: 4096, files: 100 }
    }
}

impl Events {
    /// The events after which the volume commits by itself.
    pub(crate) fn commit_on(self) -> CommitOn {
        let always = CommitOn::FULL.with(CommitOn::UNMOUNT);
        match self {
            Events::Close => always.with(CommitOn::CLOSE),
            Events::Timed => always.with(CommitOn::TIMED),
            Events::Flush => always.with(CommitOn::FSYNC),
            Events::EveryWrite => CommitOn::EVERY_WRITE,
            Events::Manual => CommitOn::MANUAL,
        }
    }
}

/// Measures the four calls under each choice of events.
///
/// # Errors
/// [`CostsError`]: the device is not possible, or the volume refused a call.
pub fn run(options: &Options) -> Result<Transactions, CostsError> {
    let profile = find_profile(&options.device)?;
    let mut rows = Vec::new();
    for events in Events::ALL {
        rows.push(on_chip(&profile, options.timing, 1, FourCalls { options, events })?);
    }
    Ok(Transactions {
        device: profile.name,
        timing: options.timing.to_string(),
        flush_us: options.flush_ns as f64 / 1e3,
        write_bytes: options.write_bytes,
        files: options.files,
        rows,
    })
}

/// The four calls, many times, under one choice of events.
struct FourCalls<'o> {
    options: &'o Options,
    events: Events,
}

/// Time of each call of one file, and of what comes after it.
type Times = [u64; 5];

impl OnChip for FourCalls<'_> {
    type Output = Result<EventCost, CostsError>;

    fn run<C: Flash + Metered>(self, chip: C) -> Self::Output {
        let mut chip = Flushing::new(chip, self.options.flush_ns);
        let geometry = chip.geometry();
        let config = Config::for_geometry(&geometry);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        FileSystem::format(&mut chip, &config, &mut memory)?;
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)?;
        fs.set_commit_on(self.events.commit_on());
        fs.set_commit_interval(INTERVAL_NS);
        let mut times: Vec<Times> = Vec::new();
        for number in 0..self.options.files {
            let failed = |error| {
                let call = Call::Write(self.options.write_bytes as u32);
                CostsError::Volume { step: format!("{}, file {number}", self.events), call, error }
            };
            times.push(self.one_file(&mut fs, number).map_err(failed)?);
        }
        Ok(EventCost::of(self.events, &times))
    }
}

impl FourCalls<'_> {
    /// One file: the four calls, and then the commit that only the clock or the application makes.
    fn one_file<C: Flash + Metered>(&self, fs: &mut FileSystem<'_, &mut Flushing<C>>, number: u32) -> Result<Times, Error> {
        let data = vec![number as u8; self.options.write_bytes as usize];
        // Files follow each other after the interval of the timed commit.
        let now_ns = (u64::from(number) + 1) * 2 * INTERVAL_NS;
        fs.set_time(now_ns);
        let mut stamps = vec![fs.flash().time_ns()];
        let mut file = fs.open(&format!("file-{number:03}"), OpenOptions::CREATE)?;
        stamps.push(fs.flash().time_ns());
        fs.write(&mut file, 0, &data)?;
        stamps.push(fs.flash().time_ns());
        fs.flush(&file)?;
        stamps.push(fs.flash().time_ns());
        fs.close(file)?;
        stamps.push(fs.flash().time_ns());
        match self.events {
            Events::Manual => fs.commit()?,
            _ => drop(fs.poll(now_ns + INTERVAL_NS)?),
        }
        stamps.push(fs.flash().time_ns());
        Ok(std::array::from_fn(|call| stamps[call + 1] - stamps[call]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(flush_ns: u64) -> Transactions {
        run(&Options { flush_ns, files: 20, ..Options::default() }).unwrap()
    }

    #[test]
    fn commit_moves_to_the_call_that_was_chosen() {
        let flush_us = 955_000.0;
        let transactions = run_with(955_000_000);
        for row in &transactions.rows {
            let means = [row.create_us, row.write_us, row.flush_us, row.close_us, row.after_us];
            let expected: &[usize] = match row.events {
                Events::Close => &[3],
                Events::Timed | Events::Manual => &[4],
                Events::Flush => &[2],
                Events::EveryWrite => &[0, 1],
            };
            for (call, us) in means.iter().enumerate() {
                assert_eq!(*us >= flush_us, expected.contains(&call), "{}: {means:?}", row.events);
            }
        }
    }

    #[test]
    fn device_that_has_no_cache_adds_nothing() {
        let (without, with) = (run_with(0), run_with(1_000));
        for (without, with) in without.rows.iter().zip(&with.rows) {
            let commits = if without.events == Events::EveryWrite { 2.0 } else { 1.0 };
            // The first change of all writes a root before it, which is emptied out of the cache as well.
            let roots = 1.0 / 20.0;
            let more = with.total_us - without.total_us;
            assert!((more - commits - roots).abs() < 1e-6, "{}: {more}", without.events);
        }
    }
}
