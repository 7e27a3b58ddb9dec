//! SD cards on SPI: SDSC, SDHC and SDXC as a
//! [`SectorDevice`](steadyfs::media::sectors::SectorDevice).
//!
//! ```text
//!  SdSlot ─ start ─▶ SdCard    sectors, flush, discard               card, stream
//!    ▲                 │       commands, blocks, checksums, busy     link
//!    └─── into_slot ───┘       SpiBus, OutputPin, DelayNs            embedded-hal 1.0
//! ```
//!
//! **`SpiBus` and a pin, not `SpiDevice`.** There are three reasons:
//!
//! - A card needs clocks while it is *not* selected: 74 before its first command, and eight after
//!   each deselection. A transaction of an `SpiDevice` has no such clocks.
//! - Only polls show if a card is still busy. So a transfer cannot be listed beforehand, as a
//!   transaction requires.
//! - A stream of writes stays open, with the card selected, from one call to the next.
//!
//! On a bus with other devices, set [`Settings::keep_stream`] to `false`. Then each call deselects
//! the card at its end, and the bus may be a wrapper that borrows it for the time of a call.
//!
//! **Checksums are on** (CMD59), for commands and data, in both directions. Damaged transfers are
//! repeated, up to three times. Without CMD59 a card checks nothing.
//!
//! **Streams.** Consecutive writes are one multi-block write (CMD25). It ends with a read, a
//! flush, a discard or a write elsewhere. A file system that writes whole allocation units in
//! order seldom needs another stream; SteadyFS does this on
//! [`SectorPages`](steadyfs::media::sectors::SectorPages). The card may report an error of an
//! already taken sector only at the end of the stream. Then all writes fail until the flush has
//! failed too, so that no commit counts lost data.
//!
//! **Time.** Every wait has a limit. The driver polls a busy card, with pauses by `DelayNs`, up to
//! the [limits] of the specification times the [patience](Settings::patience).
//!
//! # Errors
//! Calls of the device return a [`Failure`](steadyfs::media::Failure); [`SdCard::last_error`]
//! keeps the card's own answer.
//!
//! # Left out
//! The switch to 50 MHz (CMD6), passwords, the cache and the command queue of version 6.0 (off
//! after power-on), SDUC, and MMC.

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
