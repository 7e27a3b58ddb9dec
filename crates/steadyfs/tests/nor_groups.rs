//! Tests NOR with erase sectors of 4 KiB, with several of them in a block.

use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry};
use steadyfs::{Access, Call, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Metered, Nor, NorTiming};

const SECTOR: u32 = 4096;

/// Sizes in MiB, and the number of sectors of a block.
const SIZES: [(u32, u32); 7] = [(1, 1), (2, 2), (4, 2), (8, 2), (16, 4), (32, 4), (64, 8)];

/// A chip of 16 MiB in sectors of 4 KiB was refused with any settings: a sector has no room for a
/// root of 4,096 blocks.
#[test]
fn every_size_holds_five_hundred_files_in_sectors_of_4_kib() {
    for (mib, sectors) in SIZES {
        let count = (mib << 20) / SECTOR;
        assert_eq!(Config::group_sectors(SECTOR, count), Some(sectors), "{mib} MiB");
        let geometry = Geometry::of_nor(SECTOR * sectors, count / sectors);
        let chip = Groups::new(Nor::with_geometry(SECTOR, count, NorTiming::ROUND, 1), sectors);
        let chip = NorPages::new(chip, geometry.page_bytes);
        assert_eq!(chip.geometry(), geometry);
        let config = Config { files_max: 510, ..Config::for_geometry(&geometry) };
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        for index in 0..500 {
            let timing = fs.flash().timing();
            let (before, bound) =
                (fs.flash().time_ns(), fs.bounds().of(Call::Create { depth: 1 }).time_ns(&timing));
            let mut file =
                fs.open(format!("{index:03}").as_str(), OpenOptions::CREATE).expect("open");
            assert!(fs.flash().time_ns() - before <= bound, "{mib} MiB, file {index}");
            fs.write(&mut file, 0, &content(index)).expect("write");
            fs.close(file).expect("close");
        }
        fs.commit().expect("commit");
        let usage = fs.usage();
        // Power is cut: the volume is not unmounted.
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
            .expect("mount after a cut");
        for index in 0..500 {
            let mut file =
                fs.open(format!("{index:03}").as_str(), OpenOptions::READ).expect("open");
            let mut found = [0; 700];
            let length = fs.read(&mut file, 0, &mut found).expect("read");
            assert!(found[..length] == content(index), "{mib} MiB, file {index}");
            fs.close(file).expect("close");
        }
        let share = usage.usable_bytes * 100 / (u64::from(mib) << 20);
        println!(
            "{mib} MiB: {sectors} sectors, {share} % usable, {} bytes of RAM",
            config.memory_bytes(&geometry)
        );
        assert!(share >= if mib < 2 { 69 } else { 75 }, "{mib} MiB: {share} %");
    }
}

fn content(index: usize) -> Vec<u8> {
    (0..index % 600 + 1).map(|at| (at * 7 + index) as u8).collect()
}

/// A chip that records the erased sectors. The erase of one sector fails.
struct Notes {
    erased: Vec<BlockIndex>,
    bad: Option<BlockIndex>,
}

impl NorFlash for Notes {
    fn block_bytes(&self) -> u32 {
        SECTOR
    }

    fn block_count(&self) -> u32 {
        64
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        (1, u64::from(bytes), 45_000_000)
    }

    fn read(&mut self, _address: u32, _data: &mut [u8]) -> Result<(), Failure> {
        Ok(())
    }

    fn program(&mut self, _address: u32, _data: &[u8]) -> Result<(), Failure> {
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        if self.bad == Some(block) {
            return Err(Failure::BadBlock);
        }
        self.erased.push(block);
        Ok(())
    }
}

/// The tags of a block are in its first sector. After a cut erase, the rest of the block has no
/// tags.
#[test]
fn a_block_is_erased_from_its_first_sector_on_and_is_bad_with_any_of_them() {
    let mut chip = Groups::new(Notes { erased: Vec::new(), bad: Some(14) }, 4);
    assert_eq!(
        (chip.block_bytes(), chip.block_count(), chip.times_ns(8)),
        (16_384, 16, (1, 8, 180_000_000))
    );
    assert_eq!(chip.erase(2), Ok(()));
    assert_eq!(chip.erase(3), Err(Failure::BadBlock));
    assert_eq!(chip.chip().erased, [8, 9, 10, 11, 12, 13]);
}

#[test]
fn a_chip_of_too_few_sectors_has_no_groups() {
    assert_eq!(Config::group_sectors(SECTOR, 16), None);
    assert_eq!(Config::group_sectors(SECTOR, 0), None);
}
