//! SD cards on SPI: SDSC, SDHC and SDXC as a [`SectorDevice`](steadyfs::media::sectors::SectorDevice).
//!
//! ```text
//!  SdSlot ── start ──▶ SdCard        sectors, flush, discard                    card, stream
//!    ▲                   │           commands, blocks, checksums, busy          link
//!    └──── into_slot ────┘           SpiBus, OutputPin, DelayNs                 embedded-hal 1.0
//! ```
//!
//! **`SpiBus` and a pin, not `SpiDevice`.** A card wants 74 clocks while it is *not* selected, before its first command, and eight after each time that it is let go; a transaction of an
//! `SpiDevice` has no such clocks. How long a card is busy shows only while it is looked at, so the transfer cannot be listed beforehand, as a transaction must. And a stream of writes stays
//! open, with the card selected, from one call to the next. On a bus with other devices set [`Settings::keep_stream`] to `false`; then the card is let go at the end of each call, and the bus may be a wrapper
//! that borrows it for that long.
//!
//! **Checksums are on** (CMD59), for commands and data, in both directions; what arrives damaged is sent again, three times. A card checks nothing without.
//!
//! **Streams.** Writes that follow each other are one multi-block write (CMD25), which ends with a read, a flush, a discard or a write elsewhere. A file system that writes whole
//! allocation units in order, as SteadyFS does on [`SectorPages`](steadyfs::media::sectors::SectorPages), seldom needs another. An error of a sector that the card had taken already shows at the end of the stream:
//! then all writes fail, until the flush has failed too, so that no commit counts what is lost.
//!
//! **Time.** Nothing waits without an end: a busy card is looked at, with pauses by `DelayNs`, up to the [limits] of the specification times the [patience](Settings::patience).
//!
//! # Errors
//! Calls of the device tell a [`Failure`](steadyfs::media::Failure); [`SdCard::last_error`] keeps what the card said.
//!
//! # Left out
//! The switch to 50 MHz (CMD6), passwords, the cache and the command queue of version 6.0 (off after power-on), SDUC, and MMC.

mod card;
mod crc;
mod error;
pub mod limits;
mod link;
mod registers;
mod start;
mod stream;

pub use card::SdCard;
pub use error::{SdError, Wait};
pub use limits::{Settings, times_max, times_typical};
pub use registers::{CardInfo, EraseTime, Kind};

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;
use link::Link;

/// Where a card is, or may be: the bus (mode 0, most significant bit first), the pin that selects the card, and a delay.
#[derive(Debug)]
pub struct SdSlot<B, P, D> {
    link: Link<B, P, D>,
}

/// A card that could not be started, with the slot that it is in.
#[derive(Debug)]
pub struct StartError<B, P, D> {
    /// The slot, to try again.
    pub slot: SdSlot<B, P, D>,
    /// What failed.
    pub error: SdError,
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> SdSlot<B, P, D> {
    /// Takes the wires. Nothing happens on them.
    pub fn new(bus: B, select: P, delay: D) -> Self {
        Self { link: Link::new(bus, select, delay) }
    }

    /// Resets the card and asks it what it is.
    ///
    /// `set_clock(&mut bus, hz_max)` sets the bus to `hz_max` hertz or less, and returns what it has set: by that busy cards are timed. It is called with
    /// [`START_HZ_MAX`](limits::START_HZ_MAX), and with [`TRANSFER_HZ_MAX`](limits::TRANSFER_HZ_MAX) when the card may be driven so fast. Long wires may want less.
    ///
    /// The processor may have been reset while the card was in the middle of something.
    ///
    /// # Cost
    /// Up to a second, by the specification; 10 to 300 ms are common.
    ///
    /// # Errors
    /// The slot comes back with the error.
    pub fn start(
        mut self,
        settings: Settings,
        set_clock: impl FnMut(&mut B, u32) -> u32,
    ) -> Result<SdCard<B, P, D>, StartError<B, P, D>> {
        match self.link.start(&settings, set_clock) {
            Ok(info) => Ok(SdCard::new(self.link, info, settings)),
            Err(error) => {
                let _ = self.link.deselect();
                Err(StartError { slot: self, error })
            }
        }
    }

    /// Gives the wires back.
    pub fn into_parts(self) -> (B, P, D) {
        self.link.into_parts()
    }
}
