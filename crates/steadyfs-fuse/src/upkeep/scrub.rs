//! Reads data at rest. It finds pages whose bits have begun to flip and moves their data while the
//! ECC can still correct them.
//!
//! A step reads a few pages at a time without requests. A round through all data takes a month of
//! mounted time. The round begins anew with each mount.

use super::Upkeep;
use std::time::{Duration, Instant};
use steadyfs::Budget;

/// Time for a round. Bits of data at rest flip over years. So several rounds of a month fit into
/// the time before the ECC fails. Reads that are so rare do not disturb the chip.
const ROUND: Duration = Duration::from_secs(30 * 24 * 3600);
/// Shortest time between two steps. On very large chips it makes a round longer than a month.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// Time of the next step.
#[derive(Debug)]
pub(super) struct Scrub {
    /// `None` if scrubbing is of no use: the chip does not report corrected bits, nothing can be
    /// moved, or the chip does not answer.
    due: Option<Instant>,
}

impl Scrub {
    pub fn new(now: Instant) -> Self {
        Self { due: Some(now + PAUSE_MIN) }
    }

    /// Returns the time until the next step is due.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// Reads a few pages if a step is due. Returns true if weak blocks wait to be moved.
    pub fn step(&mut self, volume: &mut impl Upkeep, now: Instant) -> bool {
        if self.wait(now) != Some(Duration::ZERO) {
            return false;
        }
        self.due = read_some(volume).map(|reads| now + pause(reads, live_pages(volume)));
        volume.health().weak_blocks > 0
    }
}

/// Returns the time until the next step, after a step of `reads` reads in a round through `pages`
/// pages.
fn pause(reads: u32, pages: u64) -> Duration {
    let share = f64::from(reads) / pages.max(1) as f64;
    ROUND.mul_f64(share.min(1.0)).max(PAUSE_MIN)
}

/// Reads a few pages and returns their number, or `None` if scrubbing is of no use.
fn read_some(volume: &mut impl Upkeep) -> Option<u32> {
    let before = volume.health();
    // The mount has already read pages, so the strength of the ECC is known here if the chip
    // reports it.
    if before.read_only || before.worst.strength == 0 {
        return None;
    }
    // The root and the smallest step take less than the pages of a block. So this budget suffices
    // for a step, and a step reads at most the pages of a block.
    let budget = Budget::Operations(volume.describe().geometry.pages_per_block);
    volume.scrub(budget).ok()?;
    Some(volume.health().reads.wrapping_sub(before.reads))
}

/// Returns the number of pages in live frames.
fn live_pages(volume: &impl Upkeep) -> u64 {
    let description = volume.describe();
    let live = |block| volume.block(block).map_or(0, |block| u64::from(block.live));
    let frames: u64 = (0..description.geometry.block_count).map(live).sum();
    frames * u64::from(description.config.pages_per_logical_page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upkeep::Timer;
    use crate::volume::Changes;
    use steadyfs::media::Geometry;
    use steadyfs::{Access, Config, FileSystem, OpenOptions};
    use steadyfs_sim::fault::{BitErrorModel, BitErrors};
    use steadyfs_sim::{Nand, NandTiming};

    const GEOMETRY: Geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    const PAGES: u64 = 400;
    const DAY: Duration = Duration::from_secs(24 * 3600);
    /// Bits flip only with age: a page becomes weak after some months.
    const AGEING: BitErrorModel = BitErrorModel {
        fresh: 0.0,
        worn: 0.0,
        retention: 2.0,
        disturb: 0.0,
        weak_permille: 0,
        ..BitErrorModel::SLC
    };

    type Chip = BitErrors<Nand>;

    fn nand() -> Chip {
        BitErrors::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1))
    }

    /// Runs a test on a volume with a file. The chip may lose its bits with age.
    fn volume<T>(
        chip: Chip,
        access: Access,
        test: impl FnOnce(&mut Changes<'_, '_, Chip>, &mut Timer) -> T,
    ) -> T {
        let config = Config::for_geometry(&GEOMETRY);
        let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
        let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
        let mut file = fs.open("rest", OpenOptions::DURABLE).unwrap();
        for page in 0..PAGES {
            fs.write(&mut file, page * 512, &[page as u8; 512]).unwrap();
        }
        fs.close(file).unwrap();
        let chip = fs.unmount().unwrap();
        let mut fs = FileSystem::mount(chip, access, &mut memory).unwrap();
        test(&mut Changes::new(&mut fs), &mut Timer::new(Duration::from_secs(1)))
    }

    fn forgetful() -> Chip {
        nand().with_model(AGEING, 1).with_erases(100_000)
    }

    /// Lets time pass up to the next step, and makes this step. Returns the time.
    fn step(volume: &mut Changes<'_, '_, Chip>, timer: &mut Timer, now: Instant) -> Instant {
        let next = now + timer.scrub.wait(now).expect("scrubbing is of use");
        timer.scrub.step(volume, next);
        next
    }

    #[test]
    fn a_round_takes_a_month_in_steps_of_a_few_pages() {
        volume(forgetful(), Access::ReadWrite, |volume, timer| {
            let start = Instant::now();
            let pages = live_pages(volume);
            let (mut now, mut reads) = (start, 0);
            while reads < pages {
                let before = volume.fs().health().reads;
                now = step(volume, timer, now);
                let step = u64::from(volume.fs().health().reads - before);
                assert!((1..=16).contains(&step), "{step} reads in a step");
                reads += step;
            }
            let days = (now - start).as_secs_f64() / DAY.as_secs_f64();
            assert!((28.0..=32.0).contains(&days), "{days} days for {pages} pages");
        });
    }

    #[test]
    fn nothing_is_read_before_it_is_time() {
        volume(forgetful(), Access::ReadWrite, |volume, timer| {
            let now = step(volume, timer, Instant::now());
            let before = volume.fs().health().reads;
            assert!(timer.scrub.wait(now) > Some(PAUSE_MIN));
            timer.scrub.step(volume, now + PAUSE_MIN);
            assert_eq!(volume.fs().health().reads, before);
        });
    }

    #[test]
    fn what_ages_on_a_mounted_volume_moves_before_it_is_lost() {
        volume(forgetful(), Access::ReadWrite, |volume, timer| {
            let (start, mut hours, mut weak) = (Instant::now(), 0, 0);
            let mut now = start;
            while now < start + 48 * ROUND {
                now += timer.wait(volume, now).expect("scrubbing is of use");
                let passed = (now - start).as_secs() / 3600;
                volume.fs().flash_mut().advance_hours((passed - hours) as u32);
                hours = passed;
                timer.rest(volume, now);
                weak += u32::from(volume.fs().health().weak_blocks > 0);
            }
            assert!(weak > 20, "{weak} times something was weak");
            let health = volume.fs().health();
            assert_eq!(health.lost_reads, 0, "{health:?}");
        });
    }

    #[test]
    fn where_it_is_of_no_use_nothing_is_read() {
        for (chip, access) in [(nand(), Access::ReadWrite), (forgetful(), Access::ReadOnly)] {
            volume(chip, access, |volume, timer| {
                let now = Instant::now() + DAY;
                let before = volume.fs().health().reads;
                assert!(!timer.scrub.step(volume, now));
                assert_eq!((volume.fs().health().reads, timer.scrub.wait(now)), (before, None));
            });
        }
    }

    #[test]
    fn chips_too_large_for_a_month_are_read_every_second() {
        assert_eq!(pause(8, u64::from(u32::MAX)), PAUSE_MIN);
        assert_eq!(pause(8, 0), ROUND);
        assert_eq!(pause(8, 240), DAY);
    }
}
