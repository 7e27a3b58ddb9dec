//! `steady pack`: an image with the content of a directory or of another image, the same whenever and wherever it is made.

mod method;
mod read_only;
mod volume;

use crate::Failure;
use crate::image::archive::Archive;
use crate::image::collect::Marks;
use crate::image::settings::{Settings, source_date_epoch};
use crate::image::time::Stamp;
use crate::image::{Memory, Opened, ReadOptions};
use clap::{ArgGroup, Args};
use method::Method;
pub use method::read_only_chunk;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Arguments of `steady pack`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP, group(ArgGroup::new("chunks").multiple(true)), group(ArgGroup::new("sealed").multiple(true)))]
pub struct Arguments {
    /// The directory whose content becomes that of the image; or an image of squashfs, cramfs, JFFS2, UBIFS or UBI
    #[arg(value_name = "DIR|IMAGE")]
    from: PathBuf,
    /// The image to make
    #[arg(value_name = "IMG")]
    image: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Time of all files in seconds since 1970, or `files`: each its own [default: of an IMAGE `files`; of a DIR SOURCE_DATE_EPOCH, else none]
    #[arg(long, value_name = "SECONDS|files", allow_hyphen_values = true)]
    mtime: Option<Stamp>,
    /// Owner and group of all files as UID:GID, or `files`: each its own [default: of an IMAGE `files`, of a DIR 0:0]
    #[arg(long, value_name = "UID:GID|files")]
    owner: Option<Owner>,
    /// Compress in chunks: lz4, deflate or zstd, the latter two with a level if you like, as zstd:19. Files of a volume that save no page stay as they are.
    /// With --read-only also gzip, xz and lzo [default: a volume is not compressed, a read-only image with lz4]
    #[arg(long, value_name = "METHOD[:LEVEL]", group = "chunks")]
    compress: Option<Method>,
    /// Bytes of a chunk, a power of two from 4KiB to 64KiB, of read-only images to 1MiB: larger ones become smaller, and take more RAM to read [default: 16KiB]
    #[arg(long, value_name = "BYTES", value_parser = read_only_chunk, requires = "chunks")]
    chunk: Option<usize>,
    /// Take what symbolic links name, not the links
    #[arg(long)]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read_only: ReadOnly,
}

/// What read-only images have alone.
#[derive(Args, Debug)]
#[command(next_help_heading = "Read-only images")]
struct ReadOnly {
    /// Make an image that nobody writes: squashfs, which Linux mounts and steadyfs-rom reads. With the --device of a NAND chip it is the image of that chip, with
    /// a header and around bad blocks; else the squashfs itself
    #[arg(long, group = "chunks")]
    read_only: bool,
    /// A file with a path a line: what is read first lies first. A directory stands for all below it
    #[arg(long, value_name = "FILE", requires = "read_only")]
    order: Option<PathBuf>,
    /// Do not compress names and inodes: the reader needs no memory for them
    #[arg(long, requires = "read_only")]
    plain_metadata: bool,
    /// Add a hash tree (dm-verity), by which each block is verified when it is read
    #[arg(long, requires = "read_only", group = "sealed")]
    hash_tree: bool,
    /// Add a hash tree, and sign it with a key that `steady keygen` made
    #[arg(long, value_name = "KEY", requires = "read_only", group = "sealed")]
    sign: Option<PathBuf>,
    /// Bytes of a block of the hash tree, a power of two from 512 to 4096: smaller ones take less RAM to verify [default: 4096]
    #[arg(long, value_name = "BYTES", value_parser = method::hash_block, requires = "sealed")]
    sign_block: Option<u32>,
}

const AFTER_HELP: &str = "\
The same names, modes, bytes and settings give the same image, byte for byte, whatever the order in which the host lists directories,
unless --mtime or --owner is `files`. Modes are left out with --no-permissions. What a volume does not hold of an IMAGE is told on standard error.

Examples:
  steady pack rootfs card.img --device mt29f1g01abafd --mtime 1700000000
  steady pack rootfs card.img --device mt29f1g01abafd --force --compress zstd:19 --chunk 64KiB
  steady pack rootfs rootfs.sqfs --read-only --compress zstd:19 --chunk 128KiB";

/// Owner and group of all files; each its own where there are none.
#[derive(Clone, Copy, Debug)]
struct Owner(Option<(u32, u32)>);

impl FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = || text.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
        match text {
            "files" => Ok(Self(None)),
            _ => both().map(|both| Self(Some(both))).ok_or_else(|| "expected two numbers, as 0:0, or `files`".to_string()),
        }
    }
}

/// Runs `steady pack`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    refuse_image_inside(arguments)?;
    if arguments.read_only.read_only { read_only::run(arguments) } else { volume::run(arguments) }
}

impl Arguments {
    /// The time of all files.
    fn stamp(&self) -> Result<Stamp, Failure> {
        match self.mtime {
            Some(stamp) => Ok(stamp),
            None if self.from.is_dir() => Ok(Stamp::Fixed(source_date_epoch()?.unwrap_or(0))),
            None => Ok(Stamp::OfFiles),
        }
    }

    /// Owner and group of all files.
    fn owner(&self) -> Option<(u32, u32)> {
        let usual = if self.from.is_dir() { Some((0, 0)) } else { None };
        self.owner.map_or(usual, |Owner(owner)| owner)
    }

    fn marks(&self) -> Result<Marks, Failure> {
        let modified = match self.stamp()? {
            Stamp::Fixed(ns) => Some(i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX)),
            Stamp::OfFiles => None,
        };
        Ok(Marks { modified, owner: self.owner() })
    }

    /// The image that is packed; `None`: a directory.
    fn archive(&self) -> Result<Option<Archive>, Failure> {
        if self.from.is_dir() {
            return Ok(None);
        }
        let found = ReadOptions::default().find(&self.from)?;
        let expected = "is neither a directory nor an image of squashfs, cramfs, JFFS2, UBIFS or UBI";
        let found = found.ok_or_else(|| Failure::at(self.from.display(), expected))?;
        found.decode().map(Some)
    }

    /// Everything of the directory or image.
    fn tree(&self) -> Result<steadyfs_convert::Tree, Failure> {
        use crate::image::collect;
        let marks = self.marks()?;
        if self.from.is_dir() {
            return collect::of_directory(&self.from, self.follow, marks);
        }
        let mut memory = Memory::default();
        let opened = Opened::open(&self.from, &ReadOptions::default(), &mut memory)?;
        collect::mark(&collect::of_opened(opened)?, marks)
    }
}

/// Refuses to pack an image into itself: the next run would pack another directory.
fn refuse_image_inside(arguments: &Arguments) -> Result<(), Failure> {
    let from = arguments.from.canonicalize().map_err(|error| Failure::at(arguments.from.display(), error))?;
    let parent = arguments.image.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_inside = match from.is_dir() {
        true => parent.canonicalize().is_ok_and(|parent| parent.starts_with(&from)),
        false => arguments.image.canonicalize().is_ok_and(|image| image == from),
    };
    match is_inside {
        true => {
            let what = format!("lies in {}; expected a place outside", arguments.from.display());
            Err(Failure::at(arguments.image.display(), what))
        }
        false => Ok(()),
    }
}
