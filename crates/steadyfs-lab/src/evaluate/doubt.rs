//! A failed call with an unknown result.

#[cfg(doc)]
use super::writer::Writer;

/// A failed call. Its changes may be present or absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// These bytes were being written.
    Write {
        /// Index of the file in [`Writer::files`].
        file: usize,
        /// Offset in the file.
        offset: u64,
        /// Bytes of the write.
        bytes: Vec<u8>,
    },
    /// The first file was being removed.
    Removal,
}
