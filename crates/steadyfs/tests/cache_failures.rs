//! Tests failures with a write-back cache: a failed call changes nothing, and nothing in the
//! cache.

use crate::common::Rng;
use crate::common::spy::Spy;
use steadyfs::media::Flash;
use steadyfs::media::nor::NorPages;
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nor, NorTiming};

const FILES: usize = 4;

#[test]
fn write_that_fails_has_changed_nothing_in_the_cache() {
    let mut failed = 0;
    for seed in 0..60 {
        let chip = Spy::new(
            NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, seed), 256),
            u32::MAX,
        );
        let geometry = chip.geometry();
        // With `failures: 0`, the volume does not repeat a refused program elsewhere.
        let config = Config {
            pages_per_logical_page: 1 + (seed as u16 & 1),
            failures: 0,
            ..Config::for_geometry(&geometry)
        };
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let mut cache = vec![0; config.cache_bytes(&geometry, 2)];
        let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        fs.lend_cache(&mut cache).expect("lend");
        fs.set_commit_on(CommitOn::MANUAL);
        let page_bytes = fs.usage().logical_bytes as usize;
        let mut rng = Rng(seed);
        let mut files = vec![Vec::new(); FILES];
        for step in 0..200 {
            let number = rng.below(FILES as u64) as usize;
            let at = rng.below(files[number].len() as u64 + 1) as usize;
            // A longer write would be split into one write for each logical page.
            let length = (1 + rng.below(120) as usize).min(page_bytes - at % page_bytes);
            let bytes = vec![step as u8; length];
            let mut file =
                fs.open(format!("f{number}").as_str(), OpenOptions::CREATE).expect("open");
            fs.flash_mut().refused = rng.below(4) as u32;
            let result = fs.write(&mut file, at as u64, &bytes);
            fs.flash_mut().refused = 0;
            match result {
                Ok(()) => {
                    let content = &mut files[number];
                    content.resize(content.len().max(at + length), 0);
                    content[at..at + length].copy_from_slice(&bytes);
                }
                Err(Error::Device) => failed += 1,
                Err(Error::TransactionTooLarge) => fs.commit().expect("commit"),
                Err(error) => panic!("seed {seed}, step {step}: {error}"),
            }
            let mut found = vec![0; files[number].len() + 1];
            let length = fs.read(&mut file, 0, &mut found).expect("read");
            assert!(found[..length] == files[number][..], "seed {seed}, step {step}: {result:?}");
            fs.close(file).expect("close");
            if rng.below(12) == 0 {
                fs.commit().expect("commit");
            }
        }
    }
    assert!(failed > 100, "{failed} writes failed");
}
