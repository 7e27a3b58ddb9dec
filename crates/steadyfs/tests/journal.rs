//! The journal buffer under changes that are scattered thinly.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Nand, NandTiming};

/// With one tiny patch each for more than a hundred pages in the journal, writing the page with most patches made room for
/// 15 bytes: an append of 500 bytes wrote page after page until the transaction was too large, and failed.
#[test]
fn append_succeeds_beside_many_tiny_patches() {
    let geometry = Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 128, programs_bytes: false };
    let mut nand = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
    let config = Config { files_max: 2049, ..Config::for_geometry(&nand.geometry()) };
    let mut memory = vec![0; config.memory_bytes(&geometry) + 16 * 2048];
    FileSystem::format(&mut nand, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(&mut nand, Access::ReadWrite, &mut memory).unwrap();
    let mut files: Vec<_> =
        (0..2048).map(|n| fs.open(&*format!("file {n}"), OpenOptions::DURABLE).unwrap_or_else(|e| panic!("{n}: {e}"))).collect();
    fs.set_commit_on(CommitOn::MANUAL);
    // The size of one file in each page of the file table.
    for file in files.iter_mut().step_by(16) {
        fs.truncate(file, 1).unwrap();
    }
    let mut log = files.swap_remove(1);
    for round in 0..40u8 {
        fs.append(&mut log, &[round; 500]).unwrap();
    }
    let mut back = [0; 500];
    assert_eq!(fs.read(&mut log, 39 * 500, &mut back), Ok(500));
    assert_eq!(back, [39; 500]);
}
