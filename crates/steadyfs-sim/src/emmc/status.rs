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

/// What the device waits for; the numbers are those of the status word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// A command.
    Transfer = 4,
    /// The host to take data, or CMD12.
    SendData = 5,
    /// Data of the host, or CMD12.
    ReceiveData = 6,
}

/// The answer to a command: 32 bits of errors and state. An error is told once.
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
    /// Sectors that the disk does not have.
    pub const ADDRESS_OUT_OF_RANGE: Self = Self(1 << 31);
    /// Data that is no whole sectors, or more than was announced; or another block length than 512.
    pub const BLOCK_LEN_ERROR: Self = Self(1 << 29);
    /// CMD35, CMD36 and CMD38 out of order.
    pub const ERASE_SEQ_ERROR: Self = Self(1 << 28);
    /// A last sector before the first, or an erase that the device does not know.
    pub const ERASE_PARAM: Self = Self(1 << 27);
    /// The disk can only be read.
    pub const WP_VIOLATION: Self = Self(1 << 26);
    /// The device does not know the command, or waits for another one or for data.
    pub const ILLEGAL_COMMAND: Self = Self(1 << 22);
    /// Data is lost.
    pub const DEVICE_ECC_FAILED: Self = Self(1 << 21);
    /// The chip does not answer, or too many of its programs fail.
    pub const CC_ERROR: Self = Self(1 << 20);
    /// Anything else: no room in a transaction, a context that is not open, a request that the device does not have.
    pub const ERROR: Self = Self(1 << 19);
    /// A range for an erase was forgotten, because another command came.
    pub const ERASE_RESET: Self = Self(1 << 13);
    /// SWITCH of a byte that cannot be written, or to a value that it does not take.
    pub const SWITCH_ERROR: Self = Self(1 << 7);

    /// The word on the bus.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether it tells an error.
    pub const fn has(self, error: Self) -> bool {
        self.0 & error.0 != 0
    }

    /// Whether it tells any error. A range that was [forgotten](Self::ERASE_RESET) is none.
    pub const fn is_error(self) -> bool {
        self.0 & !(STATE_MASK | READY | Self::ERASE_RESET.0) != 0
    }

    /// What the device waits for.
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

    /// The errors with a state; the device is ready whenever it answers.
    pub(super) const fn in_state(self, state: State) -> Self {
        Self(self.0 & !STATE_MASK | (state as u32) << STATE_SHIFT | READY)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.state())?;
        ERRORS.iter().filter(|(error, _)| self.has(*error)).try_for_each(|(_, name)| write!(f, " {name}"))
    }
}
