//! A call that failed, of which nobody knows what it has done.

#[cfg(doc)]
use super::writer::Writer;

/// A call that failed: what it would have done may have been done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// These bytes were being written.
    Write {
        /// The file, by its number in [`Writer::files`].
        file: usize,
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The first file was being removed.
    Removal,
}
