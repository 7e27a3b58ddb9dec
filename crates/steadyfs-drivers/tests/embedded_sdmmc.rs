//! Tests the SD driver of `embedded-sdmmc` on the simulated card, through the adapter, with a
//! volume on top. Apart from [`LENIENT`], neither the card nor the adapter has anything for that
//! driver.
#![cfg(feature = "embedded-sdmmc")]

mod common;

use common::{sector, sectors};
use core::convert::Infallible;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::{ErrorType, Operation, SpiBus, SpiDevice};
use embedded_sdmmc::{SdCard, sdcard::spi::AcquireOpts};
use steadyfs::media::Flash;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages, SectorTimes};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::adapters::embedded_sdmmc::FromBlockDevice;
use steadyfs_sim::sd_spi::{SdBus, SdDelay, SdKind, SdProfile, SdSelect, SdSim};

/// A card that needs no clocks before the token of a single block: the driver of `embedded-sdmmc`
/// sends none.
const LENIENT: SdProfile = SdProfile { is_lenient: true, ..SdProfile::small() };
const TIMES: SectorTimes = SectorTimes {
    read_ns: 1_000_000,
    read_sector_ns: 1_000_000,
    write_ns: 1_000_000,
    write_sector_ns: 1_000_000,
    discard_ns: 0,
    flush_ns: 0,
};

/// A device that keeps the card selected, because `embedded-sdmmc` makes a transaction of each
/// byte.
struct Device {
    bus: SdBus,
    _select: SdSelect,
}

impl ErrorType for Device {
    type Error = Infallible;
}

impl SpiDevice for Device {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            match operation {
                Operation::Read(bytes) => self.bus.read(bytes)?,
                Operation::Write(bytes) => self.bus.write(bytes)?,
                Operation::Transfer(read, write) => self.bus.transfer(read, write)?,
                Operation::TransferInPlace(bytes) => self.bus.transfer_in_place(bytes)?,
                Operation::DelayNs(_) => {}
            }
        }
        Ok(())
    }
}

fn card(sim: &SdSim) -> SdCard<Device, SdDelay> {
    let (mut bus, mut select) = (sim.bus(), sim.select());
    bus.set_hz(400_000);
    bus.write(&[0xFF; 10]).unwrap();
    select.set_low().unwrap();
    let device = Device { bus, _select: select };
    let card = SdCard::new_with_options(
        device,
        sim.delay(),
        AcquireOpts { use_crc: true, acquire_retries: 50 },
    );
    card.num_bytes().unwrap();
    card.spi(|device| device.bus.set_hz(20_000_000));
    card
}

#[test]
fn its_sectors_are_read_as_they_were_written() {
    for kind in [SdKind::Version1, SdKind::Standard, SdKind::High] {
        let sim = SdSim::new(SdProfile { kind, ..LENIENT });
        let mut device = FromBlockDevice::new(card(&sim), TIMES).unwrap();
        assert_eq!(device.sector_count(), 8192);
        device.write(100, &[&sectors(100, 20, 1)]).unwrap();
        device.write(7, &[&sector(7, 1)]).unwrap();
        let mut data = vec![0; 20 * 512];
        device.read(100, &mut [&mut data]).unwrap();
        assert_eq!((data, sim.sector(7)), (sectors(100, 20, 1), Some(sector(7, 1))));
        assert_eq!(sim.crc_refused(), 0);
    }
}

#[test]
fn a_volume_is_on_it() {
    let sim = SdSim::new(LENIENT);
    let device = FromBlockDevice::new(card(&sim), TIMES).unwrap();
    let layout = SectorLayout::for_device(device.sector_count(), 64 << 10);
    let pages = SectorPages::new(device, layout).unwrap();
    let config = Config::for_geometry(&pages.geometry());
    let mut memory = vec![0; config.memory_bytes(&pages.geometry())];
    let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
    let mut log = fs.open("log", OpenOptions::DURABLE).unwrap();
    (0..100u32).for_each(|record| fs.append(&mut log, &record.to_le_bytes()).map(drop).unwrap());
    drop(fs);
    // Our SD driver reads the volume that `embedded-sdmmc` has written. There was no unmount.
    sim.power_on(1);
    let pages = SectorPages::new(common::start(&sim), layout).unwrap();
    let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
    assert_eq!(fs.stat("log").unwrap().size, 400);
}
