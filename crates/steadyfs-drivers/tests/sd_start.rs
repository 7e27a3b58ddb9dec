//! Tests the start of a card: from power-on to its description.

use crate::common::{HZ, SHARED, numbers, profiles, sector, sectors, slot, start, try_start};
use embedded_hal::spi::{self, SpiBus};
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SectorDevice, SectorLayout};
use steadyfs_drivers::sd::{EraseTime, Kind, SdError, SdSlot, Settings, times_typical};
use steadyfs_sim::sd_spi::{SdBus, SdFault, SdKind, SdProfile, SdSim};

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
        // If the card does not contain its allocation unit, the driver takes the maximum of the
        // specification for this capacity.
        assert_eq!(
            card.unit_bytes(),
            if profile.unit_bytes == 0 { 512 << 10 } else { profile.unit_bytes }
        );
        assert_eq!(
            (info.speed_class, info.erase_sectors, info.clock_hz),
            (10, profile.erase_sectors, HZ)
        );
        let (units, seconds, offset_seconds) = profile.erase_time;
        assert_eq!(
            info.erase_time,
            (units > 0).then_some(EraseTime { units, seconds, offset_seconds })
        );
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
    let failed =
        slot(&sim).start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max)).err().unwrap();
    assert_eq!(failed.error, SdError::NoCard);
    sim.power_on(0);
    assert!(failed.slot.start(Settings::DEFAULT, |bus, hz_max| bus.set_hz(hz_max)).is_ok());
}

/// The bus damages each command and register of the start, once or three times in a row.
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

/// A bus whose processor is reset after `left` bytes.
struct Dying {
    bus: SdBus,
    left: usize,
}

#[derive(Debug)]
struct Dead;

impl spi::Error for Dead {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::Other
    }
}

impl spi::ErrorType for Dying {
    type Error = Dead;
}

impl SpiBus for Dying {
    fn read(&mut self, _words: &mut [u8]) -> Result<(), Dead> {
        unreachable!("what it sends is left open")
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Dead> {
        words.iter().try_for_each(|word| self.transfer_in_place(&mut [*word]))
    }

    fn transfer(&mut self, _read: &mut [u8], _write: &[u8]) -> Result<(), Dead> {
        unreachable!("not used")
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), Dead> {
        let count = words.len().min(self.left);
        self.left -= count;
        self.bus.transfer_in_place(&mut words[..count]).unwrap_or_else(|error| match error {});
        if count < words.len() { Err(Dead) } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Dead> {
        if self.left == 0 { Err(Dead) } else { Ok(()) }
    }
}

#[test]
fn a_processor_that_was_reset_finds_the_card_in_any_state() {
    for bytes in (1..12_000).step_by(17) {
        let sim = SdSim::new(SdProfile { write_ns: 30_000, ..SdProfile::small() });
        let mut card = start(&sim);
        card.write(64, &[&sectors(64, 9, 1)]).unwrap();
        card.flush().unwrap();
        let bus = Dying { bus: sim.bus(), left: usize::MAX };
        let slot = SdSlot::new(bus, sim.select(), sim.delay());
        let card =
            slot.start(Settings::DEFAULT, |bus, hz_max| bus.bus.set_hz(hz_max)).ok().unwrap();
        let (bus, select, delay) = card.into_slot().into_parts();
        let slot = SdSlot::new(Dying { left: 900 + bytes, ..bus }, select, delay);
        // The reset comes in the start, in a stream, in an erase, or in a read.
        if let Ok(mut card) = slot.start(Settings::DEFAULT, |bus, hz_max| bus.bus.set_hz(hz_max)) {
            let result = card.write(0, &[&sectors(0, 9, 2)]).and_then(|()| card.discard(100, 100));
            let result = result.and_then(|()| card.read(64, &mut [&mut [0; 9 * 512]]));
            assert!(result.is_ok() || card.last_error() == Some(SdError::Bus));
        }
        sim.host_reset();
        let mut card = start(&sim);
        let mut found = [0; 9 * 512];
        card.read(64, &mut [&mut found]).unwrap();
        assert_eq!(found, sectors(64, 9, 1)[..], "{bytes}");
        card.write(0, &[&sectors(0, 9, 3)]).unwrap();
        card.flush().unwrap();
        assert_eq!(sim.sector(8), Some(sector(8, 3)));
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
    // The write-protect switch of the socket.
    let mut card = crate::common::start_with(
        &SdSim::new(SdProfile::small()),
        Settings { read_only: true, ..Settings::DEFAULT },
    );
    assert_eq!(card.write(0, &[&[0; 512]]), Err(Failure::WriteProtected));
}

#[test]
fn times_are_those_of_the_specification_or_those_that_are_given() {
    let sim = SdSim::new(SdProfile::small());
    let times = start_with_times(&sim, Settings::DEFAULT);
    let ms = 1_000_000;
    // 524 bytes at 20 MHz take 209,600 ns. The driver notices the end of a wait up to 20,000 ns
    // late. To end a stream takes twice 250 ms.
    assert_eq!(
        (times.read_sector_ns, times.write_sector_ns),
        (100 * ms + 229_600, 250 * ms + 229_600)
    );
    let stop_ns = 500 * ms + 40 * 400 + 40_000;
    assert_eq!(times.read_ns, stop_ns + 40 * 400);
    assert_eq!(times.flush_ns, stop_ns);
    // Four units take one second, so one unit takes 250 ms. The card adds a second, and both ends
    // of the range may be parts of units.
    assert_eq!(times.discard_ns, stop_ns + (1250 + 500) * ms + 80 * 400 + 20_000);
    sim.power_on(0);
    assert_eq!(start_with_times(&sim, SHARED).read_ns, 40 * 400);
    sim.power_on(0);
    let typical = times_typical(start(&sim).info());
    sim.power_on(0);
    assert_eq!(
        start_with_times(&sim, Settings { times: Some(typical), ..Settings::DEFAULT }),
        typical
    );
}

fn start_with_times(sim: &SdSim, settings: Settings) -> steadyfs::media::sectors::SectorTimes {
    crate::common::start_with(sim, settings).times()
}

#[test]
fn a_card_gives_a_layout() {
    let card = start(&SdSim::new(SdProfile::small()));
    let geometry = SectorLayout::for_device(card.sector_count(), card.unit_bytes()).geometry();
    assert_eq!(
        (geometry.page_bytes, geometry.pages_per_block, geometry.block_count),
        (4096, 14, 64)
    );
}
