//! Tests clean volumes with few small files that lose any one page.
//!
//! The newest journal page of such a volume contains all of its files. It was there once, and a
//! mount without it showed an empty directory.

use crate::common::{Rng, for_seeds};
use std::collections::BTreeSet;
use steadyfs::media::nor::NorPages;
use steadyfs::media::sectors::{SectorLayout, SectorPages};

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs::{Access, Budget, CleanReader, Config, Damage, Error, FileSystem, OpenOptions};
use steadyfs_sim::{FailOps, Nand, NandTiming, Nor, NorTiming, PowerCut, Sectors, Tearable};

/// A chip with one lost page, until its block is erased.
#[derive(Clone)]
struct Lossy<F> {
    chip: F,
    lost: Option<PageIndex>,
    programmed: BTreeSet<PageIndex>,
}

impl<F: Flash> Lossy<F> {
    fn new(chip: F) -> Self {
        Self { chip, lost: None, programmed: BTreeSet::new() }
    }

    /// Returns the pages that contain a range of bytes of a block.
    fn pages(
        &self,
        block: BlockIndex,
        offset: u32,
        bytes: usize,
    ) -> core::ops::RangeInclusive<PageIndex> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry();
        let page = |at: u32| block * pages_per_block + at / page_bytes;
        page(offset)..=page(offset + bytes.max(1) as u32 - 1)
    }

    fn check(&self, pages: core::ops::RangeInclusive<PageIndex>) -> Result<(), Failure> {
        if self.lost.is_some_and(|lost| pages.contains(&lost)) {
            Err(Failure::Uncorrectable)
        } else {
            Ok(())
        }
    }
}

impl<F: Flash> Flash for Lossy<F> {
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
        self.check(page..=page)?;
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.check(page..=page)?;
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.programmed.insert(page);
        self.chip.program(page, data, tag)
    }
    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        self.programmed.extend(first..first + tags.len() as u32);
        self.chip.program_many(first, data, tags)
    }
    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.check(self.pages(block, offset, data.len()))?;
        self.chip.read_bytes(block, offset, data)
    }
    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.programmed.extend(self.pages(block, offset, data.len()));
        self.chip.program_bytes(block, offset, data)
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let pages = self.geometry().pages_per_block;
        self.programmed.retain(|page| page / pages != block);
        self.lost = self.lost.filter(|lost| lost / pages != block);
        self.chip.erase(block)
    }
    fn hides_damage(&self) -> bool {
        self.chip.hides_damage()
    }
    fn sync(&mut self) -> Result<(), Failure> {
        self.chip.sync()
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

/// The content of each file, by its number.
type Files = Vec<Vec<u8>>;

fn name(file: usize) -> String {
    format!("file-{file}")
}

fn config(geometry: &Geometry) -> Config {
    let layout = SectorLayout::for_size(1 << 16);
    if layout.geometry() == *geometry {
        Config::for_sectors(&layout)
    } else {
        Config::for_geometry(geometry)
    }
}

/// Formats the chip and writes files in some uses. Each use ends cleanly.
fn used_volume<F: Flash>(chip: &mut Lossy<F>, seed: u64, memory: &mut Vec<u8>) -> Files {
    let geometry = chip.geometry();
    let config = config(&geometry);
    memory.resize(config.memory_bytes(&geometry), 0);
    FileSystem::format(&mut *chip, &config, memory).expect("format");
    let mut rng = Rng(seed);
    let mut files: Files = vec![Vec::new(); 2 + rng.below(19) as usize];
    let largest = [40, 200, 1_000][rng.below(3) as usize];
    for _ in 0..1 + rng.below(3) {
        let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, memory).expect("mount");
        let most = 1 + rng.below(60);
        for change in 0..files.len() as u64 + rng.below(most) {
            let file = if files.last().is_some_and(Vec::is_empty) {
                change % files.len() as u64
            } else {
                rng.below(files.len() as u64)
            };
            let bytes =
                (0..1 + rng.below(largest)).map(|_| rng.below(256) as u8).collect::<Vec<_>>();
            let mut open = fs
                .open(&name(file as usize), OpenOptions { truncate: true, ..OpenOptions::DURABLE })
                .expect("open");
            fs.write(&mut open, 0, &bytes).expect("write");
            fs.close(open).expect("close");
            files[file as usize] = bytes;
        }
        fs.unmount().expect("unmount");
    }
    files
}

/// The results of reading the files.
#[derive(Default, Debug)]
struct Seen {
    equal: usize,
    refused: usize,
    missing: usize,
}

fn look<F: Flash>(fs: &mut FileSystem<'_, F>, files: &Files) -> Seen {
    let mut seen = Seen::default();
    for (file, expected) in files.iter().enumerate() {
        let mut bytes = vec![0; expected.len() + 1];
        let result = fs.open(&name(file), OpenOptions::READ).and_then(|mut open| {
            let result = fs.read(&mut open, 0, &mut bytes);
            fs.close(open).and(result)
        });
        match result {
            Ok(read) => {
                assert_eq!(&bytes[..read], expected, "{} has other bytes and no error", name(file));
                seen.equal += 1;
            }
            Err(Error::NotFound) => seen.missing += 1,
            Err(_) => seen.refused += 1,
        }
    }
    seen
}

fn lose_each_page<F: Flash + Clone>(chip: F, seed: u64) {
    let (mut chip, mut memory) = (Lossy::new(chip), Vec::new());
    let files = used_volume(&mut chip, seed, &mut memory);
    lose_each_page_of(&mut chip, &files, &mut memory);
}

/// Loses each page of a volume. A mount for reading shows no wrong bytes, and reports missing
/// files. A repair leaves at least one file.
fn lose_each_page_of<F: Flash + Clone>(chip: &mut Lossy<F>, files: &Files, memory: &mut [u8]) {
    let mut scratch = vec![0; config(&chip.geometry()).check_bytes(&chip.geometry())];
    for page in chip.programmed.clone() {
        chip.lost = Some(page);
        let mut fs = FileSystem::mount(&mut *chip, Access::ReadOnly, memory).expect("mount");
        let (seen, damage) = (look(&mut fs, files), fs.damage());
        assert!(seen.missing == 0 || damage.is_some(), "page {page}: {seen:?} and no damage");
        if seen.equal == files.len() {
            continue;
        }
        let mut repaired = chip.clone();
        let mut fs = FileSystem::mount(&mut repaired, Access::ReadWrite, memory).expect("mount");
        let result = match damage {
            Some(_) => fs.repair(&mut scratch, &mut |_| {}),
            None => fs.check(&mut scratch, true, &mut |_| {}),
        };
        let seen = look(&mut fs, files);
        assert!(seen.equal > 0, "page {page}, {damage:?}: {seen:?} after {result:?}");
    }
}

/// Returns a chip like one of 128 MiB, with fewer blocks and as much room for changes of the map.
fn nand(seed: u64) -> Nand {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 256, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, seed)
}

fn nor(seed: u64) -> NorPages<Nor> {
    NorPages::new(Nor::with_geometry(4096, 128, NorTiming::ROUND, seed), 256)
}

fn card(seed: u64) -> SectorPages<Sectors> {
    let layout = SectorLayout::for_size(1 << 16);
    SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, seed), layout).expect("a card")
}

#[test]
fn no_page_of_a_small_card_holds_all_files() {
    for_seeds("newest", "no_page_of_a_small_card_holds_all_files", 6, |seed| {
        lose_each_page(card(seed), seed);
    });
}

#[test]
fn no_page_of_a_small_nand_volume_holds_all_files() {
    for_seeds("newest", "no_page_of_a_small_nand_volume_holds_all_files", 12, |seed| {
        lose_each_page(nand(seed), seed);
    });
}

/// A program page of 1 KiB holds four inodes, the first one for the root directory.
#[test]
fn two_files_have_their_inodes_in_two_pages() {
    for_seeds("newest", "two_files_have_their_inodes_in_two_pages", 2, |seed| {
        for page_bytes in [512, 1024, 2048, 4096] {
            let geometry = Geometry {
                page_bytes,
                pages_per_block: 64,
                block_count: 64,
                programs_bytes: false,
            };
            let mut chip = Lossy::new(Nand::with_geometry(geometry, NandTiming::ROUND, seed));
            let config = config(&geometry);
            let mut memory = vec![0; config.memory_bytes(&geometry)];
            FileSystem::format(&mut chip, &config, &mut memory).expect("format");
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            let files: Files = (0..30).map(|file| vec![file; 140]).collect();
            for (file, bytes) in files.iter().enumerate() {
                let mut open = fs.open(&name(file), OpenOptions::DURABLE).expect("open");
                fs.write(&mut open, 0, bytes).expect("write");
                fs.close(open).expect("close");
            }
            // The other files made the inodes leave the journal.
            for file in 2..files.len() {
                fs.remove(&name(file)).expect("remove");
            }
            let files = files[..2].to_vec();
            fs.unmount().expect("unmount");
            lose_each_page_of(&mut chip, &files, &mut memory);
        }
    });
}

#[test]
fn no_page_of_a_small_nor_volume_holds_all_files() {
    for_seeds("newest", "no_page_of_a_small_nor_volume_holds_all_files", 12, |seed| {
        lose_each_page(nor(seed), seed);
    });
}

/// Returns the sequence numbers and page indexes of the pages of some kinds (from
/// `docs/format.md`), newest last.
fn pages_of_kinds<F: Flash>(chip: &mut Lossy<F>, kinds: &[u8]) -> Vec<(u64, PageIndex)> {
    let mut found = Vec::new();
    for page in chip.programmed.clone() {
        let mut tag = [0; TAG_BYTES];
        // A page that a power cut has torn may be unreadable.
        let is_read = chip.chip.read_tag(page, &mut tag).is_ok();
        if is_read && kinds.contains(&(tag[8] & 0xF)) {
            let number = (0..5).rev().fold(0, |number, index| number << 8 | u64::from(tag[index]));
            found.push((number & 0xF_FFFF_FFFF, page));
        }
    }
    found.sort_unstable();
    found
}

/// Returns the pages of some kinds that contain a leaf, newest last.
fn pages_of_leaf<F: Flash>(chip: &mut Lossy<F>, kinds: &[u8], leaf: u32) -> Vec<(u64, PageIndex)> {
    let mut pages = pages_of_kinds(chip, kinds);
    pages.retain(|&(_, page)| {
        let mut tag = [0; TAG_BYTES];
        chip.chip.read_tag(page, &mut tag).expect("read");
        u32::from_le_bytes([tag[5], tag[6], tag[7], 0]) == leaf
    });
    pages
}

/// Kinds of leaves: `WRITTEN` for leaves that were written with changes; `LEAF` for moved leaves
/// as well.
const WRITTEN: [u8; 1] = [9];
const LEAF: [u8; 2] = [9, 10];
const COPY: [u8; 1] = [12];
/// Number of written pages: more than the overlay has room for.
const PAGES: u64 = 1_500;

/// Returns a volume whose map is in leaves, and the contents of its files.
fn volume_with_leaves<F: Flash>(chip: &mut Lossy<F>, seed: u64, memory: &mut Vec<u8>) -> Files {
    let mut files = used_volume(chip, seed, memory);
    let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, memory).expect("mount");
    // The first leaf maps the inodes. Enough of them change for the leaf to be written.
    let more = (fs.usage().files_max - files.len() as u32 - 2).min(200);
    for file in files.len()..files.len() + more as usize {
        let bytes = vec![file as u8; 60];
        let mut open = fs.open(&name(file), OpenOptions::CREATE).expect("open");
        fs.write(&mut open, 0, &bytes).expect("write");
        fs.close(open).expect("close");
        files.push(bytes);
    }
    fs.commit().expect("commit");
    files.push(Vec::new());
    let pages = PAGES.min(fs.usage().usable_bytes / u64::from(fs.usage().logical_bytes) / 2);
    write_pages(&mut fs, &mut files, seed, pages);
    fs.unmount().expect("unmount");
    files
}

/// Writes some pages of the last file, each at a random page or at the end.
fn write_pages<F: Flash>(fs: &mut FileSystem<'_, F>, files: &mut Files, seed: u64, count: u64) {
    let mut rng = Rng(seed);
    let page_bytes = u64::from(fs.usage().logical_bytes);
    let number = files.len() - 1;
    let mut file = fs.open(&name(number), OpenOptions::DURABLE).expect("open");
    for _ in 0..count {
        let content = &mut files[number];
        let at = rng.below(content.len() as u64 / page_bytes + 1) * page_bytes;
        let bytes = vec![rng.below(256) as u8; page_bytes as usize];
        fs.write(&mut file, at, &bytes).expect("write");
        content.resize(content.len().max((at + page_bytes) as usize), 0);
        content[at as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    fs.close(file).expect("close");
}

/// Loses each page of the map. After the loss of a page of the first leaf, nothing has changed,
/// and the volume continues to work.
fn lose_leaves<F: Flash + Clone>(chip: F, seed: u64) {
    let (mut chip, mut memory) = (Lossy::new(chip), Vec::new());
    let files = volume_with_leaves(&mut chip, seed, &mut memory);
    let mut scratch = vec![0; config(&chip.geometry()).check_bytes(&chip.geometry())];
    let mut without_damage = 0;
    for (_, page) in pages_of_kinds(&mut chip, &[LEAF.as_slice(), &COPY].concat()) {
        let (mut chip, mut files) = (chip.clone(), files.clone());
        chip.lost = Some(page);
        for round in 0..3 {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            if fs.damage().is_some() {
                assert_eq!((fs.damage(), round), (Some(Damage::Leaf), 0), "page {page}");
                let repaired = fs.repair(&mut scratch, &mut |_| {});
                assert!(repaired.is_ok(), "page {page}: {repaired:?}");
                assert!(look(&mut fs, &files).equal > 0, "page {page}");
                break;
            }
            without_damage += 1;
            assert_eq!(look(&mut fs, &files).equal, files.len(), "page {page}, round {round}");
            // The first leaf is rewritten.
            write_pages(&mut fs, &mut files, seed + round, 400);
            assert_eq!(
                look(&mut fs, &files).equal,
                files.len(),
                "page {page}, round {round}, used"
            );
            if round == 1 {
                fs.unmount().expect("unmount");
            }
        }
    }
    assert!(without_damage > 0);
}

#[test]
fn a_volume_without_a_page_of_its_map_lives_on_or_is_repaired() {
    for_seeds("newest", "a_volume_without_a_page_of_its_map_lives_on_or_is_repaired", 2, |seed| {
        lose_leaves(nand(seed), seed);
        lose_leaves(nor(seed), seed);
    });
}

/// Appends pages to the last file until the volume refuses a further page.
fn fill<F: Flash>(fs: &mut FileSystem<'_, F>, files: &mut Files) {
    let bytes = vec![7; fs.usage().logical_bytes as usize];
    let number = files.len() - 1;
    let mut file = fs.open(&name(number), OpenOptions::DURABLE).expect("open");
    while fs.write(&mut file, files[number].len() as u64, &bytes) != Err(Error::NoSpace) {
        files[number].extend(&bytes);
    }
    fs.close(file).expect("close");
}

/// Overwrites random pages of the last file.
fn overwrite<F: Flash>(fs: &mut FileSystem<'_, F>, files: &mut Files, rng: &mut Rng, count: u64) {
    let page_bytes = fs.usage().logical_bytes as usize;
    let number = files.len() - 1;
    let mut file = fs.open(&name(number), OpenOptions::DURABLE).expect("open");
    for _ in 0..count {
        let content = &mut files[number];
        let at = rng.below((content.len() / page_bytes) as u64) as usize * page_bytes;
        content[at..][..page_bytes].fill(rng.below(256) as u8);
        fs.write(&mut file, at as u64, &content[at..][..page_bytes]).expect("write");
    }
    fs.close(file).expect("close");
}

/// A full volume had no frame for the copy of the first leaf: the copy needed spare frames for a
/// whole transaction and a block. So one lost page took all files after a clean end. A clean end
/// directly behind a power cut made no copy either.
fn end_full_volumes<F: Flash + Clone>(chip: F, seed: u64) {
    let (mut chip, mut memory) = (Lossy::new(chip), Vec::new());
    let (mut files, mut rng) = (used_volume(&mut chip, seed, &mut memory), Rng(seed));
    files.push(Vec::new());
    let mut tried = 0;
    for use_number in 0..30 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        if use_number == 0 {
            fill(&mut fs, &mut files);
        }
        let count = 1 + rng.below(40);
        overwrite(&mut fs, &mut files, &mut rng, count);
        if use_number % 3 == 0 {
            // Power fails.
            fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        }
        fs.unmount().expect("unmount");
        let Some((_, leaf)) = pages_of_leaf(&mut chip, &LEAF, 0).pop() else { continue };
        chip.lost = Some(leaf);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
        assert_eq!(fs.damage(), None, "use {use_number}, page {leaf}");
        assert_eq!(look(&mut fs, &files).equal, files.len(), "use {use_number}, page {leaf}");
        chip.lost = None;
        tried += 1;
    }
    assert!(tried > 25, "only {tried} volumes had a leaf");
}

/// A chip of 48 small blocks.
fn small_nand(seed: u64) -> Nand {
    let geometry =
        Geometry { page_bytes: 1024, pages_per_block: 12, block_count: 48, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, seed)
}

#[test]
fn a_full_volume_ends_with_two_first_leaves() {
    for_seeds("newest", "a_full_volume_ends_with_two_first_leaves", 2, |seed| {
        end_full_volumes(small_nand(seed), seed);
        end_full_volumes(nor(seed), seed);
        end_full_volumes(card(seed), seed);
    });
}

/// Power fails in a clean end. Nothing was changed since the mount, and the end copies the first
/// leaf. Without a journal page before the copy, the next mount would program its place once more.
fn cut_ends<F: Flash + Tearable + Clone>(chip: F, seed: u64) {
    let (mut chip, mut memory) = (Lossy::new(PowerCut::new(chip, seed)), Vec::new());
    let mut files = volume_with_leaves(&mut chip, seed, &mut memory);
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    write_pages(&mut fs, &mut files, seed, PAGES);
    let mut copies = 0;
    for operation in 1.. {
        let (mut chip, mut files) = (chip.clone(), files.clone());
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        fs.flash_mut().chip.cut_at(operation);
        fs.unmount().expect("nothing to commit");
        let is_cut = chip.chip.is_off();
        chip.chip.cancel();
        chip.chip.power_on();
        copies += usize::from(!pages_of_kinds(&mut chip, &COPY).is_empty());
        for _ in 0..2 {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            let seen = look(&mut fs, &files);
            assert_eq!((fs.damage(), seen.equal), (None, files.len()), "cut at {operation}");
            write_pages(&mut fs, &mut files, seed + operation, 20);
            fs.unmount().expect("unmount");
        }
        if !is_cut {
            break;
        }
    }
    assert!(copies > 1, "no end copied the leaf");
}

#[test]
fn a_cut_in_a_clean_end_that_copies_the_leaf_loses_nothing() {
    for_seeds("newest", "a_cut_in_a_clean_end_that_copies_the_leaf_loses_nothing", 6, |seed| {
        cut_ends(nand(seed), seed);
        cut_ends(nor(seed), seed);
    });
}

/// Starts and ends of a full volume are cut in a row. In some of them an erase is refused, or a page
/// cannot be read for a while. No file changes, and the last end leaves the first leaf twice.
fn starts_and_ends<F: Flash + Tearable + Clone>(chip: F, seed: u64) {
    let chip = PowerCut::new(FailOps::new(chip, seed), seed);
    let (mut chip, mut memory, mut rng) = (Lossy::new(chip), Vec::new(), Rng(seed));
    let mut files = used_volume(&mut chip, seed, &mut memory);
    files.push(Vec::new());
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    fill(&mut fs, &mut files);
    let mut refusals = fs.config().bad_blocks_max.min(2);
    for round in 0..60 {
        chip.chip.power_on();
        if rng.below(3) > 0 {
            chip.chip.cut_at(1 + rng.below(20));
        }
        if refusals > 0 && rng.below(8) == 0 {
            refusals -= 1;
            chip.chip.inner_mut().fail_erase(1);
        }
        let mount = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory);
        let is_cut = mount.is_err();
        if let Ok(mut fs) = mount {
            assert_eq!(fs.damage(), None, "round {round}");
            if rng.below(3) == 0 {
                let programmed = fs.flash_mut().programmed.iter().copied().collect::<Vec<_>>();
                fs.flash_mut().lost = Some(programmed[rng.below(programmed.len() as u64) as usize]);
            }
            fs.unmount().map_err(|error| error.to_string()).expect("nothing to commit");
        }
        assert!(!is_cut || chip.chip.is_off(), "round {round}: a mount failed with power");
        chip.lost = None;
    }
    chip.chip.cancel();
    chip.chip.power_on();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    assert_eq!((fs.damage(), look(&mut fs, &files).equal), (None, files.len()));
    fs.unmount().map_err(|error| error.to_string()).expect("unmount");
    let Some((_, leaf)) = pages_of_leaf(&mut chip, &LEAF, 0).pop() else { return };
    chip.lost = Some(leaf);
    let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!((fs.damage(), look(&mut fs, &files).equal), (None, files.len()), "page {leaf}");
}

#[test]
fn starts_and_ends_of_a_full_volume_may_be_cut_in_a_row() {
    for_seeds("newest", "starts_and_ends_of_a_full_volume_may_be_cut_in_a_row", 10, |seed| {
        starts_and_ends(small_nand(seed), seed);
        starts_and_ends(nor(seed), seed);
    });
}

/// A mount uses the copy, and power fails before a root refers to it as the leaf. The log of the
/// copy must take no changes by then: the last root refers to the lost leaf, whose log lacks
/// them.
#[test]
fn a_copy_in_use_lives_through_a_cut_at_any_time() {
    for_seeds("newest", "a_copy_in_use_lives_through_a_cut_at_any_time", 3, |seed| {
        let (mut chip, mut memory) = (Lossy::new(nor(seed)), Vec::new());
        let files = volume_with_leaves(&mut chip, seed, &mut memory);
        // The newest leaves of each number; the first one has number 0.
        let (_, first) = pages_of_leaf(&mut chip, &LEAF, 0).pop().expect("a leaf");
        chip.lost = Some(first);
        for writes in (0..150).step_by(3) {
            let (mut chip, mut files) = (chip.clone(), files.clone());
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(
                (fs.damage(), look(&mut fs, &files).equal),
                (None, files.len()),
                "{writes} writes"
            );
            write_pages(&mut fs, &mut files, seed, writes);
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(
                (fs.damage(), look(&mut fs, &files).equal),
                (None, files.len()),
                "{writes} writes and a cut"
            );
        }
    });
}

/// When a leaf is rewritten, its copy becomes old.
#[test]
fn a_copy_of_before_is_never_shown() {
    for_seeds("newest", "a_copy_of_before_is_never_shown", 6, |seed| {
        let (mut chip, mut memory) = (Lossy::new(nand(seed)), Vec::new());
        let mut files = volume_with_leaves(&mut chip, seed, &mut memory);
        assert!(!pages_of_kinds(&mut chip, &COPY).is_empty(), "a copy");
        let written =
            |chip: &mut Lossy<Nand>| pages_of_leaf(chip, &WRITTEN, 0).pop().expect("a leaf").0;
        let before = written(&mut chip);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        write_pages(&mut fs, &mut files, seed, 3_000);
        // A mount writes a root. After that root, the leaf is not a record.
        FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert!(written(&mut chip) > before, "the leaf was not written anew");
        let (_, newest) = pages_of_leaf(&mut chip, &LEAF, 0).pop().expect("a leaf");
        chip.lost = Some(newest);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
        // A leaf that was programmed just before the cut may not be in use yet.
        match fs.damage() {
            None => assert_eq!(look(&mut fs, &files).equal, files.len()),
            damage => {
                assert_eq!(damage, Some(Damage::Leaf));
                look(&mut fs, &files);
            }
        }
    });
}

/// After idle work, a lost leaf costs nothing, although the use did not end cleanly.
#[test]
fn idle_work_leaves_the_first_leaf_twice() {
    for_seeds("newest", "idle_work_leaves_the_first_leaf_twice", 4, |seed| {
        let (mut chip, mut memory) = (Lossy::new(nand(seed)), Vec::new());
        let mut files = volume_with_leaves(&mut chip, seed, &mut memory);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        write_pages(&mut fs, &mut files, seed, 1_200);
        while !fs.maintain(Budget::TimeNs(u64::MAX), 0).expect("maintain") {}
        let newest = pages_of_leaf(&mut chip, &LEAF, 0).pop().expect("a leaf");
        chip.lost = Some(newest.1);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!((fs.damage(), look(&mut fs, &files).equal), (None, files.len()));
    });
}

/// A reader that recovers nothing uses the copy as well.
#[test]
fn a_clean_reader_shows_all_files_without_the_newest_journal_page() {
    for_seeds(
        "newest",
        "a_clean_reader_shows_all_files_without_the_newest_journal_page",
        12,
        |seed| {
            let (mut chip, mut memory) = (Lossy::new(nand(seed)), Vec::new());
            let files = used_volume(&mut chip, seed, &mut memory);
            let fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
            let newest = fs.describe().journal;
            chip.lost = newest;
            let mut reader = CleanReader::mount(&mut chip, &mut memory).expect("mount");
            for (file, expected) in files.iter().enumerate() {
                let mut bytes = vec![0; expected.len() + 1];
                let mut open = reader.open(&name(file)).expect("open");
                let read = reader.read(&mut open, 0, &mut bytes).expect("read");
                assert_eq!(&bytes[..read], expected);
            }
        },
    );
}

/// The first change after a mount with the copy builds on the copy, and loses nothing.
#[test]
fn a_volume_without_its_newest_journal_page_lives_on() {
    for is_nor in [false, true] {
        for_seeds("newest", "a_volume_without_its_newest_journal_page_lives_on", 12, |seed| {
            if is_nor { live_on(nor(seed), seed) } else { live_on(nand(seed), seed) }
        });
    }
}

fn live_on<F: Flash>(chip: F, seed: u64) {
    let (mut chip, mut memory) = (Lossy::new(chip), Vec::new());
    let files = used_volume(&mut chip, seed, &mut memory);
    let fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    chip.lost = fs.describe().journal;
    live_on_without(chip, files, &mut memory);
}

/// A record of the chain may be lost instead of the newest one. A mount reads the copy of the
/// journal, so it does not need the record. But the next commit must not continue this chain.
#[test]
fn a_volume_without_a_record_of_its_journal_lives_on() {
    for_seeds("newest", "a_volume_without_a_record_of_its_journal_lives_on", 12, |seed| {
        let (mut chip, mut memory) = (Lossy::new(nor(seed)), Vec::new());
        let files = used_volume(&mut chip, seed, &mut memory);
        let fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
        let (newest, ring) = (fs.describe().journal.expect("a journal"), fs.describe().ring.0);
        let pages = chip.geometry().pages_per_block;
        assert_ne!(newest / pages, ring, "the last use of the volume changed files");
        for page in newest - newest % pages..=newest {
            let chip = Lossy { lost: Some(page), ..chip.clone() };
            live_on_without(chip, files.clone(), &mut memory);
        }
    });
}

/// Changes files in three mounts of a volume with a lost page. Two of the mounts end with a power
/// cut.
fn live_on_without<F: Flash>(mut chip: Lossy<F>, mut files: Files, memory: &mut [u8]) {
    let lost = chip.lost;
    for round in 0..3 {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, memory).expect("mount");
        assert_eq!(
            (fs.damage(), look(&mut fs, &files).equal),
            (None, files.len()),
            "page {lost:?}, round {round}"
        );
        let mut file = fs.open(&name(files.len()), OpenOptions::DURABLE).expect("open");
        fs.write(&mut file, 0, b"new").expect("write");
        fs.close(file).expect("close");
        files.push(b"new".to_vec());
        if round == 1 {
            fs.unmount().expect("unmount");
        }
    }
}

/// After idle work, a power cut and one lost page cost no committed data.
#[test]
fn idle_work_leaves_the_newest_journal_page_twice() {
    for_seeds("newest", "idle_work_leaves_the_newest_journal_page_twice", 12, |seed| {
        let (mut chip, mut memory) = (Lossy::new(nand(seed)), Vec::new());
        let mut files = used_volume(&mut chip, seed, &mut memory);
        let mut rng = Rng(seed);
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        for _ in 0..1 + rng.below(80) {
            let bytes = vec![rng.below(256) as u8; 1 + rng.below(300) as usize];
            let mut open = fs
                .open(&name(0), OpenOptions { truncate: true, ..OpenOptions::DURABLE })
                .expect("open");
            fs.write(&mut open, 0, &bytes).expect("write");
            fs.close(open).expect("close");
            files[0] = bytes;
        }
        while !fs.maintain(Budget::TimeNs(u64::MAX), 0).expect("maintain") {}
        let newest = fs.describe().journal;
        chip.lost = newest;
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!((fs.damage(), look(&mut fs, &files).equal), (None, files.len()));
    });
}

/// On NOR a page holds many records of the journal, and each of them is a commit. If the page
/// cannot be read, the commits that end in the page before must stay.
#[test]
fn a_lost_page_of_records_takes_none_of_the_page_before() {
    for_seeds("newest", "a_lost_page_of_records_takes_none_of_the_page_before", 5, |seed| {
        let (mut chip, mut rng) = (Lossy::new(nor(seed)), Rng(seed));
        let geometry = chip.geometry();
        let config = config(&geometry);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("count", OpenOptions::DURABLE).expect("open");
        let mut states: Vec<(u32, BTreeSet<PageIndex>)> = Vec::new();
        for count in 1..=10 + rng.below(50) as u32 {
            fs.write(&mut file, 0, &count.to_le_bytes()).expect("write");
            states.push((count, fs.flash_mut().programmed.clone()));
        }
        let last = &states.last().expect("a write").1;
        for &page in last {
            let mut chip = Lossy { lost: Some(page), ..chip.clone() };
            let mount = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).ok();
            let Some(mut fs) = mount.filter(|fs| fs.damage().is_none()) else { continue };
            let kept = states
                .iter()
                .filter(|(_, programmed)| !programmed.contains(&page))
                .map(|(count, _)| *count)
                .max();
            let mut value = [0; 4];
            let found = fs
                .open("count", OpenOptions::READ)
                .and_then(|mut file| fs.read(&mut file, 0, &mut value));
            let found = match found {
                Ok(_) => u32::from_le_bytes(value),
                Err(Error::NotFound) => 0,
                Err(_) => continue,
            };
            assert!(found >= kept.unwrap_or(0), "seed {seed}, page {page}: {found} of {kept:?}");
        }
    });
}
