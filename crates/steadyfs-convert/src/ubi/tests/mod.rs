//! Images of ubinize, and images that a running system leaves.

use super::header::{HEADER_BYTES, LAYOUT, crc};
use super::{Error, Volume, is_ubi, volumes};
use crate::fixture;
use crate::tree::Limit;
use crate::ubifs;
use std::fs;
use std::time::{Duration, Instant};

const PHYSICAL_BYTES: usize = 128 << 10;

/// An image that ubinize makes of two volumes, and the content of these volumes.
struct Made {
    image: Vec<u8>,
    dynamic: Vec<u8>,
    fixed: Vec<u8>,
}

/// Makes an image of a dynamic and a static volume. Returns `None` if the tool is missing.
fn ubinize(dynamic: &[u8], options: &str) -> Option<Made> {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let fixed: Vec<u8> = (0..300_001u32).map(|at| (at.wrapping_mul(at) >> 10) as u8).collect();
    fs::write(at("dynamic"), dynamic).expect("writes");
    fs::write(at("fixed"), &fixed).expect("writes");
    let volume = |id: u32, name: &str, kind: &str, more: &str| {
        let image = at(name);
        format!(
            "[{name}]\nmode=ubi\nimage={image}\nvol_id={id}\nvol_type={kind}\n\
             vol_name={name}\n{more}\n"
        )
    };
    let table = volume(0, "dynamic", "dynamic", "vol_size=30MiB\nvol_flags=autoresize")
        + &volume(5, "fixed", "static", "");
    fs::write(at("table"), table).expect("writes");
    let out = at("out");
    let mut arguments = vec!["-o", &out];
    arguments.extend(options.split(' '));
    let table = at("table");
    arguments.push(&table);
    let image = fixture::run("ubinize", &arguments).then(|| fs::read(&out).expect("reads"))?;
    Some(Made { image, dynamic: dynamic.to_vec(), fixed })
}

fn made() -> Option<Made> {
    let dynamic: Vec<u8> = (0..500_000u32).map(|at| (at.wrapping_mul(at) >> 13) as u8).collect();
    ubinize(&dynamic, "-p 128KiB -m 2048")
}

fn compare(image: &[u8], made: &Made) -> Vec<Volume> {
    let volumes = volumes(image).expect("a sound image");
    let names: Vec<_> =
        volumes.iter().map(|volume| (volume.id, &volume.name[..], volume.is_static)).collect();
    assert_eq!(names, [(0, "dynamic", false), (5, "fixed", true)]);
    assert!(volumes[0].bytes.starts_with(&made.dynamic));
    assert!(volumes[0].bytes[made.dynamic.len()..].iter().all(|&byte| byte == 0xff));
    assert!(volumes[1].bytes == made.fixed);
    volumes
}

/// Changes the header of a volume in a physical erase block, and updates its checksum.
fn change(physical: &mut [u8], change: impl FnOnce(&mut [u8])) {
    let header = &mut physical[2048..2048 + HEADER_BYTES];
    change(header);
    let sum = crc(&header[..60]).to_be_bytes();
    header[60..].copy_from_slice(&sum);
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Makes a newer copy of a block with the same numbers and other data.
fn newer(physical: &[u8], is_copy: bool) -> Vec<u8> {
    let mut newer = physical.to_vec();
    newer[4096..4196].fill(b'N');
    let sum = crc(&newer[4096..4096 + 1000]);
    change(&mut newer, |header| {
        header[6] = is_copy.into();
        header[47] = 9;
        put(header, 20, 1000);
        put(header, 32, sum);
    });
    newer
}

#[test]
fn volumes_are_read_whatever_the_size_of_blocks_and_pages() {
    let dynamic: Vec<u8> = (0..500_000u32).map(|at| (at.wrapping_mul(at) >> 13) as u8).collect();
    for options in [
        "-p 128KiB -m 2048",
        "-p 128KiB -m 2048 -s 512",
        "-p 64KiB -m 1",
        "-p 16KiB -m 512",
        "-p 1MiB -m 16384 -e 7",
    ] {
        let Some(made) = ubinize(&dynamic, options) else { return };
        assert!(is_ubi(&made.image));
        compare(&made.image, &made);
    }
}

#[test]
fn a_file_system_in_a_volume_is_read() {
    let root = tempfile::tempdir().expect("a directory");
    fixture::make(root.path());
    let Some(volume) = ubifs::mkfs_image(root.path(), &["-m", "2048", "-e", "126976", "-c", "500"])
    else {
        return;
    };
    let Some(made) = ubinize(&volume, "-p 128KiB -m 2048 -s 2048") else { return };
    let volumes = compare(&made.image, &made);
    assert_eq!(volumes[0].block_bytes, 126_976);
    fixture::compare(
        &ubifs::read(&volumes[0].bytes, Limit::default()).expect("a sound volume"),
        root.path(),
    );
}

#[test]
fn blocks_may_stand_anywhere_and_erased_or_bad_ones_between() {
    let Some(made) = made() else { return };
    let mut blocks: Vec<Vec<u8>> = made.image.chunks(PHYSICAL_BYTES).map(<[u8]>::to_vec).collect();
    let mut random = fastrand::Rng::with_seed(4);
    let mut erased = blocks[0].clone();
    erased[64..].fill(0xff);
    blocks.extend([erased, vec![0xff; PHYSICAL_BYTES]]);
    for _ in 0..10 {
        random.shuffle(&mut blocks);
        compare(&blocks.concat(), &made);
        let mut bad = blocks.clone();
        bad.insert(1, vec![0; PHYSICAL_BYTES]);
        compare(&bad.concat(), &made);
    }
}

#[test]
fn an_image_within_a_volume_does_not_change_the_size_of_blocks() {
    let Some(inner) = ubinize(&[5; 400_000], "-p 16KiB -m 512") else { return };
    let Some(made) = ubinize(&inner.image, "-p 128KiB -m 2048") else { return };
    let volumes = compare(&made.image, &made);
    compare(&volumes[0].bytes[..inner.image.len()], &inner);
}

#[test]
fn of_two_blocks_for_a_place_the_newer_counts() {
    let Some(mut made) = made() else { return };
    let newer = newer(&made.image[2 * PHYSICAL_BYTES..3 * PHYSICAL_BYTES], false);
    made.dynamic[..100].fill(b'N');
    compare(&[&made.image[..], &newer].concat(), &made);
    compare(
        &[&made.image[..2 * PHYSICAL_BYTES], &newer, &made.image[2 * PHYSICAL_BYTES..]].concat(),
        &made,
    );
}

#[test]
fn a_copy_counts_only_when_it_was_finished() {
    let Some(mut made) = made() else { return };
    let mut copy = newer(&made.image[2 * PHYSICAL_BYTES..3 * PHYSICAL_BYTES], true);
    copy[4500] ^= 1;
    compare(&[&made.image[..], &copy].concat(), &made);
    compare(
        &[&made.image[..2 * PHYSICAL_BYTES], &copy, &made.image[2 * PHYSICAL_BYTES..]].concat(),
        &made,
    );
    copy[4500] ^= 1;
    made.dynamic[..100].fill(b'N');
    compare(&[&made.image[..], &copy].concat(), &made);
}

#[test]
fn a_damaged_static_volume_is_refused() {
    let Some(made) = made() else { return };
    let mut image = made.image.clone();
    let end = image.len();
    image[end - PHYSICAL_BYTES + 4096] ^= 1;
    assert_eq!(volumes(&image), Err(Error::Damaged { id: 5, block: 2 }));
    image.truncate(end - PHYSICAL_BYTES);
    assert_eq!(volumes(&image), Err(Error::Damaged { id: 5, block: 2 }));
}

#[test]
fn one_copy_of_the_table_is_enough_and_none_is_refused() {
    let Some(made) = made() else { return };
    let mut image = made.image.clone();
    image[4096 + 20] ^= 1;
    compare(&image, &made);
    image[PHYSICAL_BYTES + 4096 + 20] ^= 1;
    assert_eq!(volumes(&image), Err(Error::NoTable));
}

#[test]
fn places_behind_the_end_and_unknown_internal_volumes_are_refused() {
    let Some(made) = made() else { return };
    let count = made.image.len() / PHYSICAL_BYTES;
    let with = |at: usize, value: u32| {
        let mut image = made.image.clone();
        change(&mut image[2 * PHYSICAL_BYTES..], |header| {
            header[7] = 5;
            put(header, at, value);
        });
        volumes(&image)
    };
    assert_eq!(with(12, u32::MAX), Err(Error::Place { id: 0, block: u32::MAX, count }));
    assert_eq!(with(12, count as u32 - 1), Err(Error::TooLarge(count)));
    assert_eq!(with(8, LAYOUT + 3), Err(Error::UnknownVolume(LAYOUT + 3)));
    assert_eq!(volumes(b"UBI#"), Err(Error::NoUbi));
    assert_eq!(volumes(&[]), Err(Error::NoUbi));
}

#[test]
fn damaged_images_are_read_or_refused_in_bounded_time() {
    let Some(made) = ubinize(&[7; 40_000], "-p 16KiB -m 512") else { return };
    let started = Instant::now();
    for number in 0..2000 {
        let mut image = fixture::damage(&made.image[..6 * 16384], number);
        // Half of the images get damage in their headers, with right checksums.
        if number % 2 == 0 {
            for physical in image.chunks_exact_mut(16384) {
                let mut random = fastrand::Rng::with_seed(number);
                for at in [0, 512] {
                    physical[at + random.usize(4..60)] ^= 1 << random.u8(0..8);
                    let sum = crc(&physical[at..at + 60]).to_be_bytes();
                    physical[at + 60..at + 64].copy_from_slice(&sum);
                }
            }
        }
        if let Ok(volumes) = volumes(&image) {
            assert!(
                volumes.iter().map(|volume| volume.bytes.len()).sum::<usize>()
                    <= image.len() + 16384
            );
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

/// Bytes of an erase block of [`small`].
pub(crate) const SMALL_BLOCK_BYTES: usize = 16 << 10;

/// Makes a header with its checksum.
fn header(magic: &[u8; 4], fields: &[(usize, u32)]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(magic);
    header[4] = 1;
    fields.iter().for_each(|&(at, value)| put(&mut header, at, value));
    let sum = crc(&header[..60]).to_be_bytes();
    header[60..].copy_from_slice(&sum);
    header
}

/// Makes an erase block that contains `data`, for logical erase block `place` of a volume with
/// `used` logical erase blocks.
fn erase_block(volume: u32, place: u32, used: u32, data: &[u8]) -> Vec<u8> {
    let mut block = vec![0xff; SMALL_BLOCK_BYTES];
    block[..HEADER_BYTES].copy_from_slice(&header(b"UBI#", &[(16, 512), (20, 1024)]));
    let kind = if volume == LAYOUT { 0x0101_0005 } else { 0x0102_0000 };
    let fields = [
        (4, kind),
        (8, volume),
        (12, place),
        (20, data.len() as u32),
        (24, used),
        (32, crc(data)),
        (44, place + 1),
    ];
    block[512..512 + HEADER_BYTES].copy_from_slice(&header(b"UBI!", &fields));
    block[1024..1024 + data.len()].copy_from_slice(data);
    block
}

/// Makes an image without a tool. It contains a static volume of four blocks behind both copies of
/// the table. Returns the image and the content of the volume.
pub(crate) fn small() -> (Vec<u8>, Vec<u8>) {
    let mut table = vec![0; SMALL_BLOCK_BYTES - 1024];
    for (number, record) in table.chunks_exact_mut(172).enumerate() {
        if number == 0 {
            put(record, 0, 4);
            (record[12], record[15]) = (2, 4);
            record[16..20].copy_from_slice(b"data");
        }
        let sum = crc(&record[..168]);
        put(record, 168, sum);
    }
    let content: Vec<u8> = (0..4 * 10_000u32).map(|at| (at.wrapping_mul(at) >> 10) as u8).collect();
    let mut image: Vec<u8> =
        (0..2).flat_map(|place| erase_block(LAYOUT, place, 0, &table)).collect();
    image.extend(
        content.chunks(10_000).zip(0..).flat_map(|(data, place)| erase_block(0, place, 4, data)),
    );
    (image, content)
}

/// A dump with an erased or damaged first erase block was not recognised as an image.
#[test]
fn a_damaged_first_block_costs_a_copy_of_the_table_alone() {
    let (image, content) = small();
    let read = |image: &[u8]| volumes(image).map(|volumes| volumes[0].bytes.clone());
    assert_eq!(read(&image), Ok(content.clone()));
    for (fill, bytes) in [
        (0xff, SMALL_BLOCK_BYTES),
        (0, SMALL_BLOCK_BYTES),
        (0x5a, SMALL_BLOCK_BYTES),
        (0, 4),
        (0xff, 64),
    ] {
        let mut damaged = image.clone();
        damaged[..bytes].fill(fill);
        assert_eq!(read(&damaged), Ok(content.clone()), "{fill:#x}");
    }
}
