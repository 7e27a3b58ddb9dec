//! Tests the SPI NAND driver on simulated chips: families, ECC, bad blocks, copies, power cuts,
//! and bytes on the bus.

use steadyfs::media::{Corrected, Failure, Flash, TAG_BYTES};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::nand::{NandChip, NandError, NandInfo, Settings};
use steadyfs_sim::nand_spi::{NandFault, NandSim, NandSpi, NandSpiProfile};
use steadyfs_sim::{Nand, NandTiming};

type Chip = NandChip<NandSim, NandSim>;

const SETTINGS: Settings = Settings { bus_hz: 50_000_000, ..Settings::DEFAULT };
const TAG: [u8; TAG_BYTES] = *b"sixteen bytes of";

fn sim(profile: NandSpiProfile) -> NandSim {
    NandSim::new(NandSpi::new(profile))
}

fn start(sim: &NandSim) -> Chip {
    NandChip::start(sim.clone(), sim.clone(), SETTINGS).unwrap()
}

fn profiles() -> [NandSpiProfile; 5] {
    [
        NandSpiProfile::w25n01gv(),
        NandSpiProfile::w25n02kv(),
        NandSpiProfile::mt29f1g01(),
        NandSpiProfile::mt29f2g01(),
        NandSpiProfile::gd5f1gq5(),
    ]
}

#[test]
fn pages_and_tags_are_programmed_and_read_on_every_family() {
    for profile in profiles() {
        let (id, geometry) = (profile.id, profile.geometry);
        let sim = sim(profile);
        let mut chip = start(&sim);
        assert_eq!(chip.geometry(), geometry, "{id:02x?}");
        assert_eq!(
            sim.chip().configuration() & 0x50,
            0x10,
            "ECC is on, and the parameters are left"
        );
        let data: Vec<u8> = (0..2048).map(|byte| (byte % 251) as u8).collect();
        let (mut found, mut tag) = (vec![0; 2048], [0; TAG_BYTES]);
        for block in [2, 3, geometry.block_count - 1] {
            let page = block * 64;
            chip.program(page, &data, &TAG).unwrap();
            chip.program(page + 1, &data[..100], &TAG).unwrap();
            chip.read(page, &mut found, &mut tag).unwrap();
            assert_eq!((&found, tag), (&data, TAG), "{id:02x?}");
            chip.read(page + 1, &mut found, &mut tag).unwrap();
            assert_eq!((&found[..100], &found[100..]), (&data[..100], &[0xFF; 1948][..]));
            chip.erase(block).unwrap();
            chip.read(page, &mut found, &mut tag).unwrap();
            assert_eq!((&found[..], tag), (&[0xFF; 2048][..], [0xFF; TAG_BYTES]));
        }
    }
}

/// Each maker encodes the number of corrected bits in its own way. The driver returns the upper
/// end of the encoded range.
#[test]
fn corrected_bits_are_told_and_more_are_uncorrectable() {
    let cases = [
        (NandSpiProfile::w25n01gv(), 1, vec![(1, 1)]),
        (NandSpiProfile::w25n02kv(), 8, vec![(1, 1), (5, 5), (8, 8)]),
        (NandSpiProfile::mt29f1g01(), 8, vec![(1, 3), (3, 3), (4, 6), (8, 8)]),
        (NandSpiProfile::gd5f1gq5(), 4, vec![(1, 1), (3, 3), (4, 4)]),
    ];
    for (profile, strength, steps) in cases {
        let sim = sim(profile);
        let mut chip = start(&sim);
        chip.program(0, &[0x5A; 2048], &TAG).unwrap();
        let mut tag = [0; TAG_BYTES];
        chip.read_tag(0, &mut tag).unwrap();
        assert_eq!(chip.corrected(), Corrected { bits: 0, strength });
        for (bits, told) in steps {
            sim.chip().flip(0, Some(bits));
            chip.read_tag(0, &mut tag).unwrap();
            assert_eq!(chip.corrected(), Corrected { bits: told, strength });
        }
        sim.chip().flip(0, None);
        assert_eq!(chip.read(0, &mut [0; 2048], &mut tag), Err(Failure::Uncorrectable));
        assert_eq!(chip.last_error(), Some(NandError::Uncorrectable { page: 0 }));
        chip.erase(0).unwrap();
        chip.read(0, &mut [0; 2048], &mut tag).unwrap();
    }
}

#[test]
fn factory_marks_are_found_and_marks_are_kept() {
    for profile in profiles() {
        let nand = Nand::with_geometry(profile.geometry, NandTiming::ROUND, 1)
            .with_bad_blocks_at(&[7, 500]);
        let sim = NandSim::new(NandSpi::with_nand(profile, nand));
        let mut chip = start(&sim);
        let bad: Vec<u32> =
            (0..chip.geometry().block_count).filter(|block| chip.is_bad(*block).unwrap()).collect();
        assert_eq!(bad, [7, 500]);
        chip.program(9 * 64, &[1; 2048], &TAG).unwrap();
        chip.mark_bad(9).unwrap();
        assert_eq!((chip.is_bad(9), chip.is_bad(10)), (Ok(true), Ok(false)));
        sim.chip().power_on(1);
        assert_eq!(start(&sim).is_bad(9), Ok(true));
    }
}

#[test]
fn pages_are_copied_inside_the_chip_where_that_is_certain() {
    let sim = sim(NandSpiProfile::mt29f1g01());
    let mut chip = start(&sim);
    assert!(chip.can_copy());
    let data: Vec<u8> = (0..2048).map(|byte| (byte % 249) as u8).collect();
    chip.program(64, &data, &TAG).unwrap();
    chip.read_tag(64, &mut [0; TAG_BYTES]).unwrap();
    let before = sim.chip().bus_bytes();
    chip.program_loaded(256, &[7; TAG_BYTES]).unwrap();
    assert!(sim.chip().bus_bytes() - before < 60, "the data stays in the chip");
    let (mut found, mut tag) = (vec![0; 2048], [0; TAG_BYTES]);
    chip.read(256, &mut found, &mut tag).unwrap();
    assert_eq!((found, tag), (data, [7; TAG_BYTES]));
    assert_eq!(chip.program_loaded(257, &TAG), Err(Failure::Device), "the buffer was read since");
    let mut other = start(&self::sim(NandSpiProfile::mt29f2g01()));
    assert!(!other.can_copy());
    other.read_tag(0, &mut tag).unwrap();
    assert_eq!(other.program_loaded(64, &TAG), Err(Failure::Device));
}

#[test]
fn programs_and_erases_that_fail_are_told_and_locks_are_no_bad_blocks() {
    for profile in profiles() {
        let sim = sim(profile);
        let mut chip = start(&sim);
        sim.chip().inject(NandFault::Fails);
        assert_eq!(chip.program(0, &[0; 2048], &TAG), Err(Failure::BadBlock));
        assert_eq!(chip.last_error(), Some(NandError::ProgramFailed { page: 0 }));
        sim.chip().inject(NandFault::Fails);
        assert_eq!(chip.erase(3), Err(Failure::BadBlock));
        assert_eq!(chip.last_error(), Some(NandError::EraseFailed { block: 3 }));
        sim.chip().inject(NandFault::Deaf);
        assert_eq!(chip.erase(3), Err(Failure::Device));
        assert!(matches!(chip.last_error(), Some(NandError::NotEnabled { .. })));
        // A dip of the supply voltage.
        sim.chip().power_on(1);
        assert_eq!(chip.program(0, &[0; 2048], &TAG), Err(Failure::WriteProtected));
        assert_eq!(chip.last_error(), Some(NandError::Locked { protection: 0x7C }));
        assert_eq!(start(&sim).program(0, &[0; 2048], &TAG), Ok(()));
    }
}

#[test]
fn a_chip_that_stays_busy_ends_the_call_at_twice_its_longest_time() {
    let sim = sim(NandSpiProfile::mt29f1g01());
    let mut chip = start(&sim);
    sim.chip().inject(NandFault::Hangs);
    let before_ns = sim.chip().clock_ns();
    assert_eq!(chip.erase(0), Err(Failure::Device));
    let waited_us = (sim.chip().clock_ns() - before_ns) / 1000;
    assert!((20_000..21_000).contains(&waited_us), "{waited_us} us");
    assert_eq!(
        chip.read_tag(0, &mut [0; TAG_BYTES]),
        Err(Failure::Device),
        "it would ignore the command"
    );
    assert!(NandChip::start(sim.clone(), sim.clone(), SETTINGS).is_ok(), "a reset helps");
}

#[test]
fn chips_that_are_not_known_can_be_described() {
    let unknown = || sim(NandSpiProfile { id: [0x9B, 0x12, 0xFF], ..NandSpiProfile::gd5f1gq5() });
    let sim = unknown();
    let started = NandChip::start(sim.clone(), sim.clone(), SETTINGS).map(|_| ());
    assert_eq!(started, Err(NandError::UnknownChip { id: [0x9B, 0x12, 0xFF] }));
    let gigadevice = NandInfo::CHIPS.iter().find(|chip| chip.id[..2] == [0xC8, 0x51]).unwrap();
    let info = Some(NandInfo { id: [0x9B, 0x12, 0xFF], ..*gigadevice });
    let part = Settings { info, first_block: 1000, blocks: Some(24), ..SETTINGS };
    let mut chip = NandChip::start(sim.clone(), sim.clone(), part).unwrap();
    assert_eq!(chip.geometry().block_count, 24);
    chip.program(0, &[3; 2048], &TAG).unwrap();
    let mut data = [0; 2048];
    sim.chip().nand().read(1000 * 64, &mut data, &mut [0; TAG_BYTES]).unwrap();
    assert_eq!(data, [3; 2048]);
    assert_eq!(chip.erase(24), Err(Failure::Device));
    assert_eq!(chip.erase(u32::MAX), Err(Failure::Device));
    assert_eq!(chip.read_tag(24 * 64, &mut [0; TAG_BYTES]), Err(Failure::Device));
    assert_eq!(chip.program(5, &[0; 2049], &TAG), Err(Failure::Device));
}

#[test]
fn the_time_of_the_driver_is_in_every_duration() {
    let sim = sim(NandSpiProfile::mt29f1g01());
    let of = |call_us| {
        let settings = Settings { call_us, ..SETTINGS };
        NandChip::start(sim.clone(), sim.clone(), settings).unwrap().timing()
    };
    let (alone, slow) = (of(0), of(7));
    assert_eq!(slow.read_ns, alone.read_ns + 7_000);
    assert_eq!(slow.read_tag_ns, alone.read_tag_ns + 7_000);
    assert_eq!(slow.program_ns, alone.program_ns + 7_000);
    // A copy is a read and a program.
    assert_eq!(slow.copy_ns, alone.copy_ns + 14_000);
    assert_eq!(slow.erase_ns, alone.erase_ns + 7_000);
}

#[test]
fn operations_take_no_longer_than_the_times_that_are_told() {
    for profile in profiles() {
        let sim = sim(profile);
        let mut chip = start(&sim);
        let timing = chip.timing();
        let took = |work: &mut dyn FnMut()| {
            let before_ns = sim.chip().clock_ns();
            work();
            sim.chip().clock_ns() - before_ns
        };
        let (mut data, mut tag) = ([0; 2048], [0; TAG_BYTES]);
        assert!(took(&mut || chip.erase(2).unwrap()) <= timing.erase_ns);
        assert!(took(&mut || chip.program(128, &data, &TAG).unwrap()) <= timing.program_ns);
        assert!(took(&mut || chip.read(128, &mut data, &mut tag).unwrap()) <= timing.read_ns);
        assert!(took(&mut || chip.read_tag(128, &mut tag).unwrap()) <= timing.read_tag_ns);
        assert!(took(&mut || assert!(!chip.is_bad(2).unwrap())) <= timing.read_tag_ns);
    }
}

/// Compares the bytes on the bus with the necessary bytes for two pages:
///
/// - Program: a write enable, two commands with a column for data and tag, the data, the span of
///   the tag, a command with the page, and one status read.
/// - Read: a command with the page, a status read, and the same two transfers, each with one byte
///   more.
#[test]
fn the_bytes_on_the_bus_are_within_three_percent_of_the_necessary() {
    for (profile, tag_bytes) in [
        (NandSpiProfile::mt29f1g01(), 16),
        (NandSpiProfile::w25n01gv(), 52),
        (NandSpiProfile::gd5f1gq5(), 52),
    ] {
        let sim = sim(profile);
        let mut chip = start(&sim);
        let count = |work: &mut dyn FnMut()| {
            let before = sim.chip().bus_bytes();
            work();
            sim.chip().bus_bytes() - before
        };
        let program =
            count(&mut || (0..2).for_each(|page| chip.program(page, &[0; 2048], &TAG).unwrap()));
        let read = count(&mut || {
            (0..2).for_each(|page| chip.read(page, &mut [0; 2048], &mut [0; 16]).unwrap())
        });
        let program_least = 2 * (1 + 3 + 2048 + 3 + tag_bytes + 4 + 3);
        let read_least = 2 * (4 + 3 + 4 + 2048 + 4 + tag_bytes);
        println!("program {program} of {program_least}, read {read} of {read_least}");
        assert!(program * 100 <= program_least * 103, "{program} of {program_least}");
        assert!(read * 100 <= read_least * 103, "{read} of {read_least}");
    }
}

/// Cuts power in the programs and erases of a workload, one of every `stride`. The torn states
/// are random. Acknowledged writes must survive.
fn cut_everywhere(profile: NandSpiProfile, stride: usize) {
    let nand = Nand::with_geometry(profile.geometry, NandTiming::ROUND, 1).with_bad_blocks_at(&[5]);
    let fresh = NandSim::new(NandSpi::with_nand(profile, nand));
    let flash = start(&fresh);
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    drop(FileSystem::format(flash, &config, &mut memory).unwrap());
    let work = |sim: &NandSim, memory: &mut [u8]| {
        let mut done = 0u8;
        let mut fs = FileSystem::mount(start(sim), Access::ReadWrite, memory).unwrap();
        let Ok(mut file) = fs.open("log", OpenOptions::DURABLE) else { return 0 };
        while done < 40
            && fs.write(&mut file, u64::from(done % 4) * 1024, &[done + 1; 1024]).is_ok()
        {
            done += 1;
        }
        let _ = fs.unmount();
        done
    };
    let before = fresh.chip().operations();
    let whole = fresh.snapshot();
    assert_eq!(work(&whole, &mut memory), 40);
    let operations = whole.chip().operations() - before;
    assert!(operations > 40);
    for at in (1..=operations).step_by(stride) {
        let sim = fresh.snapshot();
        sim.chip().power_on(at);
        sim.chip().cut_at(at, None);
        let done = work(&sim, &mut memory);
        assert!(sim.chip().is_off(), "cut {at}");
        sim.chip().power_on(at);
        let mut fs = FileSystem::mount(start(&sim), Access::ReadWrite, &mut memory)
            .unwrap_or_else(|error| panic!("cut {at}: {error}"));
        let Ok(mut file) = fs.open("log", OpenOptions::READ) else {
            assert_eq!(done, 0, "cut {at}");
            continue;
        };
        for place in 0..4u8 {
            let mut found = [0; 1024];
            let length = fs.read(&mut file, u64::from(place) * 1024, &mut found).unwrap();
            let last = |done: u8| {
                (0..done).rev().find(|round| round % 4 == place).map_or(0, |round| round + 1)
            };
            assert!(found.iter().all(|byte| *byte == found[0]), "cut {at}");
            let version = if length == 0 { 0 } else { found[0] };
            assert!(
                [last(done), last(done + 1)].contains(&version),
                "cut {at}, place {place}: {version} after {done}"
            );
        }
    }
}

#[test]
fn acknowledged_writes_survive_a_cut_in_each_program_and_erase() {
    cut_everywhere(NandSpiProfile::mt29f1g01().with_blocks(64), 1);
    cut_everywhere(NandSpiProfile::w25n01gv().with_blocks(64), 2);
    cut_everywhere(NandSpiProfile::mt29f2g01().with_blocks(64), 3);
    cut_everywhere(NandSpiProfile::w25n02kv().with_blocks(64), 5);
}

/// Overwrites a small volume until its blocks have been reclaimed many times. Programs and erases
/// fail now and then.
#[test]
fn a_volume_lives_through_reclamation_and_failures_on_every_family() {
    const PLACES: usize = 300;
    for profile in profiles() {
        let id = profile.id;
        let nand = Nand::with_geometry(profile.geometry, profile.timing, 1)
            .with_bad_blocks_at(&[901, 917]);
        let sim = NandSim::new(NandSpi::with_nand(profile, nand));
        let part = Settings { first_block: 900, blocks: Some(64), ..SETTINGS };
        let chip = NandChip::start(sim.clone(), sim.clone(), part).unwrap();
        let config = Config { bad_blocks_max: 8, ..Config::for_geometry(&chip.geometry()) };
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
        let mut file = fs.open("data", OpenOptions::DURABLE).unwrap();
        let (mut versions, mut rng) = ([0u8; PLACES], fastrand::Rng::with_seed(1));
        for round in 0..6000 {
            let place = rng.usize(..PLACES);
            if round % 1500 == 700 {
                sim.chip().inject(NandFault::Fails);
            }
            versions[place] = versions[place] % 250 + 1;
            fs.write(&mut file, place as u64 * 4096, &[versions[place]; 4096])
                .unwrap_or_else(|error| panic!("{id:02x?}: {error}"));
        }
        assert!(fs.health().bad_blocks >= 4, "{id:02x?}: {} bad blocks", fs.health().bad_blocks);
        drop(fs);
        sim.chip().power_on(1);
        let chip = NandChip::start(sim.clone(), sim.clone(), part).unwrap();
        let mut fs = FileSystem::mount(chip, Access::ReadOnly, &mut memory).unwrap();
        let mut file = fs.open("data", OpenOptions::READ).unwrap();
        for (place, version) in versions.into_iter().enumerate().filter(|(_, version)| *version > 0)
        {
            let mut found = [0; 4096];
            assert_eq!(fs.read(&mut file, place as u64 * 4096, &mut found), Ok(4096));
            assert!(found.iter().all(|byte| *byte == version), "{id:02x?}: {place}");
        }
        let wear = sim.chip().nand().erase_counts().into_iter().skip(900).max();
        assert!(wear > Some(2), "{id:02x?}: erased {wear:?} times");
    }
}
