//! Tests the SPI NOR driver on simulated chips: parameters, errors, power cuts, and bytes on the
//! bus.

use steadyfs::media::nor::NorFlash;
use steadyfs::media::{Failure, Flash};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::nor::{LongAddress, NorChip, NorError, NorInfo, Settings};
use steadyfs_sim::nor_spi::{ErrorBits, FourByte, NorFault, NorSim, NorSpi, NorSpiProfile};

type Chip = NorChip<NorSim, NorSim>;

const SETTINGS: Settings = Settings { bus_hz: 50_000_000, ..Settings::DEFAULT };

fn sim(profile: NorSpiProfile) -> NorSim {
    NorSim::new(NorSpi::new(profile))
}

fn start(sim: &NorSim, settings: Settings) -> Result<Chip, NorError> {
    NorChip::start(sim.clone(), sim.clone(), settings)
}

/// Returns chips with each way of reporting errors.
fn profiles() -> Vec<NorSpiProfile> {
    let usual = NorSpiProfile::w25q128jv().with_bytes(1 << 20);
    vec![
        usual.clone(),
        NorSpiProfile::mx25r6435f().with_bytes(1 << 20),
        NorSpiProfile { id: [0x20, 0xBA, 0x18], error_bits: ErrorBits::Flags, ..usual.clone() },
        NorSpiProfile { id: [0x01, 0x20, 0x18], error_bits: ErrorBits::Status, ..usual },
    ]
}

#[test]
fn chips_tell_what_they_are() {
    let chip = start(&sim(NorSpiProfile::w25q128jv()), SETTINGS).unwrap();
    let info = chip.info();
    assert_eq!((info.id, info.bytes, info.page_bytes), ([0xEF, 0x40, 0x18], 16 << 20, 256));
    assert_eq!((info.program_typical_us, info.program_maximum_us), (704, 6 * 704));
    let erases: Vec<_> = info
        .erase_types()
        .map(|erase| (erase.opcode, erase.bytes >> 10, erase.typical_ms))
        .collect();
    assert_eq!(erases, [(0x20, 4, 48), (0x52, 32, 128), (0xD8, 64, 160)]);
    assert_eq!((chip.block_bytes(), chip.block_count()), (4096, 4096));
}

#[test]
fn a_chip_without_parameters_is_told_by_its_settings() {
    let sim = sim(NorSpiProfile::m25p16());
    assert_eq!(start(&sim, SETTINGS).map(|_| ()), Err(NorError::NoParameters));
    let mut chip = start(&sim, Settings { info: Some(NorInfo::M25P16), ..SETTINGS }).unwrap();
    assert_eq!((chip.block_bytes(), chip.block_count()), (64 << 10, 32));
    chip.program(0x12345, b"here").unwrap();
    chip.erase(1).unwrap();
    let other = Settings { info: Some(NorInfo { id: [1, 2, 3], ..NorInfo::M25P16 }), ..SETTINGS };
    assert_eq!(start(&sim, other).map(|_| ()), Err(NorError::OtherChip { id: [0x20, 0x20, 0x15] }));
}

#[test]
fn bytes_are_programmed_read_and_erased_on_every_kind_of_chip() {
    for profile in profiles() {
        let sim = sim(profile);
        let mut chip = start(&sim, SETTINGS).unwrap();
        let data: Vec<u8> = (0..1000).map(|byte| (byte % 251) as u8).collect();
        chip.program(5000, &data).unwrap();
        let mut found = vec![0; 1002];
        chip.read(4999, &mut found).unwrap();
        assert_eq!((found[0], &found[1..1001], found[1001]), (0xFF, &data[..], 0xFF));
        chip.program(5000, &[0xFF, 0, 0xFF]).unwrap();
        chip.read(5000, &mut found[..4]).unwrap();
        assert_eq!(found[..4], [0, 0, 2, 3], "ones change nothing");
        chip.erase(1).unwrap();
        chip.read(4096, &mut found).unwrap();
        assert!(found.iter().all(|byte| *byte == 0xFF));
    }
}

#[test]
fn addresses_have_four_bytes_where_the_chip_wants_them() {
    for (four_byte, expected) in [
        (FourByte::Commands, LongAddress::Commands),
        (FourByte::Mode, LongAddress::Mode),
        (FourByte::EnabledMode, LongAddress::EnabledMode),
    ] {
        let sim =
            sim(NorSpiProfile { four_byte, ..NorSpiProfile::w25q128jv().with_bytes(32 << 20) });
        let mut chip = start(&sim, SETTINGS).unwrap();
        assert_eq!((chip.info().long_address, chip.info().bytes), (expected, 32 << 20));
        chip.set_block_bytes(64 << 10).unwrap();
        chip.program(0x123_4567, b"far").unwrap();
        let mut found = [0; 3];
        sim.chip().nor().read(0x123_4567, &mut found).unwrap();
        assert_eq!(&found, b"far");
        chip.erase(0x123).unwrap();
        chip.read(0x123_4567, &mut found).unwrap();
        assert_eq!(found, [0xFF; 3]);
    }
    let chip = start(&sim(NorSpiProfile::w25q128jv().with_bytes(32 << 20)), SETTINGS).unwrap();
    assert_eq!(chip.info().bytes, 16 << 20, "what cannot be addressed is not there");
}

#[test]
fn a_part_of_the_chip_is_all_that_is_touched() {
    let sim = sim(NorSpiProfile::w25q128jv());
    let part = Settings { first_byte: 0x10_0000, bytes: Some(1 << 20), ..SETTINGS };
    let mut chip = start(&sim, part).unwrap();
    assert_eq!(chip.block_count(), 256);
    chip.program(0, b"first").unwrap();
    let mut found = [0; 5];
    sim.chip().nor().read(0x10_0000, &mut found).unwrap();
    assert_eq!(&found, b"first");
    for (address, bytes) in [(1 << 20, 1), ((1 << 20) - 1, 2), (u32::MAX, 2)] {
        assert_eq!(chip.read(address, &mut [0; 2][..bytes]), Err(Failure::Device));
        assert_eq!(chip.last_error(), Some(NorError::Range));
    }
    assert_eq!(chip.erase(256), Err(Failure::Device));
    assert_eq!(chip.erase(u32::MAX), Err(Failure::Device));
    for bad in [
        Settings { first_byte: 100, ..SETTINGS },
        Settings { bytes: Some(17 << 20), ..SETTINGS },
        Settings { first_byte: 16 << 20, ..SETTINGS },
    ] {
        assert_eq!(start(&sim, bad).map(|_| ()), Err(NorError::Range));
    }
}

#[test]
fn programs_and_erases_that_fail_are_told_by_every_kind_of_chip() {
    for profile in profiles() {
        let sim = sim(profile.clone());
        let mut chip = start(&sim, SETTINGS).unwrap();
        sim.chip().inject(NorFault::Fails);
        assert_eq!(
            chip.program(4096, &[0x55; 300]),
            Err(Failure::BadBlock),
            "{:?}",
            profile.error_bits
        );
        assert_eq!(chip.last_error(), Some(NorError::ProgramFailed { address: 4096 }));
        chip.program(8192, &[0x55; 300]).unwrap();
        sim.chip().inject(NorFault::Fails);
        assert_eq!(chip.erase(2), Err(Failure::BadBlock), "{:?}", profile.error_bits);
        assert_eq!(chip.last_error(), Some(NorError::EraseFailed { address: 8192 }));
        chip.erase(2).unwrap();
    }
}

#[test]
fn protected_blocks_are_told_and_can_be_unlocked() {
    for profile in profiles() {
        let sim = sim(profile.clone());
        sim.chip().protect(0x1C);
        let mut chip = start(&sim, SETTINGS).unwrap();
        assert_eq!(
            chip.program(0, &[0; 4]),
            Err(Failure::WriteProtected),
            "{:?}",
            profile.error_bits
        );
        assert!(matches!(
            chip.last_error(),
            Some(NorError::Protected { status }) if status & 0x1C == 0x1C
        ));
        let mut chip = start(&sim, Settings { unlock: true, ..SETTINGS }).unwrap();
        assert_eq!(chip.program(0, &[0; 4]), Ok(()));
        sim.chip().protect(0x1C);
        assert_eq!(chip.erase(0), Err(Failure::WriteProtected));
    }
}

#[test]
fn a_write_enable_that_was_not_heard_is_no_success() {
    let sim = sim(NorSpiProfile::mx25r6435f());
    let mut chip = start(&sim, SETTINGS).unwrap();
    sim.chip().inject(NorFault::Deaf);
    assert_eq!(chip.program(0, &[0; 4]), Err(Failure::Device));
    assert_eq!(chip.last_error(), Some(NorError::NotEnabled { status: 0 }));
    assert_eq!(chip.program(0, &[0; 4]), Ok(()));
}

#[test]
fn a_chip_that_stays_busy_ends_the_call_at_twice_its_longest_time() {
    let sim = sim(NorSpiProfile::mx25r6435f());
    let mut chip = start(&sim, SETTINGS).unwrap();
    sim.chip().inject(NorFault::Hangs);
    assert_eq!(chip.erase(0), Err(Failure::Device));
    let waited_ms = sim.chip().clock_ns() / 1_000_000;
    assert!((768..800).contains(&waited_ms), "{waited_ms} ms");
    assert_eq!(chip.read(0, &mut [0]), Err(Failure::Device), "it would ignore the command");
    sim.chip().power_on(1);
    assert_eq!(chip.read(0, &mut [0]), Ok(()));
}

#[test]
fn an_erase_from_before_a_reset_is_waited_for() {
    let sim = sim(NorSpiProfile::w25q128jv());
    sim.chip().keep_busy(300_000);
    assert!(start(&sim, SETTINGS).is_ok());
}

#[test]
fn the_time_of_the_driver_is_in_every_duration() {
    let sim = sim(NorSpiProfile::w25q128jv());
    let of = |call_us| {
        let settings = Settings { call_us, verify: Some(false), ..SETTINGS };
        start(&sim, settings).unwrap().times_ns(512)
    };
    let (alone, slow) = (of(0), of(7));
    // Two commands program 512 bytes, because a program page has 256.
    assert_eq!(slow, (alone.0 + 7_000, alone.1 + 14_000, alone.2 + 7_000));
}

#[test]
fn operations_take_no_longer_than_the_times_that_are_told() {
    for profile in profiles() {
        let sim = sim(profile);
        let mut chip = start(&sim, SETTINGS).unwrap();
        let took = |work: &mut dyn FnMut()| {
            let before_ns = sim.chip().clock_ns();
            work();
            sim.chip().clock_ns() - before_ns
        };
        for bytes in [1, 16, 256, 700, 4096] {
            let (read_ns, program_ns, erase_ns) = chip.times_ns(bytes as u32);
            assert!(took(&mut || chip.erase(3).unwrap()) <= erase_ns);
            assert!(took(&mut || chip.program(3 * 4096, &vec![0; bytes]).unwrap()) <= program_ns);
            let read = took(&mut || chip.read(3 * 4096, &mut vec![0; bytes]).unwrap());
            assert!(read <= read_ns && read * 10 > read_ns * 9, "{read} of {read_ns} ns");
        }
    }
}

/// Compares the bytes on the bus with the necessary bytes for 4 KiB. A program needs, for each
/// page: a write enable, a command with its address, the data, and one status read. A read needs
/// a command with its address and eight clocks.
#[test]
fn the_bytes_on_the_bus_are_within_three_percent_of_the_necessary() {
    let sim = sim(NorSpiProfile::mx25r6435f());
    let mut chip = start(&sim, SETTINGS).unwrap();
    let count = |work: &mut dyn FnMut()| {
        let before = sim.chip().bus_bytes();
        work();
        sim.chip().bus_bytes() - before
    };
    let program = count(&mut || chip.program(4096, &[0; 4096]).unwrap());
    let read = count(&mut || chip.read(4096, &mut [0; 4096]).unwrap());
    let (program_least, read_least) = (16 * (1 + 4 + 256 + 2), 5 + 4096);
    println!("program {program} of {program_least}, read {read} of {read_least}");
    assert!(program * 100 <= program_least * 103, "{program} of {program_least}");
    assert_eq!(read, read_least);
}

/// Cuts power in the programs and erases of a workload, one of every `stride`. The torn states
/// are random. Acknowledged writes must survive.
fn cut_everywhere(profile: NorSpiProfile, stride: u64) {
    let fresh = sim(profile);
    let pages = |sim: &NorSim| start(sim, SETTINGS).unwrap().into_pages().unwrap();
    let flash = pages(&fresh);
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    drop(FileSystem::format(flash, &config, &mut memory).unwrap());
    let work = |sim: &NorSim, memory: &mut [u8]| {
        let mut done = 0u8;
        let mut fs = FileSystem::mount(pages(sim), Access::ReadWrite, memory).unwrap();
        let mut file = match fs.open("log", OpenOptions::DURABLE) {
            Ok(file) => file,
            Err(_) => return 0,
        };
        while done < 12 && fs.write(&mut file, u64::from(done % 3) * 700, &[done + 1; 700]).is_ok()
        {
            done += 1;
        }
        done
    };
    let before = fresh.chip().operations();
    let whole = fresh.snapshot();
    assert_eq!(work(&whole, &mut memory), 12);
    let operations = whole.chip().operations() - before;
    assert!(operations > 30);
    for at in (1..=operations).step_by(stride as usize) {
        let sim = fresh.snapshot();
        sim.chip().power_on(at);
        sim.chip().cut_at(at, None);
        let done = work(&sim, &mut memory);
        assert!(sim.chip().is_off(), "cut {at}");
        sim.chip().power_on(at);
        let mut fs = FileSystem::mount(pages(&sim), Access::ReadWrite, &mut memory)
            .unwrap_or_else(|error| panic!("cut {at}: {error}"));
        let mut scratch = vec![0; config.check_bytes(&fs.flash().geometry())];
        fs.check(&mut scratch, false, &mut |finding| panic!("cut {at}: {finding:?}")).unwrap();
        let Ok(mut file) = fs.open("log", OpenOptions::READ) else {
            assert_eq!(done, 0, "cut {at}");
            continue;
        };
        for place in 0..3u8 {
            let mut found = [0; 700];
            let length = fs.read(&mut file, u64::from(place) * 700, &mut found).unwrap();
            // A write that crosses a page commits each part.
            let last = |done: u8| {
                (0..done).rev().find(|round| round % 3 == place).map_or(0, |round| round + 1)
            };
            let allowed = [last(done), last(done + 1)];
            assert!(
                found[..length].iter().all(|byte| allowed.contains(byte)),
                "cut {at}, place {place}: {:?} after {done}",
                found[0]
            );
            assert!(last(done) == 0 || length == 700, "cut {at}");
        }
    }
}

#[test]
fn acknowledged_writes_survive_a_cut_in_each_program_and_erase() {
    cut_everywhere(NorSpiProfile::w25q128jv().with_bytes(1 << 20), 1);
    cut_everywhere(NorSpiProfile::mx25r6435f(), 3);
}
