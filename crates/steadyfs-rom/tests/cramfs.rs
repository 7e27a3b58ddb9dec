//! Reads images that `mkfs.cramfs` made. Without `mkfs.cramfs` there is nothing to read.
#![cfg(feature = "deflate")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use steadyfs_rom::cramfs::{Cursor, Node};
use steadyfs_rom::{Cramfs, Error, InRam, Kind};

fn compare(rom: &mut Cramfs<'_, InRam<'_>>, node: &Node, path: &Path) -> usize {
    let there = fs::symlink_metadata(path).expect("a file");
    assert_eq!(u32::from(node.stat().mode), there.mode() & 0o7777);
    match node.stat().kind {
        Kind::Directory => {
            let mut cursor = Cursor::default();
            let mut count = 1;
            while let Some(entry) = rom.list(node, &mut cursor).expect("an entry") {
                let name = std::str::from_utf8(entry.name()).expect("text").to_string();
                rom.lookup(node, entry.name()).expect("what was listed");
                count += compare(rom, &entry.node, &path.join(name));
            }
            assert_eq!(rom.lookup(node, b"zzz").err(), Some(Error::NotFound));
            count
        }
        Kind::Symlink => {
            let mut target = [0; 200];
            let count = rom.read_link(node, &mut target).expect("a target");
            assert_eq!(
                target[..count],
                *fs::read_link(path).expect("a link").as_os_str().as_encoded_bytes()
            );
            1
        }
        _ => {
            let there = fs::read(path).expect("a file");
            let mut all = vec![0; there.len() + 9];
            assert_eq!(rom.read(node, 0, &mut all).expect("content"), there.len());
            assert!(all[..there.len()] == there, "{path:?}");
            let mut some = [0; 5000];
            let count = rom.read(node, there.len() as u64 / 3, &mut some).expect("content");
            assert!(some[..count] == there[there.len() / 3..there.len() / 3 + count]);
            1
        }
    }
}

#[test]
fn what_mkfs_cramfs_made_reads_as_the_tree() {
    if Command::new("mkfs.cramfs").arg("-V").output().is_err() {
        eprintln!("mkfs.cramfs is not there");
        return;
    }
    let place = tempfile::tempdir().expect("a place");
    let tree = place.path().join("tree");
    let mut rng = fastrand::Rng::with_seed(5);
    for (index, bytes) in [0usize, 1, 4095, 4096, 4097, 100_000, 40_000].into_iter().enumerate() {
        let content: Vec<u8> = (0..bytes)
            .map(|at| if index == 6 { rng.u8(..) } else { b"flash keeps time. "[at % 18] })
            .collect();
        fs::create_dir_all(tree.join("sizes")).expect("a directory");
        fs::write(tree.join(format!("sizes/{index}")), content).expect("a file");
    }
    fs::write(tree.join("zeros"), vec![0; 50_000]).expect("a file");
    for index in 0..300 {
        fs::write(tree.join(format!("n{index}-{}", "y".repeat(index % 30))), index.to_string())
            .expect("a file");
    }
    symlink("sizes/3", tree.join("link")).expect("a link");
    for options in
        [&["-N", "little"][..], &["-N", "big"], &["-z", "-N", "little"], &["-p", "-n", "rootfs"]]
    {
        let image = place.path().join("image");
        let made = Command::new("mkfs.cramfs")
            .args(options)
            .arg(&tree)
            .arg(&image)
            .output()
            .expect("mkfs.cramfs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let image = fs::read(&image).expect("an image");
        let mut memory = vec![0; Cramfs::<InRam<'_>>::MEMORY_BYTES];
        let mut rom = Cramfs::mount(InRam::new(&image), &mut memory).expect("an image");
        let root = rom.root();
        assert_eq!(compare(&mut rom, &root, &tree), 1 + 1 + 7 + 1 + 300 + 1, "{options:?}");
        for at in (0..image.len()).step_by(37) {
            let mut damaged = image.clone();
            damaged[at] ^= 0x41;
            let mut memory = vec![0; Cramfs::<InRam<'_>>::MEMORY_BYTES];
            let Ok(mut rom) = Cramfs::mount(InRam::new(&damaged), &mut memory) else { continue };
            if let Ok(node) = rom.find("sizes/5") {
                let _ = rom.read(&node, 0, &mut vec![0; 100_000]);
            }
        }
    }
}
