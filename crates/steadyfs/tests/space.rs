//! Room: what a volume says that it has is there, whatever was made and removed before.

use crate::common::{Rng, SHAPES};
use steadyfs::media::Geometry;
use steadyfs::{Access, Config, Error, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

/// The last page of the file table may have fewer inodes than others, and bits of data behind them: it counted as full where it was empty, and as there where it was not.
#[test]
fn the_last_page_of_the_file_table_is_counted_as_it_is() {
    let geometry = Geometry { page_bytes: 1024, pages_per_block: 48, block_count: 64, programs_bytes: false };
    for (unit_pages, files_max) in [(8, 33), (8, 40), (8, 100), (8, 48), (4, 40), (1, 20)] {
        let config = Config { unit_pages, files_max, ..Config::for_geometry(&geometry) };
        let mut chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let empty = fs.usage().used_bytes;
        for number in 0..files_max - 1 {
            let file = fs.open(format!("f{number}").as_str(), OpenOptions::DURABLE).expect("open");
            fs.close(file).expect("close");
        }
        let full = fs.usage().used_bytes;
        fs.unmount().expect("unmount");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(fs.usage().used_bytes, full, "{unit_pages} pages, {files_max} files: full");
        for number in 0..files_max - 1 {
            fs.remove(format!("f{number}").as_str()).expect("remove");
        }
        fs.commit().expect("commit");
        let used = fs.usage().used_bytes;
        fs.unmount().expect("unmount");
        let fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(fs.usage().used_bytes, used, "{unit_pages} pages, {files_max} files: all removed");
        // A page of the first directory stays.
        assert!(
            used <= empty + u64::from(fs.usage().logical_bytes),
            "{unit_pages} pages, {files_max} files: {used} of {empty} bytes"
        );
    }
}

/// The pages of the file table that hold no file any more were written all the same.
#[test]
fn removed_files_leave_the_room_that_the_volume_says() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let mut names = Vec::new();
        for number in 0.. {
            match fs.open(format!("f{number}").as_str(), OpenOptions::DURABLE) {
                Ok(file) => fs.close(file).expect("close"),
                Err(Error::TooManyFiles | Error::NoSpace) => break,
                Err(error) => panic!("{}: {error}", shape.name),
            }
            names.push(format!("f{number}"));
        }
        for name in &names {
            fs.remove(name.as_str()).expect("remove");
            fs.commit().expect("commit");
        }
        fs.unmount().expect("unmount");
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let page = shape.logical_bytes() as usize;
        let usage = fs.usage();
        let mut file = fs.open("data", OpenOptions::DURABLE).expect("open");
        let mut pages = 0;
        loop {
            match fs.append(&mut file, &vec![pages as u8; page]) {
                Ok(()) => pages += 1,
                Err(Error::NoSpace) => break,
                Err(error) => panic!("{}: page {pages}, {usage:?}: {error}", shape.name),
            }
        }
        assert!(pages * page as u64 >= usage.usable_bytes * 9 / 10, "{}: {pages} pages of {usage:?}", shape.name);
        let mut rng = Rng(3);
        for round in 0..6 * pages {
            let at = rng.below(pages) * page as u64;
            let result = fs.write(&mut file, at, &vec![round as u8; page]);
            result.unwrap_or_else(|error| panic!("{}: round {round}: {error}", shape.name));
        }
        // What a removed file holds is free to whoever writes, and counted.
        let total = fs.usage().usable_bytes;
        assert_eq!(fs.leaving(), Ok(0), "{}", shape.name);
        assert!(fs.allocated(file.inode()).expect("allocated") >= pages * page as u64);
        fs.close(file).expect("close");
        fs.remove("data").expect("remove");
        fs.commit().expect("commit");
        let free = total - fs.usage().used_bytes + fs.leaving().expect("leaving");
        assert!(free >= pages * page as u64, "{}: {free} bytes free, {pages} pages were written", shape.name);
        let mut file = fs.open("again", OpenOptions::DURABLE).expect("open");
        let available = fs.available().expect("available");
        assert!(available > 0 && available < free, "{}: {available} of {free} bytes", shape.name);
        // What is said to be there is there, wherever the free pages lie.
        for round in 0..available / page as u64 {
            let result = fs.append(&mut file, &vec![round as u8; page]);
            result.unwrap_or_else(|error| panic!("{}: page {round} again: {error}", shape.name));
        }
        assert_eq!(fs.usage().usable_bytes, total, "the total stays");
    }
}
