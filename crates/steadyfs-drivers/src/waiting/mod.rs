//! A file system in a program of futures: drivers that wait, on asynchronous buses, delays and
//! flash.
//!
//! The calls of SteadyFS wait until they are done. On an executor that would stop all other work.
//! So a driver gives the rest of the program its turn while it waits. [`Waiting`] makes an
//! `embedded-hal-async` bus or delay, or an `embedded-storage-async` flash, into an object of
//! `embedded-hal` or `embedded-storage`. It polls the future of a call until the future is done.
//! Between two polls it takes a [turn](Turn): usually it polls a [`Meanwhile`], which contains the
//! rest of the program. Drivers and file system need no change.
//!
//! ```text
//!   your call ──► file system ──► driver ──► Waiting ──► future of the bus, of a timer
//!                                               │  pending
//!                                               └──► Meanwhile ──► the rest of your program
//! ```
//!
//! **Turns.** The rest is polled at least once for each transfer and each pause. While a transfer
//! or a pause is pending, the rest is polled repeatedly. During an erase of 45 ms it is polled as
//! often as the processor can. Between two polls of the rest lies one poll of the bus. Computation
//! of the file system, such as the checksum of a page, also lies in between.
//!
//! **Executors.** Everything is polled with the waker of the task in which [`Meanwhile::run`] is
//! polled. So all calls of the file system belong into that part, including the start of the
//! driver and the mount.
//!
//! | executor | note |
//! |---|---|
//! | embassy-executor with embassy-time | nothing else; tested with 0.10 and 0.5 |
//! | embassy-futures | nothing else |
//! | tokio | a runtime of several threads, and `tokio::task::unconstrained` around `run` |
//!
//! On tokio without them, no timer ends while a call waits. `examples/firmware/embassy` is a logger
//! on Embassy and asynchronous QSPI flash; it is built for a Cortex-M4.
//!
//! **Time.** The bound of a call covers the flash. The time of the turns is added to it. A ready
//! chip is noticed only when the turn has ended, so turns should be short, as in any program of
//! this kind.
//!
//! **Power loss.** Nothing changes: the flash is programmed in the same order, with the same
//! content.
//!
//! **Limits.** The rest must not wait for the call in progress, for example for a lock around the
//! file system: the call would never end. If interrupts may interrupt (embassy's
//! `InterruptExecutor`, RTIC, any RTOS), this module is not needed. The rest then runs in a second
//! executor or task of a higher priority, and the file system waits in the lower one.
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
