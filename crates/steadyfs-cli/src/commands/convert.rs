//! `steady convert`: makes an image of squashfs or cramfs from an image of any kind.

use super::pack::read_only_chunk;
use super::tree::counted;
use crate::Failure;
use crate::host::is_same;
use crate::image::collect::{of_opened, other_attributes};
use crate::image::left_out::LeftOut;
use crate::image::{Lost, Memory, Opened, ReadOptions, file};
use crate::output::print;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use steadyfs_convert::squashfs::{self, Compressor};
use steadyfs_convert::{Tree, cramfs};
use steadyfs_lab::units::format_size;

/// Arguments of `steady convert`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image to read: a volume, a read-only image, or an image of squashfs, cramfs, JFFS2,
    /// UBIFS or UBI
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// The image to make
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// Format of the image to make [default: by its name: .squashfs, .sqfs, .sqsh or .cramfs]
    #[arg(long = "to", value_name = "FORMAT")]
    format: Option<Target>,
    /// Compression of squashfs: lz4, gzip, zstd, xz or lzo; gzip and zstd may have a level, as
    /// zstd:19 [default: lz4]
    #[arg(long, value_name = "METHOD[:LEVEL]")]
    compress: Option<Compressor>,
    /// Bytes of a chunk of squashfs, a power of two from 4KiB to 1MiB [default: 128KiB]
    #[arg(long, value_name = "BYTES", value_parser = read_only_chunk)]
    chunk: Option<usize>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

const AFTER_HELP: &str = "\
Times (to the second), modes, owners, devices, hard links and attributes are kept. Standard error
lists everything that the format does not hold. cramfs has its own compression, and no times.

Examples:
  steady convert card.img rootfs.squashfs
  steady convert card.img rootfs.squashfs --force --compress xz --chunk 1MiB";

/// A format of the image to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    Squashfs,
    Cramfs,
}

impl Target {
    /// Returns the format that the name of a file implies.
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "squashfs" | "sqfs" | "sqsh" => Some(Self::Squashfs),
            "cramfs" => Some(Self::Cramfs),
            _ => None,
        }
    }
}

/// Runs `steady convert`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let expected =
        "has no known format in its name; expected .squashfs, .sqfs, .sqsh or .cramfs, or --to";
    let format = arguments.format.or_else(|| Target::of(&arguments.to));
    let format =
        format.ok_or_else(|| Failure::usage(format!("{}: {expected}", arguments.to.display())))?;
    if format == Target::Cramfs && (arguments.compress.is_some() || arguments.chunk.is_some()) {
        return Err(Failure::usage(
            "--compress and --chunk are for squashfs; cramfs has its own compression",
        ));
    }
    if is_same(&arguments.from, &arguments.to) {
        return Err(Failure::at(
            arguments.to.display(),
            "is the image to read; expected the name of another file",
        ));
    }
    file::check(&arguments.to, arguments.force)?;
    let mut memory = Memory::default();
    let opened = Opened::open(&arguments.from, &arguments.reading, &mut memory)?;
    let lost = Lost::of(opened.lost());
    let tree = of_opened(opened)?;
    let (image, left) = match format {
        Target::Squashfs => squashfs(&tree, arguments),
        Target::Cramfs => cramfs(&tree),
    }
    .map_err(|what| Failure::at(arguments.from.display(), what))?;
    file::write(&arguments.to, &image, arguments.force)?;
    left.tell("the format cannot hold them");
    let inodes =
        counted(tree.inodes().len() as u64 - 1, "file or directory", "files and directories");
    print(&format!("{inodes}, {}\n", format_size(image.len() as u64)))?;
    lost.tell(&arguments.from)
}

fn squashfs(tree: &Tree, arguments: &Arguments) -> Result<(Vec<u8>, LeftOut), String> {
    let usual = squashfs::Settings { drop_other_attributes: true, ..squashfs::Settings::default() };
    let settings = squashfs::Settings {
        compressor: arguments.compress.unwrap_or(usual.compressor),
        block_bytes: arguments.chunk.map_or(usual.block_bytes, |bytes| bytes as u32),
        ..usual
    };
    let left = LeftOut { attributes: other_attributes(tree), ..LeftOut::default() };
    squashfs::write(tree, &settings).map(|image| (image, left)).map_err(|error| error.to_string())
}

fn cramfs(tree: &Tree) -> Result<(Vec<u8>, LeftOut), String> {
    let written =
        cramfs::write(tree, &cramfs::Settings::default()).map_err(|error| error.to_string())?;
    let of = written.left_out;
    let left = LeftOut {
        attributes: of.attributes as u64,
        hard_links: of.hard_links as u64,
        times: of.times as u64,
        groups: of.groups as u64,
        ..LeftOut::default()
    };
    Ok((written.image, left))
}
