//! Recognises read-only images by their first bytes, by the header on their chip, or by the later
//! erase blocks of a dump.

use crate::Failure;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use steadyfs::Access;
use steadyfs_convert::Format;
use steadyfs_convert::format::{HEAD_BYTES, SEARCH_BYTES};
use steadyfs_host::block;
use steadyfs_host::image::{Image, Shape};
use steadyfs_rom::nand::header;
use steadyfs_rom::{OnNand, Source};
use steadyfs_sim::Profile;

/// The kind of a read-only image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The bytes of an image.
    Plain(Format),
    /// A NAND chip of this shape, with a header that gives the place of the image.
    OnNand(Shape),
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(format) => write!(f, "an image of {format}"),
            Self::OnNand(_) => f.write_str("a chip with a read-only image"),
        }
    }
}

/// Returns the kind of read-only image in a file. `None` if it is something else, or no file.
/// `profile` is the profile of its chip, if one is named.
pub fn kind_of(path: &Path, profile: Option<&Profile>) -> Result<Option<Found>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let fail = |error: std::io::Error| Failure::at(path.display(), error);
    let mut file = File::open(path).map_err(fail)?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(fail)?;
    if let Some(format) = Format::of(&head) {
        return Ok(Some(Found::Plain(format)));
    }
    let bytes = file.metadata().map_err(fail)?.len();
    let shapes = match profile {
        Some(profile) => vec![Shape::of(profile)],
        None => Profile::all().iter().map(Shape::of).collect(),
    };
    let mut fitting = shapes
        .into_iter()
        .filter(|shape| matches!(shape, Shape::Nand { .. }) && shape.file_bytes() == bytes);
    if let Some(shape) = fitting.find(|shape| has_image(&mut file, path, shape)) {
        return Ok(Some(Found::OnNand(shape)));
    }
    Ok(search(&mut file, path).map_err(fail)?.map(Found::Plain))
}

/// Beginnings of files of other kinds: offset, bytes, kind.
const OTHERS: [(usize, &[u8], &str); 7] = [
    (0x438, &[0x53, 0xEF], "an ext file system"),
    (0, &[0x1F, 0x8B], "a gzip file"),
    (0, b"\xFD7zXZ\0", "an xz file"),
    (0, &[0x28, 0xB5, 0x2F, 0xFD], "a zstd file"),
    (0, b"PK\x03\x04", "a zip file"),
    (0, b"\x7FELF", "an ELF file"),
    // Last, because FAT and boot code of other kinds end in it too.
    (0x1FE, &[0x55, 0xAA], "a disk with a partition table, or FAT"),
];

/// Returns the kind of a file that is no image, by its first bytes.
pub fn likeness(path: &Path) -> Option<&'static str> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES.max(0x1000) as u64).read_to_end(&mut head).ok()?;
    let (.., kind) = OTHERS
        .iter()
        .find(|(at, magic, _)| head.get(*at..).is_some_and(|behind| behind.starts_with(magic)))?;
    Some(kind)
}

/// Recognises a dump without its first bytes. A volume is no dump, though a file in it may hold
/// one.
fn search(file: &mut File, path: &Path) -> io::Result<Option<Format>> {
    if block::is_volume(path) || Image::open(path, Access::ReadOnly).is_ok() {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut image = Vec::new();
    Read::by_ref(file).take(SEARCH_BYTES as u64).read_to_end(&mut image)?;
    if !Format::may_be_found(&image) || block::holds_volume(path) {
        return Ok(None);
    }
    file.read_to_end(&mut image)?;
    Ok(Format::find(&image))
}

/// Returns true if a chip of a shape has a header, and an image behind it.
fn has_image(file: &mut File, path: &Path, shape: &Shape) -> bool {
    let Shape::Nand { geometry, spare_bytes } = *shape else { return false };
    let block_bytes =
        u64::from(geometry.page_bytes + spare_bytes) * u64::from(geometry.pages_per_block);
    let mut begins = (0..u64::from(geometry.block_count.min(header::BLOCKS_MAX))).map(|block| {
        let mut begin = [0; header::MAGIC.len()];
        let read = file
            .seek(SeekFrom::Start(block * block_bytes))
            .and_then(|_| file.read_exact(&mut begin));
        read.is_ok() && &begin == header::MAGIC
    });
    // Chips of other shapes may have the same size, so the bytes behind the header decide.
    begins.any(|is_header| is_header)
        && Image::open_as(path, Access::ReadOnly, shape).is_ok_and(|image| {
            let mut memory = vec![0; OnNand::memory_bytes(&image, geometry.block_count)];
            let mut head = [0; HEAD_BYTES];
            let source = OnNand::open(image, &mut memory);
            source.is_ok_and(|mut source| {
                source.read(0, &mut head).is_ok() && Format::of(&head).is_some()
            })
        })
}
