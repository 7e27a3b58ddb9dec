//! Errors of a card.

use core::fmt;
use steadyfs::media::Failure;

/// Purpose of a wait for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// The card must be ready for a command.
    Command,
    /// The card must have received or programmed a sector.
    Write,
    /// The card must have programmed the rest of a stream of writes.
    Stop,
    /// The card must have finished an erase.
    Erase,
}

/// Error of a card, with the numbers from the card's answer. The file system receives it as a
/// [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SdError {
    /// The SPI peripheral reported an error.
    Bus,
    /// The chip-select pin could not be set.
    Select,
    /// Nothing answers to a reset: there is no card, or it has no power.
    NoCard,
    /// The card answers that it does not work at 3.3 V, or gives an invalid answer.
    Unusable,
    /// After its reset the card did not become ready in time. The limit is one second times the
    /// [patience](super::Settings::patience).
    NotStarted,
    /// A register of the card has an unsupported value: the card is an SDUC card (more than 2 TB),
    /// an MMC, or broken.
    UnknownRegister,
    /// The card is locked with a password.
    Locked,
    /// A command had no answer: the card was pulled, lost its power, or missed clocks of the bus.
    NoAnswer {
        /// Number of the command.
        command: u8,
    },
    /// The card refused a command.
    Refused {
        /// Number of the command.
        command: u8,
        /// The answer R1 (specification, 7.3.2.1): 0x04 is an illegal command, and 0x08 is a bad
        /// checksum after all retries. 0x20 and 0x40 are bad arguments.
        answer: u8,
    },
    /// The card stayed busy beyond its limit.
    Busy {
        /// Purpose of the wait.
        wait: Wait,
        /// Duration of the wait in milliseconds.
        waited_ms: u32,
    },
    /// No data came after a read command.
    NoData {
        /// Duration of the wait in milliseconds.
        waited_ms: u32,
    },
    /// The card reported that it cannot read a sector.
    ReadFailed {
        /// Number of the sector.
        sector: u32,
        /// The error token (specification, 7.3.3.3): 0x04 is an error that the ECC of the card
        /// cannot correct.
        token: u8,
    },
    /// Data was read with a bad checksum in all retries: bad wires, or a clock that is too fast.
    ReadCrc {
        /// Number of the sector.
        sector: u32,
    },
    /// The card reported in all retries that written data had a bad checksum.
    WriteCrc {
        /// Number of the sector.
        sector: u32,
    },
    /// The card refused a sector twice with a write error. Data of other calls is not lost.
    WriteRejected {
        /// Number of the sector.
        sector: u32,
        /// Both bytes of the card's status (specification, 7.3.2.3). The first byte is the upper
        /// byte.
        status: u16,
    },
    /// The card received sectors of this call or of earlier calls without an error. Afterwards its
    /// status reports an error.
    WriteFailed {
        /// Both bytes of the card's status. The first byte is the upper byte.
        status: u16,
    },
    /// Data of an earlier write is lost. Writes fail until a flush has reported it.
    Lost,
    /// An erase failed.
    EraseFailed {
        /// Both bytes of the card's status. The first byte is the upper byte.
        status: u16,
    },
    /// The card or a setting forbids writes.
    WriteProtected,
    /// A sector lies beyond the end of the card.
    OutOfRange,
    /// The parts of a transfer are not whole sectors.
    NotSectors,
}

impl SdError {
    /// Returns the failure for the file system.
    pub const fn failure(self) -> Failure {
        match self {
            // The card answers, so the sectors are bad, and the device still works.
            Self::ReadFailed { token, .. } if token & 0xE8 == 0 && token != 0 => {
                Failure::Uncorrectable
            }
            // The sector was sent twice with a right checksum, so the card cannot write this
            // sector.
            Self::WriteRejected { .. } => Failure::BadBlock,
            Self::WriteProtected => Failure::WriteProtected,
            _ => Failure::Device,
        }
    }
}

impl fmt::Display for SdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus => f.write_str("the SPI bus reported an error"),
            Self::Select => f.write_str("the chip-select pin could not be set"),
            Self::NoCard => f.write_str("no card answers"),
            Self::Unusable => f.write_str("the card does not work at this voltage"),
            Self::NotStarted => f.write_str("the card did not become ready after its reset"),
            Self::UnknownRegister => f.write_str("the card has a register of an unknown version"),
            Self::Locked => f.write_str("the card is locked with a password"),
            Self::NoAnswer { command } => write!(f, "no answer to CMD{command}"),
            Self::Refused { command, answer } => {
                write!(f, "CMD{command} was refused: R1 is {answer:#04x}")
            }
            Self::Busy { wait, waited_ms } => {
                write!(f, "busy for more than {waited_ms} ms ({wait:?})")
            }
            Self::NoData { waited_ms } => write!(f, "no data within {waited_ms} ms"),
            Self::ReadFailed { sector, token } => {
                write!(f, "sector {sector} cannot be read: token {token:#04x}")
            }
            Self::ReadCrc { sector } => write!(f, "sector {sector} was read with a bad checksum"),
            Self::WriteCrc { sector } => {
                write!(f, "sector {sector} reached the card with a bad checksum")
            }
            Self::WriteRejected { sector, status } => {
                write!(f, "sector {sector} was refused: status {status:#06x}")
            }
            Self::WriteFailed { status } => write!(f, "a write failed: status {status:#06x}"),
            Self::Lost => f.write_str("an earlier write is lost"),
            Self::EraseFailed { status } => write!(f, "an erase failed: status {status:#06x}"),
            Self::WriteProtected => f.write_str("the card is protected from writes"),
            Self::OutOfRange => f.write_str("beyond the end of the card"),
            Self::NotSectors => f.write_str("not whole sectors"),
        }
    }
}

impl core::error::Error for SdError {}
