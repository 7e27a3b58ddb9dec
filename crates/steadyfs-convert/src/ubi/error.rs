//! Errors of a UBI image.

use thiserror::Error;

/// The reason why an image is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no header of UBI.
    #[error(
        "no header of UBI is in these bytes; expected `UBI#` and a right checksum at the begin of an erase block"
    )]
    NoUbi,
    /// The distances between headers do not determine the size of an erase block.
    #[error(
        "the headers of UBI do not stand at equal distances: this is no image, or a dump with out-of-band bytes"
    )]
    NoGeometry,
    /// The table of volumes is missing.
    #[error(
        "no sound table of volumes is in the image; expected one in each of the two blocks of the layout volume"
    )]
    NoTable,
    /// A reader without support for this internal volume must not read the image.
    #[error("the internal volume {0:#x} is not known and may not be passed over")]
    UnknownVolume(u32),
    /// A place in a volume lies behind the end of the device.
    #[error(
        "volume {id} has a logical erase block {block}; expected less than {count}, as many as the image has"
    )]
    Place {
        /// The volume.
        id: u32,
        /// The logical erase block.
        block: u32,
        /// Physical erase blocks in the image.
        count: usize,
    },
    /// The volumes together have more logical erase blocks than the image has physical ones.
    #[error("the volumes have more logical erase blocks than the {0} of the image")]
    TooLarge(usize),
    /// A static volume is damaged.
    #[error("volume {id}: logical erase block {block} is missing or its checksum is wrong")]
    Damaged {
        /// The volume.
        id: u32,
        /// The logical erase block.
        block: u32,
    },
}
