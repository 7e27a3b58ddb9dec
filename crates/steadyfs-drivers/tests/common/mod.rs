//! A simulated card and its driver.
#![allow(dead_code)]

use steadyfs_drivers::sd::{SdCard, SdError, SdSlot, Settings};
use steadyfs_sim::sd_spi::{SdBus, SdCommand, SdDelay, SdKind, SdProfile, SdSelect, SdSim};

pub type Card = SdCard<SdBus, SdSelect, SdDelay>;
pub type Slot = SdSlot<SdBus, SdSelect, SdDelay>;

pub const HZ: u32 = 20_000_000;
/// Settings that stop the card's write stream after every write.
pub const SHARED: Settings = Settings { keep_stream: false, ..Settings::DEFAULT };

pub fn slot(sim: &SdSim) -> Slot {
    SdSlot::new(sim.bus(), sim.select(), sim.delay())
}

pub fn try_start(sim: &SdSim, settings: Settings) -> Result<Card, SdError> {
    slot(sim)
        .start(settings, |bus, hz_max| bus.set_hz(hz_max.min(HZ)))
        .map_err(|failed| failed.error)
}

/// Starts a card and discards the commands of the start.
pub fn start_with(sim: &SdSim, settings: Settings) -> Card {
    let card = try_start(sim, settings).unwrap();
    sim.take_commands();
    card
}

pub fn start(sim: &SdSim) -> Card {
    start_with(sim, Settings::DEFAULT)
}

/// Returns a card of each kind: fast and slow cards, with each length of a command's answer.
pub fn profiles() -> [SdProfile; 6] {
    let small = SdProfile::small();
    [
        small,
        SdProfile {
            answer_bytes: 8,
            starts: 1,
            read_ns: 90_000_000,
            write_ns: 0,
            stop_ns: 0,
            ..small
        },
        SdProfile {
            kind: SdKind::Standard,
            unit_bytes: 16 << 10,
            erase_sectors: 32,
            answer_bytes: 2,
            ..small
        },
        SdProfile {
            kind: SdKind::Version1,
            unit_bytes: 0,
            erase_sectors: 1,
            write_ns: 240_000_000,
            erase_time: (0, 0, 0),
            ..small
        },
        SdProfile { buffer_sectors: 20, read_ns: 0, write_ns: 7, ..small },
        // 64 GiB.
        SdProfile { sectors: 1 << 27, unit_bytes: 4 << 20, stop_ns: 490_000_000, ..small },
    ]
}

/// Returns the indexes of the commands. Application commands are increased by 100; CMD55 is left
/// out.
pub fn numbers(commands: &[SdCommand]) -> Vec<u8> {
    let others = commands.iter().filter(|command| command.index != 55);
    others.map(|command| command.index + if command.is_app { 100 } else { 0 }).collect()
}

/// Returns random bytes that identify a sector's number and version.
pub fn sector(number: u32, version: u8) -> [u8; 512] {
    let mut rng = fastrand::Rng::with_seed(u64::from(number) << 8 | u64::from(version));
    std::array::from_fn(|_| rng.u8(..))
}

/// Returns the bytes of several consecutive sectors.
pub fn sectors(first: u32, count: u32, version: u8) -> Vec<u8> {
    (first..first + count).flat_map(|number| sector(number, version)).collect()
}
