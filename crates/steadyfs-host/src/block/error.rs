//! Errors of block devices.

use std::io;

/// The reason why a file or block device cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The host cannot open the file or device, or cannot report its size.
    #[error("cannot be opened: {0}")]
    Open(#[source] io::Error),
    /// No volume begins in the first sector.
    #[error(
        "no SteadyFS volume begins in the first sector: the medium was never formatted, or the \
         beginning is missing"
    )]
    NoVolume,
    /// The volume that begins in the first sector is longer than the file or device.
    #[error(
        "has {}; expected {}, the size of the volume: the last {} bytes are missing",
        in_words(*found),
        in_words(*expected),
        expected - found
    )]
    CutOff {
        /// Number of bytes of the file or device.
        found: u64,
        /// Number of bytes of the volume.
        expected: u64,
    },
    /// The file or device was opened for reading only.
    #[error("was opened for reading only")]
    ReadOnly,
    /// The host reports an error.
    #[error("sector {sector} cannot be {verb}: {reason}")]
    Io {
        /// Attempted operation.
        verb: &'static str,
        /// First sector of the command.
        sector: u32,
        /// Error of the host.
        #[source]
        reason: io::Error,
    },
}

/// Formats a size for people.
fn in_words(bytes: u64) -> String {
    const MIB: f64 = (1 << 20) as f64;
    match bytes as f64 / MIB {
        mib if mib >= 1024.0 => format!("{:.1} GiB", mib / 1024.0),
        mib => format!("{mib:.1} MiB"),
    }
}
