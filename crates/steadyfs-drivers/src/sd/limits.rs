//! How long a card may take, and what the owner of a card may choose.
//!
//! Paragraphs are those of the SD Association's *Physical Layer Simplified Specification*, version 4.10 and later.

use super::CardInfo;
use super::registers::Kind;
use steadyfs::media::sectors::SectorTimes;

/// Fastest clock before a card is ready: 4.4 and 6.4.1.
pub const START_HZ_MAX: u32 = 400_000;
/// Fastest clock afterwards, at the default speed: 6.6.4. The switch to 50 MHz (CMD6) is not made.
pub const TRANSFER_HZ_MAX: u32 = 25_000_000;
/// From the first ACMD41 until the card is ready: 4.2.3.
pub const START_MS: u32 = 1000;
/// From a command to its data, and between sectors: 4.6.2.1.
pub const READ_MS: u32 = 100;
/// Busy behind a sector that was written: 4.6.2.2.
pub const WRITE_MS: u32 = 250;
/// Busy behind the end of a stream of writes on SDXC: 4.6.2.2. On smaller cards it is [`WRITE_MS`].
pub const STOP_EXTENDED_MS: u32 = 500;
/// Each sector of an erase, where the card does not say more: 4.6.2.3. Also each allocation unit that is erased in part.
pub const ERASE_SECTOR_MS: u32 = 250;
/// The least that a computed time of an erase may be: 4.14.
pub const ERASE_MS_MIN: u32 = 1000;
/// Longest wait for an erase, where the limit comes from the number of sectors. Not of the specification.
pub(super) const ERASE_MS_MAX: u32 = 60_000;

/// Pause between two looks at a busy card: the most by which the end of a wait is noticed late.
pub(super) const PAUSE_US: u32 = 20;

/// How a card is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether a multi-block write stays open for the write that follows it directly, with the card selected. More: sequential writes are several times as fast.
    /// Less: every write ends for itself, and the bus is free between the calls, for other devices on it. Default: `true`.
    pub keep_stream: bool,
    /// Whether discards erase. They help the card to find erased flash, and may take a second each. Default: `true`.
    pub erase: bool,
    /// Forbids writes, as the slide of a card tells it to the socket: the card itself does not know it. Default: `false`.
    pub read_only: bool,
    /// How many times the limits of the specification are waited for until a call gives up. Default: 8, since cards have been seen that are busy for 2 seconds in place of 250
    /// milliseconds, and a card that is slow once is better than a volume that is gone.
    pub patience: u8,
    /// Whether a power cut may lose any of the writes since the last flush. No specification says in which order a card programs what it took: only the maker of a card with
    /// protection from power failures can. Default: `true`, which costs a flush for each root.
    pub reorders: bool,
    /// What [`times`](steadyfs::media::sectors::SectorDevice::times) tells; `None` for [`times_max`]. Bounds are as good as these. Default: `None`.
    pub times: Option<SectorTimes>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self { keep_stream: true, erase: true, read_only: false, patience: 8, reorders: true, times: None };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Bytes on the bus for a command with its answer, at most; and for a sector without its data.
const COMMAND_BYTES: u64 = 20;
const SECTOR_EXTRA_BYTES: u64 = 12;

/// The longest times that the specification lets a card take, with a bus of so many hertz. Transfers that are repeated, and the processor, come on top.
///
/// With [streams](Settings::keep_stream) each command may first have to end one, which is in its time. A discard is that of one allocation unit.
pub fn times_max(info: &CardInfo, settings: &Settings) -> SectorTimes {
    let byte_ns = 8_000_000_000 / u64::from(info.clock_hz.max(1));
    let pause_ns = u64::from(PAUSE_US) * 1000;
    let sector_ns = (512 + SECTOR_EXTRA_BYTES) * byte_ns + pause_ns;
    let stop_ns = u64::from(WRITE_MS + stop_ms(info.kind)) * MS + 2 * (COMMAND_BYTES * byte_ns + pause_ns);
    let before_ns = if settings.keep_stream { stop_ns } else { 0 };
    let erase_ns = u64::from(erase_ms(info, info.unit_bytes / 512)) * MS + 4 * COMMAND_BYTES * byte_ns + pause_ns;
    SectorTimes {
        read_ns: before_ns + 2 * COMMAND_BYTES * byte_ns,
        read_sector_ns: u64::from(READ_MS) * MS + sector_ns,
        write_ns: stop_ns + 3 * COMMAND_BYTES * byte_ns,
        write_sector_ns: u64::from(WRITE_MS) * MS + sector_ns,
        discard_ns: if settings.erase { before_ns + erase_ns } else { 0 },
        flush_ns: before_ns,
    }
}

/// Times of the order that industrial cards show in ordinary use: no promise, and no card of yours. Measure it and set [`Settings::times`].
///
/// 0.5 ms until data comes, 1 ms for the end of a stream, 2 ms until one can be written, 20 µs of busy behind a sector inside of it, 5 ms for an erase of an allocation unit.
pub const fn times_typical(info: &CardInfo) -> SectorTimes {
    let clock_hz = if info.clock_hz == 0 { 1 } else { info.clock_hz } as u64;
    let sector_ns = (512 + SECTOR_EXTRA_BYTES) * 8_000_000_000 / clock_hz;
    SectorTimes {
        read_ns: MS / 2,
        read_sector_ns: sector_ns,
        write_ns: 2 * MS,
        write_sector_ns: sector_ns + 20_000,
        discard_ns: 5 * MS,
        flush_ns: MS,
    }
}

/// How long a card may be busy after the end of a stream.
pub(super) const fn stop_ms(kind: Kind) -> u32 {
    match kind {
        Kind::Extended => STOP_EXTENDED_MS,
        _ => WRITE_MS,
    }
}

/// How long an erase of so many sectors may take: 4.14.
pub(super) fn erase_ms(info: &CardInfo, sectors: u32) -> u32 {
    let Some(time) = info.erase_time else { return sectors.saturating_mul(ERASE_SECTOR_MS).min(ERASE_MS_MAX) };
    let units = sectors.div_ceil((info.unit_bytes / 512).max(1));
    let ms = (u64::from(time.seconds) * 1000 * u64::from(units)).div_ceil(u64::from(time.units.max(1)))
        + u64::from(time.offset_seconds) * 1000;
    // Both ends may be units in part.
    (ms.min(u64::from(u32::MAX / 2)) as u32).max(ERASE_MS_MIN) + 2 * ERASE_SECTOR_MS
}
