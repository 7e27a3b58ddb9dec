//! Tests buses, delays and flash whose calls are futures, below a file system that waits for
//! them.
#![cfg(all(feature = "async", feature = "embedded-storage"))]

#[path = "common/waiting.rs"]
mod chip;
#[path = "common/hal.rs"]
mod hal;

use chip::{Futures, TICK_NS};
use core::cell::{Cell, RefCell};
use core::pin::pin;
use embassy_futures::{block_on, yield_now};
use embedded_hal_async::delay::DelayNs;
use embedded_storage::nor_flash::{self, NorFlash, ReadNorFlash};
use embedded_storage_async::nor_flash as of_futures;
use hal::Hal;
use std::collections::VecDeque;
use std::rc::Rc;
use steadyfs::media::Flash;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages};
use steadyfs::{Access, Call, Config, FileSystem, OpenOptions};
use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromMultiwrite, FromWriteOnce};
use steadyfs_drivers::nor::{NorChip, Settings};
use steadyfs_drivers::sd::SdSlot;
use steadyfs_drivers::waiting::{Meanwhile, Waiting};
use steadyfs_sim::sd_spi::{SdProfile, SdSim};

/// The longest time of one poll of the bus: a page read with its command. Each byte takes 160 ns
/// at 50 MHz.
const TRANSFER_NS: u64 = (512 + 64) * 160;

/// A sensor delivers a value each millisecond. The rest of the program puts it into a queue at
/// all times. The part that calls the file system writes the contents of the queue.
#[test]
fn a_task_that_samples_misses_nothing_while_the_flash_erases() {
    const PERIOD_NS: u64 = 1_000_000;
    let sim = chip::w25q128jv();
    let now_ns = || sim.chip().clock_ns();
    let (queue, sampled, longest_ns) =
        (RefCell::new(VecDeque::new()), Cell::new(0u32), Cell::new(0u64));
    let (last_ns, next_ns) = (Cell::new(now_ns()), Cell::new(now_ns()));
    let rest = pin!(async {
        loop {
            longest_ns.set(longest_ns.get().max(now_ns() - last_ns.get()));
            last_ns.set(now_ns());
            if now_ns() >= next_ns.get() {
                assert!(now_ns() < next_ns.get() + PERIOD_NS, "a value was missed");
                queue.borrow_mut().push_back(sampled.get());
                sampled.set(sampled.get() + 1);
                next_ns.set(next_ns.get() + PERIOD_NS);
            }
            yield_now().await;
        }
    });
    let meanwhile = Meanwhile::new(rest);
    let spi = Waiting::new(Futures(sim.clone()), &meanwhile);
    let delay = Waiting::new(Futures(sim.clone()), &meanwhile);
    let flash = NorChip::start(spi, delay, Settings { bus_hz: 50_000_000, ..Settings::DEFAULT })
        .unwrap()
        .into_pages()
        .unwrap();
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut log = fs.open("log", OpenOptions::DURABLE).unwrap();
    let timing = fs.flash().timing();
    let (mut written, mut longest_call_ns) = (0, 0);
    block_on(meanwhile.run(async {
        while written < 200_000 {
            let mut record = Vec::new();
            queue
                .borrow_mut()
                .drain(..)
                .for_each(|value: u32| record.extend_from_slice(&value.to_le_bytes()));
            if record.is_empty() {
                Futures(sim.clone()).delay_us(100).await;
                continue;
            }
            record.resize(record.len().max(512), 0xAB);
            let bound_ns = fs.bounds().of(Call::WriteLarge(record.len() as u32)).time_ns(&timing);
            let before_ns = now_ns();
            fs.append(&mut log, &record).unwrap();
            written += record.len();
            longest_call_ns = longest_call_ns.max(now_ns() - before_ns);
            assert!(
                now_ns() - before_ns <= bound_ns,
                "{} ns, bound {bound_ns}",
                now_ns() - before_ns
            );
        }
    }));
    assert!(longest_call_ns > 40_000_000, "no call erased");
    assert!(
        longest_ns.get() <= TRANSFER_NS.max(u64::from(TICK_NS)),
        "{} ns without a turn",
        longest_ns.get()
    );
    assert!(sampled.get() > 1000);
}

/// Formats a volume, writes a file, and reads it after another mount.
fn write_and_read<F: Flash>(flash: F) {
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut log = fs.open("log", OpenOptions::DURABLE).unwrap();
    let text: Vec<u8> = (0..5000u32).map(|at| at as u8).collect();
    fs.append(&mut log, &text).unwrap();
    let flash = fs.unmount().unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadOnly, &mut memory).unwrap();
    let mut log = fs.open("log", OpenOptions::READ).unwrap();
    let mut found = vec![0; text.len()];
    assert_eq!(fs.read(&mut log, 0, &mut found), Ok(text.len()));
    assert_eq!(found, text);
}

#[test]
fn a_card_on_a_bus_of_futures() {
    let card = SdSim::new(SdProfile::small());
    let (turns, meanwhile) = turns();
    let bus = Waiting::new(Futures(card.bus()), meanwhile.clone());
    let slot = SdSlot::new(bus, card.select(), Waiting::new(Futures(card.delay()), meanwhile));
    let settings = steadyfs_drivers::sd::Settings::DEFAULT;
    let card = slot
        .start(settings, |bus, hz| bus.inner_mut().0.set_hz(hz))
        .map_err(|failed| failed.error)
        .unwrap();
    let layout = SectorLayout::for_device(card.sector_count(), card.unit_bytes());
    write_and_read(SectorPages::new(card, layout).unwrap());
    assert!(turns.get() > 1000, "{} turns", turns.get());
}

/// Flash whose calls are futures.
impl<const R: usize, const W: usize, const E: usize> of_futures::ReadNorFlash
    for Futures<Hal<R, W, E>>
{
    const READ_SIZE: usize = R;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        yield_now().await;
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<const R: usize, const W: usize, const E: usize> nor_flash::ErrorType
    for Futures<Hal<R, W, E>>
{
    type Error = <Hal<R, W, E> as nor_flash::ErrorType>::Error;
}

impl<const R: usize, const W: usize, const E: usize> of_futures::NorFlash
    for Futures<Hal<R, W, E>>
{
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        yield_now().await;
        self.0.erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        yield_now().await;
        self.0.write(offset, bytes)
    }
}

impl<const R: usize, const W: usize, const E: usize> of_futures::MultiwriteNorFlash
    for Futures<Hal<R, W, E>>
{
}

/// Returns a counter of turns, and a callback that increments it.
fn turns() -> (Rc<Cell<u32>>, impl FnMut() + Clone) {
    let turns = Rc::new(Cell::new(0));
    let counted = turns.clone();
    (turns, move || counted.set(counted.get() + 1))
}

#[test]
fn flash_of_futures_behind_embedded_storage() {
    let (taken, meanwhile) = turns();
    let flash = Waiting::new(Futures(Hal::<1, 4, 4096>::new(1 << 20)), meanwhile);
    write_and_read(FromMultiwrite::new(flash, 0..1 << 20, FlashTimes::SPI_NOR).unwrap());
    assert!(taken.get() > 300, "{} turns", taken.get());
    let (taken, meanwhile) = turns();
    let flash = Waiting::new(Futures(Hal::<8, 8, 2048>::write_once(512 << 10)), meanwhile);
    write_and_read(FromWriteOnce::new(flash, 0..512 << 10, FlashTimes::SPI_NOR).unwrap());
    assert!(taken.get() > 300, "{} turns", taken.get());
}
