//! What can go wrong with a block device.

use std::io;

/// Why a file or block device cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The host cannot open it, or tell its size.
    #[error("cannot be opened: {0}")]
    Open(#[source] io::Error),
    /// The first sector is not that of a volume.
    #[error("no SteadyFS volume begins in the first sector: never formatted, or cut off")]
    NoVolume,
    /// It was opened for reading.
    #[error("was opened for reading alone")]
    ReadOnly,
    /// The host reports an error.
    #[error("sector {sector} cannot be {verb}: {reason}")]
    Io {
        /// What was to be done.
        verb: &'static str,
        /// First sector of the command.
        sector: u32,
        /// What the host says.
        #[source]
        reason: io::Error,
    },
}
