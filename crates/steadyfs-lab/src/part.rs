//! A part of a chip: its first bytes, in erase blocks of a size that may be chosen.

use crate::allowed::{Allowed, NotAllowed};
use crate::named::{UnknownName, by_name, name_of};
use crate::units::{format_count, format_size};
use std::fmt;
use std::str::FromStr;
use steadyfs_sim::{Chip, Driver, NorProfile, Profile, TimingChoice};

/// Minimum number of blocks of the default size. With fewer, a NOR chip with several erase sizes
/// uses the smallest size.
const BLOCKS_MIN: u64 = 64;

/// The datasheet times of the simulated chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// Typical times.
    #[default]
    Typical,
    /// The longest times that the datasheet allows.
    Maximum,
}

impl Timing {
    /// All timings with their names.
    pub const NAMES: [(&'static str, Timing); 2] =
        [("typical", Timing::Typical), ("maximum", Timing::Maximum)];

    /// Returns the same timing for the simulator.
    pub fn choice(self) -> TimingChoice {
        match self {
            Timing::Typical => TimingChoice::Typical,
            Timing::Maximum => TimingChoice::Maximum,
        }
    }
}

impl FromStr for Timing {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Timing, UnknownName> {
        by_name(&Timing::NAMES, text)
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Timing::NAMES, self))
    }
}

/// A part of a chip, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// Bytes of an erase block, if the chip has a choice. Default the profile's size, or the
    /// smallest if the profile's leaves fewer than 64 blocks.
    pub erase_block_bytes: Option<u32>,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Time of the driver for each command to the chip, in microseconds. It is part of the
    /// durations and of the bounds. Default 0: flash time alone.
    pub call_us: u32,
}

/// Largest time of the driver for a command, in microseconds.
pub const CALL_US_MAX: u32 = Driver::MAX;

/// Returns the times of a run, for titles: of the flash alone, or with the driver's time.
pub fn times_of(timing: &str, call_us: u32) -> String {
    match call_us {
        0 => format!("{timing} times, flash alone"),
        us => format!("{timing} times, {} µs of driver a command", format_count(us.into())),
    }
}

/// The reason for which a chip has no such part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartError {
    /// The chip has fewer bytes than requested, or they are not whole erase blocks.
    Size {
        /// Requested bytes.
        asked_bytes: u64,
        /// Bytes of an erase block.
        block_bytes: u32,
        /// Bytes of the chip.
        chip_bytes: u64,
    },
    /// The chip has no erase block of this size.
    EraseBlock {
        /// Requested bytes.
        asked_bytes: u32,
        /// Sizes that the chip can erase, separated by commas.
        sizes: String,
    },
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartError::Size { asked_bytes, block_bytes, chip_bytes } => write!(
                f,
                "a size of {} bytes; expected whole erase blocks of {}, at most {}",
                format_count(*asked_bytes),
                format_size(u64::from(*block_bytes)),
                format_size(*chip_bytes)
            ),
            PartError::EraseBlock { asked_bytes, sizes } => {
                let asked = format_size(u64::from(*asked_bytes));
                write!(f, "an erase block of {asked}; expected one of {sizes}")
            }
        }
    }
}

impl std::error::Error for PartError {}

impl Part {
    /// Allowed times of the driver for a command, in microseconds.
    pub const CALL_US: Allowed = Allowed::new("call_us", 0..=CALL_US_MAX as u64);

    /// Checks the options that do not depend on the chip.
    ///
    /// # Errors
    /// [`NotAllowed`] for a value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        Self::CALL_US.check(self.call_us)
    }

    /// Returns the profile of this part of a chip. It erases blocks of the chosen size.
    ///
    /// # Errors
    /// [`PartError`] if the chip has no such part.
    pub fn of(&self, profile: &Profile) -> Result<Profile, PartError> {
        let call = Driver::of_call(self.call_us.min(CALL_US_MAX));
        let mut part = profile.clone().with_driver(&call);
        match &mut part.chip {
            Chip::Nand(nand) => {
                let erased = nand.page_bytes * nand.pages_per_block;
                let block_bytes = self.pick_block(&[erased], erased)?;
                let chip_bytes = u64::from(block_bytes) * u64::from(nand.block_count);
                nand.block_count = self.blocks_of(block_bytes, chip_bytes)?;
            }
            Chip::Nor(nor) => {
                let sizes: Vec<u32> = nor.erases.iter().map(|erase| erase.bytes).collect();
                let block_bytes = self.pick_block(&sizes, usual_block(nor, self.size_bytes))?;
                let block_count = self.blocks_of(block_bytes, nor.size_bytes.into())?;
                nor.default_erase_bytes = block_bytes;
                nor.size_bytes = block_bytes * block_count;
            }
        }
        Ok(part)
    }

    /// Returns the name of this part of a device, for reports.
    pub fn name(&self, device: &str) -> String {
        match self.size_bytes {
            Some(bytes) => format!("{device}, {}", format_size(bytes)),
            None => device.to_string(),
        }
    }

    /// Returns the requested erase size, if the chip has it.
    fn pick_block(&self, sizes: &[u32], usual: u32) -> Result<u32, PartError> {
        match self.erase_block_bytes {
            Some(asked_bytes) if !sizes.contains(&asked_bytes) => {
                let sizes: Vec<_> = sizes.iter().map(|&bytes| format_size(bytes.into())).collect();
                Err(PartError::EraseBlock { asked_bytes, sizes: sizes.join(", ") })
            }
            chosen => Ok(chosen.unwrap_or(usual)),
        }
    }

    /// Returns the number of blocks of the requested size.
    fn blocks_of(&self, block_bytes: u32, chip_bytes: u64) -> Result<u32, PartError> {
        let asked_bytes = self.size_bytes.unwrap_or(chip_bytes);
        if asked_bytes == 0
            || asked_bytes > chip_bytes
            || !asked_bytes.is_multiple_of(block_bytes.into())
        {
            return Err(PartError::Size { asked_bytes, block_bytes, chip_bytes });
        }
        Ok((asked_bytes / u64::from(block_bytes)) as u32)
    }
}

/// Returns the default erase size: the profile's, or the smallest if the profile's leaves few
/// blocks.
pub fn usual_block(nor: &NorProfile, size_bytes: Option<u64>) -> u32 {
    let blocks = size_bytes.unwrap_or(nor.size_bytes.into()) / u64::from(nor.default_erase_bytes);
    let smallest = nor.erases.iter().map(|erase| erase.bytes).min();
    if blocks >= BLOCKS_MIN {
        nor.default_erase_bytes
    } else {
        smallest.unwrap_or(nor.default_erase_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (name, timing) in Timing::NAMES {
            assert_eq!((name.parse(), timing.to_string().as_str()), (Ok(timing), name));
        }
        let error = "fast".parse::<Timing>().unwrap_err().to_string();
        assert_eq!(error, "found `fast`, expected one of typical, maximum");
    }

    #[test]
    fn part_of_a_chip_has_the_blocks_of_its_size() {
        let nor = Profile::named("w25q128jv").unwrap();
        let part = Part { size_bytes: Some(1 << 20), ..Part::default() };
        let cut = part.of(&nor).unwrap();
        assert_eq!(
            cut.nor().map(|nor| (nor.size_bytes, nor.default_erase_bytes)),
            Some((1 << 20, 4096))
        );
        assert_eq!(part.name("w25q128jv"), "w25q128jv, 1 MiB");
        assert_eq!(Part::default().of(&nor), Ok(nor));
        let nand = Profile::named("mt29f1g01abafd").unwrap();
        let slow = Part { call_us: 20, ..Part::default() };
        assert_eq!(slow.of(&nand).unwrap().driver(), Driver::of_call(20));
        let titles = [0, 20].map(|call_us| times_of("typical", call_us));
        assert_eq!(titles[0], "typical times, flash alone");
        assert_eq!(titles[1], "typical times, 20 µs of driver a command");
        let cut = Part { size_bytes: Some(16 << 20), ..part }.of(&nand).unwrap();
        assert_eq!(cut.nand().map(|nand| nand.block_count), Some(128));
    }
}
