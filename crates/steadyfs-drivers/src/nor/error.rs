//! What can go wrong with a chip.

use crate::bus::BusError;
use core::fmt;
use steadyfs::media::Failure;

/// What failed. [`Failure`] is what the file system sees of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NorError {
    /// The bus reported an error.
    Bus,
    /// No chip answers, or one that does not know the command for its identification.
    NoChip {
        /// What it answered.
        id: [u8; 3],
    },
    /// It is another chip than the one that the settings describe.
    OtherChip {
        /// What it answered.
        id: [u8; 3],
    },
    /// The chip tells nothing by SFDP. [`Settings::info`](super::Settings::info) can say what it is.
    NoParameters,
    /// What the chip tells by SFDP makes no sense.
    BadParameters,
    /// The settings begin or end in the middle of an erase block, or behind the chip; or no blocks of it suit a volume.
    Range,
    /// The chip stayed busy beyond its limit.
    Busy {
        /// How long it was waited for, without the time on the bus.
        waited_us: u32,
    },
    /// The chip did not hear the command that enables a program or an erase, or forgot it.
    NotEnabled {
        /// Its status register.
        status: u8,
    },
    /// The chip is protected from programs and erases, all of it or these blocks.
    Protected {
        /// Its status register.
        status: u8,
    },
    /// A program failed: by the chip's own word, or because something else is read back.
    ProgramFailed {
        /// Where, in the chip.
        address: u32,
    },
    /// An erase failed.
    EraseFailed {
        /// Where, in the chip.
        address: u32,
    },
}

impl NorError {
    /// What the file system is told.
    pub const fn failure(self) -> Failure {
        match self {
            Self::ProgramFailed { .. } | Self::EraseFailed { .. } => Failure::BadBlock,
            Self::Protected { .. } => Failure::WriteProtected,
            _ => Failure::Device,
        }
    }
}

impl From<BusError> for NorError {
    fn from(error: BusError) -> Self {
        match error {
            BusError::Bus => Self::Bus,
            BusError::Busy { waited_us } => Self::Busy { waited_us },
            BusError::NotEnabled { status } => Self::NotEnabled { status },
        }
    }
}

impl fmt::Display for NorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus => f.write_str("the SPI bus reported an error"),
            Self::NoChip { id } => write!(f, "no chip answers: its identification is {id:02x?}"),
            Self::OtherChip { id } => write!(f, "another chip than expected: its identification is {id:02x?}"),
            Self::NoParameters => f.write_str("the chip has no SFDP parameters"),
            Self::BadParameters => f.write_str("the chip's SFDP parameters make no sense"),
            Self::Range => f.write_str("the bytes to be used are no blocks of the chip"),
            Self::Busy { waited_us } => write!(f, "busy for more than {waited_us} us"),
            Self::NotEnabled { status } => write!(f, "write enable had no effect: status {status:#04x}"),
            Self::Protected { status } => write!(f, "blocks are protected: status {status:#04x}"),
            Self::ProgramFailed { address } => write!(f, "a program at {address:#x} failed"),
            Self::EraseFailed { address } => write!(f, "an erase at {address:#x} failed"),
        }
    }
}

impl core::error::Error for NorError {}
