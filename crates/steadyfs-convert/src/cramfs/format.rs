//! Format of a whole image. `steadyfs_rom::cramfs::format` defines the format of its parts.

pub(super) use steadyfs_rom::cramfs::format::*;

/// Computes the checksum of an image whose superblock is at `at`.
pub(super) fn checksum(image: &[u8], at: usize) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&image[at..at + 32]);
    crc.update(&[0; 4]);
    crc.update(&image[at + 36..]);
    crc.finalize()
}

/// Returns the offset of the superblock, if there is one.
pub(super) fn superblock_at(image: &[u8]) -> Option<usize> {
    [0, BOOT_BYTES as usize]
        .into_iter()
        .find(|&at| image.get(at..).and_then(ByteOrder::of).is_some())
}

/// Returns true if an image begins as a cramfs image. The image may have either byte order, and may
/// begin with boot code.
pub fn is_cramfs(image: &[u8]) -> bool {
    superblock_at(image).is_some_and(|at| Superblock::parse(&image[at..]).is_ok())
}
