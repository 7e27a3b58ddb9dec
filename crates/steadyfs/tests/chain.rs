//! Tests flash that programs bytes: there, journal records are chains of changes.

use crate::common::Rng;
use steadyfs::media::Flash;
use steadyfs::media::nor::NorPages;
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nor, NorTiming};

const FILES: usize = 6;

/// After every mount, committed data is there and rolled-back data is not.
#[test]
fn small_changes_are_there_after_each_mount_and_each_rollback() {
    for seed in 0..20 {
        let chip = NorPages::new(Nor::with_geometry(4096, 32, NorTiming::ROUND, seed), 256);
        let geometry = chip.geometry();
        assert!(geometry.programs_bytes);
        let config = Config {
            overlay_entries: 60,
            transaction_pages: 12,
            checkpoint_programs: 16,
            ..Config::for_geometry(&geometry)
        };
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut rng = Rng(seed);
        let mut files = vec![Vec::new(); FILES];
        for _ in 0..30 {
            let mut fs =
                FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            fs.set_commit_on(CommitOn::MANUAL);
            let mut scratch = vec![0; 4096];
            fs.check(&mut scratch, false, &mut |finding| panic!("seed {seed}: {finding:?}"))
                .expect("check");
            for (number, content) in files
                .iter()
                .enumerate()
                .filter(|(_, content): &(usize, &Vec<u8>)| !content.is_empty())
            {
                let mut file =
                    fs.open(format!("f{number}").as_str(), OpenOptions::READ).expect("open");
                let mut found = vec![0; content.len() + 1];
                let length = fs.read(&mut file, 0, &mut found).expect("read");
                assert!(found[..length] == content[..], "seed {seed}: file {number}");
                fs.close(file).expect("close");
            }
            for _ in 0..rng.below(8) {
                let before = files.clone();
                for _ in 0..=rng.below(3) {
                    let number = rng.below(FILES as u64) as usize;
                    let (offset, length) = (
                        rng.below(files[number].len() as u64 + 1) as usize,
                        1 + rng.below(90) as usize,
                    );
                    let mut file =
                        fs.open(format!("f{number}").as_str(), OpenOptions::CREATE).expect("open");
                    let bytes = vec![rng.below(255) as u8; length];
                    fs.write(&mut file, offset as u64, &bytes).expect("write");
                    fs.close(file).expect("close");
                    let content = &mut files[number];
                    content.resize(content.len().max(offset + length), 0);
                    content[offset..offset + length].copy_from_slice(&bytes);
                }
                if rng.below(4) == 0 {
                    fs.rollback().expect("rollback");
                    files = before;
                } else {
                    fs.commit().expect("commit");
                }
            }
            if rng.one_in(2) {
                fs.unmount().expect("unmount");
            }
        }
    }
}

/// A record of a chain contains only the changes. Together, the records must contain each bit of
/// the allocation map, although these bits were set one after the other.
#[test]
fn a_file_that_grew_page_by_page_is_there_after_a_cut() {
    let chip = NorPages::new(Nor::with_geometry(4096, 256, NorTiming::ROUND, 1), 256);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let mut chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let content: Vec<u8> = (0..550_000_u32).map(|byte| (byte / 4096 * 7 + byte) as u8).collect();
    {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        fs.set_commit_on(CommitOn::ON_SYNC);
        let mut file = fs.open("f", OpenOptions::CREATE).expect("open");
        for (number, piece) in content.chunks(4096).enumerate() {
            fs.write(&mut file, 4096 * number as u64, piece).expect("write");
        }
        fs.sync(CommitOn::FSYNC).expect("flush");
    }
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let mut file = fs.open("f", OpenOptions::READ).expect("open");
    let mut found = vec![0; content.len()];
    assert_eq!(fs.read(&mut file, 0, &mut found).expect("read"), content.len());
    assert!(found == content);
}

/// Bits flipped behind the end of a chain, in bytes that nothing had programmed yet. A mount
/// after a clean end continued the chain there: the records of the next commits were unreadable,
/// and the following mount reported a damaged journal.
#[test]
fn chain_does_not_go_on_where_bits_are_not_erased() {
    let fresh = || {
        let chip = NorPages::new(Nor::with_geometry(4096, 32, NorTiming::ROUND, 1), 256);
        let config = Config {
            overlay_entries: 60,
            transaction_pages: 12,
            ..Config::for_geometry(&chip.geometry())
        };
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        write(&mut fs, b"before");
        let chip = fs.unmount().expect("unmount");
        (chip, memory)
    };
    let (mut chip, _) = fresh();
    let pages = chip.geometry().pages_per_block;
    let mut page = [0; 256];
    let mut half_blank = |number: &u32| {
        chip.read_bytes(number / pages, number % pages * 256, &mut page).expect("read");
        page[0] != 0xFF && page[128..].iter().all(|&byte| byte == 0xFF)
    };
    let touched: Vec<u32> = (0..pages * 32).filter(|number| half_blank(number)).collect();
    assert!(!touched.is_empty());
    for number in touched {
        let (mut chip, mut memory) = fresh();
        chip.program_bytes(number / pages, number % pages * 256 + 200, &[0x7F])
            .expect("a bit flips");
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        (0..20).for_each(|count| write(&mut fs, &[count; 20]));
        let chip = fs.flash().clone();
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(fs.damage(), None, "page {number} touched");
        let mut file = fs.open("f", OpenOptions::READ).expect("open");
        let mut found = [0; 21];
        assert_eq!(fs.read(&mut file, 0, &mut found), Ok(20), "page {number} touched");
        assert_eq!(found[..20], [19; 20], "page {number} touched");
    }
}

fn write(fs: &mut FileSystem<'_, NorPages<Nor>>, bytes: &[u8]) {
    let mut file = fs.open("f", OpenOptions::CREATE).expect("open");
    fs.write(&mut file, 0, bytes).expect("write");
    fs.close(file).expect("close");
    fs.commit().expect("commit");
}
