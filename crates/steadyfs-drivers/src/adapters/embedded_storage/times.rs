//! The longest times of a chip, and the times of reads, programs and erases computed from them.

/// Largest word of a chip, in bytes.
pub(super) const WORD_BYTES_MAX: usize = 64;

/// Bytes of one call if the memory of the caller is not aligned: a program page of a serial chip.
pub(super) const BUFFER_BYTES: usize = 256;

/// Longest times of a chip; every [bound](steadyfs::CallBounds::of) is computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashTimes {
    /// Time of the command and address of a read, in nanoseconds. The time of the bytes is added.
    pub read_ns: u32,
    /// Time of each byte that is read, in nanoseconds.
    pub read_byte_ns: u32,
    /// Bytes that the chip programs at once: a program page of a serial chip, a word inside a
    /// microcontroller.
    pub write_bytes: u32,
    /// Time to transfer and program up to `write_bytes` bytes, in nanoseconds.
    pub write_ns: u32,
    /// Time to erase `ERASE_SIZE` bytes, in nanoseconds.
    pub erase_ns: u64,
}

impl FlashTimes {
    /// A serial chip with four data lines at 50 MHz: the longest times of Winbond's W25Q128JV to
    /// program 256 bytes and to erase 4 KiB (datasheet, 9.6).
    pub const SPI_NOR: Self = Self {
        read_ns: 1_000,
        read_byte_ns: 40,
        write_bytes: 256,
        write_ns: 3_020_000,
        erase_ns: 400_000_000,
    };
    /// Flash inside a microcontroller: the longest times of an STM32G0 to program eight bytes and
    /// to erase 2 KiB (datasheet of the STM32G071, "Flash memory characteristics").
    pub const INTERNAL: Self = Self {
        read_ns: 100,
        read_byte_ns: 30,
        write_bytes: 8,
        write_ns: 125_000,
        erase_ns: 40_000_000,
    };

    /// Returns the time of a read, in nanoseconds, also into memory that is not aligned.
    pub(super) const fn read(&self, bytes: u32) -> u64 {
        bytes.div_ceil(BUFFER_BYTES as u32) as u64 * self.read_ns as u64
            + bytes as u64 * self.read_byte_ns as u64
    }

    /// Returns the time of a program with its read-back, in nanoseconds.
    pub(super) const fn program(&self, bytes: u32) -> u64 {
        let parts = if self.write_bytes == 0 { bytes } else { bytes.div_ceil(self.write_bytes) };
        parts as u64 * self.write_ns as u64 + self.look(bytes)
    }

    /// Returns the time of an erase of sectors with its read-back, in nanoseconds.
    pub(super) const fn erase(&self, bytes: u32, sector_bytes: u32) -> u64 {
        (bytes / sector_bytes) as u64 * self.erase_ns + self.look(bytes)
    }

    const fn look(&self, bytes: u32) -> u64 {
        bytes.div_ceil(WORD_BYTES_MAX as u32) as u64 * self.read_ns as u64
            + bytes as u64 * self.read_byte_ns as u64
    }
}
