//! `steady pack --read-only`: squashfs, sealed or not, in a file or around the bad blocks of a
//! NAND chip.

use super::arguments::Arguments;
use crate::Failure;
use crate::commands::tree::counted;
use crate::image::archive::kind_and_size;
use crate::image::chip::{Chip, is_block_device, is_mtd};
use crate::image::collect::other_attributes;
use crate::image::create::Draft;
use crate::image::key::{self, hex};
use crate::image::names::printable;
use crate::image::tree::Kind;
use crate::image::{file, key::Key};
use crate::output::{print, print_json};
use serde::Serialize;
use std::fs;
use std::path::Path;
use steadyfs::media::Flash;
use steadyfs_convert::squashfs::{self, Settings};
use steadyfs_convert::{Tree, verity};
use steadyfs_host::image::Shape;
use steadyfs_lab::table::facts;
use steadyfs_lab::units::{format_count, format_size};
use steadyfs_rom::squash::Needs;
use steadyfs_rom::verity::format::Layout;
use steadyfs_rom::{InRam, Install, OnNand, Verified};

/// Default bytes of a chunk.
const CHUNK_BYTES: usize = 16 << 10;

#[derive(Serialize)]
struct Summary {
    files: u64,
    directories: u64,
    bytes: u64,
    compressor: String,
    chunk_bytes: u32,
    /// Bytes of the squashfs with its hash tree, as a chip has them from its third good block on.
    image_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<Sealed>,
    memory: Memory,
}

/// The hash tree.
#[derive(Serialize)]
struct Sealed {
    root_hash: String,
    /// Bytes that the root hash covers, with the zeros that fill the last block.
    data_bytes: u64,
    block_bytes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

/// Bytes of memory that a reader lends.
#[derive(Serialize)]
struct Memory {
    least: usize,
    /// With separate memory for names and inodes.
    both: usize,
    /// To verify, with a hash block for each level of the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<usize>,
    /// For the page of a NAND chip and the list of its bad blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    nand: Option<usize>,
}

/// Makes a read-only image.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.settings.check_read_only()?;
    let settings = squashfs_settings(arguments)?;
    let key = arguments.read_only.sign.as_deref().map(key::secret).transpose()?;
    let target = Target::of(arguments)?;
    let (tree, mut left) = arguments.tree()?;
    warn_of_order(&tree, &settings.order);
    left.attributes += other_attributes(&tree);
    let image = squashfs::write(&tree, &settings)
        .map_err(|error| Failure::at(arguments.from.display(), error))?;
    let (image, seal) = seal(arguments, image, key)?;
    let mut summary = Summary::of(&tree, &settings, &image, seal)?;
    summary.memory.nand = target.write(arguments, &image)?;
    left.tell("squashfs cannot hold their names");
    if arguments.json { print_json(&summary) } else { print(&summary.text()) }
}

fn squashfs_settings(arguments: &Arguments) -> Result<Settings, Failure> {
    let usual = Settings::default();
    // Readers look for the hash tree behind the last block that the image itself counts.
    let pad_bytes = if arguments.read_only.is_sealed() {
        arguments.read_only.hash_block_bytes()
    } else {
        usual.pad_bytes
    };
    Ok(Settings {
        pad_bytes,
        compressor: arguments
            .compress
            .map(|method| method.compressor())
            .transpose()?
            .unwrap_or(usual.compressor),
        block_bytes: arguments.chunk.unwrap_or(CHUNK_BYTES) as u32,
        plain_metadata: arguments.read_only.plain_metadata,
        order: arguments.read_only.order.as_deref().map(order).transpose()?.unwrap_or_default(),
        // With an order of reading, the files that are read first should lie together.
        open_fragments: if arguments.read_only.order.is_some() { 1 } else { usual.open_fragments },
        drop_other_attributes: true,
        ..usual
    })
}

/// Reads the paths in a file, one a line. Skips empty lines.
fn order(path: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let text = fs::read(path).map_err(|error| Failure::at(path.display(), error))?;
    let lines = text
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.trim_ascii().is_empty());
    Ok(lines.map(<[u8]>::to_vec).collect())
}

/// Warns of paths that name no file, because they order nothing.
fn warn_of_order(tree: &Tree, order: &[Vec<u8>]) {
    let names_nothing =
        |path: &&Vec<u8>| std::str::from_utf8(path).is_ok_and(|path| tree.find(path).is_none());
    let mut missing = order.iter().filter(names_nothing);
    if let Some(first) = missing.next() {
        let (first, more) = (String::from_utf8_lossy(first), missing.count());
        let others = if more == 0 {
            ", which is".to_string()
        } else {
            format!(" and {more} more, which are")
        };
        eprintln!("warning: --order names {}{others} not there", printable(&first));
    }
}

/// Adds the hash tree, if it is requested.
fn seal(
    arguments: &Arguments,
    image: Vec<u8>,
    key: Option<Key>,
) -> Result<(Vec<u8>, Option<Sealed>), Failure> {
    if !arguments.read_only.is_sealed() {
        return Ok((image, None));
    }
    let block_bytes = arguments.read_only.hash_block_bytes();
    let sealed = verity::append(
        image,
        &verity::Settings { block_bytes, key, ..verity::Settings::default() },
    );
    let sealed = sealed.map_err(|error| Failure::at(arguments.image.display(), error))?;
    let seal = Sealed {
        root_hash: hex(&sealed.root_hash),
        data_bytes: sealed.hash_offset,
        block_bytes,
        public_key: sealed.public_key.map(|key| hex(&key)),
    };
    Ok((sealed.bytes, Some(seal)))
}

/// The target of the image.
enum Target {
    /// A file, with its maximum bytes and the name of the chip that sets this limit.
    File(Option<(u64, String)>),
    /// A NAND chip, or an image of one.
    Nand,
}

impl Target {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let (target, settings) = (&arguments.image, &arguments.settings);
        if is_block_device(target) {
            return Err(Failure::at(
                target.display(),
                "is a card or disk; expected a file, which `dd` writes there",
            ));
        }
        if is_mtd(target) {
            return Ok(Self::Nand);
        }
        file::check(target, settings.force)?;
        if settings.device.is_none() {
            return match settings.bad_block.is_empty() {
                true => Ok(Self::File(None)),
                false => {
                    Err(Failure::usage("--bad-block is for NAND; expected --device with the chip"))
                }
            };
        }
        Ok(match settings.chip()? {
            (_, Shape::Nand { .. }) => Self::Nand,
            (profile, Shape::Nor { block_bytes, block_count, .. }) => {
                Self::File(Some((u64::from(block_bytes) * u64::from(block_count), profile.name)))
            }
        })
    }

    /// Writes the image. Returns the memory that a reader needs for the chip.
    fn write(&self, arguments: &Arguments, image: &[u8]) -> Result<Option<usize>, Failure> {
        match self {
            Self::File(Some((most, chip))) if image.len() as u64 > *most => {
                let sizes = [image.len() as u64, *most].map(format_size);
                let what = format!(
                    "has {}, and {chip} has {}; expected less content, or a larger chip",
                    sizes[0], sizes[1]
                );
                Err(Failure::at(arguments.image.display(), what))
            }
            Self::File(_) => {
                file::write(&arguments.image, image, arguments.settings.force).map(|()| None)
            }
            Self::Nand => install(arguments, image).map(Some),
        }
    }
}

/// Writes the image to a NAND chip, around its bad blocks.
fn install(arguments: &Arguments, image: &[u8]) -> Result<usize, Failure> {
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let geometry = chip.geometry();
    let fail = |error: steadyfs_rom::Error| match error {
        steadyfs_rom::Error::End(_) => {
            let size = format_size(image.len() as u64);
            Failure::at(
                arguments.image.display(),
                format!(
                    "has too few good blocks for {size}; expected less content, or a larger chip"
                ),
            )
        }
        steadyfs_rom::Error::TooManyBadBlocks => {
            let most = steadyfs_rom::nand::header::BLOCKS_MAX;
            Failure::at(
                arguments.image.display(),
                format!(
                    "has fewer than two good blocks among its first {most}, or more bad blocks \
                     than a page lists"
                ),
            )
        }
        error => Failure::at(arguments.image.display(), error),
    };
    if geometry.programs_bytes {
        return Err(Failure::at(
            arguments.image.display(),
            "is NOR; expected a file, which `flashcp` writes there",
        ));
    }
    let mut memory = vec![0; Install::<Chip>::memory_bytes(&chip, geometry.block_count)];
    let mut install = Install::begin(chip, &mut memory).map_err(fail)?;
    install.push(image).map_err(fail)?;
    // No particular chip is named: then a programmer may skip the bad blocks of each chip.
    let is_any_chip = arguments.settings.bad_block.is_empty() && !is_mtd(&arguments.image);
    let mut chip =
        if is_any_chip { install.finish_by_marks() } else { install.finish() }.map_err(fail)?;
    let bad_count =
        (0..geometry.block_count).filter(|&block| chip.is_bad(block) == Ok(true)).count();
    let needed = OnNand::<Chip>::memory_bytes(&chip, bad_count as u32);
    draft.finish(chip)?;
    Ok(needed)
}

impl Summary {
    fn of(
        tree: &Tree,
        settings: &Settings,
        image: &[u8],
        seal: Option<Sealed>,
    ) -> Result<Self, Failure> {
        let needs = Needs::of(&mut InRam::new(image)).map_err(Failure::new)?;
        let (mut files, mut directories, mut bytes) = (0, 0, 0);
        for (_, index) in tree.walk() {
            match kind_and_size(tree.inode(index)) {
                (Kind::Directory, _) => directories += 1,
                (_, size) => (files, bytes) = (files + 1, bytes + size),
            }
        }
        let verify = seal.as_ref().and_then(|seal| {
            let layout =
                Layout::new(seal.data_bytes / u64::from(seal.block_bytes), seal.block_bytes)
                    .ok()?;
            Some(Verified::memory_bytes(seal.block_bytes as usize, layout.levels().clamp(1, 8)))
        });
        let memory = Memory { least: needs.least, both: needs.both, verify, nand: None };
        let (compressor, chunk_bytes) = (settings.compressor.to_string(), settings.block_bytes);
        Ok(Self {
            files,
            directories,
            bytes,
            compressor,
            chunk_bytes,
            image_bytes: image.len(),
            seal,
            memory,
        })
    }

    fn text(&self) -> String {
        let (files, directories) = (
            counted(self.files, "file", "files"),
            counted(self.directories, "directory", "directories"),
        );
        let chunk = format_size(self.chunk_bytes.into());
        let bytes = |bytes: usize| format!("{} B", format_count(bytes as u64));
        let mut told = vec![(
            "Image",
            format!(
                "{}, {}, chunks of {chunk}",
                format_size(self.image_bytes as u64),
                self.compressor
            ),
        )];
        if let Some(seal) = &self.seal {
            told.push(("Root hash", seal.root_hash.clone()));
            told.push((
                "Hashed",
                format!("{} B in blocks of {} B", seal.data_bytes, seal.block_bytes),
            ));
            told.extend(seal.public_key.iter().map(|key| ("Signed by", key.clone())));
        }
        let both = if self.memory.both > self.memory.least {
            format!("; {} keep names and inodes as well", bytes(self.memory.both))
        } else {
            String::new()
        };
        told.push(("RAM to read", bytes(self.memory.least) + &both));
        told.extend(
            self.memory.verify.map(|needed| ("RAM to verify", format!("{} more", bytes(needed)))),
        );
        told.extend(
            self.memory.nand.map(|needed| ("RAM for NAND", format!("{} more", bytes(needed)))),
        );
        format!("{files}, {directories}, {}\n\n{}", format_size(self.bytes), facts(told))
    }
}
