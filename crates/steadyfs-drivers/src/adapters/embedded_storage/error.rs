//! Reasons why a range of a chip cannot hold a volume.

use core::fmt;

/// The reason why a range of a chip cannot hold a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeError {
    /// The chip has unsupported words or sectors. A word must be a power of two of at most 64
    /// bytes. A sector must be a multiple of 256 bytes.
    Words,
    /// The end of the range lies behind the chip, or before the beginning of the range.
    OutOfBounds,
    /// The range begins or ends within a sector.
    NotSectors,
    /// The range has too few sectors, or too small sectors, for the usual settings.
    TooSmall,
    /// SteadyFS was built without its feature `nor`, and the chip programs bytes.
    WithoutNor,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "the words or sectors of the chip have an unsupported size",
            Self::OutOfBounds => "the range is not within the chip",
            Self::NotSectors => "the range begins or ends within an erase sector",
            Self::TooSmall => "the range is too small for a volume",
            Self::WithoutNor => "SteadyFS was built without its feature nor",
        })
    }
}

impl core::error::Error for RangeError {}
