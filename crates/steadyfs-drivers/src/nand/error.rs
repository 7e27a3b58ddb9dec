//! Errors of a chip.

use crate::bus::BusError;
use core::fmt;
use steadyfs::media::{BlockIndex, Failure, PageIndex};

/// Error of a chip. The file system receives it as a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NandError {
    /// The bus reported an error.
    Bus,
    /// No chip answers.
    NoChip {
        /// Bytes with which the chip answered to the command 0x9F.
        id: [u8; 3],
    },
    /// Neither the settings nor [`NandInfo::CHIPS`](super::NandInfo::CHIPS) describe the chip.
    UnknownChip {
        /// Bytes with which the chip answered to the command 0x9F.
        id: [u8; 3],
    },
    /// One of three faults. The shape of the chip in the settings or in its parameter page is
    /// invalid. Or the two shapes differ. Or the chip loses its configuration.
    BadParameters,
    /// The blocks or pages are outside the chip, or the data is longer than a page.
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
    /// The chip has locked its blocks, for example after a dip in the supply voltage.
    Locked {
        /// Content of the protection register of the chip.
        protection: u8,
    },
    /// The chip reports that a program failed.
    ProgramFailed {
        /// The page that was programmed.
        page: PageIndex,
    },
    /// The chip reports that an erase failed.
    EraseFailed {
        /// The block that was erased.
        block: BlockIndex,
    },
    /// A page has more wrong bits than the ECC corrects.
    Uncorrectable {
        /// The page that was read.
        page: PageIndex,
    },
    /// The driver copies a page only directly after a read of its tag, and the last call was no
    /// such read. Or the chip cannot copy.
    NotLoaded,
}

impl NandError {
    /// Returns the failure for the file system.
    pub const fn failure(self) -> Failure {
        match self {
            Self::Uncorrectable { .. } => Failure::Uncorrectable,
            Self::ProgramFailed { .. } | Self::EraseFailed { .. } => Failure::BadBlock,
            Self::Locked { .. } => Failure::WriteProtected,
            _ => Failure::Device,
        }
    }
}

impl From<BusError> for NandError {
    fn from(error: BusError) -> Self {
        match error {
            BusError::Bus => Self::Bus,
            BusError::Busy { waited_us } => Self::Busy { waited_us },
            BusError::NotEnabled { status } => Self::NotEnabled { status },
        }
    }
}

impl fmt::Display for NandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus => f.write_str("the SPI bus reported an error"),
            Self::NoChip { id } => write!(f, "no chip answers: its identification is {id:02x?}"),
            Self::UnknownChip { id } => {
                write!(f, "the chip is unknown: its identification is {id:02x?}")
            }
            Self::BadParameters => f.write_str(
                "the shape of the chip is invalid, or the chip does not keep its configuration",
            ),
            Self::Range => {
                f.write_str("the chip does not have these pages, or the data is longer than a page")
            }
            Self::Busy { waited_us } => write!(f, "busy for more than {waited_us} us"),
            Self::NotEnabled { status } => {
                write!(f, "write enable had no effect: status {status:#04x}")
            }
            Self::Locked { protection } => {
                write!(f, "blocks are locked: protection register {protection:#04x}")
            }
            Self::ProgramFailed { page } => write!(f, "the program of page {page} failed"),
            Self::EraseFailed { block } => write!(f, "the erase of block {block} failed"),
            Self::Uncorrectable { page } => {
                write!(f, "page {page} has more wrong bits than the ECC corrects")
            }
            Self::NotLoaded => {
                f.write_str("a copy did not follow the read of a tag, or the chip cannot copy")
            }
        }
    }
}

impl core::error::Error for NandError {}
