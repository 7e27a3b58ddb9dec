//! The arguments that choose a part of a simulated chip.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use steadyfs_lab::evaluate::{Part, Timing};
use steadyfs_lab::units::parse_size;

/// A part of a chip.
#[derive(Args, Debug)]
pub struct ChipArguments {
    /// Device profile: a name (see `steady devices`) or a file in TOML
    #[arg(
        long,
        value_name = "NAME|FILE.toml",
        default_value = "mt29f1g01abafd",
        value_parser = crate::device::raw_flash
    )]
    pub device: String,
    /// Bytes of the chip to use, from its beginning [default: all]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size)]
    size: Option<u64>,
    /// Bytes of an erase block [default: as in the profile, or the smallest if that leaves fewer
    /// than 64 blocks]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = erase_blocks())]
    erase_block: Option<u32>,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    #[command(flatten)]
    driver: DriverArgument,
}

/// The time of the driver.
#[derive(Args, Clone, Copy, Debug)]
pub struct DriverArgument {
    /// Time of the driver for each command to the chip, in microseconds. It is part of all times
    /// and bounds [default: 0, the time of the flash alone]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 0,
        hide_default_value = true,
        value_parser = crate::number::within::<u32>(Part::CALL_US.range())
    )]
    pub call_us: u32,
}

impl ChipArguments {
    /// Returns the part in the lab's type.
    pub fn part(&self) -> Part {
        Part {
            size_bytes: self.size,
            erase_block_bytes: self.erase_block,
            timing: self.timing,
            call_us: self.driver.call_us,
        }
    }
}

/// Reads the name of a timing; clap lists the names and suggests the nearest.
pub fn timings() -> impl TypedValueParser<Value = Timing> {
    PossibleValuesParser::new(Timing::NAMES.map(|(name, _)| name))
        .try_map(|name| name.parse::<Timing>())
}

/// Reads the size of an erase block.
fn erase_blocks() -> impl Fn(&str) -> Result<u32, String> + Clone {
    |text| {
        let bytes = parse_size(text).map_err(|error| error.to_string())?;
        u32::try_from(bytes).map_err(|_| format!("found `{text}`, expected a size below 4 GiB"))
    }
}
