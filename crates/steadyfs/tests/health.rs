//! Tests chips that wear out, lose charge and lock themselves. Weak pages are moved before they
//! are lost, and other blocks replace failed blocks. At the end of its life, a volume is still
//! readable.

use steadyfs::media::{Corrected, Flash, Geometry};
use steadyfs::{Access, BlockState, Budget, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::fault::{BitErrorModel, BitErrors, Lives};
use steadyfs_sim::{FailOps, Metered, Nand, NandTiming};

type Chip = BitErrors<FailOps<Nand>>;

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
const PAGE: usize = 512;
/// Bits flip with age alone. After a year, 4 of the 8 correctable bits have flipped. In the
/// second year, three quarters of the 8 have.
const AGEING: BitErrorModel = BitErrorModel {
    fresh: 0.0,
    worn: 0.0,
    retention: 2.0,
    disturb: 0.0,
    weak_permille: 0,
    ..BitErrorModel::SLC
};
const WORN_ERASES: u32 = 100_000;
const MONTH_HOURS: u32 = 730;

fn config() -> Config {
    Config { bad_blocks_max: 4, ..Config::for_geometry(&GEOMETRY) }
}

fn memory() -> Vec<u8> {
    vec![0; config().memory_bytes(&GEOMETRY)]
}

/// Formats a chip.
fn volume(chip: Chip) -> Chip {
    FileSystem::format(chip, &config(), &mut memory()).expect("format")
}

fn nand() -> Nand {
    Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1)
}

/// Returns a formatted chip whose bits flip.
fn forgetful(model: BitErrorModel) -> Chip {
    volume(BitErrors::new(FailOps::new(nand(), 1)).with_model(model, 1).with_erases(WORN_ERASES))
}

fn content(index: u64) -> Vec<u8> {
    (0..PAGE).map(|at| (at as u64 * 31 + index * 7 + at as u64 / 256) as u8).collect()
}

/// Writes a file of `pages` pages.
fn write(fs: &mut FileSystem<'_, &mut Chip>, name: &str, pages: u64) -> Result<(), Error> {
    let mut file = fs.open(name, OpenOptions::DURABLE)?;
    for index in 0..pages {
        fs.write(&mut file, index * PAGE as u64, &content(index))?;
    }
    fs.close(file)
}

/// Reads a file of [`write()`] and compares its contents.
fn assert_content(fs: &mut FileSystem<'_, &mut Chip>, name: &str, pages: u64) {
    let mut file = fs.open(name, OpenOptions::READ).expect("open");
    for index in 0..pages {
        let mut data = vec![0; PAGE];
        fs.read(&mut file, index * PAGE as u64, &mut data)
            .unwrap_or_else(|error| panic!("page {index} of {name}: {error}"));
        assert_eq!(data, content(index), "page {index} of {name}");
    }
    fs.close(file).expect("close");
}

fn blocks_in(fs: &FileSystem<'_, &mut Chip>, state: BlockState) -> u32 {
    (0..GEOMETRY.block_count)
        .filter(|&block| fs.block(block).is_some_and(|info| info.state == state))
        .count() as u32
}

#[test]
fn data_at_rest_that_is_scrubbed_every_month_lasts() {
    let mut chip = forgetful(AGEING);
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 200).expect("write");
    let mut weak = 0;
    for _ in 0..72 {
        fs.flash_mut().advance_hours(MONTH_HOURS);
        assert!(fs.scrub(Budget::Operations(u32::MAX)).expect("scrub"), "a round ends");
        weak += fs.health().weak_blocks;
        while !fs.maintain(Budget::Operations(1000), 0).expect("maintain") {}
        assert_eq!(blocks_in(&fs, BlockState::Weak), 0, "weak blocks that did not move");
    }
    assert!(weak > 20, "{weak} blocks became weak");
    assert_eq!(fs.health().lost_reads, 0);
    assert_content(&mut fs, "rest", 200);
}

#[test]
fn data_at_rest_that_nobody_looks_at_is_lost_and_says_so() {
    let mut chip = forgetful(AGEING);
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 200).expect("write");
    let mut file = fs.open("rest", OpenOptions::READ).expect("open");
    fs.flash_mut().advance_hours(72 * MONTH_HOURS);
    let mut lost = 0;
    for index in 0..200 {
        let mut data = vec![0; PAGE];
        match fs.read(&mut file, index * PAGE as u64, &mut data) {
            Ok(_) => assert_eq!(data, content(index), "wrong data in page {index}"),
            Err(error) => {
                assert_eq!(error, Error::Corrupt);
                lost += 1;
            }
        }
    }
    assert!(lost > 0, "six years pass without a loss: the test shows nothing");
    assert!(fs.health().lost_reads >= lost);
}

#[test]
fn weak_blocks_move_with_the_calls_that_write() {
    let mut chip = forgetful(AGEING);
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 200).expect("write");
    fs.flash_mut().advance_hours(10 * MONTH_HOURS);
    fs.scrub(Budget::Operations(u32::MAX)).expect("scrub");
    let weak = blocks_in(&fs, BlockState::Weak);
    assert!(weak > 2, "{weak} blocks are weak");
    for _ in 0..20 {
        write(&mut fs, "busy", 40).expect("write");
    }
    assert_eq!(blocks_in(&fs, BlockState::Weak), 0);
    assert_content(&mut fs, "rest", 200);
}

#[test]
fn reads_of_one_page_show_what_they_disturb_beside_it() {
    let disturbed = BitErrorModel {
        fresh: 0.0,
        worn: 0.0,
        retention: 0.0,
        disturb: 40.0,
        weak_permille: 0,
        ..BitErrorModel::SLC
    };
    let mut chip = forgetful(disturbed);
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "boot", 30).expect("write");
    let mut file = fs.open("boot", OpenOptions::READ).expect("open");
    let mut data = vec![0; PAGE];
    let mut moved = 0;
    for _ in 0..600_000 {
        fs.read(&mut file, 3 * PAGE as u64, &mut data).expect("read");
        if fs.health().weak_blocks > 0 {
            moved += 1;
            while !fs.maintain(Budget::Operations(1000), 0).expect("maintain") {}
        }
    }
    assert!(moved > 1, "the block moved {moved} times");
    assert_content(&mut fs, "boot", 30);
    assert_eq!(fs.health().lost_reads, 0);
}

#[test]
fn health_counts_what_the_chip_counts() {
    let mut chip = forgetful(AGEING);
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let before = fs.health();
    for _ in 0..30 {
        write(&mut fs, "busy", 300).expect("write");
    }
    let health = fs.health();
    assert_eq!((health.bad_blocks, health.spare_blocks, health.read_only), (0, 4, false));
    let counts: Vec<u32> = {
        let counts = fs.flash().inner().inner().erase_counts();
        let levelled = |&(block, _): &(usize, &u32)| {
            fs.block(block as u32).unwrap().state != BlockState::Reserved
        };
        counts.iter().enumerate().filter(levelled).map(|(_, &count)| count).collect()
    };
    assert_eq!(health.blocks as usize, counts.len());
    assert_eq!(
        (health.erases_min, health.erases_max),
        (*counts.iter().min().unwrap(), *counts.iter().max().unwrap())
    );
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    assert_eq!(health.erases_total, total);
    assert_eq!(u64::from(health.life_used_permille(1000)), total / health.blocks as u64);
    let erases = total - before.erases_total;
    let left = health.life_left_ns(1000, &before, 5_000_000_000).expect("something was erased");
    assert_eq!(left, (u64::from(health.blocks) * 1000 - total) * 5_000_000_000 / erases);
    assert_eq!(health.life_left_ns(1000, &health, 1), None);
}

#[test]
fn worn_out_volume_can_be_read_and_says_so_after_every_mount() {
    let lives = Lives { spread_percent: 3, ..Lives::of(300) };
    let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1).with_lives(lives, 7)));
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 250).expect("write");
    let usable = fs.usage().usable_bytes;
    let mut rounds = 0;
    let mut end = None;
    while end.is_none() {
        rounds += 1;
        end = write(&mut fs, "busy", 60).err();
    }
    assert!(rounds > 150, "{rounds} rounds");
    assert!(matches!(end, Some(Error::ReadOnly | Error::NoSpace | Error::MediaFailing)), "{end:?}");
    // With each additional bad block, the volume has less room. In the end it refuses all writes.
    for _ in 0..10_000 {
        if write(&mut fs, "busy", 1) == Err(Error::ReadOnly) {
            break;
        }
    }
    let health = fs.health();
    assert!(health.bad_blocks > 4 && health.spare_blocks == 0, "{health:?}");
    assert!(fs.usage().usable_bytes < usable);
    assert_content(&mut fs, "rest", 250);
    for access in [Access::ReadWrite, Access::ReadWrite, Access::ReadOnly] {
        let mut fs =
            FileSystem::mount(&mut chip, access, &mut memory).expect("a worn volume mounts");
        assert_content(&mut fs, "rest", 250);
        if fs.health().read_only {
            assert_eq!(fs.remove("rest"), Err(Error::ReadOnly));
        }
    }
}

#[test]
fn chip_that_locks_itself_can_be_read() {
    for lock_after in 1..40 {
        let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1)));
        let mut memory = memory();
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        write(&mut fs, "rest", 100).expect("write");
        fs.flash_mut().inner_mut().lock_after(lock_after);
        let end = (0..100).find_map(|index| write(&mut fs, &format!("later {index}"), 1).err());
        assert_eq!(end, Some(Error::ReadOnly));
        assert!(fs.health().read_only);
        assert_content(&mut fs, "rest", 100);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
            .expect("a locked chip mounts");
        assert!(fs.health().read_only);
        assert_content(&mut fs, "rest", 100);
        assert_eq!(write(&mut fs, "more", 1), Err(Error::ReadOnly));
    }
}

#[test]
fn ring_blocks_that_fail_are_left_out_until_too_few_are_left() {
    let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1)));
    let mut memory = memory();
    let mut end = None;
    for round in 0.. {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        // Superblocks and ring. The ring has seven blocks; two of them may fail.
        assert_eq!(
            (fs.health().bad_blocks, blocks_in(&fs, BlockState::Reserved)),
            (round, 2 + 7 - round)
        );
        if round == 0 {
            write(&mut fs, "rest", 100).expect("write");
        }
        let (block, _) = fs.describe().ring;
        fs.flash_mut().inner_mut().fail_block(block);
        end = (0..200).find_map(|_| write(&mut fs, "busy", 60).err());
        assert_content(&mut fs, "rest", 100);
        assert_eq!(fs.health().bad_blocks, round + 1);
        if end.is_some() {
            assert_eq!(round, 2);
            break;
        }
    }
    assert_eq!(end, Some(Error::ReadOnly));
    for _ in 0..2 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
            .expect("a volume with a worn ring mounts");
        assert!(fs.health().read_only && fs.health().worn_out);
        assert_eq!(fs.damage(), None);
        assert_content(&mut fs, "rest", 100);
        assert_eq!(write(&mut fs, "more", 1), Err(Error::ReadOnly));
    }
}

#[test]
fn volume_survives_the_loss_of_either_superblock() {
    for lost in [0, 1] {
        let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1)));
        let mut memory = memory();
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        write(&mut fs, "rest", 100).expect("write");
        chip.erase(lost).expect("erase");
        for _ in 0..3 {
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
                .expect("mount with the other one");
            assert_content(&mut fs, "rest", 100);
            write(&mut fs, "busy", 100).expect("write");
        }
    }
}

#[test]
fn mount_of_a_volume_that_was_unmounted_and_its_end_without_a_change_program_nothing() {
    let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1)));
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 100).expect("write");
    fs.unmount().expect("unmount");
    let changes = |chip: &Chip| {
        let counters = chip.counters();
        (counters.programs, counters.erases)
    };
    let before = changes(&chip);
    for _ in 0..10 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_content(&mut fs, "rest", 100);
        fs.unmount().expect("unmount");
    }
    assert_eq!(changes(&chip), before);
}

#[test]
fn device_that_tells_no_corrections_is_never_weak() {
    let mut chip = volume(BitErrors::new(FailOps::new(nand(), 1)));
    let mut memory = memory();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write(&mut fs, "rest", 200).expect("write");
    fs.scrub(Budget::Operations(u32::MAX)).expect("scrub");
    let health = fs.health();
    assert_eq!(
        (health.weak_blocks, health.corrected_reads, health.worst),
        (0, 0, Corrected::default())
    );
    assert_eq!(fs.flash_mut().corrected(), Corrected::default());
}
