//! Files that are no images, or no longer: each gets an error that names the fault.

use crate::common::{NAND, NOR, SHAPES, Scratch, volume};
use steadyfs::{Access, FileSystem};
use steadyfs_host::image::{Image, ImageError};

fn refused(bytes: &[u8]) -> ImageError {
    let scratch = Scratch::with(bytes);
    Image::open(&scratch, Access::ReadOnly)
        .err()
        .unwrap_or_else(|| panic!("a file of {} bytes was opened", bytes.len()))
}

#[test]
fn an_empty_file_is_named_so() {
    assert_eq!(refused(&[]).to_string(), "the file is empty; expected the bytes of a whole chip");
}

#[test]
fn a_file_without_a_superblock_is_named_so() {
    for bytes in
        [&[0xFF; 100_000][..], &[0; 100_000], b"SteadyF", b"hsqs, a file system of somebody else"]
    {
        assert!(matches!(refused(bytes), ImageError::NoSuperblock));
    }
}

#[test]
fn a_missing_file_is_an_error_of_the_host() {
    assert!(matches!(Image::open(Scratch::new(), Access::ReadOnly), Err(ImageError::Io(_))));
}

#[test]
fn truncated_images_say_how_long_they_should_be() {
    let bytes = volume(&NAND).bytes();
    assert_eq!(
        refused(&bytes[..bytes.len() - 1]).to_string(),
        "the file is truncated: it has 542719 bytes; expected 542720, 1024 pages of 512 bytes with \
         at least 18 spare bytes each"
    );
    let bytes = volume(&NOR).bytes();
    assert_eq!(
        refused(&bytes[..bytes.len() / 2]).to_string(),
        "the file is truncated: it has 131072 bytes; expected 262144, 64 blocks of 4096 bytes"
    );
}

#[test]
fn truncation_anywhere_has_a_named_error() {
    for shape in SHAPES {
        let bytes = volume(&shape).bytes();
        for length in [
            1,
            7,
            8,
            21,
            22,
            100,
            512,
            520,
            4096,
            4110,
            20_000,
            bytes.len() / 2,
            bytes.len() - 4096,
            bytes.len() - 1,
        ] {
            match refused(&bytes[..length]) {
                ImageError::Truncated { found, expected, .. } => {
                    assert!(found == length as u64 && expected > found)
                }
                ImageError::Length { found, .. } => assert_eq!(found, length as u64),
                // The shapes of 2 KiB pages have 2,048 pages, which divide the 4,096 missing bytes.
                ImageError::SecondSuperblock { .. } => {
                    assert!(length > bytes.len() - 8192, "{shape:?}: {length}")
                }
                ImageError::NoSuperblock => assert!(length < 4110, "{shape:?}: {length}"),
                other => panic!("{shape:?}: {length}: {other}"),
            }
        }
    }
}

#[test]
fn a_cut_that_looks_like_smaller_spare_areas_is_found_out() {
    let bytes = volume(&SHAPES[1]).bytes();
    assert_eq!(
        refused(&bytes[..bytes.len() - 2 * 2048]).to_string(),
        "no second superblock at byte 135040, the beginning of block 1 if each page has 62 spare \
         bytes, as the file length suggests: the file is truncated, or the block is damaged"
    );
}

#[test]
fn images_that_are_too_long_have_the_wrong_length() {
    for shape in SHAPES {
        let mut bytes = volume(&shape).bytes();
        bytes.push(0xFF);
        let error = refused(&bytes);
        assert!(
            matches!(error, ImageError::Length { found, .. } if found == bytes.len() as u64),
            "{error}"
        );
    }
    let mut bytes = volume(&NOR).bytes();
    bytes.push(0);
    assert_eq!(
        refused(&bytes).to_string(),
        "the file has the wrong length of 262145 bytes; expected 262144, 64 blocks of 4096 bytes"
    );
}

#[test]
fn a_dump_without_spare_areas_is_refused() {
    let bytes = volume(&NAND).bytes();
    let data: Vec<u8> = bytes.chunks_exact(530).flat_map(|page| page[..512].to_vec()).collect();
    let error = refused(&data).to_string();
    assert!(
        error.ends_with("1024 pages of 512 bytes with at least 18 spare bytes each"),
        "{error}"
    );
}

/// Each of the first bytes of a superblock is damaged. The file is refused, or the mount refuses
/// the volume, or the damage is in a copy that the mount does not need.
#[test]
fn damaged_superblocks_never_panic() {
    for shape in [NAND, NOR] {
        let whole = volume(&shape).bytes();
        let start = whole.windows(8).position(|bytes| bytes == b"SteadyFS").expect("a superblock");
        for at in 0..110 {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bytes = whole.clone();
                bytes[start + at] = value;
                let scratch = Scratch::with(&bytes);
                if let Ok(image) = Image::open(&scratch, Access::ReadOnly) {
                    let mut memory = vec![0; 1 << 16];
                    let _ = FileSystem::mount(image, Access::ReadOnly, &mut memory).map(|_| ());
                }
            }
        }
    }
}

#[test]
fn the_wrong_shape_is_refused_by_length() {
    let scratch = volume(&NAND);
    let error = Image::open_as(&scratch, Access::ReadOnly, &NOR).unwrap_err();
    assert!(matches!(error, ImageError::Length { found: 542_720, .. }), "{error}");
    let scratch = volume(&NOR);
    let error = Image::open_as(&scratch, Access::ReadOnly, &NAND).unwrap_err();
    assert!(
        matches!(error, ImageError::Truncated { found: 262_144, expected: 542_720, .. }),
        "{error}"
    );
}
