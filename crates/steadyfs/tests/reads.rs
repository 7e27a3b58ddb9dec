//! Reads in order, in small pieces: how often they look at the map, and that what they remember of it is never old.

use crate::common::{Rng, for_seeds};
use steadyfs::media::nor::NorPages;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming};

const PIECE: usize = 16;

fn nand() -> Nand {
    let geometry = Geometry { page_bytes: 512, pages_per_block: 32, block_count: 64, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, 1)
}

fn nor() -> NorPages<Nor> {
    NorPages::new(Nor::with_geometry(4096, 128, NorTiming::ROUND, 1), 256)
}

/// Writes a file of so many bytes in order and reads it by small pieces; reads of the chip for each of its pages.
fn reads_of_a_page<F: Flash + Metered>(chip: F, bytes: u64) -> f64 {
    let config = Config::for_geometry(&chip.geometry());
    let page_bytes = u64::from(chip.geometry().page_bytes);
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    (0..bytes / 512).for_each(|at| fs.write(&mut file, at * 512, &[at as u8; 512]).unwrap());
    fs.close(file).unwrap();
    fs.commit().unwrap();
    // All of it is in leaves.
    let flash = fs.unmount().unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("file", OpenOptions::READ).unwrap();
    let before = fs.flash().counters();
    for at in (0..bytes).step_by(PIECE) {
        let mut data = [0; PIECE];
        fs.read(&mut file, at, &mut data).unwrap();
        assert_eq!(data, [(at / 512) as u8; PIECE], "at {at}");
    }
    fs.flash().counters().since(&before).reads as f64 / (bytes / page_bytes) as f64
}

/// Each page of a leaf was read again for each logical page, since it left the page buffer for the data.
#[test]
fn the_map_is_looked_at_once_for_pages_that_lie_in_order() {
    // NOR reads a page and its tag one by one.
    for (found, most) in [(reads_of_a_page(nor(), 160 << 10), 2.4), (reads_of_a_page(nand(), 256 << 10), 1.2)] {
        assert!(found < most, "{found} reads of a page, expected less than {most}");
    }
}

/// Overwrites, holes, removals and moves between reads in order of all that there is.
fn agrees<F: Flash>(chip: F, seed: u64) {
    let mut rng = Rng(seed);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let size = (fs.usage().usable_bytes * 7 / 10) as usize;
    let mut oracle = vec![0; size];
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    for round in 0..60u32 {
        let (at, bytes) = (rng.below(size as u64) as usize, 1 + rng.below(3000) as usize);
        let (at, to) = if round == 0 { (0, size) } else { (at, (at + bytes).min(size)) };
        oracle[at..to].fill(round as u8 + 1);
        for (step, from) in (at..to).step_by(256).enumerate() {
            fs.write(&mut file, from as u64, &oracle[from..(from + 256).min(to)]).unwrap();
            if step % 4 == 3 {
                fs.commit().unwrap();
            }
        }
        fs.commit().unwrap();
        // A part in order, as it is remembered, and then all of it by another piece.
        let (from, piece) = (rng.below(size as u64 / 2) as usize, PIECE << rng.below(5));
        for from in (from..size - piece).step_by(piece).take(200) {
            let mut data = vec![0; piece];
            fs.read(&mut file, from as u64, &mut data).unwrap();
            assert_eq!(data, oracle[from..from + piece], "round {round}, at {from}");
        }
    }
    let mut data = vec![0; size];
    fs.read(&mut file, 0, &mut data).unwrap();
    assert!(data == oracle);
}

#[test]
fn what_is_remembered_of_the_map_is_never_old() {
    for_seeds("reads", "what_is_remembered_of_the_map_is_never_old", 6, |seed| {
        agrees(nor(), seed);
        agrees(nand(), seed);
    });
}
