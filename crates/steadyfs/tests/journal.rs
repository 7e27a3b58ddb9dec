//! Tests the journal buffer with many small, scattered changes.

use steadyfs::media::nor::NorPages;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, FileSystem, OpenOptions};
use steadyfs_sim::{FailOps, Metered, Nand, NandTiming, Nor, NorTiming, PowerCut, Tearable};

/// The journal had one tiny patch for each of more than a hundred pages. A write of the page with
/// most patches made room for 15 bytes only: an append of 500 bytes wrote page after page until
/// the transaction was too large, and failed.
#[test]
fn append_succeeds_beside_many_tiny_patches() {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 128, programs_bytes: false };
    let mut nand = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
    let config = Config { files_max: 2049, ..Config::for_geometry(&nand.geometry()) };
    let mut memory = vec![0; config.memory_bytes(&geometry) + 16 * 2048];
    FileSystem::format(&mut nand, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(&mut nand, Access::ReadWrite, &mut memory).unwrap();
    let mut files: Vec<_> = (0..2048)
        .map(|n| {
            fs.open(&*format!("file {n}"), OpenOptions::DURABLE)
                .unwrap_or_else(|e| panic!("{n}: {e}"))
        })
        .collect();
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

/// Returns a volume whose journal buffer has many small changes: files all over the volume, every
/// fifth removed. The volume was ended cleanly.
fn crowded<C: Flash>(mut chip: C) -> (C, Config) {
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    FileSystem::format(&mut chip, &config, &mut memory).unwrap();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
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
    fs.unmount().unwrap();
    (chip, config)
}

fn nor() -> NorPages<Nor> {
    NorPages::new(Nor::with_geometry(65_536, 128, NorTiming::ROUND, 1), 512)
}

fn nand() -> Nand {
    let geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 256, programs_bytes: false };
    Nand::with_geometry(geometry, NandTiming::ROUND, 1)
}

/// Writes a file in pieces of `piece` bytes. Returns the number of bytes that the second half of
/// the file programs.
fn programmed_by_pieces<C: Flash + Metered>(chip: C, piece: usize) -> u64 {
    let (chip, config) = crowded(chip);
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).unwrap();
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

/// If a buffer full of small changes had no room for a piece, no change ever left the buffer:
/// each piece of 256 bytes wrote a page of 2 KiB.
#[test]
fn many_small_changes_do_not_let_each_piece_write_its_page() {
    let programmed = programmed_by_pieces(nor(), 256);
    assert!(programmed <= 3 * HALF, "{programmed}");
    for piece in [256, 512] {
        let programmed = programmed_by_pieces(nand(), piece);
        assert!(programmed <= 4 * HALF, "by {piece} B: {programmed}");
    }
}

/// Number of written pieces, and number of pieces for each flush.
const PIECES: u64 = 40;
const FLUSHED: u64 = 8;

/// Appends pieces that contain their number. Returns the number of durable pieces, and the
/// largest possible number of pieces.
fn append_pieces<C: Flash>(fs: &mut FileSystem<'_, C>) -> (u64, u64) {
    let mut durable = 0;
    let Ok(mut file) = fs.open("pieces", OpenOptions::CREATE) else { return (0, 0) };
    for index in 0..PIECES {
        if fs.append(&mut file, &[index as u8; 256]).is_err() {
            return (durable, index + 1);
        }
        if index % FLUSHED == FLUSHED - 1 {
            if fs.sync(CommitOn::FSYNC).is_err() {
                return (durable, index + 1);
            }
            durable = index + 1;
        }
    }
    (durable, PIECES)
}

/// Checks that all durable pieces are there, that all pieces there were written, and that nothing
/// else has changed.
fn look_at_pieces<C: Flash>(
    fs: &mut FileSystem<'_, C>,
    config: &Config,
    (durable, most): (u64, u64),
    what: &str,
) {
    let mut scratch = vec![0; config.check_bytes(&fs.flash().geometry())];
    fs.check(&mut scratch, false, &mut |finding| panic!("{what}: {finding:?}")).unwrap();
    let size = fs.stat("pieces").map_or(0, |entry| entry.size);
    assert!(
        (durable * 256..=most * 256).contains(&size),
        "{what}: {size} B of {durable} to {most} pieces"
    );
    let mut data = vec![0; size as usize];
    if size > 0 {
        let mut file = fs.open("pieces", OpenOptions::READ).unwrap();
        assert_eq!(fs.read(&mut file, 0, &mut data), Ok(data.len()));
        fs.close(file).unwrap();
    }
    assert!(
        (0..).zip(&data).all(|(at, &byte)| byte == (at / 256) as u8),
        "{what}: bytes that were not written"
    );
    for number in [1, 203, 402] {
        let mut file = fs.open(&*format!("file {number}"), OpenOptions::READ).unwrap();
        let mut data = vec![0; 8_000];
        assert_eq!(fs.read(&mut file, 0, &mut data), Ok(8_000));
        assert!(data.iter().all(|&byte| byte == 7), "{what}: file {number}");
        fs.close(file).unwrap();
    }
}

/// Cuts each operation of the chip, and fails each program, while small changes leave a crowded
/// buffer beside the written pieces.
fn cut_and_fail<C: Flash + Tearable + Clone>(chip: C) {
    let (ground, config) = crowded(chip);
    let mut memory = vec![0; config.memory_bytes(&ground.geometry())];
    let mut done = [false; 2];
    for n in 1.. {
        let mut cut = PowerCut::new(ground.clone(), n);
        cut.cut_at(n);
        let pieces = match FileSystem::mount(&mut cut, Access::ReadWrite, &mut memory) {
            Ok(mut fs) => append_pieces(&mut fs),
            Err(_) => (0, 0),
        };
        done[0] |= !cut.is_off();
        cut.cancel();
        cut.power_on();
        let mut fs = FileSystem::mount(&mut cut, Access::ReadWrite, &mut memory).unwrap();
        look_at_pieces(&mut fs, &config, pieces, &format!("cut at {n}"));

        let mut failing = FailOps::new(ground.clone(), n);
        failing.fail_program(n);
        let mut fs = FileSystem::mount(&mut failing, Access::ReadWrite, &mut memory).unwrap();
        let pieces = append_pieces(&mut fs);
        look_at_pieces(&mut fs, &config, pieces, &format!("failed program {n}"));
        done[1] |= fs.flash().programs() < n;
        if done == [true; 2] {
            return;
        }
    }
}

#[test]
fn cuts_and_failures_lose_nothing_while_small_changes_leave_a_crowded_buffer() {
    cut_and_fail(nor());
    cut_and_fail(nand());
}
