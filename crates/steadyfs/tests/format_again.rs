//! A chip that held a volume is formatted: nothing of that volume comes back, and what the format erased is not erased again.

use steadyfs::media::Flash;
use steadyfs::media::nor::NorPages;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nor, NorTiming};

/// Each mount after a power cut lets the numbers of programs jump, and its first program is a journal record: where the medium programs bytes these
/// are no pages, and `format` did not look for them. So their numbers were larger than all of the new volume.
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
            let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
            assert_eq!(fs.damage(), None, "life {life}, mount {mount}");
            assert_eq!(fs.usage().files, u32::from(newest.is_some()), "life {life}, mount {mount}");
            let mut file = fs.open("file", OpenOptions { append: false, ..OpenOptions::DURABLE }).expect("open");
            let mut content = [0];
            assert_eq!(fs.read(&mut file, 0, &mut content).expect("read"), usize::from(newest.is_some()));
            assert_eq!(content[0], newest.unwrap_or(0), "life {life}, mount {mount}");
            // The chains of the first lives are in many blocks, those of the others in few.
            for _ in 0..if life % 2 == 0 { 100 } else { 1 } {
                fs.write(&mut file, 0, &[mount]).expect("write");
                fs.write(&mut file, 0, &[mount + 1]).expect("write");
            }
            newest = Some(mount + 1);
            // Dropped, not unmounted: a power cut.
        }
    }
}

/// Blocks of superblocks and of the ring of roots, which lie at the begin of a chip without bad blocks.
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
            FileSystem::format_erased(&mut chip, &config, &mut memory, &mut |done, all| told.push((done, all))).expect("format");
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
        fs.flush(&file).expect("flush");
        // Not unmounted: a power cut. What was flushed is there.
        let after = chip.chip().erase_counts();
        erased.push(after.iter().zip(&before).skip(OWN_BLOCKS).filter(|(after, before)| after > before).count());
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount after a cut");
        let (mut file, mut read) = (fs.open("file", OpenOptions::READ).expect("open"), vec![0; content.len()]);
        assert_eq!(fs.read(&mut file, 0, &mut read).expect("read"), content.len());
        assert!(read == content, "content");
    }
    assert!(erased[0] == 0 && erased[1] >= 70_000 / 4096, "{erased:?}");
}
