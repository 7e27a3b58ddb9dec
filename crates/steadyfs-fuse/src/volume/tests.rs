//! What a failing medium does to programs that were told of success.

use super::Volume;
use fuser::INodeNo;
use rustix::fs::OFlags;
use std::time::Duration;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem};
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
