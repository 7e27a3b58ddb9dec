//! The wires to a flash chip on SPI: commands, status, busy and write enable. NAND and NOR chips
//! share them.

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};

const WRITE_ENABLE: u8 = 0x06;
/// Bits of the status register.
const BUSY: u8 = 1;
const ENABLED: u8 = 2;
/// A wait gives up after this multiple of the longest time.
const PATIENCE: u32 = 2;

/// Errors of the bus. Each kind of chip converts them into its own errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusError {
    /// The bus reported an error.
    Bus,
    /// The chip stayed busy beyond its limit.
    Busy { waited_us: u32 },
    /// Write enable had no effect: the chip missed the command, lost the setting, or is still
    /// busy.
    NotEnabled { status: u8 },
}

/// The wires to a chip.
#[derive(Debug)]
pub(crate) struct Bus<S, D> {
    spi: S,
    delay: D,
    /// The command that reads the status register.
    status: &'static [u8],
    /// True if the chip was still busy at the end of the last call.
    is_late: bool,
}

impl<S: SpiDevice, D: DelayNs> Bus<S, D> {
    pub fn new(spi: S, delay: D, status: &'static [u8]) -> Self {
        Self { spi, delay, status, is_late: false }
    }

    pub fn into_parts(self) -> (S, D) {
        (self.spi, self.delay)
    }

    pub fn receive(&mut self, command: &[u8], data: &mut [u8]) -> Result<(), BusError> {
        self.spi
            .transaction(&mut [Operation::Write(command), Operation::Read(data)])
            .map_err(|_| BusError::Bus)
    }

    pub fn send(&mut self, command: &[u8], data: &[u8]) -> Result<(), BusError> {
        self.spi
            .transaction(&mut [Operation::Write(command), Operation::Write(data)])
            .map_err(|_| BusError::Bus)
    }

    /// Reads the register that `command` selects.
    pub fn register(&mut self, command: &[u8]) -> Result<u8, BusError> {
        let mut value = [0];
        self.receive(command, &mut value)?;
        Ok(value[0])
    }

    pub fn status(&mut self) -> Result<u8, BusError> {
        self.register(self.status)
    }

    /// Waits for an operation. The wait first takes the typical time, then lasts until the chip is
    /// ready or `has_ended` accepts the status. Returns the last status. Gives up after `PATIENCE`
    /// times the longest time.
    pub fn wait(
        &mut self,
        typical_us: u32,
        maximum_us: u32,
        has_ended: impl Fn(u8) -> bool,
    ) -> Result<u8, BusError> {
        let limit_us = maximum_us.saturating_mul(PATIENCE);
        let pause_us = pause_us(typical_us, maximum_us);
        let mut waited_us = typical_us.min(limit_us);
        self.delay.delay_us(waited_us);
        self.is_late = true;
        loop {
            let status = self.status()?;
            if status & BUSY == 0 || has_ended(status) {
                self.is_late = false;
                return Ok(status);
            }
            if waited_us >= limit_us {
                return Err(BusError::Busy { waited_us });
            }
            self.delay.delay_us(pause_us);
            waited_us = waited_us.saturating_add(pause_us);
        }
    }

    /// If the chip was busy at the end of the last call, checks that it accepts commands again.
    pub fn settle(&mut self) -> Result<(), BusError> {
        if self.is_late && self.status()? & BUSY != 0 {
            return Err(BusError::Busy { waited_us: 0 });
        }
        self.is_late = false;
        Ok(())
    }

    /// Enables a program or an erase.
    pub fn enable(&mut self) -> Result<(), BusError> {
        self.send(&[WRITE_ENABLE], &[])?;
        match self.status()? {
            status if status & (BUSY | ENABLED) == ENABLED => Ok(()),
            status => {
                // The chip may still be busy with an earlier operation. The next call checks this
                // first.
                self.is_late = true;
                Err(BusError::NotEnabled { status })
            }
        }
    }
}

/// Returns the pause between two reads of the status, in microseconds. The driver notices the end
/// of an operation at most one pause late. A wait reads the status about two thousand times at
/// most.
pub(crate) const fn pause_us(typical_us: u32, maximum_us: u32) -> u32 {
    typical_us / 8 + maximum_us / 1024 + 1
}
