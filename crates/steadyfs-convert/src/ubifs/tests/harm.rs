//! Damaged volumes.

use super::maker::*;
use crate::fixture;
use crate::tree::Limit;
use crate::ubifs::node::{MAGIC, crc, u32_at};
use crate::ubifs::read;
use std::time::{Duration, Instant};

/// Makes a volume with all types of nodes.
fn sound() -> Maker {
    let text = b"some text and the same text again and again".repeat(60);
    let blocks = [
        packed(64, 0, 2580, 1, &lzokay_native::compress(&text).expect("packs")),
        data(64, 1, b"plain"),
    ];
    let files = [
        directory(1),
        name(1, b"f", 64),
        file(64, 4101),
        name(1, b"d", 70),
        directory(70),
        name(70, b"g", 65),
        file(65, 10),
    ];
    let mut maker = Maker::new(&[&files[..], &blocks].concat());
    let zlib = packed(65, 0, 2580, 2, &miniz_oxide::deflate::compress_to_vec(&text, 6));
    let zstd = packed(65, 1, 2580, 3, &zstd::bulk::compress(&text, 3).expect("packs"));
    maker.bud(BUDS, 2, 2000, &[zlib, zstd, padding(20)]);
    let more = [
        truncation(64, 4101, 100),
        file(65, 7000),
        name(1, b"h", 64),
        attribute(64, b"user.x", 80),
        inode_with(80, 1, FILE, 0, 32, b"v"),
    ];
    maker.bud(BUDS + 1, 1, 2100, &more);
    maker
}

/// Corrects the checksums of all nodes, so that the checksums do not reveal the damage.
fn mend(image: &mut [u8]) {
    for at in (0..image.len().saturating_sub(24)).step_by(8) {
        if u32_at(image, at) == MAGIC {
            let end = at.saturating_add(u32_at(image, at + 16) as usize).min(image.len());
            if at + 8 <= end {
                let sum = crc(&image[at + 8..end]).to_le_bytes();
                image[at + 4..at + 8].copy_from_slice(&sum);
            }
        }
    }
}

/// Changes one bit of some nodes. Damage elsewhere would have no effect, because most of a volume
/// is erased.
fn damage_nodes(image: &mut [u8], number: u64) {
    let mut random = fastrand::Rng::with_seed(number);
    let nodes: Vec<usize> = (0..image.len().saturating_sub(24))
        .step_by(8)
        .filter(|&at| u32_at(image, at) == MAGIC)
        .collect();
    for _ in 0..random.usize(1..=4) {
        if let Some(&node) = random.choice(&nodes) {
            let at = node + random.usize(8..160);
            if let Some(byte) = image.get_mut(at) {
                *byte ^= 1 << random.u8(0..8);
            }
        }
    }
}

#[test]
fn damaged_volumes_are_read_or_refused_in_bounded_time() {
    let sound = sound().image;
    let limit = Limit { bytes: 50_000, inodes: 20 };
    assert!(read(&sound, limit).is_ok());
    let started = Instant::now();
    let mut read_count = 0;
    for number in 0..4000 {
        let mut image = fixture::damage(&sound, number);
        if number % 4 != 0 {
            damage_nodes(&mut image, number);
            mend(&mut image);
        }
        if let Ok(tree) = read(&image, limit) {
            assert!(tree.inodes().len() <= limit.inodes);
            read_count += 1;
        }
    }
    assert!(read_count > 100, "some damage is harmless: {read_count}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
