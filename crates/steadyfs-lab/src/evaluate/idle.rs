//! Bursts of accesses with idle time before each, in which the volume works ahead.

use super::checker::{Checker, Volume};
use super::writer::Writer;
use super::{EvaluateError, Idle};
use steadyfs::media::Flash;
use steadyfs_sim::{Counters, Metered};

/// The work in the idle times of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleWork {
    /// Number of bursts, each with one idle time before it.
    pub bursts: u64,
    /// Number of bursts for which everything was prepared.
    pub prepared: u64,
    /// Operations and time of all idle work together.
    pub spent: Counters,
    /// Longest idle work in nanoseconds.
    pub longest_ns: u64,
}

/// Returns the number of accesses of a burst: at least one.
pub fn burst_accesses(idle: &Idle, write_bytes: u64) -> u64 {
    (idle.burst_bytes / write_bytes).max(1)
}

/// Returns the bytes that a burst programs, which the volume prepares. A durable write of less
/// than a program page takes a whole page.
fn prepared_bytes(idle: &Idle, write_bytes: u64, page_bytes: u32) -> u64 {
    burst_accesses(idle, write_bytes) * write_bytes.max(page_bytes.into())
}

/// Makes `accesses` in bursts, and passes the offset of each access to `written`.
pub fn run_bursts<C: Flash + Metered>(
    idle: &Idle,
    (accesses, write_bytes): (u64, u64),
    writer: &mut Writer,
    fs: &mut Volume<'_, '_, C>,
    checker: &mut Checker<'_, '_>,
    mut written: impl FnMut(u64),
) -> Result<IdleWork, EvaluateError> {
    let mut work = IdleWork::default();
    let prepared_bytes = prepared_bytes(idle, write_bytes, fs.flash().geometry().page_bytes);
    for access in 0..accesses {
        if access % burst_accesses(idle, write_bytes) == 0 {
            let (spent, prepared) = checker.idle(fs, idle.idle_ns, prepared_bytes)?;
            work.note(&spent, prepared);
        }
        written(writer.access(fs, checker, write_bytes)?);
    }
    Ok(work)
}

impl IdleWork {
    fn note(&mut self, spent: &Counters, prepared: bool) {
        self.bursts += 1;
        self.prepared += u64::from(prepared);
        self.spent = self.spent.plus(spent);
        self.longest_ns = self.longest_ns.max(spent.time_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_is_whole_accesses_and_at_least_one() {
        let idle = Idle { idle_ns: 1, burst_bytes: 10_000 };
        assert_eq!(
            (burst_accesses(&idle, 4096), burst_accesses(&idle, 64), burst_accesses(&idle, 20_000)),
            (2, 156, 1)
        );
        assert_eq!(
            (prepared_bytes(&idle, 4096, 2048), prepared_bytes(&idle, 64, 2048)),
            (8192, 156 * 2048)
        );
    }

    #[test]
    fn work_is_summed_and_its_longest_kept() {
        let mut work = IdleWork::default();
        let all = Counters {
            reads: 1,
            tag_reads: 2,
            programs: 3,
            copies: 4,
            erases: 5,
            flushes: 0,
            bytes_read: 6,
            bytes_programmed: 7,
            time_ns: 60,
        };
        work.note(&all, true);
        work.note(&Counters { erases: 1, time_ns: 7, ..Counters::default() }, false);
        let spent = Counters { erases: 6, time_ns: 67, ..all };
        assert_eq!(work, IdleWork { bursts: 2, prepared: 1, spent, longest_ns: 60 });
    }
}
