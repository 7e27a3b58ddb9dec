//! Tests the format of a chip with an old volume. Nothing of the old volume comes back, and
//! blocks that the format erased are not erased again.

use steadyfs::media::nor::NorPages;
use steadyfs::media::sectors::{SectorLayout, SectorPages};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, FileSystem, MountError, OpenOptions};
use steadyfs_sim::{
    FailOps, Nand, NandTiming, Nor, NorTiming, PowerCut, Sectors, Survivors, Tearable,
};

/// Each mount after a power cut makes the sequence numbers jump, and its first program is a
/// journal record. On a medium that programs bytes, these records are not pages, and `format` did
/// not search for them. So their numbers were larger than all numbers of the new volume.
#[test]
fn chains_of_an_earlier_volume_do_not_count() {
    let mut chip = NorPages::new(Nor::with_geometry(4096, 32, NorTiming::ROUND, 1), 256);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    for (life, mounts) in [60u8, 3, 40, 5].into_iter().enumerate() {
        chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut newest = None;
        for mount in 0..mounts {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(fs.damage(), None, "life {life}, mount {mount}");
            assert_eq!(fs.usage().files, u32::from(newest.is_some()), "life {life}, mount {mount}");
            let mut file = fs
                .open("file", OpenOptions { append: false, ..OpenOptions::DURABLE })
                .expect("open");
            let mut content = [0];
            assert_eq!(
                fs.read(&mut file, 0, &mut content).expect("read"),
                usize::from(newest.is_some())
            );
            assert_eq!(content[0], newest.unwrap_or(0), "life {life}, mount {mount}");
            // The chains of the first and third life are in many blocks, the chains of the others
            // in few.
            for _ in 0..if life % 2 == 0 { 100 } else { 1 } {
                fs.write(&mut file, 0, &[mount]).expect("write");
                fs.write(&mut file, 0, &[mount + 1]).expect("write");
            }
            newest = Some(mount + 1);
            // The volume is dropped, not unmounted: a power cut.
        }
    }
}

/// A format leaves as many erased blocks as a volume in use has. So the first calls erase
/// nothing, for any old contents of the chip.
#[test]
fn the_first_calls_of_a_new_volume_erase_nothing() {
    let (mut chip, config) = used_chip();
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    FileSystem::format(&mut chip, &config, &mut memory).expect("format");
    let before = chip.chip().erase_counts();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let mut file = fs.open("file", OpenOptions::DURABLE).expect("open");
    // Less than a block of pages, in durable pieces.
    for piece in 0..12 {
        fs.write(&mut file, piece * 256, &[piece as u8; 256]).expect("write");
    }
    // The next block of the ring is erased in advance.
    assert_eq!(chip.chip().erase_counts()[OWN_BLOCKS..], before[OWN_BLOCKS..]);
    // The volume is dropped: a power cut.
    let mut fs =
        FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount after a cut");
    let (mut file, mut read) = (fs.open("file", OpenOptions::READ).expect("open"), [0; 12 * 256]);
    assert_eq!(fs.read(&mut file, 0, &mut read).expect("read"), read.len());
    assert!(
        read.chunks(256)
            .enumerate()
            .all(|(piece, bytes)| bytes.iter().all(|&byte| usize::from(byte) == piece))
    );
}

/// Blocks of the superblocks and of the ring of roots. They are the first blocks of a chip
/// without bad blocks.
const OWN_BLOCKS: usize = 10;

#[test]
fn blocks_that_the_format_erased_are_not_erased_before_all_were_used() {
    let mut chip = NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, 1), 256);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let mut erased = Vec::new();
    for by_format in [true, false] {
        let mut told = Vec::new();
        if by_format {
            FileSystem::format_erased(&mut chip, &config, &mut memory, &mut |done, all| {
                told.push((done, all))
            })
            .expect("format");
        } else {
            FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        }
        let steps: Vec<_> = (1..=64).map(|done| (done, 64)).collect();
        assert_eq!(told, if by_format { steps } else { Vec::new() });
        let before = chip.chip().erase_counts();
        let content: Vec<u8> = (0..70_000u32).map(|at| (at / 256 * 7 + at) as u8).collect();
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("file", OpenOptions::CREATE).expect("open");
        for (index, piece) in content.chunks(256).enumerate() {
            fs.write(&mut file, index as u64 * 256, piece).expect("write");
        }
        fs.sync(steadyfs::CommitOn::FSYNC).expect("flush");
        // The volume is not unmounted: a power cut. Flushed data is there.
        let after = chip.chip().erase_counts();
        erased.push(
            after
                .iter()
                .zip(&before)
                .skip(OWN_BLOCKS)
                .filter(|(after, before)| after > before)
                .count(),
        );
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory)
            .expect("mount after a cut");
        let (mut file, mut read) =
            (fs.open("file", OpenOptions::READ).expect("open"), vec![0; content.len()]);
        assert_eq!(fs.read(&mut file, 0, &mut read).expect("read"), content.len());
        assert!(read == content, "content");
    }
    assert!(erased[0] == 0 && erased[1] >= 70_000 / 4096, "{erased:?}");
}

/// Returns a small chip with an old volume, and settings for it.
fn used_chip() -> (NorPages<Nor>, Config) {
    let mut chip = NorPages::new(Nor::with_geometry(4096, 40, NorTiming::ROUND, 1), 256);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    FileSystem::format(&mut chip, &config, &mut memory).expect("format");
    work(&mut chip, &mut memory, 40);
    (chip, config)
}

/// Writes `pieces` durable pieces into a new file, cuts power, and reads them.
fn work(mut flash: impl Flash, memory: &mut [u8], pieces: u8) {
    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, memory).expect("mount");
    assert_eq!((fs.usage().files, fs.damage()), (0, None), "the volume is new");
    let mut file = fs.open("file", OpenOptions::DURABLE).expect("open");
    (0..pieces).for_each(|piece| fs.append(&mut file, &[piece; 100]).expect("append"));
    let mut fs =
        FileSystem::mount(&mut flash, Access::ReadOnly, memory).expect("mount after a cut");
    let (mut file, mut read) = (fs.open("file", OpenOptions::READ).expect("open"), [0; 100]);
    for piece in 0..pieces {
        assert_eq!(fs.read(&mut file, u64::from(piece) * 100, &mut read), Ok(100));
        assert_eq!(read, [piece; 100]);
    }
}

#[test]
fn an_erase_that_is_refused_costs_a_format_its_block() {
    let (chip, config) = used_chip();
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let erases =
        (1..=chip.geometry().block_count.into()).flat_map(|erase| [(erase, true), (erase, false)]);
    for (erase, erases_all) in erases {
        let mut failing = FailOps::new(chip.clone(), 1);
        failing.fail_erase(erase);
        let result = if erases_all {
            FileSystem::format_erased(&mut failing, &config, &mut memory, &mut |_, _| {})
        } else {
            FileSystem::format(&mut failing, &config, &mut memory)
        };
        match result {
            // Block 0 has a superblock. It is erased behind the block of the second superblock.
            Err(MountError::OwnBlocksBad { first_is_good: false, .. }) => assert_eq!(erase, 2),
            result => {
                result.unwrap_or_else(|error| panic!("erase {erase}: {error}"));
                work(&mut failing, &mut memory, 200);
            }
        }
    }
}

/// A format does not erase the first round of the ring. Uses that end cleanly continue in it.
/// Mounts that are cut again and again must not spoil it.
#[test]
fn starts_that_are_cut_again_and_again_lose_nothing_of_a_new_volume() {
    for seed in 0..12 {
        let (chip, config) = used_chip();
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let mut chip = PowerCut::new(chip, seed);
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        // The contents after the last clean end.
        let mut expected = Vec::new();
        for round in 0..24u8 {
            // Every second use begins with cut mounts. The cuts come in the mark, in the first
            // change, in the settling of this change, and in that settling again.
            let cuts = if round % 2 == 1 { seed + 1 } else { 0 };
            // A record in one logical page is there or not.
            let record = [0xC0 | round; 32];
            let mut acknowledged = 0;
            for cut in (1..=cuts).rev() {
                chip.cut_at(cut);
                if let Ok(mut fs) = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory) {
                    let file = fs.open("file", OpenOptions::DURABLE);
                    acknowledged += usize::from(
                        file.is_ok_and(|mut file| fs.append(&mut file, &record).is_ok()),
                    );
                }
                chip.power_on();
            }
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(fs.damage(), None, "seed {seed}, round {round}");
            let found = content(&mut fs);
            let appended = (found.len() - expected.len()) / record.len();
            assert!(
                (acknowledged..=cuts as usize).contains(&appended),
                "seed {seed}, round {round}: {acknowledged}, {appended}"
            );
            expected.extend(record.repeat(appended));
            assert!(found == expected, "seed {seed}, round {round}");
            let mut file = fs.open("file", OpenOptions::DURABLE).expect("open");
            // An overwrite takes a page. In a few rounds, the overwrites take more pages than a
            // root lists.
            for _ in 0..80 {
                fs.write(&mut file, 0, &[0xA0; 256]).expect("write");
            }
            if round == 0 {
                expected = vec![0xA0; 256];
            }
            fs.close(file).expect("close");
            fs.sync(CommitOn::SYNC).expect("sync");
            // If the cut comes in the last seal of the closed root, some mounts see the whole root,
            // and other mounts see one seal of two.
            if seed % 2 == 1 {
                fs.flash_mut().cut_at(1 + u64::from(round) / 2 % 6);
            }
            let _ = fs.unmount();
            chip.cancel();
            chip.power_on();
        }
        let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
        assert!(content(&mut fs) == expected, "seed {seed}");
    }
}

/// Returns the contents of the file.
fn content(fs: &mut FileSystem<'_, impl Flash>) -> Vec<u8> {
    let Ok(mut file) = fs.open("file", OpenOptions::READ) else { return Vec::new() };
    let mut bytes = vec![0; fs.size(&mut file).expect("size") as usize];
    assert_eq!(fs.read(&mut file, 0, &mut bytes), Ok(bytes.len()));
    fs.close(file).expect("close");
    bytes
}

#[test]
fn an_erasing_format_that_is_cut_is_begun_again() {
    let (chip, config) = used_chip();
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    for operation in 1.. {
        let mut cut = PowerCut::new(chip.clone(), operation);
        cut.cut_at(operation);
        let ended =
            FileSystem::format_erased(&mut cut, &config, &mut memory, &mut |_, _| {}).is_ok();
        cut.power_on();
        if ended {
            assert!(operation > chip.geometry().block_count.into(), "every block is erased");
            break;
        }
        FileSystem::format(&mut cut, &config, &mut memory)
            .unwrap_or_else(|error| panic!("operation {operation}: {error}"));
        work(&mut cut, &mut memory, 40);
    }
}

/// A power cut in the first format left a superblock without a root. Then each start ended with
/// `NoRoot`, and the device never came up, because a start formats only after `NotFormatted`.
#[test]
fn a_start_after_a_format_that_was_cut_formats_again() {
    let of_chip = |geometry: Geometry| Config::for_geometry(&geometry);
    let nand =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
    first_start(Nand::with_geometry(nand, NandTiming::ROUND, 1), of_chip(nand));
    let nor = NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, 1), 256);
    first_start(nor.clone(), of_chip(nor.geometry()));
    let layout = SectorLayout::for_size(1 << 16);
    for survivors in [None, Some(Survivors::Any)] {
        let sectors = Sectors::new(layout.sectors, Sectors::ROUND, 1);
        let sectors = match survivors {
            Some(survivors) => sectors.with_cache(survivors, 64),
            None => sectors,
        };
        let card = SectorPages::new(sectors, layout).expect("a card");
        first_start(card, Config::for_sectors(&layout));
    }
}

/// Cuts each operation of a start, as the guide writes it, and each operation of the next start.
/// Cuts one operation of the start after these two. The next start comes up.
///
/// If a cut came in the last seal of a root, the root was uncertain at one start and certain at
/// the next. On NOR the first of these starts could be cut in a ring block, and the second one used
/// this block without an erase.
///
/// If the chip refuses an erase of the second start instead, this start comes up, too.
fn first_start<F: Flash + Tearable + Clone>(chip: F, config: Config) {
    let chip = FailOps::new(chip, 1);
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut start = |chip: &mut PowerCut<FailOps<F>>| -> Result<(), MountError> {
        let found = FileSystem::mount(&mut *chip, Access::ReadOnly, &mut memory).map(drop);
        if let Err(MountError::NotFormatted) = found {
            FileSystem::format(&mut *chip, &config, &mut memory)?;
        }
        let mut fs = FileSystem::mount(&mut *chip, Access::ReadWrite, &mut memory)?;
        let mut file = fs.open("starts", OpenOptions::DURABLE)?;
        fs.append(&mut file, &[1])?;
        fs.close(file)?;
        fs.unmount()?;
        Ok(())
    };
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut interrupted = 0;
    for first in 1.. {
        let mut cut = PowerCut::new(chip.clone(), first);
        cut.cut_at(first);
        let is_done = start(&mut cut).is_ok();
        cut.power_on();
        let found = FileSystem::mount(&mut cut.clone(), Access::ReadOnly, &mut memory).map(drop);
        let again = found == Err(MountError::NotFormatted);
        interrupted += u32::from(again);
        for refused in 1..=3 {
            let mut cut = cut.clone();
            cut.inner_mut().fail_erase(refused);
            match start(&mut cut) {
                // A format needs the blocks of the superblocks.
                Err(MountError::OwnBlocksBad { .. }) if again => continue,
                result => result
                    .unwrap_or_else(|error| panic!("cut at {first}, refused {refused}: {error}")),
            }
            cut.cut_at(1 + (first * 7 + refused * 11) % 60);
            let _ = start(&mut cut);
            cut.cancel();
            cut.power_on();
            start(&mut cut)
                .unwrap_or_else(|error| panic!("cut at {first}, refused {refused}: {error}"));
        }
        for second in 1.. {
            let mut cut = cut.clone();
            cut.cut_at(second);
            let is_done = start(&mut cut).is_ok();
            cut.power_on();
            cut.cut_at(1 + (first * 13 + second * 5) % 60);
            let _ = start(&mut cut);
            cut.cancel();
            cut.power_on();
            start(&mut cut).unwrap_or_else(|error| panic!("cuts at {first}, {second}: {error}"));
            if is_done {
                break;
            }
        }
        if is_done {
            break;
        }
    }
    assert!(interrupted > 5, "{interrupted} formats were interrupted");
}
