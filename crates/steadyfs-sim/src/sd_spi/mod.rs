//! An SD card on SPI, at the level of bytes, to test drivers on
//! [embedded-hal](https://docs.rs/embedded-hal/1).
//!
//! [`SdSim`] is the card. A driver uses [`bus`](SdSim::bus), [`select`](SdSim::select) and
//! [`delay`](SdSim::delay). The card keeps the time: each byte on the bus advances it, and each
//! delay. The model follows the SD Association's *Physical Layer Simplified Specification*,
//! chapters 4, 5 and 7. Numbers in brackets below are its paragraphs.
//!
//! **Illegal use panics**, with the rule:
//!
//! - a command to a busy card, a command before all of an answer was read, or a command with a
//!   bad checksum (7.2.2),
//! - fewer than eight clocks between an answer and the next bytes (7.5), or after the card was
//!   deselected,
//! - less than 74 clocks at power-on (6.4.1),
//! - a clock above 400 kHz before the card is ready,
//! - data without a token,
//! - a deselect in the middle of a transfer,
//! - any byte that is neither a command nor ones.
//!
//! A real card answers other mistakes with an error (arguments, order of commands, CRC of data).
//! This card does so too.
//!
//! [`inject`](SdSim::inject) adds **faults**. [`remove`](SdSim::remove) pulls the card.
//! [`cut_power_after`](SdSim::cut_power_after) cuts its supply at any byte.
//! [`power_on`](SdSim::power_on) draws the effects of the cut. An accepted sector is safe if its
//! busy time was over before the cut. The sector that was being programmed is old, new, a part of
//! both, or unreadable until it is written. With [`buffer_sectors`](SdProfile::buffer_sectors) this
//! holds for several sectors. Sectors that were announced (ACMD23) and not written may hold any
//! bytes.
//!
//! ```
//! use embedded_hal::{digital::OutputPin, spi::SpiBus};
//! use steadyfs_sim::sd_spi::{SdProfile, SdSim};
//!
//! let card = SdSim::new(SdProfile::small());
//! let (mut bus, mut select) = (card.bus(), card.select());
//! bus.write(&[0xFF; 10])?; // 80 clocks
//! select.set_low()?;
//! bus.write(&[0xFF, 0x40, 0, 0, 0, 0, 0x95])?; // CMD0
//! let mut answer = [0xFF; 2];
//! bus.transfer_in_place(&mut answer)?;
//! assert_eq!(answer, [0xFF, 0x01]); // idle
//! # Ok::<(), core::convert::Infallible>(())
//! ```
//!
//! # Left out
//! The card does not support CMD6, CMD20, CMD23, CMD27 to 31, CMD42, CMD48 to 50, CMD56, ACMD42 and
//! ACMD51, blocks of other lengths than 512, and voltages.

mod card;
#[allow(missing_docs)]
pub mod command;
mod commands;
mod medium;
mod profile;
#[cfg(test)]
mod tests;
mod words;

pub use card::SdCommand;
pub use profile::{SdFault, SdKind, SdProfile, SdWork};

use card::Card;
use core::convert::Infallible;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{self, OutputPin};
use embedded_hal::spi::{self, SpiBus};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// A simulated card. Clones are the same card.
#[derive(Clone)]
pub struct SdSim(Rc<RefCell<Card>>);

/// The bus of the card.
#[derive(Debug)]
pub struct SdBus(SdSim);

/// The pin that selects the card when it is low.
#[derive(Debug)]
pub struct SdSelect(SdSim);

/// A delay in the time of the card.
#[derive(Debug)]
pub struct SdDelay(SdSim);

impl fmt::Debug for SdSim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SdSim").field("profile", &self.0.borrow().profile).finish_non_exhaustive()
    }
}

impl SdSim {
    /// Creates a card that has just received power. It contains zeros.
    pub fn new(profile: SdProfile) -> Self {
        Self(Rc::new(RefCell::new(Card::new(profile))))
    }

    /// Returns another card with the present state of this one.
    pub fn snapshot(&self) -> Self {
        Self(Rc::new(RefCell::new(self.0.borrow().clone())))
    }

    /// Returns the bus, at 400 kHz.
    pub fn bus(&self) -> SdBus {
        SdBus(self.clone())
    }

    /// Returns the pin, high.
    pub fn select(&self) -> SdSelect {
        SdSelect(self.clone())
    }

    /// Returns the delay.
    pub fn delay(&self) -> SdDelay {
        SdDelay(self.clone())
    }

    /// Returns the nanoseconds since the card was made.
    pub fn now_ns(&self) -> u64 {
        self.0.borrow().now_ns
    }

    /// Adds a fault that strikes an event of its kind after `after` good events: 0 is the next
    /// event.
    pub fn inject(&self, fault: SdFault, after: u32) {
        self.0.borrow_mut().faults.push((fault, after));
    }

    /// Discards all faults that have not struck. Returns their number.
    pub fn forget_faults(&self) -> usize {
        std::mem::take(&mut self.0.borrow_mut().faults).len()
    }

    /// Sets the duration of each work in nanoseconds, in place of the profile.
    pub fn set_durations(&self, durations: impl Fn(SdWork) -> u64 + 'static) {
        self.0.borrow_mut().durations = Some(Rc::new(durations));
    }

    /// Pulls the card. There is no answer until [`power_on`](Self::power_on).
    pub fn remove(&self) {
        self.0.borrow_mut().is_powered = false;
    }

    /// Cuts the power at the byte that follows `bytes` bytes on the bus.
    pub fn cut_power_after(&self, bytes: u64) {
        self.0.borrow_mut().bytes_left = Some(bytes + 1);
    }

    /// Returns true if the card has power.
    pub fn is_powered(&self) -> bool {
        self.0.borrow().is_powered
    }

    /// Restores power. The seed draws the content of sectors that were not safe.
    pub fn power_on(&self, seed: u64) {
        self.0.borrow_mut().power_on(seed);
    }

    /// Resets the processor, which leaves the card in its present state. The pin floats high.
    pub fn host_reset(&self) {
        self.0.borrow_mut().host_reset();
    }

    /// Returns the content of a sector; `None` if it cannot be read.
    pub fn sector(&self, sector: u32) -> Option<[u8; 512]> {
        self.0.borrow().medium.read(sector)
    }

    /// Returns the commands since the last call.
    pub fn take_commands(&self) -> Vec<SdCommand> {
        std::mem::take(&mut self.0.borrow_mut().log)
    }

    /// Returns the number of sectors that the card has refused because of their checksum.
    pub fn crc_refused(&self) -> u32 {
        self.0.borrow().crc_refused
    }
}

impl SdBus {
    /// Sets the clock. Returns `hz`.
    pub fn set_hz(&mut self, hz: u32) -> u32 {
        self.0.0.borrow_mut().hz = hz.max(1);
        hz
    }

    fn exchange(&mut self, sent: u8) -> u8 {
        self.0.0.borrow_mut().exchange(sent)
    }
}

impl spi::ErrorType for SdBus {
    type Error = Infallible;
}

impl SpiBus for SdBus {
    /// Sends zeros, as many peripherals do. The trait does not specify the sent bytes.
    fn read(&mut self, words: &mut [u8]) -> Result<(), Infallible> {
        words.iter_mut().for_each(|word| *word = self.exchange(0));
        Ok(())
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Infallible> {
        for word in words {
            self.exchange(*word);
        }
        Ok(())
    }

    fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), Infallible> {
        for index in 0..read.len().max(write.len()) {
            let answer = self.exchange(write.get(index).copied().unwrap_or(0));
            if let Some(word) = read.get_mut(index) {
                *word = answer;
            }
        }
        Ok(())
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), Infallible> {
        words.iter_mut().for_each(|word| *word = self.exchange(*word));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl digital::ErrorType for SdSelect {
    type Error = Infallible;
}

impl OutputPin for SdSelect {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.0.0.borrow_mut().select(true);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.0.0.borrow_mut().select(false);
        Ok(())
    }
}

impl DelayNs for SdDelay {
    fn delay_ns(&mut self, ns: u32) {
        self.0.0.borrow_mut().now_ns += u64::from(ns);
    }
}
