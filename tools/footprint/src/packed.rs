//! The calls of a compressed file.

use crate::driver::Nand;
use core::hint::black_box;
use steadyfs_compress::PackedFile;

type FileSystem<'m> = steadyfs::FileSystem<'m, Nand>;
type Packed = PackedFile<&'static mut [u8]>;

/// Opens a compressed file and reads it. With the feature `packed`, first creates a file, appends
/// to it, overwrites it and truncates it.
pub fn every_one(fs: &mut FileSystem<'_>) {
    #[cfg(feature = "packed")]
    writing::every_one(fs);
    let Some(mut file) = call_open(fs) else { return };
    call_read(fs, &mut file);
    black_box(file.close(fs).is_ok());
}

#[inline(never)]
fn call_open(fs: &mut FileSystem<'_>) -> Option<Packed> {
    PackedFile::open(fs, black_box("a"), black_box(true), memory()).ok()
}

#[inline(never)]
fn call_read(fs: &mut FileSystem<'_>, file: &mut Packed) {
    black_box(file.read(fs, black_box(0), black_box(&mut [])).is_ok());
}

fn memory() -> &'static mut [u8] {
    black_box(&mut [])
}

#[cfg(feature = "packed")]
mod writing {
    use super::*;
    use steadyfs_compress::{Method, Shape};

    pub fn every_one(fs: &mut FileSystem<'_>) {
        let Some(mut file) = call_create(fs) else { return };
        call_append(fs, &mut file);
        call_write(fs, &mut file);
        call_truncate(fs, &mut file);
        black_box(file.close(fs).is_ok());
    }

    #[inline(never)]
    fn call_create(fs: &mut FileSystem<'_>) -> Option<Packed> {
        PackedFile::create(fs, black_box("a"), black_box(Shape::new(4096, Method::Lz4)), memory())
            .ok()
    }

    #[inline(never)]
    fn call_append(fs: &mut FileSystem<'_>, file: &mut Packed) {
        black_box(file.append(fs, black_box(&[])).is_ok());
    }

    #[inline(never)]
    fn call_write(fs: &mut FileSystem<'_>, file: &mut Packed) {
        black_box(file.write(fs, black_box(0), black_box(&[])).is_ok());
    }

    #[inline(never)]
    fn call_truncate(fs: &mut FileSystem<'_>, file: &mut Packed) {
        black_box(file.truncate(fs, black_box(0)).is_ok());
    }
}
