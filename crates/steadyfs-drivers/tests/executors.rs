//! Runs the rest of a program and its timers on real executors while the file system waits for
//! the chip.
#![cfg(all(feature = "async", feature = "embedded-storage"))]

#[path = "common/waiting.rs"]
mod chip;
#[path = "../../../examples/firmware/embassy/src/logger.rs"]
#[allow(dead_code, reason = "the fields of its errors are for a board")]
mod logger;

use chip::Futures;
use core::cell::Cell;
use core::future::{Future, pending};
use core::pin::pin;
use embassy_executor::raw::TaskStorage;
use embassy_time::Ticker;
use embedded_hal::delay::DelayNs as _;
use embedded_hal_async::delay::DelayNs;
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use steadyfs::media::Flash;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::nor::{NorChip, Settings};
use steadyfs_drivers::waiting::{Meanwhile, Waiting};
use steadyfs_sim::nor_spi::NorSim;

/// A delay that waits on the executor's timer, then advances the simulated chip by the same time.
struct Pauses<T> {
    sim: NorSim,
    timer: T,
}

impl<T: AsyncFnMut(Duration)> DelayNs for Pauses<T> {
    async fn delay_ns(&mut self, ns: u32) {
        (self.timer)(Duration::from_nanos(ns.into())).await;
        self.sim.delay_ns(ns);
    }
}

/// Writes a log on a chip that erases. This is the part of the program that calls the file
/// system.
///
/// Returns the number of ticks of the rest during the calls.
async fn log(
    meanwhile: &Meanwhile<'_>,
    ticks: &Cell<u32>,
    timer: impl AsyncFnMut(Duration),
) -> u32 {
    let sim = chip::w25q128jv();
    let spi = Waiting::new(Futures(sim.clone()), meanwhile);
    let delay = Waiting::new(Pauses { sim, timer }, meanwhile);
    let flash = NorChip::start(spi, delay, Settings::DEFAULT).unwrap().into_pages().unwrap();
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut log = fs.open("log", OpenOptions::DURABLE).unwrap();
    let before = ticks.get();
    for _ in 0..20 {
        fs.append(&mut log, &[7; 500]).unwrap();
    }
    assert_eq!(fs.size(&mut log), Ok(20 * 500));
    ticks.get() - before
}

/// Runs [`log`] beside a rest with a ticker. The executor owns the timers of both.
async fn program_on_embassy() -> u32 {
    let ticks = Cell::new(0);
    let rest = pin!(async {
        let mut ticker = Ticker::every(embassy_time::Duration::from_micros(200));
        loop {
            ticker.next().await;
            ticks.set(ticks.get() + 1);
        }
    });
    let meanwhile = Meanwhile::new(rest);
    let timer =
        async |time: Duration| embassy_time::Timer::after_nanos(time.as_nanos() as u64).await;
    meanwhile.run(log(&meanwhile, &ticks, timer)).await
}

/// Runs a task on an Embassy executor and returns its result. The executor itself never ends.
fn on_embassy<F: Future<Output = u32> + 'static>(
    program: impl FnOnce() -> F + Send + 'static,
) -> u32 {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let task = async move {
            sender.send(program().await).unwrap();
            pending::<()>().await;
        };
        let storage = Box::leak(Box::new(TaskStorage::new()));
        let executor = Box::leak(Box::new(embassy_executor::Executor::new()));
        executor.run(|spawner| spawner.spawn(storage.spawn(|| task).unwrap()));
    });
    receiver
        .recv_timeout(Duration::from_secs(120))
        .expect("the task of the executor panicked, or did not end")
}

/// With a ticker in the rest and a timer under a driver, the program panicked: "Found waker not
/// created by the Embassy executor".
#[test]
fn timers_of_embassy_tick_in_the_calls_of_the_file_system() {
    assert!(on_embassy(program_on_embassy) > 0);
}

#[test]
fn timers_of_tokio_tick_in_the_calls_of_the_file_system() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let ticks = Cell::new(0);
    let in_calls = runtime.block_on(tokio::task::unconstrained(async {
        let rest = pin!(async {
            let mut interval = tokio::time::interval(Duration::from_micros(200));
            loop {
                interval.tick().await;
                ticks.set(ticks.get() + 1);
            }
        });
        let meanwhile = Meanwhile::new(rest);
        meanwhile.run(log(&meanwhile, &ticks, async |time| tokio::time::sleep(time).await)).await
    }));
    assert!(in_calls > 0);
}

/// QSPI flash as an nRF has it: asynchronous, words of 4 bytes that are written once, sectors of
/// 4 KiB.
struct Qspi {
    cells: Vec<u8>,
}

impl ErrorType for Qspi {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Qspi {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4));
        let from = offset as usize;
        bytes.copy_from_slice(&self.cells[from..from + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.cells.len()
    }
}

impl NorFlash for Qspi {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        embassy_time::Timer::after_millis(3).await;
        self.cells[from as usize..to as usize].fill(0xFF);
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        embassy_time::Timer::after_micros(50).await;
        for (cell, &byte) in self.cells[offset as usize..].iter_mut().zip(bytes) {
            assert!(*cell == 0xFF || byte == 0xFF, "a word is written twice");
            *cell &= byte;
        }
        Ok(())
    }
}

/// The logger of `examples/firmware/embassy` runs here as on a board: its ticker takes samples
/// while the flash erases, and a second run mounts the volume of the first.
#[test]
fn logger_of_the_firmware_example_runs_on_embassy() {
    let ticks = on_embassy(|| async {
        let qspi = Qspi { cells: vec![0xFF; logger::VOLUME_BYTES as usize] };
        logger::run(qspi, 30).await.expect("the logger")
    });
    assert!(ticks > 0, "no sample was taken in the calls of the file system");
}
