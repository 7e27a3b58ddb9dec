//! What can go wrong with a chip.

use crate::bus::BusError;
use core::fmt;
use steadyfs::media::{BlockIndex, Failure, PageIndex};

/// What failed. [`Failure`] is what the file system sees of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NandError {
    /// The bus reported an error.
    Bus,
    /// No chip answers.
    NoChip {
        /// What it answered.
        id: [u8; 3],
    },
    /// A chip that is not known, or not the one that the settings describe.
    UnknownChip {
        /// What it answered.
        id: [u8; 3],
    },
    /// What the settings or the chip's parameter page say of its shape makes no sense, or they differ.
    BadParameters,
    /// Blocks or pages that the chip does not have, or data that is no page.
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
    /// The chip has locked its blocks: it does so when its supply dips.
    Locked {
        /// Its protection register.
        protection: u8,
    },
    /// The chip says that a program failed.
    ProgramFailed {
        /// The page.
        page: PageIndex,
    },
    /// The chip says that an erase failed.
    EraseFailed {
        /// The block.
        block: BlockIndex,
    },
    /// More bits are wrong than the ECC corrects.
    Uncorrectable {
        /// The page.
        page: PageIndex,
    },
    /// A copy does not follow the read of a tag, or the chip cannot copy.
    NotLoaded,
}

impl NandError {
    /// What the file system is told.
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
            Self::UnknownChip { id } => write!(f, "a chip that is not known: its identification is {id:02x?}"),
            Self::BadParameters => f.write_str("the shape of the chip makes no sense"),
            Self::Range => f.write_str("pages that the chip does not have, or data that is no page"),
            Self::Busy { waited_us } => write!(f, "busy for more than {waited_us} us"),
            Self::NotEnabled { status } => write!(f, "write enable had no effect: status {status:#04x}"),
            Self::Locked { protection } => write!(f, "blocks are locked: protection register {protection:#04x}"),
            Self::ProgramFailed { page } => write!(f, "the program of page {page} failed"),
            Self::EraseFailed { block } => write!(f, "the erase of block {block} failed"),
            Self::Uncorrectable { page } => write!(f, "page {page} has more wrong bits than the ECC corrects"),
            Self::NotLoaded => f.write_str("a copy without a page in the page buffer"),
        }
    }
}

impl core::error::Error for NandError {}
