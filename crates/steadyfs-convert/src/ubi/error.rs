//! Errors of a UBI image.

use thiserror::Error;

/// The reason why an image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no header of UBI.
    #[error(
        "found no UBI header; expected `UBI#` and a valid checksum at the beginning of an erase \
         block"
    )]
    NoUbi,
    /// The distances between headers do not determine the size of an erase block.
    #[error(
        "the UBI headers are not at equal distances: this is no image, or a dump with out-of-band \
         bytes"
    )]
    NoGeometry,
    /// The table of volumes is missing.
    #[error(
        "found no valid volume table; expected one in each of the two blocks of the layout volume"
    )]
    NoTable,
    /// The image has an internal volume that a reader must support, but this reader does not
    /// support it.
    #[error("the internal volume {0:#x} is unknown and must not be skipped")]
    UnknownVolume(u32),
    /// The number of a logical erase block is larger than the device allows.
    #[error(
        "volume {id} has a logical erase block {block}; expected less than {count}, the count of \
         the image"
    )]
    Place {
        /// Number of the volume.
        id: u32,
        /// Number of the logical erase block.
        block: u32,
        /// Number of physical erase blocks in the image.
        count: usize,
    },
    /// The volumes together have more logical erase blocks than the image has physical erase
    /// blocks.
    #[error("the volumes have more logical erase blocks than the {0} of the image")]
    TooLarge(usize),
    /// A static volume is damaged.
    #[error("volume {id}: logical erase block {block} is missing or its checksum is wrong")]
    Damaged {
        /// Number of the volume.
        id: u32,
        /// Number of the logical erase block.
        block: u32,
    },
}
