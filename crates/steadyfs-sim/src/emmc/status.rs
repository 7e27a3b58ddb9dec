//! The status word R1.
//!
//! ```text
//! 31 ············ 13 │ 12 ··· 9 │ 8     │ 7      │ 6 ··· 0
//! errors             │ state    │ ready │ switch │ zeros
//! ```

use std::fmt;

const STATE_SHIFT: u32 = 9;
const STATE_MASK: u32 = 0xF << STATE_SHIFT;
const READY: u32 = 1 << 8;

/// The state of the device, which defines the event that it waits for. The discriminants are the
/// numbers in the status word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The device waits for a command.
    Transfer = 4,
    /// The host reads data, or sends CMD12.
    SendData = 5,
    /// The host writes data, or sends CMD12.
    ReceiveData = 6,
}

/// The answer to a command: 32 bits of errors and state. An error is reported once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Status(u32);

/// The errors with their names.
const ERRORS: [(Status, &str); 11] = [
    (Status::ADDRESS_OUT_OF_RANGE, "ADDRESS_OUT_OF_RANGE"),
    (Status::BLOCK_LEN_ERROR, "BLOCK_LEN_ERROR"),
    (Status::ERASE_SEQ_ERROR, "ERASE_SEQ_ERROR"),
    (Status::ERASE_PARAM, "ERASE_PARAM"),
    (Status::WP_VIOLATION, "WP_VIOLATION"),
    (Status::ILLEGAL_COMMAND, "ILLEGAL_COMMAND"),
    (Status::DEVICE_ECC_FAILED, "DEVICE_ECC_FAILED"),
    (Status::CC_ERROR, "CC_ERROR"),
    (Status::ERROR, "ERROR"),
    (Status::ERASE_RESET, "ERASE_RESET"),
    (Status::SWITCH_ERROR, "SWITCH_ERROR"),
];

impl Status {
    /// No error.
    pub(super) const NONE: Self = Self(0);
    /// The sectors lie beyond the end of the disk.
    pub const ADDRESS_OUT_OF_RANGE: Self = Self(1 << 31);
    /// The data is not whole sectors, or has more bytes than were announced. Or the block length is
    /// not 512.
    pub const BLOCK_LEN_ERROR: Self = Self(1 << 29);
    /// CMD35, CMD36 and CMD38 came out of order.
    pub const ERASE_SEQ_ERROR: Self = Self(1 << 28);
    /// The last sector lies before the first, or the device does not support the erase.
    pub const ERASE_PARAM: Self = Self(1 << 27);
    /// The disk can only be read.
    pub const WP_VIOLATION: Self = Self(1 << 26);
    /// The device does not support the command, or waits for another command or for data.
    pub const ILLEGAL_COMMAND: Self = Self(1 << 22);
    /// Data is lost.
    pub const DEVICE_ECC_FAILED: Self = Self(1 << 21);
    /// The chip does not answer, or too many of its programs fail.
    pub const CC_ERROR: Self = Self(1 << 20);
    /// Any other error: a full transaction, a context that is not open, or an unsupported request.
    pub const ERROR: Self = Self(1 << 19);
    /// The range of an erase was discarded, because another command came.
    pub const ERASE_RESET: Self = Self(1 << 13);
    /// The argument of SWITCH contained a byte index that cannot be written, or a value that the
    /// byte does not accept.
    pub const SWITCH_ERROR: Self = Self(1 << 7);

    /// Returns the word on the bus.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns true if the status contains `error`.
    pub const fn has(self, error: Self) -> bool {
        self.0 & error.0 != 0
    }

    /// Returns true if the status contains any error. A [discarded](Self::ERASE_RESET) range does
    /// not count as an error.
    pub const fn is_error(self) -> bool {
        self.0 & !(STATE_MASK | READY | Self::ERASE_RESET.0) != 0
    }

    /// Returns the event that the device waits for.
    pub const fn state(self) -> State {
        match (self.0 & STATE_MASK) >> STATE_SHIFT {
            5 => State::SendData,
            6 => State::ReceiveData,
            _ => State::Transfer,
        }
    }

    pub(super) const fn with(self, error: Self) -> Self {
        Self(self.0 | error.0)
    }

    /// Returns the errors with a state. The device is ready in every answer.
    pub(super) const fn in_state(self, state: State) -> Self {
        Self(self.0 & !STATE_MASK | (state as u32) << STATE_SHIFT | READY)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.state())?;
        ERRORS
            .iter()
            .filter(|(error, _)| self.has(*error))
            .try_for_each(|(_, name)| write!(f, " {name}"))
    }
}
