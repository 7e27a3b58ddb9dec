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
use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromWriteOnce};
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

/// Flash as HALs of Embassy have it, with words of `WORD` bytes that are written once, and sectors
/// of 4 KiB.
struct Hal<const WORD: usize> {
    cells: Vec<u8>,
}

/// `embassy_nrf::qspi::Qspi`: the processor runs while the chip works. The DMA takes aligned memory
/// only.
type Nrf = Hal<4>;
/// `embassy_rp::flash::Flash` with DMA: it reads words of 4 bytes into any memory. A write or an
/// erase returns only when the flash is done.
type Rp = Hal<1>;

impl<const WORD: usize> Hal<WORD> {
    const DMA_WRITES: bool = WORD == 4;

    fn check_memory(bytes: &[u8]) {
        assert!(!Self::DMA_WRITES || bytes.as_ptr().addr().is_multiple_of(4), "memory of the DMA");
    }
}

impl<const WORD: usize> ErrorType for Hal<WORD> {
    type Error = NorFlashErrorKind;
}

impl<const WORD: usize> ReadNorFlash for Hal<WORD> {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4));
        Self::check_memory(bytes);
        let from = offset as usize;
        bytes.copy_from_slice(&self.cells[from..from + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.cells.len()
    }
}

impl<const WORD: usize> NorFlash for Hal<WORD> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = 4096;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        if Self::DMA_WRITES {
            embassy_time::Timer::after_millis(3).await;
        }
        self.cells[from as usize..to as usize].fill(0xFF);
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        assert!((offset as usize).is_multiple_of(WORD) && bytes.len().is_multiple_of(WORD));
        Self::check_memory(bytes);
        if Self::DMA_WRITES {
            embassy_time::Timer::after_micros(50).await;
        }
        for (cell, &byte) in self.cells[offset as usize..].iter_mut().zip(bytes) {
            assert!(*cell == 0xFF || byte == 0xFF, "a word is written twice");
            *cell &= byte;
        }
        Ok(())
    }
}

impl<const WORD: usize> Hal<WORD> {
    /// Makes flash of two volumes. The first half holds the program.
    fn new() -> Self {
        let mut cells = vec![0xFF; 2 * VOLUME_BYTES];
        cells[..VOLUME_BYTES].fill(0xA5);
        Self { cells }
    }
}

const VOLUME_BYTES: usize = logger::VOLUME_BYTES as usize;
const VOLUME: core::ops::Range<u32> = logger::VOLUME_BYTES..2 * logger::VOLUME_BYTES;

/// The logger of `examples/firmware/embassy` runs here as on a nRF52840: its ticker takes samples
/// while the flash erases.
#[test]
fn logger_of_the_firmware_example_runs_on_qspi_flash() {
    let ticks =
        on_embassy(|| async { logger::run(Nrf::new(), VOLUME, 30).await.expect("the logger") });
    assert!(ticks > 0, "no sample was taken in the calls of the file system");
}

/// As on an RP2040, whose program is in the same flash. A second run mounts the volume of the first
/// one, and appends to its file.
#[test]
fn logger_of_the_firmware_example_runs_in_the_flash_of_the_program() {
    let records = on_embassy(|| async {
        let mut flash = Rp::new();
        logger::run(&mut flash, VOLUME, 30).await.expect("the logger");
        logger::run(&mut flash, VOLUME, 12).await.expect("the logger, again");
        assert!(flash.cells[..VOLUME_BYTES].iter().all(|&byte| byte == 0xA5), "the program");
        records(flash).await
    });
    assert_eq!(records, 42);
}

/// Returns the number of records of the logger's file.
async fn records(flash: Rp) -> u32 {
    let rest = pin!(pending());
    let meanwhile = Meanwhile::new(rest);
    meanwhile
        .run(async {
            let flash = Waiting::new(flash, &meanwhile);
            let mut flash = FromWriteOnce::new(flash, VOLUME, FlashTimes::SPI_NOR).unwrap();
            let mut memory = vec![0; 8 << 10];
            let mut fs = FileSystem::mount(&mut flash, Access::ReadOnly, &mut memory).unwrap();
            fs.stat("samples").unwrap().size as u32 / 4
        })
        .await
}
