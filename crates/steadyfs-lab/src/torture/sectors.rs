//! Steps on a disk while its power fails.

use crate::model::Rng;
use crate::model::disk::Step;

/// Sizes from which steps are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disk {
    pub sectors: u32,
    /// Sectors of a logical page.
    pub page_sectors: u32,
    pub streams: u8,
}

/// Number of pages of a disk that most steps use.
const BUSY_PAGES: u32 = 12;

/// Returns the steps that a seed draws. Most are writes: of whole pages, of a part of a page, and
/// of several pages at once.
pub(super) fn sector_steps(seed: u64, disk: &Disk) -> impl Iterator<Item = Step> {
    let (mut rng, disk) = (Rng(seed ^ 0xD15C), *disk);
    std::iter::repeat_with(move || match rng.below(20) {
        0..=11 => write(&mut rng, &disk),
        12..=13 => trim(&mut rng, &disk),
        14..=16 => Step::Flush,
        17 => {
            let sector = sector(&mut rng, &disk);
            let count = 1 + rng.below(u64::from(disk.sectors - sector).min(20)) as u32;
            Step::Read { sector, count }
        }
        18 => Step::Maintain { operations: rng.below(100) as u32, burst: rng.below(1 << 14) },
        _ => match rng.below(3) {
            0 => Step::Scrub { operations: rng.below(40) as u32 },
            1 => Step::Remount,
            _ => Step::Crash,
        },
    })
}

/// Returns a sector. Half of them are anywhere, and half are in the busy pages.
fn sector(rng: &mut Rng, disk: &Disk) -> u32 {
    let busy = disk.sectors.min(BUSY_PAGES * disk.page_sectors);
    let first = if rng.one_in(2) { busy } else { disk.sectors };
    rng.below(first.into()) as u32
}

fn write(rng: &mut Rng, disk: &Disk) -> Step {
    let (sector, per_page) = (sector(rng, disk), disk.page_sectors);
    let within = sector % per_page;
    let (sector, count) = match rng.below(8) {
        0..=3 => (sector - within, per_page),
        4..=6 => (sector, 1 + rng.below((per_page - within).into()) as u32),
        _ => (
            sector,
            1 + rng.below(u64::from(disk.sectors - sector).min(u64::from(3 * per_page))) as u32,
        ),
    };
    // Each stream has its part of the disk; now and then a page changes its stream.
    let stream = if rng.one_in(8) {
        rng.below(disk.streams.into())
    } else {
        u64::from(sector % u32::from(disk.streams))
    };
    Step::Write { sector, count, durable: rng.one_in(4), stream: stream as u8 }
}

/// Trims a few pages, or many. A page that is covered in part at either end stays whole.
fn trim(rng: &mut Rng, disk: &Disk) -> Step {
    let sector = sector(rng, disk);
    let pages = if rng.one_in(8) { 40 } else { 3 };
    let count = 1 + rng
        .below(u64::from(disk.sectors - sector).min(u64::from(pages * disk.page_sectors)))
        as u32;
    Step::Trim { sector, count }
}
