//! Tests the disk against an oracle: random writes, trims and flushes, with power cuts and
//! failures in any of their operations. Every call must stay within its bound.

use crate::common::{Chip, Rng, SHAPES, Shape, for_seeds};
use crate::fail_once::{FailOnce, Way};
use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{
    Access, Bound, Budget, Config, ConfigError, Error, FileSystem, MountError, OpenOptions,
};
use steadyfs_lab::model::cost;
use steadyfs_sim::fault::Operation;
use steadyfs_sim::{Counters, FailOps, PowerCut, Trace};

const SECTOR: usize = SECTOR_BYTES as usize;

/// Returns a configuration. Some shapes have streams: named or automatic, with moved pages apart
/// or not.
fn config(shape: &Shape) -> Config {
    let config = shape.config();
    let pages_per_logical_page =
        if shape.page_bytes < SECTOR_BYTES { 2 } else { config.pages_per_logical_page };
    let (streams, moved_apart, auto_streams) = match shape.name {
        "nand-32x512-copy" => (4, false, false),
        "nand-64x256" => (2, true, true),
        "nor-256" => (3, true, false),
        _ => (1, false, false),
    };
    Config { files_max: 0, pages_per_logical_page, streams, moved_apart, auto_streams, ..config }
}

/// Returns an empty disk, and memory for it.
fn device(shape: &Shape, seed: u64) -> (Chip, Vec<u8>) {
    let mut chip = Trace::new(PowerCut::new(FailOps::new(shape.medium(seed), seed), seed));
    let config = config(shape);
    let mut memory = vec![0xA5; config.memory_bytes(&chip.geometry())];
    Disk::format(&mut chip, &config, &mut memory)
        .unwrap_or_else(|error| panic!("{}: {error}", shape.name));
    (chip, memory)
}

/// A chip that counts its operations, if it can.
trait Watched: Flash {
    /// Returns the counters of the operations, or `None` if the chip does not count or an
    /// operation has failed since the last call.
    fn spent(&mut self) -> Option<Counters>;
}

impl Watched for &mut Chip {
    fn spent(&mut self) -> Option<Counters> {
        let failed = |operation| !matches!(operation, Operation::Read | Operation::ReadTag);
        let is_clean = !self
            .records()
            .iter()
            .any(|record| failed(record.operation) && record.failure.is_some());
        self.take_records();
        is_clean.then(|| self.counts())
    }
}

impl Watched for &mut FailOnce {
    fn spent(&mut self) -> Option<Counters> {
        None
    }
}

/// The possible contents of a disk after a power cut: one state for each step since the last
/// durable step.
struct Oracle {
    states: Vec<Vec<u8>>,
    /// True if power may fail. Then a failed call may still have an effect, so its states stay in
    /// the list.
    keeps_failed: bool,
}

impl Oracle {
    fn now(&self) -> &[u8] {
        self.states.last().expect("a state")
    }

    fn changed(&self, sector: u32, bytes: &[u8]) -> Vec<u8> {
        let mut state = self.now().to_vec();
        state[sector as usize * SECTOR..][..bytes.len()].copy_from_slice(bytes);
        state
    }

    fn flushed(&mut self) {
        self.states.drain(..self.states.len() - 1);
    }
}

/// Makes a call that must not cost more than its bound. If the call fails, the volume must be
/// unchanged.
fn bounded<F: Watched, T>(
    disk: &mut Disk<'_, F>,
    oracle: &mut Oracle,
    call: DiskCall,
    states: Vec<Vec<u8>>,
    act: impl FnOnce(&mut Disk<'_, F>) -> Result<T, Error>,
) -> Result<T, Error> {
    let known = oracle.states.len();
    oracle.states.extend(states);
    let limit: Bound = disk.bound(call);
    let before = disk.flash_mut().spent();
    let result = act(disk);
    if let (Some(before), Some(after)) = (before, disk.flash_mut().spent()) {
        let cost = cost(&after.since(&before));
        assert!(limit.holds(&cost), "{call:?} took {cost:?}, its bound is {limit:?}");
    }
    if result.as_ref().is_err_and(|error| *error != Error::Unknown) && !oracle.keeps_failed {
        oracle.states.truncate(known);
    }
    result
}

/// Makes one random step on the first `sectors` sectors.
fn step<F: Watched>(
    disk: &mut Disk<'_, F>,
    oracle: &mut Oracle,
    rng: &mut Rng,
    sectors: u32,
) -> Result<(), Error> {
    let per_page = disk.page_sectors();
    let sector = rng.below(sectors.into()) as u32;
    let in_page = per_page - sector % per_page;
    match rng.below(20) {
        0..=12 => {
            // Whole pages, parts of a page, and now and then several pages.
            let (sector, count) = match rng.below(4) {
                0 | 1 => (sector - sector % per_page, per_page),
                2 => (sector, 1 + rng.below(in_page.into()) as u32),
                _ => (
                    sector,
                    1 + rng.below(u64::from(3 * per_page).min(u64::from(sectors - sector))) as u32,
                ),
            };
            let data: Vec<u8> =
                (0..count as usize * SECTOR).map(|at| (at / 7) as u8 ^ rng.0 as u8).collect();
            let durable = rng.one_in(3);
            let mut at = sector;
            for piece in pieces(&data, sector, per_page) {
                let (bytes, state) = (piece.len() as u32, vec![oracle.changed(at, piece)]);
                let stream = (at * 4 / sectors) as u8;
                let call =
                    if durable { DiskCall::WriteDurable(bytes) } else { DiskCall::Write(bytes) };
                bounded(disk, oracle, call, state, |disk| {
                    disk.write_with(at, piece, WriteOptions { durable, stream })
                })?;
                if durable {
                    oracle.flushed();
                }
                at += bytes / SECTOR_BYTES;
            }
        }
        13..=15 => {
            let (mut at, end) =
                (sector, (sector + rng.below(u64::from(30 * per_page)) as u32).min(sectors));
            while at < end {
                let (first, last) = (at.div_ceil(per_page), end / per_page);
                // A trim discards pages from the first page on, and returns the number of
                // sectors.
                let until = |page: u32, oracle: &Oracle| {
                    let bytes = (page.saturating_sub(first) * per_page) as usize * SECTOR;
                    if bytes == 0 {
                        oracle.now().to_vec()
                    } else {
                        oracle.changed(first * per_page, &vec![0; bytes])
                    }
                };
                let known = oracle.states.len();
                let states = (first..=last.max(first)).map(|page| until(page, oracle)).collect();
                let done =
                    bounded(disk, oracle, DiskCall::Trim, states, |disk| disk.trim(at, end - at))?;
                assert!(done > 0, "it goes on");
                oracle.states.truncate(known);
                oracle.states.push(until(((at + done) / per_page).min(last), oracle));
                at += done;
            }
        }
        16 | 17 => {
            bounded(disk, oracle, DiskCall::Flush, vec![], |disk| disk.flush())?;
            oracle.flushed();
        }
        18 => drop(disk.maintain(Budget::Operations(rng.below(40) as u32), 4096)?),
        _ => {
            let count = 1 + rng.below(u64::from(sectors - sector).min(40)) as usize;
            let mut found = vec![0xEE; count * SECTOR];
            bounded(disk, oracle, DiskCall::Read(found.len() as u32), vec![], |disk| {
                disk.read(sector, &mut found)
            })?;
            assert!(
                found == oracle.now()[sector as usize * SECTOR..][..found.len()],
                "sectors from {sector} on"
            );
        }
    }
    Ok(())
}

/// Splits a write into parts that lie in one logical page each.
fn pieces(data: &[u8], sector: u32, per_page: u32) -> Vec<&[u8]> {
    let first = (((per_page - sector % per_page) * SECTOR_BYTES) as usize).min(data.len());
    let (first, rest) = data.split_at(first);
    std::iter::once(first)
        .chain(rest.chunks((per_page * SECTOR_BYTES) as usize))
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn content<F: Flash>(disk: &mut Disk<'_, F>, sectors: u32) -> Vec<u8> {
    let mut found = vec![0xEE; sectors as usize * SECTOR];
    disk.read(0, &mut found).expect("read");
    found
}

#[test]
fn random_calls_leave_what_the_oracle_says() {
    for_seeds("disk", "random_calls_leave_what_the_oracle_says", 12, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let (mut chip, mut memory) = device(shape, seed);
        let mut rng = Rng(seed);
        let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let sectors = disk.sectors();
        let mut oracle =
            Oracle { states: vec![vec![0; sectors as usize * SECTOR]], keeps_failed: false };
        // The disk is full, and stays full except for trimmed sectors.
        for page in 0..sectors / disk.page_sectors() {
            let data = vec![page as u8 | 1; disk.page_sectors() as usize * SECTOR];
            let sector = page * disk.page_sectors();
            let state = vec![oracle.changed(sector, &data)];
            bounded(&mut disk, &mut oracle, DiskCall::Write(data.len() as u32), state, |disk| {
                disk.write(sector, &data)
            })
            .expect("fill");
            oracle.flushed();
        }
        for round in 0..3 {
            for number in 0..400 {
                // Writes come first: a disk without any trim is the hard case.
                let before = rng.clone();
                if number < 200 && (13..=15).contains(&rng.below(20)) {
                    continue;
                }
                rng.0 = before.0;
                step(&mut disk, &mut oracle, &mut rng, sectors)
                    .unwrap_or_else(|error| panic!("{}, {number}: {error}", shape.name));
                oracle.flushed();
            }
            assert!(content(&mut disk, sectors) == oracle.now(), "{}, round {round}", shape.name);
            disk.flush().expect("flush");
            if round % 2 == 0 {
                disk.unmount().expect("unmount");
            }
            disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount again");
            assert_eq!((disk.sectors(), disk.damage()), (sectors, None));
            assert!(content(&mut disk, sectors) == oracle.now(), "{}, mount {round}", shape.name);
        }
    });
}

#[test]
fn power_cut_leaves_a_state_of_the_past_that_has_all_that_was_flushed() {
    for_seeds(
        "disk",
        "power_cut_leaves_a_state_of_the_past_that_has_all_that_was_flushed",
        12,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (chip, mut memory) = device(shape, seed);
            let mut staged = chip.clone();
            let mut disk = Disk::mount(&mut staged, Access::ReadWrite, &mut memory).expect("mount");
            let sectors = (24 * disk.page_sectors()).min(disk.sectors());
            // The rest is full, so that reclamation is active.
            for sector in sectors..disk.sectors() {
                disk.write(sector, &[7; SECTOR]).expect("fill");
            }
            disk.unmount().expect("unmount");
            let blank = vec![0; sectors as usize * SECTOR];
            let mut n = 1 + seed % 5;
            loop {
                let (mut chip, mut rng) = (staged.clone(), Rng(seed));
                let mut oracle = Oracle { states: vec![blank.clone()], keeps_failed: true };
                let mut disk =
                    Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
                disk.flash_mut().inner_mut().cut_at(n);
                let cut =
                    (0..120).find_map(|_| step(&mut disk, &mut oracle, &mut rng, sectors).err());
                match cut {
                    None => break,
                    Some(error) => assert!(
                        matches!(error, Error::Device | Error::Unknown | Error::ReadOnly),
                        "{error}"
                    ),
                }
                chip.inner_mut().power_on();
                // Sometimes the next mount is cut as well.
                if n.is_multiple_of(3) {
                    chip.inner_mut().cut_at(1 + n % 4);
                    let _ = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).is_ok();
                    chip.inner_mut().cancel();
                    chip.inner_mut().power_on();
                }
                let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory)
                    .expect("mount after the cut");
                assert_eq!(disk.damage(), None);
                let found = content(&mut disk, sectors);
                assert!(
                    oracle.states.contains(&found),
                    "{}: cut {n}: none of {} states",
                    shape.name,
                    oracle.states.len()
                );
                let mut rest = [0; SECTOR];
                disk.read(sectors + n as u32 % (disk.sectors() - sectors), &mut rest)
                    .expect("read");
                assert_eq!(rest, [7; SECTOR]);
                // Work continues from this state.
                oracle.states = vec![found];
                (0..10)
                    .try_for_each(|_| step(&mut disk, &mut oracle, &mut rng, sectors))
                    .expect("work after the cut");
                assert!(content(&mut disk, sectors) == oracle.now());
                n += 3;
            }
        },
    );
}

/// Mounts after the cut are cut as well, many times in a row. Anything that one of these mounts
/// returned stays.
#[test]
fn starts_that_are_cut_again_and_again_lose_nothing() {
    for_seeds("disk", "starts_that_are_cut_again_and_again_lose_nothing", 60, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let (mut chip, mut memory) = device(shape, seed);
        let mut rng = Rng(seed);
        let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let sectors = (12 * disk.page_sectors()).min(disk.sectors());
        let mut oracle =
            Oracle { states: vec![vec![0; sectors as usize * SECTOR]], keeps_failed: true };
        for round in 0..40 {
            disk.flash_mut().inner_mut().cut_at(1 + rng.below(12));
            while step(&mut disk, &mut oracle, &mut rng, sectors).is_ok() {}
            for _ in 0..rng.below(20) {
                chip.inner_mut().power_on();
                chip.inner_mut().cut_at(1 + rng.below(8));
                // If a mount is not cut, the disk may begin to write, and is cut then.
                if let Ok(mut disk) = Disk::mount(&mut chip, Access::ReadWrite, &mut memory) {
                    let mut found = vec![0xEE; sectors as usize * SECTOR];
                    match disk.read(0, &mut found) {
                        // The next call may have to do the last erase of a mount.
                        Err(Error::Device) if disk.flash_mut().inner_mut().is_off() => continue,
                        result => result.expect("read"),
                    }
                    assert!(
                        oracle.states.contains(&found),
                        "{}, round {round}: none of the states",
                        shape.name
                    );
                    oracle.states = vec![found];
                    while step(&mut disk, &mut oracle, &mut rng, sectors).is_ok() {}
                }
            }
            chip.inner_mut().cancel();
            chip.inner_mut().power_on();
            disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory)
                .expect("mount after the cuts");
            let found = content(&mut disk, sectors);
            assert!(
                oracle.states.contains(&found),
                "{}, round {round}: none of the states",
                shape.name
            );
            oracle.states = vec![found];
        }
    });
}

#[test]
fn operation_that_fails_costs_at_most_its_call() {
    for_seeds("disk", "operation_that_fails_costs_at_most_its_call", 12, |seed| {
        let (copy, pages_per_logical_page) = (seed.is_multiple_of(2), 1 + seed as u16 % 2);
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 16,
            block_count: 64,
            programs_bytes: false,
        };
        let config = Config { pages_per_logical_page, ..Config::for_disk(&geometry) };
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let mut chip = FailOnce::new(geometry, copy);
        Disk::format(&mut chip, &config, &mut memory).expect("format");
        let mut rng = Rng(seed);
        let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let sectors = 24 * disk.page_sectors();
        let mut oracle =
            Oracle { states: vec![vec![0; sectors as usize * SECTOR]], keeps_failed: false };
        for round in 0..120 {
            disk.flash_mut().fail(rng.below(60), Way::ALL[rng.below(6) as usize]);
            for _ in 0..10 {
                let result = step(&mut disk, &mut oracle, &mut rng, sectors);
                disk.flash_mut().paused = true;
                match result {
                    Ok(()) | Err(Error::Device | Error::Corrupt) => {}
                    // After these errors, the result is unknown or the chip is locked. The next
                    // mount decides.
                    Err(Error::Unknown | Error::ReadOnly) => {
                        disk =
                            Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
                        let found = content(&mut disk, sectors);
                        assert!(oracle.states.contains(&found), "round {round}: {result:?}");
                        oracle.states = vec![found];
                    }
                    Err(error) => panic!("round {round}: {error}"),
                }
                assert!(content(&mut disk, sectors) == oracle.now(), "round {round}: {result:?}");
                disk.flash_mut().paused = false;
            }
        }
    });
}

#[test]
fn trim_makes_room_that_reclamation_need_not_move() {
    let shape = &SHAPES[0];
    let (mut chip, mut memory) = device(shape, 1);
    let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let (sectors, per_page) = (disk.sectors(), disk.page_sectors());
    let page = vec![3; per_page as usize * SECTOR];
    let work = |disk: &mut Disk<'_, &mut Chip>, sectors: u32| {
        let mut rng = Rng(1);
        let before = disk.flash().counts();
        for _ in 0..2000 {
            disk.write_durable(rng.below((sectors / per_page).into()) as u32 * per_page, &page)
                .expect("write");
        }
        let spent = disk.flash().counts().since(&before);
        spent.copies + spent.programs
    };
    (0..sectors).for_each(|sector| disk.write(sector, &[9; SECTOR]).expect("fill"));
    let full = work(&mut disk, sectors);
    let mut at = sectors / 4;
    while at < sectors {
        at += disk.trim(at, sectors - at).expect("trim");
    }
    disk.flush().expect("flush");
    let trimmed = work(&mut disk, sectors / 4);
    assert!(trimmed * 3 < full * 2, "{trimmed} programs and copies, {full} before");
    // A trim without effect passes many pages in one call.
    assert!(disk.trim(sectors / 2, sectors / 4).expect("trim") >= 64 * per_page);
    // A trim of less than a logical page has no effect.
    disk.flush().expect("flush");
    let before = disk.flash().counts();
    assert_eq!(disk.trim(1, per_page - 1), Ok(per_page - 1));
    assert!(!disk.has_changes() && disk.flash().counts() == before);
}

#[test]
fn what_is_no_disk_is_said() {
    let shape = &SHAPES[0];
    let (mut chip, mut memory) = device(shape, 1);
    assert_eq!(
        FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).err(),
        Some(MountError::IsDisk)
    );
    let mut disk = Disk::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let sectors = disk.sectors();
    assert_eq!(disk.read(sectors, &mut [0; SECTOR]), Err(Error::NoSuchSector));
    assert_eq!(disk.write(sectors - 1, &[0; 2 * SECTOR]), Err(Error::NoSuchSector));
    assert_eq!(disk.write_durable(0, &[0; 100]), Err(Error::NoSuchSector));
    assert_eq!(disk.write(u32::MAX, &[0; SECTOR]), Err(Error::NoSuchSector));
    assert_eq!(disk.trim(1, sectors), Err(Error::NoSuchSector));
    assert_eq!(disk.trim(u32::MAX, 2), Err(Error::NoSuchSector));
    assert_eq!((disk.trim(sectors, 0), disk.read(sectors, &mut [])), (Ok(0), Ok(())));
    disk.unmount().expect("unmount");
    let mut disk = Disk::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!(disk.write(0, &[0; SECTOR]), Err(Error::ReadOnly));
    let files = shape.config();
    assert_eq!(
        Disk::format(&mut chip, &files, &mut memory).err(),
        Some(ConfigError::FilesOrFailures.into())
    );
    assert_eq!(
        FileSystem::format(&mut chip, &config(shape), &mut memory).err(),
        Some(ConfigError::FilesOrFailures.into())
    );
    let mut memory = vec![0; files.memory_bytes(&chip.geometry())];
    FileSystem::format(&mut chip, &files, &mut memory).expect("format");
    assert_eq!(
        Disk::mount(&mut chip, Access::ReadWrite, &mut memory).err(),
        Some(MountError::IsFileSystem)
    );
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    assert!(fs.open("file", OpenOptions::CREATE).is_ok());
    let small = &SHAPES[2];
    let (mut chip, mut memory) = device(small, 1);
    let narrow = Config { pages_per_logical_page: 1, ..config(small) };
    assert_eq!(
        Disk::format(&mut chip, &narrow, &mut memory).err(),
        Some(ConfigError::SectorBytes.into())
    );
}
