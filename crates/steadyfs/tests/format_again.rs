//! A chip that held a volume is formatted: nothing of that volume comes back.

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
