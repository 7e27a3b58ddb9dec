//! Costs of calls.

/// Worst case of a call: time of the medium, and work of the processor. The work is measured in
/// bytes. Multiply it by the processor cycles for one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Time of the medium in nanoseconds.
    pub flash_ns: u64,
    /// Number of bytes that are decoded.
    pub decoded_bytes: u64,
    /// Number of bytes that are hashed.
    pub hashed_bytes: u64,
}

impl Bound {
    /// Returns a bound that contains only time of the medium.
    pub const fn of_flash(flash_ns: u64) -> Self {
        Self { flash_ns, decoded_bytes: 0, hashed_bytes: 0 }
    }

    /// Returns this bound with its number of decoded bytes set to `decoded_bytes`.
    #[must_use]
    pub const fn decoding(self, decoded_bytes: u64) -> Self {
        Self { decoded_bytes, ..self }
    }

    /// Returns the sum of both bounds.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            flash_ns: self.flash_ns + other.flash_ns,
            decoded_bytes: self.decoded_bytes + other.decoded_bytes,
            hashed_bytes: self.hashed_bytes + other.hashed_bytes,
        }
    }

    /// Returns this bound multiplied by `count`.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            flash_ns: self.flash_ns * count,
            decoded_bytes: self.decoded_bytes * count,
            hashed_bytes: self.hashed_bytes * count,
        }
    }
}
