//! Tests a card without spare blocks for bad ones: some of its sectors take no writes.

use crate::common::Rng;
use std::ops::Range;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, SectorPages, SectorTimes, TagPlace};
use steadyfs::media::{Failure, Flash, TAG_BYTES};
use steadyfs::{Access, Config, Error, FileSystem, MountError, OpenOptions};
use steadyfs_sim::Sectors;

/// Number of sectors of a block, and number of blocks.
const BLOCK: u32 = 65;
const BLOCKS: u32 = 48;
/// Bytes of a write, and number of writes that a file has room for.
const PIECE: usize = 2048;
const PIECES: usize = 120;

/// A card on which one write may fail once.
struct Card {
    sectors: Sectors,
    /// Number of writes until one fails. The failed write has no effect.
    fails_in: Option<u32>,
}

impl SectorDevice for Card {
    fn sector_count(&self) -> u32 {
        self.sectors.sector_count()
    }

    fn times(&self) -> SectorTimes {
        self.sectors.times()
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.sectors.read(first, parts)
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        self.fails_in = self.fails_in.map(|left| left.wrapping_sub(1));
        if self.fails_in == Some(u32::MAX) {
            self.fails_in = None;
            return Err(Failure::Device);
        }
        self.sectors.write(first, parts)
    }

    fn reorders(&self) -> bool {
        false
    }
}

fn layout(tags: TagPlace) -> SectorLayout {
    SectorLayout {
        first: 0,
        sectors: BLOCKS * BLOCK,
        block_sectors: BLOCK,
        page_bytes: 1024,
        tags,
        volume: 7,
    }
}

/// The sectors that take no writes, from the format on or later. `is_told` is true if the driver
/// reports a bad block; otherwise it reports a device that does not answer.
#[derive(Clone, Debug)]
struct Case {
    refused: Range<u32>,
    from_the_format: bool,
    is_told: bool,
    fails_in: Option<u32>,
}

/// Writes pieces of a file in several mounts, all durably. Returns the card and the number of bad
/// blocks at the end.
fn live(case: &Case, tags: TagPlace) -> Result<(Card, u32), MountError> {
    let layout = layout(tags);
    let config = Config::for_sectors(&layout);
    assert_eq!(
        (config.bad_blocks_max, config.failures),
        (0, 1),
        "the usual settings count on no bad block"
    );
    let sectors = Sectors::new(BLOCKS * BLOCK, Sectors::ROUND, 1);
    let mut card = Card { sectors, fails_in: None };
    let failure = if case.is_told { Failure::BadBlock } else { Failure::Device };
    if case.from_the_format {
        card.sectors.refuse(case.refused.clone(), failure);
    }
    let mut memory = vec![0; config.memory_bytes(&layout.geometry())];
    let pages = SectorPages::new(card, layout).expect("a layout that is possible");
    card = FileSystem::format(pages, &config, &mut memory)?.into_device();
    card.sectors.refuse(case.refused.clone(), failure);
    card.fails_in = case.fails_in;
    let (mut held, mut rng) = (vec![0; PIECES], Rng(1));
    for mount in 0..4 {
        let mut pages = SectorPages::new(card, layout).expect("a layout that is possible");
        let mut fs = FileSystem::mount(&mut pages, Access::ReadWrite, &mut memory)?;
        assert!(!fs.health().read_only, "{case:?}, mount {mount}");
        let mut file = fs.open("file", OpenOptions::DURABLE)?;
        for (piece, version) in held.iter().enumerate().filter(|(_, version)| **version > 0) {
            let mut bytes = [0; PIECE];
            fs.read(&mut file, (piece * PIECE) as u64, &mut bytes)?;
            assert_eq!(bytes, [*version; PIECE], "{case:?}, mount {mount}, piece {piece}");
        }
        for write in 0..90 {
            let (piece, version) = (rng.below(PIECES as u64) as usize, 1 + rng.below(200) as u8);
            let result = fs.write(&mut file, (piece * PIECE) as u64, &[version; PIECE]);
            assert_eq!(result, Ok(()), "{case:?}, mount {mount}, write {write}");
            held[piece] = version;
        }
        // Mount 0 and mount 3 end with an unmount. The others stop without one.
        if mount % 3 == 0 {
            fs.unmount()?;
        }
        card = pages.into_device();
    }
    let mut pages = SectorPages::new(card, layout).expect("a layout that is possible");
    let bad_blocks =
        FileSystem::mount(&mut pages, Access::ReadWrite, &mut memory)?.health().bad_blocks;
    Ok((pages.into_device(), bad_blocks))
}

/// A driver reported that the device does not answer, and each call and each mount tried the same
/// block first. Volumes refused every call, or could never be mounted for writing.
#[test]
fn sectors_that_take_no_writes_cost_their_block_and_no_call() {
    let mut bad = 0;
    for block in 1..BLOCKS {
        for (place, length) in [(0, 1), (1, 1), (2, 3), (31, 9), (0, BLOCK)] {
            let first = block * BLOCK + place;
            let is_own = block < 9;
            for (is_told, from_the_format) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                if !is_own && from_the_format != (block + place).is_multiple_of(2) {
                    continue;
                }
                let case = Case {
                    refused: first..first + length,
                    from_the_format,
                    is_told,
                    fails_in: None,
                };
                let tags = if block % 3 == 0 { TagPlace::Within } else { TagPlace::Beside };
                let (card, bad_blocks) =
                    live(&case, tags).unwrap_or_else(|error| panic!("{case:?}: {error}"));
                assert!(bad_blocks <= 1, "{case:?}: {bad_blocks} blocks");
                let refusals = card.sectors.refusals();
                // One refusal in the format and in each mount: a bad block that no root records
                // is forgotten at a stop.
                assert!(!is_told || refusals <= 6, "{case:?}: {refusals} refusals");
                bad += bad_blocks;
            }
        }
    }
    assert!(bad > 100, "{bad} blocks went bad");
}

/// The call continues in another block. The block in which the device did not answer is used
/// again.
#[test]
fn a_write_that_fails_once_costs_no_block_and_no_call() {
    for fails_in in (0..700).step_by(3) {
        let case = Case {
            refused: 0..0,
            from_the_format: false,
            is_told: false,
            fails_in: Some(fails_in),
        };
        let (card, bad_blocks) =
            live(&case, TagPlace::Beside).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        assert_eq!((card.fails_in, bad_blocks), (None, 0), "{case:?}");
    }
}

/// The volume begins in its first block. A mount finds it nowhere else.
#[test]
fn a_first_block_that_takes_no_writes_is_told() {
    let case = Case { refused: 0..2, from_the_format: true, is_told: true, fails_in: None };
    let error = live(&case, TagPlace::Beside).err();
    assert!(
        matches!(error, Some(MountError::OwnBlocksBad { first_is_good: false, .. })),
        "{error:?}"
    );
    let error = live(&Case { is_told: false, ..case }, TagPlace::Beside).err();
    assert!(matches!(error, Some(MountError::Volume(Error::Device))), "{error:?}");
}

/// If a write fails, the device may be gone. If other writes succeed in the meantime, the sectors
/// are bad.
#[test]
fn sectors_that_fail_twice_are_a_bad_block() {
    let layout = layout(TagPlace::Beside);
    let pages_per_block = layout.geometry().pages_per_block;
    let mut card =
        Card { sectors: Sectors::new(BLOCKS * BLOCK, Sectors::ROUND, 1), fails_in: None };
    card.sectors.refuse(3 * BLOCK + 2..3 * BLOCK + 5, Failure::Device);
    let mut pages = SectorPages::new(card, layout).expect("a layout that is possible");
    let mut program = |block: u32| {
        pages.erase(block)?;
        pages.program(block * pages_per_block, &[1; 1024], &[2; TAG_BYTES])
    };
    assert_eq!(program(3), Err(Failure::Device));
    assert_eq!(program(4), Ok(()));
    assert_eq!(program(3), Err(Failure::BadBlock));
    assert_eq!(program(5), Ok(()));
}
