//! Failures beside a write-back cache: a call that fails has changed nothing, in the cache neither.

mod common;

use common::Rng;
use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nor, NorTiming};

const FILES: usize = 4;

/// A chip of which one program is refused.
#[derive(Clone)]
struct Refusing {
    chip: NorPages<Nor>,
    /// Programs until then; none where it is 0.
    programs: u32,
}

impl Refusing {
    fn count(&mut self) -> Result<(), Failure> {
        let before = self.programs;
        self.programs = before.saturating_sub(1);
        if before == 1 { Err(Failure::Device) } else { Ok(()) }
    }
}

impl Flash for Refusing {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read_tag(page, tag)
    }
    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count()?;
        self.chip.program(page, data, tag)
    }
    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
        self.count()?;
        self.chip.program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

#[test]
fn write_that_fails_has_changed_nothing_in_the_cache() {
    let mut failed = 0;
    for seed in 0..60 {
        let chip = Refusing { chip: NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, seed), 256), programs: 0 };
        let geometry = chip.geometry();
        let config = Config { unit_pages: 1 + (seed as u16 & 1), ..Config::for_geometry(&geometry) };
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
            // A longer write is one of each logical page.
            let length = (1 + rng.below(120) as usize).min(page_bytes - at % page_bytes);
            let bytes = vec![step as u8; length];
            let mut file = fs.open(format!("f{number}").as_str(), OpenOptions::CREATE).expect("open");
            fs.flash_mut().programs = rng.below(4) as u32;
            let result = fs.write(&mut file, at as u64, &bytes);
            fs.flash_mut().programs = 0;
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
