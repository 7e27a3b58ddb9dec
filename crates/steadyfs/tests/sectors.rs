//! Tests cards that lose a header of a block, for a while or until it is rewritten, and cards
//! whose cache does not keep the order.

use crate::common::{Rng, cost};
use std::collections::BTreeSet;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages, SectorTimes, TagPlace};
use steadyfs::media::{Failure, Flash, Geometry, PageIndex, TAG_BYTES};
use steadyfs::{Access, CommitOn, Config, ConfigError, Damage, FileSystem, OpenOptions};
use steadyfs_sim::fault::Survivors;
use steadyfs_sim::{Nand, NandTiming, Sectors, Trace};

const OLD: [u8; TAG_BYTES] = [9; TAG_BYTES];
const NEW: [u8; TAG_BYTES] = [7; TAG_BYTES];
/// Number of sectors of a block, and number of pages of a block.
const BLOCK: u32 = 65;
const PAGES: u32 = 21;

/// A device with configurable failures.
#[derive(Clone)]
struct Card {
    sectors: Sectors,
    /// Sectors that cannot be read until they are written.
    torn: BTreeSet<u32>,
    /// A sector, and the number of its reads that fail. A write does not change this.
    hidden: (u32, u32),
    /// Number of writes until one fails. The failed write has no effect.
    fails_in: Option<u32>,
    reorders: bool,
    /// First sector of the last write.
    written: u32,
}

impl Card {
    fn new(reorders: bool) -> Self {
        let sectors = Sectors::new(40 * BLOCK, Sectors::ROUND, 1);
        Self {
            sectors,
            torn: BTreeSet::new(),
            hidden: (0, 0),
            fails_in: None,
            reorders,
            written: 0,
        }
    }
}

impl SectorDevice for Card {
    fn sector_count(&self) -> u32 {
        self.sectors.sector_count()
    }

    fn times(&self) -> SectorTimes {
        self.sectors.times()
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let count = parts.iter().map(|part| part.len() as u32).sum::<u32>() / 512;
        let (sector, looks) = &mut self.hidden;
        if *looks > 0 && (first..first + count).contains(sector) {
            *looks -= 1;
            return Err(Failure::Uncorrectable);
        }
        if self.torn.range(first..first + count).next().is_some() {
            return Err(Failure::Uncorrectable);
        }
        self.sectors.read(first, parts)
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        self.fails_in = self.fails_in.map(|left| left.wrapping_sub(1));
        if self.fails_in == Some(u32::MAX) {
            self.fails_in = None;
            return Err(Failure::Device);
        }
        let count = parts.iter().map(|part| part.len() as u32).sum::<u32>() / 512;
        self.written = first;
        self.torn.retain(|sector| !(first..first + count).contains(sector));
        self.sectors.write(first, parts)
    }

    fn reorders(&self) -> bool {
        self.reorders
    }
}

fn layout() -> SectorLayout {
    SectorLayout {
        first: 0,
        sectors: 40 * BLOCK,
        block_sectors: BLOCK,
        page_bytes: 1024,
        tags: TagPlace::Beside,
        volume: 7,
    }
}

fn pages(card: Card) -> SectorPages<Card> {
    SectorPages::new(card, layout()).expect("a layout that is possible")
}

fn tag_of(pages: &mut SectorPages<Card>, page: PageIndex) -> Result<[u8; TAG_BYTES], Failure> {
    let mut tag = [0; TAG_BYTES];
    pages.read_tag(page, &mut tag).map(|()| tag)
}

/// Returns a card whose block 1 was erased `erases` times. The block was full of pages each time,
/// except after the last erase: then only the first `programmed` pages were programmed.
fn used(erases: u32, programmed: u32) -> Card {
    let mut pages = pages(Card::new(false));
    for round in 1..=erases {
        pages.erase(1).unwrap();
        let (tag, count) = if round == erases { (&NEW, programmed) } else { (&OLD, PAGES) };
        (0..count).for_each(|index| pages.program(PAGES + index, &[1; 1024], tag).unwrap());
    }
    pages.into_device()
}

/// A power cut tore a header, and the block had pages of the generation that this header was to
/// name. Each later program in the block was refused as if the device did not answer. The same
/// call succeeded when the store had left the block.
#[test]
fn a_block_that_lost_a_header_takes_programs() {
    for (erases, header, programmed) in
        (1..5).flat_map(|n| (0..2).flat_map(move |h| [0, 1, 5].map(move |p| (n, h, p))))
    {
        let mut card = used(erases, programmed);
        card.torn.insert(BLOCK + header);
        let mut torn = pages(card);
        (programmed..programmed + 3)
            .for_each(|index| torn.program(PAGES + index, &[2; 1024], &NEW).unwrap());
        let card = torn.into_device();
        assert!(card.torn.is_empty(), "the header was written anew");
        let mut after = pages(card);
        for index in 0..PAGES {
            let wanted = if index < programmed + 3 { NEW } else { [0xFF; TAG_BYTES] };
            assert_eq!(
                tag_of(&mut after, PAGES + index),
                Ok(wanted),
                "{erases} erases, header {header}, page {index}"
            );
        }
    }
}

/// A hidden header may become readable again. Then the pages that had been programmed under the
/// previous generation were gone.
#[test]
fn what_is_programmed_beside_a_hidden_header_is_there_when_it_shows_again() {
    for (erases, header, programmed) in
        (1..5).flat_map(|n| (0..2).flat_map(move |h| [0, 1, 5].map(move |p| (n, h, p))))
    {
        for looks in 0..60 {
            let mut card = used(erases, programmed);
            card.hidden = (BLOCK + header, looks);
            let mut hidden = pages(card);
            let result = hidden.program(PAGES + programmed, &[2; 1024], &NEW);
            let mut card = hidden.into_device();
            card.hidden.1 = 0;
            let mut after = pages(card);
            // The program returns an error if the header does not contain the written data. The
            // store then leaves the block.
            assert!(result.is_ok() || result == Err(Failure::BadBlock), "{result:?}");
            for index in 0..programmed + u32::from(result.is_ok()) {
                assert_eq!(
                    tag_of(&mut after, PAGES + index),
                    Ok(NEW),
                    "{erases} erases, header {header}, {looks} looks, page {index}"
                );
            }
        }
    }
}

/// Power fails after the header and a page behind it were written. The cache may have kept either
/// of them.
#[test]
fn a_header_that_a_cut_takes_back_costs_what_was_not_flushed() {
    for (erases, header, programmed) in
        (1..5).flat_map(|n| (0..2).flat_map(move |h| [1, 5].map(move |p| (n, h, p))))
    {
        let mut card = used(erases, programmed);
        card.torn.insert(BLOCK + header);
        let mut torn = pages(card);
        torn.program(PAGES + programmed, &[2; 1024], &NEW).unwrap();
        let mut card = torn.into_device();
        card.torn.insert(BLOCK + header);
        let mut after = pages(card);
        (0..=programmed).for_each(|index| {
            assert_eq!(tag_of(&mut after, PAGES + index), Ok(NEW), "header {header}, page {index}")
        });
        after.program(PAGES + programmed + 1, &[3; 1024], &NEW).unwrap();
    }
}

/// An erase first wrote the only readable header. A cut tore this header, and pages of the
/// block's first generations came back.
#[test]
fn an_erase_that_is_cut_leaves_the_header_that_can_be_read() {
    for (erases, header) in (1..6).flat_map(|n| (0..2).map(move |h| (n, h))) {
        let mut card = used(erases, PAGES);
        card.torn.insert(BLOCK + header);
        let mut torn = pages(card);
        torn.device_mut().fails_in = Some(1);
        assert_eq!(torn.erase(1), Err(Failure::Device), "the second header is not written");
        let mut card = torn.into_device();
        card.torn.insert(BLOCK + header);
        let mut after = pages(card);
        after.erase(1).unwrap();
        (0..PAGES)
            .for_each(|index| assert_eq!(tag_of(&mut after, PAGES + index), Ok([0xFF; TAG_BYTES])));
    }
}

fn config() -> Config {
    Config { pages_per_logical_page: 1, ..Config::for_sectors(&layout()) }
}

/// A call failed with "the medium does not answer", although the medium did. This happened on 33
/// of 3,459 volumes that an outside driver had used and cut.
#[test]
fn no_call_fails_for_a_header_that_is_lost() {
    let config = config();
    let mut memory = memory_of(&config);
    let card =
        FileSystem::format(pages(Card::new(false)), &config, &mut memory).unwrap().into_device();
    let mut fs = FileSystem::mount(pages(card), Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("log", OpenOptions::DURABLE).unwrap();
    (0..20).for_each(|_| fs.append(&mut file, &[5; 300]).unwrap());
    // Power fails between two calls.
    let card = fs.flash().device().clone();
    drop(fs);
    for header in (0..80).map(|header| header / 2 * BLOCK + header % 2) {
        let mut card = card.clone();
        card.torn.insert(header);
        let mut fs = FileSystem::mount(pages(card), Access::ReadWrite, &mut memory).unwrap();
        let mut file = fs.open("log", OpenOptions::DURABLE).unwrap();
        (0..10)
            .for_each(|_| assert_eq!(fs.append(&mut file, &[5; 300]), Ok(()), "header {header}"));
        let mut fs =
            FileSystem::mount(pages(fs.flash().device().clone()), Access::ReadOnly, &mut memory)
                .unwrap();
        assert_eq!(fs.stat("log").unwrap().size, 9_000, "header {header}");
    }
}

/// A program failed without effect, and its commit was repeated elsewhere, flushed and
/// acknowledged. The sequence number of the failed program was missing. The next mount ended the
/// records at this number: the commit was lost.
#[test]
fn a_commit_behind_a_failed_program_counts_where_the_device_reorders() {
    let config = config();
    let mut memory = memory_of(&config);
    let card =
        FileSystem::format(pages(Card::new(true)), &config, &mut memory).unwrap().into_device();
    for failing in 0..8 {
        let mut fs =
            FileSystem::mount(pages(card.clone()), Access::ReadWrite, &mut memory).unwrap();
        let mut file = fs.open("log", OpenOptions::DURABLE).unwrap();
        fs.append(&mut file, &[5; 300]).unwrap();
        fs.flash_mut().device_mut().fails_in = Some(failing);
        // If the failed program is not a commit, nothing has changed: the client tries again.
        assert!(
            (0..2).any(|_| fs.append(&mut file, &[6; 3_000]).is_ok()),
            "write {failing} failed"
        );
        // Of a long append, the pieces before the failed piece stay.
        let size = fs.size(&mut file).unwrap();
        assert!((3_300..6_300).contains(&size), "write {failing} failed: {size}");
        let mut fs =
            FileSystem::mount(pages(fs.flash().device().clone()), Access::ReadOnly, &mut memory)
                .unwrap();
        assert_eq!(fs.stat("log").unwrap().size, size, "write {failing} failed");
    }
}

/// The page of a commit with later pages behind it was lost, and the mount showed the previous
/// state without a report. With grouped moves, every gap was taken for the result of a cut. A
/// card that keeps its order has nothing behind a cut write.
#[test]
fn a_commit_that_is_lost_is_told_where_the_device_keeps_its_order() {
    let config = config();
    assert!(config.move_group > 1);
    let mut memory = memory_of(&config);
    let card =
        FileSystem::format(pages(Card::new(false)), &config, &mut memory).unwrap().into_device();
    let mut fs = FileSystem::mount(pages(card), Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("log", OpenOptions::CREATE).unwrap();
    fs.commit().unwrap();
    for behind in [0, 1, 3] {
        fs.append(&mut file, &[5; 200]).unwrap();
        fs.append(&mut file, &[6; 1024]).unwrap();
        fs.commit().unwrap();
        let commit = fs.flash().device().written;
        (0..behind).for_each(|page| fs.write(&mut file, page * 1024, &[7; 1024]).unwrap());
        let mut card = fs.flash().device().clone();
        card.torn.extend(commit..commit + 3);
        let mut memory = memory_of(&config);
        let found = FileSystem::mount(pages(card), Access::ReadOnly, &mut memory).unwrap().damage();
        assert_eq!(
            found,
            (behind > 0).then_some(Damage::Record),
            "{behind} pages behind the commit"
        );
    }
}

fn memory_of(config: &Config) -> Vec<u8> {
    vec![0; config.memory_bytes(&layout().geometry())]
}

/// A card of 64 MiB was refused with an error about raw chips, and of 128 MiB only a third was
/// usable. The unit was 4 MiB for every size.
#[test]
fn a_small_card_has_small_units_and_most_of_it_is_usable() {
    for (mib, unit_kib, usable_mib) in
        [(64, 256, 36), (128, 512, 95), (256, 512, 205), (512, 1024, 395), (4096, 4096, 3200)]
    {
        let layout = SectorLayout::for_size(mib * 2048);
        let config = Config::for_sectors(&layout);
        assert_eq!(layout.block_sectors / 2, unit_kib, "{mib} MiB");
        assert!(
            config.usable_bytes(&layout.geometry()) >= usable_mib << 20,
            "{mib} MiB: {}",
            config.usable_bytes(&layout.geometry())
        );
    }
}

/// A root of more than 64 pages was written, and no mount found it again. Half a terabyte in
/// units of 4 MiB could be formatted, but never mounted.
#[test]
fn a_large_card_has_blocks_for_which_a_root_has_room() {
    for (gib, unit_mib) in [(64, 4), (256, 4), (400, 4), (512, 16), (1024, 16), (1700, 16)] {
        let layout = SectorLayout::for_size(gib << 21);
        assert_eq!(layout.block_sectors >> 11, unit_mib, "{gib} GiB");
        let config = Config::for_sectors(&layout);
        assert!(config.usable_bytes(&layout.geometry()) >> 20 > u64::from(gib) * 800, "{gib} GiB");
    }
    let layout = SectorLayout::for_device(512 << 21, 4 << 20);
    assert_eq!(
        Config::for_sectors(&layout).check(&layout.geometry()),
        Err(ConfigError::BlockTooSmall)
    );
}

#[test]
fn what_is_usable_is_known_before_a_volume_is_made() {
    for (config, layout) in [
        (config(), layout()),
        (Config::for_sectors(&SectorLayout::for_size(1 << 16)), SectorLayout::for_size(1 << 16)),
    ] {
        let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
        let pages =
            SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, 1), layout).unwrap();
        let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
        let fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        assert_eq!(fs.usage().usable_bytes, config.usable_bytes(&layout.geometry()));
    }
}

/// The size of a page that contains its tag is not a power of two. Positions in a file, in the
/// tables and in the maps were computed with shifts.
#[test]
fn pages_that_hold_their_tags_take_files_of_any_size_and_number() {
    for (seed, (page_bytes, pages_per_logical_page)) in (1..).zip([
        (512, 1),
        (512, 2),
        (512, 8),
        (1024, 1),
        (1024, 4),
        (2048, 2),
        (4096, 1),
        (4096, 4),
    ]) {
        let layout = SectorLayout {
            page_bytes,
            tags: TagPlace::Within,
            ..SectorLayout::for_device(1 << 16, 256 << 10)
        };
        let config =
            Config { pages_per_logical_page, files_max: 700, ..Config::for_sectors(&layout) };
        let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
        let pages =
            SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, seed), layout).unwrap();
        let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        let (mut rng, mut model) = (Rng(seed), Vec::new());
        let mut file = fs.open("long", OpenOptions::CREATE).unwrap();
        for _ in 0..300 {
            let (at, length) = (rng.below(700_000) as usize, 1 + rng.below(20_000) as usize);
            let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            model.resize(model.len().max(at + length), 0);
            model[at..at + length].copy_from_slice(&bytes);
            fs.write(&mut file, at as u64, &bytes).unwrap();
        }
        fs.close(file).unwrap();
        let name = |index: u32| format!("{index}{}", "n".repeat(index as usize % 90));
        for index in 0..600_u32 {
            let mut small = fs.open(name(index).as_str(), OpenOptions::CREATE).unwrap();
            fs.write(&mut small, 0, &vec![index as u8; index as usize]).unwrap();
            fs.close(small).unwrap();
            if index % 3 == 2 {
                fs.remove(name(index - 1).as_str()).unwrap();
            }
        }
        fs.commit().unwrap();
        let pages = fs.unmount().unwrap();
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        let mut scratch = vec![0; config.check_bytes(&layout.geometry())];
        let checked = fs
            .check(&mut scratch, true, &mut |finding| {
                panic!("{page_bytes} x {pages_per_logical_page}: {finding:?}")
            })
            .unwrap();
        assert_eq!(checked.files, 401);
        let mut file = fs.open("long", OpenOptions::READ).unwrap();
        let mut content = vec![0; model.len() + 1];
        assert_eq!(fs.read(&mut file, 0, &mut content).unwrap(), model.len());
        assert!(content[..model.len()] == model, "{page_bytes} x {pages_per_logical_page}");
        for index in (0..600).filter(|index| index % 3 != 1) {
            let mut small = fs.open(name(index).as_str(), OpenOptions::READ).unwrap();
            let mut content = vec![1; 700];
            assert_eq!(fs.read(&mut small, 0, &mut content).unwrap(), index as usize);
            assert!(content[..index as usize].iter().all(|&byte| byte == index as u8));
            fs.close(small).unwrap();
        }
    }
}

/// With logical pages of 64 KiB and more, the first removal panicked. Cards from 64 GiB on have
/// such pages by default. With pages of 128 KiB, patches in the second half were lost: names were
/// not found again.
#[test]
fn files_are_removed_from_large_logical_pages() {
    let shapes = [(2048, 32), (4096, 16), (4096, 32), (8192, 8), (16_384, 2)];
    for ((page_bytes, pages_per_logical_page), tags) in shapes
        .into_iter()
        .flat_map(|shape| [TagPlace::Beside, TagPlace::Within].map(move |tags| (shape, tags)))
    {
        let layout =
            SectorLayout { page_bytes, tags, ..SectorLayout::for_device(1 << 17, 1 << 20) };
        let config =
            Config { pages_per_logical_page, move_group: 1, ..Config::for_sectors(&layout) };
        let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
        let pages =
            SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, 1), layout).unwrap();
        let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        for round in 0..40 {
            let name = |number: u32| format!("{number}");
            let mut file = fs.open(name(round).as_str(), OpenOptions::DURABLE).unwrap();
            fs.write(&mut file, 0, &[round as u8; 1000]).unwrap();
            fs.close(file).unwrap();
            if round >= 20 {
                fs.remove(name(round - 20).as_str()).unwrap();
            }
        }
        fs.commit().unwrap();
        let mut scratch = vec![0; config.check_bytes(&layout.geometry())];
        let checked =
            fs.check(&mut scratch, true, &mut |finding| panic!("{layout:?}: {finding:?}")).unwrap();
        assert_eq!(checked.files, 20);
    }
}

/// An erase writes only the headers of a block. A sector that was unreadable before may still be
/// unreadable after it, and stopped the search for the end of a ring block: the volume had no
/// root, or an old one.
#[test]
fn a_sector_that_cannot_be_read_hides_no_root() {
    for (sector, tags) in (0..8 * BLOCK).flat_map(|sector| {
        [TagPlace::Beside, TagPlace::Table, TagPlace::Within].map(|tags| (sector, tags))
    }) {
        let mut card = Card::new(false);
        card.torn.insert(sector);
        let layout = SectorLayout { tags, ..layout() };
        let config = Config { overlay_entries: 64, checkpoint_programs: 16, ..config() };
        let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
        let pages = SectorPages::new(card, layout).unwrap();
        let mut pages = FileSystem::format(pages, &config, &mut memory).unwrap();
        for round in 0..12_u8 {
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
            let mut file = fs.open("f", OpenOptions::DURABLE).unwrap();
            let mut before = [0];
            let found = fs.read(&mut file, 0, &mut before).unwrap();
            assert_eq!(
                (found, before[0]),
                (usize::from(round > 0), round.saturating_sub(1)),
                "sector {sector}, {tags:?}"
            );
            (0..5).for_each(|_| fs.write(&mut file, 0, &[round; 1500]).unwrap());
            pages = if round % 2 == 0 {
                fs.unmount().unwrap()
            } else {
                SectorPages::new(fs.flash().device().clone(), layout).unwrap()
            };
        }
    }
}

/// A cache that reorders lost pages of a large transaction, so that the sequence numbers jumped
/// as after a failed program. The mount took the commit before the jump for that program and
/// skipped it, although it had been flushed and acknowledged.
#[test]
fn a_lost_transaction_is_no_failure_of_the_commit_before_it() {
    let layout = SectorLayout {
        first: 0,
        sectors: 40 * 66,
        block_sectors: 66,
        page_bytes: 512,
        tags: TagPlace::Within,
        volume: 7,
    };
    assert_eq!(layout.geometry().pages_per_block, 64);
    let config = Config {
        pages_per_logical_page: 1,
        move_group: 1,
        transaction_pages: 200,
        overlay_entries: 400,
        checkpoint_programs: 600,
        ..Config::for_sectors(&layout)
    };
    for seed in 0..60 {
        let device =
            Sectors::new(layout.sectors, Sectors::ROUND, seed).with_cache(Survivors::Any, 1 << 20);
        let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
        let pages =
            FileSystem::format(SectorPages::new(device, layout).unwrap(), &config, &mut memory)
                .unwrap();
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        fs.set_commit_on(CommitOn::MANUAL);
        fs.create_dir("kept").unwrap();
        fs.commit().unwrap();
        let mut file = fs.open("lost", OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, &vec![1; 150 * 480]).unwrap();
        let mut pages = SectorPages::new(fs.flash().device().clone(), layout).unwrap();
        pages.device_mut().cut_now();
        pages.device_mut().power_on();
        let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
        assert!(fs.damage().is_none() && fs.stat("kept").is_ok(), "seed {seed}: {:?}", fs.damage());
    }
}

/// The layout's number for the place of tags has no meaning.
#[test]
fn a_place_of_tags_that_is_unknown_is_no_layout() {
    let device = Sectors::new(1 << 12, Sectors::ROUND, 1);
    let layout =
        SectorLayout { tags: TagPlace::Within, ..SectorLayout::for_device(1 << 12, 64 << 10) };
    let mut pages = SectorPages::new(device, layout).unwrap();
    pages.erase(0).unwrap();
    assert_eq!(SectorLayout::find(pages.device_mut(), 0), Ok(Some(layout)));
    for at in 0..2 {
        let mut header = [0; 512];
        pages.device_mut().read(at, &mut [&mut header]).unwrap();
        header[24] = 3;
        let check = pages.checksum(&header[..36], 0);
        header[36..40].copy_from_slice(&check.to_le_bytes());
        pages.device_mut().write(at, &[&header]).unwrap();
    }
    assert_eq!(SectorLayout::find(pages.device_mut(), 0), Ok(None));
}

/// A partition table over the first sectors cost the volume, because the layout of the card was
/// lost. The next block contains it.
#[test]
fn a_volume_whose_first_block_is_lost_is_found_by_the_next_one_and_mounted() {
    for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
        for lost_sectors in [2, 64] {
            let layout =
                SectorLayout { tags, volume: 3, ..SectorLayout::for_device(1 << 13, 64 << 10) };
            let config = Config::for_sectors(&layout);
            let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
            let pages = SectorPages::new(Sectors::new(1 << 13, Sectors::ROUND, 1), layout).unwrap();
            let pages = FileSystem::format(pages, &config, &mut memory).unwrap();
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
            fs.create_dir("kept").unwrap();
            let mut card = fs.unmount().unwrap().into_device();
            for at in 0..lost_sectors {
                card.write(at, &[&[0x5A; 512]]).unwrap();
            }
            assert_eq!(SectorLayout::find(&mut card, 0), Ok(None));
            let asked = SectorLayout { volume: 1, ..layout };
            assert_eq!(asked.found(&mut card), Ok(Some(layout)), "{tags:?}");
            assert_eq!(
                SectorLayout { block_sectors: 64, ..layout }.found(&mut card),
                Ok(None),
                "of another division"
            );
            assert_eq!(asked.renewed(&mut card).unwrap().volume, 4);
            let mut pages = SectorPages::new(card, layout).unwrap();
            let copies = steadyfs::Superblocks::look(&mut pages, &mut memory).unwrap();
            assert_eq!(copies.damaged, (lost_sectors > 2).then_some(0), "{tags:?}");
            let mut fs = FileSystem::mount(pages, Access::ReadWrite, &mut memory).unwrap();
            assert!(fs.damage().is_none() && fs.stat("kept").is_ok());
        }
    }
}

/// Behind a cache that reorders, a mount reads every record whole, with or without grouped moves.
/// Its bound was the bound for a cache in order.
#[test]
fn a_mount_behind_a_cache_that_reorders_holds_its_bound() {
    let layout = SectorLayout {
        first: 0,
        sectors: 60 * 257,
        block_sectors: 257,
        page_bytes: 512,
        tags: TagPlace::Beside,
        volume: 7,
    };
    for move_group in [1, 4] {
        let usual = Config::for_sectors(&layout);
        let config = Config {
            checkpoint_programs: 1000,
            move_group,
            overlay_entries: 2000,
            pages_per_logical_page: 1,
            failures: 0,
            ..usual
        };
        // The number of records since the root is as large as possible, or nearly.
        for rounds in (40_u32..1600).step_by(40) {
            let device =
                Sectors::new(60 * 257, Sectors::ROUND, 1).with_cache(Survivors::Any, 1 << 20);
            let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
            let mut chip = Trace::new(SectorPages::new(device, layout).unwrap());
            FileSystem::format(&mut chip, &config, &mut memory).unwrap();
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
            let mut file = fs.open("f", OpenOptions::DURABLE).unwrap();
            for round in 0..rounds {
                fs.write(&mut file, u64::from(round * 7 % 400) * 512, &[round as u8; 512]).unwrap();
            }
            let before = chip.counts();
            let bound = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
                .unwrap()
                .bounds()
                .mount();
            let seen = chip.counts().since(&before);
            let within = seen.reads <= u64::from(bound.reads)
                && seen.tag_reads <= u64::from(bound.tag_reads);
            assert!(within, "groups of {move_group}, {rounds} writes: {seen:?}, bound {bound:?}");
        }
    }
}

/// A group of more pages than one command takes was split into pieces of whole sectors, although
/// pages that contain their tags are shorter. From the second command on, pages did not match
/// their tags.
#[test]
fn a_group_of_several_commands_is_what_single_programs_are() {
    for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
        let layout = SectorLayout { tags, ..SectorLayout::for_device(1 << 17, 1 << 20) };
        let pages =
            SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, 1), layout).unwrap();
        let (mut one, mut many) = (pages.clone(), pages);
        let page_bytes = one.geometry().page_bytes as usize;
        let data: Vec<u8> =
            (0..40 * page_bytes).map(|at| (at / page_bytes * 5 + at % 251) as u8).collect();
        let marks: Vec<[u8; TAG_BYTES]> = (0..40).map(|page| [page + 1; TAG_BYTES]).collect();
        for chip in [&mut one, &mut many] {
            chip.erase(3).expect("erase");
        }
        let first = 3 * one.geometry().pages_per_block + 2;
        many.program_many(first, &data, &marks).expect("program");
        for (page, (data, tag)) in (first..).zip(data.chunks(page_bytes).zip(&marks)) {
            one.program(page, data, tag).expect("program");
        }
        for (page, (written, mark)) in (first..).zip(data.chunks(page_bytes).zip(&marks)) {
            for chip in [&mut one, &mut many] {
                let (mut read, mut tag) = (vec![0; page_bytes], [0; TAG_BYTES]);
                chip.read(page, &mut read, &mut tag).expect("read");
                assert!(read == written && tag == *mark, "{tags:?}, page {page}");
            }
        }
    }
}

/// Pages that are read in one command equal pages that are read one by one, including blank pages
/// and the end of a block.
#[test]
fn pages_that_are_read_together_are_those_that_are_read_one_by_one() {
    for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
        let layout = SectorLayout { tags, ..SectorLayout::for_device(1 << 17, 1 << 20) };
        let mut pages =
            SectorPages::new(Sectors::new(layout.sectors, Sectors::ROUND, 1), layout).unwrap();
        let (page_bytes, first) =
            (pages.geometry().page_bytes as usize, 2 * pages.geometry().pages_per_block);
        pages.erase(2).expect("erase");
        for page in (0..30).filter(|page| page % 7 != 3) {
            pages
                .program(first + page, &vec![page as u8; page_bytes], &[page as u8; TAG_BYTES])
                .expect("program");
        }
        for (from, count) in [(0, 1), (0, 2), (1, 9), (3, 16), (20, 16), (2, 30)] {
            let (mut data, mut found) =
                (vec![0xEE; count * page_bytes], vec![[0xEE; TAG_BYTES]; count]);
            let read = pages.read_many(first + from, &mut data, &mut found).expect("read");
            assert!(
                (1..=count).contains(&read) && read >= (count * 8 / 9).clamp(1, 14),
                "{tags:?}: {read} of {count}"
            );
            for (page, (data, found)) in
                (first + from..).zip(data.chunks(page_bytes).zip(found)).take(read)
            {
                let (mut single, mut tag) = (vec![0; page_bytes], [0; TAG_BYTES]);
                pages.read(page, &mut single, &mut tag).expect("read");
                assert!(
                    data == single && found == tag,
                    "{tags:?}, page {page} of {from} and {count} more"
                );
            }
        }
    }
}

/// On a chip that copies, a bound counted copies, but a group of moves reads and programs.
#[test]
fn groups_of_moves_keep_to_the_bound_on_a_chip_that_copies() {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 7, block_count: 67, programs_bytes: false };
    let config = Config { wear_spread: 0, move_group: 4, ..Config::for_geometry(&geometry) };
    for copies in [false, true] {
        let chip = Trace::new(
            Nand::with_geometry(geometry, NandTiming::ROUND, 1).with_on_chip_copy(copies),
        );
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("file", OpenOptions::DURABLE).expect("create");
        let pages = fs.usage().usable_bytes / 2048 * 9 / 10;
        let mut rng = Rng(1);
        for write in 0..20 * pages {
            let page = if write < pages { write } else { rng.below(pages) };
            let (bound, before) =
                (fs.bounds().of(fs.bounds().write_call(&file, 0, 2048)), fs.flash().counts());
            fs.write(&mut file, page * 2048, &[page as u8; 2048]).expect("write");
            let seen = cost(&fs.flash().counts().since(&before));
            assert!(
                bound.holds(&seen),
                "copies {copies}, write {write}: {seen:?}, bound {bound:?}"
            );
        }
    }
}
