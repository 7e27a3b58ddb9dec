//! Reasons why a range of a chip cannot hold a volume.

use core::fmt;

/// Fault of a range of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeError {
    /// The chip has unsupported words or sectors. A word must be a power of two of at most 64
    /// bytes. A sector must be a multiple of 256 bytes.
    Words,
    /// The range ends behind the chip, or before it begins.
    OutOfBounds,
    /// The range begins or ends within a sector.
    NotSectors,
    /// The usual settings do not fit so few sectors, or such small sectors.
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
