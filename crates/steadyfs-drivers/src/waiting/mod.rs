//! A file system in a program of futures: blocking drivers on asynchronous buses, delays and flash.
//!
//! The calls of SteadyFS block until they are done. On an executor such a call would stop all other
//! work. So a driver runs the rest of the program while it waits. [`Waiting`] makes an
//! `embedded-hal-async` bus or delay, or an `embedded-storage-async` flash, into an object of
//! `embedded-hal` or `embedded-storage`. [`Waiting`] polls the future of a bus call until the
//! future is done. Between two polls it runs a [turn](Turn): usually a turn polls a [`Meanwhile`],
//! which contains the rest of the program. Drivers and file system need no changes.
//!
//! ```text
//!   your call ──► file system ──► driver ──► Waiting ──► future of the bus, of a timer
//!                                               │  pending
//!                                               └──► Meanwhile ──► the rest of your program
//! ```
//!
//! **Turns.** The rest is polled at least once for each transfer and each pause. While a transfer
//! or a pause is pending, the rest is polled repeatedly. During an erase of 45 ms the rest is
//! polled as often as the processor can. Between two polls of the rest, the bus is polled once. The
//! file system may also compute between two polls, for example the checksum of a page.
//!
//! **Executors.** All futures are polled with the waker of the task that polls [`Meanwhile::run`].
//! So make all calls of the file system in the future that is passed to `run`, including the start
//! of the driver and the mount.
//!
//! | executor | note |
//! |---|---|
//! | embassy-executor with embassy-time | nothing else; tested with 0.10 and 0.5 |
//! | embassy-futures | nothing else |
//! | tokio | a runtime of several threads, and `tokio::task::unconstrained` around `run` |
//!
//! On tokio without several threads and `unconstrained`, no timer ends while a call waits.
//! `examples/firmware/embassy` is a logger on Embassy, with programs for a nRF52840 (QSPI flash) and
//! an RP2040 (the flash of the program).
//!
//! **Time.** The bound of a call covers the flash. The time of the turns is added to the bound. The
//! driver notices a ready chip only at the end of the turn, so turns should be short, as in any
//! asynchronous program.
//!
//! **Power loss.** Nothing changes: the flash is programmed in the same order, with the same
//! content.
//!
//! **Limits.** The rest must not wait for the call in progress, for example for a lock around the
//! file system: the call would never end. A program does not need this module if it has priorities
//! that interrupt each other (embassy's `InterruptExecutor`, RTIC, any RTOS). The rest then runs in
//! an executor or task of a higher priority, and the file system waits in one of a lower priority.
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
//! // 2. The part that calls the file system. Between the calls the executor polls the rest.
//! let logger = meanwhile.run(async {
//!     // The driver, on a bus and a delay whose calls are futures.
//!     let (spi, delay) = (Waiting::new(spi, &meanwhile), Waiting::new(delay, &meanwhile));
//!     let flash = NorChip::start(spi, delay, Settings::DEFAULT)?.into_pages()?;
//!     let config = Config::for_geometry(&flash.geometry());
//!     let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
//!     let flash = FileSystem::format(flash, &config, &mut memory)?;
//!     let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//!
//!     let mut log = fs.open("log", OpenOptions::DURABLE)?;
//!     fs.append(&mut log, b"21.5 degrees\n")?;
//!     yield_now().await; // on a board: the next value from a channel
//!     fs.append(&mut log, b"21.6 degrees\n")?;
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! });
//!
//! // 3. Both together, on any executor.
//! block_on(logger)?;
//! # assert!(samples.get() > 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "async")]
mod hal;
mod meanwhile;
#[cfg(all(feature = "async", feature = "embedded-storage"))]
mod storage;
mod turn;

#[cfg(feature = "async")]
pub use hal::Waiting;
pub use meanwhile::Meanwhile;
pub use turn::Turn;
pub(crate) use turn::wait;
