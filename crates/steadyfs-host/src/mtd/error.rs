//! Errors of MTD devices.

use std::io;

/// The reason why a device cannot be used, or why an operation on it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MtdError {
    /// The device cannot be opened.
    #[error("the device cannot be opened: {source}")]
    Open {
        /// Error of the kernel.
        source: io::Error,
    },
    /// The file does not respond as an MTD device.
    #[error(
        "not an MTD device: MEMGETINFO fails: {source}; expected a character device such as \
         /dev/mtd0"
    )]
    NotMtd {
        /// Error of the kernel.
        source: io::Error,
    },
    /// The device is neither NOR nor NAND with one bit per cell.
    #[error("the device is of MTD type {found}; expected {expected}")]
    Kind {
        /// Type of the device, as `mtd-abi.h` defines it.
        found: u8,
        /// Accepted types.
        expected: &'static str,
    },
    /// The sizes of the device do not divide each other, or are too large.
    #[error(
        "the device has {size} bytes, erase blocks of {erase_bytes} and write units of \
         {write_bytes}; expected {expected}"
    )]
    Sizes {
        /// Number of bytes of the device.
        size: u64,
        /// Number of bytes of an erase block.
        erase_bytes: u32,
        /// Number of bytes of a write unit. On NAND, this is a page.
        write_bytes: u32,
        /// Accepted sizes.
        expected: &'static str,
    },
    /// The free bytes of the spare area are too few for a tag.
    #[error(
        "a page has {found} free bytes of spare area beside its ECC; expected at least 16, for the \
         tag"
    )]
    SpareArea {
        /// Number of free bytes in the spare area.
        found: u32,
    },
    /// A NOR block is too small for pages of this size.
    #[error(
        "an erase block of {block_bytes} bytes has pages of {page_bytes}; expected a power of two, \
         with at least 5 pages in a block"
    )]
    Pages {
        /// Number of bytes of a page.
        page_bytes: u32,
        /// Number of bytes of an erase block.
        block_bytes: u32,
    },
    /// The block size of the volume on a NOR device is not a multiple of the device's erase block.
    #[error(
        "the volume has blocks of {block_bytes} bytes; expected a multiple of the erase blocks of \
         the device, {erase_bytes} bytes"
    )]
    Blocks {
        /// Number of bytes of a block of the volume.
        block_bytes: u32,
        /// Number of bytes of an erase block of the device.
        erase_bytes: u32,
    },
    /// The kernel is too old to read data and spare area at once.
    #[error("the kernel has no MEMREAD for this device; expected Linux 6.1 or newer")]
    OldKernel,
    /// An operation failed.
    #[error("{verb} at byte {offset} of the device: {source}")]
    Operation {
        /// Attempted operation.
        verb: &'static str,
        /// Offset in the device.
        offset: u64,
        /// Error of the kernel.
        source: io::Error,
    },
    /// A tag has more flipped bits than its guard can correct.
    #[error(
        "the tag of the page at byte {offset} of the device has more than one flipped bit; \
         expected at most one"
    )]
    Tag {
        /// Offset in the device.
        offset: u64,
    },
}
