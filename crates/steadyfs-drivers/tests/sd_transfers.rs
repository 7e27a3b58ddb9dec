//! Checks that the driver reads back the written data, and which commands it sends.

use crate::common::{SHARED, numbers, profiles, sector, sectors, start, start_with};
use std::collections::HashMap;
use steadyfs::media::Failure;
use steadyfs::media::sectors::SectorDevice;
use steadyfs_drivers::sd::{SdError, Settings};
use steadyfs_sim::sd_spi::{SdKind, SdProfile, SdSim, SdWork};

#[test]
fn sectors_are_read_as_they_were_written_on_every_card() {
    for (seed, profile) in (0..).zip(profiles()) {
        for settings in [Settings::DEFAULT, SHARED] {
            let sim = SdSim::new(profile);
            random_calls(&sim, start_with(&sim, settings), seed);
            assert_eq!(sim.crc_refused(), 0);
        }
    }
}

/// Makes a thousand calls and compares them with a map. The sectors are near the start, near the
/// end, and around 2 MiB. The buffers of a call may be split at any byte.
fn random_calls(sim: &SdSim, mut card: crate::common::Card, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut held = HashMap::new();
    let mut next = 0;
    for version in 0..1000 {
        let base = [0, 4090, card.sector_count() - 40][rng.usize(..3)];
        let first = if rng.u8(..3) == 0 { base + rng.u32(..20) } else { next };
        let count = rng.u32(1..=20).min(card.sector_count() - first);
        if count == 0 {
            next = base;
            continue;
        }
        let cut = rng.usize(..=count as usize * 512);
        match rng.u8(..10) {
            0..5 => {
                let data = sectors(first, count, version as u8);
                card.write(first, &[&data[..cut], &[], &data[cut..]]).unwrap();
                held.extend((first..first + count).zip(data.chunks(512).map(<[u8]>::to_vec)));
                next = first + count;
            }
            5..9 => {
                let mut data = vec![0xEE; count as usize * 512];
                let (begin, end) = data.split_at_mut(cut);
                card.read(first, &mut [begin, &mut [], end]).unwrap();
                for (number, found) in (first..).zip(data.chunks(512)) {
                    if let Some(held) = held.get(&number) {
                        assert!(found == &held[..], "sector {number} in call {version}");
                    }
                }
            }
            9 if rng.bool() => card.flush().unwrap(),
            _ => {
                card.discard(first, count).unwrap();
                (first..first + count).for_each(|number| drop(held.remove(&number)));
            }
        }
    }
    card.flush().unwrap();
    for (number, data) in held {
        assert_eq!(sim.sector(number).unwrap()[..], data[..], "sector {number} on the card");
    }
}

#[test]
fn writes_that_follow_each_other_are_one_stream() {
    let sim = SdSim::new(SdProfile::small());
    let mut card = start(&sim);
    for first in [10, 19, 28] {
        card.write(first, &[&sectors(first, 9, 1)]).unwrap();
    }
    card.write(37, &[&sector(37, 1)]).unwrap();
    // ACMD23 announces 9 sectors.
    assert_eq!(numbers(&sim.take_commands()), [123, 25]);
    card.flush().unwrap();
    card.flush().unwrap();
    assert_eq!(numbers(&sim.take_commands()), [13]);
    card.write(38, &[&sector(38, 1)]).unwrap();
    card.write(40, &[&sector(40, 1)]).unwrap(); // elsewhere
    card.read(39, &mut [&mut [0; 512]]).unwrap();
    assert_eq!(numbers(&sim.take_commands()), [25, 13, 25, 13, 17]);
    card.write(41, &[&sector(41, 1)]).unwrap();
    card.discard(100, 1).unwrap();
    card.write(42, &[&sector(42, 1)]).unwrap();
    card.release().unwrap();
    assert_eq!(numbers(&sim.take_commands()), [25, 13, 32, 33, 38, 13, 25, 13]);
    let mut data = vec![0; 33 * 512];
    card.read(10, &mut [&mut data]).unwrap();
    assert_eq!(numbers(&sim.take_commands()), [18, 12]);
    for (number, found) in (10..).zip(data.chunks(512)).filter(|(number, _)| *number != 39) {
        assert_eq!(found, sector(number, 1), "{number}");
    }
}

#[test]
fn writes_on_a_shared_bus_end_for_themselves() {
    let sim = SdSim::new(SdProfile::small());
    let mut card = start_with(&sim, SHARED);
    card.write(10, &[&sector(10, 1)]).unwrap();
    card.write(11, &[&sectors(11, 2, 1)]).unwrap();
    assert_eq!(numbers(&sim.take_commands()), [24, 13, 25, 13]);
    assert_eq!((sim.sector(10), sim.sector(12)), (Some(sector(10, 1)), Some(sector(12, 1))));
}

/// The second write of a stream does not wait until the card has ended the first.
#[test]
fn a_stream_saves_time() {
    let time_ns = |settings| {
        let sim = SdSim::new(SdProfile::small());
        let mut card = start_with(&sim, settings);
        let begin = sim.now_ns();
        (0..64).for_each(|page| card.write(page * 9, &[&sectors(page * 9, 9, 1)]).unwrap());
        card.flush().unwrap();
        sim.now_ns() - begin
    };
    let (stream, single) = (time_ns(Settings::DEFAULT), time_ns(SHARED));
    assert!(single > stream + 63 * 1_000_000, "{stream} {single}");
}

/// The card uses its maximum times, and calls may come at the worst moment.
#[test]
fn no_call_takes_longer_than_the_times_say() {
    const MS: u64 = 1_000_000;
    let kinds =
        [(SdKind::High, 8192, 250), (SdKind::Standard, 8192, 250), (SdKind::High, 1 << 27, 500)];
    for (kind, sectors_of_card, stop_ms) in kinds {
        for settings in [Settings::DEFAULT, SHARED] {
            let sim = SdSim::new(SdProfile {
                kind,
                sectors: sectors_of_card,
                erase_time: (1, 3, 1),
                ..SdProfile::small()
            });
            let mut card = start_with(&sim, settings);
            sim.set_durations(move |work| match work {
                SdWork::Read(_) => 100 * MS,
                SdWork::Write(_) => 250 * MS,
                SdWork::Stop => stop_ms * MS,
                SdWork::Erase(_) => 4500 * MS,
            });
            let (times, mut rng) = (card.times(), fastrand::Rng::with_seed(7));
            for _ in 0..300 {
                let (first, count) = (rng.u32(..100), rng.u32(1..20));
                let (begin, sectors) = (sim.now_ns(), u64::from(count));
                let limit_ns = match rng.u8(..4) {
                    0 => {
                        card.read(first, &mut [&mut vec![0; count as usize * 512]]).unwrap();
                        times.read_ns + sectors * times.read_sector_ns
                    }
                    1 => {
                        card.write(first, &[&crate::common::sectors(first, count, 1)]).unwrap();
                        times.write_ns + sectors * times.write_sector_ns
                    }
                    2 => {
                        card.discard(first, count).unwrap();
                        times.discard_ns
                    }
                    _ => {
                        card.flush().unwrap();
                        times.flush_ns
                    }
                };
                let took_ns = sim.now_ns() - begin;
                assert!(took_ns <= limit_ns, "{took_ns} ns of {limit_ns}, {kind:?}, {settings:?}");
            }
        }
    }
}

#[test]
fn the_last_sectors_are_read_and_those_behind_refused() {
    for profile in profiles() {
        let sim = SdSim::new(profile);
        let (mut card, end) = (start(&sim), profile.sectors);
        let mut data = [0; 1024];
        card.write(end - 2, &[&sectors(end - 2, 2, 1)]).unwrap();
        card.read(end - 2, &mut [&mut data]).unwrap();
        assert_eq!(data, sectors(end - 2, 2, 1)[..]);
        for first in [end - 1, end, u32::MAX] {
            assert_eq!(card.read(first, &mut [&mut data]), Err(Failure::Device));
            assert_eq!(card.write(first, &[&data]), Err(Failure::Device));
            assert_eq!(card.discard(first, 2), Err(Failure::Device));
            assert_eq!(card.last_error(), Some(SdError::OutOfRange));
        }
        assert_eq!(card.read(0, &mut [&mut data[..100]]), Err(Failure::Device));
        assert_eq!(card.last_error(), Some(SdError::NotSectors));
        card.read(u32::MAX, &mut []).unwrap_err();
        card.read(0, &mut []).unwrap();
        card.write(0, &[]).unwrap();
        card.discard(0, 0).unwrap();
        card.flush().unwrap();
    }
}

#[test]
fn a_discard_erases_what_the_card_can_erase() {
    let sim =
        SdSim::new(SdProfile { kind: SdKind::Standard, erase_sectors: 32, ..SdProfile::small() });
    let mut card = start(&sim);
    card.write(0, &[&sectors(0, 128, 1)]).unwrap();
    card.discard(30, 70).unwrap();
    card.discard(1, 50).unwrap(); // no whole unit
    card.flush().unwrap();
    for number in 0..128 {
        let held = if (32..96).contains(&number) { [0; 512] } else { sector(number, 1) };
        assert_eq!(sim.sector(number), Some(held), "{number}");
    }
    // The first card cannot erase. The second card can, but its settings forbid it.
    let sim = SdSim::new(SdProfile { erase_sectors: 0, ..SdProfile::small() });
    start(&sim).discard(0, 64).unwrap();
    start_with(&sim, Settings { erase: false, ..Settings::DEFAULT }).discard(0, 64).unwrap();
    assert!(!numbers(&sim.take_commands()).contains(&32));
}

#[test]
fn a_long_erase_is_waited_for_as_long_as_the_card_says() {
    let sim = SdSim::new(SdProfile {
        erase_time: (1, 2, 1),
        erase_ns: 20_000_000_000,
        ..SdProfile::small()
    });
    let mut card = start(&sim);
    card.discard(0, 256).unwrap(); // two units: 5.5 s, times eight
    sim.set_durations(|work| if matches!(work, SdWork::Erase(_)) { 50_000_000_000 } else { 1000 });
    assert_eq!(card.discard(0, 256), Err(Failure::Device));
    assert_eq!(
        card.last_error(),
        Some(SdError::Busy { wait: steadyfs_drivers::sd::Wait::Erase, waited_ms: 44_000 })
    );
}
