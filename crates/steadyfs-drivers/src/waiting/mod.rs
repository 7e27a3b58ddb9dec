//! A file system in a program of futures: buses, delays and flash whose calls are futures, under drivers that wait.
//!
//! The calls of SteadyFS wait until they are done. In a program that runs on an executor that would stop everything else, so whatever a driver waits for here gives the rest of the
//! program its turn: [`Waiting`] makes an `embedded-hal-async` bus or delay, or an `embedded-storage-async` flash, into one of `embedded-hal` or `embedded-storage`, and polls
//! it until it is done; between two polls it calls what you gave it, which is [`Meanwhile::poll`] as a rule. Drivers and file system are the same as without.
//!
//! ```text
//!   your call ──► file system ──► driver ──► Waiting ──► future of the bus, of a timer
//!                                               │  pending
//!                                               └──► Meanwhile ──► the rest of your program
//! ```
//!
//! **Turns.** The rest is polled once for each transfer and each pause at least, and again and again while one is pending: during an erase of 45 ms as often as the processor can. In between lie
//! one poll of the bus, and what the file system computes, such as the checksum of a page.
//!
//! **Time.** The bound of a call is that of the flash, and what the rest of the program takes when it is polled comes on top: the bound of the call is then the sum of what it waits for and of those
//! turns. A chip that is ready is noticed when the turn has ended, so turns should be short, as in any program of this kind.
//!
//! **Power loss.** The same as without: order and content of what is programmed do not change.
//!
//! **What it is not for.** The rest must not wait for the call that is running, as for a lock around the file system: the call would never end. Where interrupts may interrupt (embassy's
//! `InterruptExecutor`, RTIC, any RTOS), a second executor or task of a higher priority does without this module: the file system waits in the lower one.
//!
//! # Example
//! ```
//! use core::pin::pin;
//! use embassy_futures::{block_on, yield_now};
//! use steadyfs::{Access, Config, FileSystem, OpenOptions, media::Flash};
//! use steadyfs_drivers::nor::{NorChip, Settings};
//! use steadyfs_drivers::waiting::{Meanwhile, Waiting};
//! # #[path = "../../tests/common/waiting.rs"]
//! # mod chip;
//! # let samples = core::cell::Cell::new(0);
//! # let sim = chip::w25q128jv();
//! # let (spi, delay) = (chip::Futures(sim.clone()), chip::Futures(sim));
//!
//! // 1. The rest of the program: here a task that samples a sensor.
//! let rest = pin!(async {
//!     loop {
//!         samples.set(samples.get() + 1);
//!         yield_now().await; // on a board: Ticker::next
//!     }
//! });
//! let meanwhile = Meanwhile::new(rest);
//!
//! // 2. The driver, on a bus and a delay whose calls are futures.
//! let spi = Waiting::new(spi, || meanwhile.poll());
//! let delay = Waiting::new(delay, || meanwhile.poll());
//! let flash = NorChip::start(spi, delay, Settings::DEFAULT)?.into_pages()?;
//! let config = Config::for_geometry(&flash.geometry());
//! let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//! let flash = FileSystem::format(flash, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//!
//! // 3. Both together: between the calls the executor polls the rest.
//! let logged = block_on(meanwhile.run(async {
//!     let mut log = fs.open("log", OpenOptions::DURABLE)?;
//!     fs.append(&mut log, b"21.5 degrees\n")?;
//!     yield_now().await; // on a board: the next value from a channel
//!     fs.append(&mut log, b"21.6 degrees\n")
//! }));
//! # assert!(samples.get() > 100);
//! # logged?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod meanwhile;
#[cfg(feature = "embedded-storage")]
mod storage;

pub use meanwhile::Meanwhile;

use crate::wait::wait;
use core::future::Future;
use embedded_hal::spi::{ErrorType, Operation, SpiBus, SpiDevice};

/// What has calls that are futures, as one whose calls wait. See the [module](self).
///
/// | of | makes |
/// |---|---|
/// | `embedded_hal_async::spi::SpiDevice` | [`SpiDevice`], for [SPI NOR](crate::nor) and [SPI NAND](crate::nand) |
/// | `embedded_hal_async::spi::SpiBus` | [`SpiBus`], for [SD cards](crate::sd) |
/// | `embedded_hal_async::delay::DelayNs` | [`DelayNs`](embedded_hal::delay::DelayNs) |
/// | `embedded_storage_async::nor_flash::{NorFlash, MultiwriteNorFlash}` | those of `embedded-storage` (feature `embedded-storage`) |
#[derive(Clone, Copy, Debug)]
pub struct Waiting<T, M> {
    inner: T,
    meanwhile: M,
}

impl<T, M: FnMut()> Waiting<T, M> {
    /// Takes what to wait for, and what to do in each turn: [`Meanwhile::poll`], perhaps followed by an instruction that sleeps until an interrupt.
    pub fn new(inner: T, meanwhile: M) -> Self {
        Self { inner, meanwhile }
    }

    /// What is waited for.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// The same, mutable.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Gives back what is waited for.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// Polls a future until it is done, with a turn before each poll: a future that is never pending gives one all the same.
fn take_turns<F: Future>(future: F, meanwhile: &mut impl FnMut()) -> F::Output {
    meanwhile();
    wait(future, meanwhile)
}

impl<T: embedded_hal_async::delay::DelayNs, M: FnMut()> embedded_hal::delay::DelayNs for Waiting<T, M> {
    fn delay_ns(&mut self, ns: u32) {
        take_turns(self.inner.delay_ns(ns), &mut self.meanwhile);
    }

    fn delay_us(&mut self, us: u32) {
        take_turns(self.inner.delay_us(us), &mut self.meanwhile);
    }

    fn delay_ms(&mut self, ms: u32) {
        take_turns(self.inner.delay_ms(ms), &mut self.meanwhile);
    }
}

impl<T: ErrorType, M> ErrorType for Waiting<T, M> {
    type Error = T::Error;
}

impl<T: embedded_hal_async::spi::SpiDevice, M: FnMut()> SpiDevice for Waiting<T, M> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), T::Error> {
        take_turns(self.inner.transaction(operations), &mut self.meanwhile)
    }
}

impl<T: embedded_hal_async::spi::SpiBus, M: FnMut()> SpiBus for Waiting<T, M> {
    fn read(&mut self, words: &mut [u8]) -> Result<(), T::Error> {
        take_turns(self.inner.read(words), &mut self.meanwhile)
    }

    fn write(&mut self, words: &[u8]) -> Result<(), T::Error> {
        take_turns(self.inner.write(words), &mut self.meanwhile)
    }

    fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), T::Error> {
        take_turns(self.inner.transfer(read, write), &mut self.meanwhile)
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), T::Error> {
        take_turns(self.inner.transfer_in_place(words), &mut self.meanwhile)
    }

    fn flush(&mut self) -> Result<(), T::Error> {
        take_turns(self.inner.flush(), &mut self.meanwhile)
    }
}
