//! Errors of the file of an image, and of operations on its chip.

use std::io;
use steadyfs::media::{BlockIndex, Failure, PageIndex};

/// The reason why an image cannot be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file is empty.
    #[error("the file is empty; expected the bytes of a whole chip")]
    Empty,
    /// The file is shorter than the chip.
    #[error("the file is truncated: it has {found} bytes; expected {expected}, {what}")]
    Truncated {
        /// Number of bytes of the file.
        found: u64,
        /// Number of bytes of the smallest accepted file.
        expected: u64,
        /// The reason for the expected number.
        what: String,
    },
    /// The file is longer than the chip, or not a whole number of its pages or blocks.
    #[error("the file has the wrong length of {found} bytes; expected {expected}")]
    Length {
        /// Number of bytes of the file.
        found: u64,
        /// Accepted lengths, and the reason for them.
        expected: String,
    },
    /// The size of the spare area is computed from the length of the file. At the resulting offsets
    /// there is neither the second superblock nor a root. The file may be truncated: its length may
    /// also be a whole number of pages with smaller spare areas. If instead all these pages are
    /// damaged, [`Image::open_as`](super::Image::open_as) opens the image.
    #[error(
        "no second superblock at byte {offset}, the beginning of block {block} if each page has \
         {spare_bytes} spare bytes, as the file length suggests: the file is truncated, or the \
         block is damaged"
    )]
    SecondSuperblock {
        /// Offset in the file that was examined.
        offset: u64,
        /// Block of the second superblock.
        block: u32,
        /// Number of spare bytes of a page, computed from the file's length.
        spare_bytes: u32,
    },
    /// No superblock was found at the possible offsets of its two copies.
    #[error(
        "no SteadyFS superblock at byte 0 (NAND), behind a tag table in the first 16 KiB (NOR), or \
         whole in a later block: the chip was never formatted, or the file is not a raw image with \
         its spare areas"
    )]
    NoSuperblock,
    /// The superblocks have another version of the format.
    #[error(
        "the superblock at byte {offset} has format version {found}; expected {expected}: copy the \
         files with a release that reads {found}, or format the volume again",
        expected = steadyfs::FORMAT_VERSION
    )]
    Version {
        /// Offset of the superblock in the file.
        offset: u64,
        /// The version that was found.
        found: u16,
    },
    /// The superblock is damaged, and its other copy is damaged too.
    #[error("the superblock at byte {offset} is damaged: {found}; expected {expected}")]
    Superblock {
        /// Offset of the superblock in the file.
        offset: u64,
        /// The invalid field and its value.
        found: String,
        /// Accepted values.
        expected: &'static str,
    },
    /// No chip has the requested sizes.
    #[error("no chip has this shape: {found}; expected {expected}")]
    Shape {
        /// The invalid size and its value.
        found: String,
        /// Accepted values.
        expected: &'static str,
    },
    /// The profile does not fit the image.
    #[error("the profile {profile} {reason}")]
    Profile {
        /// Name of the profile.
        profile: String,
        /// The reason why the profile does not fit.
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
        /// The kind of the index: page, block or byte.
        what: &'static str,
        /// The requested index.
        index: u64,
        /// Number of pages, blocks or bytes of the chip.
        count: u64,
    },
    /// The buffer has another size than the page.
    #[error("the buffer for page {page} has {given} bytes; expected {expected}")]
    BufferSize {
        /// Number of the page.
        page: PageIndex,
        /// Number of bytes of the buffer.
        given: usize,
        /// Number of bytes of the page.
        expected: u32,
    },
    /// The page is already programmed.
    #[error(
        "page {page} (block {block}) is programmed already; expected an erase of the block first"
    )]
    ProgrammedTwice {
        /// Number of the page.
        page: PageIndex,
        /// Number of the page's block.
        block: BlockIndex,
    },
    /// The page lies before a page of its block that is already programmed.
    #[error(
        "page {page} comes before page {highest} of block {block}, which is programmed; expected \
         pages in ascending order"
    )]
    OutOfOrder {
        /// Number of the page.
        page: PageIndex,
        /// Number of the highest programmed page of the block.
        highest: PageIndex,
        /// Number of the block.
        block: BlockIndex,
    },
    /// The block is marked bad.
    #[error("block {block} is marked bad; expected no program and no erase of it")]
    BadBlock {
        /// Number of the block.
        block: BlockIndex,
    },
    /// The call before a copy was not the `read_tag` that fills the page register.
    #[error(
        "the page register is empty in a copy to page {page}; expected a read_tag directly before"
    )]
    NothingLoaded {
        /// Number of the page to program.
        page: PageIndex,
    },
    /// The chip of the profile cannot copy pages inside the chip.
    #[error("copy to page {page}: the chip of the profile cannot copy pages by itself")]
    NoCopy {
        /// Number of the page to program.
        page: PageIndex,
    },
    /// A program of NOR would set a bit, but only an erase can do this.
    #[error(
        "byte {address:#x} holds {old:#04x}; {new:#04x} cannot be programmed over it without an \
         erase"
    )]
    SetsBit {
        /// Address of the byte.
        address: u64,
        /// Value of the stored byte.
        old: u8,
        /// Value of the byte to program.
        new: u8,
    },
    /// The host failed to read or write the file.
    #[error("{verb} at byte {offset} of the file: {reason}")]
    Io {
        /// Attempted operation.
        verb: &'static str,
        /// Offset in the file.
        offset: u64,
        /// Error of the host.
        reason: String,
    },
}

impl Refusal {
    /// Returns the failure for the file system. An operation on a block that is marked bad fails as
    /// on a worn-out block. In some dumps a block was marked bad after the newest root was written.
    /// Such dumps must remain mountable.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Refusal::BadBlock { .. } => Failure::BadBlock,
            _ => Failure::Device,
        }
    }
}
