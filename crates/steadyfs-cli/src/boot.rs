//! `steady boot`: measures the time to mount and load a root file system on NAND.

use crate::Failure;
use crate::chip::timings;
use crate::output::Numbers;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use steadyfs_lab::boot::{self, Cycles, Options};
use steadyfs_lab::evaluate::Timing;
use steadyfs_lab::units::parse_write_size;

/// Arguments of `steady boot`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Raw NAND, separated by commas: names (see `steady devices`) or files in TOML [default:
    /// k9f1208u0,mt29f1g01abafd]
    #[arg(
        long,
        value_name = "NAME|FILE.toml,…",
        value_delimiter = ',',
        value_parser = crate::device::raw_nand
    )]
    device: Vec<String>,
    /// Times of the chips
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Bad blocks of each chip
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 6,
        value_parser = crate::number::within::<u32>(0..=15)
    )]
    bad_blocks: u32,
    /// Bytes of a block of SteadyFS's images and of a chunk of its compressed files: a power of
    /// two from 4 to 64 KiB
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "16KiB",
        value_parser = parse_block
    )]
    block: u32,
    /// Cycles that the processor takes for a byte, as lz4=8, separated by commas: lz4, lzo,
    /// deflate, zstd, xz, sha256, crc32
    #[arg(long, value_name = "NAME=CYCLES,…", value_delimiter = ',')]
    cycles: Vec<Cycles>,
    /// Reads of 4 KiB at random places
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 1000,
        value_parser = crate::number::within::<u32>(1..=100_000)
    )]
    reads: u32,
    /// Take one of this many files of the tree, for a quick look
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 1,
        value_parser = crate::number::within::<u16>(1..=100)
    )]
    share: u16,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    outputs: Numbers,
}

const AFTER_HELP: &str = "\
The command writes a generated root file system to a simulated chip, mounts it and reads all of it.
The tree has 4,000 files of 23 MB and 1,000 links. SteadyFS has it plain, with compressed files, and
as a read-only image with and without a hash tree. squashfs and cramfs have it as Linux users make
them. Then a file of 10 MB is copied, and 4 KiB are read at random places.
Flash time is the time of the chip. Decompression is counted in bytes; its cycles are estimates.

Examples:
  steady boot
  steady boot --device k9f1208u0 --cycles lz4=8,lzo=12
  steady boot --block 64KiB --json boot.json";

/// Reads the size of a block.
fn parse_block(text: &str) -> Result<u32, String> {
    let size = parse_write_size(text).map_err(|error| error.to_string())?;
    let block = u32::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two() && (4096..=65_536).contains(size));
    block.ok_or_else(|| "expected a power of two from 4KiB to 64KiB".to_string())
}

/// Runs `steady boot`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let mut bar = Progress::of(1, "");
    let result = boot::run(&arguments.options(), &mut |share, what| bar.set(share, what));
    drop(bar);
    arguments.outputs.write(&result.map_err(Failure::measuring)?)
}

impl Arguments {
    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            devices: if self.device.is_empty() { usual.devices } else { self.device.clone() },
            timing: self.timing,
            bad_blocks: self.bad_blocks,
            block_bytes: self.block,
            cycles: self.cycles.clone(),
            reads: self.reads,
            share: self.share.into(),
            copy_bytes: usual.copy_bytes / usize::from(self.share),
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use steadyfs_lab::boot::Codec;

    type Line = crate::line::Line<Arguments>;

    fn parsed(line: &str) -> Result<Options, clap::Error> {
        let line = Line::try_parse_from(["boot"].into_iter().chain(line.split_whitespace()))?;
        Ok(line.arguments.options())
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(parsed("").unwrap(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let expected = Options {
            devices: vec!["k9f1208u0".into(), "mt29f1g01abafd".into()],
            timing: Timing::Maximum,
            bad_blocks: 3,
            block_bytes: 65_536,
            cycles: vec![
                Cycles { codec: Codec::Lz4, per_byte: 8.0 },
                Cycles { codec: Codec::Xz, per_byte: 300.5 },
            ],
            reads: 9,
            share: 10,
            copy_bytes: 1_000_000,
            seed: 7,
        };
        let line = "--device k9f1208u0,mt29f1g01abafd --timing maximum --bad-blocks 3 \
                    --block 64KiB --cycles lz4=8,xz=300.5 --reads 9 --share 10 --seed 7";
        assert_eq!(parsed(line).unwrap(), expected);
    }

    #[test]
    fn blocks_that_no_image_has_are_refused() {
        for wrong in ["2KiB", "128KiB", "5000"] {
            assert!(parsed(&format!("--block {wrong}")).is_err(), "{wrong}");
        }
        assert!(parsed("--cycles lzma=3").unwrap_err().to_string().contains("lz4=8"));
    }
}
