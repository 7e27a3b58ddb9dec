//! Shared parts of the tests of images: files that are removed, and volumes with known content.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_host::image::{Image, Shape};

/// Small NAND.
pub const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
/// Small NAND with the usual spare area.
pub const NAND: Shape = Shape::Nand { geometry: GEOMETRY, spare_bytes: 18 };
/// Small NOR.
pub const NOR: Shape = Shape::Nor { page_bytes: 256, block_bytes: 4096, block_count: 64 };
/// NAND with two sizes of spare area, single and double pages, and NOR with one and several pages
/// of tags.
pub const SHAPES: [Shape; 5] = [
    NAND,
    Shape::Nand {
        geometry: Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 32,
            programs_bytes: false,
        },
        spare_bytes: 64,
    },
    Shape::Nand {
        geometry: Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 32,
            programs_bytes: false,
        },
        spare_bytes: 128,
    },
    NOR,
    Shape::Nor { page_bytes: 512, block_bytes: 65_536, block_count: 32 },
];

/// A file with a unique name, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(
            std::env::temp_dir().join(format!("steadyfs-host-{}-{number}.img", std::process::id())),
        )
    }

    /// Makes a file with these bytes.
    pub fn with(bytes: &[u8]) -> Self {
        let scratch = Self::new();
        std::fs::write(&scratch.0, bytes).expect("write");
        scratch
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).expect("read")
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Allocates the RAM for a volume on a medium.
pub fn memory(flash: &impl Flash) -> Vec<u8> {
    let geometry = flash.geometry();
    vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry)]
}

pub fn format<F: Flash>(flash: F) -> F {
    let mut memory = memory(&flash);
    let config = Config::for_geometry(&flash.geometry());
    FileSystem::format(flash, &config, &mut memory).expect("format")
}

/// Returns bytes that are different in each file and at each offset.
fn content(file: usize) -> Vec<u8> {
    (0..file * 1500 + 10).map(|at| (at * 7 + at / 256 * 13 + file * 61) as u8).collect()
}

/// Writes some files and rewrites a part of them.
pub fn fill<F: Flash>(flash: F) -> F {
    let mut memory = memory(&flash);
    let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory).expect("mount");
    for round in 0..3 {
        for file in 0..8 {
            let mut handle = fs.open(&format!("file {file}"), OpenOptions::CREATE).expect("open");
            fs.write(&mut handle, 0, &vec![round; content(file).len()]).expect("write");
            fs.write(&mut handle, 0, &content(file)).expect("write");
            fs.sync(steadyfs::CommitOn::SYNC).expect("sync");
        }
    }
    fs.unmount().expect("unmount")
}

/// Checks that the files of [`fill`] are there.
pub fn verify<F: Flash>(flash: F, access: Access) -> F {
    let mut memory = memory(&flash);
    let mut fs = FileSystem::mount(flash, access, &mut memory).expect("mount");
    for file in 0..8 {
        let mut handle = fs.open(&format!("file {file}"), OpenOptions::READ).expect("open");
        let mut data = vec![0; 16_384];
        let count = fs.read(&mut handle, 0, &mut data).expect("read");
        assert!(data[..count] == content(file), "content of file {file}");
    }
    fs.unmount().expect("unmount")
}

/// Makes a new image with a volume and its files, and closes it.
pub fn volume(shape: &Shape) -> Scratch {
    let scratch = Scratch::new();
    fill(format(Image::create(&scratch, shape).expect("create"))).sync().expect("sync");
    scratch
}
