//! Power fails in any program, copy or erase of appends, overwrites and cuts. A compressed file
//! then holds the committed content, or the content in flight.
//!
//! `STEADYFS_CUTS` sets the number of cuts.

mod common;

use common::{Random, Step, chip, content, draw, format, make, states};
use steadyfs::{Access, CommitOn, FileSystem};
use steadyfs_compress::{Method, PackedFile, Shape};
use steadyfs_sim::{Nand, PowerCut};

const CUTS: usize = 400;
const MOST: usize = 90_000;

/// Makes steps on a volume until power fails. Returns the contents that the file may hold then.
fn go_on(
    fs: &mut FileSystem<'_, PowerCut<Nand>>,
    file: &mut PackedFile<Vec<u8>>,
    random: &mut Random,
    start: Vec<u8>,
    log: &mut Vec<Step>,
) -> Vec<Vec<u8>> {
    let chunk = file.shape().chunk_bytes();
    let mut may_be = vec![start];
    loop {
        let now = may_be[may_be.len() - 1].clone();
        let step = draw(random, now.len(), MOST, chunk);
        may_be.extend(states(&now, &step, chunk));
        log.push(step.clone());
        let result = make(fs, file, &step);
        if fs.flash().is_off() {
            return may_be;
        }
        result.unwrap_or_else(|error| panic!("{step:?}: {error}"));
        if matches!(step, Step::Commit) || fs.commit_on().contains(CommitOn::WRITE) {
            may_be.drain(..may_be.len() - 1);
        }
    }
}

#[test]
fn power_cuts_in_appends_and_overwrites_leave_what_was_committed_or_in_flight() {
    let cuts =
        std::env::var("STEADYFS_CUTS").ok().map_or(CUTS, |text| text.parse().expect("a number"));
    let seed =
        std::env::var("STEADYFS_SEED").ok().map_or(11, |text| text.parse().expect("a number"));
    let shape = Shape::new(4096, Method::Lz4).for_size(0);
    let (flash, mut ram) = format(chip());
    let mut flash = PowerCut::new(flash, seed);
    let mut random = Random(seed);
    {
        let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
        let file =
            PackedFile::create(&mut fs, "f", shape, vec![0; shape.write_bytes()]).expect("a file");
        file.close(&mut fs).expect("closed");
        flash = fs.unmount().expect("unmounted");
    }
    let mut held = Vec::new();
    for cut in 0..cuts {
        let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
        let events = if random.below(3) == 0 { CommitOn::EVERY_WRITE } else { CommitOn::ON_SYNC };
        fs.set_commit_on(events);
        let mut file =
            PackedFile::open(&mut fs, "f", true, vec![0; shape.write_bytes()]).expect("the file");
        fs.flash_mut().cut_at(1 + random.below(120) as u64);
        let mut log = Vec::new();
        let may_be = go_on(&mut fs, &mut file, &mut random, held, &mut log);
        let mut medium = fs.flash().clone();
        drop(fs);
        medium.power_on();
        // A second cut, in the recovery.
        if random.below(4) == 0 {
            medium.cut_at(1 + random.below(12) as u64);
            let _ = FileSystem::mount(&mut medium, Access::ReadWrite, &mut ram).map(drop);
            medium.cancel();
            medium.power_on();
        }
        let mut fs = FileSystem::mount(medium, Access::ReadWrite, &mut ram).expect("a mount");
        let mut file =
            PackedFile::open(&mut fs, "f", true, vec![0; shape.write_bytes()]).expect("the file");
        held = content(&mut fs, &mut file);
        assert!(
            may_be.contains(&held),
            "seed {seed}, cut {cut}: {} bytes that were never committed, after {} steps",
            held.len(),
            log.len()
        );
        file.close(&mut fs).expect("closed");
        flash = fs.unmount().expect("unmounted");
    }
}
