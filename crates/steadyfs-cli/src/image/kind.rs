//! The kind of a file of the host, and the identity of a file that has several names.

use super::tree::Kind as What;
use std::fs::Metadata;
use steadyfs_convert::Kind;

/// Returns the kind of a file of the host.
pub fn kind_of(metadata: &Metadata) -> What {
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => What::Directory,
        () if kind.is_file() => What::File,
        () if kind.is_symlink() => What::Symlink,
        () => match special(metadata) {
            Some(Kind::Device { is_block: true, .. }) => What::BlockDevice,
            Some(Kind::Device { is_block: false, .. }) => What::CharacterDevice,
            Some(Kind::Fifo) => What::Fifo,
            _ => What::Socket,
        },
    }
}

/// Returns the kind of a device, a pipe or a socket, as images hold it.
#[cfg(unix)]
pub fn special(metadata: &Metadata) -> Option<Kind> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = metadata.file_type();
    // macOS has numbers of 32 bits.
    let number = metadata.rdev() as rustix::fs::Dev;
    let device = |is_block| Kind::Device {
        is_block,
        major: rustix::fs::major(number),
        minor: rustix::fs::minor(number),
    };
    match () {
        () if kind.is_fifo() => Some(Kind::Fifo),
        () if kind.is_socket() => Some(Kind::Socket),
        () if kind.is_block_device() => Some(device(true)),
        () if kind.is_char_device() => Some(device(false)),
        () => None,
    }
}

/// Returns no kind: this host has none of these.
#[cfg(not(unix))]
pub fn special(_: &Metadata) -> Option<Kind> {
    None
}

/// Returns device and number of a file that has several names.
#[cfg(unix)]
pub fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    (metadata.nlink() > 1 && !metadata.is_dir()).then(|| (metadata.dev(), metadata.ino()))
}

/// Returns nothing: this host does not number its files.
#[cfg(not(unix))]
pub fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
