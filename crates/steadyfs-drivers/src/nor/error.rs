//! Errors of a chip.

use crate::bus::BusError;
use core::fmt;
use steadyfs::media::Failure;

/// Error of a chip. The file system receives it as a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NorError {
    /// The bus reported an error.
    Bus,
    /// No chip answers, or the chip does not support the command that identifies it.
    NoChip {
        /// Bytes with which the chip answered to the command 0x9F.
        id: [u8; 3],
    },
    /// The chip is not the chip that the settings describe.
    OtherChip {
        /// Bytes with which the chip answered to the command 0x9F.
        id: [u8; 3],
    },
    /// The chip has no SFDP parameters. [`Settings::info`](super::Settings::info) can describe the
    /// chip.
    NoParameters,
    /// The description of the chip, from SFDP or from the settings, is invalid.
    BadParameters,
    /// The used bytes do not begin and end at the boundary of an erase block, or they end behind
    /// the chip. Or their blocks are unsuitable for a volume.
    Range,
    /// The chip stayed busy beyond its limit.
    Busy {
        /// Duration of the wait in microseconds, without the time on the bus.
        waited_us: u32,
    },
    /// Write enable had no effect: the chip missed the command, lost the setting, or is still
    /// busy.
    NotEnabled {
        /// Content of the status register of the chip.
        status: u8,
    },
    /// The chip, or some of its blocks, are protected from programs and erases.
    Protected {
        /// Content of the status register of the chip.
        status: u8,
    },
    /// A program failed: the chip reported it, or the bytes read back differ.
    ProgramFailed {
        /// Address of the failed program in the chip.
        address: u32,
    },
    /// An erase failed: the chip reported it, or the bytes read back are not erased.
    EraseFailed {
        /// Address of the failed erase in the chip.
        address: u32,
    },
}

impl NorError {
    /// Returns the failure for the file system.
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
            Self::OtherChip { id } => {
                write!(f, "another chip than expected: its identification is {id:02x?}")
            }
            Self::NoParameters => f.write_str("the chip has no SFDP parameters"),
            Self::BadParameters => {
                f.write_str("the chip's SFDP parameters or settings are invalid")
            }
            Self::Range => f.write_str("the used bytes are not whole blocks of the chip"),
            Self::Busy { waited_us } => write!(f, "busy for more than {waited_us} us"),
            Self::NotEnabled { status } => {
                write!(f, "write enable had no effect: status {status:#04x}")
            }
            Self::Protected { status } => write!(f, "blocks are protected: status {status:#04x}"),
            Self::ProgramFailed { address } => write!(f, "a program at {address:#x} failed"),
            Self::EraseFailed { address } => write!(f, "an erase at {address:#x} failed"),
        }
    }
}

impl core::error::Error for NorError {}
