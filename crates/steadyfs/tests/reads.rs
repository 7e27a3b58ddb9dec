//! Tests sequential reads in small pieces: the number of reads of the map, and that remembered
//! parts of the map are never old.

use crate::common::{Rng, for_seeds};
use steadyfs::media::nor::NorPages;
use steadyfs::media::sectors::{SectorLayout, SectorPages, TagPlace};
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, Budget, Call, CommitOn, Config, Cost, FileSystem, OpenOptions, Verify};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, Sectors};

const PIECE: usize = 16;

fn nand() -> Nand {
    let geometry =
        Geometry { page_bytes: 512, pages_per_block: 32, block_count: 64, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, 1)
}

fn nor() -> NorPages<Nor> {
    NorPages::new(Nor::with_geometry(4096, 128, NorTiming::ROUND, 1), 256)
}

/// Writes a file of `bytes` bytes sequentially, and reads it in small pieces. Returns the number
/// of chip reads for each page of the file.
fn reads_of_a_page<F: Flash + Metered>(chip: F, bytes: u64) -> f64 {
    let config = Config::for_geometry(&chip.geometry());
    let page_bytes = u64::from(chip.geometry().page_bytes);
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    (0..bytes / 512).for_each(|at| fs.write(&mut file, at * 512, &[at as u8; 512]).unwrap());
    fs.close(file).unwrap();
    fs.commit().unwrap();
    // The whole map is in leaves.
    let flash = fs.unmount().unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("file", OpenOptions::READ).unwrap();
    let before = fs.flash().counters();
    for at in (0..bytes).step_by(PIECE) {
        let mut data = [0; PIECE];
        fs.read(&mut file, at, &mut data).unwrap();
        assert_eq!(data, [(at / 512) as u8; PIECE], "at {at}");
    }
    fs.flash().counters().since(&before).reads as f64 / (bytes / page_bytes) as f64
}

/// Each page of a leaf was read again for each logical page, because the data replaced it in the
/// page buffer.
#[test]
fn the_map_is_looked_at_once_for_pages_that_lie_in_order() {
    // On NOR, a page and its tag are two reads.
    for (found, most) in
        [(reads_of_a_page(nor(), 160 << 10), 2.4), (reads_of_a_page(nand(), 256 << 10), 1.2)]
    {
        assert!(found < most, "{found} reads of a page, expected less than {most}");
    }
}

/// Makes overwrites and commits, between sequential reads of parts of the file.
fn agrees<F: Flash>(chip: F, seed: u64, kept: usize) {
    let mut rng = Rng(seed);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut read_cache = vec![0; config.read_cache_bytes(&chip.geometry(), kept)];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    fs.lend_read_cache(&mut read_cache);
    let size = (fs.usage().usable_bytes * 7 / 10) as usize;
    let mut oracle = vec![0; size];
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    for round in 0..60u32 {
        let (at, bytes) = (rng.below(size as u64) as usize, 1 + rng.below(3000) as usize);
        let (at, to) = if round == 0 { (0, size) } else { (at, (at + bytes).min(size)) };
        oracle[at..to].fill(round as u8 + 1);
        for (step, from) in (at..to).step_by(256).enumerate() {
            fs.write(&mut file, from as u64, &oracle[from..(from + 256).min(to)]).unwrap();
            if step % 4 == 3 {
                fs.commit().unwrap();
            }
        }
        fs.commit().unwrap();
        // Reads a part sequentially, in pieces of a random size.
        let (from, piece) = (rng.below(size as u64 / 2) as usize, PIECE << rng.below(5));
        for from in (from..size - piece).step_by(piece).take(200) {
            let mut data = vec![0; piece];
            fs.read(&mut file, from as u64, &mut data).unwrap();
            assert_eq!(data, oracle[from..from + piece], "round {round}, at {from}");
        }
    }
    let mut data = vec![0; size];
    fs.read(&mut file, 0, &mut data).unwrap();
    assert!(data == oracle);
}

#[test]
fn what_is_remembered_of_the_map_is_never_old() {
    for_seeds("reads", "what_is_remembered_of_the_map_is_never_old", 6, |seed| {
        for kept in [0, 3, 100] {
            agrees(nor(), seed, kept);
            agrees(nand(), seed, kept);
        }
    });
}

/// Makes changes of every kind, and repeats small reads of one place between them, through two
/// handles.
fn sees_changes<F: Flash>(chip: F, seed: u64, cached: bool) {
    let mut rng = Rng(seed);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut cache = vec![0; if cached { config.cache_bytes(&chip.geometry(), 2) } else { 0 }];
    let mut read_cache =
        vec![0; config.read_cache_bytes(&chip.geometry(), [0, 2, 8, 100][seed as usize % 4])];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    fs.lend_cache(&mut cache).unwrap();
    fs.lend_read_cache(&mut read_cache);
    let mut files =
        [OpenOptions::CREATE, OpenOptions::WRITE].map(|options| fs.open("file", options).unwrap());
    let mut now: Vec<u8> = Vec::new();
    for step in 0..400u32 {
        let file = &mut files[rng.below(2) as usize];
        let at = rng.below(12_000) as usize;
        match rng.below(9) {
            0..5 => {
                let data = vec![
                    (step % 251) as u8 + 1;
                    1 + rng.below(if step % 8 == 0 { 3000 } else { 40 }) as usize
                ];
                now.resize(now.len().max(at + data.len()), 0);
                now[at..at + data.len()].copy_from_slice(&data);
                fs.write(file, at as u64, &data).unwrap();
            }
            5 => {
                now.resize(at, 0);
                fs.truncate(file, at as u64).unwrap();
            }
            6 => fs.commit().unwrap(),
            7 => {
                fs.commit().unwrap();
                // A write of two pages is two calls. If the second call might not find room, it
                // would commit the first.
                fs.set_commit_on(CommitOn::MANUAL);
                let is_written = fs.write(file, at as u64, &[0xDD; 20]).is_ok();
                for from in (at..at + 20).filter(|_| is_written) {
                    let mut data = [0];
                    fs.read(file, from as u64, &mut data).unwrap();
                    assert_eq!(data, [0xDD], "step {step}, at {from}");
                }
                fs.rollback().unwrap();
                fs.set_commit_on(CommitOn::ON_SYNC);
            }
            _ => {
                fs.maintain(Budget::Operations(10_000), 8192).unwrap();
            }
        }
        fs.set_verify(if rng.below(4) == 0 { Verify::Metadata } else { Verify::Always });
        let page = rng.below(1 + now.len() as u64 / 256) as usize * 256;
        for _ in 0..5 {
            let file = &mut files[rng.below(2) as usize];
            let from = page + rng.below(256) as usize;
            let mut data = vec![0xEE; 1 + rng.below(24) as usize];
            let length = fs.read(file, from as u64, &mut data).unwrap();
            let expected =
                now.get(from..).map_or(&[][..], |rest| &rest[..rest.len().min(data.len())]);
            assert_eq!(&data[..length], expected, "step {step}, at {from}");
        }
    }
}

#[test]
fn small_reads_see_every_change() {
    for_seeds("reads", "small_reads_see_every_change", 20, |seed| {
        sees_changes(nor(), seed, seed % 2 == 0);
        sees_changes(nand(), seed, seed % 2 == 1);
    });
}

/// If a page is in the buffer, a small read costs the chip nothing, with or without a waiting
/// patch for this page.
#[test]
fn small_reads_of_a_page_read_it_once() {
    let chip = nand();
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("file", OpenOptions::DURABLE).unwrap();
    fs.write(&mut file, 0, &[7; 4096]).unwrap();
    fs.write(&mut file, 600, &[8; 5]).unwrap();
    for (from, most) in [(0, 3), (512, 4)] {
        let before = fs.flash().counters();
        for at in from..from + 512 {
            let mut data = [0];
            fs.read(&mut file, at, &mut data).unwrap();
            assert_eq!(data[0], if (600..605).contains(&at) { 8 } else { 7 });
        }
        let reads = fs.flash().counters().since(&before).reads;
        assert!(reads <= most, "{reads} reads from {from} on");
    }
}

/// Opens and reads twenty small files among 200 names, again and again. Returns the number of
/// chip reads in the last round.
fn reads_of_a_hot_set<F: Flash + Metered>(chip: F, kept: usize) -> u64 {
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut read_cache = vec![0xA5; config.read_cache_bytes(&chip.geometry(), kept)];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    fs.lend_read_cache(&mut read_cache);
    for name in 0..200 {
        let mut file = fs.open(&format!("{name}"), OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, &[name as u8; 300]).unwrap();
        fs.close(file).unwrap();
    }
    fs.commit().unwrap();
    let mut reads = 0;
    for _ in 0..4 {
        let before = fs.flash().counters();
        for name in 0..20 {
            let mut file = fs.open(&format!("{name}"), OpenOptions::READ).unwrap();
            let mut data = [0; 100];
            for from in [0, 100, 200] {
                assert_eq!(fs.read(&mut file, from, &mut data), Ok(100));
                assert_eq!(data, [name as u8; 100]);
            }
            fs.close(file).unwrap();
        }
        reads = fs.flash().counters().since(&before).reads;
    }
    // After an erase or a rewrite, cached contents must not appear again.
    for round in 0..300u32 {
        let mut file = fs.open("7", OpenOptions::WRITE).unwrap();
        fs.write(&mut file, 0, &[round as u8; 300]).unwrap();
        fs.close(file).unwrap();
        fs.commit().unwrap();
        let mut file = fs.open("7", OpenOptions::READ).unwrap();
        let mut data = [0; 300];
        assert_eq!(fs.read(&mut file, 0, &mut data), Ok(300));
        assert_eq!(data, [round as u8; 300]);
        fs.close(file).unwrap();
    }
    reads
}

#[test]
fn what_is_read_again_and_again_is_read_once() {
    assert!(reads_of_a_hot_set(nor(), 0) > 300);
    assert!(reads_of_a_hot_set(nand(), 0) > 90);
    // The remaining reads are of pages with changes that wait in the journal's buffer.
    assert!(reads_of_a_hot_set(nor(), 200) < 15);
    assert!(reads_of_a_hot_set(nand(), 200) < 25);
    // If the cache has no room for all of them, the result is not worse than without a cache.
    assert!(reads_of_a_hot_set(nor(), 8) <= reads_of_a_hot_set(nor(), 0));
}

/// If content is not checked, a page that is misread once may be wrong once, but not again.
#[test]
fn what_was_not_checked_is_not_kept() {
    let chip = nand();
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut read_cache = vec![0; config.read_cache_bytes(&chip.geometry(), 50)];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    fs.lend_read_cache(&mut read_cache);
    let mut files = ["a", "b"].map(|name| fs.open(name, OpenOptions::CREATE).unwrap());
    files.iter_mut().for_each(|file| fs.write(file, 0, &[7; 8192]).unwrap());
    fs.commit().unwrap();
    let mut reads_of = |verify| {
        fs.set_verify(verify);
        let mut data = [0; 20];
        let mut reads = 0;
        for _ in 0..4 {
            let before = fs.flash().counters();
            // One page of each file in turn, so that neither stays in the page buffer.
            files.iter_mut().for_each(|file| assert_eq!(fs.read(file, 4096, &mut data), Ok(20)));
            reads = fs.flash().counters().since(&before).reads;
        }
        reads
    };
    assert_eq!(reads_of(Verify::Metadata), 2, "each page comes from the chip");
    assert_eq!(reads_of(Verify::Always), 0);
}

/// A chip whose reads of several pages work, fail, or return one wrong page.
#[derive(Clone)]
struct Together<F> {
    chip: F,
    /// Number of commands that read several pages.
    commands: u32,
    spent: Cost,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Works,
    Fails,
    /// The last page has a flipped bit.
    Garbles,
}

impl<F: Flash> Flash for Together<F> {
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
        self.spent.reads += 1;
        self.chip.read(page, data, tag)
    }
    fn reads_many(&self) -> bool {
        true
    }
    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.commands += 1;
        let count = self.chip.read_many(first, data, tags)?;
        self.spent.reads += count as u32;
        match self.way {
            Way::Works => {}
            Way::Fails => return Err(Failure::Uncorrectable),
            Way::Garbles => data[count * self.geometry().page_bytes as usize - 1] ^= 0x10,
        }
        Ok(count)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.spent.tag_reads += 1;
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.program(page, data, tag)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.spent.reads += 1;
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
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

/// Writes, patches, truncates and overwrites two files in turn, and reads them in pieces of all
/// sizes. A read of several pages in one command returns the right data. If it fails, the call
/// reads the pages one by one.
fn reads_together(chip: impl Flash + Clone, pages_per_logical_page: u16, seed: u64) {
    let geometry = chip.geometry();
    let config = Config { pages_per_logical_page, ..Config::for_geometry(&geometry) };
    for way in [Way::Works, Way::Fails, Way::Garbles] {
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let chip = Together { chip: chip.clone(), commands: 0, spent: Cost::default(), way };
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut rng = Rng(seed);
        let mut files: Vec<_> = ["a", "b"]
            .map(|name| (fs.open(name, OpenOptions::CREATE).expect("create"), Vec::<u8>::new()))
            .into_iter()
            .collect();
        for step in 0..300 {
            let (file, content) = &mut files[usize::from(rng.one_in(4))];
            let at = if rng.one_in(3) {
                rng.below(content.len() as u64 + 1) as usize
            } else {
                content.len()
            };
            let most = if rng.one_in(2) { 60 } else { 3000 };
            let length = 1 + rng.below(most);
            let bytes: Vec<u8> = (0..length).map(|_| rng.next() as u8).collect();
            if content.len() < 60_000 {
                fs.write(file, at as u64, &bytes).expect("write");
                content.resize(content.len().max(at + bytes.len()), 0);
                content[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            if rng.one_in(20) {
                content.truncate(content.len() / 2);
                fs.truncate(file, content.len() as u64).expect("truncate");
            }
            if rng.one_in(8) {
                fs.commit().expect("commit");
            }
            let from = rng.below(content.len() as u64 + 1) as usize / 256 * 256;
            let mut data = vec![0xEE; rng.below(20_000) as usize];
            let bound = fs.bounds().of(Call::Read(data.len() as u32));
            fs.flash_mut().spent = Cost::default();
            let read = fs.read(file, from as u64, &mut data).expect("read");
            let spent = fs.flash().spent;
            assert!(
                way != Way::Works || bound.holds(&spent),
                "step {step}, {read} bytes: {spent:?}, bound {bound:?}"
            );
            assert_eq!(read, data.len().min(content.len() - from));
            assert!(
                data[..read] == content[from..from + read],
                "{way:?}, step {step}: {read} bytes from {from}"
            );
        }
        let content: Vec<u8> = (0..40_000).map(|_| rng.next() as u8).collect();
        let mut file = fs.open("in order", OpenOptions::CREATE).expect("create");
        fs.write(&mut file, 0, &content).expect("write");
        fs.commit().expect("commit");
        let (before, mut data) = (fs.flash().commands, vec![0; content.len()]);
        assert_eq!(fs.read(&mut file, 0, &mut data), Ok(content.len()));
        assert!(data == content);
        let commands = fs.flash().commands - before;
        match way {
            Way::Works => assert!(commands > 0),
            // The call does not try the command again.
            Way::Fails | Way::Garbles => assert!(commands <= 1, "{way:?}: {commands}"),
        }
    }
}

#[test]
fn what_is_read_in_one_command_is_what_there_is() {
    for_seeds("reads", "what_is_read_in_one_command_is_what_there_is", 3, |seed| {
        for pages_per_logical_page in [1, 2] {
            reads_together(nor(), pages_per_logical_page, seed);
        }
        let layout = |tags| SectorLayout { tags, ..SectorLayout::for_device(1 << 15, 1 << 18) };
        for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
            let pages = SectorPages::new(
                Sectors::new(layout(tags).sectors, Sectors::ROUND, seed),
                layout(tags),
            )
            .expect("a card");
            reads_together(pages, 1, seed);
        }
    });
}
