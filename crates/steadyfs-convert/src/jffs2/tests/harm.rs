//! Tests of damaged images, and of images that are made to take a long time.

use super::maker::{Maker, Part};
use super::mkfs;
use crate::fixture;
use crate::jffs2::node::{Order, crc};
use crate::jffs2::read;
use crate::tree::Limit;
use std::fs;
use std::time::{Duration, Instant};

/// Corrects all checksums of headers, inodes and entries, so that the checksums do not reveal the
/// damage.
fn mend(image: &mut [u8], order: Order) {
    let put = |image: &mut [u8], at: usize, value: u32| {
        image[at..at + 4].copy_from_slice(&match order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        });
    };
    for at in (0..image.len().saturating_sub(68)).step_by(4) {
        if order.u16(image, at) != 0x1985 {
            continue;
        }
        let sum = crc(&image[at..at + 8]);
        put(image, at + 8, sum);
        match order.u16(image, at + 2) {
            0xe002 => {
                let end =
                    (at + 68).saturating_add(order.u32(image, at + 48) as usize).min(image.len());
                let (data, head) = (crc(&image[at + 68..end]), crc(&image[at..at + 60]));
                put(image, at + 60, data);
                put(image, at + 64, head);
            }
            0xe001 => {
                let end = (at + 40 + usize::from(image[at + 28])).min(image.len());
                let (head, name) = (crc(&image[at..at + 32]), crc(&image[at + 40..end]));
                put(image, at + 32, head);
                put(image, at + 36, name);
            }
            _ => {}
        }
    }
}

#[test]
fn damaged_images_are_read_or_refused_in_bounded_time() {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir(root.path().join("d")).expect("makes");
    for index in 0..12 {
        fs::write(root.path().join(format!("d/{index}")), "text ".repeat(index * 200))
            .expect("writes");
    }
    fs::write(
        root.path().join("noise"),
        (0..9000u32).map(|at| ((at * at) >> 9) as u8).collect::<Vec<_>>(),
    )
    .expect("writes");
    let limit = Limit { bytes: 300_000, inodes: 40 };
    let started = Instant::now();
    for (order, options) in
        [(Order::Little, ["-l", "-n", "-m", "priority"]), (Order::Big, ["-b", "-n", "-X", "lzo"])]
    {
        let Some(sound) = mkfs::image(root.path(), &options) else { return };
        for number in 0..2000 {
            let mut image = fixture::damage(&sound, number);
            // Half of the images get right checksums. Otherwise only the checks of the checksums
            // would be tested.
            if number % 2 == 0 {
                mend(&mut image, order);
            }
            if let Ok(tree) = read(&image, limit) {
                assert!(tree.inodes().len() <= limit.inodes);
            }
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn many_nodes_that_claim_the_same_bytes_cost_no_more_than_one_look_each() {
    let mut maker = Maker::new(Order::Little);
    maker.entry(1, 1, 2, b"f");
    let size_bytes = 50_000_000;
    for version in 1..20_000 {
        maker.write(Part {
            compressor: 1,
            unpacked_bytes: size_bytes,
            ..Part::plain(version, size_bytes, 0, b"")
        });
    }
    let started = Instant::now();
    read(&maker.image, Limit::default()).expect("sound");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_long_chain_of_directories_is_read() {
    let mut maker = Maker::new(Order::Big);
    for inode in 1..50_000 {
        maker.entry(inode, 1, inode + 1, b"d");
    }
    maker.write(Part { inode: 50_000, ..Part::plain(1, 1, 0, b"x") });
    let tree = read(&maker.image, Limit::default()).expect("sound");
    assert_eq!(tree.inodes().len(), 50_000);
}
