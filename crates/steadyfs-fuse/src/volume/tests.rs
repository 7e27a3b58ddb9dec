//! What a failing medium does to programs that were told of success, and what a hostile volume tells the kernel.

use super::Volume;
use fuser::INodeNo;
use rustix::fs::OFlags;
use std::time::Duration;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_hostile::medium::Ram;
use steadyfs_hostile::seal::forge;
use steadyfs_sim::{FailOps, Nand, NandTiming};

fn volume<T>(test: impl FnOnce(&mut Volume<'_, '_, FailOps<Nand>>) -> T) -> T {
    let geometry = Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 64 };
    let flash = FailOps::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 1);
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let flash = FileSystem::format(flash, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).unwrap();
    test(&mut Volume::new(&mut fs, Duration::from_secs(1)))
}

#[test]
fn what_a_failing_medium_undoes_is_told_once_to_who_syncs() {
    volume(|volume| {
        let flags = OFlags::RDWR.bits().cast_signed();
        let (_, first) = volume.create(INodeNo::ROOT, "first", flags).unwrap();
        let (_, second) = volume.create(INodeNo::ROOT, "second", flags).unwrap();
        volume.sync(first).unwrap();
        volume.write(first, 0, b"told to be written").unwrap();
        // More programs fail in one call than the volume's settings tolerate.
        for program in 1..=4 {
            volume.changes.fs().flash_mut().fail_program(program);
        }
        let error = volume.write(second, 0, &[7; 200_000]).unwrap_err();
        assert_eq!(error.code(), fuser::Errno::EIO.code());
        assert_eq!(volume.read(first, 0, 100).unwrap(), b"", "it was undone");
        assert_eq!(volume.sync(first).unwrap_err().code(), fuser::Errno::EIO.code());
        volume.sync(first).unwrap();
        volume.write(first, 0, b"again").unwrap();
        volume.sync(first).unwrap();
        let (_, third) = volume.create(INodeNo::ROOT, "third", flags).unwrap();
        volume.sync(third).unwrap();
    });
}

const FILE_BYTES: usize = 54_321;

/// A volume with a file and a directory of five directories, of which bytes were forged.
fn forged<T>(changes: &[(&[u8], &[u8])], test: impl FnOnce(&mut Volume<'_, '_, Ram>) -> T) -> T {
    let geometry = Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64 };
    let config = Config::for_geometry(&geometry);
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let ram = FileSystem::format(Ram::new(geometry), &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).unwrap();
    fs.create_dir("directory").unwrap();
    for number in 0..5 {
        fs.create_dir(&format!("directory/{number}")).unwrap();
    }
    let mut file = fs.open("file", OpenOptions::CREATE).unwrap();
    fs.write(&mut file, 0, &[7; FILE_BYTES]).unwrap();
    let mut ram = fs.unmount().unwrap();
    for (from, to) in changes {
        assert!(forge(&mut ram, from, to) > 0, "nothing to forge: {from:?}");
    }
    let mut fs = FileSystem::mount(ram, Access::ReadWrite, &mut memory).unwrap();
    test(&mut Volume::new(&mut fs, Duration::from_secs(1)))
}

fn names(volume: &mut Volume<'_, '_, Ram>) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |entry: &super::Listed<'_>| {
        names.push(entry.name.to_string());
        false
    };
    volume.list(INodeNo::ROOT, 0, &mut add).unwrap();
    names.sort();
    names
}

#[test]
fn names_that_the_kernel_does_not_take_hide_no_others() {
    let plain = forged(&[], names);
    assert_eq!(plain, [".", "..", "directory", "file"]);
    for name in ["di/ectory", "/irectory", "di\0ectory"] {
        forged(&[(b"directory", name.as_bytes())], |volume| {
            assert_eq!(names(volume), [".", "..", "file"], "{name:?}");
            assert!(volume.lookup(INodeNo::ROOT, name).is_err(), "{name:?}");
        });
    }
    // The kernel never looks `..` up, and a directory of that name must not lead anywhere.
    forged(&[(b"file", b"..le")], |volume| assert_eq!(names(volume), [".", "..", "..le", "directory"]));
}

#[test]
fn absurd_sizes_and_counts_are_told_without_overflow() {
    let (size, counts) = ((FILE_BYTES as u64).to_le_bytes(), (5_u64 << 32 | 5).to_le_bytes());
    forged(&[(&size, &[0xFF; 8]), (&counts, &[0xFF; 8])], |volume| {
        let mut seen = 0;
        let mut add = |entry: &super::Listed<'_>| {
            seen += u32::from(entry.node.attr.size == u64::MAX || entry.node.attr.nlink == u32::MAX);
            false
        };
        volume.list(INodeNo::ROOT, 0, &mut add).unwrap();
        assert_eq!(seen, 2);
    });
}
