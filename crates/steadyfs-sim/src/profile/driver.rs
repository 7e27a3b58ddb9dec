//! The time of a board's driver, beside the time of its chip.

use super::error::ProfileError;
use super::keys::Keys;

/// Time that a driver adds to the commands of a chip. The default is 0: the chip alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// Time for each read command, in microseconds.
    pub read_call_us: u32,
    /// Time for each program command, in microseconds.
    pub program_call_us: u32,
    /// Time for each erase command, in microseconds.
    pub erase_call_us: u32,
    /// Time for each byte that is read or programmed, in nanoseconds.
    pub byte_ns: u32,
}

impl Driver {
    /// Largest time of a command, in microseconds, and of a byte, in nanoseconds.
    pub const MAX: u32 = 1_000_000;

    /// Returns a driver with the same time for each command.
    pub fn of_call(call_us: u32) -> Self {
        Self { read_call_us: call_us, program_call_us: call_us, erase_call_us: call_us, byte_ns: 0 }
    }

    /// Adds the times of another driver.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            read_call_us: self.read_call_us + other.read_call_us,
            program_call_us: self.program_call_us + other.program_call_us,
            erase_call_us: self.erase_call_us + other.erase_call_us,
            byte_ns: self.byte_ns + other.byte_ns,
        }
    }

    /// Reads the table `[driver]`. Each key, and the table, may be missing.
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, ProfileError> {
        let Some(mut inner) = keys.table("driver")? else { return Ok(Self::default()) };
        let mut time = |key| inner.number_or(key, 0, Self::MAX, 0);
        let driver = Self {
            read_call_us: time("read_call_us")?,
            program_call_us: time("program_call_us")?,
            erase_call_us: time("erase_call_us")?,
            byte_ns: time("byte_ns")?,
        };
        inner.finish()?;
        Ok(driver)
    }

    /// Returns the time that it adds to a command, in nanoseconds.
    pub(crate) fn call_ns(call_us: u32) -> u64 {
        u64::from(call_us) * 1000
    }

    /// Returns the time that it adds to a byte, in picoseconds.
    pub(crate) fn byte_ps(&self) -> u64 {
        u64::from(self.byte_ns) * 1000
    }
}

#[cfg(test)]
mod tests {
    use crate::{Driver, NandTiming, NorTiming, Profile, ProfileError, TimingChoice};

    /// Returns a built-in profile with a table in front of its sources.
    fn with(name: &str, driver: &str) -> Result<Profile, ProfileError> {
        let documents = Profile::documents().iter();
        let text = documents
            .copied()
            .find(|text| text.contains(&format!("name = \"{name}\"")))
            .expect("a built-in profile");
        Profile::from_toml(&text.replacen("[sources]", &format!("{driver}\n[sources]"), 1))
    }

    const TIMES: &str =
        "[driver]\nread_call_us = 36\nprogram_call_us = 20\nerase_call_us = 7\nbyte_ns = 15";

    #[test]
    fn driver_adds_to_each_command_and_each_byte_of_nor() {
        let of = |driver| {
            let profile = with("w25q128jv", driver).unwrap();
            NorTiming::of(profile.nor().unwrap(), 4096, TimingChoice::Typical).unwrap()
        };
        let (alone, driven) = (of(""), of(TIMES));
        assert_eq!(driven.read_ns(256), alone.read_ns(256) + 36_000 + 256 * 15);
        assert_eq!(driven.program_ns(256), alone.program_ns(256) + 20_000 + 256 * 15);
        assert_eq!(driven.erase_ns(), alone.erase_ns() + 7_000);
    }

    #[test]
    fn driver_adds_to_each_command_and_each_byte_of_nand() {
        let of = |driver| {
            let profile = with("w25n01gv", driver).unwrap();
            NandTiming::of(profile.nand().unwrap(), TimingChoice::Maximum)
        };
        let (alone, driven) = (of(""), of(TIMES));
        assert_eq!(driven.read_ns(2048), alone.read_ns(2048) + 36_000 + 2048 * 15);
        assert_eq!(driven.program_ns(2048), alone.program_ns(2048) + 20_000 + 2048 * 15);
        assert_eq!(driven.erase_ns(), alone.erase_ns() + 7_000);
    }

    #[test]
    fn left_out_keys_are_zero_and_wrong_ones_are_refused_by_name() {
        let some = with("w25q128jv", "[driver]\nread_call_us = 36").unwrap();
        let driver = some.nor().unwrap().driver;
        assert_eq!(driver, Driver { read_call_us: 36, ..Driver::default() });
        for (text, key) in [
            ("[driver]\nread_call_us = -1", "driver.read_call_us"),
            ("[driver]\nwrite_us = 1", "driver.write_us"),
            ("driver = 3", "driver"),
        ] {
            let Err(ProfileError::Key { key: found, .. }) = with("w25n01gv", text) else {
                panic!("{text}")
            };
            assert_eq!(found, key);
        }
    }
}
