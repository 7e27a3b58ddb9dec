//! Arguments of `steady pack`, and its input.

use super::method::{self, Method, read_only_chunk};
use crate::Failure;
use crate::image::archive::Archive;
use crate::image::collect;
use crate::image::left_out::LeftOut;
use crate::image::scan::ScanOptions;
use crate::image::settings::{Settings, source_date_epoch};
use crate::image::time::Stamp;
use crate::image::{Memory, Opened, ReadOptions};
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::str::FromStr;
use steadyfs_convert::Tree;

/// Arguments of `steady pack`.
#[derive(Args, Debug)]
#[command(
    after_help = AFTER_HELP,
    group(ArgGroup::new("chunks").multiple(true)),
    group(ArgGroup::new("sealed").multiple(true))
)]
pub struct Arguments {
    /// The directory whose content goes into the image; or an image of squashfs, cramfs, JFFS2,
    /// UBIFS or UBI
    #[arg(value_name = "DIR|IMAGE")]
    pub(super) from: PathBuf,
    /// The image to make
    #[arg(value_name = "IMG")]
    pub(super) image: PathBuf,
    #[command(flatten)]
    pub(super) settings: Settings,
    /// Time of all files in seconds since 1970, or `files`: each keeps its own [default: `files`
    /// for an IMAGE; SOURCE_DATE_EPOCH for a DIR, else none]
    #[arg(long, value_name = "SECONDS|files", allow_hyphen_values = true)]
    pub(super) mtime: Option<Stamp>,
    /// Owner and group of all files as UID:GID, or `files`: each keeps its own [default: `files`
    /// for an IMAGE, 0:0 for a DIR]
    #[arg(long, value_name = "UID:GID|files")]
    pub(super) owner: Option<Owner>,
    /// Compress in chunks: lz4, deflate or zstd; the latter two may have a level, as zstd:19.
    /// Files of a volume that save no page stay as they are. With --read-only also gzip, xz and
    /// lzo [default: a volume is not compressed, a read-only image with lz4]
    #[arg(long, value_name = "METHOD[:LEVEL]", group = "chunks")]
    pub(super) compress: Option<Method>,
    /// Bytes of a chunk, a power of two from 4KiB to 64KiB, for read-only images to 1MiB. Larger
    /// chunks give a smaller image, and take more RAM to read [default: 16KiB]
    #[arg(long, value_name = "BYTES", value_parser = read_only_chunk, requires = "chunks")]
    pub(super) chunk: Option<usize>,
    #[command(flatten)]
    pub(super) scan: ScanOptions,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) read_only: ReadOnly,
}

/// Arguments for read-only images alone.
#[derive(Args, Debug)]
#[command(next_help_heading = "Read-only images")]
pub(super) struct ReadOnly {
    /// Make a read-only image: squashfs, which Linux mounts and steadyfs-rom reads. With the
    /// --device of a NAND chip it is the image of that chip, with a header and around bad blocks;
    /// else the squashfs itself
    #[arg(long, group = "chunks")]
    pub(super) read_only: bool,
    /// A file with a path a line: the image stores these files first, in this order. A directory
    /// stands for everything below it
    #[arg(long, value_name = "FILE", requires = "read_only")]
    pub(super) order: Option<PathBuf>,
    /// Do not compress names and inodes: the reader needs no memory for them
    #[arg(long, requires = "read_only")]
    pub(super) plain_metadata: bool,
    /// Add a hash tree (dm-verity), by which each block is verified when it is read
    #[arg(long, requires = "read_only", group = "sealed")]
    pub(super) hash_tree: bool,
    /// Add a hash tree, and sign it with a key that `steady keygen` made
    #[arg(long, value_name = "KEY", requires = "read_only", group = "sealed")]
    pub(super) sign: Option<PathBuf>,
    /// Bytes of a block of the hash tree, a power of two from 512 to 4096: smaller ones take less
    /// RAM to verify [default: 4096]
    #[arg(long, value_name = "BYTES", value_parser = method::hash_block, requires = "sealed")]
    pub(super) sign_block: Option<u32>,
}

impl ReadOnly {
    /// Returns true if the image gets a hash tree.
    pub(super) fn is_sealed(&self) -> bool {
        self.hash_tree || self.sign.is_some()
    }

    /// Returns the bytes of a block of the hash tree.
    pub(super) fn hash_block_bytes(&self) -> u32 {
        self.sign_block.unwrap_or(HASH_BLOCK_BYTES)
    }
}

/// Default bytes of a block of the hash tree, as in Linux.
const HASH_BLOCK_BYTES: u32 = 4096;

const AFTER_HELP: &str = "\
The same names, modes, bytes and settings give the same image, byte for byte, unless --mtime or
--owner is `files`. The order in which the host lists directories has no effect. --no-permissions
leaves modes out. Standard error lists everything of an IMAGE that a volume does not hold.

Examples:
  steady pack rootfs card.img --device mt29f1g01abafd --mtime 1700000000
  steady pack rootfs card.img --device mt29f1g01abafd --force --compress zstd:19 --chunk 64KiB
  steady pack rootfs rootfs.sqfs --read-only --compress zstd:19 --chunk 128KiB";

/// Owner and group of all files; `None`: each file keeps its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner(Option<(u32, u32)>);

impl FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = || {
            text.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)))
        };
        match text {
            "files" => Ok(Self(None)),
            _ => both()
                .map(|both| Self(Some(both)))
                .ok_or_else(|| "expected two numbers, as 0:0, or `files`".to_string()),
        }
    }
}

impl Arguments {
    /// Returns the time of all files.
    pub(super) fn stamp(&self) -> Result<Stamp, Failure> {
        match self.mtime {
            Some(stamp) => Ok(stamp),
            None if self.from.is_dir() => Ok(Stamp::Fixed(source_date_epoch()?.unwrap_or(0))),
            None => Ok(Stamp::OfFiles),
        }
    }

    /// Returns owner and group of all files.
    pub(super) fn owner(&self) -> Option<(u32, u32)> {
        let usual = if self.from.is_dir() { Some((0, 0)) } else { None };
        self.owner.map_or(usual, |Owner(owner)| owner)
    }

    /// Returns the image that is packed; `None` for a directory.
    pub(super) fn archive(&self) -> Result<Option<Archive>, Failure> {
        if self.from.is_dir() {
            return Ok(None);
        }
        let found = ReadOptions::default().find(&self.from)?;
        let expected =
            "is neither a directory nor an image of squashfs, cramfs, JFFS2, UBIFS or UBI";
        let found = found.ok_or_else(|| Failure::at(self.from.display(), expected))?;
        found.decode_and_warn().map(Some)
    }

    /// Returns everything of the directory or image, with the requested times and owners, and
    /// counts the things that images leave out.
    pub(super) fn tree(&self) -> Result<(Tree, LeftOut), Failure> {
        let modified = match self.stamp()? {
            Stamp::Fixed(ns) => Some(i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX)),
            Stamp::OfFiles => None,
        };
        let (mut tree, left) = if self.from.is_dir() {
            collect::of_directory(&self.from, self.scan.follow)?
        } else {
            let mut memory = Memory::default();
            let opened = Opened::open(&self.from, &ReadOptions::default(), &mut memory)?;
            (collect::of_opened(opened)?, LeftOut::default())
        };
        tree.mark(modified, self.owner());
        Ok((tree, left))
    }
}
