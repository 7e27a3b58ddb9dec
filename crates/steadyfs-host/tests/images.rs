//! Images of chips: volumes in files, reopened from the file alone.

use crate::common::{GEOMETRY, NAND, NOR, SHAPES, Scratch, fill, format, verify, volume};
use steadyfs::media::nor::NorPages;
use steadyfs::media::{Failure, Flash, TAG_BYTES};
use steadyfs::{Access, Config, FileSystem};
use steadyfs_host::image::{Image, ImageError, Refusal, Shape, TAG_OFFSET};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, Profile, TimingChoice};

const STRIDE: usize = 512 + 18;

/// Returns the offset of a page's spare area in the file of [`NAND`].
fn spare(page: usize) -> usize {
    page * STRIDE + 512
}

/// Makes an erased image of [`NAND`].
fn nand() -> (Scratch, Image) {
    let scratch = Scratch::new();
    let image = Image::create(&scratch, &NAND).expect("create");
    (scratch, image)
}

#[test]
fn a_volume_is_reopened_from_its_file_alone() {
    for shape in SHAPES {
        let scratch = volume(&shape);
        let image = Image::open(&scratch, Access::ReadWrite)
            .unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        assert_eq!(image.shape(), shape);
        let image = fill(verify(image, Access::ReadWrite));
        assert_eq!(image.refusal(), None, "{shape:?}");
        drop(image);
        verify(Image::open(&scratch, Access::ReadWrite).expect("open"), Access::ReadWrite);
    }
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    for shape in SHAPES {
        assert!(volume(&shape).bytes() == volume(&shape).bytes(), "{shape:?}");
    }
}

#[test]
fn a_new_image_is_as_long_as_the_chip_and_erased() {
    for shape in SHAPES {
        let scratch = Scratch::new();
        Image::create(&scratch, &shape).expect("create");
        let bytes = scratch.bytes();
        assert_eq!(bytes.len() as u64, shape.file_bytes());
        assert!(bytes.iter().all(|&byte| byte == 0xFF));
    }
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let scratch = Scratch::with(b"precious");
    assert!(matches!(Image::create(&scratch, &NAND), Err(ImageError::Io(_))));
    assert_eq!(scratch.bytes(), b"precious");
}

#[test]
fn nand_holds_what_the_simulated_chip_holds_with_tags_in_the_spare_area() {
    let chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let mut chip = fill(format(chip));
    let bytes = volume(&NAND).bytes();
    for (page, stored) in bytes.chunks_exact(STRIDE).enumerate() {
        let (mut data, mut tag) = ([0; 512], [0; TAG_BYTES]);
        chip.read(page as u32, &mut data, &mut tag).unwrap();
        let (stored_data, stored_spare) = stored.split_at(512);
        assert_eq!(stored_data, data, "data of page {page}");
        assert_eq!(stored_spare[..2], [0xFF; 2], "mark of page {page}");
        assert_eq!(stored_spare[TAG_OFFSET as usize..][..TAG_BYTES], tag, "tag of page {page}");
    }
}

#[test]
fn nor_holds_the_bytes_of_the_simulated_chip() {
    let chip = NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, 1), 256);
    let mut chip = fill(format(chip)).into_chip();
    let mut expected = vec![0; 64 * 4096];
    steadyfs::media::nor::NorFlash::read(&mut chip, 0, &mut expected).unwrap();
    assert!(volume(&NOR).bytes() == expected);
}

#[test]
fn time_and_counts_are_those_of_the_simulated_chip() {
    let chip = fill(format(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1)));
    let (_scratch, image) = nand();
    assert_eq!(fill(format(image)).counters(), chip.counters());
    let chip = fill(format(NorPages::new(Nor::with_geometry(4096, 64, NorTiming::ROUND, 1), 256)));
    let scratch = Scratch::new();
    let image = fill(format(Image::create(&scratch, &NOR).expect("create")));
    assert_eq!(image.counters(), chip.counters());
}

#[test]
fn a_profile_gives_its_times() {
    for profile in Profile::all() {
        if profile.nor().is_some_and(|nor| nor.erase_us(4096).is_none()) {
            continue; // it has larger sectors than the image
        }
        let shape = if profile.nand().is_some() { NAND } else { NOR };
        let scratch = Scratch::new();
        let image = Image::create(&scratch, &shape).expect("create");
        let mut image = image.with_profile(&profile, TimingChoice::Maximum).expect("profile");
        image.erase(1).unwrap();
        assert_eq!(image.time_ns(), image.timing().erase_ns, "{}", profile.name);
        assert_eq!(
            image.can_copy(),
            profile.nand().is_some_and(|nand| nand.on_chip_copy),
            "{}",
            profile.name
        );
        drop(image);
        let other = if profile.nand().is_some() { NOR } else { NAND };
        let scratch = Scratch::new();
        let error = Image::create(&scratch, &other)
            .expect("create")
            .with_profile(&profile, TimingChoice::Typical)
            .unwrap_err();
        assert!(matches!(error, ImageError::Profile { .. }), "{error}");
    }
}

#[test]
fn marked_blocks_are_left_alone() {
    let (scratch, image) = nand();
    drop(image);
    let mut bytes = scratch.bytes();
    // The second superblock would lie in block 1.
    let bad = [1, 9, 40];
    for block in bad {
        bytes[spare(block * 16)] = 0;
        bytes[spare(block * 16) + 3] = 0x5A;
    }
    std::fs::write(&scratch, &bytes).expect("write");

    let mut image = Image::open_as(&scratch, Access::ReadWrite, &NAND).expect("open");
    let found: Vec<_> = (0..64).filter(|&block| image.is_bad(block).unwrap()).collect();
    assert_eq!(found, bad.map(|block| block as u32));
    let mut memory = crate::common::memory(&image);
    let config = Config { bad_blocks_max: 3, ..Config::for_geometry(&GEOMETRY) };
    let mut image = fill(FileSystem::format(image, &config, &mut memory).expect("format"));
    assert_eq!(image.erase(9), Err(Failure::BadBlock));
    assert_eq!(image.refusal(), Some(&Refusal::BadBlock { block: 9 }));
    assert_eq!(image.program(9 * 16 + 1, &[0], &[0; 16]), Err(Failure::BadBlock));
    drop(image);
    let after = scratch.bytes();
    for block in bad {
        let range = block * 16 * STRIDE..(block + 1) * 16 * STRIDE;
        assert!(after[range.clone()] == bytes[range], "block {block} is as it was");
    }
    verify(Image::open(&scratch, Access::ReadWrite).expect("open"), Access::ReadWrite);
}

#[test]
fn mark_bad_writes_the_mark_where_factories_do() {
    let (scratch, mut image) = nand();
    assert_eq!(image.is_bad(5), Ok(false));
    image.mark_bad(5).unwrap();
    assert_eq!(image.is_bad(5), Ok(true));
    assert_eq!(image.erase(5), Err(Failure::BadBlock));
    drop(image);
    assert_eq!(scratch.bytes()[spare(5 * 16)..][..3], [0, 0, 0xFF]);
}

/// A dump whose newest mark is younger than its newest root looks like this: the volume still
/// counts on the block.
#[test]
fn a_block_marked_behind_the_volumes_back_is_given_up_by_it() {
    let scratch = volume(&NAND);
    let mut image = Image::open(&scratch, Access::ReadWrite).expect("open");
    image.mark_bad(30).unwrap();
    let erases = image.counters().erases;
    while image.refusal().is_none() {
        image = fill(image);
        assert!(image.counters().erases < erases + 10_000, "block 30 is never used");
    }
    assert_eq!(image.refusal(), Some(&Refusal::BadBlock { block: 30 }));
    verify(image, Access::ReadWrite);
}

#[test]
fn illegal_use_is_refused_and_explained() {
    let (_scratch, mut image) = nand();
    let tag = [0; TAG_BYTES];
    image.program(18, &[1], &tag).unwrap();
    let refused = |image: &mut Image, page, data: &[u8]| {
        assert_eq!(image.program(page, data, &tag), Err(Failure::Device));
        image.refusal().expect("a reason").to_string()
    };
    assert_eq!(
        refused(&mut image, 18, &[1]),
        "page 18 (block 1) is programmed already; expected an erase of the block first"
    );
    assert_eq!(
        refused(&mut image, 17, &[1]),
        "page 17 comes before page 18 of block 1, which is programmed; expected pages in ascending \
         order"
    );
    assert_eq!(refused(&mut image, 1024, &[1]), "page 1024 does not exist: the chip has 1024");
    assert_eq!(
        refused(&mut image, 19, &[1; 513]),
        "the buffer for page 19 has 513 bytes; expected 512"
    );
    assert_eq!(image.erase(64), Err(Failure::Device));
    assert_eq!(image.refusal().unwrap().to_string(), "block 64 does not exist: the chip has 64");
    assert_eq!(image.program_loaded(19, &tag), Err(Failure::Device));
    assert_eq!(image.refusal(), Some(&Refusal::NothingLoaded { page: 19 }));
    image.program(20, &[1], &tag).expect("a legal program after all that");
}

#[test]
fn the_order_of_programs_is_kept_across_a_reopening() {
    let (scratch, mut image) = nand();
    image.program(18, &[1], &[0; 16]).unwrap();
    drop(image);
    let mut image = Image::open_as(&scratch, Access::ReadWrite, &NAND).expect("open");
    assert_eq!(image.program(18, &[1], &[0; 16]), Err(Failure::Device));
    assert_eq!(image.refusal(), Some(&Refusal::ProgrammedTwice { page: 18, block: 1 }));
    image.program(19, &[1], &[0; 16]).unwrap();
    image.erase(1).unwrap();
    image.program(16, &[1], &[0; 16]).unwrap();
}

#[test]
fn nor_cannot_set_a_bit_without_an_erase() {
    let scratch = Scratch::new();
    let mut image = Image::create(&scratch, &NOR).expect("create");
    image.program(0, &[0x0F], &[0; 16]).unwrap();
    assert_eq!(image.program(0, &[0x10], &[0; 16]), Err(Failure::Device));
    assert_eq!(
        image.refusal().unwrap().to_string(),
        "byte 0x100 holds 0x0f; 0x10 cannot be programmed over it without an erase"
    );
    image.erase(0).unwrap();
    image.program(0, &[0x10], &[0; 16]).unwrap();
}

#[test]
fn a_copy_on_the_chip_keeps_the_data_and_takes_the_new_tag() {
    let (_scratch, mut image) = nand();
    let mut tag = [0; TAG_BYTES];
    image.program(3, b"data", &[7; 16]).unwrap();
    image.read_tag(3, &mut tag).unwrap();
    image.program_loaded(20, &[9; 16]).unwrap();
    let mut data = [0; 512];
    image.read(20, &mut data, &mut tag).unwrap();
    assert!(data.starts_with(b"data\xFF") && tag == [9; 16]);
    assert_eq!(image.counters().copies, 1);
}

#[test]
fn an_image_opened_for_reading_is_never_written() {
    for shape in SHAPES {
        let scratch = volume(&shape);
        let before = scratch.bytes();
        let mut permissions = std::fs::metadata(&scratch).expect("metadata").permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&scratch, permissions).expect("permissions");

        let mut image =
            verify(Image::open(&scratch, Access::ReadOnly).expect("open"), Access::ReadOnly);
        assert_eq!(image.erase(20), Err(Failure::Device));
        assert_eq!(
            image.program(20 * image.geometry().pages_per_block, &[0], &[0; 16]),
            Err(Failure::Device)
        );
        assert_eq!(image.refusal(), Some(&Refusal::ReadOnly));
        if matches!(shape, Shape::Nand { .. }) {
            assert_eq!(image.mark_bad(20), Err(Failure::Device));
        }
        drop(image);
        assert!(scratch.bytes() == before, "{shape:?}");
    }
}

#[test]
fn a_known_shape_opens_a_chip_that_was_never_formatted() {
    for shape in SHAPES {
        let scratch = Scratch::new();
        Image::create(&scratch, &shape).expect("create");
        assert!(matches!(Image::open(&scratch, Access::ReadWrite), Err(ImageError::NoSuperblock)));
        let image = Image::open_as(&scratch, Access::ReadWrite, &shape).expect("open");
        verify(fill(format(image)), Access::ReadWrite);
    }
}
