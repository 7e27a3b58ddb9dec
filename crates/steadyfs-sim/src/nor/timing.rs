//! Durations of the operations of a NOR chip, from their parts.

use crate::nand::transfer_ns;
use crate::profile::{Driver, NorProfile, TimingChoice};

/// The parts of an operation's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NorTiming {
    /// Time of command, address and dummy clocks of a read, in nanoseconds.
    pub read_command_ns: u64,
    /// Time of commands, address and status polls of a program, in nanoseconds.
    pub program_command_ns: u64,
    /// Time of commands, address and status polls of an erase, in nanoseconds.
    pub erase_command_ns: u64,
    /// Time to transfer a byte from the chip, in picoseconds.
    pub bus_read_ps_per_byte: u64,
    /// Time to transfer a byte to the chip, in picoseconds.
    pub bus_program_ps_per_byte: u64,
    /// Time to program the first byte of a command, in nanoseconds.
    pub program_first_byte_ns: u64,
    /// Time to program each further byte, in nanoseconds.
    pub program_byte_ns: u64,
    /// Time to program a full program page, in nanoseconds. No shorter program takes longer.
    pub program_page_ns: u64,
    /// Time of an erase inside the chip, in nanoseconds.
    pub array_erase_ns: u64,
    /// Number of bytes that one program command can program at most, a power of two.
    pub program_page_bytes: u32,
}

impl NorTiming {
    /// Round figures that no real chip has, for tests. The bus takes 10 ns a byte. A program
    /// takes 30 µs and 2 µs a byte in pages of 256 bytes. An erase takes 100 ms. Commands take no
    /// time.
    pub const ROUND: Self = Self {
        read_command_ns: 0,
        program_command_ns: 0,
        erase_command_ns: 0,
        bus_read_ps_per_byte: 10_000,
        bus_program_ps_per_byte: 10_000,
        program_first_byte_ns: 30_000,
        program_byte_ns: 2_000,
        program_page_ns: 500_000,
        array_erase_ns: 100_000_000,
        program_page_bytes: 256,
    };

    /// Takes the figures of a profile, for blocks of `erase_bytes`. Returns `None` if the chip
    /// has no such erase.
    pub fn of(profile: &NorProfile, erase_bytes: u32, choice: TimingChoice) -> Option<Self> {
        let ns = |us: u32| u64::from(us) * 1000;
        let driver = &profile.driver;
        let with = |command_ns: u32, us: u32| u64::from(command_ns) + Driver::call_ns(us);
        Some(Self {
            read_command_ns: with(profile.read_command_ns, driver.read_call_us),
            program_command_ns: with(profile.program_command_ns, driver.program_call_us),
            erase_command_ns: with(profile.erase_command_ns, driver.erase_call_us),
            bus_read_ps_per_byte: u64::from(profile.bus_read_ps_per_byte) + driver.byte_ps(),
            bus_program_ps_per_byte: u64::from(profile.bus_program_ps_per_byte) + driver.byte_ps(),
            program_first_byte_ns: ns(profile.program_first_byte_us.pick(choice)),
            program_byte_ns: ns(profile.program_byte_us.pick(choice)),
            program_page_ns: ns(profile.program_page_us.pick(choice)),
            array_erase_ns: ns(profile.erase_us(erase_bytes)?.pick(choice)),
            program_page_bytes: profile.program_page_bytes,
        })
    }

    /// Takes the figures for blocks of `block_bytes`. The chip erases a block with one command,
    /// or else with several commands of the largest erase that divides the block.
    pub fn of_block(profile: &NorProfile, block_bytes: u32, choice: TimingChoice) -> Option<Self> {
        let fits = profile
            .erases
            .iter()
            .map(|erase| erase.bytes)
            .filter(|&bytes| block_bytes.is_multiple_of(bytes));
        let erase_bytes = fits.max()?;
        let (one, count) =
            (Self::of(profile, erase_bytes, choice)?, u64::from(block_bytes / erase_bytes));
        Some(Self {
            array_erase_ns: one.array_erase_ns * count,
            erase_command_ns: one.erase_command_ns * count,
            ..one
        })
    }

    /// Returns the duration of a read of `bytes`.
    pub fn read_ns(&self, bytes: usize) -> u64 {
        self.read_command_ns + transfer_ns(bytes, self.bus_read_ps_per_byte)
    }

    /// Returns the duration of one program command of `bytes`, at least one, within one program
    /// page.
    pub fn command_ns(&self, bytes: usize) -> u64 {
        let array_ns = self.program_first_byte_ns + (bytes as u64 - 1) * self.program_byte_ns;
        self.program_command_ns
            + transfer_ns(bytes, self.bus_program_ps_per_byte)
            + array_ns.min(self.program_page_ns)
    }

    /// Returns the duration of a program of `bytes` that starts at a program page or lies within
    /// one.
    pub fn program_ns(&self, bytes: usize) -> u64 {
        let page = self.program_page_bytes as usize;
        let rest = match bytes % page {
            0 => 0,
            rest => self.command_ns(rest),
        };
        (bytes / page) as u64 * self.command_ns(page) + rest
    }

    /// Returns the duration of an erase.
    pub fn erase_ns(&self) -> u64 {
        self.erase_command_ns + self.array_erase_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn winbond(erase_bytes: u32, choice: TimingChoice) -> Option<NorTiming> {
        NorTiming::of(Profile::named("w25q128jv").unwrap().nor().unwrap(), erase_bytes, choice)
    }

    /// Computed by hand, in nanoseconds: 16 bytes of 19.231 take 308, and 256 such bytes take
    /// 4,924.
    #[test]
    fn durations_of_w25q128jv_are_those_computed_by_hand() {
        let typical = winbond(65_536, TimingChoice::Typical).unwrap();
        assert_eq!(typical.read_ns(16), 385 + 308);
        assert_eq!(typical.program_ns(1), 615 + 20 + 32_000);
        assert_eq!(typical.program_ns(16), 615 + 308 + 32_000 + 15 * 3_000);
        assert_eq!(
            typical.program_ns(256),
            615 + 4_924 + 700_000,
            "a full page is faster than its bytes"
        );
        assert_eq!(typical.program_ns(528), 2 * typical.program_ns(256) + typical.program_ns(16));
        assert_eq!(typical.program_ns(0), 0);
        assert_eq!(typical.erase_ns(), 615 + 150_000_000);
        let maximum = winbond(4_096, TimingChoice::Maximum).unwrap();
        assert_eq!(maximum.erase_ns(), 615 + 400_000_000);
        assert_eq!(maximum.program_ns(256), 615 + 4_924 + 3_000_000);
    }

    #[test]
    fn an_erase_size_that_the_chip_lacks_has_no_timing() {
        assert_eq!(winbond(32_768, TimingChoice::Typical), None);
    }
}
