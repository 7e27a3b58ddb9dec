//! Tests of writes at any offset against an oracle, of acknowledged flushes on a failing medium,
//! and of requests that a disk refuses.

use super::{DiskVolume, FILE, NAME, Set};
use crate::options::Options;
use crate::upkeep::Upkeep;
use fastrand::Rng;
use fuser::{Errno, INodeNo};
use rustix::fs::FallocateFlags;
use steadyfs::disk::Disk;
use steadyfs::media::Geometry;
use steadyfs::{Access, CommitLimits, CommitOn, Config};
use steadyfs_sim::{FailOps, Nand, NandTiming};

type Chip = FailOps<Nand>;

/// Bytes of a logical page: four sectors.
const PAGE: u64 = 2048;

fn volume<T>(options: &Options, test: impl FnOnce(&mut DiskVolume<'_, '_, Chip>) -> T) -> T {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 64, programs_bytes: false };
    let config = Config { pages_per_logical_page: 1, ..Config::for_disk(&geometry) };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let flash = FailOps::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 1);
    let flash = Disk::format(flash, &config, &mut memory).unwrap();
    let mut disk = Disk::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    test(&mut DiskVolume::new(&mut disk, options))
}

fn code<T>(result: Result<T, Errno>) -> i32 {
    result.map(drop).unwrap_err().code()
}

fn mode(flags: FallocateFlags) -> i32 {
    flags.bits().cast_signed()
}

#[test]
fn bytes_at_any_place_are_what_was_written() {
    volume(&Options::default(), |volume| {
        let bytes = 40 * PAGE;
        let (mut rng, mut oracle) = (Rng::with_seed(1), vec![0; bytes as usize]);
        for step in 0..3_000 {
            let offset = rng.u64(..bytes);
            let most = if rng.bool() { 700 } else { 5 * PAGE };
            let length = rng.u64(1..=most.min(bytes - offset));
            let range = offset as usize..(offset + length) as usize;
            match rng.u32(..10) {
                0 => volume.sync().unwrap(),
                1 => {
                    let zeros = [
                        FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
                        FallocateFlags::ZERO_RANGE,
                    ];
                    volume.allocate(offset, length, mode(zeros[rng.usize(..2)])).unwrap();
                    oracle[range].fill(0);
                }
                2..5 => assert!(
                    volume.read(offset, length as u32).unwrap() == oracle[range],
                    "step {step}"
                ),
                _ => {
                    let data: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
                    assert_eq!(volume.write(offset, &data).unwrap(), length as u32);
                    oracle[range].copy_from_slice(&data);
                }
            }
        }
        assert!(volume.read(0, bytes as u32).unwrap() == oracle);
    });
}

#[test]
fn a_range_that_is_zeroed_gives_its_whole_pages_back() {
    volume(&Options::default(), |volume| {
        volume.write(0, &[7; 6 * PAGE as usize]).unwrap();
        volume.allocate(PAGE - 100, 2 * PAGE + 200, mode(FallocateFlags::ZERO_RANGE)).unwrap();
        let disk = volume.sectors.disk();
        let written = [0, 4, 8, 12, 16].map(|sector| disk.is_written(sector).unwrap());
        assert_eq!(written, [true, false, false, true, true]);
        assert_eq!(volume.read(PAGE - 101, 2).unwrap(), [7, 0]);
        assert_eq!(volume.read(3 * PAGE + 99, 2).unwrap(), [0, 7]);
    });
}

#[test]
fn the_size_is_that_of_the_disk_whatever_is_asked_for() {
    volume(&Options::default(), |volume| {
        let file = volume.lookup(INodeNo::ROOT, NAME).unwrap().attr;
        let size = file.size;
        assert_eq!(size, u64::from(volume.sectors.disk().sectors()) * 512);
        assert_eq!(code(volume.lookup(INodeNo::ROOT, "other")), Errno::ENOENT.code());
        let mut resize = |size| volume.set(FILE, Set { size: Some(size), ..Set::default() });
        assert!(resize(size).is_ok());
        assert_eq!(code(resize(size + 1)), Errno::EFBIG.code());
        assert_eq!(code(resize(0)), Errno::EPERM.code());
        assert_eq!(volume.write(size - 5, &[1; 10]).unwrap(), 5);
        assert_eq!(code(volume.write(size, &[1; 10])), Errno::ENOSPC.code());
        assert_eq!(volume.read(size - 6, 100).unwrap(), [0, 1, 1, 1, 1, 1]);
        assert!(volume.read(size, 100).unwrap().is_empty());
        let keep = mode(FallocateFlags::KEEP_SIZE);
        assert!(volume.allocate(0, size, 0).is_ok() && volume.allocate(7, 7, keep).is_ok());
        assert_eq!(code(volume.allocate(0, size + 1, keep)), Errno::ENOSPC.code());
        assert_eq!(
            code(volume.allocate(0, 100, mode(FallocateFlags::COLLAPSE_RANGE))),
            Errno::EOPNOTSUPP.code()
        );
        assert_eq!(
            code(volume.set(FILE, Set { mode: Some(0o600), ..Set::default() })),
            Errno::EPERM.code()
        );
    });
}

#[test]
fn a_flush_that_failed_is_not_acknowledged_by_the_next_one() {
    volume(&Options::default(), |volume| {
        volume.write(0, &[1; PAGE as usize]).unwrap();
        volume.sync().unwrap();
        volume.write(0, &[2; PAGE as usize]).unwrap();
        // More programs fail than a call tolerates, so the result of the commit is unknown.
        let count = 2 + u64::from(volume.sectors.disk().config().failures);
        for program in 1..=count {
            volume.sectors.disk().flash_mut().fail_program(program);
        }
        let codes = [(); 3].map(|()| code(volume.sync()));
        assert_eq!(codes, [Errno::EIO, Errno::EROFS, Errno::EROFS].map(|error| error.code()));
        assert!(volume.sectors.has_changes());
    });
}

#[test]
fn a_disk_with_a_commit_for_every_write_leaves_nothing_to_flush() {
    let options = Options { commit_on: CommitOn::EVERY_WRITE, ..Options::default() };
    volume(&options, |volume| {
        volume.write(3, &[1; 5000]).unwrap();
        assert!(!volume.sectors.has_changes());
        volume.allocate(0, 3 * PAGE, mode(FallocateFlags::ZERO_RANGE)).unwrap();
        assert!(!volume.sectors.has_changes());
    });
}

#[test]
fn a_disk_commits_when_many_writes_or_bytes_wait() {
    for (changes, bytes, expected) in [(3, 0, 3), (0, 5000, 5), (4, 2500, 3)] {
        let commit_limits = CommitLimits { changes, bytes };
        let options =
            Options { commit_on: CommitOn::IN_GROUPS, commit_limits, ..Options::default() };
        volume(&options, |volume| {
            for _ in 0..2 {
                let waits = (0..expected).map(|at| {
                    volume.write(at * 3000, &[1; 1000]).unwrap();
                    volume.sectors.has_changes()
                });
                assert_eq!(
                    waits.filter(|waits| *waits).count() as u64,
                    expected - 1,
                    "{commit_limits:?}"
                );
                assert!(!volume.sectors.has_changes());
            }
        });
    }
}
