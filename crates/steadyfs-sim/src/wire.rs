//! A simulated chip behind an `SpiDevice` of [embedded-hal](https://docs.rs/embedded-hal/1), and
//! its time.

use core::convert::Infallible;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// The time of a chip, and the traffic on its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Nanoseconds since the chip was made.
    pub now_ns: u64,
    /// Clock of the bus, in hertz; one data line.
    pub hz: u32,
    /// Bytes in both directions.
    pub bytes: u64,
}

impl Clock {
    /// Makes a clock that begins at zero.
    pub const fn new(hz: u32) -> Self {
        Self { now_ns: 0, hz, bytes: 0 }
    }

    fn pass(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.now_ns += bytes as u64 * 8_000_000_000 / u64::from(self.hz.max(1));
    }
}

/// A chip on SPI. A transaction consists of the bytes that are sent while the chip is selected.
pub trait SpiChip {
    /// Returns the chip's time.
    fn clock(&mut self) -> &mut Clock;

    /// Answers `sent`, which is a whole command, by filling `bytes`.
    fn answer(&mut self, sent: &[u8], bytes: &mut [u8]);

    /// Executes `sent`, a command without an answer.
    fn execute(&mut self, sent: &[u8]);
}

/// The wires to a chip, and the delay in its time. Clones are wires to the same chip.
#[derive(Debug)]
pub struct Wire<C>(Rc<RefCell<C>>);

impl<C> Clone for Wire<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C> Wire<C> {
    /// Connects a chip.
    pub fn new(chip: C) -> Self {
        Self(Rc::new(RefCell::new(chip)))
    }

    /// Returns the chip.
    ///
    /// # Panics
    /// If another borrow of the chip exists.
    pub fn chip(&self) -> RefMut<'_, C> {
        self.0.borrow_mut()
    }

    /// Returns wires to a copy of the chip in its present state.
    #[must_use]
    pub fn snapshot(&self) -> Self
    where
        C: Clone,
    {
        Self::new(self.0.borrow().clone())
    }
}

impl<C> ErrorType for Wire<C> {
    type Error = Infallible;
}

impl<C: SpiChip> SpiDevice for Wire<C> {
    /// # Panics
    /// If bytes are sent behind an answer, or in both directions at once. No command of such
    /// chips does that.
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        let mut chip = self.0.borrow_mut();
        let (mut sent, mut is_answered) = (Vec::new(), false);
        for operation in operations {
            match operation {
                Operation::Write([]) => {}
                Operation::Write(bytes) => {
                    assert!(!is_answered, "bytes are sent behind an answer to {:#04x}", sent[0]);
                    chip.clock().pass(bytes.len());
                    sent.extend_from_slice(bytes);
                }
                Operation::Read(bytes) => {
                    assert!(
                        !is_answered && !sent.is_empty(),
                        "an answer is read twice, or without a command"
                    );
                    is_answered = true;
                    chip.answer(&sent, bytes);
                    chip.clock().pass(bytes.len());
                }
                Operation::DelayNs(ns) => chip.clock().now_ns += u64::from(*ns),
                _ => panic!("bytes go in both directions at once"),
            }
        }
        if !is_answered && !sent.is_empty() {
            chip.execute(&sent);
        }
        Ok(())
    }
}

impl<C: SpiChip> DelayNs for Wire<C> {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().clock().now_ns += u64::from(ns);
    }
}

/// Returns the number in big-endian bytes.
pub(crate) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
