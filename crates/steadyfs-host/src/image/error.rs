//! Errors of the file of an image, and of the use of its chip.

use std::io;
use steadyfs::media::{BlockIndex, Failure, PageIndex};

/// The reason why an image cannot be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file has no bytes.
    #[error("the file is empty; expected the bytes of a whole chip")]
    Empty,
    /// The file ends before the chip does.
    #[error("the file is truncated: it has {found} bytes; expected {expected}, {what}")]
    Truncated {
        /// Bytes of the file.
        found: u64,
        /// Bytes of the smallest accepted file.
        expected: u64,
        /// Basis of the expectation.
        what: String,
    },
    /// The file is longer than the chip, or not a whole number of its pages or blocks.
    #[error("the file has the wrong length of {found} bytes; expected {expected}")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Accepted lengths, and their basis.
        expected: String,
    },
    /// Neither the second superblock nor a root is at the place that follows from the length of the
    /// file. A truncated file may have a whole number of pages with smaller spare areas; this check
    /// finds it. [`Image::open_as`](super::Image::open_as) opens an image in which all of these
    /// pages are damaged.
    #[error(
        "no second superblock at byte {offset}, the beginning of block {block} if each page has \
         {spare_bytes} spare bytes, as the file length suggests: the file is truncated, or the \
         block is damaged"
    )]
    SecondSuperblock {
        /// Byte of the file looked at.
        offset: u64,
        /// Block of the second superblock.
        block: u32,
        /// Spare bytes of a page that follow from the file's length.
        spare_bytes: u32,
    },
    /// Neither place of a superblock contains one.
    #[error(
        "no SteadyFS superblock at byte 0 (NAND), behind a tag table in the first 16 KiB (NOR), or \
         whole in a later block: the chip was never formatted, or the file is not a raw image with \
         its spare areas"
    )]
    NoSuperblock,
    /// Another version of the format wrote the superblocks.
    #[error(
        "the superblock at byte {offset} has format version {found}; expected {expected}: copy the \
         files with a release that reads {found}, or format the volume again",
        expected = steadyfs::FORMAT_VERSION
    )]
    Version {
        /// Offset of the superblock in the file.
        offset: u64,
        /// The found version.
        found: u16,
    },
    /// The superblock is damaged, and no copy of it is whole.
    #[error("the superblock at byte {offset} is damaged: {found}; expected {expected}")]
    Superblock {
        /// Offset of the superblock in the file.
        offset: u64,
        /// The field and its value.
        found: String,
        /// Accepted values.
        expected: &'static str,
    },
    /// No chip has the requested sizes.
    #[error("no chip has this shape: {found}; expected {expected}")]
    Shape {
        /// The size and its value.
        found: String,
        /// Accepted values.
        expected: &'static str,
    },
    /// The profile does not fit the image.
    #[error("the profile {profile} {reason}")]
    Profile {
        /// Name of the profile.
        profile: String,
        /// The mismatch.
        reason: &'static str,
    },
    /// The host cannot open, read or write the file.
    #[error("the file cannot be used: {0}")]
    Io(#[source] io::Error),
}

/// The reason why an operation on an image was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The image was opened for reading only.
    #[error("the image was opened for reading only")]
    ReadOnly,
    /// The chip has no such page, block or byte.
    #[error("{what} {index} does not exist: the chip has {count}")]
    OutOfRange {
        /// Page, block or byte.
        what: &'static str,
        /// The requested index.
        index: u64,
        /// Number of pages, blocks or bytes of the chip.
        count: u64,
    },
    /// The buffer does not fit the page.
    #[error("the buffer for page {page} has {given} bytes; expected {expected}")]
    BufferSize {
        /// The page.
        page: PageIndex,
        /// Bytes of the buffer.
        given: usize,
        /// Bytes of the page.
        expected: u32,
    },
    /// The page to program is programmed already.
    #[error(
        "page {page} (block {block}) is programmed already; expected an erase of the block first"
    )]
    ProgrammedTwice {
        /// The page.
        page: PageIndex,
        /// Its block.
        block: BlockIndex,
    },
    /// The page to program comes before a programmed page of its block.
    #[error(
        "page {page} comes before page {highest} of block {block}, which is programmed; expected \
         pages in ascending order"
    )]
    OutOfOrder {
        /// The page.
        page: PageIndex,
        /// The highest programmed page of the block.
        highest: PageIndex,
        /// The block.
        block: BlockIndex,
    },
    /// The block is marked bad.
    #[error("block {block} is marked bad; expected no program and no erase of it")]
    BadBlock {
        /// The block.
        block: BlockIndex,
    },
    /// A copy did not directly follow the `read_tag` that fills the page register.
    #[error(
        "the page register is empty in a copy to page {page}; expected a read_tag directly before"
    )]
    NothingLoaded {
        /// The page to program.
        page: PageIndex,
    },
    /// The chip of the profile does not copy pages by itself.
    #[error("copy to page {page}: the chip of the profile cannot copy pages by itself")]
    NoCopy {
        /// The page to program.
        page: PageIndex,
    },
    /// A program of NOR would set a bit.
    #[error(
        "byte {address:#x} holds {old:#04x}; {new:#04x} cannot be programmed over it without an \
         erase"
    )]
    SetsBit {
        /// Address of the byte.
        address: u64,
        /// The stored byte.
        old: u8,
        /// The byte to program.
        new: u8,
    },
    /// The host failed to read or write the file.
    #[error("{verb} at byte {offset} of the file: {reason}")]
    Io {
        /// Attempted operation.
        verb: &'static str,
        /// Byte of the file.
        offset: u64,
        /// Error of the host.
        reason: String,
    },
}

impl Refusal {
    /// Returns the failure for the file system. A bad block fails as a worn-out block does. Dumps
    /// exist whose newest mark is younger than their newest root, and they must stay mountable.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Refusal::BadBlock { .. } => Failure::BadBlock,
            _ => Failure::Device,
        }
    }
}
