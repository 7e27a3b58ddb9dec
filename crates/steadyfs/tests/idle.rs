//! Idle work comes to an end on aged volumes, however small its budgets are.

use crate::common::medium::Medium;
use crate::common::{Device, Rng, for_seeds};
use steadyfs::media::sectors::{SectorLayout, TagPlace};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Budget, CommitOn, Config, OpenOptions};

/// Calls of `maintain` for each page of the medium, after which idle work counts as endless.
const CALLS_PER_PAGE: u32 = 8;

fn one_of<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// Returns a medium with blocks of few pages, on which each frame counts.
fn small(rng: &mut Rng, seed: u64) -> (Medium, Config) {
    let blocks = one_of(rng, &[48, 64, 96]);
    match rng.below(3) {
        0 => {
            let medium =
                Medium::nor(one_of(rng, &[4096, 8192]), blocks, one_of(rng, &[256, 512]), 1, seed);
            (medium.clone(), Config::for_geometry(&medium.geometry()))
        }
        1 => {
            let pages_per_block = one_of(rng, &[16, 32]);
            let geometry = Geometry {
                page_bytes: 512,
                pages_per_block,
                block_count: blocks,
                programs_bytes: false,
            };
            (Medium::nand(geometry, rng.one_in(2), seed), Config::for_geometry(&geometry))
        }
        _ => {
            let (page_bytes, block_sectors) =
                (one_of(rng, &[512, 1024]), one_of(rng, &[17, 33, 65]));
            let tags = TagPlace::Beside;
            let layout = SectorLayout {
                first: 0,
                sectors: blocks * block_sectors,
                block_sectors,
                page_bytes,
                tags,
                volume: 3,
            };
            (Medium::sectors(layout, seed), Config::for_sectors(&layout))
        }
    }
}

/// Returns a volume that fits.
fn device(rng: &mut Rng, seed: u64) -> Device {
    loop {
        let (medium, usual) = small(rng, seed);
        let config = Config {
            pages_per_logical_page: one_of(rng, &[1, 2, 4, usual.pages_per_logical_page]),
            files_max: one_of(rng, &[60, usual.files_max]),
            transaction_pages: one_of(rng, &[16, usual.transaction_pages]),
            overlay_entries: one_of(rng, &[56, 64, usual.overlay_entries]),
            ..usual
        };
        if config.check(&medium.geometry()).is_ok() {
            return Device::formatted(config, medium, seed);
        }
    }
}

/// On a forged card each copy of the first leaf took the frame that the victim before had won. Idle
/// work went on for as long as it was called.
#[test]
fn idle_work_ends_on_aged_volumes_of_small_blocks() {
    for_seeds("idle", "idle_work_ends_on_aged_volumes_of_small_blocks", 20, |seed| {
        let mut rng = Rng(seed << 8 ^ 0x1D1E);
        let mut device = device(&mut rng, seed);
        let geometry = device.chip.geometry();
        let most = CALLS_PER_PAGE * geometry.pages_per_block * geometry.block_count;
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        fs.set_commit_on(CommitOn::ON_SYNC);
        let room = fs.usage().usable_bytes * one_of(&mut rng, &[50, 70, 80, 90, 97, 100]) / 100;
        let files = (fs.usage().files_max / 2).clamp(1, 40);
        for round in 0..30 {
            for _ in 0..one_of(&mut rng, &[5, 40, 150]) {
                let name = format!("file-{}", rng.below(files.into()));
                let Ok(mut file) = fs.open(&name, OpenOptions::CREATE) else { continue };
                let most = (room / u64::from(files)).max(1);
                let bytes = vec![round; 1 + rng.below(most.min(3000)) as usize];
                let _ = fs.write(&mut file, rng.below(most), &bytes);
                fs.close(file).expect("close");
            }
            let _ = fs.commit();
            let (burst, budget) =
                (one_of(&mut rng, &[0, 4096, 20_000, 1 << 20]), 1 + rng.below(60) as u32);
            let mut calls = 0;
            // A budget that is too small for the next step leaves it, and a call with more takes
            // it.
            while !fs.maintain(Budget::Operations(budget + calls % 300), burst).expect("maintain") {
                calls += 1;
                assert!(
                    calls < most,
                    "seed {seed}, round {round}: no end after {calls} calls, {:?}",
                    fs.config()
                );
            }
        }
    });
}
