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
//! - Only polls show if a card is still busy. So the bytes of a transfer are unknown beforehand,
//!   but a transaction requires their list.
//! - A stream of writes stays open, with the card selected, from one call to the next.
//!
//! On a bus with other devices, set [`Settings::keep_stream`] to `false`. Then each call deselects
//! the card at its end. The bus may then be a wrapper that borrows the shared bus for the duration
//! of a call.
//!
//! **Checksums are on** (CMD59), for commands and data, in both directions. Damaged transfers are
//! repeated, up to three times. Without CMD59 a card checks nothing.
//!
//! **Streams.** Consecutive writes are one multi-block write (CMD25). The stream ends with a read,
//! a flush, a discard or a write to other sectors. On
//! [`SectorPages`](steadyfs::media::sectors::SectorPages) SteadyFS writes whole allocation units in
//! order, so it seldom needs another stream. The card may report the error of a sector only at the
//! end of the stream, after it received the sector. Then all writes fail until the flush has failed
//! too, so that no commit succeeds with lost data.
//!
//! **Time.** Every wait has a limit. The driver polls a busy card, with pauses by `DelayNs`, up to
//! the [limits] of the specification times the [patience](Settings::patience).
//!
//! # Errors
//! Calls of the device return a [`Failure`](steadyfs::media::Failure). [`SdCard::last_error`]
//! returns the card's own answer.
//!
//! # Left out
//! The driver does not support the switch to 50 MHz (CMD6), passwords, SDUC, and MMC. It also does
//! not use the cache and the command queue of version 6.0, which are off after power-on.

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
