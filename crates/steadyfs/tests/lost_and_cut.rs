//! A record is lost, and power failed in the program behind it. That program has touched its
//! place without a trace.

use crate::common::{Rng, for_seeds};
use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, CommitOn, Config, Damage, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming, Nor, NorTiming};

const FILES: u64 = 6;

/// A chip that loses power in a program and records the touched place. Its pages can be lost. It
/// panics if a touched place is programmed again before an erase.
#[derive(Clone)]
struct Touchy<F> {
    chip: F,
    /// Number of programs until power fails. With 0, the chip does not answer.
    left: u32,
    /// First and last byte that a cut program has touched, in a block.
    touched: Vec<(BlockIndex, u32, u32)>,
    lost: Vec<PageIndex>,
    /// Pages of whole programs, and for programs of bytes the page in which they begin.
    programmed: Vec<PageIndex>,
}

impl<F: Flash> Touchy<F> {
    fn new(chip: F) -> Self {
        Self { chip, left: u32::MAX, touched: Vec::new(), lost: Vec::new(), programmed: Vec::new() }
    }

    fn see(&self, page: PageIndex) -> Result<(), Failure> {
        if self.lost.contains(&page) { Err(Failure::Uncorrectable) } else { Ok(()) }
    }

    /// Begins a program of bytes of a block.
    fn begin(&mut self, block: BlockIndex, first: u32, bytes: u32) -> Result<(), Failure> {
        let last = first + bytes.max(1) - 1;
        let is_touched =
            |&(other, from, to): &(u32, u32, u32)| other == block && first <= to && from <= last;
        match self.left {
            0 => return Err(Failure::Device),
            _ if self.touched.iter().any(is_touched) => {
                panic!("bytes {first}..={last} of block {block} were touched by a cut")
            }
            1 => self.touched.push((block, first, last)),
            _ => {}
        }
        self.left -= 1;
        if self.left == 0 { Err(Failure::Device) } else { Ok(()) }
    }
}

impl<F: Flash> Flash for Touchy<F> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.see(page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry();
        self.begin(page / pages_per_block, page % pages_per_block * page_bytes, page_bytes)?;
        self.programmed.push(page);
        self.chip.program(page, data, tag)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry();
        let pages = offset / page_bytes..=(offset + data.len().max(1) as u32 - 1) / page_bytes;
        pages.into_iter().try_for_each(|page| self.see(block * pages_per_block + page))?;
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry();
        self.begin(block, offset, data.len() as u32)?;
        self.programmed.push(block * pages_per_block + offset / page_bytes);
        self.chip.program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        if self.left == 0 {
            return Err(Failure::Device);
        }
        let pages = self.geometry().pages_per_block;
        self.lost.retain(|page| page / pages != block);
        self.touched.retain(|&(other, ..)| other != block);
        self.chip.erase(block)
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

/// Writes a file as a commit of its own: a logical page, a part of a page, or a few bytes. The
/// journal takes few bytes.
fn change<F: Flash>(fs: &mut FileSystem<'_, F>, rng: &mut Rng, number: u64) -> Result<(), Error> {
    let geometry = fs.flash().geometry();
    let logical = geometry.page_bytes as usize * usize::from(fs.config().pages_per_logical_page);
    let length = *[logical, logical, 40, 300].get(rng.below(4) as usize).expect("one of four");
    let mut file = fs.open(format!("f{number}").as_str(), OpenOptions::CREATE)?;
    let result =
        fs.write(&mut file, rng.below(3) * logical as u64, &vec![rng.below(255) as u8; length]);
    fs.close(file)?;
    result?;
    fs.commit()
}

fn content<F: Flash>(fs: &mut FileSystem<'_, F>, number: u64) -> Result<Vec<u8>, Error> {
    let mut file = fs.open(format!("f{number}").as_str(), OpenOptions::READ)?;
    let mut data = vec![0; 40_000];
    let length = fs.read(&mut file, 0, &mut data);
    fs.close(file)?;
    data.truncate(length?);
    Ok(data)
}

/// Counts the results on volumes with a lost record.
#[derive(Debug, Default)]
struct Tally {
    taken_for_a_cut: u32,
    told: u32,
}

/// Mounts a volume with a lost record, repairs it if it reports damage, changes it, and mounts it
/// again.
fn live_on<F: Flash + Clone>(
    mut volume: Touchy<F>,
    lost: PageIndex,
    memory: &mut [u8],
    tally: &mut Tally,
) {
    (volume.left, volume.lost) = (u32::MAX, vec![lost]);
    let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, memory).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    match fs.damage() {
        Some(damage) => {
            let mut scratch = vec![0; fs.config().check_bytes(&fs.flash().geometry())];
            if fs.repair(&mut scratch, &mut |_| ()).is_err() {
                assert_eq!(damage, Damage::Leaf, "only tables of the file system cannot be spared");
                return;
            }
            tally.told += 1;
        }
        None => tally.taken_for_a_cut += 1,
    }
    let mut rng = Rng(u64::from(lost));
    for number in (0..FILES).chain(0..FILES) {
        // If the file has a lost page, it may not open. Then another file is changed.
        let _ = change(&mut fs, &mut rng, number)
            .or_else(|_| change(&mut fs, &mut rng, FILES + number));
    }
    let found: Vec<_> = (0..2 * FILES).map(|number| content(&mut fs, number)).collect();
    let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, memory).expect("mount");
    assert_eq!(fs.damage(), None, "what was lost was accepted, or taken for a cut");
    let again: Vec<_> = (0..2 * FILES).map(|number| content(&mut fs, number)).collect();
    assert!(found == again, "what was committed since the loss is there");
}

/// Cuts a use in each of its first programs, loses one of the pages programmed just before, and
/// continues the use.
fn lose_before_each_cut<F: Flash + Clone>(chip: F, pages_per_logical_page: u8, seed: u64) -> Tally {
    let geometry = chip.geometry();
    let config = Config {
        pages_per_logical_page: pages_per_logical_page.into(),
        ..Config::for_geometry(&geometry)
    };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let mut volume = FileSystem::format(Touchy::new(chip), &config, &mut memory).expect("format");
    let (mut rng, mut tally) = (Rng(seed), Tally::default());
    for cycle in 0..3 {
        let mut fs = FileSystem::mount(&mut volume, Access::ReadWrite, &mut memory).expect("mount");
        fs.set_commit_on(CommitOn::MANUAL);
        for _ in 0..rng.below(30) + u64::from(cycle == 0) * 60 {
            let number = rng.below(FILES);
            change(&mut fs, &mut rng, number).expect("change");
        }
        for cut in 1..30 {
            let (mut cut_off, mut rng) = (volume.clone(), Rng(seed ^ cycle));
            let mut fs =
                FileSystem::mount(&mut cut_off, Access::ReadWrite, &mut memory).expect("mount");
            fs.set_commit_on(CommitOn::MANUAL);
            fs.flash_mut().left = cut;
            fs.flash_mut().programmed.clear();
            while change(&mut fs, &mut rng, cycle).is_ok() {}
            for back in 1..=usize::from(pages_per_logical_page) + 1 {
                let lost =
                    cut_off.programmed.len().checked_sub(back).map(|at| cut_off.programmed[at]);
                if let Some(lost) = lost {
                    live_on(cut_off.clone(), lost, &mut memory, &mut tally);
                }
            }
        }
    }
    tally
}

/// The last record before a cut was lost, and the cut program had touched the place behind it
/// without a trace. A mount took the lost record for the cut and skipped one place. The head then
/// programmed the place behind it, which a cut had touched. If the lost record was the first one
/// of a use, the mount found no used head, and skipped no place of the other heads at all.
#[test]
fn place_behind_a_lost_record_is_not_programmed_again() {
    for_seeds("lost_and_cut", "place_behind_a_lost_record_is_not_programmed_again", 1, |seed| {
        for pages_per_logical_page in [1, 2, 4] {
            let nand = Geometry {
                page_bytes: 512,
                pages_per_block: 32,
                block_count: 64,
                programs_bytes: false,
            };
            let nand = lose_before_each_cut(
                Nand::with_geometry(nand, NandTiming::ROUND, seed),
                pages_per_logical_page,
                seed,
            );
            let nor = NorPages::new(Nor::with_geometry(16_384, 64, NorTiming::ROUND, seed), 256);
            let nor = lose_before_each_cut(nor, pages_per_logical_page, seed);
            println!(
                "seed {seed}, {pages_per_logical_page} pages in a frame: NAND {nand:?}, NOR {nor:?}"
            );
            for Tally { taken_for_a_cut, told } in [nand, nor] {
                assert!(taken_for_a_cut > 30 && told > 30, "both are met");
            }
        }
    });
}
