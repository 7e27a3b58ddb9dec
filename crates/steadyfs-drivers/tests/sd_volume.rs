//! Tests a volume on a card: power fails in the middle of writes, and acknowledged records must
//! survive.

use crate::common::{Card, SHARED, start, start_with};
use steadyfs::media::Flash;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_drivers::sd::Settings;
use steadyfs_sim::sd_spi::{SdKind, SdProfile, SdSim};

/// Returns the pages of a card, in blocks of its allocation unit.
fn pages(card: Card, page_bytes: u32) -> SectorPages<Card> {
    let layout = SectorLayout {
        page_bytes,
        ..SectorLayout::for_device(card.sector_count(), card.unit_bytes())
    };
    SectorPages::new(card, layout).unwrap()
}

fn memory(pages: &impl Flash) -> (Config, Vec<u8>) {
    let config = Config::for_geometry(&pages.geometry());
    (config, vec![0; config.memory_bytes(&pages.geometry())])
}

#[test]
fn a_volume_is_written_and_read_on_every_kind_of_card() {
    for kind in [SdKind::Version1, SdKind::Standard, SdKind::High] {
        for (settings, page_bytes) in [(Settings::DEFAULT, 4096), (SHARED, 512)] {
            let sim = SdSim::new(SdProfile { kind, erase_sectors: 1, ..SdProfile::small() });
            let pages = pages(start_with(&sim, settings), page_bytes);
            let (config, mut memory) = memory(&pages);
            let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
            let data: Vec<u8> = (0..100_000).map(|byte| (byte % 255) as u8).collect();
            let mut file = fs.open("data", OpenOptions::CREATE).unwrap();
            fs.write(&mut file, 0, &data).unwrap();
            fs.sync(steadyfs::CommitOn::SYNC).unwrap();
            let card = fs.unmount().unwrap().into_device();
            drop(card);
            // Power is switched off and on.
            sim.power_on(1);
            let pages = self::pages(start(&sim), page_bytes);
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
            let mut file = fs.open("data", OpenOptions::READ).unwrap();
            let mut found = vec![0; data.len()];
            assert_eq!(fs.read(&mut file, 0, &mut found), Ok(data.len()));
            assert_eq!(found, data);
        }
    }
}

/// Cuts power after a random number of bytes on the bus. Multi-block writes have most of these
/// bytes. Acknowledged records must survive.
fn cuts(profile: SdProfile, settings: Settings, page_bytes: u32, rounds: u64) {
    let sim = SdSim::new(profile);
    let pages = pages(start_with(&sim, settings), page_bytes);
    let (config, mut memory) = memory(&pages);
    drop(FileSystem::format(pages, &config, &mut memory).unwrap());
    let mut acknowledged = 0u32;
    for seed in 0..rounds {
        sim.power_on(seed);
        let card = start_with(&sim, settings);
        let mut fs =
            FileSystem::mount(self::pages(card, page_bytes), Access::ReadWrite, &mut memory)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut log = fs.open("log", OpenOptions::DURABLE).unwrap();
        let length = fs.stat("log").unwrap().size as u32 / 4;
        assert!(
            length == acknowledged || length == acknowledged + 1,
            "seed {seed}: {length} records of {acknowledged}"
        );
        for record in 0..length {
            let mut found = [0; 4];
            fs.read(&mut log, u64::from(record) * 4, &mut found)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(u32::from_le_bytes(found), record, "seed {seed}");
        }
        acknowledged = length;
        sim.cut_power_after(fastrand::Rng::with_seed(seed).u64(..60_000));
        while fs.append(&mut log, &acknowledged.to_le_bytes()).is_ok() {
            acknowledged += 1;
        }
        assert!(!sim.is_powered(), "seed {seed}: {:?}", fs.flash().device().last_error());
    }
    assert!(acknowledged > rounds as u32 / 2, "{acknowledged} records in {rounds} rounds");
}

#[test]
fn acknowledged_records_survive_power_cuts() {
    cuts(SdProfile::small(), Settings::DEFAULT, 4096, 200);
}

#[test]
fn acknowledged_records_survive_power_cuts_of_small_pages() {
    cuts(SdProfile::small(), SHARED, 512, 150);
}

/// The card holds accepted sectors in RAM until the stream has ended. A power cut loses any of
/// them.
#[test]
fn acknowledged_records_survive_cuts_of_a_card_with_a_buffer() {
    cuts(SdProfile { buffer_sectors: 64, ..SdProfile::small() }, Settings::DEFAULT, 4096, 200);
}

/// If a card programs in order, its roots need no flush.
#[test]
fn acknowledged_records_survive_cuts_of_a_card_that_keeps_the_order() {
    cuts(SdProfile::small(), Settings { reorders: false, ..Settings::DEFAULT }, 4096, 200);
}

/// Tests the contract that the volume relies on. A sector is safe after the driver has seen its
/// acceptance. The last sector may have any content.
#[test]
fn a_cut_in_a_stream_tears_its_last_sector_alone() {
    for seed in 0..200 {
        let sim = SdSim::new(SdProfile { write_ns: 400_000, ..SdProfile::small() });
        let mut card = start(&sim);
        card.write(0, &[&crate::common::sectors(0, 128, 1)]).unwrap();
        card.flush().unwrap();
        sim.cut_power_after(fastrand::Rng::with_seed(seed).u64(600..30_000));
        let taken = (0..60)
            .take_while(|number| card.write(*number, &[&crate::common::sector(*number, 2)]).is_ok())
            .count() as u32;
        assert!(!sim.is_powered());
        sim.power_on(seed);
        for number in 0..128 {
            let version = if number + 1 < taken { 2 } else { 1 };
            // Two sectors may have any content: the last accepted sector, and the sector whose
            // answer was lost.
            let is_sure = number + 1 < taken || number > taken;
            assert!(
                !is_sure || sim.sector(number) == Some(crate::common::sector(number, version)),
                "seed {seed}: {number} of {taken}"
            );
        }
    }
}
