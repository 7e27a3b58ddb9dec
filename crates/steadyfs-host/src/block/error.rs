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
    /// A volume begins in the first sector that is longer than the file or device.
    #[error("{} long, the volume has {}: the last {} bytes are missing", in_words(*found), in_words(*expected), expected - found)]
    CutOff {
        /// Bytes of the file or device.
        found: u64,
        /// Bytes that the volume says it has.
        expected: u64,
    },
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

/// A size as people say it.
fn in_words(bytes: u64) -> String {
    const MIB: f64 = (1 << 20) as f64;
    match bytes as f64 / MIB {
        mib if mib >= 1024.0 => format!("{:.1} GiB", mib / 1024.0),
        mib => format!("{mib:.1} MiB"),
    }
}
