//! `steady life`: a simulated chip from its first erase to its last.

use crate::Failure;
use crate::chip::timings;
use crate::evaluate::workloads;
use crate::output::Outputs;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use steadyfs_lab::evaluate::{Timing, Workload};
use steadyfs_lab::life::{self, Options};
use steadyfs_lab::report::LifeReport;
use steadyfs_lab::units::{parse_percent, parse_write_size};

/// Arguments of `steady life`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// NAND profile for times and page size: a name (see `steady devices`) or a file in TOML
    #[arg(
        long,
        value_name = "NAME|FILE.toml",
        default_value = "mt29f1g01abafd",
        value_parser = crate::device::raw_nand
    )]
    device: String,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Erase blocks
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 128,
        value_parser = crate::number::within::<u32>(16..=65_536)
    )]
    blocks: u32,
    /// Pages of a block
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 32,
        value_parser = crate::number::within::<u32>(4..=256)
    )]
    pages: u32,
    /// Erases that a block takes
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 3_000,
        value_parser = crate::number::within::<u32>(1..=1_000_000)
    )]
    endurance: u32,
    /// Largest difference between the life of a block and the endurance, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        default_value_t = 0,
        value_parser = crate::number::percent_within(0..=90)
    )]
    spread: u32,
    /// Percent of the blocks that die in a program instead of an erase
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        default_value_t = 0,
        value_parser = crate::number::percent_within(0..=100)
    )]
    program_failures: u32,
    /// Years that pass while the erases are used up
    #[arg(
        long,
        value_name = "YEARS",
        allow_hyphen_values = true,
        default_value_t = 5,
        value_parser = crate::number::within::<u32>(0..=100)
    )]
    years: u32,
    /// Days after which everything is read by a scrub; 0 for never
    #[arg(
        long,
        value_name = "DAYS",
        allow_hyphen_values = true,
        default_value_t = 30,
        value_parser = crate::number::any::<u32>
    )]
    scrub_days: u32,
    /// Let no bits flip
    #[arg(long)]
    no_bit_errors: bool,
    /// Share of the usable space in use
    #[arg(
        long,
        value_name = "SHARE",
        allow_hyphen_values = true,
        default_value = "80%",
        value_parser = parse_percent
    )]
    fill: f64,
    /// Kind of writes
    #[arg(long, default_value = "log", value_parser = workloads())]
    workload: Workload,
    /// Bytes of each write [default: 4KiB, or 64 in a log]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_write_size)]
    write: Option<u64>,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
The command writes until a call of the volume fails, and then compares all committed data. Blocks
fail after their last erase. Bits flip with wear, age and reads; the ECC corrects 8 bits of 512
bytes. Workloads are the workloads of `steady evaluate`. --years is the simulated time in which the
erases are used up. The defaults take some 15 seconds.

Example:
  steady life --spread 5 --report life.html --json life.json";

/// Runs `steady life`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let mut bar = Progress::of(1, "");
    let life = life::run(&arguments.options(), &mut |share, phase| bar.set(share, phase));
    drop(bar);
    let life = life.map_err(Failure::measuring)?;
    arguments.outputs.write(&life, || LifeReport::of(&life))
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            device: self.device.clone(),
            timing: self.timing,
            blocks: self.blocks,
            pages_per_block: self.pages,
            endurance: self.endurance,
            spread_percent: self.spread,
            program_failures_percent: self.program_failures,
            years: self.years.into(),
            scrub_days: self.scrub_days,
            bit_errors: !self.no_bit_errors,
            fill: self.fill,
            workload: self.workload,
            write_bytes: self.write.unwrap_or_else(|| self.workload.default_write_bytes()),
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(Line::parse_from(["life"]).arguments.options(), Options::default());
    }
}
