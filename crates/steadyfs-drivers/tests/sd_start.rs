//! From power-on to a card that says what it is.

mod common;

use common::{HZ, SHARED, numbers, profiles, sector, slot, start, try_start};
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SectorDevice, SectorLayout};
use steadyfs_drivers::sd::{EraseTime, Kind, SdError, Settings, times_typical};
use steadyfs_sim::sd_spi::{SdFault, SdKind, SdProfile, SdSim};

#[test]
fn every_kind_of_card_starts_and_says_what_it_is() {
    for profile in profiles() {
        let card = start(&SdSim::new(profile));
        let info = card.info();
        assert_eq!(card.sector_count(), profile.sectors);
        let kind = match profile.kind {
            SdKind::High if profile.sectors > 1 << 26 => Kind::Extended,
            SdKind::High => Kind::High,
            _ => Kind::Standard,
        };
        assert_eq!(info.kind, kind);
        // A card that does not say: what the specification allows one of its size.
        assert_eq!(card.unit_bytes(), if profile.unit_bytes == 0 { 512 << 10 } else { profile.unit_bytes });
        assert_eq!((info.speed_class, info.erase_sectors, info.clock_hz), (10, profile.erase_sectors, HZ));
        let (units, seconds, offset_seconds) = profile.erase_time;
        assert_eq!(info.erase_time, (units > 0).then_some(EraseTime { units, seconds, offset_seconds }));
        assert_eq!((info.name(), info.maker, info.serial), ("STEAD", 0x5D, 0x1234_5678));
        assert_eq!((info.revision, info.date), (0x10, (2026, 7)));
    }
}

#[test]
fn a_start_is_the_sequence_of_the_specification() {
    let sim = SdSim::new(SdProfile { starts: 3, ..SdProfile::small() });
    try_start(&sim, Settings::DEFAULT).unwrap();
    assert_eq!(numbers(&sim.take_commands()), [0, 8, 59, 141, 141, 141, 58, 9, 10, 13, 113]);
    let sim = SdSim::new(SdProfile { starts: 1, kind: SdKind::Version1, ..SdProfile::small() });
    try_start(&sim, Settings::DEFAULT).unwrap();
    assert_eq!(numbers(&sim.take_commands()), [0, 8, 59, 141, 16, 9, 10, 13, 113]);
}

#[test]
fn a_slow_card_is_waited_for_and_one_that_never_starts_is_not() {
    let sim = SdSim::new(SdProfile { starts: 400, ..SdProfile::small() });
    start(&sim);
    assert!(sim.now_ns() > 800_000_000);
    let sim = SdSim::new(SdProfile { starts: u32::MAX, ..SdProfile::small() });
    assert_eq!(try_start(&sim, Settings::DEFAULT).err(), Some(SdError::NotStarted));
    assert!(sim.now_ns() < 16_000_000_000);
    let impatient = Settings { patience: 1, ..Settings::DEFAULT };
    sim.power_on(0);
    assert_eq!(try_start(&sim, impatient).err(), Some(SdError::NotStarted));
}

#[test]
fn an_empty_slot_says_so_and_can_be_tried_again() {
    let sim = SdSim::new(SdProfile::small());
    sim.remove();
    let failed = slot(&sim).start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max)).err().unwrap();
    assert_eq!(failed.error, SdError::NoCard);
    sim.power_on(0);
    assert!(failed.slot.start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max)).is_ok());
}

/// Wires that damage each of the commands and registers of the start, once or three times in a row.
#[test]
fn a_start_repeats_what_was_damaged() {
    for times in [1, 3] {
        for at in 1..14 {
            let sim = SdSim::new(SdProfile { starts: 2, ..SdProfile::small() });
            (0..times).for_each(|_| sim.inject(SdFault::CommandCrc, at));
            sim.inject(SdFault::Silence, 0); // the first CMD0
            let result = try_start(&sim, Settings::DEFAULT);
            assert!(result.is_ok(), "command {at} {times} times: {:?}", result.err());
        }
    }
}

#[test]
fn a_processor_that_was_reset_finds_the_card_in_any_state() {
    for bytes in (0..7000).step_by(41) {
        let sim = SdSim::new(SdProfile { write_ns: 300_000, ..SdProfile::small() });
        let mut card = start(&sim);
        card.write(64, &[&sector(64, 1)]).unwrap();
        card.flush().unwrap();
        // The card stops to listen for as long as the processor is away: so the other half of the write is lost to both.
        let (mut bus, mut left) = (sim.bus(), bytes);
        let data: Vec<[u8; 512]> = (0..4).map(|index| sector(index, 2)).collect();
        drop(card);
        replay_write(&sim, &mut bus, &data, &mut left);
        sim.host_reset();
        let mut card = start(&sim);
        let mut found = [0; 512];
        card.read(64, &mut [&mut found]).unwrap();
        assert_eq!(found, sector(64, 1), "{bytes}");
        card.write(0, &[&data.concat()]).unwrap();
        card.flush().unwrap();
    }
}

/// The bytes of a multi-block write, as a processor sends them that stops after so many.
fn replay_write(sim: &SdSim, bus: &mut steadyfs_sim::sd_spi::SdBus, data: &[[u8; 512]], left: &mut usize) {
    use embedded_hal::digital::OutputPin;
    use embedded_hal::spi::SpiBus;
    sim.select().set_low().unwrap();
    let mut send = |bytes: &[u8]| {
        let count = bytes.len().min(*left);
        *left -= count;
        bus.write(&bytes[..count]).unwrap();
    };
    send(&[0xFF, 0xFF]);
    send(&[0x59, 0, 0, 0, 0, 0x3]); // CMD25 of sector 0
    send(&[0xFF; 4]);
    for sector in data {
        send(&[0xFF, 0xFC]);
        send(sector);
        send(&[0, 0]); // a bad checksum: the card refuses the sector
        send(&[0xFF; 4]);
        return;
    }
}

#[test]
fn a_card_says_no_to_writes_and_the_file_system_hears_it() {
    let sim = SdSim::new(SdProfile { is_write_protected: true, ..SdProfile::small() });
    let mut card = start(&sim);
    assert_eq!(card.write(0, &[&[0; 512]]), Err(Failure::WriteProtected));
    assert_eq!(card.discard(0, 64), Err(Failure::WriteProtected));
    assert_eq!(card.last_error(), Some(SdError::WriteProtected));
    card.read(0, &mut [&mut [0; 512]]).unwrap();
    card.flush().unwrap();
    // The slide of the socket.
    let mut card = common::start_with(&SdSim::new(SdProfile::small()), Settings { read_only: true, ..Settings::DEFAULT });
    assert_eq!(card.write(0, &[&[0; 512]]), Err(Failure::WriteProtected));
}

#[test]
fn times_are_those_of_the_specification_or_those_that_are_given() {
    let sim = SdSim::new(SdProfile::small());
    let times = start_with_times(&sim, Settings::DEFAULT);
    let ms = 1_000_000;
    // 524 bytes at 20 MHz are 209,600 ns; a stream to be ended is twice 250 ms.
    assert_eq!((times.read_sector_ns, times.write_sector_ns), (100 * ms + 209_600, 250 * ms + 209_600));
    assert_eq!(times.read_ns, 500 * ms + 2 * 40 * 400);
    assert_eq!(times.flush_ns, 500 * ms + 40 * 400);
    // One unit of four that take a second, a second on top, both ends in part.
    assert_eq!(times.discard_ns, 500 * ms + 40 * 400 + (1250 + 500) * ms + 80 * 400);
    sim.power_on(0);
    assert_eq!(start_with_times(&sim, SHARED).read_ns, 40 * 400);
    sim.power_on(0);
    let typical = times_typical(start(&sim).info());
    sim.power_on(0);
    assert_eq!(start_with_times(&sim, Settings { times: Some(typical), ..Settings::DEFAULT }), typical);
}

fn start_with_times(sim: &SdSim, settings: Settings) -> steadyfs::media::sectors::SectorTimes {
    common::start_with(sim, settings).times()
}

#[test]
fn a_card_gives_a_layout() {
    let card = start(&SdSim::new(SdProfile::small()));
    let geometry = SectorLayout::for_device(card.sector_count(), card.unit_bytes()).geometry();
    assert_eq!((geometry.page_bytes, geometry.pages_per_block, geometry.block_count), (4096, 14, 64));
}
