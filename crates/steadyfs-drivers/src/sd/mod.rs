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
mod slot;
mod start;
mod stream;

pub use card::SdCard;
pub use error::{SdError, Wait};
pub use limits::{Settings, times_max, times_typical};
pub use registers::{CardInfo, EraseTime, Kind};
pub use slot::{SdSlot, StartError};
