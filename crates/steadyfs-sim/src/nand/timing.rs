//! Durations of the operations of a NAND chip, from their parts.

use crate::profile::{Driver, NandProfile, TimingChoice};
use steadyfs::media::{Geometry, TAG_BYTES, Timing};

/// The parts of an operation's duration.
///
/// A read consists of the command, the array read and the transfer. A program consists of the
/// command, the transfer and the array program. An erase consists of the command and the array
/// erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTiming {
    /// Time of commands, addresses and status polls of a read, in nanoseconds.
    pub read_command_ns: u64,
    /// Time of commands, addresses and status polls of a program, in nanoseconds.
    pub program_command_ns: u64,
    /// Time of commands, addresses and status polls of an erase, in nanoseconds.
    pub erase_command_ns: u64,
    /// Time to transfer a byte from the chip, in picoseconds.
    pub bus_read_ps_per_byte: u64,
    /// Time to transfer a byte to the chip, in picoseconds.
    pub bus_program_ps_per_byte: u64,
    /// Time to read a page from the array into the page register, in nanoseconds.
    pub array_read_ns: u64,
    /// Time to program the page register into the array, in nanoseconds.
    pub array_program_ns: u64,
    /// Time of an erase inside the chip, in nanoseconds.
    pub array_erase_ns: u64,
}

impl NandTiming {
    /// Round figures that no real chip has, for tests: read 50 µs, program 250 µs, erase 2 ms, 10
    /// ns a byte, no command time.
    pub const ROUND: Self = Self {
        read_command_ns: 0,
        program_command_ns: 0,
        erase_command_ns: 0,
        bus_read_ps_per_byte: 10_000,
        bus_program_ps_per_byte: 10_000,
        array_read_ns: 50_000,
        array_program_ns: 250_000,
        array_erase_ns: 2_000_000,
    };

    /// Takes the figures of a profile.
    pub fn of(profile: &NandProfile, choice: TimingChoice) -> Self {
        let driver = &profile.driver;
        let with = |command_ns: u32, us: u32| u64::from(command_ns) + Driver::call_ns(us);
        Self {
            read_command_ns: with(profile.read_command_ns, driver.read_call_us),
            program_command_ns: with(profile.program_command_ns, driver.program_call_us),
            erase_command_ns: with(profile.erase_command_ns, driver.erase_call_us),
            bus_read_ps_per_byte: u64::from(profile.bus_read_ps_per_byte) + driver.byte_ps(),
            bus_program_ps_per_byte: u64::from(profile.bus_program_ps_per_byte) + driver.byte_ps(),
            array_read_ns: u64::from(profile.array_read_us.pick(choice)) * 1000,
            array_program_ns: u64::from(profile.program_us.pick(choice)) * 1000,
            array_erase_ns: u64::from(profile.erase_us.pick(choice)) * 1000,
        }
    }

    /// Returns the duration of a read that moves `bytes`.
    pub fn read_ns(&self, bytes: usize) -> u64 {
        self.read_command_ns + self.array_read_ns + transfer_ns(bytes, self.bus_read_ps_per_byte)
    }

    /// Returns the duration of a program that moves `bytes`.
    pub fn program_ns(&self, bytes: usize) -> u64 {
        self.program_command_ns
            + transfer_ns(bytes, self.bus_program_ps_per_byte)
            + self.array_program_ns
    }

    /// Returns the duration of an erase.
    pub fn erase_ns(&self) -> u64 {
        self.erase_command_ns + self.array_erase_ns
    }

    /// Returns the durations of whole operations on a chip of this shape.
    pub fn summary(&self, geometry: &Geometry, on_chip_copy: bool) -> Timing {
        let whole = geometry.page_bytes as usize + TAG_BYTES;
        let (read_ns, program_ns) = (self.read_ns(whole), self.program_ns(whole));
        let read_tag_ns = self.read_ns(TAG_BYTES);
        let copy_ns = if on_chip_copy {
            read_tag_ns + self.program_ns(TAG_BYTES)
        } else {
            read_ns + program_ns
        };
        Timing {
            read_ns,
            read_tag_ns,
            program_ns,
            copy_ns,
            erase_ns: self.erase_ns(),
            instruction_ps: 0,
        }
    }
}

/// Returns the time that `bytes` take on the bus, rounded up to whole nanoseconds.
pub(crate) fn transfer_ns(bytes: usize, ps_per_byte: u64) -> u64 {
    (bytes as u64 * ps_per_byte).div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn micron(choice: TimingChoice) -> Timing {
        let profile = Profile::named("mt29f1g01abafd").unwrap();
        let nand = profile.nand().unwrap();
        NandTiming::of(nand, choice).summary(&nand.geometry(), true)
    }

    /// Computed by hand, in nanoseconds: 88 clocks of 7.519 take 662, 2064 bytes of 15.038 take
    /// 31,039, and 16 such bytes take 241.
    #[test]
    fn durations_of_mt29f1g01abafd_are_those_computed_by_hand() {
        let typical = micron(TimingChoice::Typical);
        assert_eq!(typical.read_ns, 662 + 46_000 + 31_039);
        assert_eq!(typical.read_tag_ns, 662 + 46_000 + 241);
        assert_eq!(typical.program_ns, 662 + 31_039 + 220_000);
        assert_eq!(typical.copy_ns, 46_903 + 662 + 241 + 220_000);
        assert_eq!(typical.erase_ns, 482 + 2_000_000);
        let maximum = micron(TimingChoice::Maximum);
        assert_eq!(maximum.read_ns, 662 + 70_000 + 31_039);
        assert_eq!(maximum.program_ns, 662 + 31_039 + 600_000);
        assert_eq!(maximum.erase_ns, 482 + 10_000_000);
    }

    #[test]
    fn a_page_program_of_mt29f1g01abafd_takes_251_us_typically_and_631_us_at_most() {
        let near = |ns: u64, us: u64| ns.abs_diff(us * 1000) <= 1000;
        assert!(near(micron(TimingChoice::Typical).program_ns, 251));
        assert!(near(micron(TimingChoice::Maximum).program_ns, 631));
    }

    #[test]
    fn without_on_chip_copy_a_copy_is_a_read_and_a_program() {
        let geometry = Geometry {
            page_bytes: 512,
            pages_per_block: 16,
            block_count: 8,
            programs_bytes: false,
        };
        let timing = NandTiming::ROUND.summary(&geometry, false);
        assert_eq!(timing.copy_ns, timing.read_ns + timing.program_ns);
    }
}
