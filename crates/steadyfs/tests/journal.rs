//! The journal buffer under changes that are scattered thinly.

use steadyfs::media::nor::NorPages;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming};

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

/// A file by pieces of so many bytes, on a volume where many small changes wait in the journal buffer: bytes that the second half of it programs.
fn programmed_by_pieces<C: Flash + Metered>(chip: C, piece: usize) -> u64 {
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
    let files = u64::from(config.files_max - 2).min(fs.usage().usable_bytes / 9_000 - 4);
    for number in 0..files {
        let mut file = fs.open(&*format!("file {number}"), OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, &[7; 8_000]).unwrap();
        fs.close(file).unwrap();
    }
    for number in (0..files).step_by(5) {
        fs.remove(&*format!("file {number}")).unwrap();
        fs.commit().unwrap();
    }
    let (mut file, data) = (fs.open("pieces", OpenOptions::CREATE).unwrap(), vec![9; piece]);
    let mut write = |pieces: std::ops::Range<u64>| {
        let before = fs.flash().counters().bytes_programmed;
        pieces.for_each(|index| fs.write(&mut file, index * data.len() as u64, &data).unwrap());
        fs.flash().counters().bytes_programmed - before
    };
    let half = HALF / piece as u64;
    write(0..half);
    write(half..2 * half)
}

const HALF: u64 = 65_536;

/// Where a buffer full of them had no room for a piece, none of them ever left: each piece of 256 bytes wrote a page of 2 KiB.
#[test]
fn many_small_changes_do_not_let_each_piece_write_its_page() {
    let nor = NorPages::new(Nor::with_geometry(65_536, 128, NorTiming::ROUND, 1), 512);
    let programmed = programmed_by_pieces(nor, 256);
    assert!(programmed <= 3 * HALF, "{programmed}");
    let geometry = Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 256, programs_bytes: false };
    for piece in [256, 512] {
        let programmed = programmed_by_pieces(Nand::with_geometry(geometry, NandTiming::ROUND, 1), piece);
        assert!(programmed <= 4 * HALF, "by {piece} B: {programmed}");
    }
}
