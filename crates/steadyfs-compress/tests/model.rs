//! A compressed file has the same content as a `Vec`, and no call costs more than its bound.

mod common;

use common::{Random, Step, chip, content, difference, draw, format, make, spent, states};
use proptest::prelude::*;
use steadyfs::{Access, FileSystem, OpenOptions, Reader};
use steadyfs_compress::{Error, Method, PackedFile, Shape};

/// Returns the number of chunks that a step touches, including a rewrite of the last chunk before
/// a gap.
fn chunks(step: &Step, chunk: usize) -> u32 {
    let data = match step {
        Step::Write { data, .. } | Step::Append { data } => data.len(),
        _ => 0,
    };
    (data / chunk + 3) as u32
}

fn holds(seed: u64, shape: Shape, most: usize, steps: usize) {
    let (flash, mut ram) = format(chip());
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
    let mut file =
        PackedFile::create(&mut fs, "f", shape, vec![0; shape.write_bytes()]).expect("a file");
    let mut random = Random(seed);
    let (chunk, mut model) = (shape.chunk_bytes(), Vec::new());
    for number in 0..steps {
        let step = draw(&mut random, model.len(), most, chunk);
        let before = spent(&fs);
        let more = file.truncate_bound(&fs);
        let bound = file.write_bound(&fs).times(chunks(&step, chunk)).plus(&more);
        make(&mut fs, &mut file, &step)
            .unwrap_or_else(|error| panic!("seed {seed}, step {number}: {error}"));
        let took = difference(&spent(&fs), &before);
        assert!(
            took.is_within(&bound),
            "seed {seed}, step {number}: took {took:?}, at most {bound:?}"
        );
        model = states(&model, &step, chunk).pop().unwrap_or(model);
        if random.below(3) == 0 {
            file.forget();
        }
        let (at, count) = (random.below(model.len() + 1), random.below(2 * chunk));
        let mut data = vec![0; count];
        let before = spent(&fs).reads;
        let length = file.read(&mut fs, at as u64, &mut data).expect("content");
        assert!(
            spent(&fs).reads - before <= file.read_bound(&fs, count as u32).reads,
            "seed {seed}, step {number}: read"
        );
        assert_eq!(
            data[..length],
            model[at..(at + count).min(model.len())],
            "seed {seed}, step {number}: {step:?}"
        );
    }
    file.forget();
    assert!(content(&mut fs, &mut file) == model, "seed {seed}: the whole");
    file.close(&mut fs).expect("closed");
    // The reader returns the same content with the least memory.
    let flash = fs.unmount().expect("unmounted");
    let mut reader = Reader::mount(flash, &mut ram).expect("a mount");
    let mut file = PackedFile::open_in_reader(&mut reader, "f", vec![0; shape.read_bytes()])
        .expect("the file");
    let mut all = vec![0; model.len() + 1];
    assert_eq!(file.read(&mut reader, 0, &mut all).expect("content"), model.len());
    all.truncate(model.len());
    assert!(all == model, "seed {seed}: the reader");
    file.close_in_reader(&mut reader);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(12)
    })]

    #[test]
    fn lz4_in_small_groups_holds_what_a_vec_holds_within_its_bounds(
        seed: u64,
        size in 0u64..300_000,
    ) {
        holds(seed, Shape::new(4096, Method::Lz4).for_size(size), 150_000, 150);
    }

    #[test]
    fn lz4_in_large_chunks_holds_what_a_vec_holds_within_its_bounds(seed: u64) {
        holds(seed, Shape::new(16384, Method::Lz4).for_size(0), 200_000, 80);
    }
}

#[cfg(all(feature = "deflate", feature = "zstd"))]
#[test]
fn deflate_and_zstd_hold_what_a_vec_holds_within_their_bounds() {
    for method in [Method::Deflate, Method::Zstd] {
        holds(7, Shape::new(8192, method).for_size(0), 150_000, 80);
    }
}

fn with_file(act: impl FnOnce(&mut FileSystem<'_, steadyfs_sim::Nand>, &mut PackedFile<Vec<u8>>)) {
    let (flash, mut ram) = format(chip());
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut ram).expect("a mount");
    let shape = Shape::new(4096, Method::Lz4);
    let mut file =
        PackedFile::create(&mut fs, "f", shape, vec![0; shape.write_bytes()]).expect("a file");
    act(&mut fs, &mut file);
}

#[test]
fn a_chunk_that_grows_with_each_overwrite_always_finds_a_gap() {
    with_file(|fs, file| {
        let mut random = Random(3);
        let mut model = vec![b'x'; 63 * 4096];
        file.write(fs, 0, &model).expect("room");
        // Small chunks become large, in an order that leaves gaps between the other chunks, and
        // small again.
        for round in 0..4 {
            for index in 0..63 {
                let chunk = index * 37 % 63;
                let noise = if round % 2 == 0 { (round + 1) * 2000 % 4096 } else { 40 };
                for byte in &mut model[chunk * 4096..][..noise] {
                    *byte = random.below(256) as u8;
                }
                model[chunk * 4096 + noise..][..4096 - noise].fill(b'y');
                file.write(fs, (chunk * 4096) as u64, &model[chunk * 4096..][..4096])
                    .expect("a gap");
            }
        }
        file.forget();
        assert!(content(fs, file) == model);
    });
}

#[test]
fn text_takes_less_room_than_it_has_bytes_and_noise_no_more() {
    with_file(|fs, file| {
        let text: Vec<u8> = (0..40_000)
            .flat_map(|n| format!("{n}: 21.5 degrees\n").into_bytes())
            .take(252 * 1024)
            .collect();
        file.write(fs, 0, &text).expect("room");
        let taken = fs.allocated(file.inode()).expect("a file");
        assert!(taken * 2 < text.len() as u64, "{taken} bytes for {}", text.len());
        let mut random = Random(5);
        let noise: Vec<u8> = (0..text.len()).map(|_| random.below(256) as u8).collect();
        file.truncate(fs, 0).expect("cut");
        file.write(fs, 0, &noise).expect("room");
        let taken = fs.allocated(file.inode()).expect("a file");
        assert!(taken <= noise.len() as u64 + 2048, "{taken} bytes for {}", noise.len());
    });
}

#[test]
fn what_was_cut_away_reads_as_zeros_when_the_file_grows_again() {
    with_file(|fs, file| {
        file.write(fs, 0, &[7; 400_000]).expect("room");
        for cut in [300_001, 258_048, 100_000, 4096, 5] {
            file.truncate(fs, cut).expect("cut");
            file.truncate(fs, 399_999).expect("grown");
            file.forget();
            let all = content(fs, file);
            assert_eq!(all.len(), 399_999);
            assert!(
                all.iter()
                    .enumerate()
                    .all(|(at, &byte)| byte == if (at as u64) < cut { 7 } else { 0 }),
                "cut at {cut}"
            );
        }
    });
}

#[test]
fn a_cut_gives_room_back() {
    with_file(|fs, file| {
        let mut random = Random(5);
        let noise: Vec<u8> = (0..300_000).map(|_| random.below(256) as u8).collect();
        file.write(fs, 0, &noise).expect("room");
        file.truncate(fs, 9000).expect("cut");
        assert!(fs.allocated(file.inode()).expect("a file") <= 4 * 4096);
    });
}

#[test]
fn files_and_memory_that_do_not_fit_are_told() {
    with_file(|fs, file| {
        let plain = fs.open("plain", OpenOptions::CREATE).expect("a file");
        fs.close(plain).expect("closed");
        let needed = file.shape().read_bytes();
        assert_eq!(needed, 4144);
        assert_eq!(
            PackedFile::open(fs, "plain", false, vec![0; 9000]).err(),
            Some(Error::NotPacked)
        );
        let short = PackedFile::open(fs, "f", false, vec![0; needed - 1]).err();
        assert_eq!(short, Some(Error::MemoryTooSmall { needed, lent: needed - 1 }));
        let mut reads = PackedFile::open(fs, "f", false, vec![0; needed]).expect("memory to read");
        let needed = file.shape().write_bytes();
        assert_eq!(
            reads.write(fs, 0, b"x").err(),
            Some(Error::MemoryTooSmall { needed, lent: 4144 })
        );
        assert_eq!(
            file.write(fs, u64::MAX - 3, b"x").err(),
            Some(Error::Volume(steadyfs::Error::FileTooLarge))
        );
        reads.close(fs).expect("closed");
    });
}
