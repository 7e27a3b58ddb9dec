//! Checks that the driver corrects or reports each fault, and never hangs.

use crate::common::{SHARED, numbers, sector, sectors, start, start_with, try_start};
use std::collections::HashMap;
use steadyfs::media::Failure;
use steadyfs::media::sectors::SectorDevice;
use steadyfs_drivers::sd::{SdError, Settings, Wait};
use steadyfs_sim::sd_spi::{SdFault, SdProfile, SdSim};

fn sim() -> SdSim {
    SdSim::new(SdProfile::small())
}

#[test]
fn damaged_sectors_are_transferred_again() {
    for settings in [Settings::DEFAULT, SHARED] {
        for at in 0..9 {
            let sim = sim();
            let mut card = start_with(&sim, settings);
            (0..3).for_each(|_| sim.inject(SdFault::WriteCrc, at));
            card.write(100, &[&sectors(100, 9, 1)]).unwrap();
            card.flush().unwrap();
            assert_eq!(sim.crc_refused(), 3);
            (0..3).for_each(|_| sim.inject(SdFault::ReadCrc, at));
            let mut data = vec![0; 9 * 512];
            card.read(100, &mut [&mut data]).unwrap();
            assert_eq!(data, sectors(100, 9, 1), "{at}");
            assert_eq!(sim.forget_faults(), 0);
        }
    }
}

#[test]
fn a_single_sector_is_transferred_again() {
    let sim = sim();
    let mut card = start_with(&sim, SHARED);
    sim.inject(SdFault::WriteCrc, 0);
    card.write(5, &[&sector(5, 1)]).unwrap();
    sim.inject(SdFault::ReadCrc, 0);
    let mut data = [0; 512];
    card.read(5, &mut [&mut data]).unwrap();
    assert_eq!((data, sim.forget_faults()), (sector(5, 1), 0));
}

#[test]
fn wires_that_damage_everything_are_an_error_of_the_device() {
    for settings in [Settings::DEFAULT, SHARED] {
        for count in [1, 9] {
            let sim = sim();
            let mut card = start_with(&sim, settings);
            (0..4).for_each(|_| sim.inject(SdFault::WriteCrc, 0));
            assert_eq!(card.write(7, &[&sectors(7, count, 1)]), Err(Failure::Device));
            assert_eq!(card.last_error(), Some(SdError::WriteCrc { sector: 7 }));
            // When the driver stops the read, the card already has the next sector ready.
            (0..8).for_each(|_| sim.inject(SdFault::ReadCrc, 0));
            let mut data = vec![0; count as usize * 512];
            assert_eq!(card.read(7, &mut [&mut data]), Err(Failure::Device));
            sim.forget_faults();
            assert_eq!(card.last_error(), Some(SdError::ReadCrc { sector: 7 }));
            // The failure has no effect on the next calls.
            card.write(7, &[&sectors(7, count, 2)]).unwrap();
            card.flush().unwrap();
            card.read(7, &mut [&mut data]).unwrap();
            assert_eq!(data, sectors(7, count, 2));
        }
    }
}

#[test]
fn damaged_commands_are_sent_again() {
    for at in 0..10 {
        let sim = sim();
        let mut card = start(&sim);
        (0..3).for_each(|_| sim.inject(SdFault::CommandCrc, at));
        card.write(100, &[&sectors(100, 9, 1)]).unwrap();
        card.flush().unwrap();
        card.discard(200, 9).unwrap();
        let mut data = vec![0; 9 * 512];
        card.read(100, &mut [&mut data]).unwrap();
        assert_eq!(data, sectors(100, 9, 1), "{at}");
        assert_eq!(sim.forget_faults(), 0, "{at}");
    }
}

#[test]
fn a_sector_that_cannot_be_read_is_no_error_of_the_device() {
    for (token, failure) in
        [(0x04, Failure::Uncorrectable), (0x01, Failure::Uncorrectable), (0x08, Failure::Device)]
    {
        for count in [1, 4] {
            let sim = sim();
            let mut card = start(&sim);
            sim.inject(SdFault::ReadError(token), count - 1);
            let mut data = vec![0; count as usize * 512];
            assert_eq!(card.read(50, &mut [&mut data]), Err(failure));
            assert_eq!(
                card.last_error(),
                Some(SdError::ReadFailed { sector: 50 + count - 1, token })
            );
            card.read(50, &mut [&mut data]).unwrap();
        }
    }
}

#[test]
fn data_that_does_not_come_ends_in_an_error() {
    for count in [1, 4] {
        let sim = sim();
        let mut card = start(&sim);
        sim.inject(SdFault::NoData, count - 1);
        let begin = sim.now_ns();
        let mut data = vec![0; count as usize * 512];
        assert_eq!(card.read(50, &mut [&mut data]), Err(Failure::Device));
        assert_eq!(card.last_error(), Some(SdError::NoData { waited_ms: 800 }));
        let waited_ms = (sim.now_ns() - begin) / 1_000_000;
        assert!((800..810).contains(&waited_ms), "{waited_ms}");
        card.read(50, &mut [&mut data]).unwrap();
    }
}

#[test]
fn a_long_busy_time_is_waited_for_up_to_the_limit() {
    const MS: u64 = 1_000_000;
    for (at, wait) in [(0, Wait::Write), (1, Wait::Write), (2, Wait::Stop)] {
        let sim = sim();
        let mut card = start(&sim);
        sim.inject(SdFault::Busy(1990 * MS), at);
        card.write(0, &[&sectors(0, 2, 1)]).unwrap();
        card.flush().unwrap();
        let begin = sim.now_ns();
        sim.inject(SdFault::Busy(2500 * MS), at);
        let result = card.write(0, &[&sectors(0, 2, 2)]).and_then(|()| card.flush());
        assert_eq!(result, Err(Failure::Device), "{at}");
        assert_eq!(card.last_error(), Some(SdError::Busy { wait, waited_ms: 2000 }), "{at}");
        assert!(sim.now_ns() - begin < 2100 * MS);
        // The card becomes ready again, and the driver works again: the caller repeats its write.
        while card.flush().is_err() {}
        card.write(0, &[&sectors(0, 2, 3)]).unwrap();
        card.flush().unwrap();
        assert_eq!((sim.sector(0), sim.sector(1)), (Some(sector(0, 3)), Some(sector(1, 3))));
    }
}

#[test]
fn a_card_that_stays_busy_never_hangs_the_driver() {
    for settings in [Settings::DEFAULT, SHARED] {
        for count in [1, 3] {
            let sim = sim();
            let mut card = start_with(&sim, settings);
            sim.inject(SdFault::Busy(u64::MAX / 2), 0);
            let _ = card.write(0, &[&sectors(0, count, 1)]);
            for _ in 0..3 {
                let begin = sim.now_ns();
                assert_eq!(card.flush(), Err(Failure::Device));
                assert_eq!(card.write(9, &[&sector(9, 1)]), Err(Failure::Device));
                assert_eq!(card.read(9, &mut [&mut [0; 512]]), Err(Failure::Device));
                assert!(sim.now_ns() - begin < 7_000_000_000);
            }
        }
    }
}

/// A single refusal causes no error. The second refusal in a row is reported as a bad block.
#[test]
fn a_sector_that_is_refused_twice_takes_no_writes() {
    for settings in [Settings::DEFAULT, SHARED] {
        for (at, count) in [(0, 1), (0, 9), (5, 9)] {
            let sim = sim();
            let mut card = start_with(&sim, settings);
            sim.inject(SdFault::WriteError, at);
            card.write(20, &[&sectors(20, count, 3)]).unwrap();
            card.flush().unwrap();
            assert!((20..20 + count).all(|number| sim.sector(number) == Some(sector(number, 3))));
            (0..2).for_each(|_| sim.inject(SdFault::WriteError, at));
            assert_eq!(card.write(20, &[&sectors(20, count, 1)]), Err(Failure::BadBlock));
            assert_eq!(
                card.last_error(),
                Some(SdError::WriteRejected { sector: 20 + at, status: 0x0004 })
            );
            // The sectors before the refused sector are on the card, and no sector of an earlier
            // call is lost.
            card.flush().unwrap();
            assert!((20..20 + at).all(|number| sim.sector(number) == Some(sector(number, 1))));
            card.write(20, &[&sectors(20, count, 2)]).unwrap();
            card.flush().unwrap();
        }
    }
}

/// The card accepts a sector, and reports much later that its program failed. A commit must not
/// rely on this sector.
#[test]
fn a_loss_that_shows_late_fails_the_flush() {
    let lost = |call: fn(&mut crate::common::Card) -> Result<(), Failure>,
                result: Result<(), Failure>| {
        let sim = sim();
        let mut card = start(&sim);
        sim.inject(SdFault::ProgramError, 4);
        card.write(20, &[&sectors(20, 9, 1)]).unwrap();
        assert_eq!(call(&mut card), result);
        let failed = Some(SdError::WriteFailed { status: 0x0004 });
        if result.is_err() {
            assert_eq!(card.last_error(), failed);
            assert_eq!(card.write(29, &[&sector(29, 1)]), Err(Failure::Device));
        }
        assert_eq!(card.flush(), Err(Failure::Device));
        assert_eq!(card.last_error(), if result.is_err() { Some(SdError::Lost) } else { failed });
        // The loss is reported once, so the next calls succeed.
        card.write(20, &[&sectors(20, 9, 2)]).unwrap();
        card.flush().unwrap();
        assert_eq!(sim.sector(24), Some(sector(24, 2)));
    };
    lost(|card| card.write(100, &[&sector(100, 1)]), Err(Failure::Device));
    // The read might return the lost sector, so it fails. The next read succeeds, so that a
    // volume can be mounted.
    let twice = |card: &mut crate::common::Card| {
        let first = card.read(24, &mut [&mut [0; 512]]);
        card.read(24, &mut [&mut [0; 512]]).unwrap();
        first
    };
    lost(twice, Err(Failure::Device));
    lost(|card| card.discard(512, 128), Err(Failure::Device));
    lost(|card| card.release(), Err(Failure::Device));
    // The stream goes on. The loss shows only at its end.
    lost(|card| card.write(29, &[&sector(29, 1)]), Ok(()));
}

/// If the card refuses a later sector of the stream, ACMD22 returns the number of sectors that it
/// has written. A lost sector of the same call is written again. A lost sector of an earlier call
/// is an error.
#[test]
fn sectors_that_were_taken_and_not_written_are_found_when_a_later_one_is_refused() {
    let sim = sim();
    let mut card = start(&sim);
    sim.inject(SdFault::ProgramError, 2);
    sim.inject(SdFault::WriteCrc, 5);
    card.write(20, &[&sectors(20, 9, 1)]).unwrap();
    card.flush().unwrap();
    assert!((20..29).all(|number| sim.sector(number) == Some(sector(number, 1))));

    sim.inject(SdFault::ProgramError, 2);
    sim.inject(SdFault::WriteCrc, 10);
    card.write(40, &[&sectors(40, 9, 1)]).unwrap();
    assert_eq!(card.write(49, &[&sectors(49, 9, 1)]), Err(Failure::Device));
    assert_eq!(card.last_error(), Some(SdError::Lost));
    assert_eq!(card.flush(), Err(Failure::Device));
    card.flush().unwrap();
}

#[test]
fn a_card_that_is_pulled_is_an_error_at_once() {
    for settings in [Settings::DEFAULT, SHARED] {
        let sim = sim();
        let mut card = start_with(&sim, settings);
        card.write(0, &[&sectors(0, 9, 1)]).unwrap();
        card.flush().unwrap();
        card.write(9, &[&sectors(9, 9, 1)]).unwrap();
        sim.remove();
        let begin = sim.now_ns();
        assert_eq!(card.write(18, &[&sectors(18, 9, 1)]), Err(Failure::Device));
        assert!(
            matches!(card.last_error(), Some(SdError::NoAnswer { .. })),
            "{:?}",
            card.last_error()
        );
        assert_eq!(card.read(0, &mut [&mut [0; 512]]), Err(Failure::Device));
        assert_eq!(card.discard(0, 64), Err(Failure::Device));
        if settings.keep_stream {
            assert_eq!(card.flush(), Err(Failure::Device));
        }
        assert!(sim.now_ns() - begin < 100_000_000);
        // The card is inserted again. It must be started first.
        sim.power_on(3);
        assert_eq!(card.read(0, &mut [&mut [0; 512]]), Err(Failure::Device));
        let mut card =
            card.into_slot().start(settings, |bus, hz_max| bus.set_hz(hz_max)).ok().unwrap();
        let mut data = vec![0; 9 * 512];
        card.read(0, &mut [&mut data]).unwrap();
        assert_eq!(data, sectors(0, 9, 1));
    }
}

/// If a command gets no answer, the call fails. The next calls succeed.
#[test]
fn a_command_without_an_answer_is_told_and_left_behind() {
    for at in 0..10 {
        let sim = sim();
        let mut card = start(&sim);
        // These sectors follow the sectors of the read. Zeros instead of an answer to CMD12 would
        // look like an answer.
        card.write(109, &[&sectors(109, 9, 1)]).unwrap();
        card.flush().unwrap();
        sim.inject(SdFault::Silence, at);
        let mut calls = |version| {
            let result = card.write(100, &[&sectors(100, 9, version)]).and_then(|()| card.flush());
            let result = result.and_then(|()| card.discard(200, 9));
            let mut data = vec![0; 9 * 512];
            let result = result.and_then(|()| card.read(100, &mut [&mut data]));
            result.map(|()| assert_eq!(data, sectors(100, 9, version)))
        };
        // The driver sends CMD12 again, but no other command.
        assert_eq!(calls(1), if at == 9 { Ok(()) } else { Err(Failure::Device) }, "{at}");
        let told = (0..3).find(|_| calls(2).is_ok());
        assert!(told.is_some(), "{at}");
        assert_eq!(sim.forget_faults(), 0, "{at}");
    }
}

#[test]
fn a_start_on_dead_wires_ends() {
    let sim = sim();
    (0..10).for_each(|_| sim.inject(SdFault::Silence, 0));
    assert_eq!(try_start(&sim, Settings::DEFAULT).err(), Some(SdError::NoCard));
    assert_eq!(numbers(&sim.take_commands()), []);
}

/// Makes random calls with random faults. Flushed sectors must be on the card. A read must return
/// the written data, unless a call has reported a loss. The driver must not break the protocol.
#[test]
fn among_random_faults_nothing_is_lost_without_a_word() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let sim = SdSim::new(SdProfile { answer_bytes: rng.usize(1..=8), ..SdProfile::small() });
        let mut card = start_with(&sim, if rng.bool() { Settings::DEFAULT } else { SHARED });
        // The sectors that the card certainly contains, and the sectors that it must contain
        // after the next successful flush.
        let (mut flushed, mut pending) = (HashMap::new(), HashMap::new());
        let mut next = 0;
        for version in 0..150u8 {
            if rng.u8(..4) == 0 {
                let faults = [
                    SdFault::CommandCrc,
                    SdFault::ReadCrc,
                    SdFault::ReadError(4),
                    SdFault::NoData,
                    SdFault::WriteCrc,
                    SdFault::WriteError,
                    SdFault::ProgramError,
                    SdFault::Busy(rng.u64(..4_000_000_000)),
                ];
                let fault = faults[rng.usize(..faults.len())];
                // If CMD12 is damaged more often than the driver repeats it, the driver cannot
                // find out if the card received it. So this fault occurs once.
                let is_command = fault == SdFault::CommandCrc;
                if is_command {
                    sim.forget_faults();
                }
                let times = if is_command { 1 } else { rng.u32(1..=5) };
                let after = rng.u32(..12);
                (0..times).for_each(|_| sim.inject(fault, after));
            }
            let (first, count) = (if rng.bool() { next } else { rng.u32(..64) }, rng.u32(1..12));
            let mut touched = 0..0;
            let result = match rng.u8(..8) {
                0..4 => {
                    touched = first..first + count;
                    next = touched.end % 64;
                    let result = card.write(first, &[&sectors(first, count, version)]);
                    if result.is_ok() {
                        pending.extend(
                            touched.clone().map(|number| (number, sector(number, version))),
                        );
                    }
                    result
                }
                4..6 => {
                    let mut data = vec![0; count as usize * 512];
                    let result = card.read(first, &mut [&mut data]);
                    for (number, found) in
                        (first..).zip(data.chunks(512)).filter(|_| result.is_ok())
                    {
                        let held: Option<&[u8; 512]> =
                            pending.get(&number).or(flushed.get(&number));
                        assert!(
                            held.is_none_or(|held| held == found),
                            "seed {seed}, call {version}: sector {number}"
                        );
                    }
                    // An unreadable sector does not affect other sectors.
                    result.or_else(|failure| {
                        if failure == Failure::Uncorrectable { Ok(()) } else { Err(failure) }
                    })
                }
                6 => {
                    touched = first..first + count;
                    forget(&mut flushed, touched.clone());
                    forget(&mut pending, touched.clone());
                    card.discard(first, count)
                }
                _ => card.flush().map(|()| flushed.extend(pending.drain())),
            };
            if result.is_err() {
                forget(&mut flushed, pending.drain().map(|(number, _)| number).chain(touched));
            }
        }
        sim.forget_faults();
        while card.flush().is_err() {
            forget(&mut flushed, pending.drain().map(|(number, _)| number));
        }
        flushed.extend(pending);
        for (number, data) in flushed {
            assert_eq!(sim.sector(number), Some(data), "seed {seed}: sector {number}");
        }
    }
}

/// Removes the expected contents of these sectors.
fn forget(held: &mut HashMap<u32, [u8; 512]>, numbers: impl Iterator<Item = u32>) {
    for number in numbers {
        held.remove(&number);
    }
}
