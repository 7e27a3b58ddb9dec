//! A volume behind a write cache that is emptied in order keeps the committed data when power
//! fails.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming, PowerCut, Survivors, WriteCache};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
const PAGES: usize = 300;
const CUTS: u64 = 60;

type Chip = PowerCut<WriteCache<Nand>>;

/// Writes until power fails. Returns the page that was being written.
fn write_until_cut(
    chip: &mut Chip,
    memory: &mut [u8],
    rng: &mut fastrand::Rng,
    stamps: &mut [u32],
    next: &mut u32,
) -> Option<(usize, u32)> {
    let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, memory).ok()?;
    let mut file = fs.open("data", OpenOptions::DURABLE).ok()?;
    loop {
        let page = rng.usize(..PAGES);
        *next += 1;
        let data = [next.to_le_bytes(); 128].concat();
        if fs.write(&mut file, page as u64 * 512, &data).is_err() {
            return Some((page, *next));
        }
        stamps[page] = *next;
    }
}

/// Compares the content of the chip with the stamps. The page in doubt may be new.
fn check(
    chip: &mut Chip,
    memory: &mut [u8],
    stamps: &mut [u32],
    doubt: Option<(usize, u32)>,
    at: &str,
) {
    let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, memory)
        .unwrap_or_else(|error| panic!("{at}: {error}"));
    let mut file =
        fs.open("data", OpenOptions::DURABLE).unwrap_or_else(|error| panic!("{at}: {error}"));
    for (page, stamp) in stamps.iter_mut().enumerate() {
        let mut data = [0; 512];
        let read = fs
            .read(&mut file, page as u64 * 512, &mut data)
            .unwrap_or_else(|error| panic!("{at}: page {page}: {error}"));
        let found = if read == 0 { 0 } else { u32::from_le_bytes(data[..4].try_into().unwrap()) };
        if found != *stamp && doubt == Some((page, found)) {
            *stamp = found;
        }
        assert_eq!(found, *stamp, "{at}: page {page}, in doubt {doubt:?}");
    }
}

#[test]
fn committed_data_survives_a_cache_emptied_in_order() {
    for seed in 0..20 {
        let cache = WriteCache::new(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, seed), seed)
            .with_cache(Survivors::InOrder, 64);
        let mut chip = PowerCut::new(cache, seed);
        let config = Config::for_geometry(&GEOMETRY);
        let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
        FileSystem::format(&mut chip, &config, &mut memory).unwrap();
        // The volume itself flushes the cache when it commits.
        chip.sync().unwrap();
        let (mut rng, mut stamps, mut next) = (fastrand::Rng::with_seed(seed), vec![0; PAGES], 0);
        for cut in 0..CUTS {
            chip.cut_at(1 + rng.u64(..if cut % 4 == 0 { 30 } else { 600 }));
            let doubt = write_until_cut(&mut chip, &mut memory, &mut rng, &mut stamps, &mut next);
            chip.power_on();
            check(&mut chip, &mut memory, &mut stamps, doubt, &format!("seed {seed}, cut {cut}"));
        }
        assert!(next > 1000, "only {next} writes before the cuts");
    }
}
