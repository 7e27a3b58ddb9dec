//! Time limits of a card, and the settings of the driver.
//!
//! Paragraph numbers refer to the SD Association's *Physical Layer Simplified Specification*,
//! version 4.10 and later.

use super::CardInfo;
use super::registers::Kind;
use steadyfs::media::sectors::SectorTimes;

/// Fastest clock before a card is ready (4.4 and 6.4.1).
pub const START_HZ_MAX: u32 = 400_000;
/// Fastest clock once a card is ready, at the default speed (6.6.4). The driver does not switch to
/// 50 MHz (CMD6).
pub const TRANSFER_HZ_MAX: u32 = 25_000_000;
/// Longest time from the first ACMD41 until the card is ready (4.2.3).
pub const START_MS: u32 = 1000;
/// Longest time from a command to its data, and from one sector to the next (4.6.2.1).
pub const READ_MS: u32 = 100;
/// Longest busy time after a written sector (4.6.2.2).
pub const WRITE_MS: u32 = 250;
/// Longest busy time after the end of a stream of writes on SDXC (4.6.2.2). On smaller cards it is
/// [`WRITE_MS`].
pub const STOP_EXTENDED_MS: u32 = 500;
/// Longest time of each sector of an erase, if the card does not report erase times (4.6.2.3). Also
/// the time for each allocation unit that is erased in part.
pub const ERASE_SECTOR_MS: u32 = 250;
/// Smallest limit that is computed for an erase (4.14).
pub const ERASE_MS_MIN: u32 = 1000;
/// Longest wait for an erase, if the limit is computed from the number of sectors. The
/// specification does not define this value.
pub(super) const ERASE_MS_MAX: u32 = 60_000;

/// Pause between two polls of a busy card. The driver notices the end of a wait at most one pause
/// late.
pub(super) const PAUSE_US: u32 = 20;

/// Settings of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// True if a multi-block write stays open, with the card selected, for a write that follows
    /// directly. If true, sequential writes are several times as fast. If false, every write ends
    /// its own stream, and between the calls the bus is free for other devices. Default: `true`.
    pub keep_stream: bool,
    /// True if a discard erases its sectors. An erase gives the card erased flash for later writes,
    /// and may take a second. Default: `true`.
    pub erase: bool,
    /// Forbids writes, for example if the write-protect slide of the card is set. Only the socket
    /// can detect the slide, the card cannot. Default: `false`.
    pub read_only: bool,
    /// Factor on the limits of the specification: a call gives up after the limit times this
    /// factor. Default: 8. Some cards are busy for 2 seconds instead of 250 milliseconds. A single
    /// slow call is better than a failed volume.
    pub patience: u8,
    /// True if a power cut may lose any of the writes since the last flush. No specification
    /// defines the order in which a card programs its data. Set this to `false` only for a card
    /// with protection from power failures whose maker guarantees the order. Default: `true`, which
    /// costs a flush for each root.
    pub reorders: bool,
    /// Result of [`times`](steadyfs::media::sectors::SectorDevice::times); `None` selects
    /// [`times_max`]. The bounds of calls are only as good as these times. Default: `None`.
    pub times: Option<SectorTimes>,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        keep_stream: true,
        erase: true,
        read_only: false,
        patience: 8,
        reorders: true,
        times: None,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Number of nanoseconds in a millisecond.
const MS: u64 = 1_000_000;
/// Largest number of bytes on the bus for a command with its answer, and for a sector without its
/// data.
const COMMAND_BYTES: u64 = 20;
const SECTOR_EXTRA_BYTES: u64 = 12;

/// Returns the longest times that the specification allows a card, on a bus with the clock in
/// `info`. They do not include repeated transfers and the time of the processor.
///
/// If [streams](Settings::keep_stream) stay open, each command may first have to end a stream. The
/// times include the end of that stream. The time of a discard is for one allocation unit.
pub fn times_max(info: &CardInfo, settings: &Settings) -> SectorTimes {
    let byte_ns = 8_000_000_000 / u64::from(info.clock_hz.max(1));
    let pause_ns = u64::from(PAUSE_US) * 1000;
    let sector_ns = (512 + SECTOR_EXTRA_BYTES) * byte_ns + pause_ns;
    let stop_ns =
        u64::from(WRITE_MS + stop_ms(info.kind)) * MS + 2 * (COMMAND_BYTES * byte_ns + pause_ns);
    let before_ns = if settings.keep_stream { stop_ns } else { 0 };
    let erase_ns = u64::from(erase_ms(info, info.unit_bytes / 512)) * MS
        + 4 * COMMAND_BYTES * byte_ns
        + pause_ns;
    SectorTimes {
        read_ns: before_ns + 2 * COMMAND_BYTES * byte_ns,
        read_sector_ns: u64::from(READ_MS) * MS + sector_ns,
        write_ns: stop_ns + 3 * COMMAND_BYTES * byte_ns,
        write_sector_ns: u64::from(WRITE_MS) * MS + sector_ns,
        discard_ns: if settings.erase { before_ns + erase_ns } else { 0 },
        flush_ns: before_ns,
    }
}

/// Returns times that are typical of industrial cards in ordinary use. These times are no
/// guarantee, and your card may differ. Measure it and set [`Settings::times`].
///
/// The times are 0.5 ms until data comes, 1 ms for the end of a stream, and 2 ms until a stream
/// can be written. A sector inside a stream adds 20 µs of busy time. An erase of an allocation
/// unit takes 5 ms.
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

/// Returns the longest busy time of a card after the end of a stream, in milliseconds.
pub(super) const fn stop_ms(kind: Kind) -> u32 {
    match kind {
        Kind::Extended => STOP_EXTENDED_MS,
        _ => WRITE_MS,
    }
}

/// Returns the longest time of an erase of `sectors` sectors, in milliseconds (4.14).
pub(super) fn erase_ms(info: &CardInfo, sectors: u32) -> u32 {
    let Some(time) = info.erase_time else {
        return sectors.saturating_mul(ERASE_SECTOR_MS).min(ERASE_MS_MAX);
    };
    let units = sectors.div_ceil((info.unit_bytes / 512).max(1));
    let ms = (u64::from(time.seconds) * 1000 * u64::from(units))
        .div_ceil(u64::from(time.units.max(1)))
        + u64::from(time.offset_seconds) * 1000;
    // The range may begin and end within an allocation unit, so two units may be erased in part.
    (ms.min(u64::from(u32::MAX / 2)) as u32).max(ERASE_MS_MIN) + 2 * ERASE_SECTOR_MS
}
