//! Where a card is, or may be, before it is started and after.

use super::card::SdCard;
use super::error::SdError;
use super::limits::Settings;
use super::link::Link;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;

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
    /// [`START_HZ_MAX`](super::limits::START_HZ_MAX), and with [`TRANSFER_HZ_MAX`](super::limits::TRANSFER_HZ_MAX) when the card may be driven so fast. Long wires may want less.
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

impl<B: SpiBus, P: OutputPin, D: DelayNs> SdCard<B, P, D> {
    /// The slot, to start another card, or the same after it had no power. What was not flushed before may be lost, and nobody says so.
    pub fn into_slot(self) -> SdSlot<B, P, D> {
        SdSlot { link: self.into_link() }
    }
}
