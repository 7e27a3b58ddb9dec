//! The compared systems, and the making of their images.

use super::{BootError, Codec};
use crate::made_tree::load_order;
use crate::workers::{into_inner, lock, side_by_side};
use std::fmt;
use std::sync::Mutex;
use steadyfs_convert::squashfs::{self, Compressor};
use steadyfs_convert::{Tree, cramfs, verity};

/// Default bytes of a block of squashfs.
const LINUX_BLOCK_BYTES: u32 = 128 << 10;
/// Bytes of a page of cramfs.
const CRAMFS_BLOCK_BYTES: u32 = 4096;

/// A file system with the tree in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// SteadyFS with uncompressed files.
    Plain,
    /// SteadyFS with files that LZ4 or deflate compresses.
    Packed(Codec),
    /// A read-only image as SteadyFS makes it: a squashfs with uncompressed metadata. Its files
    /// lie in the order of their load.
    ReadOnly(Codec),
    /// A read-only image of LZ4 as SteadyFS makes it, with a hash tree.
    Verified,
    /// squashfs as `mksquashfs` makes it, in blocks of this many bytes.
    Squashfs(Codec, u32),
    /// cramfs.
    Cramfs,
}

impl System {
    /// The systems that load the tree.
    pub const LOADING: [System; 10] = [
        System::Plain,
        System::Packed(Codec::Lz4),
        System::Packed(Codec::Deflate),
        System::ReadOnly(Codec::Lz4),
        System::ReadOnly(Codec::Deflate),
        System::ReadOnly(Codec::Zstd),
        System::Verified,
        System::Squashfs(Codec::Lzo, LINUX_BLOCK_BYTES),
        System::Squashfs(Codec::Xz, LINUX_BLOCK_BYTES),
        System::Cramfs,
    ];

    /// Returns the systems that read at random places, with blocks of `block_bytes` bytes.
    pub const fn reading(block_bytes: u32) -> [System; 6] {
        [
            System::Plain,
            System::Packed(Codec::Lz4),
            System::ReadOnly(Codec::Lz4),
            System::Squashfs(Codec::Lzo, block_bytes),
            System::Squashfs(Codec::Lzo, LINUX_BLOCK_BYTES),
            System::Cramfs,
        ]
    }

    /// Returns the bytes of a block or chunk that is compressed by itself; 0 without
    /// compression.
    pub const fn block_bytes(self, ours: u32) -> u32 {
        match self {
            System::Plain => 0,
            System::Squashfs(_, bytes) => bytes,
            System::Cramfs => CRAMFS_BLOCK_BYTES,
            _ => ours,
        }
    }

    /// Returns true if the system is a read-only image.
    pub const fn is_image(self) -> bool {
        !matches!(self, System::Plain | System::Packed(_))
    }

    /// Returns the codec that compresses the content.
    pub const fn codec(self) -> Option<Codec> {
        match self {
            System::Plain => None,
            System::Packed(codec) | System::ReadOnly(codec) | System::Squashfs(codec, _) => {
                Some(codec)
            }
            System::Verified => Some(Codec::Lz4),
            System::Cramfs => Some(Codec::Deflate),
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            System::Plain => f.write_str("SteadyFS, plain"),
            System::Packed(codec) => write!(f, "SteadyFS, files by {codec}"),
            System::ReadOnly(codec) => write!(f, "SteadyFS, read-only, {codec}"),
            System::Verified => f.write_str("SteadyFS, read-only, lz4, verified"),
            System::Squashfs(codec, _) => write!(f, "squashfs, {codec}"),
            System::Cramfs => f.write_str("cramfs"),
        }
    }
}

/// An image of the tree.
pub struct Image {
    /// Bytes of the image.
    pub bytes: Vec<u8>,
    /// Root hash of the hash tree, and number of bytes before the tree.
    pub root: Option<([u8; 32], u64)>,
}

/// Makes the images of some systems, several at a time. Returns `None` for a system without an
/// image.
pub fn images(
    tree: &Tree,
    systems: &[System],
    block_bytes: u32,
    tell: &mut (dyn FnMut(f64) + Send),
) -> Result<Vec<Option<Image>>, BootError> {
    // The slowest codecs begin first.
    let mut order: Vec<usize> = (0..systems.len()).filter(|&at| systems[at].is_image()).collect();
    order.sort_by_key(|&at| !matches!(systems[at].codec(), Some(Codec::Xz | Codec::Zstd)));
    let count = order.len().max(1) as f64;
    let waiting = Mutex::new(order.into_iter().enumerate());
    let made = Mutex::new(systems.iter().map(|_| None).collect::<Vec<_>>());
    let tell = Mutex::new(tell);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    side_by_side(threads, || {
        loop {
            let Some((turn, at)) = lock(&waiting).next() else { return };
            lock(&tell)(turn as f64 / count);
            let image = make(tree, systems[at], block_bytes);
            lock(&made)[at] = Some(image);
        }
    });
    into_inner(made).into_iter().map(Option::transpose).collect()
}

/// Makes the image of a system.
fn make(tree: &Tree, system: System, block_bytes: u32) -> Result<Image, BootError> {
    let ours = system.block_bytes(block_bytes);
    match system {
        System::Cramfs => {
            let settings = cramfs::Settings { level: 9, ..cramfs::Settings::default() };
            Ok(Image { bytes: cramfs::write(tree, &settings)?.image, root: None })
        }
        System::Squashfs(codec, block_bytes) => {
            let settings = squashfs::Settings {
                compressor: compressor(codec),
                block_bytes,
                open_fragments: 1,
                ..squashfs::Settings::default()
            };
            Ok(Image { bytes: squashfs::write(tree, &settings)?, root: None })
        }
        _ => {
            let order = load_order(tree).into_iter().map(|(path, _)| path.into_bytes()).collect();
            let settings = squashfs::Settings {
                compressor: compressor(system.codec().unwrap_or(Codec::Lz4)),
                block_bytes: ours,
                plain_metadata: true,
                open_fragments: 1,
                order,
                ..squashfs::Settings::default()
            };
            let bytes = squashfs::write(tree, &settings)?;
            if system != System::Verified {
                return Ok(Image { bytes, root: None });
            }
            let sealed = verity::append(bytes, &verity::Settings::default())?;
            Ok(Image { bytes: sealed.bytes, root: Some((sealed.root_hash, sealed.hash_offset)) })
        }
    }
}

/// Returns squashfs's compressor for a codec, at a level that takes some seconds.
fn compressor(codec: Codec) -> Compressor {
    match codec {
        Codec::Lzo => Compressor::Lzo,
        Codec::Deflate => Compressor::Gzip { level: 9 },
        Codec::Zstd => Compressor::Zstd { level: 15 },
        Codec::Xz => Compressor::Xz,
        _ => Compressor::Lz4 { high: true },
    }
}
