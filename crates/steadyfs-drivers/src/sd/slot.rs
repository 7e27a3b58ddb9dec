//! The slot of a card, before its start and after.

use super::card::SdCard;
use super::error::SdError;
use super::limits::Settings;
use super::link::Link;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;

/// The slot of a card, which may be empty. It consists of the bus (mode 0, most significant bit
/// first), the pin that selects the card, and a delay.
#[derive(Debug)]
pub struct SdSlot<B, P, D> {
    link: Link<B, P, D>,
}

/// The error of a card that could not be started, and the slot of the card.
#[derive(Debug)]
pub struct StartError<B, P, D> {
    /// The slot, for another try.
    pub slot: SdSlot<B, P, D>,
    /// The error of the start.
    pub error: SdError,
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> SdSlot<B, P, D> {
    /// Creates a slot from the wires. The call does not use the wires yet.
    pub fn new(bus: B, select: P, delay: D) -> Self {
        Self { link: Link::new(bus, select, delay) }
    }

    /// Resets the card and reads its registers.
    ///
    /// `set_clock(&mut bus, hz_max)` sets the bus to `hz_max` hertz or less, and returns the clock
    /// that it has set. The driver measures waits for the card by this clock. The start calls
    /// `set_clock` with [`START_HZ_MAX`](super::limits::START_HZ_MAX), and with
    /// [`TRANSFER_HZ_MAX`](super::limits::TRANSFER_HZ_MAX) when the card allows that clock. Long
    /// wires may need a slower clock.
    ///
    /// The start works even if the processor was reset while the card was in the middle of an
    /// operation.
    ///
    /// # Cost
    /// The start takes up to a second by the specification. Times of 10 to 300 ms are common.
    ///
    /// # Errors
    /// The error contains the slot.
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

    /// Returns the bus, the pin and the delay.
    pub fn into_parts(self) -> (B, P, D) {
        self.link.into_parts()
    }
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> SdCard<B, P, D> {
    /// Returns the slot. It can start another card, or the same card after its power was switched
    /// off. Unflushed data may be lost without an error.
    pub fn into_slot(self) -> SdSlot<B, P, D> {
        SdSlot { link: self.into_link() }
    }
}
