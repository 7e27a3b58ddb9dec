//! A chip that held a volume is formatted again. Blocks that are not erased keep pages of the older
//! volume, and a mount must not take them for records of the new one.

use crate::common::{Scratch, memory};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_host::image::{Image, Shape};

/// Formats a chip and writes a file. Directory and file have the same names in every round.
fn fill(mut flash: Image, round: u8, bytes: usize) -> Image {
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = memory(&flash);
    flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    fs.create_dir("lib").unwrap();
    let mut file = fs.open("lib/file", OpenOptions::CREATE).unwrap();
    for at in (0..bytes).step_by(65_536) {
        fs.write(&mut file, at as u64, &vec![round; 65_536.min(bytes - at)]).unwrap();
    }
    fs.close(file).unwrap();
    fs.unmount().unwrap()
}

#[test]
fn a_new_volume_knows_nothing_of_an_older_one() {
    for bytes in [50_000, 400_000, 2_000_000] {
        let scratch = Scratch::new();
        let shape = Shape::nand(Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 128,
            programs_bytes: false,
        });
        let mut image = Image::create(&scratch, &shape).unwrap();
        for round in 0..6 {
            image = fill(image, round, bytes);
            let mut memory = memory(&image);
            let mut fs = FileSystem::mount(&mut image, Access::ReadOnly, &mut memory).unwrap();
            let mut file = fs.open("lib/file", OpenOptions::READ).unwrap();
            let mut data = vec![0; bytes + 1];
            assert_eq!(fs.read(&mut file, 0, &mut data).unwrap(), bytes);
            assert!(
                data[..bytes].iter().all(|&byte| byte == round),
                "{bytes} bytes, round {round}"
            );
        }
    }
}
