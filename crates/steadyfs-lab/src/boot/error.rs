//! The reasons for which no root file system was measured.

use crate::evaluate::EvaluateError;
use thiserror::Error;

/// The reason for which nothing was measured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootError {
    /// The device cannot be simulated.
    #[error(transparent)]
    Device(#[from] EvaluateError),
    /// The volume could not be formatted or mounted.
    #[error("the volume cannot be made or mounted: {0}")]
    Mount(#[from] steadyfs::MountError),
    /// A call of the volume failed.
    #[error("a call of the volume failed: {0}")]
    Volume(#[from] steadyfs::Error),
    /// A call of a compressed file failed.
    #[error("a call of a compressed file failed: {0}")]
    Packed(#[from] steadyfs_compress::Error),
    /// The image could not be written to the chip, or could not be read.
    #[error("the image cannot be written or read: {0}")]
    Image(#[from] steadyfs_rom::Error),
    /// The squashfs could not be made.
    #[error("a squashfs of the tree cannot be made: {0}")]
    Squashfs(#[from] steadyfs_convert::squashfs::WriteError),
    /// The cramfs could not be made.
    #[error("a cramfs of the tree cannot be made: {0}")]
    Cramfs(#[from] steadyfs_convert::cramfs::Error),
    /// The hash tree could not be made.
    #[error("a hash tree cannot be made: the image {0}")]
    Verity(#[from] steadyfs_convert::verity::Error),
    /// A system read other bytes than the written ones.
    #[error(
        "{system}: `{path}`: the read bytes differ from the written bytes; expected the same bytes"
    )]
    Differs {
        /// The system that read them.
        system: String,
        /// Path of the file, link or directory.
        path: String,
    },
}
